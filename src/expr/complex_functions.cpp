// Exponentials, logarithms, roots and hyperbolic functions of complex numbers, of float64 parts. The formulas are those of
// the real and imaginary parts; what follows them puts the values of C99's Annex G where infinities and NaN meet.
#include <cmath>
#include <limits>

#include "src/expr/complex_parts.h"

namespace nervanagpu::expr {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Above this, exponentials of x - kStep take part in products before they are scaled: e ** x alone overflows.
constexpr double kLarge = 700, kStep = 50;

Expr above(const Expr& a, double b) {
  return f(ExprOp::greater, a, b);
}

// log sqrt(x * x + y * y), exact to its last bits also where that is near 0.
Expr log_magnitude(const Expr& re, const Expr& im) {
  const Expr a = magnitude(re), b = magnitude(im);
  const Expr wide = f(ExprOp::greater_equal, a, b);
  const Expr x = where(wide, a, b), y = where(wide, b, a);
  const Expr huge = above(x, 0x1p1000);
  const Expr shrink = where(huge, 0x1p-2, 1.0);
  const Expr far = f(ExprOp::log, f(ExprOp::hypot, a * shrink, b * shrink)) + where(huge, std::log(4.0), 0.0);
  const Expr near = f(ExprOp::log1p, (x - 1) * (x + 1) + y * y) * 0.5;
  return where(both(above(x, 0.5), less(x, 2.0)), near, far);
}

// How sinh and cosh grow: e ** |x| / 2 where it is so large that the other exponential is nothing.
struct Growth {
  Expr large, half, back;  // half * back is that; half alone is finite for a product with a sine
};
Growth growth_of(const Expr& x) {
  const Expr size = magnitude(x);
  return {above(size, kLarge), f(ExprOp::exp, size - kStep) * 0.5, std::exp(kStep)};
}

}  // namespace

Z exponential(const Z& z) {
  const Expr large = above(z.re, kLarge);
  const Expr e = f(ExprOp::exp, where(large, z.re - kStep, z.re)), back = where(large, std::exp(kStep), 1.0);
  const Expr real = is_zero(z.im), lost = not_of(finite(z.im));
  const Expr nothing = both(f(ExprOp::equal, z.re, -kInf), lost);
  const Expr endless = both(f(ExprOp::equal, z.re, kInf), lost);
  const Expr re = e * f(ExprOp::cos, z.im) * back, im = e * f(ExprOp::sin, z.im) * back;
  return {where(real, e * back, where(nothing, 0.0, where(endless, kInf, re))),
          where(real, z.im, where(nothing, 0.0, im))};
}

Z exponential_less_1(const Z& z) {
  const Expr half = f(ExprOp::sin, z.im * 0.5);
  const Expr re = f(ExprOp::expm1, z.re) * f(ExprOp::cos, z.im) - half * half * 2;
  const Z whole = exponential(z);
  const Expr real = is_zero(z.im);
  const Expr near = less(magnitude(z.re), 40.0);
  return {where(real, f(ExprOp::expm1, z.re), where(near, re, whole.re - 1)), whole.im};
}

Z logarithm(const Z& z) {
  return {log_magnitude(z.re, z.im), f(ExprOp::arctan2, z.im, z.re)};
}

Z logarithm_of_1_plus(const Z& z) {
  const Expr small = both(less(magnitude(z.re), 0.5), less(magnitude(z.im), 0.5));
  const Expr near = f(ExprOp::log1p, z.re * (z.re + 2) + z.im * z.im) * 0.5;
  return {where(small, near, log_magnitude(z.re + 1, z.im)), f(ExprOp::arctan2, z.im, z.re + 1)};
}

Z square_root(const Z& z) {
  const Expr x = magnitude(z.re), y = magnitude(z.im);
  const Expr most = f(ExprOp::maximum, x, y);
  const Expr huge = above(most, 0x1p1000), tiny = less(most, 0x1p-900);
  const Expr scale = where(huge, 0x1p-4, where(tiny, 0x1p200, 1.0));
  const Expr back = where(huge, 4.0, where(tiny, 0x1p-100, 1.0));
  const Expr a = x * scale, b = y * scale;
  const Expr t = root((a + f(ExprOp::hypot, a, b)) * 0.5);
  const Expr large = t * back, small = where(is_zero(t), 0.0, b / (t * 2)) * back;
  const Expr left = f(ExprOp::signbit, z.re);
  const Expr re = where(left, small, large), im = signed_as(where(left, large, small), z.im);
  // Of an infinite part the others: no formula.
  const Expr lost = f(ExprOp::isnan, z.im);
  const Expr right_end = f(ExprOp::equal, z.re, kInf), left_end = f(ExprOp::equal, z.re, -kInf);
  const Expr high = infinite(z.im), end = either(right_end, left_end);
  const Expr end_re = where(right_end, kInf, where(lost, kNan, 0.0));
  const Expr end_im = signed_as(where(right_end, where(lost, kNan, 0.0), kInf), z.im);
  return {where(high, kInf, where(end, end_re, re)), where(high, z.im, where(end, end_im, im))};
}

Z hyperbolic_sine(const Z& z) {
  const Growth g = growth_of(z.re);
  const Expr c = f(ExprOp::cos, z.im), s = f(ExprOp::sin, z.im);
  const Expr re = where(g.large, signed_as(g.half, z.re) * c * g.back, f(ExprOp::sinh, z.re) * c);
  const Expr im = where(g.large, g.half * s * g.back, f(ExprOp::cosh, z.re) * s);
  const Expr keeps = both(either(is_zero(z.re), infinite(z.re)), not_of(finite(z.im)));
  const Expr real = is_zero(z.im);
  return {where(real, f(ExprOp::sinh, z.re), where(keeps, z.re, re)), where(real, z.im, im)};
}

Z hyperbolic_cosine(const Z& z) {
  const Growth g = growth_of(z.re);
  const Expr c = f(ExprOp::cos, z.im), s = f(ExprOp::sin, z.im);
  const Expr re = where(g.large, g.half * c * g.back, f(ExprOp::cosh, z.re) * c);
  const Expr im = where(g.large, signed_as(g.half, z.re) * s * g.back, f(ExprOp::sinh, z.re) * s);
  const Expr real = is_zero(z.im), upright = is_zero(z.re), lost = not_of(finite(z.im));
  const Expr side = z.im * signed_as(1.0, z.re);  // 0, with the sign of sinh x sin y
  return {where(real, f(ExprOp::cosh, z.re), where(both(infinite(z.re), lost), kInf, re)),
          where(real, side, where(both(upright, lost), z.re, im))};
}

Z hyperbolic_tangent(const Z& z) {
  constexpr double kFar = 22;  // cosh(x) ** 2 swallows the rest
  const Expr size = magnitude(z.re), far = above(size, kFar);
  const Expr c = f(ExprOp::cos, z.im), s = f(ExprOp::sin, z.im);
  const Expr x = where(far, 0.0, z.re);
  const Expr sh = f(ExprOp::sinh, x), ch = f(ExprOp::cosh, x);
  const Expr by = sh * sh + c * c;
  const Expr unit = signed_as(1.0, z.re);
  const Expr far_im = s * c * f(ExprOp::exp, size * -2.0) * 4;
  const Expr real = is_zero(z.im), lost = not_of(finite(z.im)), end = infinite(z.re);
  const Expr re = where(far, unit, sh * ch / by), im = where(far, far_im, s * c / by);
  const Expr upright = both(is_zero(z.re), lost);
  return {where(real, f(ExprOp::tanh, z.re), where(end, unit, where(upright, z.re, where(lost, kNan, re)))),
          where(real, z.im, where(end, signed_as(0.0, where(lost, z.im, s * c)), im))};
}

}  // namespace nervanagpu::expr
