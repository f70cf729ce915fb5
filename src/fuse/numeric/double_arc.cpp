// The inverse functions of sin, cos and tan, of float64. Angles of quotients: t = y / x, (y - x) / (y + x) or -x / y, so
// that |t| <= sqrt(2) - 1; 0, 1 or 2 times pi/4 is added as a pair. Polynomials: tools/polynomials.py.
#include <cmath>

#include "src/fuse/numeric/wide_pair.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

namespace {

constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiRest = 0x1.1a62633145c07p-54;
const double kNan64 = std::bit_cast<double>(0x7fffffffffffffffU);
// (atan(t) / t - 1) / t^2, |t| <= sqrt(2) - 1, in t^2: 2^-58.2
constexpr double kArcTangent[] = {0x1.f255ep-7,          -0x1.12538p-5,         0x1.70f9a2a283a91p-5,
                                  -0x1.ab80a97a9312cp-5, 0x1.e1728359591a9p-5,  -0x1.110c79d895ccdp-4,
                                  0x1.3b136eaeaae6cp-4,  -0x1.745d14bfcb0fap-4, 0x1.c71c71b7789bfp-4,
                                  -0x1.2492492475d4ep-3, 0x1.999999999965ap-3,  -0x1.5555555555554p-2};
// (asin(s) / s - 1) / s^2, |s| <= 1/2, in s^2: 2^-58.9
constexpr double kArcSine[] = {0x1.1402fp-5,         -0x1.add6ep-6,        0x1.97dbp-6,          0x1.556ca7b5a4debp-11,
                               0x1.484e6a5b2a081p-7, 0x1.36b4b18301edbp-7, 0x1.7ba6489c571e8p-7, 0x1.c980aa4a2b36p-7,
                               0x1.1c4f876d36762p-6, 0x1.6e8b9ad95b4cbp-6, 0x1.f1c71ca901136p-6, 0x1.6db6db6d46c32p-5,
                               0x1.3333333333a68p-4, 0x1.5555555555553p-3};

// The angle of the point (below, above), both >= 0 and not both 0; where `left` holds (nullptr: nowhere), of
// (-below, above).
Wide angle(const Wide& above, const Wide& below, const Condition* left) {
  Emit& e = above.emit();
  const Wide none = Wide::number(e, 0.0);
  const Condition low = above.compare(Tok::LE, below * 0.4142135623730951);
  const Condition high = (above * 0.4142135623730951).compare(Tok::GT, below);
  const Wide u = select(high, none, above), v = select(low, none, below);
  const Wide w = select(high, none, below), z = select(low, none, above);
  const Pair ratio_of = ratio(sum_any(u, -v), sum_any(w, z));
  const Wide square = ratio_of.high * ratio_of.high;
  const Wide rest = fma(square * ratio_of.high, polynomial(square, kArcTangent),  //
                        fma(-ratio_of.low, square, ratio_of.low));
  Pair t{ratio_of.high, rest};
  // In quarter turns
  Wide base = select(low, none, select(high, Wide::number(e, 1.0), Wide::number(e, 0.5).registers()));
  if (left != nullptr) {
    base = select(*left, 2.0 - base, base);
    t = select(*left, {-t.high, -t.low}, t);
  }
  const Pair turned = product(base, Wide::number(e, kHalfPi));
  const Pair d = sum(turned.high, t.high);
  return d.high + (d.low + (t.low + fma(base, kHalfPiRest, turned.low)));
}

// 2^(60 - e) of numbers of exponent e, less for small ones: with it, they are normal numbers, and so is whatever they
// divide into a quotient that is one.
Wide scale_of(const Wide& v) {
  constexpr std::uint32_t kOne = 0x3ff00000, kStep = 0x00100000, kShift = 60;
  Emit& e = v.emit();
  const Lanes upper = v.high();
  Lanes d = e.fresh();
  Lanes none = e.fresh();
  const VReg all = e.constant(2 * kOne + kShift * kStep);
  e.each([&](unsigned i) { e.op(Op::LOP3, {Tok::LUT}, {d[i], upper[i], 0x7ff00000, kZero, 0xc0, !kAlways}); });
  e.each([&](unsigned i) { e.op(Op::VIMNMX, {}, {d[i], d[i], (kShift + 1) * kStep, !kAlways}); });
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {d[i], all, -Arg(d[i]), kZero}); });
  e.each([&](unsigned i) { e.op(Op::MOV, {}, {none[i], kZero}); });
  return of_halves(e, none, d);
}

}  // namespace

// |x| up to 1/2: asin |x|; beyond it 2 asin(sqrt((1 - |x|) / 2)), which is acos |x|. Both results are a multiple of pi/2
// and once or twice that, with either sign.
Lanes arc64(Emit& e, ExprOp op, const Lanes& lanes) {
  const Wide x(e, lanes);
  const Wide size = x.magnitude();
  if (op == ExprOp::arctan) {
    const Wide one = Wide::number(e, 1.0).registers();
    return with_sign_of(angle(bounded(size, 0.0, 0x1p+60), one, nullptr), x).lanes();
  }
  const Condition large = size.compare(Tok::GT, 0.5), negative = x.compare(Tok::LT, 0.0);
  const Wide half = fma(size, -0.5, Wide::number(e, 0.5));  // exact where it counts
  const Pair s = select(large, root_pair(half), Pair{size, Wide::number(e, 0.0).registers()});
  const Wide square = select(large, half, size * size);
  // low / sqrt(1 - s^2) is low (1 + s^2 / 2)
  const Wide rest = fma(s.high * square, polynomial(square, kArcSine), fma(s.low * square, 0.5, s.low));
  const Wide zero = Wide::number(e, 0.0), one = Wide::number(e, 1.0), two = Wide::number(e, 2.0);
  Wide base = select(large, one, zero.registers());
  Wide times = select(large, -two, one.registers());
  if (op == ExprOp::arccos) {
    base = select(large, select(negative, two, zero.registers()), one.registers());
    times = select(large, select(negative, -two, two.registers()), select(negative, one, (-one).registers()));
  }
  const Wide first = s.high * times;
  const Pair d = sum(base * kHalfPi, first);
  const Wide all = d.high + (d.low + fma(rest, times, base * kHalfPiRest));
  return (op == ExprOp::arcsin ? with_sign_of(all, x) : all).lanes();
}

Lanes arc2_64(Emit& e, const Lanes& y, const Lanes& x) {
  const Wide height(e, y), width(e, x);
  const Wide h = height.magnitude(), w = width.magnitude();
  const Wide most = select(h.compare(Tok::GT, w), h, w);
  const Wide scale = scale_of(most);
  // Infinities count as 1, numbers beside them as nothing.
  const Wide one = Wide::number(e, 1.0), none = Wide::number(e, 0.0);
  const Condition endless = most.compare(Tok::EQ, HUGE_VAL), origin = most.compare(Tok::EQ, 0.0);
  const auto leg = [&](const Wide& v) {
    return select(endless, select(v.compare(Tok::EQ, HUGE_VAL), one, none.registers()), v * scale);
  };
  Emit* emit = &e;
  const Condition left = [emit, x](unsigned i) {
    const VPred p = emit->b.pred();
    emit->op(Op::ISETP, {Tok::LT, Tok::AND}, {p, kAlways, x[i][1], kZero, kAlways});
    return p;
  };
  const Condition nan = [emit, x, y](unsigned i) {
    const VPred p = emit->b.pred();
    emit->op(Op::DSETP, {Tok::kNAN, Tok::AND}, {p, kAlways, x[i], y[i], kAlways});
    return p;
  };
  const Wide d = angle(leg(h), select(origin, one, leg(w)), &left);
  return select(nan, Wide::number(e, kNan64), with_sign_of(d, height)).lanes();
}

}  // namespace nervanagpu::fuse
