// Corpus: textures and surfaces of every geometry, fetch, gather, gradients, levels, queries.
#include <cuda_runtime.h>
#include <surface_indirect_functions.h>
#include <texture_indirect_functions.h>

template <class T>
__device__ float sum(T v) {
  return (float)v.x + (float)v.y + (float)v.z + (float)v.w;
}
#define O(e) o[i + 256 * k++] = (float)(e)

extern "C" __global__ void tex_points(float* o, cudaTextureObject_t t, const float* a, const int* b) {
  int i = threadIdx.x, k = 0;
  float x = a[i], y = a[i + 1], z = a[i + 2];
  int n = b[i];
  O(sum(tex1Dfetch<float4>(t, n))); O(tex1Dfetch<float>(t, n)); O(tex1Dfetch<float2>(t, n).y); O(tex1Dfetch<int>(t, n));
  O(tex1D<float>(t, x)); O(sum(tex1D<float4>(t, x))); O(tex1D<float2>(t, x).x);
  O(tex2D<float>(t, x, y)); O(sum(tex2D<float4>(t, x, y))); O(sum(tex2D<int4>(t, x, y))); O(tex2D<uchar4>(t, x, y).z);
  O(tex3D<float>(t, x, y, z)); O(sum(tex3D<float4>(t, x, y, z)));
  O(tex1DLayered<float>(t, x, n)); O(sum(tex1DLayered<float4>(t, x, n))); O(tex2DLayered<float>(t, x, y, n));
  O(sum(tex2DLayered<float4>(t, x, y, n))); O(texCubemap<float>(t, x, y, z)); O(sum(texCubemap<float4>(t, x, y, z)));
  O(texCubemapLayered<float>(t, x, y, z, n)); O(sum(texCubemapLayered<float4>(t, x, y, z, n)));
}
extern "C" __global__ void tex_levels(float* o, cudaTextureObject_t t, const float* a, const int* b) {
  int i = threadIdx.x, k = 0;
  float x = a[i], y = a[i + 1], z = a[i + 2], l = a[i + 3];
  int n = b[i];
  O(tex1DLod<float>(t, x, l)); O(tex2DLod<float>(t, x, y, l)); O(sum(tex2DLod<float4>(t, x, y, l)));
  O(tex3DLod<float>(t, x, y, z, l)); O(tex1DLayeredLod<float>(t, x, n, l)); O(tex2DLayeredLod<float>(t, x, y, n, l));
  O(texCubemapLod<float>(t, x, y, z, l)); O(sum(texCubemapLayeredLod<float4>(t, x, y, z, n, l)));
  O(tex2DLod<float>(t, x, y, 0.f)); O(tex3DLod<float>(t, x, y, z, 2.f));
}
extern "C" __global__ void tex_gradients(float* o, cudaTextureObject_t t, const float* a, const int* b) {
  int i = threadIdx.x, k = 0;
  float x = a[i], y = a[i + 1], z = a[i + 2];
  int n = b[i];
  float2 p = {x * 2, y * 3}, q = {x - 1, y + z};
  float4 u = {x, y, z, 0}, v = {y, z, x, 0};
  O(tex1DGrad<float>(t, x, y, z)); O(tex2DGrad<float>(t, x, y, p, q)); O(sum(tex2DGrad<float4>(t, x, y, p, q)));
  O(tex3DGrad<float>(t, x, y, z, u, v)); O(tex1DLayeredGrad<float>(t, x, n, y, z));
  O(tex2DLayeredGrad<float>(t, x, y, n, p, q)); O(texCubemapGrad<float>(t, x, y, z, u, v));
}
extern "C" __global__ void tex_gather(float* o, cudaTextureObject_t t, const float* a) {
  int i = threadIdx.x, k = 0;
  float x = a[i], y = a[i + 1];
  O(sum(tex2Dgather<float4>(t, x, y, 0))); O(sum(tex2Dgather<float4>(t, x, y, 1)));
  O(sum(tex2Dgather<int4>(t, x, y, 2))); O(sum(tex2Dgather<float4>(t, x, y, 3)));
}
extern "C" __global__ void tex_many(float* o, const cudaTextureObject_t* t, const float* a, int n) {
  int i = threadIdx.x, k = 0;
  float x = a[i], y = a[i + 1];
  float s = 0;
  for (int j = 0; j < n; ++j) s += tex2D<float>(t[j], x + j, y) * tex2D<float4>(t[j + 1], x, y).w;
  O(s);
  if (x > 0) O(tex3D<float>(t[n], x, y, s));
  O(tex2DLayered<float2>(t[3], x, y, n).y);
}
extern "C" __global__ void tex_query(int* o, cudaTextureObject_t t, cudaSurfaceObject_t s) {
  int i = threadIdx.x, k = 0;
  int r;
#define Q(name, from) asm volatile(name " %0, [%1];" : "=r"(r) : "l"(from)); o[i + 256 * k++] = r
  Q("txq.width.b32", t); Q("txq.height.b32", t); Q("txq.depth.b32", t); Q("txq.channel_data_type.b32", t);
  Q("txq.channel_order.b32", t); Q("txq.array_size.b32", t); Q("txq.num_mipmap_levels.b32", t);
  Q("txq.num_samples.b32", t); Q("suq.width.b32", s); Q("suq.height.b32", s); Q("suq.depth.b32", s);
  Q("suq.channel_data_type.b32", s); Q("suq.channel_order.b32", s); Q("suq.array_size.b32", s);
}
#define SURFACE(T, name)                                                                              \
  extern "C" __global__ void surface_##name(T* o, cudaSurfaceObject_t s, const int* b) {               \
    int i = threadIdx.x, x = b[i], y = b[i + 1], z = b[i + 2], n = b[i + 3];                           \
    o[0] = surf1Dread<T>(s, x); o[1] = surf2Dread<T>(s, x, y); o[2] = surf3Dread<T>(s, x, y, z);       \
    o[3] = surf1DLayeredread<T>(s, x, n); o[4] = surf2DLayeredread<T>(s, x, y, n);                     \
    o[5] = surfCubemapread<T>(s, x, y, 3); o[6] = surfCubemapLayeredread<T>(s, x, y, n);               \
    o[7] = surf2Dread<T>(s, x, y, cudaBoundaryModeClamp); o[8] = surf1Dread<T>(s, x, cudaBoundaryModeZero); \
    surf1Dwrite(o[9], s, x); surf2Dwrite(o[10], s, x, y); surf3Dwrite(o[11], s, x, y, z);              \
    surf1DLayeredwrite(o[12], s, x, n); surf2DLayeredwrite(o[13], s, x, y, n);                         \
    surfCubemapwrite(o[14], s, x, y, 2); surf2Dwrite(o[15], s, x, y, cudaBoundaryModeClamp);           \
    surf3Dwrite(o[16], s, x, y, z, cudaBoundaryModeZero);                                              \
  }
SURFACE(unsigned char, u8) SURFACE(short, s16) SURFACE(int, s32) SURFACE(float, f32) SURFACE(float2, f2) SURFACE(float4, f4)
SURFACE(long long, s64) SURFACE(uchar4, uc4)
extern "C" __global__ void surface_ptx(int* o, cudaSurfaceObject_t s, const int* b) {
  int i = threadIdx.x, x = b[i], y = b[i + 1], z = b[i + 2], r, q, u, v;
#define R(op) asm volatile(op : : "l"(s), "r"(x), "r"(y), "r"(z))
  R("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;"); R("sured.b.min.2d.s32.clamp [%0, {%1, %2}], %3;");
  R("sured.b.max.1d.u32.zero [%0, {%1}], %3;"); R("sured.b.or.2d.b32.trap [%0, {%1, %2}], %3;");
  R("sured.b.and.2d.b32.trap [%0, {%1, %2}], %3;"); R("sured.p.add.2d.b32.trap [%0, {%1, %2}], %3;");
  R("sust.p.2d.b32.trap [%0, {%1, %2}], %3;"); R("sust.b.2d.cg.b32.trap [%0, {%1, %2}], %3;");
  R("sust.b.2d.cs.b32.zero [%0, {%1, %2}], %3;"); R("sust.b.2d.wt.b16.clamp [%0, {%1, %2}], 3;");
  asm volatile("suld.b.2d.ca.v2.b32.trap {%0, %1}, [%2, {%3, %4}];" : "=r"(r), "=r"(q) : "l"(s), "r"(x), "r"(y)); o[i] = r + q;
  asm volatile("suld.b.3d.cg.v4.b32.zero {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];" : "=r"(r), "=r"(q), "=r"(u), "=r"(v) : "l"(s), "r"(x), "r"(y), "r"(z)); o[i + 99] = r + q * u + v;
  asm volatile("suld.b.a2d.cs.b32.clamp %0, [%1, {%2, %3, %4, %4}];" : "=r"(r) : "l"(s), "r"(z), "r"(x), "r"(y)); o[i + 199] = r;
  asm volatile("suld.b.1d.cv.b32.clamp %0, [%1, {%2}];" : "=r"(r) : "l"(s), "r"(z)); o[i + 299] = r;
}
extern "C" __global__ void tld_ptx(float* o, cudaTextureObject_t t, const int* b) {
  int i = threadIdx.x, x = b[i], y = b[i + 1], z = b[i + 2], n = b[i + 3], k = 0;
  float r, q, u, v;
#define T4(op) asm volatile(op : "=f"(r), "=f"(q), "=f"(u), "=f"(v) : "l"(t), "r"(x), "r"(y), "r"(z), "r"(n)); O(r + q * u + v)
  T4("tex.1d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5}];"); T4("tex.2d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5, %6}];");
  T4("tex.3d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5, %6, %7, %7}];"); T4("tex.a2d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5, %6, %7, %7}];");
  T4("tex.level.2d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5, %6}], %8;"); T4("tex.a1d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5, %6}];");
  T4("tex.2dms.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%8, %5, %6, %6}];"); T4("tex.a2dms.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%8, %7, %5, %6}];");
}
extern "C" __global__ void tex_depth(float* o, cudaTextureObject_t t, const float* b) {
  int i = threadIdx.x, k = 0;
  float x = b[i], y = b[i + 1], z = b[i + 2], n = b[i + 3], r, q, u, v, l;
#define D4(op) asm volatile(op : "=f"(r), "=f"(q), "=f"(u), "=f"(v) : "l"(t), "f"(x), "f"(y), "f"(z), "f"(n)); O(r + q * u + v)
  D4("tex.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5, %6}], %8;"); D4("tex.cube.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5, %6, %7, %7}], %8;");
  D4("tld4.r.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5, %6}], %8;"); D4("tld4.b.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5, %6}];");
  D4("tld4.g.cube.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5, %6, %7, %7}];"); D4("tex.level.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5, %6}], %8, %7;");
  int e = (int)z, f = (int)n;
#define E4(op) asm volatile(op : "=f"(r), "=f"(q), "=f"(u), "=f"(v) : "l"(t), "f"(x), "f"(y), "r"(e), "r"(f)); O(r + q * u + v)
  E4("tex.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5, %6}], {%7, %8};"); E4("tld4.a.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5, %6}], {%7, %8};");
  asm volatile("tex.base.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5, %6}];" : "=f"(r), "=f"(q), "=f"(u), "=f"(v) : "l"(t), "f"(x), "f"(y)); O(r);
  asm volatile("{.reg .pred p; tex.2d.v4.f32.f32 {%0,%1,%2,%3}|p, [%5, {%6, %7}]; selp.f32 %4, %6, 0f00000000, p;}" : "=f"(r), "=f"(q), "=f"(u), "=f"(v), "=f"(l) : "l"(t), "f"(x), "f"(y)); O(r + l);
}
