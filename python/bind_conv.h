// What convolutions and their plans take from Python.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "nervanagpu/conv.hpp"
#include "python/bind.h"

namespace nervanagpu::python {

// (pad, stride, dilation), (depth, height, width) each.
using Geometry = std::array<std::array<std::int64_t, 3>, 3>;

// A problem, but for the types, from the shapes of x and w.
ConvProblem conv_problem(const std::string& layout, const Shape& x, const Shape& w, const Geometry& geometry,
                         std::int64_t groups, std::size_t axes);

// alpha, beta, rounding, seed, offset, bits, stream, tensor_cores, mask.
using ConvFinish =
    std::tuple<float, float, std::string, std::uint64_t, std::uint64_t, int, py::object, bool, std::optional<Tensor>>;
// `f` must outlive them.
ConvOptions conv_options(const ConvFinish& f);

}  // namespace nervanagpu::python
