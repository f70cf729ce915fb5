// Which activations an operation may have.
#pragma once

#include "nervanagpu/dtype.hpp"
#include "nervanagpu/gemm_activation.hpp"

namespace nervanagpu::sgemm {

struct Activated {
  GemmActivation function = GemmActivation::none;
  bool relu = false;  // asked for beside it
  Dtype result = Dtype::float32;
  float clip_low = 0.0F, clip_high = 0.0F;
};

// Throws InvalidArgument or TypeError. op: for messages.
void check_activation(const char* op, const Activated& a);

}  // namespace nervanagpu::sgemm
