"""Quantiles by every method, and reductions without NaN, with all of NumPy's arguments."""

from __future__ import annotations

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
