"""Random expressions beside NumPy, every bit: those of test/python/expression_trees.py, in several processes.

    python benchmarks/random_expressions.py [--examples N] [--processes P] [--seed S] [--out FILE]

Each process draws its own examples; each generated kernel is proven free of hazards. The run fails with the first
example that differs, which Hypothesis makes small. It needs the package hypothesis.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any

from measure.report import commit, machine, save

TESTS = Path(__file__).resolve().parent.parent / "test" / "python"


def draw(part: tuple[int, int]) -> tuple[int, int, int]:
    """Check so many examples of a seed; returns their number, kernels launched, and elements compared."""
    seed, count = part
    sys.path.insert(0, str(TESTS))
    import hypothesis
    import nervanagpu as ng
    from expression_trees import check, trees
    from nervanagpu import _core

    _core.verify_generated(True)
    done = {"examples": 0, "elements": 0}

    def one(case: Any) -> None:
        check(case)
        done["examples"] += 1
        done["elements"] += case[1].size

    settings = hypothesis.settings(
        max_examples=count, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    hypothesis.seed(seed)(settings(hypothesis.given(trees())(one)))()
    return done["examples"], ng.launch_count(), done["elements"]


def main() -> int:
    """Parse the command line, check, print, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="JSON file; default: none")
    args = parser.parse_args()
    share = -(-args.examples // args.processes)
    start = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(args.processes) as pool:
        parts = pool.map(draw, [(args.seed * 1000 + k, share) for k in range(args.processes)])
    seconds = time.perf_counter() - start
    examples, kernels, elements = (sum(p[i] for p in parts) for i in range(3))
    print(f"{examples} expressions, {kernels} kernels launched, {elements} elements, none differs; {seconds:.0f} s")
    if args.out:
        body = {"commit": commit(), **machine(), "seed": args.seed, "processes": args.processes}
        save(args.out, {**body, "examples": examples, "launches": kernels, "elements": elements, "differ": 0})
    return 0 if examples >= args.examples else 1


if __name__ == "__main__":
    sys.exit(main())
