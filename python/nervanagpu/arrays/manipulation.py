"""Tensors in another shape or order, joined and split, as NumPy's functions: views where the memory allows it.

Where a result cannot be a view it is a copy made on the device. Arguments are tensors, or anything that
nervanagpu.array understands. ValueError for axes that do not exist and shapes that do not fit.
"""

from __future__ import annotations

import builtins
import itertools
import math
from collections.abc import Sequence
from typing import Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes, memory_order
from nervanagpu.calls.arguments import (
    AxisError,
    choice,
    host_array,
    integer,
    integers,
    iterable,
    no_bool,
    shown,
    tensor,
)
from nervanagpu.calls.protocols import DeviceLike
from nervanagpu.function_table import public
from nervanagpu.math import composed, elementwise, reductions, ufunc_keywords
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of, values_for

Axes = SupportsIndex | Sequence[SupportsIndex]

_strided_reshape = GPUTensor.reshape


def axis_of(function: str, axis: object, ndim: int, name: str = "axis") -> int:
    """An axis as one of 0 .. ndim - 1."""
    number = integer(function, name, axis)
    if not -ndim <= number < ndim:
        raise AxisError(f"{function}: {name} {number} is out of range; the operand has {ndim} axes")
    return number % ndim


def along(axis: int, part: object) -> tuple[Any, ...]:
    """The key of `part` along an axis, and of all along those in front of it."""
    return (slice(None),) * axis + (part,)


def _axes(function: str, axis: object, ndim: int, name: str = "axis") -> list[int]:
    found = [axis_of(function, a, ndim, name) for a in integers(function, name, axis)]
    if len(set(found)) != len(found):
        raise ValueError(f"{function}: {name} {axis} has an axis twice")
    return found


def _reshape_method(self: GPUTensor, *shape: Any, order: str = "C", copy: bool | None = None) -> GPUTensor:
    """The elements in another shape: a view where strides allow it, else a copy; one length may be -1.

    order: "C" (the last axis fastest), "F" (the first), or "A" (F of what lies so). copy: True for a copy always, False
    for ValueError instead.
    """
    if isinstance(copy, str):
        raise ValueError(f"reshape: copy is {shown(copy)}; needs a bool or None (strings are not allowed for 'copy')")
    if order != "C":
        order = choice("reshape", "order", order.upper() if isinstance(order, str) else order, ("C", "F", "A"))
    if order == "F" or (order == "A" and self.flags.fnc):
        lengths = _core.shape(shape[0] if len(shape) == 1 else shape)
        turned = _reshape_method(self.transpose(), *reversed(lengths), copy=copy)
        return turned.transpose()
    if copy:
        return _strided_reshape(self.copy(), *shape)
    try:
        return _strided_reshape(self, *shape)
    except ValueError as error:
        if copy is False and "contiguous" in str(error):
            raise ValueError(f"{error}: Unable to avoid creating a copy") from None
        if "contiguous" not in str(error):
            raise
    return _strided_reshape(self.copy(), *shape)


@public()
def reshape(x: Operand, /, shape: Axes, order: str = "C", *, copy: bool | None = None) -> GPUTensor:
    """The elements of x in another shape, as x.reshape()."""
    return _reshape_method(operand_of(x), shape, order=order, copy=copy)


@public(method=True)
def ravel(x: Operand, order: str = "C") -> GPUTensor:
    """The elements in one row: a view of a contiguous tensor. order: C, F, A, or K as they lie in memory."""
    given = operand_of(x)
    view = given if order == "C" else _in_order("ravel", given, order)
    return _strided_reshape(view, view.size) if view.contiguous else _flatten(view)


def _flatten(self: GPUTensor, order: str = "C") -> GPUTensor:
    """The elements in one row, a copy."""
    view = _in_order("flatten", self, order)
    row = creation.empty(self.size, self.dtype)  # a tensor of its own, no view of a copy
    _strided_reshape(row, view.shape)[...] = view
    return row


def _in_order(function: str, x: GPUTensor, order: object) -> GPUTensor:
    """The view whose elements, row by row, are those of x in this order."""
    letter = memory_order.wanted(function, order)
    axes = memory_order.axes_walked(x) if letter == "K" else memory_order.axes_in(function, x, letter)
    return x if axes is None else x.transpose(*axes)


@public("permute_dims")
def transpose(x: Operand, axes: Sequence[SupportsIndex] | None = None) -> GPUTensor:
    """The view with its axes in the given order; reversed without it."""
    x = operand_of(x)
    if axes is None:
        return x.transpose()
    return x.transpose(*_axes("transpose", no_bool("transpose", "axes", axes), x.ndim, "axes"))


@public(method=True)
def swapaxes(x: Operand, axis1: int, axis2: int) -> GPUTensor:
    """The view with two axes swapped."""
    x = operand_of(x)
    order = list(range(x.ndim))
    a, b = axis_of("swapaxes", axis1, x.ndim, "axis1"), axis_of("swapaxes", axis2, x.ndim, "axis2")
    order[a], order[b] = order[b], order[a]
    return x.transpose(*order) if order else x


@public()
def moveaxis(x: Operand, source: Axes, destination: Axes) -> GPUTensor:
    """The view with the axes `source` at the places `destination`, the others in order."""
    x = operand_of(x)
    come, go = _axes("moveaxis", source, x.ndim, "source"), _axes("moveaxis", destination, x.ndim, "destination")
    if len(come) != len(go):
        raise ValueError(f"moveaxis: there are {len(come)} in source and {len(go)} in destination; needs as many")
    order = [a for a in range(x.ndim) if a not in come]
    for to, at in sorted(zip(go, come, strict=True)):
        order.insert(to, at)
    return x.transpose(*order) if order else x


@public()
def rollaxis(x: Operand, axis: int, start: int = 0) -> GPUTensor:
    """The view with `axis` in front of the axis `start`."""
    x = operand_of(x)
    at = axis_of("rollaxis", axis, x.ndim)
    to = integer("rollaxis", "start", start, -x.ndim, x.ndim)
    to = to + x.ndim if to < 0 else to
    return moveaxis(x, at, to - 1 if at < to else to)


@public()
def expand_dims(x: Operand, axis: Axes = 0) -> GPUTensor:
    """The view with new axes of length 1, which stand at `axis` of the result."""
    x = operand_of(x)
    new = integers("expand_dims", "axis", axis)
    places = _axes("expand_dims", new, x.ndim + len(new))
    # With the dots what has no axes is a view, too.
    return x[(*(None if i in places else slice(None) for i in range(x.ndim + len(new))), ...)]


@public(method=True)
def squeeze(x: Operand, axis: Axes | None = None) -> GPUTensor:
    """The view without the axes of length 1; or without those of `axis`, which must have that length."""
    x, axis = operand_of(x), no_bool("squeeze", "axis", axis)
    if x.ndim == 0 and axis in (0, -1, (0,), (-1,)):
        return x
    gone = [a for a in range(x.ndim) if x.shape[a] == 1] if axis is None else _axes("squeeze", axis, x.ndim)
    for a in gone:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze: axis {a} has length {x.shape[a]}; needs 1")
    # With the dots what is left is a view, also where it is one element.
    return x[(*(0 if a in gone else slice(None) for a in range(x.ndim)), ...)] if gone else x


@public()
def broadcast_to(array: Operand, shape: Axes, subok: bool = False) -> GPUTensor:
    """`array` repeated along axes of length 1 and new axes in front, where its steps are 0: a read-only view."""
    array = operand_of(array)
    lengths = _core.shape(shape)
    own_lengths = (1,) * (len(lengths) - array.ndim) + array.shape
    if len(own_lengths) > len(lengths) or any(n not in (1, m) for n, m in zip(own_lengths, lengths, strict=True)):
        raise ValueError(f"broadcast_to: array has shape {array.shape}, which does not broadcast to {lengths}")
    own = [0 if n == 1 else step for n, step in zip(array.shape, array.element_strides, strict=True)]
    steps = [0] * (len(lengths) - array.ndim) + own
    return _core.based_on(array, _core.adopt(array.ptr, lengths, steps, array.dtype, array, True))


@public()
def broadcast_arrays(*arrays: Operand, subok: bool = False) -> tuple[GPUTensor, ...]:
    """All of them in the shape that they broadcast to, as broadcast_to has them."""
    tensors = [operand_of(a) for a in arrays]
    shape = np.broadcast_shapes(*(t.shape for t in tensors))
    return tuple(t if t.shape == shape else broadcast_to(t, shape) for t in tensors)


@public()
def broadcast_shapes(*shapes: Axes) -> tuple[int, ...]:
    """The shape that these broadcast to."""
    try:
        return np.broadcast_shapes(*(tuple(integers("broadcast_shapes", "shapes", s, 0)) for s in shapes))
    except ValueError as error:
        raise ValueError(f"broadcast_shapes: shapes are {shown(shapes)} ({error})") from None


@overload
def atleast_1d(array: Operand, /) -> GPUTensor: ...


@overload
def atleast_1d(*arrays: Operand) -> tuple[GPUTensor, ...]: ...


@public()
def atleast_1d(*arrays: Operand) -> GPUTensor | tuple[GPUTensor, ...]:
    """Views with one axis or more; of several a tuple."""
    made = [x if x.ndim else x[None] for x in map(operand_of, arrays)]
    return made[0] if len(made) == 1 else tuple(made)


@overload
def atleast_2d(array: Operand, /) -> GPUTensor: ...


@overload
def atleast_2d(*arrays: Operand) -> tuple[GPUTensor, ...]: ...


@public()
def atleast_2d(*arrays: Operand) -> GPUTensor | tuple[GPUTensor, ...]:
    """Views with two axes or more, new ones in front; of several a tuple."""
    made = [x if x.ndim >= 2 else x[(None,) * (2 - x.ndim)] for x in map(operand_of, arrays)]
    return made[0] if len(made) == 1 else tuple(made)


@overload
def atleast_3d(array: Operand, /) -> GPUTensor: ...


@overload
def atleast_3d(*arrays: Operand) -> tuple[GPUTensor, ...]: ...


@public()
def atleast_3d(*arrays: Operand) -> GPUTensor | tuple[GPUTensor, ...]:
    """Views with three axes or more: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1); of several a tuple."""
    made = []
    for x in map(operand_of, arrays):
        y = x[(None,) * (2 - x.ndim)] if x.ndim < 2 else x
        made.append(y if y.ndim >= 3 else y[:, :, None])
    return made[0] if len(made) == 1 else tuple(made)


def _some(function: str, arrays: object) -> list[Any]:
    """The operands of a sequence, one or more."""
    given = iterable(function, "arrays", arrays)
    if not given:
        raise ValueError(f"{function}: arrays is empty; needs one or more")
    return given


@public("row_stack", numpy="vstack")
def vstack(tup: Sequence[Operand], *, dtype: npt.DTypeLike | None = None, casting: str = "same_kind") -> GPUTensor:
    """Rows below each other."""
    made = [atleast_2d(a) for a in _some("vstack", tup)]
    return composed.concatenate(made, 0, dtype=dtype, casting=casting)


@public()
def hstack(tup: Sequence[Operand], *, dtype: npt.DTypeLike | None = None, casting: str = "same_kind") -> GPUTensor:
    """Side by side: along the second axis, of one axis along that."""
    made = [atleast_1d(a) for a in _some("hstack", tup)]
    return composed.concatenate(made, 0 if made[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@public()
def dstack(tup: Sequence[Operand]) -> GPUTensor:
    """One after the other along the third axis."""
    return composed.concatenate([atleast_3d(a) for a in _some("dstack", tup)], 2)


@public()
def column_stack(tup: Sequence[Operand]) -> GPUTensor:
    """Those of one axis as columns, others as they are, side by side."""
    made = [x if x.ndim > 1 else atleast_1d(x)[:, None] for x in map(operand_of, _some("column_stack", tup))]
    return composed.concatenate(made, 1)


@public()
def unstack(x: Operand, /, *, axis: int = 0) -> tuple[GPUTensor, ...]:
    """The views along `axis`, which goes."""
    x = operand_of(x)
    at = axis_of("unstack", axis, x.ndim)
    return tuple(x[along(at, i)] for i in range(x.shape[at]))


@public()
def array_split(ary: Operand, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[GPUTensor]:
    """Views of parts along `axis`: as many as the number says, as equal as can be, or cut at these indices."""
    ary = operand_of(ary)
    at = axis_of("array_split", axis, ary.ndim)
    length = ary.shape[at]
    if isinstance(indices_or_sections, int | np.integer):
        count = integer("array_split", "indices_or_sections", indices_or_sections, 1)
        small, more = builtins.divmod(length, count)
        cuts = [0, *np.cumsum([small + (k < more) for k in range(count)]).tolist()]
    else:
        cuts = [0, *integers("array_split", "indices_or_sections", indices_or_sections), length]
    return [ary[along(at, slice(a, b))] for a, b in itertools.pairwise(cuts)]


@public()
def split(ary: Operand, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[GPUTensor]:
    """Views of parts along `axis`: equal ones, as many as the number says, or cut at these indices."""
    ary = operand_of(ary)
    at = axis_of("split", axis, ary.ndim)
    count = indices_or_sections if isinstance(indices_or_sections, int | np.integer) else 0
    if count > 0 and ary.shape[at] % count:
        raise ValueError(f"split: axis {axis} has length {ary.shape[at]}; needs a multiple of {count}")
    return array_split(ary, indices_or_sections, axis)


@public()
def vsplit(ary: Operand, indices_or_sections: int | Sequence[int]) -> list[GPUTensor]:
    """split along the first of two or more axes."""
    if operand_of(ary).ndim < 2:
        raise ValueError(f"vsplit: ary has {operand_of(ary).ndim} axes; needs two or more")
    return split(ary, indices_or_sections, 0)


@public()
def hsplit(ary: Operand, indices_or_sections: int | Sequence[int]) -> list[GPUTensor]:
    """split along the second axis, of one axis along that."""
    if operand_of(ary).ndim == 0:
        raise ValueError("hsplit: x has no axes; needs one or more")
    return split(ary, indices_or_sections, 0 if operand_of(ary).ndim == 1 else 1)


@public()
def dsplit(ary: Operand, indices_or_sections: int | Sequence[int]) -> list[GPUTensor]:
    """split along the third axis."""
    if operand_of(ary).ndim < 3:
        raise ValueError(f"dsplit: ary has {operand_of(ary).ndim} axes; needs three or more")
    return split(ary, indices_or_sections, 2)


@public()
def flip(x: Operand, axis: Axes | None = None) -> GPUTensor:
    """The view with the elements along `axis` (None: all axes) from the last to the first."""
    x = operand_of(x)
    turned = list(range(x.ndim)) if axis is None else _axes("flip", axis, x.ndim)
    return x[tuple(slice(None, None, -1) if a in turned else slice(None) for a in range(x.ndim))] if turned else x[()]


@public()
def fliplr(x: Operand) -> GPUTensor:
    """flip along the second axis."""
    return flip(x, 1)


@public()
def flipud(x: Operand) -> GPUTensor:
    """flip along the first axis."""
    return flip(x, 0)


@public()
def rot90(x: Operand, k: int = 1, axes: Sequence[int] = (0, 1)) -> GPUTensor:
    """The view rotated k times by 90 degrees, from the first of `axes` towards the second."""
    x = operand_of(x)
    a, b = _axes("rot90", axes, x.ndim, "axes")
    turns = integer("rot90", "k", k) % 4
    if turns == 0:
        return x
    if turns == 2:
        return flip(x, (a, b))
    return swapaxes(flip(x, b), a, b) if turns == 1 else flip(swapaxes(x, a, b), b)


@public()
def roll(x: Operand, shift: Axes, axis: Axes | None = None) -> GPUTensor:
    """The elements moved on by `shift` along `axis` (None: flattened), the last ones to the front: a copy."""
    x = operand_of(x)
    if axis is None:
        return _reshape_method(roll(ravel(x), shift, 0), *x.shape)
    if isinstance(shift, str | float):  # as NumPy's
        try:
            shift = int(shift)
        except ValueError:
            raise ValueError(f"roll: shift is {shown(shift)}; needs an integer") from None
    axes, steps = integers("roll", "axis", axis), integers("roll", "shift", shift)
    if len(steps) == 1:
        steps = steps * len(axes)
    if len(axes) == 1:
        axes = axes * len(steps)
    if len(axes) != len(steps):
        raise ValueError(f"roll: there are {len(steps)} in shift and {len(axes)} in axis; needs as many")
    moved = [0] * x.ndim
    for a, s in zip(axes, steps, strict=True):
        moved[axis_of("roll", a, x.ndim)] += s
    out = x
    for a, s in enumerate(moved):
        length = x.shape[a]
        if length and s % length:
            parts = out[along(a, slice(length - s % length, None))], out[along(a, slice(0, length - s % length))]
            out = composed.concatenate(parts, a)
    return out.copy() if out is x else out


@public()
def tile(x: Operand, reps: Axes) -> GPUTensor:
    """x repeated as a whole, so many times along each axis: a copy."""
    x = operand_of(x)
    counts = integers("tile", "reps", reps, 0)
    ndim = builtins.max(x.ndim, len(counts))
    counts = [1] * (ndim - len(counts)) + counts
    lengths = (1,) * (ndim - x.ndim) + x.shape
    # Every axis after one that says which repetition it is.
    apart = _reshape_method(x, *[n for length in lengths for n in (1, length)]) if ndim else x
    whole = creation.empty([n for c, length in zip(counts, lengths, strict=True) for n in (c, length)], x.dtype)
    whole[...] = apart
    return _reshape_method(whole, *[c * length for c, length in zip(counts, lengths, strict=True)])


@public(method=True)
def repeat(x: Operand, repeats: object, axis: int | None = None) -> GPUTensor:
    """Each element along `axis` (None: flattened) so many times: a copy. `repeats`: a number, or one for each
    element.
    """
    x = operand_of(x)
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        x, axis = ravel(x), 0
    at = axis_of("repeat", no_bool("repeat", "axis", axis), x.ndim)
    if isinstance(repeats, int | np.integer):
        count = int(_counts(repeats, 1)[0])
        whole = creation.empty((*x.shape[: at + 1], count, *x.shape[at + 1 :]), x.dtype)
        whole[...] = x[along(at + 1, None)]
        return _reshape_method(whole, *x.shape[:at], x.shape[at] * count, *x.shape[at + 1 :])
    places = np.repeat(np.arange(x.shape[at]), _counts(repeats, x.shape[at]))
    return x[along(at, creation.array(places))]


def _counts(repeats: object, length: int) -> npt.NDArray[Any]:
    """How often each of `length` elements is repeated: numbers of Python as integers, arrays of what int64 holds."""
    given = dtypes.on_host(repeats)
    if isinstance(given, np.ndarray) and not np.can_cast(given.dtype, np.int64):
        raise TypeError(f"repeat: repeats have dtype {given.dtype}; needs integers that int64 holds")
    try:
        counts = np.asarray(given, np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        needs = "integers that int64 holds" if isinstance(error, OverflowError) else f"integers ({error})"
        raise type(error)(f"repeat: repeats is {shown(repeats)}; needs {needs}") from None
    if counts.size and counts.min() < 0:
        raise ValueError(f"repeat: repeats has {counts.min()}; needs 0 or more (counts cannot be negative)")
    if counts.ndim > 1 or counts.size not in (1, length):
        raise ValueError(f"repeat: repeats have shape {counts.shape}; needs one, or {length}, the same length as x")
    return np.broadcast_to(counts, (length,))


@public(composed=True)
def append(x: Operand, values: Operand, axis: int | None = None) -> GPUTensor:
    """x and then `values` along `axis`; None: both flattened."""
    x, y = operand_of(x), operand_of(values)
    return composed.concatenate([ravel(x), ravel(y)], 0) if axis is None else composed.concatenate([x, y], axis)


@public()
def delete(x: Operand, obj: Any, axis: int | None = None) -> GPUTensor:
    """x without the elements `obj` (an integer, a slice, integers or a mask) along `axis` (None: flattened): a
    copy.
    """
    x = operand_of(x)
    if axis is None:
        x, axis = ravel(x), 0
    at = axis_of("delete", axis, x.ndim)
    gone = obj.get() if isinstance(obj, GPUTensor) else obj
    try:
        kept = np.delete(np.arange(x.shape[at]), gone)
    except (TypeError, ValueError) as error:
        raise type(error)(f"delete: obj is {shown(obj)} ({error})") from None
    except IndexError as error:
        raise IndexError(f"delete: obj is {shown(obj)}; axis {at} has length {x.shape[at]} ({error})") from None
    return x[along(at, creation.array(kept))]


@public()
def insert(x: Operand, obj: object, values: object, axis: int | None = None) -> GPUTensor:
    """x with `values` in front of the elements `obj` (an integer or integers) along `axis` (None: flattened): a
    copy.
    """
    x = operand_of(x)
    if axis is None:
        x, axis = ravel(x), 0
    at = axis_of("insert", axis, x.ndim)
    length = x.shape[at]
    where = np.arange(length)[obj] if isinstance(obj, slice) else host_array("obj", obj)
    if where.dtype.kind == "b" and where.ndim == 1:
        where = np.flatnonzero(where)
    elif where.size == 0 and where.ndim == 1:
        where = where.astype(np.int64)
    if where.dtype.kind not in "iu":
        raise TypeError(f"insert: obj is {shown(obj)}; needs an integer or integers")
    given = values_for(x.dtype, values)
    count: int = where.size
    alone = count == 1
    if alone:  # all of them stand there; of a number as index their first axis is `axis`, as in NumPy
        given = given.reshape(*[1] * (x.ndim - given.ndim), *given.shape)
        given = moveaxis(given, 0, at) if where.ndim == 0 else given
        count, where = given.shape[at], where.reshape(())
    marks = np.insert(np.arange(length), where, np.full(count, -1) if alone else -1)
    new = np.flatnonzero(marks < 0)
    old = np.flatnonzero(marks >= 0)
    out = creation.empty((*x.shape[:at], marks.size, *x.shape[at + 1 :]), x.dtype)
    out[along(at, creation.array(old))] = x
    out[along(at, creation.array(new))] = _core.cast(given, x.dtype)
    return out


@public()
def resize(a: Operand, new_shape: Axes) -> GPUTensor:
    """The elements again and again until the shape is full: a copy."""
    a = operand_of(a)
    lengths = _core.shape(new_shape)
    if builtins.min(lengths, default=0) < 0:
        raise ValueError(f"resize: new_shape is {lengths}; needs lengths of 0 or more")
    count = math.prod(lengths)
    if a.size == 0:
        return creation.zeros(lengths, a.dtype)
    row = tile(ravel(a), -(-count // a.size) if count else 0)
    return _reshape_method(row[:count], *lengths)


@public()
def trim_zeros(x: Operand, trim: str = "fb", axis: Axes | None = None) -> GPUTensor:
    """x without the zeros in front ("f") and after ("b") along `axis` (None: all axes): a view. Waits for where they
    are."""
    x = operand_of(x)
    choice("trim_zeros", "trim", trim.lower() if isinstance(trim, str) else trim, ("f", "b", "fb", "bf"))
    axes = range(x.ndim) if axis is None else _axes("trim_zeros", axis, x.ndim)
    key = [slice(None)] * x.ndim
    others = elementwise.not_equal(x, 0)
    for a in axes:
        places = np.flatnonzero(reductions.any(others, tuple(b for b in range(x.ndim) if b != a)).get())
        first, last = (int(places[0]), int(places[-1]) + 1) if places.size else (0, 0)
        if not places.size:
            key[a] = slice(0, 0)
            continue
        key[a] = slice(first if "f" in trim.lower() else 0, last if "b" in trim.lower() else x.shape[a])
    return x[tuple(key)] if key else x


@public()
def copyto(dst: GPUTensor, src: Operand, casting: str = "same_kind", where: Operand = True) -> None:
    """dst[...] = src, where the mask says so."""
    tensor("copyto", "dst", dst)
    choice("copyto", "casting", casting, ufunc_keywords.CASTINGS)
    taking = "c" if isinstance(src, complex) else "fc" if isinstance(src, float) else "iufc"
    if type(src) in (int, float, complex) and dtypes.kind_of(dst.dtype) in taking:
        value = creation.full((), src, dst.dtype)  # Python's numbers are weak
    else:
        value = operand_of(src)
    if not dtypes.can_cast(value.dtype, dst.dtype, casting):
        raise TypeError(f"copyto: src has dtype {value.dtype}; needs one that converts to {dst.dtype} ({casting})")
    if where is True:
        dst[...] = _core.as_dtype(value, dst.dtype)
        return
    while value.ndim > dst.ndim and value.shape[0] == 1:  # axes that an assignment leaves out, too
        value = value[0]
    _core.assign(dst, elementwise.where(ufunc_keywords.mask_of("copyto", where), _core.cast(value, dst.dtype), dst))


@public()
def astype(x: GPUTensor, dtype: npt.DTypeLike, /, *, copy: bool = True, device: DeviceLike = None) -> GPUTensor:
    """x converted to `dtype`, as x.astype()."""
    tensor("astype", "x", x)
    return x if not copy and x.dtype == _core.dtype(dtype) else x.astype(dtype)


@public()
def shape(x: Operand) -> tuple[int, ...]:
    """The lengths of the axes."""
    return operand_of(x).shape


@public()
def ndim(x: Operand) -> int:
    """How many axes there are."""
    return operand_of(x).ndim


@public()
def size(x: Operand, axis: Axes | None = None) -> int:
    """How many elements there are, or along `axis`, one or several."""
    x = operand_of(x)
    return x.size if axis is None else math.prod(x.shape[a] for a in _axes("size", axis, x.ndim))


@public("ascontiguousarray")
def require_contiguous(x: Operand, dtype: npt.DTypeLike | None = None) -> GPUTensor:
    """x itself if it is contiguous and of that dtype, else a copy that is; of no axes a row of one."""
    x = operand_of(x) if dtype is None else creation.asarray(x, dtype)
    return x.reshape(1) if x.ndim == 0 else x if x.contiguous else x.copy()


def _members() -> dict[str, Any]:
    return {"reshape": _reshape_method, "flatten": _flatten}
