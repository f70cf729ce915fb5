"""NumPy's methods of ufuncs on the functions of the table: reduce, accumulate, reduceat, outer, at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes, indexing
from nervanagpu.arrays.manipulation import along, axis_of, moveaxis, ravel
from nervanagpu.calls.arguments import integers, no_bool, tensor
from nervanagpu.function_table import TABLE
from nervanagpu.math import composed, elementwise, reductions, scans, ufunc_keywords
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import axes_of, operand_of

Binary = Callable[..., Any]


def _logical_of(function: Binary, of_two: Binary) -> Binary:
    """The reduction `function`, and `of_two` of its result and `initial`."""

    def logical(x: Operand, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Operand) -> GPUTensor:
        if dtype is not None and dtypes.kind_of(_core.dtype(dtype)) != "b":
            raise TypeError(f"reduce: dtype is {_core.dtype(dtype)}; needs bool, which logical functions give")
        made = function(x, axis, keepdims=keepdims, where=where)
        made = made if initial is None else of_two(made, initial)
        return elementwise._result(made, out)

    return logical


def _extreme_of(function: Binary) -> Binary:
    def extreme(
        x: Operand, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Operand
    ) -> GPUTensor:  # fmt: skip
        made: GPUTensor = function(
            x if dtype is None else _core.as_dtype(x, dtype), axis, out, keepdims, initial, where
        )
        return made

    return extreme


# Reductions that have kernels of their own; others are made of the function, elements pairwise or one after another.
_KNOWN: dict[str, Binary] = {
    "add": reductions.sum,
    "multiply": reductions.prod,
    "maximum": _extreme_of(reductions.max),
    "minimum": _extreme_of(reductions.min),
    "logical_and": _logical_of(reductions.all, elementwise.logical_and),
    "logical_or": _logical_of(reductions.any, elementwise.logical_or),
}
_FROM_IDENTITY = ("gcd", "hypot")  # begin with it: of one element they give its magnitude
_SCANS: dict[str, Binary] = {"add": scans.cumsum, "multiply": scans.cumprod}
# Functions of which any order of the operands gives the same: neighbours are taken together.
_ASSOCIATIVE = {
    *("bitwise_and", "bitwise_or", "bitwise_xor", "logical_xor", "fmax", "fmin", "gcd", "lcm"),
    *("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "hypot", "logaddexp", "logaddexp2"),
}


def _operand(name: str, method: str, x: Operand, dtype: Any, out: Any) -> GPUTensor:
    """x in the dtype that the function computes in. TypeError where its results are of another."""
    given = operand_of(x)
    ufunc: Any = ufunc_keywords.theirs(name)
    if ufunc is None or "bfloat16" in (str(given.dtype), str(dtype)) or not hasattr(ufunc, "resolve_dtypes"):
        return given if dtype is None else _core.as_dtype(given, dtype)
    to = None if out is None else out.dtype
    try:
        wanted = {} if dtype is None else {"signature": (_core.dtype(dtype), None, None)}
        found = ufunc.resolve_dtypes((to, given.dtype, None), casting="unsafe", reduction=True, **wanted)
    except TypeError as error:
        raise TypeError(f"{name}.{method}: operand is {given.dtype}; needs another dtype ({error})") from None
    return _core.as_dtype(given, found[1])


def _pairwise(function: Binary, rows: GPUTensor) -> GPUTensor:
    while rows.shape[0] > 1:
        half = rows.shape[0] // 2
        pairs = function(rows[:half], rows[half : 2 * half]).copy()
        rows = composed.concatenate([pairs, rows[2 * half :]]) if rows.shape[0] % 2 else pairs
    return rows[0]


def _full(shape: tuple[int, ...], value: Any, dtype: Any) -> GPUTensor:
    """A tensor of `value` as one of `dtype`; the -1 of bitwise_and is every bit."""
    if dtypes.kind_of(dtype) == "b":
        value = bool(value)
    every = value == -1 and dtypes.kind_of(dtype) == "u"
    return creation.full(shape, np.iinfo(dtype).max if every else value, dtype)


def _one_axis(
    function: Binary, name: str, x: GPUTensor, axis: int, initial: object, mask: GPUTensor | None
) -> GPUTensor:
    """function of the elements along `axis` that the mask names, pairwise or one after another."""
    rows = moveaxis(x, axis, 0)
    start = 0 if initial is not None else 1
    if name in _ASSOCIATIVE and mask is None:
        made = _pairwise(function, rows)
        return made if initial is None else _core.as_dtype(function(_full((), initial, x.dtype), made), x.dtype)
    which = None if mask is None else moveaxis(mask, axis, 0)
    made = rows[0] if initial is None else _full(rows.shape[1:], initial, x.dtype)
    for i in range(start, rows.shape[0]):
        step = function(made, rows[i])
        made = (step if which is None else elementwise.where(which[i], step, made)).copy()
    return made


def _places(function: str, axis: Any, x: GPUTensor) -> list[int]:
    if axis is None:
        return list(range(x.ndim))
    given = axes_of(function, axis) or []
    if x.ndim == 0 and given in ([0], [-1]):  # as in NumPy
        return []
    places = [axis_of(function, a, x.ndim) for a in given]
    if len(set(places)) != len(places):
        raise ValueError(f"{function}: axis is {axis}; names an axis twice (duplicate value in 'axis')")
    return places


def _reduce_of(function: Binary, name: str) -> Binary:
    ufunc = ufunc_keywords.theirs(name)
    identity = None if ufunc is None else ufunc.identity
    title = f"{name}.reduce"

    def reduce(
        x: Operand, axis: object = 0, dtype: npt.DTypeLike | None = None, out: object = None, keepdims: bool = False,
        initial: object = None, where: Operand = True,
    ) -> GPUTensor:  # fmt: skip
        to = ufunc_keywords.outputs(title, out, 1)[0]
        x = operand_of(x)
        places = _places(title, axis, x)
        known = _KNOWN.get(name)
        if known is not None:
            made: GPUTensor = known(x, tuple(places), dtype, to, keepdims, initial, where)
            return made
        if len(places) > 1 and name not in _ASSOCIATIVE:
            raise ValueError(f"{title}: axis names {len(places)} axes; needs one: the order of elements matters")
        given = _operand(name, "reduce", x, dtype, to)
        if not places:  # each element alone, along an axis that goes
            given, places, keepdims = given[None], [0], False
        if initial is None and name in _FROM_IDENTITY:
            initial = identity
        mask = None
        if where is not True:
            if initial is None and identity is None:
                raise ValueError(f"{title}: there is a mask `where` but no `initial`; needs both")
            initial = identity if initial is None else initial
            mask = creation.empty(given.shape, np.bool_)
            mask[...] = ufunc_keywords.mask_of(title, where)
        made = given
        for a in sorted(places, reverse=True):
            first = initial if a == min(places) else None  # once for each result: along the last of the axes
            if made.shape[a] == 0:
                empty = first if first is not None else initial if identity is None else identity
                if empty is None:
                    raise ValueError(f"{title}: axis {a} has no elements; needs one or more, or initial")
                made, mask = _full((*made.shape[:a], *made.shape[a + 1 :]), empty, made.dtype), None
            elif mask is not None and len(places) > 1:
                other = _full((), initial if identity is None else identity, made.dtype)
                made, mask = _one_axis(function, name, elementwise.where(mask, made, other), a, first, None), None
            else:
                made, mask = _one_axis(function, name, made, a, first, mask), None
        if to is None and all(given.shape[a] == 1 for a in places):
            made = made.copy()  # it may be a view of x
        if keepdims:
            made = made.reshape(*(1 if a in places else n for a, n in enumerate(given.shape)))
        return reductions.stored(title, made, to)

    return reduce


def _accumulate_of(function: Binary, name: str) -> Binary:
    title = f"{name}.accumulate"

    def accumulate(x: Operand, axis: int = 0, dtype: npt.DTypeLike | None = None, out: object = None) -> GPUTensor:
        to = ufunc_keywords.outputs(title, out, 1)[0]
        x = operand_of(x)
        if x.ndim == 0:
            raise TypeError(f"{title}: x has no axes; needs one or more (cannot accumulate on a scalar)")
        if axis is None or isinstance(axis, tuple):
            raise ValueError(f"{title}: axis is {axis}; needs one axis")
        at = axis_of(title, no_bool(title, "axis", axis), x.ndim)
        if name in _SCANS:
            scanned: GPUTensor = _SCANS[name](x, at, dtype, to)
            return scanned
        given = _operand(name, "accumulate", x, dtype, to)
        length = given.shape[at]
        made = given.copy()
        if name in _ASSOCIATIVE:  # by doubling
            apart = 1
            while apart < length:
                front, back = made[along(at, slice(0, length - apart))], made[along(at, slice(apart, None))]
                back[...] = function(front.copy(), back)
                apart *= 2
        else:
            for i in range(1, length):
                before, here = made[along(at, slice(i - 1, i))], made[along(at, slice(i, i + 1))]
                here[...] = function(before, here).copy()
        return reductions.stored(title, made, to)

    return accumulate


def _reduceat_of(function: Any, name: str) -> Binary:
    title = f"{name}.reduceat"

    def reduceat(
        x: Operand, indices: Any, axis: int = 0, dtype: npt.DTypeLike | None = None, out: Any = None
    ) -> GPUTensor:
        to = ufunc_keywords.outputs(title, out, 1)[0]
        given = operand_of(x)
        if given.ndim == 0:
            raise TypeError(f"{title}: x has no axes; needs one or more (cannot reduceat on a scalar)")
        at = axis_of(title, no_bool(title, "axis", axis), given.ndim)
        length = given.shape[at]
        starts = integers(title, "indices", dtypes.host_of(ravel(operand_of(indices))).tolist()) if len(indices) else []
        for i in starts:
            if not 0 <= i < length:
                raise IndexError(f"{title}: indices has {i}; needs 0 to {length - 1}")
        parts = []
        for first, last in zip(starts, [*starts[1:], length][: len(starts)], strict=True):
            part = given[along(at, slice(first, max(last, first + 1)))]
            if name in _FROM_IDENTITY and part.shape[at] == 1:  # where NumPy leaves it as it is
                parts.append(_operand(name, "reduceat", part, dtype, None))
            else:
                parts.append(function.reduce(part, at, dtype, keepdims=True))
        if parts:
            made = composed.concatenate(parts, at)
        else:
            nothing = function.reduce(creation.zeros((1,), given.dtype), 0, dtype)
            made = creation.empty((*given.shape[:at], 0, *given.shape[at + 1 :]), nothing.dtype)
        return reductions.stored(title, made, to)

    return reduceat


def _outer_of(function: Binary) -> Binary:
    def outer(a: Operand, b: Operand, **more: object) -> object:
        a, b = operand_of(a), operand_of(b)
        return function(a.reshape(*a.shape, *[1] * b.ndim), b, **more)

    return outer


def _adds(x: GPUTensor, value: object) -> bool:
    """Whether sums of x's elements and the value are of x's dtype, so that the device adds them as NumPy does."""
    kind = dtypes.kind_of(x.dtype)
    if type(value) is int and kind in "iu":
        limits = np.iinfo(x.dtype)
        return bool(limits.min <= value <= limits.max)
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return not isinstance(value, float | complex)
    return dtypes.can_cast(dtype, x.dtype, "same_kind") or kind not in "iu"


def _at_of(name: str, count: int) -> Binary:
    def at(x: GPUTensor, indices: Any, *values: Any) -> None:
        """x[indices] = function(x[indices], value), again and again for a place that stands there twice."""
        tensor(f"{name}.at", "x", x)
        if len(values) != count - 1:
            needs = "a value" if count == 2 else "no value"
            raise (ValueError if count == 2 else TypeError)(f"{name}.at: {len(values)} values came; needs {needs}")
        if name == "add" and _adds(x, values[0]):
            indexing.add_at(x, indices, *values)
            return
        places = tuple(map(dtypes.on_host, indices)) if isinstance(indices, tuple) else dtypes.on_host(indices)
        made = dtypes.host_of(x).copy()  # on the host: one after another
        try:
            ufunc = ufunc_keywords.theirs(name)
            assert ufunc is not None
            ufunc.at(made, places, *map(dtypes.on_host, values))
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            kind = next(k for k in type(error).__mro__ if k.__module__ == "builtins")
            raise kind(f"{name}.at: indices or value do not fit ({error})") from None
        x[...] = creation.array(made)

    return at


def _refused(name: str, method: str, needs: str) -> Binary:
    def refuse(*args: object, **more: object) -> NoReturn:
        raise ValueError(f"{name}.{method}: {name} is no function of {needs}; {method} needs one")

    return refuse


def install() -> None:
    """Gives the functions of the table that are ufuncs in NumPy the methods of ufuncs."""
    for row in TABLE:
        function: Any = row.function
        theirs = next((u for u in map(ufunc_keywords.theirs, row.names) if u is not None), None)
        if theirs is None or row.space:
            continue
        function.nin, function.nout = theirs.nin, theirs.nout
        function.identity, function.types = theirs.identity, theirs.types
        function.nargs, function.ntypes, function.signature = theirs.nargs, theirs.ntypes, theirs.signature
        function.resolve_dtypes = getattr(theirs, "resolve_dtypes", None)
        if theirs.signature is not None:  # products of matrices
            continue
        name = theirs.__name__
        if function.nin == 2 and function.nout == 1:
            function.reduce = _reduce_of(function, name)
            function.accumulate = _accumulate_of(function, name)
            function.reduceat = _reduceat_of(function, name)
            function.outer = _outer_of(function)
            function.at = _at_of(name, 2)
            continue
        for method in ("reduce", "accumulate", "reduceat"):
            setattr(function, method, _refused(name, method, "two operands and one result"))
        function.outer = _outer_of(function) if function.nin == 2 else _refused(name, "outer", "two operands")
        function.at = _at_of(name, 1) if function.nout == 1 else _refused(name, "at", "one result")
