// Operations of complex operands, written of their parts.
#include <cmath>
#include <optional>
#include <string>

#include "nervanagpu/complex.hpp"
#include "nervanagpu/error.hpp"
#include "src/expr/complex.h"
#include "src/expr/complex_parts.h"
#include "src/expr/promote.h"
#include "src/tensor/shape.h"

namespace nervanagpu::expr {
namespace {

// Trees of functions: every number is read once, whatever becomes of it.
constexpr std::uint32_t kMostOfFunction = 20000;
// Operands with more nodes than this are computed before a function of them, in which they would stand many times.
constexpr std::uint32_t kMostOfOperand = 24;

// An operand in the parts' dtype. `real`: without an imaginary part; then `im` is 0.
struct Operand : Z {
  bool real = false;
};

Operand operand_of(const NodePtr& n, Dtype d) {
  const Dtype part = part_of(d);
  if (!is_complex(n->dtype)) return {{as_dtype(Expr(n), part), as_dtype(Expr(0), part)}, true};
  const auto [re, im] = parts_of(n);
  return {{as_dtype(Expr(re), part), as_dtype(Expr(im), part)}, false};
}

Expr made(const Z& z) {
  return finished(pair_of(z.re.node(), z.im.node()));
}

Expr truth(const Z& z) {
  return either(as_dtype(z.re, Dtype::boolean), as_dtype(z.im, Dtype::boolean));
}

// z / |z|; of an infinite part its sign.
Z sign(const Z& z) {
  const Expr size = f(ExprOp::hypot, z.re, z.im);
  const Expr endless = infinite(size), nothing = is_zero(size);
  const Expr lost = both(infinite(z.re), infinite(z.im));
  const auto part = [&](const Expr& x) {
    const Expr unit = where(infinite(x), signed_as(as_dtype(1, x.dtype()), x), 0);
    return where(lost, std::nan(""), where(endless, unit, where(nothing, 0, x / size)));
  };
  return {part(z.re), part(z.im)};
}

Z powers(const Z& base, unsigned exponent) {
  std::optional<Z> out;
  for (Z square = base; exponent != 0; square = multiply(square, square)) {
    if ((exponent & 1) != 0) out = out ? multiply(*out, square) : square;
    exponent >>= 1;
    if (exponent == 0) break;
  }
  return *out;
}

// A number without an imaginary part that is whole and small, as NumPy multiplies them out.
std::optional<int> whole_exponent(const NodePtr& n) {
  constexpr double kMost = 100;
  const NodePtr re = n->op == ExprOp::complex ? n->inputs[0] : n;
  if (re->op != ExprOp::scalar) return std::nullopt;
  if (n->op == ExprOp::complex) {
    const NodePtr& im = n->inputs[1];
    if (im->op != ExprOp::scalar || value_of(im->bits, im->dtype) != 0) return std::nullopt;
  }
  const double v = value_of(re->bits, re->dtype);
  if (!(std::abs(v) < kMost) || v != std::trunc(v)) return std::nullopt;
  return static_cast<int>(v);
}

// In float64, whatever the operand's parts are.
template <class F>
Expr function(const Z& z, const F& of) {
  Z x = z;
  if (x.re.node()->weight + x.im.node()->weight > kMostOfOperand) {
    const Expr both = made(x);
    static_cast<void>(both.evaluate());
    x = {real(both), imag(both)};
  }
  const Dtype part = z.re.dtype();
  const NodePtr result = [&] {
    const Whole here(kMostOfFunction);
    const Z y = of(Z{as_dtype(x.re, Dtype::float64), as_dtype(x.im, Dtype::float64)});
    return pair_of(as_dtype(y.re, part).node(), as_dtype(y.im, part).node());
  }();
  return finished(result);
}

Z times(const Z& z, double by) {
  return {z.re * by, z.im * by};
}
// -i g(iz) of an odd function, which makes circular functions of hyperbolic ones: no sign is lost.
template <class F>
Z circular_of(const Z& z, const F& g) {
  const Z w = g(Z{z.im, z.re});
  return {w.im, w.re};
}

Z arc_cosine_up(const Z& z) {
  const Z w = arc_cosine(z);
  return {magnitude(w.im), signed_as(w.re, z.im)};
}

Expr power(const NodePtr& base, const NodePtr& exponent, Dtype d) {
  const Operand a = operand_of(base, d), b = operand_of(exponent, d);
  if (const std::optional<int> n = whole_exponent(exponent)) {
    if (*n == 0) return made({where(false, a.re, 1), where(false, a.im, 0)});
    const Whole here(kMostOfFunction);
    const Z up = powers(a, static_cast<unsigned>(std::abs(*n)));
    return made(*n < 0 ? reciprocal(up) : up);
  }
  const Expr by = made(b);
  static_cast<void>(by.evaluate());
  return function(a, [&](const Z& z) {
    const Z e{as_dtype(real(by), Dtype::float64), as_dtype(imag(by), Dtype::float64)};
    const Z w = exponential(multiply(e, logarithm(z)));
    const Expr nothing = both(is_zero(z.re), is_zero(z.im)), plain = is_zero(e.im);
    const Expr at_zero = where(f(ExprOp::greater, e.re, 0), 0.0, std::nan(""));
    const Expr to_zero = both(is_zero(e.re), plain);
    return Z{where(to_zero, 1.0, where(nothing, at_zero, w.re)), where(to_zero, 0.0, where(nothing, at_zero, w.im))};
  });
}

[[noreturn]] void refuse(ExprOp op, std::span<const NodePtr> in) {
  std::string operands;
  for (const NodePtr& n : in) {
    operands += (operands.empty() ? "" : ", ") +
                (n->weak ? std::string("a number") : std::string(name_of(n->dtype)) + " " + text_of(n->shape));
  }
  throw TypeError(std::string(name_of(op)) + ": operands are " + operands + "; needs real numbers");
}

// NumPy's order: by the real parts, then by the imaginary ones. `op`: an order of real numbers; `strict`: the same
// without equality.
Expr ordered(ExprOp op, ExprOp strict, const Z& a, const Z& b) {
  const auto number = [](const Expr& x) { return not_of(f(ExprOp::isnan, x)); };
  const Expr first = both(f(strict, a.re, b.re), both(number(a.im), number(b.im)));
  return either(first, both(f(ExprOp::equal, a.re, b.re), f(op, a.im, b.im)));
}

// a where it comes first in that order, or is NaN.
Expr chosen(ExprOp op, ExprOp strict, const Z& a, const Z& b) {
  const Expr lost = either(f(ExprOp::isnan, a.re), f(ExprOp::isnan, a.im));
  const Expr first = either(ordered(op, strict, a, b), lost);
  return made({where(first, a.re, b.re), where(first, a.im, b.im)});
}

}  // namespace

Z add(const Z& a, const Z& b) {
  return {a.re + b.re, a.im + b.im};
}
Z multiply(const Z& a, const Z& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

Z divide(const Z& a, const Z& b) {
  const Expr wide = f(ExprOp::greater_equal, magnitude(b.re), magnitude(b.im));
  const Expr nothing = both(is_zero(b.re), is_zero(b.im));
  const Expr large = where(wide, b.re, b.im), small = where(wide, b.im, b.re);
  const Expr ratio = small / large;
  const Expr scale = f(ExprOp::reciprocal, large + small * ratio);
  const Expr first = where(wide, a.re, a.im), second = where(wide, a.im, a.re);
  const Expr turn = where(wide, a.im - a.re * ratio, a.im * ratio - a.re);
  const Expr zero = magnitude(b.re);
  return {where(nothing, a.re / zero, (first + second * ratio) * scale), where(nothing, a.im / zero, turn * scale)};
}

Z reciprocal(const Z& a) {
  const Expr wide = f(ExprOp::greater_equal, magnitude(a.re), magnitude(a.im));
  const Expr large = where(wide, a.re, a.im), small = where(wide, a.im, a.re);
  const Expr ratio = small / large;
  const Expr by = large + small * ratio;
  const Expr unit = as_dtype(1, a.re.dtype());
  return {where(wide, unit, ratio) / by, -where(wide, ratio, unit) / by};
}

Expr apply_complex(ExprOp op, Dtype d, std::span<const NodePtr> in) {
  const auto a = [&] { return operand_of(in[0], d); };
  const auto b = [&] { return operand_of(in[1], d); };
  const auto each = [&](const Z& z, ExprOp how) { return Z{f(how, z.re), f(how, z.im)}; };
  const auto any = [&](ExprOp test) {
    const Z z = a();
    return either(f(test, z.re), f(test, z.im));
  };
  const auto equal = [&] {
    const Z x = a(), y = b();
    return both(f(ExprOp::equal, x.re, y.re), f(ExprOp::equal, x.im, y.im));
  };
  switch (op) {
    case ExprOp::positive: return made(each(a(), ExprOp::positive));
    case ExprOp::negative: return made(each(a(), ExprOp::negative));
    case ExprOp::add: return made(add(a(), b()));
    case ExprOp::subtract: {
      const Z x = a(), y = b();
      return made({x.re - y.re, x.im - y.im});
    }
    case ExprOp::multiply: {
      const Operand x = a(), y = b();
      if (y.real) return made({x.re * y.re, x.im * y.re});
      return made(x.real ? Z{x.re * y.re, x.re * y.im} : multiply(x, y));
    }
    case ExprOp::divide: {
      const Operand y = b();
      const Z x = a();
      return made(y.real ? Z{x.re / y.re, x.im / y.re} : divide(x, y));
    }
    case ExprOp::square: {
      const Z z = a();
      const Expr cross = z.re * z.im;
      return made({z.re * z.re - z.im * z.im, cross + cross});
    }
    case ExprOp::reciprocal: return made(reciprocal(a()));
    case ExprOp::power: return power(in[0], in[1], d);
    case ExprOp::absolute: {
      const Z z = a();
      return f(ExprOp::hypot, z.re, z.im);
    }
    case ExprOp::sgn: return made(sign(a()));
    case ExprOp::finite: {
      const Z z = a();
      return both(finite(z.re), finite(z.im));
    }
    case ExprOp::isnan:
    case ExprOp::isinf: return any(op);
    case ExprOp::equal: return equal();
    case ExprOp::not_equal: return not_of(equal());
    case ExprOp::less:
    case ExprOp::less_equal: return ordered(op, ExprOp::less, a(), b());
    case ExprOp::greater:
    case ExprOp::greater_equal: return ordered(op, ExprOp::greater, a(), b());
    case ExprOp::maximum: return chosen(ExprOp::greater_equal, ExprOp::greater, a(), b());
    case ExprOp::minimum: return chosen(ExprOp::less_equal, ExprOp::less, a(), b());
    case ExprOp::logical_not: return not_of(truth(a()));
    case ExprOp::logical_and:
    case ExprOp::logical_or:
    case ExprOp::logical_xor: return f(op, truth(a()), truth(b()));
    case ExprOp::where: {
      const Expr condition(in[0]);
      const Z x = operand_of(in[1], d), y = operand_of(in[2], d);
      return made({where(condition, x.re, y.re), where(condition, x.im, y.im)});
    }
    case ExprOp::sqrt: return function(a(), square_root);
    case ExprOp::exp: return function(a(), exponential);
    case ExprOp::exp2: return function(a(), [](const Z& z) { return exponential(times(z, std::log(2.0))); });
    case ExprOp::expm1: return function(a(), exponential_less_1);
    case ExprOp::log: return function(a(), logarithm);
    case ExprOp::log2: return function(a(), [](const Z& z) { return times(logarithm(z), 1 / std::log(2.0)); });
    case ExprOp::log10: return function(a(), [](const Z& z) { return times(logarithm(z), 1 / std::log(10.0)); });
    case ExprOp::log1p: return function(a(), logarithm_of_1_plus);
    case ExprOp::sinh: return function(a(), hyperbolic_sine);
    case ExprOp::cosh: return function(a(), hyperbolic_cosine);
    case ExprOp::tanh: return function(a(), hyperbolic_tangent);
    case ExprOp::sin: return function(a(), [](const Z& z) { return circular_of(z, hyperbolic_sine); });
    case ExprOp::cos: return function(a(), [](const Z& z) { return hyperbolic_cosine({-z.im, z.re}); });
    case ExprOp::tan: return function(a(), [](const Z& z) { return circular_of(z, hyperbolic_tangent); });
    case ExprOp::arcsin: return function(a(), arc_sine);
    case ExprOp::arccos: return function(a(), arc_cosine);
    case ExprOp::arctan: return function(a(), [](const Z& z) { return circular_of(z, hyperbolic_arc_tangent); });
    case ExprOp::arcsinh: return function(a(), [](const Z& z) { return circular_of(z, arc_sine); });
    case ExprOp::arccosh: return function(a(), arc_cosine_up);
    case ExprOp::arctanh: return function(a(), hyperbolic_arc_tangent);
    default: refuse(op, in);
  }
}

}  // namespace nervanagpu::expr
