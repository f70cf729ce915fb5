"""Elements and results of no axes, which programs use as numbers: as keys, rounded; and tuples as operands."""

from __future__ import annotations

import pytest
from numpy_comparison import check

KEYS = [
    "len(set(L([1,1,2])))",
    "dict(zip(L([1,2]),[3,4]))[2]",
    "{L([5])[0]:1}[5]",
    "d={};d[xp.argmax(L([1,5]))]='a';d[1]",
    "hash(L([1.5,2])[0])==hash(1.5)",
    "import collections;collections.Counter(L([1,1,2]).tolist()+list(L([2,2])))[2]",
    "hash(xp.sum(L([1,2])))==hash(3)",
]
ROUNDED = [
    "round(L([1.2345])[0],2)",
    "round(xp.mean(L([1.25,2.5])))",
    "round(L([15,25])[0],-1)",
    "import math;math.trunc(L([-1.7])[0])",
    "import math;(math.floor(L([1.7])[0]),math.ceil(L([1.2])[0]))",
    "round(L([1.,2]))",
    "import math;math.trunc(L([1.,2]))",
]
TUPLES = ["x+(1,2)", "(1,2)-x", "x*(1.5,2)", "(1,2)/x", "x/(2,2)", "x-(1,)", "(True,False)+x", "x**(2,3)", "x==(1,3)"]


@pytest.mark.parametrize("program", [*KEYS, *ROUNDED])
def test_numbers(program: str) -> None:
    check(program)


@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("operation", TUPLES)
def test_tuples_as_operands(operation: str, dtype: str) -> None:
    check(f"x=L([1,2],'{dtype}');{operation}")
    check(f"x=L([1,2],'{dtype}')+1;{operation}")


def test_a_tensor_with_axes_is_a_key_by_identity() -> None:
    import nervanagpu as ng

    x = ng.ones(2)
    assert {x: 1}[x] == 1 and hash(x) != hash(ng.ones(2))
