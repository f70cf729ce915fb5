"""Reductions of the elements that are numbers: NaN is left out, as NumPy's nan functions do it.

Operands and arguments are those of nervanagpu.math.reductions; each is an expression.
"""

from __future__ import annotations

import math
from typing import Any

import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import dtypes
from nervanagpu.function_table import public
from nervanagpu.math import elementwise, reductions, ufunc_keywords
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import Axis, operand_of


def _has_nan(x: GPUTensor) -> bool:
    return dtypes.kind_of(x.dtype) in "fc"


def _numbers(x: GPUTensor, instead: float) -> GPUTensor:
    """x with a number for NaN."""
    return elementwise.where(elementwise.isnan(x), instead, x) if _has_nan(x) else x


def _there(function: str, x: GPUTensor, where: Operand) -> Operand:
    """Where there are numbers among the elements that count."""
    if not _has_nan(x):
        return where
    numbers = elementwise.logical_not(elementwise.isnan(x))
    return numbers if where is True else elementwise.logical_and(numbers, ufunc_keywords.mask_of(function, where))


@public(composed=True)
def nansum(
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: GPUTensor | None = None,
    keepdims: bool = False,
    initial: Operand | None = None,
    where: Operand = True,
) -> GPUTensor:
    """The sum of the elements along `axis` that are numbers."""
    return reductions.sum(_numbers(operand_of(x), 0), axis, dtype, out, keepdims, initial, where)


@public(composed=True)
def nanprod(
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: GPUTensor | None = None,
    keepdims: bool = False,
    initial: Operand | None = None,
    where: Operand = True,
) -> GPUTensor:
    """The product of the elements along `axis` that are numbers."""
    return reductions.prod(_numbers(operand_of(x), 1), axis, dtype, out, keepdims, initial, where)


def _extreme(
    name: str, x: object, axis: Axis, out: GPUTensor | None, keepdims: bool, initial: Operand | None, where: Operand
) -> GPUTensor:
    x = operand_of(x)
    reduce = reductions.max if name == "max" else reductions.min
    lowest = -math.inf if name == "max" else math.inf  # what no number loses against
    if not _has_nan(x) or initial is not None:
        return reduce(_numbers(x, lowest), axis, out, keepdims, initial, where)
    if where is not True:
        raise ValueError(f"nan{name}: there is a mask `where` but no `initial`; needs both")
    found = reduce(_numbers(x, lowest), axis, keepdims=keepdims)
    count = reductions.sum(elementwise.logical_not(elementwise.isnan(x)), axis, keepdims=keepdims)
    found = elementwise.where(elementwise.equal(count, 0), math.nan, found)
    return reductions.stored(f"nan{name}", found, out, "unsafe")  # as NumPy's


@public(composed=True)
def nanmax(
    x: Operand, axis: Axis = None, out: GPUTensor | None = None, keepdims: bool = False,
    initial: Operand | None = None, where: Operand = True,
) -> GPUTensor:  # fmt: skip
    """The largest number along `axis`; NaN if there is none."""
    return _extreme("max", x, axis, out, keepdims, initial, where)


@public(composed=True)
def nanmin(
    x: Operand, axis: Axis = None, out: GPUTensor | None = None, keepdims: bool = False,
    initial: Operand | None = None, where: Operand = True,
) -> GPUTensor:  # fmt: skip
    """The smallest number along `axis`; NaN if there is none."""
    return _extreme("min", x, axis, out, keepdims, initial, where)


def _check_dtype(function: str, x: GPUTensor, dtype: Any, out: Any) -> None:
    """TypeError for a dtype, or an out, of integers where there may be NaN."""
    for name, of in (("dtype", dtype), ("out", getattr(out, "dtype", None))):
        if of is not None and dtypes.kind_of(_core.dtype(of)) not in "fc" and _has_nan(x):
            raise TypeError(f"{function}: {name} is {_core.dtype(of)}; needs a float, as x is {x.dtype}")


@public(composed=True)
def nanmean(
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: GPUTensor | None = None,
    keepdims: bool = False,
    *,
    where: Operand = True,
) -> GPUTensor:
    """The mean of the numbers along `axis`; NaN if there is none."""
    given = operand_of(x)
    _check_dtype("nanmean", given, dtype, out)
    there = _there("nanmean", given, where)
    return reductions.mean(_numbers(given, 0), axis, dtype, out, keepdims, where=there)


def _variance(
    name: str, x: Any, axis: Axis, dtype: Any, out: Any, ddof: float, keepdims: bool, where: Operand, mean: Any,
    correction: float | None,
) -> GPUTensor:  # fmt: skip
    x = operand_of(x)
    function = reductions.var if name == "var" else reductions.std
    less = reductions._delta(f"nan{name}", ddof, correction)
    _check_dtype(f"nan{name}", x, dtype, out)
    if not _has_nan(x):
        return function(x, axis, dtype, out, less, keepdims, where=where, mean=mean)
    there = _there(f"nan{name}", x, where)
    found = function(_numbers(x, 0), axis, dtype, None, less, keepdims, where=there, mean=mean)
    count = reductions.sum(there, axis, keepdims=keepdims)
    found = elementwise.where(elementwise.less_equal(count, less), math.nan, found)
    return reductions.stored(f"nan{name}", found, out, "unsafe")  # as NumPy's


@public(composed=True)
def nanvar(
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: GPUTensor | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Operand = True,
    mean: Operand | None = None,
    correction: float | None = None,
) -> GPUTensor:
    """The variance of the numbers along `axis`; NaN where there are no more than ddof."""
    return _variance("var", x, axis, dtype, out, ddof, keepdims, where, mean, correction)


@public(composed=True)
def nanstd(
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: GPUTensor | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Operand = True,
    mean: Operand | None = None,
    correction: float | None = None,
) -> GPUTensor:
    """The square root of nanvar."""
    return _variance("std", x, axis, dtype, out, ddof, keepdims, where, mean, correction)
