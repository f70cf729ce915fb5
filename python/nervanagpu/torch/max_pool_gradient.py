"""Derivatives of max pooling: what it does for x it does for whatever lies where x lies, and back.

max_pool_choice(values, x, ...) gives of each window the value where x is the largest; its gradient is
max_pool_backward, whose gradient it is, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from nervanagpu.torch.aten import max_with_indices
from nervanagpu.torch.bridge import check, check_operands, form_of, need
from nervanagpu.torch.gradients import FUNCTIONS, RECORDERS
from nervanagpu.torch.library import derivative, operator
from nervanagpu.torch.native import GRADIENT, RECORDED, way
from nervanagpu.torch.pooling import call_max_backward, empty_result, keep_second, keep_x, record_max

Ints = Sequence[int]
OPS = torch.ops.nervanagpu


def _fake(values: Tensor, x: Tensor, *geometry: Ints) -> Tensor:
    check(values.shape == x.shape, lambda: f"values {tuple(values.shape)} for x {tuple(x.shape)}; needs one shape")
    return empty_result(x, *geometry)


def _choose(values: Tensor, x: Tensor, *geometry: Ints) -> Tensor:
    check_operands(values, x)
    out = _fake(values, x, *geometry)
    if out.numel() == 0:
        return out
    size = geometry[0]
    count = 1
    for n in size:
        count *= n
    need(count <= 255, f"a window of {tuple(size)}; needs at most 255 elements")
    _, index = max_with_indices(x, *geometry)
    chosen = values.flatten(2).gather(2, index.flatten(2)).view(out.shape)
    return chosen.contiguous(memory_format=form_of(x))


operator(
    "max_pool_choice(Tensor values, Tensor x, SymInt[] kernel, SymInt[] stride, SymInt[] padding) -> Tensor",
    fake=_fake,
    compiled=_choose,
)(_choose)


def call_choice(values: Tensor, x: Tensor, *geometry: Ints) -> Tensor:
    taken = way(values, x)
    if taken == RECORDED:
        return RECORDERS["max_pool_choice"](values, x, *geometry)
    run = FUNCTIONS["max_pool_choice"].apply if taken == GRADIENT else OPS.max_pool_choice
    return run(values, x, *geometry)


def _zeros_or(call: Any, ctx: Any, tangent: Tensor | None) -> Tensor:
    x = ctx.saved_tensors[0]
    return call(torch.zeros_like(x) if tangent is None else tangent, x, *ctx.geometry)


@derivative("max_pool", keep_x, lambda ctx, dx, *rest: call_choice(dx, ctx.saved_tensors[0], *ctx.geometry), record_max)
def _max_gradient(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return (call_max_backward(grad, ctx.saved_tensors[0], *ctx.geometry),)


def _backward_tangent(ctx: Any, dgrad: Tensor | None, *rest: Any) -> Tensor:
    x = ctx.saved_tensors[0]
    return torch.zeros_like(x) if dgrad is None else call_max_backward(dgrad, x, *ctx.geometry)


@derivative("max_pool_backward", keep_second, _backward_tangent)
def _backward_gradient(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return (call_choice(grad, ctx.saved_tensors[0], *ctx.geometry),)


@derivative("max_pool_choice", keep_second, lambda ctx, dv, *rest: _zeros_or(call_choice, ctx, dv))
def _choice_gradient(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return (call_max_backward(grad, ctx.saved_tensors[0], *ctx.geometry),)
