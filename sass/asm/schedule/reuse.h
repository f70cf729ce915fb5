// Sets the reuse flags: an operand that the next instruction reads again, in the same slot, stays in the operand cache
// and costs no register read there.
#pragma once

#include "sass/asm/program.h"
#include "sass/asm/schedule/flow.h"
#include "sass/isa/access.h"

namespace nervanagpu::sass {

// Writes control.reuse and Operand::reuse of every line that does not pin them; stalls and yields must stand already.
// Flags that the author wrote stay.
void assign_reuse(Program& program, const Flow& flow, const std::vector<Accesses>& touched);

}  // namespace nervanagpu::sass
