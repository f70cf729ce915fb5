// What a product of 16-bit floats costs in any layout: a model of an H200 in microseconds.
#pragma once

#include "kernels/gemm/cost/hgemm_cost.h"

namespace nervanagpu::hgemm::half {

double microseconds(const GemmProblem& problem, const Tile& tile, std::int64_t splits, int multiprocessors);

}  // namespace nervanagpu::hgemm::half
