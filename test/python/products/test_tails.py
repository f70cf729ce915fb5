"""The last rows or columns of products in two pieces, a launch of their own (kernels/gemm/pieces/tail.h)."""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
import tier
from test_precision import DISTRIBUTIONS, LAYOUTS, Floats, put, same_bits

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")

# Of plain totals, and of compensated ones: other bits.
CLASSES = [["f16_128x64", "f16_128x128", "f16_128x192"], ["f16_c128x64", "f16_c128x128"]]
TILES = [*CLASSES[0], *CLASSES[1]]
# m, n, k, the tail's axis, where it begins, its parts
SHAPES = [
    (130, 70, 257, "r", 128, 2),
    (257, 131, 640, "r", 64, 3),
    (300, 64, 64, "r", 256, 1),
    (129, 389, 703, "c", 192, 6),
    (67, 260, 1000, "c", 256, 8),
    (64, 193, 128, "c", 64, 1),
]


def name(tile: str, axis: str, at: int, splits: int) -> str:
    return f"{tile}+{at}{axis}x{splits}"


def dot(a: ng.GPUTensor, b: ng.GPUTensor, tile: str, splits: int = 1, **options: Any) -> Floats:
    return ng.dot(a, b, precision="tensor", splits=splits, tile=tile, **options).get()


def joined(head: Floats, tail: Floats, axis: str, at: int) -> Floats:
    out = head.copy()
    if axis == "r":
        out[at:] = tail[at:]
    else:
        out[:, at:] = tail[:, at:]
    return out


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize(("m", "n", "k", "axis", "at", "splits"), SHAPES)
def test_integers_are_exact(layout: str, tile: str, m: int, n: int, k: int, axis: str, at: int, splits: int) -> None:
    """Both pieces of one element times a power of two, for each sum. Nothing is written beside C."""
    r = np.random.default_rng(7)
    a = r.integers(-(2**22) + 1, 2**22, (m, k)).astype(np.float32)
    b = np.zeros((k, n), np.float32)
    b[r.integers(0, k, n), np.arange(n)] = 2.0 ** r.integers(-6, 6, n)
    want = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    out = ng.array(np.full((m + 2, n + 3), 5, np.float32))
    x, y = put(a, layout[0]), put(b, layout[1])
    ng.dot(x, y, out=out[1:-1, 2:-1], precision="tensor", splits=1, tile=name(tile, axis, at, splits))
    got = out.get()
    assert same_bits(got[1:-1, 2:-1] + 0.0, want + 0.0)
    got[1:-1, 2:-1] = 5
    assert (got == 5).all()


@pytest.mark.parametrize("case", DISTRIBUTIONS)
@pytest.mark.parametrize(("m", "n", "k", "axis", "at", "splits"), SHAPES)
def test_sums_are_those_of_one_part_and_of_so_many(
    case: str, m: int, n: int, k: int, axis: str, at: int, splits: int
) -> None:
    """The bits of either, whatever the tile; what spans too much has those of three pieces in one part, all of it."""
    r = np.random.default_rng(8)
    a, b = put(DISTRIBUTIONS[case](r, (m, k))), put(DISTRIBUTIONS[case](r, (k, n)), "t")
    three = dot(a, b, "128x128")
    for tiles in CLASSES:
        head, tail = (dot(a, b, tiles[0], s) for s in (1, splits))
        falls_back = same_bits(head, three)
        assert falls_back == (case in ("wide", "few huge"))
        want = three if falls_back else joined(head, tail, axis, at)
        if splits > 1 and case == "normal":
            assert not same_bits(want, head) and not same_bits(want, tail), "parts of its own"
        for tile in tiles:
            assert same_bits(dot(a, b, name(tile, axis, at, splits)), want)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e9, 1e38, 1e-45])
@pytest.mark.parametrize(("m", "n", "k", "axis", "at", "splits"), SHAPES[1:5])
def test_what_has_no_two_pieces(value: float, m: int, n: int, k: int, axis: str, at: int, splits: int) -> None:
    """One element anywhere, and all of C is what three pieces, or multiply-adds, make of it; beta C is read once."""
    r = np.random.default_rng(9)
    a, b, c = (r.random(s, dtype=np.float32) + 0.5 for s in ((m, k), (k, n), (m, n)))
    a[::2] = 0
    for i, j in [(1, 1), (m - 1 - m % 2, k - 1)]:
        x = a.copy()
        x[i, j] = value
        outs = []
        for tile in (name(TILES[1], axis, at, splits), "128x128"):
            out = ng.array(c)
            ng.dot(put(x), put(b), out=out, beta=2.0, precision="tensor", splits=1, tile=tile)
            outs.append(out.get())
        assert same_bits(*outs)


@pytest.mark.parametrize(("m", "n", "k", "axis", "at", "splits"), [SHAPES[1], SHAPES[3], SHAPES[5]])
def test_epilogues(m: int, n: int, k: int, axis: str, at: int, splits: int) -> None:
    """Bias, activations, beta and random bits are those of the element's place in all of C."""
    r = np.random.default_rng(10)
    a, b, c = (r.standard_normal(s, dtype=np.float32) for s in ((m, k), (k, n), (m, n)))
    row, column = (ng.array(r.standard_normal(s, dtype=np.float32)) for s in ((n,), (m, 1)))
    cases: list[dict[str, Any]] = [
        {"alpha": -0.5},
        {"bias": row, "relu": True},
        {"bias": column, "activation": "gelu"},
        {"beta": 2.0, "bias": column},
        {"beta": -1.0, "bias": row, "relu_first": True},
        {"rounding": "stochastic", "seed": 3, "bits": 4, "alpha": 0.125},
    ]
    for options in cases:
        outs = []
        for tile, parts in ((TILES[0], 1), (TILES[0], splits), (name(TILES[1], axis, at, splits), 1)):
            out = ng.array(c)
            ng.dot(put(a), put(b), out=out, precision="tensor", splits=parts, tile=tile, **options)
            outs.append(out.get())
        assert same_bits(outs[2], joined(outs[0], outs[1], axis, at)), options


@pytest.mark.parametrize(("m", "n", "k", "axis", "at", "splits"), [SHAPES[1], SHAPES[3]])
def test_masks_and_sums_of_c(m: int, n: int, k: int, axis: str, at: int, splits: int) -> None:
    r = np.random.default_rng(11)
    a, b = (r.standard_normal(s, dtype=np.float32) for s in ((m, k), (k, n)))
    bits = ng.array(np.zeros((m, -(-n // 32)), np.uint32))
    rows, columns = ng.empty((m,)), ng.empty((n,))
    out = ng.empty((m, n))
    ng.dot(
        put(a), put(b), out=out, relu=True, mask=bits, row_max_abs=rows, column_max_abs=columns,
        precision="tensor", splits=1, tile=name(TILES[0], axis, at, splits),
    )  # fmt: skip
    got = out.get()
    read = np.unpackbits(bits.get().view(np.uint8), axis=1, bitorder="little")[:, :n]
    assert np.array_equal(read, got > 0) and 0 < read.mean() < 1
    assert np.array_equal(rows.get(), np.abs(got).max(1)) and np.array_equal(columns.get(), np.abs(got).max(0))


def test_the_librarys_own_choice() -> None:
    """Two rounds of the tiles of 2304 x 1920 hold all but the last row of tiles, which is a tail in three parts."""
    m, n, k, at, splits = 2304, 1920, 768, 2176, 3
    r = np.random.default_rng(13)
    a, b = put(r.standard_normal((m, k), dtype=np.float32)), put(r.standard_normal((k, n), dtype=np.float32))
    want = dot(a, b, name(CLASSES[1][0], "r", at, splits))
    assert same_bits(ng.dot(a, b, precision="tensor").get(), want)
    if tier.LONG:
        head, tail = (dot(a, b, CLASSES[1][0], s) for s in (1, splits))
        assert same_bits(want, joined(head, tail, "r", at))
        assert not same_bits(want, head) and not same_bits(want, tail)
        assert same_bits(ng.dot(a, b, precision="tensor", tile=CLASSES[1][1]).get(), want)


def test_plans_and_graphs() -> None:
    m, n, k, axis, at, splits = SHAPES[1]
    r = np.random.default_rng(12)
    a, b = (r.standard_normal(s, dtype=np.float32) for s in ((m, k), (k, n)))
    x, y, out = ng.array(a), ng.array(b), ng.empty((m, n))
    tile = name(TILES[0], axis, at, splits)
    plan = ng.GemmPlan(x, y, out, splits=1, precision="tensor", tile=tile)
    graph = ng.Graph(lambda: ng.dot(x, y, out=out, splits=1, precision="tensor", tile=tile))
    for value in (1.0, np.nan, 2.0, 1e9):
        a[7, 70] = value
        x[:] = ng.array(a)
        want = dot(x, y, tile)
        out.fill(0)
        graph.launch()
        assert same_bits(out.get(), want)
        other, z, elsewhere = ng.array(a), ng.array(b), ng.zeros((m, n))
        plan(other, z, elsewhere)
        assert same_bits(elsewhere.get(), want)
    del graph
    ng.release_captured_memory()


@pytest.mark.parametrize(
    ("tail", "splits"),
    [("+128rx2", 2), ("+0rx2", 1), ("+260rx2", 1), ("+100rx2", 1), ("+128rx7", 1), ("+128rx", 1), ("+rx2", 1),
     ("+128dx2", 1), ("+128rx2 ", 1), ("+128cx2", 1), ("+", 1), ("+128rx0", 1), ("+128rx9", 1)],
)  # fmt: skip
def test_no_such_tail(tail: str, splits: int) -> None:
    a, b = ng.zeros((257, 320)), ng.zeros((320, 128))
    with pytest.raises(ValueError, match="no kernel with tile"):
        dot(a, b, TILES[0] + tail, splits)
    with pytest.raises(ValueError, match="no kernel"):
        dot(a, b, "128x128+128rx2")
    ng.batched_dot(ng.zeros((2, 257, 320)), b, ng.empty((2, 257, 128)), splits=1, precision="tensor", tile=TILES[0])
    with pytest.raises(ValueError, match="no kernel with tile"):
        ng.batched_dot(
            ng.zeros((2, 257, 320)), b, ng.empty((2, 257, 128)), splits=1, precision="tensor", tile=TILES[0] + "+128rx2"
        )
