"""aten's operators with aten's arguments, on our kernels: plain tensors of our device, below autograd.

They run at every call: what the kernels check is not checked here. For what aten has to do itself they raise errors
that library.why_refused knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import torch
from torch import Tensor

from nervanagpu.pooling import argmax_bytes
from nervanagpu.torch import convolution as conv
from nervanagpu.torch import native, pool_windows, products  # noqa: F401: products enters kernels
from nervanagpu.torch import pooling as pool
from nervanagpu.torch.bridge import arranged, check_operands, is_channels_last, layout_name, lying_as, need
from nervanagpu.torch.gradients import KERNELS
from nervanagpu.torch.pool_indices import Places, indices_of

Ints = Sequence[int]
Windows = tuple[Ints, Ints, Ints, Ints]  # size, step, padding, dilation
ATEN = torch.ops.aten
MM, ADDMM, BMM = (KERNELS[name] for name in ("mm", "addmm", "bmm"))
CONVOLUTION, CONVOLUTION_INPUT, CONVOLUTION_WEIGHT = (
    KERNELS[f"convolution{more}"] for more in ("", "_input", "_weight")
)
MAX_POOL_BACKWARD, AVG_POOL, AVG_POOL_BACKWARD = (
    KERNELS[name] for name in ("max_pool_backward", "avg_pool", "avg_pool_backward")
)


@lru_cache(maxsize=1024)
def _each(axes: int, *lists: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Lists of a number for each axis, from such or from one for all axes."""
    return tuple(numbers * axes if len(numbers) == 1 else numbers for numbers in lists)


@lru_cache(maxsize=1024)
def _packed(axes: int, stride: tuple[int, ...], padding: tuple[int, ...], dilation: tuple[int, ...]) -> Ints:
    """As the compiled operators take them."""
    return conv.packed_numbers(axes, *_each(axes, stride, padding, dilation))


def _convolution(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: Ints, dilation: Ints, transposed: bool,
    output_padding: Ints, groups: int,
) -> Tensor:  # fmt: skip
    axes = weight.dim() - 2
    if not (transposed or native.why_not):
        numbers = _packed(axes, tuple(stride), tuple(padding), tuple(dilation))
        return conv.COMPILED(x, weight, bias, *numbers, groups, 0)
    step, pad, spread = _each(axes, tuple(stride), tuple(padding), tuple(dilation))
    if not transposed:
        return CONVOLUTION(x, weight, bias, step, pad, spread, groups)
    check_operands(x, weight, bias)
    (more,) = _each(axes, tuple(output_padding))
    size = conv.transposed_shape(x, weight, bias, step, pad, spread, more, groups)
    need(x.numel() > 0, f"a result of {tuple(size)} from {tuple(x.shape)}")
    geometry = (step, pad, spread, groups)
    long = conv.lengthened(x, weight.shape, size, *geometry)
    y: Tensor = CONVOLUTION_INPUT(long, weight, size, *geometry)
    return y if bias is None else y.add_(bias.view(-1, *(1,) * axes))


def _convolution_backward(
    grad: Tensor, x: Tensor, weight: Tensor, bias_sizes: Ints | None, stride: Ints, padding: Ints, dilation: Ints,
    transposed: bool, output_padding: Ints, groups: int, mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:  # fmt: skip
    axes = weight.dim() - 2
    of_x, of_weight, of_bias = mask
    dx = dw = None
    if of_x and of_weight and not (transposed or native.why_not):
        numbers = _packed(axes, tuple(stride), tuple(padding), tuple(dilation))
        dx, dw = conv.COMPILED_BOTH(grad, x, weight, *numbers, groups)
    else:
        geometry = (*_each(axes, tuple(stride), tuple(padding), tuple(dilation)), groups)
        if transposed:
            dx, dw = _transposed_backward(grad, x, weight, geometry, mask)
        else:
            check_operands(grad, x, weight)
            need(grad.dim() == x.dim() == axes + 2, f"operands of {grad.dim()} and {x.dim()} axes; needs {axes + 2}")
            dy = conv.as_result(grad, x, weight)
            dx = CONVOLUTION_INPUT(dy, weight, x.shape, *geometry) if of_x else None
            dw = CONVOLUTION_WEIGHT(dy, x, weight.shape, *geometry) if of_weight else None
    return dx, dw, grad.sum(conv.BUT_CHANNELS[axes]) if of_bias else None


def _transposed_backward(
    grad: Tensor, x: Tensor, weight: Tensor, geometry: tuple[Any, ...], mask: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None]:
    check_operands(grad, x, weight)
    axes = weight.dim() - 2
    need(x.dim() == axes + 2, f"x has {x.dim()} axes; needs {axes + 2}")
    conv.check_geometry(axes, *geometry[:3])
    dx = dw = None
    if mask[0]:
        long = CONVOLUTION(grad, weight, None, *geometry)
        dx = lying_as(long, long[(..., *(slice(n) for n in x.shape[2:]))])
    if mask[1]:
        long = conv.lengthened(x, weight.shape, grad.shape, *geometry)
        dw = CONVOLUTION_WEIGHT(long, grad, weight.shape, *geometry)
    return dx, dw


def _mv(a: Tensor, v: Tensor) -> Tensor:
    need(a.dim() == 2 and v.dim() == 1, f"operands of {a.dim()} and {v.dim()} axes")
    return MM(a, v[:, None])[:, 0]


def _dot(a: Tensor, b: Tensor) -> Tensor:
    need(a.dim() == b.dim() == 1, f"operands of {a.dim()} and {b.dim()} axes")
    return MM(a[None], b[:, None]).view(())


def _baddbmm(bias: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    need(bias.dtype == a.dtype, f"operands of several dtypes: {bias.dtype}, {a.dtype}")
    alpha, beta = native.real("alpha", alpha), native.real("beta", beta)
    y: Tensor = BMM(a, b)
    if alpha != 1:
        y.mul_(alpha)
    return y if beta == 0 else y.add_(bias, alpha=beta)


@lru_cache(maxsize=1024)
def _windows(
    axes: int, kernel: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...], dilation: tuple[int, ...]
) -> Windows:
    size, pad, spread = _each(axes, kernel, padding, dilation)
    need(prod(size) <= 255, f"a window of {size}; needs at most 255 elements")
    return size, _each(axes, stride)[0] if stride else size, pad, spread


def _batched(axes: int, x: Tensor) -> Tensor:
    """x with the axis of the batch, which torch's pooling can do without; that alone may be empty."""
    if x.dim() == axes + 2 and x.numel():
        return x
    need(x.dim() in (axes + 1, axes + 2), f"x has {x.dim()} axes; needs {axes + 2}")
    need(all(n > 0 for n in x.shape[-axes - 1 :]), f"x of {tuple(x.shape)}")
    return x if x.dim() == axes + 2 else x[None]


def max_and_places(x: Tensor, size: Ints, step: Ints, pad: Ints) -> tuple[Tensor, Places]:
    """The largest of each window, and its place there."""
    check_operands(x)
    geometry = (size, step, pad)
    y = pool.empty_result(x, *geometry)
    last, layout = is_channels_last(x), layout_name(len(size), is_channels_last(x))
    count = argmax_bytes("max_pool", arranged(x, last), *geometry, layout) if y.numel() else 0  # torch allocates
    codes = torch.empty(count, dtype=torch.uint8, device=x.device)
    pool.run(pool.MAX, y, x, geometry, argmax=arranged(codes, False))
    return y, Places(codes, y.shape, last)


def _max_with_indices(x: Tensor, size: Ints, step: Ints, pad: Ints) -> tuple[Tensor, Tensor]:
    y, places = max_and_places(x, size, step, pad)
    return y, places.indices(x.shape[2:], size, step, pad, [1] * len(size))


def _compiled_max_with_indices(x: Tensor, *geometry: Ints) -> tuple[Tensor, Tensor]:
    return _MAX_POOL_WITH_INDICES(x, *pool.packed_of(x, *geometry))


_MAX_POOL_WITH_INDICES = native.compiled("max_pool_with_indices")
# The largest of each window, and where it is in its plane of x.
max_with_indices = _max_with_indices if native.why_not else _compiled_max_with_indices


def _max_pool(axes: int) -> Callable[..., tuple[Tensor, Tensor]]:
    def run(
        x: Tensor, kernel: Ints, stride: Ints = (), padding: Ints = (0,), dilation: Ints = (1,), ceil_mode: bool = False
    ) -> tuple[Tensor, Tensor]:
        geometry = size, step, pad, spread = _windows(axes, *map(tuple, (kernel, stride, padding, dilation)))
        whole = _batched(axes, x)
        if ceil_mode or max(spread) != 1 or min(spread) != 1:
            plan = pool_windows.Spread(whole.shape[2:], *geometry, ceil_mode)
            y, places = max_and_places(plan.inside(whole), size, plan.step, [0] * axes)
            y = lying_as(whole, plan.outside(y))
            index = lying_as(whole, indices_of(plan.outside(places.unpacked()), whole.shape[2:], *geometry))
        else:
            y, index = max_with_indices(whole, size, step, pad)
        return (y, index) if whole is x else (y[0], index[0])

    return run


def _max_pool_backward(axes: int) -> Callable[..., Tensor]:
    def run(
        grad: Tensor, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil: bool, places: Tensor
    ) -> Tensor:
        geometry = size, step, pad, spread = _windows(axes, *map(tuple, (kernel, stride, padding, dilation)))
        whole = _batched(axes, x)
        if ceil or max(spread) != 1 or min(spread) != 1:
            plan = pool_windows.Spread(whole.shape[2:], *geometry, ceil)
            inner = plan.gradient_inside(_batched(axes, grad))
            dx = MAX_POOL_BACKWARD(inner, plan.inside(whole), size, plan.step, [0] * axes)
            dx = lying_as(whole, plan.gradient_outside(dx))
        else:
            dx = MAX_POOL_BACKWARD(_batched(axes, grad), whole, size, step, pad)
        return dx if whole is x else dx[0]

    return run


def _avg_pool(axes: int) -> Callable[..., Tensor]:
    def run(
        x: Tensor, kernel: Ints, stride: Ints = (), padding: Ints = (0,), ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> Tensor:  # fmt: skip
        size, step, pad, _ = _windows(axes, tuple(kernel), tuple(stride), tuple(padding), (1,))
        whole = _batched(axes, x)
        if axes == 3:  # aten's own limit, which does not count the padding
            need(all(n >= k for n, k in zip(whole.shape[2:], size, strict=True)), f"{tuple(x.shape)} of windows {size}")
        if ceil_mode or divisor_override is not None:
            plan = pool_windows.Means(whole, size, step, pad, ceil_mode, count_include_pad, divisor_override)
            y = plan.outside(AVG_POOL(plan.inside(whole), size, step, pad, True))
            y = y if axes == 3 else lying_as(whole, y)
        else:
            y = AVG_POOL(whole, size, step, pad, count_include_pad)
        y = y.contiguous() if axes == 3 else y  # as aten's lie, whatever x does
        return y if whole is x else y[0]

    return run


def _avg_pool_backward(axes: int) -> Callable[..., Tensor]:
    def run(
        grad: Tensor, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, ceil: bool, count: bool,
        divisor: int | None,
    ) -> Tensor:  # fmt: skip
        size, step, pad, _ = _windows(axes, tuple(kernel), tuple(stride), tuple(padding), (1,))
        whole, dy = _batched(axes, x), _batched(axes, grad)
        if ceil or divisor is not None:
            plan = pool_windows.Means(whole, size, step, pad, ceil, count, divisor)
            inner = plan.gradient_inside(dy, size, step, pad)
            dx = AVG_POOL_BACKWARD(inner, plan.inside(whole), size, step, pad, True)
            dx = plan.gradient_outside(dx)
            dx = dx if axes == 3 else lying_as(whole, dx)
        else:
            dx = AVG_POOL_BACKWARD(dy, whole, size, step, pad, count)
        dx = dx.contiguous() if axes == 3 else dx
        return dx if whole is x else dx[0]

    return run


FAMILIES: dict[str, dict[Any, Callable[..., Any]]] = {
    "mm": {ATEN.mm.default: MM, ATEN.mv.default: _mv, ATEN.dot.default: _dot},
    "addmm": {ATEN.addmm.default: ADDMM},
    "bmm": {ATEN.bmm.default: BMM, ATEN.baddbmm.default: _baddbmm},
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
