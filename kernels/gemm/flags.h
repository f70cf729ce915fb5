// What a GEMM kernel is told about its epilogue: the bits of `flags` in gemm.sass and hgemm.sass.
#pragma once

#include <cstdint>

#include "kernels/gemm/types.h"
#include "nervanagpu/gemm.hpp"

namespace nervanagpu::sgemm {

inline constexpr std::uint32_t kPartial = 1U << 5;  // gemm.sass: sums as they are, into the workspace

inline std::uint32_t flags_of(const GemmProblem& p) {
  std::uint32_t flags = 0;
  if (p.beta != 0.0F) flags |= 1U << 0;
  if (p.relu || p.activation == GemmActivation::relu) flags |= 1U << 1;
  if (p.bias != 0 && !p.bias_per_row) flags |= 1U << 2;
  if (p.bias != 0 && half(p.bias_type)) flags |= 1U << 3;
  if (p.rounding.stochastic) flags |= 1U << 4;
  if (p.relu_first) flags |= 1U << 6;
  if (p.bias != 0 && p.bias_per_row) flags |= 1U << 7;
  if (p.activation > GemmActivation::relu) flags |= static_cast<std::uint32_t>(p.activation) << 8;
  if (p.scale != 0) flags |= 1U << (p.scale_per_row ? 13 : 12);
  return flags;
}

// Mantissa bits that stochastic rounding can keep.
inline int most_bits(Dtype c) {
  return c == Dtype::int8 ? 0 : c == Dtype::float16 ? 10 : c == Dtype::bfloat16 ? 7 : 15;
}
inline std::int64_t kept_bits(const GemmProblem& p) {
  return p.rounding.bits != 0 ? p.rounding.bits : most_bits(p.c_type);
}

}  // namespace nervanagpu::sgemm
