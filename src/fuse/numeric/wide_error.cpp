// erf, erfc and GELU of float32, by way of float64: erfc(z) = e^(-z^2) E(z), where E(z), of t = (z - 3) / (z + 3), is
// nearly a polynomial.
#include "src/fuse/numeric/wide.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

namespace {

// erf(v) / v on [0, 1], in v^2: relative error below 2^-34
constexpr double kErf[] = {-0x1.4383fp-17,        0x1.d826b0a9095f3p-14, -0x1.bcbea89b24489p-11, 0x1.5628f0107e624p-8,
                           -0x1.b829a7effaad8p-6, 0x1.ce2f079d36fecp-4,  -0x1.8127465fd3958p-2,  0x1.20dd75040096fp+0};
// erfc(z) e^(z^2) for z up to 10.3, in t: 2^-34
constexpr double kScaled[] = {
    -0x1.c2018p-18,        -0x1.415e3p-17,        0x1.0c28fp-14,         0x1.6afedp-15,        -0x1.3924f464ddd13p-11,
    0x1.735e01574c58ap-11, 0x1.17c97779247a9p-8,  -0x1.8fa5ea02b4644p-6, 0x1.258b11913a4b7p-4, -0x1.336ffb31313c1p-3,
    0x1.f6ff2048bbfd2p-3,  -0x1.4e102b9ec25dbp-2, 0x1.6e9827d22694p-3};

// erfc(z), 0 <= z <= 10.3
Wide tail(const Wide& z) {
  const Wide t = quotient(z - 3.0, z + 3.0);
  const Exponential y = exponential_of(-(z * z));
  return polynomial(t, kScaled) * (y.fraction() + 1.0) * power_of_two(z.emit(), y.n);
}

}  // namespace

Lanes error_function(Emit& e, ExprOp op, const Lanes& x) {
  const bool gelu = op == ExprOp::gelu;
  Lanes z = e.fresh();
  // Beyond it float32 knows nothing but the limit.
  const std::uint32_t most = gelu ? 0x41680000 : op == ExprOp::erf ? 0x40800000 : 0x41240000;  // 14.5, 4, 10.25
  e.each([&](unsigned i) { e.op(Op::FMNMX, {Tok::kNAN}, {z[i], sass::magnitude(x[i]), most, kAlways}); });
  const Condition negative = compare(e, Tok::LT, x, kZero);
  const Wide v = from_single(e, z);
  if (gelu) {  // x Phi(x), Phi(-a) = erfc(a / sqrt 2) / 2
    const Wide low = tail(v * 0.7071067811865476) * 0.5;
    const Wide phi = select(negative, low, 1.0 - low);
    Lanes c = e.fresh();
    e.each([&](unsigned i) { e.op(Op::FMNMX, {Tok::kNAN}, {c[i], x[i], 0xc1800000, !kAlways}); });
    return (from_single(e, c) * phi).to_single();
  }
  const Wide w = tail(v);
  if (op == ExprOp::erfc) return select(negative, 2.0 - w, w).to_single();
  const Wide inner = v * polynomial(v * v, kErf);
  return with_sign(e, select(v.compare(Tok::LT, 1.0), inner, 1.0 - w).to_single(), x);
}

}  // namespace nervanagpu::fuse
