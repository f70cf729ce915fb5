#!/usr/bin/env python3
"""A transformer block, a residual block and VGG's convolutions on our operators and on PyTorch's: times and losses.

    python benchmarks/torch_blocks.py [--steps 200] [--rounds 7] [--small] [--json build/torch_blocks.json]

Each is trained for so many steps from the same start by torch (eager and compiled) and by ours: `ngt.use()` around the
same model, and torch.ops.nervanagpu in a compiled one. --small: sizes for the emulator. The JSON is written after each
block.

--rounds: instead, eager torch and ours take turns, so many rounds of `steps` steps with one wait after them. "host" is
what two steps after a wait take until they are queued, a step.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import nervanagpu as ng
import nervanagpu.torch as ngt
import torch

F = torch.nn.functional
DEVICE = "cuda" if ng.device().kind == "cuda" else "cpu"


class Layer:
    """One that is torch's, or ours with an activation."""

    ours = False  # of all of them


class Linear(Layer, torch.nn.Linear):
    """Either."""

    def forward(self, x: Any, activation: str = "none") -> Any:
        if Layer.ours:
            return ngt.linear(x, self.weight, self.bias, activation=activation)
        y = super().forward(x)
        return F.gelu(y) if activation == "gelu" else y


class Conv2d(Layer, torch.nn.Conv2d):
    """Either."""

    activation = "none"

    def forward(self, x: Any) -> Any:
        if Layer.ours:
            return ngt.conv2d(x, self.weight, self.bias, self.stride, self.padding, activation=self.activation)
        y = super().forward(x)
        return torch.relu(y) if self.activation == "relu" else y


class Rectified(Conv2d):
    """Nothing below 0."""

    activation = "relu"


class MaxPool2d(Layer, torch.nn.MaxPool2d):
    """Either."""

    def forward(self, x: Any) -> Any:
        return ngt.max_pool2d(x, self.kernel_size) if Layer.ours else super().forward(x)


class Transformer(torch.nn.Module):
    """Attention and a feed-forward layer, both normalised first."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = Linear(width, 3 * width), Linear(width, width)
        self.up, self.down = Linear(width, 4 * width), Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.down(self.up(self.norm2(x), "gelu"))


class Residual(torch.nn.Module):
    """Two 3 x 3 convolutions, normalised, and what went in."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.conv2 = Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = torch.nn.BatchNorm2d(channels), torch.nn.BatchNorm2d(channels)

    def forward(self, x: Any) -> Any:
        return torch.relu(x + self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x))))))


def vgg(channels: int) -> torch.nn.Module:
    """VGG-A's convolutions and pools, so many channels in the first layer."""
    layers: list[torch.nn.Module] = []
    before = 3
    for factor, count in ((1, 1), (2, 1), (4, 2), (8, 2), (8, 2)):
        for _ in range(count):
            layers.append(Rectified(before, factor * channels, 3, 1, 1))
            before = factor * channels
        layers.append(MaxPool2d(2))
    return torch.nn.Sequential(*layers)


def problems(small: bool) -> dict[str, tuple[Callable[[], torch.nn.Module], tuple[int, ...]]]:
    """Model and shape of the input."""
    if small:
        return {
            "transformer": (lambda: Transformer(32, 2), (2, 8, 32)),
            "residual": (lambda: Residual(8), (2, 8, 8, 8)),
            "vgg": (lambda: vgg(8), (1, 3, 32, 32)),
        }
    return {
        "transformer": (lambda: Transformer(2048, 16), (8, 1024, 2048)),
        "residual": (lambda: Residual(256), (64, 256, 28, 28)),
        "vgg": (lambda: vgg(64), (32, 3, 224, 224)),
    }


def train(
    model: torch.nn.Module, run: Callable[[Any], Any], x: Any, target: Any, steps: int, where: Any
) -> dict[str, Any]:
    """Losses of all steps, and the median milliseconds of a step after the first ten."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    losses, times = [], []
    for _ in range(steps):
        start = time.perf_counter()
        optimizer.zero_grad()
        with where():
            loss = F.mse_loss(run(x).float(), target)
            loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))  # waits
        times.append((time.perf_counter() - start) * 1e3)
    behind = sorted(times[10:] or times)
    return {"ms": behind[len(behind) // 2], "losses": losses}


def built(make: Callable[[], torch.nn.Module], shape: tuple[int, ...], dtype: Any) -> tuple[torch.nn.Module, Any, Any]:
    """A model, its input and its target; the same ones each time."""
    torch.manual_seed(1)
    model = make().to(DEVICE, dtype)
    x = torch.randn(shape, device=DEVICE).to(dtype)
    if x.dim() == 4:
        x, model = x.to(memory_format=torch.channels_last), model.to(memory_format=torch.channels_last)
    with torch.no_grad():
        target = torch.randn_like(model(x).float())
    return model, x, target


def wait() -> None:
    """For the device."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def take_turns(
    name: str, make: Callable[[], torch.nn.Module], shape: tuple[int, ...], options: Any
) -> dict[str, dict[str, float]]:
    """Medians over rounds: milliseconds of a step, and of its host."""

    def stepper(where: Any) -> Callable[[], Any]:
        model, x, target = built(make, shape, getattr(torch, options.dtype))
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

        def step() -> Any:
            optimizer.zero_grad()
            with where():
                loss = F.mse_loss(model(x).float(), target)
                loss.backward()
            optimizer.step()
            return loss.detach()

        return step

    def timed(step: Callable[[], Any], steps: int) -> tuple[float, float]:
        wait()
        start = time.perf_counter()
        for _ in range(steps):
            step()
        queued = time.perf_counter() - start
        wait()
        return queued * 1e3 / steps, (time.perf_counter() - start) * 1e3 / steps

    Layer.ours = False
    steps = {"torch": stepper(nullcontext), "ours": stepper(ngt.use)}
    for step in steps.values():
        timed(step, 5)
    times: dict[str, list[tuple[float, float]]] = {way: [] for way in steps}
    for _ in range(options.rounds):
        for way, step in steps.items():
            times[way].append((timed(step, 2)[0], timed(step, options.steps)[1]))
    out = {}
    for way, step in steps.items():
        host, ms = (statistics.median(each) for each in zip(*times[way], strict=True))
        out[way] = {"ms": round(ms, 3), "host_ms": round(host, 3), "loss": float(step())}
        print(f"{name:12} {way:16} {ms:9.3f} ms   host {host:9.3f} ms   loss {out[way]['loss']:.5f}")
    return out


def measure(name: str, make: Callable[[], torch.nn.Module], shape: tuple[int, ...], options: Any) -> dict[str, Any]:
    """Every way of running one model."""
    dtype = getattr(torch, options.dtype)
    out: dict[str, Any] = {}
    ways: dict[str, tuple[bool, bool, Any]] = {
        "torch": (False, False, nullcontext),
        "ours": (False, False, ngt.use),
        "torch compiled": (True, False, nullcontext),
        "ours compiled": (True, True, nullcontext),
    }
    for way, (compiled, own, where) in ways.items():
        if compiled and options.no_compile:
            continue
        torch.compiler.reset()
        Layer.ours = own
        model, x, target = built(make, shape, dtype)
        ngt.reset_calls()
        run = torch.compile(model, fullgraph=True) if compiled else model
        out[way] = train(model, run, x, target, options.steps, where)
        if where is ngt.use:
            out[way]["calls"] = ngt.calls()
        first, *_, last = out[way]["losses"]
        print(f"{name:12} {way:16} {out[way]['ms']:9.3f} ms   loss {first:.5f} -> {last:.5f}")
    return out


def main() -> None:
    """The table, and the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200, help="2 or more")
    parser.add_argument("--rounds", type=int, default=0, help="of turns without a wait in between; 0: the losses")
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), default="bfloat16")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    way = take_turns if options.rounds else measure
    about = {"device": ng.device().name, "torch": torch.__version__, "dtype": options.dtype, "steps": options.steps}
    about |= {"rounds": options.rounds} if options.rounds else {}
    results = {}
    for name, (make, shape) in problems(options.small).items():
        results[name] = way(name, make, shape, options)
        if options.json:
            options.json.write_text(json.dumps(about | {"blocks": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
