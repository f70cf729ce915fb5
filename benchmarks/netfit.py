"""Training steps of ng.Network.fit beside PyTorch's: the same model, batch and host samples, in one run.

    python benchmarks/netfit.py [--net small,alexnet] [--dtype float16,float32] [--steps N] [--out FILE]

A step is everything: the batch from host memory (gathered, sent), forward, loss, backward, update with momentum. Ours:
each call queued (graphs=False), and replayed. The peer: eager, and torch.compile(mode="reduce-overhead") of model and
loss; channels last, batches gathered on the host, pinned and sent without waiting, SGD with momentum (foreach), TF32
off. Milliseconds of a step are those of an epoch over its steps; the median of epochs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from measure.report import commit, machine, save
from nervanagpu import layers as L

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Model:
    """A chain of (kind, numbers): conv (channels, window, stride, padding), pool (window, stride), full, classes."""

    side: int
    channels: int
    batch: int
    parts: tuple[tuple[Any, ...], ...]
    bytes: bool = False  # samples are uint8


MODELS = {
    "small": Model(32, 3, 128, (
        ("conv", 32, 3, 1, 1), ("conv", 32, 3, 1, 1), ("pool", 2, 2), ("conv", 64, 3, 1, 1), ("conv", 64, 3, 1, 1),
        ("pool", 2, 2), ("full", 256), ("classes", 10),
    )),
    "alexnet": Model(224, 3, 128, (
        ("conv", 64, 11, 4, 2), ("pool", 3, 2), ("conv", 192, 5, 1, 2), ("pool", 3, 2), ("conv", 384, 3, 1, 1),
        ("conv", 256, 3, 1, 1), ("conv", 256, 3, 1, 1), ("pool", 3, 2), ("full", 4096), ("full", 4096),
        ("classes", 1000),
    ), bytes=True),
}  # fmt: skip


@dataclass
class Row:
    """Milliseconds of a step, by who did it."""

    net: str
    dtype: str
    batch: int
    steps: int
    ms: dict[str, float]
    loss: dict[str, float]


def samples(model: Model, steps: int) -> tuple[Array, Array]:
    """Random images (n, side, side, channels) and labels."""
    rng = np.random.default_rng(2015)
    n = model.batch * steps
    shape = (n, model.side, model.side, model.channels)
    x = rng.integers(0, 256, shape, np.uint8) if model.bytes else rng.random(shape, np.float32)
    return x, rng.integers(0, model.parts[-1][1], n).astype(np.int32)


def network(model: Model, dtype: str, graphs: bool) -> ng.Network:
    """Ours."""
    chain = []
    for kind, *n in model.parts:
        if kind == "conv":
            chain.append(L.Conv(n[0], n[1], stride=n[2], padding=n[3], relu=True))
        elif kind == "pool":
            chain.append(L.Pool(n[0], stride=n[1]))
        else:
            chain.append(L.Full(n[0], relu=kind == "full"))
    return ng.Network([*chain, L.Softmax()], (model.side, model.side, model.channels), dtype, graphs=graphs)


def ours(model: Model, dtype: str, x: Array, y: Array, graphs: bool) -> Callable[[], float]:
    """A function that trains an epoch and returns its loss."""
    net = network(model, dtype, graphs)
    lr = 1e-5 if model.bytes else 1e-2

    def epoch() -> float:
        history = net.fit(x, y, batch=model.batch, lr=lr, momentum=0.9, progress=False)
        return history["loss"][0]

    return epoch


def theirs(model: Model, dtype: str, x: Array, y: Array, compiled: bool) -> Callable[[], float]:
    """The same of PyTorch."""
    import torch

    chain: list[torch.nn.Module] = []
    c, side = model.channels, model.side
    flat = False
    for kind, *n in model.parts:
        if kind == "conv":
            chain += [torch.nn.Conv2d(c, n[0], n[1], n[2], n[3]), torch.nn.ReLU(inplace=True)]
            c, side = n[0], (side + 2 * n[3] - n[1]) // n[2] + 1
        elif kind == "pool":
            chain.append(torch.nn.MaxPool2d(n[0], n[1]))
            side = (side - n[0]) // n[1] + 1
        else:
            features = c if flat else c * side * side
            chain += ([] if flat else [torch.nn.Flatten()]) + [torch.nn.Linear(features, n[0])]
            chain += [torch.nn.ReLU(inplace=True)] if kind == "full" else []
            c, flat = n[0], True
    torch_dtype = getattr(torch, dtype)
    net = torch.nn.Sequential(*chain).to("cuda", torch_dtype, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), 1e-5 if model.bytes else 1e-2, momentum=0.9, foreach=True)

    def loss_of(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(net(images.permute(0, 3, 1, 2).to(torch_dtype)).float(), labels)

    forward = torch.compile(loss_of, mode="reduce-overhead") if compiled else loss_of
    host_x, host_y = torch.from_numpy(x), torch.from_numpy(y.astype(np.int64))

    def epoch() -> float:
        order = torch.randperm(len(host_x))
        total = torch.zeros((), device="cuda")
        for first in range(0, len(host_x), model.batch):
            which = order[first : first + model.batch]
            images = host_x[which].pin_memory().to("cuda", non_blocking=True)
            labels = host_y[which].pin_memory().to("cuda", non_blocking=True)
            optimizer.zero_grad(set_to_none=True)
            loss = forward(images, labels)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return float(total) * model.batch / len(host_x)

    return epoch


def measure(name: str, dtype: str, steps: int, epochs: int, peer: bool) -> Row:
    """One model in one dtype, by all."""
    model = MODELS[name]
    x, y = samples(model, steps)
    ways = {
        "ours, call by call": ours(model, dtype, x, y, graphs=False),
        "ours, replayed": ours(model, dtype, x, y, graphs=True),
    }
    if peer:
        ways["torch, eager"] = theirs(model, dtype, x, y, compiled=False)
        ways["torch, compiled"] = theirs(model, dtype, x, y, compiled=True)
    row = Row(name, dtype, model.batch, steps, {}, {})
    for way, epoch in ways.items():
        row.loss[way] = epoch()  # what is made at first use
        epoch()
        took = []
        for _ in range(epochs):
            start = time.perf_counter()
            epoch()
            took.append((time.perf_counter() - start) * 1e3 / steps)
        row.ms[way] = round(statistics.median(took), 4)
        print(f"{name:8} {dtype:8} N={model.batch} {way:20} {row.ms[way]:9.3f} ms a step", flush=True)
    return row


def main() -> int:
    """Measure, print, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", default=",".join(MODELS))
    parser.add_argument("--dtype", default="float16,float32")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    peer = False
    if not args.no_peer:
        try:
            import torch

            peer = torch.cuda.is_available()
        except ImportError:
            print("without PyTorch")
    if peer:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
    rows = [
        measure(net, dtype, args.steps, args.epochs, peer)
        for net in args.net.split(",")
        for dtype in args.dtype.split(",")
    ]
    if args.out:
        save(args.out, {"commit": commit(), **machine(), "rows": [asdict(r) for r in rows]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
