"""Where elements stand: indices of diagonals and triangles, extremes without NaN, writing by a mask, grids."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes, indexing
from nervanagpu.calls.arguments import integer, tensor
from nervanagpu.function_table import public
from nervanagpu.math import algebra, composed, elementwise, reductions
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of, values_for

T = TypeVar("T")


@public()
def diag_indices(n: int, ndim: int = 2) -> tuple[GPUTensor, ...]:
    """The indices of the main diagonal of a tensor of `ndim` axes of length n."""
    row = creation.arange(integer("diag_indices", "n", n, 0, 1 << 31))
    return tuple(row for _ in range(integer("diag_indices", "ndim", ndim, 0, 64)))


@public()
def diag_indices_from(x: GPUTensor) -> tuple[GPUTensor, ...]:
    """The indices of the main diagonal of x. ValueError unless it has two or more axes of one length."""
    given = tensor("diag_indices_from", "x", x)
    if given.ndim < 2 or len(set(given.shape)) != 1:
        raise ValueError(f"diag_indices_from: x has shape {given.shape}; needs two or more axes of one length")
    return diag_indices(given.shape[0], given.ndim)


def _triangle(lower: bool, n: int, k: int, m: int | None, function: str) -> tuple[GPUTensor, ...]:
    rows = integer(function, "n", n, 0, 1 << 20)
    columns = rows if m is None else integer(function, "m", m, 0, 1 << 20)
    ones = creation.ones((rows, columns), np.bool_)
    shift = integer(function, "k", k)
    return indexing.nonzero(algebra.tril(ones, shift) if lower else algebra.triu(ones, shift))


@public()
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[GPUTensor, ...]:
    """The indices of the elements on and below the diagonal k of an n x m matrix."""
    return _triangle(True, n, k, m, "tril_indices")


@public()
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[GPUTensor, ...]:
    """The indices of the elements on and above the diagonal k of an n x m matrix."""
    return _triangle(False, n, k, m, "triu_indices")


def _matrix(function: str, x: object) -> GPUTensor:
    given = operand_of(x)
    if given.ndim != 2:
        raise ValueError(f"{function}: x has {given.ndim} axes; needs two")
    return given


@public()
def tril_indices_from(x: Operand, k: int = 0) -> tuple[GPUTensor, ...]:
    """tril_indices of the shape of x."""
    rows, columns = _matrix("tril_indices_from", x).shape
    return tril_indices(rows, k, columns)


@public()
def triu_indices_from(x: Operand, k: int = 0) -> tuple[GPUTensor, ...]:
    """triu_indices of the shape of x."""
    rows, columns = _matrix("triu_indices_from", x).shape
    return triu_indices(rows, k, columns)


@public()
def mask_indices(n: int, mask_func: Callable[..., GPUTensor], k: object = 0) -> tuple[GPUTensor, ...]:
    """Where mask_func(ones of n x n, k) is not 0: mask_func is tril or triu, or alike."""
    side = integer("mask_indices", "n", n, 0, 1 << 16)
    if not callable(mask_func):
        raise TypeError("mask_indices: mask_func is no function; needs one, like tril")
    try:
        made = mask_func(creation.ones((side, side), np.int64), k)
    except TypeError as error:
        raise TypeError(f"mask_indices: mask_func does not take a matrix and k ({error})") from None
    return indexing.nonzero(tensor("mask_indices", "mask_func(...)", made))


def _arg_extreme(name: str, x: Any, axis: int | None, out: Any, keepdims: bool) -> GPUTensor:
    given = operand_of(x)
    find = composed.argmax if name == "nanargmax" else composed.argmin
    if dtypes.kind_of(given.dtype) not in "fc":
        return find(given, axis, out, keepdims=keepdims)
    lost = elementwise.isnan(given)
    if given.size and bool(reductions.any(reductions.all(lost, axis))):
        raise ValueError(f"{name}: x has a row of NaN alone; needs a number in each")
    instead = -math.inf if name == "nanargmax" else math.inf
    return find(elementwise.where(lost, instead, given), axis, out, keepdims=keepdims)


@public(composed=True)
def nanargmax(
    x: Operand, axis: int | None = None, out: GPUTensor | None = None, *, keepdims: bool = False
) -> GPUTensor:
    """The index of the largest number along `axis`, NaN left out. ValueError for a row of NaN alone."""
    return _arg_extreme("nanargmax", x, axis, out, keepdims)


@public(composed=True)
def nanargmin(
    x: Operand, axis: int | None = None, out: GPUTensor | None = None, *, keepdims: bool = False
) -> GPUTensor:
    """The index of the smallest number along `axis`, NaN left out. ValueError for a row of NaN alone."""
    return _arg_extreme("nanargmin", x, axis, out, keepdims)


def _like(function: str, x: GPUTensor, mask: object) -> GPUTensor:
    where = _core.as_dtype(operand_of(mask), np.bool_)
    if where.size != x.size:
        raise ValueError(f"{function}: mask has shape {where.shape}; needs {x.shape}")
    return where.reshape(x.shape)


def _check_safe(function: str, argument: str, given: object, values: GPUTensor, to: GPUTensor) -> None:
    """TypeError for values of a dtype of their own that `to` does not hold."""
    if hasattr(given, "dtype") and not dtypes.can_cast(values.dtype, to.dtype, "safe"):
        needs = f"needs what converts to {to.dtype} (casting 'safe')"
        raise TypeError(f"{function}: {argument} are {values.dtype}; {needs}")


@public()
def place(x: GPUTensor, mask: Operand, vals: object) -> None:
    """x[mask] = the first of `vals`, again and again as many as there are."""
    to = tensor("place", "x", x)
    where, values = _like("place", to, mask), values_for(to.dtype, vals).reshape(-1)
    _check_safe("place", "vals", vals, values, to)
    number = creation.array(reductions.sum(where))
    count = int(number)
    if count == 0:
        return
    if values.size == 0:
        raise ValueError("place: vals has no elements; needs one or more")
    to[where] = _core.cast(values[creation.arange(count) % values.size], to.dtype)


@public()
def putmask(x: GPUTensor, mask: Operand, values: object) -> None:
    """x = values where the mask is not 0: element n takes element n of `values`, which are repeated."""
    to = tensor("putmask", "x", x)
    where, given = _like("putmask", to, mask), values_for(to.dtype, values)
    if given.size == 0:
        return
    _check_safe("putmask", "values", values, given, to)
    row = given.reshape(-1)
    if row.size != 1:
        row = row[creation.arange(to.size) % row.size].reshape(to.shape)
    to[...] = elementwise.where(where, _core.cast(row, to.dtype), to)


class Grid(Generic[T]):
    """mgrid[0:3, 0:1:5j]: the coordinates of a grid, one tensor; ogrid: along its axes, a tuple or list as NumPy's."""

    def __init__(self, whole: bool) -> None:
        self._whole = whole

    def __getitem__(self, key: Any) -> T:
        made: Any = (np.mgrid if self._whole else np.ogrid)[key]
        several = isinstance(made, tuple | list)
        made = type(made)(creation.array(m) for m in made) if several else creation.array(made)
        grid: T = made
        return grid

    def __repr__(self) -> str:
        return f"<{'mgrid' if self._whole else 'ogrid'}>"


class Rows:
    """r_[a, 0:3, b]: rows one after the other; c_: columns beside each other. Keys are NumPy's."""

    def __init__(self, columns: bool) -> None:
        self._columns = columns

    def __getitem__(self, key: object) -> GPUTensor:
        theirs: Any = np.c_ if self._columns else np.r_
        parts = key if isinstance(key, tuple) else (key,)
        return creation.array(theirs[tuple(p.get() if isinstance(p, GPUTensor) else p for p in parts)])

    def __repr__(self) -> str:
        return "<c_>" if self._columns else "<r_>"


mgrid: Grid[GPUTensor] = Grid(True)
ogrid: Grid[Sequence[GPUTensor]] = Grid(False)
r_, c_ = Rows(False), Rows(True)
s_, index_exp = np.s_, np.index_exp
