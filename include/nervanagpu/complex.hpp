// Complex numbers in expressions: an expression of complex64 or complex128 is two of real numbers, which share a kernel.
//
//   Expr z = complex_from(x, y);          // x + iy
//   Tensor t = (z * conjugate(z)).evaluate();
//
// What apply() takes of them: arithmetic, powers, exponential, logarithmic, trigonometric and hyperbolic functions and
// their inverses, equality, tests, where; sums, products and means, and variances, which are real. TypeError for the
// others. A number without an imaginary part is a real one beside them: it multiplies and divides the parts.
#pragma once

#include "nervanagpu/expr.hpp"

namespace nervanagpu {

// Of real numbers x itself.
NG_API Expr real(const Expr& x);
// Of real numbers zeros.
NG_API Expr imag(const Expr& x);
// real(x) - i imag(x); of real numbers a copy.
NG_API Expr conjugate(const Expr& x);
// The angle in [-pi, pi] of the point (real(x), imag(x)), a float.
NG_API Expr angle(const Expr& x);
// re + i im of real operands, of complex128 if one of them needs float64. TypeError for complex operands.
NG_API Expr complex_from(const Expr& re, const Expr& im);

}  // namespace nervanagpu
