"""What the epilogue of a product costs: result types, a bias, activations, bits of relu, sums of rows and columns.

    python benchmarks/gemm_epilogue.py [--out FILE] [--cases 4096x4096x4096,...]

NT, random data, CUDA-graph replays, interleaved, medians. `peer` is our own plain product of the same operands to their
first result type (int8: int32); `ratio` its time over ours. Eight rows of every result, bits and sums among them, are
compared with float64: the largest error over |A||B| (where a function follows: 1 at least), of sums over the sum of
magnitudes. Exits 1 where it exceeds what the result's dtype and a chain of k additions allow.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
from measure.cuda import Driver, Event, Graph
from measure.report import Row, machine, write

CASES = ["4096x4096x4096", "8192x8192x8192", "128x4096x9216"]
RESULTS = {
    "bfloat16": ["bfloat16", "float32"],
    "float16": ["float16", "float32"],
    "int8": ["int32", "float32", "int8"],
    "float32": ["float32"],
}
ACTIVATIONS = ["tanh", "sigmoid", "gelu", "gelu_tanh", "silu"]
REPEATS = 9
ROWS = 8  # of a result that are compared
ROUNDING = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float32": 2.0**-23, "int32": 0.0, "int8": 0.5}
Array = np.ndarray[Any, Any]


def operand(shape: tuple[int, int], dtype: str) -> ng.GPUTensor:
    """Normal floats; bytes of 40 times as much."""
    host = np.random.default_rng(5).standard_normal(shape, dtype=np.float32)
    return ng.array(np.clip(host * 40, -128, 127).astype(np.int8)) if dtype == "int8" else ng.array(host).astype(dtype)


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": lambda x: np.exp(-np.logaddexp(0, -x)),
    "gelu": lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x * np.exp(-np.logaddexp(0, -x)),
}


@dataclass
class Way:
    """A product with an epilogue, and what tells how wrong its result is: (error, what is allowed)."""

    run: Callable[[], Any]
    check: Callable[[], tuple[float, float]]


def worst(got: Array, want: Array, scale: Array) -> float:
    """The largest |got - want| / scale; infinite where something is not finite."""
    error = np.abs(got.astype(np.float64) - want) / scale
    return float(error.max()) if bool(np.isfinite(error).all()) else math.inf


def ways(a: ng.GPUTensor, b: ng.GPUTensor, dtype: str, stream: ng.Stream) -> dict[str, Way]:
    """Products by what is asked of their epilogue, the plain one first."""
    m, n, k = a.shape[0], b.shape[0], a.shape[1]
    chosen = np.random.default_rng(7).choice(m, ROWS, replace=False)
    rows_of_a = np.stack([np.asarray(a[int(i)].astype("float32").get()) for i in chosen]).astype(np.float64)
    whole_b = np.asarray(b.astype("float32").get()).astype(np.float64)
    exact, magnitude = rows_of_a @ whole_b.T, np.abs(rows_of_a) @ np.abs(whole_b).T
    chain = 0.0 if dtype == "int8" else k * 2.0**-24 / (1 - k * 2.0**-24)

    def picked(t: ng.GPUTensor) -> Array:
        return np.stack([np.asarray(t[int(i)].astype("float32").get()) for i in chosen])

    def bits(t: ng.GPUTensor) -> Array:
        words = np.stack([t[int(i)].get() for i in chosen])
        return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :n].astype(bool)

    def product(out: ng.GPUTensor, **options: Any) -> Way:
        def run() -> Any:
            return ng.dot(a, b.T, out, stream=stream, **options)

        def check() -> tuple[float, float]:
            out[:] = 1 if out.dtype.kind in "iu" else np.nan
            run()
            stream.synchronize()
            want = exact + (options["bias"].get().astype(np.float64) if "bias" in options else 0)
            name = "relu" if options.get("relu") else options.get("activation")
            scale = magnitude
            if name == "drelu":
                want = np.where(bits(options["mask"]), want, 0)
            elif name is not None:
                want, scale = FUNCTIONS[name](want), np.maximum(magnitude, 1)
            result = str(out.dtype)
            if result == "int8":
                want, scale = np.clip(np.rint(want), -128, 127), np.ones_like(want)
            off = worst(picked(out), want, scale)
            allowed = chain + ROUNDING[result] + (2.0**-20 if name in FUNCTIONS else 0)
            if options.get("relu") and "mask" in options and not np.array_equal(bits(options["mask"]), picked(out) > 0):
                off = math.inf
            if "column_sum" in options or "row_sum" in options:
                off = max(off, summed(out, options))
            return off, allowed

        return Way(run, check)

    def summed(out: ng.GPUTensor, options: dict[str, Any]) -> float:
        """Of the sums and magnitudes, against those of the stored result before it was rounded."""
        stored = np.asarray(out.astype("float32").get()).astype(np.float64)
        near = 8 * ROUNDING[dtype] if dtype != "int8" else 2.0**-20
        off = 0.0
        for axis, name in ((0, "column"), (1, "row")):
            if f"{name}_sum" in options:
                got = options[f"{name}_sum"].get()
                off = max(off, worst(got, stored.sum(axis), np.abs(stored).sum(axis)))
            if f"{name}_max_abs" in options:
                got = options[f"{name}_max_abs"].get()
                off = max(off, worst(got, np.abs(stored).max(axis), np.abs(stored).max(axis)))
        return 0.0 if off <= near else math.inf

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
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/gemm/gemm_epilogue.json"))
    parser.add_argument("--cases", default=",".join(CASES))
    args = parser.parse_args()
    if ng.device().kind != "cuda":  # one small case, without times
        found = {d: ways(operand((64, 96), d), operand((80, 96), d), d, ng.Stream()) for d in RESULTS}
        wrong = [f"{d} {n}: {e}" for d, w in found.items() for n, x in w.items() if not (e := x.check())[0] <= e[1]]
        print("\n".join(wrong))
        print("benchmarks/gemm_epilogue.py: nothing measured, a GPU is missing", file=sys.stderr)
        return 1 if wrong else 0
    driver, stream = Driver(), ng.Stream()
    start, end = Event(driver), Event(driver)
    rows: list[Row] = []
    bad = 0
    for case in args.cases.split(","):
        m, n, k = (int(x) for x in case.split("x"))
        passes = max(1, int(4e11 / (2.0 * m * n * k)))
        for dtype in RESULTS:
            bodies = ways(operand((m, k), dtype), operand((n, k), dtype), dtype, stream)
            errors = [way.check() for way in bodies.values()]
            graphs = [
                Graph(driver, stream.handle, lambda f=way.run, passes=passes: [f() for _ in range(passes)])
                for way in bodies.values()
            ]
            times: list[list[float]] = [[] for _ in graphs]
            for _ in range(REPEATS):
                for which, graph in enumerate(graphs):
                    start.record(stream.handle)
                    graph.launch()
                    end.record(stream.handle)
                    times[which].append(end.ms_since(start) / passes)
            ms = [statistics.median(t) for t in times]
            for what, mine, (off, allowed) in zip(bodies, ms, errors, strict=True):
                if not off <= allowed:
                    print(f"{case} {dtype} {what}: error {off:.1e}; needs {allowed:.1e}")
                    bad += 1
                rows.append(
                    Row("gemm_epilogue", case, dtype, "nt", what, round(mine, 6), "nervanagpu, plain", round(ms[0], 6),
                        round(ms[0] / mine, 4), off, errors[0][0], round(2e-9 * m * n * k / mine, 2))
                )  # fmt: skip
            print(f"{case:>16} {dtype:>9}: " + ", ".join(f"{r.pass_} {r.ms * 1e3:.1f} us" for r in rows[-len(ms) :]))
    write(args.out, rows, machine())
    print(f"wrote {args.out}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
