"""float32 products from two float16 pieces of each operand (kernels/gemm/pieces/f16x3.h), by the names of its tiles.

Their errors, what decides on the device, and that all else is what three pieces or multiply-adds make of it.
"""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from test_precision import DISTRIBUTIONS, LAYOUTS, Floats, errors, put, same_bits

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")

TILES = ["f16_128x128", "f16_128x192", "f16_128x64", "f16_c128x128", "f16_c128x64"]


def dots(a: ng.GPUTensor, b: ng.GPUTensor, tile: str = TILES[0], **options: Any) -> tuple[Floats, Floats]:
    """From two pieces where the device decides so, and from three."""
    options.setdefault("splits", 1)
    return (
        ng.dot(a, b, precision="tensor", tile=tile, **options).get(),
        ng.dot(a, b, precision="tensor", tile="128x128", **options).get(),
    )


def from_two(a: Floats, b: Floats, **options: Any) -> bool:
    """Not the bits of three pieces, which have at least as many right; the bound holds either way."""
    two, three = dots(put(a), put(b), **options)
    k = a.shape[1]
    u = 2.0**-24
    terms = 102 + -(-k // 64) + 1
    largest, _ = errors(two, a, b)
    assert largest <= terms * u / (1 - terms * u)
    return not same_bits(two, three)


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize(("m", "n", "k"), [(130, 200, 513), (70, 90, 2304)])
def test_errors_beside_multiply_adds(name: str, m: int, n: int, k: int, tile: str) -> None:
    r = np.random.default_rng(5)
    a, b = DISTRIBUTIONS[name](r, (m, k)), DISTRIBUTIONS[name](r, (k, n))
    ours, three = dots(put(a), put(b), tile)
    strict = ng.dot(put(a), put(b), splits=1).get()
    assert not same_bits(ours, strict)
    assert same_bits(ours, three) == (name in ("wide", "few huge")), "what spans too much is computed from three pieces"
    largest, rms = errors(ours, a, b)
    largest_strict, rms_strict = errors(strict, a, b)
    if name == "cancelling":  # pieces of 22 bits; multiply-adds are nearly exact there
        assert largest <= 2.0**-24 and rms <= 2.0**-26
    elif not same_bits(ours, three):
        assert largest <= largest_strict and rms <= 0.9 * rms_strict


@pytest.mark.parametrize("k", [768, 1024])
def test_positive_numbers_beside_short_chains(k: int) -> None:
    """What HGMMA cuts off adds up: without the bias it would be 1.1 to 1.5 times the error of chains of 256."""
    r = np.random.default_rng(6)
    for name in ("uniform", "exponential"):
        a, b = DISTRIBUTIONS[name](r, (130, k)), DISTRIBUTIONS[name](r, (k, 200))
        ours, three = dots(put(a), put(b))
        assert not same_bits(ours, three)
        strict = ng.dot(put(a), put(b), splits=k // 256).get()
        largest, rms = errors(ours, a, b)
        largest_strict, rms_strict = errors(strict, a, b)
        assert largest <= largest_strict and rms <= 0.8 * rms_strict, name


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize(
    ("m", "n", "k", "splits"), [(1, 1, 1, 1), (129, 193, 65, 1), (257, 131, 640, 4), (3, 400, 127, 2)]
)
def test_integers_of_22_bits_are_exact(layout: str, tile: str, m: int, n: int, k: int, splits: int) -> None:
    """Both pieces of one element times a power of two, for each sum."""
    r = np.random.default_rng(7)
    a = r.integers(-(2**22) + 1, 2**22, (m, k)).astype(np.float32)
    b = np.zeros((k, n), np.float32)
    b[r.integers(0, k, n), np.arange(n)] = 2.0 ** r.integers(-6, 6, n)
    want = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    x, y = put(a, layout[0]), put(b, layout[1])
    for first, second, right in [(x, y, want), (y.T, x.T, np.ascontiguousarray(want.T))]:
        got = ng.dot(first, second, splits=splits, precision="tensor", tile=tile).get()
        assert same_bits(got + 0.0, right + 0.0)


def test_rows_anywhere() -> None:
    """Offsets and leading dimensions that are no multiples of four."""
    r = np.random.default_rng(8)
    a = r.integers(-100, 100, (140, 77)).astype(np.float32)
    b = r.integers(-100, 100, (90, 150)).astype(np.float32)
    x, y = ng.array(a)[1:, 2:69], ng.array(b)[3:70, 5:]
    out = ng.array(np.full((141, 147), 5, np.float32))
    ng.dot(x, y, out=out[1:140, 1:146], splits=1, precision="tensor", tile=TILES[0])
    got = out.get()
    assert np.array_equal(got[1:140, 1:146], a[1:, 2:69] @ b[3:70, 5:])
    got[1:140, 1:146] = 5
    assert (got == 5).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3.4e38, 1e-45])
@pytest.mark.parametrize("layout", ["nt", "tn"])
def test_special_values_anywhere(value: float, layout: str) -> None:
    """What three pieces, or multiply-adds, make of them: in every 8 x 8 of a tile, at the edges, in either operand."""
    r = np.random.default_rng(9)
    m, n, k = 130, 197, 131
    a, b = r.random((m, k), dtype=np.float32) + 0.5, r.random((k, n), dtype=np.float32) + 0.5
    a[::2] = 0  # half of the rows are small: one tiny element decides
    at = [(0, 0), (m - 1, k - 1), (65, 1), (63, 130), (129, 64), (int(r.integers(m)), int(r.integers(k)))]
    for i, j in at:
        x = a.copy()
        x[i, j] = value
        assert same_bits(*dots(put(x, layout[0]), put(b, layout[1])))
    if value == 1e-45:
        return
    for i, j in [(0, n - 1), (k - 1, 192), (64, 100)]:
        y = b.copy()
        y[i, j] = value
        assert same_bits(*dots(put(a, layout[0]), put(y, layout[1])))


def test_every_element_is_seen() -> None:
    """One that float16 does not hold, at every place of small operands: what pieces would make of it is no number."""
    r = np.random.default_rng(10)
    for which, layout in [(0, "nn"), (1, "nn"), (0, "tt"), (1, "tt")]:
        pair = [r.random(s, dtype=np.float32) + 1 for s in ((2, 20), (20, 2))]
        for place in np.ndindex(pair[which].shape):
            x, y = (p.copy() for p in pair)
            (x, y)[which][place] = 1e9
            got = ng.dot(put(x, layout[0]), put(y, layout[1]), splits=1, precision="tensor", tile=TILES[0]).get()
            assert np.allclose(got, x @ y, rtol=1e-5)


def test_full_precision_of_all_elements() -> None:
    """No element, but for zeros, below 2^-15 as scaled: the largest of the sample has 2^11."""
    r = np.random.default_rng(11)
    a = np.where(r.random((40, 300)) < 0.95, 0, r.random((40, 300)) + 1).astype(np.float32)  # most are small: zeros
    b = r.random((300, 50), dtype=np.float32)
    b[:] = np.where(r.random(b.shape) < 0.95, 0, 1 + b)
    a[0, 0] = 1.5
    for least, two in [(2.0**-26, True), (2.0**-26 * 0.999, False), (2.0**-40, False), (0.0, True)]:
        x = a.copy()
        x[7, 77] = least
        assert from_two(x, b) == two
        assert from_two(np.ascontiguousarray(b.T), np.ascontiguousarray(x.T)) == two


def test_tiny_elements_beside_many_others() -> None:
    """Shares of small elements of both operands: together at most 7/8 of each group along k."""
    r = np.random.default_rng(12)
    k = 1024
    a, b = r.random((70, k), dtype=np.float32) + 1, r.random((k, 90), dtype=np.float32) + 1
    a[3, 5], b[6, 7] = 1e-38, 1e-40
    shares = [(0, 0, True), (40, 12, True), (12, 40, True), (52, 0, True), (40, 20, False), (64, 0, False)]
    for which, (share_a, share_b, two) in enumerate(shares):
        x, y = a.copy(), b.copy()
        spread = np.arange(k) % 16 * 7 % 16 * 4  # so many 64ths of every 16
        x[9, spread < share_a] = 1e-20
        y[spread < share_b, 11] = 1e-20
        layout = LAYOUTS[which % 4]
        got, three = dots(put(x, layout[0]), put(y, layout[1]))
        assert same_bits(got, three) == (not two), (share_a, share_b, layout)
        largest, _ = errors(got, x, y)
        assert largest <= 2e-6


@pytest.mark.parametrize(
    ("x", "y", "two"),
    [
        (1e-30, 1e30, True),
        (1e15, 1e12, True),
        (1e-30, 1.0, True),
        (1e-37, 1.0, False),
        (1e-37, 1e-30, False),
        (1e20, 1e14, False),
        (0, 1, None),
    ],
)
def test_scales(x: float, y: float, two: bool | None) -> None:
    """Operands of any size, as long as results are far from the ends of float32's range."""
    r = np.random.default_rng(13)
    a = ((r.random((70, 130)) + 1) * x).astype(np.float32)
    b = ((r.random((130, 90)) + 1) * y).astype(np.float32)
    got, three = dots(put(a), put(b))
    strict = ng.dot(put(a), put(b), splits=1).get()
    assert two is None or same_bits(got, three) == (not two)
    assert np.array_equal(np.isfinite(got), np.isfinite(strict))
    assert np.allclose(got, strict, rtol=1e-5, atol=0)


def test_what_the_sample_does_not_see() -> None:
    """4,096 elements say how large the others are: eight times as large still fit, more do not, and are seen."""
    r = np.random.default_rng(14)
    a, b = r.random((200, 640), dtype=np.float32) + 1, r.random((640, 70), dtype=np.float32) + 1
    for factor, two in [(7.9, True), (17.0, False)]:
        found = []
        for j in range(4, 64, 16):  # most places are not in the sample
            x = a.copy()
            x[100, j] = 2 * factor
            found.append(from_two(x, b))
        assert all(found) if two else not all(found), factor


def test_epilogues_batches_and_plans() -> None:
    r = np.random.default_rng(15)
    m, n, k = 140, 203, 300
    a, b, c = (r.integers(-9, 9, s).astype(np.float32) for s in [(m, k), (k, n), (m, n)])
    row, column = r.integers(-9, 9, n).astype(np.float32), r.integers(-9, 9, (m, 1)).astype(np.float32)
    huge = a.copy()
    huge[5, 5] = 2.0**40
    cases: list[dict[str, Any]] = [
        {"alpha": -0.5},
        {"bias": ng.array(row), "relu": True},
        {"bias": ng.array(column), "activation": "gelu"},
        {"beta": 2.0, "bias": ng.array(column)},
        {"activation": "clip", "clip": (-20.0, 30.0)},
        {"rounding": "stochastic", "seed": 3, "bits": 4, "alpha": 0.125},
    ]
    for x, splits in ((a, 1), (huge, 3), (a, 3)):
        for options in cases[:: 1 if x is a and splits == 1 else 3]:
            outs = []
            for tile in (*TILES, "128x128"):
                out = ng.array(c)
                ng.dot(put(x), put(b, "t"), out=out, splits=splits, precision="tensor", tile=tile, **options)
                outs.append(out.get())
            assert all(same_bits(x, outs[-1]) for x in outs), (options, splits)
    many = r.standard_normal((3, m, k), dtype=np.float32)
    other = r.standard_normal((3, k, n), dtype=np.float32)
    plan = ng.GemmPlan(put(many[0]), put(other[0]), ng.empty((m, n)), splits=1, precision="tensor", tile=TILES[1])
    assert plan.kernel == "f16x3_nn_128x192"
    for x, y in zip(many, other, strict=True):
        out = ng.empty((m, n))
        plan(put(x), put(y), out)
        want, three = dots(put(x), put(y))
        assert same_bits(out.get(), want) and not same_bits(want, three)
        assert same_bits(want, dots(put(x), put(y), TILES[1])[0]), "the same bits of every tile, and again"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_multiply_adds_at_once(layout: str) -> None:
    """After two pieces of a short product no three are tried."""
    r = np.random.default_rng(17)
    a, b = r.standard_normal((140, 203), dtype=np.float32), r.standard_normal((203, 75), dtype=np.float32)
    tile = "f16_128x64+strict"
    for value in (1.0, 1e9, np.nan, np.inf):
        a[7, 70] = value
        x, y = put(a, layout[0]), put(b, layout[1])
        two, three = dots(x, y)
        assert same_bits(two, three) == (value != 1)
        got = ng.dot(x, y, splits=1, precision="tensor", tile=tile).get()
        assert same_bits(got, two if value == 1 else ng.dot(x, y, splits=1).get()), value
        in_parts = ng.dot(x, y, splits=3, precision="tensor", tile=tile).get()
        if value != 1e9:  # which has three pieces
            assert same_bits(in_parts, dots(x, y, splits=3)[0]), value
    with pytest.raises(ValueError, match="tile"):
        ng.dot(x, y, splits=1, precision="tensor", tile="128x128+strict")


@pytest.mark.parametrize("splits", [1, 3])
def test_a_graph_decides_when_it_runs(splits: int) -> None:
    r = np.random.default_rng(16)
    a, b = r.standard_normal((140, 200), dtype=np.float32), r.standard_normal((200, 75), dtype=np.float32)
    x, y, out = ng.array(a), ng.array(b), ng.zeros((140, 75))
    graph = ng.Graph(lambda: ng.dot(x, y, out=out, splits=splits, precision="tensor", tile=TILES[0]))
    seen = []
    for value in (1.0, np.nan, 2.0, 1e9, 3.0):
        a[7, 70] = value
        x[:] = ng.array(a)
        graph.launch()
        want, three = dots(x, y, splits=splits)
        assert same_bits(out.get(), want)
        seen.append(not same_bits(want, three))
    assert seen == [True, False, True, False, True]
    del graph
    ng.release_captured_memory()
