// The activations of products, exactly, and how far the kernels' may be from that: the formulas of activations.inc.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "nervanagpu/gemm_activation.hpp"

namespace nervanagpu::gpu_test {

template <class Real>
struct ExactActivation {
  Real value;
  Real ulps;  // of float32
};

// What the formulas are written in.
template <class Real>
struct ActivationFormulas {
  static Real abs(Real x) { return std::fabs(x); }
  static Real erfc(Real x) { return std::erfc(x); }
  static Real exp(Real x) { return std::exp(x); }
  static Real log1p(Real x) { return std::log1p(x); }
  static Real max(Real a, Real b) { return std::max(a, b); }
  static Real min(Real a, Real b) { return std::min(a, b); }
  static Real sqrt(Real x) { return std::sqrt(x); }
  static Real tanh(Real x) { return std::tanh(x); }
  static Real where(bool condition, Real a, Real b) { return condition ? a : b; }
  static Real u(Real x) { return sqrt(2 / std::numbers::pi_v<Real>) * (x + Real{0.044715} * x * x * x); }

  static ExactActivation<Real> of(GemmActivation a, Real x, Real low, Real high, bool mask) {
    switch (a) {
#define NG_ACTIVATION(name, c_name, reads, value, ulps, ...) \
  case GemmActivation::name:                                 \
    return {value, ulps};
#include "nervanagpu/activations.inc"
#undef NG_ACTIVATION
    }
    return {std::numeric_limits<Real>::quiet_NaN(), 0};
  }
};

// low, high: where clip cuts; mask: drelu's bit.
template <class Real>
ExactActivation<Real> exact_activation(GemmActivation a, Real x, Real low = 0, Real high = 0, bool mask = true) {
  return ActivationFormulas<Real>::of(a, x, low, high, mask);
}

}  // namespace nervanagpu::gpu_test
