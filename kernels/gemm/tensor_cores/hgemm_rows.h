// Products whose long operand has rows that begin anywhere: hgemm_cluster.sass reads them as they lie, ring_rows.sass says how.
#pragma once

#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"

namespace nervanagpu::hgemm {

// 16-bit floats, a short side (up to 128), and a long operand that is contiguous along the long side with rows that do not begin
// at multiples of 16 bytes; k is a multiple of 8. Its products are added in an order of its own (the l of one remainder of 8
// after the other), so this is decided by the problem alone: by sizes, and addresses modulo 16.
bool by_rows(const GemmProblem& problem);

// Elements of the copy of the short operand that multiply_by_rows() wants.
std::int64_t copied_by_rows(const GemmProblem& problem);

// The product, if by_rows(problem), in stream order. copy: device memory for copied_by_rows() elements, at a multiple of 16.
void multiply_by_rows(Device& device, const GemmProblem& problem, std::uint64_t copy, StreamId stream);

}  // namespace nervanagpu::hgemm
