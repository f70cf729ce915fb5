// Two strided views of one shape as few axes as possible, in the order of the second one's memory.
#pragma once

#include <cstdint>
#include <vector>

#include "nervanagpu/tensor.hpp"

namespace nervanagpu::nn {

struct Axis {
  std::int64_t length = 1;
  std::int64_t from = 0;  // elements between neighbours
  std::int64_t to = 0;    // the same; positive
};

struct Axes {
  std::vector<Axis> axes;    // outermost first; at least one
  std::int64_t from_at = 0;  // offset of the new first element from element (0, 0, ...), in elements
  std::int64_t to_at = 0;
};

// No length is 0. Axes of length 1 go; those that run backwards in `to` are turned round; then they are sorted by
// their stride in `to`, and neighbours that are one axis in both views are joined.
Axes canonical_axes(const Shape& shape, const Shape& from, const Shape& to);

}  // namespace nervanagpu::nn
