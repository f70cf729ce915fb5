// Exponentials of float64 and what is made of them: e^x = 2^n e^r, |r| <= ln 2 / 2; e^r - 1 is a pair, so that what is
// made of it is rounded once. Polynomials: tools/polynomials.py.
#include <cmath>

#include "src/fuse/numeric/wide_pair.h"

namespace nervanagpu::fuse {

using sass::kAlways;

namespace {

constexpr double kLog2E = 1.4426950408889634;
constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2Rest = 0x1.abc9e3b39803fp-56;
constexpr double kLn2High = 0x1.62e42fefap-1, kLn2Low = 0x1.cf79abc9e3b3ap-40;  // n kLn2High is exact
// (e^r - 1 - r - r^2 / 2) / r^3, |r| <= ln(2) / 2: 2^-60.0
constexpr double kExp[] = {0x1.1f92ep-29,         0x1.af5e8p-26,         0x1.27e4c7ac4f3f1p-22, 0x1.71ddf87ac1dc7p-19,
                           0x1.a01a01af706abp-16, 0x1.a01a01afd3f34p-13, 0x1.6c16c16c14a59p-10, 0x1.111111110f6dfp-7,
                           0x1.5555555555559p-5,  0x1.5555555555559p-3};

// Of r, and what r lacks: r + r^2 / 2 + r^3 p(r)
Power power_of(const Wide& r, const Wide& lost, const Lanes& n) {
  const Pair square = product(r, r);
  const Pair two = sum(r, square.high * 0.5);
  const Wide rest = fma(square.high * r, polynomial(r, kExp), fma(square.low, 0.5, fma(lost, r, lost)));
  return {sum(two.high, two.low + rest), n};
}

// e^x and 2^x
Wide exponential(const Wide& x, bool base2) {
  const Power y = base2 ? two_to(bounded(x, -1100.0, 1100.0)) : e_to(bounded(x, -746.0, 710.0));
  return scaled(y.significand().rounded(), y.n);
}

// e^x - 1; half of it until the end, since e^x may be infinite where this is not
Wide less_one(const Wide& x) {
  const Power y = e_to(bounded(x, -50.0, 710.0));
  const Wide s = power_of_two(x.emit(), plus(x.emit(), y.n, -1));
  const Pair less = sum_any(s, Wide::number(x.emit(), -0.5));
  const Pair d = sum(less.high, s * y.less_one.high);
  const Wide twice = (d.high + (d.low + fma(s, y.less_one.low, less.low))) * 2.0;
  return select(x.magnitude().compare(Tok::LT, 0x1p-54), x, twice);
}

// 1 / (1 + z), or z / (1 + z) where x is negative, z = e^-|x|; where that is small it is z, which may be subnormal.
Wide logistic(const Wide& x, bool base2) {
  Emit& e = x.emit();
  const Wide v = bounded(-x.magnitude(), base2 ? -1100.0 : -746.0, 0.0);
  const Power y = base2 ? two_to(v) : e_to(v);
  const Pair significand = y.significand();
  const Pair z = significand * clamped_power_of_two(e, y.n);
  const Wide one = Wide::number(e, 1.0).registers(), none = Wide::number(e, 0.0).registers();
  const Pair top = select(x.compare(Tok::LT, 0.0), z, {one, none});
  const Wide d = quotient(top, plus_low(sum(one, z.high), z.low));
  return select(x.compare(Tok::LT, base2 ? -60.0 : -42.0), scaled(significand.rounded(), y.n), d);
}

// e^x - 1 of x >= 0, s = 2^n
Pair less_one_pair(const Power& y, const Wide& s) {
  const Pair d = sum(s - 1.0, s * y.less_one.high);
  return plus_low(d, s * y.less_one.low);
}

// t / (t + 2), t = e^2|x| - 1
Wide tangent(const Wide& x, bool base2) {
  const Wide v = x.magnitude();
  const Wide c = bounded(v + v, 0.0, 60.0);
  const Power y = base2 ? two_to(c) : e_to(c);
  const Pair t = less_one_pair(y, power_of_two(x.emit(), y.n));
  const Wide d = quotient(t, plus_low(sum_any(t.high, Wide::number(x.emit(), 2.0)), t.low));
  const Wide small = base2 ? fma(v, kLn2, v * kLn2Rest) : v;
  return with_sign_of(select(v.compare(Tok::LT, 0x1p-30), small, d), x);
}

// (t + t / (t + 1)) / 2, (t + 1 + 1 / (t + 1)) / 2, t = e^|x| - 1; beyond 22 e^|x| / 2 alone counts.
Wide hyperbolic(ExprOp op, const Wide& x) {
  Emit& e = x.emit();
  const Wide v = x.magnitude();
  const Power y = e_to(bounded(v, 0.0, 710.5));
  const Wide large = y.significand().rounded() * power_of_two(e, plus(e, y.n, -2)) * 2.0;
  Lanes n = e.fresh();
  e.each([&](unsigned i) { e.op(Op::VIMNMX, {}, {n[i], y.n[i], 40, kAlways}); });
  const Pair t = less_one_pair(y, power_of_two(e, n));
  const Wide one = Wide::number(e, 1.0).registers();
  const Pair grown = plus_low(sum_any(t.high, one), t.low);
  const Pair first = op == ExprOp::sinh ? t : grown;
  const Pair second = op == ExprOp::sinh ? ratio(t, grown) : ratio(one, grown);
  const Pair both = sum(first.high, second.high);
  const Wide d = (both.high + (both.low + (first.low + second.low))) * 0.5;
  const Wide all = select(v.compare(Tok::GT, 22.0), large, d);
  if (op == ExprOp::cosh) return all;
  return with_sign_of(select(v.compare(Tok::LT, 0x1p-28), v, all), x);
}

}  // namespace

Pair Power::significand() const {
  return plus_low(sum(Wide::number(less_one.high.emit(), 1.0), less_one.high), less_one.low);
}

Power e_to(const Wide& x) {
  Lanes k;
  const Wide n = nearest(x * kLog2E, k);
  const Wide first = fma(n, -kLn2High, x);
  const Wide r = fma(n, -kLn2Low, first);
  return power_of(r, fma(n, -kLn2Low, first - r), k);
}

// 2^x = 2^n e^(f ln 2)
Power two_to(const Wide& x) {
  Lanes k;
  const Wide f = x - nearest(x, k);
  const Wide r = f * kLn2;
  return power_of(r, fma(f, kLn2Rest, fma(f, kLn2, -r)), k);
}

Wide clamped_power_of_two(Emit& e, const Lanes& n) {
  Lanes d = e.fresh();
  e.each([&](unsigned i) { e.op(Op::VIMNMX, {}, {d[i], n[i], -1000, !kAlways}); });
  return power_of_two(e, d);
}

Lanes exponential64(Emit& e, ExprOp op, const Lanes& lanes) {
  const Wide x(e, lanes);
  switch (op) {
    case ExprOp::exp: return exponential(x, false).lanes();
    case ExprOp::exp2: return exponential(x, true).lanes();
    case ExprOp::expm1: return less_one(x).lanes();
    case ExprOp::sig: return logistic(x, false).lanes();
    case ExprOp::sig2: return logistic(x, true).lanes();
    case ExprOp::silu: {
      const Wide least = Wide::number(e, -800.0).registers();  // where the logistic function is 0
      const Wide a = select(x.compare(Tok::LT, -800.0), least, x);
      return (logistic(a, false) * a).lanes();
    }
    case ExprOp::tanh: return tangent(x, false).lanes();
    case ExprOp::tanh2: return tangent(x, true).lanes();
    default: return hyperbolic(op, x).lanes();  // sinh, cosh
  }
}

}  // namespace nervanagpu::fuse
