#include "src/numbers/half.h"

#include <bit>
#include <cmath>

namespace nervanagpu {

std::uint16_t half_bits(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return sign | 0x7e00;
  const double size = std::fabs(value);
  if (size >= 65520.0) return sign | 0x7c00;  // half way to 2^16 and above: infinity
  if (size == 0.0) return sign;
  const int exponent = std::ilogb(size) < -14 ? -14 : std::ilogb(size);
  // In units of the last place; exact, and nearbyint rounds to even.
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  // A carry out of the significand goes into the exponent by itself.
  return static_cast<std::uint16_t>(sign | (units + (static_cast<std::uint32_t>(exponent + 14) << 10)));
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 0x3ff;
  double size = std::ldexp(exponent == 0 ? fraction : fraction | 0x400, (exponent == 0 ? 1 : exponent) - 25);
  if (exponent == 31) size = fraction == 0 ? HUGE_VAL : std::nan("");
  return (bits & 0x8000) != 0 ? -size : size;
}

std::uint16_t bfloat_bits(double value) {
  const auto word = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return static_cast<std::uint16_t>((word >> 16 & 0x8000) | 0x7fc0);
  // Ties to even; a carry goes into the exponent by itself, up to infinity.
  return static_cast<std::uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
}

double bfloat_value(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16));
}

}  // namespace nervanagpu
