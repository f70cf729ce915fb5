// Pieces of tensors that passes share: SharedPieces of nervanagpu/conv.hpp.
#pragma once

#include "kernels/conv/tensors.h"
#include "nervanagpu/conv.hpp"

namespace nervanagpu::conv_detail {

// Where the options have some, the pass of tensors that is described leaves pieces there, or takes those that were left of the same tensor.
void share_pieces(ConvPass pass, Described& described, const Tensor& in1, const Tensor& in2,
                  const ConvOptions& options);
// Once it has been queued: those that it has left are there.
void note_pieces(ConvPass pass, const Described& described, const Tensor& in1, const ConvOptions& options);

}  // namespace nervanagpu::conv_detail
