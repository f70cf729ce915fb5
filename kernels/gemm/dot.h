// Tensors as a GEMM problem.
#pragma once

#include "nervanagpu/gemm.hpp"

namespace nervanagpu::sgemm {

struct Described {
  GemmProblem problem;     // without a workspace
  bool exchanged = false;  // C^T = B^T A^T: the problem's a and b are the tensors' b and a
};

// As the tensors lie: nothing is copied. Throws InvalidArgument for one that no kernel can read so, and for what
// gemm(a, b, c, options) refuses.
Described describe(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options);

// Throws InvalidArgument if c shares memory with a, b or bias.
void check_apart(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor* bias);

}  // namespace nervanagpu::sgemm
