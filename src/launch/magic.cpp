#include "src/launch/magic.h"

#include <bit>
#include <string>

#include "nervanagpu/error.hpp"

namespace nervanagpu {

// With shift = ceil(log2 d) and mul = ceil(2^(31 + shift) / d), mul * d exceeds 2^(31 + shift) by e < d <= 2^shift. So
// a * mul / 2^(31 + shift) exceeds a / d by less than a / 2^31 / d < 1 / d: too little to reach the next integer.
Magic magic(std::uint32_t divisor) {
  if (divisor == 0 || divisor >> 31 != 0) {
    throw InvalidArgument("magic: divisor is " + std::to_string(divisor) + "; it must be 1 to 2^31 - 1");
  }
  const auto shift = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
  const std::uint64_t power = std::uint64_t{1} << (31 + shift);
  return {static_cast<std::uint32_t>((power + divisor - 1) / divisor), shift};
}

}  // namespace nervanagpu
