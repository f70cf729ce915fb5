"""PyTorch with cuDNN as the peer of convnet-benchmarks.py: the same networks, weights and images, in CUDA graphs.

Eager and through torch.compile, in two memory formats: the fastest is the peer.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from convnets.networks import Conv, Full, Inception, Layer, Network, Pool, work

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

Array = npt.NDArray[Any]
FORMATS = ("NCHW", "channels_last")


def available() -> bool:
    """Whether there is a PyTorch with a GPU."""
    return torch is not None and torch.cuda.is_available()


def versions() -> str:
    """What the figures are of."""
    return f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}"


def settle(tf32: bool) -> None:
    """float32 means float32, or TF32; cuDNN tries its algorithms and keeps the fastest."""
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = True
    # Of the thread that runs the gradients: it finds the context by itself.
    warnings.filterwarnings("ignore", message=".*no current CUDA context.*")


def module_of(layers: tuple[Layer, ...], c: int, side: int) -> tuple[Any, int, int]:
    """The layers as a module, and the feature maps and side they end with. ReLUs are in place, nothing has a bias."""

    class Joined(torch.nn.Module):
        def __init__(self, branches: list[Any]) -> None:
            super().__init__()
            self.branches = torch.nn.ModuleList(branches)

        def forward(self, x: Any) -> Any:
            return torch.cat([branch(x) for branch in self.branches], 1)

    parts: list[Any] = []
    flat = False
    for layer in layers:
        if isinstance(layer, Conv):
            parts += [torch.nn.Conv2d(c, layer.k, layer.size, layer.stride, layer.pad, bias=False)]
            parts += [torch.nn.ReLU(inplace=True)]
            c, side = layer.k, (side + 2 * layer.pad - layer.size) // layer.stride + 1
        elif isinstance(layer, Pool):
            pool = torch.nn.MaxPool2d if layer.op == "max" else torch.nn.AvgPool2d
            parts.append(pool(layer.size, layer.stride, layer.pad))
            side = (side + 2 * layer.pad - layer.size) // layer.stride + 1
        elif isinstance(layer, Inception):
            made = [module_of(branch, c, side) for branch in layer.branches]
            parts.append(Joined([m for m, _, _ in made]))
            c, side = sum(k for _, k, _ in made), made[0][2]
        elif isinstance(layer, Full):
            parts += [] if flat else [torch.nn.Flatten()]
            parts.append(torch.nn.Linear(c * side * side, layer.k, bias=False))
            parts += [torch.nn.ReLU(inplace=True)] if layer.relu else []
            c, side, flat = layer.k, 1, True
    return torch.nn.Sequential(*parts), c, side


class Peer:
    """One network in one memory format: fprop, and fprop + bprop, each captured once.

    `name`: the format, and whether it is compiled; `setup_s`: seconds until first steps had run, with compiling.
    """

    def __init__(
        self,
        net: Network,
        dtype: str,
        weights: dict[str, Array],
        x: Array,
        error: Array,
        form: str,
        warmup: int = 3,
        compiled: bool = False,
        tf32: bool = False,
    ) -> None:
        settle(tf32)
        start = time.monotonic()
        self.name = form + (" compiled" if compiled else "")
        kind = getattr(torch, dtype)
        memory = torch.channels_last if form == "channels_last" else torch.contiguous_format
        self.module = module_of(net.layers, 3, net.image)[0].to("cuda", kind).to(memory_format=memory)
        self.names = [w.name for w in work(net)]
        with torch.no_grad():
            for parameter, name in zip(self.module.parameters(), self.names, strict=True):
                parameter.copy_(torch.from_numpy(weights[name]).reshape(parameter.shape))
        self.x = torch.from_numpy(x).to("cuda", kind).contiguous(memory_format=memory)
        self.error = torch.from_numpy(error).to("cuda", kind)
        call = self.module
        if compiled:
            torch.compiler.reset()  # networks share code, and only a few variants of one code are compiled
            call = torch.compile(self.module)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(max(1, warmup)):
                self._forget()
                call(self.x).backward(self.error)
                with torch.no_grad():
                    call(self.x)
            self._forget()
        torch.cuda.synchronize()
        self.setup_s = time.monotonic() - start
        self.step = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.step, stream=side):
            self.y = call(self.x)
            self.y.backward(self.error)
        self.fprop = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.fprop, stream=side), torch.no_grad():
            call(self.x)

    def _forget(self) -> None:
        for parameter in self.module.parameters():
            parameter.grad = None

    def time(self) -> tuple[float, float]:
        """Milliseconds of one fprop, and of one fprop + bprop."""
        found = []
        for graph in (self.fprop, self.step):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            found.append(start.elapsed_time(end))
        return found[0], found[1]

    def results(self) -> dict[str, Array]:
        """The output and all weight gradients of the last step, float32."""
        grads = {n: p.grad.float().cpu().numpy() for n, p in zip(self.names, self.module.parameters(), strict=True)}
        return {"y": self.y.detach().float().cpu().numpy(), **grads}


def differences(peer: Peer, y: Array, dw: dict[str, Array]) -> float:
    """The largest |ours - theirs| / |theirs| (Euclidean norms) of the output and the weight gradients; inf for NaN."""
    theirs = peer.results()
    worst = 0.0
    for name, ours in {"y": y, **dw}.items():
        expected = theirs[name].reshape(ours.shape).astype(np.float64)
        found = float(np.linalg.norm(ours - expected) / max(float(np.linalg.norm(expected)), 1e-30))
        worst = max(worst, found if np.isfinite(found) else float("inf"))
    return worst


def peers(
    net: Network,
    dtype: str,
    weights: dict[str, Array],
    x: Array,
    error: Array,
    warmup: int,
    *,
    compiled: bool,
    tf32: bool,
) -> Iterator[Peer]:
    """Both formats, eager and, if `compiled`, through torch.compile; what does not compile is reported, left out."""
    for form in FORMATS:
        yield Peer(net, dtype, weights, x, error, form, warmup, tf32=tf32)
    for form in FORMATS if compiled else ():
        try:
            peer = Peer(net, dtype, weights, x, error, form, warmup, compiled=True, tf32=tf32)
        except Exception as failure:
            text = (str(failure).splitlines() or [""])[0]
            print(f"torch.compile, {net.name} {dtype} {form}: {type(failure).__name__}: {text}", file=sys.stderr)
        else:
            yield peer


@dataclass
class Tried:
    """Of one peer: median milliseconds of a fprop and of a step, seconds until its first steps had run."""

    fprop: float
    total: float
    setup_s: float


def best(made: Iterable[Peer], iterations: int = 5) -> tuple[Peer | None, dict[str, Tried]]:
    """The peer whose step is fastest, and what each took, by name. One at a time beside the best has memory."""
    found, tried = None, dict[str, Tried]()
    for peer in made:
        peer.time()
        fprop, total = zip(*(peer.time() for _ in range(iterations)), strict=True)
        tried[peer.name] = Tried(statistics.median(fprop), statistics.median(total), peer.setup_s)
        if found is None or tried[peer.name].total < tried[found.name].total:
            found = peer
        release()
    return found, tried


def release() -> None:
    """Give memory back."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
