// Which variant of hconv.sass computes a product, in how many splits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/conv/fitted_costs.h"
#include "kernels/conv/launch.h"
#include "kernels/gemm/cost/hgemm_cost.h"
#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"

namespace nervanagpu::conv_detail::hconv {

struct Choice {
  hgemm::Tile tile;
  std::int64_t splits = 1;  // of k: a function of the problem alone
};

// What a launch has to do.
struct Work {
  char pass = 'f';            // or 'h', 'b', 'c' or 'u'
  GemmProblem product;        // m, n, k, types and epilogue
  std::int64_t c = 0, k = 0;  // channels and filters of a group, in units of 2 bytes
  double bytes = 0;           // of operands and results
  std::int64_t groups = 1;    // each is such a product
  bool apart = false;         // results are put together after the kernel, in one part too
  // c: taps of each class, the most first; product is one class's, of the first's k.
  std::vector<std::int64_t> taps = {};
};

// fprop or bprop whose blocks of 64 channels are two half blocks of 32, each of its own tap: where 32 * odd channels are
// gathered, and nothing is asked for that these cannot do. bprop: as a fprop of dy, of filters that are copied before.
struct HalfBlocks {
  Work work;
  double microseconds = 0;  // by the model of an H200
};
std::optional<HalfBlocks> in_half_blocks(const Work& w);

// The number of splits of k, none longer than `least` of them are (but of four blocks at least, and no more than memory has room for),
// whose microseconds are fewest by `cost(work, splits)`.
// An epilogue does not change how sums are cut: the work that `cost` sees has none.
std::int64_t cheapest_splits(const Work& work, std::int64_t least,
                             const std::function<double(const Work&, std::int64_t)>& cost);

// c: k blocks of a tile in the mean, of the first CTA, which has the longest of each wave. 0: another pass.
double most_blocks(const Work& work, const hgemm::Tile& tile, int multiprocessors);

// The cheapest by a model of an H200. forced: the end of a kernel's name, as "_128x256x1", or a number of splits.
Choice choose(const Work& work, int multiprocessors, const Forced& forced);

// The model's microseconds of that choice, on the GPU that it is of, in half blocks too; and of another.
double least_microseconds(const Work& work);
double microseconds(const Work& work);
double microseconds(const Work& work, const Choice& choice, const Costs& costs = kFitted);
hgemm::Rates rates_of(const Costs& costs, char pass);

// As kernels' names end: "128x256x1".
std::string name_of(const hgemm::Tile& tile);

// pass: 'f', 'h', 'b', 'c' or 'u'. result: what the kernel stores.
const Kernel* find(const Registry& registry, char pass, Dtype operands, Dtype result, const hgemm::Tile& tile);

}  // namespace nervanagpu::conv_detail::hconv
