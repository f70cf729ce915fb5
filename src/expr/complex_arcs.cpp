// Inverse functions of complex numbers, of float64 parts: arc sine and cosine as T. E. Hull, T. F. Fairgrieve and P. T. P.
// Tang write them (ACM TOMS 23, 1997), in the first quadrant; signs come last.
#include <cmath>
#include <numbers>

#include "src/expr/complex_parts.h"

namespace nervanagpu::expr {
namespace {

constexpr double kFar = 0x1p500;     // squares overflow
constexpr double kClose = 0x1p-500;  // squares underflow
constexpr double kPi = std::numbers::pi;

// Of |re| + i |im|: the arc sine's and the arc cosine's real part and the imaginary one, which they share but for signs.
struct Arc {
  Expr sine, cosine, im;
};

Arc arc_of(const Z& z) {
  constexpr double kSteep = 0.6417, kNear = 1.5;
  const Expr far = either(f(ExprOp::greater, magnitude(z.re), kFar), f(ExprOp::greater, magnitude(z.im), kFar));
  // Where it is far other formulas hold; these must not make more special values.
  const Expr x = where(far, 1.0, magnitude(z.re)), y = where(far, 1.0, magnitude(z.im));
  const Expr r = f(ExprOp::hypot, x + 1, y), s = f(ExprOp::hypot, x - 1, y);
  const Expr a = (r + s) * 0.5, b = x / a;
  const Expr inside = less(x, 1.0), within = f(ExprOp::less_equal, x, 1);
  const Expr square = y * y, above = square / (r + x + 1);
  const Expr gap = s + magnitude(x - 1);  // no cancellation: s and |x - 1| are not negative
  const Expr across = square / gap;
  const Expr more = a + x;
  // sqrt((a - x) (a + x)), by the terms that do not cancel.
  const Expr leg_inside = root(more * (above + gap) * 0.5);
  const Expr leg_outside = y * root((more / (r + x + 1) + more / gap) * 0.5);
  const Expr leg = where(within, leg_inside, leg_outside);
  const Expr flat = f(ExprOp::less_equal, b, kSteep);
  const Expr sine = where(flat, f(ExprOp::arcsin, b), f(ExprOp::arctan2, x, leg));
  const Expr cosine = where(flat, f(ExprOp::arccos, b), f(ExprOp::arctan2, leg, x));
  // a - 1, likewise.
  const Expr over = where(inside, above + across, above + gap) * 0.5;
  const Expr rise = where(f(ExprOp::less_equal, a, kNear), f(ExprOp::log1p, over + root(over * (a + 1))),
                          f(ExprOp::log, a + root(a * a - 1)));
  const Expr close = both(less(y, kClose), inside);
  const Expr level = y / root((1 - x) * (x + 1));
  const Expr u = magnitude(z.re), v = magnitude(z.im);
  const Expr endless = f(ExprOp::log, f(ExprOp::hypot, u * 0x1p-3, v * 0x1p-3)) + std::log(16.0);
  return {where(far, f(ExprOp::arctan2, u, v), sine), where(far, f(ExprOp::arctan2, v, u), cosine),
          where(far, endless, where(close, level, rise))};
}

}  // namespace

Z arc_sine(const Z& z) {
  const Arc arc = arc_of(z);
  // On the imaginary axis the real part is 0, whatever the other is.
  return {where(is_zero(z.re), z.re, signed_as(arc.sine, z.re)), signed_as(arc.im, z.im)};
}

Z arc_cosine(const Z& z) {
  const Arc arc = arc_of(z);
  const Expr right = where(f(ExprOp::signbit, z.re), kPi - arc.cosine, arc.cosine);
  const Expr upright = both(is_zero(z.re), f(ExprOp::isnan, z.im));
  const Expr real = both(is_zero(z.im), f(ExprOp::less_equal, magnitude(z.re), 1));
  return {where(upright, kPi / 2, right), where(real, -z.im, signed_as(arc.im, -z.im))};
}

Z hyperbolic_arc_tangent(const Z& z) {
  const Expr u = magnitude(z.re), v = magnitude(z.im);
  const Expr far = either(f(ExprOp::greater, u, kFar), f(ExprOp::greater, v, kFar));
  const Expr x = where(far, 0.5, u), y = where(far, 0.5, v);
  const Expr beside = 1 - x;
  const Expr near_re = f(ExprOp::log1p, x * 4 / (beside * beside + y * y)) * 0.25;
  // At 1 with a tiny y, whose square is nothing: log(2 / y) / 2.
  const Expr on = both(f(ExprOp::equal, x, 1), less(y, kClose));
  const Expr at_one = (f(ExprOp::log, y) - std::log(2.0)) * -0.5;
  const Expr im = f(ExprOp::arctan2, y * 2, beside * (x + 1) - y * y) * 0.5;
  const Expr size = f(ExprOp::hypot, u * 0x1p-3, v * 0x1p-3);
  const Expr end = either(infinite(u), infinite(v));
  const Expr far_re = where(end, 0.0, u * 0x1p-3 / size / size * 0x1p-3);
  const Expr lost = both(infinite(u), f(ExprOp::isnan, v));
  const Expr far_im = where(lost, v, kPi / 2);
  const Expr re = where(is_zero(z.re), 0.0, where(far, far_re, where(on, at_one, near_re)));
  return {signed_as(re, z.re), signed_as(where(far, far_im, im), z.im)};
}

}  // namespace nervanagpu::expr
