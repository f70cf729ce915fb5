// What convolutions and their plans take from Python.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "nervanagpu/conv.hpp"
#include "python/bind.h"

namespace nervanagpu::python {

// (pad, stride, dilation), (depth, height, width) each.
using Geometry = std::array<std::array<std::int64_t, 3>, 3>;

// A problem, but for the types, from the shapes of x and w.
ConvProblem conv_problem(const std::string& layout, const Shape& x, const Shape& w, const Geometry& geometry,
                         std::int64_t groups, std::size_t axes);

// What fprop does after its sums: act, by its name, and where it cuts; a factor for each filter.
using Clip = std::pair<float, float>;
void finish_by(ConvOptions& options, const std::optional<Tensor>& bias, bool relu, const std::string& activation,
               const Clip& clip, const std::optional<Tensor>& scale);

// channel_sum, channel_sum_squares.
using ChannelSums = std::pair<std::optional<Tensor>, std::optional<Tensor>>;

// `mask` and `sums` must outlive them.
ConvOptions conv_options(const Epilogue& epilogue, bool tensor_cores, const std::optional<Tensor>& mask,
                         const ChannelSums& sums, const py::object& stream);

}  // namespace nervanagpu::python
