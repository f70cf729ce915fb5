"""What the model chooses beside what a measurement chooses, in one order class: times, and that the bits are the same.

    python benchmarks/autotune_gemm.py [--out FILE]

Both plans are launched after queued work, on operands that rotate past the L2; medians of rounds that take turns. The
file of choices is a new one. Needs a GPU and torch (for memory and timing).
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nervanagpu as ng
from measure.report import commit, machine, save

try:
    import torch
except ImportError:
    torch = None

ROUNDS, LAUNCHES = 9, 10
CASES = [
    ("float32", "nn", 2048, 2048, 2048),
    ("float32", "nt", 4096, 4096, 4096),
    ("float32", "nn", 1000, 1000, 1000),
    ("float32", "nn", 512, 512, 512),
    ("float32", "nt", 128, 4096, 4096),
    ("float32", "nt", 32, 4096, 9216),
    ("float32", "tn", 4096, 4096, 128),
    ("float32", "nn", 999, 777, 555),
    ("float16", "nn", 4096, 4096, 4096),
    ("float16", "nt", 8192, 8192, 8192),
    ("float16", "nt", 128, 4096, 9216),
    ("float16", "nt", 512, 512, 4096),
    ("float16", "tn", 1024, 1024, 1024),
    ("float16", "nn", 2048, 1000, 2048),
    ("bfloat16", "nt", 16, 8192, 8192),
    ("bfloat16", "nt", 256, 1024, 1024),
]


def measure(dtype: str, layout: str, m: int, n: int, k: int) -> dict[str, Any]:
    """One row."""
    kind = getattr(torch, dtype)
    size = 4 if dtype == "float32" else 2
    count = max(2, min(16, -(-(160 << 20) // ((m * k + k * n + m * n) * size))))

    def operand(rows: int, columns: int, turned: bool) -> Any:
        t = torch.randn((columns, rows) if turned else (rows, columns), device="cuda", dtype=kind)
        return t.T if turned else t

    made = [(operand(m, k, layout[0] == "t"), operand(k, n, layout[1] == "t")) for _ in range(count)]
    outs = [torch.zeros((m, n), device="cuda", dtype=kind) for _ in range(count)]
    sets = [(*pair, out) for pair, out in zip(made, outs, strict=True)]
    wrap = [[ng.wrap(t.data_ptr(), tuple(t.shape), dtype, tuple(t.stride())) for t in s] for s in sets]
    plans, took = {}, {}
    for name, on in (("model", False), ("tuned", True)):
        ng.autotune(on)
        begin = time.perf_counter()
        plans[name] = ng.GemmPlan(*wrap[0])
        took[name] = time.perf_counter() - begin
    ng.autotune(False)
    bits = []
    for plan in plans.values():
        plan(*wrap[0])
        torch.cuda.synchronize()
        bits.append(outs[0].clone().view(torch.int32 if size == 4 else torch.int16))
    times: dict[str, list[float]] = {name: [] for name in plans}
    turn = 0
    for _ in range(ROUNDS):
        for name, plan in plans.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(1_000_000)
            start.record()
            for i in range(LAUNCHES):
                plan(*wrap[(turn + i) % count])
            end.record()
            turn += LAUNCHES
            torch.cuda.synchronize()
            times[name].append(start.elapsed_time(end) * 1e3 / LAUNCHES)
    row: dict[str, Any] = {"dtype": dtype, "layout": layout, "m": m, "n": n, "k": k}
    for name, plan in plans.items():
        row[name] = {"kernel": plan.kernel, "us": statistics.median(times[name])}
    row["same_bits"] = bool((bits[0] == bits[1]).all())
    row["tuning_ms"] = took["tuned"] * 1e3
    return row


def main() -> int:
    """Prints a table and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
    if torch is None or ng.device().kind != "cuda":
        print("no GPU with torch: nothing is measured")
        return 0
    rows = []
    for case in CASES:
        row = measure(*case)
        rows.append(row)
        model, tuned = row["model"], row["tuned"]
        print(
            f"{case}  {model['us']:9.2f} us {model['kernel']}   {tuned['us']:9.2f} us {tuned['kernel']}   "
            f"{model['us'] / tuned['us']:.3f}x   {row['tuning_ms']:.0f} ms   same bits: {row['same_bits']}",
            flush=True,
        )
    if options.out:
        save(options.out, {"commit": commit(), "machine": machine(), "torch": torch.__version__, "rows": rows})
    return 0 if all(r["same_bits"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
