"""Products of float64, int32 and int64 by kernels of their own, beside NumPy: to the bit where sums are exact."""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import numpy as np
import pytest

Array = np.ndarray[Any, Any]
DTYPES = ["float64", "int32", "int64"]
TILES = {
    "float64": ["128x128", "128x64", "64x32", "64x64", "16x32"],
    "int64": ["64x64", "16x32"],
    "int32": ["128x128", "64x64", "16x32"],
}


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Integers of the whole range of the dtype; float64 ones so small that sums are exact."""
    if dtype == "float64":
        return rng.integers(-1000, 1001, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def drawn(rng: np.random.Generator, rows: int, columns: int, dtype: str) -> tuple[Array, ng.GPUTensor]:
    """A matrix on the host and the same view on the device: plain, transposed, in wider rows, or of any strides."""
    kind = rng.integers(5)
    if kind == 1:
        host = draw(rng, (columns, rows), dtype)
        return host.T, ng.array(host).T
    if kind == 2:
        host = draw(rng, (rows, columns + 3), dtype)
        return host[:, 1 : columns + 1], ng.array(host)[:, 1 : columns + 1]
    if kind == 3:
        host = draw(rng, (2 * rows, 3 * columns), dtype)
        return host[::2, ::3], ng.array(host)[::2, ::3]
    host = draw(rng, (rows, columns), dtype)
    return host, ng.array(host)


def tiles_here(dtype: str) -> list[str]:
    """Those of this device's architecture."""
    a = ng.zeros((2, 2), dtype)
    found = []
    for tile in TILES[dtype]:
        try:
            ng.dot(a, a, tile=tile)
            found.append(tile)
        except ValueError as e:
            assert "no kernel with tile" in str(e), e
    return found


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_products(rng: np.random.Generator, dtype: str) -> None:
    """334 of each dtype; every tenth crosses the tiles of all kernels."""
    for i in range(334):
        most = 150 if i % 10 == 0 else 24
        m, n, k = (int(x) for x in rng.integers(1, most, 3))
        a, da = drawn(rng, m, k, dtype)
        b, db = drawn(rng, k, n, dtype)
        with np.errstate(over="ignore"):
            want = a @ b
        got = da @ db
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.get(), want, f"{m} x {n} x {k}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_tile(rng: np.random.Generator, dtype: str) -> None:
    """Operands of even rows (pairs of elements a copy) and of odd ones, in all four layouts."""
    tiles = tiles_here(dtype)
    assert "16x32" in tiles
    for tile in tiles:
        for i, (m, n, k) in enumerate([(134, 130, 36), (131, 67, 45), (1, 70, 18), (66, 1, 17)]):
            for ta, tb in [(False, False), (True, False), (False, True), (True, True)]:
                a, b = draw(rng, (k, m) if ta else (m, k), dtype), draw(rng, (n, k) if tb else (k, n), dtype)
                da, db = ng.array(a), ng.array(b)
                a, da = (a.T, da.T) if ta else (a, da)
                b, db = (b.T, db.T) if tb else (b, db)
                old = draw(rng, (m, n), dtype)
                beta = 0 if i % 2 else -2
                with np.errstate(over="ignore"):
                    want = 3 * (a @ b) + beta * old
                out = ng.array(old)
                ng.dot(da, db, out, alpha=3, beta=beta, tile=tile)
                np.testing.assert_array_equal(out.get(), want, f"{tile} {m} x {n} x {k} {ta} {tb}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_batches(rng: np.random.Generator, dtype: str) -> None:
    for first, second in [((3, 17, 9), (3, 9, 5)), ((2, 1, 4, 6), (3, 6, 7)), ((5, 3, 4), (4, 33)), ((4,), (2, 4, 3))]:
        a, b = draw(rng, first, dtype), draw(rng, second, dtype)
        with np.errstate(over="ignore"):
            want = a @ b
        np.testing.assert_array_equal((ng.array(a) @ ng.array(b)).get(), want)
        np.testing.assert_array_equal(ng.matmul(ng.array(a), ng.array(b)).get(), want)
    a, b = draw(rng, (6, 20, 9), dtype), draw(rng, (6, 9, 34), dtype)
    got = ng.batched_dot(ng.array(a), ng.array(b))
    assert got.dtype == dtype
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got.get(), a @ b)
        pairs = [(a[0], b[0]), (a[1][:3], b[2]), (a[3], b[3][:, ::-1])]
        for product, (x, y) in zip(ng.grouped_dot([(ng.array(x), ng.array(y)) for x, y in pairs]), pairs, strict=True):
            np.testing.assert_array_equal(product.get(), x @ y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_they_are_kernels_of_products(rng: np.random.Generator, dtype: str) -> None:
    """None of expressions is launched, and the plan of the same operands names the kernel."""
    word = {"float64": ("dgemm", "gemm64"), "int64": ("gemm64",), "int32": ("gemm_",)}[dtype]
    a, b = ng.array(draw(rng, (64, 48), dtype)), ng.array(draw(rng, (48, 32), dtype))
    assert ng.GemmPlan(a, b, ng.zeros((64, 32), dtype)).kernel.startswith(word)
    if dtype == "int32":
        plan = ng.explain(ng.maximum(a @ b, 0))
        assert "kernel gemm_nn_s32" in plan
        return
    before = ng.launch_count()
    (a @ b).get()
    assert ng.launch_count() == before


def test_infinities_and_nan_stay_in_their_rows_and_columns(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((70, 41)), rng.standard_normal((41, 39))
    a[3, 40], a[69, 0], a[5, 7] = np.nan, np.inf, -np.inf
    b[40, 38], b[0, 2] = np.inf, np.nan
    b[7, 4] = 0.0  # times infinity
    with np.errstate(invalid="ignore"):
        want = a @ b
        size = np.abs(a) @ np.abs(b)
    finite = np.isfinite(want)
    for tile in tiles_here("float64"):
        got = ng.dot(ng.array(a), ng.array(b), tile=tile).get()
        assert (np.isnan(got) == np.isnan(want)).all() and (np.isinf(got) == np.isinf(want)).all(), tile
        assert (np.sign(got[~finite]) == np.sign(want[~finite]))[~np.isnan(want[~finite])].all()
        error = np.abs(got[finite] - want[finite])
        assert (error <= 2 * 41 * 2.0**-53 * size[finite]).all(), tile


def test_every_kernel_has_the_same_bits(rng: np.random.Generator) -> None:
    """One chain of multiply-adds an element, on the tensor cores too."""
    a, b = rng.standard_normal((61, 133)), rng.standard_normal((133, 37))
    first = ng.dot(ng.array(a), ng.array(b), tile="16x32").get()
    exact = (a.astype(np.longdouble)[:, :, None] * b).sum(1)
    assert (np.abs(first - exact) <= 133 * 2.0**-53 * (np.abs(a) @ np.abs(b))).all()
    for tile in tiles_here("float64"):
        for x, y in [(ng.array(a), ng.array(b)), (ng.array(a.T.copy()).T, ng.array(b.T.copy()).T)]:
            assert ng.dot(x, y, tile=tile).get().tobytes() == first.tobytes(), tile


@pytest.mark.parametrize("dtype", DTYPES)
def test_empty_sums(dtype: str) -> None:
    assert not (ng.zeros((3, 0), dtype) @ ng.zeros((0, 4), dtype)).get().any()
    out = ng.array(np.full((3, 4), 5, dtype))
    ng.dot(ng.zeros((3, 0), dtype), ng.zeros((0, 4), dtype), out, beta=2)
    np.testing.assert_array_equal(out.get(), np.full((3, 4), 10, dtype))
    assert (ng.zeros((0, 3), dtype) @ ng.zeros((3, 4), dtype)).shape == (0, 4)


def test_refusals() -> None:
    a = ng.ones((4, 4), np.float64)
    batch = ng.ones((2, 4, 4), np.float64)
    needs = "needs a number that float32 holds for float64 operands"
    cases = [
        (f"dot: alpha is 0.1; {needs}", lambda: ng.dot(a, a, alpha=0.1)),
        (f"dot: beta is 1.0000000001; {needs}", lambda: ng.dot(a, a, a.copy(), beta=1.0000000001)),
        (f"batched_dot: alpha is 0.1; {needs}", lambda: ng.batched_dot(batch, batch, alpha=0.1)),
        (f"grouped_dot: alpha is 0.1; {needs}", lambda: ng.grouped_dot([(a, a)], alpha=0.1)),
        (
            "gemm: bias is given for a product of float64 operands; needs none",
            lambda: ng.dot(a, a, bias=ng.ones(4, np.float64)),
        ),
        (
            "gemm: splits is above 1 for a product of float64 operands; needs 0 or 1",
            lambda: ng.dot(a, a, splits=3),
        ),
        (
            "gemm: alpha is 0.500000; an int64 result needs an integer of 32 bits",
            lambda: ng.dot(ng.ones((4, 4), np.int64), ng.ones((4, 4), np.int64), alpha=0.5),
        ),
    ]
    for text, call in cases:
        with pytest.raises(ValueError) as caught:
            call()
        assert str(caught.value) == text
