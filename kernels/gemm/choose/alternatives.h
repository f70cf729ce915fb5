// The plans that give a problem the same bits: what a measurement may choose among.
#pragma once

#include <string>
#include <vector>

#include "kernels/gemm/gemm.h"

namespace nervanagpu::sgemm {

// The plans of the order class of choose()'s own, which comes first: k is cut into the same splits, each is summed in the same
// order, and so are the splits. The others by the model's cost, without those that it takes to be far too slow. None needs a
// workspace if the first one does not.
std::vector<Plan> alternatives(const Registry& registry, int multiprocessors, const GemmProblem& problem);

// What tells the plans of one problem apart: the kernel's name, with " swapped" after it for C^T = B^T A^T.
std::string label_of(const Plan& plan);

}  // namespace nervanagpu::sgemm
