// A number as the bits of one element.
#pragma once

#include <array>
#include <cstddef>

#include "nervanagpu/dtype.hpp"

namespace nervanagpu {

using ScalarBits = std::array<std::byte, 8>;  // the first size_of(dtype) bytes count

// Floating types round to nearest, bool is value != 0. Throws InvalidArgument if an integer type cannot hold `value`
// (out of range, NaN); its fraction is cut off.
ScalarBits scalar_bits(double value, Dtype dtype);

}  // namespace nervanagpu
