// Sets the stall of every line so that each fixed-latency result is there when it is read or overwritten, on every path.
#pragma once

#include <vector>

#include "sass/asm/program.h"
#include "sass/asm/schedule/flow.h"
#include "sass/isa/access.h"
#include "sass/result.h"

namespace nervanagpu::sass {

// Writes control.stall and .yield of every line that does not pin them; scoreboards and waits must stand already.
// Fails where no unpinned line lies between a producer and a consumer to take the missing cycles.
Status assign_stalls(Program& program, const Flow& flow, const std::vector<Accesses>& touched);

}  // namespace nervanagpu::sass
