// Pooling and its gradients, of arguments that are read.
#pragma once

#include <array>

#include "nervanagpu/pool.hpp"
#include "python/torch_ops/array.h"
#include "python/torch_ops/windows.h"

namespace nervanagpu::python::torch {

// The last of each triple are there.
struct Windows {
  Triple size, stride, padding;
};

Array pool(PoolOp op, const Array& x, const Windows& w, bool count_padding);
// With torch's indices, which are int64 and lie as the result does.
std::array<Array, 2> max_and_indices(const Array& x, const Windows& w);
Array pool_gradient(PoolOp op, const Array& grad, const Array& x, const Windows& w, bool count_padding);

}  // namespace nervanagpu::python::torch
