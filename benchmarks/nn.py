"""The small operations of nn beside what they move, and what a call of them costs the host beside PyTorch.

    python benchmarks/nn.py [--out FILE] [--rows R --columns C]

Device: float32, medians between back-to-back events over operands that rotate past the L2, while busy work before
them hides the host; TB/s are bytes of operands and results once. Host: microseconds of back-to-back calls on small
tensors, and of training steps from host arrays (128 samples of 784, layers of 128 with relu and of 10, SGD with
momentum). Every result is compared with float64, relative to its largest magnitude; more than 1e-5 fails.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
from elementwise import BUFFERS, call_us, timed
from measure.report import commit, machine, save
from peers.libraries import torch

Array = np.ndarray[Any, Any]
LR, MOMENTUM = 0.01, 0.9


def operations(rows: int, columns: int) -> dict[str, tuple[Callable[[int], Any], float, Callable[[Any], float]]]:
    """Of each operation: a call on buffer i, the bytes that it has to move, and the error of the result of buffer 0."""
    rng = np.random.default_rng(1)
    host = rng.standard_normal((rows, columns)).astype(np.float32)
    gradient = rng.standard_normal((rows, columns)).astype(np.float32)
    vector = rng.standard_normal(columns).astype(np.float32)
    which = rng.integers(0, columns, rows).astype(np.int32)
    x = [ng.array(host) for _ in range(BUFFERS)]
    g = [ng.array(gradient) for _ in range(BUFFERS)]
    y = [ng.empty((rows, columns)) for _ in range(BUFFERS)]
    bias, labels = ng.array(vector), ng.array(which)
    size = 4.0 * rows * columns

    def off(want: Callable[[], Array]) -> Callable[[Any], float]:
        def error(result: Any) -> float:
            exact = want()
            return float(np.abs(result.get() - exact).max() / np.abs(exact).max())

        return error

    def loss(i: int) -> Any:
        return ng.nn.softmax_loss(x[i], labels)[0]

    def probabilities() -> Array:
        e = np.exp(host.astype(np.float64) - host.max(1, keepdims=True))
        return np.asarray(e / e.sum(1, keepdims=True))

    def step(i: int) -> Any:
        ng.nn.sgd_update(y[i], g[i], x[i], lr=LR, momentum=MOMENTUM)
        return y[i]

    def stepped(result: Any) -> float:
        y[0][:] = x[0]
        g[0][:] = ng.array(gradient)
        got = step(0).get()
        exact = wide - LR * (MOMENTUM * slope + wide)
        return float(np.abs(got - exact).max() / np.abs(exact).max())

    def dropped(result: Any) -> float:
        got = result.get()
        kept = got != 0
        share = float(kept.mean())
        off = float(np.abs(np.where(kept, got - 2 * host, 0)).max())
        return off + (0 if abs(share - 0.5) <= 2.5 / math.sqrt(rows * columns) else np.inf)

    wide, slope = host.astype(np.float64), gradient.astype(np.float64)
    return {
        "activation_bprop relu": (lambda i: ng.nn.activation_bprop("relu", x[i], g[i]), 3 * size,
                                  off(lambda: np.where(wide > 0, slope, 0))),
        "add": (lambda i: ng.nn.add(x[i], g[i], alpha=2.0, beta=3.0), 3 * size, off(lambda: 2 * wide + 3 * slope)),
        "bias_add": (lambda i: ng.nn.bias_add(x[i], bias), 2 * size, off(lambda: wide + vector)),
        "bias_grad": (lambda i: ng.nn.bias_grad(x[i]), size, off(lambda: wide.sum(0))),
        "softmax loss": (loss, 2 * size, off(probabilities)),
        "dropout": (lambda i: ng.nn.dropout(x[i], 0.5, seed=3), 2 * size, dropped),
        "sgd": (step, 5 * size, stepped),
    }  # fmt: skip


def host_calls() -> dict[str, float]:
    """Microseconds of calls on 128 x 128 float32 (softmax_loss: 128 x 10), ours and PyTorch's."""
    rng = np.random.default_rng(2)
    x, g, v = (ng.array(rng.standard_normal((128, 128)).astype(np.float32)) for _ in range(3))
    y, row, logits = ng.empty((128, 128)), ng.array(np.ones(128, np.float32)), ng.array(np.ones((128, 10), np.float32))
    labels = ng.array(rng.integers(0, 10, 128).astype(np.int32))

    def store(value: Any) -> None:
        y[:] = value

    calls: dict[str, Callable[[], object]] = {
        "y[:] = x + 1": lambda: store(x + 1),
        "y[:] = x * 2 + row": lambda: store(x * 2 + row),
        "softmax_loss": lambda: ng.nn.softmax_loss(logits, labels),
        "activation": lambda: ng.nn.activation("relu", x),
        "activation_bprop": lambda: ng.nn.activation_bprop("relu", x, g),
        "bias_add": lambda: ng.nn.bias_add(x, row),
        "bias_grad": lambda: ng.nn.bias_grad(x),
        "dropout": lambda: ng.nn.dropout(x, 0.5, seed=1),
        "sgd_update": lambda: ng.nn.sgd_update(y, v, g, lr=LR, momentum=MOMENTUM),
        "y[:] = sig(x @ w + b)": lambda: store(ng.sig(x @ g + row)),
    }
    out = {name: call_us(call, ng.synchronize) for name, call in calls.items()}
    out["training step"] = call_us(our_step(), ng.synchronize)
    if torch is not None:
        tx, tw = torch.ones(128, 128, device="cuda"), torch.ones(128, 128, device="cuda")
        trow = torch.ones(128, device="cuda")
        tl, tt = torch.ones(128, 10, device="cuda"), torch.zeros(128, dtype=torch.int64, device="cuda")
        theirs: dict[str, Callable[[], object]] = {
            "x + 1": lambda: tx + 1,
            "x * 2 + row": lambda: tx * 2 + trow,
            "sigmoid(addmm(b, x, w))": lambda: torch.sigmoid(torch.addmm(trow, tx, tw)),
            "cross_entropy": lambda: torch.nn.functional.cross_entropy(tl, tt),
            "training step": their_step(),
        }
        out |= {f"torch: {name}": call_us(call, torch.cuda.synchronize) for name, call in theirs.items()}
    return out


def batch() -> tuple[Array, Array]:
    rng = np.random.default_rng(4)
    return rng.random((128, 784), dtype=np.float32), rng.integers(0, 10, 128)


def our_step() -> Callable[[], object]:
    full = ng.layers.Full
    net = ng.Network([full(128, relu=True), full(10), ng.layers.Softmax()], input_shape=(784,), dtype="float32", seed=1)
    x, labels = batch()
    return lambda: net.fit(x, labels, epochs=1, batch=128, lr=LR, momentum=MOMENTUM, progress=False)


def their_step() -> Callable[[], object]:
    net = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)).cuda()
    optimiser = torch.optim.SGD(net.parameters(), lr=LR, momentum=MOMENTUM)
    x, labels = batch()

    def step() -> None:
        optimiser.zero_grad()
        out = net(torch.from_numpy(x).cuda())
        torch.nn.functional.cross_entropy(out, torch.from_numpy(labels).cuda()).backward()
        optimiser.step()

    return step


def main() -> int:
    """Parse the command line, measure, print a table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="JSON file; default: none")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=8192)
    args = parser.parse_args()
    table: dict[str, dict[str, float]] = {}
    filler = [ng.zeros((args.rows, args.columns)) for _ in range(2)]

    def busy() -> None:
        for _ in range(BUFFERS):
            filler[0][:] = filler[1]

    for name, (run, traffic, error) in operations(args.rows, args.columns).items():
        off = error(run(0))

        def work(i: int, run: Callable[[int], Any] = run) -> None:
            ng.evaluate(run(i))

        ms = timed({"ours": work}, busy)["ours"]
        table[name] = {"us": round(1e3 * ms, 2), "TB_s": round(1e-9 * traffic / ms, 2), "max_err": off}
        print(f"{name:24s} {table[name]['us']:9.2f} us {table[name]['TB_s']:6.2f} TB/s  error {off:.1e}", flush=True)
    gpu = ng.device().kind == "cuda"
    host = {name: round(us, 2) for name, us in host_calls().items()} if gpu else {}
    for name, us in host.items():
        print(f"{name:32s} {us:9.2f} us of the host")
    if args.out:
        body = {"commit": commit(), **machine(), "shape": [args.rows, args.columns]}
        body |= {"operations": table, "host_us": host}
        save(args.out, body)
    return 0 if all(row["max_err"] <= 1e-5 for row in table.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
