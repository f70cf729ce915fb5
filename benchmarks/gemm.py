"""GEMM beside cuBLAS, in one run on one GPU: same inputs, same stream, CUDA-graph replays, interleaved, medians.

    python benchmarks/gemm.py [--out FILE] [--dtypes float32,float16,...] [--cases 4096x4096x4096,...]
                              [--layouts nn,nt,tn] [--precision strict|tensor] [--require-peer]

dtypes: float32, float16, int8 (to int32), and bfloat16 where the package ml_dtypes is installed.

The peer is the better of cuBLAS's default and the best of the eight algorithms that cublasLt's heuristics propose,
with 128 MiB of workspace; for int8 cublasLt alone, which wants k contiguous in both operands (nt): every layout is
compared with that. A graph of ours has independent products one after the other, and each may be launched before the
one ahead has ended (programmatic dependent launch), which cuBLAS's kernels do not ask for: `apart_ms` is the same
without it, in the same run. Random data in as many buffers as it takes to leave the 60 MB L2; a graph holds whole
passes over them. The errors are the mean and the largest |got - float64| / (|A||B|) over sampled elements, for both
libraries, and also for cuBLAS's default where another algorithm was faster. The picture FILE.svg stands beside the
JSON. Exits 1 if an error of ours exceeds the kernel's bound.

--precision tensor: float32 on the tensor cores (docs/lab/bf16x6.md), beside cuBLAS's SGEMM alone, which has TF32 off.
In the same run: ours in "strict", and cuBLAS with TF32, whose times and errors are columns of their own.
For each case, once, also the largest error and the root mean square over all outputs, ours, strict and cuBLAS's, on
three distributions.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import nervanagpu as ng
import numpy as np
from gemm_chart import attainable, chart
from measure.cuda import Driver, Graph, median_ms
from measure.errors import no_worse, whole_errors
from measure.operands import Errors, bound, errors, make
from measure.report import Row, machine, write
from nervanagpu import _core
from peers.cublas import Cublas, find_libcublas
from peers.cublaslt import CublasLt, Plan

CASES = [
    "8192x8192x8192",
    "4096x4096x4096",
    "2048x2048x2048",
    "1024x1024x1024",
    "2000x2000x40000",
]
# Fully connected layers and other products with a short side.
SHORT = ["4096x256x2048", "512x256x784", "128x4096x9216", "128x4096x4096", "128x1000x4096", "64x4096x25088"]
SHORT += ["64x2560x2560", "16x4096x4096", "35x8457x2560", "5124x700x2048", "7680x32x2560"]
TENSOR_CASES = [
    "8192x8192x8192",
    "4096x4096x4096",
    "2048x2048x2048",
    "1024x1024x1024",
    "2000x2000x40000",
    "4095x4097x4099",
    "2047x2049x2051",
    "1023x3001x1025",
]
TENSOR_CASES += SHORT
CASES += SHORT
WORKSPACE = 128 << 20  # of cublasLt
REPEATS = 11
WORK = {"float32": 5e10, "float16": 2e11, "bfloat16": 2e11, "int8": 4e11}  # multiply-adds x 2 in a graph


def measure(
    driver: Driver,
    stream: ng.Stream,
    peer: Cublas,
    lt: CublasLt,
    dtype: str,
    case: str,
    layout: str,
    precision: str | None = None,
) -> Row:
    """Both libraries on one case."""
    m, n, k = (int(x) for x in case.split("x"))
    sets, a, b = make(dtype, layout, m, n, k)
    passes = max(1, int(WORK[dtype] / (2.0 * m * n * k * len(sets))))

    def ours(how: str | None = precision) -> None:
        for _ in range(passes):
            for s in sets:
                x = s.a.T if layout[0] == "t" else s.a
                y = s.b.T if layout[1] == "t" else s.b
                ng.dot(x, y, out=s.ours, stream=stream, precision=how)

    def default(how: str = dtype) -> None:
        for _ in range(passes):
            for s in sets:
                lda, ldb = s.a.shape[1], s.b.shape[1]
                peer.gemm(how, layout, m, n, k, s.a.ptr, lda, s.b.ptr, ldb, s.theirs.ptr)

    def by(plan: Plan) -> Callable[[], None]:
        def body() -> None:
            for _ in range(passes):
                for s in sets:
                    lt.run(plan, s.a.ptr, s.b.ptr, s.theirs.ptr)

        return body

    theirs = "nt" if dtype == "int8" else layout
    bodies = {} if dtype == "int8" else {"default": default}
    if precision != "tensor":  # which keeps to SGEMM
        bodies |= {f"Lt {p.number}": by(p) for p in lt.plans(dtype, theirs, m, n, k)}
    others = [partial(ours, "strict"), partial(default, "tf32")] if precision == "tensor" else []
    for body in (*others, ours, *bodies.values()):  # load and warm up outside the capture
        body()
    stream.synchronize()
    graphs = {name: Graph(driver, stream.handle, body) for name, body in bodies.items()}
    trial = median_ms(driver, stream.handle, list(graphs.values()), 3)
    best = min(zip(trial, graphs, strict=True))[1]
    _core.overlap_launches(False)
    apart = Graph(driver, stream.handle, ours)
    _core.overlap_launches(True)
    timed = [Graph(driver, stream.handle, ours), graphs[best], apart]
    timed += [Graph(driver, stream.handle, body) for body in others]
    measured = median_ms(driver, stream.handle, timed, REPEATS)
    mine, peers, alone, *rest = (ms / (passes * len(sets)) for ms in measured)
    ours()  # the last that wrote s.ours was another
    stream.synchronize()
    mine_off = errors(sets[0].ours.get(), a, b, layout)

    # int8 of other layouts: the peer's product of the same memory, read as NT.
    x, y = (a, b) if theirs == layout else (a.reshape(m, k), b.reshape(n, k))

    def off(how: str) -> Errors:
        bodies[how]()
        stream.synchronize()
        return errors(sets[0].theirs.get(), x, y, theirs)

    peer_off = off(best)
    default_off = peer_off if best == "default" or "default" not in bodies else off("default")
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
        apart_ms=round(alone, 6),
        ratio=round(peers / mine, 4),
        max_err=mine_off.max,
        peer_max_err=peer_off.max,
        mean_err=mine_off.mean,
        peer_mean_err=peer_off.mean,
        default_max_err=default_off.max,
        default_mean_err=default_off.mean,
        tflops=round(2e-9 * m * n * k / mine, 2),
        ceiling=round(2e-9 * m * n * k / mine / attainable(dtype, m, n, k, precision), 4),
        precision=precision or ("strict" if dtype == "float32" else None),
        **{name: round(ms, 6) for name, ms in zip(("strict_ms", "tf32_ms"), rest, strict=False)},
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
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/gemm/gemm.json"))
    parser.add_argument("--dtypes", default="float32,float16")
    parser.add_argument("--cases")
    parser.add_argument("--precision", choices=["strict", "tensor"])
    parser.add_argument("--layouts", default="nn,nt,tn")
    parser.add_argument("--require-peer", action="store_true", help="fail where there is no GPU or no libcublas")
    args = parser.parse_args()
    tensor = args.precision == "tensor"
    cases = (args.cases or ",".join(TENSOR_CASES if tensor else CASES)).split(",")
    if tensor:
        args.dtypes = "float32"
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
    print(
        f"{ng.device().name}, ours against cuBLAS {peer.version}; % of what the chip can; "
        "error = |err| / (|A||B|), mean and largest"
    )
    for dtype, case, layout in itertools.product(args.dtypes.split(","), cases, args.layouts.split(",")):
        row = measure(driver, stream, peer, lt, dtype, case, layout, args.precision)
        rows.append(row)
        limit = bound(dtype, int(case.split("x")[2]), args.precision)
        wrong = not row.max_err <= limit
        bad += wrong
        print(
            f"{dtype} {case:>16} {layout}  {row.tflops:7.2f} TFLOPS {100 * (row.ceiling or 0):4.0f} %  "
            f"{row.ms:9.4f} ms ({row.apart_ms:.4f} apart)   cuBLAS {row.peer_ms:9.4f} ms ({row.peer_how})  "
            f"{row.ratio:5.2f}x   "
            f"error {row.mean_err:.2e}, {row.max_err:.1e} (cuBLAS {row.peer_mean_err:.2e}, {row.peer_max_err:.1e}; "
            f"its default {row.default_mean_err:.2e}, {row.default_max_err:.1e})"
            f"{'  BEYOND THE BOUND ' + format(limit, '.1e') if wrong else ''}",
            flush=True,
        )
        if tensor and layout == args.layouts.split(",")[0]:
            m, n, k = (int(x) for x in case.split("x"))
            row.whole = whole_errors(peer, stream, m, n, k)
            bad += not no_worse(row.whole)
            print(f"    strict {row.strict_ms:.4f} ms, cuBLAS with TF32 {row.tf32_ms:.4f} ms")
            for name, table in row.whole.items():
                text = ", ".join(f"{who} {e['max']:.2e} {e['rms']:.2e}" for who, e in table.items())
                print(f"    {name}, all outputs, max and rms: {text}{'' if no_worse({name: table}) else '  WORSE'}")
    for dtype in args.dtypes.split(","):
        short = [r.ratio for r in rows if r.dtype == dtype and min(int(x) for x in r.case.split("x")[:2]) <= 700]
        if short:
            mean = statistics.geometric_mean(short)
            print(f"{dtype}: {len(short)} products with a side of 700 or less: {mean:.3f}x on average")
    snapshot = under_load(driver, stream)
    write(args.out, rows, snapshot)
    picture = args.out.with_suffix(".svg")
    picture.write_text(chart(json.loads(args.out.read_text())))
    print(f"wrote {args.out} and {picture}: {snapshot}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
