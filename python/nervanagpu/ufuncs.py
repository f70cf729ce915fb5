"""NumPy's methods of ufuncs on the functions of the table: reduce, accumulate, reduceat, outer, at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nervanagpu import _core, composed, creation, dtypes, indexing, reductions, scans
from nervanagpu._core import GPUTensor
from nervanagpu.arguments import integers, shown, tensor
from nervanagpu.elementwise import _result
from nervanagpu.manipulation import along, axis_of, moveaxis, ravel
from nervanagpu.names import TABLE
from nervanagpu.reductions import axes_of, operand_of

Binary = Callable[..., Any]

REDUCE: dict[str, Binary] = {
    "add": reductions.sum,
    "multiply": reductions.prod,
    "maximum": reductions.max,
    "minimum": reductions.min,
    "logical_and": reductions.all,
    "logical_or": reductions.any,
}
ACCUMULATE: dict[str, Binary] = {"add": scans.cumsum, "multiply": scans.cumprod}
# Functions of which any order of the operands gives the same: neighbours are taken together.
_ASSOCIATIVE = {
    *("bitwise_and", "bitwise_or", "bitwise_xor", "logical_xor", "fmax", "fmin", "gcd", "lcm"),
    *("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "hypot", "logaddexp", "logaddexp2"),
}


def _operand(name: str, x: Any, dtype: Any) -> GPUTensor:
    """x in the dtype that is asked for, of logical functions bool."""
    kind = np.bool_ if dtype is None and name.startswith("logical") else dtype
    return operand_of(x) if kind is None else _core.as_dtype(operand_of(x), kind)


def _one_axis(function: Binary, name: str, x: GPUTensor, axis: int) -> GPUTensor:
    """function of all elements along `axis`, which has one or more: by halves, or one after another."""
    rows = moveaxis(x, axis, 0)
    if name in _ASSOCIATIVE:
        while rows.shape[0] > 1:
            half = rows.shape[0] // 2
            pairs = function(rows[:half], rows[half : 2 * half]).copy()
            rows = composed.concatenate([pairs, rows[2 * half :]]) if rows.shape[0] % 2 else pairs
        return rows[0]
    made: GPUTensor = rows[0]
    for i in range(1, rows.shape[0]):
        made = function(made, rows[i]).copy()
    return made


def _reduce_of(function: Binary, name: str) -> Binary:
    def reduce(
        x: Any, axis: Any = 0, dtype: Any = None, out: GPUTensor | None = None, keepdims: bool = False,
        initial: Any = None, where: Any = True,
    ) -> GPUTensor:  # fmt: skip
        if where is not True:
            raise TypeError(f"{name}.reduce: where is {shown(where)}; needs True")
        given = _operand(name, x, dtype)
        axes = list(range(given.ndim)) if axis is None else axes_of(f"{name}.reduce", axis) or []
        places = sorted({axis_of(f"{name}.reduce", a, given.ndim) for a in axes}, reverse=True)
        made = given
        for a in places:
            if made.shape[a] == 0 and initial is None:
                raise ValueError(f"{name}.reduce: axis {a} has no elements; needs one or more, or initial")
            if made.shape[a]:
                made = _one_axis(function, name, made, a)
            else:
                made = creation.full((*made.shape[:a], *made.shape[a + 1 :]), initial, made.dtype)
        if initial is not None and given.size:
            made = function(initial, made)
        if keepdims:
            made = made.reshape(*(1 if a in places else n for a, n in enumerate(given.shape)))
        return _result(made, out)

    return reduce


def _known_reduce(reduction: Binary) -> Binary:
    def reduce(x: Any, axis: Any = 0, *args: Any, **more: Any) -> GPUTensor:
        result: GPUTensor = reduction(x, axis, *args, **more)
        return result

    return reduce


def _accumulate_of(function: Binary, name: str) -> Binary:
    known = ACCUMULATE.get(name)

    def accumulate(x: Any, axis: int = 0, dtype: Any = None, out: GPUTensor | None = None) -> GPUTensor:
        if known is not None:
            result: GPUTensor = known(x, axis, dtype, out)
            return result
        given = _operand(name, x, dtype)
        at = axis_of(f"{name}.accumulate", axis, given.ndim)
        length = given.shape[at]
        if length == 0:
            return _result(given.copy(), out)
        if name in _ASSOCIATIVE:  # by doubling
            made, apart = given.copy(), 1
            while apart < length:
                front, back = made[along(at, slice(0, length - apart))], made[along(at, slice(apart, None))]
                back[...] = function(front.copy(), back)
                apart *= 2
            return _result(made, out)
        parts = [given[along(at, slice(0, 1))].copy()]
        for i in range(1, length):
            parts.append(function(parts[-1], given[along(at, slice(i, i + 1))]).copy())
        return _result(composed.concatenate(parts, at), out)

    return accumulate


def _reduceat_of(function: Any, name: str) -> Binary:
    def reduceat(x: Any, indices: Any, axis: int = 0, dtype: Any = None, out: GPUTensor | None = None) -> GPUTensor:
        given = operand_of(x)
        at = axis_of(f"{name}.reduceat", axis, given.ndim)
        length = given.shape[at]
        starts = integers(f"{name}.reduceat", "indices", dtypes.host_of(ravel(operand_of(indices))).tolist())
        for i in starts:
            if not 0 <= i < length:
                raise IndexError(f"{name}.reduceat: indices has {i}; needs 0 to {length - 1}")
        parts = []
        for first, last in zip(starts, [*starts[1:], length], strict=True):
            part = given[along(at, slice(first, max(last, first + 1)))]
            kind = {} if dtype is None else {"dtype": dtype}
            parts.append(function.reduce(part, at, keepdims=True, **kind))
        return _result(composed.concatenate(parts, at), out)

    return reduceat


def _outer_of(function: Binary) -> Binary:
    def outer(a: Any, b: Any) -> GPUTensor:
        a, b = operand_of(a), operand_of(b)
        result: GPUTensor = function(a.reshape(*a.shape, *[1] * b.ndim), b)
        return result

    return outer


def _at_of(function: Binary, name: str) -> Binary:
    def at(x: GPUTensor, indices: Any, value: Any = None) -> None:
        """x[indices] = function(x[indices], value), again and again for a place that stands there twice."""
        if name == "add":
            indexing.add_at(x, indices, value)
            return
        places = tuple(map(_host, indices)) if isinstance(indices, tuple) else _host(indices)
        made = dtypes.host_of(tensor(f"{name}.at", "x", x)).copy()  # on the host: one after another
        try:
            getattr(np, name).at(made, places, _host(value))
        except (TypeError, ValueError, IndexError) as error:
            raise type(error)(f"{name}.at: indices or value do not fit ({error})") from None
        x[...] = creation.array(made)

    return at


def _host(x: Any) -> Any:
    return dtypes.host_of(x) if isinstance(x, GPUTensor) else x


def install() -> None:
    """Gives the functions of the table that are ufuncs in NumPy the methods of ufuncs."""
    for row in TABLE:
        function: Any = row.function
        theirs = getattr(np, row.name, None)
        if not isinstance(theirs, np.ufunc):
            continue
        function.nin, function.nout = theirs.nin, theirs.nout
        if function.nin != 2 or function.nout != 1:
            continue
        known = REDUCE.get(row.name)
        function.reduce = _reduce_of(function, row.name) if known is None else _known_reduce(known)
        function.accumulate = _accumulate_of(function, row.name)
        function.reduceat = _reduceat_of(function, row.name)
        function.outer = _outer_of(function)
        function.at = _at_of(function, row.name)
