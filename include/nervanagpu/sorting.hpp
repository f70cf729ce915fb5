// Sorting along the last axis.
#pragma once

#include "nervanagpu/export.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

// The elements of each row in order, and where they stood in it (int64). Equal ones keep their order; -0.0 and 0.0 are
// equal, all NaNs are, and greater than every number. `descending`: the greatest first, so NaN first. Any strides; any
// dtype but the complex ones (TypeError). A row has fewer than 2^30 elements, a tensor has an axis (InvalidArgument).
struct Sorted {
  Tensor values, indices;
};
NG_API Tensor sort(const Tensor& x, bool descending = false);
NG_API Tensor argsort(const Tensor& x, bool descending = false);
NG_API Sorted sort_with_indices(const Tensor& x, bool descending = false);

}  // namespace nervanagpu
