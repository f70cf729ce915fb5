"""Max and average pooling in one to three dimensions, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import nervanagpu as ng
from nervanagpu.torch.bridge import (
    arranged,
    check_operands,
    empty,
    is_channels_last,
    layout_name,
    need,
    stream_of,
)  # fmt: skip
from nervanagpu.torch.library import gradient, operator

Ints = Sequence[int]
OPS = torch.ops.nervanagpu
MAX = {1: ng.max_pool1d, 2: ng.max_pool2d, 3: ng.max_pool3d}
MAX_BPROP = {1: ng.max_pool1d_bprop, 2: ng.max_pool2d_bprop, 3: ng.max_pool3d_bprop}
AVG = {1: ng.avg_pool1d, 2: ng.avg_pool2d, 3: ng.avg_pool3d}
AVG_BPROP = {1: ng.avg_pool1d_bprop, 2: ng.avg_pool2d_bprop, 3: ng.avg_pool3d_bprop}
_GEOMETRY = "SymInt[] kernel, SymInt[] stride, SymInt[] padding"


def _result_shape(x: Tensor, kernel: Ints, stride: Ints, padding: Ints) -> list[int]:
    axes = x.dim() - 2
    need(1 <= axes <= 3, f"x has {x.dim()} axes; needs 3 to 5")
    for name, numbers in (("kernel", kernel), ("stride", stride), ("padding", padding)):
        need(len(numbers) == axes, f"{name} has {len(numbers)} numbers; needs {axes}")
    torch._check(
        all(2 * p <= k for p, k in zip(padding, kernel, strict=True)),
        lambda: f"nervanagpu: padding {tuple(padding)} is more than half the kernel {tuple(kernel)}",
    )
    lengths = [(x.shape[2 + i] + 2 * padding[i] - kernel[i]) // stride[i] + 1 for i in range(axes)]
    torch._check(all(n >= 1 for n in lengths), lambda: f"nervanagpu: x {tuple(x.shape)} is less than a window")
    return [*x.shape[:2], *lengths]


def empty_result(x: Tensor, kernel: Ints, stride: Ints, padding: Ints, *rest: Any) -> Tensor:
    """Where the result of pooling x belongs."""
    return empty(x, _result_shape(x, kernel, stride, padding), is_channels_last(x))


def _fake_gradient(grad: Tensor, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, *rest: Any) -> Tensor:
    shape = _result_shape(x, kernel, stride, padding)
    torch._check(list(grad.shape) == shape, lambda: f"nervanagpu: the gradient is {tuple(grad.shape)}; needs {shape}")
    return empty(x, x.shape, is_channels_last(x))


def run(entries: dict[int, Any], out: Tensor, x: Tensor, geometry: tuple[Ints, ...], **options: Any) -> Tensor:
    """Pools x into out."""
    if out.numel():
        last, axes = is_channels_last(x), x.dim() - 2
        y = arranged(out, last)
        entries[axes](arranged(x, last), *geometry, layout_name(axes, last), out=y, stream=stream_of(x), **options)
    return out


def run_gradient(
    entries: dict[int, Any], out: Tensor, grad: Tensor, x: Tensor, geometry: tuple[Ints, ...], **options: Any
) -> Tensor:
    """The gradient of x into out."""
    if out.numel():
        last, axes = is_channels_last(x), x.dim() - 2
        options |= {"out": arranged(out, last), "stream": stream_of(x)}
        entries[axes](arranged(grad, last), arranged(x, last), *geometry, layout_name(axes, last), **options)
    return out


@operator(f"max_pool(Tensor x, {_GEOMETRY}) -> Tensor", fake=empty_result)
def max_pool(x: Tensor, *geometry: Ints) -> Tensor:
    """The largest of each window; NaN wins."""
    check_operands(x)
    return run(MAX, empty_result(x, *geometry), x, geometry)


@operator(f"max_pool_backward(Tensor grad, Tensor x, {_GEOMETRY}) -> Tensor", fake=_fake_gradient)
def max_pool_backward(grad: Tensor, x: Tensor, *geometry: Ints) -> Tensor:
    """The gradient of x: to the first largest of each window."""
    check_operands(grad, x)
    return run_gradient(MAX_BPROP, _fake_gradient(grad, x, *geometry), grad, x, geometry)


@operator(f"avg_pool(Tensor x, {_GEOMETRY}, bool count_include_pad=True) -> Tensor", fake=empty_result)
def avg_pool(x: Tensor, kernel: Ints, stride: Ints, padding: Ints, count_include_pad: bool = True) -> Tensor:
    """The mean of each window."""
    check_operands(x)
    geometry = (kernel, stride, padding)
    return run(AVG, empty_result(x, *geometry), x, geometry, count_padding=count_include_pad)


@operator(
    f"avg_pool_backward(Tensor grad, Tensor x, {_GEOMETRY}, bool count_include_pad=True) -> Tensor",
    fake=_fake_gradient,
)
def avg_pool_backward(
    grad: Tensor, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, count_include_pad: bool = True
) -> Tensor:
    """The gradient of x, of which no element is read."""
    check_operands(grad, x)
    geometry = (kernel, stride, padding)
    out = _fake_gradient(grad, x, *geometry)
    return run_gradient(AVG_BPROP, out, grad, x, geometry, count_padding=count_include_pad)


# --- gradients --------------------------------------------------------------------------------------------------------


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(inputs[0])
    ctx.geometry = inputs[1:]


@gradient("max_pool", _save)
def _max_gradient(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return OPS.max_pool_backward(grad, ctx.saved_tensors[0], *ctx.geometry), None, None, None


@gradient("avg_pool", _save)
def _avg_gradient(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return OPS.avg_pool_backward(grad, ctx.saved_tensors[0], *ctx.geometry), None, None, None, None


def _save_gradient(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.geometry = inputs[2:]


@gradient("avg_pool_backward", _save_gradient)
def _avg_second(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return OPS.avg_pool(grad, *ctx.geometry), None, None, None, None, None
