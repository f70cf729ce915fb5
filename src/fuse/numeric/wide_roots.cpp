// Cube roots and hypotenuses.
#include <cmath>

#include "src/fuse/numeric/wide_pair.h"

namespace nervanagpu::fuse {

using sass::kZero;

namespace {

// v^(-1/3) of a normal number > 0: a third of the exponent, and two steps of fourth order.
Wide inverse_cube_root(const Wide& v) {
  Emit& e = v.emit();
  const Lanes high = v.high();
  const Lanes none = e.fresh();
  Lanes guess = e.fresh();
  e.each([&](unsigned i) { e.op(Op::IMAD_HI, {Tok::U32}, {guess[i], high[i], 0x55555556, kZero}); });
  const VReg base = e.constant(0x553ee000);
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {guess[i], base, -Arg(guess[i]), kZero}); });
  e.each([&](unsigned i) { e.op(Op::MOV, {}, {none[i], kZero}); });
  Wide y = of_halves(e, none, guess);
  const Wide third = Wide::number(e, 1.0 / 3), ninth = Wide::number(e, 2.0 / 9);
  for (int step = 0; step < 2; ++step) {
    const Wide rest = fma(-(v * y), y * y, 1.0);  // 1 - v y^3
    const Wide c = fma(rest, fma(rest, 14.0 / 81, ninth), third);
    y = fma(y * rest, c, y);
  }
  return y;
}

}  // namespace

Lanes cube_root(Emit& e, const Lanes& x) {
  const Wide v = from_single(e, x, true);
  const Wide y = inverse_cube_root(v);
  const Lanes d = with_sign(e, (v * y * y).to_single(), x);
  Lanes sum = e.fresh();
  e.each([&](unsigned i) { e.op(Op::FADD, {}, {sum[i], x[i], x[i]}); });
  return choose(e, compare(e, Tok::GEU, x, 0x7f800000, true), sum, choose(e, compare(e, Tok::EQ, x, kZero), x, d));
}

Lanes cube_root64(Emit& e, const Lanes& lanes) {
  const Wide x(e, lanes);
  const Wide a = x.magnitude();
  const Condition small = a.compare(Tok::LT, 0x1p-900);  // so that remainders are no subnormal numbers
  const Wide v = select(small, a * 0x1p+120, a);
  const Wide y = inverse_cube_root(v);
  const Wide square = y * y;
  const Wide r = v * square;
  // r less (r^3 - v) / 3 r^2
  const Wide better = fma(fma(-(r * r), r, v) * (1.0 / 3), square, r);
  const Wide d = with_sign_of(select(small, better * 0x1p-40, better), x);
  const Wide whole = select(a.compare(Tok::EQ, 0.0), x, d);
  return select(a.compare(Tok::GEU, HUGE_VAL), x + x, whole).lanes();
}

// Squares of float32 numbers are exact in float64.
Lanes hypotenuse(Emit& e, const Lanes& x, const Lanes& y) {
  const Wide a = from_single(e, x);
  const Wide b = from_single(e, y);
  Lanes d = root(fma(a, a, b * b)).to_single();
  d = choose(e, compare(e, Tok::EQ, x, 0x7f800000, true), 0x7f800000, d);
  return choose(e, compare(e, Tok::EQ, y, 0x7f800000, true), 0x7f800000, d);
}

Lanes hypotenuse64(Emit& e, const Lanes& x, const Lanes& y) {
  const Wide a = Wide(e, x).magnitude();
  const Wide b = Wide(e, y).magnitude();
  const Condition more = a.compare(Tok::GT, b);
  const Wide most = select(more, a, b), least = select(more, b, a);
  // Squares stay within the range of normal numbers, or do not matter.
  const Condition large = most.compare(Tok::GT, 0x1p+500), small = most.compare(Tok::LT, 0x1p-480);
  const Wide one = Wide::number(e, 1.0).registers();
  const Wide scale = select(large, Wide::number(e, 0x1p-600), select(small, Wide::number(e, 0x1p+600), one));
  const Wide back = select(large, Wide::number(e, 0x1p+600), select(small, Wide::number(e, 0x1p-600), one));
  const Wide u = most * scale;
  const Wide v = least * scale;
  const Pair first = product(u, u), second = product(v, v);
  const Pair square = sum(first.high, second.high);
  Wide d = root(plus_low(square, first.low + second.low)) * back;
  const Wide endless = Wide::number(e, HUGE_VAL);
  d = select(a.compare(Tok::EQ, HUGE_VAL), endless, d);
  return select(b.compare(Tok::EQ, HUGE_VAL), endless, d).lanes();
}

}  // namespace nervanagpu::fuse
