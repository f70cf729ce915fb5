"""Tiles and parts of k of the tensor-core GEMM, float16, each beside cuBLAS.

    python benchmarks/hgemm_sweep.py [--out FILE] [--cases 128x4096x4096,...] [--random N] [--seconds S]

For each case, layouts NN and NT: cublasGemmEx, the library's own choice, every tile of hgemm.sass by a few numbers of
parts, hgemm_cluster.sass's tiles of the short side by 1 to 8 parts, its pairs, and its tiles of 32 where no side is
short. Medians of seven rounds of CUDA graphs in turn; operands rotate past the L2. `--random N` adds N products with
a short side, the same for each N.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from functools import partial
from pathlib import Path

import nervanagpu as ng
from gemm import CASES
from measure.cuda import Driver, graph_over, median_ms
from measure.operands import Operands, make
from measure.report import commit, machine, save
from peers.cublas import Cublas

MORE = ["256x256x256", "768x768x768", "1536x1536x1536", "3072x3072x3072", "4096x64x4096", "8x4096x4096", "32x4096x4096"]
MORE += ["256x4096x4096", "100x1000x8192", "2048x128x8192", "40x8456x2560", "5120x704x2048"]
WIDTHS = (64, 128, 192, 256)  # of hgemm.sass's tiles, 128 high
SHORT = (16, 32, 64, 128)  # of hgemm_cluster.sass's, 64 high
BLOCK = 64  # of k
PROCESSORS = 132
ROUNDS = 7
WORK = 1e10  # multiply-adds x 2 of a graph
Variant = tuple[str, int]  # tile, parts; ("", 0): the library's choice


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def drawn(count: int) -> list[str]:
    """Products with a short side."""
    rng = random.Random(5)
    short, long = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512], [512, 1000, 1536, 2048, 2560, 4096, 8192, 11008]
    out = []
    for _ in range(count):
        a, b, k = rng.choice(short), rng.choice(long), rng.choice([256, 512, 784, 1024, 2048, 4096, 9216])
        out.append(f"{a}x{b}x{k}" if rng.random() < 0.5 else f"{b}x{a}x{k}")
    return out


def variants(m: int, n: int, k: int) -> list[Variant]:
    """What is worth measuring: no grid of a handful of CTAs, no parts by the dozen."""
    blocks = ceil_div(k, BLOCK)
    out: list[Variant] = [("", 0)]
    if n % 8 or k % 8:  # rows that the copy engine does not take: the library copies, or takes another kernel
        return out
    for width in WIDTHS:
        tiles = ceil_div(m, 128) * ceil_div(n, width)
        for parts in (1, 2, 3, 4, 6, 8, 12):
            whole = parts <= blocks and ceil_div(blocks, ceil_div(blocks, parts)) == parts
            few = tiles * parts < 30 and width != WIDTHS[0]
            if whole and not few and (parts == 1 or tiles * parts <= 2 * PROCESSORS):
                out.append((f"128x{width}", parts))
    for side, long, short in (("n", m, n), ("t", n, m)):
        for width in SHORT:
            tiles = ceil_div(long, 64) * ceil_div(short, width)
            if (width > SHORT[0] and width >= 2 * short) or (width < SHORT[-1] and short > 2 * width) or tiles > 600:
                continue
            for parts in range(1, 9):
                whole = parts <= blocks and ceil_div(blocks, ceil_div(blocks, parts)) == parts
                if whole and (parts == 1 or tiles * parts <= 450) and (parts == 8 or tiles * parts >= 50):
                    out.append((f"64x{width}{side}", parts))
    if min(m, n) > SHORT[-1]:
        for side, long, short in (("n", m, n), ("t", n, m)):
            if ceil_div(long, 64) * ceil_div(short, 32) <= PROCESSORS:
                out += [(f"64x32{side}", parts) for parts in (1, 2, 3) if parts <= blocks]
        if ceil_div(m, 128) * ceil_div(ceil_div(n, 64), 2) <= PROCESSORS // 2:
            out.append(("128x64n", 1))
    return out


def measure(driver: Driver, stream: ng.Stream, peer: Cublas, case: str, layout: str) -> list[object]:
    """All variants of one case: m, n, k, layout, microseconds by tile/parts."""
    m, n, k = (int(x) for x in case.split("x"))
    sets, _, _ = make("float16", layout, m, n, k)
    passes = max(1, int(WORK / (2.0 * m * n * k * len(sets))))

    def ours(s: Operands, variant: Variant) -> None:
        tile, parts = variant
        b = s.b.T if layout[1] == "t" else s.b
        ng.dot(s.a, b, out=s.ours, stream=stream, tile=tile, splits=parts)

    def theirs(s: Operands) -> None:
        a, b = s.a, s.b
        peer.gemm("float16", layout, m, n, k, a.ptr, a.shape[1], b.ptr, b.shape[1], s.theirs.ptr)

    todo = variants(m, n, k)
    runs = [theirs, *(partial(ours, variant=v) for v in todo)]
    graphs = [graph_over(driver, stream, run, sets, passes) for run in runs]
    each = [1e3 * ms / passes / len(sets) for ms in median_ms(driver, stream.handle, graphs, ROUNDS)]
    best = min(range(1, len(each)), key=each.__getitem__)
    print(
        f"{case} {layout}: cublasGemmEx {each[0]:.2f} us, chosen {each[0] / each[1]:.2f} times its rate, "
        f"{todo[best - 1][0] or 'which is best'} in {todo[best - 1][1]} {each[0] / each[best]:.2f}",
        flush=True,
    )
    names: list[Variant] = [("cublasGemmEx", 0), ("chosen", 0), *todo[1:]]
    times = {f"{t}/{p}" if p else t: round(us, 3) for (t, p), us in zip(names, each, strict=True)}
    return [m, n, k, layout, times]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/hgemm_sweep.json"))
    parser.add_argument("--cases", default=",".join([c for c in CASES if not c.startswith("8192")] + MORE))
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--seconds", type=float, default=120.0)
    args = parser.parse_args()
    if ng.device().kind != "cuda":
        print("hgemm_sweep: needs a GPU; this is the emulator", file=sys.stderr)
        return 1
    driver, stream = Driver(), ng.Stream()
    peer = Cublas(stream.handle)
    end = time.monotonic() + args.seconds
    rows: list[list[object]] = []
    for case in args.cases.split(",") + drawn(args.random):
        for layout in ("nn", "nt"):
            if time.monotonic() < end:
                rows.append(measure(driver, stream, peer, case, layout))
    said = {"what": (__doc__ or "").splitlines()[0], "commit": commit(), **machine()}
    save(args.out, {**said, "rows: m, n, k, layout, us by tile/parts": rows})
    print(f"{len(rows)} rows in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
