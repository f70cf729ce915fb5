"""Columns that the CTAs of a cluster hold in registers: expressions that read memory once; kernels are verified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest


def plan_and_result(expression: Callable[[], ng.GPUTensor]) -> tuple[str, np.ndarray[Any, Any]]:
    """What explain() says, and the elements; as many kernels ran as it said."""
    plan = ng.explain(expression())
    before = ng.launch_count()
    y = expression()
    ng.evaluate(y)
    assert ng.launch_count() - before == plan.count("kernel ")
    return plan, y.get()


def in_one_kernel(plan: str, shape: tuple[int, ...]) -> bool:
    """Whether tiles do it all, which columns that are too long for a CTA need a cluster for, or else, as they must."""
    clusters = ng.device().arch == "sm_90a"
    return ("fused_tiles" in plan and plan.count("kernel ") == 1) == (clusters or shape[0] < 1024)


# Rows of one CTA, of clusters of 2 to 8, with and without items beyond the end; tiles wider and narrower than a warp.
SHAPES = [(64, 96), (37, 264), (512, 32), (700, 40), (1500, 32), (4096, 32), (4001, 100), (8192, 32), (5, 9000), (9, 8)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_integers_are_exact(shape: tuple[int, int], rng: np.random.Generator) -> None:
    for dtype in ("float32", "int32", "float16", "float64", "int64"):
        if dtype != "float32" and shape not in ((37, 264), (700, 40), (4096, 32)):
            continue
        a = rng.integers(-4, 5, shape).astype(dtype)
        x = ng.array(a)
        plan, y = plan_and_result(lambda x=x: x * 2 - ng.max(x, 0))
        assert in_one_kernel(plan, shape)
        np.testing.assert_array_equal(y, a * 2 - a.max(0))
        # A second pass that needs the first, and a result of columns.
        _, y = plan_and_result(lambda x=x: ng.sum(ng.square(x - ng.max(x, 0, keepdims=True)), 0))
        if dtype != "float16" or shape[0] < 100:
            np.testing.assert_array_equal(y, np.square(a - a.max(0)).sum(0))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_batch_normalisation(shape: tuple[int, int], rng: np.random.Generator) -> None:
    a = (rng.standard_normal(shape) * 3 + 5).astype(np.float32)
    weight, bias = rng.standard_normal((2, shape[1])).astype(np.float32)
    x, w, b = ng.array(a), ng.array(weight), ng.array(bias)
    wide = a.astype(np.float64)
    want = (wide - wide.mean(0)) / np.sqrt(wide.var(0) + 0.001)
    plan, y = plan_and_result(lambda: ng.reciprocal(ng.sqrt(ng.var(x, 0) + 0.001)) * (x - ng.mean(x, 0)))
    assert in_one_kernel(plan, shape)
    np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-5)
    # A quotient by what columns have, their own factors, and in place.
    before = ng.launch_count()
    x[:] = (x - ng.mean(x, 0)) / ng.sqrt(ng.var(x, 0) + 0.001) * w + b
    assert ng.launch_count() == before + 1 or plan.count("kernel ") > 1
    np.testing.assert_allclose(x.get(), want * weight + bias, rtol=1e-4, atol=3e-5)


@pytest.mark.skipif(ng.device().kind != "cuda", reason="needs many clusters side by side")
def test_many_clusters(rng: np.random.Generator) -> None:
    a = rng.integers(-4, 5, (4096, 8192)).astype(np.float32)
    x = ng.array(a)
    want = a * 2 - a.max(0) + np.square(a - a.max(0)).sum(0)
    for _ in range(20):
        y = (x * 2 - ng.max(x, 0) + ng.sum(ng.square(x - ng.max(x, 0)), 0)).get()
        np.testing.assert_array_equal(y, want)


def test_functions_are_kept(rng: np.random.Generator) -> None:
    a = rng.standard_normal((300, 40)).astype(np.float32)
    plan, y = plan_and_result(lambda: ng.softmax(ng.array(a), 0))
    assert plan.count("kernel ") == 1
    e = np.exp(a.astype(np.float64) - a.max(0))
    np.testing.assert_allclose(y, e / e.sum(0), rtol=3e-6)


def test_more_sums_than_shared_memory_holds(rng: np.random.Generator) -> None:
    a = rng.integers(0, 100, (60, 4096)).astype(np.float32)  # 72 KiB, with tiles as wide as sm_52's
    x = ng.array(a)
    y, want = x, a
    for k in range(16):
        y, want = y + ng.max(x * (k - 6), 0), want + (a * (k - 6)).max(0)
    np.testing.assert_array_equal(y.get(), want)


def test_special_values() -> None:
    a = np.ones((70, 16), np.float32)
    a[69, 0], a[3, 1], a[68, 2], a[5, 3] = np.nan, np.inf, -np.inf, -0.0
    y = (ng.array(a) - ng.max(ng.array(a), 0)).get()
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(y, a - a.max(0))
    sums = (ng.array(a) * 0 + ng.sum(ng.array(a), 0)).get()
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(sums, a * 0 + a.sum(0))


def test_views_and_axes(rng: np.random.Generator) -> None:
    a = rng.integers(-4, 5, (6, 100, 48)).astype(np.float32)
    x = ng.array(a)
    np.testing.assert_array_equal((x - ng.sum(x, 1, keepdims=True)).get(), a - a.sum(1, keepdims=True))
    for key in ((slice(None), slice(None), slice(1, None)), (slice(None), slice(None, None, 3)), (slice(1, 4),)):
        v, b = x[key], a[key]
        np.testing.assert_array_equal((v - ng.max(v, 1, keepdims=True)).get(), b - b.max(1, keepdims=True))
    other = rng.integers(-4, 5, (100, 48)).astype(np.float32)  # a second operand, held too
    y = (x[0] - ng.max(x[0] * ng.array(other), 0) + ng.array(other)).get()
    np.testing.assert_array_equal(y, a[0] - (a[0] * other).max(0) + other)
    row = rng.integers(-4, 5, (100, 1)).astype(np.float32)  # the same for all columns
    y = (x[0] * ng.array(row) - ng.max(x[0] + ng.array(row), 0)).get()
    np.testing.assert_array_equal(y, a[0] * row - (a[0] + row).max(0))


def test_long_columns_take_one_reduction_after_the_other(rng: np.random.Generator) -> None:
    a = rng.integers(-4, 5, (20000, 16)).astype(np.float32)
    x = ng.array(a)
    plan, y = plan_and_result(lambda: x * 2 - ng.max(x, 0))
    assert "fused_tiles" not in plan and "fused_rows" not in plan.splitlines()[0]
    np.testing.assert_array_equal(y, a * 2 - a.max(0))
