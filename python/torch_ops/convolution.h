// Convolution and its gradients, of arguments that are read.
#pragma once

#include <array>
#include <cstdint>

#include "python/torch_ops/array.h"
#include "python/torch_ops/windows.h"

namespace nervanagpu::python::torch {

// The last of each triple are there.
struct Geometry {
  Triple stride, padding, dilation;
  std::int64_t groups;
};

// bias: null, or one that is added.
Array convolve(const Array& x, const Array& weight, const Array* bias, const Geometry& g, std::int64_t activation);
// Both gradients: checked and laid out once, as torch lays them: channels last if x or weight does.
std::array<Array, 2> both_gradients(const Array& grad, const Array& x, const Array& weight, const Geometry& g);
// One of them, of sizes that need be no tensor's.
Array gradient_of_input(const Array& grad, const Array& weight, const PerAxis& sizes, const Geometry& g, bool last);
Array gradient_of_filter(const Array& grad, const Array& x, const PerAxis& filter, const Geometry& g, bool last);

}  // namespace nervanagpu::python::torch
