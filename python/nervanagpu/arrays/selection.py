"""Elements chosen by indices, masks and conditions, as NumPy's functions, made of nervanagpu.arrays.indexing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes, indexing
from nervanagpu.arrays.manipulation import along, axis_of, broadcast_to, ravel
from nervanagpu.calls.arguments import choice, integers, iterable, tensor
from nervanagpu.function_table import public
from nervanagpu.math import composed, elementwise
from nervanagpu.math.elementwise import Operand, _result
from nervanagpu.math.reductions import operand_of, values_for

_NUMBERS = (int, float, complex)  # which take the dtype of what stands beside them


def _grid(function: str, x: GPUTensor, index: GPUTensor, at: int) -> tuple[Any, ...]:
    """A key with `index` along the axis `at` and each other axis' own numbers."""
    if dtypes.kind_of(index.dtype) not in "iu":
        raise IndexError(f"{function}: indices have dtype {index.dtype}; needs integers")
    if index.ndim != x.ndim:
        raise ValueError(f"{function}: indices have {index.ndim} axes; needs {x.ndim}, as the operand")
    key: list[Any] = []
    for a, length in enumerate(x.shape):
        if a == at:
            key.append(index)
        else:
            key.append(composed._count(length).reshape(*[-1 if i == a else 1 for i in range(x.ndim)]))
    return tuple(key)


@public()
def take_along_axis(x: Operand, indices: Operand, axis: int | None = -1) -> GPUTensor:
    """The elements at `indices`, which belong to the rows along `axis` (None: to x, flattened): what argsort gave."""
    x, index = operand_of(x), operand_of(indices)
    if axis is None:
        x, axis = ravel(x), 0
    at = axis_of("take_along_axis", axis, x.ndim)
    return x[_grid("take_along_axis", x, index, at)]


@public()
def put_along_axis(x: GPUTensor, indices: Operand, values: Any, axis: int | None = -1) -> None:
    """x at `indices`, which belong to the rows along `axis`, becomes `values`."""
    tensor("put_along_axis", "x", x)
    index = operand_of(indices)
    if axis is None:
        x, axis = x.reshape(-1, copy=False), 0
    at = axis_of("put_along_axis", axis, x.ndim)
    x[_grid("put_along_axis", x, index, at)] = values


def put_method(self: GPUTensor, indices: Operand, values: object, mode: str = "raise") -> None:
    """The elements, counted in one row, at `indices` become `values`, as nervanagpu.put."""
    put(self, indices, values, mode)


@public()
def put(a: GPUTensor, ind: Operand, v: object, mode: str = "raise") -> None:
    """The elements of `a`, counted in one row, at `ind` become `v`, which is repeated if there are too few."""
    choice("put", "mode", mode, ("raise", "wrap", "clip"))
    tensor("put", "a", a)
    index, given = ravel(operand_of(ind)), ravel(values_for(a.dtype, v))
    if mode != "raise" and a.size:
        wide = _core.cast(index, np.int64)
        index = elementwise.remainder(wide, a.size) if mode == "wrap" else elementwise.clip(wide, 0, a.size - 1)
    if index.size == 0:
        return
    if not a.size:
        raise IndexError("put: a has no elements; needs one or more (cannot replace elements of an empty array)")
    if given.size == 0:
        return
    if given.size != index.size:
        given = given[composed._count(index.size) % given.size]
    if a.contiguous:
        a.reshape(-1)[index] = _core.cast(given, a.dtype)
        return
    places = index.get().astype(np.int64)
    if places.min() < -a.size or places.max() >= a.size:
        raise IndexError(f"put: ind is {places.min()} to {places.max()}; needs {-a.size} to {a.size - 1}")
    a[np.unravel_index(places % a.size, a.shape)] = _core.cast(given, a.dtype)


@public(method=True)
def compress(condition: Operand, x: Operand, axis: int | None = None, out: GPUTensor | None = None) -> GPUTensor:
    """The elements along `axis` (None: of x, flattened) where the condition, a row, is not 0."""
    x = operand_of(x)
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        x, axis = ravel(x), 0
    at = axis_of("compress", axis, x.ndim)
    given = operand_of(condition)
    if given.ndim != 1:
        raise ValueError(f"compress: condition has {given.ndim} axes; needs one")
    return _result(x[along(at, indexing.flatnonzero(given))], out)


@public()
def extract(condition: Operand, x: Operand) -> GPUTensor:
    """The elements of x, in one row, where the condition is not 0."""
    return compress(ravel(operand_of(condition)), ravel(operand_of(x)), 0)


@public()
def argwhere(x: Operand) -> GPUTensor:
    """The indices of the elements that are not 0, a row for each."""
    x = operand_of(x)
    if x.ndim == 0:
        return creation.empty((int(bool(x)), 0), np.int64)
    return composed.stack(indexing.nonzero(x), 1)


@public(method=True, composed=True)
def choose(x: Operand, choices: Sequence[Operand], out: GPUTensor | None = None, mode: str = "raise") -> GPUTensor:
    """For each element of x, an index, the element of that one of `choices`."""
    choice("choose", "mode", mode, ("raise", "wrap", "clip"))
    index = operand_of(x)
    if dtypes.kind_of(index.dtype) not in "iub" or np.dtype(index.dtype) == np.uint64:
        raise TypeError(f"choose: x is {index.dtype}; needs integers that int64 holds")
    given = [c if type(c) in _NUMBERS else operand_of(c) for c in iterable("choose", "choices", choices)]
    if not given:
        raise ValueError("choose: there are no choices; needs one or more")
    dtype = dtypes.result_type(*given)
    for c in given:
        dtypes.check_integer("choose", "a choice", c, dtype)
    among = [_core.as_dtype(operand_of(c), dtype) for c in given]
    if mode == "wrap":
        index = elementwise.remainder(index, len(among))
    elif mode == "clip":
        index = elementwise.clip(index, 0, len(among) - 1)
    elif index.size:
        low, high = int(index.min()), int(index.max())
        if low < 0 or high >= len(among):
            raise ValueError(f"choose: x has {low if low < 0 else high}; needs 0 to {len(among) - 1}")
    result = elementwise.where(elementwise.equal(index, 0), among[0], among[0])
    for i, c in enumerate(among[1:], 1):
        result = elementwise.where(elementwise.equal(index, i), c, result)
    return _result(result, out)


@public()
def select(condlist: Sequence[Operand], choicelist: Sequence[Operand], default: object = 0) -> GPUTensor:
    """For each element, that of the first of `choicelist` whose condition is not 0."""
    tests, among = iterable("select", "condlist", condlist), iterable("select", "choicelist", choicelist)
    if len(tests) != len(among) or not tests:
        raise ValueError(f"select: there are {len(tests)} conditions and {len(among)} choices; needs as many, not 0")
    for i, test in enumerate(tests):
        if hasattr(test, "dtype") and dtypes.kind_of(test.dtype) != "b":
            raise TypeError(f"select: condlist[{i}] is {test.dtype}; needs bool")
    given = [v if type(v) in _NUMBERS else operand_of(v) for v in (*among, default)]
    dtype = dtypes.result_type(*given)
    for v in given:
        dtypes.check_integer("select", "a choice", v, dtype)
    *values, result = (_core.as_dtype(operand_of(v), dtype) for v in given)
    for test, value in zip(reversed(tests), reversed(values), strict=True):
        result = elementwise.where(test, value, result)
    return result


@public()
def piecewise(
    x: Operand, condlist: Sequence[Operand], funclist: Sequence[Any], *args: object, **kw: object
) -> GPUTensor:  # fmt: skip
    """Of each element the function (or number) whose condition is not 0; one more is for the others (else 0).

    Functions are called with x, all of it, and with the arguments that follow.
    """
    x = operand_of(x)
    tests, given = iterable("piecewise", "condlist", condlist), iterable("piecewise", "funclist", funclist)
    if tests and x.ndim and not isinstance(tests[0], list | tuple) and not getattr(tests[0], "ndim", 0):
        tests = [condlist]  # one condition of bools, as NumPy's
    tests = [_core.as_dtype(operand_of(t), np.bool_) for t in tests]
    for t in tests:
        if t.shape != x.shape[: t.ndim]:
            raise IndexError(f"piecewise: a condition has shape {t.shape}; needs that of x, {x.shape}")
    tests = [broadcast_to(t.reshape(*t.shape, *[1] * (x.ndim - t.ndim)), x.shape) for t in tests]
    if len(given) not in (len(tests), len(tests) + 1):
        raise ValueError(f"piecewise: there are {len(given)} functions; needs {len(tests)} or {len(tests) + 1}")
    values = [f(x, *args, **kw) if callable(f) else values_for(x.dtype, f) for f in given]
    result: Any = values[-1] if len(given) > len(tests) else 0
    for test, value in zip(tests, values, strict=False):
        result = elementwise.where(test, value, result)
    return _core.cast(operand_of(result), x.dtype)


def _weights(lengths: list[int], order: str) -> list[int]:
    """How many elements a step along each axis goes over."""
    if order == "C":
        return [math.prod(lengths[a + 1 :]) for a in range(len(lengths))]
    return [math.prod(lengths[:a]) for a in range(len(lengths))]


@public()
def unravel_index(indices: Operand, shape: object, order: str = "C") -> tuple[GPUTensor, ...]:
    """The index along each axis of elements that are counted row by row; order="F": column by column."""
    given = operand_of(indices)
    if dtypes.kind_of(given.dtype) not in "iub":
        raise TypeError(f"unravel_index: indices are {given.dtype}; needs integers")
    index = _core.cast(given, np.int64)
    lengths = integers("unravel_index", "shape", shape, 0)
    choice("unravel_index", "order", order, ("C", "F"))
    if index.size and (int(index.min()) < 0 or int(index.max()) >= math.prod(lengths)):
        raise ValueError(f"unravel_index: an index is outside the {math.prod(lengths)} elements of {tuple(lengths)}")
    found = []
    for length, weight in zip(lengths, _weights(lengths, order), strict=True):
        found.append(elementwise.remainder(elementwise.floor_divide(index, weight), length))
    return tuple(found)


@public()
def ravel_multi_index(
    multi_index: Sequence[Operand], dims: object, mode: object = "raise", order: str = "C"
) -> GPUTensor:
    """The numbers, row by row, of the elements at these indices along each axis; order="F": column by column.

    mode: what becomes of an index outside, for all axes or one for each: "raise", "wrap", "clip".
    """
    function = "ravel_multi_index"
    lengths = integers(function, "dims", dims, 1)
    choice(function, "order", order, ("C", "F"))
    parts = [_core.cast(operand_of(m), np.int64) for m in iterable(function, "multi_index", multi_index)]
    if len(parts) != len(lengths):
        raise ValueError(f"{function}: there are {len(parts)} indices; needs {len(lengths)}, as in dims")
    modes = list(mode) if isinstance(mode, tuple | list) else [mode] * len(parts)
    if len(modes) != len(parts):
        raise ValueError(f"{function}: there are {len(modes)} modes; needs {len(parts)}")
    total: Any = None
    for part, length, rule, weight in zip(parts, lengths, modes, _weights(lengths, order), strict=True):
        if choice(function, "mode", rule, ("raise", "wrap", "clip")) == "wrap":
            part = elementwise.remainder(part, length)
        elif rule == "clip":
            part = elementwise.clip(part, 0, length - 1)
        elif part.size and (int(part.min()) < 0 or int(part.max()) >= length):
            raise ValueError(f"{function}: an index is outside 0 to {length - 1}")
        term = elementwise.multiply(part, weight)
        total = term if total is None else elementwise.add(total, term)
    return operand_of(total)


@public()
def ix_(*rows: Operand) -> tuple[GPUTensor, ...]:
    """Index tensors that choose a grid: x[ix_(a, b)] is x[a][:, b]."""
    found = []
    for i, row in enumerate(rows):
        index = operand_of(row)
        if index.ndim != 1:
            raise ValueError(f"ix_: operand {i} has {index.ndim} axes; needs 1")
        if dtypes.kind_of(index.dtype) == "b":
            index = indexing.flatnonzero(index)
        found.append(index.reshape(*[-1 if a == i else 1 for a in range(len(rows))]))
    return tuple(found)
