// The tensors of a pass of pooling.
#pragma once

#include "kernels/pool/pool.h"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu::pool_detail {

struct Operands {
  Pass pass;
  const Tensor& in;                // x of fprop, dy of bprop
  const Tensor& out;               // y, dx
  const Tensor* x = nullptr;       // of bprop
  const Tensor* argmax = nullptr;  // written by fprop

  [[nodiscard]] const char* in_name() const { return pass == Pass::fprop ? "x" : "dy"; }
  [[nodiscard]] const char* out_name() const { return pass == Pass::fprop ? "y" : "dx"; }
};

// Throw TypeError or InvalidArgument: dtypes, shapes and strides; what is written and shares memory with another.
// The problem, with the pitch that x and dx have.
PoolProblem describe(const PoolProblem& p, const Operands& of);
void check_apart(const Operands& of);
// Tells the allocator.
void used_on(const Operands& of, const Stream& stream);

}  // namespace nervanagpu::pool_detail
