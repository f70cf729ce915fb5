"""Arguments and dtypes of NumPy's functions beside NumPy: gradient, einsum, orders of complex numbers, out of sums."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest

SPECIAL = [0.0, -0.0, 1, -2, 3, np.inf, -np.inf, np.nan]
BOUND = {"float32": 1e-4, "complex64": 1e-4, "float16": 5e-2}


def outcome(call: Any) -> Any:
    """What a call gives, or the class of what it raises."""
    try:
        return call()
    except (TypeError, ValueError) as error:
        return type(error)


def agree(got: Any, want: Any, bound: float = 0.0) -> None:
    if isinstance(want, type):
        assert got is want
        return
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            agree(g, w, bound)
        return
    host = got.get()
    assert (host.dtype, host.shape) == (np.asarray(want).dtype, np.shape(want))
    if bound:
        np.testing.assert_allclose(host, want, rtol=bound, atol=bound)
    else:
        np.testing.assert_array_equal(host, want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "complex64", "float16"])
def test_gradient(rng, dtype):
    for shape, order in itertools.product([(5,), (2,), (3,), (4, 6), (3, 4, 3)], (1, 2)):
        f = (rng.standard_normal(shape) * 5).astype(dtype)
        for axis in (None, 0, -1, (0,), tuple(range(len(shape)))[::-1]):
            axes = range(len(shape)) if axis is None else [axis] if isinstance(axis, int) else axis
            rows = [np.cumsum(rng.random(shape[a]) + 0.1) for a in axes]
            for spacing in (
                (),
                (2.0,),
                tuple(np.arange(1.5, len(axes) + 1)),
                rows,
                [np.arange(f.shape[a]) for a in axes],
            ):
                ours = [ng.array(s) if isinstance(s, np.ndarray) else s for s in spacing]
                got = outcome(lambda f=f, o=ours, a=axis, e=order: ng.gradient(ng.array(f), *o, axis=a, edge_order=e))
                want = outcome(lambda f=f, s=spacing, a=axis, e=order: np.gradient(f, *s, axis=a, edge_order=e))
                agree(got, want, BOUND.get(dtype, 1e-9))


def test_gradient_refuses():
    x = ng.arange(6.0)
    for more in ({"edge_order": 3}, {"edge_order": 0}, {"axis": (0, 0)}, {"axis": 1}):
        with pytest.raises(ValueError, match=r"gradient|axis"):
            ng.gradient(x, **more)
    with pytest.raises(TypeError, match="there are 3 in spacing"):
        ng.gradient(ng.ones((3, 3)), 1, 2, 3)
    with pytest.raises(ValueError, match="needs a number or 6 coordinates"):
        ng.gradient(x, [1.0, 2.0])
    with pytest.raises(TypeError, match="bool"):
        ng.gradient(x > 2)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_order_of_complex_numbers(rng, dtype):
    def drawn(shape):
        made = np.empty(shape, dtype)
        made.real, made.imag = rng.choice(SPECIAL, shape), rng.choice(SPECIAL, shape)
        return made

    for shape in [(50,), (0,), (1,), (4, 30), (3, 4, 5)]:
        a = drawn(shape)
        for axis in (None, -1, 0):
            agree(ng.sort(ng.array(a), axis), np.sort(a, axis))
            agree(ng.argsort(ng.array(a), axis), np.argsort(a, axis, kind="stable"))
    a, v = drawn(60), drawn(17)
    for equal in (True, False):
        got, want = (m.unique(x, return_counts=True, equal_nan=equal) for m, x in ((ng, ng.array(a)), (np, a)))
        numbers = ~np.isnan(want[0])
        assert np.array_equal(got[0].get()[numbers], want[0][numbers]) and np.array_equal(got[1].get(), want[1])
    for side in ("left", "right"):
        agree(ng.searchsorted(ng.array(np.sort(a)), ng.array(v), side), np.searchsorted(np.sort(a), v, side))
    agree(ng.isin(ng.array(a), ng.array(v)), np.isin(a, v))


def test_einsum(rng):
    a, b = rng.integers(-4, 4, (2, 3, 4)).astype(np.int8), rng.integers(-4, 4, (4, 3)).astype(np.int16)
    one, none = np.ones((1, 3), np.float32), np.ones((0, 3), np.float32)
    cases: list[tuple[Any, ...]] = [
        ("ijk,kl->il", a, b), ("ijk->kij", a), ("ij,ij->", one, none), ("ij,ij->j", one, one * 3), ("i...->...", a),
        ("...jk,kj", a, b), (a, [0, 1, 2], b, [2, 3], [3, 0]), (a, [0, ...]), (a, [2, 1, 0]), ("ii", a[0, :, :3]),
        (b, np.array([1, 0])), ("ij->i", a[0] > 0), ("ij,jk->ik", a[0] > 0, b > 0),
    ]  # fmt: skip
    for case in cases:
        ours = [ng.array(c) if isinstance(c, np.ndarray) and c.dtype != np.int64 else c for c in case]
        agree(ng.einsum(*ours), np.einsum(*case))
        agree(outcome(lambda o=ours: ng.einsum(*o, dtype="float64")), outcome(lambda c=case: np.einsum(*c, dtype="f8")))
    x = ng.array(a)
    ng.einsum("ijk->kji", x)[...] = 5  # a view
    assert x.get().min() == 5
    wrong: list[tuple[Any, ...]] = [
        (), ("",), ("ii", a[0]), ("...->", a), ("ij,jk", a[0], a[0]), ("i1", b), (b, [0]), (b, [0, 60]), ("ij->ik", b),
        (b, [0, 1], [2]), ("ij->ii", b), (b, [..., 0, ...]),
    ]  # fmt: skip
    for case in wrong:
        with pytest.raises(ValueError, match="einsum"):
            ng.einsum(*(ng.array(c) if isinstance(c, np.ndarray) else c for c in case))
    for case, more in [((3, [None]), {}), ((b,), {}), (("ij", b), {"bad": 1}), (("ij->", b), {"dtype": "int8"})]:
        with pytest.raises(TypeError, match="einsum"):
            ng.einsum(*(ng.array(c) if isinstance(c, np.ndarray) else c for c in case), **more)


def test_float_power():
    values = [np.float32([1, -2, 3]), np.int8([2, 1, 3]), np.complex64([1 + 1j, 2, 3j]), 2, 0.5, 2j, True]
    for a, b in itertools.product(values, repeat=2):
        with np.errstate(all="ignore"):
            want = np.float_power(a, b)
        got = ng.float_power(*(ng.array(v) if isinstance(v, np.ndarray) else v for v in (a, b)))
        agree(got, want, 1e-12)
    with pytest.raises(TypeError, match="float_power: .*dtype is float32; needs"):
        ng.float_power(ng.ones(2), 2, dtype="float32")


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod", "cumulative_sum", "cumulative_prod"])
def test_out_says_the_dtype_of_sums(rng, name):
    for source, to in itertools.product(["bool", "int8", "uint32", "int64", "float16", "float64"], repeat=2):
        a = rng.integers(0, 3, 7).astype(source)
        out = np.zeros(() if name in ("sum", "prod") else 7, to)
        ours, theirs = ng.array(out), out.copy()
        got = outcome(lambda a=a, o=ours: getattr(ng, name)(ng.array(a), out=o))
        getattr(np, name)(a, out=theirs)
        assert got is ours
        agree(ours, theirs)


def test_copies_lie_as_asked(rng):
    a = rng.standard_normal((3, 4, 5))
    for host, order in itertools.product([a, a.T, a.transpose(1, 0, 2), a[::2, ::-1]], "CFAK"):
        x = ng.array(a)
        x = {0: x, 1: x.T, 2: x.transpose(1, 0, 2), 3: x[::2, ::-1]}[
            [a.shape, a.T.shape, (4, 3, 5), (2, 4, 5)].index(host.shape)
        ]
        made, want = x.copy(order), host.copy(order)
        assert made.strides == want.strides and np.array_equal(made.get(), want)
    x = ng.array(a)
    assert x.astype("float64", copy=False) is x and x.astype("float64") is not x
    assert x.astype("float32", order="F").flags.f_contiguous
    with pytest.raises(TypeError, match="safe"):
        x.astype("float32", casting="safe")
    with pytest.raises(ValueError, match="order"):
        x.copy("D")


def test_cross(rng):
    for m, n in itertools.product((2, 3), repeat=2):
        a, b = rng.standard_normal((4, m)), rng.standard_normal((n, 4))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            # NumPy 2.5 knows only vectors of three; those of two have 0 there, and the product of two such is a number.
            a3, b3 = np.pad(a, ((0, 0), (0, 3 - m))), np.pad(b, ((0, 3 - n), (0, 0)))
            want = np.cross(a3, b3, axisb=0)[..., 2] if (m, n) == (2, 2) else np.cross(a3, b3, axisb=0, axisc=0)
        agree(ng.cross(ng.array(a), ng.array(b), axisb=0, **({} if (m, n) == (2, 2) else {"axisc": 0})), want, 1e-12)
