"""What ng.Pieces of the weights are worth: products of few rows with one matrix.

    python benchmarks/kept_pieces.py [--out FILE] [--turns 5]

Each product beside itself with a tensor: both in graphs of ten, medians of interleaved turns, and the bits compared.
Needs an H200 (on the emulator: --small, for the bits).
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

import nervanagpu as ng
import numpy as np
from measure.report import commit, machine, save

# m, n, k, splits: 0 chooses two pieces at these sizes; others have three
PRODUCTS = [(m, s, s, 0) for s in (4096, 8192) for m in (256, 384, 512, 1024, 2048, 4096)]
PRODUCTS += [(256, 4096, 9216, 0), (256, 4096, 25088, 0)]
PRODUCTS += [(m, 4096, 4096, p) for m, p in ((16, 4), (64, 4), (128, 4), (128, 1), (256, 1))] + [(128, 4096, 9216, 4)]
SMALL = [(65, 130, 200, 1), (130, 70, 640, 2)]
IN_A_GRAPH = 10


def milliseconds(runs: list[Callable[[], object]], turns: int) -> list[float]:
    """Of one call each, in turns."""
    graphs = []
    for run in runs:
        run()
        graphs.append(ng.Graph(lambda run=run: [run() for _ in range(IN_A_GRAPH)]))  # type: ignore[misc]
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(turns):
        for graph, of in zip(graphs, times, strict=True):
            of.append(ng.benchmark(graph.launch, repeat=5, warmup=1).ms / IN_A_GRAPH)
    return [statistics.median(of) for of in times]


def product(m: int, n: int, k: int, splits: int, turns: int) -> dict[str, object]:
    rng = np.random.default_rng(1)
    x, w = (ng.array(rng.standard_normal(s, dtype=np.float32)) for s in ((m, k), (n, k)))
    plain, with_kept = ng.empty((m, n)), ng.empty((m, n))
    planned = {"precision": "tensor", "splits": splits}
    plan = ng.GemmPlan(x, w.T, plain, **planned)
    pieces = plan.pieces
    kept = ng.Pieces(w, pieces or 2).T
    by_kept = ng.GemmPlan(x, kept, with_kept, **planned)
    strict = ng.GemmPlan(x, w.T, ng.empty((m, n)), precision="strict", splits=splits)
    out = ng.empty((m, n))
    runs: list[Callable[[], object]] = [
        lambda: plan(x, w.T, plain),
        lambda: by_kept(x, kept, with_kept),
        lambda: strict(x, w.T, out),
    ]
    ms, ms_kept, ms_strict = milliseconds(runs, turns)
    same = bool(np.array_equal(plain.get().view(np.uint32), with_kept.get().view(np.uint32)))
    return {
        "case": f"{m} x {n} x {k}",
        "splits": splits,
        "pieces": pieces,
        "kernel": plan.kernel,
        "ms": round(ms, 6),
        "kept_ms": round(ms_kept, 6),
        "strict_ms": round(ms_strict, 6),
        "ratio": round(ms / ms_kept, 4),
        "same_bits": same,
        "bytes": kept.nbytes,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="sizes that the emulator has time for")
    args = parser.parse_args()
    rows = []
    for m, n, k, splits in SMALL if args.small else PRODUCTS:
        rows.append(product(m, n, k, splits, args.turns))
        print(rows[-1], flush=True)
    if args.out is not None:
        save(args.out, {"commit": commit(), **machine(), "rows": [{"bench": "kept_pieces", **row} for row in rows]})
    if not all(row["same_bits"] for row in rows):
        sys.exit("bits differ")


if __name__ == "__main__":
    main()
