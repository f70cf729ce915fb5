// float32 products on the tensor cores from three bfloat16 pieces, where A has many rows and B few columns: bf16x3.sass splits B,
// bf16x6_rs.sass A on its way to registers. The products are bf16x6_32.sass's, bit for bit, for the same splits of k.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "nervanagpu/gemm.hpp"
#include "src/launch/values.h"

namespace nervanagpu::bf16x6_rs {

// One product, whose A has several times as many rows as B has columns.
bool has_many_rows(const GemmProblem& problem);
// Microseconds in one split of k by the model of an H200, B's pieces included: a function of the problem's lengths and layouts alone.
double microseconds(const GemmProblem& problem);

std::string tile_name(const Kernel& kernel);  // "rs64"
// Written for its layouts and, if one is named, this tile; and A lies as the copy engine wants it.
bool fits(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, std::string_view tile);
double cost(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);
Grid grid(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);
Values values(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, Device* device);
hgemm::Maps maps(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits);
// The workspace: bf16x6.h's without pieces of A.
bf16x6::Room room(const GemmProblem& problem, std::int64_t splits);
// In the launch that also stores it. Then A is looked at before.
bool reads_c(const GemmProblem& problem, std::int64_t splits);
// bf16x3.sass for B, and for what A holds if the product reads C.
bf16x6::Launch split(const Registry& registry, const GemmProblem& problem, std::int64_t splits);

}  // namespace nervanagpu::bf16x6_rs
