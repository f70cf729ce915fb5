"""Products of float64 beside cuBLAS's DGEMM, of int32 and int64 beside CuPy's, in one run on one GPU: same inputs, same
stream, CUDA-graph replays in turn, medians.

    python benchmarks/dgemm.py [--out FILE] [--dtypes float64,int32,int64] [--cases 4096x4096x4096,...]
                               [--layouts nn,nt,tn,tt] [--tiles] [--require-peer]

Random data (normal numbers, integers of the whole range) in as many buffers as leave the 60 MB L2. float64: the errors
are the mean and the largest |got - exact| / (|A||B|) over sampled elements, exact sums in long double, for both
libraries. Integers are equal to NumPy's, modulo 2^32 or 2^64, or wrong. --tiles also times every tile of ours. Exits 1
if an error exceeds the kernels' bound or an integer is wrong.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
from measure.cuda import Driver, Graph, median_ms
from measure.operands import L2_BYTES, Errors, Matrix, Operands, shapes
from measure.report import Row, machine, write
from peers.cublas import Cublas, find_libcublas
from peers.libraries import cupy

CASES = ["512x512x512", "1024x1024x1024", "2048x2048x2048", "4096x4096x4096", "8192x8192x8192"]
CASES += ["1023x1025x1027", "2047x2049x2051", "4095x4097x4099", "128x4096x4096", "4096x128x4096", "2000x2000x20000"]
INTEGER_CASES = ["512x512x512", "1024x1024x1024", "2048x2048x2048", "4096x4096x4096", "1023x1025x1027"]
TILES = {
    "float64": ["128x128", "128x64", "64x32", "64x64", "16x32"],
    "int32": ["128x128", "64x64", "16x32"],
    "int64": ["64x64", "16x32"],
}
REPEATS = 11
WORK = {"float64": 5e10, "int32": 2e10, "int64": 5e9}  # multiply-adds x 2 in a graph
ROWS, COLUMNS = 8, 128  # that are sampled


def draw(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> Matrix:
    """Normal numbers, or integers of the whole range."""
    if dtype == "float64":
        return rng.standard_normal(shape)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def make(dtype: str, layout: str, m: int, n: int, k: int) -> tuple[list[Operands], Matrix, Matrix]:
    """Enough sets to leave the L2; also the first set's A and B on the host."""
    rng = np.random.default_rng(2015)
    shape_a, shape_b = shapes(layout, m, n, k)
    size = np.dtype(dtype).itemsize * (m * k + k * n + m * n)
    sets, first = [], []
    for _ in range(max(1, min(8, -(-2 * L2_BYTES // size)))):
        a, b = draw(rng, shape_a, dtype), draw(rng, shape_b, dtype)
        first = first or [a, b]
        poison = np.full((m, n), np.nan if dtype == "float64" else 77, dtype)
        sets.append(Operands(ng.array(a), ng.array(b), ng.array(poison), ng.array(poison)))
    return sets, first[0], first[1]


def errors(got: Matrix, a: Matrix, b: Matrix, layout: str) -> Errors:
    """Of sampled rows and columns, the last ones among them; integers are right (0) or not (inf)."""
    rng = np.random.default_rng(1)
    rows, columns = (
        np.append(rng.choice(size, min(most, size), replace=False), size - 1)
        for size, most in zip(got.shape, (ROWS, COLUMNS), strict=True)
    )
    x = (a.T if layout[0] == "t" else a)[rows]
    y = (b.T if layout[1] == "t" else b)[:, columns]
    mine = got[rows][:, columns]
    if mine.dtype.kind == "i":
        with np.errstate(over="ignore"):
            right = np.array_equal(mine, x @ y)
        return Errors(0.0, 0.0) if right else Errors(float("inf"), float("inf"))
    exact = x.astype(np.longdouble) @ y.astype(np.longdouble)
    error = np.abs(mine - exact) / (np.abs(x) @ np.abs(y))
    finite = bool(np.isfinite(error).all())
    return Errors(float(error.mean()), float(error.max())) if finite else Errors(float("inf"), float("inf"))


def bound(dtype: str, k: int) -> float:
    """Of one chain of multiply-adds."""
    return k * 2.0**-53 / (1 - k * 2.0**-53) if dtype == "float64" else 0.0


def by_cublas(peer: Cublas, layout: str, m: int, n: int, k: int) -> Callable[[Operands], None]:
    """DGEMM into `theirs`."""

    def run(s: Operands) -> None:
        peer.gemm("float64", layout, m, n, k, s.a.ptr, s.a.shape[1], s.b.ptr, s.b.shape[1], s.theirs.ptr)

    return run


def by_cupy(stream: ng.Stream, layout: str) -> Callable[[Operands], None]:
    """CuPy's matmul of the same memory into `theirs`."""

    def view(t: ng.GPUTensor) -> Any:
        memory = cupy.cuda.UnownedMemory(t.ptr, t.nbytes, t)
        return cupy.ndarray(t.shape, str(t.dtype), cupy.cuda.MemoryPointer(memory, 0))

    def run(s: Operands) -> None:
        a, b = view(s.a), view(s.b)
        with cupy.cuda.ExternalStream(stream.handle):
            cupy.matmul(a.T if layout[0] == "t" else a, b.T if layout[1] == "t" else b, out=view(s.theirs))

    return run


def measure(
    driver: Driver, stream: ng.Stream, peer: Cublas | None, dtype: str, case: str, layout: str, tile: str | None = None
) -> Row:
    """Both libraries on one case."""
    m, n, k = (int(x) for x in case.split("x"))
    sets, a, b = make(dtype, layout, m, n, k)
    passes = max(1, int(WORK[dtype] / (2.0 * m * n * k * len(sets))))
    theirs = by_cublas(peer, layout, m, n, k) if peer is not None else by_cupy(stream, layout)

    def ours(s: Operands) -> None:
        x = s.a.T if layout[0] == "t" else s.a
        y = s.b.T if layout[1] == "t" else s.b
        ng.dot(x, y, out=s.ours, stream=stream, tile=tile)

    def graph_of(one: Callable[[Operands], None]) -> Graph:
        for s in sets:  # loads and warms up outside the capture
            one(s)
        stream.synchronize()
        return Graph(driver, stream.handle, lambda: [one(s) for _ in range(passes) for s in sets])

    measured = median_ms(driver, stream.handle, [graph_of(ours), graph_of(theirs)], REPEATS)
    stream.synchronize()
    mine, peers = (ms / (passes * len(sets)) for ms in measured)
    mine_off = errors(sets[0].ours.get(), a, b, layout)
    peer_off = errors(sets[0].theirs.get(), a, b, layout)
    return Row(
        bench="dgemm",
        case=case + (f" tile {tile}" if tile else ""),
        dtype=dtype,
        layout=layout,
        pass_="fprop",
        ms=round(mine, 6),
        peer=f"cuBLAS {peer.version}" if peer is not None else f"CuPy {cupy.__version__}",
        peer_ms=round(peers, 6),
        ratio=round(peers / mine, 4),
        max_err=mine_off.max,
        peer_max_err=peer_off.max,
        mean_err=mine_off.mean,
        peer_mean_err=peer_off.mean,
        tflops=round(2e-9 * m * n * k / mine, 2),
    )


def main() -> int:
    """Parse the command line, measure, print a table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/gemm/dgemm.json"))
    parser.add_argument("--dtypes", default="float64,int32,int64")
    parser.add_argument("--cases")
    parser.add_argument("--layouts", default="nn,nt,tn,tt")
    parser.add_argument("--tiles", action="store_true", help="every tile, too")
    parser.add_argument("--require-peer", action="store_true", help="fail where there is no GPU, libcublas or CuPy")
    args = parser.parse_args()
    dtypes = args.dtypes.split(",")
    missing = [] if ng.device().kind == "cuda" else ["a GPU"]
    if "float64" in dtypes and find_libcublas() is None:
        missing.append("libcublas")
    if any(d != "float64" for d in dtypes) and cupy is None:
        missing.append("CuPy")
        dtypes = [d for d in dtypes if d == "float64"]
    if missing:
        print(f"benchmarks/dgemm.py: {', '.join(missing)} missing", file=sys.stderr)
        if args.require_peer or missing != ["CuPy"] or not dtypes:
            return 1 if args.require_peer else 0
    driver, stream = Driver(), ng.Stream()
    rows: list[Row] = []
    bad = 0
    for dtype in dtypes:
        peer = Cublas(stream.handle) if dtype == "float64" else None
        cases = (args.cases or ",".join(CASES if dtype == "float64" else INTEGER_CASES)).split(",")
        tiles = [None, *(TILES[dtype] if args.tiles else [])]
        for case, layout, tile in itertools.product(cases, args.layouts.split(","), tiles):
            row = measure(driver, stream, peer, dtype, case, layout, tile)
            rows.append(row)
            limit = bound(dtype, int(case.split("x")[2]))
            wrong = row.max_err is None or not row.max_err <= limit
            bad += wrong
            print(
                f"{dtype} {row.case:>16} {layout}  {row.tflops:7.2f} TFLOPS {row.ms:9.4f} ms   {row.peer} "
                f"{row.peer_ms:9.4f} ms  {row.ratio:5.2f}x   error {row.mean_err:.1e}, {row.max_err:.1e} "
                f"(peer {row.peer_mean_err:.1e}, {row.peer_max_err:.1e})"
                f"{'  BEYOND THE BOUND ' + format(limit, '.1e') if wrong else ''}",
                flush=True,
            )
    snapshot = machine()
    write(args.out, rows, snapshot)
    print(f"wrote {args.out}: {snapshot}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
