// Products of float64 and int64: C = alpha * A B + beta * C by one chain of multiply-adds an element, in ascending k.
// kernels/lib/gemm64.sass has the contract of the kernels. Whichever is taken, the result has the same bits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "nervanagpu/gemm.hpp"
#include "src/launch/values.h"
#include "src/module/registry.h"

namespace nervanagpu::gemm64 {

// Throws InvalidArgument or TypeError for what no kernel of elements of 64 bits does: bias, activations, stochastic rounding, splits
// of k, tables.
void check(const GemmProblem& problem);
// And for a sum over a batch that is not one long k as it lies.
void check_batch(const GemmProblem& problem);

std::vector<const Kernel*> kernels(const Registry& registry);
// Written for this dtype, these layouts and, if one is asked for, this tile.
bool fits(const Kernel& kernel, const GemmProblem& problem, std::string_view tile);

// Clocks of the whole grid, roughly.
double cost(const Kernel& kernel, const GemmProblem& problem, int multiprocessors);

// The kernel's parameters. grid_y: of its grid, which z goes on with if there is no batch.
Values values(const GemmProblem& problem, std::int64_t grid_y);

}  // namespace nervanagpu::gemm64
