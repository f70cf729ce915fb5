// dot() of tensors, and of pieces in an operand's place.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "python/bind.h"

namespace nervanagpu::python {

template <class A, class B>
Tensor dot_of(const A& a, const B& b, std::optional<Tensor> out, float alpha, float beta,
              const std::optional<Tensor>& bias, bool relu, bool relu_first, const Rounding& rounding,
              const py::object& stream, const std::string& tile, std::int64_t splits, bool tensor_cores,
              const std::string& activation, const std::pair<float, float>& clip, const std::optional<Tensor>& scale,
              const std::optional<Tensor>& mask, const Sums& sums) {
  GemmOptions options = gemm_options(alpha, beta, bias, relu, relu_first, rounding, splits, tensor_cores);
  options.stream = stream_from(stream);
  options.tile = tile;
  finish_by(options, activation, clip, scale, mask);
  sum_up(options, sums);
  if (out) before_write(*out);
  const GilRelease release;
  if (!out) return dot(a, b, options);
  gemm(a, b, *out, options);
  return std::move(*out);
}

}  // namespace nervanagpu::python
