"""Searching, sorting and sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from . import draws
from .calls import Array, Call, Row, call, host

# Few values, so that many are equal; NaN has no place that the standard defines, and each is unique.
FEW = {"low": -3, "high": 3}


@st.composite
def ordered(draw: Any, places: bool = False) -> Call:
    """sort, argsort: descending or not; places of equal elements are defined if stable."""
    a, axis = draw(draws.array_and_axis(draws.REAL, **(FEW if draw(st.booleans()) else {"finite": True})))
    a = a + np.zeros((), a.dtype)  # -0 and 0 are equal: which comes first is open
    keywords: dict[str, Any] = {"axis": axis} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        keywords["descending"] = draw(st.booleans())
    if not places and draw(st.booleans()):
        keywords["stable"] = draw(st.booleans())
    return call(a, **keywords)


def places(a: Array, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Places of a stable sort; descending keeps the order of equal elements, too."""
    if not descending:
        return np.argsort(a, axis=axis, stable=True)
    turned = np.flip(np.argsort(np.flip(a, axis), axis=axis, stable=True), axis)
    return np.maximum(a.shape[axis] - 1, 0) - turned


def in_order(a: Array, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    made = np.sort(a, axis=axis)
    return np.flip(made, axis) if descending else made


@st.composite
def inserted(draw: Any) -> Call:
    """searchsorted: ascending elements, or a permutation that sorts them; values of any shape."""
    first, second = draw(draws.dtype_pairs(draws.REAL))
    a = draw(draws.arrays(first, st.integers(0, 8), **FEW))
    values = draw(
        draws.arrays(second, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4), low=-4, high=4)
    )
    keywords: dict[str, Any] = {"side": draw(st.sampled_from(["left", "right"]))} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        keywords["sorter"] = np.argsort(a, stable=True)
        return call(a, values, **keywords)
    return call(np.sort(a), values, **keywords)


@st.composite
def nonzeros(draw: Any) -> Call:
    return call(draw(draws.any_array(draws.EVERY, hnp.array_shapes(max_dims=4, min_side=0, max_side=4), **FEW)))


UNIQUE = draws.any_array(draws.ALL, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5), **FEW).map(call)


def unique_fields(*wanted: str) -> Any:
    """The values in any order, each with what belongs to it."""

    def check(made: Call, got: Any) -> None:
        x = made.args[0]
        fields = {name: host(getattr(got, name)) for name in wanted} if len(wanted) > 1 else {"values": host(got)}
        values = fields["values"]
        np.testing.assert_array_equal(np.sort(values), np.unique(x))
        assert values.dtype == x.dtype
        if "counts" in fields:
            assert fields["counts"].dtype == np.int64
            np.testing.assert_array_equal(fields["counts"], [np.count_nonzero(x == v) for v in values])
        if "indices" in fields:
            assert fields["indices"].shape == values.shape and fields["indices"].dtype == np.int64
            np.testing.assert_array_equal(fields["indices"], [np.flatnonzero(x == v)[0] for v in values])
        if "inverse_indices" in fields:
            assert fields["inverse_indices"].shape == x.shape and fields["inverse_indices"].dtype == np.int64
            if x.size:
                np.testing.assert_array_equal(values[fields["inverse_indices"]], x)

    return check


ROWS = [
    Row("sort", ordered(), reference=in_order),
    Row("argsort", ordered(places=True), reference=places),
    Row("searchsorted", inserted()),
    Row("nonzero", nonzeros()),
    Row("unique_all", UNIQUE, check=unique_fields("values", "indices", "inverse_indices", "counts")),
    Row("unique_counts", UNIQUE, check=unique_fields("values", "counts")),
    Row("unique_inverse", UNIQUE, check=unique_fields("values", "inverse_indices")),
    Row("unique_values", UNIQUE, check=unique_fields("values")),
]
