// A convolution of tensors as a problem on addresses.
#pragma once

#include "nervanagpu/conv.hpp"

namespace nervanagpu::conv_detail {

struct Described {
  ConvProblem problem;    // with the tensors' pitches
  ConvPointers pointers;  // but for the workspace
};

// Throws InvalidArgument or TypeError for tensors that do not fit the problem or each other.
Described describe(ConvPass pass, const ConvProblem& given, const Tensor& in1, const Tensor& in2, const Tensor& out,
                   const ConvOptions& options);

// Throws InvalidArgument if what is written shares memory with another; bias, mask and scale may be null.
void check_apart(ConvPass pass, const Tensor& in1, const Tensor& in2, const Tensor& out, const Tensor* bias,
                 const Tensor* mask, const Tensor* scale);

}  // namespace nervanagpu::conv_detail
