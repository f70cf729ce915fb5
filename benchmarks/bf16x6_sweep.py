"""Tiles and parts of k of float32 on the tensor cores, beside strict products and SGEMM: what the model is fitted to.

    python benchmarks/bf16x6_sweep.py [--out FILE] [--cases 1024x1024x1024,...] [--layouts nn,nt,tn]
                                      [--tiles 128x128,f16_128x192,...] [--parts 1,2,...]

Medians of seven rounds of CUDA graphs in turn; operands rotate past the L2. A time is that of all kernels of a call.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import nervanagpu as ng
from gemm import TENSOR_CASES
from measure.cuda import Driver, graph_over, median_ms
from measure.operands import Operands, make
from measure.report import commit, machine, save
from peers.cublas import Cublas

MORE = ["512x512x512", "768x768x768", "1536x1536x1536", "3072x3072x3072", "256x4096x4096", "4096x4096x256"]
MORE += ["128x4096x4096", "1024x1024x8192", "4096x1024x4096"]
TILES = (
    "128x128",
    "128x192",
    "f16_128x64",
    "f16_128x128",
    "f16_128x192",
    "f16_rs64",
    "f16_rs128",
)  # three pieces of bfloat16, or two of float16
PARTS = (1, 2, 3, 4, 6, 8)  # 0: as the library cuts it
ROUNDS = 7
WORK = 1e10  # multiply-adds x 2 of a graph
Variant = tuple[str, str, int]  # precision, tile, parts; 0 parts: the library's choice


def variants(k: int, tiles: Sequence[str], parts: Sequence[int]) -> list[Variant]:
    """The library's choices, and every tile in so many parts."""
    out: list[Variant] = [("strict", "", 0), ("tensor", "", 0)]
    chunks = -(-k // 64)
    whole = [p for p in parts if p == 0 or (p <= chunks and -(-chunks // -(-chunks // p)) == p)]
    return out + [("tensor", tile, p) for tile in tiles for p in whole]


def measure(
    driver: Driver,
    stream: ng.Stream,
    peer: Cublas,
    case: str,
    layout: str,
    tiles: Sequence[str],
    parts: Sequence[int],
) -> list[dict[str, object]]:
    """All variants of one case."""
    m, n, k = (int(x) for x in case.split("x"))
    sets, _, _ = make("float32", layout, m, n, k)
    passes = max(1, int(WORK / (2.0 * m * n * k * len(sets))))

    def ours(s: Operands, variant: Variant) -> None:
        precision, tile, parts = variant
        a = s.a.T if layout[0] == "t" else s.a
        b = s.b.T if layout[1] == "t" else s.b
        ng.dot(a, b, out=s.ours, stream=stream, tile=tile or None, splits=parts, precision=precision)

    def theirs(s: Operands) -> None:
        a, b = s.a, s.b
        peer.gemm("float32", layout, m, n, k, a.ptr, a.shape[1], b.ptr, b.shape[1], s.theirs.ptr)

    def exists(variant: Variant) -> bool:
        try:
            ours(sets[0], variant)
        except ValueError:  # no kernel of that tile cuts k so
            return False
        return True

    todo = [v for v in variants(k, tiles, parts) if exists(v)]
    runs = [theirs, *(partial(ours, variant=v) for v in todo)]
    graphs = [graph_over(driver, stream, run, sets, passes) for run in runs]
    each = [1e3 * ms / passes / len(sets) for ms in median_ms(driver, stream.handle, graphs, ROUNDS)]
    best = min(range(1, len(each)), key=each.__getitem__)
    for (precision, tile, p), us in zip(todo, each[1:], strict=True):
        rate = 2e-6 * m * n * k / us
        print(f"  {precision} {tile} {p}: {us:.1f} us, {rate:.1f} TFLOPS, {each[0] / us:.2f}", flush=True)
    print(
        f"{case} {layout}: SGEMM {each[0]:.2f} us; times its rate: strict {each[0] / each[1]:.2f}, "
        f"tensor {each[0] / each[2]:.2f}, best {each[0] / each[best]:.2f} ({' '.join(map(str, todo[best - 1]))})",
        flush=True,
    )
    names: list[Variant] = [("SGEMM", "", 0), *todo]
    return [
        {"m": m, "n": n, "k": k, "layout": layout, "precision": p, "tile": t, "splits": s, "microseconds": round(us, 3)}
        for (p, t, s), us in zip(names, each, strict=True)
    ]


def main() -> int:
    """Parse the command line, measure, print a line for each case, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/bf16x6_sweep.json"))
    parser.add_argument("--cases", default=",".join(TENSOR_CASES + MORE))
    parser.add_argument("--layouts", default="nn,nt,tn")
    parser.add_argument("--tiles", default=",".join(TILES))
    parser.add_argument("--parts", default=",".join(map(str, PARTS)))
    args = parser.parse_args()
    if ng.device().kind != "cuda":
        print("bf16x6_sweep: needs a GPU; this is the emulator", file=sys.stderr)
        return 1
    driver, stream = Driver(), ng.Stream()
    peer = Cublas(stream.handle)
    rows: list[dict[str, object]] = []
    for case in args.cases.split(","):
        for layout in args.layouts.split(","):
            parts = [int(p) for p in args.parts.split(",")]
            rows += measure(driver, stream, peer, case, layout, args.tiles.split(","), parts)
    save(args.out, {"what": (__doc__ or "").splitlines()[0], "commit": commit(), **machine(), "rows": rows})
    print(f"{len(rows)} rows in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
