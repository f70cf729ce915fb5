"""Parameters have NumPy's names at NumPy's places, so that a program's keywords are understood.

The first operand is x here, whatever NumPy calls it; NumPy's own functions on tensors translate that (numpy_protocol).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from nervanagpu import function_table
from numpy_comparison import check

# What NumPy has and this has not: how deep nested lists are read.
WITHOUT = {"array": "ndmax"}
OPERANDS = ("a", "arr")  # x here
KEYWORDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def counterparts() -> Iterator[tuple[str, Any, Any]]:
    for row in function_table.TABLE:
        space = getattr(np, row.space) if row.space else np
        for name in row.names:
            theirs = getattr(space, name, None)
            if theirs is None or isinstance(theirs, np.ufunc):
                continue
            try:
                yield name, inspect.signature(theirs), inspect.signature(row.function)
            except (TypeError, ValueError):
                continue


@pytest.mark.parametrize(("name", "theirs", "ours"), list(counterparts()), ids=lambda v: v if type(v) is str else "")
def test_names(name: str, theirs: inspect.Signature, ours: inspect.Signature) -> None:
    if any(p.kind is p.VAR_KEYWORD for p in ours.parameters.values()):
        return  # it hands them on
    wanted = [p.name for p in list(theirs.parameters.values())[1:] if p.kind in KEYWORDS and p.name != "like"]
    missing = [n for n in wanted if n not in ours.parameters and n not in OPERANDS]
    assert set(missing) <= set(WITHOUT.get(name, "").split()), f"{name}{ours} has no {missing}"


CALLS = [
    "array_split(A('int8',(6,)),indices_or_sections=4)", "split(A('int8',(6,)),indices_or_sections=[2])",
    "hsplit(A('int8',(2,4)),indices_or_sections=2)", "resize(A('int8',(3,)),new_shape=(2,2))",
    "full((2,),fill_value=3,dtype='int8')", "full_like(A('int8',(3,)),fill_value=2)", "eye(N=2,M=3,dtype='int8')",
    "tri(N=2,M=3,dtype='int8')", "vander(A('int32',(3,)),N=2)", "isin(element=L([1,2]),test_elements=[2])",
    "select(condlist=[L([True,False])],choicelist=[L([1,2])],default=7)", "vstack(tup=[A('int8',(3,))]*2)",
    "ravel_multi_index((L([1]),L([2])),dims=(2,3))",
    "intersect1d(ar1=L([1,2]),ar2=L([2]))", "pad(array=L([1]),pad_width=1)",
    "union1d(ar1=L([1,2]),ar2=L([2]))", "polyadd(a1=L([1,2]),a2=L([2]))", "poly(seq_of_zeros=L([1.,2]))",
    "array_equal(a1=L([1]),a2=L([1]))", "broadcast_to(array=L([1]),shape=(2,))",
    "issubdtype(arg1='int8',arg2=np.integer)",
    "polydiv(u=L([1.,2]),v=L([1.,1]))", "array_str(L([1e-9,1.]),precision=3,suppress_small=True)",
    "can_cast(from_='int8',to='int16')", "iinfo(int_type='int8').max", "fromiter(iter=range(3),dtype='int8')",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_keywords(call: str) -> None:
    check(f"xp.{call}")


def test_keywords_of_what_has_no_result_or_a_function() -> None:
    check("x=A('int8',(3,));xp.put(a=x,ind=[0],v=[7]);x")
    check("x=A('int8',(3,3));xp.fill_diagonal(a=x,val=7);x")
    check("x=A('int8',(3,));x.put(indices=[0],values=[7]);x")
    check("x=A('int8',(3,));x.put([5],7,mode='wrap');x")
    check("xp.piecewise(L([1.,2.]),[L([True,False])],[lambda v,k,m:v*k+m,0],3,m=1)")
    check("xp.fromfunction(lambda i,j,k:i+j+k,(2,2),k=3)")
    check("xp.searchsorted(a=L([1,2,4]),v=[3])")
    check("L([1,2,4]).searchsorted(v=[3],side='left')")
    check("xp.average(A('float32',(3,)),weights=[1,2,3],returned=True)")
    check("xp.piecewise(L([1.,2.]),condlist=[L([True,False])],funclist=[lambda v:-v])")
