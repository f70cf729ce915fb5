"""Sums, extremes, means and variances, as NumPy's: lazy, and fused with what they are made of and what is made of them.

`axis`: an axis, several, () for each element alone, or None for all; `keepdims`: reduced axes stay with length 1, so
that the result broadcasts against the operand. A row (the reduced axes) that fits is read once and kept in registers,
whatever is computed of it: `(x - ng.mean(x, 1, keepdims=True)) * s` is one kernel, one read, one write. Sums have a
fixed order: the same bits in every run, on the GPU and on the emulator. Sums and means of float16 are float32 inside;
sums of integers and bool are int64 or uint64, their means and variances float64. ValueError for an axis that does not
exist, and for max and min of nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arguments import integers
from nervanagpu.elementwise import Operand

Axis = int | Sequence[int] | None


def _reduced(name: str, x: Operand, axis: Axis, out: GPUTensor | None, keepdims: bool, ddof: int = 0) -> GPUTensor:
    axes = axis if axis is None else [axis] if type(axis) is int else integers(name, "axis", axis)
    result = _core.reduce(name, x, axes, keepdims, ddof)
    if out is None:
        return result
    _core.assign(out, result)
    return out


def sum(x: Operand, axis: Axis = None, out: GPUTensor | None = None, keepdims: bool = False) -> GPUTensor:
    """The sum of the elements along `axis`."""
    return _reduced("sum", x, axis, out, keepdims)


def max(x: Operand, axis: Axis = None, out: GPUTensor | None = None, keepdims: bool = False) -> GPUTensor:
    """The largest element along `axis`; NaN if one is."""
    return _reduced("max", x, axis, out, keepdims)


def min(x: Operand, axis: Axis = None, out: GPUTensor | None = None, keepdims: bool = False) -> GPUTensor:
    """The smallest element along `axis`; NaN if one is."""
    return _reduced("min", x, axis, out, keepdims)


def mean(x: Operand, axis: Axis = None, out: GPUTensor | None = None, keepdims: bool = False) -> GPUTensor:
    """The sum of the elements along `axis` over their number."""
    return _reduced("mean", x, axis, out, keepdims)


def var(
    x: Operand, axis: Axis = None, out: GPUTensor | None = None, ddof: int = 0, keepdims: bool = False
) -> GPUTensor:
    """The sum of the squares of x - mean(x) over (their number - ddof)."""
    return _reduced("var", x, axis, out, keepdims, ddof)


def std(
    x: Operand, axis: Axis = None, out: GPUTensor | None = None, ddof: int = 0, keepdims: bool = False
) -> GPUTensor:
    """The square root of the variance."""
    return _reduced("std", x, axis, out, keepdims, ddof)


def softmax(x: GPUTensor, axis: int = -1) -> GPUTensor:
    """e ** x times the reciprocal of its sum along `axis`, without overflow: one kernel."""
    e = _core.apply("exp", _core.apply("subtract", x, max(x, axis, keepdims=True)))
    return _core.apply("multiply", e, _core.apply("reciprocal", sum(e, axis, keepdims=True)))
