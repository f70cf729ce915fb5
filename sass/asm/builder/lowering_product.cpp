// Products for sm_50 .. sm_62, of XMAD, which multiplies 16 by 16 bits and adds 32. With a = al + 2^16 ah, b = bl + 2^16 bh:
//
//   low word    al bl + 2^16 (ah bl + al bh)                          XMAD, XMAD.MRG, XMAD.PSL.CBCC
//   high word   ah bh + (ah bl + (al bl >> 16) + al bh) >> 16         XMAD.CHI, IADD3.RS (its sum has 33 bits)
#include <bit>

#include "sass/asm/builder/lowering.h"

namespace nervanagpu::sass {

// IMAD d, a, b, c
void Lowering::multiply_add() {
  if (arg_count() != 4 || r_->mod_count != 0) return refuse("of this kind is not known");
  const Arg& d = arg(0);
  const Arg& a = arg(1);
  Arg b = arg(2), c = arg(3);
  if (const auto n = known(b)) {
    if (*n == 0) return is_zero(c) ? last(Op::MOV, {}, {d, kZero}) : last(Op::MOV, {}, {d, in_register(c)});
    if (std::has_single_bit(*n)) {
      const int by = std::countr_zero(*n);
      if (is_zero(c)) return by == 0 ? last(Op::MOV, {}, {d, a}) : last(Op::SHL, {}, {d, a, by});
      c = second(c, Short::kSigned);
      return by == 0 ? last(Op::IADD, {}, {d, a, c}) : last(Op::ISCADD, {}, {d, a, c, by});
    }
    if (*n < 0x10000) {
      const VReg t = b_.reg();
      put(Op::XMAD, {}, {t, a, *n, in_register(c)});
      return last(Op::XMAD, {Tok::PSL}, {d, upper_half(a), *n, t});
    }
  }
  b = b.kind == Arg::Kind::kImm ? in_register(b) : b;
  if (c.kind == Arg::Kind::kImm || b.kind == Arg::Kind::kConst) c = in_register(c);
  const VReg t = b_.reg(), u = b_.reg();
  put(Op::XMAD, {}, {t, a, b, c});
  put(Op::XMAD, {Tok::MRG}, {u, a, upper_half(b), kZero});
  last(Op::XMAD, {Tok::PSL, Tok::CBCC}, {d, upper_half(a), upper_half(u), t});
}

// IMAD.HI.U32 d, a, b, 0
void Lowering::multiply_high() {
  if (arg_count() != 4 || !says(Tok::U32) || !is_zero(arg(3))) return refuse("of this kind is not known");
  const Arg& a = arg(1);
  const Arg b = arg(2).kind == Arg::Kind::kImm ? in_register(arg(2)) : arg(2);
  const VReg t = b_.reg(), u = b_.reg(), v = b_.reg(), w = b_.reg();
  put(Op::XMAD, {}, {t, a, b, kZero});
  put(Op::XMAD, {}, {u, a, upper_half(b), kZero});
  put(Op::XMAD, {}, {v, upper_half(a), upper_half(b), kZero});
  put(Op::XMAD, {Tok::CHI}, {w, upper_half(a), b, t});
  last(Op::IADD3, {Tok::RS}, {arg(0), w, u, v});
}

// d = a 2^by + c: the upper word of the product is a shift, and what it shifts out of the lower one goes with it.
void Lowering::scaled_pair(unsigned by) {
  const Arg& d = arg(0);
  const Arg& a = arg(1);
  const Arg& c = arg(3);
  Arg high = kZero;
  if (by > 0 || !says(Tok::U32)) {
    const VReg t = b_.reg();
    const int down = by == 0 ? 31 : 32 - static_cast<int>(by);
    says(Tok::U32) ? put(Op::SHR, {Tok::U32}, {t, a, down}) : put(Op::SHR, {}, {t, a, down});
    high = t;
  }
  if (is_zero(c)) {
    by == 0 ? last(Op::MOV, {}, {word(d, 0), a}) : last(Op::SHL, {}, {word(d, 0), a, std::int64_t{by}});
    return last(Op::MOV, {}, {word(d, 1), high});
  }
  if (by == 0) {
    last(Op::IADD, {}, {with_carry(word(d, 0)), a, word(c, 0)});
  } else {
    last(Op::ISCADD, {}, {with_carry(word(d, 0)), a, word(c, 0), std::int64_t{by}});
  }
  last(Op::IADD, {Tok::X}, {word(d, 1), high, word(c, 1)});
}

// IMAD.WIDE[.U32] d, a, b, c: 64 bits of d and c
void Lowering::multiply_wide() {
  if (arg_count() != 4) return refuse("of this kind is not known");
  const bool is_signed = !says(Tok::U32);
  const Arg& d = arg(0);
  const Arg& a = arg(1);
  const Arg& c = arg(3);
  if (is_zero(a) && is_zero(c)) {
    last(Op::MOV, {}, {word(d, 0), kZero});
    return last(Op::MOV, {}, {word(d, 1), kZero});
  }
  const auto n = known(arg(2));
  if (n && std::has_single_bit(*n) && !(is_signed && *n >> 31 != 0))
    return scaled_pair(static_cast<unsigned>(std::countr_zero(*n)));
  const bool narrow = n && *n < 0x10000;
  const Arg b = narrow ? Arg(*n) : arg(2).kind == Arg::Kind::kImm ? in_register(arg(2)) : arg(2);
  // The factors are multiplied as unsigned: one below zero was taken for 2^32 more, which is the other one too much in
  // the upper word.
  std::array<Arg, 2> excess{kZero, kZero};
  const auto other_if_negative = [&](const Arg& x, const Arg& other) {
    const VReg t = b_.reg();
    put(Op::SHR, {}, {t, in_register(x), 31});
    put(narrow ? Op::LOP32I : Op::LOP, {Tok::AND}, {t, t, other});
    return t;
  };
  if (is_signed) excess[0] = other_if_negative(a, b);
  if (is_signed && !n) excess[1] = other_if_negative(b, a);
  if (is_signed && n && *n >> 31 != 0) excess[1] = a;
  const VReg t = b_.reg(), middle = b_.reg();
  VReg high = b_.reg();
  put(Op::XMAD, {}, {t, a, b, kZero});
  if (narrow) {
    put(Op::XMAD, {Tok::CHI}, {middle, upper_half(a), b, t});
    put(Op::SHR, {Tok::U32}, {high, middle, 16});
  } else {
    const VReg u = b_.reg(), v = b_.reg(), w = b_.reg();
    put(Op::XMAD, {Tok::MRG}, {middle, a, upper_half(b), kZero});
    put(Op::XMAD, {}, {u, a, upper_half(b), kZero});
    put(Op::XMAD, {}, {v, upper_half(a), upper_half(b), kZero});
    put(Op::XMAD, {Tok::CHI}, {w, upper_half(a), b, t});
    put(Op::IADD3, {Tok::RS}, {high, w, u, v});
  }
  if (is_signed) {
    const VReg less = b_.reg();
    put(Op::IADD3, {}, {less, high, -excess[0], -excess[1]});
    high = less;
  }
  // The lower word is the last to read a and b, in whose place it may stand.
  const bool alone = is_zero(c);
  const Arg low = alone ? word(d, 0) : Arg(b_.reg());
  const VPred guard = alone ? r_->guard : kAlways;
  if (narrow) {
    put(Op::XMAD, {Tok::PSL}, {low, upper_half(a), b, t}, guard);
  } else {
    put(Op::XMAD, {Tok::PSL, Tok::CBCC}, {low, upper_half(a), upper_half(middle), t}, guard);
  }
  if (alone) return last(Op::MOV, {}, {word(d, 1), high});
  last(Op::IADD, {}, {with_carry(word(d, 0)), low, word(c, 0)});
  last(Op::IADD, {Tok::X}, {word(d, 1), high, word(c, 1)});
}

}  // namespace nervanagpu::sass
