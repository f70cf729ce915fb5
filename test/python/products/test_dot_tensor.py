"""Products on the tensor cores (hgemm.sass, hgemm_cluster.sass): every type, layout, tile and epilogue."""

from __future__ import annotations

import itertools
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
import pytest

F16 = npt.NDArray[np.float16]
# m, n, k; rows of A and B begin at multiples of 16 bytes in the layouts that `aligned` lets through.
SHAPES = [(8, 8, 8), (128, 64, 64), (64, 136, 72), (200, 264, 200), (33, 72, 128), (1, 8, 8), (7, 1000, 512)]
SHAPES += [(130, 257, 64), (256, 50, 64), (136, 520, 520)]
LAYOUTS = ["nn", "nt", "tn", "tt"]
TILES = ["128x64", "128x128", "128x128x2", "128x192", "128x256"]
# hgemm_cluster.sass: tiles of A's rows, or of B's columns, whose parts of k the CTAs of a cluster multiply.
CLUSTER_TILES = [f"64x{bn}{side}" for bn in (16, 32, 64, 128) for side in "nt"]

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")


def aligned(layout: str, m: int, n: int, k: int) -> bool:
    return (m if layout[0] == "t" else k) % 8 == 0 and (k if layout[1] == "t" else n) % 8 == 0


def put(x: npt.NDArray[Any], letter: str) -> ng.GPUTensor:
    return ng.array(np.ascontiguousarray(x.T)).T if letter == "t" else ng.array(x)


def integers(shape: tuple[int, ...], seed: int) -> F16:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float16)


def normal(shape: tuple[int, ...], seed: int) -> F16:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16)


def exact(a: F16, b: F16) -> npt.NDArray[np.float64]:
    return a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tile", ["", "128x192", "128x128x2", "64x32n", "64x128t"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_exact_integers_in_every_epilogue(shape: tuple[int, int, int], tile: str, layout: str) -> None:
    m, n, k = shape
    a, b, c = integers((m, k), 1), integers((k, n), 2), integers((m, n), 3)
    row, column = integers((n,), 4), integers((m, 1), 5)
    product = exact(a, b)
    cases: list[tuple[dict[str, Any], npt.NDArray[np.float64]]] = [
        ({}, product),
        ({"relu": True}, np.maximum(product, 0)),
        ({"alpha": -2.0}, -2 * product),
        ({"alpha": -1.0, "relu_first": True}, np.maximum(-product, 0)),
        ({"beta": -3.0}, product - 3 * c),
        ({"bias": ng.array(row), "relu": True}, np.maximum(product + row, 0)),
        ({"bias": ng.array(column.astype(np.float32)), "beta": 1.0}, product + c + column),
        ({"beta": 2.0, "relu_first": True}, np.maximum(product, 0) + 2 * c),
        ({"rounding": "stochastic", "seed": 7}, product),
    ]
    if k > 64:
        cases.append(({"splits": 2, "bias": ng.array(row)}, product + row))
    for options, want in cases:
        out = ng.array(c)
        chosen = tile if tile and aligned(layout, m, n, k) else None
        ng.dot(put(a, layout[0]), put(b, layout[1]), out, tile=chosen, **options)
        assert np.array_equal(out.get(), want.astype(np.float16)), options


@pytest.mark.parametrize("layout", LAYOUTS)
def test_warpgroups_in_turns(layout: str) -> None:
    """More tiles than CTAs, so that both warpgroups have several, and parts of k of which the last has fewer blocks."""
    m, n, k = 2600, 1288, 200
    a, b = integers((m, k), 1), integers((k, n), 2)
    c, row = integers((m, n), 3), integers((n,), 4)
    product = exact(a, b)
    x, y = put(a, layout[0]), put(b, layout[1])
    assert np.array_equal(ng.dot(x, y, tile="128x128x2").get(), product.astype(np.float16))
    out = ng.array(c)
    ng.dot(x, y, out, tile="128x128x2", beta=2.0, bias=ng.array(row), relu=True)
    assert np.array_equal(out.get(), np.maximum(product + 2 * c + row, 0).astype(np.float16))
    assert np.array_equal(ng.dot(x, y, tile="128x128x2", splits=3).get(), product.astype(np.float16))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_within_the_bound_and_the_same_bits_from_every_tile(layout: str) -> None:
    m, n, k = 264, 328, 712
    a, b = normal((m, k), 1), normal((k, n), 2)
    x, y = put(a, layout[0]), put(b, layout[1])
    want = exact(a, b)
    scale = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    results = [ng.dot(x, y, tile=tile, splits=s).get() for tile in TILES + CLUSTER_TILES for s in (1, 3)]
    for got in results:
        error = np.abs(got.astype(np.float64) - want)
        assert (error <= k * 2.0**-24 * scale + 2.0**-11 * np.abs(want) + 2.0**-25).all()
    for got in results[2:]:
        assert np.array_equal(got, results[0]) or np.array_equal(got, results[1])
    for tile in range(len(TILES + CLUSTER_TILES)):
        assert np.array_equal(results[2 * tile], results[0])
        assert np.array_equal(results[2 * tile + 1], results[1])


def test_sums_are_those_of_the_tensor_cores() -> None:
    # 1 + 15 times 2^-13: one sum of 16 products keeps what a chain of float32 roundings to float16 would, but a
    # difference of 2^-26 to 1 is cut, while fused multiply-adds in order lose nothing of 2^-12 * 2^-12 alone.
    a = np.zeros((8, 16), np.float16)
    b = np.zeros((16, 8), np.float16)
    a[:, 0], b[0] = 1, 1
    a[:, 1], b[1] = 2.0**-13, 2.0**-13  # 2^-26: below the 25 fractional bits of the sum
    a[:, 2], b[2] = -1, 1
    cores = ng.dot(ng.array(a), ng.array(b), alpha=2.0**26).get()
    assert (cores == 0).all()
    a[:, 1], a[:, 2] = -1, 2.0**-13  # 1 - 1 + 2^-26, in this order for a chain
    b[1], b[2] = 1, 2.0**-13
    assert (ng.dot(ng.array(a), ng.array(b), alpha=2.0**26).get() == 0).all()
    assert (ng.dot(ng.array(a), ng.array(b), alpha=2.0**26, tensor_cores=False).get() == 1).all()


def test_special_values_reach_their_rows_and_columns_only() -> None:
    a, b = normal((72, 136), 1), normal((136, 264), 2)
    a[3, 5], a[7, 135], b[0, 9] = np.nan, np.inf, -np.inf
    got = ng.dot(ng.array(a), ng.array(b)).get()
    want = ng.dot(ng.array(a), ng.array(b), tensor_cores=False).get()
    assert np.isnan(got[3]).all()
    assert np.array_equal(np.isfinite(got), np.isfinite(want))
    assert np.array_equal(np.isnan(got), np.isnan(want))
    finite = np.isfinite(want)
    assert (np.abs(got[finite] - want[finite]) <= 0.05).all()


@pytest.mark.parametrize(("m", "n"), [(24, 40), (17, 41), (128, 100)])
def test_nothing_outside_of_a_view_is_touched(m: int, n: int) -> None:
    k = 72
    a, b = integers((m, k), 1), integers((k, n + 7 - (n + 7) % 8), 2)
    whole = np.full((m + 2, n + 24), 7.0, np.float16)
    for options in ({}, {"bias": ng.array(np.zeros(n, np.float16))}):
        memory = ng.array(whole)
        out = memory[1 : m + 1, 8 : n + 8]
        ng.dot(ng.array(a), ng.array(b)[:, :n], out, **options)
        got = memory.get()
        assert np.array_equal(got[1 : m + 1, 8 : n + 8], exact(a, b[:, :n]).astype(np.float16))
        got[1 : m + 1, 8 : n + 8] = 7
        assert (got == 7).all()


def test_rows_that_are_not_aligned_take_chains_of_multiply_adds() -> None:
    for layout, (m, n, k) in itertools.product(LAYOUTS, [(65, 33, 50), (64, 128, 96)]):
        a, b = normal((m, k), 1), normal((k, n), 2)
        x, y = put(a, layout[0]), put(b, layout[1])
        chain = ng.dot(x, y, tensor_cores=False, splits=1).get()
        both = ng.dot(x, y, splits=1).get()
        assert np.array_equal(both, chain) != aligned(layout, m, n, k)


def test_large_ones_are_copied_to_the_tensor_cores() -> None:
    m, n, k = 300, 600, 1501
    a, b = normal((m, k), 1), normal((k, n), 2)
    wide_a, wide_b = np.zeros((m, 1504), np.float16), np.zeros((1504, n), np.float16)
    wide_a[:, :k], wide_b[:k] = a, b
    for layout in LAYOUTS:
        got = ng.dot(put(a, layout[0]), put(b, layout[1])).get()
        assert np.array_equal(got, ng.dot(put(wide_a, layout[0]), put(wide_b, layout[1])).get()), layout
    want = ng.dot(ng.array(wide_a), ng.array(wide_b)).get()
    chain = ng.dot(ng.array(a), ng.array(b), tensor_cores=False, splits=1).get()
    assert np.array_equal(ng.dot(ng.array(a), ng.array(b), splits=1).get(), chain)
    assert not np.array_equal(want, chain)
    odd = ng.array(np.repeat(a, 2, axis=1))[:, ::2]  # no unit stride at all
    assert np.array_equal(ng.dot(odd, ng.array(b)).get(), want)


@pytest.mark.parametrize("shape", [(64, 136, 72), (33, 72, 1280), (65, 33, 17)], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_float32_out_keeps_the_sums(shape: tuple[int, int, int], layout: str) -> None:
    m, n, k = shape
    a, b = integers((m, k), 1), integers((k, n), 2)
    x, y = put(a, layout[0]), put(b, layout[1])
    out = ng.array(np.full((m, n), 0.25, np.float32))
    ng.dot(x, y, out, alpha=0.5, beta=2.0, bias=ng.array(np.arange(n, dtype=np.float32)))
    assert np.array_equal(out.get(), exact(a, b) * 0.5 + 0.5 + np.arange(n))
    a, b = normal((m, k), 3), normal((k, n), 4)
    x, y = put(a, layout[0]), put(b, layout[1])
    ng.dot(x, y, out)
    assert np.array_equal(out.get().astype(np.float16), ng.dot(x, y).get())
    if k > 64:
        parts = ng.zeros((m, n), np.float32)
        ng.dot(x, y, parts, splits=2)
        assert (np.abs(parts.get() - out.get()) <= k * 2.0**-22 * (np.abs(a) @ np.abs(b)).astype(np.float32)).all()
    with pytest.raises(TypeError, match="out has dtype float64; needs float16 or float32"):
        ng.dot(x, y, ng.zeros((m, n), np.float64))


@pytest.mark.parametrize("types", list(itertools.product([np.int8, np.uint8], repeat=2)), ids=str)
@pytest.mark.parametrize("tile", [*TILES, ""])
def test_bytes(types: tuple[type, type], tile: str) -> None:
    rng = np.random.default_rng(5)
    for m, n, k in [(8, 8, 16), (130, 200, 272), (33, 260, 400)]:
        a = rng.integers(np.iinfo(types[0]).min, np.iinfo(types[0]).max + 1, (m, k)).astype(types[0])
        b = rng.integers(np.iinfo(types[1]).min, np.iinfo(types[1]).max + 1, (k, n)).astype(types[1])
        want = a.astype(np.int64) @ b.astype(np.int64)
        x, y = ng.array(a), put(b, "t")
        c = rng.integers(-9, 10, (m, n)).astype(np.int32)
        bias = rng.integers(-9, 10, (m, 1)).astype(np.int32)
        cases: list[tuple[dict[str, Any], npt.NDArray[np.int64]]] = [
            ({}, want),
            ({"alpha": -3, "relu": True}, np.maximum(-3 * want, 0)),
            ({"beta": -2, "bias": ng.array(bias)}, want - 2 * c + bias),
            ({"relu_first": True, "beta": 1}, np.maximum(want, 0) + c),
        ]
        if k > 256:
            cases.append(({"splits": 2, "alpha": 2}, 2 * want))
        for options, expected in cases:
            out = ng.array(c)
            ng.dot(x, y, out, tile=tile or None, **options)
            assert np.array_equal(out.get(), expected.astype(np.int32)), (m, n, k, options)


def test_bytes_of_any_layout_are_copied_to_the_tensor_cores() -> None:
    m, n, k = 300, 600, 2003
    rng = np.random.default_rng(6)
    a, b = rng.integers(-128, 128, (m, k)).astype(np.int8), rng.integers(0, 256, (k, n)).astype(np.uint8)
    want = (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)
    for layout in LAYOUTS:
        x = ng.array(np.ascontiguousarray(a.T)).T if layout[0] == "t" else ng.array(a)
        y = ng.array(np.ascontiguousarray(b.T)).T if layout[1] == "t" else ng.array(b)
        assert np.array_equal(ng.dot(x, y).get(), want), layout
        assert np.array_equal(ng.dot(x, y, tensor_cores=False).get(), want), layout


def test_a_tile_that_is_not_there_is_named() -> None:
    x = ng.array(integers((64, 64), 1))
    with pytest.raises(ValueError, match="no kernel with tile 32x32 for m 64, n 64, k 64"):
        ng.dot(x, x, tile="32x32")


@pytest.mark.parametrize("k", [520, 4096])
def test_batch_invariant_rows_do_not_depend_on_the_batch(k: int) -> None:
    """Row i has the same bits in every batch that it is in; without the word k may be cut where the batch is small."""
    a, b = normal((300, k), 1), ng.array(normal((k, 136), 2))
    rows = [ng.dot(ng.array(a[:m]), b, batch_invariant=True).get()[0].tobytes() for m in (1, 7, 64, 129, 300)]
    assert len(set(rows)) == 1
    if k == 4096:
        assert ng.dot(ng.array(a[:1]), b, splits=4).get()[0].tobytes() != rows[0], "the test can fail"
    with pytest.raises(ValueError, match="batch_invariant is True but splits is 2; needs 0 or 1"):
        ng.dot(ng.array(a), b, splits=2, batch_invariant=True)
