"""Integers to negative integer powers are refused, whatever holds the exponents: beside NumPy."""

from __future__ import annotations

import nervanagpu as ng
import pytest
from numpy_comparison import check, message

REFUSED = [
    "xp.power({x},-1)", "xp.power({x},L(-1))", "xp.power({x},L([-1,2,3]))", "{x}**L([1,2,-1])", "{x}**-1",
    "{x}**np.array([1,-2,3])", "{x}**np.int8(-1)", "2**L([1,2,-3])", "2**-L([1,2,3],'int8')", "xp.power(True,-1)",
    "x={x};x**=-2;x", "np.power({x},L([1,-2,0]))", "L([True])**-1", "{x}**[1,-1,1]",
]  # fmt: skip
TAKEN = [
    "{x}**L([0,1,2])", "{x}**L([],'int64').reshape(0,1)", "2**L([1,2,3])", "2**L([1,2,3],'uint8')",
    "L([1,2],'uint64')**L([1,2],'uint64')", "L([1,2],'uint64')**L([1,-2],'int64')", "L([1.,2.])**L([-1,-2])",
    "xp.float_power({x},-1)", "L([1,2],'uint8')**L([1,2],'int8')", "{x}**L([True,False,True])",
    "{x}**True", "True**{x}", "{x}**np.True_",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
def test_beside_numpy(dtype: str) -> None:
    for call in (*REFUSED, *TAKEN):
        check(call.format(x=f"L([1,2,3],'{dtype}')"))


def test_in_place() -> None:
    check("x=L([1,2,3]);x**=L([1,-1,2]);x")
    check("x=L([1,2,3]);x**=L([1,0,2]);x")
    check("x=L([],'int64');x**=L([-1]);x")


def test_the_words() -> None:
    for call in ("L([1,2,3])**-1", "L([1,2,3])**L([1,2,-1])"):
        assert "Integers to negative integer powers are not allowed." in message(call)


def test_exponents_that_are_not_computed_yet() -> None:
    x = ng.array([1, 2, 3])
    assert (x ** (x - 1)).get().tolist() == [1, 2, 9]
    with pytest.raises(ValueError, match="b has the exponent -1 of integers"):
        x ** (x - 2)
