// The inverse functions of sin, cos and tan, of float32, by way of float64.
#include "src/fuse/numeric/wide.h"

namespace nervanagpu::fuse {

using sass::kZero;

namespace {

constexpr double kPi = 3.141592653589793, kHalfPi = 1.5707963267948966;
constexpr std::uint32_t kInfinity = 0x7f800000;

// atan(v) / v on [0, 1] and asin(v) / v on [0, 1/2], in v^2: relative errors below 2^-33 and 2^-39.
constexpr double kArcTangent[] = {-0x1.66f7ff5dd84fcp-11, 0x1.3de3096db6561p-8,  -0x1.07f8971573746p-6,
                                  0x1.184086cb2c597p-5,   -0x1.bcab2b0ea69a2p-5, 0x1.28ca8059c3abdp-4,
                                  -0x1.6fd576cff934ep-4,  0x1.c6614ffcec176p-4,  -0x1.248937b9f01aep-3,
                                  0x1.999924007455fp-3,   -0x1.5555542874a21p-2, 0x1.ffffffff800ebp-1};
constexpr double kArcSine[] = {0x1.0fc32p-5,         0x1.bde29p-10,        0x1.54425p-6,
                               0x1.65c9bp-6,         0x1.f291955bdc804p-6, 0x1.6db1c5da36bedp-5,
                               0x1.333343793b191p-4, 0x1.555555415a6d8p-3, 0x1.000000000101ep+0};

// Of a quotient above / below, both >= 0 and below 2^1000, as an angle in [0, pi/2].
Wide angle(const Wide& above, const Wide& below) {
  const Condition steep = above.compare(Tok::GT, below);
  const Wide most = select(steep, above, below);
  const Wide v =
      quotient(select(steep, below, above), select(most.compare(Tok::EQ, 0.0), Wide::number(above.emit(), 1.0), most));
  const Wide a = v * polynomial(v * v, kArcTangent);
  return select(steep, kHalfPi - a, a);
}

}  // namespace

Lanes arc(Emit& e, ExprOp op, const Lanes& x) {
  if (op == ExprOp::arctan) {
    Lanes bounded = e.fresh();  // where the angle is pi/2, and 1 / x no zero
    e.each([&](unsigned i) {
      e.op(Op::FMNMX, {Tok::kNAN}, {bounded[i], sass::magnitude(x[i]), 0x5f800000, sass::kAlways});
    });
    const Wide one = Wide::number(e, 1.0).registers();
    return with_sign(e, angle(from_single(e, bounded), one).to_single(), x);
  }
  // v = |x| up to 1/2; beyond it asin x = pi/2 - 2 asin(sqrt((1 - x) / 2))
  const Wide v = from_single(e, x, true);
  const Condition large = v.compare(Tok::GT, 0.5);
  const Wide rest = fma(v, -0.5, Wide::number(e, 0.5));
  const Wide square = select(large, rest, v * v);
  const Wide s = select(large, root(rest), v);
  const Wide a = fma(s * square, polynomial(square, std::span(kArcSine).first(8)), s);
  if (op == ExprOp::arcsin) {
    const Wide value = select(large, kHalfPi - (a + a), a);
    return with_sign(e, value.to_single(), x);
  }
  // acos: 2a, pi - 2a, or pi/2 less a with x's sign
  const Condition below = compare(e, Tok::LT, x, kZero);
  const Wide twice = a + a;
  const Wide outer = select(below, kPi - twice, twice);
  const Wide inner = select(below, kHalfPi + a, kHalfPi - a);
  return select(large, outer, inner).to_single();
}

Lanes arc2(Emit& e, const Lanes& y, const Lanes& x) {
  const Wide above = from_single(e, y, true);
  const Wide below = from_single(e, x, true);
  // Infinities become what no float32 number comes near: two of them are equal.
  const Wide huge = Wide::number(e, 0x1p+900);
  const Wide u = select(compare(e, Tok::EQ, y, kInfinity, true), huge, above);
  const Wide v = select(compare(e, Tok::EQ, x, kInfinity, true), huge, below);
  const Wide a = angle(u, v);
  Emit* emit = &e;
  const Condition left = [emit, x](unsigned i) {
    const VPred p = emit->b.pred();
    emit->op(Op::ISETP, {Tok::LT, Tok::AND}, {p, sass::kAlways, x[i], kZero, sass::kAlways});
    return p;
  };
  Lanes d = with_sign(e, select(left, kPi - a, a).to_single(), y);
  // NaN of x is lost in comparisons
  Lanes sum = e.fresh();
  e.each([&](unsigned i) { e.op(Op::FADD, {}, {sum[i], x[i], y[i]}); });
  const Condition nan = [emit, x, y](unsigned i) {
    const VPred p = emit->b.pred();
    emit->op(Op::FSETP, {Tok::kNAN, Tok::AND}, {p, sass::kAlways, x[i], y[i], sass::kAlways});
    return p;
  };
  return choose(e, nan, sum, d);
}

}  // namespace nervanagpu::fuse
