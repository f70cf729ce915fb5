"""float32 products of many rows and few columns from three pieces (kernels/gemm/pieces/bf16x6_rs.h).

An A that is split on its way to registers gives the bits of one whose pieces are written, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Callable

import nervanagpu as ng
import numpy as np
import pytest
from test_precision import LAYOUTS, Floats, errors, put, put_anywhere, same_bits

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")

WRITTEN = "rs128x128"  # of both operands
Random = np.random.Generator


def _one(value: float) -> Callable[[Random, Floats], None]:
    def place(r: Random, v: Floats) -> None:
        v.flat[r.integers(v.size)] = value

    return place


def _ends(value: float) -> Callable[[Random, Floats], None]:
    """The first element and the last, and one beyond each tile of 128 rows."""

    def place(_: Random, v: Floats) -> None:
        v.flat[-1] = value
        v[128::128, 0] = value

    return place


def _zeros(r: Random, v: Floats) -> None:
    v[r.random(v.shape) < 0.6] = 0
    v.flat[0] = -0.0


def _wide(r: Random, v: Floats) -> None:
    v *= np.exp(4 * r.standard_normal(v.shape)).astype(np.float32)


IN_RANGE = {"normal": lambda r, v: None, "zeros": _zeros, "wide": _wide, "least": _one(2.0**-110)}
BEYOND = {
    "nan": _one(np.nan),
    "infinite": _one(-np.inf),
    "subnormal": _one(1e-40),
    "tiny": _one(2.0**-111),
    "tiny at ends": _ends(-(2.0**-111)),
    "huge": _one(-3.4e38),
}
KINDS = IN_RANGE | BEYOND


def _widths(layout: str) -> list[int]:
    return [32, 64, 96, 128] if layout[1] == "t" else [64, 128]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("of_a", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_bits_of_written_pieces(kind: str, of_a: bool, layout: str) -> None:
    r = np.random.default_rng([list(KINDS).index(kind), of_a, *map(ord, layout)])
    for width in _widths(layout):
        m, n, k = 4 * int(r.integers(1, 110)), int(r.integers(2, 2 * width)), 4 * int(r.integers(1, 60))
        splits = int(r.integers(1, 4))
        a, b = (r.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
        KINDS[kind](r, a if of_a else b)
        x, y = put(a, layout[0]), put(b, layout[1])
        got = ng.dot(x, y, precision="tensor", splits=splits, tile=f"rs{width}").get()
        want = ng.dot(x, y, precision="tensor", splits=splits, tile=WRITTEN).get()
        assert same_bits(got, want), (m, n, k, splits, width)
        if kind in BEYOND:  # multiply-adds, in one chain
            alone = ng.dot(x, y, precision="tensor", splits=1, tile=f"rs{width}").get()
            assert same_bits(alone, ng.dot(x, y, precision="strict", splits=1).get()), (m, n, k, width)
        else:
            assert errors(got, a, b)[0] <= 5e-7, (m, n, k, splits, width)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_chosen_whatever_lies_where(layout: str) -> None:
    """The library's own choice, in a plan, of operands that begin anywhere or were split before, and with beta."""
    r = np.random.default_rng(4)
    m, n, k = 8440, 200, 188
    a, b = (r.random(s, dtype=np.float32) for s in ((m, k), (k, n)))
    x, y, out = put(a, layout[0]), put(b, layout[1]), ng.empty((m, n))
    plan = ng.GemmPlan(x, y, out, precision="tensor")
    assert plan.kernel.startswith("bf16x6_rs_"), plan.kernel
    assert plan.workspace < x.nbytes / 4  # no room for pieces of A
    plan(x, y, out)
    want = out.get()
    assert same_bits(ng.dot(x, y, precision="tensor").get(), want)

    ax, by = put_anywhere(a, layout[0]), put_anywhere(b, layout[1])
    assert ng.GemmPlan(ax, y, out, precision="tensor").kernel.startswith("bf16x6_32_")
    for operands in ((ax, y), (x, by), (ax, by)):
        assert same_bits(ng.dot(*operands, precision="tensor").get(), want)
    for first in (x, ax):
        c = put(r.standard_normal((m, n)).astype(np.float32))
        before = c.copy()
        kernel = "bf16x6_rs_" if first is x else "bf16x6_32_"
        assert ng.GemmPlan(first, y, c, beta=1.0, precision="tensor").kernel.startswith(kernel)
        ng.dot(first, y, out=c, beta=1.0, precision="tensor")
        assert same_bits(c.get(), before.get() + want)
    if layout == "nn":
        for operands in ((ng.Pieces(x, pieces=3), y), (x, ng.Pieces(y, pieces=3))):
            assert same_bits(ng.dot(*operands, precision="tensor").get(), want)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", BEYOND)
def test_c_is_read_before_it_is_known_what_a_holds(kind: str, layout: str) -> None:
    """With beta multiply-adds need the C that there was, also where a CTA has several tiles, and with bits of relus."""
    r = np.random.default_rng([list(KINDS).index(kind), *map(ord, layout)])
    m, n, k = 4 * 650, 60, 64
    a, b, c = (r.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n), (m, n)))
    KINDS[kind](r, a)
    x, y = put(a, layout[0]), put(b, layout[1])
    got, want, plain = (ng.array(c) for _ in range(3))
    bits, other = (ng.zeros((m, 2), dtype="uint32") for _ in range(2))
    options = {"beta": -0.5, "relu": True, "splits": 1}
    ng.dot(x, y, out=got, precision="tensor", tile="rs64", mask=bits, **options)
    ng.dot(x, y, out=want, precision="strict", mask=other, **options)
    assert same_bits(got.get(), want.get())
    assert np.array_equal(bits.get(), other.get())
    ng.dot(x, y, out=plain, precision="tensor", tile="rs64", **options)
    assert same_bits(plain.get(), want.get())


@pytest.mark.parametrize("tile", ["rs64", "rs128", WRITTEN, "128x128", "128x192"])
def test_bits_of_relus(tile: str) -> None:
    r = np.random.default_rng(7)
    m, n, k = 300, 75, 96
    x, w, c = (put(r.standard_normal(s).astype(np.float32)) for s in ((m, k), (k, n), (m, n)))
    bits, other = (ng.zeros((m, 3), dtype="uint32") for _ in range(2))
    for options in ({"beta": 0.0}, {"beta": 1.5}):
        one, two = c.copy(), c.copy()
        ng.dot(x, w, out=one, relu=True, mask=bits, precision="tensor", tile=tile, splits=1, **options)
        ng.dot(x, w, out=two, relu=True, precision="tensor", tile=tile, splits=1, **options)
        want = two.get() > 0
        words = np.packbits(np.pad(want, ((0, 0), (0, 96 - n))), axis=1, bitorder="little").view(np.uint32)
        assert same_bits(one.get(), two.get())
        assert np.array_equal(bits.get(), words)
        one, two = c.copy(), c.copy()
        other.set(bits.get())
        ng.dot(x, w, out=one, activation="drelu", mask=other, precision="tensor", tile=tile, splits=1, **options)
        ng.dot(x, w, out=two, precision="tensor", tile=tile, splits=1, **options)
        assert same_bits(one.get(), np.where(want, two.get(), np.float32(0)))


def test_epilogues() -> None:
    r = np.random.default_rng(5)
    x, w, bias, rows = (put(r.standard_normal(s).astype(np.float32)) for s in ((260, 192), (192, 70), (70,), (260,)))
    for options in (
        {"relu": True, "bias": bias},
        {"alpha": -2.0, "bias": rows.reshape((260, 1))},
        {"activation": "gelu", "bias": bias},
        {"rounding": "stochastic", "seed": 3},
    ):
        both = [ng.dot(x, w, precision="tensor", splits=1, tile=t, **options).get() for t in ("rs64", WRITTEN)]
        assert same_bits(*both), options


def test_no_worse_than_strict() -> None:
    """On numbers of one sign, too, whose sums HGMMA always truncates the same way."""
    r = np.random.default_rng(6)
    for m, n, k in ((8448, 200, 128), (16896, 200, 64), (25088, 96, 256)):
        out = ng.empty((m, n))
        for draw in (r.standard_normal, r.random, r.standard_exponential):
            a, b = (draw(s).astype(np.float32) for s in ((m, k), (k, n)))
            x, y = ng.array(a), ng.array(b)
            assert ng.GemmPlan(x, y, out, precision="tensor").kernel.startswith("bf16x6_rs_"), (m, n, k)
            rows = slice(0, m, 16)
            ours, strict = (errors(ng.dot(x, y, precision=p).get()[rows], a[rows], b) for p in ("tensor", "strict"))
            assert ours[0] <= strict[0], (m, n, k, draw)
            assert ours[1] <= strict[1], (m, n, k, draw)


@pytest.mark.parametrize("pieces", [2, 3])
@pytest.mark.parametrize(("n", "k"), [(200, 188), (96, 704)])
def test_kept_pieces_of_b(n: int, k: int, pieces: int) -> None:
    """Of whatever number, where the library chooses this kernel, and where a tile names it."""
    r = np.random.default_rng(8)
    a, b = (r.standard_normal(s).astype(np.float32) for s in ((8448, k), (k, n)))
    x, y, out = ng.array(a), ng.array(b), ng.empty((8448, n))
    kept = ng.Pieces(y, pieces=pieces)
    want = ng.dot(x, y, precision="tensor").get()
    assert same_bits(ng.dot(x, kept, precision="tensor").get(), want)
    for tile in ("rs64", WRITTEN):
        plan = ng.GemmPlan(x, kept, out, precision="tensor", tile=tile)
        plan(x, kept, out)
        assert errors(out.get()[::32], a[::32], b)[0] <= 5e-7, tile


@pytest.mark.parametrize(("m", "n", "k"), [(8440, 200, 188), (4224, 96, 2048)])
def test_kept_pieces_of_another_number_than_a_tile_wants(m: int, n: int, k: int) -> None:
    r = np.random.default_rng(9)
    a, b = (r.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
    x, y = ng.array(a), ng.array(b)
    rows = slice(0, m, 32)
    cases = [(2, "128x128")]
    if k < 704:
        cases += [(2, WRITTEN), (3, "f16_128x128")]
    for pieces, tile in cases:
        for operands in ((ng.Pieces(x, pieces=pieces), y), (x, ng.Pieces(y, pieces=pieces))):
            got = ng.dot(*operands, precision="tensor", tile=tile).get()
            assert errors(got[rows], a[rows], b)[0] <= 2e-6, (pieces, tile)
