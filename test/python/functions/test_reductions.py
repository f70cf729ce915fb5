"""Reductions beside NumPy, and what fuses with them; each kernel is verified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest

SHAPES = [(5, 7), (64, 256), (33, 1000), (3, 8192), (2, 40000), (1, 3), (7, 1), (3, 4, 50), (300, 32), (6,), ()]
EXACT = ["int8", "int32", "int64", "uint16", "uint64", "bool"]


def axes_of(shape: tuple[int, ...]) -> list[Any]:
    out: list[Any] = [None, *range(len(shape))]
    return [*out, (0, 1), (0, 2), (1, 2)] if len(shape) == 3 else out


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_integers_are_exact(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    for dtype in EXACT:
        high = 2 if dtype == "bool" else 100
        a = rng.integers(0 if dtype[0] in "ub" else -100, high, shape).astype(dtype)
        for axis in axes_of(shape):
            for name, numpy in (("sum", np.sum), ("max", np.max), ("min", np.min)):
                got, want = getattr(ng, name)(ng.array(a), axis).get(), np.asarray(numpy(a, axis))
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_floats(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> None:
    # Integers whose sums are exact in any order, then any numbers within the bound of a pairwise sum.
    a = np.asarray(rng.integers(-8, 9, shape).astype(dtype))
    b = np.asarray(rng.standard_normal(shape).astype(dtype))
    for axis in axes_of(shape):
        for keepdims in (False, True):
            if dtype != "float16" or a.size < 1000:
                np.testing.assert_array_equal(
                    ng.sum(ng.array(a), axis, keepdims=keepdims).get(), np.sum(a, axis, keepdims=keepdims)
                )
            for name, numpy in (("max", np.max), ("min", np.min)):
                got = getattr(ng, name)(ng.array(b), axis, keepdims=keepdims).get()
                np.testing.assert_array_equal(got, numpy(b, axis, keepdims=keepdims))
        exact = b.astype(np.float64)
        eps = float(np.finfo(dtype).eps)
        bound = 64 * max(eps, 1e-16) * np.sum(np.abs(exact), axis) + eps
        assert np.all(np.abs(ng.sum(ng.array(b), axis).get() - np.sum(exact, axis)) <= bound)
        for name, reference in (("mean", np.mean), ("var", np.var), ("std", np.std)):
            got, want = getattr(ng, name)(ng.array(b), axis).get(), reference(exact, axis)
            assert got.dtype == np.dtype(dtype)
            assert np.all(np.abs(got - want) <= 32 * eps * (1 + np.abs(want)))


def test_nan_and_infinity() -> None:
    a = np.ones((4, 300), np.float32)
    a[0, 17], a[1, 250], a[2, 0], a[3, 299] = np.nan, np.inf, -np.inf, -5
    for dtype in (np.float32, np.float64):
        x = ng.array(a.astype(dtype))
        np.testing.assert_array_equal(ng.max(x, 1).get(), np.max(a, 1))
        np.testing.assert_array_equal(ng.min(x, 1).get(), np.min(a, 1))
        np.testing.assert_array_equal(ng.sum(x, 1).get(), np.sum(a, 1))


def one_kernel(run: Callable[[], Any]) -> Any:
    before = ng.launch_count()
    out = run()
    assert ng.launch_count() == before + 1
    return out


@pytest.mark.parametrize("columns", [20, 128, 1000, 1001, 8192, 50000])
def test_rows_fuse(columns: int, rng: np.random.Generator) -> None:
    a = rng.standard_normal((9, columns)).astype(np.float32)
    x = ng.array(a)
    w = a.astype(np.float64)
    mean, var = ng.mean(x, 1, keepdims=True), ng.var(x, 1, keepdims=True)
    y = one_kernel(lambda: (ng.reciprocal(ng.sqrt(var + 0.001)) * (x - mean)).get())
    centred = w - w.mean(1, keepdims=True)
    np.testing.assert_allclose(y, centred / np.sqrt(w.var(1, keepdims=True) + 0.001), rtol=1e-4, atol=1e-5)
    y = one_kernel(lambda: ng.mean(ng.square(x - ng.mean(x, 1, keepdims=True)), 1).get())
    np.testing.assert_allclose(y, w.var(1), rtol=1e-5)
    y = one_kernel(lambda: ng.softmax(x).get())
    e = np.exp(w - w.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=3e-6)
    bias = ng.array(a[:, 0].copy())
    total = ng.sum(x, 1) * 2 + bias  # shapes without the axis
    y = total.get() if columns > 32768 else one_kernel(total.get)  # few long rows: pieces, then their sums
    np.testing.assert_allclose(y, w.sum(1) * 2 + w[:, 0], rtol=1e-4, atol=1e-3)


def test_rows_in_place_and_views(rng: np.random.Generator) -> None:
    a = rng.integers(-4, 5, (8, 6, 40)).astype(np.float32)
    x = ng.array(a)
    x[:] = x - ng.max(x, 2, keepdims=True)
    a -= a.max(2, keepdims=True)
    np.testing.assert_array_equal(x.get(), a)
    x[::2, :, 1::3] -= ng.sum(x[::2, :, 1::3], 2, keepdims=True)
    b = a[::2, :, 1::3]
    a[::2, :, 1::3] = b - b.sum(2, keepdims=True)
    np.testing.assert_array_equal(x.get(), a)
    np.testing.assert_array_equal(ng.sum(x.T, 0).get(), a.T.sum(0))
    np.testing.assert_array_equal(ng.sum(x[:, ::-1], (0, 2)).get(), a[:, ::-1].sum((0, 2)))
    assert x.get().shape == (8, 6, 40)


def test_reductions_that_cannot_share_rows(rng: np.random.Generator) -> None:
    a = rng.integers(-4, 5, (12, 12)).astype(np.float32)
    x = ng.array(a)
    np.testing.assert_array_equal((x - ng.sum(x, 1)).get(), a - a.sum(1))  # a row against columns
    np.testing.assert_array_equal((x - ng.sum(x, 0)).get(), a - a.sum(0))
    both = ng.sum(x, 0, keepdims=True) + ng.sum(x, 1, keepdims=True)
    np.testing.assert_array_equal(both.get(), a.sum(0, keepdims=True) + a.sum(1, keepdims=True))
    np.testing.assert_array_equal(ng.sum(ng.max(x, 1)).get(), a.max(1).sum())
    np.testing.assert_array_equal((ng.sum(x) + ng.max(x, 0)).get(), a.sum() + a.max(0))


def test_nothing() -> None:
    x = ng.array(np.zeros((3, 0), np.float32))
    np.testing.assert_array_equal(ng.sum(x, 1).get(), np.zeros(3))
    assert ng.sum(x, 0).get().shape == (0,)
    assert np.isnan(ng.mean(x, 1).get()).all()
    with pytest.raises(ValueError, match="max: of no elements"):
        ng.max(x, 1)
    with pytest.raises(ValueError, match="sum: axis 2 is out of range"):
        ng.sum(x, 2)
    with pytest.raises(ValueError, match="axis -1 is named twice"):
        ng.sum(x, (1, -1))


def kernels_of(x: ng.GPUTensor) -> list[str]:
    return [line.split()[1].rstrip(":") for line in ng.explain(x).splitlines()]


@pytest.mark.parametrize("dtype", ["float32", "int32", "float16", "float64", "int8"])
def test_columns_are_read_side_by_side(dtype: str, rng: np.random.Generator) -> None:
    for shape, axis in (((37, 64), 0), ((5, 130, 24), 1), ((130, 17), 0), ((3, 4, 5, 16), (0, 1, 2)), ((41, 9), 0)):
        a = rng.integers(-8, 9, shape).astype(dtype)
        x = ng.array(a)
        assert kernels_of(ng.sum(x, axis)) == ["fused_columns"]
        np.testing.assert_array_equal(ng.sum(x, axis).get(), a.sum(axis))
        np.testing.assert_array_equal(ng.max(x, axis, keepdims=True).get(), a.max(axis, keepdims=True))
        row = ng.array(a.astype(dtype)[(0,) * (a.ndim - 1)])
        np.testing.assert_array_equal((ng.sum(x, axis) + row).get(), a.sum(axis) + row.get())
        np.testing.assert_array_equal(ng.sum(x[..., ::-1], axis).get(), a[..., ::-1].sum(axis))
    b = rng.integers(-8, 9, (50, 40)).astype(np.float32)
    y = ng.array(b)
    np.testing.assert_array_equal(ng.sum(y * y - y[:, :1], 0).get(), (b * b - b[:, :1]).sum(0))
    np.testing.assert_array_equal(ng.sum(y[:, 1:30], 0).get(), b[:, 1:30].sum(0))


@pytest.mark.parametrize("count", [65536, 100001, 1 << 20, (1 << 20) + 13])
def test_long_rows_in_pieces(count: int, rng: np.random.Generator) -> None:
    a = rng.integers(-8, 9, count).astype(np.float32)
    x = ng.array(a)
    if count > 1000000:
        assert len(kernels_of(ng.sum(x))) >= 2
    for name, numpy in (("sum", np.sum), ("max", np.max), ("min", np.min)):
        got = getattr(ng, name)(x * 2, keepdims=True).get()
        np.testing.assert_array_equal(got, numpy(a * 2, keepdims=True))
    np.testing.assert_allclose(ng.var(x).get(), a.var(), rtol=1e-5)
    half = ng.array(a.astype(np.float16))
    np.testing.assert_array_equal(ng.sum(half).get(), a.sum().astype(np.float16))
    np.testing.assert_array_equal((x - ng.max(x)).get(), a - a.max())
    tall = a[: count // 16 * 16].reshape(-1, 16)
    y = ng.array(tall)
    np.testing.assert_array_equal(ng.sum(y, 0).get(), tall.sum(0))
    np.testing.assert_array_equal(ng.sum(y[:, ::2], 0, keepdims=True).get(), tall[:, ::2].sum(0, keepdims=True))
    np.testing.assert_array_equal(ng.sum(y[::-1], (0, 1)).get(), tall.sum())
    out = ng.zeros((3, 16))
    ng.sum(y, 0, out=out[1])
    np.testing.assert_array_equal(out.get()[1], tall.sum(0))


def test_assigned_to_more_elements_than_there_are(rng):
    """The result of a reduction is repeated as any other value is."""
    a = rng.integers(-9, 9, (5, 7)).astype(np.float32)
    x = ng.array(a)
    for value, want in (
        (lambda: ng.sum(x, 1, keepdims=True), a.sum(1, keepdims=True)),
        (lambda: ng.max(x, 0, keepdims=True) * 2, a.max(0, keepdims=True) * 2),
        (lambda: ng.sum(x, 0), a.sum(0)),
        (lambda: ng.sum(x), a.sum()),
    ):
        for shape in ((5, 7), (3, 5, 7)):
            out = ng.full(shape, -1.0)
            out[:] = value()
            np.testing.assert_array_equal(out.get(), np.broadcast_to(want, shape))
            out[..., ::-1] = value()
            np.testing.assert_array_equal(out.get(), np.broadcast_to(want, shape)[..., ::-1])


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("shape", [(300, 4100), (70, 8192), (130, 6000), (9, 5001), (3, 16384), (5, 2, 4608)])
def test_rows_that_ask_for_others(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> None:
    """Kernels of long rows ask for rows that other CTAs will take, down to the last one and for views."""
    a = rng.standard_normal(shape).astype(dtype)
    wide = ng.array(np.concatenate([a, a], 0))
    for x, host in ((ng.array(a), a), (wide[1::2], np.concatenate([a, a], 0)[1::2]), (ng.array(a)[::-1], a[::-1])):
        h = host.astype(np.float64)
        centred = h - h.mean(-1, keepdims=True)
        got = (x - ng.mean(x, -1, keepdims=True)).get()
        np.testing.assert_allclose(got, centred, atol={"float16": 4e-3, "float32": 2e-6, "float64": 1e-14}[dtype])
        e = np.exp(h - h.max(-1, keepdims=True))
        rtol = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-13}[dtype]
        np.testing.assert_allclose(ng.softmax(x).get(), e / e.sum(-1, keepdims=True), rtol=rtol, atol=1e-6)
