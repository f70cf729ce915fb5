"""GEMM beside cuBLAS, in one run on one GPU: same inputs, same stream, CUDA-graph replays, interleaved, medians.

    python benchmarks/gemm.py [--out FILE] [--dtypes float32,float16,...] [--cases 4096x4096x4096,...]
                              [--layouts nn,nt,tn] [--require-peer]

dtypes: float32, float16, and bfloat16 where the package ml_dtypes is installed.

The peer is the better of cuBLAS's default and the best of the eight algorithms that cublasLt's heuristics propose, with
128 MiB of workspace. Random normal data in as many buffers as it takes to leave the 60 MB L2; a graph holds whole
passes over them. The error is the largest |got - float64| / (|A||B|) over sampled rows, for both libraries. Exits 1 if
ours exceeds the kernel's bound.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from cublas import Cublas, find_libcublas
from cublaslt import CublasLt, Plan
from cuda import Driver, Event, Graph
from report import Row, machine, write

with contextlib.suppress(ImportError):
    import ml_dtypes  # noqa: F401  NumPy's bfloat16

CASES = [
    "8192x8192x8192",
    "4096x4096x4096",
    "2048x2048x2048",
    "1024x1024x1024",
    "2000x2000x40000",
    "4096x256x2048",
    "512x256x784",
]
# Fully connected layers and other products with a short side.
CASES += ["128x4096x9216", "128x4096x4096", "128x1000x4096", "64x4096x25088", "64x2560x2560", "16x4096x4096"]
CASES += ["35x8457x2560", "5124x700x2048", "7680x32x2560"]
L2_BYTES = 60 << 20
WORKSPACE = 128 << 20  # of cublasLt
SAMPLED_ROWS, SAMPLED_COLUMNS = 32, 1024
POOL = 50_000_017  # random numbers that all matrices are cut from
REPEATS = 11
WORK = {"float32": 5e10, "float16": 2e11, "bfloat16": 2e11}  # multiply-adds x 2 in a graph
Matrix = npt.NDArray[np.floating]


@dataclass
class Operands:
    """One set of device buffers: `a` and `b` as they lie in memory, `c` for each of the two libraries."""

    a: ng.GPUTensor
    b: ng.GPUTensor
    ours: ng.GPUTensor
    theirs: ng.GPUTensor


def shapes(layout: str, m: int, n: int, k: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Shapes in memory of A and B for a layout of two letters, n as is and t transposed."""
    return (k, m) if layout[0] == "t" else (m, k), (n, k) if layout[1] == "t" else (k, n)


@functools.cache
def pool(dtype: str) -> Matrix:
    return np.random.default_rng(2015).standard_normal(POOL, dtype=np.float32).astype(dtype)


def cut(numbers: Matrix, at: int, shape: tuple[int, int]) -> tuple[Matrix, int]:
    """The next numbers as a matrix, from the start again at the end; and where they ended."""
    size = shape[0] * shape[1]
    out = np.resize(np.roll(numbers, -at) if at else numbers, shape) if at + size > POOL else numbers[at : at + size]
    return out.reshape(shape), (at + size) % POOL


def make(dtype: str, layout: str, m: int, n: int, k: int) -> tuple[list[Operands], Matrix, Matrix]:
    """Enough sets to leave the L2; also the first set's A and B on the host."""
    numbers = pool(dtype)
    at = 0
    shape_a, shape_b = shapes(layout, m, n, k)
    bytes_a_set = np.dtype(dtype).itemsize * (m * k + k * n + m * n)
    sets: list[Operands] = []
    first: list[Matrix] = []
    for _ in range(max(1, min(8, -(-2 * L2_BYTES // bytes_a_set)))):
        a, at = cut(numbers, at, shape_a)
        b, at = cut(numbers, at, shape_b)
        first = first or [a, b]
        poison = np.full((m, n), np.nan, dtype)
        sets.append(Operands(ng.array(a), ng.array(b), ng.array(poison), ng.array(poison)))
    return sets, first[0], first[1]


def worst(got: Matrix, a: Matrix, b: Matrix, layout: str) -> float:
    """Largest |got - A B| / (|A| |B|) over sampled rows and columns; inf where anything is not a number."""
    rng = np.random.default_rng(1)
    rows, columns = (
        rng.choice(size, min(most, size), replace=False)
        for size, most in zip(got.shape, (SAMPLED_ROWS, SAMPLED_COLUMNS), strict=True)
    )
    x = (a.T if layout[0] == "t" else a)[rows].astype(np.float64)
    y = (b.T if layout[1] == "t" else b)[:, columns].astype(np.float64)
    scale = np.abs(x) @ np.abs(y)
    error = np.abs(got[rows][:, columns].astype(np.float64) - x @ y) / np.where(scale > 0, scale, 1.0)
    return float(error.max()) if np.isfinite(error).all() else float("inf")


def bound(dtype: str, k: int) -> float:
    """What the error may be: of a chain of k float32 multiply-adds (the tensor cores' is less), and of the result."""
    chain = k * 2.0**-24 / (1 - k * 2.0**-24)
    return chain + {"float16": 2.0**-11, "bfloat16": 2.0**-8}.get(dtype, 0.0)


def median_ms(driver: Driver, stream: ng.Stream, graphs: list[Graph], repeats: int) -> list[float]:
    """The median of each graph's milliseconds, launched in turn."""
    start, end = Event(driver), Event(driver)
    times: list[list[float]] = [[] for _ in graphs]
    for _ in range(repeats):
        for which, graph in enumerate(graphs):
            start.record(stream.handle)
            graph.launch()
            end.record(stream.handle)
            times[which].append(end.ms_since(start))
    return [statistics.median(t) for t in times]


def measure(driver: Driver, stream: ng.Stream, peer: Cublas, lt: CublasLt, dtype: str, case: str, layout: str) -> Row:
    """Both libraries on one case."""
    m, n, k = (int(x) for x in case.split("x"))
    sets, a, b = make(dtype, layout, m, n, k)
    passes = max(1, int(WORK[dtype] / (2.0 * m * n * k * len(sets))))

    def ours() -> None:
        for _ in range(passes):
            for s in sets:
                x = s.a.T if layout[0] == "t" else s.a
                y = s.b.T if layout[1] == "t" else s.b
                ng.dot(x, y, out=s.ours, stream=stream)

    def default() -> None:
        for _ in range(passes):
            for s in sets:
                lda, ldb = s.a.shape[1], s.b.shape[1]
                peer.gemm(dtype, layout, m, n, k, s.a.ptr, lda, s.b.ptr, ldb, s.theirs.ptr)

    def by(plan: Plan) -> Callable[[], None]:
        def body() -> None:
            for _ in range(passes):
                for s in sets:
                    lt.run(plan, s.a.ptr, s.b.ptr, s.theirs.ptr)

        return body

    bodies = {"default": default} | {f"Lt {p.number}": by(p) for p in lt.plans(dtype, layout, m, n, k)}
    for body in (ours, *bodies.values()):  # load and warm up outside the capture
        body()
    stream.synchronize()
    graphs = {name: Graph(driver, stream.handle, body) for name, body in bodies.items()}
    trial = median_ms(driver, stream, list(graphs.values()), 3)
    best = min(zip(trial, graphs, strict=True))[1]
    mine, peers = median_ms(driver, stream, [Graph(driver, stream.handle, ours), graphs[best]], REPEATS)
    mine, peers = mine / (passes * len(sets)), peers / (passes * len(sets))
    bodies[best]()
    stream.synchronize()
    return Row(
        bench="gemm",
        case=case,
        dtype=dtype,
        layout=layout,
        pass_="fprop",
        ms=round(mine, 6),
        peer=f"cuBLAS {peer.version}",
        peer_how=best,
        peer_ms=round(peers, 6),
        ratio=round(peers / mine, 4),
        max_err=worst(sets[0].ours.get(), a, b, layout),
        peer_max_err=worst(sets[0].theirs.get(), a, b, layout),
        tflops=round(2e-9 * m * n * k / mine, 2),
    )


def under_load(driver: Driver, stream: ng.Stream) -> dict[str, object]:
    """Clocks and power a second into our 4096 cube."""
    x = ng.array(np.random.default_rng(3).standard_normal((4096, 4096), dtype=np.float32))
    out = ng.empty((4096, 4096))
    ng.dot(x, x, out=out, stream=stream)
    graph = Graph(driver, stream.handle, lambda: [ng.dot(x, x, out=out, stream=stream) for _ in range(20)])
    for _ in range(80):
        graph.launch()  # 4 seconds of work, queued
    time.sleep(1.0)
    snapshot = machine()
    stream.synchronize()
    return snapshot


def main() -> int:
    """Parse the command line, measure, print a table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/gemm.json"))
    parser.add_argument("--dtypes", default="float32,float16")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--layouts", default="nn,nt,tn")
    parser.add_argument("--require-peer", action="store_true", help="fail where there is no GPU or no libcublas")
    args = parser.parse_args()
    if ng.device().kind != "cuda" or find_libcublas() is None:
        missing = "a GPU" if ng.device().kind != "cuda" else "libcublas"
        print(f"benchmarks/gemm.py: nothing measured, {missing} is missing", file=sys.stderr)
        return 1 if args.require_peer else 0
    driver, stream = Driver(), ng.Stream()
    peer = Cublas(stream.handle)
    workspace = ng.empty((WORKSPACE,), dtype="uint8")
    lt = CublasLt(stream.handle, workspace.ptr, WORKSPACE)
    rows: list[Row] = []
    bad = 0
    print(f"{ng.device().name}, ours against cuBLAS {peer.version}; error = max |err| / (|A||B|)")
    for dtype, case, layout in itertools.product(
        args.dtypes.split(","), args.cases.split(","), args.layouts.split(",")
    ):
        row = measure(driver, stream, peer, lt, dtype, case, layout)
        rows.append(row)
        limit = bound(dtype, int(case.split("x")[2]))
        wrong = not row.max_err <= limit
        bad += wrong
        print(
            f"{dtype} {case:>16} {layout}  {row.tflops:6.2f} TFLOPS  {row.ms:9.4f} ms   "
            f"cuBLAS {row.peer_ms:9.4f} ms ({row.peer_how})  "
            f"{row.ratio:5.2f}x   error {row.max_err:.1e} (cuBLAS {row.peer_max_err:.1e})"
            f"{'  BEYOND THE BOUND ' + format(limit, '.1e') if wrong else ''}",
            flush=True,
        )
    for dtype in args.dtypes.split(","):
        short = [r.ratio for r in rows if r.dtype == dtype and min(int(x) for x in r.case.split("x")[:2]) <= 700]
        if short:
            mean = statistics.geometric_mean(short)
            print(f"{dtype}: {len(short)} products with a side of 700 or less: {mean:.3f}x on average")
    snapshot = under_load(driver, stream)
    write(args.out, rows, snapshot)
    print(f"wrote {args.out}: {snapshot}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
