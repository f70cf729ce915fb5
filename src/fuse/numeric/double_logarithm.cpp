// Logarithms of float64 and the inverse hyperbolic functions, which are logarithms of pairs. v = 2^n (1 + f), 1 + f in
// [sqrt(1/2), sqrt(2)); log(1 + f) by s = f / (2 + f). Polynomial: tools/polynomials.py.
#include <cmath>

#include "src/fuse/numeric/wide_pair.h"

namespace nervanagpu::fuse {

using sass::kZero;

namespace {

constexpr double kLn2High = 0x1.62e42fefap-1, kLn2Low = 0x1.cf79abc9e3b3ap-40;  // n kLn2High is exact
const double kNan64 = std::bit_cast<double>(0x7fffffffffffffffU);
constexpr double kLog2E = 0x1.71547652b82fep+0, kLog2ERest = 0x1.777d0ffda0d24p-56;
constexpr double kLog10E = 0x1.bcb7b1526e50ep-2, kLog10ERest = 0x1.95355baaafad3p-57;
// (2 atanh(s) / s - 2) / s^2, |s| <= 3 - sqrt(8), in s^2: 2^-58.9
constexpr double kLog[] = {0x1.2f064p-3,         0x1.39a1a5eb07ba9p-3, 0x1.74663fabf7ad8p-3, 0x1.c71c5205d7458p-3,
                           0x1.24924941f541ep-2, 0x1.999999997fd7p-2,  0x1.5555555555592p-1};

// n ln 2 + log(1 + f): f - f^2 / 2 as a pair, and s (f^2 / 2 + s^2 p(s^2)), which is small. lost: what f lacks.
Pair log_of(const Wide& f, const Wide* lost, const Wide* n) {
  const Wide s = quotient(f, f + 2.0);
  const Wide z = s * s;
  const Pair square = product(f, f);
  const Wide half = square.high * 0.5;
  Wide rest = fma(square.low, -0.5, s * fma(z, polynomial(z, kLog), half));
  // lost / (1 + f), 1 / (1 + f) = (1 - s) / (1 + s)
  if (lost != nullptr) rest = fma(*lost * (1.0 - s), (1.0 - s) + z, rest);
  if (n == nullptr) return plus_low(sum(f, -half), rest);
  const Pair top = sum(*n * kLn2High, f);
  return plus_low(sum(top.high, -half), top.low + fma(*n, kLn2Low, rest));
}

// log(1 + a), a > -1; where `large` holds log(2a), of an `a` that makes 1 / a^2 vanish
Pair log_one_plus(const Wide& a, const Wide* a_low, const Wide* large) {
  Emit& e = a.emit();
  Pair u = sum_any(a, Wide::number(e, 1.0));
  if (a_low != nullptr) u = plus_low(u, *a_low);
  if (large != nullptr) {
    const Condition is = large->compare(Tok::GT, 0x1p+30);
    u = select(is, {*large, Wide::number(e, 0.0).registers()}, u);
  }
  const Split y = split(u.high);
  Lanes back = e.fresh();
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {back[i], kZero, -Arg(y.n[i]), kZero}); });
  Wide n = from_words(e, y.n);
  // As it is where 1 + a is no power of two more
  const Condition same = n.compare(Tok::EQ, 0.0);
  const Wide scaled = u.low * clamped_power_of_two(e, back);
  const Wide f = select(same, a, y.m - 1.0);
  const Wide lost = select(same, a_low == nullptr ? Wide::number(e, 0.0) : *a_low, scaled);
  if (large != nullptr) {
    const Wide none = Wide::number(e, 0.0).registers();
    n = n + select(large->compare(Tok::GT, 0x1p+30), Wide::number(e, 1.0), none);
  }
  return log_of(f, &lost, &n);
}

// Infinity and NaN as they are
Wide unless_endless(const Wide& x, const Wide& d) {
  return select(x.magnitude().compare(Tok::GEU, HUGE_VAL), x, d);
}

// log(v + sqrt(v^2 + 1)) = log(1 + v + v^2 / (1 + sqrt(v^2 + 1)))
Wide arc_sine(const Wide& x) {
  const Wide v = x.magnitude();
  const Wide one = Wide::number(x.emit(), 1.0).registers();
  const Pair square = product(v, v);
  const Pair s = root_pair(plus_low(sum_any(one, square.high), square.low));
  const Pair y = ratio(square, plus_low(sum(s.high, one), s.low));
  const Pair a = plus_low(sum(v, y.high), y.low);
  const Wide d = log_one_plus(a.high, &a.low, &v).rounded();
  return unless_endless(x, with_sign_of(select(v.compare(Tok::LT, 0x1p-28), v, d), x));
}

// log(x + sqrt(x^2 - 1)) = log(1 + (x - 1) + sqrt(x^2 - 1))
Wide arc_cosine(const Wide& x) {
  const Pair square = product(x, x);
  const Pair w = sum(square.high, Wide::number(x.emit(), -1.0));
  const Pair s = root_pair(plus_low(w, square.low));
  const Pair a = plus_low(sum(s.high, x - 1.0), s.low);
  const Wide d = log_one_plus(a.high, &a.low, &x).rounded();
  const Wide nan = Wide::number(x.emit(), kNan64);
  return select(x.compare(Tok::LT, 1.0), nan, select(x.compare(Tok::GEU, HUGE_VAL), x + x, d));
}

// log(1 + 2v / (1 - v)) / 2
Wide arc_tangent(const Wide& x) {
  Emit& e = x.emit();
  const Wide v = x.magnitude();
  const Pair a = ratio(v + v, sum(Wide::number(e, 1.0), -v));
  Wide d = log_one_plus(a.high, &a.low, nullptr).rounded() * 0.5;
  d = select(v.compare(Tok::LT, 0x1p-28), v, d);
  d = select(v.compare(Tok::EQ, 1.0), Wide::number(e, HUGE_VAL), d);
  return select(v.compare(Tok::GTU, 1.0), Wide::number(e, kNan64), with_sign_of(d, x));
}

// log, log2, log10
Wide logarithm(ExprOp op, const Wide& x) {
  Emit& e = x.emit();
  const Condition small = x.compare(Tok::LT, 0x1p-1022);
  const Split y = split(select(small, x * 0x1p+54, x));
  Lanes n = e.fresh();
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {n[i], y.n[i], -54, kZero}); });
  const Wide whole = from_words(e, choose(e, small, n, y.n));
  const Wide f = y.m - 1.0;
  if (op == ExprOp::log) return log_of(f, nullptr, &whole).rounded();
  const bool ten = op == ExprOp::log10;
  const Pair d = log_of(f, nullptr, ten ? &whole : nullptr);
  const Pair scaled = product(d.high, Wide::number(e, ten ? kLog10E : kLog2E));
  const Wide low = fma(d.low, ten ? kLog10E : kLog2E, fma(d.high, ten ? kLog10ERest : kLog2ERest, scaled.low));
  if (ten) return scaled.high + low;
  const Pair all = sum_any(whole, scaled.high);
  return all.high + (all.low + low);
}

}  // namespace

Lanes logarithm64(Emit& e, ExprOp op, const Lanes& lanes) {
  const Wide x(e, lanes);
  switch (op) {
    case ExprOp::arcsinh: return arc_sine(x).lanes();
    case ExprOp::arccosh: return arc_cosine(x).lanes();
    case ExprOp::arctanh: return arc_tangent(x).lanes();
    default: break;
  }
  const bool plus_one = op == ExprOp::log1p;
  Wide d = plus_one ? select(x.magnitude().compare(Tok::LT, 0x1p-54), x, log_one_plus(x, nullptr, nullptr).rounded())
                    : logarithm(op, x);
  const double pole = plus_one ? -1.0 : 0.0;
  d = select(x.compare(Tok::LT, pole), Wide::number(e, kNan64), d);
  d = select(x.compare(Tok::EQ, pole), Wide::number(e, -HUGE_VAL), d);
  return select(x.compare(Tok::GEU, HUGE_VAL), x + x, d).lanes();
}

}  // namespace nervanagpu::fuse
