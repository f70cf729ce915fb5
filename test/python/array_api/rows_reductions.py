"""Reductions, running sums and differences: axes, keepdims, dtypes, corrections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from . import draws
from .calls import Call, Row

SUMMED = 16.0  # values of sums, so that they stay finite
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
FILLED = hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=5)


def optional(draw: Any, keywords: dict[str, st.SearchStrategy[Any]]) -> dict[str, Any]:
    """Some of these keyword arguments."""
    return {k: draw(s) for k, s in keywords.items() if draw(st.booleans())}


def rounding(a: np.ndarray[Any, Any], growth: float, dtype: Any = None) -> float:
    """The bound of the error of a sum (or of what grows so) of all of them."""
    kind = np.dtype(dtype or a.dtype)
    if kind.kind not in "fc":
        return 0.0
    return float(np.finfo(kind).eps) * (a.size + 8) * growth


@st.composite
def sums(draw: Any, product: bool = False) -> Call:
    dtype = draw(st.sampled_from(draws.NUMERIC))
    side = 1.5 if product else SUMMED
    limits = {} if np.dtype(dtype).kind in "iu" else {"low": -side, "high": side}
    a = draw(draws.arrays(dtype, SHAPES, **limits))
    keywords = optional(draw, {"axis": draws.axes_of(a.ndim), "keepdims": st.booleans()})
    if draw(st.booleans()):
        keywords["dtype"] = np.dtype(draw(st.sampled_from(wider(dtype))))
    if a.dtype.kind in "iu" and np.dtype(keywords.get("dtype", dtype)).kind in "fc":
        a %= 16  # rounded sums of small numbers
        a = np.where(a > 1, np.ones((), a.dtype), a) if product else a
    size = float(np.abs(a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)).sum() + 1)
    growth = side ** min(a.size, 60) if product else size
    return Call((a,), tuple(keywords.items()), 4 * rounding(a, growth, keywords.get("dtype")))


def wider(dtype: str) -> list[str]:
    """What a sum of a dtype may be asked to be."""
    kind = np.dtype(dtype).kind
    if kind == "c":
        return ["complex128"]
    return ["float64", *(["int64"] if kind in "iu" else ["float32"] if dtype == "float32" else [])]


@st.composite
def means(draw: Any, spread: bool = False) -> Call:
    dtype = draw(st.sampled_from(draws.FLOATING if spread else draws.INEXACT))
    a = draw(draws.arrays(dtype, FILLED, low=-SUMMED, high=SUMMED))
    keywords = optional(draw, {"axis": draws.axes_of(a.ndim), "keepdims": st.booleans()})
    if spread:
        counted = a.size if keywords.get("axis") is None else None
        if counted is None:
            axis = keywords["axis"]
            counted = int(np.prod([a.shape[i] for i in (axis if isinstance(axis, tuple) else (axis,))]))
        if counted > 1 and draw(st.booleans()):
            keywords["correction"] = draw(st.sampled_from([0, 1, 0.5]))
    growth = SUMMED**2 if spread else SUMMED
    return Call((a,), tuple(keywords.items()), 8 * rounding(a, growth))


@st.composite
def deviations(draw: Any) -> Call:
    """std: its root takes half of the digits of a variance near 0."""
    made = draw(means(spread=True))
    return Call(made.args, made.kwargs, float(np.sqrt(made.bound)))


@st.composite
def selected(draw: Any, dtypes: Sequence[str], filled: bool) -> Call:
    """max, min, all, any: the same element, whatever the order."""
    a = draw(draws.any_array(dtypes, FILLED if filled else SHAPES))
    return Call((a,), tuple(optional(draw, {"axis": draws.axes_of(a.ndim), "keepdims": st.booleans()}).items()))


@st.composite
def located(draw: Any) -> Call:
    """argmax, argmin: the first of those."""
    a = draw(draws.any_array(draws.REAL, FILLED))
    axis = st.none() if a.ndim == 0 else st.none() | st.integers(-a.ndim, a.ndim - 1)
    return Call((a,), tuple(optional(draw, {"axis": axis, "keepdims": st.booleans()}).items()))


@st.composite
def running(draw: Any, product: bool = False) -> Call:
    dtype = draw(st.sampled_from(draws.NUMERIC))
    side = 1.5 if product else SUMMED
    limits = {} if np.dtype(dtype).kind in "iu" else {"low": -side, "high": side}
    a, axis = draw(draws.array_and_axis([dtype], **limits))
    keywords: dict[str, Any] = optional(draw, {"include_initial": st.booleans()})
    if a.ndim > 1 or draw(st.booleans()):
        keywords["axis"] = axis
    if a.dtype.kind in "iu" and draw(st.booleans()):
        keywords["dtype"] = np.dtype("int64")
    growth = side ** min(a.size, 60) if product else float(np.abs(a).sum() + 1) if a.dtype.kind in "fc" else 1.0
    return Call((a,), tuple(keywords.items()), 4 * rounding(a, growth))


@st.composite
def differences(draw: Any) -> Call:
    # As few as n elements along the axis leave none; fewer are an error of the caller's.
    a, axis = draw(draws.array_and_axis(draws.NUMERIC, hnp.array_shapes(max_dims=3, min_side=1), low=-1000, high=1000))
    keywords: dict[str, Any] = {"axis": axis}
    count = draw(st.integers(0, min(2, a.shape[axis])))
    if count != 1:
        keywords["n"] = count
    side = list(a.shape)
    for name in ("prepend", "append"):
        if draw(st.booleans()):
            side[axis] = draw(st.integers(1, 2))
            keywords[name] = draw(draws.arrays(a.dtype.name, tuple(side), low=-1000, high=1000))
    return Call((a,), tuple(keywords.items()))


ROWS = [
    Row("sum", sums()),
    Row("prod", sums(product=True)),
    Row("mean", means()),
    Row("var", means(spread=True)),
    Row("std", deviations()),
    Row("max", selected(draws.REAL, True), either_zero=True),
    Row("min", selected(draws.REAL, True), either_zero=True),
    Row("all", selected(draws.EVERY, False)),
    Row("any", selected(draws.EVERY, False)),
    Row("count_nonzero", selected(draws.EVERY, False), reference=lambda a, **k: np.asarray(np.count_nonzero(a, **k))),
    Row("argmax", located()),
    Row("argmin", located()),
    Row("cumulative_sum", running()),
    Row("cumulative_prod", running(product=True)),
    Row("diff", differences()),
]
