"""The emulator computes what an H200 computes, bit for bit: random floats through the kernels of the tensor cores.

hgemm with one tile a CTA and with several, parts of k, batches, both warpgroups in turn; hgemm_resident; hgemm_cluster
with operands as they are, swapped, in pairs, and with rows that begin anywhere. NG_RECORD_DIGESTS=1 pytest
test/python/products/test_digests_tensor.py records them on the device that is there, which the file names.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
import tier
from source_tree import DATA
from test_digests_ops import ROUNDINGS, Draw

FILE = DATA / "digests" / "tensor_products.json"
RECORD = bool(os.environ.get("NG_RECORD_DIGESTS"))
FLOATS = ("float16", "bfloat16")
Case = Callable[[Draw], ng.GPUTensor]

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="these kernels are for sm_90a")


def operand(d: Draw, rows: int, columns: int, dtype: str, transposed: bool, start: int = 8) -> ng.GPUTensor:
    """Rows at multiples of 16 bytes (start = 8), or of `start` elements, whatever their length."""
    if transposed:
        rows, columns = columns, rows
    across = -(-columns // start) * start
    whole = d((rows, across), "float32" if "float" in dtype else dtype)
    if "float" in dtype:
        whole = whole.astype(dtype)
    x = whole[:, :columns]
    return x.T if transposed else x


def product(
    d: Draw, dtype: str, layout: str, m: int, n: int, k: int, start: int = 8, out_dtype: str | None = None,
    beta: float = 0, **options: Any,
) -> ng.GPUTensor:  # fmt: skip
    a = operand(d, m, k, dtype, layout[0] == "t", start)
    b = operand(d, k, n, dtype, layout[1] == "t", start)
    out = d((m, n), "float32").astype(out_dtype or dtype)
    return ng.dot(a, b, out=out, beta=beta, **options)


def tiles() -> dict[str, Case]:
    """hgemm's tiles, one, and with 132 CTAs or fewer three for each; whole and in parts of k."""
    out: dict[str, Case] = {}
    names = ("128x64", "128x128", "128x192", "128x256", "128x128x2")
    for dtype, layout, tile, splits in itertools.product(FLOATS, ("nn", "nt", "tn", "tt"), names, (1, 3)):

        def run(d: Draw, dtype: str = dtype, layout: str = layout, tile: str = tile, splits: int = splits):
            return product(d, dtype, layout, 150, 300, 230, tile=tile, splits=splits)

        out[f"tile {dtype} {layout} {tile} {splits}"] = run
    for dtype, (tile, m, n) in zip(FLOATS, (("128x64", 2200, 1000), ("128x128x2", 1800, 2500)), strict=True):

        def many(d: Draw, dtype: str = dtype, tile: str = tile, m: int = m, n: int = n):
            return product(d, dtype, "nn", m, n, 100, tile=tile, splits=1)

        out[f"tiles in turn {dtype} {tile}"] = many
    return out


def endings() -> dict[str, Case]:
    """What may follow a sum: results of other types, factors, functions, rounding at random."""
    out: dict[str, Case] = {}
    for tile, activation in itertools.product(
        ("128x128", "128x128x2"), ("relu", "tanh", "sigmoid", "gelu", "gelu_tanh", "silu", "clip")
    ):
        for how, result in ((0, "float16"), (1, "float16"), (0, "float32")):

            def run(d: Draw, tile: str = tile, activation: str = activation, how: int = how, result: str = result):
                more = {"clip": (-1.5, 40.0)} if activation == "clip" else {}
                return product(
                    d, "float16", "nt", 140, 260, 200, out_dtype=result, tile=tile, splits=1, alpha=0.01, beta=0.3,
                    bias=d((260,), "float32"), activation=activation, **more, **ROUNDINGS[how],
                )  # fmt: skip

            out[f"ending {tile} {activation} {result} {how}"] = run
    return out


def byte_products() -> dict[str, Case]:
    """int8 and uint8 with float32 and int8 results."""
    out: dict[str, Case] = {}
    for dtype, tile, result in itertools.product(("int8", "uint8"), ("128x64", "128x256", "128x128x2"), ("f", "i")):

        def run(d: Draw, dtype: str = dtype, tile: str = tile, result: str = result):
            a, b = d((150, 304), dtype), d((280, 304), dtype).T
            to = ng.zeros((150, 280), dtype="float32" if result == "f" else "int8")
            scale = d((280,), "float32")
            return ng.dot(a, b, out=to, scale=scale, alpha=1e-4, activation="silu", tile=tile, splits=1)

        out[f"bytes {dtype} {tile} {result}"] = run
    return out


def batches() -> dict[str, Case]:
    """A product each, and the sum of them."""
    out: dict[str, Case] = {}
    for dtype, kind in itertools.product(FLOATS, ("each", "sum")):

        def run(d: Draw, dtype: str = dtype, kind: str = kind):
            a = d((5, 136, 200), "float32").astype(dtype)
            b = d((5, 200, 264), "float32").astype(dtype)
            to = ng.zeros((5, 136, 264) if kind == "each" else (136, 264), dtype=dtype)
            return ng.batched_dot(a, b, to)

        out[f"batch {dtype} {kind}"] = run
    return out


def residents() -> dict[str, Case]:
    """hgemm_resident: some tiles a CTA, b in both layouts, a batch of one b."""
    out: dict[str, Case] = {}
    shapes = {"64x64r16": (200, 64, 1000), "64x96r9": (9000, 90, 100), "64x128r9": (9000, 128, 200),
              "64x160r8": (300, 320, 500), "64x192r6": (9000, 180, 100), "64x256r4": (500, 500, 250)}  # fmt: skip
    for (tile, (m, n, k)), dtype, layout in itertools.product(shapes.items(), FLOATS, ("nn", "nt")):
        if layout == "nt" or tile not in ("64x96r9", "64x160r8"):

            def run(d: Draw, tile: str = tile, m: int = m, n: int = n, k: int = k, dtype: str = dtype,
                    layout: str = layout):  # fmt: skip
                return product(d, dtype, layout, m, n, k, tile=tile, splits=1, relu=True, bias=d((n,), "float32"))

            out[f"resident {tile} {dtype} {layout}"] = run
    for dtype in FLOATS:

        def each(d: Draw, dtype: str = dtype):
            a, b = d((3, 4000, 200), "float32").astype(dtype), d((200, 136), "float32").astype(dtype)
            to = ng.zeros((3, 4000, 136), dtype=dtype)
            return ng.batched_dot(a, ng.broadcast_to(b[None], (3, 200, 136)), to, tile="64x128r9")

        out[f"resident batch {dtype}"] = each
    return out


def clusters() -> dict[str, Case]:
    """hgemm_cluster: 1 to 8 parts of k, operands swapped, pairs, rows that begin anywhere."""
    out: dict[str, Case] = {}
    shapes = {"64x16n": (100, 13), "64x32n": (100, 31), "64x64n": (100, 100), "64x128n": (100, 200),
              "64x16t": (13, 100), "64x32t": (30, 100), "64x64t": (100, 100), "64x128t": (200, 100)}  # fmt: skip
    for (tile, (m, n)), dtype, layout, (splits, how) in itertools.product(
        shapes.items(), FLOATS, ("nn", "nt", "tn", "tt"), ((1, 0), (3, 1), (8, 0))
    ):

        def run(
            d: Draw, tile: str = tile, m: int = m, n: int = n, dtype: str = dtype, layout: str = layout,
            splits: int = splits, how: int = how,
        ) -> ng.GPUTensor:  # fmt: skip
            return product(d, dtype, layout, m, n, 530, tile=tile, splits=splits, beta=0.7 * how, **ROUNDINGS[how])

        out[f"cluster {tile} {dtype} {layout} {splits} {how}"] = run
    for dtype, layout in itertools.product(FLOATS, ("nn", "nt", "tn", "tt")):

        def pair(d: Draw, dtype: str = dtype, layout: str = layout):
            return product(d, dtype, layout, 300, 200, 500, tile="128x64n", splits=1, relu=True)

        out[f"cluster pair {dtype} {layout}"] = pair
    for dtype, swapped in itertools.product(FLOATS, (False, True)):

        def rows(d: Draw, dtype: str = dtype, swapped: bool = swapped):
            short, long = operand(d, 64, 2000, dtype, False), operand(d, 2000, 1001, dtype, False, 1)
            to = ng.zeros((1001, 64) if swapped else (64, 1001), dtype=dtype)  # of this type alone: rows in place
            return ng.dot(long.T, short.T, to) if swapped else ng.dot(short, long, to)

        # The name seeds its operands: "exchanged" is the word of the day it was recorded.
        out[f"cluster rows {dtype} {'exchanged' if swapped else 'as it is'}"] = rows
    return out


CASES = {**tiles(), **endings(), **byte_products(), **batches(), **residents(), **clusters()}


def digest(name: str) -> str:
    got = CASES[name](Draw(name))
    got = got if got.dtype != "bfloat16" else got.astype("float32")
    return hashlib.sha256(np.ascontiguousarray(got.get()).tobytes()).hexdigest()[:16]


@pytest.mark.skipif(not RECORD, reason="records digests only with NG_RECORD_DIGESTS=1")
def test_record() -> None:
    info = ng.device()
    body = {"device": info.name, "driver": info.driver, "arch": info.arch}
    file = Path(os.environ.get("NG_DIGESTS_FILE", FILE))
    file.write_text(json.dumps({**body, "sha256[:16]": {n: digest(n) for n in CASES}}, indent=0) + "\n")


@pytest.mark.skipif(RECORD, reason="recording")
@pytest.mark.parametrize("op", ["tile", "tiles", "ending", "bytes", "batch", "resident", "cluster"])
def test_same_bits_as_the_gpu(op: str) -> None:
    table = json.loads(FILE.read_text())["sha256[:16]"]
    assert set(table) == set(CASES)
    mine = tier.some([name for name in CASES if name.startswith(op + " ")], 3)
    wrong = [name for name in mine if digest(name) != table[name]]
    assert not wrong, f"{len(wrong)} of {len(mine)} results differ from the file's: {wrong[:5]}"
