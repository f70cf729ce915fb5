// What poolings and their plans take from Python.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "nervanagpu/pool.hpp"
#include "python/bind.h"

namespace nervanagpu::python {

// (window, stride, pad) of (feature maps, depth, height, width) each, and whether padding counts in a mean.
using PoolGeometry =
    std::tuple<std::array<std::int64_t, 4>, std::array<std::int64_t, 4>, std::array<std::int64_t, 4>, bool>;

PoolProblem pool_problem(const std::string& op, const Tensor& x, const std::string& layout,
                         const PoolGeometry& geometry);
// In the order of the layout's letters; lengths: of feature maps, depth, height and width.
Shape pool_shape(const PoolProblem& p, const std::string& layout, const std::array<std::int64_t, 4>& lengths);
PoolOptions pool_options(const Epilogue& epilogue, const py::object& stream);

}  // namespace nervanagpu::python
