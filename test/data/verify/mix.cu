// Kernels whose compiled code shows what schedules of ptxas look like: a tiled product with asynchronous copies,
// shuffles, atomics, half and double arithmetic, 64-bit division (calls), a jump table. verify must find nothing in
// them.
//   nvcc -ptx -arch=compute_90 mix.cu -o - | sed 's/^.version .*/.version 8.4/; s/^.target .*/.target sm_90a/' |
//   ptxas 12.4 -arch=sm_90a nvcc -ptx -arch=compute_75 mix.cu -o - | sed 's/^.version .*/.version 8.4/; s/^.target
//   .*/.target sm_52/' | ptxas 12.4 -arch=sm_52
#include <cuda_fp16.h>

#if __CUDA_ARCH__ >= 800
#define COPY_ASYNC 1
#else
#define COPY_ASYNC 0
#endif

__device__ __forceinline__ void copy16(void* d, const void* s) {
#if COPY_ASYNC
  const unsigned a = static_cast<unsigned>(__cvta_generic_to_shared(d));
  asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(a), "l"(s));
#else
  *static_cast<float4*>(d) = *static_cast<const float4*>(s);
#endif
}

__device__ __forceinline__ void copy4(void* d, const void* s, int bytes) {
#if COPY_ASYNC
  const unsigned a = static_cast<unsigned>(__cvta_generic_to_shared(d));
  asm volatile("cp.async.ca.shared.global [%0],[%1],4,%2;" ::"r"(a), "l"(s), "r"(bytes));
#else
  *static_cast<float*>(d) = bytes != 0 ? *static_cast<const float*>(s) : 0.f;
#endif
}

#if COPY_ASYNC
#define COMMIT asm volatile("cp.async.commit_group;")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n))
#else
#define COMMIT
#define WAIT(n)
#endif

extern "C" __global__ __launch_bounds__(256) void sgemm(const float* A, const float* B, float* C, int m, int n, int k,
                                                        int lda, int ldb, int ldc, float al, float be) {
  __shared__ float4 sa[4][8 * 32], sb[4][8 * 32];
  int t = threadIdx.x;
  int tx = t & 15, ty = t >> 4;
  const float4* a = (const float4*)(A + (size_t)blockIdx.x * 128 + (t >> 5) * lda) + (t & 31);
  const float4* b = (const float4*)(B + (size_t)blockIdx.y * 128 + (t >> 5) * ldb) + (t & 31);
  float acc[8][8] = {};
  for (int s = 0; s < 3; s++) {
    copy16(&sa[s][t], a);
    copy16(&sb[s][t], b);
    a += lda * 2;
    b += ldb * 2;
    COMMIT;
  }
  for (int kk = 0; kk < k; kk += 8) {
    WAIT(2);
    __syncthreads();
    int s = (kk >> 3) & 3;
    int w = (s + 3) & 3;
    if (kk + 24 < k) {
      copy16(&sa[w][t], a);
      copy16(&sb[w][t], b);
    }
    a += lda * 2;
    b += ldb * 2;
    COMMIT;
#pragma unroll
    for (int j = 0; j < 8; j++) {
      float4 a0 = sa[s][j * 32 + ty], a1 = sa[s][j * 32 + 16 + ty], b0 = sb[s][j * 32 + tx],
             b1 = sb[s][j * 32 + 16 + tx];
      float ar[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w},
            br[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int p = 0; p < 8; p++)
#pragma unroll
        for (int q = 0; q < 8; q++) acc[p][q] += ar[p] * br[q];
    }
  }
  for (int p = 0; p < 8; p++)
    for (int q = 0; q < 8; q++) {
      int r = blockIdx.x * 128 + (p & 3) + (p >> 2) * 64 + ty * 4,
          c = blockIdx.y * 128 + (q & 3) + (q >> 2) * 64 + tx * 4;
      if (r < m && c < n) {
        float* d = C + (size_t)r * ldc + c;
        *d = al * acc[p][q] + (be != 0 ? be * *d : 0.f);
      }
    }
}
extern "C" __global__ void red(const float* x, float* y, int n) {
  float s = 0, m = -1e30f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    s += x[i];
    m = fmaxf(m, x[i]);
  }
  for (int o = 16; o; o >>= 1) {
    s += __shfl_xor_sync(~0u, s, o);
    m = fmaxf(m, __shfl_down_sync(~0u, m, o));
  }
  __shared__ float w[64];
  if ((threadIdx.x & 31) == 0) {
    w[threadIdx.x >> 5] = s;
    w[32 + (threadIdx.x >> 5)] = m;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < (blockDim.x >> 5) ? w[threadIdx.x] : 0;
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (!threadIdx.x) atomicAdd(y, s + m);
  }
}
extern "C" __global__ void soft(const half* x, half* y, int c) {
  const half2* r = (const half2*)(x + (size_t)blockIdx.x * c);
  float m = -1e30f;
  for (int i = threadIdx.x; i < c / 2; i += 32) {
    float2 v = __half22float2(r[i]);
    m = fmaxf(m, fmaxf(v.x, v.y));
  }
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  float s = 0;
  for (int i = threadIdx.x; i < c / 2; i += 32) {
    float2 v = __half22float2(r[i]);
    s += __expf(v.x - m) + __expf(v.y - m);
  }
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  half2* w = (half2*)(y + (size_t)blockIdx.x * c);
  for (int i = threadIdx.x; i < c / 2; i += 32) {
    float2 v = __half22float2(r[i]);
    w[i] = __floats2half2_rn(__expf(v.x - m) / s, __expf(v.y - m) / s);
  }
}
extern "C" __global__ void tr(const int* x, int* y, int w, int h) {
  __shared__ int t[32][33];
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (i < w && j + k < h) t[threadIdx.y + k][threadIdx.x] = x[(size_t)(j + k) * w + i];
  __syncthreads();
  i = blockIdx.y * 32 + threadIdx.x;
  j = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (i < h && j + k < w) y[(size_t)(j + k) * h + i] = t[threadIdx.x][threadIdx.y + k];
}
extern "C" __global__ void cas(unsigned long long* p, unsigned* q, float* f, int n) {
  unsigned long long o = *p, a;
  do {
    a = o;
    o = atomicCAS(p, a, a * 3 + n);
  } while (o != a);
  unsigned v = atomicMax(q, n) + atomicExch(q + 1, n) + atomicInc(q + 2, n);
  atomicAnd(q + 3, v);
  f[threadIdx.x] = sqrtf(f[n]) + sinf(f[n + 1]) + logf(f[n + 2]) + powf(f[3], f[4]) + tanhf(f[n + 5]) + erff(f[7]);
  while (*(volatile unsigned*)q < n) {
  }
  __threadfence();
#if COPY_ASYNC
  unsigned mk = __activemask();
  q[9] = __match_any_sync(mk, v) + __reduce_add_sync(mk, v);
#endif
  q[8] = v;
}
extern "C" __global__ void cpz(const float* x, float* y, int n) {
  __shared__ float s[1024];
  int t = threadIdx.x;
  for (int i = 0; i < n; i += 4) {
    copy4(&s[t], x + i * t, i < n / 2 ? 4 : 0);
    copy4(&s[t + 256], x + i * t + 7, 4);
    COMMIT;
    WAIT(0);
    __syncthreads();
    y[i * 256 + t] = s[t ^ 1] + s[(t ^ 3) + 256];
    __syncthreads();
  }
}
extern "C" __global__ void i64(long long* x, unsigned long long* u, double* d, int n) {
  long long a = x[threadIdx.x], b = x[threadIdx.x + n];
  x[5] = a / b;
  u[3] = u[n] % u[n + 1];
  d[threadIdx.x] = sqrt(d[n]) / d[n + 1] + exp(d[3]);
  x[9] = a * b + __mul64hi(a, b);
  u[8] = (unsigned long long)d[6] + (unsigned)d[9];
  d[99] = (double)a + (double)u[7];
#if COPY_ASYNC  // a jump table
  switch (n) {
    case 0:
      x[1] = a;
      break;
    case 1:
      x[2] = b;
      break;
    case 2:
      x[3] = a ^ b;
      break;
    case 3:
      x[4] = a & b;
      break;
    case 4:
      x[6] = a | b;
      break;
    case 5:
      x[7] = -a;
      break;
    default:
      x[8] = ~b;
  }
#endif
}
extern "C" __global__ void philox(unsigned* o, unsigned k0, unsigned k1, int n) {
  unsigned c0 = threadIdx.x + blockIdx.x * blockDim.x, c1 = n, c2 = 0, c3 = 0;
#pragma unroll
  for (int i = 0; i < 10; i++) {
    unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2),
             l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  ((uint4*)o)[threadIdx.x + blockIdx.x * blockDim.x] = make_uint4(c0, c1, c2, c3);
}
