"""What launching a product costs the host, above a bare cuLaunchKernelEx of the same kernel with the same parameters.

    python benchmarks/host_cost.py --program build/bin/host_cost [--out FILE] [--batches N]

The C++ ways are timed by the program (benchmarks/host_cost.cpp), the Python ways here; both in batches that are
shorter than the driver's queue, so that no launch waits for the GPU. Medians. Without a GPU the Python figures are
those of products without elements: what the bindings cost alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import nervanagpu as ng
import numpy as np
from measure.report import commit, machine, save

BATCH = 200


def nanoseconds(call: Callable[[], object], batches: int, stream: ng.Stream | None) -> float:
    """Median over batches of the time of one call."""
    took = []
    for _ in range(batches):
        if stream is not None:
            stream.synchronize()
        start = time.perf_counter_ns()
        for _ in range(BATCH):
            call()
        took.append((time.perf_counter_ns() - start) / BATCH)
    return statistics.median(took)


def python_ways(dtype: type, n: int, batches: int) -> dict[str, float]:
    """Nanoseconds of a planned launch, of ng.dot of n x n matrices, and of an expression of 1,000 floats."""
    gpu = ng.device().kind == "cuda"
    a, b = ng.zeros((n if gpu else 0, n), dtype), ng.zeros((n, n), dtype)
    c = ng.empty(a.shape, dtype)
    stream = ng.Stream() if gpu else None
    plan = ng.GemmPlan(a, b, c)
    x, y = ng.ones(1000 if gpu else 0), ng.empty(1000 if gpu else 0)

    def expression() -> None:
        y[:] = x + 1

    ways = {
        "python_empty_ns": lambda: None,
        "python_plan_ns": lambda: plan(a, b, c),
        "python_plan_stream_ns": lambda: plan(a, b, c, None, stream),
        "python_dot_ns": lambda: ng.dot(a, b, c),
        "python_matmul_ns": lambda: ng.evaluate(a @ b),
        "python_expression_ns": expression,
    }
    return {name: nanoseconds(call, batches, stream) for name, call in ways.items()}


def of_convolutions(batches: int) -> dict[str, float]:
    """Nanoseconds of a small NHWC float16 convolution and max pooling, called and planned, and of PyTorch's fprop."""
    x, w, y = (
        ng.zeros((1, 8, 8, 64), "float16"),
        ng.zeros((64, 3, 3, 64), "float16"),
        ng.zeros((1, 8, 8, 64), "float16"),
    )
    dx, dw, stream = ng.empty(x.shape, "float16"), ng.empty(w.shape, "float16"), ng.Stream()
    ways: dict[str, Callable[[], object]] = {
        "python_conv2d_ns": lambda: ng.conv2d(x, w, padding=1, out=y),
        "python_conv2d_bprop_ns": lambda: ng.conv2d_bprop(y, w, x.shape, padding=1, out=dx),
        "python_conv2d_update_ns": lambda: ng.conv2d_update(y, x, w.shape, padding=1, out=dw),
    }
    fprop = ng.ConvPlan("fprop", x, w, y, padding=1)
    bprop = ng.ConvPlan("bprop", y, w, dx, padding=1)
    update = ng.ConvPlan("update", y, x, dw, padding=1)
    ways["python_conv_plan_ns"] = lambda: fprop(x, w, y)
    ways["python_conv_plan_bprop_ns"] = lambda: bprop(y, w, dx)
    ways["python_conv_plan_update_ns"] = lambda: update(y, x, dw)
    half = ng.empty((1, 4, 4, 64), "float16")
    codes = ng.max_pool_argmax(x, 2)
    pool = ng.PoolPlan("fprop", "max", x, half, 2, argmax=codes, relu=True)
    pool_back = ng.PoolPlan("bprop", "max", half, dx, 2, argmax=codes)
    ways["python_max_pool2d_ns"] = lambda: ng.max_pool2d(x, 2, out=half, argmax=codes, relu=True)
    ways["python_pool_plan_ns"] = lambda: pool(x, half, codes)
    ways["python_pool_plan_bprop_ns"] = lambda: pool_back(half, dx, codes)
    try:
        import torch
    except ImportError:
        torch = None
    if torch is not None and torch.cuda.is_available():
        tx = torch.zeros(1, 64, 8, 8, dtype=torch.float16, device="cuda")
        tw = torch.zeros(64, 64, 3, 3, dtype=torch.float16, device="cuda")
        ways["torch_conv2d_ns"] = lambda: torch.conv2d(tx, tw, padding=1)
    return {name: nanoseconds(call, batches, stream) for name, call in ways.items()}


def main() -> int:
    """Prints a table and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=Path("build/bin/host_cost"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--batches", type=int, default=300)
    options = parser.parse_args()
    command = [str(options.program), str(options.batches)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = json.loads(ran.stdout) or [{"kernel": ""}, {"kernel": ""}]
    for row, (dtype, n) in zip(rows, ((np.float32, 64), (np.float16, 128)), strict=True):
        row.update(python_ways(dtype, n, options.batches))
        bare = row.get("bare_ns", 0.0)
        print(row["kernel"] or "nothing is launched")
        for name, value in row.items():
            if isinstance(value, float):
                above = f"   {value - bare:+9.1f} above the bare launch" if bare else ""
                print(f"  {name:24}{value:9.1f} ns{above}")
    convolutions = of_convolutions(options.batches) if ng.device().kind == "cuda" else {}
    for name, value in convolutions.items():
        print(f"{name:26}{value:9.1f} ns")
    if options.out:
        result = {"commit": commit(), "machine": machine(), "batch": BATCH, "batches": options.batches, "rows": rows}
        result["convolutions"] = convolutions
        save(options.out, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
