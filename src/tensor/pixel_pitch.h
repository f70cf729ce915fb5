// Slices of the last axis: some channels of each pixel of a wider tensor.
#pragma once

#include <cstdint>

#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

// Elements from pixel to pixel of a slice of the last axis of a contiguous tensor; 0: it is none.
std::int64_t pixel_pitch(const Tensor& t);

}  // namespace nervanagpu
