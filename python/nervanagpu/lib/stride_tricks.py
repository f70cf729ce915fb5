"""Views of other shapes and steps over a tensor's memory, as numpy.lib.stride_tricks makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import dtypes
from nervanagpu.arrays.manipulation import axis_of, broadcast_arrays, broadcast_to
from nervanagpu.calls.arguments import flag, integers, shown
from nervanagpu.math.reductions import operand_of

__all__ = ["as_strided", "broadcast_arrays", "broadcast_to", "sliding_window_view"]


def _span(shape: Sequence[int], steps: Sequence[int]) -> tuple[int, int]:
    """The first and the last element that are reached, counted from the one at index 0."""
    ends = [(n - 1) * s for n, s in zip(shape, steps, strict=True)]
    return sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends)


def as_strided(
    x: object, shape: Any = None, strides: object = None, subok: bool = False, writeable: bool = True
) -> GPUTensor:
    """The view of that shape whose steps are `strides` bytes; None: x's own. writeable=False: a read-only one.

    ValueError for steps that are no multiple of an element, and for a view that reaches out of x, which NumPy allows.
    """
    given = operand_of(x)
    width = dtypes.size_of(given.dtype)
    lengths = given.shape if shape is None else _core.shape(shape)
    asked = list(given.strides) if strides is None else integers("as_strided", "strides", strides)
    if len(asked) != len(lengths) or any(s % width for s in asked):
        raise ValueError(f"as_strided: strides is {shown(strides)}; needs {len(lengths)} multiples of {width}")
    steps = [s // width for s in asked]
    if 0 not in lengths:
        inside, wanted = _span(given.shape, given.element_strides), _span(lengths, steps)
        if given.size == 0 or wanted[0] < inside[0] or wanted[1] > inside[1]:
            raise ValueError(f"as_strided: shape {lengths} with strides {tuple(asked)} reaches out of x")
    read_only = not flag("as_strided", "writeable", writeable) or _core.read_only(given)
    return _core.based_on(given, _core.adopt(given.ptr, lengths, steps, given.dtype, given, read_only))


def sliding_window_view(
    x: object, window_shape: object, axis: object = None, *, subok: bool = False, writeable: bool = False
) -> GPUTensor:
    """Every window of that shape: a read-only view with the windows' axes after x's, which become shorter.

    axis: which axes the windows have; None: all. ValueError for a window that is longer than its axis.
    """
    given, name = operand_of(x), "sliding_window_view"
    window = integers(name, "window_shape", window_shape, 0)
    named = range(given.ndim) if axis is None else integers(name, "axis", axis)
    axes = [axis_of(name, a, given.ndim) for a in named]
    if len(axes) != len(window):
        raise ValueError(
            f"{name}: window_shape is {shown(window_shape)}; needs one length for each of {len(axes)} axes"
        )
    left = list(given.shape)
    for a, n in zip(axes, window, strict=True):
        left[a] -= n - 1
        if left[a] < 1:
            raise ValueError(f"{name}: window_shape is {shown(window_shape)}; needs no more than x's {given.shape}")
    steps = given.strides
    return as_strided(given, (*left, *window), (*steps, *(steps[a] for a in axes)), writeable=writeable)
