// One tensor-core instruction per case, as inline PTX. Fragments are arrays of 32-bit registers (of 64-bit ones for f64).
#pragma once

#include <cstdint>

#include "cases.h"

namespace nervanagpu::tensor_probe {

#define NG_MMA_4_2_4(text)                                                                                          \
  asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                    \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define NG_MMA_2_1_4(text)                                                                 \
  asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"    \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                            \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]))

template <int I>
__device__ void mma(std::uint32_t* d, const std::uint32_t* a, const std::uint32_t* b) {
  constexpr Case c = kCases[I];
  if constexpr (c.a == Format::kF16 && c.c == Format::kF32) {
    if constexpr (c.k == 16) NG_MMA_4_2_4("m16n8k16.row.col.f32.f16.f16.f32");
    else NG_MMA_2_1_4("m16n8k8.row.col.f32.f16.f16.f32");
  } else if constexpr (c.a == Format::kF16) {
    if constexpr (c.k == 16)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                   : "+r"(d[0]), "+r"(d[1])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
                   : "+r"(d[0]), "+r"(d[1])
                   : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  } else if constexpr (c.a == Format::kBf16) {
    if constexpr (c.k == 16) NG_MMA_4_2_4("m16n8k16.row.col.f32.bf16.bf16.f32");
    else NG_MMA_2_1_4("m16n8k8.row.col.f32.bf16.bf16.f32");
  } else if constexpr (c.a == Format::kTf32) {
    if constexpr (c.k == 8) NG_MMA_4_2_4("m16n8k8.row.col.f32.tf32.tf32.f32");
    else NG_MMA_2_1_4("m16n8k4.row.col.f32.tf32.tf32.f32");
  } else if constexpr (c.a == Format::kS8 && c.b == Format::kS8) {
    NG_MMA_2_1_4("m16n8k16.row.col.s32.s8.s8.s32");
  } else if constexpr (c.a == Format::kS8) {
    NG_MMA_4_2_4("m16n8k32.row.col.s32.s8.u8.s32");
  } else if constexpr (c.b == Format::kS8) {
    NG_MMA_4_2_4("m16n8k32.row.col.satfinite.s32.u8.s8.s32");
  } else {
    NG_MMA_2_1_4("m16n8k16.row.col.satfinite.s32.u8.u8.s32");
  }
}

template <int I>
__device__ void mma(double* d, const double* a, const double* b) {
  constexpr Case c = kCases[I];
  if constexpr (c.m == 8) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"(a[0]), "d"(b[0]));
  } else if constexpr (c.k == 4) {
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(b[0]));
  } else if constexpr (c.k == 8) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, "
        "{%0,%1,%2,%3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
          "d"(b[2]), "d"(b[3]));
  }
}

// N = 8: four f32 or s32 accumulators a thread, or two pairs of f16.
#define NG_WGMMA_F32(text, more)                                                                                    \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned." text                           \
               " {%0,%1,%2,%3}, %4, %5, p, %7, %8" more "; }"                                                       \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                     \
               : "l"(da), "l"(db), "r"(keep), "n"(na), "n"(nb))
#define NG_WGMMA_F32_REG(text, more)                                                                                \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %9, 0; wgmma.mma_async.sync.aligned." text                           \
               " {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, p, %10, %11" more "; }"                                          \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db), "r"(keep), "n"(na), "n"(nb))
#define NG_WGMMA_F16(text, more)                                                                                    \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; wgmma.mma_async.sync.aligned." text                           \
               " {%0,%1}, %2, %3, p, %5, %6" more "; }"                                                             \
               : "+r"(d[0]), "+r"(d[1])                                                                             \
               : "l"(da), "l"(db), "r"(keep), "n"(na), "n"(nb))
#define NG_WGMMA_S32(text)                                                                                          \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned." text                           \
               " {%0,%1,%2,%3}, %4, %5, p; }"                                                                       \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                     \
               : "l"(da), "l"(db), "r"(keep))

template <int I>
__device__ void wgmma(std::uint32_t* d, const std::uint32_t* a, std::uint64_t da, std::uint64_t db) {
  constexpr Case c = kCases[I];
  constexpr int na = (c.flags & kNegateA) != 0 ? -1 : 1;
  constexpr int nb = (c.flags & kNegateB) != 0 ? -1 : 1;
  constexpr int keep = (c.flags & kDropC) != 0 ? 0 : 1;
  constexpr bool reg = (c.flags & kRegisterA) != 0;
  constexpr bool sat = (c.flags & kSaturate) != 0;
  if constexpr (c.a == Format::kF16 && c.c == Format::kF32) {
    if constexpr (reg) NG_WGMMA_F32_REG("m64n8k16.f32.f16.f16", ", 0");
    else NG_WGMMA_F32("m64n8k16.f32.f16.f16", ", 0, 0");
  } else if constexpr (c.a == Format::kF16) {
    NG_WGMMA_F16("m64n8k16.f16.f16.f16", ", 0, 0");
  } else if constexpr (c.a == Format::kBf16) {
    NG_WGMMA_F32("m64n8k16.f32.bf16.bf16", ", 0, 0");
  } else if constexpr (c.a == Format::kTf32) {
    if constexpr (reg) NG_WGMMA_F32_REG("m64n8k8.f32.tf32.tf32", "");
    else NG_WGMMA_F32("m64n8k8.f32.tf32.tf32", "");
  } else if constexpr (c.a == Format::kE4m3 && c.c == Format::kF32) {
    if constexpr (c.b == Format::kE4m3) NG_WGMMA_F32("m64n8k32.f32.e4m3.e4m3", "");
    else NG_WGMMA_F32("m64n8k32.f32.e4m3.e5m2", "");
  } else if constexpr (c.a == Format::kE5m2 && c.c == Format::kF32) {
    if constexpr (c.b == Format::kE4m3) NG_WGMMA_F32("m64n8k32.f32.e5m2.e4m3", "");
    else NG_WGMMA_F32("m64n8k32.f32.e5m2.e5m2", "");
  } else if constexpr (c.a == Format::kE4m3) {
    NG_WGMMA_F16("m64n8k32.f16.e4m3.e4m3", "");
  } else if constexpr (c.a == Format::kE5m2) {
    if constexpr (c.b == Format::kE4m3) NG_WGMMA_F16("m64n8k32.f16.e5m2.e4m3", "");
    else NG_WGMMA_F16("m64n8k32.f16.e5m2.e5m2", "");
  } else if constexpr (c.a == Format::kS8) {
    if constexpr (c.b == Format::kS8) NG_WGMMA_S32("m64n8k32.s32.s8.s8");
    else NG_WGMMA_S32("m64n8k32.s32.s8.u8");
  } else {
    static_assert(sat);
    if constexpr (c.b == Format::kS8) NG_WGMMA_S32("m64n8k32.s32.u8.s8.satfinite");
    else NG_WGMMA_S32("m64n8k32.s32.u8.u8.satfinite");
  }
}

}  // namespace nervanagpu::tensor_probe
