// Convolutions with few channels: whether gconv.sass gathers their rows, beside what the other ways take.
#pragma once

#include "kernels/conv/problem.h"
#include "nervanagpu/conv.hpp"

namespace nervanagpu::conv_detail::gconv {

// A function of the problem alone, since the sums have another order than hconv.sass's.
bool gathers_rows(ConvPass pass, const ConvProblem& p);
// What the pass takes on the way that gathers_rows() says, by a model of an H200.
double microseconds(ConvPass pass, const ConvProblem& p);

}  // namespace nervanagpu::conv_detail::gconv
