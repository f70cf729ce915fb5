// Elementwise programs as one kernel each.
#pragma once

#include "src/fuse/program.h"

namespace nervanagpu::fuse {

// Runs `p`, which has no reduction. Its outputs have p.shape; each element is read before it is written, so that an
// output may be a tensor of the program with the same strides.
void run_elementwise(const Program& p);

}  // namespace nervanagpu::fuse
