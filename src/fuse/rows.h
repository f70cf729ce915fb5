// Programs with reductions along rows: one kernel, which reads each row once and keeps it in registers if it fits there.
#pragma once

#include "src/fuse/layout.h"
#include "src/fuse/program.h"

namespace nervanagpu::fuse {

// Runs `p` (row_program_of) if each row is one walk with a constant step for every operand; false where it is not.
bool run_rows(const Program& p);

}  // namespace nervanagpu::fuse
