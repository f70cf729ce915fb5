// The arithmetic of the tensor cores of sm_90a, bit for bit, without instructions around it. One model serves HMMA, HGMMA
// and QGMMA:
//   - products are exact;
//   - all terms of one instruction, C included, are aligned to the largest exponent among them and cut (towards zero) to
//     25 fractional bits, 13 for 8-bit operands. The exponent of a term is the sum of its factors' exponents, that of a
//     subnormal factor being the smallest normal one; a zero has none. No exponent counts as less than -133;
//   - the terms are added exactly;
//   - the sum is cut to float32 (to 13 fraction bits where the operands have 8 bits), or rounded to the nearest float16,
//     ties to even. Beyond the largest number lies infinity; a sum that becomes zero is +0; NaN is 0x7fffffff or 0x7fff.
// How this was found out and counted: docs/numerics.md, tools/tensor_probe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nervanagpu::sass::emulate::tensor {

enum class Type : std::uint8_t { kF16, kBf16, kTf32, kE4m3, kE5m2 };

constexpr unsigned bytes_of(Type t) {
  return t == Type::kTf32 ? 4 : t == Type::kF16 || t == Type::kBf16 ? 2 : 1;
}

// An operand as the model takes it: its value, which float32 holds exactly, and its exponent.
inline constexpr std::int16_t kNoExponent = -10000;  // of zero
struct Number {
  float value = 0;
  std::int16_t exponent = kNoExponent;
};
Number decode(Type t, std::uint32_t bits);

// What an instruction does to its operands beside their types.
struct Mode {
  bool half = false;        // C and the result are float16
  bool eight_bits = false;  // of the operands: 13 fractional bits
};

inline constexpr unsigned kMaxK = 32;
inline constexpr unsigned kMaxN = 256;
inline constexpr unsigned kRows = 16;  // of a warp

// Limits of the exponents of some operands other than zeros; `special`: NaN or infinity is among them.
struct Range {
  std::int16_t low = 10000;
  std::int16_t high = kNoExponent;
  bool special = false;
  void add(Number n);
};

struct PanelA {
  alignas(64) std::array<std::array<float, kMaxK>, kRows> value{};
  alignas(64) std::array<std::array<std::int16_t, kMaxK>, kRows> exponent{};
  std::array<Range, kRows> range{};
};

struct PanelB {
  alignas(64) std::array<std::array<float, kMaxN>, kMaxK> value{};
  alignas(64) std::array<std::array<std::int16_t, kMaxN>, kMaxK> exponent{};
  std::array<Range, kMaxN / 8> range{};  // of 8 columns each
};

// Row `m` of A times column `n` of B plus C,. Bits of float32 or float16.
std::uint32_t dot(const PanelA& a, const PanelB& b, unsigned m, unsigned n, unsigned k, std::uint32_t c, Mode mode);

// The same for 16 rows and n columns (a multiple of 8). C and D are rows of kMaxN bit patterns.
using Accumulators = std::array<std::array<std::uint32_t, kMaxN>, kRows>;
using Multiply = void (*)(const PanelA& a, const PanelB& b, unsigned n, unsigned k, Accumulators& cd, Mode mode);
void multiply_plain(const PanelA& a, const PanelB& b, unsigned n, unsigned k, Accumulators& cd, Mode mode);

// DMMA is a chain of fused multiply-adds in ascending order of k. A NaN comes from B, else C, else A, quiet.
std::uint64_t fma_step(std::uint64_t a, std::uint64_t b, std::uint64_t c);

// IMMA and IGMMA add exactly; the sum wraps, or with .SAT is limited to the range of int32 once, at the end.
constexpr std::int32_t finish_integer(std::int64_t sum, bool saturate) {
  if (!saturate) return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum)));
  return static_cast<std::int32_t>(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}

}  // namespace nervanagpu::sass::emulate::tensor
