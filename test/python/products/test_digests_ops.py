"""The emulator computes what an H200 computed, bit for bit: GEMM of every type, convolution, pooling and the small ops.

Recorded on a GPU by NG_RECORD_DIGESTS=1 pytest test/python/products/test_digests_ops.py; the file names the GPU and
driver.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
import pytest
from source_tree import DATA

FILE = DATA / "digests" / "ops.json"
RECORD = bool(os.environ.get("NG_RECORD_DIGESTS"))
Array = npt.NDArray[Any]
ROUNDINGS: list[dict[str, Any]] = [{}, {"rounding": "stochastic", "seed": 11, "offset": 5, "bits": 7}]


class Draw:
    """Inputs that depend on the case's name alone, over many binades, so that order and rounding show."""

    def __init__(self, name: str) -> None:
        self.rng = np.random.default_rng(list(name.encode()))

    def __call__(self, shape: tuple[int, ...], dtype: str, spread: int = 6) -> ng.GPUTensor:
        if dtype in ("int8", "uint8"):
            info = np.iinfo(dtype)
            return ng.array(self.rng.integers(info.min, info.max + 1, shape).astype(dtype))
        x = self.rng.standard_normal(shape) * np.exp2(self.rng.integers(-spread, spread, shape))
        return ng.array(x.astype(dtype))


def gemms() -> dict[str, Callable[[Draw], ng.GPUTensor]]:
    """float16 and bytes in every layout, at shapes that take scalar and vector kernels of multiply-adds."""
    out: dict[str, Callable[[Draw], ng.GPUTensor]] = {}
    for dtype, layout, (m, n, k), how in itertools.product(
        ["float16", "float32", "int8", "uint8"], ["nn", "nt", "tn", "tt"], [(65, 33, 50), (64, 132, 96)], [0, 1]
    ):
        if how and "int" in dtype:
            continue

        def run(d: Draw, dtype: str = dtype, layout: str = layout, m: int = m, n: int = n, k: int = k, how: int = how):
            a = d((k, m), dtype).T if layout[0] == "t" else d((m, k), dtype)
            b = d((n, k), dtype).T if layout[1] == "t" else d((k, n), dtype)
            return ng.dot(a, b, relu=bool(how), tensor_cores=False, splits=1, **ROUNDINGS[how])

        out[f"gemm {dtype} {layout} {m}x{n}x{k} {how}"] = run
    return out


def rings() -> dict[str, Callable[[Draw], ng.GPUTensor]]:
    """float32 in parts, by the kernels that the copy engine feeds: rows of 16 bytes and others, a CTA and a cluster."""
    out: dict[str, Callable[[Draw], ng.GPUTensor]] = {}
    for tile, layout, (m, n, k, ctas) in itertools.product(
        ["16x128", "16x64", "32x64", "64x32", "40x64", "48x64t", "64x64"],
        ["nn", "nt", "tn", "tt"],
        [(36, 132, 336, 1), (61, 67, 333, 3)],
    ):
        deep = layout[0] == "n"
        odd = m % 4 != 0
        if (tile == "16x128" and odd) or (tile == "16x64" and not odd) or (tile == "64x32" and (odd or not deep)):
            continue
        if tile == "40x64" and (odd or not deep):
            continue

        def run(d: Draw, tile: str = tile, layout: str = layout, m: int = m, n: int = n, k: int = k, ctas: int = ctas):
            a = d((k, m), "float32").T if layout[0] == "t" else d((m, k), "float32")
            b = d((n, k), "float32").T if layout[1] == "t" else d((k, n), "float32")
            return ng.dot(a, b, tile=f"ring{tile}", splits=ctas)

        out[f"ring {tile} {layout} {m}x{n}x{k} {ctas}"] = run
    return out


def teams() -> dict[str, Callable[[Draw], ng.GPUTensor]]:
    """float32 in chunks of k, by the kernel whose warps share a tile."""
    out: dict[str, Callable[[Draw], ng.GPUTensor]] = {}
    shapes = [(132, 260, 340, 1), (36, 140, 8460, 2)]
    for layout, (m, n, k, ctas) in itertools.product(["nn", "nt", "tn", "tt"], shapes):

        def run(d: Draw, layout: str = layout, m: int = m, n: int = n, k: int = k, ctas: int = ctas):
            a = d((k, m), "float32").T if layout[0] == "t" else d((m, k), "float32")
            b = d((n, k), "float32").T if layout[1] == "t" else d((k, n), "float32")
            return ng.dot(a, b, tile="ring128x128", splits=ctas)

        out[f"team {layout} {m}x{n}x{k} {ctas}"] = run
    return out


def convolutions() -> dict[str, Callable[[Draw], ng.GPUTensor]]:
    """The three passes in three layouts, with stride, padding, dilation and groups."""
    out: dict[str, Callable[[Draw], ng.GPUTensor]] = {}
    problems = [
        (2, 4, 8, 9, 7, 3, 3, 1, 1, 1, 1),  # n, c, k, h, w, r, s, stride, padding, dilation, groups
        (4, 8, 68, 6, 6, 3, 3, 2, 1, 1, 1),
        (3, 3, 5, 11, 8, 5, 4, 3, 2, 1, 1),
        (4, 8, 8, 7, 7, 3, 3, 1, 2, 2, 2),
    ]
    for pas, layout, dtype, p, how in itertools.product(
        ["fprop", "bprop", "update"], ["NHWC", "CHWN", "NCHW"], ["float32", "float16"], problems, [0, 1]
    ):
        if how and p is not problems[0]:
            continue

        def run(
            d: Draw, pas: str = pas, layout: str = layout, dtype: str = dtype, p: tuple[int, ...] = p, how: int = how
        ) -> ng.GPUTensor:
            n, c, k, h, w, r, s, stride, padding, dilation, groups = p
            length = {"N": n, "C": c, "H": h, "W": w}
            x_shape = tuple(length[axis] for axis in layout)
            length.update(
                C=k,
                H=(h + 2 * padding - dilation * (r - 1) - 1) // stride + 1,
                W=(w + 2 * padding - dilation * (s - 1) - 1) // stride + 1,
            )
            y_shape = tuple(length[axis] for axis in layout)
            cg = c // groups
            w_shape = {"NHWC": (k, r, s, cg), "CHWN": (cg, r, s, k), "NCHW": (k, cg, r, s)}[layout]
            common: dict[str, Any] = {
                "stride": stride, "padding": padding, "dilation": dilation, "groups": groups, "layout": layout,
                "tensor_cores": False, **ROUNDINGS[how],
            }  # fmt: skip
            if pas == "fprop":
                bias = d((k,), "float32")
                return ng.conv2d(d(x_shape, dtype), d(w_shape, dtype), bias=bias, relu=bool(how), **common)
            if pas == "bprop":
                return ng.conv2d_bprop(d(y_shape, dtype), d(w_shape, dtype), x_shape, **common)
            return ng.conv2d_update(d(y_shape, dtype), d(x_shape, dtype), w_shape, **common)

        out[f"conv {pas} {layout} {dtype} {'-'.join(map(str, p))} {how}"] = run
    return out


def pools() -> dict[str, Callable[[Draw], ng.GPUTensor]]:
    """Maximum, average and root of squares, forward and backward, overlapping windows too."""
    out: dict[str, Callable[[Draw], ng.GPUTensor]] = {}
    for op, layout, dtype, (window, stride, padding), how in itertools.product(
        ["max", "avg", "l2"], ["NHWC", "CHWN", "NCHW"], ["float32", "float16"], [(2, 2, 0), (3, 2, 1)], [0, 1]
    ):

        def run(
            d: Draw, back: bool, op: str = op, layout: str = layout, dtype: str = dtype, window: int = window,
            stride: int = stride, padding: int = padding, how: int = how,
        ) -> ng.GPUTensor:  # fmt: skip
            length = {"N": 4, "C": 5, "H": 9, "W": 8}
            shape = tuple(length[axis] for axis in layout)
            x = d(shape, dtype, 3)
            forward = getattr(ng, f"{op}_pool2d")
            if not back:
                return forward(x, window, stride=stride, padding=padding, layout=layout, **ROUNDINGS[how])
            y = forward(x, window, stride=stride, padding=padding, layout=layout)
            dy = d(y.shape, dtype, 3)
            return getattr(ng, f"{op}_pool2d_bprop")(dy, x, window, stride, padding, layout, **ROUNDINGS[how])

        for back in (False, True):
            name = f"pool {op} {'bprop' if back else 'fprop'} {layout} {dtype} {window}-{stride}-{padding} {how}"
            out[name] = lambda d, run=run, back=back: run(d, back)
    return out


CASES = {**gemms(), **rings(), **teams(), **convolutions(), **pools()}


def digest(name: str) -> str:
    got: Array = CASES[name](Draw(name)).get()
    return hashlib.sha256(np.ascontiguousarray(got).tobytes()).hexdigest()[:16]


@pytest.mark.skipif(not RECORD, reason="records digests only with NG_RECORD_DIGESTS=1")
def test_record() -> None:
    info = ng.device()
    assert info.kind == "cuda", "digests are recorded on a GPU"
    body = {"gpu": info.name, "driver": info.driver, "arch": info.arch, "sha256[:16]": {n: digest(n) for n in CASES}}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(body, indent=0) + "\n")


@pytest.mark.skipif(RECORD, reason="recording")
@pytest.mark.parametrize("op", ["gemm", "ring", "team", "conv fprop", "conv bprop", "conv update", "pool"])
def test_same_bits_as_the_gpu(op: str) -> None:
    table = json.loads(FILE.read_text())["sha256[:16]"]
    assert set(table) == set(CASES)
    mine = [name for name in CASES if name.startswith(op + " ")]
    wrong = [name for name in mine if digest(name) != table[name]]
    assert not wrong, f"{len(wrong)} of {len(mine)} results differ from the GPU's: {wrong[:5]}"
