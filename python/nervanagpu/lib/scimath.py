"""numpy.emath: functions whose results are complex where real ones are not there, as sqrt(-1).

They look at the elements, which ends a fused expression.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import dtypes
from nervanagpu.math import elementwise, reductions
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of

_NARROW = {np.dtype(d) for d in ("float16", "float32", "int8", "uint8", "int16", "uint16", "bool")}

__all__ = ["arccos", "arcsin", "arctanh", "log", "log2", "log10", "logn", "power", "sqrt"]


def _wide(x: GPUTensor) -> GPUTensor:
    """x as the smallest complex dtype that holds it."""
    narrow = x.dtype in _NARROW
    return _core.as_dtype(x, np.complex64 if narrow else np.complex128)


def _any(x: GPUTensor) -> bool:
    return bool(reductions.any(x))


def _where_negative(x: Operand) -> GPUTensor:
    given = operand_of(x)
    if dtypes.kind_of(given.dtype) in "cub" or not _any(elementwise.less(given, 0)):
        return given
    return _wide(given)


def _where_above_one(x: Operand) -> GPUTensor:
    given = operand_of(x)
    if dtypes.kind_of(given.dtype) == "c" or not _any(elementwise.greater(elementwise.absolute(given), 1)):
        return given
    return _wide(given)


def sqrt(x: Operand) -> GPUTensor:
    """The square root."""
    return elementwise.sqrt(_where_negative(x))


def log(x: Operand) -> GPUTensor:
    """The natural logarithm."""
    return elementwise.log(_where_negative(x))


def log2(x: Operand) -> GPUTensor:
    """The logarithm to base 2."""
    return elementwise.log2(_where_negative(x))


def log10(x: Operand) -> GPUTensor:
    """The logarithm to base 10."""
    return elementwise.log10(_where_negative(x))


def logn(n: Any, x: Operand) -> GPUTensor:
    """The logarithm of x to base n."""
    return elementwise.divide(log(x), log(n))


def power(x: Operand, p: object) -> GPUTensor:
    """x ** p; of integers below 0 in float64."""
    base, exponent = _where_negative(x), operand_of(p)
    if dtypes.kind_of(exponent.dtype) == "i" and _any(elementwise.less(exponent, 0)):
        exponent = _core.as_dtype(exponent, np.float64)
    return elementwise.power(base, exponent)


def arccos(x: Operand) -> GPUTensor:
    """The angle whose cosine is x."""
    return elementwise.arccos(_where_above_one(x))


def arcsin(x: Operand) -> GPUTensor:
    """The angle whose sine is x."""
    return elementwise.arcsin(_where_above_one(x))


def arctanh(x: Operand) -> GPUTensor:
    """The number whose hyperbolic tangent is x."""
    return elementwise.arctanh(_where_above_one(x))
