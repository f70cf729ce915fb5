"""Errors of float32 convolutions: precision "tensor", "strict", and cuDNN's without and with TF32.

|err| / (|A||B|), the largest and the root mean square over all results of a pass, against float64. A row says whether
the result was from two pieces: other bits than those of three.

    python benchmarks/conv_errors.py [--out FILE]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import nervanagpu as ng
import torch
from conv import Case, Operands, run_ours, torch_pass
from convnets.held_out_layers import Layer
from f16x3_errors import DATA
from measure.report import commit, machine, save

PASSES = ("fprop", "bprop", "update")
# 3x3 and 5x5 filters, sums of 864 to 2,304 products and, in update, of 6,272 and 25,088.
CASES = (
    Case("3x3", Layer(32, 256, 14, 256, 3, 1)),
    Case("3x3, fewer channels", Layer(32, 96, 28, 128, 3, 1)),
    Case("5x5", Layer(32, 64, 28, 192, 5, 1)),
)


def made(case: Case, make: Callable[[tuple[int, int]], Any]) -> Operands:
    """Operands of a distribution, channels last: neighbours of a row are neighbours in a sum."""

    def tensor(n: int, c: int, sides: tuple[int, ...]) -> Any:
        return make((n * prod(sides), c)).reshape(n, *sides, c).movedim(-1, 1)

    out = Operands.__new__(Operands)
    d = case.layer
    out.x = tensor(d.n, d.c, d.sides)
    out.w = tensor(d.k, d.c, d.sizes)
    out.dy = tensor(d.n, d.k, d.outs)
    return out


def errors(got: Any, exact: Any, scale: Any) -> tuple[float, float]:
    """Largest and root mean square; infinite where anything is not a number."""
    off = (got.double() - exact).abs() / scale.clamp(min=1e-300)
    off = torch.where(off.isfinite(), off, torch.inf)
    return float(off.max()), float((off * off).mean().sqrt())


def ours(case: Case, which: str, o: Operands, precision: str, stream: ng.Stream) -> Any:
    """Our result, in PyTorch's memory."""
    out = torch.full_like(o.like(which), float("nan"), memory_format=torch.preserve_format)
    torch.cuda.synchronize()
    with ng.precision(precision):
        run_ours(case, which, o, out, stream)()
    stream.synchronize()
    return out


def from_two(case: Case, which: str, o: Operands, got: Any, stream: ng.Stream) -> bool:
    """Whether `got` has other bits than three pieces give, which one huge element asks for: where it is not met."""
    other = Operands.__new__(Operands)
    other.x, other.w, other.dy = o.x.clone(), o.w, o.dy.clone()
    huge = other.x if which == "fprop" else other.dy
    huge[0, 0, 0, 0] = 1e30  # of the first image, or filter
    three = ours(case, which, other, "tensor", stream)
    return not torch.equal(got[1:], three[1:])


def main() -> int:
    """Parse the command line, print a line for each case, pass and distribution, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/conv_errors.json"))
    args = parser.parse_args()
    torch.manual_seed(2015)
    stream = ng.Stream()
    rows: list[dict[str, Any]] = []
    for case in CASES:
        for name, make in DATA.items():
            o = made(case, make)
            for which in PASSES:
                exact = torch_pass(case, which, o.x.double(), o.w.double(), o.dy.double())
                scale = torch_pass(case, which, o.x.double().abs(), o.w.double().abs(), o.dy.double().abs())
                got = {how: ours(case, which, o, how, stream) for how in ("tensor", "strict")}
                row: dict[str, Any] = {
                    "bench": "conv_errors",
                    "case": case.name,
                    "pass": which,
                    "data": name,
                    "two_pieces": from_two(case, which, o, got["tensor"], stream),
                }
                for how, result in got.items():
                    row[how] = errors(result, exact, scale)
                for how, tf32 in (("cuDNN", False), ("cuDNN TF32", True)):
                    torch.backends.cudnn.allow_tf32 = tf32
                    row[how] = errors(torch_pass(case, which, o.x, o.w, o.dy), exact, scale)
                rows.append(row)
                columns = "  ".join(
                    f"{how} {row[how][0]:.1e} {row[how][1]:.1e}" for how in ("tensor", "strict", "cuDNN", "cuDNN TF32")
                )
                print(
                    f"{case.name:20} {which:6} {name:14} {'two' if row['two_pieces'] else '   '}  {columns}", flush=True
                )
    save(args.out, {"commit": commit(), **machine(), "rows": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
