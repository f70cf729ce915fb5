"""The emulator computes what an H200 computed, bit for bit: digests of its outputs, replayed on this device.

Recorded on a GPU by NG_RECORD_DIGESTS=1 pytest test/python/products/test_digests.py; the file names the GPU and driver.
"""

from __future__ import annotations

import hashlib
import json
import os

import nervanagpu as ng
import numpy as np
import pytest
from source_tree import DATA

FILE = DATA / "digests" / "sgemm.json"
TILES = ["64x64", "128x128"]
SHAPES = [(1, 1, 1), (3, 17, 5), (127, 129, 33), (129, 128, 8), (64, 192, 1), (200, 260, 70), (132, 68, 515)]
EPILOGUES = ["plain", "beta", "bias_columns_relu", "bias_rows_alpha"]
RECORD = bool(os.environ.get("NG_RECORD_DIGESTS"))


def product(layout: str, tile: str, shape: tuple[int, int, int], epilogue: str) -> np.ndarray:
    """One GEMM on inputs that depend on the case alone; values over many binades, so that order and rounding show."""
    m, n, k = shape
    rng = np.random.default_rng([ord(c) for c in layout + epilogue] + [m, n, k])

    def draw(rows: int, columns: int) -> ng.GPUTensor:
        x = rng.standard_normal((rows, columns)) * np.exp2(rng.integers(-20, 20, (rows, columns)))
        return ng.array(x.astype(np.float32))

    a = draw(k, m).T if layout[0] == "t" else draw(m, k)
    b = draw(n, k).T if layout[1] == "t" else draw(k, n)
    out = draw(m, n)
    if epilogue == "plain":
        ng.dot(a, b, out=out, tile=tile, splits=1)
    elif epilogue == "beta":
        ng.dot(a, b, out=out, alpha=0.3, beta=-1.7, tile=tile, splits=1)
    elif epilogue == "bias_columns_relu":
        ng.dot(a, b, out=out, bias=draw(1, n), relu=True, tile=tile, splits=1)
    else:
        ng.dot(a, b, out=out, alpha=-0.7, bias=draw(m, 1), tile=tile, splits=1)
    return out.get()


def digest(x: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()[:24]


def cases() -> list[tuple[str, tuple[int, int, int], str]]:
    return [(lay, s, e) for lay in ("nn", "nt", "tn", "tt") for s in SHAPES for e in EPILOGUES]


def key(layout: str, shape: tuple[int, int, int], epilogue: str) -> str:
    return f"{layout} {'x'.join(map(str, shape))} {epilogue}"


@pytest.mark.skipif(not RECORD, reason="records digests only with NG_RECORD_DIGESTS=1")
def test_record() -> None:
    assert ng.device().kind == "cuda", "digests are recorded on a GPU"
    table = {key(*c): digest(product(c[0], TILES[0], c[1], c[2])) for c in cases()}
    info = ng.device()
    body = {"gpu": info.name, "driver": info.driver, "arch": info.arch, "sha256[:24]": table}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(body, indent=1) + "\n")


@pytest.mark.skipif(RECORD, reason="recording")
@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_same_bits_as_the_gpu(layout: str, tile: str) -> None:
    table = json.loads(FILE.read_text())["sha256[:24]"]
    assert len(table) == len(cases())
    wrong = [key(*c) for c in cases() if c[0] == layout and digest(product(c[0], tile, c[1], c[2])) != table[key(*c)]]
    assert not wrong, f"{len(wrong)} of {len(cases()) // 4} products differ from the GPU's: {wrong[:5]}"
