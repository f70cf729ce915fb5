// 64-bit operands in register pairs, and directed rounding to float.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sass/emulate/lanes/lanes.h"

namespace nervanagpu::sass::emulate {
namespace {

struct WideRow {
  ConstRow lo;
  ConstRow hi;
  std::uint32_t keep = ~0u;  // of the upper word: sign and absolute value of a double
  std::uint32_t flip = 0;
  [[nodiscard]] std::uint64_t bits(unsigned l) const { return std::uint64_t{(hi[l] & keep) ^ flip} << 32 | lo[l]; }
  [[nodiscard]] double value(unsigned l) const { return std::bit_cast<double>(bits(l)); }
};

[[maybe_unused]] inline WideRow fetch_wide(Warp& w, const Src& s, unsigned slot) {
  WideRow r{fetch_raw(w, s, slot), fetch_raw(w, s, slot + 1, 1)};
  if (s.abs) r.keep = 0x7fffffffu;
  if (s.neg) r.flip = 0x80000000u;
  return r;
}

[[maybe_unused]] inline std::uint64_t wide_bits(double d) {
  return d != d ? 0x7fffffffffffffffu : std::bit_cast<std::uint64_t>(d);
}

// v to float with one rounding.
[[maybe_unused]] inline float round_float(double v, Round round) {
  const float f = static_cast<float>(v);
  const double back = f;
  if (round == kNearest || v != v || back == v) return f;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const bool above = v > back;  // the value lies above f
  const bool want_up = round == kUp || (round == kZeroward && v < 0);
  if (want_up) return above ? std::nextafterf(f, kInf) : f;
  return above ? f : std::nextafterf(f, -kInf);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate
