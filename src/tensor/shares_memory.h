// Whether two views touch the same memory.
#pragma once

#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

// Exact for matrices of the same row stride and unit column stride (parts of one matrix side by side), and for slices of
// the last axis of tensors of more axes; otherwise true as soon as the memory they cover overlaps.
bool shares_memory(const Tensor& a, const Tensor& b);

}  // namespace nervanagpu
