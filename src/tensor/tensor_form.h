// A tensor as a plan knows it: without its memory.
#pragma once

#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

struct TensorForm {
  explicit TensorForm(const Tensor& t) : shape(t.shape()), strides(t.strides()), dtype(t.dtype()) {}
  Shape shape, strides;
  Dtype dtype;
};

// Throws TypeError or InvalidArgument, "PLAN: NAME has shape ...", for a tensor of another form.
void check_like(const char* plan, const char* name, const Tensor& t, const TensorForm& planned);

// Throws InvalidArgument for 0, or what is no multiple of `planned`.
void check_planned_address(const char* plan, const char* name, std::uint64_t got, std::uint64_t planned);

}  // namespace nervanagpu
