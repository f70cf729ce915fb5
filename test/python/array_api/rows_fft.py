"""Fourier transforms: every length, axes, norms; within the error that grows with the logarithm of the length."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from . import draws
from .calls import Array, Call, Row, call

NORMS = ["backward", "ortho", "forward"]


def bound(a: Array, length: int) -> float:
    eps = float(np.finfo(np.complex64 if a.itemsize * 2 <= 8 or a.dtype == np.complex64 else np.complex128).eps)
    return 16 * eps * float(np.abs(a).sum() + 1) * max(length, 1) ** 0.5


@st.composite
def along(draw: Any, dtypes: tuple[str, ...]) -> Call:
    """Along one axis, of the array's length or of n."""
    shape = hnp.array_shapes(max_dims=3, min_side=2, max_side=9)
    a, axis = draw(draws.array_and_axis(dtypes, shape, low=-8, high=8))
    keywords: dict[str, Any] = {}
    if draw(st.booleans()):
        keywords["n"] = draw(st.integers(2, 12))
    if draw(st.booleans()):
        keywords["axis"] = axis
    if draw(st.booleans()):
        keywords["norm"] = draw(st.sampled_from(NORMS))
    return Call((a,), tuple(keywords.items()), bound(a, 24))


@st.composite
def over(draw: Any, dtypes: tuple[str, ...]) -> Call:
    """Over all axes or some, of the array's sides or of s."""
    a = draw(draws.any_array(dtypes, hnp.array_shapes(max_dims=3, min_side=2, max_side=5), low=-8, high=8))
    keywords: dict[str, Any] = {}
    count = a.ndim
    if draw(st.booleans()):
        axes = draw(st.lists(st.integers(0, a.ndim - 1), unique=True, min_size=1))
        keywords["axes"] = tuple(draw(st.sampled_from([i, i - a.ndim])) for i in axes)
        count = len(axes)
        if draw(st.booleans()):
            keywords["s"] = tuple(draw(st.integers(2, 6)) for _ in range(count))
    if draw(st.booleans()):
        keywords["norm"] = draw(st.sampled_from(NORMS))
    return Call((a,), tuple(keywords.items()), bound(a, 216))


@st.composite
def frequencies(draw: Any) -> Call:
    keywords = {"d": draw(st.sampled_from([1.0, 0.5, 3.0]))} if draw(st.booleans()) else {}
    return call(draw(st.integers(1, 12)), **keywords)


@st.composite
def shifted(draw: Any) -> Call:
    a = draw(draws.any_array(draws.INEXACT, hnp.array_shapes(max_dims=3, min_side=1, max_side=5)))
    axes = draw(st.none() | st.integers(-a.ndim, a.ndim - 1) | st.just(tuple(range(a.ndim))))
    return call(a, axes=axes) if draw(st.booleans()) else call(a)


REAL, COMPLEX = draws.FLOATING, draws.COMPLEX
ROWS = [
    *(Row(f"fft.{name}", along(COMPLEX), ulps=8, id="complex") for name in ("fft", "ifft", "irfft", "hfft")),
    *(Row(f"fft.{name}", over(COMPLEX), ulps=8, id="complex") for name in ("fftn", "ifftn", "irfftn")),
    *(Row(f"fft.{name}", along(REAL), ulps=8, id="complex") for name in ("rfft", "ihfft")),
    Row("fft.rfftn", over(REAL), ulps=8, id="complex"),
    *(Row(f"fft.{name}", frequencies(), ulps=2) for name in ("fftfreq", "rfftfreq")),
    *(Row(f"fft.{name}", shifted()) for name in ("fftshift", "ifftshift")),
]
