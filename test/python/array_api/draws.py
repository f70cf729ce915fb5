"""What is drawn: dtypes by the standard's categories, arrays with every special value, shapes with 0, axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nervanagpu as ng
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

Array = np.ndarray[Any, Any]

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGER = SIGNED + UNSIGNED
FLOATING = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = INTEGER + FLOATING
BOOL = ("bool",)
ALL = REAL + BOOL
DEFAULT_SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def values(dtype: str, low: float | None = None, high: float | None = None, finite: bool = False) -> st.SearchStrategy:
    """Elements of a dtype; of floats NaN, infinities and both zeros among them unless finite or bounded."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        limits = np.iinfo(dtype)
        least = limits.min if low is None else max(int(low), limits.min)
        return st.integers(int(least), int(limits.max if high is None else min(int(high), limits.max)))
    if kind.kind == "b":
        return st.booleans()
    if kind.kind == "c":
        part = values("float32" if dtype == "complex64" else "float64", low, high, finite)
        return st.builds(complex, part, part)
    width = 8 * kind.itemsize
    special = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0]).filter(
        lambda v: (low is None or v >= low) and (high is None or v <= high)
    )
    bounded = finite or low is not None or high is not None
    # Bounds that float32 does not hold are moved inwards by hypothesis' own rule: give it ones it holds.
    low, high = (None if v is None else float(np.float32(v)) for v in (low, high))
    floats = st.floats(low, high, width=width, allow_subnormal=False, allow_nan=not bounded, allow_infinity=not bounded)
    return floats | special


def arrays(dtype: str, shape: Any = DEFAULT_SHAPES, **limits: Any) -> st.SearchStrategy[Array]:
    return hnp.arrays(np.dtype(dtype), shape, elements=values(dtype, **limits))


def any_array(dtypes: Sequence[str] = ALL, shape: Any = DEFAULT_SHAPES, **limits: Any) -> st.SearchStrategy[Array]:
    """An array of one of the dtypes."""
    return st.sampled_from(dtypes).flatmap(lambda dtype: arrays(dtype, shape, **limits))


def promotable(a: str, b: str) -> bool:
    """Whether the standard says what dtype an operation of the two has."""
    kinds = {np.dtype(a).kind, np.dtype(b).kind}
    if "b" in kinds:
        return kinds == {"b"}
    if kinds & set("fc"):
        return not kinds & set("iu")
    return not ("uint64" in (a, b) and "i" in kinds)


def dtype_pairs(dtypes: Sequence[str]) -> st.SearchStrategy[tuple[str, str]]:
    return st.sampled_from([(a, b) for a in dtypes for b in dtypes if promotable(a, b)])


@st.composite
def two_arrays(draw: Any, dtypes: Sequence[str] = ALL, second: dict[str, Any] | None = None, **limits: Any) -> Any:
    """Two arrays whose dtypes promote and whose shapes broadcast."""
    a, b = draw(dtype_pairs(dtypes))
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, min_side=0, max_side=4, max_dims=3)).input_shapes
    return draw(arrays(a, shapes[0], **limits)), draw(arrays(b, shapes[1], **(limits | (second or {}))))


@st.composite
def array_and_axis(draw: Any, dtypes: Sequence[str] = ALL, shape: Any = None, **limits: Any) -> Any:
    """An array of a dimension or more, and one of its axes, from either end."""
    a = draw(
        any_array(dtypes, hnp.array_shapes(max_dims=4, min_side=0, max_side=4) if shape is None else shape, **limits)
    )
    return a, draw(st.integers(-a.ndim, a.ndim - 1))


def axes_of(ndim: int) -> st.SearchStrategy[Any]:
    """None, an axis, or several."""
    if ndim == 0:
        return st.sampled_from([None, ()])
    several = st.lists(st.integers(0, ndim - 1), unique=True, max_size=ndim)
    signs = several.flatmap(lambda a: st.tuples(*(st.sampled_from([i, i - ndim]) for i in a)))
    return st.none() | st.integers(-ndim, ndim - 1) | signs


def has_complex() -> bool:
    """Whether tensors hold complex numbers here."""
    try:
        ng.array(np.zeros(1, np.complex64))
    except (TypeError, ValueError):
        return False
    return True


NUMERIC = REAL + (COMPLEX if has_complex() else ())
EVERY = NUMERIC + BOOL
INEXACT = FLOATING + (COMPLEX if has_complex() else ())
