// How a kernel walks over the elements: few, long axes, with each operand's stride along them.
#pragma once

#include <cstdint>
#include <vector>

#include "src/fuse/program.h"

namespace nervanagpu::fuse {

struct Axis {
  std::int64_t length = 1;
  std::vector<std::int64_t> strides;  // of each operand, in elements
};

struct Layout {
  std::vector<Axis> axes;  // outermost first; at least one
  [[nodiscard]] std::int64_t size() const {
    std::int64_t n = 1;
    for (const Axis& a : axes) n *= a.length;
    return n;
  }
};

// Strides of `t` seen with `shape`, to which it broadcasts.
std::vector<std::int64_t> broadcast_strides(const Tensor& t, const Shape& shape);

// The axes of `shape` in the order of the last operand's strides (the first result's), those that all operands walk
// through alike in one. The last `fixed` axes stay innermost and are merged among themselves only; without them
// (fixed = 0) all may change places.
Layout layout_of(const Shape& shape, const std::vector<Tensor>& operands, std::size_t leader, std::size_t fixed = 0);

}  // namespace nervanagpu::fuse
