"""float32 products of few rows from two pieces (kernels/gemm/pieces/f16x3_rs.h).

A large operand that is split on its way to registers gives the bits of one whose pieces are written, whatever it
holds and wherever it lies.
"""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from test_precision import LAYOUTS, Floats, errors, put, put_anywhere, same_bits

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")

TILES = ["f16_rs64", "f16_rs128"]
WRITTEN = "f16_128x64+strict"  # pieces of both operands, and multiply-adds where they do not do

Random = np.random.Generator


def _lost(r: Random, w: Floats) -> None:
    w.flat[r.integers(w.size, size=3)] *= np.float32(1e-9)


def _small(r: Random, w: Floats) -> None:
    w[: int(r.integers(1, len(w)))] *= np.float32(2.0**-30)


def _small_across(r: Random, w: Floats) -> None:
    w[:, : int(r.integers(1, w.shape[1]))] *= np.float32(2.0**-30)


def _one(value: float) -> object:
    def place(r: Random, w: Floats) -> None:
        w.flat[r.integers(w.size)] = value

    return place


def _zeros(r: Random, w: Floats) -> None:
    w[r.random(w.shape) < 0.6] = 0


def _wide(r: Random, w: Floats) -> None:
    w *= np.exp(4 * r.standard_normal(w.shape)).astype(np.float32)


KINDS = {
    "normal": lambda r, w: None,
    "relu": lambda r, w: np.maximum(w, 0, out=w),
    "zeros": _zeros,
    "lost": _lost,
    "small": _small,
    "small across": _small_across,
    "wide": _wide,
    "nan": _one(np.nan),
    "infinite": _one(-np.inf),
    "huge": _one(3e9),
    "subnormal": _one(1e-40),
}


def _lengths(r: Random, layout: str, large_a: bool) -> tuple[int, int, int, int]:
    """m, n, k and splits that the kernel takes."""
    large = 4 * int(r.integers(10, 80))
    small = int(r.integers(1, min(large, 150)))
    splits = int(r.integers(2, 5))
    inside = layout[0] == "n" if large_a else layout[1] == "t"
    blocks = 2 * int(r.integers(1, 3)) if inside else int(r.integers(1, 5))
    k = 64 * blocks * splits - (4 * int(r.integers(16)) if inside else int(r.integers(64)))
    return (large, small, k, splits) if large_a else (small, large, k, splits)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("large_a", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_bits_of_written_pieces(kind: str, large_a: bool, layout: str) -> None:
    r = np.random.default_rng([list(KINDS).index(kind), large_a, *map(ord, layout)])
    for tile in TILES:
        m, n, k, splits = _lengths(r, layout, large_a)
        a, b = (r.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
        for w in (a, b)[:: 1 if large_a else -1][: int(r.integers(1, 3))]:
            KINDS[kind](r, w)
        x, y = put(a, layout[0]), put(b, layout[1])
        want = ng.dot(x, y, precision="tensor", splits=splits, tile=WRITTEN).get()
        got = ng.dot(x, y, precision="tensor", splits=splits, tile=tile).get()
        assert same_bits(got, want), (m, n, k, splits, tile)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_small_elements_of_all_groups_count(layout: str) -> None:
    """All but the last four of a row have no good precision, and those four meet zeros: the sum is of nothing else."""
    r = np.random.default_rng(3)
    m, n, k = 60, 132, 900  # of which the sample sees all columns
    a, b = (r.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
    a[:, :-4] *= np.float32(2.0**-40)
    b[-4:] = 0
    for x, y, large in ((a, b, "b"), (b.T, a.T, "a")):
        for tile in ("f16_128x128", WRITTEN, *TILES):
            got = ng.dot(put(x, layout[0]), put(y, layout[1]), precision="tensor", splits=2, tile=tile).get()
            largest, _ = errors(got, x, y)
            assert largest <= 2e-6, (large, tile)


@pytest.mark.parametrize("k", [641, 769, 770, 775])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_lost_element_where_a_panel_has_few_columns(layout: str, k: int) -> None:
    """A row of zeros but for one element without good precision, the last: its products are all that there is."""
    r = np.random.default_rng(k)
    a, b = (r.uniform(-1, 1, s).astype(np.float32) for s in ((130, k), (k, 70)))
    a[5] = 0
    a[5, k - 1] = 1.234567e-10
    for x, y in ((a, b), (b.T, a.T)):
        for tile in ("f16_128x128", WRITTEN):
            got = ng.dot(put(x, layout[0]), put(y, layout[1]), precision="tensor", splits=1, tile=tile).get()
            largest, _ = errors(got, x, y)
            assert largest <= 2e-6, tile


@pytest.mark.parametrize(("m", "n", "k"), [(120, 2052, 4096), (2052, 116, 4096)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_chosen_whatever_lies_where(m: int, n: int, k: int, layout: str) -> None:
    """The library's own choice, in a plan, with kept pieces, and of operands that begin anywhere: the same bits."""
    r = np.random.default_rng(4)
    a, b = (r.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
    a[1, 3] = b[2, 1] = 1e-12  # without good precision
    x, y = put(a, layout[0]), put(b, layout[1])
    out = ng.empty((m, n))
    plan = ng.GemmPlan(x, y, out, precision="tensor")
    assert plan.kernel.startswith("f16x3_rs_"), plan.kernel
    plan(x, y, out)
    want = out.get()
    largest, _ = errors(want, a, b)
    assert largest <= 2e-6
    assert same_bits(ng.dot(x, y, precision="tensor").get(), want)

    ax, by = put_anywhere(a, layout[0]), put_anywhere(b, layout[1])
    assert "f16x3_rs" not in ng.GemmPlan(ax, by, out, precision="tensor").kernel
    assert same_bits(ng.dot(ax, by, precision="tensor").get(), want)
    for operands in ((ng.Pieces(put(a)), y), (x, ng.Pieces(put(b)))):
        if layout == "nn":
            assert same_bits(ng.dot(*operands, precision="tensor").get(), want)


def test_epilogues() -> None:
    r = np.random.default_rng(5)
    x, w, bias, c = (put(r.standard_normal(s).astype(np.float32)) for s in ((48, 1024), (1024, 260), (260,), (48, 260)))
    for options in ({"relu": True}, {"beta": 0.5, "alpha": -2.0}, {"activation": "gelu"}):
        both = []
        for tile in ("f16_rs64", WRITTEN):
            out = c.copy()
            ng.dot(x, w, out=out, bias=bias, precision="tensor", splits=3, tile=tile, **options)
            both.append(out.get())
        assert same_bits(*both), options


def test_the_workspace_has_no_room_for_pieces_of_the_large_operand() -> None:
    x, w, out = ng.zeros((64, 4096)), ng.zeros((4096, 4096)), ng.empty((64, 4096))
    plan = ng.GemmPlan(x, w, out, precision="tensor")
    assert plan.kernel.startswith("f16x3_rs_")
    assert plan.workspace < w.nbytes / 4
