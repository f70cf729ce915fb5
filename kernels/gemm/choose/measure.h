// How long plans take on the device, beside one another.
#pragma once

#include <vector>

#include "kernels/gemm/gemm.h"

namespace nervanagpu::sgemm {

// Microseconds of each plan, the median of several turns; a plan that fell far after has the time of its first turn. On
// random operands from the memory pool, in a stream of their own, so nothing of the caller's is read or written. `problem`:
// of normal_form(). Empty: on the emulator, where time means nothing, for matrices in tables, and where the operands would
// take too much memory.
std::vector<double> microseconds_of(Device& device, const GemmProblem& problem, const std::vector<Plan>& plans);

}  // namespace nervanagpu::sgemm
