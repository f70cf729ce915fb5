// Copies between row-major and strided host memory.
#pragma once

#include <cstddef>

#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

// packed[...] = view[...]; `view` is the address of element (0, 0, ...), strides in elements of `width` bytes.
void gather(std::byte* packed, const std::byte* view, const Shape& shape, const Shape& strides, std::size_t width);
// view[...] = packed[...]
void scatter(std::byte* view, const std::byte* packed, const Shape& shape, const Shape& strides, std::size_t width);

}  // namespace nervanagpu
