"""Attributes that may be assigned, comparisons with what is no number, elements that are not there: beside NumPy."""

from __future__ import annotations

import re

import nervanagpu as ng
import numpy as np
import pytest
from numpy_comparison import check, message, run


@pytest.mark.parametrize(
    "shape", ["(3,-1)", "6", "(4,)", "()", "(2,3)", "(-1,-1)", "(3,'a')", "'a'", "[1,6]", "(2,3,1)"]
)
def test_shape_is_assigned(shape: str) -> None:
    for x in ("A('float32',(2,3))", "A('float32',(2,3))*2", "A('float32',(3,2)).T", "A('int8',(4,3))[::2]"):
        check(f"x={x};x.shape={shape};[x,x+1,x.shape,x.ndim,x.sum(0)]")


def test_of_views_and_expressions() -> None:
    check("x=A('float32',(2,3));y=x[1:];y.shape=(3,);y[0]=9;[x,y,y.base is x]")
    check("x=A('float32',(2,3));y=x+1;z=y*2;y.shape=(3,2);[y,z,len(y),z.shape]")
    check("x=A('float32',(2,3));y=x.T;x.shape=6;[x,y]")
    assert "needs a contiguous tensor" in message("x=A('float32',(2,3)).T;x.shape=6;x")


@pytest.mark.parametrize("other", ["None", "'a'", "b'a'", "''"])
def test_what_is_no_number_equals_none(other: str) -> None:
    for x in ("A('float32',(2,3))", "A('int8',())+1", "A('complex64',(0,3))", "A('bool',(3,))"):
        check(f"x={x};[x=={other},x!={other},{other}==x,{other}!=x]")
    check(f"x=A('float32',(2,3));x<{other}")


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int16", "bool"])
def test_bytes(dtype: str) -> None:
    for x in (f"A('{dtype}',(2,3))", f"A('{dtype}',(3,2)).T", f"A('{dtype}',(4,3))[::2]"):
        for order in ("", "'C'", "'F'", "'A'", "None"):
            check(f"x={x};x.tobytes({order})")
        check(f"x={x};x.byteswap().tobytes()")


VALUES = ["[1,2,3]", "A('float32',(4,5))", "A('float32',(0,4,5))", "A('float32',(2,2))", "L([])", "1j", "7", "[1]"]


@pytest.mark.parametrize("key", ["[]", "False", "xp.zeros(3,bool)", "[False,False,False]", "L([],'int64')", "0:0"])
def test_values_for_no_elements_are_looked_at(key: str) -> None:
    for value in VALUES:
        check(f"x=A('float32',(3,4,5));x[{key}]={value};x")


def test_masks_of_no_element() -> None:
    for value in ("[1,2]", "[1]", "L([])", "3", "A('float32',(1,))", "1j"):
        check(f"x=A('float32',(3,4,5));x[x>99]={value};x")


def test_flags_are_facts() -> None:
    for name in ("aligned", "owndata", "c_contiguous"):
        assert "cannot be set" in message(f"x=A('float32',(2,3));x.flags.{name}=False;x")
    assert "cannot be set" in message("x=A('float32',(2,3));x.flags['O']=False;x")


def test_words() -> None:
    assert "cannot be deleted" in message("x=A('float32',(3,));del x[0];x")
    check("x=A('float32',(3,));del x[0];x")
    check("x=A('float32',(3,));complex(x)")


MASKED = ["x+m", "xp.exp(m)", "xp.array(m)", "xp.asarray(m)", "x@m", "np.add(x,m)", "xp.sum(m)", "xp.where(m>1,x,m)"]


@pytest.mark.parametrize("call", MASKED)
def test_masks_of_arrays_are_not_forgotten(call: str) -> None:
    before = "x=A('float32',(2,));m=np.ma.array([1,2.],mask={0})"
    words = message(f"{before.format([0, 1])};{call}")
    assert "has 1 masked elements, and tensors no masks; needs .filled(number), or .data" in words
    check(f"{before.format([0, 0])};np.asarray({call})")


HOST_OUT = [
    "xp.add(x,x,out=y)", "np.add(x,x,out=y)", "xp.add(x,x,y)", "xp.exp(x,out=(y,))", "x.sum(0,out=y[0])",
    "np.sum(x,0,out=y[0])", "xp.dot(x,x,out=y)", "np.matmul(x,x,out=y)", "xp.concatenate([x],out=y)",
    "xp.add.reduce(x,out=y[0])", "xp.cumsum(x,0,out=y)", "xp.clip(x,0,1,out=y)", "xp.take(x,[0,1],0,out=y)",
    "xp.median(x,0,out=y[0])", "xp.stack([x[0],x[1]],out=y)",
]  # fmt: skip


@pytest.mark.parametrize("call", HOST_OUT)
def test_results_do_not_go_to_arrays_of_the_host(call: str) -> None:
    """As CuPy's: NumPy knows no arrays but its own. The error says what copies there."""
    words = message(f"x=A('float32',(2,2));y=np.zeros((2,2),'float32');{call}")
    assert "out is ndarray, in the host's memory; needs GPUTensor (result.get(out=out) copies there)" in words


def test_sums_into_an_array_of_the_host() -> None:
    assert "add: out is ndarray, in the host's memory" in message("y=np.ones(3);y+=A('float32',(3,));y")
    assert "divmod: out[1] is ndarray" in message("x=A('float32',(2,));xp.divmod(x,x,out=(x,np.ones(2)))")
    assert "fill_diagonal: a is ndarray" in message("xp.fill_diagonal(np.ones((2,2)),1)")


@pytest.mark.parametrize("x", ["A('float32',(2,3))", "A('float32',(2,3))*2", "A('float32',(3,2)).T", "A('int8')"])
def test_get_into_an_array(x: str) -> None:
    of = run(f"{x}", ng, True)
    room = np.full((4, *of.shape, 2), 9, of.dtype)
    out = room[2, ..., 1]
    assert of.get(out=out) is out
    np.testing.assert_array_equal(out, of.get())
    np.testing.assert_array_equal(room[..., 0], 9)
    for order in "CFAK":
        got = of.get(None, order)
        assert got.flags.f_contiguous if order == "F" else got.flags.c_contiguous
        np.testing.assert_array_equal(got, of.get(blocking=False))
    for wrong, words in (
        (np.zeros(5, of.dtype), "get: out has shape (5,); needs"),
        (np.zeros(of.shape, "int16"), "get: out has dtype int16"),
        ([1], "get: out is [1]; needs a NumPy array"), (np.broadcast_to(room[0, ..., 0], of.shape), "read-only"),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=re.escape(words)):
            of.get(out=wrong)
    with pytest.raises(ValueError, match="get: order is 'X'"):
        of.get(order="X")
