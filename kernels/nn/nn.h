// The small operations on addresses, for other hosts in this library: nothing is allocated and nothing waits.
#pragma once

#include <cstdint>

#include "nervanagpu/rounding.hpp"
#include "nervanagpu/tensor.hpp"
#include "src/device/device.h"

namespace nervanagpu::nn {

constexpr std::int64_t kMostElements = std::int64_t{1} << 30;  // of one launch: kernels count in 32 bits

// A view: the address of element (0, 0, ...), strides in elements.
struct View {
  std::uint64_t address = 0;
  Dtype dtype = Dtype::float32;
  Shape strides;
};

// to[...] = from[...] for the elements of `shape`; dtypes float16, float32, int32, int8, uint8, any strides (those of
// `to` distinct), up to 5 axes after joining what is contiguous in both. The views do not overlap, or are the same.
// Throws as convert() of nervanagpu/nn.hpp does, with `op` in front. More than `most` elements take several launches.
void convert_strided(Device& device, const View& from, const View& to, const Shape& shape, const Rounding& rounding,
                     StreamId stream, const char* op = "convert", std::int64_t most = kMostElements);

}  // namespace nervanagpu::nn
