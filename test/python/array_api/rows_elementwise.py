"""Elementwise functions, operators' among them: every dtype of the category, broadcasting, special values, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import draws
from .calls import Call, Row, call

REAL_FLOATING = draws.FLOATING
COMPLEX = draws.COMPLEX
INTEGER_OR_BOOL = draws.INTEGER + draws.BOOL

# name, dtypes, ulps of the result (0: the same bits).
UNARY: list[tuple[str, Sequence[str], float]] = [
    ("abs", draws.REAL, 0),
    ("acos", REAL_FLOATING, 4),
    ("acosh", REAL_FLOATING, 4),
    ("asin", REAL_FLOATING, 4),
    ("asinh", REAL_FLOATING, 4),
    ("atan", REAL_FLOATING, 4),
    ("atanh", REAL_FLOATING, 4),
    ("bitwise_invert", INTEGER_OR_BOOL, 0),
    ("ceil", draws.REAL, 0),
    ("cos", REAL_FLOATING, 4),
    ("cosh", REAL_FLOATING, 4),
    ("exp", REAL_FLOATING, 4),
    ("expm1", REAL_FLOATING, 4),
    ("floor", draws.REAL, 0),
    ("isfinite", draws.REAL, 0),
    ("isinf", draws.REAL, 0),
    ("isnan", draws.REAL, 0),
    ("log", REAL_FLOATING, 4),
    ("log10", REAL_FLOATING, 4),
    ("log1p", REAL_FLOATING, 4),
    ("log2", REAL_FLOATING, 4),
    ("logical_not", draws.ALL, 0),
    ("negative", draws.SIGNED + REAL_FLOATING, 0),
    ("positive", draws.REAL, 0),
    ("reciprocal", REAL_FLOATING, 0),
    ("round", draws.REAL, 0),
    ("sign", draws.REAL, 0),
    ("signbit", REAL_FLOATING, 0),
    ("sin", REAL_FLOATING, 4),
    ("sinh", REAL_FLOATING, 4),
    ("sqrt", REAL_FLOATING, 0),
    ("square", draws.REAL, 0),
    ("tan", REAL_FLOATING, 4),
    ("tanh", REAL_FLOATING, 4),
    ("trunc", draws.REAL, 0),
]
# The same of complex numbers, within a room of their largest part.
COMPLEX_UNARY: list[tuple[str, float]] = [
    ("abs", 4),
    ("conj", 0),
    ("cos", 16),
    ("cosh", 16),
    ("exp", 16),
    ("imag", 0),
    ("isfinite", 0),
    ("isinf", 0),
    ("isnan", 0),
    ("log", 16),
    ("negative", 0),
    ("positive", 0),
    ("real", 0),
    ("sin", 16),
    ("sinh", 16),
    ("sqrt", 16),
    ("square", 16),
    ("tanh", 16),
]
BINARY: list[tuple[str, Sequence[str], float]] = [
    ("add", draws.REAL, 0),
    ("atan2", REAL_FLOATING, 4),
    ("bitwise_and", INTEGER_OR_BOOL, 0),
    ("bitwise_or", INTEGER_OR_BOOL, 0),
    ("bitwise_xor", INTEGER_OR_BOOL, 0),
    ("copysign", REAL_FLOATING, 0),
    ("divide", REAL_FLOATING, 0),
    ("equal", draws.ALL, 0),
    ("greater", draws.REAL, 0),
    ("greater_equal", draws.REAL, 0),
    ("hypot", REAL_FLOATING, 4),
    ("less", draws.REAL, 0),
    ("less_equal", draws.REAL, 0),
    ("logaddexp", REAL_FLOATING, 4),
    ("logical_and", draws.ALL, 0),
    ("logical_or", draws.ALL, 0),
    ("logical_xor", draws.ALL, 0),
    ("maximum", draws.REAL, 0),
    ("minimum", draws.REAL, 0),
    ("multiply", draws.REAL, 0),
    ("nextafter", REAL_FLOATING, 0),
    ("not_equal", draws.ALL, 0),
    ("subtract", draws.REAL, 0),
]
EXTREMES = ("maximum", "minimum")
COMPLEX_BINARY: list[tuple[str, float]] = [
    ("add", 0),
    ("divide", 16),
    ("equal", 0),
    ("multiply", 8),
    ("not_equal", 0),
    ("subtract", 0),
]


def one(dtypes: Sequence[str], **limits: Any) -> st.SearchStrategy[Call]:
    return draws.any_array(dtypes, **limits).map(call)


def two(dtypes: Sequence[str], **limits: Any) -> st.SearchStrategy[Call]:
    return draws.two_arrays(dtypes, **limits).map(lambda pair: call(*pair))


@st.composite
def with_number(draw: Any, dtypes: Sequence[str], low: Any = None, high: Any = None, first: bool = True) -> Call:
    """An array and a number of Python's, which takes the array's dtype; either may come first."""
    dtype = draw(st.sampled_from(dtypes))
    a = draw(draws.arrays(dtype, low=low, high=high))
    number = draw(draws.values(dtype, low, high))
    if np.dtype(dtype).kind == "f":  # a whole number is one, too
        number = draw(st.sampled_from([number, draw(st.integers(1, 9))]))
    swapped = first and draw(st.booleans())
    return call(number, a) if swapped else call(a, number)


@st.composite
def shifts(draw: Any) -> Call:
    """By less than the dtype's bits: more is undefined."""
    dtype = draw(st.sampled_from(draws.INTEGER))
    a = draw(draws.arrays(dtype))
    bits = draws.arrays(dtype, a.shape, low=0, high=8 * a.dtype.itemsize - 1)
    return call(a, draw(bits))


@st.composite
def quotients(draw: Any) -> Call:
    """Finite dividends, and divisors that are not 0: the standard leaves the others open, and their signs to NumPy."""
    a, b = draw(draws.two_arrays(draws.REAL, finite=True))
    b = np.where(b == 0, np.ones((), b.dtype), b)
    for least, other in ((a, b), (b, a)):  # the one quotient of integers that overflows
        if least.dtype.kind == "i" and other.dtype.kind == "i":
            least[least == np.iinfo(least.dtype).min] += 1
    return call(a, b)


@st.composite
def powers(draw: Any) -> Call:
    """Integers to whole exponents from 0, modulo 2 ** bits; floats to any."""
    a, b = draw(draws.two_arrays(draws.REAL))
    if b.dtype.kind in "iu":
        b = np.asarray(b % 40, b.dtype)
    return call(a, b)


@st.composite
def clips(draw: Any) -> Call:
    """Each bound a number, an array that broadcasts, or none."""
    dtype = draw(st.sampled_from(draws.REAL))
    x = draw(draws.arrays(dtype))

    def bound() -> Any:
        kind = draw(st.sampled_from(["none", "number", "array", "row"]))
        if kind == "none":
            return None
        if kind == "number":
            return draw(draws.values(dtype, finite=True))
        shape = x.shape if kind == "array" else x.shape[1:]
        return draw(draws.arrays(dtype, shape, finite=True))

    low, high = bound(), bound()
    if low is not None and high is not None:
        if isinstance(low, np.ndarray) or isinstance(high, np.ndarray):
            low, high = np.minimum(low, high).astype(dtype), np.maximum(low, high).astype(dtype)
        else:
            low, high = min(low, high), max(low, high)
    return draw(st.sampled_from([call(x, low, high), call(x, min=low, max=high)]))


# Floats rounded by a reference of twice their precision where NumPy's own float32 is not better than ours.
ROWS = [Row(name, one(dtypes), ulps, wide=ulps > 0) for name, dtypes, ulps in UNARY]
ROWS += [Row(name, two(dtypes), ulps, wide=ulps > 0, either_zero=name in EXTREMES) for name, dtypes, ulps in BINARY]
ROWS += [
    Row(name, with_number(dtypes), ulps, wide=ulps > 0, either_zero=name in EXTREMES, id="number")
    for name, dtypes, ulps in BINARY
    if name not in ("logical_and", "logical_or", "logical_xor")
]
ROWS += [
    Row(name, one(COMPLEX, low=-50, high=50) if ulps else one(COMPLEX), ulps, wide=ulps > 0, id="complex")
    for name, ulps in COMPLEX_UNARY
]
ROWS += [
    Row(name, two(COMPLEX, low=1, high=1e6) if ulps else two(COMPLEX), ulps, wide=ulps > 0, id="complex")
    for name, ulps in COMPLEX_BINARY
]
ROWS += [
    Row("real", one(REAL_FLOATING), id="floats"),
    Row("conj", one(REAL_FLOATING), id="floats"),
    Row("bitwise_left_shift", shifts()),
    Row("bitwise_right_shift", shifts()),
    Row("floor_divide", quotients()),
    Row("remainder", quotients()),
    Row("floor_divide", with_number(draws.REAL, low=1, high=100), id="number"),
    Row("remainder", with_number(draws.REAL, low=1, high=100), id="number"),
    Row("pow", powers(), ulps=8, wide=True),
    Row("pow", with_number(draws.FLOATING, low=0, high=8), ulps=8, wide=True, id="number"),
    Row("pow", with_number(draws.INTEGER, low=0, high=8), id="integers"),
    Row("clip", clips(), either_zero=True),
]
