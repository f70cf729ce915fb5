// What an epilogue costs beyond storing sums, and how tiles of two warpgroups take turns, in microseconds.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/gemm/types.h"
#include "nervanagpu/gemm.hpp"

namespace nervanagpu::hgemm {

// columns: of a CTA, for each 64 columns. ping_pong: all of it, of one warpgroup beside the other's products
// (docs/lab/hgemm.md, version 8).
struct EpilogueCost {
  double columns, ping_pong;
};
inline constexpr EpilogueCost kStores = {0, 1.4};

inline EpilogueCost epilogue_cost(const GemmProblem& p, std::int64_t splits) {
  constexpr EpilogueCost kAddsC = {1.6, 8.0};
  constexpr EpilogueCost kFunction = {4.0, 18.0};
  if (splits > 1) return kStores;
  return sgemm::has_function(p) || p.rounding.stochastic ? kFunction : p.beta != 0 ? kAddsC : kStores;
}

// Of `waves` tiles of a CTA whose two warpgroups take them in turn. tile: products and what comes between two; end: an
// epilogue, by so much longer than a store.
inline double ping_pong_time(double waves, double tile, double longer, double end) {
  constexpr double kHeldUp = 0.15;  // of what an epilogue takes longer, the other warpgroup's products
  return std::max(waves * (tile + kHeldUp * longer) + end, std::ceil(waves / 2) * (tile + end));
}

}  // namespace nervanagpu::hgemm
