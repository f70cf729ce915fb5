"""Elementwise functions of tensors, as NumPy's: lazy, fused into one kernel with what they are part of.

An operand is a GPUTensor, a number or a NumPy array; shapes broadcast and dtypes promote as NumPy's (numbers are weak).
Without `out` the result is an expression, a GPUTensor that is computed when its elements are wanted; with `out` it is
written there now. ValueError for shapes that do not broadcast, TypeError for dtypes that an operation does not take.
exp, exp2, log, log2, sig, sig2, tanh, tanh2 and power are within 2 ULP, of float64 within 1; integers and bool
become floats, as NumPy's do. More functions are in nervanagpu.functions.
"""

from __future__ import annotations

import builtins
from typing import SupportsFloat

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor

Operand = GPUTensor | SupportsFloat | npt.NDArray[np.generic]


def _result(x: GPUTensor, out: GPUTensor | None) -> GPUTensor:
    if out is None:
        return x
    _core.assign(out, x)
    return out


def positive(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """+x, a copy. TypeError for bool."""
    return _result(_core.apply("positive", x), out)


def negative(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """-x. TypeError for bool."""
    return _result(_core.apply("negative", x), out)


def absolute(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """|x|."""
    return _result(_core.apply("absolute", x), out)


def sgn(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """-1, 0 or 1; NaN stays."""
    return _result(_core.apply("sgn", x), out)


def square(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """x * x."""
    return _result(_core.apply("square", x), out)


def reciprocal(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """1 / x, correctly rounded."""
    return _result(_core.apply("reciprocal", x), out)


def sqrt(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """Square root, correctly rounded; NaN below 0."""
    return _result(_core.apply("sqrt", x), out)


def exp(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """e ** x."""
    return _result(_core.apply("exp", x), out)


def exp2(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """2 ** x."""
    return _result(_core.apply("exp2", x), out)


def log(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """Natural logarithm; NaN below 0."""
    return _result(_core.apply("log", x), out)


def log2(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """Logarithm to base 2; NaN below 0."""
    return _result(_core.apply("log2", x), out)


def sig(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The logistic function 1 / (1 + e ** -x)."""
    return _result(_core.apply("sig", x), out)


def sig2(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """1 / (1 + 2 ** -x)."""
    return _result(_core.apply("sig2", x), out)


def tanh(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """Hyperbolic tangent."""
    return _result(_core.apply("tanh", x), out)


def tanh2(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """(2 ** 2x - 1) / (2 ** 2x + 1)."""
    return _result(_core.apply("tanh2", x), out)


def floor(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The largest integer that is not above x."""
    return _result(_core.apply("floor", x), out)


def ceil(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The smallest integer that is not below x."""
    return _result(_core.apply("ceil", x), out)


def trunc(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """x without its fraction."""
    return _result(_core.apply("trunc", x), out)


def rint(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The nearest integer, ties to even."""
    return _result(_core.apply("rint", x), out)


def finite(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """True where x is neither infinite nor NaN."""
    return _result(_core.apply("finite", x), out)


def isnan(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """True where x is NaN."""
    return _result(_core.apply("isnan", x), out)


def isinf(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """True where x is infinite."""
    return _result(_core.apply("isinf", x), out)


def logical_not(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """True where x is 0."""
    return _result(_core.apply("logical_not", x), out)


def invert(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """Every bit flipped; of bool the opposite."""
    return _result(_core.apply("invert", x), out)


def add(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a + b; of bool: or."""
    return _result(_core.apply("add", a, b), out)


def subtract(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a - b."""
    return _result(_core.apply("subtract", a, b), out)


def multiply(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a * b; of bool: and."""
    return _result(_core.apply("multiply", a, b), out)


def divide(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a / b, correctly rounded; of integers float64."""
    return _result(_core.apply("divide", a, b), out)


def power(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a ** b, of floats; integers may be squared."""
    return _result(_core.apply("power", a, b), out)


def maximum(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The larger one; NaN if one is."""
    return _result(_core.apply("maximum", a, b), out)


def minimum(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The smaller one; NaN if one is."""
    return _result(_core.apply("minimum", a, b), out)


def equal(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a == b."""
    return _result(_core.apply("equal", a, b), out)


def not_equal(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a != b."""
    return _result(_core.apply("not_equal", a, b), out)


def less(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a < b."""
    return _result(_core.apply("less", a, b), out)


def less_equal(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a <= b."""
    return _result(_core.apply("less_equal", a, b), out)


def greater(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a > b."""
    return _result(_core.apply("greater", a, b), out)


def greater_equal(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a >= b."""
    return _result(_core.apply("greater_equal", a, b), out)


def logical_and(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """True where both are not 0."""
    return _result(_core.apply("logical_and", a, b), out)


def logical_or(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """True where one is not 0."""
    return _result(_core.apply("logical_or", a, b), out)


def logical_xor(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """True where exactly one is not 0."""
    return _result(_core.apply("logical_xor", a, b), out)


def bitwise_and(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a & b."""
    return _result(_core.apply("bitwise_and", a, b), out)


def bitwise_or(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a | b."""
    return _result(_core.apply("bitwise_or", a, b), out)


def bitwise_xor(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a ^ b."""
    return _result(_core.apply("bitwise_xor", a, b), out)


def where(condition: Operand, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """a where the condition is not 0, else b."""
    return _result(_core.apply("where", condition, a, b), out)


def clip(x: Operand, low: Operand | None, high: Operand | None, out: GPUTensor | None = None) -> GPUTensor:
    """x, at least `low` and at most `high` (None, and a number that x's integers do not reach: no bound); NaN stays."""
    dtype = getattr(x, "dtype", None)
    limits = np.iinfo(dtype) if getattr(dtype, "kind", "") in ("i", "u") else None
    if limits is not None and isinstance(low, int) and low <= limits.min:
        low = None
    if limits is not None and isinstance(high, int) and high >= limits.max:
        high = None
    if low is None and high is None:
        return _result(_core.apply("where", True, x, x), out)
    if high is None:
        return _result(_core.apply("maximum", x, low), out)
    return _result(_core.apply("minimum", x if low is None else _core.apply("maximum", x, low), high), out)


def evaluate(*expressions: GPUTensor) -> None:
    """Compute these expressions now; those of one shape share a kernel."""
    _core.evaluate(*expressions)


def explain(x: GPUTensor) -> str:
    """What evaluating `x` would launch, a line a kernel. Nothing runs."""
    return _core.explain(x)


def launch_count() -> builtins.int:
    """How many kernels expressions have launched so far."""
    return _core.launch_count()


true_divide = divide
fabs = absolute
sign = sgn
isfinite = finite
