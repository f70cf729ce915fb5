// Stochastic rounding (nervanagpu/rounding.hpp) of a float, the same bits as kernels/lib/round.sass.
//
// A number between two neighbours becomes the one of greater magnitude with the probability (its distance from the
// other) / (their distance); 32 random bits tell 2^-32. A number that can be kept stays as it is.
//   normal numbers      keep `bits` mantissa bits
//   subnormal numbers   of the result's type have the type's own last place whatever `bits` is: 2^-24, 2^-133 or 2^-149
//   the largest finite  number with `bits` bits and those beyond it are rounded to nearest: to it or to infinity
//   zeros, infinities   keep their sign; NaN is 0x7fff or 0x7fffffff
#pragma once

#include <bit>
#include <cstdint>

namespace nervanagpu {
namespace rounding_detail {

// Whether the magnitude u (float bits), of which the lower j bits of the significand go, is to be rounded up.
constexpr bool up(std::uint32_t u, unsigned j, std::uint32_t random, std::uint32_t largest) {
  const std::uint64_t significand = (u & 0x7fffffu) | 0x800000u;
  if (j == 0 || j >= 64) return false;
  // The discarded part as a fraction of 2^j, in 32 bits.
  const auto fraction = static_cast<std::uint32_t>(j <= 32 ? significand << (32 - j) : significand >> (j - 32));
  const bool beyond = j < 24 && u >> j >= largest >> j;
  return fraction > (beyond ? 0x7fffffffu : random);
}

}  // namespace rounding_detail

// float16 bits of x with `bits` (1 to 10) mantissa bits.
constexpr std::uint16_t round_f16(float x, std::uint32_t random, unsigned bits) {
  const auto word = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t u = word & 0x7fffffffu;
  const auto sign = static_cast<std::uint16_t>(word >> 16 & 0x8000u);
  if (u > 0x7f800000u) return 0x7fff;
  const std::uint32_t exponent = u >> 23;
  if (exponent < 113) {  // below 2^-14: a multiple of 2^-24
    const unsigned j = 126 - exponent;
    const std::uint32_t kept = j < 24 ? ((u & 0x7fffffu) | 0x800000u) >> j : 0;
    return static_cast<std::uint16_t>(sign | (kept + (rounding_detail::up(u, j, random, 0x477fffffu) ? 1 : 0)));
  }
  const unsigned j = 23 - bits;
  const std::uint32_t rounded = ((u >> j) + (rounding_detail::up(u, j, random, 0x477fffffu) ? 1 : 0)) << j;
  if (rounded >= 0x47800000u) return sign | 0x7c00u;
  return static_cast<std::uint16_t>(sign | (rounded - 0x38000000u) >> 13);
}

// bfloat16 bits of x with `bits` (1 to 7) mantissa bits.
constexpr std::uint16_t round_bf16(float x, std::uint32_t random, unsigned bits) {
  const auto word = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t u = word & 0x7fffffffu;
  if (u > 0x7f800000u) return 0x7fff;
  const unsigned j = u < 0x800000u ? 16 : 23 - bits;  // below 2^-126: a multiple of 2^-133
  const std::uint32_t rounded = ((u >> j) + (rounding_detail::up(u, j, random, 0x7f7fffffu) ? 1 : 0)) << j;
  return static_cast<std::uint16_t>((rounded | (word & 0x80000000u)) >> 16);
}

// x as a saturated int8; NaN is 0.
constexpr std::int8_t round_s8(float x, std::uint32_t random) {
  const float t = x != x ? 0.0F : x > 127.0F ? 127.0F : x < -128.0F ? -128.0F : x;
  const std::uint32_t u = std::bit_cast<std::uint32_t>(t) & 0x7fffffffu;
  const unsigned j = 150 - (u >> 23);
  const std::uint32_t kept = j < 24 ? ((u & 0x7fffffu) | 0x800000u) >> j : 0;
  const auto size = static_cast<int>(kept + (rounding_detail::up(u, j, random, 0x7fffffffu) ? 1 : 0));
  return static_cast<std::int8_t>(t < 0 ? -size : size);
}

// x with `bits` (1 to 23) mantissa bits.
constexpr float round_f32(float x, std::uint32_t random, unsigned bits) {
  const auto word = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t u = word & 0x7fffffffu;
  if (u > 0x7f800000u) return std::bit_cast<float>(0x7fffffffu);
  if (u < 0x800000u) return x;
  const unsigned j = 23 - bits;
  const std::uint32_t rounded = ((u >> j) + (rounding_detail::up(u, j, random, 0x7f7fffffu) ? 1 : 0)) << j;
  return std::bit_cast<float>(rounded | (word & 0x80000000u));
}

}  // namespace nervanagpu
