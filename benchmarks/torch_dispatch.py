#!/usr/bin/env python3
"""What it costs a host to reach our operators from PyTorch, beside aten's own: microseconds a call.

    NERVANAGPU_DEVICE=emulator python benchmarks/torch_dispatch.py [--runs 5] [--out FILE]

Operands have no elements, so that nothing is computed: what is left is arguments, the dispatcher, checks and a new
tensor. "recorded" wants gradients, "and back" also finds them, "in a Function" has torch's own operator in an autograd
function of Python: what one costs, whose ever the operator is. "used" is aten's operator inside ngt.use(), for those of
VGG, a residual block and a transformer block. "nothing done" is the same with a function of Python in our place that
gives back results which are there: what torch takes to reach one. Of the thread's own time, a run takes the least of
rounds in turn. Each run is a process, in turn with the operators compiled and entered from Python; medians of runs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nervanagpu as ng
import nervanagpu.torch as ngt
import torch
from measure.report import commit, save

F = torch.nn.functional
OPS, ATEN = torch.ops.nervanagpu, torch.ops.aten
ENTRIES = ("compiled", "python")
OURS = ("mm", "addmm", "bmm", "convolution", "convolution_backward", "max_pool2d_with_indices",
        "max_pool2d_with_indices_backward")  # fmt: skip
DEVICE = "cuda" if ng.device().kind == "cuda" else "cpu"
Call = Callable[[], Any]
Table = dict[str, dict[str, float]]


def empty(*shape: int, requires_grad: bool = False) -> torch.Tensor:
    """On the device."""
    return torch.empty(shape, device=DEVICE, requires_grad=requires_grad)


def plain() -> dict[str, dict[str, Call]]:
    """For each operation without gradients: aten's, and ours by both names."""
    a, b = empty(0, 8), empty(8, 4)
    x, y = empty(0, 4, 8), empty(0, 8, 4)
    w, bias = empty(4, 8), empty(4)
    image, filters = empty(0, 3, 8, 8), empty(4, 3, 3, 3)
    one = ([1, 1], [1, 1], [1, 1])
    pool = ([2, 2], [2, 2], [0, 0])
    return {
        "mm": {
            "torch": lambda: torch.mm(a, b),
            "torch.ops.aten": lambda: ATEN.mm.default(a, b),
            "ngt": lambda: ngt.mm(a, b),
            "torch.ops.nervanagpu": lambda: OPS.mm.default(a, b),
        },
        "bmm": {
            "torch": lambda: torch.bmm(x, y),
            "torch.ops.aten": lambda: ATEN.bmm.default(x, y),
            "ngt": lambda: ngt.bmm(x, y),
            "torch.ops.nervanagpu": lambda: OPS.bmm.default(x, y),
        },
        "linear": {
            "torch": lambda: F.linear(a, w, bias),
            "torch.ops.aten": lambda: ATEN.linear.default(a, w, bias),
            "ngt": lambda: ngt.linear(a, w, bias),
            "torch.ops.nervanagpu": lambda: OPS.linear.default(a, w, bias),
        },
        "conv2d": {
            "torch": lambda: F.conv2d(image, filters, bias, 1, 1),
            "torch.ops.aten": lambda: ATEN.convolution.default(image, filters, bias, *one, False, [0, 0], 1),
            "ngt": lambda: ngt.conv2d(image, filters, bias, 1, 1),
            "torch.ops.nervanagpu": lambda: OPS.convolution.default(image, filters, bias, *one, 1),
        },
        "max_pool2d": {
            "torch": lambda: F.max_pool2d(image, 2),
            "torch.ops.aten": lambda: ATEN.max_pool2d_with_indices.default(image, [2, 2]),
            "ngt": lambda: ngt.max_pool2d(image, 2),
            "torch.ops.nervanagpu": lambda: OPS.max_pool.default(image, *pool),
        },
    }


class Product(torch.autograd.Function):
    """torch.mm with the gradient of its second operand."""

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        return torch.mm(a, b)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, torch.mm(ctx.saved_tensors[0].t(), grad)


def differentiated() -> dict[str, dict[str, Call]]:
    """The same with gradients of the operands but the first, or of one that stands alone; calls, and both ways."""
    rows, batch, image = empty(0, 8), empty(0, 4, 8), empty(0, 3, 8, 8)
    b, c, w, bias, filters = (
        empty(*shape, requires_grad=True) for shape in ((8, 4), (0, 8, 4), (4, 8), (4,), (4, 3, 3, 3))
    )
    alone = empty(0, 3, 8, 8, requires_grad=True)
    of: dict[str, tuple[list[torch.Tensor], dict[str, Call]]] = {
        "mm": (
            [b],
            {
                "torch": lambda: torch.mm(rows, b),
                "torch in a Function": lambda: Product.apply(rows, b),
                "ngt": lambda: ngt.mm(rows, b),
            },
        ),
        "bmm": ([c], {"torch": lambda: torch.bmm(batch, c), "ngt": lambda: ngt.bmm(batch, c)}),
        "linear": ([w, bias], {"torch": lambda: F.linear(rows, w, bias), "ngt": lambda: ngt.linear(rows, w, bias)}),
        "conv2d": (
            [filters, bias],
            {
                "torch": lambda: F.conv2d(image, filters, bias, 1, 1),
                "ngt": lambda: ngt.conv2d(image, filters, bias, 1, 1),
            },
        ),
        "max_pool2d": (
            [alone],
            {"torch": lambda: F.max_pool2d(alone, 2), "ngt": lambda: ngt.max_pool2d(alone, 2)},
        ),
    }
    out: dict[str, dict[str, Call]] = {}
    for name, (leaves, ways) in of.items():
        out[name] = {f"{way}, recorded": call for way, call in ways.items()}
        out[name] |= {f"{way}, and back": there_and_back(call, leaves) for way, call in ways.items()}
    return out


def of_blocks() -> dict[str, dict[str, Call]]:
    """aten's operators as blocks call them below autograd, and ours for them; last those that are not ours."""
    a, b, row, x, y = empty(0, 8), empty(8, 4), empty(4), empty(0, 4, 8), empty(0, 8, 4)
    image, filters, bias, pooled = empty(0, 3, 8, 8), empty(4, 3, 3, 3), empty(4), empty(0, 3, 4, 4)
    grad = empty(0, 4, 8, 8)
    one, two = ([1, 1], [1, 1], [1, 1]), ([2, 2], [2, 2], [0, 0])
    index = ATEN.max_pool2d_with_indices.default(image, [2, 2])[1]
    some, over = torch.ones(2, 4, 4, 4, device=DEVICE), torch.ones(4, device=DEVICE)
    return {
        "convolution": {
            "aten": lambda: ATEN.convolution.default(image, filters, bias, *one, False, [0, 0], 1),
            "torch.ops.nervanagpu": lambda: OPS.convolution.default(image, filters, bias, *one, 1),
        },
        "convolution_backward": {
            "aten": lambda: ATEN.convolution_backward.default(
                grad, image, filters, [4], *one, False, [0, 0], 1, [True, True, True]
            ),
            "torch.ops.nervanagpu": lambda: (
                OPS.convolution_input.default(grad, filters, image.shape, *one, 1),
                OPS.convolution_weight.default(grad, image, filters.shape, *one, 1),
                ATEN.sum.dim_IntList(grad, [0, 2, 3]),
            ),
        },
        "convolution_backward, of x": {
            "aten": lambda: ATEN.convolution_backward.default(
                grad, image, filters, [4], *one, False, [0, 0], 1, [True, False, False]
            ),
            "torch.ops.nervanagpu": lambda: OPS.convolution_input.default(grad, filters, image.shape, *one, 1),
        },
        "convolution_backward, of the weight": {
            "aten": lambda: ATEN.convolution_backward.default(
                grad, image, filters, [4], *one, False, [0, 0], 1, [False, True, False]
            ),
            "torch.ops.nervanagpu": lambda: OPS.convolution_weight.default(grad, image, filters.shape, *one, 1),
        },
        "max_pool2d_with_indices": {
            "aten": lambda: ATEN.max_pool2d_with_indices.default(image, [2, 2], [2, 2]),
            "torch.ops.nervanagpu": lambda: OPS.max_pool.default(image, *two),
        },
        "max_pool2d_with_indices_backward": {
            "aten": lambda: ATEN.max_pool2d_with_indices_backward.default(pooled, image, *two, [1, 1], False, index),
            "torch.ops.nervanagpu": lambda: OPS.max_pool_backward.default(pooled, image, *two),
        },
        "mm": {
            "aten": lambda: ATEN.mm.default(a, b),
            "torch.ops.nervanagpu": lambda: OPS.mm.default(a, b),
        },
        "addmm": {
            "aten": lambda: ATEN.addmm.default(row, a, b),
            "torch.ops.nervanagpu": lambda: OPS.addmm.default(row, a, b),
        },
        "bmm": {
            "aten": lambda: ATEN.bmm.default(x, y),
            "torch.ops.nervanagpu": lambda: OPS.bmm.default(x, y),
        },
        "relu": {"aten": lambda: ATEN.relu.default(some)},
        "threshold_backward": {"aten": lambda: ATEN.threshold_backward.default(some, some, 0)},
        "sum": {"aten": lambda: ATEN.sum.dim_IntList(some, [0, 2, 3])},
        "add_": {"aten": lambda: ATEN.add_.Tensor(some, some)},
        "native_batch_norm": {
            "aten": lambda: ATEN.native_batch_norm.default(some, over, over, over, over, True, 0.1, 1e-5)
        },
        "native_layer_norm": {"aten": lambda: ATEN.native_layer_norm.default(some, [4], over, over, 1e-5)},
        "gelu": {"aten": lambda: ATEN.gelu.default(some)},
    }


def doing_nothing(cases: dict[str, dict[str, Call]], calls: int, rounds: int) -> Table:
    """aten's operators with such kernels of Python. Before ngt.use() is first entered, which takes their place."""
    own, others = torch.library.Library("aten", "IMPL"), torch.library.Library("_", "IMPL")
    key = torch._C._parse_dispatch_key(ngt.native.OVERRIDES_KEY)
    others.fallback(torch.library.fallthrough_kernel, ngt.native.OVERRIDES_KEY)
    plain: dict[str, dict[str, Call]] = {}
    for name, ways in cases.items():
        if name.partition(",")[0] not in OURS:
            continue
        plain[name] = {"aten, nothing done": ways["aten"]}
        if name in OURS:
            result = ways["aten"]()
            own.impl(getattr(ATEN, name).default, lambda *a, r=result, **k: r, ngt.native.OVERRIDES_KEY)
    torch._C._dispatch_tls_set_dispatch_key_included(key, True)
    try:
        return measure(plain, calls, rounds)
    finally:
        torch._C._dispatch_tls_set_dispatch_key_included(key, False)
        own._destroy()
        others._destroy()


def there_and_back(call: Call, leaves: list[torch.Tensor]) -> Call:
    """The call, and the gradients of `leaves`."""
    grad = torch.empty_like(call())
    return lambda: torch.autograd.grad(call(), leaves, grad)


def microseconds(call: Call, calls: int) -> float:
    """Of one call, on average."""
    start = time.thread_time()
    for _ in range(calls):
        call()
    return (time.thread_time() - start) / calls * 1e6


def measure(cases: dict[str, dict[str, Call]], calls: int, rounds: int) -> Table:
    """The least of all rounds, by operation and way."""
    out: Table = {}
    for name, ways in cases.items():
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way, call in ways.items():
                times[way].append(microseconds(call, calls))
        out[name] = {way: round(min(t), 2) for way, t in times.items()}
    return out


def one_run(calls: int, rounds: int) -> Table:
    """Of this process."""
    torch.set_num_threads(1)
    with torch.no_grad():
        table = measure(plain(), calls, rounds)
    for name, ways in measure(differentiated(), calls, rounds).items():
        table[name] |= ways
    cases = of_blocks()
    with torch.no_grad():
        blocks = measure(cases, calls, rounds)
        nothing = doing_nothing(cases, calls, rounds)
        with ngt.use():
            used = measure({name: {"aten, used": ways["aten"]} for name, ways in cases.items()}, calls, rounds)
    return table | {f"aten.{name}": ways | nothing.get(name, {}) | used[name] for name, ways in blocks.items()}


def of_processes(options: argparse.Namespace) -> dict[str, list[Table]]:
    """All runs, by entry."""
    runs: dict[str, list[Table]] = {entry: [] for entry in ENTRIES}
    command = [sys.executable, __file__, "--alone", f"--calls={options.calls}", f"--rounds={options.rounds}"]
    for _ in range(options.runs):
        for entry in ENTRIES:
            env = {**os.environ, "NERVANAGPU_TORCH": "python" if entry == "python" else ""}
            done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
            said = json.loads(done.stdout)
            if not said["entry"].startswith(entry):
                raise SystemExit(f"torch_dispatch: {said['entry']}")
            runs[entry].append(said["us"])
    return runs


def summed_up(runs: list[Table]) -> dict[str, dict[str, list[float]]]:
    """[median, lowest, highest] of the runs."""
    out: dict[str, dict[str, list[float]]] = {}
    for name, ways in runs[0].items():
        found = {way: [run[name][way] for run in runs] for way in ways}
        out[name] = {way: [round(statistics.median(t), 2), min(t), max(t)] for way, t in found.items()}
    return out


def main() -> None:
    """The table, and the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=500, help="of a round")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--runs", type=int, default=5, help="processes for each entry")
    parser.add_argument("--alone", action="store_true", help="one run, in this process")
    parser.add_argument("--out", type=Path, help="where to write the figures, too")
    options = parser.parse_args()
    if options.alone:
        print(json.dumps({"entry": ngt.entry(), "us": one_run(options.calls, options.rounds)}))
        return
    before = os.getloadavg()[0]
    tables = {entry: summed_up(runs) for entry, runs in of_processes(options).items()}
    for entry, table in tables.items():
        print(f"torch {torch.__version__}, operators {entry}")
        for name, ways in table.items():
            print(f"  {name:40}" + "".join(f"{way} {t[0]:.2f} us  " for way, t in ways.items()))
    if options.out:
        save(options.out, {
            "what": "Microseconds of a host's processor for a call without elements: [median, lowest, highest] of runs",
            "commit": commit(), "gpu": on(), "cores": os.cpu_count(),
            "cpu": processor(), "load": [before, os.getloadavg()[0]], "torch": torch.__version__,
            "python": sys.version.split()[0], "calls": options.calls, "rounds": options.rounds, "runs": options.runs,
            "us": tables,
        })  # fmt: skip


def on() -> str:
    """The GPU, which works on nothing."""
    return torch.cuda.get_device_name() if DEVICE == "cuda" else "none: the host's processor alone"


def processor() -> str:
    """Its name."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    main()
