// Sorting: bitonic in shared memory, radix with stable ranks from warp matches, quicksort by recursion, merge by binary
// search, selection by a heap in local memory.
extern "C" __global__ void bitonic(unsigned* data) {
  __shared__ unsigned s[1024];
  unsigned* mine = data + blockIdx.x * 1024;
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = mine[i];
  __syncthreads();
  for (unsigned size = 2; size <= 1024; size *= 2) {
    for (unsigned d = size / 2; d > 0; d /= 2) {
      for (unsigned t = threadIdx.x; t < 512; t += blockDim.x) {
        const unsigned i = 2 * t - (t & (d - 1));
        const bool up = (i & size) == 0;
        const unsigned a = s[i], b = s[i + d];
        if ((a > b) == up) {
          s[i] = b;
          s[i + d] = a;
        }
      }
      __syncthreads();
    }
  }
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) mine[i] = s[i];
}

// One CTA of 256 sorts 4096 keys with their values by 4 bits a pass, stable.
extern "C" __global__ void radix(unsigned* keys, unsigned short* values, unsigned* keys2, unsigned short* values2) {
  __shared__ unsigned counts[16][8];
  __shared__ unsigned base[16];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int shift = 0; shift < 32; shift += 4) {
    if (threadIdx.x < 128) counts[threadIdx.x / 8][threadIdx.x % 8] = 0;
    __syncthreads();
    // A warp owns 512 keys; ranks within a group of 32 come from the matches.
    for (unsigned g = 0; g < 16; ++g) {
      const unsigned digit = keys[warp * 512 + g * 32 + lane] >> shift & 15;
      const unsigned peers = __match_any_sync(~0u, digit);
      if (lane == __ffs(peers) - 1) counts[digit][warp] += __popc(peers);
      __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned sum = 0;
      for (unsigned d = 0; d < 16; ++d) {
        base[d] = sum;
        for (unsigned w = 0; w < 8; ++w) {
          const unsigned c = counts[d][w];
          counts[d][w] = sum - base[d];
          sum += c;
        }
      }
    }
    __syncthreads();
    for (unsigned g = 0; g < 16; ++g) {
      const unsigned at = warp * 512 + g * 32 + lane;
      const unsigned key = keys[at];
      const unsigned digit = key >> shift & 15;
      const unsigned peers = __match_any_sync(~0u, digit);
      const unsigned rank = __popc(peers & ((1u << lane) - 1));
      const unsigned to = base[digit] + counts[digit][warp] + rank;
      __syncwarp();
      if (rank == 0) counts[digit][warp] += __popc(peers);
      __syncwarp();
      keys2[to] = key;
      values2[to] = values[at];
    }
    __syncthreads();
    unsigned* k = keys;
    keys = keys2;
    keys2 = k;
    unsigned short* v = values;
    values = values2;
    values2 = v;
  }
}

// Each thread sorts its own 64 numbers by recursion.
__device__ __noinline__ void quicksort(int* a, int low, int high) {
  if (low >= high) return;
  const int pivot = a[(low + high) / 2];
  int i = low, j = high;
  while (i <= j) {
    while (a[i] < pivot) ++i;
    while (a[j] > pivot) --j;
    if (i <= j) {
      const int t = a[i];
      a[i++] = a[j];
      a[j--] = t;
    }
  }
  quicksort(a, low, j);
  quicksort(a, i, high);
}
extern "C" __global__ void sort_rows(int* data, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) quicksort(data + row * 64, 0, 63);
}

// Merges two sorted lists: each element finds its place by binary search in the other one.
__device__ int below(const float* list, int n, float v, bool or_equal) {
  int low = 0, high = n;
  while (low < high) {
    const int mid = (low + high) >> 1;
    if (list[mid] < v || (or_equal && list[mid] == v)) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}
extern "C" __global__ void merge(const float* a, int na, const float* b, int nb, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < na) out[i + below(b, nb, a[i], false)] = a[i];
  if (i < nb) out[i + below(a, na, b[i], true)] = b[i];
}

// The 8 smallest of each thread's numbers, kept as a heap in local memory.
extern "C" __global__ void smallest(const unsigned* in, unsigned* out, int each) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned heap[8];
  for (int i = 0; i < 8; ++i) heap[i] = 0xffffffffu;
  for (int i = 0; i < each; ++i) {
    const unsigned v = in[t * each + i];
    if (v >= heap[0]) continue;
    int at = 0;
    while (2 * at + 1 < 8) {  // sift down from the root
      int child = 2 * at + 1;
      if (child + 1 < 8 && heap[child + 1] > heap[child]) ++child;
      if (heap[child] <= v) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = v;
  }
  unsigned sum = 0;
  for (int i = 0; i < 8; ++i) {
    out[t * 8 + i] = heap[i];
    sum += heap[i];
  }
}
