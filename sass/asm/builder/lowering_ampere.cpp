// sm_80 .. sm_89 have what sm_90a has in expressions, but for minima and maxima, conversions that do not name float32, and
// the name of a reduction in memory.
#include <algorithm>

#include "sass/asm/builder/lowering.h"

namespace nervanagpu::sass {

Lowering::Rule Lowering::ampere_rule(Op op) {
  switch (op) {
    case Op::VIMNMX: return &Lowering::ampere_extremum;
    case Op::I2FP: return &Lowering::ampere_from_integer;
    case Op::F2FP: return &Lowering::ampere_pack;
    case Op::REDG: return &Lowering::ampere_reduce;
    default: return &Lowering::as_it_is;
  }
}

void Lowering::ampere_extremum() {
  b_.put(Op::IMNMX, r_->mods(), r_->args(), r_->guard);
}

// I2FP.F32.type d, x
void Lowering::ampere_from_integer() {
  if (says(Tok::U32)) return last(Op::I2F, {Tok::U32}, {arg(0), arg(1)});
  last(Op::I2F, {}, {arg(0), arg(1)});
}

// F2FP.type.F32.PACK_AB d, upper, lower
void Lowering::ampere_pack() {
  if (b_.arch() == Arch::sm_89) return as_it_is();
  if (says(Tok::BF16)) return last(Op::F2FP, {Tok::BF16, Tok::PACK_AB}, {arg(0), arg(1), arg(2)});
  last(Op::F2FP, {Tok::PACK_AB}, {arg(0), arg(1), arg(2)});
}

void Lowering::ampere_reduce() {
  b_.put(Op::RED, r_->mods(), r_->args(), r_->guard);
}

}  // namespace nervanagpu::sass
