"""Sums and largest magnitudes of a result's rows and columns, which a product writes beside it."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import nervanagpu as ng
import numpy as np
import numpy.typing as npt
import pytest

BF16 = np.dtype(ml_dtypes.bfloat16)
CORES = ng.device().arch == "sm_90a"
TYPES = [np.dtype(np.float32), np.dtype(np.float16), BF16]
NAMES = ("row_sum", "column_sum", "row_max_abs", "column_max_abs")
SHAPES = [(40, 72, 64), (136, 264, 72), (130, 35, 16), (7, 600, 5), (5, 1, 8), (1, 32, 3), (3, 65, 0), (523, 33, 1)]
Array = npt.NDArray[Any]


def vectors(m: int, n: int) -> dict[str, ng.GPUTensor]:
    return {name: ng.array(np.full(m if name[0] == "r" else n, np.nan, np.float32)) for name in NAMES}


def of(c: Array) -> dict[str, Array]:
    """In float64."""
    wide = c.astype(np.float64)
    size = np.abs(wide)
    empty = wide.size == 0
    return {
        "row_sum": wide.sum(1),
        "column_sum": wide.sum(0),
        "row_max_abs": np.zeros(c.shape[0]) if empty else size.max(1),
        "column_max_abs": np.zeros(c.shape[1]) if empty else size.max(0),
    }


def ways(dtype: Any) -> list[dict[str, Any]]:
    return [{}, {"splits": 2}, {"tensor_cores": False}] if CORES and dtype.itemsize == 2 else [{}, {"splits": 2}]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_exact(rng, shape, dtype):
    """Integers, whose sums are exact in any order: of the stored result, after its epilogue, wherever it lies."""
    m, n, k = shape
    a, b = (rng.integers(-3, 4, s).astype(dtype) for s in ((m, k), (k, n)))
    old = rng.integers(-9, 10, (m, n))
    epilogues: list[dict[str, Any]] = [{}, {"relu": True, "beta": 1, "alpha": -1}]
    for out, way, options in itertools.product({np.dtype(np.float32), dtype}, ways(dtype), epilogues):
        whole = ng.array(np.zeros((m, n + 3), out))
        for c in (ng.empty((m, n), out), whole[:, 2 : n + 2], ng.empty((n, m), out).T):
            c[...] = ng.array(old.astype(out))
            sums = vectors(m, n)
            ng.dot(ng.array(a), ng.array(b), c, **sums, **options, **way)
            got = c.get()
            wanted = (
                -(a.astype(np.int64) @ b.astype(np.int64)) + old if options else a.astype(np.int64) @ b.astype(np.int64)
            )
            wanted = np.maximum(wanted, 0) if options else wanted
            assert np.array_equal(got.astype(np.float64), wanted.astype(np.float32).astype(out).astype(np.float64))
            for name, want in of(got).items():
                assert np.array_equal(sums[name].get(), want.astype(np.float32)), (name, out, way, options)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_bound_and_the_same_bits(rng, dtype):
    """Within the bound of a float32 sum in any order; the bits follow from the stored result alone."""
    m, n = 200, 700
    a, b = (rng.standard_normal(s).astype(dtype) for s in ((m, 64), (64, n)))
    first: dict[str, bytes] = {}
    for way, layout in itertools.product([{}, {"splits": 1}, {"tile": "128x128"}], ["view", "whole", "turned"]):
        c = {
            "whole": lambda: ng.empty((m, n), dtype),
            "view": lambda: ng.empty((m, n + 5), dtype)[:, 1 : n + 1],
            "turned": lambda: ng.empty((n, m), dtype).T,
        }[layout]()
        sums = vectors(m, n)
        ng.dot(ng.array(a), ng.array(b), c, **sums, **way)
        got = c.get()
        for name, want in of(got).items():
            axis = 1 if name[0] == "r" else 0
            terms = got.shape[axis]
            bound = terms * 2.0**-24 * np.abs(got.astype(np.float64)).sum(axis) if name.endswith("sum") else 0.0
            value = sums[name].get()
            assert (np.abs(value - want) <= bound).all(), (name, way, layout)
            key = name + got.tobytes().hex()[:64]
            assert first.setdefault(key, value.tobytes()) == value.tobytes(), (name, way, layout)
    only = ng.empty(n)
    ng.dot(ng.array(a), ng.array(b), ng.empty((m, n), dtype), column_sum=only)
    assert only.get().tobytes() in first.values()


def test_special_values():
    """NaN in a row or column is its sum and its largest; infinities of both signs sum up to NaN."""
    c = np.ones((70, 300), np.float32)
    c[3, 7], c[10, 20], c[10, 290], c[40, 299], c[69, 0], c[69, 299] = np.nan, np.inf, -np.inf, -5, -0.0, 2.0**-149
    sums = vectors(70, 300)
    ng.dot(ng.zeros((70, 0)), ng.zeros((0, 300)), ng.array(c), beta=1, **sums)
    with np.errstate(invalid="ignore"):
        want = of(c)
    assert np.array_equal(np.flatnonzero(np.isnan(sums["row_sum"].get())), [3, 10])
    assert np.array_equal(np.flatnonzero(np.isnan(sums["row_max_abs"].get())), [3])
    assert sums["row_max_abs"].get()[10] == np.inf and sums["column_sum"].get()[290] == -np.inf
    for name in NAMES:
        assert np.array_equal(sums[name].get(), want[name].astype(np.float32), equal_nan=True), name


def test_gradient_of_a_layer(rng):
    """dz through relu's bits, and the gradient of its bias, by one product; a plan repeats it."""
    m, n, k = 72, 136, 64
    x, w = (rng.integers(-2, 3, s).astype(np.float16) for s in ((m, k), (k, n)))
    bias = rng.integers(-9, 10, n).astype(np.float16)
    mask = ng.zeros((m, -(-n // 32)), np.uint32)
    y = ng.dot(ng.array(x), ng.array(w), relu=True, bias=ng.array(bias), mask=mask).get()
    dy, w2 = (rng.integers(-2, 3, s).astype(np.float16) for s in ((m, k), (n, k)))
    dz, db = ng.empty((m, n), np.float16), ng.empty((1, n))
    ng.dot(ng.array(dy), ng.array(w2).T, dz, activation="drelu", mask=mask, column_sum=db)
    want = np.where(y > 0, dy.astype(np.int64) @ w2.astype(np.int64).T, 0)
    assert np.array_equal(dz.get(), want) and np.array_equal(db.get()[0], want.sum(0))
    plan = ng.GemmPlan(ng.array(dy), ng.array(w2).T, dz, activation="drelu", mask=mask, column_sum=db)
    assert plan.workspace > 0
    for _ in range(2):
        db[...] = -1
        plan(ng.array(dy), ng.array(w2).T, ng.empty((m, n), np.float16))
        assert np.array_equal(db.get()[0], want.sum(0))


def test_nothing_to_sum_and_batches(rng):
    for m, n in [(0, 5), (5, 0)]:
        sums = vectors(m, n)
        ng.dot(ng.ones((m, 3)), ng.ones((3, n)), ng.empty((m, n)), **sums)
        for name in NAMES:
            assert not sums[name].get().any(), name
    a, b = (rng.integers(-3, 4, s).astype(np.float16) for s in ((3, 40, 64), (3, 64, 72)))
    sums = vectors(40, 72)
    total = ng.empty((40, 72), np.float16)
    ng.batched_dot(ng.array(a), ng.array(b), total, **sums)
    for name, want in of((a.astype(np.float64) @ b.astype(np.float64)).sum(0)).items():
        assert np.array_equal(sums[name].get(), want.astype(np.float32)), name


def test_refusals():
    f, i8, four = ng.ones((4, 4)), ng.ones((4, 4), np.int8), ng.ones(4)
    cases: list[tuple[type[Exception], str, Any]] = [
        (ValueError, r"row_sum has shape \(5,\); needs \(4,\) or \(4, 1\)", lambda: ng.dot(f, f, row_sum=ng.ones(5))),
        (ValueError, "column_max_abs has strides", lambda: ng.dot(f, f, column_max_abs=ng.ones(8)[::2])),
        (ValueError, "column_sum shares memory with out", lambda: ng.dot(f, f, f.copy(), column_sum=f[0])
         if False else ng.dot(ng.ones((4, 4)), ng.ones((4, 4)), f, column_sum=f[0])),
        (ValueError, "row_sum shares memory with column_sum", lambda: ng.dot(f, f, row_sum=four, column_sum=four)),
        (TypeError, "row_max_abs has dtype float16; needs float32",
         lambda: ng.dot(f, f, row_max_abs=ng.ones(4, np.float16))),
        (TypeError, "row_sum is given but c has dtype int32", lambda: ng.dot(i8, i8, row_sum=four)),
        (TypeError, "dot: row_sum is 1; needs GPUTensor", lambda: ng.dot(f, f, row_sum=1)),
        (ValueError, "row_sum is given for a batch",
         lambda: ng.batched_dot(ng.ones((2, 4, 4)), f, row_sum=four)),
    ]  # fmt: skip
    for error, text, call in cases:
        with pytest.raises(error, match=text):
            call()
    assert (four.get() == 1).all()
