#!/usr/bin/env python3
"""What it costs a host to reach our operators from PyTorch, beside aten's own: microseconds a call.

    NERVANAGPU_DEVICE=emulator python benchmarks/torch_dispatch.py [--json build/torch_dispatch.json]

Operands have no elements, so that nothing is computed: what is left is arguments, the dispatcher, checks and a new
tensor. Without gradients. The least of rounds in turn, of the thread's own time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nervanagpu.torch as ngt
import torch

F = torch.nn.functional
OPS = torch.ops.nervanagpu


def cases() -> dict[str, dict[str, Callable[[], Any]]]:
    """For each operation: aten's, and ours by both names."""
    a, b = torch.empty(0, 8), torch.empty(8, 4)
    x, y = torch.empty(0, 4, 8), torch.empty(0, 8, 4)
    w, bias = torch.empty(4, 8), torch.empty(4)
    image, filters = torch.empty(0, 3, 8, 8), torch.empty(4, 3, 3, 3)
    one = ([1, 1], [1, 1], [1, 1], 1)
    pool = ([2, 2], [2, 2], [0, 0])
    return {
        "mm": {
            "torch": lambda: torch.mm(a, b),
            "torch.ops.aten": lambda: torch.ops.aten.mm.default(a, b),
            "ngt": lambda: ngt.mm(a, b),
            "torch.ops.nervanagpu": lambda: OPS.mm.default(a, b),
        },
        "bmm": {
            "torch": lambda: torch.bmm(x, y),
            "torch.ops.aten": lambda: torch.ops.aten.bmm.default(x, y),
            "ngt": lambda: ngt.bmm(x, y),
            "torch.ops.nervanagpu": lambda: OPS.bmm.default(x, y),
        },
        "linear": {
            "torch": lambda: F.linear(a, w, bias),
            "torch.ops.aten": lambda: torch.ops.aten.linear.default(a, w, bias),
            "ngt": lambda: ngt.linear(a, w, bias),
            "torch.ops.nervanagpu": lambda: OPS.linear.default(a, w, bias),
        },
        "conv2d": {
            "torch": lambda: F.conv2d(image, filters, bias, 1, 1),
            "torch.ops.aten": lambda: torch.ops.aten.convolution.default(
                image, filters, bias, [1, 1], [1, 1], [1, 1], False, [0, 0], 1
            ),
            "ngt": lambda: ngt.conv2d(image, filters, bias, 1, 1),
            "torch.ops.nervanagpu": lambda: OPS.convolution.default(image, filters, bias, *one),
        },
        "max_pool2d": {
            "torch": lambda: F.max_pool2d(image, 2),
            "torch.ops.aten": lambda: torch.ops.aten.max_pool2d_with_indices.default(image, [2, 2]),
            "ngt": lambda: ngt.max_pool2d(image, 2),
            "torch.ops.nervanagpu": lambda: OPS.max_pool.default(image, *pool),
        },
    }


def microseconds(call: Callable[[], Any], calls: int) -> float:
    """Of one call, on average."""
    start = time.thread_time()
    for _ in range(calls):
        call()
    return (time.thread_time() - start) / calls * 1e6


def measure(calls: int, rounds: int) -> dict[str, dict[str, float]]:
    """The least of all rounds, by operation and way."""
    out: dict[str, dict[str, float]] = {}
    for name, ways in cases().items():
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way, call in ways.items():
                times[way].append(microseconds(call, calls))
        out[name] = {way: round(min(t), 2) for way, t in times.items()}
    return out


def main() -> None:
    """The table, and the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=500, help="of a round")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--json", type=Path, help="where to write the numbers, too")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with torch.no_grad():
        table = measure(options.calls, options.rounds)
    print(f"torch {torch.__version__}, operators {ngt.entry()}")
    for name, ways in table.items():
        print(f"{name:12}", *(f"{way} {t:6.2f} us  " for way, t in ways.items()))
    if options.json:
        options.json.write_text(json.dumps({"torch": torch.__version__, "entry": ngt.entry(), "us": table}, indent=1))


if __name__ == "__main__":
    main()
