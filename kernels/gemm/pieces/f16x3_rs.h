// float32 products on the tensor cores from two float16 pieces, of a large matrix and one of few rows (columns): f16x2.sass takes the
// small operand apart, f16x3_rs.sass the large one on its way to registers. The sums are f16x3.h's, bit for bit, for the same splits
// of k; they are always partial sums, because what is left for other kernels is known after them only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "nervanagpu/gemm.hpp"
#include "src/launch/values.h"

namespace nervanagpu::f16x3_rs {

// The splits of k with which it costs least, two at least, in microseconds; splits 0: it is not for such lengths. A function of the
// problem's lengths and layouts alone.
struct Choice {
  std::int64_t splits = 0;
  double cost = 0;
};
Choice choice_of(const GemmProblem& problem);

std::string tile_name(const Kernel& kernel);  // "f16_rs128"
// Written for its layouts and, if one is named, this tile; and the large operand lies as the copy engine wants it.
bool fits(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, std::string_view tile);
double cost(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);
Grid grid(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);
Values values(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, Device* device);
hgemm::Maps maps(const Kernel& kernel, const GemmProblem& problem);
// The workspace: bf16x6.h's without pieces of the large operand.
bf16x6::Room room(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits);
// Whether A is the large operand of this kernel.
bool large_a(const Kernel& kernel);
// f16x2.sass for the small operand.
bf16x6::Launch split(const Registry& registry, const Kernel& kernel, const GemmProblem& problem, std::int64_t splits);

}  // namespace nervanagpu::f16x3_rs
