"""Fits the constants of kernels/conv/halo/halo_choice.cpp to times of halo.sass by variant.

    python benchmarks/halo_fit.py [FILE] [--steps N] [--seed S]      FILE: results/halo_sweep.json

The model is that of halo_choice.cpp, written again. Its constants are moved at random while that lowers the error, and
how much longer the chosen variants take than the best (the regret). Prints both for the constants in use and for those
found.
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
STAGES = {
    "128x64": 7, "128x96": 7, "128x128": 7, "128x160": 5, "128x192": 5, "256x64": 4, "256x96": 5, "256x128": 5,
}  # fmt: skip
Constants = dict[str, float]
# Microseconds of 16 channels' products by columns, between tiles by variant, of a row that is filled up with zeros,
# and from a stage that comes free to its next block.
IN_USE: Constants = {
    "64": 0.0428, "96": 0.061, "128": 0.0778, "160": 0.098, "192": 0.118, "part": 7e-3, "latency": 1.07,
    "128x64": 1.27, "128x128": 1.52, "128x192": 1.52, "256x64": 1.13, "256x128": 2.49,
    "128x96": 1.4, "128x160": 1.52, "256x96": 2.0,
}  # fmt: skip


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


@dataclass(frozen=True)
class Pass:
    """A launch without strides: what halo::Work says."""

    forward: bool
    channels: int
    columns: int
    taps: int
    places: int
    reach: int
    bytes: int

    @staticmethod
    def of(layer: dict[str, int], which: str) -> Pass:
        n, c, side, k, size, pad = (layer[name] for name in ("n", "c", "side", "k", "size", "pad"))
        out, forward = side + 2 * pad - size + 1, which == "fprop"
        low = -pad if forward else pad - size + 1
        source, positions = (side, out) if forward else (out, side)
        frame = max(positions, source - low, positions + size - 1 + low)
        moved = 2 * (n * (side * side * c + out * out * k) + size * size * c * k)
        channels, columns = (c, k) if forward else (k, c)
        return Pass(forward, channels, columns, size**2, frame**2 * n, (size - 1) * (frame + 1), moved)

    def cost(self, tile: str, p: Constants) -> float:
        """Microseconds."""
        rows, columns = (int(v) for v in tile.split("x"))
        blocks = ceil_div(self.channels, 64)
        last = self.channels - 64 * (blocks - 1)
        latency = p["latency"]

        def block(channels: int) -> float:
            step = p[str(columns)] * rows / 128
            return max(self.taps * max(ceil_div(channels, 16) * step, latency / STAGES[tile]), latency / 2)

        copies = p["part"] * (rows + self.reach) if last < 64 else 0.0
        if self.forward and self.channels % 16 != 0:
            copies += p["part"] * self.taps * 32 * ceil_div(self.columns, 32) / ceil_div(self.columns, columns)
        tiles = ceil_div(self.places, rows) * ceil_div(self.columns, columns)
        one = max((blocks - 1) * block(64) + block(last), copies) + p[tile]
        return 2.21 + max(ceil_div(tiles, PROCESSORS) * one, self.bytes * 1e-6 / 2.87)


Times = list[tuple[Pass, str, float]]


def read(file: Path) -> Times:
    """Passes, variants and their microseconds."""
    layers = json.loads(file.read_text())["layers"]
    return [(Pass.of(x, x["pass"]), tile, us) for x in layers for tile, us in x["times"] if tile in STAGES]


def error(times: Times, p: Constants) -> float:
    return math.sqrt(sum(math.log(one.cost(tile, p) / us) ** 2 for one, tile, us in times) / len(times))


def regret(times: Times, p: Constants) -> float:
    """Mean logarithm of the chosen variant's time over the best's."""
    by: dict[Pass, dict[str, float]] = {}
    for one, tile, us in times:
        by.setdefault(one, {})[tile] = us
    chosen = []
    for one, measured in by.items():
        costs = {tile: one.cost(tile, p) for tile in measured}
        chosen.append((measured[min(costs, key=lambda tile: costs[tile])], min(measured.values())))
    return sum(math.log(us / best) for us, best in chosen) / len(chosen)


def fit(times: Times, steps: int, seed: int) -> Constants:
    """The best constants of a random walk from those in use."""
    rng = random.Random(seed)

    def score(p: Constants) -> float:
        return error(times, p) + 3 * regret(times, p)

    best, least = dict(IN_USE), score(IN_USE)
    for _ in range(steps):
        tried = dict(best)
        for name in rng.sample(sorted(IN_USE), 2):
            tried[name] *= math.exp(rng.gauss(0, 0.08))
        if (found := score(tried)) < least:
            best, least = tried, found
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", default=Path(__file__).parent / "results/halo_sweep.json")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    times = read(options.file)
    for name, p in (("in use", IN_USE), ("found", fit(times, options.steps, options.seed))):
        print(f"{name}: " + ", ".join(f"{k} {v:.4f}" for k, v in p.items()))
        print(f"  {len(times)} times: error {error(times, p):.3f}, {math.exp(regret(times, p)):.4f} of the best")
    return 0


if __name__ == "__main__":
    sys.exit(main())
