"""What linear and convolution make of their sums before they store them, and its derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from nervanagpu.torch.gradients import keep, keep_two

_FROM_RESULT = ("relu", "tanh", "sigmoid")  # derivatives that the result tells; others want what stood before it


def keep_layer(ctx: Any, operands: Sequence[Any], y: Tensor, activation: str) -> None:
    """Saves of a layer's x, weight, bias and result what `through` and the gradients of x and weight want."""
    ctx.activation = activation
    if activation == "none":
        return keep_two(ctx, operands[0], operands[1])
    again = activation not in ("none", *_FROM_RESULT)  # the sums are computed anew
    wants = ctx.needs_input_grad
    backward = (again or wants[1], again or wants[0], again, activation in _FROM_RESULT)
    keep(ctx, *operands, y, backward=backward)
    ctx.shapes = operands[0].shape, operands[1].shape


def kept_layer(ctx: Any) -> tuple[Any, ...]:
    """x, weight, bias and result, those of them that were saved."""
    saved: tuple[Any, ...] = ctx.saved_tensors
    return saved if len(saved) == 4 else (*saved, None, None)


def through(activation: str, grad: Tensor, y: Tensor, before: Callable[[], Tensor]) -> Tensor:
    """grad times the activation's derivative, from its result y, or from what stood before it, which is made again."""
    if activation == "none":
        return grad
    if activation == "relu":
        return torch.where(y > 0, grad, 0)
    if activation == "tanh":
        return grad * (1 - y * y)
    if activation == "sigmoid":
        return grad * y * (1 - y)
    return _FROM_OPERAND[activation](grad, before())


def _silu_backward(grad: Tensor, x: Tensor) -> Tensor:
    """As torch's own, whose kernel has no derivative."""
    if not torch.is_grad_enabled():
        return torch.ops.aten.silu_backward(grad, x)
    wide = x.float()
    s = torch.sigmoid(wide)
    return (grad.float() * s * (1 + wide * (1 - s))).to(grad.dtype)


_FROM_OPERAND: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "gelu": partial(torch.ops.aten.gelu_backward, approximate="none"),
    "gelu_tanh": partial(torch.ops.aten.gelu_backward, approximate="tanh"),
    "silu": _silu_backward,
}
