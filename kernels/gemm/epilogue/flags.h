// What a GEMM kernel is told about its epilogue: the bits of `flags` in gemm.sass, hgemm.sass and sgemm_ring.sass.
#pragma once

#include <cstdint>

#include "kernels/gemm/types.h"
#include "nervanagpu/gemm.hpp"

namespace nervanagpu::sgemm {

inline constexpr std::uint32_t kPartial = 1U << 5;  // gemm.sass: sums as they are, into the workspace

inline constexpr std::uint32_t kTables = 1U << 30;  // gemm.sass: a, b and c are tables of addresses

inline std::uint32_t flags_of(const GemmProblem& p) {
  std::uint32_t flags = 0;
  if (p.beta != 0.0F) flags |= 1U << 0;
  if (p.relu || p.activation == GemmActivation::relu) flags |= 1U << 1;
  if (p.bias != 0 && !p.bias_per_row) flags |= 1U << 2;
  if (p.bias != 0 && half(p.bias_type)) flags |= 1U << 3;
  if (p.rounding.stochastic) flags |= 1U << 4;
  if (p.relu_first) flags |= 1U << 6;
  if (p.bias != 0 && p.bias_per_row) flags |= 1U << 7;
  if (has_function(p)) flags |= static_cast<std::uint32_t>(p.activation) << 8;
  if (p.scale != 0) flags |= 1U << (p.scale_per_row ? 13 : 12);
  return flags;
}

// What hgemm.sass does with the bits of a relu; others leave them to relu_mask.sass.
inline constexpr std::uint32_t kWritesMask = 1U << 14;
inline constexpr std::uint32_t kReadsMask = 1U << 15;
inline std::uint32_t mask_flags(const GemmProblem& p) {
  if (p.mask == 0) return 0;
  return p.activation == GemmActivation::drelu ? kReadsMask : kWritesMask;
}

inline constexpr std::uint32_t kWide = 1U << 16;   // C allows accesses of 4 elements
inline constexpr std::uint32_t kPlain = 1U << 17;  // nothing is asked for but what the plain epilogue does

// What a kernel's plain epilogue does besides alpha and relu.
struct Plain {
  int elements = 4;        // of a store
  std::uint32_t also = 0;  // flags of what else it knows
  bool in_pairs = false;   // reads two elements of vectors at a time
};
inline constexpr std::uint32_t kBiasColumns = 1U << 2 | 1U << 3;  // bias[j], and of 16 bits
inline constexpr std::uint32_t kScaleColumns = 1U << 12;          // scale[j]
inline constexpr std::uint32_t kFunctions = 15U << 8;             // activations
inline constexpr std::uint32_t kRounds = 1U << 4;                 // stochastically
inline constexpr std::uint32_t kAddsC = 1U << 0;                  // beta * C
inline constexpr std::uint32_t kBiasRows = 1U << 7 | 1U << 3;     // bias[i], and of 16 bits

// The flags of the kernels that have a plain epilogue beside the whole one. partial: sums as they are, into the workspace.
inline std::uint32_t plain_flags(const GemmProblem& p, std::int64_t ldc, int size, bool partial, const Plain& plain) {
  std::uint32_t f = partial ? 0 : flags_of(p);
  constexpr std::uint32_t kRelu = 1U << 1;
  constexpr std::uint32_t kReluFirst = 1U << 6;
  if ((f & ~(kRelu | kReluFirst)) == 0 && f != 0) f = kRelu;  // nothing comes between the two
  const std::uint64_t c = partial ? p.workspace : p.c;
  const auto allows = [&](std::int64_t elements) {
    return c % static_cast<std::uint64_t>(elements * size) == 0 && ldc % elements == 0 && p.n % elements == 0 &&
           (partial || p.stride_c % elements == 0);
  };
  if (allows(4)) f |= kWide;
  const auto in_pairs = [](std::uint64_t address, Dtype type) { return address % (2 * size_of(type)) == 0; };
  if (allows(plain.elements) && (f & ~(kRelu | kWide | plain.also)) == 0 &&
      (partial || !plain.in_pairs || (in_pairs(p.bias, p.bias_type) && in_pairs(p.scale, Dtype::float32)))) {
    f |= kPlain;
  }
  return f;
}

}  // namespace nervanagpu::sgemm
