// What a product costs with a given tile and number of splits of k: a model fitted to measurements on an H200.
#pragma once

#include <cstdint>

#include "nervanagpu/gemm.hpp"

namespace nervanagpu::sgemm {

// Clocks of the whole grid, roughly; only the order counts. 0 multiprocessors counts as 1.
double clocks(const GemmProblem& p, int bm, int bn, std::int64_t splits, int multiprocessors);

// k is cut into splits of this many; a multiple of 16, the same for every tile.
std::int64_t chunk_of(std::int64_t k, std::int64_t splits);

// Into how many splits the library cuts k: a function of the problem alone, not of the device.
std::int64_t best_splits(const GemmProblem& p);
// And the clocks that this takes, by the model.
double best_clocks(const GemmProblem& p);

}  // namespace nervanagpu::sgemm
