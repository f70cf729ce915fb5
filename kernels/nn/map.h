// Launches of map.sass, split where a launch would be too large or its end not a multiple of four.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/nn/nn.h"
#include "nervanagpu/rounding.hpp"
#include "nervanagpu/tensor.hpp"
#include "src/device.h"

namespace nervanagpu::nn {

struct Map {
  std::string op;  // OP of map.sass
  Dtype dtype = Dtype::float32;
  Dtype b_dtype = Dtype::float32;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t y = 0;
  std::int64_t elements = 0;
  std::int64_t divisor = 1;  // the length of what one element of b, or all of b, belongs to; divides `elements`
  float alpha = 1.0F;
  float beta = 1.0F;
  std::uint32_t keep = 0;
  std::uint64_t mask_seed = 0;
  std::uint64_t mask_counter = 0;
  Rounding rounding;
  std::int64_t most = kMostElements;  // elements of one launch, a multiple of 4
};

void run(Device& device, const Map& map, StreamId stream);

}  // namespace nervanagpu::nn
