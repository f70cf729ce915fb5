"""Batches of products beside torch.bmm (cuBLAS), in one run on one GPU.

    python benchmarks/batched_gemm.py [--out FILE] [--cases attention_scores,...]

Both are launched after queued work, so that host cost stays out; medians of interleaved rounds; operands rotate past
the L2. Errors are |err| / (|A||B|) against float64, the largest. A `sum` is beside the fastest of torch's ways: bmm and
sum, einsum, or one product where the operands lie as one. Single products are there, too, for what a batch costs them.
On the emulator, or without torch, it only tries ours on small cases.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
from measure.operands import bound as most
from measure.report import commit, machine, save

try:
    import torch
except ImportError:
    torch = None

ROUNDS, LAUNCHES = 9, 12
ROTATED = 160 << 20  # bytes of operands and results that take turns
Call = Callable[[int], object]


@dataclass(frozen=True)
class Case:
    """`batch` products of (m, k) and (k, n); layout: n or t of A, of B; same: operands that all share."""

    batch: int
    m: int
    n: int
    k: int
    layout: str = "nn"
    same: str = ""
    sum: bool = False
    dtypes: tuple[str, ...] = ("float16", "float32")


CASES = {
    "single_4096": Case(1, 4096, 4096, 4096),
    "single_4096_tn": Case(1, 4096, 4096, 4096, "tn"),
    "single_2048_nt": Case(1, 2048, 2048, 2048, "nt"),
    "single_fc": Case(1, 128, 4096, 9216, "nt"),
    "attention_scores": Case(96, 1024, 1024, 64, "nt"),
    "attention_values": Case(96, 1024, 64, 1024),
    "cube_128": Case(256, 128, 128, 128),
    "cube_256": Case(256, 256, 256, 256),
    "cube_512": Case(64, 512, 512, 512),
    "cube_1024": Case(16, 1024, 1024, 1024),
    "cube_2048": Case(8, 2048, 2048, 2048, dtypes=("float16",)),
    "small_32": Case(4096, 32, 32, 32),
    "odd_65": Case(256, 65, 65, 65),
    "one_b": Case(64, 256, 1024, 1024, same="b"),
    "grad_sum": Case(64, 1024, 1024, 128, "tn", sum=True),
    "grad_sum_apart": Case(64, 1024, 1024, 128, "nn", sum=True),
}


def shapes(c: Case) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Of A, B and C as they lie in memory."""
    a = (c.m, c.k) if c.layout[0] == "n" else (c.k, c.m)
    b = (c.k, c.n) if c.layout[1] == "n" else (c.n, c.k)
    return (
        a if "a" in c.same else (c.batch, *a),
        b if "b" in c.same else (c.batch, *b),
        (c.m, c.n) if c.sum else (c.batch, c.m, c.n),
    )


def turned(t: Any, turn: bool) -> Any:
    """The view with its last two axes swapped."""
    if not turn:
        return t
    return t.transpose(*range(t.ndim - 2), t.ndim - 1, t.ndim - 2) if isinstance(t, ng.GPUTensor) else t.mT


def ways_of_torch(c: Case, sets: list[tuple[Any, Any, Any]]) -> dict[str, Call]:
    """Calls by name, each of the i-th set."""

    def view(i: int) -> tuple[Any, Any, Any]:
        a, b, out = sets[i % len(sets)]
        return turned(a, c.layout[0] == "t"), turned(b, c.layout[1] == "t"), out

    views = [view(i) for i in range(len(sets))]

    def of(call: Callable[[Any, Any, Any], object]) -> Call:
        return lambda i: call(*views[i % len(views)])

    if not c.sum:
        return {"matmul": of(lambda a, b, out: torch.matmul(a, b, out=out))}
    ways = {
        "bmm, sum": of(lambda a, b, out: torch.sum(torch.bmm(a, b), 0, out=out)),
        "einsum": of(lambda a, b, out: out.copy_(torch.einsum("bik,bkj->ij", a, b))),
    }
    if c.layout == "tn":
        long = [(a.reshape(-1, c.m), b.reshape(-1, c.n), out) for a, b, out in sets]
        ways["one product"] = lambda i: torch.mm(
            long[i % len(long)][0].T, long[i % len(long)][1], out=long[i % len(long)][2]
        )
    return ways


def milliseconds(calls: dict[str, Call]) -> dict[str, float]:
    """Median time of one call of each, in rounds that take turns."""
    took: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        for i in range(3):
            call(i)
    torch.cuda.synchronize()
    turn = 0
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(1_500_000)  # the launches queue up meanwhile
            start.record()
            for i in range(LAUNCHES):
                call(turn + i)
            end.record()
            turn += LAUNCHES
            torch.cuda.synchronize()
            took[name].append(start.elapsed_time(end) / LAUNCHES)
    return {name: statistics.median(v) for name, v in took.items()}


def measure(name: str, c: Case, dtype: str) -> dict[str, Any]:
    """One row."""
    kind = getattr(torch, dtype)
    size = np.dtype(dtype).itemsize
    each = sum(int(np.prod(s)) for s in shapes(c)) * size
    count = max(2, min(16, -(-ROTATED // each)))
    sets = []
    for _ in range(count):
        made = [torch.randn(s, device="cuda", dtype=kind) for s in shapes(c)[:2]]
        sets.append((*made, torch.zeros(shapes(c)[2], device="cuda", dtype=kind)))

    def ours(t: Any) -> ng.GPUTensor:
        return ng.wrap(t.data_ptr(), tuple(t.shape), dtype, tuple(t.stride()))

    wrapped = [tuple(ours(t) for t in s) for s in sets]
    views = [(turned(a, c.layout[0] == "t"), turned(b, c.layout[1] == "t"), out) for a, b, out in wrapped]
    single = c.batch == 1
    if single:
        views = [(a[0], b[0], out[0]) for a, b, out in views]
    multiply = ng.dot if single else ng.batched_dot
    calls: dict[str, Call] = {"ours": lambda i: multiply(*views[i % count])}
    calls.update(ways_of_torch(c, sets))
    times = milliseconds(calls)
    a, b, out = sets[0]
    a, b = turned(a, c.layout[0] == "t"), turned(b, c.layout[1] == "t")
    some = slice(None) if c.sum or c.batch * c.m * c.n < 2**24 else slice(0, 2)
    a, b = (x if x.ndim == 2 else x[some] for x in (a.double(), b.double()))
    exact, bound = torch.matmul(a, b), torch.matmul(a.abs(), b.abs())
    if c.sum:
        exact, bound = exact.sum(0), bound.sum(0)

    def error(call: Call) -> float:
        out.fill_(float("nan"))
        call(0)
        torch.cuda.synchronize()
        got = out.double() if c.sum else out.double()[some]
        return float(((got - exact).abs() / bound).max())

    peer, peer_ms = min(((k, v) for k, v in times.items() if k != "ours"), key=lambda kv: kv[1])
    return {
        "case": name,
        "dtype": dtype,
        **asdict(c),
        "ms": times["ours"],
        "tflops": 2e-9 * c.batch * c.m * c.n * c.k / times["ours"],
        "peer": peer,
        "peer_ms": peer_ms,
        "ratio": peer_ms / times["ours"],
        "max_err": error(calls["ours"]),
        "peer_max_err": error(calls[peer]),
        "bound": most(dtype, c.k * (c.batch if c.sum else 1)),
    }


def trial(c: Case) -> None:
    """Ours once, on a small case."""
    small = Case(min(c.batch, 3), min(c.m, 40), min(c.n, 40), min(c.k, 64), c.layout, c.same, c.sum)
    a, b, out = (ng.ones(s, np.float16) for s in shapes(small))
    got = ng.batched_dot(turned(a, small.layout[0] == "t"), turned(b, small.layout[1] == "t"), out).get()
    assert (got == small.k * (small.batch if small.sum else 1)).all()


def main() -> int:
    """Prints a table and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--cases", default=",".join(CASES))
    options = parser.parse_args()
    chosen = {name: CASES[name] for name in options.cases.split(",")}
    if torch is None or ng.device().kind != "cuda":
        for c in chosen.values():
            trial(c)
        print("no GPU with torch: small cases of ours only")
        return 0
    rows = []
    for name, c in chosen.items():
        for dtype in c.dtypes:
            row = measure(name, c, dtype)
            rows.append(row)
            print(
                f"{name:18} {dtype:8} {row['ms']:9.4f} ms {row['tflops']:7.1f} TFLOP/s   torch {row['peer_ms']:9.4f} "
                f"({row['peer']})   {row['ratio']:5.2f}x   err {row['max_err']:.1e} / {row['peer_max_err']:.1e}",
                flush=True,
            )
    if options.out:
        result = {"commit": commit(), "machine": machine(), "torch": torch.__version__, "rows": rows}
        save(options.out, result)
    bad = [r for r in rows if not r["max_err"] <= r["bound"]]
    for r in bad:
        print(f"{r['case']} {r['dtype']}: an error of {r['max_err']}, beyond {r['bound']}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
