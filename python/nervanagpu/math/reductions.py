"""Sums, products, extremes, means and variances, as NumPy's: lazy, fused with what they are made of and what is made
of them.

`axis`: an axis, several, () for each element alone, or None for all. `keepdims`: reduced axes stay with length 1, so
that the result broadcasts against the operand. `dtype`: what the operand is converted to before. `where`: a mask of the
elements that count. `initial`: what one more element would be. `out`: where the result is written.

A row (the reduced axes) that fits is read once and kept in registers, whatever is computed of it. So `(x - ng.mean(x,
1, keepdims=True)) * s` is one kernel, one read, one write. Results have a fixed order of operations: the same bits in
every run, on the GPU and on the emulator. Sums and means of float16 are float32 inside. Sums and products of integers
and bool are int64 or uint64, their means and variances float64. Variances of complex numbers are real. ValueError for
an axis that does not exist, and for max and min of nothing.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import AxisError, integers, no_bool
from nervanagpu.function_table import public
from nervanagpu.math import elementwise, ufunc_keywords
from nervanagpu.math.elementwise import Operand

T = TypeVar("T")

Axis: TypeAlias = int | Sequence[int] | None


def operand_of(x: object) -> GPUTensor:
    """A tensor as it is, anything else as one."""
    if isinstance(x, GPUTensor):
        return x
    try:
        return creation.array(x)
    except TypeError as error:
        from nervanagpu.calls.refusals import no_operand

        raise no_operand(x, error) from None


def values_for(dtype: object, values: object) -> GPUTensor:
    """What is written to a tensor of this dtype, as a tensor. OverflowError for an int that the dtype does not hold."""
    return operand_of(dtypes.from_list(values, dtype) if isinstance(values, int | list | tuple) else values)


def axes_of(function: str, axis: Axis) -> list[int] | None:
    """None, or the list of axes."""
    if axis is None:
        return None
    return [axis] if type(axis) is int else integers(function, "axis", no_bool(function, "axis", axis))


def _masked(function: str, x: object, where: Operand, value: object) -> GPUTensor:
    """x, and `value` where the mask is not set."""
    x = operand_of(x)
    mask = ufunc_keywords.mask_of(function, where)
    if dtypes.kind_of(x.dtype) == "b" and not isinstance(value, GPUTensor):
        value = bool(value)
    return elementwise.where(mask, x, value)


def stored(function: str, result: GPUTensor, out: object, casting: str = "same_kind") -> GPUTensor:
    """The reduction, written to `out`, which has its shape, unless that is None."""
    if out is None:
        return result
    to = ufunc_keywords.outputs(function, out, 1)[0]
    if to is None:
        return result
    if to.shape != result.shape:
        raise ValueError(f"{function}: out has shape {to.shape}; needs that of the result, {result.shape}")
    return ufunc_keywords.store(function, result, to, casting)


def _stored(function: str, result: GPUTensor, dtype: npt.DTypeLike | None, out: object) -> GPUTensor:
    if dtype is not None and result.dtype != _core.dtype(dtype):
        result = _core.cast(result, dtype)
    return stored(function, result, out, "unsafe")  # as NumPy's


def of_out(function: str, x: GPUTensor, out: object) -> dtypes.DType | None:
    """The dtype that sums are computed in for `out`: one that holds both, as NumPy's."""
    to = ufunc_keywords.outputs(function, out, 1)[0]
    return None if to is None else dtypes.promoted(x.dtype, to.dtype)


def _reduced(
    name: str, x: Operand, axis: Axis, keepdims: bool, dtype: npt.DTypeLike | None = None, ddof: Any = 0
) -> GPUTensor:
    if dtype is None and type(ddof) is int and not ddof:
        made = _core.plain_reduce(name, x, axis, keepdims)
        if made is not NotImplemented:
            return made
    axes = None if axis is None else [axis] if type(axis) is int else axes_of(name, axis)
    if dtype is not None:
        x = _core.as_dtype(operand_of(x), dtype)
    try:
        return _core.reduce(name, x if isinstance(x, GPUTensor) else operand_of(x), axes, keepdims, ddof)
    except TypeError:
        given = operand_of(x)
        if name not in ("max", "min") or dtypes.kind_of(given.dtype) != "c":
            raise
        return _of_complex(name, given, axis, keepdims)
    except ValueError:
        given = operand_of(x)
        if axes in ([0], [-1]) and given.ndim == 0 and name in ("sum", "prod", "max", "min"):  # as in NumPy
            return _reduced(name, given, None, keepdims, None, ddof)
        _check_axes(name, axes or [], given)
        raise


def _check_axes(name: str, axes: list[int], x: GPUTensor) -> None:
    """AxisError for an axis that there is not."""
    for a in axes:
        if not -x.ndim <= a < x.ndim:
            raise AxisError(f"{name}: axis {a} is out of range; the operand has {x.ndim} axes")


def _first(function: str, initial: object, dtype: Any) -> GPUTensor:
    """`initial` in the dtype that is reduced, as in NumPy. OverflowError for an int that it does not hold."""
    dtypes.check_integer(function, "initial", initial, dtype)
    given = operand_of(initial)
    if dtypes.kind_of(given.dtype) == "c" and dtypes.kind_of(dtype) != "c":
        raise TypeError(f"{function}: initial is {given.dtype}; needs what becomes {dtype}")
    return _core.as_dtype(given, dtype)


def _folded(
    name: str, combine: elementwise.Binary, neutral: int, x: Operand, axis: Axis, dtype: npt.DTypeLike | None,
    out: GPUTensor | None, keepdims: bool, initial: Operand | None, where: Operand,
) -> GPUTensor:  # fmt: skip
    """A sum or a product."""
    if where is not True:
        x = _masked(name, x, where, neutral)
    if out is not None and dtype is None:
        dtype = of_out(name, operand_of(x), out)
    result: GPUTensor = _reduced(name, x, axis, keepdims, dtype)
    if initial is not None:
        result = combine(result, _first(name, initial, result.dtype))
    return result if dtype is None and out is None else _stored(name, result, dtype, out)


@public(method=True)
def sum(
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: GPUTensor | None = None,
    keepdims: bool = False,
    initial: Operand | None = None,
    where: Operand = True,
) -> GPUTensor:
    """The sum of the elements along `axis`."""
    if where is True and dtype is None and out is None and initial is None:
        made: GPUTensor = _reduced("sum", x, axis, keepdims)
        return made
    return _folded("sum", elementwise.add, 0, x, axis, dtype, out, keepdims, initial, where)


@public(method=True)
def prod(
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: GPUTensor | None = None,
    keepdims: bool = False,
    initial: Operand | None = None,
    where: Operand = True,
) -> GPUTensor:
    """The product of the elements along `axis`."""
    if where is True and dtype is None and out is None and initial is None:
        made: GPUTensor = _reduced("prod", x, axis, keepdims)
        return made
    return _folded("prod", elementwise.multiply, 1, x, axis, dtype, out, keepdims, initial, where)


def _extreme(
    name: str, x: object, axis: Axis, out: GPUTensor | None, keepdims: bool, initial: Operand | None, where: Operand
) -> GPUTensor:
    x = operand_of(x)
    if initial is not None:
        initial = _first(name, initial, x.dtype)
    if where is not True:
        if initial is None:
            raise ValueError(f"{name}: there is a mask `where` but no `initial`; needs both")
        x = _masked(name, x, where, initial)
    if initial is not None:
        choose = elementwise.maximum if name == "max" else elementwise.minimum
        if x.size == 0:
            counted = sum(_core.cast(x, np.int64), axis, keepdims=keepdims)  # zeros, of the result's shape
            result = _core.cast(elementwise.add(elementwise.multiply(counted, 0), initial), x.dtype)
        else:
            result = _core.cast(choose(_reduced(name, x, axis, keepdims), initial), x.dtype)
    else:
        result = _reduced(name, x, axis, keepdims)
    return stored(name, result, out, "unsafe")  # as NumPy's


def extreme_found(name: str, x: GPUTensor, axis: int) -> GPUTensor:
    """Where along `axis` complex elements are the largest ("max") or the smallest, or, if there is one, NaN."""
    worst = -math.inf if name == "max" else math.inf
    re, im, lost = _core.apply("real", x), _core.apply("imag", x), elementwise.isnan(x)
    numbers = elementwise.where(lost, worst, re)
    first = elementwise.logical_and(elementwise.equal(numbers, _core.reduce(name, numbers, [axis], True, 0)), ~lost)
    rest = elementwise.where(first, im, worst)
    found = elementwise.logical_and(first, elementwise.equal(im, _core.reduce(name, rest, [axis], True, 0)))
    return elementwise.where(any(lost, axis, keepdims=True), lost, found)


def _of_complex(name: str, x: GPUTensor, axis: Axis, keepdims: bool) -> GPUTensor:
    """The extreme in NumPy's order of complex numbers, by the real parts and then by the imaginary ones."""
    given = axes_of(name, axis) or []
    if x.ndim == 0 and given in ([0], [-1]):  # as in NumPy
        axis, given = None, []
    _check_axes(name, given, x)
    axes = sorted({a % x.ndim for a in (range(x.ndim) if axis is None else given)})
    kept = [a for a in range(x.ndim) if a not in axes]
    lengths = [x.shape[a] for a in axes]
    if 0 in lengths:
        raise ValueError(f"{name}: the operand {x.shape} has no elements along axis {axis}; needs one or more")
    rows = x.transpose(*kept, *axes).reshape(*(x.shape[a] for a in kept), math.prod(lengths))
    found = extreme_found(name, rows, -1)
    place = creation.arange(rows.shape[-1], dtype=np.int64)
    first = elementwise.equal(
        place, _core.reduce("min", elementwise.where(found, place, rows.shape[-1]), [-1], True, 0)
    )
    parts = [elementwise.where(first, _core.apply(part, rows), 0) for part in ("real", "imag")]
    result: GPUTensor = _core.complex_from(*(_core.reduce("sum", p, [-1], False, 0) for p in parts))
    return result.reshape(*(1 if a in axes else n for a, n in enumerate(x.shape))) if keepdims else result


@public("amax", method="max")
def max(
    x: Operand,
    axis: Axis = None,
    out: GPUTensor | None = None,
    keepdims: bool = False,
    initial: Operand | None = None,
    where: Operand = True,
) -> GPUTensor:
    """The largest element along `axis`; NaN if one is."""
    if initial is None and where is True and out is None:
        found: GPUTensor = _reduced("max", x, axis, keepdims)
        return found
    return _extreme("max", x, axis, out, keepdims, initial, where)


@public("amin", method="min")
def min(
    x: Operand,
    axis: Axis = None,
    out: GPUTensor | None = None,
    keepdims: bool = False,
    initial: Operand | None = None,
    where: Operand = True,
) -> GPUTensor:
    """The smallest element along `axis`; NaN if one is."""
    if initial is None and where is True and out is None:
        found: GPUTensor = _reduced("min", x, axis, keepdims)
        return found
    return _extreme("min", x, axis, out, keepdims, initial, where)


def _counted(function: str, x: GPUTensor, where: Operand, axis: Axis, keepdims: bool) -> GPUTensor:
    mask = ufunc_keywords.mask_of(function, where)
    return sum(elementwise.where(mask, elementwise.equal(x, x) | True, False), axis, keepdims=keepdims)


@public(method=True)
def mean(
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: GPUTensor | None = None,
    keepdims: bool = False,
    *,
    where: Operand = True,
) -> GPUTensor:
    """The sum of the elements along `axis` over their number."""
    if out is not None and dtype is None:
        dtype = _wider("mean", x, out)
    if dtype is not None and dtypes.kind_of(_core.dtype(dtype)) in "biu":
        return stored("mean", _whole_mean("mean", operand_of(x), axis, dtype, keepdims, where), out, "unsafe")
    if where is True:
        result: GPUTensor = _reduced("mean", x, axis, keepdims, dtype)
    else:
        x = operand_of(x)
        total = sum(_masked("mean", x, where, 0), axis, dtype or floating(x.dtype), keepdims=keepdims)
        result = _core.cast(elementwise.divide(total, _counted("mean", x, where, axis, keepdims)), total.dtype)
    if dtype is not None and result.dtype != _core.dtype(dtype):
        result = _core.cast(result, dtype)
    return result if out is None else stored("mean", result, out, "unsafe")  # as NumPy's


def _whole_mean(function: str, x: GPUTensor, axis: Axis, dtype: Any, keepdims: bool, where: Operand) -> GPUTensor:
    """The mean in a dtype of integers or bool, as NumPy's: of a sum that wraps."""
    total = sum(x, axis, dtype, keepdims=keepdims, where=where)
    number: Any = _length(x, axes_of(function, axis))
    if where is not True:
        number = _counted(function, x, where, axis, keepdims)
    return _core.as_dtype(elementwise.divide(total, number), dtype)


def _wider(function: str, x: object, out: object) -> np.dtype[Any] | None:
    """The dtype of `out` where it holds more than x's floats: then means are computed in it; else None."""
    to = ufunc_keywords.outputs(function, out, 1)[0]
    given = operand_of(x)
    kinds = "fc" if dtypes.kind_of(given.dtype) == "f" else "c"
    if to is None or dtypes.kind_of(given.dtype) not in "fc" or dtypes.kind_of(to.dtype) not in kinds:
        return None
    return to.dtype if dtypes.size_of(to.dtype) > dtypes.size_of(given.dtype) else None


def floating(dtype: T) -> T | np.dtype[Any]:
    """The dtype of means: float64 of integers and bool, else the same."""
    return np.dtype(np.float64) if dtypes.kind_of(dtype) in "biu" else dtype


def _variance(
    name: str,
    x: Any,
    axis: Axis,
    dtype: npt.DTypeLike | None,
    out: GPUTensor | None,
    ddof: float,
    keepdims: bool,
    where: Operand,
    mean: Any,
) -> GPUTensor:
    axes = axes_of(name, axis)
    if out is not None and dtype is None:
        dtype = _wider(name, x, out)
    x = x if dtype is None else operand_of(x)
    to = "" if dtype is None else dtypes.kind_of(_core.dtype(dtype))
    whole = to in tuple("biu") or (to == "f" and dtypes.kind_of(x.dtype) == "c")  # the mean is rounded to it before
    if whole:
        mean = _whole_mean(name, x, axis, dtype, True, where) if mean is None else mean
    elif dtype is not None:
        x = _core.as_dtype(x, dtype)
    if where is True and mean is None and isinstance(ddof, int):
        result: GPUTensor = _reduced(name, x, axis, keepdims, None, ddof)
        return result if out is None and dtype is None else _varied(name, result, dtype, out)
    x = operand_of(x)
    centre = globals()["mean"](x, axis, keepdims=True, where=where) if mean is None else mean
    apart = elementwise.subtract(x, centre)
    apart = elementwise.square(elementwise.absolute(apart) if dtypes.kind_of(apart.dtype) == "c" else apart)
    if where is not True:
        apart = _masked(name, apart, where, 0)
    total = sum(apart, axis, dtype if whole else None, keepdims=keepdims)
    number: Any = _counted(name, x, where, axis, keepdims) if where is not True else _length(x, axes)
    number = builtins.max(number - ddof, 0) if isinstance(number, int) else elementwise.maximum(number - ddof, 0)
    variance = _core.as_dtype(elementwise.divide(total, number), total.dtype)
    return _varied(name, elementwise.sqrt(variance) if name == "std" else variance, dtype, out)


def _varied(name: str, result: GPUTensor, dtype: Any, out: Any) -> GPUTensor:
    given = ufunc_keywords.outputs(name, out, 1)[0]
    which, to = ("dtype", dtype) if given is None else ("out", given.dtype)
    array = result.ndim > 0 or given is not None  # of a number NumPy makes an integer
    if name == "std" and array and to is not None and dtypes.kind_of(_core.dtype(to)) in "biu":
        raise TypeError(f"std: {which} is {_core.dtype(to)}; needs what square roots become (casting 'same_kind')")
    if dtype is not None and result.dtype != _core.dtype(dtype):
        result = _core.cast(result, dtype)
    return stored(name, result, out, "unsafe")  # as NumPy's


def _length(x: GPUTensor, axes: list[int] | None) -> int:
    length = 1
    for a in range(x.ndim) if axes is None else axes:
        length *= x.shape[a]
    return length


@public(method=True)
def var(
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
    """The sum of the squares of x - mean(x) over (their number - ddof).

    `mean`: the mean, with keepdims, if it is known; `correction`: another name of ddof.
    """
    return _variance("var", x, axis, dtype, out, _delta("var", ddof, correction), keepdims, where, mean)


@public(method=True)
def std(
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
    """The square root of the variance."""
    return _variance("std", x, axis, dtype, out, _delta("std", ddof, correction), keepdims, where, mean)


def _delta(function: str, ddof: float, correction: float | None) -> float:
    if correction is not None and ddof != 0:
        raise ValueError(f"{function}: there are both ddof and correction; needs one of them")
    number = ddof if correction is None else correction
    if isinstance(number, builtins.float) and number.is_integer():
        return int(number)
    return number


def _reduced_as(function: str, x: GPUTensor, axis: Axis, keepdims: bool) -> GPUTensor:
    """The sum, with `function` in messages."""
    try:
        result: GPUTensor = _reduced("sum", x, axis, keepdims)
        return result
    except ValueError as error:
        raise type(error)(str(error).replace("sum:", f"{function}:", 1)) from None


@public(method=True, composed=True)
def all(
    x: Operand, axis: Axis = None, out: GPUTensor | None = None, keepdims: bool = False, *, where: Operand = True
) -> GPUTensor:
    """True where every element along `axis` is not 0 (or there is none)."""
    wrong = _core.apply("logical_not", operand_of(x))
    if where is not True:
        wrong = _masked("all", wrong, where, False)
    found: GPUTensor = _core.apply("equal", _reduced_as("all", wrong, axis, keepdims), 0)
    return found if out is None else stored("all", found, out)


@public(method=True, composed=True)
def any(
    x: Operand, axis: Axis = None, out: GPUTensor | None = None, keepdims: bool = False, *, where: Operand = True
) -> GPUTensor:
    """True where an element along `axis` is not 0."""
    right = _core.cast(operand_of(x), np.bool_)
    if where is not True:
        right = _masked("any", right, where, False)
    found: GPUTensor = _core.apply("not_equal", _reduced_as("any", right, axis, keepdims), 0)
    return found if out is None else stored("any", found, out)


@public(composed=True)
def count_nonzero(x: Operand, axis: Axis = None, *, keepdims: bool = False) -> GPUTensor:
    """How many elements along `axis` are not 0, as int64."""
    count = sum(_core.cast(operand_of(x), np.bool_), axis, keepdims=keepdims)
    return _core.as_dtype(count, np.int64)


@public(method=True, composed=True)
def ptp(x: Operand, axis: Axis = None, out: GPUTensor | None = None, keepdims: bool = False) -> GPUTensor:
    """The largest element along `axis` less the smallest."""
    high, low = max(x, axis, keepdims=keepdims), min(x, axis, keepdims=keepdims)
    to = None if out is None else ufunc_keywords.outputs("ptp", out, 1)[0]
    if to is not None:
        high = _core.as_dtype(high, to.dtype)  # as NumPy, which writes it there first
    return stored("ptp", elementwise.subtract(high, low), to)


@overload
def average(
    x: Operand,
    axis: Axis = None,
    weights: Operand | None = None,
    returned: Literal[False] = False,
    *,
    keepdims: bool = False,
) -> GPUTensor: ...


@overload
def average(
    x: Operand, axis: Axis = None, weights: Operand | None = None, *, returned: Literal[True], keepdims: bool = False
) -> tuple[GPUTensor, GPUTensor]: ...


@overload
def average(
    x: Operand, axis: Axis, weights: Operand | None, returned: Literal[True], *, keepdims: bool = False
) -> tuple[GPUTensor, GPUTensor]: ...


@public(composed=True)
def average(
    x: Operand, axis: Axis = None, weights: Operand | None = None, returned: bool = False, *, keepdims: bool = False
) -> GPUTensor | tuple[GPUTensor, GPUTensor]:
    """sum(x * weights) / sum(weights) along `axis`; without weights the mean. `returned`: also the sum of the weights.

    weights: of x's shape, or of the lengths of these axes. ZeroDivisionError where they sum to 0, which is waited for.
    """
    x = operand_of(x)
    if weights is None:
        result = mean(x, axis, keepdims=keepdims)
        if not result.size:
            raise ZeroDivisionError(f"average: the result has shape {result.shape}; needs an element or more")
        count = x.size // result.size
        return (result, _core.number(creation.full(result.shape, float(count), result.dtype))) if returned else result
    w = operand_of(weights)
    if w.shape != x.shape:
        named = axes_of("average", axis)
        if named is None:
            raise TypeError(f"average: weights have shape {w.shape}; needs {x.shape}, or `axis`")
        at = [a + x.ndim if a < 0 else a for a in named]
        if builtins.any(not 0 <= a < x.ndim for a in at) or w.shape != tuple(x.shape[a] for a in at):
            raise ValueError(f"average: weights have shape {w.shape}; needs {x.shape}, or the lengths of `axis`")
        turned = w.transpose(*sorted(builtins.range(len(at)), key=at.__getitem__)) if len(at) > 1 else w
        w = turned.reshape(*[x.shape[a] if a in at else 1 for a in builtins.range(x.ndim)])
    dtype = dtypes.promoted(x.dtype, w.dtype)
    if dtypes.kind_of(x.dtype) in "biu":
        dtype = dtypes.promoted(dtype, np.dtype(np.float64))
    weighted = elementwise.multiply(_core.as_dtype(x, dtype), w)
    whole = elementwise.add(w, creation.zeros(x.shape, np.bool_)) if w.shape != x.shape else w
    total = sum(whole, axis, dtype, keepdims=keepdims).copy()
    if bool(any(elementwise.equal(total, 0))):
        raise ZeroDivisionError("average: weights sum to 0; needs another sum (they can't be normalized)")
    result = elementwise.divide(sum(weighted, axis, dtype, keepdims=keepdims), total)
    return (result, _core.as_dtype(total, result.dtype)) if returned else result


@public(numpy=False, composed=True)
def softmax(x: GPUTensor, axis: int = -1) -> GPUTensor:
    """e ** x times the reciprocal of its sum along `axis`, without overflow: one kernel."""
    e = _core.apply("exp", _core.apply("subtract", x, max(x, axis, keepdims=True)))
    return _core.apply("multiply", e, _core.apply("reciprocal", sum(e, axis, keepdims=True)))
