// Which variant of hconv.sass computes a product, in how many parts.
#pragma once

#include <cstdint>

#include "kernels/conv/launch.h"
#include "kernels/gemm/hgemm_cost.h"
#include "nervanagpu/gemm.hpp"
#include "src/device.h"

namespace nervanagpu::conv_detail::hconv {

struct Choice {
  hgemm::Tile tile;
  std::int64_t splits = 1;  // of k: a function of the problem alone
};

// The cheapest by the model of hgemm_cost.h. product: m, n, k, types and epilogue; bytes: of operands and result. forced: the
// end of a kernel's name, as "_128x256x1", or a number of splits.
Choice choose(const GemmProblem& product, double bytes, int multiprocessors, const Forced& forced);

// The model's microseconds of that choice, on the GPU that it is of.
double microseconds(const GemmProblem& product, double bytes);

// pass: 'f', 'b' or 'u'. result: what the kernel stores.
const Kernel* find(const Registry& registry, char pass, Dtype operands, Dtype result, const hgemm::Tile& tile);

}  // namespace nervanagpu::conv_detail::hconv
