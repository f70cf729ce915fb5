"""Calls that a differential run against NumPy found to end otherwise: errors, dtypes and values are now alike."""

from __future__ import annotations

import pytest
from numpy_comparison import check, message

MASKS_BEHIND_DOTS = [
    "x[...,{0}([True,False])]", "x[...,{0}([True,False])]=2", "x[...,{0}([True,False]*3)]", "x[...,{0}([True]*5)]",
    "x[...,{0}([True]*5)]=2", "x[0,...,{0}([False,True,True,False,True])]", "x[...,{0}([[True]*5]*2)]",
    "x[...,{0}([[True]*2]*2)]", "x[{0}([True]),...]", "x[{0}([True,False]),...]", "x[...,{0}([True,False]),:]",
    "x[...,{0}([True,False]),0]", "x[...,{0}([True,False,True]),0]=1", "x[...,None,{0}([True,False])]",
    "x[{0}([True]),...,{0}([True]*4)]", "x[...,[0],{0}([True,False,False,False,False])]",
]  # fmt: skip
NOTHING_TO_TAKE = [
    "xp.take(Z((0,2)),[0],axis=0,mode={0!r})", "xp.take(Z((0,2)),[],axis=0,mode={0!r})",
    "Z((2,0),'uint8').take([0,-1],axis=1,mode={0!r})", "xp.take(Z((0,2)),-1,mode={0!r})",
    "xp.take(Z((0,2)),[0,1],axis=1,mode={0!r})", "xp.take(Z((0,)),[[]],mode={0!r})",
    "xp.take(Z((0,2)),L([0]),axis=0,mode={0!r})",
]  # fmt: skip
AVERAGES = [
    "L([1.,2]),weights=[1,-1]", "L([1,2]),weights=[0,0]", "L([1,2]),weights=[0,0],returned=True",
    "L([[1,2],[3,4]],'int16'),axis=1,weights=[[1,-1],[1,1]]", "L([[1.,2],[3,4]]),axis=0,weights=L([1,-1])",
    "L([[1.,2],[3,4]]),axis=(),weights=[[1,0],[1,1]]", "L([1j,2]),weights=[1,-1]", "L([1,2]),weights=[1j,-1j]",
    "Z((0,2)),weights=Z((0,2))", "Z((0,2)),axis=0,weights=Z((0,2))", "Z((0,2)),axis=1,weights=Z((0,2))",
    "Z((0,2)),axis=1", "Z((0,2)),axis=0", "Z((0,2))", "Z((0,2)),axis=1,returned=True", "Z((2,0)),axis=0,keepdims=True",
    "L([1.,2]),weights=[np.nan,1]", "L([1.,2]),weights=[np.inf,1]", "L([True,False]),weights=L([False,False])",
    "L([[1.,2],[3,4]]),weights=[[0,-0.],[0,0]],axis=1,keepdims=True",
]  # fmt: skip
OUT_AND_DTYPE = [
    "xp.ptp(L([1,-32768],'int16'),out=Z((),'float32'))", "xp.ptp(A('int8',(2,3)),axis=0,out=Z((3,),'float64'))",
    "xp.ptp(L([1,2],'uint64'),out=Z((),'int16'))", "xp.ptp(L([1.,2]),out=Z((),'int16'))",
    "xp.ptp(L([100,-100],'int8'))", "xp.ptp(L([100,-100],'int8'),out=Z((),'int16'))",
    "xp.std(A('float64',(2,3)),axis=0,dtype=int)", "xp.std(L([5.,7]),dtype=int)", "xp.std(L([5,9]),out=Z((),int))",
    "xp.std(A('float64',(2,3)),out=Z((),'int8'))", "xp.var(L([5,9]),out=Z((),int))", "A('int8',(2,3)).std(1,'bool')",
    "xp.var(A('float64',(2,3)),axis=0,dtype=int)", "xp.std(A('float32',(2,3)),0,out=Z((3,),'float16'))",
    "xp.nanmean(L([1.,2]),out=Z((),int))", "xp.nanvar(L([1.,2]),out=Z((),int))", "xp.nanstd(L([1.,2]),out=Z((),int))",
    "xp.nanmean(L([1,2]),out=Z((),int))", "xp.nanvar(L([1,5]),out=Z((),int))", "xp.nanstd(L([1,5]),out=Z((),int))",
    "xp.nanstd(A('int8',(2,3)),0,dtype=int)", "xp.nanmean(L([1j,2]),out=Z((),int))",
]  # fmt: skip
VALUES = [
    "xp.trapezoid(A('uint8',(4,)),A('float32',(4,)))", "xp.trapezoid(A('float16',(4,)),A('int8',(4,)))",
    "xp.trapezoid(A('int8',(2,4)),A('float32',(4,)))", "xp.trapezoid(A('int8',(2,4)),A('float32',(2,4)))",
    "xp.trapezoid(A('uint8',(2,4)),dx=0.5)", "xp.trapezoid(A('float32',(2,4)),dx=2)",
    "xp.trapezoid(L([200,100],'uint8'))",
    "xp.trapezoid(A('float32',(2,4)),A('float32',(2,)),axis=0)", "xp.trapezoid(A('complex64',(2,4)),axis=0)",
    "xp.trapezoid(L([1],'uint8'),L([1],'float32'))", "xp.trapezoid(A('float32',(3,)),[1,2,4])",
    "xp.trapezoid(A('float32',(3,)),dx=L([1.,2]))", "xp.trapezoid(A('float32',(0,)))", "xp.trapezoid(A('float32'))",
    "xp.unwrap(L([3,1],'uint8'))", "xp.unwrap(L([1,-32768,7,32766],'int16'))", "xp.unwrap(A('uint32',(3,5)),axis=0)",
    "xp.unwrap(L([1,0,0,3,0],'uint64'))", "xp.unwrap(L([0,255,3],'uint8'),period=10)", "xp.unwrap(L([True,False]))",
    "xp.unwrap(A('int8',(6,)),period=4)", "xp.unwrap(A('float16',(6,)))", "xp.unwrap(A('float32',(6,)),discont=1)",
    "xp.repeat(L([1,2]),[1.,2.])", "xp.repeat(L([1,2]),1.0)", "xp.repeat(L([1,2]),1.7)", "xp.repeat(L([1,2]),[])",
    "xp.repeat(L([1,2]),L([1.,2.]))", "xp.repeat(L([1,2]),np.float64(2))", "xp.repeat(L([1,2]),[1.5,2.5])",
    "xp.repeat(L([1,2]),H([1,2],'uint64'))", "xp.repeat(L([1,2]),H([1,2],'uint32'))", "xp.repeat(L([1,2]),H(2))",
    "xp.repeat(L([]),[])", "xp.repeat(L([1,2]),True)", "xp.repeat(L([1,2]),L([True,False]))", "xp.repeat(L([1,2]),'a')",
    "xp.repeat(L([1,2]),[-1,1])", "xp.repeat(L([1,2]),-1)", "xp.repeat(L([1,2]),None)", "xp.repeat(L([1,2]),[1,2,3])",
    "xp.repeat(A('int8',(2,3)),[2],axis=1)", "xp.repeat(A('int8',(2,3)),H([],int),axis=1)", "xp.repeat(5,3)",
    "xp.pad(L([True,False]),1,'symmetric',reflect_type='odd')",
    "xp.pad(L([1,250],'uint8'),1,'reflect',reflect_type='odd')",
    "xp.pad(L([[True,False]]),((0,0),(1,1)),'reflect',reflect_type='odd')",
    "xp.choose([0,1],[L([1,2],'float16'),2.5])", "xp.choose(L([0,1]),[3,L([1,2],'int16')])", "xp.choose([0,1],[1,2.5])",
    "xp.choose(L([0,1]),[L([1,2],'uint8'),1j])", "xp.choose([0,1],[True,L([1,2],'uint8')])",
    "xp.choose([0,1],[1j,L([1.,2],'float32')])",
    "xp.packbits(L(2,'uint16'),axis=0)", "xp.packbits(L(True))", "xp.packbits(L(2,'uint8'),axis=1)",
    "xp.unpackbits(L(5,'uint8'),axis=-1)", "xp.unpackbits(L(5,'uint8'))", "xp.unpackbits(L(5,'uint8'),axis=0,count=3)",
    "xp.diff(L(1.),0)", "xp.diff(L([1.,2]),0,7)", "xp.diff(L(1.))", "xp.diff(L([1,2]),-1)",
    "xp.cumulative_prod(L(3,'int8'),axis=-1,include_initial=True)", "xp.cumulative_sum(L(3),axis=0)",
    "xp.cumulative_sum(L(3),axis=1)",
    "xp.quantile(L([]),0.5)", "xp.percentile(Z((0,2)),50,axis=0)", "xp.quantile(Z((0,2)),0.5,axis=1)",
    "xp.quantile(L([]),[])",
    "xp.quantile(Z((0,),int),0.5,method='lower')", "xp.median(L([]))",
    "xp.percentile(Z((2,0)),[1,2],axis=1,method='hazen')",
    "xp.add.reduceat(L(5),[0])", "xp.add.accumulate(L(5))", "xp.maximum.reduceat(L(5),[])",
    "xp.arange(0,7.5,2,dtype=bool)", "xp.arange(0,1.5,1,dtype=bool)", "xp.arange(0.,2,dtype=bool)",
    "np.signbit(np.asarray(xp.gradient(L([3.,3,3])).tolist()))",
    "np.signbit(np.asarray(xp.gradient(L([7,7],'uint64')).tolist()))",
    "xp.unwrap(L([0,-128,8,4],'int8'))", "xp.linalg.pinv(Z((0,2,2),'bool'))",
    "xp.logical_or.reduce(L([1,0]),dtype=int)",
    "xp.logical_and.reduce(L([1.,0]),dtype=bool)", "xp.logical_xor.reduce(L([1,0]),dtype='float32')",
    "xp.pad(L([[np.inf],[-0.]]),1,'symmetric',reflect_type='odd')",
    "np.signbit(np.asarray(xp.pad(L([[-0.,1]]),1,'reflect',reflect_type='odd').tolist()))",
    "np.signbit(np.asarray(xp.gradient(L([3.,3,3,3]),edge_order=2).tolist()))",
    "xp.gradient(L([0,1.,4,9]),edge_order=2)",
    "xp.gradient(L([0,1.,4,9]),[0,1,3,4],edge_order=2)",
    "xp.linalg.pinv(Z((0,3),'int32'))", "xp.linalg.pinv(Z((2,0,3),'bool'))", "xp.linalg.matrix_norm(L([1.,2]))",
    "xp.linalg.matrix_norm(L(1.))", "xp.convolve(L([1.,2]),L([np.nan,1]))", "xp.convolve(L([1.,2,3]),L([np.inf,1j]))",
    "xp.correlate(L([np.nan,2,3]),L([1.,2]),'full')", "xp.correlate(L([1.,2]),L([1.,np.inf,3]),'full')",
    "xp.convolve(L([0+2.5j,1j,-3.5j,0]),L([np.nan,7,-1]))", "xp.convolve(L([True,False]),L([True]))",
    "xp.full(3,np.int64(-2),'uint32')", "xp.full(3,-2,'uint32')", "xp.full(3,300,'int8')",
    "xp.full(3,np.int16(300),'int8')",
    "xp.full_like(L([1],'int8'),np.int64(-2),dtype='uint8')", "xp.full(2,np.uint64(2**64-1),'int64')",
    "xp.full(2,np.float32(2.5),'int8')",
    "xp.ldexp(L([1],'uint8'),L([1],'uint64'))", "xp.ldexp(L([1],'uint8'),L([1],'uint32'))",
    "xp.ldexp(L([1.]),L([1],'int64'))",
]  # fmt: skip
WRITTEN = [
    "x=A('complex64',(2,)).copy();xp.copyto(x,{0},casting={1!r});x",
    "x=A('float32',(2,)).copy();xp.copyto(x,{0},casting={1!r});x",
    "x=A('int8',(2,)).copy();xp.copyto(x,{0},casting={1!r});x",
]  # fmt: skip
PLACES = [
    "x=A('float32',(3,3)).copy();xp.fill_diagonal(x,[1,2],True);x",
    "x=A('int8',(5,2)).copy();xp.fill_diagonal(x,[1,2,3],wrap=True);x",
    "x=A('int8',(2,2,2)).copy();xp.fill_diagonal(x,[9]);x", "x=A('int8',(3,3,3)).copy();xp.fill_diagonal(x,[7,8]);x",
    "x=A('int8',(3,3)).copy();xp.fill_diagonal(x,[1,2,3,4]);x",
    "x=A('bool',(3,3)).copy();xp.fill_diagonal(x,[1,0],True);x",
    "x=Z((4,0));xp.put(x,5,[]);x", "x=Z((0,));xp.put(x,[],[]);x", "x=Z((0,));xp.put(x,[0],1,mode='clip');x",
    "x=A('uint8',(2,)).copy();xp.putmask(x,L([True,False]),A('uint16',(2,)));x",
    "x=A('float32',(2,)).copy();xp.putmask(x,L([True,True]),[1,2.5]);x",
    "x=A('int8',(2,)).copy();xp.putmask(x,L([True,False]),[1,2]);x",
    "x=A('float64',(2,)).copy();xp.putmask(x,L([True,False]),A('float32',(2,)));x",

    "xp.histogramdd(A('float32',(5,2)),2,range=[(-4,4),(-4,4)])", "xp.histogramdd(A('float32',(5,2)),[2,3])",
    "xp.histogramdd(A('float16',(5,2)),[L([-4.,0,4]),2],range=[(-4,4),(-4,4)])",
    "xp.histogramdd(A('int8',(5,2)),2,range=[(-4,4),None])",
    "xp.isclose(L([1.,2]),1,rtol=[1e-3,2])", "xp.isclose(L([1.,2]),[1.1,2.1],atol=L([0.2,0.]))",
    "xp.allclose(L([1.,2]),1,atol=[0.1,2])",
    "xp.piecewise(A('float32',(3,)),[True],[1,0])", "xp.piecewise(A('float32',(3,)),[True,False,True],[1,0])",
    "xp.piecewise(A('float32',(3,)),L([True,False,True]),[1,lambda v:-v])",
    "xp.piecewise(A('float32',(2,3)),[[True,False]],[1,2])",
    "xp.piecewise(A('float32',(2,3)),[L([True,False])],[1,2])", "xp.piecewise(A('float32'),[True],[1])",
    "xp.piecewise(L(2.),[False,True],[1,5])",
    "xp.piecewise(A('float32',(3,)),[L([True]),],[1,2])", "xp.roll(L([1,2,3]),2.5)", "xp.roll(L([1,2,3]),np.inf)",
    "xp.roll(L([1,2,3]),'1')",
    "x=A('uint64',(4,2)).copy(order='F');x.resize(2,2);x",
    "x=A('int8',(4,2)).copy(order='F');[x.base,x.flags.owndata,x.T.base is x]",
    "x=xp.array(A('int8',(4,2)),order='F');[x.base,x.flags.owndata]",
    "x=A('int8',(4,2)).astype('int16',order='F');[x.base,x.flags.owndata]",
    "x=xp.ones((4,2),'int8',order='F');[x,x.base,x.flags.owndata,x.strides]",
    "x=xp.zeros_like(A('int8',(4,2)).T,order='K');[x.base,x.strides]",
]  # fmt: skip
ADDED_AT = [
    "Z((2,),'int8'),[0,0],300", "Z((2,),'uint8'),[0,0],-5", "Z((2,),'int32'),[0,0],np.float32(2.7)",
    "Z((2,),'int32'),[0,0],L([2.7,1.5])", "Z((2,),'uint64'),[0,0],np.int64(-2)", "Z((2,),'float32'),[0,1],1j",
    "Z((2,),'int8'),[0,0],L([300,1])", "Z((2,),'int8'),[0,1],5", "Z((2,3),'uint32'),([0,1],[2,2]),-1",
    "Z((2,),'int64'),L([0,0]),L([1,2],'uint64')", "Z((2,),'bool'),[0],2", "Z((2,),'float16'),[0,0],70000",
]  # fmt: skip


@pytest.mark.parametrize("key", MASKS_BEHIND_DOTS)
def test_masks_behind_dots(key: str) -> None:
    """A mask after ... is of the axes that it then stands at."""
    for kind in "HL":
        check(
            f"x=A('float32',(1,2,5)).copy();{key.format(kind)};x"
            if "=" in key
            else f"x=A('float32',(1,2,5));{key.format(kind)}"
        )


@pytest.mark.parametrize("program", NOTHING_TO_TAKE)
def test_take_where_nothing_is(program: str) -> None:
    for mode in ("raise", "wrap", "clip"):
        check(program.format(mode))


@pytest.mark.parametrize("arguments", AVERAGES)
def test_weights_that_sum_to_zero(arguments: str) -> None:
    check(f"xp.average({arguments})", protocol=True)


@pytest.mark.parametrize("program", OUT_AND_DTYPE + VALUES)
def test_calls(program: str) -> None:
    check(program)


@pytest.mark.parametrize("program", PLACES)
def test_places(program: str) -> None:
    check(program)


@pytest.mark.parametrize("program", WRITTEN)
@pytest.mark.parametrize("value", ["1j", "2.5", "3", "True", "L([1.5])", "np.float64(2)"])
def test_copyto(program: str, value: str) -> None:
    for casting in ("no", "safe", "same_kind", "unsafe"):
        if not (casting == "unsafe" and value == "1j" and "complex" not in program):  # a TypeError here
            check(program.format(value, casting))


@pytest.mark.parametrize("arguments", ADDED_AT)
def test_add_at(arguments: str) -> None:
    check(f"x,i,v={arguments};xp.add.at(x,i,v);x")


def test_messages() -> None:
    assert "average: weights sum to 0" in message("xp.average(L([1.,2]),weights=[1,-1])")
    assert "take: x has no elements along axis 0" in message("xp.take(Z((0,2)),[0],axis=0,mode='wrap')")
    assert "boolean index has shape (2,); needs that of its axes, (5,)" in message("Z((1,2,5))[...,L([True,False])]")
