// What convolutions and their plans take from Python.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "nervanagpu/conv.hpp"
#include "python/bind.h"

namespace nervanagpu::python {

// (pad, stride, dilation), (depth, height, width) each.
using Geometry = std::array<std::array<std::int64_t, 3>, 3>;

// A problem, but for the types, from the shapes of x and w.
ConvProblem conv_problem(const std::string& layout, const Shape& x, const Shape& w, const Geometry& geometry,
                         std::int64_t groups, std::size_t axes);

// `mask` must outlive them.
ConvOptions conv_options(const Epilogue& epilogue, bool tensor_cores, const std::optional<Tensor>& mask,
                         const py::object& stream);

}  // namespace nervanagpu::python
