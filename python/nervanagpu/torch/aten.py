"""aten's operators with aten's arguments, on our kernels. They raise Unsupported for what aten has to do itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor

from nervanagpu.pooling import argmax_bytes
from nervanagpu.torch import convolution as conv
from nervanagpu.torch import pooling as pool
from nervanagpu.torch import products, windows
from nervanagpu.torch.bridge import arranged, check_operands, form_of, is_channels_last, layout_name, need
from nervanagpu.torch.places import Places, indices_of

Ints = Sequence[int]
Windows = tuple[list[int], list[int], list[int], list[int]]  # size, step, padding, dilation
ATEN = torch.ops.aten


def _each(numbers: Ints, axes: int) -> list[int]:
    return list(numbers) * axes if len(numbers) == 1 else list(numbers)


def _convolution(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: Ints, dilation: Ints, transposed: bool,
    output_padding: Ints, groups: int,
) -> Tensor:  # fmt: skip
    check_operands(x, weight, bias)
    axes = weight.dim() - 2
    need(x.dim() == axes + 2, f"x has {x.dim()} axes; needs {axes + 2}")
    step, pad, spread, more = (_each(v, axes) for v in (stride, padding, dilation, output_padding))
    conv.check_geometry(axes, step, pad, spread)
    if not transposed:
        return conv.convolution(x, weight, bias, step, pad, spread, groups)
    size = conv.transposed_shape(x.shape, weight.shape, step, pad, spread, more, groups)
    need(min(size[2:]) > 0 and x.numel() > 0, f"a result of {tuple(size)} from {tuple(x.shape)}")
    geometry = (step, pad, spread, groups)
    y = conv.convolution_input(conv.lengthened(x, weight.shape, size, *geometry), weight, size, *geometry)
    return y if bias is None else y.add_(bias.view(-1, *(1,) * axes))


def _convolution_backward(
    grad: Tensor, x: Tensor, weight: Tensor, bias_sizes: Ints | None, stride: Ints, padding: Ints, dilation: Ints,
    transposed: bool, output_padding: Ints, groups: int, mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:  # fmt: skip
    check_operands(grad, x, weight)
    axes = weight.dim() - 2
    need(x.dim() == axes + 2, f"x has {x.dim()} axes; needs {axes + 2}")
    step, pad, spread = (_each(v, axes) for v in (stride, padding, dilation))
    conv.check_geometry(axes, step, pad, spread)
    geometry = (step, pad, spread, groups)
    dx = dw = db = None
    if mask[0] and transposed:
        dx = conv.convolution(grad, weight, None, *geometry)
        dx = dx[(..., *(slice(n) for n in x.shape[2:]))].contiguous(memory_format=form_of(dx))
    elif mask[0]:
        dx = conv.convolution_input(grad, weight, x.shape, *geometry)
    if mask[1]:
        long = conv.lengthened(x, weight.shape, grad.shape, *geometry) if transposed else x
        back, forth = (long, grad) if transposed else (grad, x)
        dw = conv.convolution_weight(back, forth, weight.shape, *geometry)
    if mask[2]:
        db = grad.sum((0, *range(2, grad.dim())))
    return dx, dw, db


def _mv(a: Tensor, v: Tensor) -> Tensor:
    need(a.dim() == 2 and v.dim() == 1, f"operands of {a.dim()} and {v.dim()} axes")
    return products.mm(a, v[:, None])[:, 0]


def _dot(a: Tensor, b: Tensor) -> Tensor:
    need(a.dim() == b.dim() == 1, f"operands of {a.dim()} and {b.dim()} axes")
    return products.mm(a[None], b[:, None]).view(())


def _baddbmm(bias: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    y = products.bmm(a, b)
    if alpha != 1:
        y.mul_(alpha)
    return y if beta == 0 else y.add_(bias, alpha=beta)


def _windows(x: Tensor, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, axes: int) -> Windows:
    need(x.dim() in (axes + 1, axes + 2), f"x has {x.dim()} axes; needs {axes + 2}")
    need(all(n > 0 for n in x.shape[-axes:]), f"x of {tuple(x.shape)}")
    size = _each(kernel, axes)
    need(prod(size) <= 255, f"a window of {tuple(size)}; needs at most 255 elements")
    return size, _each(stride, axes) if stride else size, _each(padding, axes), _each(dilation, axes)


def _batched(axes: int, x: Tensor) -> Tensor:
    """x with the axis of the batch, which torch's pooling can do without."""
    return x if x.dim() == axes + 2 else x[None]


def max_and_places(x: Tensor, size: Ints, step: Ints, pad: Ints) -> tuple[Tensor, Places]:
    """The largest of each window, and its place there."""
    geometry = (size, step, pad)
    y = pool.empty_result(x, *geometry)
    last, layout = is_channels_last(x), layout_name(len(size), is_channels_last(x))
    count = argmax_bytes("max_pool", arranged(x, last), *geometry, layout) if y.numel() else 0  # torch allocates
    codes = torch.empty(count, dtype=torch.uint8, device=x.device)
    pool.run(pool.MAX, y, x, geometry, argmax=arranged(codes, False))
    return y, Places(codes, y.shape, last)


def _max_pool(axes: int) -> Callable[..., tuple[Tensor, Tensor]]:
    def run(
        x: Tensor, kernel: Ints, stride: Ints = (), padding: Ints = (0,), dilation: Ints = (1,), ceil_mode: bool = False
    ) -> tuple[Tensor, Tensor]:
        check_operands(x)
        size, step, pad, spread = geometry = _windows(x, kernel, stride, padding, dilation, axes)
        whole = _batched(axes, x)
        if ceil_mode or max(spread) > 1:
            plan = windows.Spread(whole.shape[2:], *geometry, ceil_mode)
            y, places = max_and_places(plan.inside(whole), size, plan.step, [0] * axes)
            y = plan.outside(y).contiguous(memory_format=form_of(whole))
            index = indices_of(plan.outside(places.unpacked()), whole.shape[2:], *geometry)
        else:
            y, places = max_and_places(whole, size, step, pad)
            index = places.indices(whole.shape[2:], *geometry)
        return (y, index) if whole is x else (y[0], index[0])

    return run


def _max_pool_backward(axes: int) -> Callable[..., Tensor]:
    def run(
        grad: Tensor, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil: bool, places: Tensor
    ) -> Tensor:
        check_operands(grad, x)
        size, step, pad, spread = geometry = _windows(x, kernel, stride, padding, dilation, axes)
        whole = _batched(axes, x)
        if ceil or max(spread) > 1:
            plan = windows.Spread(whole.shape[2:], *geometry, ceil)
            inner = plan.gradient_inside(_batched(axes, grad))
            dx = plan.gradient_outside(pool.max_pool_backward(inner, plan.inside(whole), size, plan.step, [0] * axes))
        else:
            dx = pool.max_pool_backward(_batched(axes, grad), whole, size, step, pad)
        return dx if whole is x else dx[0]

    return run


def _avg_pool(axes: int) -> Callable[..., Tensor]:
    def run(
        x: Tensor, kernel: Ints, stride: Ints = (), padding: Ints = (0,), ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> Tensor:  # fmt: skip
        check_operands(x)
        size, step, pad, _ = _windows(x, kernel, stride, padding, (1,), axes)
        whole = _batched(axes, x)
        if ceil_mode or divisor_override is not None:
            plan = windows.Means(whole, size, step, pad, ceil_mode, count_include_pad, divisor_override)
            y = plan.outside(pool.avg_pool(plan.inside(whole), size, step, pad, True))
        else:
            y = pool.avg_pool(whole, size, step, pad, count_include_pad)
        return y if whole is x else y[0]

    return run


def _avg_pool_backward(axes: int) -> Callable[..., Tensor]:
    def run(
        grad: Tensor, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, ceil: bool, count: bool,
        divisor: int | None,
    ) -> Tensor:  # fmt: skip
        check_operands(grad, x)
        size, step, pad, _ = _windows(x, kernel, stride, padding, (1,), axes)
        whole, dy = _batched(axes, x), _batched(axes, grad)
        if ceil or divisor is not None:
            plan = windows.Means(whole, size, step, pad, ceil, count, divisor)
            inner = plan.gradient_inside(dy, size, step, pad)
            dx = plan.gradient_outside(pool.avg_pool_backward(inner, plan.inside(whole), size, step, pad, True))
        else:
            dx = pool.avg_pool_backward(dy, whole, size, step, pad, count)
        return dx if whole is x else dx[0]

    return run


FAMILIES: dict[str, dict[Any, Callable[..., Any]]] = {
    "mm": {ATEN.mm.default: products.mm, ATEN.mv.default: _mv, ATEN.dot.default: _dot},
    "addmm": {ATEN.addmm.default: products.addmm},
    "bmm": {ATEN.bmm.default: products.bmm, ATEN.baddbmm.default: _baddbmm},
    "convolution": {
        ATEN.convolution.default: _convolution,
        ATEN.convolution_backward.default: _convolution_backward,
    },
    "max_pool": {
        ATEN.max_pool2d_with_indices.default: _max_pool(2),
        ATEN.max_pool3d_with_indices.default: _max_pool(3),
        ATEN.max_pool2d_with_indices_backward.default: _max_pool_backward(2),
        ATEN.max_pool3d_with_indices_backward.default: _max_pool_backward(3),
    },
    "avg_pool": {
        ATEN.avg_pool2d.default: _avg_pool(2),
        ATEN.avg_pool3d.default: _avg_pool(3),
        ATEN.avg_pool2d_backward.default: _avg_pool_backward(2),
        ATEN.avg_pool3d_backward.default: _avg_pool_backward(3),
    },
}
