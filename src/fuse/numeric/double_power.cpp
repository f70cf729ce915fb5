// x^y of float64: e^(y log |x|), the logarithm as a pair, which leaves the exponent an error below 2^-58.
#include <cmath>

#include "src/fuse/numeric/wide_pair.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

namespace {

constexpr double kLn2High = 0x1.62e42fefap-1, kLn2Low = 0x1.cf79abc9e3b3ap-40;
constexpr double kTwoThirds = 2.0 / 3, kTwoThirdsRest = 0x1.5555555555555p-55;
constexpr double kTwoFifths = 0.4, kTwoFifthsRest = -0x1.999999999999ap-56;
// (2 atanh(s) / s - 2 - 2/3 s^2 - 2/5 s^4) / s^6, |s| <= 3 - sqrt(8), in s^2: 2^-71.2
constexpr double kLogTail[] = {0x1.e7de6p-4,         0x1.de9eaf1212e3fp-4, 0x1.111dcd7446959p-3, 0x1.3b137839edfe7p-3,
                               0x1.745d17d750917p-3, 0x1.c71c71c65a294p-3, 0x1.24924924927cdp-2};

// log v, v > 0 normal, with `less` taken off its exponent
Pair logarithm(const Wide& v, const Lanes& less) {
  Emit& e = v.emit();
  const Split parts = split(v);
  const Wide& m = parts.m;
  Lanes n = e.fresh();
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {n[i], parts.n[i], -Arg(less[i]), kZero}); });
  const Wide f = m - 1.0;
  const Wide d = m + 1.0;
  const Wide lost = m - (d - 1.0);
  const Wide s = quotient(f, d);
  const Wide rest = quotient(fma(-s, lost, fma(-s, d, f)), d);
  const Pair z = product(s, s);
  const Wide z_low = fma(s + s, rest, z.low);
  const Pair tail = sum(Wide::number(e, kTwoFifths), z.high * polynomial(z.high, kLogTail));
  const Pair t = product(z.high, tail.high);
  const Wide t_low = fma(z.high, tail.low + kTwoFifthsRest, fma(z_low, tail.high, t.low));
  const Pair u = sum(Wide::number(e, kTwoThirds), t.high);
  const Wide u_low = u.low + (t_low + kTwoThirdsRest);
  const Pair w = product(z.high, u.high);
  const Wide w_low = fma(z.high, u_low, fma(z_low, u.high, w.low));
  const Pair p = product(s, w.high);
  const Wide p_low = fma(s, w_low, fma(rest, w.high, p.low));
  const Pair l = sum(s + s, p.high);
  const Wide l_low = l.low + fma(rest, 2.0, p_low);
  const Wide whole = from_words(e, n);
  const Pair a = sum(whole * kLn2High, l.high);
  return sum(a.high, a.low + fma(whole, kLn2Low, l_low));
}

}  // namespace

Lanes power64(Emit& e, const Lanes& base, const Lanes& exponent) {
  const Wide x(e, base);
  const Wide y(e, exponent);
  const Wide a = x.magnitude();
  const Condition small = a.compare(Tok::LT, 0x1p-1022);
  const Lanes less = choose(e, small, 54, [&] {
    Lanes zero;
    e.each([&](unsigned i) { zero[i] = kZero; });
    return zero;
  }());
  const Pair l = logarithm(select(small, a * 0x1p+54, a), less);
  // Beyond these the result is 0, 1 or infinity.
  const Wide c = bounded(y, -0x1p+70, 0x1p+70);
  const Pair p = product(c, l.high);
  const Wide rest = select(p.high.compare(Tok::LTU, HUGE_VAL), fma(c, l.low, p.low), p.low);
  const Wide within = bounded(p.high, -760.0, 720.0);
  const Wide kept = select(p.high.magnitude().compare(Tok::GT, 800.0), Wide::number(e, 0.0), rest);
  const Power z = e_to(within);
  const Pair significand = z.significand();
  Wide d = scaled(significand.high + fma(significand.high, kept, significand.low), z.n);

  const Wide endless = Wide::number(e, HUGE_VAL), none = Wide::number(e, 0.0).registers();
  const Condition up = y.compare(Tok::GT, 0.0);
  const Wide grows = select(up, endless, none);     // infinity to the power y
  const Wide shrinks = select(!up, endless, none);  // 0 to the power y
  d = select(a.compare(Tok::EQ, 0.0), shrinks, d);
  d = select(a.compare(Tok::EQ, HUGE_VAL), grows, d);
  const Wide limit = select(a.compare(Tok::GT, 1.0), grows, shrinks);
  const Wide size = y.magnitude();
  d = select(size.compare(Tok::EQ, HUGE_VAL), limit, d);
  // y an integer, an odd one
  const auto cut = [&](const Wide& v) {
    const Lanes in = v.lanes();
    Lanes out = e.fresh(2);
    e.each([&](unsigned i) { e.op(Op::FRND, {Tok::F64, Tok::TRUNC}, {out[i], in[i]}); });
    return Wide(e, out);
  };
  const Wide whole = cut(y);
  const Wide half = y * 0.5;
  const Wide half_whole = cut(half);
  Emit* emit = &e;
  const Condition odd = [=](unsigned i) {
    const VPred p1 = emit->b.pred(), p2 = emit->b.pred(), p3 = emit->b.pred();
    emit->op(Op::ISETP, {Tok::LT, Tok::AND}, {p1, kAlways, base[i][1], kZero, kAlways});
    emit->op(Op::DSETP, {Tok::EQ, Tok::AND}, {p2, kAlways, whole.arg(i), y.arg(i), p1});
    emit->op(Op::DSETP, {Tok::NEU, Tok::AND}, {p3, kAlways, half_whole.arg(i), half.arg(i), p2});
    return p3;
  };
  d = select(odd, -d, d);
  const Wide zero = none;
  const Condition senseless = [=](unsigned i) {  // of a negative number, finite: NaN
    const VPred p1 = emit->b.pred(), p2 = emit->b.pred(), p3 = emit->b.pred();
    emit->op(Op::DSETP, {Tok::LT, Tok::AND}, {p1, kAlways, x.arg(i), zero.arg(i), kAlways});
    emit->op(Op::DSETP, {Tok::NE, Tok::AND}, {p2, kAlways, a.arg(i), std::bit_cast<std::int64_t>(HUGE_VAL), p1});
    emit->op(Op::DSETP, {Tok::NE, Tok::AND}, {p3, kAlways, whole.arg(i), y.arg(i), p2});
    return p3;
  };
  const Wide nan = Wide::number(e, std::bit_cast<double>(0x7fffffffffffffffU));
  d = select(senseless, nan, d);
  const Condition unordered = [=](unsigned i) {
    const VPred p = emit->b.pred();
    emit->op(Op::DSETP, {Tok::kNAN, Tok::AND}, {p, kAlways, x.arg(i), y.arg(i), kAlways});
    return p;
  };
  d = select(unordered, nan, d);
  const Wide one = Wide::number(e, 1.0);
  d = select(y.compare(Tok::EQ, 0.0), one, d);
  d = select(x.compare(Tok::EQ, 1.0), one, d);
  const Condition unit = [=](unsigned i) {  // (-1)^(+-infinity)
    const VPred p1 = emit->b.pred(), p2 = emit->b.pred();
    emit->op(Op::DSETP, {Tok::EQ, Tok::AND}, {p1, kAlways, a.arg(i), std::bit_cast<std::int64_t>(1.0), kAlways});
    emit->op(Op::DSETP, {Tok::EQ, Tok::AND}, {p2, kAlways, size.arg(i), std::bit_cast<std::int64_t>(HUGE_VAL), p1});
    return p2;
  };
  return select(unit, one, d).lanes();
}

}  // namespace nervanagpu::fuse
