// Numerical programs: FFT, stencils, n-body, Mandelbrot, functions in float and double.
#include "host.h"

// Radix-2 FFT of 256 points in shared memory; the roots of unity come in a constant table.
#ifdef __CUDACC__
__constant__ float2 roots[128];
__device__ float2 roots_of[128];  // the same in global memory, filled by make_roots
extern "C" __global__ void make_roots() {
  const double angle = -2.0 * static_cast<double>(threadIdx.x) / 256.0;
  roots_of[threadIdx.x] = make_float2(static_cast<float>(cospi(angle)), static_cast<float>(sinpi(angle)));
}
extern "C" __global__ void fft(const float2* in, float2* out) {
  __shared__ float2 s[256];
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 256; i += 128) s[__brev(i) >> 24] = in[blockIdx.x * 256 + i];
  __syncthreads();
  for (unsigned half = 1; half < 256; half *= 2) {
    const unsigned k = t % half, at = 2 * t - k;
    const float2 w = roots_of[k * (128 / half)];
    const float2 a = s[at], b = s[at + half];
    const float2 p = make_float2(__fmaf_rn(b.x, w.x, -__fmul_rn(b.y, w.y)), __fmaf_rn(b.x, w.y, __fmul_rn(b.y, w.x)));
    __syncthreads();
    s[at] = make_float2(__fadd_rn(a.x, p.x), __fadd_rn(a.y, p.y));
    s[at + half] = make_float2(__fsub_rn(a.x, p.x), __fsub_rn(a.y, p.y));
    __syncthreads();
  }
  for (unsigned i = t; i < 256; i += 128) out[blockIdx.x * 256 + i] = s[i];
}

// Heat on a plane: 5 points, halo in shared memory, walls keep their values. roots[0] is the constant of the material.
extern "C" __global__ void stencil(const float* in, float* out, int width, int height, float k) {
  __shared__ float s[18][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const auto at = [&](int i, int j) {
    i = min(max(i, 0), width - 1);
    j = min(max(j, 0), height - 1);
    return in[j * width + i];
  };
  for (int j = threadIdx.y; j < 18; j += 16) {
    for (int i = threadIdx.x; i < 34; i += 32) {
      s[j][i] = at(static_cast<int>(blockIdx.x * 32) + i - 1, static_cast<int>(blockIdx.y * 16) + j - 1);
    }
  }
  __syncthreads();
  if (x >= width || y >= height) return;
  const float here = s[threadIdx.y + 1][threadIdx.x + 1];
  const float around = __fadd_rn(__fadd_rn(s[threadIdx.y][threadIdx.x + 1], s[threadIdx.y + 2][threadIdx.x + 1]),
                                 __fadd_rn(s[threadIdx.y + 1][threadIdx.x], s[threadIdx.y + 1][threadIdx.x + 2]));
  out[y * width + x] = __fmaf_rn(k, __fmaf_rn(-4.0f, here, around), here);
}

// n-body: accelerations, tiles of bodies in shared memory. float takes the chip's rsqrt, double divides exactly.
template <class T, class Force>
__device__ void bodies(const T* position, T* acceleration, int n, T* tile, Force force) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  T p[3], a[3] = {0, 0, 0};
  for (int d = 0; d < 3; ++d) p[d] = i < n ? position[i * 4 + d] : T(0);
  for (int j0 = 0; j0 < n; j0 += blockDim.x) {
    const int j = j0 + threadIdx.x;
    for (int d = 0; d < 4; ++d) tile[threadIdx.x * 4 + d] = j < n ? position[j * 4 + d] : T(0);
    __syncthreads();
    for (unsigned k = 0; k < blockDim.x && j0 + k < n; ++k) {
      T r[3], square = T(0.01);
      for (int d = 0; d < 3; ++d) {
        r[d] = tile[k * 4 + d] - p[d];
        square += r[d] * r[d];
      }
      const T f = force(square) * tile[k * 4 + 3];
      for (int d = 0; d < 3; ++d) a[d] += r[d] * f;
    }
    __syncthreads();
  }
  for (int d = 0; d < 3 && i < n; ++d) acceleration[i * 3 + d] = a[d];
}
extern "C" __global__ void nbody_float(const float* position, float* acceleration, int n) {
  __shared__ float tile[128 * 4];
  bodies(position, acceleration, n, tile, [](float s) {
    const float r = rsqrtf(s);
    return r * r * r;
  });
}
extern "C" __global__ void nbody_double(const double* position, double* acceleration, int n) {
  __shared__ double tile[128 * 4];
  bodies(position, acceleration, n, tile, [](double s) { return 1.0 / (s * sqrt(s)); });
}

// Functions of the mathematics library in double: polynomials of fused multiplications, tables, reductions of large
// arguments. 16 results an argument.
extern "C" __global__ void functions_double(const double* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = in[i];
  double* o = out + i * 16;
  o[0] = exp(x);
  o[1] = log(fabs(x));
  o[2] = sin(x);
  o[3] = cos(x);
  o[4] = tan(x);
  o[5] = atan(x);
  o[6] = asin(fmin(fabs(x), 1.0));
  o[7] = cbrt(x);
  o[8] = erf(x);
  o[9] = tgamma(fmod(fabs(x), 20.0) + 0.5);
  o[10] = pow(fabs(x), 1.7);
  o[11] = tanh(x);
  o[12] = log1p(fabs(x));
  o[13] = hypot(x, 3.0);
  o[14] = sqrt(fabs(x));
  o[15] = rint(x) + floor(x) - ceil(x) + trunc(x) + round(x);
}

// The same in float. What ends in MUFU (exp, pow, tanh) is not the chip's to the bit; the rest is.
extern "C" __global__ void functions_float(const float* in, float* exact, float* close, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  float* o = exact + i * 8;
  o[0] = sinf(x);
  o[1] = cosf(x);
  o[2] = logf(fabsf(x));
  o[3] = 1.0f / x;
  o[4] = sqrtf(fabsf(x));
  o[5] = atanf(x);
  o[6] = fmodf(x, 0.7f);
  o[7] = ldexpf(x, 5) / 3.0f;
  o = close + i * 8;
  o[0] = expf(x);
  o[1] = powf(fabsf(x), 1.7f);
  o[2] = tanhf(x);
  o[3] = rsqrtf(fabsf(x));
  o[4] = erff(x);
  o[5] = cbrtf(x);
  o[6] = __sinf(x * 0.01f);
  o[7] = exp2f(x) + log2f(fabsf(x));
}
#endif

// Mandelbrot: steps until escape, in float and in double; the host computes the same.
extern "C" __global__ void mandelbrot(unsigned short* out, int width, int height, int most) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  const float cr = static_cast<float>(x) * 0.03125f - 2.0f, ci = static_cast<float>(y) * 0.0625f - 1.0f;
  float zr = 0, zi = 0;
  int n = 0;
  while (n < most && fmaf(zr, zr, zi * zi) < 4.0f) {
    const float t = fmaf(zr, zr, fmaf(-zi, zi, cr));
    zi = fmaf(2.0f * zr, zi, ci);
    zr = t;
    ++n;
  }
  const double dr = static_cast<double>(x) / 32.0 - 2.0, di = static_cast<double>(y) / 16.0 - 1.0;
  double wr = 0, wi = 0;
  int m = 0;
  while (m < most && fma(wr, wr, wi * wi) < 4.0) {
    const double t = fma(wr, wr, fma(-wi, wi, dr));
    wi = fma(2.0 * wr, wi, di);
    wr = t;
    ++m;
  }
  out[y * width + x] = static_cast<unsigned short>(n * 256 + m);
}

#ifdef __CUDACC__
// Minima and maxima of doubles and floats, zeros of either sign and NaNs among them.
extern "C" __global__ void extremes(const double* in, double* out, float* narrow, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  const double a = in[i / n], b = in[i % n];
  out[i * 2] = fmin(a, b);
  out[i * 2 + 1] = fmax(a, b);
  narrow[i * 2] = fminf(static_cast<float>(a), static_cast<float>(b));
  narrow[i * 2 + 1] = fmaxf(static_cast<float>(a), static_cast<float>(b));
}
#endif
