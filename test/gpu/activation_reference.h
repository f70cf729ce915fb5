// The activations of products, exactly, and how far the kernels' may be from that.
#pragma once

#include <algorithm>
#include <cmath>

#include "nervanagpu/gemm_activation.hpp"

namespace nervanagpu::gpu_test {

template <class Real>
struct ExactActivation {
  Real value;
  Real ulps;  // of float32, as kernels/lib/activation.sass says
};

// Twice the argument of gelu_tanh's tanh.
template <class Real>
Real gelu_argument(Real x) {
  return 2 * std::sqrt(2 / std::acos(Real{-1})) * (x + Real{0.044715} * x * x * x);
}
template <class Real>
Real logistic(Real x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// Of those that read the sum alone.
template <class Real>
ExactActivation<Real> exact_activation(GemmActivation a, Real x) {
  switch (a) {
    case GemmActivation::none: return {x, 0};
    case GemmActivation::relu: return {std::max(x, Real{0}), 0};
    case GemmActivation::tanh: return {std::tanh(x), 2};
    case GemmActivation::sigmoid: return {logistic(x), 2};
    case GemmActivation::gelu: return {x * std::erfc(-x / std::sqrt(Real{2})) / 2, 8};
    case GemmActivation::gelu_tanh: {
      const Real u = gelu_argument(x);
      return {x * logistic(u), 4 + 6 * std::min(std::fabs(u), Real{200})};
    }
    case GemmActivation::silu: return {x * logistic(x), 4};
    case GemmActivation::clip:
    case GemmActivation::drelu: break;
  }
  return {std::nan(""), 0};
}

}  // namespace nervanagpu::gpu_test
