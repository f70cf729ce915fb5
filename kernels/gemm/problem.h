// What is asked of a problem before there is a plan for it (gemm.h).
#pragma once

#include <cstdint>

#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"

namespace nervanagpu::sgemm {

// Throws InvalidArgument on anything a kernel may not be given. Messages say m, n, k, lda ... as GemmProblem does.
void check(const GemmProblem& problem);
// The part of it that needs no addresses and types: lengths, strides, batch, splits.
void check_sizes(const GemmProblem& problem);

// The same product in fewer words: a batch of one matrix has no strides; a sum over a batch that is one long k as it lies in
// memory is one product where chains of multiply-adds compute it, and nothing is added up over a batch of none.
GemmProblem reduced(const Registry& registry, const GemmProblem& problem);

// It cannot be computed without a workspace (if it wants one at all).
bool needs_workspace(const Registry& registry, const GemmProblem& problem);

// Splits of k that are summed apart. It depends on the problem alone (and on whether it has a workspace).
std::int64_t splits_of(const Registry& registry, const GemmProblem& problem);

// The kernels of the tensor cores are there, and take it.
bool on_tensor_cores(const Registry& registry, const GemmProblem& problem);

// Its operands are multiplied as pieces of bfloat16 (bf16x6.h), whose kernels are there.
bool in_pieces(const Registry& registry, const GemmProblem& problem);

}  // namespace nervanagpu::sgemm
