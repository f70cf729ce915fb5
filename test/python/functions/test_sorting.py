"""Orders, searches, distinct elements, quantiles and histograms beside NumPy's."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest

WIDTHS = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]


def drawn(rng, dtype, shape, few=False):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        limits = np.iinfo(dtype)
        low, high = (0, 4) if few else (limits.min, limits.max)
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)
    x = rng.integers(-2, 3, shape).astype(dtype) if few else (rng.normal(size=shape) * 100).astype(dtype)
    if x.size > 6:
        flat = x.reshape(-1)
        flat[rng.integers(0, x.size, 3)] = np.nan
        flat[rng.integers(0, x.size, 2)] = np.inf
        flat[rng.integers(0, x.size, 2)] = -np.inf
        flat[rng.integers(0, x.size, 2)] = -0.0
    return x


def same(got, want):
    host = got.get()
    want = np.asarray(want)
    assert host.dtype == want.dtype and host.shape == want.shape, (host.dtype, want.dtype, host.shape, want.shape)
    np.testing.assert_array_equal(host, want)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("few", [False, True])
def test_orders(dtype, few):
    rng = np.random.default_rng(1)
    for shape in ((0,), (1,), (2,), (33,), (500,), (4, 7), (3, 0), (2, 3, 5)):
        x = drawn(rng, dtype, shape, few)
        t = ng.array(x)
        for axis in (None, *range(-len(shape), len(shape))):
            same(ng.argsort(t, axis), np.argsort(x, axis, kind="stable"))
            same(ng.sort(t, axis), np.sort(x, axis, kind="stable"))
        turned = np.ascontiguousarray(x.T)
        same(ng.argsort(ng.array(turned).T), np.argsort(x, kind="stable"))
    x = drawn(rng, dtype, (200,), few)
    if np.dtype(dtype).kind != "f":
        back = np.argsort(x[::-1], kind="stable")[::-1]
        same(ng.argsort(ng.array(x), descending=True), len(x) - 1 - back)
    t = ng.array(x)
    t.sort()
    same(t, np.sort(x))
    values, places = ng.topk(ng.array(np.nan_to_num(x)), 5)
    same(values, np.sort(np.nan_to_num(x))[::-1][:5])
    same(ng.array(np.nan_to_num(x))[places], np.sort(np.nan_to_num(x))[::-1][:5])


def test_bfloat16():
    x = np.random.default_rng(2).normal(size=100).astype(np.float32)
    t = ng.array(x).astype("bfloat16")
    rounded = t.astype("float32").get()
    same(ng.sort(t).astype("float32"), np.sort(rounded))
    same(ng.argsort(t), np.argsort(rounded, kind="stable"))


def test_lexsort_and_partitions():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 3, 50), rng.integers(0, 3, 50)
    same(ng.lexsort((ng.array(a), ng.array(b))), np.lexsort((a, b)))
    x = rng.normal(size=30)
    part = ng.partition(ng.array(x), 7).get()
    assert part[7] == np.sort(x)[7] and (part[:7] <= part[7]).all() and (part[8:] >= part[7]).all()


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float32", "float64"])
def test_searches(dtype):
    rng = np.random.default_rng(4)
    for n in (0, 1, 2, 31, 100):
        row = np.sort(drawn(rng, dtype, (n,), n % 2 == 0))
        wanted = drawn(rng, dtype, (5, 9), True)
        for side in ("left", "right"):
            same(ng.searchsorted(ng.array(row), ng.array(wanted), side), np.searchsorted(row, wanted, side))
    x = drawn(rng, dtype, (40,))
    order = np.argsort(x)
    same(ng.searchsorted(ng.array(x), x[:5], sorter=order), np.searchsorted(x, x[:5], sorter=order))
    edges = np.array([0, 1, 2.5, 4])
    values = np.array([-1, 0, 0.5, 2.5, 4, 9])
    for right in (False, True):
        same(ng.digitize(values, edges, right), np.digitize(values, edges, right))
        same(ng.digitize(values, edges[::-1].copy(), right), np.digitize(values, edges[::-1], right))
    same(ng.isin(ng.array(x), x[:7]), np.isin(x, x[:7]))
    same(ng.isin(ng.array(x), x[:0], invert=True), np.isin(x, x[:0], invert=True))


@pytest.mark.parametrize("dtype", WIDTHS)
def test_distinct_elements(dtype):
    rng = np.random.default_rng(5)
    for shape in ((0,), (1,), (60,), (5, 8)):
        x = drawn(rng, dtype, shape, True)
        for equal_nan in (True, False):
            got = ng.unique(ng.array(x), True, True, True, equal_nan=equal_nan)
            want = np.unique(x, True, True, True, equal_nan=equal_nan)
            for g, w in zip(got, want, strict=True):
                same(g, np.asarray(w).reshape(g.shape))
    a, b = drawn(rng, dtype, (20,), True), drawn(rng, dtype, (12,), True)
    a, b = np.nan_to_num(a), np.nan_to_num(b)
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        same(getattr(ng, name)(ng.array(a), ng.array(b)), getattr(np, name)(a, b))


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "uint8"])
def test_quantiles(dtype):
    rng = np.random.default_rng(6)
    for shape in ((1,), (8,), (2, 3, 4)):
        x = rng.normal(size=shape).astype(dtype) if dtype[0] == "f" else rng.integers(0, 50, shape).astype(dtype)
        holed = x.copy()
        if dtype[0] == "f":
            holed.reshape(-1)[:: max(x.size // 3, 2)] = np.nan
        for axis in dict.fromkeys((None, 0, len(shape) - 1, tuple(range(len(shape))))):
            for keepdims in (False, True):
                for method in (
                    "linear",
                    "lower",
                    "higher",
                    "nearest",
                    "midpoint",
                    "hazen",
                    "weibull",
                    "median_unbiased",
                ):
                    for q in (0.3, [0, 0.5, 1]):
                        if keepdims and method != "linear":
                            continue
                        got = ng.quantile(ng.array(x), q, axis, method=method, keepdims=keepdims)
                        want = np.quantile(x, q, axis, method=method, keepdims=keepdims)
                        assert got.shape == want.shape and got.dtype == want.dtype, (method, got.dtype, want.dtype)
                        np.testing.assert_allclose(
                            got.get(), want, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-6
                        )
                np.testing.assert_allclose(
                    ng.median(ng.array(x), axis, keepdims=keepdims).get(),
                    np.median(x, axis, keepdims=keepdims),
                    rtol=1e-6,
                    atol=1e-6,
                )
            if dtype[0] == "f":
                with np.errstate(all="ignore"):
                    want = np.nanpercentile(holed, [20, 60], axis)
                    assert np.isnan(ng.median(ng.array(holed)).item()) == np.isnan(np.median(holed))
                np.testing.assert_allclose(
                    ng.nanpercentile(ng.array(holed), [20, 60], axis).get(), want, rtol=1e-5, atol=1e-6
                )
    with pytest.raises(ValueError, match="quantile"):
        ng.quantile(ng.ones(3), 1.5)


def test_counts():
    rng = np.random.default_rng(7)
    x = rng.integers(0, 9, 100)
    same(ng.bincount(ng.array(x)), np.bincount(x))
    same(ng.bincount(ng.array(x), minlength=20), np.bincount(x, minlength=20))
    weights = rng.normal(size=100)
    np.testing.assert_allclose(ng.bincount(ng.array(x), weights).get(), np.bincount(x, weights), rtol=1e-12)
    y = rng.normal(size=400)
    for how in (
        {},
        {"bins": 7},
        {"bins": [-1, 0, 0.5, 2]},
        {"bins": 5, "range": (-1, 1)},
        {"bins": 4, "density": True},
    ):
        for got, want in zip(ng.histogram(ng.array(y), **how), np.histogram(y, **how), strict=True):
            np.testing.assert_allclose(got.get(), want, rtol=1e-12)
    with pytest.raises(TypeError, match="bincount"):
        ng.bincount(ng.ones(3))
    with pytest.raises(ValueError, match="x has -1; needs integers of 0 or more"):
        ng.bincount(ng.array([-1, 2]))


def test_places_of_partitions():
    x = ng.array(np.array([[3, 1, 2], [9, 7, 8]]))
    for wrong in (3, -4, [0, 3]):
        with pytest.raises(ValueError, match="kth is .*; needs -3 to 2"):
            ng.partition(x, wrong)
        with pytest.raises(ValueError, match="argpartition: kth is"):
            ng.argpartition(x, wrong)
    assert ng.partition(x, -3).get()[:, 0].tolist() == [1, 7] and ng.partition(x, 5, None).get()[5] == 9
