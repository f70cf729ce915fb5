// Exponentials, logarithms, and what is made of them. e^x = 2^n e^r, |r| <= ln 2 / 2; log x = e ln 2 + log m by
// s = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)).
#include <cmath>

#include "src/fuse/numeric/wide.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

namespace {

constexpr double kLog2E = 1.4426950408889634;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kMagic = 6755399441055744.0;
constexpr double kLog10E = 0.4342944819032518;
constexpr std::uint32_t kInfinity = 0x7f800000, kNan = 0x7fffffff;

// (e^r - 1 - r) / r^2
constexpr double kExpSingle[] = {0x1.a1b8ap-13,       0x1.6d971p-10,        0x1.11107c774c91cp-7,
                                 0x1.55547fcbe91ep-5, 0x1.555555985c82ap-3, 0x1.0000004320888p-1};
// (2 atanh(s) / s - 2) / s^2, in s^2
constexpr double kLogSingle[] = {0x1.e3051p-3, 0x1.24387c1db4f7bp-2, 0x1.999a7bd85aae3p-2, 0x1.555554fcf9632p-1};

// n ln 2 + log(1 + f)
Wide log_of(const Wide& f, const Wide& n) {
  const Wide s = quotient(f, f + 2.0);
  const Wide z = s * s;
  const Wide r = z * polynomial(z, kLogSingle);
  return fma(n, kLn2, fma(s, r, s + s));
}

}  // namespace

Split split(const Wide& v) {
  Emit& e = v.emit();
  const Lanes high = v.high();
  const Lanes low = v.low();
  Lanes n = e.fresh();
  Lanes m = e.fresh();
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {m[i], high[i], -std::int64_t{0x3fe6a09e}, kZero}); });
  e.each([&](unsigned i) { e.op(Op::SHF, {Tok::R, Tok::S32, Tok::HI}, {n[i], kZero, 20, m[i]}); });
  e.each([&](unsigned i) { e.op(Op::SHF, {Tok::L, Tok::U32}, {m[i], n[i], 20, kZero}); });
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {m[i], high[i], -Arg(m[i]), kZero}); });
  return {of_halves(e, low, m), n};
}

Exponential exponential_of(const Wide& x) {
  const Wide t = fma(x, kLog2E, Wide::number(x.emit(), kMagic));
  const Wide n = t - kMagic;
  const Wide r = fma(n, -kLn2, x);
  return {r, r * r * polynomial(r, kExpSingle), t.low()};
}

Wide exp_minus_one(const Wide& x) {
  const Exponential y = exponential_of(x);
  const Wide s = power_of_two(x.emit(), y.n);
  return fma(s, y.fraction(), s - 1.0);
}

Wide log_one_plus(const Wide& x) {
  const Split y = split(x + 1.0);
  const Wide f = y.m - 1.0;
  const Wide n = from_words(x.emit(), y.n);
  // As it is where u would be no power of two more
  return log_of(select(n.compare(Tok::EQ, 0.0), x, f), n);
}

// ---- float32 ---------------------------------------------------------------------------------------------------------

Lanes near_one(Emit& e, ExprOp op, const Lanes& x) {
  if (op == ExprOp::expm1) {
    Lanes c = e.fresh();  // -1 and infinity beyond
    e.each([&](unsigned i) { e.op(Op::FMNMX, {Tok::kNAN}, {c[i], x[i], 0x42b40000, kAlways}); });
    e.each([&](unsigned i) { e.op(Op::FMNMX, {Tok::kNAN}, {c[i], c[i], 0xc1a00000, !kAlways}); });
    return choose(e, compare(e, Tok::EQ, x, kZero), x, exp_minus_one(from_single(e, c)).to_single());
  }
  const Wide v = from_single(e, x);
  Lanes d;
  std::uint32_t pole = 0;
  if (op == ExprOp::log1p) {
    d = choose(e, compare(e, Tok::EQ, x, kZero), x, log_one_plus(v).to_single());
    pole = 0xbf800000;
  } else {
    const Split y = split(v);
    d = (log_of(y.m - 1.0, from_words(e, y.n)) * kLog10E).to_single();
  }
  const VReg limit = e.constant(pole);
  Lanes sum = e.fresh();
  e.each([&](unsigned i) { e.op(Op::FADD, {}, {sum[i], x[i], x[i]}); });
  d = choose(e, compare(e, Tok::LT, x, limit), kNan, d);
  d = choose(e, compare(e, Tok::EQ, x, limit), 0xff800000, d);
  return choose(e, compare(e, Tok::GEU, x, kInfinity), sum, d);
}

Lanes hyperbolic(Emit& e, ExprOp op, const Lanes& x) {
  if (op == ExprOp::sinh || op == ExprOp::cosh) {
    Lanes c = e.fresh();
    e.each([&](unsigned i) {
      e.op(Op::FMNMX, {Tok::kNAN}, {c[i], sass::magnitude(x[i]), 0x42b80000, kAlways});  // 92: infinite
    });
    const Wide grown = exp_minus_one(from_single(e, c));
    const Wide y = grown + 1.0;
    const Wide inverse = quotient(op == ExprOp::sinh ? grown : Wide::number(e, 1.0).registers(), y);
    if (op == ExprOp::cosh) return ((y + inverse) * 0.5).to_single();
    return with_sign(e, ((grown + inverse) * 0.5).to_single(), x);
  }
  const Wide v = from_single(e, x, op != ExprOp::arccosh);
  Lanes d;
  if (op == ExprOp::arcsinh) {
    const Wide square = v * v;
    const Wide y = v + quotient(square, root(square + 1.0) + 1.0);
    d = with_sign(e, log_one_plus(y).to_single(), x);
    return choose(e, compare(e, Tok::GEU, x, kInfinity, true), x, d);
  }
  if (op == ExprOp::arccosh) {
    const Wide t = v - 1.0;
    d = log_one_plus(t + root(fma(t, t, t + t))).to_single();
    d = choose(e, compare(e, Tok::GEU, x, kInfinity), x, d);
    return choose(e, compare(e, Tok::LT, x, e.constant(0x3f800000)), kNan, d);
  }
  d = (log_one_plus(quotient(v + v, 1.0 - v)) * 0.5).to_single();
  const VReg one = e.constant(0x3f800000);
  d = choose(e, compare(e, Tok::EQ, x, one, true), kInfinity, d);
  d = choose(e, compare(e, Tok::GTU, x, one, true), kNan, d);
  return choose(e, compare(e, Tok::EQ, x, kZero), x, with_sign(e, d, x));
}

}  // namespace nervanagpu::fuse
