"""Operands whose rows begin anywhere, on the tensor cores as they lie (kernels/gemm/tensor_cores/hgemm_rows.h)."""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
import pytest

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")

Half = npt.NDArray[np.float16]
# m, n, k, layout: the long operand has an odd number of columns, the short one lies either way.
CASES = [
    (35, 3001, 1024, "nn"),
    (35, 3001, 1024, "tn"),
    (3001, 35, 1024, "tn"),
    (3001, 35, 1024, "tt"),
    (100, 1003, 1544, "nn"),
    (128, 1002, 1000, "tn"),
    (1001, 72, 1496, "tt"),
]


def put(x: Half, letter: str) -> ng.GPUTensor:
    return ng.array(np.ascontiguousarray(x.T)).T if letter == "t" else ng.array(x)


def integers(shape: tuple[int, ...], seed: int) -> Half:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float16)


def exact(a: Half, b: Half) -> npt.NDArray[np.float64]:
    return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float64)  # integers below 2^24


@pytest.mark.parametrize(("m", "n", "k", "layout"), CASES)
def test_exact_integers(m: int, n: int, k: int, layout: str) -> None:
    a, b, c = integers((m, k), 1), integers((k, n), 2), integers((m, n), 3)
    row, column = integers((n,), 4), integers((m, 1), 5)
    x, y = put(a, layout[0]), put(b, layout[1])
    product = exact(a, b)
    cases: list[tuple[dict[str, Any], npt.NDArray[np.float64]]] = [
        ({"alpha": -2.0}, -2 * product),
        ({"bias": ng.array(row), "relu": True, "splits": 3}, np.maximum(product + row, 0)),
        ({"beta": -3.0, "bias": ng.array(column), "splits": 2}, product - 3 * c + column),
    ]
    for options, want in cases:
        out = ng.array(c)
        ng.dot(x, y, out, **options)
        assert np.array_equal(out.get(), want.astype(np.float16)), options


def normal(shape: tuple[int, ...], seed: int) -> Half:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16)


def test_within_the_bound_and_in_an_order_of_its_own() -> None:
    m, n, k = 35, 3001, 1024
    a, b = normal((m, k), 1), normal((k, n), 2)
    want = a.astype(np.float64) @ b.astype(np.float64)
    scale = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    got = ng.dot(ng.array(a), ng.array(b)).get()
    error = np.abs(got.astype(np.float64) - want)
    assert (error <= k * 2.0**-24 * scale + 2.0**-11 * np.abs(want) + 2.0**-25).all()
    assert np.array_equal(ng.dot(put(a, "t"), ng.array(b)).get(), got)  # how the short one lies does not matter
    wide = ng.array(np.pad(b, ((0, 0), (0, 7))))[:, :n]  # rows of multiples of 16 bytes
    assert not np.array_equal(
        ng.dot(ng.array(a), wide, splits=2).get(), ng.dot(ng.array(a), ng.array(b), splits=2).get()
    )
    # Rows that must not depend on the batch are summed up as everywhere else.
    chain = ng.dot(ng.array(a), ng.array(b), tensor_cores=False, splits=1).get()
    assert np.array_equal(ng.dot(ng.array(a), ng.array(b), batch_invariant=True).get(), chain)


@pytest.mark.parametrize("left", [1, 3, 8])
def test_views_among_nan(left: int) -> None:
    m, n, k = 64, 3001, 512
    a, b = integers((m, k), 1), integers((k, n), 2)
    wide = np.full((k, n + left + 3), np.nan, np.float16)
    wide[:, left : left + n] = b
    whole = np.full((m + 2, n + 20), 7.0, np.float16)
    row = integers((n,), 3)
    product = exact(a, b)
    cases: list[tuple[dict[str, Any], npt.NDArray[np.float64]]] = [
        ({}, product),
        ({"bias": ng.array(row)}, product + row),
        ({"beta": 2.0}, product + 14),
    ]
    for options, want in cases:
        memory = ng.array(whole)
        out = memory[1 : m + 1, 5 : n + 5]
        ng.dot(ng.array(a), ng.array(wide)[:, left : left + n], out, **options)
        got = memory.get()
        assert np.array_equal(got[1 : m + 1, 5 : n + 5], want.astype(np.float16))
        got[1 : m + 1, 5 : n + 5] = 7
        assert (got == 7).all()


def test_special_values_stay_in_their_column() -> None:
    m, n, k = 60, 3003, 520
    a, b = normal((m, k), 1), normal((k, n), 2)
    b[100, 55], b[101, 56], b[102, 57], b[519, n - 1], b[0, 0] = np.nan, np.inf, -np.inf, np.inf, np.nan
    got = ng.dot(ng.array(a), ng.array(b)).get()
    odd = {55, 56, 57, n - 1, 0}
    assert np.array_equal(np.isfinite(got).all(axis=0), [j not in odd for j in range(n)])
    assert not np.isfinite(got[:, sorted(odd)]).any()
    assert np.isnan(got[:, [0, 55]]).all()
    assert np.array_equal(got[:, 56], np.where(a[:, 101] > 0, np.inf, -np.inf).astype(np.float16))


def test_bfloat16() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    m, n, k = 35, 3001, 1024
    a, b = integers((m, k), 1), integers((k, n), 2)
    x = ng.array(a.astype(ml_dtypes.bfloat16))
    y = ng.array(b.astype(ml_dtypes.bfloat16))
    got = ng.dot(x, y, relu=True).get()
    assert np.array_equal(got, np.maximum(exact(a, b), 0).astype(np.float32).astype(ml_dtypes.bfloat16))
