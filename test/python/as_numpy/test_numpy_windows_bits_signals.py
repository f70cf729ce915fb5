"""NumPy's functions with arguments of their own kind, beside NumPy: windows, bits, parts of floats, places, signals."""

from __future__ import annotations

import math
import warnings

import nervanagpu as ng
import numpy as np
import pytest

SPECIAL = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 5e-324, 1e300, -(2.0**-1030), 0.1, 4096.0]


def agree(got, want, rtol=0.0):
    if isinstance(want, tuple | list):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            agree(g, w, rtol)
        return
    host, want = (got.get() if isinstance(got, ng.GPUTensor) else np.asarray(got)), np.asarray(want)
    assert host.shape == want.shape and host.dtype == want.dtype, (host.shape, want.shape, host.dtype, want.dtype)
    if rtol == 0:
        np.testing.assert_array_equal(host, want)
    else:
        largest = np.max(np.abs(want), initial=1, where=np.isfinite(want))
        np.testing.assert_allclose(host, want, rtol=rtol, atol=rtol * largest)


@pytest.mark.parametrize("count", [-1, 0, 1, 2, 3, 7, 64])
def test_windows(count):
    for name in ("hanning", "hamming", "blackman", "bartlett"):
        agree(getattr(ng, name)(count), getattr(np, name)(count), 1e-14)
    for beta in (0.0, 5.0, 14.0, 600.0):
        agree(ng.kaiser(count, beta), np.kaiser(count, beta), 1e-13)


def test_bessel():
    x = np.concatenate([np.linspace(-700, 700, 301), [0, 1e-9, np.nan]])
    agree(ng.i0(ng.array(x)), np.i0(x), 1e-13)
    agree(ng.i0(ng.array(x[:200].astype(np.float32) / 10)), np.i0(x[:200].astype(np.float32) / 10), 1e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_integers(rng, dtype):
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, 500, dtype=dtype, endpoint=True)
    y = rng.integers(info.min // 3, info.max // 3, 500, dtype=dtype)
    x[:4], y[:4] = [0, 0, 1, 12], [0, 5, 0, 18]
    agree(ng.gcd(ng.array(x), ng.array(y)), np.gcd(x, y))
    agree(ng.bitwise_count(ng.array(x)), np.bitwise_count(x))
    small, other = (x // (info.max // 10)), (y // (info.max // 10))
    agree(ng.lcm(ng.array(small), ng.array(other)), np.lcm(small, other))
    # Fibonacci's numbers take Euclid the most steps.
    fibonacci = [1, 1]
    while fibonacci[-1] + fibonacci[-2] <= info.max:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    a, b = np.array(fibonacci[1:], dtype), np.array(fibonacci[:-1], dtype)
    agree(ng.gcd(ng.array(a), ng.array(b)), np.gcd(a, b))
    with pytest.raises(TypeError, match="gcd"):
        ng.gcd(ng.ones(2), ng.ones(2))


@pytest.mark.parametrize("order", ["big", "little"])
def test_bits(rng, order):
    for shape in ((17,), (3, 8), (2, 9, 5), (0,), (1,)):
        x = rng.integers(0, 3, shape).astype(np.int16)
        packed = rng.integers(0, 256, shape).astype(np.uint8)
        for axis in (None, *range(-len(shape), len(shape))):
            agree(ng.packbits(ng.array(x), axis, order), np.packbits(x > 0, axis, order))
            for count in (None, 3, -2, 100):
                if packed.size or count is None:
                    want = np.unpackbits(packed, axis, count, order)
                    agree(ng.unpackbits(ng.array(packed), axis, count, order), want)
    with pytest.raises(TypeError, match="unpackbits"):
        ng.unpackbits(ng.ones(2))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_parts_of_floats(rng, dtype):
    with np.errstate(all="ignore"):
        x = np.concatenate([np.array(SPECIAL), rng.standard_normal(200) * 2.0 ** rng.integers(-60, 60, 200)]).astype(
            dtype
        )
    t = ng.array(x)
    with np.errstate(all="ignore"):
        agree(ng.frexp(t), np.frexp(x))
        agree(ng.modf(t), np.modf(x))
        np.testing.assert_array_equal(np.signbit(ng.modf(t)[0].get()), np.signbit(np.modf(x)[0]))
        for power in (-1100, -30, -1, 0, 1, 5, 1030):
            normal = np.ldexp(x, power)
            least = np.finfo(np.float64).tiny if dtype == "float64" else 0
            got, whole = ng.ldexp(t, power).get(), ~(np.abs(normal) < least)
            np.testing.assert_array_equal(got[whole], normal[whole])
        if dtype != "float16":
            agree(ng.spacing(t), np.spacing(x))
        agree(ng.float_power(t, 3), np.float_power(x, 3), 1e-15)
    assert ng.frexp(ng.array([3, 4]))[0].dtype == np.float64
    with pytest.raises(TypeError, match="ldexp"):
        ng.ldexp(t, 1.5)


def test_unwrap(rng):
    x = rng.uniform(-20, 20, (5, 7))
    for axis in (0, 1, -1):
        agree(ng.unwrap(ng.array(x), axis=axis), np.unwrap(x, axis=axis), 1e-13)
        agree(ng.unwrap(ng.array(x), 4.0, axis, period=3.0), np.unwrap(x, 4.0, axis, period=3.0), 1e-13)
    whole = rng.integers(-50, 50, 40)
    for period in (4, 5, 7):
        agree(ng.unwrap(ng.array(whole), period=period), np.unwrap(whole, period=period))


def test_places(rng):
    x = rng.integers(0, 9, (4, 4))
    agree(ng.diag_indices(3, 3), np.diag_indices(3, 3))
    agree(ng.diag_indices_from(ng.array(x)), np.diag_indices_from(x))
    for k in (-2, 0, 1):
        agree(ng.tril_indices(4, k, 3), np.tril_indices(4, k, 3))
        agree(ng.triu_indices(3, k), np.triu_indices(3, k))
        agree(ng.tril_indices_from(ng.array(x[:3]), k), np.tril_indices_from(x[:3], k))
        agree(ng.triu_indices_from(ng.array(x[:3]), k), np.triu_indices_from(x[:3], k))
        agree(ng.mask_indices(4, ng.triu, k), np.mask_indices(4, np.triu, k))
    y = np.where(rng.random((5, 6)) < 0.4, np.nan, rng.standard_normal((5, 6)))
    y[:, 0] = y[0] = 1
    for axis in (None, 0, 1):
        agree(ng.nanargmax(ng.array(y), axis), np.nanargmax(y, axis))
        agree(ng.nanargmin(ng.array(y), axis), np.nanargmin(y, axis))
    with pytest.raises(ValueError, match="NaN"):
        ng.nanargmax(ng.array([np.nan, np.nan]))
    for values in ([1.5, 2.5, 3.5], [7]):
        host, t = y.copy(), ng.array(y)
        np.place(host, y > 0, values)
        ng.place(t, ng.array(y > 0), values)
        agree(t, host)
        np.putmask(host, y < 0.5, values)
        ng.putmask(t, ng.array(y < 0.5), values)
        agree(t, host)
    with pytest.raises(ValueError, match="vals"):
        ng.place(ng.ones(2), [1, 1], [])
    agree(ng.mgrid[0:3, 0:2:4j], np.mgrid[0:3, 0:2:4j])
    agree(list(ng.ogrid[0:3, 1:5:2]), list(np.ogrid[0:3, 1:5:2]))
    agree(ng.r_[ng.array([1, 2]), 0:3, 9], np.r_[[1, 2], 0:3, 9])
    agree(ng.c_[ng.array([1, 2]), [3, 4]], np.c_[[1, 2], [3, 4]])


@pytest.mark.parametrize("dtype", ["int32", "float64", "uint8", "bool"])
def test_rows_against_rows(rng, dtype):
    for n, m in ((7, 3), (3, 7), (4, 4), (9, 2), (1, 5), (6, 1)):
        a, b = (rng.integers(0, 4, k).astype(dtype) for k in (n, m))
        for mode in ("full", "same", "valid"):
            agree(ng.convolve(ng.array(a), ng.array(b), mode), np.convolve(a, b, mode))
            agree(ng.correlate(ng.array(a), ng.array(b), mode), np.correlate(a, b, mode))
    with pytest.raises(ValueError, match="empty"):
        ng.convolve(ng.ones(3), ng.ones(0))
    with pytest.raises(ValueError, match="mode"):
        ng.convolve(ng.ones(3), ng.ones(1), "some")


def test_covariances(rng):
    x, y = rng.standard_normal((2, 4, 30))
    counts, weights = rng.integers(1, 4, 30), rng.random(30)
    for args in ({}, {"bias": True}, {"ddof": 2}, {"rowvar": False}, {"fweights": counts}, {"aweights": weights},
                 {"y": y},
                 {"fweights": counts, "aweights": weights, "ddof": 0}):  # fmt: skip
        if "rowvar" in args:
            agree(ng.cov(ng.array(x), **args), np.cov(x, **args), 1e-13)
        else:
            agree(ng.cov(ng.array(x), **args), np.cov(x, **args), 1e-13)
    agree(ng.cov(ng.array(x[0])), np.cov(x[0]), 1e-13)
    agree(ng.corrcoef(ng.array(x), ng.array(y)), np.corrcoef(x, y), 1e-13)
    with pytest.raises(ValueError, match="fweights"):
        ng.cov(ng.array(x), fweights=[1, 2])


def test_histograms_of_columns(rng):
    x = rng.standard_normal((500, 2))
    for args in ({}, {"bins": 5}, {"bins": (4, 7)}, {"bins": [np.linspace(-1, 1, 6), 3]}, {"density": True},
                 {"range": [[-1, 1], [0, 2]]}, {"weights": rng.random(500)}):  # fmt: skip
        want, theirs = np.histogramdd(x, **args)
        got, edges = ng.histogramdd(ng.array(x), **args)
        agree(got, want, 1e-12)
        agree(edges, list(theirs), 1e-13)
        if "bins" not in args or not isinstance(args["bins"], list):
            agree(ng.histogram2d(ng.array(x[:, 0]), ng.array(x[:, 1]), **args), np.histogram2d(*x.T, **args), 1e-12)
    with pytest.raises(ValueError, match="bins"):
        ng.histogramdd(ng.array(x), [3, 4, 5])


def test_polynomials(rng):
    a, b, x = rng.standard_normal(5), rng.standard_normal(3), rng.standard_normal((4, 3))
    for name in ("polyadd", "polysub", "polymul"):
        agree(getattr(ng, name)(ng.array(a), ng.array(b)), getattr(np, name)(a, b), 1e-14)
        agree(getattr(ng, name)(ng.array(b), ng.array(a)), getattr(np, name)(b, a), 1e-14)
    agree(ng.polyval(ng.array(a), ng.array(x)), np.polyval(a, x), 1e-13)
    agree(ng.polyder(ng.array(a), 2), np.polyder(a, 2), 1e-14)
    points = np.linspace(-1, 2, 20)
    values = np.polyval(a, points)
    agree(ng.polyfit(ng.array(points), ng.array(values), 4), np.polyfit(points, values, 4), 1e-10)
    pair = np.stack([values, points], 1)
    agree(ng.polyfit(ng.array(points), ng.array(pair), 2), np.polyfit(points, pair, 2), 1e-10)


def test_kinds(rng):
    x = ng.array(rng.standard_normal((3, 4)))
    assert ng.isrealobj(x) and not ng.iscomplexobj(x) and not ng.isfortran(x) and ng.isfortran(x.T)
    assert ng.asfortranarray(x).flags.f_contiguous and ng.asfortranarray(x.T).ptr == x.ptr
    agree(ng.asfortranarray(x), x.get())
    assert ng.require(x, None, ["F"]).flags.f_contiguous and ng.require(x.T, "float32", "C").flags.c_contiguous
    assert ng.require(x[1:], None, "O").flags.owndata
    for wrong in (["C", "F"], "Q"):
        with pytest.raises(ValueError, match="requirements"):
            ng.require(x, None, wrong)
    with pytest.raises(ValueError, match="infinities"):
        ng.asarray_chkfinite([1, np.inf])
    assert (
        ng.common_type(x, ng.ones(2)) is np.float64 and ng.common_type(ng.ones(2), ng.ones(2, "float16")) is np.float32
    )
    assert ng.min_scalar_type(300) == np.uint16 and ng.issubdtype(np.int8, np.integer) and ng.iterable([1])
    assert ng.shares_memory(x, x[1:]) and not ng.shares_memory(x[:, ::2], x[:, 1::2])
    assert ng.may_share_memory(x[:, ::2], x[:, 1::2]) and not ng.may_share_memory(x, x.copy())
    agree(ng.real_if_close(x), x.get())


def test_text_and_files(rng, tmp_path):
    x = rng.standard_normal((3, 4))
    t = ng.array(x)
    assert ng.array_str(t) == np.array_str(x) and ng.array_repr(t) == np.array_repr(x)
    assert ng.array2string(t, precision=2) == np.array2string(x, precision=2)
    assert ng.format_float_positional(t[0, 0]) == np.format_float_positional(x[0, 0])
    assert ng.format_float_scientific(0.5, precision=3) == np.format_float_scientific(0.5, precision=3)
    assert ng.base_repr(255, 16) == "FF" and ng.binary_repr(-3, 5) == np.binary_repr(-3, 5)
    import nervanagpu.cupy as cp

    cp.save(tmp_path / "x.npy", t)
    agree(cp.load(tmp_path / "x.npy"), x)
    cp.savez(tmp_path / "x.npz", t, y=t[0])
    with cp.load(tmp_path / "x.npz") as held:
        agree([held["arr_0"], held["y"]], [x, x[0]])
        assert list(held) == ["y", "arr_0"] or list(held) == ["arr_0", "y"]
    cp.savetxt(tmp_path / "x.txt", t)
    agree(cp.loadtxt(tmp_path / "x.txt"), x)
    t.tofile(tmp_path / "x.bin")
    agree(cp.fromfile(tmp_path / "x.bin"), x.reshape(-1))
    t.dump(tmp_path / "x.pickle")
    import pickle

    agree(pickle.loads((tmp_path / "x.pickle").read_bytes()), x)


def test_along_axes_and_blocks(rng):
    x = rng.integers(0, 9, (2, 3, 4))
    for axis in (0, 1, -1):
        agree(
            ng.apply_along_axis(lambda r: r.sum(), axis, ng.array(x)), np.apply_along_axis(lambda r: r.sum(), axis, x)
        )
        agree(
            ng.apply_along_axis(lambda r: r[::-1], axis, ng.array(x)), np.apply_along_axis(lambda r: r[::-1], axis, x)
        )
        outer = np.apply_along_axis(lambda r: r[:, None] * r, axis, x)
        agree(ng.apply_along_axis(lambda r: r[:, None] * r, axis, ng.array(x)), outer)
    agree(ng.apply_over_axes(ng.sum, ng.array(x), (0, 2)), np.apply_over_axes(np.sum, x, (0, 2)))
    a, b = x[0], x[1]
    agree(ng.block([[ng.array(a), ng.array(b)], [ng.array(b), ng.array(a)]]), np.block([[a, b], [b, a]]))
    agree(ng.block([ng.array(a[0]), 3]), np.block([a[0], 3]))
    with pytest.raises(ValueError, match="depth"):
        ng.block([[ng.ones(2)], ng.ones(2)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agree(ng.row_stack([ng.array(a), ng.array(b)]), np.vstack([a, b]))
    assert math.isclose(float(ng.ptp(ng.array(x))), np.ptp(x))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64"])
def test_dtypes_of_steps_and_powers(dtype, rng):
    x = (rng.integers(0, 2, 6) if dtype == "bool" else 4 * rng.random(6)).astype(dtype)
    for other in (0.5, 1, x[::-1].copy(), np.float64(2), np.ones(6, np.float32)):
        ours = ng.array(other) if isinstance(other, np.ndarray) else other
        agree(ng.heaviside(ng.array(x), ours), np.heaviside(x, other))
        agree(ng.heaviside(ours, ng.array(x)), np.heaviside(other, x))
    if dtype != "bool" and np.dtype(dtype).kind in "iu":
        agree(ng.vander(ng.array(x), 3), np.vander(x, 3))
