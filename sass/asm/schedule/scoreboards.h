// Gives every result that arrives at an unknown time, and every source that is read late, one of the warp's six
// scoreboards, and puts each wait on the first instruction that needs it, on every path.
#pragma once

#include <vector>

#include "sass/asm/program.h"
#include "sass/asm/schedule/flow.h"
#include "sass/isa/access.h"

namespace nervanagpu::sass {

// Writes control.write_sb, .read_sb and .wait of every line that does not pin them.
void assign_scoreboards(Program& program, const Flow& flow, const std::vector<Accesses>& touched);

}  // namespace nervanagpu::sass
