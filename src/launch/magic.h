// Division of indices by a number known at launch: a multiplication and a shift, as the kernels' divmod does it.
#pragma once

#include <cstdint>

namespace nervanagpu {

// a / divisor == (2 a * mul >> 32) >> shift for every a < 2^31. The doubled a leaves room for divisor 1, which a product
// of two 32-bit numbers alone cannot say. mul is 2^31 or more, shift at most 31.
struct Magic {
  std::uint32_t mul = 0;
  std::uint32_t shift = 0;
};

// divisor: 1 to 2^31 - 1; InvalidArgument for anything else.
Magic magic(std::uint32_t divisor);

// What the kernels compute; a < 2^31.
constexpr std::uint32_t divide(std::uint32_t a, Magic m) {
  return static_cast<std::uint32_t>(std::uint64_t{2 * a} * m.mul >> 32) >> m.shift;
}

}  // namespace nervanagpu
