"""Errors of float32 products by two pieces of float16, three of bfloat16, multiply-adds and SGEMM (without TF32).

Of sampled rows, against float64.

    python benchmarks/f16x3_errors.py [--sides 1024,4096,8192] [--tiles f16_128x128,...] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nervanagpu as ng
import torch

ROWS = 64
Make = Callable[[tuple[int, int]], Any]


def normal(shape: tuple[int, int]) -> Any:
    """Standard normal numbers."""
    return torch.randn(shape, device="cuda")


def cancelling(shape: tuple[int, int]) -> Any:
    """Neighbours in a sum nearly cancel."""
    sign = 1 - 2 * (torch.arange(shape[1], device="cuda") % 2)
    return sign * (1 + 1e-3 * normal(shape))


def few_huge(shape: tuple[int, int]) -> Any:
    """One of a hundred is 1e12 times larger."""
    x = normal(shape)
    return torch.where(torch.rand(shape, device="cuda") < 0.01, 1e12 * x, x)


DATA: dict[str, Make] = {
    "normal": normal,
    "uniform": lambda s: torch.rand(s, device="cuda"),
    "exponential": lambda s: torch.empty(s, device="cuda").exponential_(),
    "exp(normal)": lambda s: normal(s).exp(),
    "exp(4 normal)": lambda s: (4 * normal(s)).exp() * (1 - 2 * (normal(s) > 0)),
    "relu": lambda s: normal(s).relu(),
    "cancelling": cancelling,
    "few huge": few_huge,
}


def errors(c: Any, rows: Any, exact: Any, scale: Any) -> tuple[float, float]:
    """Largest and root mean square of |c - exact| / scale; infinite where anything is not a number."""
    off = (c[rows].double() - exact).abs() / scale
    off = torch.where(off.isfinite(), off, torch.inf)
    return float(off.max()), float((off * off).mean().sqrt())


def main() -> int:
    """Parse the command line, print a line for each distribution, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", default="1024,4096,8192")
    parser.add_argument("--tiles", default="f16_128x128")
    parser.add_argument("--out", type=Path, default=Path("build/f16x3_errors.json"))
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(2015)
    table = []
    tiles = args.tiles.split(",")
    for side in map(int, args.sides.split(",")):
        for name, make in DATA.items():
            a, b = make((side, side)), make((side, side))
            peer = torch.mm(a, b)
            rows = torch.randperm(side, device="cuda")[:ROWS]
            exact, scale = a[rows].double() @ b.double(), a[rows].double().abs() @ b.double().abs()
            torch.cuda.synchronize()
            x, y = ng.from_dlpack(a), ng.from_dlpack(b)
            out = {"SGEMM": errors(peer, rows, exact, scale)}
            results = {}
            how = {"three": {"precision": "tensor", "tile": "128x128"}, "strict": {"precision": "strict"}}
            how |= {tile: {"precision": "tensor", "tile": tile} for tile in tiles}
            for what, options in how.items():
                c = torch.full_like(peer, torch.nan)
                torch.cuda.synchronize()
                ng.dot(x, y, out=ng.from_dlpack(c), **options)
                ng.synchronize()
                results[what] = c
                out[what] = errors(c, rows, exact, scale)
            by_two = not any(torch.equal(results[tiles[0]], results[other]) for other in ("three", "strict"))
            line = "  ".join(f"{k} {most:.2e} {rms:.2e}" for k, (most, rms) in out.items())
            print(f"{side} {name}: {'two pieces' if by_two else 'NOT two pieces'}  {line}", flush=True)
            table.append({"side": side, "data": name, "two_pieces": by_two, "errors": out})
    args.out.write_text(json.dumps({"tiles": tiles, "rows": table}, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
