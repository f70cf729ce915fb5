"""Broadcast views, shapes and flags of the tensor itself, fields and views of other dtypes: beside NumPy."""

from __future__ import annotations

import nervanagpu as ng
import pytest
from numpy_comparison import check, message

RESIZED = [
    "5", "2", "2,3", "(2,3)", "", "None", "(-1,)", "(3,-2)", "2,3,refcheck=False", "'a'", "2.5", "()", "0", "3,1",
]  # fmt: skip


@pytest.mark.parametrize("shape", RESIZED)
def test_resize(shape: str) -> None:
    for x in ("A('float32',(3,))", "A('complex64',(2,2))", "A('bool',(0,))", "A('int16')", "A('float32',(3,))*2"):
        check(f"x={x};x.resize({shape});[x,x+1,x.shape,x.base]")
    check(f"x=A('int8',(4,))[:3];x.resize({shape});x")
    check(f"x=A('int8',(2,3)).T;x.resize({shape});x")


def test_resize_beside_views_and_expressions() -> None:
    check("x=A('float32',(3,));y=x[1:];x.resize(5);x")
    check("x=A('float32',(3,));y=x[1:];del y;x.resize(5);x")
    check("x=A('float32',(3,));y=x*2;x.resize(5);[x,y]")
    check("x=A('float32',(3,));x+=1;x.resize(5);x+=1;x")
    check("x=A('float32',(2,3)).T;x.resize(6);x")
    x = ng.ones(3)
    y = x[1:]
    x.resize(5, refcheck=False)
    y[:] = 7
    assert x.get().tolist() == [1, 1, 1, 0, 0] and y.get().tolist() == [7, 7]
    del y
    x.name = "weights"
    x.resize(2)
    assert x.name == "weights"


FROZEN = [
    "x.setflags(write=False)", "x.setflags(False)", "x.flags.writeable=False", "x.flags['W']=False",
    "x.flags['WRITEABLE']=0",
]  # fmt: skip


@pytest.mark.parametrize("frozen", FROZEN)
def test_read_only(frozen: str) -> None:
    check(f"x=A('float32',(3,));{frozen};[x,x.flags.writeable,x.base,x.copy().flags.writeable,(x+1).flags.writeable]")
    for write in ("x[0]=1", "x+=1", "x.fill(1)", "x.sort()", "xp.add(x,1,out=x)", "x.setfield(1,'i4')"):
        check(f"x=A('float32',(3,));{frozen};{write};x")
        check(f"x=A('float32',(3,))*2;{frozen};{write};x")
    check(f"x=A('float32',(3,));{frozen};x.setflags(write=True);x[0]=7;[x,x.base,x.flags.owndata]")
    check(f"x=A('float32',(3,));{frozen};x.shape=(3,1);[x,x.flags.writeable]")
    check(f"x=A('float32',(3,));{frozen};y=x[1:];[y.flags.writeable]")
    check(f"x=A('float32',(3,));{frozen};y=x[1:];y.setflags(write=True);y")
    check(f"x=A('float32',(3,));y=x[1:];{frozen};y[0]=9;[x,y.flags.writeable]")


def test_flags_that_are_no_choice() -> None:
    for call in ("setflags()", "setflags(1,1,1)", "setflags(uic=True)", "setflags(align=False)"):
        check(f"x=A('float32',(3,));x.{call};x.flags.writeable")
    check("x=A('float32',(3,));y=x[1:];y.setflags(write=False);y.setflags(write=True);y[0]=5;[x,y]")
    assert "the memory is read-only" in message(
        "x=A('float32',(3,));x.setflags(write=False);y=x[1:];y.setflags(write=True)"
    )


FIELDS = ["'int32',4", "'int16',2", "'int8',7", "'int64'", "'float64',0", "'int32',6", "'int32',-1", "'complex128'"]


@pytest.mark.parametrize("field", FIELDS)
def test_fields(field: str) -> None:
    for x in ("A('int64',(3,))", "A('int64',(3,2)).T", "A('int64',(4,))[::2]", "A('int64')", "A('complex64',(3,))"):
        check(f"{x}.getfield({field})" if field != "'int32',6" else "A('int64',(3,)).getfield('int32',9)")
    dtype, _, offset = field.partition(",")
    check(
        f"x=A('int64',(3,));x.setfield(7,{dtype},{offset or 0});x" if "6" not in field else "A('int8').getfield('i4')"
    )
    assert "needs a multiple of 4" in message("A('int64',(3,)).getfield('int32',2)")


def test_fields_are_views() -> None:
    check("x=A('int64',(3,));y=x.getfield('int32',4);y[0]=1;[x,y.base is x]")
    check("x=A('int64',(3,));x.setfield([1,2,3],'int16',2);x")


VIEWED = [
    "A('float32',(4,4))[::2]", "A('float32',(4,4))[:,:2]", "A('float32',(4,4))[:,::2]", "A('float32',(4,4)).T",
    "A('float32',(4,1))[::2]", "A('float32')", "A('float32',(0,4))", "xp.broadcast_to(A('float32',(4,)),(2,4))",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int32", "int16", "int64", "complex64", "uint8"])
def test_views_of_other_dtypes(dtype: str) -> None:
    for x in VIEWED:
        check(f"{x}.view('{dtype}')")
    check("x=A('float32',(4,4))[::2];y=x.view('int32');y[0]=0;[x,y.base is x.base]")


SHAPES = [
    ("()", "(2,3)"), ("(3,)", "(2,3)"), ("(3,1)", "(2,3,4)"), ("(1,3)", "(1,3)"), ("(3,)", "3"), ("(0,)", "(2,0)"),
    ("(1,)", "(0,)"), ("(3,)", "(2,)"), ("(3,)", "-1"), ("(2,3)", "(3,)"), ("(3,)", "()"),
]  # fmt: skip


@pytest.mark.parametrize(("has", "shape"), SHAPES)
def test_broadcast_to(has: str, shape: str) -> None:
    facts = "[v,v.strides,v.base is x,v.flags.writeable,v.flags.owndata,v.nbytes]"
    for x in (f"A('float32',{has})", f"A('bool',{has})", f"A('complex64',(4,*{has}))[2,...]"):
        check(f"x={x};v=xp.broadcast_to(x,{shape});{facts if '0' not in shape else 'v'}")


def test_a_broadcast_view_is_one() -> None:
    for change in ("x[0]=9", "x+=1", "w=v*2;x[0]=9", "x*=2;x+=1", "v[0]=1", "v+=1", "v.fill(1)", "v.sort()"):
        check(f"x=A('float32',(3,));v=xp.broadcast_to(x,(2,3));{change};[v,x{',w' if 'w=' in change else ''}]")
    check("x=A('float32',(4,));v=xp.broadcast_to(x,(2,4));xp.broadcast_to(v,(3,2,4)).base is v.base")
    check("x=A('float32',(3,));xp.broadcast_to(x,(2,3)).setflags(write=True)")
    wide = ng.broadcast_to(ng.ones(1, "int8"), (1 << 40,))  # a terabyte, were it a copy
    assert wide.shape == (1 << 40,) and wide.nbytes == 1 << 40


USES = [
    "v.sum(0)", "v.sum(1)", "v.sum(2)", "v.sum()", "v.max(1)", "v.T", "v.copy()", "v.reshape(6,4)", "v.ravel()",
    "v[1]", "v[:,1]", "v[...,::2]", "v@A('float32',(4,2))", "v.mean((0,2))", "xp.sort(v,1)", "xp.cumsum(v,2)",
    "v.astype('float64')", "v.argmax(1)", "v.tolist()", "v.tobytes()", "v.copy().strides", "v[v>0]", "v.flat[4]",
    "xp.concatenate([v,v])", "xp.take(v,[1,0],1)", "xp.where(v>0,v,1)", "xp.dot(v[0],v[1].T)", "v.real", "v.imag",
    "xp.fft.fft(v)", "xp.fft.rfft(v,axis=0)", "xp.linalg.svdvals(v)", "xp.pad(v,1)", "xp.roll(v,1)", "v.squeeze()",
]  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_what_broadcast_views_are_used_for(use: str) -> None:
    check(f"x=A('float32',(3,1));v=xp.broadcast_to(x,(2,3,4));{use}")


def test_broadcast_arrays() -> None:
    check("xp.broadcast_arrays(A('float32',(3,)),A('int8',(2,1)),2)")
    check("x=A('float32',(3,));y=xp.broadcast_arrays(x,A('int8',(2,1)))[0];[y.base is x,y.strides]")
    assert type(ng.broadcast_arrays([1], 2)) is tuple


LAID = [
    "A('float32',(2,3))", "A('float32',(2,3)).copy(order='F')", "A('float32',(2,3,4)).transpose(1,0,2)",
    "A('float32',(2,3,4)).transpose(1,2,0)[:,::2]", "xp.broadcast_to(A('float32',(1,3)),(2,3))",
    "xp.broadcast_to(A('float32',(1,1)),(2,3))", "A('float32',(4,6))[::2,::2]", "A('float32',(4,6))[::2,::2].T",
    "A('float32',(6,))[::2]", "xp.broadcast_to(A('float32',(1,)),(5,))", "A('float32',(2,3))[::-1]",
    "A('float32',(2,3)).T[::-1]", "A('float32',(0,3)).T", "A('float32')",
]  # fmt: skip
COPIES = [
    "xp.array(x,order={0})", "xp.array(x,dtype='int8',order={0})", "x.astype('int8',order={0})",
    "x.astype('float32',order={0})", "x.astype('float32',order={0},copy=False)", "x.copy(order={0})",
    "xp.copy(x,order={0})", "xp.asarray(x,order={0})", "xp.asarray(x,dtype='int8',order={0})", "xp.ravel(x,order={0})",
    "x.ravel(order={0})", "x.flatten(order={0})", "xp.zeros_like(x,order={0})", "xp.full_like(x,1,order={0})",
    "xp.array(x,order={0},ndmin=4)", "xp.array(x,order={0},copy=None)", "xp.array([x,x],order={0})",
]  # fmt: skip


@pytest.mark.parametrize("x", LAID)
@pytest.mark.parametrize("order", "CFAK")
def test_order_of_copies(x: str, order: str) -> None:
    """Where the elements of a copy lie: by rows, by columns, or as those of the operand."""
    for copy in COPIES:
        made = f"x={x};y={copy.format(repr(order))}"
        steps = "[s for s,n in zip(y.strides,y.shape) if n>1 and y.size]"
        check(f"{made};[y,y.flags.c_contiguous,y.flags.f_contiguous,{steps}]")
    check(f"x={x};x.tobytes({order!r})")


@pytest.mark.parametrize("x", LAID)
def test_contiguous_copies(x: str) -> None:
    for copy in ("xp.asfortranarray(x)", "xp.ascontiguousarray(x)", "xp.ravel(x)", "x.ravel()", "x.flatten()"):
        check(f"x={x};y={copy};[y,y.flags.c_contiguous,y.flags.f_contiguous]")
    check(f"x={x}.copy();y=x[...,None][::2,...,0] if x.ndim else x;z=y.ravel();z[:1]=9;[x,z]")
