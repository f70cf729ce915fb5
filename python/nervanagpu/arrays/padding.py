"""Tensors with more elements around them, as numpy.pad has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.arrays.manipulation import along, axis_of
from nervanagpu.calls.arguments import choice, integer, shown
from nervanagpu.function_table import public
from nervanagpu.math import composed, elementwise, quantiles, reductions
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of

_STATISTICS: dict[str, Callable[..., GPUTensor]] = {
    "maximum": reductions.max,
    "minimum": reductions.min,
    "mean": reductions.mean,
    "median": quantiles.median,
}
# What each mode takes beside the widths.
_TAKES: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",),
    "edge": (),
    "wrap": (),
    "empty": (),
    "linear_ramp": ("end_values",),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    **dict.fromkeys(_STATISTICS, ("stat_length",)),
}


def _pairs(name: str, value: object, ndim: int, dtype: npt.DTypeLike | None = None) -> list[tuple[Any, Any]]:
    """(before, after) for each axis, of a number, a pair, or a pair for each."""
    try:
        return [tuple(p) for p in np.broadcast_to(np.asarray(value, dtype), (ndim, 2)).tolist()]
    except ValueError:
        raise ValueError(f"pad: {name} is {shown(value)}; needs n, (before, after), or a pair for each axis") from None


def _widths(value: object, ndim: int) -> list[tuple[int, int]]:
    if isinstance(value, dict):
        found: list[Any] = [(0, 0)] * ndim
        for axis, width in value.items():
            found[axis_of("pad", axis, ndim, "an axis of pad_width")] = _pairs("pad_width", width, 1, object)[0]
    else:
        found = _pairs("pad_width", value, ndim, object)  # integers of any size
    return [(integer("pad", "pad_width", b, 0), integer("pad", "pad_width", a, 0)) for b, a in found]


def _constant(x: GPUTensor, widths: list[tuple[int, int]], values: Any) -> GPUTensor:
    if x.ndim == 0:
        return x.copy()
    out = creation.empty([b + n + a for (b, a), n in zip(widths, x.shape, strict=True)], x.dtype)
    # Later axes win the corners, as in NumPy: each one fills its ends along all of the others.
    for a, ((before, after), n) in enumerate(zip(widths, x.shape, strict=True)):
        if before and values is not None:
            out[along(a, slice(0, before))] = values[a][0]
        if after and values is not None:
            out[along(a, slice(before + n, None))] = values[a][1]
    out[tuple(slice(b, b + n) for (b, _), n in zip(widths, x.shape, strict=True))] = x
    return out


def _statistic(x: GPUTensor, axis: int, mode: str, length: object, width: int, last: bool) -> GPUTensor:
    """The statistic of the elements next to an end, `width` times."""
    n = x.shape[axis]
    count = n if length is None else min(integer("pad", "stat_length", length, 0), n)
    if count == 0 and mode in ("maximum", "minimum"):
        raise ValueError(f"pad: stat_length is {length}; needs 1 or more for mode {mode!r}")
    part = x[along(axis, slice(n - count, None) if last else slice(0, count))]
    found = _STATISTICS[mode](part, axis, keepdims=True)
    if dtypes.kind_of(x.dtype) in "iu":
        found = elementwise.rint(found)
    out = creation.empty((*x.shape[:axis], width, *x.shape[axis + 1 :]), x.dtype)
    out[...] = found
    return out


def _ramp(x: GPUTensor, axis: int, end: object, width: int, last: bool) -> GPUTensor:
    """From the element at an end to `end`, which stands outside."""
    edge = x[along(axis, slice(-1, None) if last else slice(0, 1))]
    wide = np.complex128 if dtypes.kind_of(x.dtype) == "c" else np.float64
    steps = creation.arange(width, dtype=np.float64) / max(width, 1)
    row = steps.reshape(*[width if a == axis else 1 for a in range(x.ndim)])
    made = (_core.as_dtype(edge, wide) - end) * row + end
    if dtypes.kind_of(x.dtype) in "iu":
        made = elementwise.floor(made)
    out = _core.cast(made, x.dtype)
    return out[along(axis, slice(None, None, -1))] if last else out


def _mirrored(x: GPUTensor, axis: int, before: int, after: int, mode: str) -> GPUTensor:
    """x and on both sides twice the end less its mirror image."""
    n = x.shape[axis]
    edge = 1 if mode == "reflect" else 0
    front = x[along(axis, slice(edge, before + edge))][along(axis, slice(None, None, -1))]
    back = x[along(axis, slice(n - after - edge, n - edge))][along(axis, slice(None, None, -1))]
    first, last = x[along(axis, slice(0, 1))], x[along(axis, slice(-1, None))]
    ends = (_core.as_dtype(end * 2 - image, x.dtype) for end, image in ((first, front), (last, back)))
    return composed.concatenate([next(ends), x, next(ends)], axis)


def _on_host(x: GPUTensor, widths: Any, mode: Any, more: dict[str, Any]) -> GPUTensor:
    return creation.array(np.pad(dtypes.host_of(x), widths, mode, **more), x.dtype)


@public()
def pad(array: Operand, pad_width: Any, mode: Any = "constant", **more: Any) -> GPUTensor:
    """`array` with `pad_width` elements more before and after: a copy.

    pad_width: n, (before, after), a pair for each axis, or a dict of these by axis. mode:
    - "constant": constant_values=, given alike, else 0;
    - "edge": the last element; "wrap": from the other end;
    - "reflect" and "symmetric": mirrored without and with the edge. reflect_type="odd": about the edge's value;
    - "linear_ramp": to end_values=, else 0;
    - "maximum", "minimum", "mean" and "median": of stat_length= elements next to the end, else of all;
    - "empty": undefined; or a function as numpy.pad calls it, on the host.
    """
    array = operand_of(array)
    if callable(mode):
        return _on_host(array, pad_width, mode, more)
    choice("pad", "mode", mode, _TAKES)
    for name in more:
        if name not in _TAKES[mode]:
            needs = " or ".join(_TAKES[mode]) or "none"
            raise ValueError(
                f"pad: {name} is no argument of mode {mode!r}; needs {needs} (unsupported keyword arguments)"
            )
    widths = _widths(pad_width, array.ndim)
    if mode == "constant":
        return _constant(array, widths, _pairs("constant_values", more.get("constant_values", 0), array.ndim))
    if mode == "empty":
        return _constant(array, widths, None)
    odd = choice("pad", "reflect_type", more.get("reflect_type", "even"), ("even", "odd")) == "odd"
    ends = _pairs("end_values", more.get("end_values", 0), array.ndim)
    lengths = _pairs("stat_length", more.get("stat_length"), array.ndim)
    out = array
    for a, (before, after) in enumerate(widths):
        n = out.shape[a]
        if not before and not after:
            continue
        if n == 0:
            raise ValueError(f"pad: axis {a} has no elements, which mode {mode!r} cannot extend")
        if mode in _STATISTICS:
            parts = [_statistic(out, a, mode, lengths[a][0], before, False), out]
            out = composed.concatenate([*parts, _statistic(out, a, mode, lengths[a][1], after, True)], a)
        elif mode == "linear_ramp":
            parts = [_ramp(out, a, ends[a][0], before, False), out, _ramp(out, a, ends[a][1], after, True)]
            out = composed.concatenate(parts, a)
        elif odd and n > 1:  # one element alone is repeated, as NumPy's
            if max(before, after) > n - (mode == "reflect"):
                return _on_host(array, widths, mode, more)
            out = _mirrored(out, a, before, after, mode)
        else:
            places = np.pad(np.arange(n), (before, after), mode=mode)
            out = out[along(a, creation.array(places))]
    return out.copy() if out is array else out
