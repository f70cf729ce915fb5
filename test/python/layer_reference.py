"""Layers in NumPy, float64, written from their formulas: what the tests of layers compare with.

Tensors are (n, ..., C), channels last, whatever the network under test does. Each class has forward(x) and
backward(dy), which returns dx and leaves the gradients of `params` in `grads`.
"""

from __future__ import annotations

import itertools

import numpy as np
from activation_reference import LAYER_ROWS, value


def philox(key: int, counter: int) -> list[int]:
    """Philox4x32-10 of a 64-bit key and counter."""
    c = [counter & 0xFFFFFFFF, counter >> 32 & 0xFFFFFFFF, 0, 0]
    k = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & 0xFFFFFFFF, (p >> 32) ^ c[3] ^ k[1], p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def mix(seed: int, purpose: int) -> int:
    """The seed of one of a network's random sequences."""
    w = philox(seed, ~purpose & (2**64 - 1))
    return w[0] << 32 | w[1]


class Reference:
    params: list[np.ndarray]
    grads: list[np.ndarray]

    def __init__(self) -> None:
        self.params, self.grads = [], []

    def all_params(self) -> list[np.ndarray]:
        return self.params

    def all_grads(self) -> list[np.ndarray]:
        return self.grads


def triples(value, axes: int, fill: int) -> list[int]:
    values = [value] * axes if isinstance(value, int) else list(value)
    return [fill] * (3 - axes) + values


def taps(window, stride, dilation, out):
    """For each tap: its position, and the slices of the padded input that it meets."""
    for tap in itertools.product(*map(range, window)):
        yield (
            tap,
            tuple(
                slice(t * d, t * d + s * (o - 1) + 1, s) for t, d, s, o in zip(tap, dilation, stride, out, strict=True)
            ),
        )


class Conv(Reference):
    def __init__(self, w, b=None, stride=1, padding=0, dilation=1, groups=1, relu=False, axes=2):
        super().__init__()
        self.params = [w] if b is None else [w, b]  # w: (K, T, R, S, C/groups)
        self.stride, self.dilation = triples(stride, axes, 1), triples(dilation, axes, 1)
        self.padding, self.groups, self.relu = triples(padding, axes, 0), groups, relu

    def geometry(self, space):
        window = self.params[0].shape[1:4]
        return window, [
            (h + 2 * p - d * (r - 1) - 1) // s + 1
            for h, p, d, r, s in zip(space, self.padding, self.dilation, window, self.stride, strict=True)
        ]

    def padded(self, x):
        return np.pad(x, [(0, 0), *[(p, p) for p in self.padding], (0, 0)])

    def grouped(self, t, axis):
        return np.split(t, self.groups, axis)

    def apply(self, x5, w):
        window, out = self.geometry(x5.shape[1:4])
        xp, y = self.padded(x5), np.zeros((len(x5), *out, len(w)))
        for tap, where in taps(window, self.stride, self.dilation, out):
            parts = zip(
                self.grouped(xp[(slice(None), *where)], -1), self.grouped(w[(slice(None), *tap)], 0), strict=True
            )
            y += np.concatenate([a @ b.T for a, b in parts], -1)
        return y

    def gradients(self, x5, w, dy):
        """(dx, dw) of apply."""
        window, out = self.geometry(x5.shape[1:4])
        xp, dw = self.padded(x5), np.zeros(w.shape)
        dxp = np.zeros(xp.shape)
        for tap, where in taps(window, self.stride, self.dilation, out):
            d = self.grouped(dy, -1)
            xs, ws = self.grouped(xp[(slice(None), *where)], -1), self.grouped(w[(slice(None), *tap)], 0)
            dw[(slice(None), *tap)] = np.concatenate(
                [np.einsum("nmpqk,nmpqc->kc", a, b) for a, b in zip(d, xs, strict=True)]
            )
            dxp[(slice(None), *where)] += np.concatenate([a @ b for a, b in zip(d, ws, strict=True)], -1)
        inside = tuple(slice(p, p + h) for p, h in zip(self.padding, x5.shape[1:4], strict=True))
        return dxp[(slice(None), *inside)], dw

    def five(self, x):
        self.shape = x.shape
        return x.reshape(len(x), *[1] * (5 - x.ndim), *x.shape[1:])

    def close(self, y):
        if len(self.params) > 1:
            y = y + self.params[1]
        self.y = np.maximum(y, 0) if self.relu else y
        return self.y.reshape(len(y), *self.y.shape[1 + 5 - len(self.shape) :])

    def open(self, dy):
        dy = dy.reshape(self.y.shape) * (self.y > 0 if self.relu else 1)
        self.bias_grads = [dy.sum((0, 1, 2, 3))] if len(self.params) > 1 else []
        return dy

    def forward(self, x):
        self.x5 = self.five(x)
        return self.close(self.apply(self.x5, self.params[0]))

    def backward(self, dy):
        dx, dw = self.gradients(self.x5, self.params[0], self.open(dy))
        self.grads = [dw, *self.bias_grads]
        return dx.reshape(self.shape)


class Deconv(Conv):
    def __init__(self, w, b=None, output_padding=0, axes=2, **options):
        super().__init__(w, b, axes=axes, **options)
        self.extra = triples(output_padding, axes, 0)

    def forward(self, x):
        self.x5 = self.five(x)
        w = self.params[0]
        lengths = [
            (p - 1) * s - 2 * pad + d * (r - 1) + 1 + e
            for p, s, pad, d, r, e in zip(
                self.x5.shape[1:4], self.stride, self.padding, self.dilation, w.shape[1:4], self.extra, strict=True
            )
        ]
        like = np.zeros((len(x), *lengths, w.shape[-1] * self.groups))
        return self.close(self.gradients(like, w, self.x5)[0])

    def backward(self, dy):
        dy = self.open(dy)
        self.grads = [self.gradients(dy, self.params[0], self.x5)[1], *self.bias_grads]
        return self.apply(dy, self.params[0]).reshape(self.shape)


class Pool(Reference):
    def __init__(self, op, window, stride=None, padding=0, maps=1, maps_stride=0, maps_padding=0, count=False, axes=2):
        super().__init__()
        self.op, self.count = op, count
        self.window = [*triples(window, axes, 1), maps]
        self.stride = [*triples(window if stride is None else stride, axes, 1), maps_stride or maps]
        self.padding = [*triples(padding, axes, 0), maps_padding]

    def windows(self):
        for at in itertools.product(*map(range, self.out)):
            ends = [
                (max(0, i * s - p), min(h, i * s - p + r))
                for i, s, p, r, h in zip(at, self.stride, self.padding, self.window, self.x.shape[1:], strict=True)
            ]
            yield at, tuple(slice(a, b) for a, b in ends)

    def forward(self, x):
        self.shape = x.shape
        self.x = x.reshape(len(x), *[1] * (5 - x.ndim), *x.shape[1:])
        self.out = [
            (h + 2 * p - r) // s + 1
            for h, p, r, s in zip(self.x.shape[1:], self.padding, self.window, self.stride, strict=True)
        ]
        y = np.zeros((len(x), *self.out))
        for at, where in self.windows():
            part = self.x[(slice(None), *where)].reshape(len(x), -1)
            n = np.prod(self.window) if self.count else part.shape[1]
            y[(slice(None), *at)] = {
                "max": lambda part=part: part.max(1),
                "avg": lambda part=part, n=n: part.sum(1) / n,
                "l2": lambda part=part: np.sqrt((part**2).sum(1)),
            }[self.op]()
        self.y = y
        return y.reshape(len(x), *y.shape[1 + 5 - len(self.shape) :])

    def backward(self, dy):
        dy, dx = dy.reshape(self.y.shape), np.zeros(self.x.shape)
        for at, where in self.windows():
            part, d = self.x[(slice(None), *where)], dy[(slice(None), *at)].reshape(-1, 1, 1, 1, 1)
            if self.op == "max":
                # The first in (j, t, r, s) order: maps outermost.
                flat = np.moveaxis(part, 4, 1).reshape(len(part), -1)
                mark = np.zeros(flat.shape)
                mark[np.arange(len(flat)), flat.argmax(1)] = 1
                moved = mark.reshape(len(part), part.shape[4], *part.shape[1:4])
                dx[(slice(None), *where)] += d * np.moveaxis(moved, 1, 4)
            elif self.op == "avg":
                dx[(slice(None), *where)] += d / (np.prod(self.window) if self.count else part[0].size)
            else:
                y = self.y[(slice(None), *at)].reshape(-1, 1, 1, 1, 1)
                dx[(slice(None), *where)] += np.where(y > 0, d * part / np.where(y > 0, y, 1), 0)
        return dx.reshape(self.shape)


class Full(Reference):
    def __init__(self, w, b=None, relu=False):
        super().__init__()
        self.params, self.relu = [w] if b is None else [w, b], relu  # w: (outputs, D, H, W, C)

    def forward(self, x):
        self.x, w = x, self.params[0]
        y = x.reshape(len(x), -1) @ w.reshape(len(w), -1).T + (self.params[1] if len(self.params) > 1 else 0)
        self.y = np.maximum(y, 0) if self.relu else y
        return self.y

    def backward(self, dy):
        dy, w = dy * (self.y > 0) if self.relu else dy, self.params[0]
        self.grads = [(dy.T @ self.x.reshape(len(dy), -1)).reshape(w.shape), dy.sum(0)][: len(self.params)]
        return (dy @ w.reshape(len(w), -1)).reshape(self.x.shape)


class Bias(Reference):
    def __init__(self, b):
        super().__init__()
        self.params = [b]

    def forward(self, x):
        return x + self.params[0]

    def backward(self, dy):
        self.grads = [dy.reshape(-1, dy.shape[-1]).sum(0)]
        return dy


class Activation(Reference):
    def __init__(self, f, slope=0.01):
        super().__init__()
        self.row, self.slope = LAYER_ROWS[f], slope

    def forward(self, x):
        self.y = value(self.row.value, x=x, slope=self.slope)
        return self.y

    def backward(self, dy):
        return value(self.row.gradient, y=self.y, dy=dy, slope=self.slope)


class Dropout(Reference):
    """The mask counts elements in the order of the network's layout."""

    def __init__(self, rate, seed, index, layout="NHWC", step=0):
        super().__init__()
        self.keep, self.seed, self.start, self.layout = (
            float(np.float32(1 - rate)),
            mix(seed, index),
            step << 40,
            layout,
        )

    def forward(self, x):
        words = [w for i in range(-(-x.size // 4)) for w in philox(self.seed, self.start + i)]
        kept = np.array(words[: x.size]) < self.keep * 2**32
        if self.layout == "CHWN":
            kept = np.moveaxis(kept.reshape(x.shape[-1], *x.shape[1:-1], len(x)), (0, -1), (-1, 0))
        self.factor = kept.reshape(x.shape) / self.keep
        return x * self.factor

    def backward(self, dy):
        return dy * self.factor


class Chain(Reference):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def all_params(self):
        return [p for layer in self.layers for p in layer.all_params()]

    def all_grads(self):
        return [g for layer in self.layers for g in layer.all_grads()]

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, dy):
        for layer in reversed(self.layers):
            dy = layer.backward(dy)
        return dy


class Inception(Chain):
    def forward(self, x):
        parts = [branch.forward(x) for branch in self.layers]
        self.ends = np.cumsum([p.shape[-1] for p in parts])[:-1]
        return np.concatenate(parts, -1)

    def backward(self, dy):
        return sum(b.backward(d) for b, d in zip(self.layers, np.split(dy, self.ends, -1), strict=True))


class SoftmaxLoss:
    """probs = forward(x); loss(y); backward(y) is the gradient of the mean loss."""

    def forward(self, x):
        e = np.exp(x - x.max(1, keepdims=True))
        self.probs = e / e.sum(1, keepdims=True)
        return self.probs

    def loss(self, y):
        return -np.log(self.probs[np.arange(len(y)), y])

    def backward(self, y):
        return (self.probs - np.eye(self.probs.shape[1])[y]) / len(y)


def finite_differences(f, values: np.ndarray, where: np.ndarray, h: float = 1e-6) -> np.ndarray:
    """df/dvalues at the flat indices `where`, by central differences; `values` is changed and put back."""
    flat = values.reshape(-1)  # a view
    out = np.zeros(len(where))
    for k, i in enumerate(where):
        was = flat[i]
        flat[i] = was + h
        above = f()
        flat[i] = was - h
        out[k] = (above - f()) / (2 * h)
        flat[i] = was
    return out
