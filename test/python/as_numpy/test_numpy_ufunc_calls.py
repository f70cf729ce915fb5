"""Functions that are ufuncs in NumPy take the keyword arguments and have the methods of ufuncs, called as
nervanagpu's and as NumPy's own on tensors."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import function_table
from nervanagpu.math import ufunc_keywords
from numpy_comparison import check, message

UFUNCS = sorted(
    {
        u.__name__
        for r in function_table.TABLE
        if not r.space and (u := ufunc_keywords.theirs(r.name)) and not u.signature
    }
)
INTEGERS = "gcd lcm bitwise_count bitwise_and bitwise_or bitwise_xor invert left_shift right_shift".split()
BINARY = [n for n in UFUNCS if getattr(np, n).nin == 2 and getattr(np, n).nout == 1]
# NumPy's own loops of these read results that they are about to write, along an axis without gaps.
UNORDERED = {"arctan2", "nextafter", "floor_divide", "ldexp", "power", "float_power", "divide"}


def operands(name: str) -> str:
    dtype = "int32" if name in INTEGERS else "float32"
    if name == "ldexp":
        return "A('float32',(3,4)),A('int32',(3,4),1)"
    return ",".join(f"A('{dtype}',(3,4),{k})" for k in range(getattr(np, name).nin))


def to(name: str, shape: str = "(3,4)") -> str:
    """A place for the results."""
    of = getattr(np, name)(
        *(
            np.ones((), "i4" if name in INTEGERS or (name, k) == ("ldexp", 1) else "f4")
            for k in range(getattr(np, name).nin)
        )
    )
    places = [f"Z({shape},'{o.dtype}')" for o in (of if isinstance(of, tuple) else (of,))]
    return places[0] if len(places) == 1 else f"({','.join(places)})"


KEYWORDS = [
    "casting='safe'", "casting='no'", "casting='bogus'", "casting=3", "order='F'", "order='X'", "subok=True",
    "out=None", "out=3", "out=[1]", "out=()", "out={to}", "out={wide}", "out={narrow}",
    "where=A('bool',(3,4)),out={to}",
    "where=A('bool',(4,)),out={to}", "where=H([True,False,True,True]),out={to}", "where=[1,0,1,1],out={to}",
    "where=A('int32',(4,)),out={to}", "dtype='float64'", "dtype='int64'", "dtype='bool'",
]  # fmt: skip


@pytest.mark.parametrize("name", UFUNCS)
def test_keywords(name: str) -> None:
    places = {"to": to(name), "wide": to(name, "(2,3,4)"), "narrow": to(name, "(4,)")}
    for keyword in KEYWORDS:
        if keyword == "out=None" and getattr(np, name).nout == 2:  # NumPy wants a tuple there
            continue
        if keyword.startswith("dtype") and name in ("rint", "reciprocal", "ldexp"):
            continue
        check(f"xp.{name}({operands(name)},{keyword.format(**places)})", protocol=True)


def test_casting_to_out() -> None:
    for casting in ("no", "safe", "same_kind", "unsafe"):
        for of in ("int8", "float32", "float64", "bool"):
            check(f"xp.add(A('float32',(3,4)),1,out=Z((3,4),'{of}'),casting='{casting}')", protocol=True)
            check(f"xp.add(A('int32',(3,4)),A('int64',(4,)),out=Z((3,4),'{of}'),casting='{casting}')", protocol=True)
    assert "operand 0 is float32, dtype is int64; needs" in message("xp.sqrt(A('float32',(2,)),dtype='int64')")
    assert "out has shape (4,); needs one" in message("xp.sqrt(A('float32',(3,4)),out=Z((4,),'float32'))")
    assert "where is int32; needs bool" in message("xp.sqrt(A('float32',(3,)),where=A('int32',(3,)))")


REDUCE = [
    "reduce(A('{d}',(3,4)))", "reduce(A('{d}',(3,4)),axis=-2,keepdims=True)", "reduce(A('{d}',(3,4)),axis=2)",
    "reduce(A('{d}',(0,4)))", "reduce(A('{d}',(0,4)),initial=1)", "reduce(A('{d}',(3,4)),initial=2)",
    "reduce(A('{d}',(3,4)),where=A('bool',(3,4)),initial=1)", "reduce(A('{d}',(3,4)),axis=(0,0))", "reduce(A('{d}'))",
    "accumulate(A('{d}',(3,4)))", "accumulate(A('{d}',(3,4)),axis=5)", "accumulate(A('{d}'))",
    "accumulate(A('{d}',(3,4)),axis=None)", "reduceat(A('{d}',(6,2)),[0,3,5])", "reduceat(A('{d}',(3,4)),[0,9])",
    "reduceat(A('{d}',(3,4)),[])", "reduceat(A('{d}',(6,2)),L([0,3,1,4]))", "outer(A('{d}',(3,)),A('{d}',(2,2),1))",
    "outer(A('{d}'),A('{d}',(3,)))", "outer(A('{d}',(3,)),A('{d}',(0,)))", "outer(A('{d}',(3,)),[1,2])",
]  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_methods(name: str) -> None:
    for dtype in ("float32", "uint8", "bool"):
        for call in REDUCE:
            if name == "ldexp" or (name in UNORDERED and "reduce" in call):
                continue
            check(f"xp.{name}.{call.format(d=dtype)}", protocol=True)
    for at in (
        "[0,0,1],2",
        "L([0,0,1]),A('uint8',(3,),2)",
        "(H([0,1]),),1",
        "[9],1",
        "-1,1",
        "[True,False,False,True],1",
    ):
        if name != "float_power" and name != "divide":
            check(f"x=A('uint8',(4,));xp.{name}.at(x,{at});x", protocol=True)


def test_several_axes_of_what_may_be_in_any_order() -> None:
    for name in ("bitwise_or", "logical_xor", "fmax", "gcd", "maximum"):
        for more in ("axis=None", "axis=(0,1)", "axis=(0,2),keepdims=True"):
            check(f"xp.{name}.reduce(A('int32',(2,3,4)),{more})", protocol=True)
    check("xp.subtract.reduce(A('int32',(2,3)),axis=(0,1))", protocol=True)
    check("xp.hypot.reduce(A('float32',(2,3)),axis=(0,1),where=A('bool',(2,3)))", protocol=True)


@pytest.mark.parametrize("axis", [0, (0, 1), ()])
@pytest.mark.parametrize("name", ["add", "fmax", "logaddexp", "bitwise_or", "subtract", "hypot"])
def test_reductions_of_one_element_are_copies(name: str, axis: int | tuple[int, ...]) -> None:
    if name in ("subtract", "hypot") and axis == (0, 1):
        pytest.skip("NumPy refuses several axes")
    a = np.arange(1, 3, dtype=np.int32 if name == "bitwise_or" else np.float32).reshape(1, 1, 2)
    x = ng.array(a)
    for keepdims in (False, True):
        want = getattr(np, name).reduce(a, axis=axis, keepdims=keepdims)
        got = getattr(ng, name).reduce(x, axis=axis, keepdims=keepdims)
        assert not ng.shares_memory(got, x)
        assert got.shape == want.shape
        assert np.array_equal(got.get(), want)


@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat", "outer"])
def test_functions_of_one_operand_have_no_such_methods(method: str) -> None:
    check(f"xp.sqrt.{method}(A('float32',(3,)),[0])")
    assert "needs" in message(f"xp.sqrt.{method}(A('float32',(3,)),[0])")


def test_unary_at() -> None:
    check("x=A('int32',(4,));xp.negative.at(x,[0,0,1]);x", protocol=True)
    check("x=A('float32',(4,));xp.modf.at(x,[0]);x", protocol=True)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_divisors_of_the_lowest_integer(dtype: str) -> None:
    for name in ("gcd", "lcm"):
        check(f"xp.{name}(S('{dtype}')[:,None],S('{dtype}'))", protocol=True)


def test_numbers_that_do_not_fit() -> None:
    for name in ("gcd", "lcm", "power", "add", "maximum"):
        check(f"xp.{name}(A('int8',(3,)),300)")
        check(f"xp.{name}(A('uint8',(3,)),-1)" if name != "power" else "xp.power(A('uint8',(3,)),2)")
    for name in ("fmax", "fmin", "fabs", "deg2rad", "rad2deg", "modf", "spacing"):
        check(f"xp.{name}({', '.join(['True'] * getattr(np, name).nin)})")
    check("xp.fmax(A('float32',(3,)),2**70)")
    check("x=A('int32',(3,));xp.add.at(x,[0],1.5);x", protocol=True)


@pytest.mark.parametrize("name", ["fabs", "deg2rad", "rad2deg", "modf", "frexp", "ldexp", "nextafter", "heaviside"])
def test_complex_operands_are_refused(name: str) -> None:
    more = ",A('int32',(3,))" if getattr(np, name).nin == 2 else ""
    check(f"xp.{name}(A('complex64',(3,)){more})")
    assert "operand 0 is complex64; needs real numbers" in message(f"xp.{name}(A('complex64',(3,)){more})")


def test_two_results() -> None:
    for call in ("divmod(S('int8')[:,None],S('int8'))", "modf(S('float32'))", "frexp(S('float16'))"):
        check(f"xp.{call}", protocol=True)
    out = ng.zeros(3), ng.zeros(3)
    assert np.modf(ng.array(np.float32([1.5, 2, -0.5])), out=out)[1] is out[1]
    assert out[0].get().tolist() == [0.5, 0, -0.5]


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("number", ["2", "2.0", "2j", "True"])
def test_casting_of_numbers(dtype: str, number: str) -> None:
    """NumPy's resolve_dtypes ends the process where "equiv" forbids a number; it is not asked so."""
    for casting in ("equiv", "no", "safe", "same_kind"):
        check(f"xp.add(A('{dtype}',(3,)),{number},casting='{casting}')")
