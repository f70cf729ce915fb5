// Corpus: the mathematical functions of both precisions, with their slow paths.
#include <cuda_runtime.h>
#define O(e) o[i + 256 * k++] = (e)
#define ONE(F) F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh) F(exp) F(exp2) \
  F(exp10) F(expm1) F(log) F(log2) F(log10) F(log1p) F(sqrt) F(rsqrt) F(cbrt) F(rcbrt) F(erf) F(erfc) F(erfinv) F(erfcinv) F(erfcx) \
  F(normcdf) F(normcdfinv) F(lgamma) F(tgamma) F(j0) F(j1) F(y0) F(y1) F(cyl_bessel_i0) F(cyl_bessel_i1) F(ceil) F(floor) F(trunc) \
  F(rint) F(round) F(nearbyint) F(logb) F(sinpi) F(cospi) F(fabs)
#define TWO(F) F(pow) F(atan2) F(fmod) F(hypot) F(rhypot) F(fmax) F(fmin) F(fdim) F(copysign) F(nextafter) F(remainder)
#define D1(f) extern "C" __global__ void d_##f(double* o, const double* a) { o[threadIdx.x] = f(a[threadIdx.x]); }
#define D2(f) extern "C" __global__ void d2_##f(double* o, const double* a) { o[threadIdx.x] = f(a[threadIdx.x], a[threadIdx.x + 1]); }
#define S1(n) extern "C" __global__ void s_##n(float* o, const float* a) { o[threadIdx.x] = n##f(a[threadIdx.x]); }
#define S2(n) extern "C" __global__ void s2_##n(float* o, const float* a) { o[threadIdx.x] = n##f(a[threadIdx.x], a[threadIdx.x + 1]); }
ONE(D1) TWO(D2) ONE(S1) TWO(S2)
extern "C" __global__ void more(double* o, const double* a, const int* n, float* f) {
  int i = threadIdx.x, k = 0, e;
  double x = a[i], y = a[i + 1], z = a[i + 2], s, c;
  sincos(x, &s, &c); O(s + c); sincospi(x, &s, &c); O(s * c); O(frexp(x, &e)); O(e); O(ldexp(x, n[i])); O(scalbn(x, n[i])); O(modf(x, &s)); O(s);
  O(remquo(x, y, &e)); O(e); O(ilogb(x)); O(jn(n[i], x)); O(yn(n[i], x)); O(fma(x, y, z)); O(norm3d(x, y, z)); O(rnorm3d(x, y, z)); O(norm4d(x, y, z, x)); O(lrint(x)); O(llround(x)); O(lround(y));
  float u = (float)x, v = (float)y, p, q; k = 0;
#undef O
#define O(e) f[i + 256 * k++] = (e)
  sincosf(u, &p, &q); O(p + q); sincospif(u, &p, &q); O(p * q); O(frexpf(u, &e)); O(ldexpf(u, n[i])); O(modff(u, &p)); O(remquof(u, v, &e)); O(e); O(jnf(n[i], u)); O(ynf(n[i], u)); O(norm3df(u, v, p)); O(rnorm4df(u, v, p, q));
  O(__sinf(u)); O(__cosf(u)); O(__tanf(u)); O(__expf(u)); O(__exp10f(u)); O(__logf(u)); O(__log2f(u)); O(__log10f(u)); O(__powf(u, v)); O(__fdividef(u, v)); O(__frsqrt_rn(u)); O(__fsqrt_rd(u)); O(__fsqrt_ru(u)); O(__fsqrt_rz(u)); O(__frcp_rd(u)); O(__frcp_ru(u)); O(__fdiv_rd(u, v)); O(__fdiv_ru(u, v)); O(__fdiv_rz(u, v)); O(__saturatef(u)); O(lrintf(u)); O(llroundf(v)); O(__double2float_rd(x)); O(__double2float_ru(y)); O(__dsqrt_rd(x)); O(__ddiv_ru(x, y)); O(__drcp_rz(x)); O(__dadd_rd(x, y)); O(__dmul_ru(x, y)); O(__fma_rz(x, y, z));
  O(__double2hiint(x)); O(__double2loint(y)); O(__hiloint2double(n[i], n[i + 1])); O(__double2int_rd(x)); O(__double2uint_ru(x)); O(__double2ll_rz(x)); O(__double2ull_rn(x)); O(__int2double_rn(n[i])); O(__ll2double_rd((long long)x)); O(__uint2double_rn(n[i])); O(__ull2double_ru((unsigned long long)y)); O(__ll2float_rd((long long)x)); O(__ull2float_rz((unsigned long long)y)); O(__float2ll_rd(u)); O(__float2ull_ru(u));
}
