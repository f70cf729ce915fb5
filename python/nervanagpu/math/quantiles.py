"""Quantiles, percentiles and medians, as NumPy's functions: rows are sorted, and elements between which a quantile lies
are interpolated.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes, selection
from nervanagpu.arrays.manipulation import axis_of
from nervanagpu.calls.arguments import choice, integers
from nervanagpu.function_table import public
from nervanagpu.math import composed, elementwise, reductions, scans, sorting
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import Axis, operand_of

# Of n elements the quantile q lies at n * q + (alpha + q * (1 - alpha - beta)) - 1 of the row in order.
_CONTINUOUS = {
    "linear": (1.0, 1.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
_EXACT = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")  # one of the elements
_METHODS = (*_CONTINUOUS, *_EXACT, "midpoint", "averaged_inverted_cdf")


def _place(on: Any, n: Any, q: Any, method: str) -> tuple[Any, Any, Any]:
    """The elements below and above the quantile, and how far it is from the first towards the second.

    on: NumPy for a number of elements n, nervanagpu.math.elementwise for one of each row.
    """
    last = on.maximum(n - 1, 0)
    if method in ("lower", "higher", "nearest"):
        round_ = {"lower": on.floor, "higher": on.ceil, "nearest": on.rint}[method]
        at = on.minimum(on.maximum(round_((n - 1) * q), 0), last)
        return at, at, 0.0
    if method in ("inverted_cdf", "closest_observation", "averaged_inverted_cdf"):
        where = n * q - (1.5 if method == "closest_observation" else 1.0)
    else:
        alpha, beta = _CONTINUOUS["linear" if method == "midpoint" else method]
        where = (n - 1) * q if (alpha, beta) == (1.0, 1.0) else n * q + (alpha + q * (1 - alpha - beta)) - 1
    low = on.floor(where)
    part = where - low
    if method in ("inverted_cdf", "closest_observation"):
        stays = on.equal(part, 0)
        if method == "closest_observation":  # the even one of two, counted from 1
            stays = on.logical_and(stays, on.equal(on.remainder(low, 2), 1))
        at = on.minimum(on.maximum(on.where(stays, low, low + 1), 0), last)
        return at, at, 0.0
    if method == "averaged_inverted_cdf":
        part = on.where(on.equal(part, 0), 0.5, 1.0)
    elif method == "midpoint":
        part = on.where(on.equal(part, 0), 0.0, 0.5)
    return (*(on.minimum(on.maximum(at, 0), last) for at in (low, low + 1)), part)


def _between(first: GPUTensor, second: GPUTensor, part: Any) -> GPUTensor:
    """NumPy's interpolation: from the nearer end, so that both ends are met."""
    apart = elementwise.subtract(second, first)
    up: GPUTensor = first + apart * part
    down: GPUTensor = second - apart * (1 - part)
    if isinstance(part, float):
        return down if part >= 0.5 else up
    return elementwise.where(elementwise.greater_equal(part, 0.5), down, up)


def _of_rows(ordered: GPUTensor, n: int, q: float, method: str) -> GPUTensor:
    """The quantile of rows of n elements in order."""
    low, high, part = (float(v) for v in _place(np, n, q, method))
    value = ordered[..., int(low)]
    return value if part == 0 or low == high else _between(value, ordered[..., int(high)], part)


def _at(ordered: GPUTensor, place: GPUTensor) -> GPUTensor:
    """The element of each row at its place."""
    return selection.take_along_axis(ordered, _core.cast(place, np.int64)[..., None], -1)[..., 0]


def _of_counts(ordered: GPUTensor, count: GPUTensor, q: float, method: str) -> GPUTensor:
    """The quantile of the first `count` elements of each row in order."""
    low, high, part = _place(elementwise, _core.cast(count, np.float64), q, method)
    first = _at(ordered, low)
    if not isinstance(part, GPUTensor):
        return first
    second = _at(ordered, high)
    made = _between(first, second, _core.as_dtype(part, ordered.dtype))
    exact = elementwise.logical_or(elementwise.equal(part, 0), elementwise.equal(low, high))
    return elementwise.where(exact, first, made)


def _median_of_rows(ordered: GPUTensor, n: int) -> GPUTensor:
    """The middle of rows of n elements in order: a mean, so that of two infinities it is no NaN."""
    value = reductions.mean(ordered[..., (n - 1) // 2 : n // 2 + 1], -1)
    if dtypes.kind_of(ordered.dtype) not in "fc":
        return value
    last = ordered[..., -1]
    return elementwise.where(elementwise.isnan(last), last, value)


def _median_of_counts(ordered: GPUTensor, count: GPUTensor) -> GPUTensor:
    """The middle of the first `count` elements of each row in order; without one the last, a NaN."""
    low = elementwise.floor_divide(elementwise.maximum(count - 1, 0), 2)
    high = elementwise.minimum(elementwise.floor_divide(count, 2), ordered.shape[-1] - 1)
    pair = composed.stack([_at(ordered, low), _at(ordered, high)], -1)
    value = elementwise.where(elementwise.equal(low, high), pair[..., 0], reductions.mean(pair, -1))
    return elementwise.where(elementwise.equal(count, 0), ordered[..., -1], value)


def _of_weights(ordered: GPUTensor, weights: GPUTensor, q: float) -> GPUTensor:
    """The first element in order up to which the weights are a share of q or more."""
    shares = scans.cumsum(weights, -1)
    shares = elementwise.divide(shares, shares[..., -1:])
    below = elementwise.logical_or(elementwise.less(shares, q), elementwise.equal(shares, 0))
    place = elementwise.minimum(reductions.sum(below, -1), ordered.shape[-1] - 1)
    return _at(ordered, place)


def _rows(x: GPUTensor, axes: list[int]) -> GPUTensor:
    """x with these axes as one, after the others."""
    kept = [a for a in range(x.ndim) if a not in axes]
    turned = x.transpose(*kept, *axes) if x.ndim else x
    return turned.reshape(*(x.shape[a] for a in kept), math.prod(x.shape[a] for a in axes))


def _weights_of(function: str, x: GPUTensor, weights: object, axes: list[int], method: str) -> GPUTensor:
    if method != "inverted_cdf":
        raise ValueError(f"{function}: weights come with method {method!r}; needs 'inverted_cdf'")
    given = _core.as_dtype(operand_of(weights), np.float64)
    if given.shape != x.shape:
        if given.ndim != 1 or len(axes) != 1 or given.shape[0] != x.shape[axes[0]]:
            raise ValueError(f"{function}: weights have shape {given.shape}; needs {x.shape}, or the length of `axis`")
        given = given.reshape(*[-1 if a == axes[0] else 1 for a in range(x.ndim)])
        whole = creation.empty(x.shape, np.float64)
        whole[...] = given
        given = whole
    if given.size and float(reductions.min(given).item()) < 0:
        raise ValueError(f"{function}: weights have one below 0; needs 0 or more")
    return _rows(given, axes)


def _asked(function: str, q: Any, scale: float, x: GPUTensor) -> tuple[Any, Any]:
    """The fractions, and the dtype that they bring; a number of Python is in that of x's floats, as NumPy has it."""
    given = dtypes.on_host(q)
    try:
        asked = np.asarray(given)
        if asked.dtype.kind == "c":
            raise TypeError
        if asked.dtype.kind not in "biuf":
            asked = asked.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{function}: q is {type(q).__name__}; needs a number or numbers") from None
    except OverflowError:
        raise ValueError(f"{function}: q is outside its range, 0 to {scale:.0f}") from None
    weak = type(q) in (int, float)
    if weak and -1e30 < q < 1e30 and str(x.dtype) in ("float16", "float32"):
        kind = np.dtype(x.dtype).type
        return np.asarray(kind(q) / kind(scale)), None
    if scale != 1:
        own = str(x.dtype) in ("float16", "float32")
        asked = np.true_divide(asked, np.dtype(x.dtype).type(scale) if own else scale)
    return asked, None if weak else asked.dtype if asked.dtype.kind == "f" else np.float64


def _quantiles(
    function: str, x: object, q: object, scale: float, axis: Axis, out: object, method: str, keepdims: bool,
    weights: object, nan: bool,
) -> GPUTensor:  # fmt: skip
    choice(function, "method", method, _METHODS)
    x = operand_of(x)
    median = "median" in function
    if dtypes.kind_of(x.dtype) == "c" and not median:
        raise TypeError(f"{function}: x has dtype {x.dtype}; needs real numbers")
    asked, own = _asked(function, q, scale, x)
    if asked.size and not (asked.min() >= 0 and asked.max() <= 1):
        worst = asked[~((asked >= 0) & (asked <= 1))].flat[0] * scale
        raise ValueError(f"{function}: q has {worst:g}; needs 0 to {100 if scale == 100 else 1}")
    whole = asked.dtype.kind in "iu" and method == "linear"  # an end of the row
    kind = dtypes.kind_of(x.dtype)
    if method not in _EXACT and not whole and (own is not None or kind in "biu"):
        x = _core.as_dtype(x, np.float64 if kind in "biu" else dtypes.promoted(x.dtype, own))
    axes = (
        list(range(x.ndim))
        if axis is None
        else [axis_of(function, a, x.ndim) for a in integers(function, "axis", axis)]
    )
    kept = [a for a in range(x.ndim) if a not in axes]
    rows = _rows(x, axes)
    n = rows.shape[-1]
    if n == 0 and math.prod(rows.shape[:-1]):
        if not median and not function.startswith("nan"):
            raise IndexError(f"{function}: x has no elements along the axis; needs one or more")
        made = creation.full(rows.shape[:-1], math.nan, x.dtype if dtypes.kind_of(x.dtype) in "fc" else np.float64)
        results = [made] * asked.size
    elif n == 0:
        results = [creation.empty(rows.shape[:-1], x.dtype)] * asked.size
    else:
        floats = dtypes.kind_of(x.dtype) in "fc"
        shares = None
        if weights is None:
            ordered = sorting.sort(rows, -1)
        else:
            order = sorting.argsort(rows, -1)
            ordered = selection.take_along_axis(rows, order, -1)
            given = _weights_of(function, x, weights, axes, method)
            if nan and floats:
                given = elementwise.where(elementwise.isnan(rows), 0.0, given).copy()
            shares = selection.take_along_axis(given, order, -1)
        count = reductions.sum(elementwise.logical_not(elementwise.isnan(rows)), -1) if nan and floats else None
        results = []
        for fraction in asked.ravel():
            if median:
                value = _median_of_rows(ordered, n) if count is None else _median_of_counts(ordered, count)
            elif shares is not None:
                value = _of_weights(ordered, shares, float(fraction))
            elif count is not None:
                value = _of_counts(ordered, count, float(fraction), method)
            else:
                value = _of_rows(ordered, n, fraction, method)
            if floats and not nan and not median:
                value = elementwise.where(elementwise.isnan(ordered[..., -1]), math.nan, value)
            results.append(value)
    if keepdims:
        shape = [1 if a in axes else x.shape[a] for a in range(x.ndim)]
        results = [r.reshape(*shape) for r in results]
    if asked.ndim == 0:
        made = results[0] if results[0].ndim else _core.number(results[0])
    else:
        empty = creation.empty((0, *[x.shape[a] for a in kept]), x.dtype)
        made = composed.stack([r.copy() for r in results], 0) if results else empty
        made = made.reshape(*asked.shape, *made.shape[1:])
    return reductions.stored(function, made, out, "unsafe")  # as NumPy's


@public()
def quantile(
    x: Operand, q: object, axis: Axis = None, out: GPUTensor | None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Operand | None = None,
) -> GPUTensor:  # fmt: skip
    """The quantiles q (0 to 1) of the elements along `axis`, an axis in front if q has one; NaN if an element is.

    method: between which elements, and how, as numpy.quantile has it: "linear", "lower", "higher", "nearest",
    "midpoint", "hazen", "weibull", "median_unbiased", "normal_unbiased", "inverted_cdf", "averaged_inverted_cdf",
    "closest_observation", "interpolated_inverted_cdf". weights: how much each counts, with "inverted_cdf".
    overwrite_input has no effect.
    """
    return _quantiles("quantile", x, q, 1, axis, out, method, keepdims, weights, False)


@public()
def percentile(
    x: Operand, q: object, axis: Axis = None, out: GPUTensor | None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Operand | None = None,
) -> GPUTensor:  # fmt: skip
    """quantile(x, q / 100)."""
    return _quantiles("percentile", x, q, 100, axis, out, method, keepdims, weights, False)


@public()
def median(
    x: Operand, axis: Axis = None, out: GPUTensor | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> GPUTensor:
    """The middle of the elements along `axis` in order, or the mean of the two in the middle; NaN if an element is."""
    return _quantiles("median", x, 0.5, 1, axis, out, "midpoint", keepdims, None, False)


@public()
def nanquantile(
    x: Operand, q: object, axis: Axis = None, out: GPUTensor | None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Operand | None = None,
) -> GPUTensor:  # fmt: skip
    """quantile of the elements that are numbers; NaN if there is none."""
    return _quantiles("nanquantile", x, q, 1, axis, out, method, keepdims, weights, True)


@public()
def nanpercentile(
    x: Operand, q: object, axis: Axis = None, out: GPUTensor | None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Operand | None = None,
) -> GPUTensor:  # fmt: skip
    """percentile of the elements that are numbers; NaN if there is none."""
    return _quantiles("nanpercentile", x, q, 100, axis, out, method, keepdims, weights, True)


@public()
def nanmedian(
    x: Operand, axis: Axis = None, out: GPUTensor | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> GPUTensor:
    """median of the elements that are numbers; NaN if there is none."""
    return _quantiles("nanmedian", x, 0.5, 1, axis, out, "linear", keepdims, None, True)
