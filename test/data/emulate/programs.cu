// Small programs of many kinds, compiled by ptxas into programs.cubin; programs_test.cpp runs them and computes the same on
// the host. To rebuild:
//   nvcc -ptx -arch=compute_80 programs.cu -o p.ptx
//   sed -e 's/^\.version.*/.version 8.4/' -e 's/^\.target.*/.target sm_90a/' p.ptx > p90.ptx
//   ptxas (12.4) -arch=sm_90a p90.ptx -o programs.cubin
// and for sm_52, which lacks some of it, with -arch=compute_75 -DNG_SM52 and sm_52 in the place of sm_90a, to
// programs.sm_52.cubin.
#include <cstdint>

#ifdef NG_SM52
// Not unrolled, or nvcc finds that it is one instruction of later chips.
__device__ int dot(int a, int b, int c) {
#pragma unroll 1
  for (int i = 0; i < 32; i += 8) c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
  return c;
}
__device__ unsigned dot(unsigned a, unsigned b, unsigned c) {
#pragma unroll 1
  for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (b >> i & 255);
  return c;
}
__device__ unsigned match_any(unsigned v) {
  unsigned mask = 0;
  for (int i = 0; i < 32; ++i) mask |= (__shfl_sync(0xffffffffu, v, i) == v ? 1u : 0u) << i;
  return mask;
}
__device__ unsigned reduce_max(unsigned v) {
  for (int d = 16; d > 0; d /= 2) v = max(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}
#else
#define dot __dp4a
#define match_any(v) __match_any_sync(0xffffffffu, v)
#define reduce_max(v) __reduce_max_sync(0xffffffffu, v)
#endif

// Sum of a block by shuffles, then over warps by shared memory; one atomic a block.
extern "C" __global__ void reduce(const int* in, int* out, int n) {
  __shared__ int part[32];
  int v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) atomicAdd(out, v);
  }
}

// C = A B, 16 x 16 tiles in shared memory.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float ta[16][17];
  __shared__ float tb[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    ta[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0;
    tb[threadIdx.y][threadIdx.x] = col < n && t + threadIdx.y < k ? b[(t + threadIdx.y) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum = fmaf(ta[threadIdx.y][i], tb[i][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 2u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], bins[i]);
}

// Every lane its own number of steps.
extern "C" __global__ void collatz(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = in[i];
  unsigned steps = 0;
  while (v != 1) {
    if (v % 2 == 0) {
      v /= 2;
    } else {
      v = 3 * v + 1;
      if (v % 3 == 1) ++steps;
    }
    ++steps;
    if (steps > 1000) break;
  }
  out[i] = steps;
}

extern "C" __global__ void divide(const int* a, const int* b, int* out, const long long* p, const long long* q,
                                  long long* out64, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[4 * i] = a[i] / b[i];
  out[4 * i + 1] = a[i] % b[i];
  out[4 * i + 2] = static_cast<int>(static_cast<unsigned>(a[i]) / static_cast<unsigned>(b[i]));
  out[4 * i + 3] = __mulhi(a[i], b[i]);
  out64[3 * i] = p[i] * q[i];
  out64[3 * i + 1] = p[i] >> (q[i] & 63);
  out64[3 * i + 2] = (p[i] << (q[i] & 63)) + (p[i] < q[i] ? p[i] - q[i] : q[i]);
}

extern "C" __global__ void convert(const float* f, const int* v, int* out, double* outd, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[8 * i] = __float2int_rz(f[i]);
  out[8 * i + 1] = __float2int_rn(f[i]);
  out[8 * i + 2] = static_cast<int>(__float2uint_ru(f[i]));
  out[8 * i + 3] = __float_as_int(__int2float_rn(v[i]));
  out[8 * i + 4] = __float_as_int(__uint2float_rz(static_cast<unsigned>(v[i])));
  out[8 * i + 5] = __float_as_int(floorf(f[i]));
  out[8 * i + 6] = __float_as_int(rintf(f[i]));
  out[8 * i + 7] = __float_as_int(static_cast<float>(static_cast<double>(f[i]) * 1.1));
  outd[2 * i] = static_cast<double>(v[i]) * static_cast<double>(f[i]) + 0.1;
  outd[2 * i + 1] = fma(static_cast<double>(f[i]), 3.0, static_cast<double>(v[i]));
}

extern "C" __global__ void bits(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned v = in[i];
  const unsigned u = in[(i + 1) % n];
  out[8 * i] = __popc(v) | __clz(v) << 8 | __ffs(v) << 16;
  out[8 * i + 1] = __brev(v);
  out[8 * i + 2] = __byte_perm(v, u, 0x6513) ^ __funnelshift_l(v, u, v & 31);
  out[8 * i + 3] = __funnelshift_r(v, u, u) + (v >> (u & 63)) + (v << (u & 63));
  out[8 * i + 4] = static_cast<unsigned>(static_cast<int>(v) >> (u & 31)) ^ (v & ~u) ^ (v | u);
  out[8 * i + 5] = static_cast<unsigned>(min(static_cast<int>(v), static_cast<int>(u))) + max(v, u);
  out[8 * i + 6] = static_cast<unsigned>(dot(static_cast<int>(v), static_cast<int>(u), 7)) + dot(v, u, 9u);
  out[8 * i + 7] = v * u + static_cast<unsigned>(abs(static_cast<int>(v))) + (v > u ? 1u : 0u);
}

#ifndef NG_SM52
// Asynchronous copies, two stages, and a dynamic shared array read backwards.
extern "C" __global__ void pipeline(const float* in, float* out, int tiles) {
  extern __shared__ float buffer[];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(buffer));
  const auto fetch = [&](int t) {
    const unsigned to = base + ((t & 1) * blockDim.x + threadIdx.x) * 4;
    const float* from = in + t * blockDim.x + threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from));
    asm volatile("cp.async.commit_group;");
  };
  fetch(0);
  float sum = 0;
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) {
      fetch(t + 1);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    sum += buffer[(t & 1) * blockDim.x + blockDim.x - 1 - threadIdx.x];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
#endif

// Ballots, matches, a shared-memory scan and a lock.
extern "C" __global__ void warpwide(const unsigned* in, unsigned* out, unsigned* lock, unsigned* counter) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned v = in[i];
  const unsigned ballot = __ballot_sync(0xffffffffu, v & 1);
  const unsigned match = match_any(v & 7);
  unsigned scan = v;
  for (int d = 1; d < 32; d *= 2) {
    const unsigned up = __shfl_up_sync(0xffffffffu, scan, d);
    if (threadIdx.x % 32 >= static_cast<unsigned>(d)) scan += up;
  }
  out[4 * i] = ballot ^ match;
  out[4 * i + 1] = scan + __shfl_sync(0xffffffffu, v, (threadIdx.x + 5) & 31);
  out[4 * i + 2] = __syncthreads_count(v & 2) + reduce_max(v);
  out[4 * i + 3] = __any_sync(0xffffffffu, v == 77) + 2 * __all_sync(0xffffffffu, v < 1000);
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0u, 1u) != 0u) {
    }
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0u);
  }
}

// Division, square root and a call, all correctly rounded by CUDA's own sequences.
__device__ __noinline__ float poly(float x, int n) {
  float r = 1;
  for (int i = 0; i < n; ++i) r = r * x + 0.5F;
  return r;
}
extern "C" __global__ void floats(const float* a, const float* b, float* out, double* outd, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[4 * i] = a[i] / b[i];
  out[4 * i + 1] = sqrtf(fabsf(a[i]));
  out[4 * i + 2] = a[i] > b[i] ? poly(b[i] * 0.001F, i & 7) : poly(a[i] * 0.001F, 5);
  out[4 * i + 3] = fminf(a[i], b[i]) + fmaxf(a[i] * 0.5F, b[i]);
  outd[2 * i] = static_cast<double>(a[i]) / static_cast<double>(b[i]);
  outd[2 * i + 1] = sqrt(fabs(static_cast<double>(a[i])));
}

// Local memory, indexed.
extern "C" __global__ void local(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int stack[16];
  for (int j = 0; j < 16; ++j) stack[j] = in[i] * j;
  int v = in[i] & 15;
  int sum = 0;
  for (int j = 0; j < 20; ++j) {
    sum += stack[v];
    stack[(v + 3) & 15] = sum;
    v = (v * 5 + 1) & 15;
  }
  out[i] = sum;
}
