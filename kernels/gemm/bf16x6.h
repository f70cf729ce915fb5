// float32 products on the tensor cores: bf16x3.sass writes three bfloat16 pieces of each operand to the workspace, bf16x6.sass
// multiplies them, and gemm_if.sass computes the product where an operand's elements have no exact pieces, or sums might overflow. Which
// of the two does the work is decided on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/gemm/hgemm.h"
#include "nervanagpu/gemm.hpp"
#include "src/device.h"
#include "src/values.h"

namespace nervanagpu::bf16x6 {

// Asked for, and worth while: a function of the problem alone. Uncut products (splits 1) are taken whatever m and n are, so that
// a row does not depend on the others; without `splits` those are left out that multiply-adds compute sooner.
bool takes(const GemmProblem& problem);

// Parts of k for a problem that takes() accepts.
std::int64_t splits_of(const GemmProblem& problem);

bool is(const Kernel& kernel);
bool fits(const Kernel& kernel, const GemmProblem& problem, std::string_view tile);
std::string tile_name(const Kernel& kernel);
double cost(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits,
            int multiprocessors);  // microseconds
Grid grid(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);

// bf16x6.sass's parameters. device: see hgemm.h.
Values values(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, Device* device);
hgemm::Maps maps(const Kernel& kernel, const GemmProblem& problem);

// The workspace: the ranges at its beginning; then, that many bytes from there, pieces of a, of b, and partial sums.
struct Room {
  std::size_t a = 0, b = 0, parts = 0;
  std::size_t bytes = 0;  // in all
};
Room room(const GemmProblem& problem, std::int64_t splits);

struct Launch {
  const Kernel* kernel = nullptr;
  Grid grid;
  Values values;
};
Launch pieces(const Registry& registry, const GemmProblem& problem, std::int64_t splits);     // bf16x3.sass
Launch otherwise(const Registry& registry, const GemmProblem& problem, std::int64_t splits);  // gemm_if.sass

}  // namespace nervanagpu::bf16x6
