// One encoded instruction. Both families use the same 128-bit container:
//   sm_70 and later   the 128 bits as they stand in the cubin; control bits at [125:105]
//   sm_50 .. sm_62    the 64-bit instruction in [63:0]; its 21 control bits, which the cubin keeps in the bundle's
//                     first word, are lifted to [125:105] by read_cubin and put back into bundles by link
// so that every stage between link and read_cubin sees control codes at one place.
#pragma once

#include <cstdint>

namespace nervanagpu::sass {

struct Word {
  std::uint64_t lo = 0;
  std::uint64_t hi = 0;

  friend constexpr bool operator==(const Word&, const Word&) = default;
  friend constexpr Word operator|(Word a, Word b) { return {a.lo | b.lo, a.hi | b.hi}; }
  friend constexpr Word operator&(Word a, Word b) { return {a.lo & b.lo, a.hi & b.hi}; }
  friend constexpr Word operator^(Word a, Word b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
  constexpr Word operator~() const { return {~lo, ~hi}; }
  [[nodiscard]] constexpr bool any() const { return (lo | hi) != 0; }
};

// The `width` (1..64) bits of `w` from bit `at`, which may straddle the halves.
constexpr std::uint64_t get_bits(const Word& w, unsigned at, unsigned width) {
  std::uint64_t v = 0;
  if (at >= 64) {
    v = w.hi >> (at - 64);
  } else {
    v = w.lo >> at;
    if (at != 0 && at + width > 64) v |= w.hi << (64 - at);
  }
  return width >= 64 ? v : v & ((std::uint64_t{1} << width) - 1);
}

// A word with ones in `width` (1..64) bits from bit `at`.
constexpr Word bit_range(unsigned at, unsigned width) {
  const std::uint64_t ones = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  if (at >= 64) return {0, ones << (at - 64)};
  return {ones << at, at == 0 ? 0 : ones >> (64 - at)};
}

// `w` with `width` bits from bit `at` replaced by the low bits of `v`.
constexpr Word set_bits(Word w, unsigned at, unsigned width, std::uint64_t v) {
  const Word m = bit_range(at, width);
  const Word x = at >= 64 ? Word{0, v << (at - 64)} : Word{v << at, at == 0 ? 0 : v >> (64 - at)};
  return (w & ~m) | (x & m);
}

}  // namespace nervanagpu::sass
