"""Sorting, searching, counting, histograms and rows of numbers, with all of NumPy's arguments."""

from __future__ import annotations

import pytest
from numpy_comparison import check

X, V = "A('float32',(3,4))", "A('float64',(5,))"
CALLS = """
    sort({X},axis=2) sort({X},kind='bogus') sort({X},order='f') sort({X},stable=True) sort(3) sort(A('float32'))
    sort_complex(A('float32',(3,))) sort_complex(A('int8',(3,))) sort_complex(A('complex64',(4,)))
    partition({V},[1,3])[1] partition({V},9) partition({V},2,kind='introselect')[2] partition({V},2,kind='x')
    partition(A('float32',(0,)),0) argpartition(A('float32',(0,)),0) lexsort([[1,2],[1]]) lexsort(({V},{V}))
    searchsorted([3,1,2],2,sorter=[1.,2,0]) searchsorted([3,1,2],2,sorter=[1,2]) searchsorted([1,2,3],[2.5,np.nan])
    digitize([1.5],[1,3,2]) digitize([1.5],[3,2,1]) digitize([1j],[1,2]) isin([1,2],[2],kind='table')
    isin([1.5],[1.5],kind='table') isin([1.5],[1.5],kind='sort') isin([1],[1],kind='x')
    intersect1d([1,2,2],[2,3],return_indices=True) intersect1d([3,1,2],[2,3,9],return_indices=True)
    unique([3,1,1],return_index=True,return_inverse=True,return_counts=True) bincount([0,1],weights=[1j,1])
    histogram({X}) histogram({X},5) histogram({X},bins='auto') histogram({X},bins='fd') histogram({X},bins='bogus')
    histogram({X},bins=[0,2,1]) histogram({X},2.5) histogram({X},[]) histogram({X},[1]) histogram({X},range=(1,0))
    histogram({X},weights=A('int32',(3,4))) histogram({X},weights=A('complex64',(3,4))) histogram({X},weights=[1,2])
    histogram({V},3,density=True) histogram({V},3,weights=xp.abs({V}),density=True) histogram([]) histogram([1,1,1])
    histogram_bin_edges({X}) histogram_bin_edges({X},'doane') histogram_bin_edges(A('float16',(5,)))
    histogram2d({V},[1]) histogram2d({V},{V},3) histogram2d({V},{V},[[0,1,2],[0,1]]) histogramdd(A('float32',(5,2)),3)
    cov({X},fweights=[1,2,1,1]) cov({X},fweights=[-1,1,1,1]) cov({X},fweights=[.5,1,1,1]) cov({X},aweights=[-1,1,1,1])
    correlate([1j,2],[1,1j],'full') correlate([1,2,3],[0,1j,.5],'same') correlate([1],[1j,2,3],'full')
    interp(1.5,[1,2],[3,4],period=3) interp([0,7.5,np.nan],[1,2],[3,4],period=3) interp(1.5,[1,2],[3,4],period=0)
    interp([1.5,0,9],[1,2],[3,4j]) interp([0,9],[1,2],[3,4j],left=1j,right=2) interp([0,1,1.5,2,3],[1,2],[3,4])
    interp([1.5],[1,2],[3]) interp(A('complex64',(3,)),[0,1],[2,3]) i0(A('complex64',(3,))) argmax(A('float32'),0)
    cov(A('complex64',(3,4))) corrcoef(A('complex64',(3,5))) cov(A('complex64',(3,4)),A('float32',(3,4),1))
    cov(A('complex128',(3,4)),aweights=[1,2,3,4]) argmin(A('int8'),axis=1)
""".split()


@pytest.mark.parametrize("call", CALLS)
def test_calls(call: str) -> None:
    check(f"xp.{call.format(X=X, V=V)}", protocol="{" in call)


def test_floats_of_integers() -> None:
    for name in ("rint", "reciprocal", "square"):
        for dtype in ("bool", "int8", "uint8", "int16", "uint32", "int64", "float16", "float64", "complex64"):
            numbers = f"A('{dtype}',(3,4))" if name != "reciprocal" or dtype[0] in "fc" else f"L([1,2,3,1],'{dtype}')"
            check(f"xp.{name}({numbers})", protocol=True)
            check(f"xp.{name}({numbers},dtype='float64')", protocol=True)
