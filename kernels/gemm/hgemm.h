// The tensor-core kernels of hgemm.sass: which problems they take, and how they are launched.
#pragma once

#include <cstdint>

#include "nervanagpu/gemm.hpp"
#include "src/device.h"
#include "src/values.h"

namespace nervanagpu::hgemm {

// Types and alignments are those of the tensor cores and the copy engine (rows of multiples of 16 bytes). Their sums
// round otherwise than chains of multiply-adds, so this alone decides, never a measurement.
bool takes(const GemmProblem& problem);

// Parts of k for a problem that takes() accepts: a function of m, n and k alone, or problem.splits if that is not 0.
std::int64_t splits_of(const GemmProblem& problem);

// Clocks, roughly, of a launch with tiles of bm x bn.
double clocks(const GemmProblem& problem, int bm, int bn, std::int64_t splits, int multiprocessors);

// CTAs that share the tiles.
Grid grid(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);

// The kernel's parameters. device: encodes the tensor maps; nullptr: they stay empty, for conditions only.
Values values(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, Device* device);

}  // namespace nervanagpu::hgemm
