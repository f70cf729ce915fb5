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

// What a pass may have besides its three tensors; null: it has not.
struct More {
  const Tensor *bias, *mask, *scale, *channel_sum, *channel_sum_squares;
};
inline More more_of(const ConvOptions& o) {
  return {o.bias, o.mask, o.scale, o.channel_sum, o.channel_sum_squares};
}
// Throws InvalidArgument if what is written shares memory with another.
void check_apart(ConvPass pass, const Tensor& in1, const Tensor& in2, const Tensor& out, const More& more);

}  // namespace nervanagpu::conv_detail
