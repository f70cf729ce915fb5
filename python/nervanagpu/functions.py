"""More of NumPy's elementwise functions: trigonometry, hyperbolic and error functions, division with remainder, shifts.

Operands, broadcasting, dtypes, `out` and errors are those of nervanagpu.elementwise. Float32 functions go through
float64 and are within 0.51 ULP of the exact value for every input; float16 ones are these, rounded; float64 ones are
within 1 ULP.
"""

from __future__ import annotations

import math

import numpy as np

from nervanagpu import _core, elementwise, reductions
from nervanagpu._core import GPUTensor
from nervanagpu.arguments import choice
from nervanagpu.elementwise import Operand, _result
from nervanagpu.reductions import Axis


def sin(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """sin x, x in radians, any size."""
    return _result(_core.apply("sin", x), out)


def cos(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """cos x, x in radians, any size."""
    return _result(_core.apply("cos", x), out)


def tan(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """tan x, x in radians, any size."""
    return _result(_core.apply("tan", x), out)


def arcsin(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The angle in [-pi/2, pi/2] whose sine x is; NaN outside [-1, 1]."""
    return _result(_core.apply("arcsin", x), out)


def arccos(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The angle in [0, pi] whose cosine x is; NaN outside [-1, 1]."""
    return _result(_core.apply("arccos", x), out)


def arctan(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The angle in [-pi/2, pi/2] whose tangent x is."""
    return _result(_core.apply("arctan", x), out)


def sinh(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """Hyperbolic sine."""
    return _result(_core.apply("sinh", x), out)


def cosh(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """Hyperbolic cosine."""
    return _result(_core.apply("cosh", x), out)


def arcsinh(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The number whose hyperbolic sine x is."""
    return _result(_core.apply("arcsinh", x), out)


def arccosh(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The number >= 0 whose hyperbolic cosine x is; NaN below 1."""
    return _result(_core.apply("arccosh", x), out)


def arctanh(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The number whose hyperbolic tangent x is; NaN outside [-1, 1]."""
    return _result(_core.apply("arctanh", x), out)


def expm1(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """e ** x - 1, as exact near 0 as elsewhere."""
    return _result(_core.apply("expm1", x), out)


def log1p(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """log(1 + x), as exact near 0 as elsewhere; NaN below -1."""
    return _result(_core.apply("log1p", x), out)


def log10(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """Logarithm to base 10; NaN below 0."""
    return _result(_core.apply("log10", x), out)


def cbrt(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """Cube root, of negative numbers, too."""
    return _result(_core.apply("cbrt", x), out)


def erf(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The error function, 2 / sqrt(pi) times the integral of e ** -t ** 2 from 0 to x."""
    return _result(_core.apply("erf", x), out)


def erfc(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """1 - erf(x), as exact where it is small as elsewhere."""
    return _result(_core.apply("erfc", x), out)


def signbit(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """True where the sign bit is set: -0.0, too."""
    return _result(_core.apply("signbit", x), out)


def arctan2(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The angle in [-pi, pi] of the point (b, a)."""
    return _result(_core.apply("arctan2", a, b), out)


def hypot(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """sqrt(a * a + b * b), without overflow."""
    return _result(_core.apply("hypot", a, b), out)


def copysign(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """|a| with the sign of b."""
    return _result(_core.apply("copysign", a, b), out)


def floor_divide(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """floor(a / b); a // b. Of integers by 0: 0."""
    return _result(_core.apply("floor_divide", a, b), out)


def remainder(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a - floor(a / b) * b, of b's sign, exact but for its last rounding; a % b. Of integers by 0: 0."""
    return _result(_core.apply("remainder", a, b), out)


def fmod(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """What is left of a by division by b, of a's sign, exact. Of integers by 0: 0."""
    return _result(_core.apply("fmod", a, b), out)


def left_shift(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a << b; 0 if b is no less than the width."""
    return _result(_core.apply("left_shift", a, b), out)


def right_shift(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a >> b; 0 or -1 if b is no less than the width."""
    return _result(_core.apply("right_shift", a, b), out)


def divmod(a: Operand, b: Operand) -> tuple[GPUTensor, GPUTensor]:
    """floor_divide(a, b) and remainder(a, b); evaluated together they share a kernel."""
    return _core.apply("floor_divide", a, b), _core.apply("remainder", a, b)


def gelu(x: Operand, approximate: str = "none", out: GPUTensor | None = None) -> GPUTensor:
    """x times the normal distribution up to x, x / 2 * erfc(-x / sqrt(2)): one operation, within 0.51 ULP (float64: 1).

    approximate="tanh": x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x ** 3))). ValueError for another word.
    """
    if choice("gelu", "approximate", approximate, ("none", "tanh")) == "none":
        return _result(_core.apply("gelu", x), out)
    square = elementwise.square(x)
    inner = elementwise.multiply(x, square * (0.7978845608028654 * 0.044715) + 0.7978845608028654)
    return _result(elementwise.multiply(x, elementwise.tanh(inner) * 0.5 + 0.5), out)


def silu(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """x / (1 + e ** -x), a product of x and its logistic function; -0 for minus infinity."""
    return _result(_core.apply("silu", x), out)


def fmax(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The larger one, or the one that is a number."""
    larger = elementwise.where(elementwise.isnan(a), b, elementwise.maximum(a, b))
    return _result(elementwise.where(elementwise.isnan(b), a, larger), out)


def fmin(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The smaller one, or the one that is a number."""
    smaller = elementwise.where(elementwise.isnan(a), b, elementwise.minimum(a, b))
    return _result(elementwise.where(elementwise.isnan(b), a, smaller), out)


def deg2rad(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """x * pi / 180."""
    return _result(elementwise.multiply(x, math.pi / 180), out)


def rad2deg(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """x * 180 / pi."""
    return _result(elementwise.multiply(x, 180 / math.pi), out)


def all(x: Operand, axis: Axis = None, out: GPUTensor | None = None, keepdims: bool = False) -> GPUTensor:
    """True where every element along `axis` is not 0 (or there is none)."""
    count = reductions.sum(elementwise.logical_not(x), axis, keepdims=keepdims)
    return _result(elementwise.equal(count, 0), out)


def any(x: Operand, axis: Axis = None, out: GPUTensor | None = None, keepdims: bool = False) -> GPUTensor:
    """True where an element along `axis` is not 0."""
    count = reductions.sum(_core.cast(x, np.bool_), axis, keepdims=keepdims)
    return _result(elementwise.not_equal(count, 0), out)


mod = remainder
asin = arcsin
acos = arccos
atan = arctan
atan2 = arctan2
asinh = arcsinh
acosh = arccosh
atanh = arctanh
radians = deg2rad
degrees = rad2deg
bitwise_left_shift = left_shift
bitwise_right_shift = right_shift
