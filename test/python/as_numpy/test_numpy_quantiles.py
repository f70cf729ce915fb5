"""Quantiles by every method, and reductions without NaN, with all of NumPy's arguments."""

from __future__ import annotations

import warnings

import nervanagpu as ng
import numpy as np
import pytest
from numpy_comparison import check, message

METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear "
    "median_unbiased normal_unbiased lower higher midpoint nearest bogus"
).split()
X = "A('float32',(3,4))"
ROWS = (X, "L([1.,np.nan,3,2])", "A('int32',(7,))", "A('float64',(10,))", "A('float16',(5,))", "[3,1,2]")


@pytest.mark.parametrize("method", METHODS)
def test_methods(method: str) -> None:
    for call in ("quantile({},0.3", "quantile({},[0,.25,1]", "quantile({},0", "percentile({},[10,50,99]"):
        for row in ROWS:
            check(f"xp.{call.format(row)},method='{method}')", protocol="A(" in row)
            if "float16" not in row and not (method == "linear" and call.endswith(",0")):
                check(f"xp.nan{call.format(row)},method='{method}')", protocol="A(" in row)
    for call in ("quantile", "nanquantile"):
        check(f"xp.{call}({X},0.4,axis=1,keepdims=True,method='{method}')", protocol=True)
        check(f"xp.{call}(L([[np.nan,1,2,5],[np.nan]*4,[3,1,9,np.nan]]),[0.2,0.7],axis=1,method='{method}')")


def test_weights() -> None:
    for call in ("quantile", "nanquantile"):
        for q in ("0", "0.35", "[0.1,0.9,1]"):
            if call == "quantile":  # NumPy's nanquantile raises IndexError here
                check(f"xp.{call}({X},{q},axis=0,weights=[1,2,3],method='inverted_cdf')")
            check(f"xp.{call}({X},{q},weights=xp.abs({X})+1,method='inverted_cdf')")
            check(f"xp.{call}(L([3.,1,2,4]),{q},weights=[0,1,0,2],method='inverted_cdf')")
        check(f"xp.{call}({X},0.5,axis=0,weights=[1,2,3])")
        check(f"xp.{call}({X},0.5,axis=0,weights=[1,-2,3],method='inverted_cdf')")
        check(f"xp.{call}({X},0.5,axis=0,weights=[1,2],method='inverted_cdf')" if call == "quantile" else "0")
    assert "needs 'inverted_cdf'" in message(f"xp.quantile({X},0.5,axis=0,weights=[1,2,3])")


CALLS = """
    quantile({X},1.5) quantile({X},np.nan) quantile({X},[]) quantile({X},0.5,out=Z((),'float32'))
    quantile({X},0.5,axis=5)
    quantile({X},0.5,overwrite_input=True) quantile({X},[[0.1,0.2],[0.3,0.4]],axis=0)
    median({X},overwrite_input=True) median({X},axis=0,out=Z((4,),'int64')) median([]) median(A('float32',(0,3)),axis=0)
    median(A('bool',(3,0)),axis=1) median(A('float32',(3,0)),axis=0) nanmedian(A('int32',(3,0)),axis=1)
    nanmedian({X},overwrite_input=True) median(A('int32',(4,))) nanmedian(L([[np.nan,1],[np.nan,2]]),axis=0)
    nansum({X},initial=1) nansum({X},where=A('bool',(3,4))) nanprod({X},axis=0,initial=2)
    nanmax(L([np.nan,1]),initial=5)
    nanmax(L([np.nan,1,3]),where=L([True,True,False]),initial=0) nanmin({X},where=A('bool',(3,4)))
    nanmax(L([np.nan,np.nan])) nanmean({X},where=A('bool',(3,4))) nanmean({X},axis=0,dtype='int8')
    nanvar({X},axis=0,where=A('bool',(3,4))) nanvar({X},correction=1) nanvar({X},correction=1,ddof=1)
    nanstd({X},axis=1,ddof=1) nanvar(L([1,np.nan,2]),mean=L([1.5])) nanstd({X},axis=0,out=Z((4,),'float32'))
    nanmax({X},axis=0,out=Z((4,),'int64')) nanmean({X},axis=0,out=Z((3,))) nanvar(L([1,np.nan]),ddof=1)
""".split()


@pytest.mark.parametrize("call", CALLS)
def test_calls(call: str) -> None:
    check(f"xp.{call.format(X=X)}", protocol="X" in call)


@pytest.mark.parametrize("dtype", "float16 float32 float64 complex64 complex128 int8 uint64 bool".split())
def test_medians(rng: np.random.Generator, dtype: str) -> None:
    """Infinities have a middle, NaN of a row is its median, and complex numbers are in their order."""
    pool = [np.inf, -np.inf, np.nan, 0.0, 1.0, 2.5, 7.0]
    for shape, axis in (((1,), None), ((2,), 0), ((6,), 0), ((3, 4), 1), ((2, 3, 5), (0, 2)), ((0, 3), 1), ((4, 0), 1)):
        for _ in range(6):
            a = rng.choice(pool if dtype.startswith("float") else [0, 1, 2.5, 7], shape).astype(dtype)
            if dtype.startswith("complex"):
                a.imag = rng.choice([0, 1, -2, np.nan], shape)
            for name in ("median", "nanmedian"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    want = np.asarray(getattr(np, name)(a, axis=axis, keepdims=True))
                got = getattr(ng, name)(ng.array(a), axis=axis, keepdims=True).get()
                assert (got.shape, got.dtype) == (want.shape, want.dtype)
                nan = np.isnan(want)
                assert np.array_equal(np.isnan(got), nan) and np.array_equal(got[~nan], want[~nan]), (name, a)
    with pytest.raises(TypeError, match="percentile: x has dtype complex64; needs real numbers"):
        ng.percentile(ng.zeros(3, "complex64"), 50)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "int8", "int32", "int64", "bool"])
def test_means_in_integers(dtype: str) -> None:
    """The sum wraps in that dtype, and the mean is rounded to it before variances are made of it."""
    for values in ([-1, -2, -3, -4], [200, 250, 255, 3], [[1, 2, 4], [5, -7, 9]], [True, False, True], [2.5, 3.5, 6.0]):
        a = np.array(values)
        for name in ("mean", "var", "std"):
            for options in ({}, {"axis": 0}, {"where": a != 3}, *([{"ddof": 1}] if name != "mean" else [])):
                if name != "mean" and (a.dtype.name == dtype == "bool" or (name == "std" and a.ndim > 1 and options)):
                    continue  # NumPy's own raises there
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    want = np.asarray(getattr(np, name)(a, dtype=dtype, **options))
                more = {k: ng.array(v) if k == "where" else v for k, v in options.items()}
                got = getattr(ng, name)(ng.array(a), dtype=dtype, **more).get()
                assert got.dtype == want.dtype and np.array_equal(got, want), (name, values, options)
