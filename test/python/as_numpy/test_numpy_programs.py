"""What programs for NumPy use beside its functions: methods of ufuncs, windows, roots, names about the host."""

from __future__ import annotations

import itertools

import nervanagpu as ng
import numpy as np
import pytest

ASSOCIATIVE = ["bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "maximum", "minimum", "add", "multiply"]


def same(got, want, bound=0.0):
    host = got.get()
    assert (host.shape, host.dtype) == (want.shape, want.dtype)
    np.testing.assert_allclose(host, want, rtol=bound, atol=bound)


@pytest.mark.parametrize("name", [*ASSOCIATIVE, "logical_xor", "logical_and", "subtract", "floor_divide"])
def test_ufunc_methods(rng, name):
    ours, theirs = getattr(ng, name), getattr(np, name)
    for shape, axis in itertools.product([(7,), (4, 5), (3, 1, 6)], (0, -1)):
        a = rng.integers(1, 9, shape)
        same(ours.reduce(ng.array(a), axis), np.asarray(theirs.reduce(a, axis)))
        same(ours.accumulate(ng.array(a), axis), theirs.accumulate(a, axis))
        same(ours.reduce(ng.array(a), axis, keepdims=True), theirs.reduce(a, axis, keepdims=True))
        at = [0, a.shape[axis] - 1, 0]
        same(ours.reduceat(ng.array(a), at, axis), theirs.reduceat(a, at, axis))
    a, b = rng.integers(1, 9, (2, 3)), rng.integers(1, 9, 4)
    same(ours.outer(ng.array(a), ng.array(b)), theirs.outer(a, b))
    x, y = ng.array(b), b.copy()
    ours.at(x, [0, 2, 0], 3)
    theirs.at(y, [0, 2, 0], 3)
    same(x, y)
    with pytest.raises(IndexError, match="reduceat"):
        ours.reduceat(ng.array(b), [4])


def test_ufunc_methods_refuse():
    with pytest.raises(ValueError, match=r"fmax.reduce: axis 0 has no elements"):
        ng.fmax.reduce(ng.zeros(0))
    assert int(ng.bitwise_xor.reduce(ng.zeros(0, dtype="int32"))) == 0
    with pytest.raises(IndexError, match="do not fit"):
        ng.subtract.at(ng.zeros(3), [5], 1)
    with pytest.raises(ValueError, match="where"):
        ng.fmax.reduce(ng.ones(3), where=[True, False, True])
    assert int(ng.gcd.reduce(ng.ones(3, dtype="int32") * 4, where=[True, False, True])) == 4


def test_windows(rng):
    tricks, theirs = ng.lib.stride_tricks, np.lib.stride_tricks
    a = rng.standard_normal((5, 6, 4))
    for window, axis in (((2, 3, 4), None), (3, 1), ((2, 2), (0, -1)), ((2, 3), (1, 1)), ((), ())):
        same(tricks.sliding_window_view(ng.array(a), window, axis), theirs.sliding_window_view(a, window, axis))
    view = tricks.sliding_window_view(ng.array(a[:, ::2].T), (2, 2), (0, 1))
    same(view, theirs.sliding_window_view(a[:, ::2].T, (2, 2), (0, 1)))
    with pytest.raises(ValueError, match="read-only"):
        view[...] = 0
    x, y = ng.arange(9, dtype="int32"), np.arange(9, dtype=np.int32)
    same(tricks.as_strided(x, (3,), (16,)), theirs.as_strided(y, (3,), (16,)))
    tricks.as_strided(x, (3,), (16,))[...] = -1
    theirs.as_strided(y, (3,), (16,))[...] = -1
    same(x, y)
    for wrong in (
        lambda: tricks.as_strided(x, (3,), (17,)),
        lambda: tricks.as_strided(x, (4,), (16,)),
        lambda: tricks.as_strided(x, (2,), (-4,)),
        lambda: tricks.as_strided(x, (2, 2), (4,)),
        lambda: tricks.sliding_window_view(x, 10),
        lambda: tricks.sliding_window_view(x, (2, 2)),
        lambda: tricks.sliding_window_view(x, -1),
    ):
        with pytest.raises(ValueError, match="needs|reaches"):
            wrong()


def test_roots_and_integrals(rng):
    for p in ([1, -6, 11, -6], [0, 0, 2.0, 4], [1, 0, 1], [3, 0, 0], [5.0], [], [0, 0], [1j, 2, 3]):
        got, want = ng.roots(np.array(p, dtype=None if p else float)).get(), np.roots(p)
        assert got.shape == want.shape
        np.testing.assert_allclose(np.sort_complex(got), np.sort_complex(want), atol=1e-9)
    for r in ([1.0, 2, 3], [], [1j, -1j], [1j, 2], np.diag([1.0, 2.0])):
        got, want = ng.poly(np.array(r)).get(), np.atleast_1d(np.poly(np.array(r)))
        assert got.dtype.kind == want.dtype.kind
        np.testing.assert_allclose(got, want, atol=1e-12)
    p = rng.standard_normal(4)
    for m, k in ((1, None), (2, None), (2, [3, 4]), (1, 2), (0, None)):
        np.testing.assert_allclose(ng.polyint(p, m, k).get(), np.polyint(p, m, k), rtol=1e-12)
    for wrong in (lambda: ng.roots(np.ones((2, 2))), lambda: ng.polyint(p, 2, [1, 2, 3]), lambda: ng.polyint(p, -1)):
        with pytest.raises(ValueError, match="needs"):
            wrong()


def test_distinct_parts(rng):
    for shape, dtype in itertools.product([(6, 2), (5, 3, 2), (0, 3), (4, 0), (7,)], ("int8", "float32", "complex64")):
        a = rng.integers(0, 2, shape).astype(dtype)
        if dtype == "float32" and a.size:
            a.flat[0] = np.nan
        for axis in range(len(shape)):
            for got, want in zip(
                ng.unique(ng.array(a), True, True, True, axis), np.unique(a, True, True, True, axis), strict=True
            ):
                np.testing.assert_array_equal(got.get(), want)


def test_names_about_the_host(tmp_path):
    with ng.errstate(all="ignore"), ng.printoptions(precision=2):
        assert str(ng.array([1.23456])) == "[1.23]"
    assert list(ng.ndindex(2, 1)) == [(0, 0), (1, 0)] and issubclass(np.float32, ng.floating)
    x = ng.array(np.arange(4.0).reshape(2, 2))
    assert list(ng.ndenumerate(x))[3] == ((1, 1), 3.0)
    same(ng.vectorize(lambda a, b: a + 2 * b)(x, 1), np.arange(4.0).reshape(2, 2) + 2)
    ng.savetxt(tmp_path / "x.txt", x)
    same(ng.loadtxt(tmp_path / "x.txt"), x.get())
    ng.save(tmp_path / "x.npy", x)
    assert np.array_equal(np.load(tmp_path / "x.npy"), x.get())
    same(ng.power(2, [1, 2, 3]), np.power(2, [1, 2, 3]))
    with pytest.raises(AttributeError, match="no attribute 'datetime64'"):
        _ = ng.datetime64
