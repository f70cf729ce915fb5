// Reductions and prefix sums: by shuffles, by shared memory, by cooperative groups, by atomics of the last CTA.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// One sum a CTA: warps by shuffles, then warp 0.
extern "C" __global__ void sum_blocks(const int* in, long long* out, int n) {
  __shared__ long long part[32];
  long long v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}

// The whole sum in one launch: the CTA that comes last adds up the parts, in order.
__device__ unsigned int tickets;
__device__ volatile float partial[64];
extern "C" __global__ void dot_last_block(const float* a, const float* b, float* out, int n) {
  extern __shared__ float scratch[];
  __shared__ bool last;
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v = fmaf(a[i], b[i], v);
  scratch[threadIdx.x] = v;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) scratch[threadIdx.x] += scratch[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = scratch[0];
    __threadfence();
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
    *out = sum;
  }
}

// Inclusive prefix sum of up to 1024 values a CTA (Hillis and Steele), and each CTA's total.
extern "C" __global__ void scan_shared(const unsigned* in, unsigned* out, unsigned* totals, int n) {
  __shared__ unsigned buffer[2][1024];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int from = 0;
  buffer[0][threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    unsigned v = buffer[from][threadIdx.x];
    if (threadIdx.x >= d) v += buffer[from][threadIdx.x - d];
    buffer[1 - from][threadIdx.x] = v;
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) out[i] = buffer[from][threadIdx.x];
  if (threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = buffer[from][threadIdx.x];
}

extern "C" __global__ void add_totals(unsigned* out, const unsigned* totals, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && blockIdx.x > 0) out[i] += totals[blockIdx.x - 1];
}

// Exclusive prefix sum of warps by shuffles, maxima by redux, votes of several kinds.
extern "C" __global__ void scan_warp(const unsigned* in, unsigned* out) {
  const unsigned lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned v = in[i];
  unsigned sum = v;
  for (int d = 1; d < 32; d *= 2) {
    const unsigned below = __shfl_up_sync(~0u, sum, d);
    if (lane >= d) sum += below;
  }
  out[i * 4] = sum - v;
  out[i * 4 + 1] = __reduce_max_sync(~0u, v) - __reduce_min_sync(~0u, v);
  out[i * 4 + 2] = __popc(__ballot_sync(~0u, v & 1) & ((1u << lane) - 1));
  out[i * 4 + 3] = __reduce_xor_sync(~0u, v) + static_cast<unsigned>(__reduce_add_sync(~0u, static_cast<int>(v)));
}

// Tiles of 4, 8 and 16 lanes: reductions and scans of cooperative groups, in float and int.
extern "C" __global__ void tiles(const float* in, const int* keys, float* out, int* scans) {
  const auto block = cg::this_thread_block();
  const auto tile8 = cg::tiled_partition<8>(block);
  const auto tile4 = cg::tiled_partition<4>(tile8);
  const auto tile16 = cg::tiled_partition<16>(block);
  const unsigned i = blockIdx.x * blockDim.x + block.thread_rank();
  const float sum = cg::reduce(tile8, in[i], cg::plus<float>());
  const float high = cg::reduce(tile4, in[i], cg::greater<float>());
  out[i] = sum + (tile16.meta_group_rank() % 2 == 0 ? high : -high);
  scans[i] = cg::inclusive_scan(tile16, keys[i]) + tile8.shfl_xor(keys[i], 3) * tile4.any(keys[i] > 50);
  block.sync();
  const auto odd = cg::coalesced_threads();
  if (keys[i] % 2 != 0) {
    const auto some = cg::coalesced_threads();
    scans[i] += 1000 * static_cast<int>(some.thread_rank()) + 100000 * static_cast<int>(some.size());
    if (some.thread_rank() == 0) scans[i] += 1;
  }
  scans[i] += static_cast<int>(odd.size());
}

// Sums of segments that one binary partition and one labeled one make.
extern "C" __global__ void partitions(const int* keys, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto half = cg::binary_partition(warp, keys[i] % 3 == 0);
  const auto same = cg::labeled_partition(warp, keys[i] % 5);
  out[i * 3] = cg::reduce(half, keys[i], cg::plus<int>());
  out[i * 3 + 1] = cg::reduce(same, keys[i], cg::less<int>());
  out[i * 3 + 2] = static_cast<int>(same.size() * 100 + same.thread_rank());
}
