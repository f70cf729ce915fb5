// The schedule stage: fills in the control codes that the author left open. Nothing is reordered.
//   flow -> scoreboards and waits -> stalls and yields -> reuse flags
#pragma once

#include "sass/asm/program.h"
#include "sass/result.h"

namespace nervanagpu::sass {

// Pinned fields stay as written and are taken into account. Fails only where cycles cannot be found (stalls.h).
Status schedule(Program& program);

}  // namespace nervanagpu::sass
