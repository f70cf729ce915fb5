// Filters of one tap without strides and padding: the pass is a product of matrices as they lie, which gemm() may compute
// faster than hconv.sass: hgemm_cluster.sass cuts the sums of few tiles without sums in memory.
#pragma once

#include "kernels/conv/fitted_costs.h"
#include "kernels/conv/launch.h"
#include "nervanagpu/conv.hpp"
#include "nervanagpu/gemm.hpp"

namespace nervanagpu::conv_detail::product {

bool possible(const ConvProblem& p);
// It may be taken without being named: fprop and bprop only in one part, since the kernels of clusters know no bits of relu.
bool may_pay(ConvPass pass, const ConvProblem& p);

// Of three matrices of pixels or filters: sides, transpositions and leading dimensions, without addresses. c: of x; k: of y.
GemmProblem shape_of(ConvPass pass, const ConvProblem& p);

// What gemm() takes, by the model of an H200; a function of the problem alone.
double microseconds(const GemmProblem& g, const Costs& costs = kFitted);

bool is_forced(const Forced& forced);  // "_gemm"

}  // namespace nervanagpu::conv_detail::product
