"""float32 products by the kernels that the copy engine feeds: every tile, layout, alignment, split and epilogue."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
import pytest

Array = npt.NDArray[Any]
TILES = ["64x32", "16x128", "16x64", "32x64", "40x64", "48x64", "64x64"]
TEAM = "ring128x128"
NAMES = [f"ring{t}{e}" for t in TILES for e in ("", "t")] + [TEAM]
LAYOUTS = ["nn", "nt", "tn", "tt"]
SHAPES = [(16, 16, 16), (64, 64, 64), (7, 5, 3), (33, 70, 100), (16, 130, 257), (40, 64, 48), (1, 1, 1), (37, 129, 64)]
SHAPES += [(130, 67, 515), (65, 64, 1000)]
CHUNK = 2048  # k-steps of a team's sums before they go to shared memory
# Elements before the first, elements after each row; CTAs of a cluster.
PLACES = [(0, 0, 1), (1, 0, 1), (0, 3, 3), (3, 2, 2)]


# The second shape has 64 x 64 in more CTAs than there are multiprocessors: two share one, and sum in one chain.
CHECKED = """
import numpy as np, nervanagpu as ng
rng = np.random.default_rng(0)
count = 0
for m, n, k, tiles in [(68, 140, 336, TILES), (384, 708, 48, ["ring64x64"])]:
    a, b = rng.integers(-8, 9, (m, k)).astype(np.float32), rng.integers(-8, 9, (k, n)).astype(np.float32)
    for layout in ("nn", "nt", "tn", "tt"):
        x = ng.array(np.ascontiguousarray(a.T)).T if layout[0] == "t" else ng.array(a)
        y = ng.array(np.ascontiguousarray(b.T)).T if layout[1] == "t" else ng.array(b)
        for tile in tiles:
            for ctas in (1, 2):
                try:
                    got = ng.dot(x, y, tile=tile, splits=ctas).get()
                except ValueError:
                    continue  # not of this layout
                assert np.array_equal(got, a @ b), (layout, tile, ctas)
                count += 1
print(count, ng.device().checked)
"""


def put(x: Array, letter: str, before: int, behind: int) -> ng.GPUTensor:
    """x on the device, as n or t lies in memory, among numbers that are none."""
    y = x.T if letter == "t" else x
    rows, columns = y.shape
    everything = ng.array(np.full(before + rows * (columns + behind), np.nan, np.float32))
    view = everything[before:].reshape(rows, columns + behind)[:, :columns]
    view[:] = np.ascontiguousarray(y)
    return view.T if letter == "t" else view


def numbers(rng: np.random.Generator, *shape: int) -> Array:
    """Integers whose products and sums are exact."""
    return rng.integers(-4, 5, shape).astype(np.float32)


def products(tile: str) -> int:
    """Every layout, shape and place that the tile has: how many were right."""
    rng = np.random.default_rng(5)
    count = 0
    for m, n, k in SHAPES:
        a, b = numbers(rng, m, k), numbers(rng, k, n)
        want = a.astype(np.float64) @ b
        for layout in LAYOUTS:
            for before, behind, ctas in PLACES:
                aligned = before == 0 and behind == 0
                pad_a = -(m if layout[0] == "t" else k) % 4 if aligned else behind
                pad_b = -(k if layout[1] == "t" else n) % 4 if aligned and count % 3 else behind
                x, y = put(a, layout[0], before, pad_a), put(b, layout[1], before, pad_b)
                out = ng.array(np.full((m, n), np.nan, np.float32))
                try:
                    ng.dot(x, y, out, tile=tile, splits=ctas)
                except ValueError as e:
                    assert "no kernel with tile" in str(e)  # not of these layouts and alignments
                    continue
                got = out.get()
                assert np.array_equal(got, want), (tile, m, n, k, layout, before, behind, ctas)
                count += 1
    return count


@pytest.mark.parametrize("tile", NAMES)
def test_products_are_exact(tile: str) -> None:
    assert products(tile) >= 12


@pytest.mark.parametrize("tile", ["ring16x64", "ring32x64t", "ring40x64", "ring48x64t", "ring64x64", TEAM])
def test_epilogues(tile: str) -> None:
    rng = np.random.default_rng(6)
    ways: list[tuple[float, float, str, bool]] = [(1, 0, "", True), (2, 0, "j", False), (1, 3, "", False)]
    ways += [(0.5, 1, "i", True), (1, 0, "j", True)]
    count = 0
    for m, n, k in [(33, 70, 100), (64, 64, 64), (20, 132, 47)]:
        a, b, c = numbers(rng, m, k), numbers(rng, k, n), numbers(rng, m, n)
        for ctas in (1, 2, 5, 8):
            for alpha, beta, bias, relu in ways:
                vector = None if not bias else numbers(rng, n) if bias == "j" else numbers(rng, m, 1)
                want = alpha * (a.astype(np.float64) @ b) + beta * c + (0 if vector is None else vector)
                out = ng.array(c)
                x, y = put(a, "n", 0, -k % 4), put(b, "n", 0, 0)
                options: dict[str, Any] = {"alpha": alpha, "beta": beta, "relu": relu, "tile": tile, "splits": ctas}
                try:
                    ng.dot(x, y, out, bias=None if vector is None else ng.array(vector), **options)
                except ValueError as e:
                    assert "no kernel with tile" in str(e)
                    continue
                assert np.array_equal(out.get(), np.maximum(want, 0) if relu else want), (tile, m, n, k, options, bias)
                count += 1
    assert count >= 20


@pytest.mark.parametrize(("k", "ctas"), [(333, 3), (2500, 1), (40, 2), (10000, 1)])
def test_sums_are_those_of_their_parts(k: int, ctas: int) -> None:
    """Four parts a CTA, each sequential over its blocks of 16 k; or in tiles of few elements over chunks of half the
    part and at most 256 k, in 64 x 64 of aligned rows over chunks of 1024, which are added in order. The parts are
    added in order, then those of the CTAs.
    """
    rng = np.random.default_rng(7)
    m, n = 24, 40
    a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((k, n), dtype=np.float32)
    blocks = -(-k // 16)
    depth = -(-blocks // (4 * ctas))

    def chain(begin: int, end: int) -> Array:
        total = np.zeros((m, n), np.float32)
        for i in range(begin, min(end, k)):
            exact = a[:, i : i + 1].astype(np.float64) * b[i].astype(np.float64)
            total = (exact + total).astype(np.float32)  # one rounding, but for ties of ties: none here
        return total

    def part(p: int, chunk: int) -> Array:
        begin, end = 16 * p * depth, 16 * (p + 1) * depth
        total = chain(begin, min(begin + chunk, end))
        for at in range(begin + chunk, end, chunk):
            total = total + chain(at, min(at + chunk, end))
        return total

    few = 16 * min(16, (depth + 1) // 2)
    chunks = {"ring64x64": 16 * depth, "ring48x64": 16 * depth, "ring32x64t": few}
    if k % 4 == 0:  # rows that begin at multiples of 16 bytes
        chunks |= {"ring16x128": few, "ring64x64": 1024}
    for tile, chunk in chunks.items():
        want = np.zeros((m, n), np.float32)
        for cta in range(ctas):
            parts = [part(4 * cta + w, chunk) for w in range(4)]
            four = parts[0] + parts[1] + parts[2] + parts[3]
            want = four if cta == 0 else want + four
        got = ng.dot(ng.array(a), ng.array(b), tile=tile, splits=ctas).get()
        assert np.array_equal(got, want), tile


@pytest.mark.parametrize("layout", LAYOUTS)
def test_more_ctas_than_multiprocessors(layout: str) -> None:
    """64 x 64 keeps no chunks then: two CTAs share a multiprocessor."""
    rng = np.random.default_rng(8)
    m, n, k = 700, 836, 612
    a, b = numbers(rng, m, k), numbers(rng, k, n)
    for ctas in (1, 3):
        got = ng.dot(put(a, layout[0], 0, 0), put(b, layout[1], 0, 0), tile="ring64x64", splits=ctas).get()
        assert np.array_equal(got, a.astype(np.float64) @ b), ctas


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("k", [16, CHUNK - 16, CHUNK, CHUNK + 1, 2 * CHUNK + 16, 3 * CHUNK])
def test_chunks_of_a_team_are_exact(layout: str, k: int) -> None:
    rng = np.random.default_rng(9)
    m, n = 132, 140
    a, b = numbers(rng, m, k), numbers(rng, k, n)
    x = put(a, layout[0], 0, 0 if layout[0] == "t" else -k % 4)
    y = put(b, layout[1], 0, -k % 4 if layout[1] == "t" else 0)
    for ctas in (1, 2):
        got = ng.dot(x, y, tile=TEAM, splits=ctas).get()
        assert np.array_equal(got, a.astype(np.float64) @ b), ctas


@pytest.mark.parametrize("ctas", [1, 3])
def test_sums_of_a_team_are_those_of_their_chunks(ctas: int) -> None:
    """A CTA's part of k in chunks, each a sequential chain, added in order; then those of the CTAs."""
    rng = np.random.default_rng(10)
    m, n, k = 8, 12, 2 * CHUNK * ctas + 77
    blocks = -(-k // 16)
    a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((k, n), dtype=np.float32)
    depth = -(-blocks // ctas) * 16
    parts = []
    for begin in range(0, ctas * depth, depth):
        part = np.zeros((m, n), np.float32)
        for first in range(begin, begin + depth, CHUNK):
            total = np.zeros((m, n), np.float32)
            for i in range(first, min(first + CHUNK, begin + depth, k)):
                exact = a[:, i : i + 1].astype(np.float64) * b[i].astype(np.float64)
                total = (exact + total).astype(np.float32)  # one rounding, but for ties of ties: none here
            part = total if first == begin else part + total
        parts.append(part)
    want = parts[0]
    for part in parts[1:]:
        want = want + part
    for layout in ("nn", "tn"):
        x = put(a, layout[0], 0, 0 if layout[0] == "t" else -k % 4)
        assert np.array_equal(ng.dot(x, ng.array(b), tile=TEAM, splits=ctas).get(), want)


@pytest.mark.skipif(ng.device().kind == "cuda", reason="of the emulator")
def test_checked_mode_finds_nothing(python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """Every tile of rows of 16 bytes: no hazard, no race, no store over an mbarrier."""
    tiles = [f"ring{t}" for t in TILES] + ["ring64x64t", TEAM]
    run = python(f"TILES = {tiles}\n{CHECKED}", device="emulator", emulator="checked")
    assert run.returncode == 0, run.stderr
    assert run.stdout == "64 True\n"


@pytest.mark.parametrize("tile", ["ring48x64", TEAM])
def test_special_values_reach_only_their_row_and_column(tile: str) -> None:
    a, b = np.ones((20, 52), np.float32), np.ones((52, 72), np.float32)
    a[3, 7], b[9, 11] = np.inf, np.nan
    got = ng.dot(ng.array(a), ng.array(b), tile=tile, splits=2).get()
    assert np.isnan(got[:, 11]).all() and np.isinf(np.delete(got[3], 11)).all()
    assert np.array_equal(np.delete(np.delete(got, 3, 0), 11, 1), np.full((19, 71), 52, np.float32))


def test_choice_depends_on_the_problem_alone() -> None:
    """splits=1, or a tile of another kernel, is one chain: row i does not depend on m."""
    rng = np.random.default_rng(8)
    a, b = rng.standard_normal((64, 600), dtype=np.float32), rng.standard_normal((600, 96), dtype=np.float32)
    whole = ng.dot(ng.array(a), ng.array(b), batch_invariant=True).get()
    assert np.array_equal(ng.dot(ng.array(a), ng.array(b), tile="64x64", splits=1).get(), whole)
    for m in (1, 17, 64):
        assert np.array_equal(ng.dot(ng.array(a[:m]), ng.array(b), batch_invariant=True).get(), whole[:m])
