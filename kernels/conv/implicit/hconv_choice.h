// Which variant of hconv.sass computes a product, in how many parts.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/conv/launch.h"
#include "kernels/gemm/choose/hgemm_cost.h"
#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"

namespace nervanagpu::conv_detail::hconv {

struct Choice {
  hgemm::Tile tile;
  std::int64_t splits = 1;  // of k: a function of the problem alone
};

// What a launch has to do.
struct Work {
  char pass = 'f';            // or 'b', 'c' or 'u'
  GemmProblem product;        // m, n, k, types and epilogue
  std::int64_t c = 0, k = 0;  // channels and filters of a group, in units of 2 bytes
  double bytes = 0;           // of operands and results
  std::int64_t groups = 1;    // each is such a product
};

// Fitted by benchmarks/conv_fit.py to times on an H200 by tile and parts (benchmarks/results/conv_sweep.json).
inline constexpr double kSums = 1.4;  // microseconds of a million partial sums
// Microseconds of the copy engine for 64 channels of a row; for fewer, where the last ones are filled up with zeros.
inline constexpr double kWholeRow = 1.05e-3;
inline constexpr double kPartRow = 1.94e-3;

// The number of parts of k, none longer than `least` of them are (but of four blocks at least, and no more than memory has room for),
// whose microseconds are fewest by `cost(work, parts)`.
// An epilogue does not change how sums are cut: the work that `cost` sees has none.
std::int64_t cheapest_splits(const Work& work, std::int64_t least,
                             const std::function<double(const Work&, std::int64_t)>& cost);

// The cheapest by a model of an H200. forced: the end of a kernel's name, as "_128x256x1", or a number of splits.
Choice choose(const Work& work, int multiprocessors, const Forced& forced);

// The model's microseconds of that choice, on the GPU that it is of.
double microseconds(const Work& work);

// pass: 'f', 'b', 'c' or 'u'. result: what the kernel stores.
const Kernel* find(const Registry& registry, char pass, Dtype operands, Dtype result, const hgemm::Tile& tile);

}  // namespace nervanagpu::conv_detail::hconv
