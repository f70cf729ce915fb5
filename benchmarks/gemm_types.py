"""GEMM of float16 and 8-bit integers beside our own float32, in one run.

    python benchmarks/gemm_types.py [--out FILE] [--cases 4096x4096x4096,...] [--layouts nn,nt,tn]

float16 is computed by FFMA (a float32 chain), int8 by IDP.4A: no tensor cores. Random data, CUDA-graph replays,
interleaved, medians. `peer` is our float32 kernel on the same case; `ratio` its time over ours. Results are checked:
int8 bit for bit, float16 against float64 by the kernel's bound. Exits 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from cuda import Driver, Event, Graph
from gemm_operands import shapes
from report import Row, machine, write

CASES = ["4096x4096x4096", "2048x2048x2048", "1024x1024x1024"]
DTYPES = ["float32", "float16", "int8", "uint8"]
REPEATS = 11
SAMPLED_ROWS = 32
Array = npt.NDArray[Any]


def random(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> Array:
    """Normal floats, or integers of the whole range."""
    if dtype.startswith("float"):
        return rng.standard_normal(shape, dtype=np.float32).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def worst(got: Array, a: Array, b: Array, layout: str) -> float:
    """Largest error over |A||B| in sampled rows, output rounding of float16 allowed for; of integers: 0 or inf."""
    rows = np.random.default_rng(1).choice(got.shape[0], min(SAMPLED_ROWS, got.shape[0]), replace=False)
    x, y = (a.T if layout[0] == "t" else a)[rows], b.T if layout[1] == "t" else b
    if got.dtype == np.int32:
        exact = x.astype(np.float64) @ y.astype(np.float64)  # below 2^53: exact
        return 0.0 if np.array_equal(got[rows], exact.astype(np.int64)) else float("inf")
    exact = x.astype(np.float64) @ y.astype(np.float64)
    scale = np.abs(x.astype(np.float64)) @ np.abs(y.astype(np.float64))
    unit = 2.0**-11 if got.dtype == np.float16 else 0.0
    error = np.maximum(np.abs(got[rows].astype(np.float64) - exact) - unit * np.abs(exact), 0) / scale
    return float(error.max()) if np.isfinite(error).all() else float("inf")


def main() -> int:
    """Parse the command line, measure, print a table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/gemm_types.json"))
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--layouts", default="nn,nt,tn")
    args = parser.parse_args()
    if ng.device().kind != "cuda":
        print("benchmarks/gemm_types.py: nothing measured, a GPU is missing", file=sys.stderr)
        return 0
    driver, stream = Driver(), ng.Stream()
    start, end = Event(driver), Event(driver)
    rng = np.random.default_rng(2016)
    rows: list[Row] = []
    bad = 0
    for case in args.cases.split(","):
        m, n, k = (int(x) for x in case.split("x"))
        passes = max(1, int(2e11 / (2.0 * m * n * k)))
        for layout in args.layouts.split(","):
            graphs, errors = [], []
            for dtype in DTYPES:
                shape_a, shape_b = shapes(layout, m, n, k)
                host_a, host_b = random(rng, shape_a, dtype), random(rng, shape_b, dtype)
                a, b = ng.array(host_a), ng.array(host_b)
                x, y = (a.T if layout[0] == "t" else a), (b.T if layout[1] == "t" else b)
                out = ng.dot(x, y, stream=stream)
                stream.synchronize()
                errors.append(worst(out.get(), host_a, host_b, layout))

                def work(
                    x: ng.GPUTensor = x, y: ng.GPUTensor = y, out: ng.GPUTensor = out, passes: int = passes
                ) -> None:
                    for _ in range(passes):
                        ng.dot(x, y, out=out, stream=stream)

                graphs.append((Graph(driver, stream.handle, work), (a, b, out)))
            times: list[list[float]] = [[] for _ in DTYPES]
            for _ in range(REPEATS):
                for which, (graph, _) in enumerate(graphs):
                    start.record(stream.handle)
                    graph.launch()
                    end.record(stream.handle)
                    times[which].append(end.ms_since(start) / passes)
            ms = [statistics.median(t) for t in times]
            for dtype, mine, error in zip(DTYPES, ms, errors, strict=True):
                bound = 0.0 if dtype.endswith("int8") else k * 2.0**-24 / (1 - k * 2.0**-24)
                bad += not error <= bound
                rows.append(
                    Row("gemm_types", case, dtype, layout, "fprop", round(mine, 6), "nervanagpu float32",
                        round(ms[0], 6), round(ms[0] / mine, 4), error, errors[0], round(2e-9 * m * n * k / mine, 2))
                )  # fmt: skip
                print(
                    f"{case:>16} {layout} {dtype:>8}  {rows[-1].tflops:7.2f} T(FL)OPS  {mine:9.4f} ms  "
                    f"{rows[-1].ratio:5.2f}x float32   error {error:.1e}",
                    flush=True,
                )
    write(args.out, rows, machine())
    print(f"wrote {args.out}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
