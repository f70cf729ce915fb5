"""What the standard says raises an exception does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from .calls import XP, Row, find, ours

VECTOR, MATRIX, POINT = np.ones(4, np.float32), np.ones((2, 3), np.float32), np.ones((), np.float32)

# A function, what it is called with, and why it must not work.
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("nonzero", (POINT,), {}, "no dimension"),
    ("matmul", (POINT, MATRIX), {}, "no dimension"),
    ("matmul", (MATRIX, MATRIX), {}, "sides differ"),
    ("add", (MATRIX, VECTOR), {}, "shapes do not broadcast"),
    ("broadcast_to", (VECTOR, (3,)), {}, "shape"),
    ("broadcast_arrays", (VECTOR, np.ones(3, np.float32)), {}, "shapes"),
    ("concat", ([VECTOR, MATRIX],), {}, "dimensions differ"),
    ("expand_dims", (VECTOR,), {"axis": 3}, "axis"),
    ("flip", (VECTOR,), {"axis": 1}, "axis"),
    ("permute_dims", (MATRIX, (0, 0)), {}, "axis twice"),
    ("reshape", (VECTOR, (3,)), {}, "size"),
    ("reshape", (VECTOR, (-1, -1)), {}, "two unknown sides"),
    ("roll", (VECTOR, 1), {"axis": 2}, "axis"),
    ("squeeze", (MATRIX, 0), {}, "side is not 1"),
    ("stack", ([VECTOR, MATRIX],), {}, "shapes differ"),
    ("take", (VECTOR, np.array([9])), {"axis": 0}, "index"),
    ("unstack", (VECTOR,), {"axis": 1}, "axis"),
    ("matrix_transpose", (VECTOR,), {}, "no matrix"),
    ("sum", (VECTOR,), {"axis": 1}, "axis"),
    ("sum", (MATRIX,), {"axis": (0, 0)}, "axis twice"),
    ("max", (np.ones((0,), np.float32),), {}, "no element"),
    ("argmax", (np.ones((0,), np.float32),), {}, "no element"),
    ("cumulative_sum", (MATRIX,), {}, "axis is needed"),
    ("sort", (VECTOR,), {"axis": 1}, "axis"),
    ("arange", (0, 3, 0), {}, "step"),
    ("linspace", (0, 1, -1), {}, "count"),
    ("zeros", ((-1,),), {}, "side"),
    ("zeros", ((1,),), {"device": "nowhere"}, "device"),
    ("full", ((2,), "text"), {}, "no number"),
    ("bitwise_and", (VECTOR, VECTOR), {}, "dtype"),
    ("negative", (np.ones(4, bool),), {}, "dtype"),
    ("isdtype", (np.dtype("int8"), "no kind"), {}, "kind"),
    ("linalg.solve", (MATRIX, VECTOR), {}, "not square"),
    ("linalg.inv", (np.zeros((2, 2), np.float32),), {}, "singular"),
    ("linalg.cross", (VECTOR, VECTOR), {}, "side is not 3"),
    ("linalg.trace", (VECTOR,), {}, "no matrix"),
    ("vecdot", (VECTOR, np.ones(3, np.float32)), {}, "sides differ"),
    ("fft.rfft", (VECTOR,), {"n": 0}, "length"),
    ("meshgrid", (VECTOR,), {"indexing": "no"}, "indexing"),
    ("searchsorted", (VECTOR, VECTOR), {"side": "middle"}, "side"),
]


@pytest.mark.parametrize(
    ("row", "args", "keywords"),
    [pytest.param(name, args, keywords, id=f"{name}-{why}".replace(" ", "-")) for name, args, keywords, why in REFUSED],
)
def test_refused(row: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError, IndexError, np.linalg.LinAlgError)) as error:
        found = find(row)(*(ours(a) for a in args), **keywords)
        if hasattr(found, "get"):
            found.get()
    assert str(error.value)


@pytest.mark.parametrize("kind", [bool, int, float, complex])
def test_only_one_element_is_a_number(kind: Callable[[Any], Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        kind(ours(VECTOR))


def test_unknown_row_is_an_error() -> None:
    with pytest.raises(AttributeError):
        find(Row("no_such_function", None).name)  # type: ignore[arg-type]
    assert not hasattr(XP, "no_such_function")
