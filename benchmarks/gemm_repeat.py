"""The same product again and again beside a stream that keeps the GPU busy: are the bits always the same?

    python benchmarks/gemm_repeat.py [--out FILE] [--runs 1000] [--cases float32:nn:512x256x784[:TILE:SPLITS],...]

While a second stream runs products of its own without a pause, each case is computed `runs` times, each time after
another product into the same memory, and its bytes are compared with those of the first time, which was alone. Exits 1
if one differs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import nervanagpu as ng
import numpy as np
from measure.cuda import Driver, Graph
from measure.operands import make
from measure.report import commit, machine, save

SHAPES = ["512x256x784", "64x2560x2560", "16x4096x1024", "35x1001x2560", "1024x96x1024", "300x300x300", "640x640x640"]
CASES = [f"{d}:{layout}:{s}" for d in ("float32", "float16", "int8") for s in SHAPES for layout in ("nn", "nt")]
CASES += [f"float32:{layout}:{s}" for s in ("1024x1024x1024", "2048x2048x4096") for layout in ("nn", "nt", "tn")]
CASES += ["float16:nn:2304x2304x640", "float16:nt:2304x2304x640", "int8:nt:2048x2048x768"]  # tiles in turn
NOISE = 768  # of a side; many small grids that come and go


def main() -> int:
    """Parse the command line, run, print a line a case, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/gemm/gemm_repeat.json"))
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--cases", default=",".join(CASES))
    args = parser.parse_args()
    if ng.device().kind != "cuda":
        print("benchmarks/gemm_repeat.py: nothing measured, a GPU is missing", file=sys.stderr)
        return 0
    driver, stream, other = Driver(), ng.Stream(), ng.Stream()
    x, y = (ng.array(np.random.default_rng(s).standard_normal((NOISE, NOISE), dtype=np.float32)) for s in (1, 2))
    busy = ng.empty((NOISE, NOISE))
    ng.dot(x, y, out=busy, stream=other)
    other.synchronize()
    noise = Graph(driver, other.handle, lambda: [ng.dot(x, y, out=busy, stream=other) for _ in range(200)])
    rows = []
    different = 0
    for case in args.cases.split(","):
        dtype, layout, shape, *chosen = case.split(":")
        how = {"tile": chosen[0], "splits": int(chosen[1])} if chosen else {}
        m, n, k = (int(s) for s in shape.split("x"))
        operands = make(dtype, layout, m, n, k)[0][0]
        a = operands.a.T if layout[0] == "t" else operands.a
        b = operands.b.T if layout[1] == "t" else operands.b
        out, last = operands.ours, m - m // 2
        ng.dot(a, b, out=out, stream=stream, **how)
        stream.synchronize()
        first = out.get().tobytes()
        wrong = 0
        for run in range(args.runs):
            if run % 20 == 0:
                noise.launch()
            ng.dot(a[last:], b, out=out[: m // 2], stream=stream)  # rows swapped: something else is there before
            ng.dot(a[:last], b, out=out[m // 2 :], stream=stream)
            ng.dot(a, b, out=out, stream=stream, **how)
            stream.synchronize()
            wrong += out.get().tobytes() != first
        other.synchronize()
        different += wrong
        rows.append({"case": case, "runs": args.runs, "different": wrong})
        print(f"{case:32} {args.runs} runs, {wrong} differ", flush=True)
    save(args.out, {"commit": commit(), **machine(), "rows": rows})
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
