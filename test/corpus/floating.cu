// Corpus: single, half, bfloat16 and double arithmetic, compares, conversions, special functions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
typedef long long i64;
typedef unsigned long long u64;
#define P(e) o[i + 1024 * k++] = (e)
extern "C" __global__ void f_basic(float* o, const float* a, const float* b, const float* c, float s, float t, const int* p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  float x = a[i], y = b[i], z = c[i];
  int n = p[i];
  P(x + y); P(x - y); P(x * y); P(x * y + z); P(x * y - z); P(-x * y + z); P(-x * y - z); P(x + 1.5f); P(x * 2.5f); P(x * s + t); P(x * s); P(s - x); P(x * 3.0f + y); P(x * y + 0.1f); P(fabsf(x) + y); P(fabsf(x) - fabsf(y)); P(-fabsf(x) * y); P(x * s + 1.0f); P(1.0f - x);
  P(__fadd_rz(x, y)); P(__fadd_ru(x, s)); P(__fmul_rd(x, y)); P(__fmaf_rz(x, y, z)); P(__fmaf_ru(x, 2.f, z)); P(__fmaf_rd(x, y, s)); P(__saturatef(x * y)); P(__saturatef(x + y)); P(__saturatef(fmaf(x, y, z)));
  P(fminf(x, y)); P(fmaxf(x, 0.f)); P(fminf(x, s)); P(fmaxf(fabsf(x), -y)); P(fminf(fmaxf(x, 0.f), 1.f)); P(x < y ? z : s); P(x > 0.f ? x : 0.1f * x); P(x == y); P(x != x ? 1.f : y); P(isnan(x) || y < 2.f ? z : x); P(x <= y && y >= z ? s : t); P(!(x < y) ? z : t); P(fabsf(x) > 3.f ? y : -z); P((x < y) != (y < z) ? x : z); P((x < s || y > t) ? 1.f : z);
  P(sqrtf(x)); P(rsqrtf(x)); P(1.f / x); P(x / y); P(__fdividef(x, y)); P(sinf(x)); P(cosf(x)); P(__sinf(x)); P(__cosf(x)); P(exp2f(x)); P(__expf(x)); P(expf(x)); P(logf(x)); P(__logf(x)); P(log2f(x)); P(powf(x, y)); P(tanhf(x)); P(erff(x)); P(__frcp_rn(x)); P(__fsqrt_rn(x)); P(cbrtf(x)); P(log1pf(x)); P(__powf(x, y)); P(__tanf(x)); P(fmodf(x, y)); P(atanf(x)); P(__fdiv_rz(x, y)); P(__fsqrt_rz(x)); P(hypotf(x, y)); P(ldexpf(x, n)); P(nextafterf(x, y)); P(lgammaf(x)); P(sinpif(x)); P(normcdff(x));
  P(floorf(x)); P(ceilf(x)); P(truncf(x)); P(rintf(x)); P(roundf(x)); P((float)n); P((float)(unsigned)n); P((float)(short)n); P((float)(n & 0xff)); P((float)(char)(n >> 8)); P(__int2float_rz(n)); P(__uint2float_ru(n)); P(__int_as_float((int)x)); P(__int_as_float((unsigned)x)); P(__int_as_float(__float2int_rn(x))); P(__int_as_float(__float2int_ru(x))); P(__int_as_float(__float2uint_rd(x))); P(__int_as_float((short)x)); P(__int_as_float((unsigned char)x)); P((float)((n >> 16) & 0xff)); P((float)((n >> 24) & 0xff)); P((float)(i64)n); P((float)(u64)(unsigned)(n * 3)); P((float)((i64)x + 3)); P((float)((u64)y ^ 5)); P(__int_as_float((int)rintf(y))); P(__int_as_float((signed char)y)); P(__int_as_float((unsigned short)y));
  P(copysignf(x, y)); P(x * x + y * y + z * z); P(fmaf(x, x, -0.5f)); P(x * 0x1p-20f); P(x + 1e20f); P(x * 1e-30f); P(__int_as_float(0x7f800000) * x); P(fmaxf(x, __int_as_float(0xff800000))); P(x == __int_as_float(0x7f800000) ? 1.f : 2.f); P(fmaxf(fmaxf(x, y), z)); P(-x); P(fabsf(y)); P(__fmaf_ieee_rn(x, y, z));
}
extern "C" __global__ void f_pred(int* o, const float* a, const float* b, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  float x = a[i], y = b[i];
  P(x < y); P(x <= y); P(x == y); P(x != y); P(x > y); P(x >= y); P(!(x < y)); P(!(x > y)); P(isnan(x)); P(isinf(x)); P(isfinite(x)); P(signbit(x)); P(x < s ? 3 : 4); P(x < y ? -1 : 0); P(-(x > s)); P(x > 1.f && y > 1.f); P((x > y) + (x < s));
}
extern "C" __global__ void d_basic(double* o, const double* a, const double* b, const double* c, double s, const float* f, const int* p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  double x = a[i], y = b[i], z = c[i];
  float g = f[i];
  int n = p[i];
  P(x + y); P(x - y); P(x * y); P(x * y + z); P(x * y - z); P(-x * y + z); P(x * s + y); P(x + s); P(x * s); P(x * 2.5); P(x + 1.0); P(x * 0.5 + y); P(fma(x, y, 3.0)); P(fma(x, s, y)); P(fma(x, y, s)); P(fabs(x) + y); P(-fabs(x) + y); P(-x); P(fabs(x));
  P(__dadd_rz(x, y)); P(__dmul_ru(x, y)); P(__fma_rd(x, y, z)); P(fmin(x, y)); P(fmax(x, s)); P(x < y ? z : s); P(x == y); P(x != x ? y : z); P(sqrt(x)); P(1.0 / x); P(x / y); P(rsqrt(x)); P(exp(x)); P(log(x)); P(sin(x)); P(floor(x)); P(ceil(x)); P(trunc(x)); P(rint(x)); P(g); P(n); P((unsigned)n); P((i64)n * 3); P((u64)x); P((i64)x); P((int)x); P((unsigned)x); P((float)x); P((double)(float)(x * y)); P((short)n); P((x < y && y > z) ? 1.0 : s); P(fabs(x) >= 3.0 ? y : z); P(pow(x, y)); P(__double2float_rz(x)); P(__ll2double_rz((i64)n << 20)); P(__double2int_ru(x)); P((double)(char)n); P((x > s || y < 2.0) ? z : x);
}
extern "C" __global__ void h_basic(__half2* o, const __half2* a, const __half2* b, const __half2* c, __half2 s, const float2* f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  __half2 x = a[i], y = b[i], z = c[i];
  float2 g = f[i];
  P(__hadd2(x, y)); P(__hsub2(x, y)); P(__hmul2(x, y)); P(__hfma2(x, y, z)); P(__hfma2(x, s, z)); P(__hfma2(x, y, s)); P(__hadd2(x, s)); P(__hmul2(x, s)); P(__hneg2(x)); P(__habs2(x)); P(__hadd2(__habs2(x), y)); P(__hfma2(x, __hneg2(y), z)); P(__hfma2(x, y, __hneg2(z))); P(__hfma2_sat(x, y, z)); P(__hadd2_sat(x, y)); P(__hmul2_sat(x, y)); P(__hfma2_relu(x, y, z)); P(__hmin2(x, y)); P(__hmax2(x, y)); P(__hmax2_nan(x, y)); P(__hmin2(x, s));
  P(__heq2(x, y)); P(__hlt2(x, y)); P(__hgeu2(x, y)); P(__hne2(x, s)); P(__low2half2(x)); P(__high2half2(x)); P(__lows2half2(x, y)); P(__highs2half2(x, y)); P(__lowhigh2highlow(x)); P(__float22half2_rn(g)); P(__floats2half2_rn(g.x, g.y)); P(__float2half2_rn(g.x)); P(h2exp2(x)); P(h2log2(x)); P(h2rcp(x)); P(h2sqrt(x)); P(h2rsqrt(x)); P(h2sin(x)); P(h2floor(x)); P(h2ceil(x)); P(h2rint(x)); P(h2trunc(x)); P(h2exp(x)); P(__hadd2(x, __half2half2(__low2half(y)))); P(__hmul2(x, __half2half2(__high2half(y)))); P(__hfma2(x, __half2half2(__high2half(y)), __half2half2(__low2half(z)))); P(__hfma2(x, __floats2half2_rn(1.5f, 2.5f), z)); P(__hadd2(x, __floats2half2_rn(1.0f, 3.0f))); P(__hmul2(x, __floats2half2_rn(0.5f, -2.0f))); P(__hfma2(x, y, __floats2half2_rn(1.0f, 1.0f)));
  __half h = __low2half(x), q = __high2half(y), r = __low2half(z);
  P(__halves2half2(__hadd(h, q), __hmul(h, r))); P(__halves2half2(__hfma(h, q, r), __hsub(h, r))); P(__halves2half2(__float2half(g.x), __float2half_rz(g.y))); P(__halves2half2(__int2half_rn(__half2int_rn(h)), __ushort2half_rn(__half2ushort_rz(q)))); P(__halves2half2(hexp(h), hlog(q))); P(__halves2half2(hsqrt(h), hrcp(q))); P(__halves2half2(hfloor(h), hceil(q))); P(__hlt(h, q) ? x : y); P(__hgt(h, q) && __heq(q, r) ? x : z); P(__hbeq2(x, y) ? y : z); P(__hblt2(x, y) ? x : z); P(__halves2half2(__hmin(h, q), __hmax(h, r))); P(__halves2half2(__double2half((double)g.x), __ll2half_rn((i64)g.y))); P(__halves2half2(__uint2half_rn((unsigned)g.x), __short2half_rn((short)g.y))); P(__halves2half2(htanh_approx(h), hsin(q))); P(__hcmadd(x, y, z)); P(__hlt2_mask(x, y) ? x : y); P(__hisnan2(x));
  o[i + 99999].x = __float2half(__half2float(h) + __high2float(x)); float2 w = __half22float2(x); P(__floats2half2_rn(w.x * 3.f, w.y + g.x)); P(__hadd2_rn(x, y)); P(__hmul2_rn(x, y));
}
extern "C" __global__ void bf_basic(__nv_bfloat162* o, const __nv_bfloat162* a, const __nv_bfloat162* b, const __nv_bfloat162* c, __nv_bfloat162 s, const float2* f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  __nv_bfloat162 x = a[i], y = b[i], z = c[i];
  float2 g = f[i];
  P(__hadd2(x, y)); P(__hsub2(x, y)); P(__hmul2(x, y)); P(__hfma2(x, y, z)); P(__hfma2(x, s, z)); P(__hfma2(x, y, s)); P(__hfma2_relu(x, y, z)); P(__hfma2_sat(x, y, z)); P(__hmin2(x, y)); P(__hmax2(x, y)); P(__hmax2_nan(x, y)); P(__heq2(x, y)); P(__hltu2(x, y)); P(__hneg2(x)); P(__habs2(x)); P(__floats2bfloat162_rn(g.x, g.y)); P(__float2bfloat162_rn(g.x)); P(h2exp2(x)); P(h2rcp(x)); P(h2floor(x)); P(__hadd2(x, __floats2bfloat162_rn(1.f, 2.f))); P(__hfma2(x, __floats2bfloat162_rn(1.5f, 2.f), z)); P(__hbgt2(x, y) ? x : z); P(__halves2bfloat162(__float2bfloat16_rz(g.x), __float2bfloat16_ru(g.y))); P(__halves2bfloat162(__int2bfloat16_rn((int)g.x), __ll2bfloat16_rn((i64)g.y))); P(__hlt(x.x, y.y) ? x : y); P(__halves2bfloat162(__hfma(x.x, y.y, z.x), __hadd(x.y, z.y))); P(__halves2bfloat162(hexp(x.x), hlog(y.x))); P(__halves2bfloat162(__ushort2bfloat16_rn(__bfloat162ushort_rz(x.x)), __short2bfloat16_rn(__bfloat162short_rn(x.y)))); P(__hmul2_rn(x, y));
  float2 w = __bfloat1622float2(x); P(__floats2bfloat162_rn(w.x * 3.f, w.y + g.x)); P(__floats2bfloat162_rn(fmaxf(w.x, 0.f), fmaxf(w.y, 0.f)));
}
