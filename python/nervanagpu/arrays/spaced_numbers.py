"""Numbers in equal steps between ends that are tensors: what linspace, logspace and geomspace make of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes, manipulation
from nervanagpu.calls.arguments import integer
from nervanagpu.math import elementwise, reductions
from nervanagpu.math.reductions import operand_of


def several(*ends: object) -> bool:
    """Whether one of these is more than a number of Python's or a float64: it has axes, or a dtype of its own."""
    return any(isinstance(e, GPUTensor | np.ndarray | list | tuple | np.float32 | np.float16) for e in ends)


def _with_axis(function: str, made: GPUTensor, axis: Any) -> GPUTensor:
    """`made` with its first axis at `axis`."""
    return manipulation.moveaxis(made, 0, manipulation.axis_of(function, axis, made.ndim))


def linspace(start: Any, stop: Any, num: Any, endpoint: bool, dtype: Any, axis: int) -> tuple[GPUTensor, GPUTensor]:
    """`num` numbers from start to stop along a new axis, and how far apart they are."""
    count = integer("linspace", "num", num, 0)
    given = [operand_of(v) for v in (start, stop)]
    wide = np.complex128 if any(dtypes.kind_of(v.dtype) == "c" for v in given) else np.float64
    first, last = (_core.as_dtype(v, wide) for v in given)
    parts = count - 1 if endpoint else count
    apart = last - first
    step = apart / parts if parts > 0 else apart * math.nan
    i = creation.arange(count, dtype=np.float64).reshape(-1, *[1] * apart.ndim)
    made = (elementwise.add(i * step, first) if parts > 0 else elementwise.add(i * 0, first) + 0 * apart).copy()
    if endpoint and count > 1:
        made[-1] = last + 0 * first
    if dtype is None:
        ends = [v if type(v) in (int, float, complex) else operand_of(v) for v in (start, stop)]
        dtype = dtypes.promoted_values(*ends, 1.0)
    whole = dtypes.kind_of(_core.dtype(dtype)) in "iu"
    made = _core.as_dtype(elementwise.floor(made) if whole else made, dtype)
    return _with_axis("linspace", made, axis), step


def logspace(start: Any, stop: Any, num: Any, endpoint: bool, base: Any, dtype: Any, axis: int) -> GPUTensor:
    """base ** linspace(start, stop)."""
    ends = [start, stop]
    if np.ndim(base):
        shape = np.broadcast_shapes(*(operand_of(v).shape for v in (start, stop, base)))
        ends = [manipulation.broadcast_to(operand_of(v), shape) for v in (start, stop)]
    powers, _ = linspace(ends[0], ends[1], num, endpoint, None, 0)
    made = elementwise.power(float(base) if type(base) in (int, float) else operand_of(base), powers)
    made = made if dtype is None else _core.cast(made, dtype)
    return _with_axis("logspace", made, axis)


def geomspace(start: object, stop: object, num: object, endpoint: bool, dtype: Any, axis: int) -> GPUTensor:
    """`num` numbers from start to stop, each the same multiple of the one before, along a new axis.

    Complex ones lie on a spiral. Real ones of two signs have nothing but NaN between them.
    """
    given = [operand_of(v) for v in (start, stop)]
    wide = np.complex128 if any(dtypes.kind_of(v.dtype) == "c" for v in given) else np.float64
    first, last = (_core.as_dtype(v, wide) for v in given)
    if bool(reductions.any(elementwise.equal(first * last, 0))):
        raise ValueError("geomspace: start or stop is 0; needs other numbers")
    size = elementwise.absolute(first)
    sign = elementwise.divide(first, size)
    ends = [_core.as_dtype(elementwise.log10(size), wide), elementwise.log10(elementwise.divide(last, sign))]
    made = (elementwise.power(10.0, linspace(ends[0], ends[1], num, endpoint, None, 0)[0]) * sign).copy()
    if made.shape[0] > 0:
        made[0] = first + 0 * last
    if made.shape[0] > 1 and endpoint:
        made[-1] = last + 0 * first
    made = made if dtype is None else _core.cast(made, dtype)
    return _with_axis("geomspace", made, axis)
