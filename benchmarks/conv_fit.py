"""Fits the constants of kernels/conv/implicit/hconv_choice.cpp to times of convolutions by tile and parts.

    python benchmarks/conv_fit.py [FILE] [--steps N] [--seed S]      FILE: results/conv_sweep.json

The model is that of hconv_choice.cpp and hgemm_cost.cpp, written again. Its constants are moved at random while that
lowers how much longer the chosen variants take than the best (the regret, a geometric mean), and with a small weight
the error of all variants within twice the best. Prints both for the constants in use and for those found.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from dataclasses import dataclass
from pathlib import Path

PROCESSORS = 132
LEAST_BLOCKS = 4  # of a part
MOST_SUMS = 1 << 31
NEVER = 1e9
Constants = dict[str, float]
# Microseconds of a block's products by tile (x2: warpgroups in turn); nanoseconds of the copy engine for a row of 64
# channels, times as much where some of them, or no multiple of 16, exist; microseconds for a million partial sums.
IN_USE: Constants = {
    "128x64x1": 0.23, "128x128x1": 0.336, "128x192x1": 0.49, "128x256x1": 0.61,
    "128x128x2": 0.345, "64x192x2": 0.26, "64x256x2": 0.345,
    "row": 1.05, "part": 1.85, "odd": 2.75, "sums": 1.4,
}  # fmt: skip
TILES = [name for name in IN_USE if "x" in name]


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def together(x: float, y: float) -> float:
    return math.sqrt(math.sqrt(x**4 + y**4))


@dataclass(frozen=True)
class Pass:
    """A launch's product: what hconv::Work says."""

    which: str
    m: int
    n: int
    blocks: int
    c: int
    k: int
    bytes: int

    @staticmethod
    def of(layer: dict[str, int], which: str) -> Pass:
        n, c, side, k, size = (layer[name] for name in ("n", "c", "side", "k", "size"))
        out = (side + 2 * layer["pad"] - size) // layer["stride"] + 1
        taps, x, y = size * size, n * side * side, n * out * out
        moved = 2 * (x * c + y * k + taps * c * k)
        if which == "fprop":
            return Pass(which, y, k, ceil_div(c, 64) * taps, c, k, moved)
        if which == "bprop":
            return Pass(which, x, c, ceil_div(k, 64) * taps, c, k, moved)
        return Pass(which, k, taps * ceil_div(c, 64) * 64, ceil_div(y, 64), c, k, moved)

    def row(self, channels: int, p: Constants) -> float:
        return p["row"] * (1 if channels % 64 == 0 else p["part"] if channels % 16 == 0 else p["odd"])

    def box(self, channels: int, p: Constants) -> float:
        boxes = ceil_div(channels, 64)
        return ((boxes - 1) * p["row"] + self.row(channels, p)) / boxes

    def loads(self, tall: int, rows: float, columns: float, p: Constants) -> float:
        """Microseconds of the copy engine for a block."""
        of_b = columns * (self.row(self.c, p) if self.which == "fprop" else self.box(self.c, p))
        if self.which == "update":
            return 1e-3 * (rows * self.box(self.k, p) + of_b)
        return 1e-3 * (tall * self.row(self.c if self.which == "fprop" else self.k, p) + of_b)

    def cost(self, tile: str, parts: int, p: Constants) -> float:
        """Microseconds."""
        tall, width = (int(side) for side in tile.split("x")[:2])
        turns = tile.endswith("x2")
        down, across = ceil_div(self.m, tall), ceil_div(self.n, width)
        rows, columns = ceil_div(self.m, 64) * 64 / down, ceil_div(self.n, 64) * 64 / across
        block = max(p[tile], self.loads(tall, rows, columns, p))
        blocks = ceil_div(self.blocks, parts)
        rounds = ceil_div(down * across * parts, PROCESSORS)
        if (turns and blocks < 6) or (tall < 128 and self.which == "update"):
            return NEVER
        if turns:
            one = blocks * block + 0.65
            run = max(rounds * one + 1.4, math.ceil(rounds / 2) * (one + 1.4))
        else:
            run = rounds * (blocks * block + 0.784 * width / 64)
        early = parts == 1 and (down * across <= 66 or (down * across >= 100 and self.blocks <= 16))
        out = (0.97 if early else 2.21) + together(run, self.bytes * 1e-6 / 2.87)
        return out + (1.1 + p["sums"] * 1e-6 * parts * self.m * self.n if parts > 1 else 0)

    def effective(self, parts: int) -> int:
        return ceil_div(self.blocks, ceil_div(self.blocks, max(1, min(parts, self.blocks))))

    def parts(self, p: Constants) -> int:
        """The library's own."""
        best = (math.inf, 1)
        for s in range(1, max(1, min(self.blocks // LEAST_BLOCKS, PROCESSORS)) + 1):
            if s * self.m * self.n < MOST_SUMS and self.effective(s) == s:
                best = min(best, (min(self.cost(t, s, p) for t in TILES), s))
        return best[1]


Times = dict[Pass, dict[tuple[str, int], float]]


def read(file: Path) -> Times:
    """Microseconds by pass, tile and parts; without the library's own number of parts, which an older model chose."""
    out: Times = {}
    for layer in json.loads(file.read_text())["layers"]:
        one = Pass.of(layer, layer["pass"])
        times = out.setdefault(one, {})
        for tile, parts, us in layer["times"]:
            if tile in TILES and parts > 0:
                key = (tile, one.effective(parts))
                times[key] = min(us, times.get(key, math.inf))
    return {one: times for one, times in out.items() if times}


def judge(times: Times, p: Constants) -> tuple[float, float]:
    """Mean logarithms: of the chosen variant's time over the best's, and of the model's error."""
    regret = errors = 0.0
    count = 0
    for one, measured in times.items():
        costs = {v: one.cost(*v, p) for v in measured}
        best = min(measured.values())
        regret += math.log(measured[min(costs, key=lambda v: costs[v])] / best)
        for v, us in measured.items():
            if us < 2 * best and costs[v] < NEVER:
                errors += min(abs(math.log(us / costs[v])), 0.7)
                count += 1
    return regret / len(times), errors / count


def fit(times: Times, steps: int, seed: int) -> Constants:
    """The best constants of a random walk from those in use."""
    rng = random.Random(seed)

    def score(p: Constants) -> float:
        regret, error = judge(times, p)
        return regret + 0.15 * error

    best, least = dict(IN_USE), score(IN_USE)
    for _ in range(steps):
        tried = dict(best)
        for name in rng.sample(sorted(IN_USE), rng.choice([1, 1, 2])):
            tried[name] *= math.exp(rng.gauss(0, 0.12))
        if (found := score(tried)) < least:
            best, least = tried, found
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", default=Path(__file__).parent / "results/conv_sweep.json")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    times = read(options.file)
    for name, p in (("in use", IN_USE), ("found", fit(times, options.steps, options.seed))):
        print(f"{name}: " + ", ".join(f"{k} {v:.3f}" for k, v in p.items()))
        for which in ("fprop", "bprop", "update"):
            some = {one: t for one, t in times.items() if one.which == which}
            regret, error = judge(some, p)
            print(f"  {which:6} {len(some)} passes: {math.exp(regret):.4f} of the best, error {math.exp(error):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
