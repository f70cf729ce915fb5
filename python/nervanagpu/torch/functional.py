"""The operators with the arguments of torch.nn.functional.

A plain call (native.plain) goes to the compiled operator at once, any other by way of torch.ops.nervanagpu.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from nervanagpu.torch import convolution as _convolution
from nervanagpu.torch import max_pool_gradient as _choice  # noqa: F401
from nervanagpu.torch import pooling as _pooling
from nervanagpu.torch import products as _products
from nervanagpu.torch.bridge import Unsupported, lying_as, need
from nervanagpu.torch.pool_windows import Means, Spread

Ints = int | Sequence[int]
Padding = Ints | str  # or "same" or "valid"
_LISTS = (list, tuple)  # torch.compile of torch 2.9 does not know list | tuple


def _each(name: str, value: Any, axes: int) -> Sequence[int]:
    """One number for each axis, from such or from one for all."""
    if isinstance(value, int):
        return (value,) * axes
    if isinstance(value, _LISTS):
        return tuple(value) * axes if len(value) == 1 else value
    need(hasattr(value, "__index__"), f"{name} is {value!r}; needs an integer, or one for each of {axes} axes")
    return (operator.index(value),) * axes


def _steps(stride: Ints | None, size: Sequence[int], axes: int) -> Sequence[int]:
    """Of a pooling's windows: as long as they are, unless it is said."""
    if stride is None or (isinstance(stride, _LISTS) and not stride):
        return size
    return _each("stride", stride, axes)


def _alone(axes: int, x: Tensor, weight: Tensor) -> bool:
    """Whether x is one image, without the axis of a batch. Unsupported: operands that are no tensors."""
    for name, value in (("x", x), ("weight", weight)):
        # The class first: of a tensor that torch 2.9 traces hasattr() says no.
        if not (isinstance(value, Tensor) or hasattr(value, "dim")):
            raise Unsupported(f"{name} is {type(value).__name__}; needs a tensor")
    return isinstance(x, Tensor) and x.dim() == axes + 1


def mm(a: Tensor, b: Tensor, *, precision: str | None = None) -> Tensor:
    """a @ b of matrices. precision: of float32, "strict" or "tensor"; None: what nervanagpu.precision has set."""
    return _products.call_mm(a, b, precision=precision)


def bmm(a: Tensor, b: Tensor, *, precision: str | None = None) -> Tensor:
    """a[i] @ b[i] of every i."""
    return _products.call_bmm(a, b, precision=precision)


def addmm(
    bias: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1, precision: str | None = None
) -> Tensor:
    """beta * bias + alpha * (a @ b)."""
    return _products.call_addmm(bias, a, b, beta=beta, alpha=alpha, precision=precision)


def linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *, activation: str = "none", precision: str | None = None
) -> Tensor:
    """act(x @ weight.T + bias), one kernel; activation: one without bounds or a mask (docs/gemm.md)."""
    return _products.call_linear(x, weight, bias, activation=activation, precision=precision)


def grouped_mm(a: Sequence[Tensor], b: Sequence[Tensor], *, precision: str | None = None) -> list[Tensor]:
    """a[i] @ b[i] of matrices of any shapes, together."""
    return list(_products.call_grouped(list(a), list(b), precision=precision))


def stochastic_round(x: Tensor, dtype: torch.dtype, seed: int, offset: int = 0, bits: int = 0) -> Tensor:
    """x as `dtype`, up or down at random, so that the expected value is x: nervanagpu.stochastic_round."""
    return _products.call_round(x, dtype, seed, offset, bits)


def _convolve(
    axes: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: Padding, dilation: Ints,
    groups: int, activation: str,
) -> Tensor:  # fmt: skip
    if _alone(axes, x, weight):
        return _convolve(axes, x[None], weight, bias, stride, padding, dilation, groups, activation)[0]
    step, spread = _each("stride", stride, axes), _each("dilation", dilation, axes)
    if isinstance(padding, str):
        x, pad = _padded(x, weight, padding, step, spread)
    else:
        pad = _each("padding", padding, axes)
    return _convolution.call_convolution(x, weight, bias, step, pad, spread, groups, activation=activation)


def _padded(
    x: Tensor, weight: Tensor, padding: str, stride: Sequence[int], dilation: Sequence[int]
) -> tuple[Tensor, Sequence[int]]:
    """x, and the padding that is left, of "valid" and of "same": where that is odd, one more zero follows."""
    need(padding in ("same", "valid"), f"padding is {padding!r}; needs 'same', 'valid' or numbers")
    if padding == "valid":
        return x, (0,) * len(stride)
    need(max(stride) == 1, f"padding is 'same' and stride {tuple(stride)}; needs a stride of 1")
    both = [d * (n - 1) for d, n in zip(dilation, weight.shape[2:], strict=True)]
    odd = [m % 2 for m in both]
    if any(odd):
        x = torch.nn.functional.pad(x, [n for m in reversed(odd) for n in (0, m)])
    return x, [m // 2 for m in both]


def conv1d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Padding = 0, dilation: Ints = 1,
    groups: int = 1, *, activation: str = "none",
) -> Tensor:  # fmt: skip
    """act of torch.nn.functional.conv1d, one kernel; activation: as in linear."""
    return _convolve(1, x, weight, bias, stride, padding, dilation, groups, activation)


def conv2d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Padding = 0, dilation: Ints = 1,
    groups: int = 1, *, activation: str = "none",
) -> Tensor:  # fmt: skip
    """act of torch.nn.functional.conv2d, one kernel; activation: as in linear."""
    return _convolve(2, x, weight, bias, stride, padding, dilation, groups, activation)


def conv3d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Padding = 0, dilation: Ints = 1,
    groups: int = 1, *, activation: str = "none",
) -> Tensor:  # fmt: skip
    """act of torch.nn.functional.conv3d, one kernel; activation: as in linear."""
    return _convolve(3, x, weight, bias, stride, padding, dilation, groups, activation)


def _convolve_transposed(
    axes: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: Ints, output_padding: Ints,
    groups: int, dilation: Ints,
) -> Tensor:  # fmt: skip
    if _alone(axes, x, weight):
        return _convolve_transposed(axes, x[None], weight, bias, stride, padding, output_padding, groups, dilation)[0]
    given = {"stride": stride, "padding": padding, "dilation": dilation, "output_padding": output_padding}
    step, pad, spread, more = (_each(name, v, axes) for name, v in given.items())
    size = _convolution.transposed_shape(x, weight, bias, step, pad, spread, more, groups)
    geometry = (step, pad, spread, groups)
    x = _convolution.lengthened(x, weight.shape, size, *geometry)
    y = _convolution.call_input(x, weight, size, *geometry)
    return y if bias is None else y + bias.to(y.dtype).view(-1, *(1,) * axes)  # autocast's dtype


def conv_transpose1d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints = 0,
    output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1,
) -> Tensor:  # fmt: skip
    """torch.nn.functional.conv_transpose1d."""
    return _convolve_transposed(1, x, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints = 0,
    output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1,
) -> Tensor:  # fmt: skip
    """torch.nn.functional.conv_transpose2d."""
    return _convolve_transposed(2, x, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints = 0,
    output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1,
) -> Tensor:  # fmt: skip
    """torch.nn.functional.conv_transpose3d."""
    return _convolve_transposed(3, x, weight, bias, stride, padding, output_padding, groups, dilation)


def _max_pool(
    axes: int, x: Tensor, kernel: Ints, stride: Ints | None, padding: Ints, dilation: Ints, ceil_mode: bool
) -> Tensor:
    if _alone(axes, x, x):
        return _max_pool(axes, x[None], kernel, stride, padding, dilation, ceil_mode)[0]
    size = _each("kernel_size", kernel, axes)
    step = _steps(stride, size, axes)
    pad, spread = _each("padding", padding, axes), _each("dilation", dilation, axes)
    if not ceil_mode and max(spread) == min(spread) == 1:
        return _pooling.call_max(x, size, step, pad)
    plan = Spread(x.shape[2:], size, step, pad, spread, ceil_mode)
    return lying_as(x, plan.outside(_pooling.call_max(plan.inside(x), size, plan.step, [0] * axes)))


def max_pool1d(
    x: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """torch.nn.functional.max_pool1d."""
    return _max_pool(1, x, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(
    x: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """torch.nn.functional.max_pool2d."""
    return _max_pool(2, x, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(
    x: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """torch.nn.functional.max_pool3d."""
    return _max_pool(3, x, kernel_size, stride, padding, dilation, ceil_mode)


def _avg_pool(
    axes: int, x: Tensor, kernel: Ints, stride: Ints | None, padding: Ints, ceil_mode: bool, count_include_pad: bool,
    divisor: int | None = None,
) -> Tensor:  # fmt: skip
    if _alone(axes, x, x):
        return _avg_pool(axes, x[None], kernel, stride, padding, ceil_mode, count_include_pad, divisor)[0]
    size = _each("kernel_size", kernel, axes)
    step = _steps(stride, size, axes)
    pad = _each("padding", padding, axes)
    if not ceil_mode and divisor is None:
        return _pooling.call_avg(x, size, step, pad, count_include_pad)
    plan = Means(x, size, step, pad, ceil_mode, count_include_pad, divisor)
    return plan.outside(_pooling.call_avg(plan.inside(x), size, step, pad, True))


def avg_pool1d(
    x: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """torch.nn.functional.avg_pool1d."""
    return _avg_pool(1, x, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    x: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """torch.nn.functional.avg_pool2d."""
    return _avg_pool(2, x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    x: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """torch.nn.functional.avg_pool3d."""
    return _avg_pool(3, x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
