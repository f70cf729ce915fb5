// Floor division and remainders. Floats: the remainder is exact, by a division in steps of 48 bits of quotient; what is made
// of it is rounded as NumPy does. Integers: quotients by way of float64; of nothing they are 0.
#include <cmath>

#include "src/expr/promote.h"
#include "src/fuse/numeric/division.h"
#include "src/fuse/numeric/wide.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

namespace {

constexpr int kStep = 48;

// |v| = m 2^n, m in [1, 2), for v not 0 and finite.
struct Significand {
  Wide m;
  Lanes n;
};
Significand significand(const Wide& v, bool subnormal) {
  Emit& e = v.emit();
  const Condition small = v.compare(Tok::LT, 0x1p-1022);
  const Wide w = subnormal ? select(small, v * 0x1p+54, v) : v;
  const Lanes high = w.high();
  Lanes n = e.fresh();
  Lanes m = e.fresh();
  e.each([&](unsigned i) { e.op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {n[i], kZero, 20, high[i]}); });
  e.each([&](unsigned i) { e.op(Op::LOP3, {Tok::LUT}, {m[i], high[i], 0xfffff, kZero, 0xc0, !kAlways}); });
  e.each([&](unsigned i) { e.op(Op::LOP3, {Tok::LUT}, {m[i], m[i], 0x3ff00000, kZero, 0xfc, !kAlways}); });
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {n[i], n[i], -1023, kZero}); });
  if (subnormal) {
    Lanes less = e.fresh();
    e.each([&](unsigned i) { e.op(Op::IADD3, {}, {less[i], n[i], -54, kZero}); });
    n = choose(e, small, less, n);
  }
  return {of_halves(e, w.low(), m), n};
}

// |x| mod |y| with the sign of x, exact. `subnormal`: there may be such operands.
Wide modulo(const Wide& x, const Wide& y, bool subnormal) {
  Emit& e = x.emit();
  Builder& b = e.b;
  const Wide a = x.magnitude();
  const Wide c = y.magnitude();
  const Significand top = significand(a, subnormal);
  const Significand bottom = significand(c, subnormal);
  const Wide& q = bottom.m;
  const Wide inverse = quotient(Wide::number(e, 1.0).registers(), q);
  const Lanes r = top.m.lanes();  // what is left of x, of the size of q
  Lanes n = e.fresh();            // and how many bits of the quotient are
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {n[i], top.n[i], -Arg(bottom.n[i]), kZero}); });
  const sass::VLabel again = b.label();
  const VReg most = b.reg();
  const VPred mine = b.pred(), any = b.pred();
  b.bind(again);
  Lanes k = e.fresh();
  e.each([&](unsigned i) { e.op(Op::VIMNMX, {}, {k[i], n[i], kStep, kAlways}); });
  e.each([&](unsigned i) { e.op(Op::VIMNMX, {}, {k[i], k[i], kZero, !kAlways}); });
  const Wide grown = Wide(e, r) * power_of_two(e, k);
  Lanes words;
  const Wide whole = nearest(grown * inverse, words);
  const Lanes by = whole.lanes();
  e.each([&](unsigned i) { e.op(Op::DFMA, {}, {r[i], -Arg(by[i]), q.arg(i), grown.arg(i)}); });
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {n[i], n[i], -kStep, kZero}); });
  e.op(Op::MOV, {}, {most, n[0]});
  for (unsigned i = 1; i < e.n; ++i) e.op(Op::VIMNMX, {}, {most, most, n[i], !kAlways});
  e.op(Op::ISETP, {Tok::GE, Tok::AND}, {mine, kAlways, most, -(kStep - 1), kAlways});
  e.op(Op::VOTE, {Tok::ANY}, {any, mine});
  e.op(Op::BRA, {}, {again}, any);
  const Wide left(e, r);
  const Wide positive = select(left.compare(Tok::LT, 0.0), left + q, left);
  Wide d = scaled(positive, bottom.n);
  d = select(a.compare(Tok::LT, c), a, d);
  const Wide nan = Wide::number(e, std::bit_cast<double>(0x7fffffffffffffffU));
  d = select(a.compare(Tok::GEU, HUGE_VAL), nan, d);
  d = select(!c.compare(Tok::GT, 0.0), nan, d);  // 0 and NaN
  return with_sign_of(d, x);
}

// Whether two signs differ, by the words that hold them, and the first's number is not 0.
Condition unlike(Emit& e, const Lanes& x, const Lanes& y, const Condition& nonzero) {
  return [&e, x, y, nonzero](unsigned i) {
    const VReg w = e.b.reg();
    const VPred first = nonzero(i), p = e.b.pred();
    e.op(Op::LOP3, {Tok::LUT}, {w, x[i], y[i], kZero, 0x3c, !kAlways});
    e.op(Op::ISETP, {Tok::LT, Tok::AND}, {p, kAlways, w, kZero, first});
    return p;
  };
}

Lanes added(Emit& e, const Lanes& x, const Lanes& y, bool minus = false) {
  Lanes d = e.fresh();
  e.each([&](unsigned i) { e.op(Op::FADD, {}, {d[i], x[i], minus ? -Arg(y[i]) : Arg(y[i])}); });
  return d;
}
Lanes added(Emit& e, const Lanes& x, Arg y) {
  Lanes d = e.fresh();
  e.each([&](unsigned i) { e.op(Op::FADD, {}, {d[i], x[i], y}); });
  return d;
}
Lanes zero_like(Emit& e, const Lanes& x) {
  Lanes d = e.fresh();
  e.each([&](unsigned i) { e.op(Op::LOP3, {Tok::LUT}, {d[i], x[i], 0x80000000, kZero, 0xc0, !kAlways}); });
  return d;
}

}  // namespace

Lanes divide_whole(Emit& e, ExprOp op, const Lanes& x, const Lanes& y) {
  const Lanes rest = modulo(from_single(e, x), from_single(e, y), false).to_single();
  if (op == ExprOp::fmod) return rest;
  const Condition nonzero = compare(e, Tok::NEU, rest, kZero);
  const Condition turns = unlike(e, rest, y, nonzero);
  if (op == ExprOp::remainder) {
    const Lanes d = choose(e, nonzero, rest, zero_like(e, y));
    return choose(e, turns, added(e, rest, y), d);
  }
  const Lanes ratio = e.divide(x, y);
  Lanes d = e.divide(added(e, x, rest, true), y);
  d = choose(e, turns, added(e, d, 0xbf800000), d);
  Lanes floor = e.fresh();
  e.each([&](unsigned i) { e.op(Op::FRND, {Tok::FLOOR}, {floor[i], d[i]}); });
  const Lanes fraction = added(e, d, floor, true);
  const Lanes nearest =
      choose(e, compare(e, Tok::GT, fraction, e.constant(0x3f000000)), added(e, floor, 0x3f800000), floor);
  const Lanes result = choose(e, compare(e, Tok::EQ, d, kZero), zero_like(e, ratio), nearest);
  return choose(e, compare(e, Tok::EQ, y, kZero), ratio, result);
}

Lanes divide_whole64(Emit& e, ExprOp op, const Lanes& x_lanes, const Lanes& y_lanes) {
  const Wide x(e, x_lanes);
  const Wide y(e, y_lanes);
  const Wide rest = modulo(x, y, true);
  if (op == ExprOp::fmod) return rest.lanes();
  const Condition nonzero = rest.compare(Tok::NEU, 0.0);
  const Condition turns = unlike(e, rest.high(), y.high(), nonzero);
  const Wide zero = Wide::number(e, 0.0).registers();
  if (op == ExprOp::remainder) {
    return select(turns, rest + y, select(nonzero, rest, with_sign_of(zero, y))).lanes();
  }
  const Wide ratio(e, e.divide64(x_lanes, y_lanes));
  Wide d(e, e.divide64((x - rest).lanes(), y_lanes));
  d = select(turns, d - 1.0, d);
  Lanes floored = e.fresh(2);
  const Lanes in = d.lanes();
  e.each([&](unsigned i) { e.op(Op::FRND, {Tok::F64, Tok::FLOOR}, {floored[i], in[i]}); });
  const Wide floor(e, floored);
  const Wide nearest = select((d - floor).compare(Tok::GT, 0.5), floor + 1.0, floor);
  const Wide result = select(d.compare(Tok::EQ, 0.0), with_sign_of(zero, ratio), nearest);
  return select(y.compare(Tok::EQ, 0.0), ratio, result).lanes();
}

// ---- Integers of up to 32 bits ---------------------------------------------------------------------------------------

Lanes divide_words(Emit& e, ExprOp op, bool is_signed, const Lanes& x, const Lanes& y) {
  Lanes a = e.fresh(2);
  Lanes c = e.fresh(2);
  e.each([&](unsigned i) {
    if (is_signed) {
      e.op(Op::I2F, {Tok::F64}, {a[i], x[i]});
      e.op(Op::I2F, {Tok::F64}, {c[i], y[i]});
    } else {
      e.op(Op::I2F, {Tok::F64, Tok::U32}, {a[i], x[i]});
      e.op(Op::I2F, {Tok::F64, Tok::U32}, {c[i], y[i]});
    }
  });
  const Lanes ratio = quotient(Wide(e, a), Wide(e, c)).lanes();
  Lanes out = e.fresh();
  e.each([&](unsigned i) {
    const VReg q = e.b.reg(2), rest = e.b.reg(), minus = e.b.reg();
    e.op(Op::F2I, {Tok::S64, Tok::F64, Tok::TRUNC}, {q, ratio[i]});
    e.op(Op::IADD3, {}, {minus, kZero, -Arg(q[0]), kZero});
    e.op(Op::IMAD, {}, {rest, minus, y[i], x[i]});
    if (op != ExprOp::fmod && is_signed) {  // towards minus infinity
      const VReg w = e.b.reg(), next = e.b.reg();
      const VPred left = e.b.pred(), turns = e.b.pred();
      e.op(Op::LOP3, {Tok::LUT}, {w, rest, y[i], kZero, 0x3c, !kAlways});
      e.op(Op::ISETP, {Tok::NE, Tok::AND}, {left, kAlways, rest, kZero, kAlways});
      e.op(Op::ISETP, {Tok::LT, Tok::AND}, {turns, kAlways, w, kZero, left});
      e.op(Op::IADD3, {}, {next, rest, y[i], kZero});
      e.select(rest, next, rest, turns);
      e.op(Op::IADD3, {}, {next, q[0], -1, kZero});
      e.select(q[0], next, q[0], turns);
    }
    const VPred nothing = e.b.pred();
    e.op(Op::ISETP, {Tok::EQ, Tok::AND}, {nothing, kAlways, y[i], kZero, kAlways});
    e.select(out[i], kZero, op == ExprOp::floor_divide ? q[0] : rest, nothing);
  });
  return out;
}

// ---- 64-bit integers: magnitudes are divided, each step by a quotient that is a little too small -----------------------

namespace {

struct Long {
  Emit& e;
  void add(VReg d, VReg x, VReg y) const {
    const VPred carry = e.b.pred();
    e.op(Op::IADD3, {}, {d[0], carry, x[0], y[0], kZero});
    e.op(Op::IADD3, {Tok::X}, {d[1], x[1], y[1], kZero, carry, !kAlways});
  }
  void subtract(VReg d, VReg x, VReg y) const {
    const VPred carry = e.b.pred();
    e.op(Op::IADD3, {}, {d[0], carry, x[0], -Arg(y[0]), kZero});
    e.op(Op::IADD3, {Tok::X}, {d[1], x[1], sass::complement(y[1]), kZero, carry, !kAlways});
  }
  void multiply(VReg d, VReg x, VReg y) const {
    e.op(Op::IMAD_WIDE, {Tok::U32}, {d, x[0], y[0], kZero});
    e.op(Op::IMAD, {}, {d[1], x[0], y[1], d[1]});
    e.op(Op::IMAD, {}, {d[1], x[1], y[0], d[1]});
  }
  void select(VReg d, VReg x, VReg y, VPred p) const {
    for (unsigned k = 0; k < 2; ++k) e.select(d[k], x[k], y[k], p);
  }
  VReg negative_if(VReg x, VPred p) const {
    const VReg zero = e.constant64(0), d = e.b.reg(2);
    subtract(d, zero, x);
    select(d, d, x, p);
    return d;
  }
  VPred below_zero(VReg x) const {
    const VPred p = e.b.pred();
    e.op(Op::ISETP, {Tok::LT, Tok::AND}, {p, kAlways, x[1], kZero, kAlways});
    return p;
  }
  VPred nonzero(VReg x) const {
    const VReg any = e.b.reg();
    const VPred p = e.b.pred();
    e.op(Op::LOP3, {Tok::LUT}, {any, x[0], x[1], kZero, 0xfc, !kAlways});
    e.op(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {p, kAlways, any, kZero, kAlways});
    return p;
  }
};

}  // namespace

Lanes divide_pairs(Emit& e, ExprOp op, bool is_signed, const Lanes& x, const Lanes& y) {
  Lanes out = e.fresh(2);
  for (unsigned i = 0; i < e.n; ++i) {
    Emit one(e.b, 1);
    const Long l{one};
    const VReg a = is_signed ? l.negative_if(x[i], l.below_zero(x[i])) : x[i];
    const VReg c = is_signed ? l.negative_if(y[i], l.below_zero(y[i])) : y[i];
    const auto real = [&](VReg v) {
      Lanes d = one.fresh(2);
      one.op(Op::I2F, {Tok::F64, Tok::U64}, {d[0], v});
      return Wide(one, d);
    };
    const Wide divisor = real(c);
    const VReg q = e.b.reg(2), rest = e.b.reg(2);
    for (int step = 0; step < 2; ++step) {
      const Lanes ratio = (quotient(real(step == 0 ? a : rest), divisor) * (1 - 0x1p-20 * 0x1p-28)).lanes();
      const VReg part = e.b.reg(2), taken = e.b.reg(2);
      one.op(Op::F2I, {Tok::U64, Tok::F64, Tok::TRUNC}, {part, ratio[0]});
      l.multiply(taken, part, c);
      l.subtract(rest, step == 0 ? a : rest, taken);
      if (step == 0) {
        for (unsigned k = 0; k < 2; ++k) one.op(Op::MOV, {}, {q[k], part[k]});
      } else {
        l.add(q, q, part);
      }
    }
    const VReg next = e.b.reg(2), unit = one.constant64(1);
    const VPred low = e.b.pred(), more = e.b.pred();
    one.op(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {low, kAlways, rest[0], c[0], kAlways});
    one.op(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND, Tok::EX}, {more, kAlways, rest[1], c[1], kAlways, low});
    const VReg less = e.b.reg(2);
    l.subtract(less, rest, c);
    l.select(rest, less, rest, more);
    l.add(next, q, unit);
    l.select(q, next, q, more);
    VReg quotient_out = q, rest_out = rest;
    if (is_signed) {
      const VReg w = e.b.reg(2);
      one.op(Op::LOP3, {Tok::LUT}, {w[1], x[i][1], y[i][1], kZero, 0x3c, !kAlways});
      quotient_out = l.negative_if(q, l.below_zero(w));
      rest_out = l.negative_if(rest, l.below_zero(x[i]));
      if (op != ExprOp::fmod) {  // towards minus infinity
        const VReg minus = one.constant64(~std::uint64_t{0}), lower = e.b.reg(2), higher = e.b.reg(2);
        l.add(lower, quotient_out, minus);
        l.add(higher, rest_out, y[i]);
        const VPred left = l.nonzero(rest_out), turns = e.b.pred();
        one.op(Op::ISETP, {Tok::LT, Tok::AND}, {turns, kAlways, w[1], kZero, left});
        l.select(quotient_out, lower, quotient_out, turns);
        l.select(rest_out, higher, rest_out, turns);
      }
    }
    const VPred something = l.nonzero(y[i]);
    const VReg result = op == ExprOp::floor_divide ? quotient_out : rest_out;
    for (unsigned k = 0; k < 2; ++k) e.select(out[i][k], kZero, result[k], !something);
  }
  return out;
}

// ---- Shifts ------------------------------------------------------------------------------------------------------------

Lanes shift_words(Emit& e, ExprOp op, bool is_signed, const Lanes& x, const Lanes& y) {
  Lanes d = e.fresh();
  e.each([&](unsigned i) {
    const VReg sign = e.b.reg();
    const VPred beyond = e.b.pred();
    e.op(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {beyond, kAlways, y[i], 32, kAlways});
    if (op == ExprOp::left_shift) {
      e.op(Op::SHF, {Tok::L, Tok::U32}, {d[i], x[i], y[i], kZero});
      e.select(d[i], kZero, d[i], beyond);
      return;
    }
    if (!is_signed) {
      e.op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {d[i], kZero, y[i], x[i]});
      e.select(d[i], kZero, d[i], beyond);
      return;
    }
    e.op(Op::SHF, {Tok::R, Tok::S32, Tok::HI}, {d[i], kZero, y[i], x[i]});
    e.op(Op::SHF, {Tok::R, Tok::S32, Tok::HI}, {sign, kZero, 31, x[i]});
    e.select(d[i], sign, d[i], beyond);
  });
  return d;
}

Lanes shift_pairs(Emit& e, ExprOp op, bool is_signed, const Lanes& x, const Lanes& y) {
  Lanes d = e.fresh(2);
  e.each([&](unsigned i) {
    const VReg sign = e.b.reg(), by = e.b.reg(), far = e.b.reg(), low = e.b.reg(), high = e.b.reg(), moved = e.b.reg();
    if (is_signed) {
      e.op(Op::SHF, {Tok::R, Tok::S32, Tok::HI}, {sign, kZero, 31, x[i][1]});
    } else {
      e.op(Op::MOV, {}, {sign, kZero});
    }
    e.op(Op::LOP3, {Tok::LUT}, {by, y[i][0], 31, kZero, 0xc0, !kAlways});
    // by 0 to 31, then by a whole word if need be
    const VPred word = e.b.pred();
    e.op(Op::LOP3, {Tok::LUT}, {far, y[i][0], 32, kZero, 0xc0, !kAlways});
    e.op(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {word, kAlways, far, kZero, kAlways});
    if (op == ExprOp::left_shift) {
      e.op(Op::SHF, {Tok::L, Tok::U32, Tok::HI}, {high, x[i][0], by, x[i][1]});
      e.op(Op::SHF, {Tok::L, Tok::U32}, {low, x[i][0], by, kZero});
      e.select(high, low, high, word);
      e.select(low, kZero, low, word);
    } else {
      e.op(Op::SHF, {Tok::R, Tok::U32}, {low, x[i][0], by, x[i][1]});
      e.op(Op::SHF, {Tok::R, Tok::U32}, {high, x[i][1], by, sign});
      e.select(low, high, low, word);
      e.select(high, sign, high, word);
    }
    // counts from 64 on, negative ones among them
    const VPred beyond = e.b.pred();
    e.op(Op::LOP3, {Tok::LUT}, {moved, y[i][0], ~std::uint32_t{63}, y[i][1], 0xea, !kAlways});
    e.op(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {beyond, kAlways, moved, kZero, kAlways});
    const VReg all = op == ExprOp::left_shift ? kZero : sign;
    e.select(d[i][0], all, low, beyond);
    e.select(d[i][1], all, high, beyond);
  });
  return d;
}

}  // namespace nervanagpu::fuse
