"""Networks of benchmarks/convnets/networks.py in float64 NumPy, by im2col: what a step must compute, and how exactly.

Values are in plain order: maps (N, C, H, W), filters (K, C, R, S), fully connected weights (K, C * H * W). Beside each
value goes the magnitude of the sum it came from, sum |x| |w|: what a rounding error is measured against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from convnets.networks import Conv, Full, Inception, Layer, Network, Pool

F64 = npt.NDArray[np.float64]


def patches(x: F64, size: int, stride: int, pad: int, fill: float = 0.0) -> F64:
    """(N, C, P, Q, R, S) windows of a padded map."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=fill)
    return np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))[:, :, ::stride, ::stride]


def columns(x: F64, layer: Conv) -> F64:
    """(C * R * S, N * P * Q)."""
    windows = patches(x, layer.size, layer.stride, layer.pad)
    return windows.transpose(1, 4, 5, 0, 2, 3).reshape(x.shape[1] * layer.size**2, -1)


def scatter(windows: F64, shape: Sequence[int], size: int, stride: int, pad: int) -> F64:
    """The transpose of `patches`: windows (N, C, P, Q, R, S) added up into a map of `shape`."""
    n, c, h, w = shape
    total = np.zeros((n, c, h + 2 * pad, w + 2 * pad))
    p, q = windows.shape[2:4]
    for r in range(size):
        for s in range(size):
            total[:, :, r : r + stride * p : stride, s : s + stride * q : stride] += windows[..., r, s]
    return total[:, :, pad : pad + h, pad : pad + w]


@dataclass
class Value:
    """A result and the magnitude of its sums."""

    value: F64
    magnitude: F64


def both(x: F64, y: F64, product: Callable[[F64, F64], F64]) -> Value:
    """A bilinear operation and its magnitude."""
    return Value(product(x, y), product(np.abs(x), np.abs(y)))


class Reference:
    """fprop and bprop of a network.

    `decide(name)` gives the output of a layer as the device has it: what is positive, and which element of a window is
    the largest, is taken from there, so that a rounding error cannot flip a decision. The values themselves are the
    reference's own; that the two agree is for the caller to check, by `y`. Afterwards: `y`, `dw` by layer, and `dy1`.
    """

    def __init__(
        self, net: Network, weights: dict[str, F64], x: F64, error: F64, decide: Callable[[str], npt.NDArray[Any]]
    ) -> None:
        self.weights, self.decide = weights, decide
        self.y: dict[str, Value] = {}
        self.dw: dict[str, Value] = {}
        self.dy1: F64 | None = None
        self._numbers: dict[str, Iterator[int]] = {k: iter(range(1, 1000)) for k in ("conv", "fc", "pool", "inc")}
        _, back = self._chain(net.layers, x, x, "")
        back(error)

    def _chain(self, layers: Sequence[Layer], x: F64, device_x: F64, prefix: str) -> tuple[F64, Callable[[F64], F64]]:
        """The output of a chain, and a function from its gradient to that of the input."""
        backs: list[Callable[[F64], F64]] = []
        number = 0
        for layer in layers:
            if isinstance(layer, Inception):
                name = f"inc{next(self._numbers['inc'])}"
                x, back = self._inception(name, layer, x, device_x)
            elif isinstance(layer, Pool):
                name = f"pool{next(self._numbers['pool'])}"
                x, back = self._pool(name, layer, x, device_x)
            else:
                number += 1
                kind = "conv" if isinstance(layer, Conv) else "fc"
                name = f"{prefix}{number}" if prefix else f"{kind}{next(self._numbers[kind])}"
                x, back = self._weights(name, layer, x)
            device_x = np.asarray(self.decide(name), np.float64)
            backs.append(back)

        def through(dy: F64) -> F64:
            for back in reversed(backs):
                dy = back(dy)
            return dy

        return x, through

    def _inception(self, name: str, layer: Inception, x: F64, device_x: F64) -> tuple[F64, Callable[[F64], F64]]:
        parts = [
            self._chain(branch, x, device_x, f"{name}.{letter}")
            for letter, branch in zip("abcd", layer.branches, strict=True)
        ]
        y = np.concatenate([part for part, _ in parts], 1)
        ends = np.cumsum([part.shape[1] for part, _ in parts])[:-1]

        def back(dy: F64) -> F64:
            return sum(b(part) for (_, b), part in zip(parts, np.split(dy, ends, 1), strict=True))

        return y, back

    def _pool(self, name: str, layer: Pool, x: F64, device_x: F64) -> tuple[F64, Callable[[F64], F64]]:
        if layer.op == "avg":
            assert layer.pad == 0
            y = patches(x, layer.size, layer.stride, 0).mean((4, 5))
            taps = np.full(layer.size**2, 1.0 / layer.size**2).reshape(layer.size, layer.size)
        else:
            flat = (*patches(x, layer.size, layer.stride, layer.pad, -np.inf).shape[:4], -1)
            first = patches(device_x, layer.size, layer.stride, layer.pad, -np.inf).reshape(flat).argmax(-1)
            taps = np.eye(layer.size**2)[first].reshape(*first.shape, layer.size, layer.size)
            y = patches(x, layer.size, layer.stride, layer.pad, -np.inf).reshape(flat).max(-1)
        self.y[name] = Value(y, np.abs(y))

        def back(dy: F64) -> F64:
            return scatter(dy[..., None, None] * taps, x.shape, layer.size, layer.stride, layer.pad)

        return y, back

    def _weights(self, name: str, layer: Conv | Full, x: F64) -> tuple[F64, Callable[[F64], F64]]:
        w = self.weights[name].reshape(layer.k, -1)
        relu = isinstance(layer, Conv) or layer.relu
        shape = x.shape
        if isinstance(layer, Conv):
            cols = columns(x, layer)
            side = (shape[2] + 2 * layer.pad - layer.size) // layer.stride + 1
            windows = (shape[1], layer.size, layer.size, shape[0], side, side)
        else:
            cols = x.reshape(shape[0], -1).T

        def plain(m: F64) -> F64:
            """(K, N * P * Q) as the layer's output."""
            if isinstance(layer, Full):
                return m.T
            return m.reshape(layer.k, shape[0], side, side).transpose(1, 0, 2, 3)

        sums = both(w, cols, np.matmul)
        y = plain(np.maximum(sums.value, 0) if relu else sums.value)
        self.y[name] = Value(y, plain(sums.magnitude))

        def back(dy: F64) -> F64:
            if relu:
                dy = dy * (np.asarray(self.decide(name)) > 0)
            rows = dy.T if isinstance(layer, Full) else dy.transpose(1, 0, 2, 3).reshape(layer.k, -1)
            found = both(rows, cols.T, np.matmul)
            form = self.weights[name].shape
            self.dw[name] = Value(found.value.reshape(form), found.magnitude.reshape(form))
            if name == "conv1":
                self.dy1 = dy
                return np.zeros(0)
            dx = w.T @ rows
            if isinstance(layer, Full):
                return dx.T.reshape(shape)
            return scatter(dx.reshape(windows).transpose(3, 0, 4, 5, 1, 2), shape, layer.size, layer.stride, layer.pad)

        return y, back
