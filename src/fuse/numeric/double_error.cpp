// erf, erfc and GELU of float64: erfc(z) = e^(-z^2) P(t) / (1 + 2z), t = (z - 3.5) / (z + 3.5), where P is nearly a
// polynomial (Shepherd and Laframboise, 1981). Squares, t and quotients are pairs. Polynomials: tools/polynomials.py.
#include "src/fuse/numeric/wide_pair.h"

namespace nervanagpu::fuse {

namespace {

constexpr double kTwoOverRootPi = 0x1.20dd750429b6dp+0, kTwoOverRootPiRest = 0x1.1ae3a914fed80p-56;
constexpr double kRoot2OverPi = 0x1.9884533d43651p-1, kRoot2OverPiRest = -0x1.cbc0d30ebfd15p-55;
constexpr double kHalfRoot2 = 0x1.6a09e667f3bcdp-1;
constexpr double kRoot2 = 0x1.6a09e667f3bcdp+0, kRoot2Rest = -0x1.bdd3413b26456p-54;
// (erf(x) / x - 2 / sqrt(pi)) / x^2, |x| <= 1/2, in x^2: 2^-58.2
constexpr double kErf[] = {0x1.c654bp-27,         -0x1.5d7c9p-23,         0x1.b9d20ba46d44p-20, -0x1.f4d1d42fd013p-17,
                           0x1.f9a324bd28fa6p-14, -0x1.c02db3fa3b4c8p-11, 0x1.565bcd0e604ccp-8, -0x1.b82ce31288a1ep-6,
                           0x1.ce2f21a042be1p-4,  -0x1.812746b0379e7p-2};
// erfc(z) e^(z^2) (1 + 2z) - 5/4, 0.4949 <= z <= 27.5, in t: 2^-56.8
constexpr double kScaled[] = {
    0x1.62c9p-27,           0x1.2288d8813bb8ep-31,  -0x1.8ea14146f3707p-24, -0x1.0cc5fb37a8df3p-27,
    0x1.42145a5fac6ecp-21,  -0x1.7cde47cdeb9f3p-25, -0x1.fff0745944a0cp-19, 0x1.3881a430dfd6ep-19,
    0x1.9707bad8f3001p-16,  -0x1.66e229847fdf6p-15, -0x1.fda8f6c8de80bp-14, 0x1.27e664f61b86fp-11,
    -0x1.3cf36a52bea4fp-12, -0x1.143c4ca813a1bp-8,  0x1.38ec66716841ap-6,   -0x1.8ff5ef76cd99cp-5,
    0x1.686106046e0d1p-4,   -0x1.d76830c35346bp-4,  0x1.8f702ec6b3341p-4,   -0x1.59e2c284b113dp-7,
    -0x1.1ebd220ea593bp-3,  -0x1.f5665f116ec0fp-8};
// the derivative of that: 2^-5.4
constexpr double kSlope[] = {-0x1.6ae68p-1, 0x1.2d132p-1, 0x1.a546bp-6, -0x1.4c226p-3};

struct Tail {  // erfc = value 2^n
  Pair value;
  Lanes n;
  // As a number; what is below 2^-1000 does not matter
  [[nodiscard]] Pair clamped() const { return value * clamped_power_of_two(value.high.emit(), n); }
};

// erfc(v), 1/2 <= v <= 27.5; with `over_root`: erfc(v / sqrt 2), sqrt(1/2) <= v <= 38.8
Tail tail(const Wide& v, bool over_root) {
  Emit& e = v.emit();
  const Wide middle = Wide::number(e, over_root ? 3.5 * kRoot2 : 3.5);
  const Pair t = ratio(sum_any(v, -middle), sum_any(v, middle));
  const Wide p = polynomial(t.high, kScaled);
  const Pair scaled = plus_low(sum(Wide::number(e, 1.25), p), t.low * polynomial(t.high, kSlope));
  Pair twice{v + v, Wide::number(e, 0.0).registers()};
  Pair square = product(v, v);
  if (over_root) {
    twice = product(v, Wide::number(e, kRoot2));
    twice.low = fma(v, kRoot2Rest, twice.low);
    square = square * Wide::number(e, 0.5);
  }
  const Pair below = plus_low(sum_any(twice.high, Wide::number(e, 1.0)), twice.low);
  const Power y = e_to(-square.high);
  const Pair grown = y.significand();
  const Wide low = fma(-square.low, grown.high, grown.low);
  const Pair above = product(scaled.high, grown.high);
  return {ratio(plus_low(above, fma(scaled.high, low, scaled.low * grown.high)), below), y.n};
}

// erf(x), |x| <= 1/2, or erf(x / sqrt 2), |x| <= sqrt(1/2): x (2 / sqrt(pi) + z p(z)), z the argument's square
Pair inner(const Wide& x, bool over_root) {
  Emit& e = x.emit();
  const Wide square = over_root ? x * x * 0.5 : x * x;
  const Pair first = product(x, Wide::number(e, over_root ? kRoot2OverPi : kTwoOverRootPi));
  const Wide part = over_root ? x * kHalfRoot2 : x;
  const double low = over_root ? kRoot2OverPiRest : kTwoOverRootPiRest;
  return sum(first.high, fma(square * part, polynomial(square, kErf), fma(x, low, first.low)));
}

// a - b, |a| >= |b|
Pair less(double a, const Pair& b) {
  const Pair d = sum(Wide::number(b.high.emit(), a), -b.high);
  return {d.high, d.low - b.low};
}

// x Phi(x): x (1 + erf(x / sqrt 2)) / 2, or of |x| > 0.7 by Phi(-a) = erfc(a / sqrt 2) / 2
Wide gelu(const Wide& x) {
  const Wide v = bounded(x.magnitude(), 0.7, 38.8);
  const Tail w = tail(v, true);
  const Wide below = scaled(fma(v, w.value.high, v * w.value.low) * 0.5, w.n);
  const Condition small = x.magnitude().compare(Tok::LT, 0.7);
  const Pair phi = select(small, less(1.0, inner(-x, true)), less(2.0, w.clamped())) * Wide::number(x.emit(), 0.5);
  const Wide above = fma(x, phi.high, x * phi.low);
  const Wide left = select(x.compare(Tok::LE, -0.7), below, above);
  return with_sign_of(select(x.compare(Tok::GT, 9.0), x, left), x);
}

}  // namespace

Lanes error_function64(Emit& e, ExprOp op, const Lanes& lanes) {
  const Wide x(e, lanes);
  if (op == ExprOp::gelu) return gelu(x).lanes();
  const Wide size = x.magnitude();
  const Tail w = tail(bounded(size, 0.5, 27.5), false);
  const Condition small = size.compare(Tok::LT, 0.5);
  const Pair near = inner(x, false);
  if (op == ExprOp::erf) {
    const Wide d = select(small, near.rounded(), less(1.0, w.clamped()).rounded());
    return with_sign_of(d, x).lanes();
  }
  const Wide most = select(small, less(1.0, near), less(2.0, w.clamped())).rounded();
  return select(x.compare(Tok::GE, 0.5), scaled(w.value.rounded(), w.n), most).lanes();
}

}  // namespace nervanagpu::fuse
