// Ordinary kernels, for the instruction mix of real code: GEMM, pooling, reductions, elementwise maps, casts, atomics.
#include <cstdint>

template <typename T>
struct Vec4 { T x, y, z, w; };

extern "C" __global__ void __launch_bounds__(256) sgemm(float* c, const float* a, const float* b, int m, int n, int k, float alpha, float beta) {
  __shared__ float sa[2][16][68], sb[2][16][68];
  float acc[4][4] = {};
  const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
  const int row = blockIdx.y * 64, col = blockIdx.x * 64;
  int stage = 0;
  for (int kk = 0; kk < k; kk += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      const int r = i & 63, q = i >> 6;
      sa[stage][q][r] = row + r < m && kk + q < k ? a[(row + r) * k + kk + q] : 0.f;
      sb[stage][q][r] = col + r < n && kk + q < k ? __ldg(&b[(kk + q) * n + col + r]) : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 16; ++q) {
      const float4 x = *reinterpret_cast<float4*>(&sa[stage][q][ty * 4]);
      const float4 y = *reinterpret_cast<float4*>(&sb[stage][q][tx * 4]);
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] = fmaf(xs[i], ys[j], acc[i][j]);
    }
    stage ^= 1;
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int r = row + ty * 4 + i, s = col + tx * 4 + j;
      if (r < m && s < n) c[r * n + s] = alpha * acc[i][j] + (beta != 0.f ? beta * c[r * n + s] : 0.f);
    }
}

extern "C" __global__ void pool(float* out, uint8_t* arg, const float* in, int h, int w, int win, int stride, int p, int q) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= q || y >= p) return;
  float best = -3.4e38f, sum = 0.f;
  int at = 0;
  for (int i = 0; i < win; ++i)
    for (int j = 0; j < win; ++j) {
      const int yy = y * stride + i, xx = x * stride + j;
      if (yy >= h || xx >= w) continue;
      const float v = in[(blockIdx.z * h + yy) * w + xx];
      if (v > best) { best = v; at = i * win + j; }
      sum += v;
    }
  out[(blockIdx.z * p + y) * q + x] = best + sum / (win * win);
  arg[(blockIdx.z * p + y) * q + x] = static_cast<uint8_t>(at);
}

template <typename T, typename Op>
__device__ T reduce_block(T v, Op op) {
  __shared__ T part[32];
  for (int d = 16; d > 0; d >>= 1) v = op(v, __shfl_xor_sync(~0u, v, d));
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < (blockDim.x + 31) / 32 ? part[threadIdx.x] : T{};
    for (int d = 16; d > 0; d >>= 1) v = op(v, __shfl_xor_sync(~0u, v, d));
  }
  return v;
}
struct Add { template <typename T> __device__ T operator()(T a, T b) const { return a + b; } };
struct Max { template <typename T> __device__ T operator()(T a, T b) const { return a > b ? a : b; } };
struct Min { template <typename T> __device__ T operator()(T a, T b) const { return a < b ? a : b; } };

#define REDUCE(name, T, Op)                                                           \
  extern "C" __global__ void name(T* out, const T* in, int n) {                       \
    T v = 0;                                                                          \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v = Op()(v, in[i]); \
    v = reduce_block(v, Op());                                                        \
    if (threadIdx.x == 0) out[blockIdx.x] = v;                                        \
  }
REDUCE(sum_f32, float, Add)
REDUCE(sum_f64, double, Add)
REDUCE(sum_i32, int, Add)
REDUCE(max_f32, float, Max)
REDUCE(max_i32, int, Max)
REDUCE(min_u32, unsigned, Min)
using I64 = long long;
REDUCE(sum_i64, I64, Add)
REDUCE(max_i64, I64, Max)

#define MAP1(name, T, U, expr)                                                        \
  extern "C" __global__ void name(U* out, const T* in, int n, T p) {                  \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                              \
    if (i < n) { const T x = in[i]; out[i] = static_cast<U>(expr); }                               \
  }
MAP1(map_exp, float, float, expf(x) * p)
MAP1(map_log, float, float, logf(x) + log1pf(p))
MAP1(map_sin, float, float, sinf(x) + cosf(p * x) + tanf(x))
MAP1(map_tanh, float, float, tanhf(x) + 1.f / (1.f + expf(-x)))
MAP1(map_erf, float, float, erff(x) + powf(x, p) + sqrtf(x) + rsqrtf(x))
MAP1(map_floor, float, float, floorf(x) + ceilf(x) * truncf(p) + rintf(x) + fmodf(x, p))
MAP1(map_relu, float, float, fmaxf(x, 0.f) + fminf(x, 0.f) * 0.1f)
MAP1(map_fast, float, float, __expf(x) + __logf(x) * __sinf(x) - __cosf(x) / __fdividef(x, p))
MAP1(map_double, double, double, exp(x) + log(x) * sin(x) / sqrt(x) + p)
MAP1(map_i8, float, signed char, fminf(fmaxf(x * p, -128.f), 127.f))
MAP1(map_u8, float, unsigned char, x * p)
MAP1(map_u16, float, unsigned short, x)
MAP1(map_from_u8, unsigned char, float, x * 0.00392157f)
MAP1(map_from_i8, signed char, float, x)
MAP1(map_from_i16, short, float, x)
MAP1(map_from_i64, long long, float, x)
MAP1(map_to_i64, double, long long, x)
MAP1(map_from_u64, unsigned long long, double, x)
MAP1(map_div, int, int, x / p + x % 7)
MAP1(map_udiv, unsigned, unsigned, x / p + x % 10 + (x << (p & 31)) + (x >> 3))
MAP1(map_mul64, long long, long long, x * p + (x >> 7))
MAP1(map_udiv64, unsigned long long, unsigned long long, x / p)
MAP1(map_bits, unsigned, unsigned, __popc(x) + __clz(x) * __ffs(x) + __brev(p) + __byte_perm(x, p, 0x3120) + __funnelshift_l(x, p, 7))
MAP1(map_mulhi, unsigned, unsigned, __umulhi(x, p) + __mulhi(int(x), int(p)) + __mul24(x, p) + __sad(int(x), int(p), 3u))

extern "C" __global__ void philox(uint4* out, uint2 key, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 c = make_uint4(i, 0, 0, 0);
  uint2 k = key;
#pragma unroll
  for (int r = 0; r < 10; ++r) {
    const unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
    const unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
    k.x += 0x9E3779B9u;
    k.y += 0xBB67AE85u;
  }
  out[i] = c;
}

extern "C" __global__ void histogram(unsigned* out, const unsigned char* in, int n) {
  __shared__ unsigned bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], bins[i]);
}

extern "C" __global__ void atomics(float* f, int* i, unsigned* u, unsigned long long* l, double* d, int n) {
  const int t = threadIdx.x;
  atomicAdd(f + t, 1.5f);
  i[n + 1] = atomicMax(i + t, n) + atomicMin(i + t + 1, n) + atomicCAS(i + t + 2, 3, n);
  u[n + 1] = atomicInc(u + t, 77u) + atomicDec(u + t + 1, 5u) + atomicExch(u + t + 2, 9u) + atomicXor(u + t + 3, 0xffu);
  l[n] = atomicAdd(l + t, 3ull) + atomicMax(l + t + 1, 9ull) + atomicCAS(l + t + 2, 4ull, 5ull);
  unsigned long long* p = reinterpret_cast<unsigned long long*>(d + t);
  unsigned long long old = *p, seen;
  do {
    seen = old;
    old = atomicCAS(p, seen, __double_as_longlong(2.0 + __longlong_as_double(seen)));
  } while (seen != old);
  __threadfence();
  if (__any_sync(~0u, t > n)) u[0] = __ballot_sync(~0u, t & 1);
  if (__all_sync(~0u, t > n)) u[1] = __activemask();
  if (__syncthreads_or(t == n)) u[2] = __syncthreads_count(t & 1);
  __threadfence_block();
  __threadfence_system();
}

__device__ __noinline__ float slow(float x, int n) {
  for (int i = 0; i < n; ++i) x = x * x - 0.5f;
  return x;
}
extern "C" __global__ void branches(float* out, const float* in, const int* kind, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float local[16];
  for (int j = 0; j < 16; ++j) local[j] = in[i + j * n];
  float v = local[kind[i] & 15];
  switch (kind[i + n]) {
    case 0: v = slow(v, n); break;
    case 1: v += 1.f; break;
    case 2: v = slow(v * 2.f, kind[i]); break;
    case 3: v = -v; break;
    case 4: v = 1.f / v; break;
    case 5: v = fabsf(v); break;
    case 6: while (v > 1.f) { v *= in[n]; if (v == in[n + 1]) break; if (v < in[n + 2]) continue; v -= 3.f; } break;
    default: v = __int_as_float(kind[i] * 3); break;
  }
  out[i] = v;
}
