"""The statements of the NumPy-on-GPU article on 10^9 float32, and 10^8 random numbers, beside CuPy and PyTorch.

    python benchmarks/elementwise_large.py [--out FILE] [--size N]

Medians of single calls between events; a call takes milliseconds, and gets the same random numbers each time.
`statements` is `x *= 5; x *= x; x += x`: one kernel of ours (`launches` counts them). `tb_s` counts
each element read and written once.
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
from measure.report import commit, machine, save
from peers.libraries import cupy, torch


def statements(x: Any) -> None:
    """Three statements in place."""
    x *= 5
    x *= x
    x += x


def scaled(x: Any) -> None:
    """One statement in place."""
    x *= 5


def timed(run: Callable[[], object], before: Callable[[], object] = ng.synchronize, repeats: int = 9) -> float:
    """Median milliseconds of `run`, each after `before`."""
    out = []
    for i in range(repeats + 2):
        before()
        start, end = ng.Event(), ng.Event()
        start.record()
        run()
        end.record()
        if i >= 2:
            out.append(end.ms_since(start))
    return statistics.median(out)


def row(case: str, ms: float, traffic: float, launches: int, peers: dict[str, float]) -> dict[str, object]:
    """One line of the table and of the JSON."""
    text = ", ".join(f"{k} {v:.3f} ms ({v / ms:.2f} x)" for k, v in peers.items())
    print(f"{case:11s} {ms:8.3f} ms {1e-9 * traffic / ms:6.3f} TB/s {launches} launches  {text}", flush=True)
    return {"case": case, "ms": ms, "tb_s": 1e-9 * traffic / ms, "launches": launches, "peers": peers}


def right(x: Any, start: Any, run: Callable[[Any], None] | None) -> bool:
    """Whether the first and the last elements of x, which repeats `start`, are NumPy's bits."""
    want = np.ones_like(start) if run is None else start.copy()
    if run is not None:
        run(want)
    last = (len(x) - 1) // len(start) * len(start)
    return np.array_equal(x[: len(start)].get(), want) and np.array_equal(x[last:].get(), want[: len(x) - last])


def launched(run: Callable[[], object]) -> int:
    """Kernels of ours that it takes."""
    before = ng.launch_count()
    run()
    ng.synchronize()
    return ng.launch_count() - before


def main() -> int:
    """Parse the command line, measure, print, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="JSON file; default: none")
    parser.add_argument("--size", type=int, default=10**9)
    args = parser.parse_args()
    gpu = ng.device().kind == "cuda"
    others = [(n, m) for n, m in (("cupy", cupy), ("torch", torch)) if gpu and m is not None]
    n, rows, bad = args.size, [], 0

    start = np.random.default_rng(1).random(min(n, 1 << 20)).astype(np.float32) + 0.5
    x = ng.empty(n)
    for first in range(0, n, len(start)):
        x[first : first + len(start)] = start[: n - first]
    y = ng.empty(n)

    def copy() -> None:
        y[:] = x

    rows.append(row("copy", timed(copy), 8 * n, launched(copy), {}))
    for name, run, traffic in (("ones", None, 4), ("scale", scaled, 8), ("statements", statements, 8)):

        def restore() -> None:
            x[:] = y

        def ours(run: Callable[[Any], None] | None = run) -> None:
            if run is None:
                x.fill(1)
            else:
                run(x)

        peers = {}
        for peer, module in others:
            z = module.empty(n, dtype=module.float32, **({"device": "cuda"} if peer == "torch" else {}))
            source = z.copy() if peer == "cupy" else z.clone()
            source[:] = 1.5

            def again(z: Any = z, source: Any = source) -> None:
                z[:] = source

            if run is None:
                peers[peer] = timed((lambda z=z: z.fill_(1)) if peer == "torch" else (lambda z=z: z.fill(1)), again)
            else:
                peers[peer] = timed(lambda z=z, run=run: run(z), again)
            del z, source
        rows.append(row(name, timed(ours, restore), traffic * n, launched(ours), peers))
        restore()
        ours()
        bad += not right(x, start, run)
    count = max(4, n // 10)
    part = y[:count]

    def rand() -> None:
        part[:] = ng.rand(count)

    peers = {}
    if gpu and torch is not None:
        t = torch.empty(count, device="cuda")
        peers["torch"] = timed(lambda: t.uniform_())
    if gpu and cupy is not None:
        peers["cupy"] = timed(lambda: cupy.random.random(count, dtype=cupy.float32))
    rows.append(row("rand", timed(rand), 4 * count, launched(rand), peers))
    part.fill(2)
    rand()
    host = part.get()
    bad += not (host.min() >= 0 and host.max() < 1 and abs(host.mean() - 0.5) <= 1 / np.sqrt(count))
    if bad:
        print(f"{bad} results are wrong", file=sys.stderr)
    if args.out:
        save(args.out, {"commit": commit(), **machine(), "size": n, "rows": rows})
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
