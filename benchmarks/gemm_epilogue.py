"""What the epilogue of a product costs: result types, a bias, activations, bits of relu, sums of rows and columns.

    python benchmarks/gemm_epilogue.py [--out FILE] [--cases 4096x4096x4096,...]

NT, random data, CUDA-graph replays, interleaved, medians. `peer` is our own plain product of the same operands to their
first result type (int8: int32); `ratio` its time over ours.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
from cuda import Driver, Event, Graph
from report import Row, machine, write

CASES = ["4096x4096x4096", "8192x8192x8192", "128x4096x9216"]
RESULTS = {
    "bfloat16": ["bfloat16", "float32"],
    "float16": ["float16", "float32"],
    "int8": ["int32", "float32", "int8"],
    "float32": ["float32"],
}
ACTIVATIONS = ["tanh", "sigmoid", "gelu", "gelu_tanh", "silu"]
REPEATS = 9


def operand(shape: tuple[int, int], dtype: str) -> ng.GPUTensor:
    """Normal floats; bytes of 40 times as much."""
    host = np.random.default_rng(5).standard_normal(shape, dtype=np.float32)
    return ng.array(np.clip(host * 40, -128, 127).astype(np.int8)) if dtype == "int8" else ng.array(host).astype(dtype)


def ways(a: ng.GPUTensor, b: ng.GPUTensor, dtype: str, stream: ng.Stream) -> dict[str, Callable[[], Any]]:
    """Products by what is asked of their epilogue, the plain one first."""
    m, n = a.shape[0], b.shape[0]

    def product(out: ng.GPUTensor, **options: Any) -> Callable[[], Any]:
        return lambda: ng.dot(a, b.T, out, stream=stream, **options)

    outs = {d: ng.empty((m, n), d) for d in RESULTS[dtype]}
    rich = outs["float32" if dtype == "int8" else dtype]
    bias = ng.ones((n,))
    mask = ng.array(np.random.default_rng(6).integers(0, 2**32, (m, -(-n // 32)), np.uint32))
    written = mask.copy()
    rows, columns, row_max, column_max = ng.empty(m), ng.empty(n), ng.empty(m), ng.empty(n)
    drelu: dict[str, Any] = {"activation": "drelu", "mask": mask}
    sums = {"row_sum": rows, "column_sum": columns, "row_max_abs": row_max, "column_max_abs": column_max}
    return (
        {f"to {d}": product(out) for d, out in outs.items()}
        | {"bias": product(rich, bias=bias)}
        | {"relu": product(rich, relu=True), "relu, bias": product(rich, relu=True, bias=bias)}
        | {name: product(rich, activation=name) for name in ACTIVATIONS}
        | {"gelu, bias": product(rich, activation="gelu", bias=bias)}
        | {"relu, mask": product(rich, relu=True, mask=written), "drelu": product(rich, **drelu)}
        | {"drelu, column_sum": product(rich, **drelu, column_sum=columns), "all sums": product(rich, **sums)}
    )


def main() -> int:
    """Parse the command line, measure, print a table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/gemm_epilogue.json"))
    parser.add_argument("--cases", default=",".join(CASES))
    args = parser.parse_args()
    if ng.device().kind != "cuda":
        print("benchmarks/gemm_epilogue.py: nothing measured, a GPU is missing", file=sys.stderr)
        return 0
    driver, stream = Driver(), ng.Stream()
    start, end = Event(driver), Event(driver)
    rows: list[Row] = []
    for case in args.cases.split(","):
        m, n, k = (int(x) for x in case.split("x"))
        passes = max(1, int(4e11 / (2.0 * m * n * k)))
        for dtype in RESULTS:
            bodies = ways(operand((m, k), dtype), operand((n, k), dtype), dtype, stream)
            for body in bodies.values():
                body()
            stream.synchronize()
            graphs = [
                Graph(driver, stream.handle, lambda f=f, passes=passes: [f() for _ in range(passes)])
                for f in bodies.values()
            ]
            times: list[list[float]] = [[] for _ in graphs]
            for _ in range(REPEATS):
                for which, graph in enumerate(graphs):
                    start.record(stream.handle)
                    graph.launch()
                    end.record(stream.handle)
                    times[which].append(end.ms_since(start) / passes)
            ms = [statistics.median(t) for t in times]
            for what, mine in zip(bodies, ms, strict=True):
                rows.append(
                    Row("gemm_epilogue", case, dtype, "nt", what, round(mine, 6), "nervanagpu, plain", round(ms[0], 6),
                        round(ms[0] / mine, 4), 0.0, 0.0, round(2e-9 * m * n * k / mine, 2))
                )  # fmt: skip
            print(f"{case:>16} {dtype:>9}: " + ", ".join(f"{r.pass_} {r.ms * 1e3:.1f} us" for r in rows[-len(ms) :]))
    write(args.out, rows, machine())
    print(f"wrote {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
