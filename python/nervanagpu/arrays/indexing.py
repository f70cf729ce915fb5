"""Indexing by arrays, and running sums: `x[idx]`, `x[mask]`, take, nonzero, cumsum, add_at.

`x[key]` with integer or boolean arrays (tensors, NumPy arrays, lists; mixed with slices, integers, ... and None) means
what it means to NumPy: a copy. Assignments to it change `x`; of several values for one element the last one stays.
Negative indices count from the end. Indices are checked (IndexError): those that lie on the device by a reduction
whose result is waited for. take(mode="clip") and take(mode="wrap") check nothing and do not wait. Boolean arrays and
nonzero wait for the number of elements.

Everything has a fixed result: there are no float atomics.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import AxisError, check_tensors, choice, host_array, integer, no_bool, shown
from nervanagpu.function_table import public
from nervanagpu.math import composed, elementwise, reductions

_NOWHERE = -(1 << 62)
_Index = GPUTensor | npt.NDArray[Any]


def _positions(length: int) -> GPUTensor:
    """0, 1, 2, ... as int32."""
    return composed._count(length)


def _flat(x: GPUTensor) -> GPUTensor:
    return (x if x.contiguous else x.copy()).reshape(-1)


def _as_index(item: object) -> _Index | None:
    """The array that a part of a key is, or None."""
    if isinstance(item, GPUTensor):
        return item
    if isinstance(item, list | tuple | range | np.ndarray):
        try:
            array = np.asarray(item)
        except (TypeError, ValueError) as error:
            raise IndexError(
                f"index is a {type(item).__name__}; needs integers, slices, ... or None ({error})"
            ) from None
        return array.astype(np.int64) if array.size == 0 and not isinstance(item, np.ndarray) else array
    return None


def _without_bools(x: GPUTensor, key: object) -> tuple[GPUTensor, Any]:
    """x and the key with a new axis for each lone bool, of which True takes the only place and False none."""
    items = key if isinstance(key, tuple) else (key,)
    flags = [i for i, item in enumerate(items) if _is_flag(item)]
    if not flags:
        return x, key
    parts: list[Any] = []
    widened: list[Any] = []
    for item in items:
        if not _is_flag(item):
            parts.append(item)
            array = _as_index(item)
            several = array is not None and dtypes.kind_of(array.dtype) == "b"
            axes = array.ndim if several and array is not None else 1
            widened += [Ellipsis if item is Ellipsis else slice(None)] * axes
            if item is None:
                widened.pop()
            continue
        parts.append(np.zeros(1 if bool(item) else 0, np.int64))
        widened.append(None)
    return x[tuple(widened)], tuple(parts)


def _is_flag(item: object) -> bool:
    if isinstance(item, bool | np.bool_):
        return True
    return isinstance(item, GPUTensor | np.ndarray) and item.ndim == 0 and dtypes.kind_of(item.dtype) == "b"


def _checked(index: _Index, axis: int, length: int, check: bool = True) -> GPUTensor:
    """As int64 in 0 .. length - 1. IndexError, TypeError."""
    if dtypes.kind_of(index.dtype) not in "iu":
        raise IndexError(f"index has dtype {index.dtype}; needs integers or bool")
    if index.size == 0:
        return creation.empty(index.shape, np.int64)
    low, high = 0, length - 1
    if check:
        if isinstance(index, GPUTensor):
            extremes = reductions.min(index), reductions.max(index)
            elementwise.evaluate(*extremes)
            low, high = (int(e.get()) for e in extremes)
        else:
            low, high = int(index.min()), int(index.max())
        if low < -length or high >= length:
            wrong = low if low < -length else high
            raise IndexError(f"index {wrong} is out of range for axis {axis} with length {length}")
    if isinstance(index, np.ndarray):
        host = index.astype(np.int64)
        return creation.array(np.where(host < 0, host + length, host))
    whole = _core.as_dtype(index, np.int64)
    return elementwise.where(elementwise.less(whole, 0), whole + length, whole) if low < 0 else whole


class _Places(NamedTuple):
    """Where the elements of a result stand: index tensors for some axes of a view, all elements of the others."""

    view: GPUTensor
    shape: tuple[int, ...]
    terms: list[tuple[int, GPUTensor]]  # an axis of the view, and the number along it, to broadcast to `shape`
    unique: bool  # no element twice

    def numbers(self, strides: Sequence[int]) -> GPUTensor:
        """Sum of coordinates times `strides`, int64, of the result's shape."""
        total = self.terms[0][1] * int(strides[self.terms[0][0]])
        for axis, number in self.terms[1:]:
            total = total + number * int(strides[axis])
        if total.shape == self.shape:
            return total
        out = creation.empty(self.shape, np.int64)
        _core.assign(out, total)
        return out

    def offsets(self) -> GPUTensor:
        """Of the elements in memory from the view's first one."""
        return self.numbers(self.view.element_strides)

    def elements(self) -> GPUTensor:
        """Numbers of the elements in the view, row by row."""
        strides = [math.prod(self.view.shape[i + 1 :]) for i in range(self.view.ndim)]
        return self.numbers(strides)


def _taken(items: Sequence[tuple[Any, _Index | None]]) -> int:
    """How many axes parts of a key are of: a mask of as many as it has."""
    masks = (array is not None and dtypes.kind_of(array.dtype) == "b" for _, array in items)
    return sum(
        array.ndim if mask and array is not None else int(item is not None and item is not Ellipsis)
        for (item, array), mask in zip(items, masks, strict=True)
    )


def _expanded(x: GPUTensor, key: object) -> list[Any]:
    """The parts of a key, one for each axis of `x`, and None; boolean arrays as the indices of their true elements."""
    parts: list[Any] = []
    items = [(item, _as_index(item)) for item in (key if isinstance(key, tuple) else (key,))]
    for k, (item, array) in enumerate(items):
        if array is None:
            parts.append(item)
        elif dtypes.kind_of(array.dtype) == "b":
            behind = any(p is Ellipsis for p in parts)
            axis = x.ndim - _taken(items[k:]) if behind else _taken(items[:k])
            there = x.shape[axis : axis + array.ndim] if axis >= 0 else ()
            fits = len(there) == array.ndim and all(m in (n, 0) for m, n in zip(array.shape, there, strict=True))
            if not fits:  # a mask without elements chooses none, as in NumPy
                raise IndexError(f"boolean index has shape {array.shape}; needs that of its axes, {there}")
            parts.extend(nonzero(array) if isinstance(array, GPUTensor) else np.nonzero(array))
        else:
            parts.append(array)
    used = sum(1 for p in parts if p is not None and p is not Ellipsis)
    if used > x.ndim:
        raise IndexError(f"too many indices: the tensor has {x.ndim} axes, {used} were indexed")
    dots = [i for i, p in enumerate(parts) if p is Ellipsis]
    if len(dots) > 1:
        raise IndexError(f"an index can have one ellipsis (...), found {len(dots)}")
    at = dots[0] if dots else len(parts)
    parts[at : at + 1] = [slice(None)] * (x.ndim - used)
    return parts


def _places(x: GPUTensor, key: object, check: bool = True) -> _Places:
    parts = _expanded(x, key)
    which = [i for i, p in enumerate(parts) if not (p is None or isinstance(p, slice))]
    together = which == list(range(which[0], which[0] + len(which)))
    view = x[tuple(slice(None) if i in which else p for i, p in enumerate(parts))]
    indices = []
    axis = 0
    for part in parts[: which[-1] + 1]:
        if isinstance(part, GPUTensor | np.ndarray):
            indices.append(part)
        elif part is not None and not isinstance(part, slice):
            indices.append(np.asarray(part))
        if part is not None:
            axis += 1
    try:
        shape = np.broadcast_shapes(*(i.shape for i in indices))
    except ValueError:
        listed = ", ".join(str(i.shape) for i in indices)
        raise IndexError(f"index arrays have shapes {listed}; needs shapes that broadcast") from None
    kept = [i for i in range(len(parts)) if i not in which]
    before = [i for i in kept if together and i < which[0]]
    after = [i for i in kept if i not in before]
    lengths = (*(view.shape[i] for i in before), *shape, *(view.shape[i] for i in after))
    terms = []
    for place, index in zip(which, indices, strict=True):
        number = _checked(index, place, view.shape[place], check)
        terms.append((place, number.reshape(*number.shape, *[1] * len(after)) if after else number))
    for rank, i in enumerate(before):
        terms.append((i, _along(view.shape[i], len(lengths) - rank)))
    for rank, i in enumerate(after):
        terms.append((i, _along(view.shape[i], len(after) - rank)))
    lone = len(indices) == 1 and isinstance(indices[0], np.ndarray)
    unique = math.prod(shape) == 1 or (lone and np.unique(indices[0] % view.shape[which[0]]).size == indices[0].size)
    return _Places(view, tuple(lengths), terms, bool(unique))


def _along(length: int, ndim: int) -> GPUTensor:
    """0, 1, 2, ... along the first of `ndim` axes, int64."""
    return _core.cast(_positions(length).reshape(length, *[1] * (ndim - 1)), np.int64)


def _whole_mask(x: GPUTensor, key: object) -> GPUTensor | None:
    """The key as a boolean tensor of x's shape, if that is what it is."""
    if isinstance(key, tuple):
        if len(key) != 1:
            return None
        key = key[0]
    array = _as_index(key)
    if array is None or dtypes.kind_of(array.dtype) != "b" or array.shape != x.shape:
        return None
    return array if isinstance(array, GPUTensor) else creation.array(array)


def _ranks(mask: GPUTensor) -> tuple[GPUTensor, int]:
    """How many true elements there are before each one of a flat mask (itself included), and in all."""
    counts = _core.cumsum(mask, 0)
    return counts, int(counts[-1:].get()[0]) if mask.size else 0


def getitem(x: GPUTensor, key: object) -> GPUTensor:
    """x[key], a copy. IndexError for indices outside the axis, and for other dtypes than integers and bool."""
    x, key = _without_bools(x, key)
    mask = _whole_mask(x, key)
    if mask is not None:
        flat = _flat(mask)
        counts, count = _ranks(flat)
        out = creation.empty((count,), x.dtype)
        if count:
            _core.scatter(out, elementwise.where(flat, counts - 1, _NOWHERE), _flat(x), "set")
        return out
    places = _places(x, key)
    return _core.gather(places.view, places.offsets())


def _elements(value: object, x: GPUTensor) -> object:
    """What is assigned to x: lists as arrays, their integers as those of x; numbers as they are."""
    if isinstance(value, list | tuple):
        made = dtypes.from_list(value, x.dtype)
        if made.dtype.kind == "c" and dtypes.kind_of(x.dtype) not in "cb":  # as of one number
            raise TypeError(f"value has dtype {made.dtype}; needs real numbers, as the tensor is {x.dtype}")
        return made
    if isinstance(value, int) and dtypes.kind_of(x.dtype) == "b":
        return bool(value)
    return value


def setitem(x: GPUTensor, key: object, value: object) -> None:
    """x[key] = value; of several values for one element the last one stays."""
    x, key = _without_bools(x, key)
    value = _assigned(_elements(value, x), x)
    mask = _whole_mask(x, key)
    one = not hasattr(value, "shape") or math.prod(value.shape) == 1
    if mask is not None:
        if one:
            elements: Any = value.reshape(()) if isinstance(value, GPUTensor | np.ndarray | np.generic) else value
        else:
            counts, count = _ranks(_flat(mask))
            source = _broadcast(value, (count,), x)
            if count == 0:
                return
            place = elementwise.where(_flat(mask), counts - 1, 0)
            elements = _core.gather(source, place).reshape(*x.shape)
        _core.assign(x, elementwise.where(mask, elements, x))
        return
    places = _places(x, key)
    if math.prod(places.shape) == 0:
        if not one:
            _broadcast(value, places.shape, x)  # checks
        return
    offsets = places.offsets()
    if not one and not places.unique:
        offsets = _last_only(places, offsets)
    _core.scatter(places.view, offsets, _without_leading_ones(value, len(places.shape)), "set")


def _without_leading_ones(value: Any, ndim: int) -> object:
    """A value without leading axes of one element that the place does not have, as NumPy's assignments have it."""
    more = getattr(value, "ndim", 0) - ndim
    return value[(0,) * more] if more > 0 and math.prod(value.shape[:more]) == 1 else value


def _assigned(value: Any, x: GPUTensor) -> object:
    """A value as one of x's dtype, as astype has it; what is no number is a TypeError."""
    if type(value) is float and dtypes.kind_of(x.dtype) in "iu":
        return int(value)  # ValueError for NaN, OverflowError for infinities, as in NumPy
    if type(value) in (float, complex) and dtypes.kind_of(x.dtype) == "b":
        return bool(value)
    if not hasattr(value, "dtype"):
        if not isinstance(value, int | float | complex):
            raise TypeError(f"value is {shown(value)}; needs a tensor, a number, a list or a NumPy array")
        if isinstance(value, complex) and dtypes.kind_of(x.dtype) != "c":
            raise TypeError(f"value is {shown(value)}; needs a real number, as the tensor is {x.dtype}")
        return value
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in "biufc" and str(value.dtype) != "bfloat16":
            raise TypeError(f"value has dtype {value.dtype}; needs one that converts to {x.dtype} (numbers)")
        value = creation.array(value)
    if dtypes.kind_of(value.dtype) == "c":
        return value.astype(x.dtype)  # warns of imaginary parts that are lost
    return _core.as_dtype(value, x.dtype)


def _broadcast(value: Any, shape: tuple[int, ...], x: GPUTensor) -> GPUTensor:
    weak = isinstance(value, GPUTensor | int | float)  # a number takes x's dtype
    source = value if weak else creation.array(np.asarray(value))
    out = creation.empty(shape, x.dtype)
    out[...] = source
    return out


def _last_only(places: _Places, offsets: GPUTensor) -> GPUTensor:
    """The offsets, nowhere for all but the last one of those that are equal."""
    elements = places.elements()
    order = _positions(elements.size).reshape(*elements.shape)
    last = creation.full((places.view.size,), -1, np.int32)
    _core.scatter(last, elements, order, "most")
    return elementwise.where(elementwise.equal(_core.gather(last, elements), order), offsets, _NOWHERE)


@public(numpy=False)
def add_at(x: GPUTensor, key: object, value: object) -> None:
    """x[key] += value with every one of equal indices counted, in their order: numpy.add.at, the same bits.

    int32, uint32, int64 and uint64: one kernel. Other dtypes: as many rounds as the most frequent index has, after the
    indices have been put in order on the host.
    """
    check_tensors("add_at", x=x)
    x, key = _without_bools(x, key)
    parts = key if isinstance(key, tuple) else (key,)
    if all(_as_index(part) is None for part in parts):  # every place once
        there = x[key if any(part is ... for part in parts) else (*parts, ...)]  # a view, of one element, too
        there += value
        return
    value = _elements(value, x)
    places = _places(x, key)
    count = math.prod(places.shape)
    if count == 0:
        return
    offsets = places.offsets()
    if dtypes.kind_of(x.dtype) in "iu" and dtypes.size_of(x.dtype) >= 4:
        _core.scatter(places.view, offsets, value, "add")
        return
    flat = offsets.get().reshape(-1)
    values = _broadcast(value, places.shape, x).reshape(-1)
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    start = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    rank = np.arange(count) - np.maximum.accumulate(np.where(start, np.arange(count), 0))
    for round_ in range(int(rank.max()) + 1):
        chosen = order[rank == round_]
        at = creation.array(flat[chosen])
        added = _core.gather(values, creation.array(chosen))
        _core.scatter(places.view, at, elementwise.add(_core.gather(places.view, at), added), "set")


@public(method=True)
def take(
    x: GPUTensor, indices: object, axis: int | None = None, out: GPUTensor | None = None, mode: str = "raise"
) -> GPUTensor:
    """The elements at `indices` along `axis` (None: of x, flattened), whose shape replaces that axis.

    mode: "raise" (IndexError for an index outside the axis), "clip" (to the axis), "wrap" (counted on from its end).
    """
    x = x if isinstance(x, GPUTensor) else creation.array(x)
    choice("take", "mode", mode, ("raise", "clip", "wrap"))
    axis = None if axis is None else integer("take", "axis", no_bool("take", "axis", axis))
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        x, axis = _flat(x), 0
    if not -x.ndim <= axis < x.ndim:
        raise AxisError(f"take: axis {axis} is out of range; the operand has {x.ndim} axes")
    at = axis % x.ndim
    index = indices if isinstance(indices, GPUTensor) else host_array("indices", indices)
    if dtypes.kind_of(index.dtype) == "b" or (index.size == 0 and isinstance(indices, list | tuple)):
        index = index.astype(np.int64)
    if dtypes.kind_of(index.dtype) not in "iu":
        raise TypeError(f"take: indices have dtype {index.dtype}; needs integers")
    if index.size and not x.shape[at]:
        raise IndexError(f"take: x has no elements along axis {at}; needs one or more")
    if mode != "raise" and index.size:
        wide = _core.cast(index if isinstance(index, GPUTensor) else creation.array(index), np.int64)
        last = x.shape[at] - 1
        index = elementwise.clip(wide, 0, last) if mode == "clip" else elementwise.remainder(wide, last + 1)
    places = _places(x, (slice(None),) * at + (index,), mode == "raise")
    result = _core.gather(places.view, places.offsets())
    if out is None:
        return result
    check_tensors("take", out=out)
    if out.shape != result.shape:
        raise ValueError(f"take: out has shape {out.shape}; needs {result.shape}")
    _core.assign(out, result)
    return out


@public()
def flatnonzero(x: GPUTensor) -> GPUTensor:
    """The numbers of the elements that are not 0, row by row, as int64."""
    x = x if isinstance(x, GPUTensor) else creation.array(x)
    mask = _flat(_core.as_dtype(x, np.bool_))
    counts, count = _ranks(mask)
    out = creation.empty((count,), np.int64)
    if count:
        _core.scatter(out, elementwise.where(mask, counts - 1, _NOWHERE), _positions(mask.size), "set")
    return out


@public(method=True)
def nonzero(x: object) -> tuple[GPUTensor, ...]:
    """The indices of the elements that are not 0, a tensor of int64 for each axis."""
    x = x if isinstance(x, GPUTensor) else creation.array(x)
    if x.ndim == 0:
        raise ValueError("nonzero: x has no axes; needs one or more (x.reshape(1))")
    flat = flatnonzero(x)
    result = []
    for axis, length in enumerate(x.shape):
        number: GPUTensor = flat // builtins.max(math.prod(x.shape[axis + 1 :]), 1)
        result.append(number % length if axis else number)
    elementwise.evaluate(*result)
    return tuple(result)
