// Size arithmetic that cannot overflow unseen, and the extent of strided views.
#pragma once

#include <cstdint>
#include <string>

#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

// "(3, 4)", "(3,)", "()"
std::string text_of(const Shape& shape);

// Throws InvalidArgument if a length is negative or the product (of lengths, of bytes) leaves 63 bits.
std::int64_t element_count(const Shape& shape);
std::size_t byte_count(const Shape& shape, Dtype dtype);

Shape row_major_strides(const Shape& shape);

// Offsets in elements of the lowest and the highest element from element (0, 0, ...). Throws InvalidArgument when they
// leave 63 bits. Meaningless for a shape without elements.
struct Extent {
  std::int64_t low = 0;
  std::int64_t high = 0;  // inclusive
};
Extent extent_of(const Shape& shape, const Shape& strides);

// True if no two elements are the same memory, as far as strides show: each stride is greater than what the smaller
// ones span.
bool distinct(const Shape& shape, const Shape& strides);

}  // namespace nervanagpu
