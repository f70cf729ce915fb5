// Floor division, remainders (floor_divide, remainder, fmod) and shifts, by how values stand in registers.
#pragma once

#include "src/fuse/numeric/emit.h"

namespace nervanagpu::fuse {

Lanes divide_whole(Emit& e, ExprOp op, const Lanes& x, const Lanes& y);    // float32
Lanes divide_whole64(Emit& e, ExprOp op, const Lanes& x, const Lanes& y);  // float64
Lanes divide_words(Emit& e, ExprOp op, bool is_signed, const Lanes& x, const Lanes& y);
Lanes divide_pairs(Emit& e, ExprOp op, bool is_signed, const Lanes& x, const Lanes& y);
Lanes shift_words(Emit& e, ExprOp op, bool is_signed, const Lanes& x, const Lanes& y);  // left_shift, right_shift
Lanes shift_pairs(Emit& e, ExprOp op, bool is_signed, const Lanes& x, const Lanes& y);

}  // namespace nervanagpu::fuse
