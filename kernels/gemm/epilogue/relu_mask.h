// The bits of a relu: which problems have them, and launches of relu_mask.sass for kernels that leave them to it.
#pragma once

#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"
#include "src/launch/values.h"

namespace nervanagpu::sgemm {

inline bool applies_mask(const GemmProblem& p) {
  return p.activation == GemmActivation::drelu;
}
inline bool writes_mask(const GemmProblem& p) {
  return p.mask != 0 && !applies_mask(p);
}

// Throws InvalidArgument or TypeError for a mask that the problem cannot have, or one that is missing.
void check_mask(const GemmProblem& problem);

// Words of 32 bits that a row of n elements has.
inline std::int64_t words_of_mask(std::int64_t n) {
  return (n + 31) / 32;
}

struct MaskPlan {
  const Kernel* kernel = nullptr;
  Values values;
  Grid grid;

  void launch(Device& device, StreamId stream) const { values.launch(device, *kernel, grid, stream); }
};
// Of the C that a product has left. The problem has a mask.
MaskPlan mask_plan(const Registry& registry, const GemmProblem& problem);
// relu_mask_if.sass, with the parameters of the condition: ranges and what follows. Its masks have fewer words than others.
bool fits_mask_if(const GemmProblem& problem);
MaskPlan mask_if_plan(const Registry& registry, const GemmProblem& problem, const Values& condition);

}  // namespace nervanagpu::sgemm
