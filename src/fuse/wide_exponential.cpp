// Exponentials, logarithms, and what is made of them. e^x = 2^n e^r, |r| <= ln 2 / 2; log x = e ln 2 + log m by
// s = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)). Float32 takes shorter polynomials than float64.
#include <cmath>

#include "src/fuse/wide.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

namespace {

constexpr double kLog2E = 1.4426950408889634;
constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2Rest = 0x1.abc9e3b39803fp-56;
constexpr double kLn2High = 0x1.62e42fefap-1, kLn2Low = 0x1.cf79abc9e3b3ap-40;
constexpr double kMagic = 6755399441055744.0;
const double kNan64 = std::bit_cast<double>(0x7fffffffffffffffU);
constexpr double kLog10E = 0.4342944819032518, kLog10ERest = 1.098319650216765e-17;
constexpr double kLog2ERest = 2.0355273740931033e-17;
constexpr std::uint32_t kInfinity = 0x7f800000, kNan = 0x7fffffff;

// (e^r - 1 - r) / r^2
constexpr double kExpSingle[] = {0x1.a1b8ap-13,       0x1.6d971p-10,        0x1.11107c774c91cp-7,
                                 0x1.55547fcbe91ep-5, 0x1.555555985c82ap-3, 0x1.0000004320888p-1};
constexpr double kExpTwice[] = {0x1.1f9e3p-29,
                                0x1.af6d3p-26,
                                0x1.27e4bf05bf83bp-22,
                                0x1.71ddef5e6b671p-19,
                                0x1.a01a01b46c894p-16,
                                0x1.a01a01b3ceef8p-13,
                                0x1.6c16c16c13538p-10,
                                0x1.111111110eb85p-7,
                                0x1.555555555555ep-5,
                                0x1.555555555555cp-3,
                                0x1.0p-1};
// (2 atanh(s) / s - 2) / s^2, in s^2
constexpr double kLogSingle[] = {0x1.e3051p-3, 0x1.24387c1db4f7bp-2, 0x1.999a7bd85aae3p-2, 0x1.555554fcf9632p-1};
constexpr double kLogTwice[] = {0x1.2f14d84e30d5dp-3, 0x1.39a04a73108cap-3, 0x1.74664c300d78fp-3, 0x1.c71c51cdacc14p-3,
                                0x1.249249423435p-2,  0x1.999999997f971p-2, 0x1.5555555555593p-1};

// n ln 2 + log(1 + f)
Wide log_of(const Wide& f, const Wide& n, Bits bits) {
  const Wide s = quotient(f, f + 2.0);
  const Wide z = s * s;
  if (bits == Bits::single) {
    const Wide r = z * polynomial(z, kLogSingle);
    return fma(n, kLn2, fma(s, r, s + s));
  }
  // 2s = f - f^2 / 2 + s f^2 / 2
  const Wide r = z * polynomial(z, kLogTwice);
  const Wide half = f * f * 0.5;
  return fma(n, kLn2High, f - (half - fma(n, kLn2Low, s * (half + r))));
}
// log(1 + f) in float64
Wide log_of(const Wide& f) {
  const Wide s = quotient(f, f + 2.0);
  const Wide z = s * s;
  const Wide half = f * f * 0.5;
  return f - (half - s * fma(z, polynomial(z, kLogTwice), half));
}

// e^x - 1
Wide minus_one(const Exponential& y) {
  const Wide s = power_of_two(y.r.emit(), y.n);
  const Wide less = s - 1.0;
  const Wide high = fma(s, y.r, less);
  return high + fma(s, y.tail, fma(s, y.r, less - high));
}

// The same parts of 2^x
Exponential exponential2_of(const Wide& x) {
  Exponential y{x, x, {}};
  const Wide f = x - nearest(x, y.n);
  y.r = f * kLn2;
  const Wide lost = fma(f, kLn2Rest, fma(f, kLn2, -y.r));
  y.tail = fma(y.r * y.r, polynomial(y.r, kExpTwice), lost);
  return y;
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

Wide Exponential::significand() const {
  const Wide high = r + 1.0;
  return high + (tail + (r - (high - 1.0)));
}

Exponential exponential_of(const Wide& x, Bits bits) {
  const Wide t = fma(x, kLog2E, Wide::number(x.emit(), kMagic));
  const Wide n = t - kMagic;
  if (bits == Bits::single) {
    const Wide r = fma(n, -kLn2, x);
    return {r, r * r * polynomial(r, kExpSingle), t.low()};
  }
  const Wide first = fma(n, -kLn2High, x);
  const Wide r = fma(n, -kLn2Low, first);
  const Wide lost = fma(n, -kLn2Low, first - r);
  return {r, fma(r * r, polynomial(r, kExpTwice), lost), t.low()};
}

Wide exp_minus_one(const Wide& x, Bits bits) {
  const Exponential y = exponential_of(x, bits);
  if (bits == Bits::twice) return minus_one(y);
  const Wide s = power_of_two(x.emit(), y.n);
  return fma(s, y.fraction(), s - 1.0);
}

Wide log_one_plus(const Wide& x, Bits bits) {
  Emit& e = x.emit();
  const Wide u = x + 1.0;
  const Split y = split(u);
  Wide f = y.m - 1.0;
  if (bits == Bits::twice) {  // what u lacks, which matters to small n alone
    const Wide lost = x - (u - 1.0);
    Lanes back = e.fresh();
    e.each([&](unsigned i) { e.op(Op::IADD3, {}, {back[i], kZero, -Arg(y.n[i]), kZero}); });
    e.each([&](unsigned i) { e.op(Op::VIMNMX, {}, {back[i], back[i], -1000, !kAlways}); });
    f = fma(lost, power_of_two(e, back), f);
  }
  const Wide n = from_words(e, y.n);
  // As it is where u would be no power of two more
  const Condition small = n.compare(Tok::EQ, 0.0);
  return log_of(select(small, x, f), n, bits);
}

// ---- float32 ---------------------------------------------------------------------------------------------------------

Lanes near_one(Emit& e, ExprOp op, const Lanes& x) {
  if (op == ExprOp::expm1) {
    Lanes c = e.fresh();  // -1 and infinity beyond
    e.each([&](unsigned i) { e.op(Op::FMNMX, {Tok::kNAN}, {c[i], x[i], 0x42b40000, kAlways}); });
    e.each([&](unsigned i) { e.op(Op::FMNMX, {Tok::kNAN}, {c[i], c[i], 0xc1a00000, !kAlways}); });
    return choose(e, compare(e, Tok::EQ, x, kZero), x, exp_minus_one(from_single(e, c), Bits::single).to_single());
  }
  const Wide v = from_single(e, x);
  Lanes d;
  std::uint32_t pole = 0;
  if (op == ExprOp::log1p) {
    d = choose(e, compare(e, Tok::EQ, x, kZero), x, log_one_plus(v, Bits::single).to_single());
    pole = 0xbf800000;
  } else {
    const Split y = split(v);
    d = (log_of(y.m - 1.0, from_words(e, y.n), Bits::single) * kLog10E).to_single();
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
    const Wide grown = exp_minus_one(from_single(e, c), Bits::single);
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
    d = with_sign(e, log_one_plus(y, Bits::single).to_single(), x);
    return choose(e, compare(e, Tok::GEU, x, kInfinity, true), x, d);
  }
  if (op == ExprOp::arccosh) {
    const Wide t = v - 1.0;
    d = log_one_plus(t + root(fma(t, t, t + t)), Bits::single).to_single();
    d = choose(e, compare(e, Tok::GEU, x, kInfinity), x, d);
    return choose(e, compare(e, Tok::LT, x, e.constant(0x3f800000)), kNan, d);
  }
  d = (log_one_plus(quotient(v + v, 1.0 - v), Bits::single) * 0.5).to_single();
  const VReg one = e.constant(0x3f800000);
  d = choose(e, compare(e, Tok::EQ, x, one, true), kInfinity, d);
  d = choose(e, compare(e, Tok::GTU, x, one, true), kNan, d);
  return choose(e, compare(e, Tok::EQ, x, kZero), x, with_sign(e, d, x));
}

// ---- float64 ---------------------------------------------------------------------------------------------------------

namespace {

// e^x, 2^x: the fraction may lie within half a power of two
Wide exp64(const Wide& x, bool base2) {
  if (!base2) {
    const Exponential y = exponential_of(bounded(x, -746.0, 710.0), Bits::twice);
    return scaled(y.significand(), y.n);
  }
  const Exponential y = exponential2_of(bounded(x, -1100.0, 1100.0));
  return scaled(y.significand(), y.n);
}

// e^x - 1, without overflow before its time
Wide expm1_64(const Wide& x) {
  const Exponential y = exponential_of(bounded(x, -50.0, 710.0), Bits::twice);
  Emit& e = x.emit();
  Lanes n = e.fresh();
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {n[i], y.n[i], -1, kZero}); });
  const Wide s = power_of_two(e, n);
  const Wide less = s - 0.5;
  const Wide high = fma(s, y.r, less);
  const Wide d = (high + fma(s, y.tail, fma(s, y.r, less - high))) * 2.0;
  return select(x.magnitude().compare(Tok::LT, 0x1p-54), x, d);
}

}  // namespace

Lanes exponential64(Emit& e, ExprOp op, const Lanes& lanes) {
  const Wide x(e, lanes);
  switch (op) {
    case ExprOp::exp: return exp64(x, false).lanes();
    case ExprOp::exp2: return exp64(x, true).lanes();
    case ExprOp::expm1: return expm1_64(x).lanes();
    case ExprOp::sig:
    case ExprOp::sig2: {
      const Wide z = exp64(-x.magnitude(), op == ExprOp::sig2);
      const Condition negative = x.compare(Tok::LT, 0.0);
      const Wide top = select(negative, z, Wide::number(e, 1.0).registers());
      const Wide y = z + 1.0;
      const Wide first = quotient(top, y);
      // What y has too much, times 1 / y
      const Wide d = fma(first * select(negative, 1.0 - first, first), (y - 1.0) - z, first);
      return select(z.compare(Tok::LT, 0x1p-60), select(negative, z, d), d).lanes();
    }
    default: {  // tanh, tanh2: t / (t + 2), t = e^2|x| - 1
      const Wide v = x.magnitude();
      const Wide y = op == ExprOp::tanh2 ? v * kLn2 : v;
      const Wide c = bounded(v + v, 0.0, 60.0);
      const Wide t = minus_one(op == ExprOp::tanh2 ? exponential2_of(c) : exponential_of(c, Bits::twice));
      const Wide sum = t + 2.0;
      const Wide first = quotient(t, sum);
      // What the sum has too much, times 1 / sum; where sum - 2 is not exact, it is nothing
      const Wide lost = select(t.compare(Tok::GT, 0x1p+50), Wide::number(e, 0.0), (sum - 2.0) - t);
      const Wide d = fma(first * (1.0 - first) * 0.5, lost, first);
      return with_sign_of(select(v.compare(Tok::LT, 0x1p-40), y, d), x).lanes();
    }
  }
}

Lanes logarithm64(Emit& e, ExprOp op, const Lanes& lanes) {
  const Wide x(e, lanes);
  Wide d = x;
  if (op == ExprOp::log1p) {
    d = select(x.magnitude().compare(Tok::LT, 0x1p-54), x, log_one_plus(x, Bits::twice));
  } else {
    const Condition small = x.compare(Tok::LT, 0x1p-1022);
    const Split y = split(select(small, x * 0x1p+54, x));
    Lanes n = e.fresh();
    e.each([&](unsigned i) { e.op(Op::IADD3, {}, {n[i], y.n[i], -54, kZero}); });
    n = choose(e, small, n, y.n);
    const Wide whole = from_words(e, n);
    const Wide f = y.m - 1.0;
    d = log_of(f, whole, Bits::twice);
    if (op == ExprOp::log10) d = fma(d, kLog10E, d * kLog10ERest);
    if (op == ExprOp::log2) {
      const Wide part = log_of(f);
      d = fma(part, kLog2E, part * kLog2ERest) + whole;
    }
  }
  const double pole = op == ExprOp::log1p ? -1.0 : 0.0;
  d = select(x.compare(Tok::LT, pole), Wide::number(e, kNan64), d);
  d = select(x.compare(Tok::EQ, pole), Wide::number(e, -HUGE_VAL), d);
  return select(x.compare(Tok::GEU, HUGE_VAL), x + x, d).lanes();
}

}  // namespace nervanagpu::fuse
