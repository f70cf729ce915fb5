// Where control goes from one instruction: what every graph of control is drawn from.
#pragma once

#include "sass/isa/inst.h"

namespace nervanagpu::sass {

// A register says where; a label beside it is only what the register is relative to.
bool computed_target(const Inst& inst);

// Something decides whether control is moved: a guard, a predicate or condition that it reads, which lanes are together.
bool conditional(const Inst& inst);

// Some thread may go straight on to the next instruction. After a call without a condition none does: it comes back.
bool falls_through(const Inst& inst);

// Some thread may come to the next instruction: straight on, or back from a call.
bool reaches_next(const Inst& inst);

}  // namespace nervanagpu::sass
