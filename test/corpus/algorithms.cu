// Corpus: what the toolkit's own template libraries make: block, warp and device algorithms, random numbers, scans, sorts.
#include <cub/cub.cuh>
#include <curand_kernel.h>
#define BLOCK 128
template <class T>
__global__ void sorts(T* o, const T* a, int n) {
  using Load = cub::BlockLoad<T, BLOCK, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<T, BLOCK, 8, cub::BLOCK_STORE_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<T, BLOCK, 8>;
  __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; typename Sort::TempStorage sort; } s;
  T x[8];
  Load(s.load).Load(a + blockIdx.x * BLOCK * 8, x, n, T(0)); __syncthreads(); Sort(s.sort).Sort(x); __syncthreads(); Store(s.store).Store(o + blockIdx.x * BLOCK * 8, x, n);
}
template __global__ void sorts<int>(int*, const int*, int);
template __global__ void sorts<float>(float*, const float*, int);
template __global__ void sorts<unsigned char>(unsigned char*, const unsigned char*, int);
template __global__ void sorts<long long>(long long*, const long long*, int);
template __global__ void sorts<double>(double*, const double*, int);
template <class T>
__global__ void scans(T* o, const T* a, int n) {
  using Scan = cub::BlockScan<T, BLOCK>; using Reduce = cub::BlockReduce<T, BLOCK>; using WarpScan = cub::WarpScan<T>; using WarpReduce = cub::WarpReduce<T, 16>;
  using Histogram = cub::BlockHistogram<unsigned char, BLOCK, 4, 256>; using Merge = cub::BlockMergeSort<T, BLOCK, 4>; using Discontinuity = cub::BlockDiscontinuity<T, BLOCK>;
  __shared__ union { typename Scan::TempStorage scan; typename Reduce::TempStorage reduce; typename WarpScan::TempStorage ws[BLOCK / 32]; typename WarpReduce::TempStorage wr[BLOCK / 16]; typename Histogram::TempStorage h; typename Merge::TempStorage m; typename Discontinuity::TempStorage d; } s;
  __shared__ unsigned bins[256];
  int t = threadIdx.x; T x[4]; for (int i = 0; i < 4; ++i) x[i] = a[t * 4 + i]; T total, y;
  Scan(s.scan).InclusiveSum(x, x, total); __syncthreads(); Scan(s.scan).ExclusiveScan(x[0], y, T(3), [] __device__(T p, T q) { return p > q ? p : q; }); __syncthreads(); T r = Reduce(s.reduce).Sum(x); __syncthreads(); r += Reduce(s.reduce).Reduce(y, [] __device__(T p, T q) { return p < q ? p : q; }, n); __syncthreads();
  T z; WarpScan(s.ws[t / 32]).InclusiveSum(r, z); __syncthreads(); z += WarpReduce(s.wr[t / 16]).Sum(z); __syncthreads(); unsigned char c[4]; for (int i = 0; i < 4; ++i) c[i] = (unsigned char)x[i]; Histogram(s.h).Histogram(c, bins); __syncthreads(); Merge(s.m).Sort(x, [] __device__(T p, T q) { return p < q; }); __syncthreads(); int flags[4]; Discontinuity(s.d).FlagHeads(flags, x, [] __device__(T p, T q) { return p != q; });
  o[t] = z + total + T(bins[t] + flags[0] + flags[3]) + x[1] * x[3];
}
template __global__ void scans<int>(int*, const int*, int);
template __global__ void scans<float>(float*, const float*, int);
template __global__ void scans<double>(double*, const double*, int);
template __global__ void scans<unsigned long long>(unsigned long long*, const unsigned long long*, int);
struct Pair { int key; float value; };
struct Less { __device__ bool operator()(const Pair& a, const Pair& b) const { return a.key < b.key; } };
void device_wide(void* t, size_t& n, int* a, int* b, float* f, double* d, unsigned long long* u, Pair* p, int m) {
  cub::DeviceReduce::Sum(t, n, f, f, m); cub::DeviceReduce::Max(t, n, d, d, m); cub::DeviceReduce::ArgMin(t, n, a, (cub::KeyValuePair<int, int>*)b, m); cub::DeviceScan::ExclusiveSum(t, n, a, b, m); cub::DeviceScan::InclusiveSum(t, n, d, d, m);
  cub::DeviceRadixSort::SortKeys(t, n, (unsigned*)a, (unsigned*)b, m); cub::DeviceRadixSort::SortPairs(t, n, u, u, a, b, m); cub::DeviceSelect::Unique(t, n, a, b, b, m); cub::DeviceHistogram::HistogramEven(t, n, f, a, 65, 0.f, 1.f, m); cub::DeviceRunLengthEncode::Encode(t, n, a, b, b, b, m); cub::DeviceMergeSort::SortKeys(t, n, p, m, Less{}); cub::DevicePartition::Flagged(t, n, a, b, b, b, m);
}
#define RANDOM(S, name)                                                                                                       \
  extern "C" __global__ void random_##name(S* s, float* o, double* d, unsigned* u) {                                            \
    int i = threadIdx.x; S r; curand_init(1234ull, i, 7, &r); o[i] = curand_uniform(&r) + curand_normal(&r) + curand_log_normal(&r, 0.f, 1.f); d[i] = curand_uniform_double(&r) + curand_normal_double(&r); u[i] = curand(&r) + curand_poisson(&r, 3.5); s[i] = r; \
  }
RANDOM(curandStateXORWOW_t, xorwow) RANDOM(curandStatePhilox4_32_10_t, philox) RANDOM(curandStateMRG32k3a_t, mrg)
