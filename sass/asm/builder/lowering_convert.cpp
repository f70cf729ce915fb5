// Conversions for sm_50 .. sm_62: both types are written, and bfloat16 is the upper half of a float32, rounded by hand.
#include "sass/asm/builder/lowering.h"

namespace nervanagpu::sass {
namespace {

constexpr std::uint32_t kUpperNan = 0x7fff0000;  // bfloat16's, in the upper half

}  // namespace

// F2I[.type][.F64][.TRUNC][.NTZ] d, x. NaN is 0 where neither side has 64 bits, .NTZ or not.
void Lowering::to_integer() {
  const Tok to = says(Tok::U32) ? Tok::U32 : says(Tok::S64) ? Tok::S64 : says(Tok::U64) ? Tok::U64 : Tok::S32;
  const Tok from = says(Tok::F64) ? Tok::F64 : Tok::F32;
  const bool wide = to == Tok::S64 || to == Tok::U64 || from == Tok::F64;
  if (says(Tok::NTZ) == wide) return refuse("does not treat NaN as it is asked to");
  if (!says(Tok::TRUNC)) return refuse("rounds by .TRUNC only");
  last(Op::F2I, {to, from, Tok::TRUNC}, {arg(0), arg(1)});
}

// I2F[.F64][.type] d, x and I2FP.F32.type d, x
void Lowering::from_integer() {
  const Tok to = says(Tok::F64) ? Tok::F64 : Tok::F32;
  const Tok from = says(Tok::U32) ? Tok::U32 : says(Tok::S64) ? Tok::S64 : says(Tok::U64) ? Tok::U64 : Tok::S32;
  last(Op::I2F, {to, from}, {arg(0), arg(1)});
}

// FRND[.F64][.FLOOR|.CEIL|.TRUNC] d, x
void Lowering::to_whole() {
  const Tok type = says(Tok::F64) ? Tok::F64 : Tok::F32;
  const Tok how = says(Tok::FLOOR)   ? Tok::FLOOR
                  : says(Tok::CEIL)  ? Tok::CEIL
                  : says(Tok::TRUNC) ? Tok::TRUNC
                                     : Tok::ROUND;
  last(Op::F2F, {type, type, how}, {arg(0), arg(1)});
}

// HADD2.F32 d, -RZ, half of x: only the conversion
void Lowering::from_half() {
  Arg x = arg(2);
  const bool converts = says(Tok::F32) && is_zero(arg(1)) && arg(1).neg && is_register(x);
  if (!converts || (x.part != Tok::H0_H0 && x.part != Tok::H1_H1)) return refuse("of two halves is not known");
  x.part = x.part == Tok::H1_H1 ? Tok::H1 : Tok::kNone;
  last(Op::F2F, {Tok::F32, Tok::F16}, {arg(0), x});
}

// x rounded to bfloat16, in the upper half of a register; the lower half is anything.
VReg Lowering::upper_bfloat(const Arg& x) {
  const VReg odd = b_.reg(), r = b_.reg();
  const VPred nan = b_.pred();
  put(Op::FSETP, {Tok::kNAN, Tok::AND}, {nan, kAlways, x, x, kAlways});
  put(Op::BFE, {Tok::U32}, {odd, x, 1 << 8 | 16});
  put(Op::IADD3, {}, {r, x, 0x7fff, odd});  // to nearest, ties to even; a carry goes into the exponent by itself
  put(Op::MOV32I, {}, {r, kUpperNan}, nan);
  return r;
}

// F2FP.type.F32.PACK_AB d, upper, lower
void Lowering::pack_halves() {
  const Arg& d = arg(0);
  const Arg& high = arg(1);
  const Arg& low = arg(2);
  if (!says(Tok::PACK_AB) || !is_register(high) || !is_register(low)) return refuse("of this kind is not known");
  if (says(Tok::BF16)) {
    if (is_zero(high)) return last(Op::SHR, {Tok::U32}, {d, upper_bfloat(low), 16});
    if (is_zero(low)) return last(Op::LOP32I, {Tok::AND}, {d, upper_bfloat(high), 0xffff0000U});
    const VReg x = upper_bfloat(low), y = upper_bfloat(high);
    return last(Op::PRMT, {}, {d, x, 0x7632, y});
  }
  if (is_zero(high)) return last(Op::F2F, {Tok::F16, Tok::F32}, {d, low});
  const VReg x = b_.reg(), y = b_.reg();
  put(Op::F2F, {Tok::F16, Tok::F32}, {x, low});
  put(Op::F2F, {Tok::F16, Tok::F32}, {y, high});
  last(Op::PRMT, {}, {d, x, 0x5410, y});
}

}  // namespace nervanagpu::sass
