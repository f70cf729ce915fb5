"""Max and average pooling in one to three dimensions, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

import nervanagpu as ng
from nervanagpu.torch.bridge import (
    arranged,
    check,
    check_operands,
    empty,
    is_channels_last,
    layout_name,
    need,
    need_numbers,
    stream_of,
)  # fmt: skip
from nervanagpu.torch.gradients import FUNCTIONS, RECORDERS, keep
from nervanagpu.torch.library import derivative, operator
from nervanagpu.torch.native import GRADIENT, KERNEL, RECORDED, compiled, packed, way

Ints = Sequence[int]
OPS = torch.ops.nervanagpu
MAX = {1: ng.max_pool1d, 2: ng.max_pool2d, 3: ng.max_pool3d}
MAX_BPROP = {1: ng.max_pool1d_bprop, 2: ng.max_pool2d_bprop, 3: ng.max_pool3d_bprop}
AVG = {1: ng.avg_pool1d, 2: ng.avg_pool2d, 3: ng.avg_pool3d}
AVG_BPROP = {1: ng.avg_pool1d_bprop, 2: ng.avg_pool2d_bprop, 3: ng.avg_pool3d_bprop}
_MAX_POOL, _AVG_POOL = compiled("max_pool"), compiled("avg_pool")
_MAX_BACKWARD, _AVG_BACKWARD = compiled("max_pool_backward"), compiled("avg_pool_backward")
_GEOMETRY = "SymInt[] kernel, SymInt[] stride, SymInt[] padding"


def _check_geometry(axes: int, kernel: Ints, stride: Ints, padding: Ints) -> None:
    need(1 <= axes <= 3, f"x has {axes + 2} axes; needs 3 to 5")
    need_numbers(axes, kernel=(kernel, 1), stride=(stride, 1), padding=(padding, 0))


def packed_of(x: Tensor, kernel: Ints, stride: Ints, padding: Ints) -> tuple[int, int, int]:
    """The geometry as the compiled operators take it."""
    return _numbers(x.dim() - 2, tuple(kernel), tuple(stride), tuple(padding))


@lru_cache(maxsize=1024)
def _numbers(axes: int, kernel: Ints, stride: Ints, padding: Ints) -> tuple[int, int, int]:
    need(1 <= axes <= 3, f"x has {axes + 2} axes; needs 3 to 5")
    return packed("kernel", kernel, axes), packed("stride", stride, axes), packed("padding", padding, axes)


def _compiled_max(x: Tensor, *geometry: Ints) -> Tensor:
    return _MAX_POOL(x, *packed_of(x, *geometry))


def _compiled_max_backward(grad: Tensor, x: Tensor, *geometry: Ints) -> Tensor:
    return _MAX_BACKWARD(grad, x, *packed_of(x, *geometry))


def _compiled_avg(x: Tensor, kernel: Ints, stride: Ints, padding: Ints, count_include_pad: bool = True) -> Tensor:
    return _AVG_POOL(x, *packed_of(x, kernel, stride, padding), count_include_pad)


def _compiled_avg_backward(
    grad: Tensor, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, count_include_pad: bool = True
) -> Tensor:
    return _AVG_BACKWARD(grad, x, *packed_of(x, kernel, stride, padding), count_include_pad)


def _result_shape(x: Tensor, kernel: Ints, stride: Ints, padding: Ints) -> list[int]:
    axes = x.dim() - 2
    _check_geometry(axes, kernel, stride, padding)
    check(
        all(2 * p <= k for p, k in zip(padding, kernel, strict=True)),
        lambda: f"padding {tuple(padding)} is more than half the kernel {tuple(kernel)}",
    )
    lengths = [(x.shape[2 + i] + 2 * padding[i] - kernel[i]) // stride[i] + 1 for i in range(axes)]
    check(all(n >= 1 for n in lengths), lambda: f"x {tuple(x.shape)} is less than a window")
    return [*x.shape[:2], *lengths]


def empty_result(x: Tensor, kernel: Ints, stride: Ints, padding: Ints, *rest: object) -> Tensor:
    """Where the result of pooling x belongs."""
    return empty(x, _result_shape(x, kernel, stride, padding), is_channels_last(x))


def _fake_gradient(grad: Tensor, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, *rest: object) -> Tensor:
    shape = _result_shape(x, kernel, stride, padding)
    check(list(grad.shape) == shape, lambda: f"the gradient is {tuple(grad.shape)}; needs {shape}")
    return empty(x, x.shape, is_channels_last(x))


def run(entries: dict[int, Any], out: Tensor, x: Tensor, geometry: tuple[Ints, ...], **options: object) -> Tensor:
    """Pools x into out."""
    if out.numel():
        last, axes = is_channels_last(x), x.dim() - 2
        y = arranged(out, last)
        entries[axes](arranged(x, last), *geometry, layout_name(axes, last), out=y, stream=stream_of(x), **options)
    return out


def run_gradient(
    entries: dict[int, Any], out: Tensor, grad: Tensor, x: Tensor, geometry: tuple[Ints, ...], **options: object
) -> Tensor:
    """The gradient of x into out."""
    if out.numel():
        last, axes = is_channels_last(x), x.dim() - 2
        options |= {"out": arranged(out, last), "stream": stream_of(x)}
        entries[axes](arranged(grad, last), arranged(x, last), *geometry, layout_name(axes, last), **options)
    return out


@operator(f"max_pool(Tensor x, {_GEOMETRY}) -> Tensor", fake=empty_result, compiled=_compiled_max)
def max_pool(x: Tensor, *geometry: Ints) -> Tensor:
    """The largest of each window; NaN wins."""
    check_operands(x)
    return run(MAX, empty_result(x, *geometry), x, geometry)


@operator(
    f"max_pool_backward(Tensor grad, Tensor x, {_GEOMETRY}) -> Tensor",
    fake=_fake_gradient,
    compiled=_compiled_max_backward,
)
def max_pool_backward(grad: Tensor, x: Tensor, *geometry: Ints) -> Tensor:
    """The gradient of x: to the first largest of each window."""
    check_operands(grad, x)
    return run_gradient(MAX_BPROP, _fake_gradient(grad, x, *geometry), grad, x, geometry)


@operator(
    f"avg_pool(Tensor x, {_GEOMETRY}, bool count_include_pad=True) -> Tensor",
    fake=empty_result,
    compiled=_compiled_avg,
)
def avg_pool(x: Tensor, kernel: Ints, stride: Ints, padding: Ints, count_include_pad: bool = True) -> Tensor:
    """The mean of each window."""
    check_operands(x)
    geometry = (kernel, stride, padding)
    return run(AVG, empty_result(x, *geometry), x, geometry, count_padding=count_include_pad)


@operator(
    f"avg_pool_backward(Tensor grad, Tensor x, {_GEOMETRY}, bool count_include_pad=True) -> Tensor",
    fake=_fake_gradient,
    compiled=_compiled_avg_backward,
)
def avg_pool_backward(
    grad: Tensor, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, count_include_pad: bool = True
) -> Tensor:
    """The gradient of x, of which no element is read."""
    check_operands(grad, x)
    geometry = (kernel, stride, padding)
    out = _fake_gradient(grad, x, *geometry)
    return run_gradient(AVG_BPROP, out, grad, x, geometry, count_padding=count_include_pad)


# --- by the shortest way ----------------------------------------------------------------------------------------------


def call_max(x: Tensor, *geometry: Ints) -> Tensor:
    taken = way(x)
    if taken == KERNEL:
        return _MAX_POOL(x, *packed_of(x, *geometry))
    if taken == RECORDED:
        return RECORDERS["max_pool"](x, *geometry)
    return (FUNCTIONS["max_pool"].apply if taken == GRADIENT else OPS.max_pool)(x, *geometry)


def call_max_backward(grad: Tensor, x: Tensor, *geometry: Ints) -> Tensor:
    taken = way(grad, x)
    if taken == KERNEL:
        return _compiled_max_backward(grad, x, *geometry)
    if taken == RECORDED:
        return RECORDERS["max_pool_backward"](grad, x, *geometry)
    return (FUNCTIONS["max_pool_backward"].apply if taken == GRADIENT else OPS.max_pool_backward)(grad, x, *geometry)


def call_avg(x: Tensor, *geometry: Any) -> Tensor:
    """geometry: with count_include_pad."""
    taken = way(x)
    if taken == KERNEL:
        return _compiled_avg(x, *geometry)
    if taken == RECORDED:
        return RECORDERS["avg_pool"](x, *geometry)
    return (FUNCTIONS["avg_pool"].apply if taken == GRADIENT else OPS.avg_pool)(x, *geometry)


def _call_avg_backward(grad: Tensor, x: Tensor, *geometry: Any) -> Tensor:
    taken = way(grad, x)
    if taken == KERNEL:
        return _compiled_avg_backward(grad, x, *geometry)
    if taken == RECORDED:
        return RECORDERS["avg_pool_backward"](grad, x, *geometry)
    return (FUNCTIONS["avg_pool_backward"].apply if taken == GRADIENT else OPS.avg_pool_backward)(grad, x, *geometry)


# --- derivatives; those of max pooling choose elements (choice.py) ----------------------------------------------------


def keep_x(ctx: Any, inputs: tuple[Any, ...], keywords: dict[str, Any], output: Tensor) -> None:
    """Of inputs (x, *geometry)."""
    keep(ctx, inputs[0])
    ctx.geometry = inputs[1:]


def _record_avg(ctx: Any, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, count: bool) -> Tensor:
    out = _compiled_avg(x, kernel, stride, padding, count)
    ctx.save_for_backward(x)
    ctx.geometry = kernel, stride, padding, count
    return out


def record_max(ctx: Any, x: Tensor, *geometry: Ints) -> Tensor:
    """The largest of each window, where nothing but gradients is wanted."""
    out: Tensor = _MAX_POOL(x, *packed_of(x, *geometry))
    ctx.save_for_backward(x)
    ctx.geometry = geometry
    return out


@derivative("avg_pool", keep_x, lambda ctx, dx, *rest: call_avg(dx, *ctx.geometry), _record_avg)
def _avg_gradient(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return (_call_avg_backward(grad, ctx.saved_tensors[0], *ctx.geometry),)


def keep_second(ctx: Any, inputs: tuple[Any, ...], keywords: dict[str, Any], output: Tensor) -> None:
    """Of inputs (grad or values, x, *geometry), which are linear in the first."""
    keep(ctx, inputs[1])
    ctx.geometry = inputs[2:]


def _avg_backward_tangent(ctx: Any, dgrad: Tensor | None, *rest: Any) -> Tensor:
    x = ctx.saved_tensors[0]
    return torch.zeros_like(x) if dgrad is None else _call_avg_backward(dgrad, x, *ctx.geometry)


@derivative("avg_pool_backward", keep_second, _avg_backward_tangent)
def _avg_second(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return (call_avg(grad, *ctx.geometry),)
