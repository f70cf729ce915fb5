// The schedule stage: fills in the control codes that the author left open, and reorders the lines of .schedule blocks.
//   flow -> order of marked lines -> scoreboards and waits -> stalls and yields -> reuse flags
#pragma once

#include "sass/asm/program.h"
#include "sass/asm/schedule/reorder.h"
#include "sass/result.h"

namespace nervanagpu::sass {

// Pinned fields stay as written and are taken into account. A new order is kept only if the model (timing.h) finds no
// region's block slower than in program order. Fails only where cycles cannot be found (stalls.h).
Status schedule(Program& program);

// What the block of `region` costs one warp by the model: until its last instruction has issued, and until all its results
// are there.
struct Cost {
  int issue = 0;
  int drain = 0;
};
Cost cost_of(const Program& program, const Flow& flow, const Region& region);

}  // namespace nervanagpu::sass
