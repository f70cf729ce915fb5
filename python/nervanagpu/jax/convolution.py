"""Convolution in one to three dimensions, its two gradients, each made of the other two, and transposed convolution.

Layouts are the library's, for two dimensions:

    layout            x              w                  y
    "NHWC"            (N, H, W, C)   (K, R, S, C/g)     (N, P, Q, K)
    "CHWN"            (C, H, W, N)   (C/g, R, S, K)     (K, P, Q, N)
    "NCHW"            (N, C, H, W)   (K, C/g, R, S)     (N, K, P, Q)     computed through copies in another layout

In jax.lax's words the first is ("NHWC", "OHWI", "NHWC"), the last ("NCHW", "OIHW", "NCHW").
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from nervanagpu.calls.arguments import choice, flag, integer
from nervanagpu.jax import checks, geometry
from nervanagpu.jax.activations import ACTIVATIONS, activated, kept, through
from nervanagpu.jax.calls import Numbers, batched_by, call, differentiable, one_by_one
from nervanagpu.jax.geometry import Ints, Padding, Triple

Array: TypeAlias = jax.Array
FPROP, BPROP, UPDATE = range(3)  # an ng_conv_pass each


class Conv(NamedTuple):
    """One pass, whose result is of `shape`: x * w of (x, w, bias), dx of (dy, w), or dw of (dy, x)."""

    which: int
    shape: tuple[int, ...]
    stride: Triple
    padding: Triple
    dilation: Triple
    groups: int
    layout: int
    precision: int
    activation: str = "none"  # of x * w + bias


def _pass_of_batch(config: Conv, size: int, batched: Any, a: Array, b: Array, bias: Array | None) -> tuple[Array, bool]:
    if config.which == UPDATE or batched[1] or batched[2]:
        return one_by_one(partial(_pass, config), [*batched[:2], bool(batched[2])], [a, b, bias]), True
    axis = geometry.outer(config.layout, len(config.shape) - 2)
    shape = list(config.shape)
    shape[axis] *= size
    y = _pass(config._replace(shape=tuple(shape)), geometry.folded(a, axis), b, bias)
    return geometry.unfolded(y, axis, size), True


@batched_by(_pass_of_batch)
def _pass(config: Conv, a: Array, b: Array, bias: Array | None) -> Array:
    numbers: Numbers = {
        "pass": config.which,
        "stride": config.stride,
        "padding": config.padding,
        "dilation": config.dilation,
        "groups": config.groups,
        "layout": config.layout,
        "precision": config.precision,
        "activation": ACTIVATIONS[config.activation],
    }
    if 0 not in config.shape and a.size and b.size:
        return call("conv", [a, b] if bias is None else [a, b, bias], [config.shape], numbers)[0]
    y = jnp.zeros(config.shape, jnp.float32)
    if bias is not None:
        y = y + _across(config, bias)
    return activated(config.activation, y).astype(a.dtype)


def _across(config: Conv, bias: Array) -> Array:
    """One number for each channel of the result."""
    channels = geometry.inner(config.layout, len(config.shape) - 2)
    return bias.reshape([-1 if i == channels else 1 for i in range(len(config.shape))])


def _kept(config: Conv, a: Array, b: Array, bias: Array | None) -> tuple[Array, Any]:
    y = convolve(config, a, b, bias)
    return y, (a, b, bias, kept(config.activation, y))


def _gradient(config: Conv, saved: Any, grad: Array) -> tuple[Array, Array, Array | None]:
    a, b, bias, y = saved
    plain = config._replace(activation="none")
    grad = through(config.activation, grad, y, lambda: convolve(plain, a, b, bias))

    def other(which: int, like: Array, *operands: Array) -> Array:
        return convolve(plain._replace(which=which, shape=like.shape), *operands, None)

    if config.which == BPROP:  # (dy, w); grad is like x
        return other(FPROP, a, grad, b), other(UPDATE, b, a, grad), None
    if config.which == UPDATE:  # (dy, x); grad is like w
        return other(FPROP, a, b, grad), other(BPROP, b, a, grad), None
    channels = geometry.inner(config.layout, a.ndim - 2)
    rest = tuple(i for i in range(a.ndim) if i != channels)
    db = None if bias is None else grad.astype(jnp.float32).sum(rest).astype(bias.dtype)
    return other(BPROP, a, grad, b), other(UPDATE, b, grad, a), db


convolve = differentiable(_pass, _kept, _gradient)


class _Problem:
    """The checked arguments that all convolutions share."""

    def __init__(
        self, function: str, axes: int, x: Array, w: Array, bias: Array | None, stride: Ints, dilation: Ints,
        groups: int, layout: str, precision: str | None,
    ) -> None:  # fmt: skip
        checks.operands(function, x=x, w=w, bias=bias)
        checks.axes(function, "x", x, axes + 2)
        checks.axes(function, "w", w, axes + 2)
        self.layout = geometry.layout_of(function, axes, layout)
        self.stride = geometry.each(function, "stride", stride, axes, 1)
        self.dilation = geometry.each(function, "dilation", dilation, axes, 1)
        self.groups = integer(function, "groups", groups, 1)
        self.precision = checks.precision(function, precision)
        self.outer, self.inner = geometry.outer(self.layout, axes), geometry.inner(self.layout, axes)
        self.space = geometry.space(self.layout, axes)
        if 0 in w.shape:
            raise ValueError(f"{function}: w is {w.shape}; needs lengths of 1 or more")
        if w.shape[self.outer] % self.groups:
            raise ValueError(f"{function}: w {w.shape} has {w.shape[self.outer]} kernels, in {groups} groups")
        self.reach = geometry.reaches(w.shape[self.space], self.dilation)

    def config(self, which: int, shape: tuple[int, ...], padding: list[int], activation: str = "none") -> Conv:
        step, spread, pad = (
            geometry.triple(v, fill) for v, fill in ((self.stride, 1), (self.dilation, 1), (padding, 0))
        )
        return Conv(which, shape, step, pad, spread, self.groups, self.layout, self.precision, activation)


def _conv(
    axes: int, x: Array, w: Array, bias: Array | None, stride: Ints, padding: Padding, dilation: Ints, groups: int,
    layout: str, relu: bool, activation: str, precision: str | None,
) -> Array:  # fmt: skip
    function = f"conv{axes}d"
    act = choice(function, "activation", activation, ACTIVATIONS)
    if flag(function, "relu", relu):
        if act not in ("none", "relu"):
            raise ValueError(f"{function}: relu and activation {act!r} are given; needs one")
        act = "relu"
    p = _Problem(function, axes, x, w, bias, stride, dilation, groups, layout, precision)
    channels, kernels = w.shape[p.inner] * p.groups, w.shape[p.outer]
    if x.shape[p.inner] != channels:
        raise ValueError(
            f"{function}: x {x.shape} has {x.shape[p.inner]} channels; needs {channels}, as w is {w.shape}"
        )
    if bias is not None and bias.shape != (kernels,):
        raise ValueError(f"{function}: bias is {bias.shape}; needs ({kernels},)")
    given = geometry.pairs(function, padding, x.shape[p.space], p.reach, p.stride)
    x, pad = geometry.evened(x, given, p.layout, 0)
    lengths = geometry.results(function, x.shape[p.space], p.reach, p.stride, pad)
    shape = geometry.shape_of(p.layout, x.shape[p.outer], kernels, lengths)
    return convolve(p.config(FPROP, shape, pad, act), x, w, bias)


def _conv_transpose(
    axes: int, x: Array, w: Array, bias: Array | None, stride: Ints, padding: Ints, dilation: Ints, groups: int,
    layout: str, output_padding: Ints, precision: str | None,
) -> Array:  # fmt: skip
    function = f"conv_transpose{axes}d"
    p = _Problem(function, axes, x, w, bias, stride, dilation, groups, layout, precision)
    pad = geometry.each(function, "padding", padding, axes, 0)
    more = geometry.each(function, "output_padding", output_padding, axes, 0)
    channels, results = w.shape[p.outer], w.shape[p.inner] * p.groups
    if x.shape[p.inner] != channels:
        raise ValueError(
            f"{function}: x {x.shape} has {x.shape[p.inner]} channels; needs {channels}, as w is {w.shape}"
        )
    if bias is not None and bias.shape != (results,):
        raise ValueError(f"{function}: bias is {bias.shape}; needs ({results},)")
    if any(m >= s for m, s in zip(more, p.stride, strict=True)):
        raise ValueError(f"{function}: output_padding is {tuple(more)}; needs less than the stride {tuple(p.stride)}")
    lengths = [
        (n - 1) * s - 2 * q + k + m
        for n, s, q, k, m in zip(x.shape[p.space], p.stride, pad, p.reach, more, strict=True)
    ]
    if min(lengths) < 1 or min(x.shape[p.space]) < 1:
        raise ValueError(f"{function}: x {x.shape} would give {tuple(lengths)} elements; needs 1 or more each")
    shape = geometry.shape_of(p.layout, x.shape[p.outer], results, lengths)
    config = p.config(BPROP, shape, pad)
    y = convolve(config, x, w, None)
    return y if bias is None else y + _across(config, bias)


def conv1d(
    x: Array, w: Array, bias: Array | None = None, stride: Ints = 1, padding: Padding = 0, dilation: Ints = 1,
    groups: int = 1, layout: str = "NWC", relu: bool = False, *, activation: str = "none",
    precision: str | None = None,
) -> Array:  # fmt: skip
    """act(x * w + bias) in one dimension, one kernel or few; bias (K,).

    activation: none, relu, tanh, sigmoid, gelu, gelu_tanh or silu; relu: the second of them.
    padding: a number, one or a pair (before, after) for each axis, "SAME" or "VALID". precision: of float32, "strict"
    or "tensor"; None: what nervanagpu.precision has set. Layouts and shapes: the module's text. TypeError for dtypes,
    ValueError for shapes.
    """
    return _conv(1, x, w, bias, stride, padding, dilation, groups, layout, relu, activation, precision)


def conv2d(
    x: Array, w: Array, bias: Array | None = None, stride: Ints = 1, padding: Padding = 0, dilation: Ints = 1,
    groups: int = 1, layout: str = "NHWC", relu: bool = False, *, activation: str = "none",
    precision: str | None = None,
) -> Array:  # fmt: skip
    """act(x * w + bias) in two dimensions: as conv1d."""
    return _conv(2, x, w, bias, stride, padding, dilation, groups, layout, relu, activation, precision)


def conv3d(
    x: Array, w: Array, bias: Array | None = None, stride: Ints = 1, padding: Padding = 0, dilation: Ints = 1,
    groups: int = 1, layout: str = "NDHWC", relu: bool = False, *, activation: str = "none",
    precision: str | None = None,
) -> Array:  # fmt: skip
    """act(x * w + bias) in three dimensions: as conv1d."""
    return _conv(3, x, w, bias, stride, padding, dilation, groups, layout, relu, activation, precision)


def conv_transpose1d(
    x: Array, w: Array, bias: Array | None = None, stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1,
    groups: int = 1, layout: str = "NWC", output_padding: Ints = 0, *, precision: str | None = None,
) -> Array:  # fmt: skip
    """The gradient, with respect to its input, of a convolution by w, of which x is shaped as the result; and bias.

    x has the K channels of w, the result C. Its length is (P - 1) stride - 2 padding + dilation (R - 1) + 1 +
    output_padding, which is less than the stride. Errors: as conv1d.
    """
    return _conv_transpose(1, x, w, bias, stride, padding, dilation, groups, layout, output_padding, precision)


def conv_transpose2d(
    x: Array, w: Array, bias: Array | None = None, stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1,
    groups: int = 1, layout: str = "NHWC", output_padding: Ints = 0, *, precision: str | None = None,
) -> Array:  # fmt: skip
    """Transposed convolution in two dimensions: as conv_transpose1d."""
    return _conv_transpose(2, x, w, bias, stride, padding, dilation, groups, layout, output_padding, precision)


def conv_transpose3d(
    x: Array, w: Array, bias: Array | None = None, stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1,
    groups: int = 1, layout: str = "NDHWC", output_padding: Ints = 0, *, precision: str | None = None,
) -> Array:  # fmt: skip
    """Transposed convolution in three dimensions: as conv_transpose1d."""
    return _conv_transpose(3, x, w, bias, stride, padding, dilation, groups, layout, output_padding, precision)
