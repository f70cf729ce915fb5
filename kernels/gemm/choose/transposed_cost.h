// What a product costs whose k lies across both operands, as in a weight gradient: 16-bit floats, op(A) = A transposed, op(B) = B.
// A model of an H200 in microseconds. A row of a block is 64 columns of one k: what costs is rows, above all those whose lines
// of memory do not begin at multiples of 32 bytes.
#pragma once

#include "kernels/gemm/choose/hgemm_cost.h"

namespace nervanagpu::hgemm::transposed {

bool is(const GemmProblem& problem);

// Of hgemm_cluster.sass.
double cluster_microseconds(const GemmProblem& problem, const Tile& tile, std::int64_t splits);
// Of hgemm.sass.
double tile_microseconds(const GemmProblem& problem, const Tile& tile, std::int64_t splits, int multiprocessors);

}  // namespace nervanagpu::hgemm::transposed
