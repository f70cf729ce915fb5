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

// What a launch has to do.
struct Work {
  char pass = 'f';            // or 'b' or 'u'
  GemmProblem product;        // m, n, k, types and epilogue
  std::int64_t c = 0, k = 0;  // channels and filters of a group, in units of 2 bytes
  double bytes = 0;           // of operands and results
  std::int64_t groups = 1;    // each is such a product
};

// The cheapest by a model of an H200. forced: the end of a kernel's name, as "_128x256x1", or a number of splits.
Choice choose(const Work& work, int multiprocessors, const Forced& forced);

// The model's microseconds of that choice, on the GPU that it is of.
double microseconds(const Work& work);

// pass: 'f', 'b' or 'u'. result: what the kernel stores.
const Kernel* find(const Registry& registry, char pass, Dtype operands, Dtype result, const hgemm::Tile& tile);

}  // namespace nervanagpu::conv_detail::hconv
