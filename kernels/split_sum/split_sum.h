// From partial sums in a workspace to a result: launches of split_sum.sass.
#pragma once

#include <cstdint>

#include "nervanagpu/rounding.hpp"
#include "src/launch/values.h"

namespace nervanagpu::split_sum {

// out[g*group_stride + row*ld + col] = act(alpha * sum over s of ws[((g*splits + s)*rows + row)*pitch + at] + ...),
// at = row / block * cols + col
struct Sum {
  Dtype type = Dtype::float32;
  Dtype sums = Dtype::float32;  // in the workspace: float32, or int32 of an int32, float32 or int8 result
  std::uint64_t workspace = 0, out = 0, bias = 0;  // addresses; bias 0: none
  std::int64_t groups = 1, rows = 1, cols = 1, splits = 1;
  std::int64_t pitch = 0;                 // of the workspace's rows; 0: cols
  std::int64_t block = 0;                 // rows of a block of a block-diagonal matrix; 0: all
  std::int64_t ld = 1, group_stride = 0;  // of out, in elements
  float alpha = 1.0F, beta = 0.0F;
  std::uint32_t flags = 0;  // split_sum.sass
  Rounding rounding;
  std::uint64_t scale = 0;  // float32, by the flags
  float clip_low = 0.0F, clip_high = 0.0F;
  Values condition;  // what split_sum_if.sass (kernels/gemm/pieces) asks; empty: split_sum.sass
};

struct Plan {
  const Kernel* kernel = nullptr;
  Values values;
  Grid grid;
};

// The kernel with the widest accesses that these addresses and strides allow.
Plan plan(const Registry& registry, const Sum& s);

}  // namespace nervanagpu::split_sum
