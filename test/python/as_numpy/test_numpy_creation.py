"""Making tensors as NumPy makes arrays: orders in memory, ends with axes, like=; and which results share memory."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from numpy_comparison import check, message

CALLS = """
    linspace([0,1],[2,3],3) linspace([0,1],[2,3],3,axis=1) linspace([0,1],[2,3],3,axis=-1,retstep=True)
    linspace(0,1,3,axis=5)
    linspace(L([0.,1]),5,4,endpoint=False) linspace([0,1],[2,3j],3) linspace(np.nan,1,3) linspace(np.inf,1,3)
    logspace([0,1],2,3) logspace(0,2,3,base=[2,3]) geomspace([1,2],8,3) geomspace([1,-2],[8,-9],3,axis=1)
    arange(stop=5) arange(start=1,stop=5) arange(5,dtype=bool) arange(2,dtype=bool) arange() arange(1,5,step=2)
    indices((2,3),sparse=True) array([np.nan],'int32') array([1j],'float32') array([1.7],'int32') array([300],'int8')
    array([[1,2],[3,4]],order='F') asarray([1,2],dtype='float32',order='F') zeros((2,3),dtype='float64',order='F')
    ones((2,3),dtype='int32',order='F') full((2,3),7,dtype='int8',order='F') eye(2,3,1,dtype='float64',order='F')
    zeros((2,3),order='X') empty((2,3),'float64',order=3).shape zeros_like([1,2]) zeros_like(3) ones_like([1.5])
    full_like([1.,2],3) full_like(A('int32',(2,)),7,shape=(3,)) zeros_like(A('int32',(2,3)),order='F')
    insert(A('float32',(3,4)),slice(0,2),7,0) insert(A('float32',(3,4)),[],0,0)
    insert(A('float32',(3,)),L([True,False,True]),9)
""".split()


@pytest.mark.parametrize("call", CALLS)
def test_calls(call: str) -> None:
    check(f"xp.{call}")


def test_orders() -> None:
    for make in ("zeros((2,3),order='F')", "ones((2,3),order='F')", "full((2,3),1,order='F')", "empty((2,3),order='F')",
                 "array([[1,2],[3,4]],order='F')", "asarray([[1,2],[3,4]],order='F')", "eye(3,order='F')",
                 "copy(A('float32',(2,3)),order='F')", "zeros_like(A('int8',(2,3)),order='F')",
                 "ones_like(A('int8',(2,3)).T,order='K')", "asarray(A('float32',(2,3)),order='F')"):  # fmt: skip
        check(f"x=xp.{make};(x.flags.f_contiguous,x.flags.c_contiguous)")
    assert "order is 'X'; needs C, F, A or K" in message("xp.zeros((2,3),order='X')")


def test_like() -> None:
    t = ng.zeros(3)
    made = [
        np.zeros(3, like=t), np.ones((2, 2), "i4", like=t), np.full(3, 2, like=t), np.eye(2, like=t),  # type: ignore[call-overload]
        np.array([1, 2], like=t), np.asarray([1.5], like=t), np.arange(5, like=t), np.identity(2, like=t),  # type: ignore[call-overload]
    ]  # fmt: skip
    assert all(isinstance(m, ng.GPUTensor) for m in made)
    assert [str(m.dtype) for m in made] == "float64 int32 int64 float64 int64 float64 int64 float64".split()


COPIES = (
    "x.copy() +x x.flatten() x.astype('float32') xp.array(x) xp.floor(x) xp.round(x) xp.clip(x,None,None) xp.sort(x) "
    "xp.nan_to_num(x) xp.positive(x) xp.sum(x,axis=()) xp.tile(x,1) xp.repeat(x,1) xp.concatenate([x]) xp.roll(x,0) "
    "xp.pad(x,0) x.T.ravel() x[[0,1]] x[x>0] xp.meshgrid(x[0],x[0],sparse=True)[0] xp.meshgrid(x[0],x[0])[0] "
    "xp.delete(x,[],0) xp.resize(x,(4,4)) xp.where(True,x,x) xp.tril(x) xp.trunc(x)"
).split()
VIEWS = (
    "x[0] x[::-1] x.T x.reshape(2,8) x.ravel() x.ravel('K') x.T.ravel('K') x.squeeze() x.diagonal() x.real x.view() "
    "xp.asarray(x) xp.asarray(x,dtype=x.dtype) xp.atleast_3d(x) xp.expand_dims(x,0) xp.split(x,2)[0] xp.flip(x) "
    "xp.rot90(x,0) xp.moveaxis(x,0,1) xp.nan_to_num(x,copy=False) xp.trim_zeros(x.ravel()+0) xp.unstack(x)[0] x.mT "
    "x.astype(x.dtype,copy=False) xp.real(x) xp.meshgrid(x[0],x[0],sparse=True,copy=False)[0]"
).split()


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_what_shares_memory(dtype: str) -> None:
    for made in (*COPIES, *VIEWS):
        if made == "x[x>0]" and dtype == "complex64":
            continue
        check(f"x=A('{dtype}',(4,4))+1;y={made};bool(xp.shares_memory(x,y))")
        if made != "x.diagonal()":  # NumPy's cannot be written
            check(f"x=A('{dtype}',(4,4))+1;y={made};y[...]=9;x")


STATEMENTS = (
    "x[1:]=x[:-1]|x[...]=x[::-1]|x[...]=x.T|x[1:]+=x[:-1]|x+=x.T|x[0]+=x.sum(0)|xp.add(x[:-1],x[1:],out=x[1:])|"
    "xp.multiply(x,x.T,out=x)|xp.sum(x,axis=0,out=x[0])|xp.cumsum(x,axis=0,out=x)|xp.copyto(x,x.T)|x[[1,2,3]]=x[[0,1,2]]|"
    "x.T.sort(0)|x[::-1].sort(0)|x.flat=x.T.copy()|x.flat=[1,2,3]|x.flat[3]=7|x.flat[:5]=[1,2]|xp.put(x.T,[0,1],[5,6])|"
    "xp.matmul(x,x,out=x)|xp.take(x,[1,0],0,out=x[:2])|xp.concatenate([x[2:],x[:2]],out=x)|xp.clip(x,-1,1,out=x.T)"
).split("|")


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_results_that_are_written_over_operands(dtype: str) -> None:
    for statement in STATEMENTS:
        check(f"x=A('{dtype}',(4,4));{statement};x")


SPACED = """
    linspace(np.float32(1),np.float32(2),3) linspace(np.float32(1),2,3) linspace(L(1,'float32'),2,3) linspace(0,L(4.),3)
    linspace(0,1,3,axis=1) logspace(np.float32(1),np.float32(2),3) logspace(0,2,3,axis=1) logspace(1j,2,3)
    logspace(0,2,3,dtype=int) geomspace(1,-1,3) geomspace(0,10,3) geomspace(1j,1000j,4) geomspace(-1+0j,1+0j,5)
    geomspace(1j,2,3) geomspace(np.float32(1),np.float32(100),3) geomspace(1,10,3,axis=1) geomspace(-1,-1000,4)
    geomspace([1,1j],[100,2],3) geomspace(1,1000,4,endpoint=False) geomspace([1,10],[-100,1000],3)
    geomspace(1j,8,3,dtype='complex64')
""".split()


@pytest.mark.parametrize("call", SPACED)
def test_spaced_numbers(call: str) -> None:
    check(f"xp.{call}")


def test_full_says_the_dtype_of_its_value() -> None:
    """As NumPy's, but of Python's floats and complex numbers, which are float32 as those of zeros and ones."""
    values = (7, -1, 2**40, 2**63, True, np.uint8(7), np.float64(2), np.array([1, 2]), [1, 2], [True, False])
    for value in values:
        want, made = np.full((3, 2), value), (ng.full((3, 2), value), ng.full((3, 2), value, order="F"))
        assert all(m.dtype == want.dtype and np.array_equal(m.get(), want) for m in made), value
    for other, dtype in ((2.5, "float32"), (np.nan, "float32"), (1j, "complex64"), ([0.5, 1.0], "float32")):
        made = ng.full(2, other), ng.full(2, other, None), ng.full(2, other, order="F")
        assert all(m.dtype == dtype and np.array_equal(m.get(), np.full(2, other), equal_nan=True) for m in made)
    assert ng.full((), ng.array([1, 2], "int16")[0]).dtype == "int16"
