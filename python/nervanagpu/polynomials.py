"""Polynomials as rows of coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from nervanagpu import _core, algebra, composed, creation, dtypes, elementwise, reductions, signals
from nervanagpu._core import GPUTensor
from nervanagpu.arguments import integer
from nervanagpu.elementwise import Operand
from nervanagpu.names import public
from nervanagpu.reductions import operand_of


def _row(function: str, name: str, p: Any) -> GPUTensor:
    row = operand_of(p)
    if row.ndim > 1:
        raise ValueError(f"{function}: {name} has {row.ndim} axes; needs one")
    return row.reshape(-1)


def _as_long(x: GPUTensor, length: int) -> GPUTensor:
    if x.size == length:
        return x
    return composed.concatenate([creation.zeros(length - x.size, x.dtype), x])


@public()
def polyadd(a: Operand, b: Operand) -> GPUTensor:
    """The sum."""
    x, y = _row("polyadd", "a", a), _row("polyadd", "b", b)
    length = max(x.size, y.size)
    return elementwise.add(_as_long(x, length), _as_long(y, length))


@public()
def polysub(a: Operand, b: Operand) -> GPUTensor:
    """The difference."""
    x, y = _row("polysub", "a", a), _row("polysub", "b", b)
    length = max(x.size, y.size)
    return elementwise.subtract(_as_long(x, length), _as_long(y, length))


@public()
def polymul(a: Operand, b: Operand) -> GPUTensor:
    """The product."""
    return signals.convolve(_row("polymul", "a", a), _row("polymul", "b", b))


@public()
def polyval(p: Operand, x: Operand) -> GPUTensor:
    """p[0] * x ** (n - 1) + ... + p[n - 1], by Horner's rule."""
    row, at = _row("polyval", "p", p), operand_of(x)
    dtype = dtypes.promoted(row.dtype, at.dtype)
    made = creation.zeros(at.shape, dtype)
    for k in range(row.size):
        made = elementwise.add(elementwise.multiply(made, at), row[k])
    return made


@public()
def polyder(p: Operand, m: int = 1) -> GPUTensor:
    """The derivative of order m."""
    row = _row("polyder", "p", p)
    for _ in range(min(integer("polyder", "m", m, 0), row.size)):
        row = elementwise.multiply(row[:-1], creation.arange(row.size - 1, 0, -1)) if row.size > 1 else row[:0]
    return row


@public()
def polyfit(x: Operand, y: Operand, deg: int) -> GPUTensor:
    """The polynomial of degree deg whose values at x are closest to y, in least squares; y may have columns."""
    from nervanagpu import linalg

    at, values = _core.as_dtype(_row("polyfit", "x", x), np.float64), _core.as_dtype(operand_of(y), np.float64)
    order = integer("polyfit", "deg", deg, 0) + 1
    if values.ndim not in (1, 2) or at.size == 0 or values.shape[0] != at.size:
        raise ValueError(
            f"polyfit: y has shape {values.shape}; needs ({at.size},) or ({at.size}, columns), and x elements"
        )
    powers = algebra.vander(at, order)
    scale = elementwise.sqrt(reductions.sum(powers * powers, 0))
    found = linalg.lstsq(powers / scale, values, at.size * float(np.finfo(np.float64).eps))[0]
    result: Any = found.T / scale
    made: GPUTensor = result.T.copy()
    return made
