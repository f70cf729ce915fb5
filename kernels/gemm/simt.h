// The kernels of multiply-adds of up to 32 bits, sgemm.sass and gemm.sass: which problems they take, and how they are launched.
#pragma once

#include <cstdint>
#include <string_view>

#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"
#include "src/launch/values.h"

namespace nervanagpu::simt {

// Clocks of the whole grid, roughly, by the model, and what the kernels of one tile differ in.
double sgemm_cost(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);
double gemm_cost(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);

// Written for the problem's types and layouts and, if one is named, this tile; and a grid has room for the tiles.
bool sgemm_fits(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, std::string_view tile);
bool gemm_fits(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, std::string_view tile);

// sgemm.sass and gemm64.h's kernels count tiles of n along y, and those that do not fit there along z, or matrices of a
// batch along z.
std::int64_t columns_of_tiles(const Kernel& kernel, const GemmProblem& problem);
bool fits_columns(const Kernel& kernel, const GemmProblem& problem);
Grid columns_grid(const Kernel& kernel, const GemmProblem& problem);
// gemm.sass counts splits of k along z, or matrices.
Grid gemm_grid(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits);

// The kernels' parameters.
Values sgemm_values(const Kernel& kernel, const GemmProblem& problem);
Values gemm_values(const GemmProblem& problem, std::int64_t splits);

}  // namespace nervanagpu::simt
