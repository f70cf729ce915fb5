"""What NumPy makes an array of is an operand here, too: ranges, sequences, buffers, and what has __array__."""

from __future__ import annotations

import array
import collections
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest


class Column:
    """As a column of a table has it."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self.values, dtype)


class First(Column):
    """One whose own operators come before an array's."""

    __array_priority__ = 1000.0

    def __add__(self, other: Any) -> str:
        return "mine"

    __radd__ = __rmatmul__ = __rmul__ = __add__


LIKES: dict[str, Callable[[], Any]] = {
    "range": lambda: range(1, 4),
    "deque": lambda: collections.deque([1, 2, 3]),
    "array": lambda: array.array("d", [1, 2, 3]),
    "buffer": lambda: memoryview(np.array([1, 2, 3], "int16")),
    "column": lambda: Column([1.0, 2.0, 3.0]),
    "column of integers": lambda: Column([1, 2, 3]),
}
USES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sqrt": lambda m, a, x: m.sqrt(x),
    "add": lambda m, a, x: m.add(a, x),
    "power": lambda m, a, x: m.power(x, 2),
    "where": lambda m, a, x: m.where(a > 1, x, 0),
    "clip": lambda m, a, x: m.clip(x, 0, 2),
    "maximum": lambda m, a, x: m.maximum(x, a),
    "sum": lambda m, a, x: m.sum(x),
    "concatenate": lambda m, a, x: m.concatenate([a, x]),
    "stack": lambda m, a, x: m.stack([x, a]),
    "dot": lambda m, a, x: m.dot(a, x),
    "full": lambda m, a, x: m.full((2, 3), x),
    "+": lambda m, a, x: a + x,
    "reflected -": lambda m, a, x: x - a,
    "*": lambda m, a, x: a * x,
    "reflected *": lambda m, a, x: x * a,
    "/": lambda m, a, x: a / x,
    "**": lambda m, a, x: a**x,
    ">": lambda m, a, x: a > x,
    "==": lambda m, a, x: a == x,
    "@": lambda m, a, x: a @ x,
    "reflected @": lambda m, a, x: x @ a,
    "+=": lambda m, a, x: a.__iadd__(x),
    "x[:] =": lambda m, a, x: (a.__setitem__(slice(None), x), a)[1],
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("like", LIKES)
def test_operands(like: str, use: str) -> None:
    values = np.array([4.0, 1.0, 2.0])
    want = USES[use](np, values.copy(), LIKES[like]())
    got = USES[use](ng, ng.array(values), LIKES[like]())
    assert isinstance(got, ng.GPUTensor) and got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got.get(), want, rtol=1e-15)


def test_operators_of_its_own_come_first() -> None:
    x = ng.arange(3.0)
    other = First([1, 2, 3])
    assert x + other == x * other == x @ other == other + x == "mine"
    np.testing.assert_array_equal(ng.add(x, other).get(), [1, 3, 5])


def test_refused_as_before() -> None:
    x = ng.arange(3.0)
    for other in ({1: 2}, object(), None, {1, 2}):
        with pytest.raises(TypeError, match="unsupported operand"):
            x + other
        with pytest.raises(TypeError, match="add: b is .*; needs a GPUTensor, a number, a list or a NumPy array"):
            ng.add(x, other)
    for text in (b"abc", "abc", bytearray(b"abc")):
        with pytest.raises(TypeError):
            ng.add(x, text)
    with pytest.raises(TypeError, match="dtype is object"):
        x + Column([object(), 1, 2])


def test_averages_of_integers() -> None:
    """The products of values and weights are floats: those of bytes do not wrap."""
    values, weights = np.array([200, 100, 7], "uint8"), np.array([250, 3, 9], "uint8")
    for w in (weights, weights.astype("float32"), weights.astype("int64"), weights > 3, weights.astype("complex64")):
        want = np.average(values, weights=w, returned=True)
        got = ng.average(ng.array(values), weights=ng.array(w), returned=True)
        for g, e in zip(got, want, strict=True):
            assert g.dtype == e.dtype and abs(g.get() - e) < 1e-9 * abs(e)
    want = np.average(np.array([1, 2], "float16"), weights=np.array([3, 4], "int8"))
    assert ng.average(ng.array([1, 2], "float16"), weights=ng.array([3, 4], "int8")).dtype == want.dtype
