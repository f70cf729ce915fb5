"""Two CTAs that copy each other's rows (hgemm_cluster.sass, MATES = 2)."""

from __future__ import annotations

import itertools
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
import pytest

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")

Half = npt.NDArray[np.float16]
TILE = "128x64n"
WIDTHS = (64, 96, 128, 160, 192)  # of a CTA's columns
BOX = 64  # contiguous columns come in boxes of so many


def put(x: Half, letter: str) -> ng.GPUTensor:
    return ng.array(np.ascontiguousarray(x.T)).T if letter == "t" else ng.array(x)


def integers(shape: tuple[int, ...], seed: int) -> Half:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float16)


# One block and more than there are stages; one tile, whose mate is outside, and several pairs.
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize(("m", "n", "k"), [(8, 8, 8), (136, 128, 776), (264, 200, 1288), (128, 72, 64), (8, 424, 136)])
@pytest.mark.parametrize("width", WIDTHS)
def test_exact_integers(width: int, m: int, n: int, k: int, layout: str) -> None:
    if width % BOX and layout[1] == "n":
        pytest.skip("no kernel: boxes of 64 contiguous columns")
    a, b, c = integers((m, k), 1), integers((k, n), 2), integers((m, n), 3)
    row, column = integers((n,), 4), integers((m, 1), 5)
    product = a.astype(np.float64) @ b.astype(np.float64)
    cases: list[tuple[dict[str, Any], npt.NDArray[np.float64]]] = [
        ({}, product),
        ({"alpha": -1.0, "bias": ng.array(row), "relu": True}, np.maximum(row - product, 0)),
        ({"beta": -3.0, "bias": ng.array(column)}, product - 3 * c + column),
    ]
    for options, want in cases:
        out = ng.array(c)
        tile = f"128x{width}n"
        ng.dot(put(a, layout[0]), put(b, layout[1]), out, tile=tile, splits=1, **options)
        assert np.array_equal(out.get(), want.astype(np.float16)), options


def test_bits_are_those_of_the_other_tiles() -> None:
    rng = np.random.default_rng(1)
    a = rng.standard_normal((264, 712)).astype(np.float16)
    b = rng.standard_normal((712, 328)).astype(np.float16)
    for layout in itertools.product("nt", repeat=2):
        x, y = put(a, layout[0]), put(b, layout[1])
        want = ng.dot(x, y, tile="128x128", splits=1).get()
        for width in WIDTHS:
            if width % BOX == 0 or layout[1] == "t":
                assert np.array_equal(ng.dot(x, y, tile=f"128x{width}n", splits=1).get(), want), width


def test_pairs_do_not_cut_k() -> None:
    with pytest.raises(ValueError, match="no kernel with tile 128x64n that cuts k into 2 parts"):
        ng.dot(ng.zeros((128, 256), np.float16), ng.zeros((256, 128), np.float16), tile=TILE, splits=2)
