"""NumPy's order of complex numbers: by the real parts, then by the imaginary ones; NaN comes first."""

from __future__ import annotations

import pytest
from numpy_comparison import check

NUMBERS = [
    "1+2j", "1+1j", "complex(0,nan)", "complex(nan,0)", "complex(nan,nan)", "complex(inf,1)", "complex(inf,-1)",
    "complex(-inf,3)", "complex(1,inf)", "complex(1,-inf)", "complex(inf,nan)", "0j", "complex(-0.0,0)",
]  # fmt: skip
PLAIN = [n for n in NUMBERS if "nan" not in n]
DTYPES = ["complex64", "complex128"]


def given(dtype: str, numbers: list[str]) -> str:
    return f"nan,inf=float('nan'),float('inf');x=L([{','.join(numbers)}],'{dtype}');"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons(op: str, dtype: str) -> None:
    of = given(dtype, NUMBERS)
    for a, b in (
        ("x[:,None]", "x"),
        ("x", "1"),
        ("1", "x"),
        ("x", "1j"),
        ("A('float32',(13,))", "x"),
        ("x[::-1]", "x"),
    ):
        check(f"{of}{a}{op}{b}")
    check(f"A('int8',(13,)){op}1j")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["less", "greater_equal", "maximum", "minimum", "fmax", "fmin"])
def test_functions_of_two(name: str, dtype: str) -> None:
    of = given(dtype, NUMBERS)
    for operands in ("x[:,None],x", "x,1", "2.0,x", "x,A('float16',(13,))"):
        check(f"{of}xp.{name}({operands})", protocol=True)


@pytest.mark.parametrize(
    "name", ["max", "min", "argmax", "argmin", "nanmax", "nanmin", "nanargmax", "nanargmin", "ptp"]
)
def test_extremes(name: str) -> None:
    for dtype in DTYPES:
        rows = [
            given(dtype, PLAIN),
            f"x=A('{dtype}',(3,4,5));",
            f"x=A('{dtype}',(2,3))[::-1,::2];",
            f"x=A('{dtype}',());",
        ]
        if not name.startswith("nan"):
            rows += [given(dtype, NUMBERS), given(dtype, NUMBERS[::-1])]
        holes = f"y=A('{dtype}',(3,4));x=xp.where(y==y[0,0],complex(float('nan'),5),y);"
        for of in [*rows, f"x=A('{dtype}',(0,3));", holes]:
            for words in ("", "axis=0", "axis=-1", "keepdims=True", "axis=1,keepdims=True", "axis=7"):
                check(f"{of}xp.{name}(x,{words})")


def test_extremes_of_several_axes() -> None:
    for words in (
        "axis=(0,2)",
        "axis=(0,1),keepdims=True",
        "axis=()",
        "axis=(0,0)",
        "axis=0,initial=3",
        "initial=1j,where=x!=0",
    ):
        for name in ("max", "min"):
            check(f"x=A('complex64',(3,4,5));xp.{name}(x,{words})", protocol=True)
    check("x=A('complex64',(3,4));xp.max(x,0,out=Z((4,),'complex128'))")
    check("x=A('complex64',(3,4));xp.maximum.accumulate(x)")
    check("x=A('complex64',(3,4));xp.minimum.reduce(x,axis=None)")
    check("x=A('complex64',(3,4));xp.clip(x,0,1+1j)")
    check("x=A('complex64',(7,));sorted(x.tolist(),key=abs);[max(x),min(x)]")
