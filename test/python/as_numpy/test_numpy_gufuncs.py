"""The keyword arguments of NumPy's generalized ufuncs (axes, axis, keepdims, ...), and `signature` of all ufuncs."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from numpy_comparison import check, message

CALLS = {
    "matmul": "A('float32',(2,3,4)),A('float32',(2,4,5))",
    "vecdot": "A('complex64',(2,3,4)),A('float32',(3,4))",
    "matvec": "A('float64',(2,3,4)),A('float32',(4,))",
    "vecmat": "A('complex128',(2,4)),A('int32',(4,5))",
}
RESULTS = {"matmul": "(2,3,5)", "vecdot": "(2,3)", "matvec": "(2,3)", "vecmat": "(2,5)"}
KEYWORDS = [
    "out=Z({shape},'complex128')", "out=Z({shape},'int8')", "out=(Z({shape},'complex128'),)",
    "out=Z((7,),'complex128')", "out=[1]", "out=3", "dtype='complex64'", "dtype='complex128'", "dtype='int32'",
    "dtype='float16',casting='unsafe'",
    "casting='no'", "casting='bogus'", "order='F'", "order='X'", "subok=True", "keepdims=True", "keepdims=3", "axis=0",
    "axis=-1", "axis=5", "axis=(0,)", "axis='a'", "axes=[0,0]", "axes=[0,0,0]", "axes=[0,0,()]", "axes=((0,),(0,),())",
    "axes=[(0,),(0,),()]", "axes=[(0,0),(0,1),(0,1)]", "axes=[(-1,-2),(-2,-1),(0,1)]", "axes=[(1,2),(0,),(1,)]",
    "axes=[(0,1),-1,0]", "axes=[-1,(0,1),0]", "axes=[-1,(0,1),1]", "axes=[(9,1),-1,0]", "axes=[(0,1)]",
    "axis=0,axes=[0,0]", "axis=0,keepdims=True", "axis=-1,keepdims=True", "axes=[-1,-1],keepdims=True",
    "axes=[-1,-1,0],keepdims=True", "signature='dd->d'", "signature='DD->D'", "sig='FF->F'",
    "sig=('d','d','d'),casting='unsafe'", "sig=(None,None,'D')", "signature='d'", "signature=3",
    "sig='ff->f',dtype='f4'", "sig='DD->D',signature='DD->D'",
]  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_keywords(name: str) -> None:
    for keyword in KEYWORDS:
        if (name, keyword) == ("vecmat", "order='F'"):  # NumPy 2.4.6 reads memory that nothing was written to
            continue
        check(f"xp.{name}({CALLS[name]},{keyword.format(shape=RESULTS[name])})", protocol=True)


@pytest.mark.parametrize("name", CALLS)
def test_out_stands_third(name: str) -> None:
    out = f"Z({RESULTS[name]},'complex128')"
    check(f"to={out};made=xp.{name}({CALLS[name]},to);[made is to,made]", protocol=True)
    check(f"xp.{name}({CALLS[name]},{out},out={out})")


def test_axes_of_matrices_and_vectors() -> None:
    matrices = "A('float64',(4,2,3)),A('float64',(5,4,2),1)"
    for axes in ("(0,2),(1,0),(0,1)", "(2,0),(1,0),(2,0)", "(-1,0),(1,-3),(1,0)", "(0,1),(0,1),(0,1)"):
        check(f"xp.matmul({matrices},axes=[{axes}])", protocol=True)
    for axes in ("0,(0,1),0", "(0,),(0,1),(0,)", "0,(0,1),1", "(0,1),(0,1),0", "0,0", "0,(1,0),0"):
        check(f"xp.matmul(A('float64',(3,)),A('float64',(3,2)),axes=[{axes}])", protocol=True)
    for axes in ("0,0", "0,0,()", "0,0,0", "(0,),(0,),()"):
        check(f"xp.matmul(A('float64',(3,)),A('float64',(3,)),axes=[{axes}])", protocol=True)
    check("to=Z((3,5,2),'float32');xp.matmul(A('float32',(2,3,4)),A('float32',(4,5)),axes=[(1,2),(0,1),(0,1)],out=to)")


@pytest.mark.parametrize("shapes", ["(),(3,)", "(3,),()", "(3,),(4,)", "(2,3),(2,3)", "(0,),(0,)", "(2,0),(0,3)"])
@pytest.mark.parametrize("name", CALLS)
def test_shapes(name: str, shapes: str) -> None:
    first, second = (f"({s.strip('()')})" for s in shapes.split("),("))
    for dtype in ("float32", "int8", "uint16", "bool", "complex64"):
        if (name, dtype) != ("matmul", "int8"):  # summed in int32, docs/gemm.md
            check(f"xp.{name}(A('{dtype}',{first}),A('{dtype}',{second}))", protocol=True)


@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64"])
def test_in_place(dtype: str) -> None:
    x = f"x=A('{dtype}',(3,3));y=x;"
    factors = [
        "A('float32',(3,3))",
        "A('int8',(3,3))",
        "x",
        "x.T",
        "A('float64',(3,2))",
        "A('float32',(3,))",
        "2",
        "1j",
    ]
    for b in [*factors, "[[1,0,0],[0,1,0],[0,0,1]]", "'a'", "A('complex64',(3,3))", "A('float32',(2,3,3))"]:
        check(f"{x}x@={b};[y is x,y]")
    check(f"x=A('{dtype}',(2,3));x[::-1].T[...].T@A('{dtype}',(3,))")
    check("x=A('float32',(3,));x@=A('float32',(3,3));x")
    check("x=A('float32',(3,));x@=A('float32',(3,));x")


SIGNATURES = [
    "signature='ff->f'", "sig='dd->d'", "sig='ll->l'", "sig=(None,None,'f4')", "sig=('f4','f8',None)", "sig=('f8',)",
    "sig=(None,None,None)", "sig='f'", "sig='ff'", "sig=''", "sig=np.dtype('f4')", "sig=3", "sig='ii->f'",
    "sig='dd->?'", "sig='??->?'", "sig='d->d'", "sig='d->dd'", "sig='dd->dd'", "sig='dd->d',dtype='f8'",
    "sig='dd->d',signature='dd->d'", "sig='ff->f',casting='unsafe'", "sig='ff->f',casting='safe'", "axis=0",
]  # fmt: skip


@pytest.mark.parametrize("name", ["add", "less", "exp", "hypot", "fmax", "divmod", "modf", "isnan", "left_shift"])
def test_signatures_of_ufuncs(name: str) -> None:
    count = getattr(np, name).nin
    for dtype in ("float32", "float64", "int16"):
        given = ",".join(f"A('{dtype}',(3,),{k})" for k in range(count))
        for keyword in SIGNATURES:
            check(f"xp.{name}({given},{keyword})", protocol=True)


def test_words() -> None:
    x = "A('float32',(3,4))"
    assert "needs a function with one core axis" in message(f"xp.matmul({x},{x},axis=0)")
    assert "needs a list" in message(f"xp.vecdot({x},{x},axes=(0,0))")
    assert "axes[0] is (0, 1); needs 1 axes" in message(f"xp.vecdot({x},{x},axes=[(0,1),0])")
    assert "both signature and sig" in message(f"xp.add({x},{x},signature='ff->f',sig='ff->f')")
    with pytest.raises(TypeError, match="needs a ufunc of NumPy's"):
        ng.erf(ng.ones(3), signature="f->f")
    with pytest.raises(ValueError, match="both stream and arguments of ufuncs"):
        ng.matmul(ng.ones((2, 2)), ng.ones((2, 2)), ng.Stream(), axes=[(0, 1), (0, 1), (0, 1)])
