// A number as the bits of one element.
#pragma once

#include <array>
#include <cstddef>

#include "nervanagpu/dtype.hpp"
#include "nervanagpu/scalar.hpp"

namespace nervanagpu {

using ScalarBits = std::array<std::byte, 16>;  // the first size_of(dtype) bytes count

// Floating types round to nearest, bool is value != 0, and of integer types a fraction is cut off. OutOfRange if the type
// cannot hold `value` (floating ones: an integer beyond float64); InvalidArgument for NaN as an integer, TypeError for a complex
// number as anything but complex or bool.
ScalarBits scalar_bits(const Scalar& value, Dtype dtype);
// Whether an integer type has this integer.
bool fits(const Scalar& integer, Dtype dtype);

}  // namespace nervanagpu
