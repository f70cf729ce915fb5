// float32 and float64 arithmetic for sm_50 .. sm_62: signs stand at the second factor, numbers are short or in registers.
#include "sass/asm/builder/lowering.h"

namespace nervanagpu::sass {
namespace {

constexpr std::uint32_t kNan = 0x7fffffff;

}  // namespace

// ---- float32 -----------------------------------------------------------------------------------------------------------

void Lowering::float_add() {
  const Arg& b = arg(2);
  if (b.kind != Arg::Kind::kImm) return last(Op::FADD, r_->mods(), {arg(0), arg(1), b});
  const std::int64_t n = float_bits(b);
  last(is_short(Short::kFloat, n) ? Op::FADD : Op::FADD32I, r_->mods(), {arg(0), arg(1), n});
}

void Lowering::float_multiply() {
  Arg a = arg(1);
  const Arg b = minus(arg(2), a.neg);
  a.neg = false;
  if (b.kind != Arg::Kind::kImm) return last(Op::FMUL, r_->mods(), {arg(0), a, b});
  const std::int64_t n = float_bits(b);
  last(is_short(Short::kFloat, n) ? Op::FMUL : Op::FMUL32I, r_->mods(), {arg(0), a, n});
}

void Lowering::float_multiply_add() {
  Arg a = arg(1);
  const Arg b = second(minus(arg(2), a.neg), Short::kFloat);
  a.neg = false;
  Arg c = arg(3);
  if (c.kind == Arg::Kind::kImm) c = number(static_cast<std::uint32_t>(float_bits(c)));
  last(Op::FFMA, r_->mods(), {arg(0), a, b, c});
}

// Minima and maxima give the number beside a NaN here; .NAN wants the NaN.
void Lowering::float_extremum() {
  const Arg b = second(arg(2), Short::kFloat);
  if (!says(Tok::kNAN)) return last(Op::FMNMX, r_->mods(), {arg(0), arg(1), b, arg(3)});
  const VPred nan = b_.pred();
  Arg x = arg(1);
  Arg y = b.kind == Arg::Kind::kImm ? x : b;  // a number is none
  x.abs = x.neg = y.abs = y.neg = false;
  put(Op::FSETP, {Tok::kNAN, Tok::AND}, {nan, kAlways, x, y, r_->guard});
  last(Op::FMNMX, {}, {arg(0), arg(1), b, arg(3)});
  put(Op::MOV32I, {}, {arg(0), kNan}, nan);
}

void Lowering::float_compare() {
  last(Op::FSETP, r_->mods(), {arg(0), arg(1), arg(2), second(arg(3), Short::kFloat), arg(4)});
}

// ---- float64 -----------------------------------------------------------------------------------------------------------

void Lowering::double_add() {
  last(Op::DADD, r_->mods(), {arg(0), arg(1), second(arg(2), Short::kDouble)});
}

void Lowering::double_multiply() {
  Arg a = arg(1);
  const Arg b = second(minus(arg(2), a.neg), Short::kDouble);
  a.neg = false;
  last(Op::DMUL, r_->mods(), {arg(0), a, b});
}

void Lowering::double_multiply_add() {
  Arg a = arg(1);
  const Arg b = second(minus(arg(2), a.neg), Short::kDouble);
  a.neg = false;
  Arg c = arg(3);
  if (c.kind == Arg::Kind::kImm) c = number64(static_cast<std::uint64_t>(double_bits(c)));
  last(Op::DFMA, r_->mods(), {arg(0), a, b, c});
}

void Lowering::double_compare() {
  last(Op::DSETP, r_->mods(), {arg(0), arg(1), arg(2), second(arg(3), Short::kDouble), arg(4)});
}

}  // namespace nervanagpu::sass
