"""Sorting, searching and counting, as NumPy's functions: stable, on the device, NaN last.

Rows are sorted by kernels/sort, a byte of the keys at a time. Searches compare unsigned integers that are in the order
of the elements. Sizes that depend on the elements (of unique, isin's tables, histograms' ranges) are waited for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes, indexing, selection
from nervanagpu.arrays.manipulation import along, axis_of, moveaxis, ravel
from nervanagpu.calls.arguments import choice, flag, integer, integers, iterable, no_bool, number, shown
from nervanagpu.function_table import public
from nervanagpu.math import composed, elementwise, reductions, scans
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of


def keys_of(x: GPUTensor) -> GPUTensor:
    """Unsigned integers that are in the order of x's elements, of x's width but for complex ones; contiguous."""
    kind, width = dtypes.kind_of(x.dtype), dtypes.size_of(x.dtype)
    if kind == "c":
        return _complex_keys(x)
    unsigned = np.dtype(f"uint{8 * width}")
    top = np.array(1 << (8 * width - 1), unsigned)
    if kind in "bu":
        return _core.cast(x, unsigned).copy()
    if kind == "i":
        return elementwise.bitwise_xor(x.copy().view(unsigned), top).copy()
    bits = elementwise.where(elementwise.equal(x, 0), 0, x).copy().view(unsigned)
    below = elementwise.greater_equal(bits, top)
    keys = elementwise.where(below, elementwise.invert(bits), elementwise.bitwise_xor(bits, top))
    last = np.array((1 << (8 * width)) - 1, unsigned)
    return elementwise.where(elementwise.isnan(x), last, keys).copy()


def _numbers(keys: GPUTensor) -> GPUTensor:
    """Of each of a row of keys how many distinct ones are below it."""
    ordered, order = _core.sort_with_indices(keys, False)
    new = creation.zeros((keys.size,), np.bool_)
    new[1:] = elementwise.not_equal(ordered[1:], ordered[:-1])
    numbers = creation.empty((keys.size,), np.int64)
    _core.scatter(numbers, order, scans.cumsum(new), "set")
    return numbers


def _complex_keys(x: GPUTensor) -> GPUTensor:
    """As NumPy sorts complex numbers: by the real part, then the imaginary one, and those with NaN last. Of these come
    first where only the imaginary part is, then only the real one, then both."""
    if not x.size:
        return creation.empty(x.shape, np.uint64)
    flat = ravel(x)
    real, imag = _core.apply("real", flat).copy(), _core.apply("imag", flat).copy()
    lost = elementwise.isnan(real) * np.int64(2) + elementwise.isnan(imag)
    first, second = _numbers(keys_of(real)), _numbers(keys_of(imag))
    return _core.cast((lost * x.size + first) * x.size + second, np.uint64).copy().reshape(*x.shape)


def _sorted(rows: GPUTensor, descending: bool) -> tuple[GPUTensor, GPUTensor]:
    """The elements along the last axis in order, and where each stood."""
    if dtypes.kind_of(rows.dtype) != "c":
        return _core.sort_with_indices(rows, descending)
    places = _core.argsort(keys_of(rows), descending)
    return selection.take_along_axis(rows, places, -1), places


def _last(function: str, x: GPUTensor, axis: object) -> tuple[GPUTensor, int]:
    """x with the axis after all others, and its number."""
    at = axis_of(function, axis, x.ndim)
    return moveaxis(x, at, -1), at


def _back(rows: GPUTensor, at: int) -> GPUTensor:
    return rows if at == rows.ndim - 1 else moveaxis(rows, -1, at).copy()


def _row(x: object, axis: int | None) -> tuple[GPUTensor, int]:
    x = operand_of(x)
    return (ravel(x), 0) if axis is None else (x, axis)


_KINDS = ("quicksort", "mergesort", "heapsort", "stable")


def _check_kind(function: str, kind: str | None, order: object, stable: object) -> None:
    """ValueError for a kind that NumPy does not have, which looks at the first letter, and beside `stable`."""
    if kind is not None:
        letter = kind[:1].lower() if isinstance(kind, str) else kind
        if not isinstance(letter, str) or letter not in {k[0] for k in _KINDS}:
            choice(function, "kind", kind, _KINDS)
        if stable is not None:
            raise ValueError(f"{function}: there are both kind and stable; needs one of them")
    _check_order(function, order)


def _check_order(function: str, order: object) -> None:
    if order is not None:
        raise ValueError(f"{function}: order is {shown(order)}; needs None: tensors have no fields")


@public(method=True)
def argsort(
    x: Operand,
    axis: int | None = -1,
    kind: str | None = None,
    order: str | None = None,
    *,
    descending: bool = False,
    stable: bool | None = None,
) -> GPUTensor:
    """The indices, int64, that sort the elements along `axis` (None: flattened); the order is stable.

    `kind` and `stable`, of which there may be one, have no effect: every order is stable. Descending, NaN comes first.
    """
    _check_kind("argsort", kind, order, stable)
    x, axis = _row(x, no_bool("argsort", "axis", axis))
    if x.ndim == 0:  # as NumPy's
        axis_of("argsort", axis, 1)
        return creation.zeros((1,), np.int64)
    rows, at = _last("argsort", x, axis)
    keys = keys_of(rows) if dtypes.kind_of(rows.dtype) == "c" else rows
    return _back(_core.argsort(keys, flag("argsort", "descending", descending)), at)


@public()
def sort(
    x: Operand,
    axis: int | None = -1,
    kind: str | None = None,
    order: str | None = None,
    *,
    descending: bool = False,
    stable: bool | None = None,
) -> GPUTensor:
    """A copy with the elements along `axis` (None: flattened) in order, as argsort has them."""
    _check_kind("sort", kind, order, stable)
    x, axis = _row(x, axis)
    rows, at = _last("sort", x, axis)
    falls = flag("sort", "descending", descending)
    complex_rows = dtypes.kind_of(rows.dtype) == "c"
    return _back(_sorted(rows, falls)[0] if complex_rows else _core.sort(rows, falls), at)


def sort_in_place(
    self: GPUTensor, axis: int = -1, kind: str | None = None, order: str | None = None, *, stable: bool | None = None
) -> None:
    """Puts the elements along `axis` in order."""
    self[...] = sort(self, integer("sort", "axis", axis), kind, order, stable=stable)


@public()
def sort_complex(x: Operand) -> GPUTensor:
    """A copy along the last axis in order, as complex numbers: complex64 of integers of 16 bits or fewer."""
    made = sort(x)
    if dtypes.kind_of(made.dtype) == "c":
        return made
    small = dtypes.kind_of(made.dtype) in "iu" and dtypes.size_of(made.dtype) <= 2
    return _core.as_dtype(made, np.complex64 if small else np.complex128)


@public(composed=True)
def lexsort(keys: object, axis: int = -1) -> GPUTensor:
    """The indices that sort by the last of `keys`, equal ones by the key before, and so on."""
    given = [operand_of(k) for k in (iterable("lexsort", "keys", keys) if not isinstance(keys, GPUTensor) else keys)]
    if not given:
        raise TypeError("lexsort: there are no keys; needs one or more")
    if len({k.shape for k in given}) > 1:
        raise ValueError(f"lexsort: keys have shapes {', '.join(str(k.shape) for k in given)}; needs one shape")
    if not given[0].ndim:
        return _core.number(creation.zeros((), np.int64))
    order = argsort(given[0], axis)
    for key in given[1:]:
        order = selection.take_along_axis(order, argsort(selection.take_along_axis(key, order, axis), axis), axis)
    return order


def _check_places(function: str, x: GPUTensor, kth: object, axis: int) -> None:
    """ValueError for a kth that is no place along the axis."""
    if isinstance(kth, bool):
        raise ValueError(f"{function}: kth is {kth}; needs integers (Booleans unacceptable as partition index)")
    length = x.shape[axis_of(function, axis, x.ndim)]
    if x.size == 0:
        return
    for k in integers(function, "kth", dtypes.host_of(kth).tolist() if isinstance(kth, GPUTensor) else kth):
        if not -length <= k < length:
            raise ValueError(f"{function}: kth is {k}; needs {-length} to {length - 1}")


def _check_partition(function: str, kind: str, order: object) -> None:
    choice(function, "kind", kind, ("introselect",))
    _check_order(function, order)


@public()
def partition(
    x: Operand, kth: object, axis: int | None = -1, kind: str = "introselect", order: str | None = None
) -> GPUTensor:
    """x with the elements `kth` along `axis` where they stand in order, smaller ones before: all of them in order."""
    _check_partition("partition", kind, order)
    given, axis = _row(x, axis)
    _check_places("partition", given, kth, axis)
    return sort(given, axis)


@public(method=True)
def argpartition(
    x: Operand, kth: object, axis: int | None = -1, kind: str = "introselect", order: str | None = None
) -> GPUTensor:
    """The indices that give partition: argsort's."""
    _check_partition("argpartition", kind, order)
    given, axis = _row(x, axis)
    _check_places("argpartition", given, kth, axis)
    return argsort(given, axis)


class TopK(NamedTuple):
    """What topk gives."""

    values: GPUTensor
    indices: GPUTensor


@public(numpy=False)
def topk(x: Operand, k: int, axis: int = -1, largest: bool = True) -> TopK:
    """The k largest (or smallest) elements along `axis` in order, and their indices."""
    x = operand_of(x)
    at = axis_of("topk", axis, x.ndim)
    count = integer("topk", "k", k, 0, x.shape[at])
    rows, _ = _last("topk", x, at)
    values, places = _sorted(rows, flag("topk", "largest", largest))
    first = along(rows.ndim - 1, slice(0, count))
    return TopK(moveaxis(values[first], -1, at).copy(), moveaxis(places[first], -1, at).copy())


# ---- searching -------------------------------------------------------------------------------------------------------


@public(method=True)
def searchsorted(a: Operand, v: Operand, side: str = "left", sorter: Operand | None = None) -> GPUTensor:
    """Where in the row a, which is in order, each element of v would have to be put to keep it so, as int64.

    side: before equal elements ("left") or after them. sorter: the order of a, from argsort.
    """
    choice("searchsorted", "side", side, ("left", "right"))
    row, wanted = operand_of(a), operand_of(v)
    if row.ndim != 1:
        raise ValueError(f"searchsorted: a has {row.ndim} axes; needs 1")
    if sorter is not None:
        order = operand_of(sorter)
        if dtypes.kind_of(order.dtype) not in "iu":
            raise TypeError(f"searchsorted: sorter is {order.dtype}; needs integers")
        if order.shape != row.shape:
            raise ValueError(f"searchsorted: sorter has shape {order.shape}; needs {row.shape}")
        row = row[order]
    dtype = dtypes.promoted(row.dtype, wanted.dtype)
    row, wanted = _core.as_dtype(row, dtype), _core.as_dtype(wanted, dtype)
    if dtypes.kind_of(dtype) == "c":  # their keys say the order among those that are compared
        both = keys_of(composed.concatenate([row, ravel(wanted)]))
        keys, of = both[: row.size], both[row.size :].reshape(wanted.shape)
    else:
        keys, of = keys_of(row), keys_of(wanted)
    low = creation.zeros(wanted.shape, np.int64)
    if row.size == 0 or wanted.size == 0:
        return low
    high = creation.full(wanted.shape, row.size, np.int64)
    goes_on = elementwise.less if side == "left" else elementwise.less_equal
    for _ in range(row.size.bit_length()):
        middle = elementwise.floor_divide(low + high, 2).copy()
        there = _core.gather(keys, elementwise.minimum(middle, row.size - 1))
        up = elementwise.logical_and(goes_on(there, of), elementwise.less(low, high))
        low, high = elementwise.where(up, middle + 1, low), elementwise.where(up, high, middle)
        elementwise.evaluate(low, high)
    return low


@public()
def digitize(x: Operand, bins: Operand, right: bool = False) -> GPUTensor:
    """The number of the bin of each element; bins: edges in order, or from the largest to the smallest.

    Bin i begins with edge i - 1; `right`: and has it not, but the next one.
    """
    edges = operand_of(bins)
    x = operand_of(x)
    for name, given in (("x", x), ("bins", edges)):
        if dtypes.kind_of(given.dtype) == "c":
            raise TypeError(f"digitize: {name} is {given.dtype}; needs real numbers")
    if edges.ndim != 1:
        raise ValueError(f"digitize: bins have {edges.ndim} axes; needs 1")
    falls = edges.size > 1 and bool(edges[0] > edges[-1])
    _check_edges("digitize", edges[::-1] if falls else edges)
    side = "left" if right else "right"
    if falls:
        return elementwise.subtract(edges.size, searchsorted(edges[::-1], x, side))
    return searchsorted(edges, x, side)


@public("in1d")
def isin(
    element: Operand,
    test_elements: Operand,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> GPUTensor:
    """True where an element of x is one of `among`. assume_unique and `kind` ("sort", "table") have no effect."""
    element, row = operand_of(element), sort(test_elements, None)
    whole = {dtypes.kind_of(element.dtype), dtypes.kind_of(row.dtype)} <= set("biu")
    if kind is not None and choice("isin", "kind", kind, ("sort", "table")) == "table" and not whole:
        both = f"element is {element.dtype} and test_elements {row.dtype}"
        raise ValueError(f"isin: {both}; needs integers for kind 'table'")
    if row.size == 0:
        return creation.full(element.shape, bool(invert), np.bool_)
    place = elementwise.minimum(searchsorted(row, element), row.size - 1)
    found = elementwise.equal(row[place], element)
    return elementwise.logical_not(found) if invert else found


# ---- distinct elements -----------------------------------------------------------------------------------------------


class UniqueAll(NamedTuple):
    """What unique_all gives."""

    values: GPUTensor
    indices: GPUTensor
    inverse_indices: GPUTensor
    counts: GPUTensor


class UniqueCounts(NamedTuple):
    """What unique_counts gives."""

    values: GPUTensor
    counts: GPUTensor


class UniqueInverse(NamedTuple):
    """What unique_inverse gives."""

    values: GPUTensor
    inverse_indices: GPUTensor


def _unique_parts(x: GPUTensor, axis: int) -> UniqueAll:
    """The distinct parts along an axis, by their elements one after another; parts with NaN are all distinct."""
    rows = moveaxis(x, axis, 0)
    count = rows.shape[0]
    flat = rows.reshape(count, rows.size // count if count else 0).copy()
    order = creation.arange(count, dtype=np.int64)
    for column in range(flat.shape[1] - 1, -1, -1):
        order = order[_core.argsort(keys_of(flat[:, column])[order].copy(), False)]
    ordered = flat[order]
    new = creation.full((count,), True, np.bool_)
    if count > 1:
        new[1:] = reductions.any(elementwise.not_equal(ordered[1:], ordered[:-1]), 1)
    starts = indexing.flatnonzero(new)
    inverse = creation.empty((count,), np.int64)
    if count:
        _core.scatter(inverse, order, scans.cumsum(new) - 1, "set")
    ends = composed.concatenate([starts[1:], creation.full((min(count, 1),), count, np.int64)])
    first = order[starts]
    return UniqueAll(moveaxis(rows[first], 0, axis), first, inverse, elementwise.subtract(ends, starts))


def _unique(x: object, equal_nan: bool) -> UniqueAll:
    x = operand_of(x)
    flat = ravel(x)
    ordered, order = _sorted(flat, False)
    if flat.size == 0:
        none = creation.empty((0,), np.int64)
        return UniqueAll(ordered.copy(), none, creation.empty(x.shape, np.int64), none.copy())
    keys = keys_of(ordered)
    new = creation.full((flat.size,), True, np.bool_)
    new[1:] = elementwise.not_equal(keys[1:], keys[:-1])
    if dtypes.kind_of(x.dtype) in "fc":
        lost = elementwise.isnan(ordered)
        if not equal_nan:
            new[...] = elementwise.logical_or(new, lost)
        elif dtypes.kind_of(x.dtype) == "c":  # NaN in either part are one
            again = elementwise.logical_and(lost[1:], lost[:-1])
            new[1:] = elementwise.logical_and(new[1:], elementwise.logical_not(again))
    starts = indexing.flatnonzero(new)
    ends = composed.concatenate([starts[1:], creation.full((1,), flat.size, np.int64)])
    inverse = creation.empty((flat.size,), np.int64)
    _core.scatter(inverse, order, scans.cumsum(new) - 1, "set")
    return UniqueAll(ordered[starts], order[starts], inverse.reshape(*x.shape), elementwise.subtract(ends, starts))


@overload
def unique(
    x: Operand,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> GPUTensor: ...


@overload
def unique(
    x: Operand,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> GPUTensor | tuple[GPUTensor, ...]: ...


@public()
def unique(
    x: Operand,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> GPUTensor | tuple[GPUTensor, ...]:
    """The distinct elements in order; and their first indices, the inverse, their counts.

    With an axis the distinct parts along it, in the order of their elements. They are in order whatever `sorted` is.
    """
    if axis is None:
        found = _unique(x, equal_nan)
    else:
        given = operand_of(x)
        found = _unique_parts(given, axis_of("unique", axis, given.ndim))
    wanted = [True, return_index, return_inverse, return_counts]
    results = tuple(r for r, w in zip(found, wanted, strict=True) if w)
    return results if len(results) > 1 else results[0]


@public()
def unique_all(x: Operand, /) -> UniqueAll:
    """unique with everything; every NaN is another element."""
    return _unique(x, False)


@public()
def unique_counts(x: Operand, /) -> UniqueCounts:
    """unique with counts; every NaN is another element."""
    found = _unique(x, False)
    return UniqueCounts(found.values, found.counts)


@public()
def unique_inverse(x: Operand, /) -> UniqueInverse:
    """unique with which one each element is; every NaN is another element."""
    found = _unique(x, False)
    return UniqueInverse(found.values, found.inverse_indices)


@public()
def unique_values(x: Operand, /) -> GPUTensor:
    """unique; every NaN is another element."""
    return _unique(x, False).values


@public()
def union1d(ar1: Operand, ar2: Operand) -> GPUTensor:
    """The distinct elements of both, in order."""
    return unique(composed.concatenate([ravel(operand_of(ar1)), ravel(operand_of(ar2))]))


@overload
def intersect1d(
    ar1: Operand, ar2: Operand, assume_unique: bool = False, return_indices: Literal[False] = False
) -> GPUTensor: ...


@overload
def intersect1d(
    ar1: Operand, ar2: Operand, assume_unique: bool = False, *, return_indices: Literal[True]
) -> tuple[GPUTensor, GPUTensor, GPUTensor]: ...


@overload
def intersect1d(
    ar1: Operand, ar2: Operand, assume_unique: bool, return_indices: Literal[True]
) -> tuple[GPUTensor, GPUTensor, GPUTensor]: ...


@public()
def intersect1d(
    ar1: Operand, ar2: Operand, assume_unique: bool = False, return_indices: bool = False
) -> GPUTensor | tuple[GPUTensor, GPUTensor, GPUTensor]:
    """The distinct elements that are in both, in order; and their first indices in a and in b."""
    first, of_first = unique(ar1, return_index=True)
    second, of_second = unique(ar2, return_index=True)
    there = isin(first, second)
    common = first[there].astype(dtypes.promoted(first.dtype, second.dtype))
    return (common, of_first[there], of_second[isin(second, first)]) if return_indices else common


@public()
def setdiff1d(ar1: Operand, ar2: Operand, assume_unique: bool = False) -> GPUTensor:
    """The distinct elements of a that are not in b, in order."""
    first = ravel(operand_of(ar1)) if assume_unique else unique(ar1)
    return first[isin(first, ar2, invert=True)]


@public()
def setxor1d(ar1: Operand, ar2: Operand, assume_unique: bool = False) -> GPUTensor:
    """The distinct elements that are in one of both alone, in order."""
    apart = setdiff1d(ar1, ar2), setdiff1d(ar2, ar1)
    return sort(composed.concatenate(apart))  # a NaN of each, as NaN is in no set


# ---- counting --------------------------------------------------------------------------------------------------------


@public()
def bincount(x: Operand, weights: Operand | None = None, minlength: int = 0) -> GPUTensor:
    """How often 0, 1, 2, ... stand in the row x, or the sum of their weights, up to its largest element."""
    nothing = isinstance(x, list | tuple) and not len(x)  # a list of nothing is float64 elsewhere
    x = creation.zeros(0, np.int64) if nothing else operand_of(x)
    least = integer("bincount", "minlength", no_bool("bincount", "minlength", minlength), 0)
    if x.ndim != 1 or dtypes.kind_of(x.dtype) not in "iub":
        raise TypeError(f"bincount: x is {x.dtype} of shape {x.shape}; needs a row of integers")
    if x.size and (least_of := int(reductions.min(x).item())) < 0:
        raise ValueError(f"bincount: x has {least_of}; needs integers of 0 or more")
    length = max(int(reductions.max(x).item()) + 1 if x.size else 0, least)
    if weights is None:
        counts = creation.zeros((length,), np.int64)
        if x.size:
            indexing.add_at(counts, _core.as_dtype(x, np.int64), 1)
        return counts
    if dtypes.kind_of(operand_of(weights).dtype) == "c":
        raise TypeError(f"bincount: weights are {operand_of(weights).dtype}; needs real numbers")
    given = _core.as_dtype(operand_of(weights), np.float64)
    if given.shape != x.shape:
        raise ValueError(f"bincount: weights have shape {given.shape}; needs {x.shape}")
    sums = creation.zeros((length,), np.float64)
    if x.size:
        indexing.add_at(sums, _core.as_dtype(x, np.int64), given)
    return sums


def _check_edges(function: str, edges: GPUTensor) -> None:
    """ValueError for edges that fall."""
    if edges.size > 1 and bool(reductions.any(elementwise.greater(edges[:-1], edges[1:]))):
        raise ValueError(f"{function}: bins rise and fall; needs edges that increase monotonically")


@public()
def histogram_bin_edges(
    x: Operand, bins: object = 10, range: Sequence[float] | None = None, weights: Operand | None = None
) -> GPUTensor:
    """The edges of `bins` equal bins over `range` (x's extremes), in x's floats or float64; bins that are edges as they
    are.

    bins: their number, edges, or one of the rules of numpy.histogram_bin_edges ("auto", "fd", "sturges", ...), which is
    computed on the host.
    """
    x = operand_of(x)
    if dtypes.kind_of(x.dtype) == "c":
        raise TypeError(f"histogram_bin_edges: x is {x.dtype}; needs real numbers")
    if weights is not None and operand_of(weights).shape != x.shape:
        raise ValueError(f"histogram_bin_edges: weights have shape {operand_of(weights).shape}; needs {x.shape}")
    if isinstance(bins, str):
        share = None if weights is None else dtypes.host_of(operand_of(weights))
        rule: Any = np.histogram_bin_edges
        try:
            return creation.array(rule(dtypes.host_of(x), bins, range, share))
        except (TypeError, ValueError) as error:
            raise type(error)(f"histogram_bin_edges: bins is {bins!r} ({error})") from None
    if not isinstance(bins, int | np.integer):
        edges = operand_of(bins)
        if edges.ndim == 0:
            raise TypeError(f"histogram_bin_edges: bins is {shown(bins)}; needs an integer, a rule, or edges")
        if edges.ndim != 1:
            raise ValueError(f"histogram_bin_edges: bins have {edges.ndim} axes; needs a number or a row of edges")
        _check_edges("histogram_bin_edges", edges)
        return edges
    count, ends = integer("histogram_bin_edges", "bins", bins, 1), []
    if range is not None:
        ends = iterable("histogram_bin_edges", "range", range)
        if len(ends) != 2:
            raise ValueError(f"histogram_bin_edges: range has {len(ends)} numbers; needs 2")
        low, high = (number("histogram_bin_edges", "range", e) for e in ends)
        if low > high:
            raise ValueError(f"histogram_bin_edges: range is {low} to {high}; needs one that grows")
    elif x.size == 0:
        low, high = 0.0, 1.0
    else:
        low, high = float(reductions.min(x).item()), float(reductions.max(x).item())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"histogram_bin_edges: x goes from {low} to {high}; needs finite numbers, or a range")
    if low == high:
        low, high = low - 0.5, high + 0.5
    of: object = x.dtype if dtypes.kind_of(x.dtype) == "f" and str(x.dtype) != dtypes.BFLOAT16 else np.float64
    of = dtypes.promoted(of, *(e.dtype for e in ends if hasattr(e, "dtype")))
    made: GPUTensor = creation.linspace(low, high, count + 1, dtype=of)
    if bool(reductions.any(elementwise.greater_equal(made[:-1], made[1:]))):
        raise ValueError(f"histogram_bin_edges: {count} bins from {low} to {high} have no width; needs fewer of them")
    return made


@public()
def histogram(
    x: Operand,
    bins: object = 10,
    range: Sequence[float] | None = None,
    density: bool = False,
    weights: Operand | None = None,
) -> tuple[GPUTensor, GPUTensor]:
    """How many elements (or which weights) lie in each bin, and the edges; the last bin has its right edge, too.

    density: over all of them and the width of the bin.
    """
    x = operand_of(x)
    share = None if weights is None else operand_of(weights)
    if share is not None and share.shape != x.shape:
        raise ValueError(f"histogram: weights have shape {share.shape}; needs {x.shape}")
    edges = histogram_bin_edges(x, bins, range, share)
    flat = ravel(x)
    count = max(edges.size - 1, 0)
    if count == 0:
        return creation.zeros((0,), np.int64 if share is None else share.dtype), edges
    place = searchsorted(edges, flat, side="right")
    place = elementwise.where(elementwise.equal(flat, edges[-1]), count, place)
    inside = elementwise.logical_and(elementwise.greater(place, 0), elementwise.less_equal(place, count))
    bin_of = elementwise.where(inside, place - 1, count).copy()
    if share is None:
        found = bincount(bin_of, None, count + 1)[:count]
    elif dtypes.kind_of(share.dtype) == "c":
        parts = [bincount(bin_of, ravel(_core.apply(p, share)), count + 1)[:count] for p in ("real", "imag")]
        found = _core.as_dtype(_core.complex_from(*parts), share.dtype)
    else:
        found = _core.as_dtype(bincount(bin_of, ravel(share), count + 1)[:count], share.dtype)
    if density:
        widths = scans.diff(_core.as_dtype(edges, np.float64))
        found = elementwise.divide(found, widths) / reductions.sum(found)
    return found, edges
