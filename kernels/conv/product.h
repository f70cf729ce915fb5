// Filters of one tap without strides and padding: the pass is a product of matrices as they lie. gemm() may compute it
// faster than hconv.sass: hgemm_cluster.sass cuts the sums of few tiles without sums in memory; and float32 of
// Precision::tensor faster than conv.sass and conv_bf16x6.sass: sgemm_ring.sass has longer copies, f16x3.sass half the products.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/conv/fitted_costs.h"
#include "kernels/conv/launch.h"
#include "nervanagpu/conv.hpp"
#include "nervanagpu/gemm.hpp"

namespace nervanagpu::conv_detail::product {

bool is_one(const ConvProblem& p);
bool possible(const ConvProblem& p);  // and of 16-bit floats
// Of three matrices of pixels or filters: types, sides, transpositions, leading dimensions and precision, without addresses. c: of x;
// k: of y.
GemmProblem shape_of(ConvPass pass, const ConvProblem& p);

// GemmProblem::splits of 16-bit floats. fprop and bprop are not cut: their epilogues may have bits of relu, which the kernels of
// clusters do not know.
constexpr std::int64_t splits_of(ConvPass pass) {
  return pass == ConvPass::update ? 0 : 1;
}

// What gemm() takes, by the model of an H200; a function of the problem alone. Of 16-bit floats.
double microseconds(const GemmProblem& g, const Costs& costs = kFitted);

// float32 of Precision::tensor with channels last: gemm() takes it, in two pieces, or by multiply-adds where three pieces do not pay.
// A function of the problem alone.
bool of_float32(ConvPass pass, const ConvProblem& p);
// The same with this epilogue. Not where two_pieces.h can add an update's lost elements and is expected to be faster.
bool of_float32(ConvPass pass, const ConvProblem& p, const Epilogue& e);
// What gemm() wants at most for such a product, whatever kernels the device has.
std::size_t workspace(const GemmProblem& g);

bool is_forced(const Forced& forced);  // "_gemm"

}  // namespace nervanagpu::conv_detail::product
