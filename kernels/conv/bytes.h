// fprop of int8 or uint8 images and int8 filters: what its ways cost, by a model of an H200.
#pragma once

#include "kernels/conv/problem.h"

namespace nervanagpu::conv_detail::bytes {

// Bytes of very few channels fill a block's 128 badly, and chains of multiply-adds waste nothing.
bool chains_are_faster(const ConvProblem& p);
// Microseconds of the fastest of conv.sass, hconv.sass, halo.sass and resident.sass, as bytes.
double microseconds(const ConvProblem& p);

// The sums of the products, whatever their factors, are exact as float32 and in the tensor cores' float16.
bool exact_in_float16(const ConvProblem& p);

}  // namespace nervanagpu::conv_detail::bytes
