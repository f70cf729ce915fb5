// binary16 and bfloat16 as bit patterns: exact widening, and one rounding to nearest even (or directed) from double.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace nervanagpu::sass {

enum Round : std::uint8_t { kNearest, kDown, kUp, kZeroward };

inline constexpr std::uint16_t kHalfNan = 0x7fff;

// Rounds a finite or infinite double to a format of `mantissa` stored bits, `exponent` bits. NaN gives kHalfNan.
inline std::uint16_t narrow(double v, int mantissa, int exponent, Round round = kNearest) {
  if (v != v) return kHalfNan;
  const std::uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  const int bias = (1 << (exponent - 1)) - 1;
  const std::uint16_t inf = static_cast<std::uint16_t>(((1 << exponent) - 1) << mantissa);
  const double a = std::fabs(v);
  if (a == 0) return sign;
  if (std::isinf(a)) return sign | inf;
  int e = std::ilogb(a);
  if (e < 1 - bias) e = 1 - bias;
  // In units of the last place: exact, since scaling by a power of two is.
  const double scaled = std::ldexp(a, mantissa - e);
  double whole = std::floor(scaled);
  const double rest = scaled - whole;
  bool up = false;
  switch (round) {
    case kNearest: up = rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) != 0); break;
    case kUp: up = rest > 0 && sign == 0; break;
    case kDown: up = rest > 0 && sign != 0; break;
    case kZeroward: break;
  }
  if (up) whole += 1;
  // A carry out of the mantissa moves into the exponent by itself.
  const std::int64_t bits = static_cast<std::int64_t>(whole) + (std::int64_t{e - 1 + bias} << mantissa);
  if (bits >= inf) {
    const bool stays = round == kZeroward || (round == kUp && sign != 0) || (round == kDown && sign == 0);
    return static_cast<std::uint16_t>(sign | (stays ? inf - 1 : inf));
  }
  return static_cast<std::uint16_t>(sign | bits);
}

inline std::uint16_t to_half(double v, Round round = kNearest) {
  return narrow(v, 10, 5, round);
}
inline std::uint16_t to_bfloat(double v, Round round = kNearest) {
  return narrow(v, 7, 8, round);
}

inline float from_half(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000) << 16;
  const std::uint32_t e = h >> 10 & 31;
  const std::uint32_t m = h & 1023;
  if (e == 31) return std::bit_cast<float>(m != 0 ? 0x7fffffffu : sign | 0x7f800000u);
  if (e != 0) return std::bit_cast<float>(sign | (e + 112) << 23 | m << 13);
  const float f = static_cast<float>(m) * 0x1p-24F;
  return sign != 0 ? -f : f;
}
inline float from_bfloat(std::uint16_t b) {
  const std::uint32_t v = std::uint32_t{b} << 16;
  return std::bit_cast<float>((v & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : v);
}

}  // namespace nervanagpu::sass
