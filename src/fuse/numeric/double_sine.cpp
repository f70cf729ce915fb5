// sin, cos and tan of float64, for every argument: on |r| <= pi/4 each is its first term and what is after it, which
// takes the second part of r in. Polynomials: tools/polynomials.py.
#include "src/fuse/numeric/angle.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

namespace {

// (sin(r) / r - 1) / r^2, |r| <= pi/4, in r^2: 2^-57.3
constexpr double kSine[] = {0x1.5d933p-33,          -0x1.ae5e66d85f39ep-26, 0x1.71de35787af94p-19,
                            -0x1.a01a019c12771p-13, 0x1.111111110f881p-7,   -0x1.5555555555549p-3};
// (cos(r) - 1 + r^2 / 2) / r^4, |r| <= pi/4, in r^2: 2^-59.5
constexpr double kCosine[] = {-0x1.8faedp-37,        0x1.1ee9ec49efd5fp-29,  -0x1.27e4f80a7aeacp-22,
                              0x1.a01a019cb277ap-16, -0x1.6c16c16c15185p-10, 0x1.555555555554cp-5};

// r + (r^3 p(r^2) + low (1 - r^2 / 2))
Pair sine_of(const Pair& r, const Wide& square) {
  const Wide low = fma(r.low * square, -0.5, r.low);
  return {r.high, fma(square * r.high, polynomial(square, kSine), low)};
}

// 1 - r^2 / 2 + (r^4 p(r^2) - r low)
Pair cosine_of(const Pair& r, const Pair& square) {
  const Pair first = sum(Wide::number(r.high.emit(), 1.0), square.high * -0.5);
  const Wide low = fma(r.high, r.low, square.low * 0.5);
  return plus_low(first, fma(square.high * square.high, polynomial(square.high, kCosine), -low));
}

}  // namespace

Lanes sine64(Emit& e, ExprOp op, const Lanes& lanes) {
  const Wide x(e, lanes);
  const Turn turn = turn_of(x);
  const Pair square = product(turn.r.high, turn.r.high);
  const Pair s = sine_of(turn.r, square.high);
  const Pair c = cosine_of(turn.r, square);
  const Condition tiny = x.magnitude().compare(Tok::LT, 0x1p-28);
  if (op == ExprOp::tan) {
    // sin / cos, or -cos / sin
    const Condition odd = bit_of(e, turn.k, 1);
    const Pair above = select(odd, c, s), below = select(odd, {-s.high, -s.low}, c);
    const Pair bottom = sum(below.high, below.low);
    return select(tiny, x, quotient(sum(above.high, above.low), bottom)).lanes();
  }
  const Lanes k = plus(e, turn.k, op == ExprOp::cos ? 1 : 0);
  const Lanes value = select(bit_of(e, k, 1), c, s).rounded().lanes();
  Lanes d = e.fresh(2);
  const Condition half = bit_of(e, k, 2);
  e.each([&](unsigned i) {
    const VReg flipped = e.b.reg();
    e.op(Op::MOV, {}, {d[i][0], value[i][0]});
    e.op(Op::LOP3, {Tok::LUT}, {flipped, value[i][1], 0x80000000, kZero, 0x3c, !kAlways});
    e.select(d[i][1], flipped, value[i][1], half(i));
  });
  return op == ExprOp::cos ? d : select(tiny, x, Wide(e, d)).lanes();
}

}  // namespace nervanagpu::fuse
