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
  std::vector<Axis> axes;  // outermost first
  [[nodiscard]] std::int64_t size() const {
    std::int64_t n = 1;
    for (const Axis& a : axes) n *= a.length;
    return n;
  }
};

// Strides of `t` seen with `shape`, to which it broadcasts.
std::vector<std::int64_t> broadcast_strides(const Tensor& t, const Shape& shape);

// The same for a program with reductions over `axes`; dropped: `t` has no such axes.
std::vector<std::int64_t> row_strides(const Tensor& t, const Shape& shape, const std::vector<int>& axes, bool dropped);

// Axes of rows, then exactly one axis along a row; none if a row is no walk with one step. strides[k]: operand k's.
Layout row_layout(const Shape& shape, const std::vector<int>& axes,
                  const std::vector<std::vector<std::int64_t>>& strides, std::size_t leader);

// The axes of `shape` in the order of the leader's strides (the first result's), those that all operands walk through
// alike in one.
Layout layout_of(const Shape& shape, const std::vector<Tensor>& operands, std::size_t leader);

}  // namespace nervanagpu::fuse
