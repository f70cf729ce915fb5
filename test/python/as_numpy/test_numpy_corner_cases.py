"""Cases at the edges that programs come to: empty data, one row, small integers, bools where numbers are meant."""

from __future__ import annotations

import itertools

import pytest
from numpy_comparison import check

CASES = [
    "xp.bincount([])", "xp.bincount([],minlength=3)", "xp.bincount(L([],'int64'))", "xp.nanpercentile(L([]),50)",
    "xp.nanquantile(Z((0,3)),0.5,axis=0)", "xp.nanpercentile(Z((3,0)),50,axis=1,keepdims=True)",
    "xp.nanquantile(Z((0,3),'uint32'),0,method='higher')",
    "xp.quantile(Z((2,2)),0.5)", "xp.repeat(L([1,2]),[True,False])", "xp.repeat(L([1,2]),L([True,False]))",
    "xp.repeat(L([1,2]),[-1,1])", "xp.lexsort(L([1,2,0]))", "xp.lexsort([[1,2,0],[1,1,0]])", "xp.isposinf(L([1j]))",
    "xp.isneginf([1+0j])", "xp.deg2rad([1j])", "xp.rad2deg(L([1j]))", "xp.isposinf([np.inf,-np.inf,1])",
    "xp.hypot([1j],[1])", "xp.cov(L([[1.,2,3]]),rowvar=False)", "xp.cov(L([[1.,2,3]]))",
    "xp.cov(L([[1.],[2],[4]]),rowvar=False)", "xp.cov(L([[1.,2],[4,3]]),L([[1.,2],[5,7]]),rowvar=False)",
    "xp.corrcoef(L([[1.,2],[4,3]]),rowvar=False)", "xp.cov(L([1.,2,4]),L([1.,2,5]),rowvar=False)",
    "xp.histogram2d(L([1,2],'float32'),L([1,2]),2)", "xp.histogram2d(L([1,2],'float16'),L([1,2],'float16'),2)",
    "xp.power(L([True,False]),2)", "L([True,False])**2", "xp.insert(L([[1,2],[3,4],[5,6]]),1,[[7],[8],[9]],axis=1)",
    "xp.insert(L([1,2,3]),[1],[7,8])", "xp.insert(L([[1,2],[3,4],[5,6]]),[1],[[7],[8],[9]],axis=1)",
    "xp.insert(L([[1,2],[3,4]]),1,[7,8],axis=1)", "xp.insert(L([[1,2],[3,4]]),1,L([[7,8],[9,10]]),axis=0)",
    "xp.insert(A('int8',(2,3,2)),2,[[5,6]],axis=1)", "xp.insert(L([[1,2],[3,4]]),[1],5,axis=1)",
    "xp.insert(L([[1,2],[3,4]]),-1,[[7,8,9]]*2,axis=1)",
    "xp.average(A('float32',(2,3,2)),axis=(0,1),weights=[[1,2,3],[4,5,6]])",
    "xp.average(A('int8',(2,3)),weights=[1,2])",
    "xp.average(A('float64',(2,3)),axis=(1,0),weights=[[1,2],[3,4],[5,6]],keepdims=True)",
    "xp.average(A('int8',(2,3)),axis=-1,weights=[1,2,3],returned=True)",
    "xp.average(A('int8',(2,3)),axis=0,weights=[1,2,3])",
    "xp.require(A('int8',(2,3)),None,['F','O']).flags.f_contiguous", "xp.power(L([True]),3)", "xp.power([[True]],2)",
    "xp.ldexp(L([1.]),L([2],'int8'))", "xp.ldexp(2,L([True,False]))", "xp.ldexp(2,L([1,3],'int8'))",
    "xp.setxor1d(L([1.5,np.nan,-np.inf,np.nan]),L([np.nan,1.5]))", "xp.setxor1d([1,2,2],[2,3.5])",
    "xp.setxor1d([],[1])", "xp.poly([1.,np.nan])", "xp.poly([2.,np.inf])", "xp.poly([])", "xp.poly([3])",
    "xp.poly(L([1j,-1j]))", "x=A('int32',(4,));xp.place(x,x>1,L([1.5]));x", "x=A('int32',(4,));xp.place(x,x>1,[1.5]);x",
    "x=A('int32',(4,));xp.place(x,x>1,L([9],'int8'));x", "xp.imag(A('float32',(2,3))).flags.c_contiguous",
    "xp.imag(A('int8',(2,3)))", "xp.imag(A('float64',(2,3))).flags.writeable", "x=A('float64',(3,));x.imag[0]=1",
    "xp.digitize(A('float32',(3,)),L([1j,2]))", "x=Z((2,2));x[0]=[1j,2]", "x=Z((2,2));x[[0]]=[1j,2]",
    "x=Z((2,2),'bool');x[[0]]=1j;x",
]  # fmt: skip
CLIPS = [
    "signature='ddd->d'", "signature='fff->f'", "sig='lll->l'", "dtype='float32'", "out=Z((2,),'int8')", "order='F'",
    "casting='unsafe',out=Z((2,),'int8')", "where=L([True,False]),out=Z((2,))", "foo=1",
    "signature='ddd->d',dtype='float64'",
]  # fmt: skip
FLOATS = ["arctan2", "hypot", "copysign", "logaddexp", "nextafter", "heaviside", "divide", "float_power", "logaddexp2"]


@pytest.mark.parametrize("program", CASES)
def test_cases(program: str) -> None:
    check(program)


@pytest.mark.parametrize("more", CLIPS)
def test_clip(more: str) -> None:
    check(f"xp.clip(L([1.,5]),2,3,{more})")
    check(f"xp.clip(L([1.,5]),L([2.,2]),3.5,{more})")
    one = more.replace("fff->f", "ff->f").replace("ddd->d", "dd->d").replace("lll->l", "ll->l")
    check(f"xp.clip(L([1.,5]),None,3,{one})")
    check(f"xp.clip(L([1.,5]),2,None,{one})")
    check(f"L([1.,5]).clip(2,3,{more})")


@pytest.mark.parametrize("name", FLOATS)
def test_floats_of_small_integers(name: str) -> None:
    """The float that holds each operand, not the one that holds their common integer."""
    dtypes = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    for a, b in itertools.product(dtypes, dtypes):
        check(f"xp.{name}(L([1,0],'{a}'),L([1,1],'{b}')).dtype")
        check(f"xp.{name}(2,L([1,1],'{b}')).dtype")
