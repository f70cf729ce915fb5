"""What a call from Python costs the host, of several builds of this library, in turns.

    python benchmarks/host_calls.py [--trees build/python,../before/build/python] [--rounds 12] [--out FILE]

A tree is a folder that holds the package: build/python of a checkout. Each round starts a process for every tree, which
times every call in batches; what is kept is the least of all batches of all rounds, as what disturbs only adds. The
operands have no elements without a GPU, where nothing is launched: the figures are those of the bindings. On a GPU
they are small, and the driver's launch is in what is evaluated. A call that a tree does not have is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

BATCH = 200
BATCHES = 60


def calls() -> dict[str, Callable[[], object]]:
    """The calls of a tree, by how they are written."""
    import nervanagpu as ng

    n = 64 if ng.device().kind == "cuda" else 0
    a, b, c, x = ng.zeros((n, 64)), ng.zeros((n, 64)), ng.zeros((64, 64)), ng.zeros((n, 64))
    out = ng.empty((n, 64))

    def assigned() -> None:
        out[:] = x + 1

    return {
        "a + b": lambda: a + b,
        "evaluate(a + b)": lambda: ng.evaluate(a + b),
        "y[:] = x + 1": assigned,
        "ng.dot(a, c)": lambda: ng.dot(a, c),
        "ng.dot(a, c, out)": lambda: ng.dot(a, c, out),
        "a @ c": lambda: ng.evaluate(a @ c),
        "ng.sum(x)": lambda: ng.sum(x),
        "x.sum()": lambda: x.sum(),
        "x.sum(0)": lambda: x.sum(0),
        "x[1:]": lambda: c[1:],
        "x.T": lambda: c.T,
    }


def timed(call: Callable[[], object]) -> float:
    """Nanoseconds of a call: the least of the batches."""
    least = float("inf")
    for _ in range(BATCHES):
        start = time.perf_counter_ns()
        for _ in range(BATCH):
            call()
        least = min(least, (time.perf_counter_ns() - start) / BATCH)
    return least


def measure() -> dict[str, float]:
    found = {}
    for name, call in calls().items():
        try:
            call()
        except (AttributeError, TypeError):
            continue
        found[name] = timed(call)
    return found


def of_tree(tree: Path) -> dict[str, float]:
    """What a process that imports the package from there measures."""
    command = [sys.executable, __file__, "--one"]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def commit_of(tree: Path) -> str:
    """Of the checkout that a tree lies in; empty if it lies in none."""
    command = ["git", "-C", str(tree), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", default="build/python")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure()))
        return 0
    trees = [Path(t).resolve() for t in options.trees.split(",")]
    least: list[dict[str, float]] = [{} for _ in trees]
    for _ in range(options.rounds):
        for known, tree in zip(least, trees, strict=True):
            for name, ns in of_tree(tree).items():
                known[name] = min(ns, known.get(name, ns))
    names = list(dict.fromkeys(n for known in least for n in known))
    for name in names:
        print(f"{name:20}" + "".join(f"{known[name]:10.0f}" if name in known else f"{'-':>10}" for known in least))
    if options.out:
        from measure.report import commit, machine, save

        rows = [{"call": n, "ns": [known.get(n) for known in least]} for n in names]
        result = {
            "commit": commit(),
            "trees": [commit_of(t) for t in trees],
            "machine": machine(),
            "unit": "ns of a call, by tree",
            "rounds": options.rounds,
            "batch": BATCH,
            "batches": BATCHES,
            "rows": rows,
        }
        save(options.out, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
