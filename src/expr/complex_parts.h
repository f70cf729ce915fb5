// Real expressions as complex operations write them.
#pragma once

#include "nervanagpu/expr.hpp"

namespace nervanagpu::expr {

inline Expr f(ExprOp op, const Expr& a) {
  return apply(op, {a});
}
inline Expr f(ExprOp op, const Expr& a, const Expr& b) {
  return apply(op, {a, b});
}
inline Expr where(const Expr& condition, const Expr& a, const Expr& b) {
  return apply(ExprOp::where, {condition, a, b});
}
inline Expr both(const Expr& a, const Expr& b) {
  return f(ExprOp::logical_and, a, b);
}
inline Expr either(const Expr& a, const Expr& b) {
  return f(ExprOp::logical_or, a, b);
}
inline Expr not_of(const Expr& a) {
  return f(ExprOp::logical_not, a);
}
inline Expr less(const Expr& a, const Expr& b) {
  return f(ExprOp::less, a, b);
}
inline Expr is_zero(const Expr& a) {
  return f(ExprOp::equal, a, 0);
}
inline Expr infinite(const Expr& a) {
  return f(ExprOp::isinf, a);
}
inline Expr finite(const Expr& a) {
  return f(ExprOp::finite, a);
}
inline Expr magnitude(const Expr& a) {
  return f(ExprOp::absolute, a);
}
inline Expr signed_as(const Expr& a, const Expr& sign) {
  return f(ExprOp::copysign, a, sign);
}
inline Expr squared(const Expr& a) {
  return f(ExprOp::square, a);
}
inline Expr root(const Expr& a) {
  return f(ExprOp::sqrt, a);
}

// A complex number by its parts, of one float dtype.
struct Z {
  Expr re, im;
};

Z add(const Z& a, const Z& b);
Z multiply(const Z& a, const Z& b);
Z divide(const Z& a, const Z& b);  // Smith's
Z reciprocal(const Z& a);

// Functions of float64 parts, with the special values of C99's Annex G (complex_functions.cpp, complex_arcs.cpp).
Z exponential(const Z& z);
Z logarithm(const Z& z);
Z logarithm_of_1_plus(const Z& z);
Z exponential_less_1(const Z& z);
Z square_root(const Z& z);
Z hyperbolic_sine(const Z& z);
Z hyperbolic_cosine(const Z& z);
Z hyperbolic_tangent(const Z& z);
Z arc_sine(const Z& z);
Z arc_cosine(const Z& z);
Z hyperbolic_arc_tangent(const Z& z);

}  // namespace nervanagpu::expr
