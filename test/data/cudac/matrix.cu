// Matrices: transposition, products by tiles, with asynchronous copies, in int8 and half precision, LU, Cholesky.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

extern "C" __global__ void transpose(const unsigned short* in, unsigned short* out, int rows, int columns) {
  __shared__ unsigned short tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y) {
    if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += blockDim.y) {
    if (x < rows && y + j < columns) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}

// C = A B, any sizes, 16 x 16 tiles, one fused multiply and add after the other along k.
extern "C" __global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float sa[16][16], sb[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    const int ka = t + threadIdx.x, kb = t + threadIdx.y;
    sa[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0;
    sb[threadIdx.y][threadIdx.x] = column < n && kb < k ? b[kb * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum = fmaf(sa[threadIdx.y][i], sb[i][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

// The same for multiples of 32: 16-byte asynchronous copies into two buffers, 4 x 4 results a thread (64 threads).
extern "C" __global__ void product_async(const float* a, const float* b, float* c, int n, int k) {
  extern __shared__ float4 buffers[];
  float* sa = reinterpret_cast<float*>(buffers);  // [2][32][16]
  float* sb = sa + 2 * 32 * 16;                   // [2][16][32]
  const int t = threadIdx.x, tx = t % 8, ty = t / 8;
  const float* from_a = a + blockIdx.y * 32 * k;
  const float* from_b = b + blockIdx.x * 32;
  const auto stage = [&](int buffer, int k0) {
    for (int i = t; i < 128; i += 64) {
      __pipeline_memcpy_async(sa + buffer * 512 + i * 4, from_a + (i / 4) * k + k0 + i % 4 * 4, 16);
      __pipeline_memcpy_async(sb + buffer * 512 + i * 4, from_b + (k0 + i / 8) * n + i % 8 * 4, 16);
    }
    __pipeline_commit();
  };
  float sum[4][4] = {};
  stage(0, 0);
  for (int k0 = 0; k0 < k; k0 += 16) {
    const int now = k0 / 16 % 2;
    if (k0 + 16 < k) {
      stage(1 - now, k0 + 16);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      float av[4];
      const float4 bv = *reinterpret_cast<const float4*>(sb + now * 512 + i * 32 + tx * 4);
      for (int y = 0; y < 4; ++y) av[y] = sa[now * 512 + (ty * 4 + y) * 16 + i];
      for (int y = 0; y < 4; ++y) {
        sum[y][0] = fmaf(av[y], bv.x, sum[y][0]);
        sum[y][1] = fmaf(av[y], bv.y, sum[y][1]);
        sum[y][2] = fmaf(av[y], bv.z, sum[y][2]);
        sum[y][3] = fmaf(av[y], bv.w, sum[y][3]);
      }
    }
    __syncthreads();
  }
  for (int y = 0; y < 4; ++y) {
    *reinterpret_cast<float4*>(c + (blockIdx.y * 32 + ty * 4 + y) * n + blockIdx.x * 32 + tx * 4) =
        make_float4(sum[y][0], sum[y][1], sum[y][2], sum[y][3]);
  }
}

// int8 dot products, signed by signed and unsigned by signed, and of 16-bit by 8-bit.
extern "C" __global__ void dots(const int* a, const int* b, int* out, int words) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  int s = 0, h = 0;
  unsigned u = 0;
  for (int i = 0; i < words; ++i) {
    const int x = a[row * words + i], y = b[i];
    s = __dp4a(x, y, s);
    u = __dp4a(static_cast<unsigned>(x), static_cast<unsigned>(y), u);
    h = __dp2a_lo(x, y, h);
    h = __dp2a_hi(x, y, h);
  }
  out[row * 3] = s;
  out[row * 3 + 1] = static_cast<int>(u);
  out[row * 3 + 2] = h;
}

// y = A x in pairs of halves; each product and sum is rounded to half.
extern "C" __global__ void half_gemv(const __half2* a, const __half2* x, __half* y, int pairs) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  __half2 sum = __float2half2_rn(0.0f);
  for (int i = 0; i < pairs; ++i) sum = __hfma2(a[row * pairs + i], x[i], sum);
  const __half both = __hadd(__low2half(sum), __high2half(sum));
  y[row] = __hgt(both, __float2half(0.0f)) ? both : __hmul(both, __float2half(0.125f));
}

// bf16: z = relu(a x + y), then its square minus its minimum with one, lane by lane and in pairs.
extern "C" __global__ void bfloat(const __nv_bfloat162* x, const __nv_bfloat162* y, __nv_bfloat162* z, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __nv_bfloat162 scale = __float2bfloat162_rn(a);
  const __nv_bfloat162 v = __hfma2_relu(scale, x[i], y[i]);
  const __nv_bfloat162 low = __hmin2(v, __float2bfloat162_rn(1.0f));
  z[i] = __hsub2(__hmul2(v, v), __habs2(__hneg2(low)));
}

// LU of one matrix of up to 32 x 32 a warp, partial pivoting by shuffles; the matrix lies in shared memory.
extern "C" __global__ void lu(double* a, int* pivots, int n) {
  __shared__ double s[32][33];
  const unsigned lane = threadIdx.x;
  double* mine = a + blockIdx.x * n * n;
  for (int i = 0; i < n; ++i) {
    if (lane < n) s[i][lane] = mine[i * n + lane];
  }
  __syncwarp();
  for (int k = 0; k < n; ++k) {
    double best = lane >= k && lane < n ? fabs(s[lane][k]) : -1.0;
    int at = static_cast<int>(lane);
    for (int d = 16; d > 0; d /= 2) {
      const double other = __shfl_xor_sync(~0u, best, d);
      const int where = __shfl_xor_sync(~0u, at, d);
      if (other > best || (other == best && where < at)) {
        best = other;
        at = where;
      }
    }
    if (lane == 0) pivots[blockIdx.x * n + k] = at;
    if (lane < n && at != k) {
      const double t = s[k][lane];
      s[k][lane] = s[at][lane];
      s[at][lane] = t;
    }
    __syncwarp();
    if (lane > k && lane < n) {
      const double f = s[lane][k] / s[k][k];
      s[lane][k] = f;
      for (int j = k + 1; j < n; ++j) s[lane][j] = fma(-f, s[k][j], s[lane][j]);
    }
    __syncwarp();
  }
  for (int i = 0; i < n; ++i) {
    if (lane < n) mine[i * n + lane] = s[i][lane];
  }
}

// Cholesky factors of 6 x 6 matrices, one a thread, in registers; square roots and divisions in float.
extern "C" __global__ void cholesky(const float* in, float* out, int count) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  float l[6][6];
#pragma unroll
  for (int i = 0; i < 6; ++i) {
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      float v = in[t * 36 + i * 6 + j];
#pragma unroll
      for (int k = 0; k < j; ++k) v = fmaf(-l[i][k], l[j][k], v);
      l[i][j] = i == j ? sqrtf(v) : v / l[j][j];
      out[t * 36 + i * 6 + j] = l[i][j];
    }
  }
}
