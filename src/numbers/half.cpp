#include "src/numbers/half.h"

#include <bit>
#include <cmath>

#include "sass/half.h"

namespace nervanagpu {

// A NaN keeps its sign, as NumPy's does; the chip's does not.
std::uint16_t half_bits(double value) {
  if (std::isnan(value)) return std::signbit(value) ? 0xfe00 : 0x7e00;
  return sass::to_half(value);
}

double half_value(std::uint16_t bits) {
  const double value = sass::from_half(bits);
  if (std::isnan(value)) return (bits & 0x8000) != 0 ? -std::nan("") : std::nan("");
  return value;
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
