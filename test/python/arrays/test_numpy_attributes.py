"""Attributes that may be assigned, comparisons with what is no number, elements that are not there: beside NumPy."""

from __future__ import annotations

import pytest
from numpy_comparison import check, message


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
    assert "array in the host's memory" in message("y=np.ones(3);y+=A('float32',(3,));y")
