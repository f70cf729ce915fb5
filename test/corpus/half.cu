// Corpus: half, bfloat16 and eight-bit floats: scalar and packed arithmetic, compares, conversions, functions, atomics.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#define O(e) o[i + 256 * k++] = (e)
#define B(e) b[i + 256 * k++] = (e)
#define KERNEL(T, T2, name, from, to)                                                                                        \
  extern "C" __global__ void name##_scalar(T* o, const T* a, int* b, float* f, unsigned short* m) {                           \
    int i = threadIdx.x, k = 0; T x = a[i], y = a[i + 1], z = a[i + 2]; float g = f[i];                                       \
    O(__hadd(x, y)); O(__hsub(x, y)); O(__hmul(x, y)); O(__hfma(x, y, z)); O(__hfma_sat(x, y, z)); O(__hfma_relu(x, y, z)); O(__hadd_sat(x, y)); O(__hmul_sat(x, y)); O(__hsub_sat(x, y)); O(__hneg(x)); O(__habs(x)); O(__hdiv(x, y)); \
    O(__hmin(x, y)); O(__hmax(x, y)); O(__hmin_nan(x, y)); O(__hmax_nan(x, y)); O(hsqrt(x)); O(hrsqrt(x)); O(hrcp(x)); O(hexp(x)); O(hexp2(x)); O(hexp10(x)); O(hlog(x)); O(hlog2(x)); O(hlog10(x)); O(hsin(x)); O(hcos(x)); O(hfloor(x)); O(hceil(x)); O(htrunc(x)); O(hrint(x)); \
    O(from(g)); O(__float2##name##_rz(g)); O(__float2##name##_rd(g)); O(__float2##name##_ru(g)); O(__int2##name##_rn(i)); O(__uint2##name##_rz(i)); O(__short2##name##_rn((short)i)); O(__ushort2##name##_ru((unsigned short)i)); O(__ll2##name##_rn((long long)b[i])); O(__double2##name((double)g)); \
    B(__##name##2int_rn(x)); B(__##name##2int_rz(x)); B(__##name##2uint_ru(x)); B(__##name##2short_rd(x)); B(__##name##2ushort_rz(y)); B(__##name##2ll_rn(x)); B(__##name##2ull_rz(x)); B(__##name##2char_rz(x)); B(__##name##_as_short(x)); \
    B(__heq(x, y)); B(__hne(x, y)); B(__hlt(x, y)); B(__hle(x, y)); B(__hgt(x, y)); B(__hge(x, y)); B(__hequ(x, y)); B(__hneu(x, y)); B(__hltu(x, y)); B(__hgtu(x, y)); B(__hisnan(x)); B(__hisinf(x)); f[i + 99] = to(x) * to(y) + to(z); f[i + 199] = (float)x + 1.5f; b[i] = (x > y) && (y < z); O(x * y + (T)2.5f); O(x > (T)1.0f ? y : z); O(-x * y); O(x - (T)0.25f); \
  }                                                                                                                           \
  extern "C" __global__ void name##_packed(T2* o, const T2* a, int* b, float2* f) {                                           \
    int i = threadIdx.x, k = 0; T2 x = a[i], y = a[i + 1], z = a[i + 2];                                                      \
    O(__hadd2(x, y)); O(__hsub2(x, y)); O(__hmul2(x, y)); O(__hfma2(x, y, z)); O(__hfma2_sat(x, y, z)); O(__hfma2_relu(x, y, z)); O(__hadd2_sat(x, y)); O(__hmul2_sat(x, y)); O(__hneg2(x)); O(__habs2(x)); O(__h2div(x, y)); O(__hmin2(x, y)); O(__hmax2(x, y)); O(__hmin2_nan(x, y)); O(__hmax2_nan(x, y)); O(__hcmadd(x, y, z)); \
    O(__heq2(x, y)); O(__hne2(x, y)); O(__hlt2(x, y)); O(__hle2(x, y)); O(__hgt2(x, y)); O(__hge2(x, y)); O(__hequ2(x, y)); O(__hgeu2(x, y)); O(__hisnan2(x)); B(__heq2_mask(x, y)); B(__hlt2_mask(x, y)); B(__hgtu2_mask(x, y)); B(__hbeq2(x, y)); B(__hblt2(x, y)); B(__hbgeu2(x, y)); \
    O(h2sqrt(x)); O(h2exp(x)); O(h2log2(x)); O(h2sin(x)); O(h2rcp(x)); O(h2floor(x)); O(h2rint(x)); O(__low2##name##2(x)); O(__high2##name##2(x)); O(__lowhigh2highlow(x)); O(__lows2##name##2(x, y)); O(__highs2##name##2(x, y)); \
    f[i] = __##name##22float2(x); O(__floats2##name##2_rn(f[i + 1].x, f[i + 1].y)); O(__float22##name##2_rn(f[i + 2])); O(__hfma2(x, __low2##name##2(y), __high2##name##2(z))); O(__hmul2(x, __floats2##name##2_rn(1.5f, -2.f))); O(__hfma2(x, __floats2##name##2_rn(1.5f, 3.f), z)); O(__hfma2(x, y, __floats2##name##2_rn(0.f, 1.f))); O(__hadd2(__habs2(x), __hneg2(y))); O(__shfl_xor_sync(~0u, x, 3)); \
    atomicAdd(o + 9999, x); o[k] = atomicAdd(o + 5, y); O(__hadd2(x, __floats2##name##2_rn(2.f, 2.f))); O(__hadd2_rn(x, y)); O(__hmul2_rn(x, y)); \
  }
KERNEL(__half, __half2, half, __float2half, __half2float)
KERNEL(__nv_bfloat16, __nv_bfloat162, bfloat16, __float2bfloat16, __bfloat162float)
extern "C" __global__ void eight(unsigned* o, const float* a, const __half2* h, const __nv_bfloat162* w, const unsigned short* m, float* f) {
  int i = threadIdx.x, k = 0; float x = a[i], y = a[i + 1];
  O(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3)); O(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2)); O(__nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3)); O(__nv_cvt_float2_to_fp8x2(make_float2(x, y), __NV_SATFINITE, __NV_E4M3)); O(__nv_cvt_float2_to_fp8x2(make_float2(x, y), __NV_SATFINITE, __NV_E5M2)); O(__nv_cvt_halfraw2_to_fp8x2(h[i], __NV_SATFINITE, __NV_E4M3)); O(__nv_cvt_halfraw2_to_fp8x2(h[i], __NV_SATFINITE, __NV_E5M2)); O(__nv_cvt_bfloat16raw2_to_fp8x2(w[i], __NV_SATFINITE, __NV_E4M3));
  __half2 r = __nv_cvt_fp8x2_to_halfraw2(m[i], __NV_E4M3), s = __nv_cvt_fp8x2_to_halfraw2(m[i + 1], __NV_E5M2); f[i] = __low2float(r) + __high2float(s); f[i + 1] = (float)__nv_fp8_e4m3(x); f[i + 2] = (float)__nv_fp8_e5m2(y);
  unsigned q;
#define C2(op) asm volatile(op " %0, %1, %2;" : "=r"(q) : "f"(x), "f"(y)); O(q)
  C2("cvt.rn.f16x2.f32"); C2("cvt.rz.f16x2.f32"); C2("cvt.rn.relu.f16x2.f32"); C2("cvt.rn.bf16x2.f32"); C2("cvt.rz.bf16x2.f32"); C2("cvt.rn.relu.bf16x2.f32"); C2("cvt.rz.relu.bf16x2.f32"); C2("cvt.rz.relu.f16x2.f32");
#define C1(op) asm volatile(op " %0, %1;" : "=r"(q) : "f"(x)); O(q)
  C1("cvt.rna.tf32.f32"); C1("cvt.rn.tf32.f32"); C1("cvt.rz.tf32.f32"); C1("cvt.rn.relu.tf32.f32"); C1("cvt.rz.relu.tf32.f32");
  unsigned short e;
#define E2(op) asm volatile(op " %0, %1, %2;" : "=h"(e) : "f"(x), "f"(y)); O(e)
  E2("cvt.rn.satfinite.e4m3x2.f32"); E2("cvt.rn.satfinite.e5m2x2.f32"); E2("cvt.rn.satfinite.relu.e4m3x2.f32"); E2("cvt.rn.satfinite.relu.e5m2x2.f32");
  unsigned u = *(const unsigned*)(h + i);
#define E1(op) asm volatile(op " %0, %1;" : "=h"(e) : "r"(u)); O(e)
  E1("cvt.rn.satfinite.e4m3x2.f16x2"); E1("cvt.rn.satfinite.relu.e5m2x2.f16x2");
  asm volatile("cvt.rn.relu.f16x2.e4m3x2 %0, %1;" : "=r"(q) : "h"(e)); O(q);
  asm volatile("tanh.approx.f16x2 %0, %1;" : "=r"(q) : "r"(u)); O(q); asm volatile("ex2.approx.f16x2 %0, %1;" : "=r"(q) : "r"(u)); O(q); asm volatile("tanh.approx.bf16x2 %0, %1;" : "=r"(q) : "r"(u)); O(q); asm volatile("ex2.approx.ftz.bf16x2 %0, %1;" : "=r"(q) : "r"(u)); O(q); float t; asm volatile("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(x)); f[i + 7] = t;
}
