"""Running sums and products, differences and integrals along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.arrays.manipulation import along, axis_of, moveaxis, ravel
from nervanagpu.calls.arguments import integer, integers, no_bool, shown
from nervanagpu.function_table import public
from nervanagpu.math import composed, elementwise, reductions
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of


def _row(function: str, x: object, axis: int | None) -> tuple[GPUTensor, int]:
    x, axis = operand_of(x), no_bool(function, "axis", axis)
    if axis is None:
        return ravel(x), 0
    at = axis_of(function, axis, max(x.ndim, 1))
    return x if x.ndim else ravel(x), at


@public(method=True)
def cumsum(
    x: Operand, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: GPUTensor | None = None
) -> GPUTensor:
    """Sums of the elements up to and with each one along `axis` (None: of x, flattened), in a fixed order.

    Integers and bool give int64 or uint64; float16 and bfloat16 are summed in float32 and rounded at the end. `dtype`:
    what x is converted to before.
    """
    operand, at = _row("cumsum", x, axis)
    if out is not None and dtype is None:
        dtype = reductions.of_out("cumsum", operand, out)
    if dtype is not None:
        operand = _core.as_dtype(operand, dtype)
    result = _core.cumsum(operand, at)
    if dtype is not None and result.dtype != _core.dtype(dtype):
        result = _core.cast(result, dtype)
    return reductions.stored("cumsum", result, out, "unsafe")


@public(method=True)
def cumprod(
    x: Operand, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: GPUTensor | None = None
) -> GPUTensor:
    """Products of the elements up to and with each one along `axis` (None: of x, flattened), in a fixed order.

    By doubling: log2(length) kernels. Integers and bool give int64 or uint64.
    """
    operand, at = _row("cumprod", x, axis)
    if out is not None and dtype is None:
        dtype = reductions.of_out("cumprod", operand, out)
    if dtype is not None:
        operand = _core.as_dtype(operand, dtype)
    kind = dtypes.kind_of(operand.dtype)
    if dtype is None and kind in "biu":
        operand = _core.as_dtype(operand, np.uint64 if kind == "u" else np.int64)
    result = operand.copy()
    apart, length = 1, operand.shape[at]
    while apart < length:
        front = result[along(at, slice(0, length - apart))]
        back = result[along(at, slice(apart, None))]
        back[...] = elementwise.multiply(back, front.copy())
        apart *= 2
    return reductions.stored("cumprod", result, out, "unsafe")


def _standard(
    name: str, x: Any, axis: int | None, dtype: Any, include_initial: bool, out: GPUTensor | None
) -> GPUTensor:
    x = operand_of(x)
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"{name}: axis is None and x has {x.ndim} axes; needs an axis")
        x, axis = ravel(x), 0
    elif x.ndim == 0:
        x = x.reshape(1)
    if out is not None and dtype is None:
        dtype = reductions.of_out(name, x, out)
    result = (cumsum if name == "cumulative_sum" else cumprod)(x, axis, dtype)
    if include_initial:
        at = axis_of(name, axis, x.ndim)
        first = (*x.shape[:at], 1, *x.shape[at + 1 :])
        one = creation.full(first, 0 if name == "cumulative_sum" else 1, result.dtype)
        result = composed.concatenate([one, result], at)
    return reductions.stored(name, result, out, "unsafe")


@public(composed=True)
def cumulative_sum(
    x: Operand,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: GPUTensor | None = None,
    include_initial: bool = False,
) -> GPUTensor:
    """cumsum along `axis`, which may be left out of one axis alone; `include_initial`: with a 0 in front."""
    return _standard("cumulative_sum", x, axis, dtype, include_initial, out)


@public(composed=True)
def cumulative_prod(
    x: Operand,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: GPUTensor | None = None,
    include_initial: bool = False,
) -> GPUTensor:
    """cumprod along `axis`, which may be left out of one axis alone; `include_initial`: with a 1 in front."""
    return _standard("cumulative_prod", x, axis, dtype, include_initial, out)


@public(composed=True)
def nancumsum(
    x: Operand, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: GPUTensor | None = None
) -> GPUTensor:
    """cumsum with NaN as 0."""
    x = operand_of(x)
    numbers = elementwise.where(elementwise.isnan(x), 0, x) if dtypes.kind_of(x.dtype) in "fc" else x
    return cumsum(numbers, axis, dtype, out)


@public(composed=True)
def nancumprod(
    x: Operand, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: GPUTensor | None = None
) -> GPUTensor:
    """cumprod with NaN as 1."""
    x = operand_of(x)
    numbers = elementwise.where(elementwise.isnan(x), 1, x) if dtypes.kind_of(x.dtype) in "fc" else x
    return cumprod(numbers, axis, dtype, out)


@public()
def diff(x: Operand, n: int = 1, axis: int = -1, prepend: object = None, append: object = None) -> GPUTensor:
    """Each element along `axis` less the one before, n times; bool: whether they differ.

    prepend, append: what stands before and after before that; a number or a tensor.
    """
    x = operand_of(x)
    count = integer("diff", "n", n, 0)
    if count == 0:
        return x
    if x.ndim == 0:
        raise ValueError("diff: x has no axes; needs one or more")
    at = axis_of("diff", axis, x.ndim)
    edge = (*x.shape[:at], 1, *x.shape[at + 1 :])
    parts = [x]
    for more, where in ((prepend, 0), (append, 2)):
        if more is None:
            continue
        given = operand_of(more)
        if given.ndim == 0:
            given = creation.full(edge, given.item(), given.dtype)
        parts = [given, *parts] if where == 0 else [*parts, given]
    result = composed.concatenate(parts, at) if len(parts) > 1 else x
    for _ in range(min(count, result.shape[at])):  # nothing is left then
        after, before = result[along(at, slice(1, None))], result[along(at, slice(0, -1))]
        different = dtypes.kind_of(result.dtype) == "b"
        result = elementwise.not_equal(after, before) if different else elementwise.subtract(after, before)
    return result


@public()
def ediff1d(x: Operand, to_end: object = None, to_begin: object = None) -> GPUTensor:
    """Each element of x, flattened, less the one before."""
    given = operand_of(x)
    if dtypes.kind_of(given.dtype) == "b":
        raise TypeError("ediff1d: x is bool, whose difference NumPy does not have; needs numbers (or diff)")
    row = diff(ravel(given))

    def edge(name: str, value: object) -> list[GPUTensor]:
        if value is None:
            return []
        given = operand_of(value)
        if not dtypes.converts(given.dtype, row.dtype):
            raise TypeError(f"ediff1d: {name} is {given.dtype}; needs what becomes {row.dtype}")
        return [_core.as_dtype(ravel(given), row.dtype)]

    front, back = edge("to_begin", to_begin), edge("to_end", to_end)
    return composed.concatenate([*front, row, *back], 0) if front or back else row


@public()
def trapezoid(y: Operand, x: Operand | None = None, dx: float = 1.0, axis: int = -1) -> GPUTensor:
    """The integral of y along `axis` by the trapezoidal rule; x: where y is sampled, or steps of dx."""
    y = operand_of(y)
    rows = moveaxis(y, axis_of("trapezoid", axis, y.ndim), -1)
    steps: Any = dx
    if x is not None:
        places = operand_of(x)
        steps = diff(places) if places.ndim < 2 else moveaxis(diff(places, axis=axis), axis, -1)
    return reductions.sum(steps * (rows[..., 1:] + rows[..., :-1]) / 2.0, -1)


def _distances(axis: int, length: int, spacing: Operand) -> Operand:
    """A number, or the distances between neighbours of an axis whose coordinates are given."""
    places = operand_of(spacing)
    if places.ndim == 0:
        return spacing
    if places.shape != (length,):
        raise ValueError(
            f"gradient: spacing of axis {axis} has shape {places.shape}; needs a number or {length} coordinates"
        )
    apart = diff(_core.as_dtype(places, np.float64) if dtypes.kind_of(places.dtype) in "iu" else places)
    first = apart[:1]
    return first if bool(reductions.all(elementwise.equal(apart, first))) else apart


def _at_edge(f: GPUTensor, axis: int, near: Any, far: Any, order: int, last: bool) -> GPUTensor:
    """The difference at an end: of two elements, or by the parabola through three. near, far: their distances."""

    def element(k: int) -> GPUTensor:
        at = -1 - k if last else k
        return f[along(axis, slice(at, at + 1 or None))]

    if order == 1:
        made: GPUTensor = (element(0) - element(1) if last else element(1) - element(0)) / near
        return made
    both = near + far
    first, second, third = -(near + both) / (near * both), both / (near * far), -near / (far * both)
    first, second, third = (-first, -second, -third) if last else (first, second, third)
    made = element(0) * first + element(1) * second + element(2) * third
    return made


def _inside(f: GPUTensor, axis: int, apart: Any) -> GPUTensor:
    """Central differences; of uneven distances those of the parabola through three elements."""
    before, here, after = (f[along(axis, slice(i, i - 2 or None))] for i in (0, 1, 2))
    if not isinstance(apart, GPUTensor) or apart.size == 1:
        made: GPUTensor = (after - before) / (2.0 * apart)
        return made
    gaps = apart.reshape(-1, *[1] * (f.ndim - 1 - axis))
    near, far = gaps[:-1], gaps[1:]
    both = near + far
    made = before * (-far / (near * both)) + here * ((far - near) / (near * far)) + after * (near / (far * both))
    return made


@public()
def gradient(
    f: Operand, *spacing: Operand, axis: object = None, edge_order: int = 1
) -> GPUTensor | tuple[GPUTensor, ...]:
    """Central differences along each axis (or `axis`, one or several) over steps of `spacing` (1).

    A spacing is one number, or the coordinates along the axis; differences are then exact of parabolas. edge_order: at
    the ends differences of two elements (1), or those of the parabola through three (2). One axis that is named gives a
    tensor, several a tuple.
    """
    f = operand_of(f)
    if dtypes.kind_of(f.dtype) == "b":
        raise TypeError("gradient: f is of bool, whose difference NumPy does not have; needs numbers")
    if dtypes.kind_of(f.dtype) in "iu":
        f = _core.as_dtype(f, np.float64)
    order = integer("gradient", "edge_order", edge_order, 1, 2)
    named = range(f.ndim) if axis is None else integers("gradient", "axis", axis)
    axes = [axis_of("gradient", a, f.ndim) for a in named]
    if len(set(axes)) != len(axes):
        raise ValueError(f"gradient: axis is {shown(axis)}; names an axis twice")
    steps = list(spacing) if spacing else [1.0]
    if len(steps) == 1 and (len(axes) == 1 or operand_of(steps[0]).ndim == 0):
        steps = steps * len(axes)
    if len(steps) != len(axes):
        raise TypeError(f"gradient: there are {len(steps)} in spacing; needs one number or {len(axes)}")
    results = []
    for a, h in zip(axes, steps, strict=True):
        if f.shape[a] < order + 1:
            raise ValueError(f"gradient: axis {a} has length {f.shape[a]}; needs {order + 1} or more")
        apart = _distances(a, f.shape[a], h)
        out = creation.empty(f.shape, f.dtype)
        if f.shape[a] > 2:
            out[along(a, slice(1, -1))] = _inside(f, a, apart)
        if isinstance(apart, GPUTensor) and apart.size > 1:
            first: tuple[Operand, Operand] = (apart[0], apart[1])
            last: tuple[Operand, Operand] = (apart[-1], apart[-2])
        else:
            first = last = (apart, apart)
        out[along(a, slice(0, 1))] = _at_edge(f, a, *first, order, False)
        out[along(a, slice(-1, None))] = _at_edge(f, a, *last, order, True)
        results.append(out)
    return results[0] if len(results) == 1 else tuple(results)
