"""Products whose B stays in shared memory (hgemm_resident.sass): bits, tiles in turn, batches, what it refuses."""

from __future__ import annotations

import itertools

import nervanagpu as ng
import numpy as np
import pytest

# Name, columns and blocks of 64 of k.
TILES = [("64x64r16", 64, 16), ("64x96r9", 96, 9), ("64x128r9", 128, 9), ("64x160r8", 160, 8)]
TILES += [("64x192r6", 192, 6), ("64x256r4", 256, 4)]
TRANSPOSED_ONLY = ("64x96r9", "64x160r8")  # of b: blocks of contiguous columns are 64 wide

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")


def cases() -> list[tuple[str, int, int, bool]]:
    out = []
    for (tile, columns, blocks), transposed in itertools.product(TILES, (False, True)):
        if transposed or tile not in TRANSPOSED_ONLY:
            out.append((tile, columns, blocks, transposed))
    return out


def put(b: np.ndarray, transposed: bool, dtype: str) -> ng.GPUTensor:
    x = ng.array(np.ascontiguousarray(b.T) if transposed else b).astype(dtype)
    return x.T if transposed else x


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("tile", "columns", "blocks", "transposed"), cases())
def test_bits_of_the_other_tiles(tile: str, columns: int, blocks: int, transposed: bool, dtype: str) -> None:
    """One block and all that fit, one tile and several a CTA, columns beside C, every kind of epilogue."""
    rng = np.random.default_rng(columns)
    for m, n, k in ((1, 8, 8), (70, columns + 8, 64 * blocks), (64 * 270 + 3, min(columns, 72), 40)):
        a = ng.array(rng.standard_normal((m, k)).astype(np.float32)).astype(dtype)
        b = put(rng.standard_normal((k, n)).astype(np.float32), transposed, dtype)
        c = ng.array(rng.standard_normal((m, n)).astype(np.float32)).astype(dtype)
        bias = ng.array(rng.standard_normal(n).astype(np.float32))
        for options in ({}, {"bias": bias, "relu": True}, {"beta": 0.5, "alpha": -2.0}, {"activation": "silu"}):
            got, want = (
                ng.dot(a, b, c.copy(), tile=t, splits=1, **options).astype("float32").get() for t in (tile, "128x64")
            )
            assert np.array_equal(got, want), (m, n, k, options)


@pytest.mark.parametrize(("tile", "columns", "blocks", "transposed"), cases())
def test_exact_integers(tile: str, columns: int, blocks: int, transposed: bool) -> None:
    rng = np.random.default_rng(blocks)
    m, n, k = 333, 2 * columns - 8, 64 * blocks - 16
    a, b = rng.integers(-3, 4, (m, k)), rng.integers(-3, 4, (k, n))
    got = ng.dot(ng.array(a.astype(np.float16)), put(b, transposed, "float16"), tile=tile, splits=1).get()
    assert np.array_equal(got, (a @ b).astype(np.float16))


@pytest.mark.parametrize("transposed", [False, True])
def test_a_batch_of_one_b(transposed: bool) -> None:
    """Rows of tiles of several matrices, more than there are CTAs; neighbours of a matrix's end are another's rows."""
    rng = np.random.default_rng(7)
    batch, m, n, k = 5, 64 * 60 + 5, 136, 72
    a, b = rng.integers(-3, 4, (batch, m, k)), rng.integers(-3, 4, (k, n))
    one = ng.broadcast_to(put(b, transposed, "float16")[None], (batch, k, n))
    out = ng.empty((batch, m, n), np.float16)
    got = ng.batched_dot(ng.array(a.astype(np.float16)), one, out, tile="64x128r9").get()
    assert np.array_equal(got, (a @ b).astype(np.float16))


def test_the_bits_of_a_relu() -> None:
    rng = np.random.default_rng(3)
    m, n, k = 64 * 140, 96, 128
    a, b = (ng.array(rng.standard_normal(s).astype(np.float16)) for s in ((m, k), (k, n)))
    masks = [ng.zeros((m, n // 32), np.uint32) for _ in range(2)]
    results = [
        ng.dot(a, b, tile=t, splits=1, relu=True, mask=x).get()
        for t, x in zip(("64x128r9", "128x64"), masks, strict=True)
    ]
    assert np.array_equal(*results)
    assert np.array_equal(masks[0].get(), masks[1].get())
    assert masks[0].get().any()


def test_special_values_stay_in_their_rows_and_columns() -> None:
    m, n, k = 64 * 133, 128, 200
    a, b = np.ones((m, k), np.float16), np.ones((k, n), np.float16)
    a[64 * 132 + 1, 199], a[7, 3], b[130, 5] = np.nan, np.inf, -np.inf
    got = ng.dot(ng.array(a), ng.array(b), tile="64x128r9", splits=1).get()
    with np.errstate(invalid="ignore"):
        want = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)
    assert np.array_equal(got, want, equal_nan=True)


@pytest.mark.parametrize(
    ("m", "n", "k", "tile", "options"),
    [
        (64, 64, 1032, "64x64r16", {}),  # a block more than there is room for
        (64, 64, 512, "64x64r16", {"splits": 2}),
        (64, 96, 64, "64x96r9", {}),  # columns of b that are contiguous
    ],
)
def test_refuses(m: int, n: int, k: int, tile: str, options: dict[str, int]) -> None:
    a, b = ng.ones((m, k), np.float16), ng.ones((k, n), np.float16)
    with pytest.raises(ValueError, match=f"no kernel with tile {tile}"):
        ng.dot(a, b, tile=tile, **{"splits": 1, **options})


def test_transposed_a_and_wide_results_are_others() -> None:
    a, b = ng.ones((64, 64), np.float16), ng.ones((64, 64), np.float16)
    with pytest.raises(ValueError, match="no kernel with tile"):
        ng.dot(a.T, b, tile="64x64r16", splits=1)
    with pytest.raises(ValueError, match="no kernel with tile"):
        ng.dot(a, b, ng.empty((64, 64), np.float32), tile="64x64r16", splits=1)


def test_it_is_chosen_for_tall_products() -> None:
    """Of few columns and a short k; of a long k or a square product others are."""
    kernels = {
        (m, n, k): ng.GemmPlan(*(ng.empty(s, np.float16) for s in ((m, k), (k, n), (m, n)))).kernel
        for m, n, k in ((25088, 128, 512), (100352, 64, 192), (25088, 128, 4096), (4096, 4096, 4096))
    }
    assert ["resident" in kernel for kernel in kernels.values()] == [True, True, False, False], kernels
