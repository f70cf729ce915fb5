"""Windows of signal processing, and the Bessel function that one is made of: rows of float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import integer, number
from nervanagpu.function_table import public
from nervanagpu.math import elementwise, reductions
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of


def _cosines(function: str, M: object, *weights: float) -> GPUTensor:
    """The sum of weights[k] * cos(k pi n / (M - 1)) for n = 1 - M, 3 - M, ..., M - 1."""
    count = integer(function, "M", M, None, 1 << 31)
    if count < 2:
        return creation.ones(max(count, 0), np.float64)
    turn = creation.arange(1 - count, count, 2, np.float64) * (math.pi / (count - 1))
    made: Any = weights[0]
    for k, weight in enumerate(weights[1:], 1):
        made = elementwise.cos(turn * k) * weight + made
    return elementwise.add(made, 0.0)


@public()
def hanning(M: int) -> GPUTensor:
    """0.5 + 0.5 cos: from 0 to 1 and back in M numbers; fewer than 2 are ones."""
    return _cosines("hanning", M, 0.5, 0.5)


@public()
def hamming(M: int) -> GPUTensor:
    """0.54 + 0.46 cos."""
    return _cosines("hamming", M, 0.54, 0.46)


@public()
def blackman(M: int) -> GPUTensor:
    """0.42 + 0.5 cos + 0.08 cos of twice the angle."""
    return _cosines("blackman", M, 0.42, 0.5, 0.08)


@public()
def bartlett(M: int) -> GPUTensor:
    """A triangle from 0 to 1 and back."""
    count = integer("bartlett", "M", M, None, 1 << 31)
    if count < 2:
        return creation.ones(max(count, 0), np.float64)
    n = creation.arange(1 - count, count, 2, np.float64)
    return 1 - elementwise.absolute(n) / (count - 1)


@public()
def kaiser(M: int, beta: float) -> GPUTensor:
    """i0(beta * sqrt(1 - t * t)) / i0(beta) for t from -1 to 1."""
    count, of = integer("kaiser", "M", M, None, 1 << 31), number("kaiser", "beta", beta)
    if count < 2:
        return creation.ones(max(count, 0), np.float64)
    n = creation.arange(count, dtype=np.float64)
    half = (count - 1) / 2
    inside = elementwise.maximum(1 - elementwise.square((n - half) / half), 0.0)
    return i0(elementwise.sqrt(inside) * of) / i0(creation.full((), of, np.float64))


# I0(x) is the mean of e ** (x cos t) over a circle. Of n equal steps the mean is off by 2 I_n(x), less than 1e-17 of I0
# for n * n > 80 x: 256 steps up to x = 709, where float64 ends.
_STEPS = 256


@public()
def i0(x: Operand) -> GPUTensor:
    """The modified Bessel function of order 0; of integers float64."""
    given = operand_of(x)
    if dtypes.kind_of(given.dtype) == "c":
        raise TypeError(f"i0: x is {given.dtype}; needs real numbers")
    kind = given.dtype if dtypes.kind_of(given.dtype) == "f" else np.dtype(np.float64)
    size = elementwise.absolute(_core.as_dtype(given, np.float64))
    cosines = creation.array(np.cos(np.arange(_STEPS) * (2 * np.pi / _STEPS)) - 1)
    mean = reductions.mean(elementwise.exp(elementwise.multiply(size[..., None], cosines)), -1)
    return _core.as_dtype(mean * elementwise.exp(size), kind)
