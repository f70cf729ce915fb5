"""Convolution in one to three dimensions and its two gradients, each of which is made of the other two."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import torch
from torch import Tensor

import nervanagpu as ng
from nervanagpu.torch.activations import keep_layer, kept_layer, through
from nervanagpu.torch.bridge import (
    CHANNELS_LAST,
    arranged,
    check,
    check_operands,
    empty,
    is_channels_last,
    layout_name,
    layout_shape,
    need,
    need_numbers,
    ours,
    stream_of,
)  # fmt: skip
from nervanagpu.torch.gradients import FUNCTIONS, KERNELS, RECORDERS, keep_two, note_two, shapes_of, total
from nervanagpu.torch.library import derivative, operator
from nervanagpu.torch.native import (
    GRADIENT,
    KERNEL,
    RECORDED,
    activation_number,
    compiled,
    packed,
    three,
    way,
    why_not,
)

Ints = Sequence[int]
OPS = torch.ops.nervanagpu
_FPROP: dict[int, Any] = {1: ng.conv1d, 2: ng.conv2d, 3: ng.conv3d}
_BPROP: dict[int, Any] = {1: ng.conv1d_bprop, 2: ng.conv2d_bprop, 3: ng.conv3d_bprop}
_UPDATE: dict[int, Any] = {1: ng.conv1d_update, 2: ng.conv2d_update, 3: ng.conv3d_update}
COMPILED, _INPUT, _WEIGHT, COMPILED_BOTH = (
    compiled(f"convolution{more}") for more in ("", "_input", "_weight", "_gradients")
)
BUT_CHANNELS = {axes: (0, *range(2, axes + 2)) for axes in (1, 2, 3)}
_GEOMETRY = "SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt groups"


def check_geometry(axes: int, stride: Ints, padding: Ints, dilation: Ints) -> None:
    """Unsupported unless there is one number for each of 1 to 3 axes: 1 or more, of padding 0 or more."""
    need(1 <= axes <= 3, f"{axes} spatial axes; needs 1 to 3")
    need_numbers(axes, stride=(stride, 1), padding=(padding, 0), dilation=(dilation, 1))


def result_shape(x: Ints, weight: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> list[int]:
    """Of the convolution of an x and a weight of these shapes."""
    axes = len(weight) - 2
    check_geometry(axes, stride, padding, dilation)
    need(len(x) == axes + 2, f"x has {len(x)} axes; needs {axes + 2}")
    need(groups >= 1, f"{groups} groups; needs 1 or more")
    check(
        x[1] == weight[1] * groups and weight[0] % groups == 0 and weight[0] >= 1,
        lambda: f"x {tuple(x)} does not fit weight {tuple(weight)} in {groups} groups",
    )
    shape = [x[0], weight[0]]
    for i in range(axes):
        reach = dilation[i] * (weight[2 + i] - 1) + 1
        shape.append((x[2 + i] + 2 * padding[i] - reach) // stride[i] + 1)
    check(
        all(n >= 1 for n in shape[2:]),
        lambda: f"x {tuple(x)} is less than a window of weight {tuple(weight)}",
    )
    return shape


def lengthened(x: Tensor, weight: Ints, size: Ints, *geometry: Any) -> Tensor:
    """x and the zeros that a transposed convolution to `size` reads after it: some output paddings ask for them."""
    lengths = result_shape(size, weight, *geometry)[2:]
    more = [n - m for n, m in zip(lengths, x.shape[2:], strict=True)]
    if not any(more):
        return x
    return torch.nn.functional.pad(x, [n for m in reversed(more) for n in (0, m)])


def _check_result(grad: Tensor, x: Ints, weight: Ints, *geometry: Any) -> None:
    shape = result_shape(x, weight, *geometry)
    check(list(grad.shape) == shape, lambda: f"the gradient is {tuple(grad.shape)}; needs {shape}")


def transposed_shape(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: Ints, dilation: Ints, more: Ints, groups: int
) -> list[int]:
    """Of the transposed convolution; `more` is the output padding. Unsupported: what it cannot be made of."""
    axes = weight.dim() - 2
    need(x.dim() == axes + 2, f"x has {x.dim()} axes; needs {axes + 2}")
    check_geometry(axes, stride, padding, dilation)
    need_numbers(axes, output_padding=(more, 0))
    reach = [max(s, d) for s, d in zip(stride, dilation, strict=True)]
    need(
        all(m < r for m, r in zip(more, reach, strict=True)),
        f"output_padding is {tuple(more)}; needs less than stride or dilation, {tuple(reach)}",
    )
    need(groups >= 1, f"{groups} groups; needs 1 or more")
    shape = [x.shape[0], weight.shape[1] * groups]
    if bias is not None:
        need(tuple(bias.shape) == (shape[1],), f"bias {tuple(bias.shape)}; needs ({shape[1]},)")
        alike = bias.dtype == x.dtype or torch.is_autocast_enabled(x.device.type)
        need(alike, f"operands of several dtypes: {x.dtype}, {bias.dtype}")
    for i in range(axes):
        room = (x.shape[2 + i] - 1) * stride[i] + dilation[i] * (weight.shape[2 + i] - 1) + 1
        shape.append(room - 2 * padding[i] + more[i])
    check(
        all(n >= 1 for n in shape[2:]),
        lambda: f"x {tuple(x.shape)} would give {tuple(shape)}; needs lengths of 1 or more",
    )
    return shape


def _fake_convolution(
    x: Tensor, weight: Tensor, bias: Tensor | None, *geometry: Any, activation: str = "none"
) -> Tensor:
    activation_number(activation)
    return empty(x, result_shape(x.shape, weight.shape, *geometry), is_channels_last(x, weight))


def _packed(axes: int, stride: Ints, padding: Ints, dilation: Ints) -> tuple[int, int, int]:
    return packed_numbers(axes, tuple(stride), tuple(padding), tuple(dilation))


@lru_cache(maxsize=1024)
def packed_numbers(axes: int, stride: Ints, padding: Ints, dilation: Ints) -> tuple[int, int, int]:
    """The geometry as the compiled operators take it."""
    need(1 <= axes <= 3, f"{axes} spatial axes; needs 1 to 3")
    return packed("stride", stride, axes), packed("padding", padding, axes), packed("dilation", dilation, axes)


def _compiled_convolution(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: Ints, dilation: Ints, groups: int, *,
    activation: str = "none",
) -> Tensor:  # fmt: skip
    numbers = _packed(weight.dim() - 2, stride, padding, dilation)
    return COMPILED(x, weight, bias, *numbers, groups, activation_number(activation))


def _compiled_input(
    grad: Tensor, weight: Tensor, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Tensor:
    axes = weight.dim() - 2
    need(len(size) == axes + 2, f"size has {len(size)} numbers; needs {axes + 2}")
    numbers = _packed(axes, stride, padding, dilation)
    return _INPUT(grad, weight, size[0], size[1], *three(size[2:]), *numbers, groups)


def _compiled_weight(
    grad: Tensor, x: Tensor, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Tensor:
    axes = x.dim() - 2
    need(len(size) == axes + 2, f"size has {len(size)} numbers; needs {axes + 2}")
    numbers = _packed(axes, stride, padding, dilation)
    return _WEIGHT(grad, x, size[0], size[1], *three(size[2:]), *numbers, groups)


@operator(
    f'convolution(Tensor x, Tensor weight, Tensor? bias, {_GEOMETRY}, *, str activation="none") -> Tensor',
    fake=_fake_convolution,
    compiled=_compiled_convolution,
    autocast=True,
)
def convolution(x: Tensor, weight: Tensor, bias: Tensor | None, *geometry: Any, activation: str = "none") -> Tensor:
    """act(x * weight + bias) of x (N, C, ...), weight (K, C / groups, ...), bias (K,).

    The result (N, K, ...) lies channels last if x or weight does.
    """
    check_operands(x, weight, bias)
    activation_number(activation)
    last = is_channels_last(x, weight)
    out = empty(x, result_shape(x.shape, weight.shape, *geometry), last)
    if out.numel() == 0:
        return out
    axes = x.dim() - 2
    shift = None if bias is None else ours(bias.contiguous())
    _FPROP[axes](
        arranged(x, last), arranged(weight, last), shift, *geometry, layout_name(axes, last), out=arranged(out, last),
        stream=stream_of(out), activation=activation,
    )  # fmt: skip
    return out


def _fake_input(grad: Tensor, weight: Tensor, size: Ints, *geometry: object) -> Tensor:
    _check_result(grad, size, weight.shape, *geometry)
    return empty(grad, size, is_channels_last(grad, weight))


@operator(
    f"convolution_input(Tensor grad, Tensor weight, SymInt[] size, {_GEOMETRY}) -> Tensor",
    fake=_fake_input,
    compiled=_compiled_input,
    autocast=True,
)
def convolution_input(grad: Tensor, weight: Tensor, size: Ints, *geometry: object) -> Tensor:
    """The gradient of x of shape `size`; also the transposed convolution of `grad`."""
    check_operands(grad, weight)
    _check_result(grad, size, weight.shape, *geometry)
    last = is_channels_last(grad, weight)
    out = empty(grad, size, last)
    if out.numel() == 0 or grad.numel() == 0:
        return out.zero_()
    axes = grad.dim() - 2
    _BPROP[axes](
        arranged(grad, last), arranged(weight, last), layout_shape(size, last), *geometry, layout_name(axes, last),
        out=arranged(out, last), stream=stream_of(out),
    )  # fmt: skip
    return out


def _fake_weight(grad: Tensor, x: Tensor, size: Ints, *geometry: object) -> Tensor:
    _check_result(grad, x.shape, size, *geometry)
    return empty(grad, size, is_channels_last(grad, x))


@operator(
    f"convolution_weight(Tensor grad, Tensor x, SymInt[] size, {_GEOMETRY}) -> Tensor",
    fake=_fake_weight,
    compiled=_compiled_weight,
    autocast=True,
)
def convolution_weight(grad: Tensor, x: Tensor, size: Ints, *geometry: object) -> Tensor:
    """The gradient of the weight of shape `size`."""
    check_operands(grad, x)
    _check_result(grad, x.shape, size, *geometry)
    last = is_channels_last(grad, x)
    out = empty(grad, size, last)
    if out.numel() == 0 or grad.numel() == 0:
        return out.zero_()
    axes = x.dim() - 2
    _UPDATE[axes](
        arranged(grad, last), arranged(x, last), layout_shape(size, last), *geometry, layout_name(axes, last),
        out=arranged(out, last), stream=stream_of(out),
    )  # fmt: skip
    return out


def as_result(grad: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """A gradient of the result, or a copy, lying as the result of x and weight: then those of x and weight do, too."""
    last = is_channels_last(x, weight)
    return grad.contiguous(memory_format=CHANNELS_LAST[grad.dim()] if last else torch.contiguous_format)


def both_gradients(grad: Tensor, x: Tensor, weight: Tensor, *geometry: Any) -> tuple[Tensor, Tensor]:
    """Of x and of weight, without derivatives: for plain tensors that need no dispatcher."""
    if why_not:
        grad = as_result(grad, x, weight)
        dx = KERNELS["convolution_input"](grad, weight, x.shape, *geometry)
        return dx, KERNELS["convolution_weight"](grad, x, weight.shape, *geometry)
    both: tuple[Tensor, Tensor] = COMPILED_BOTH(grad, x, weight, *_packed(weight.dim() - 2, *geometry[:3]), geometry[3])
    return both


# --- by the shortest way ----------------------------------------------------------------------------------------------


def call_convolution(
    x: Tensor, weight: Tensor, bias: Tensor | None, *geometry: Any, activation: str = "none"
) -> Tensor:
    taken = way(x, weight, bias)
    if taken == KERNEL:
        number = 0 if activation == "none" else activation_number(activation)
        return COMPILED(x, weight, bias, *_packed(weight.dim() - 2, *geometry[:3]), geometry[3], number)
    if taken == RECORDED:
        return RECORDERS["convolution"](x, weight, bias, *geometry, activation)
    if taken == GRADIENT:
        return FUNCTIONS["convolution"].apply(x, weight, bias, *geometry, activation)
    return OPS.convolution(x, weight, bias, *geometry, activation=activation)


def call_input(grad: Tensor, weight: Tensor, size: Ints, *geometry: Any) -> Tensor:
    taken = way(grad, weight)
    if taken == KERNEL:
        return _compiled_input(grad, weight, size, *geometry)
    if taken == RECORDED:
        return RECORDERS["convolution_input"](grad, weight, size, *geometry)
    run = FUNCTIONS["convolution_input"].apply if taken == GRADIENT else OPS.convolution_input
    return run(grad, weight, size, *geometry)


def call_weight(grad: Tensor, x: Tensor, size: Ints, *geometry: Any) -> Tensor:
    taken = way(grad, x)
    if taken == KERNEL:
        return _compiled_weight(grad, x, size, *geometry)
    if taken == RECORDED:
        return RECORDERS["convolution_weight"](grad, x, size, *geometry)
    run = FUNCTIONS["convolution_weight"].apply if taken == GRADIENT else OPS.convolution_weight
    return run(grad, x, size, *geometry)


# --- derivatives: each operator is linear in both operands, but for an activation -------------------------------------

Maybe: TypeAlias = "Tensor | None"


def _keep(ctx: Any, inputs: tuple[Any, ...], keywords: dict[str, Any], output: Tensor) -> None:
    keep_layer(ctx, inputs[:3], output, keywords["activation"])
    ctx.geometry = inputs[3:]


def _tangent(ctx: Any, dx: Maybe, dw: Maybe, db: Maybe, *rest: None) -> Tensor:
    x, weight, bias, y = kept_layer(ctx)
    out = total(
        None if dx is None else call_convolution(dx, weight, None, *ctx.geometry),
        None if dw is None else call_convolution(x, dw, None, *ctx.geometry),
        None if db is None else _across(db, result_shape(x.shape, weight.shape, *ctx.geometry)),
    )
    return through(ctx.activation, out, y, lambda: call_convolution(x, weight, bias, *ctx.geometry))


def _across(bias: Tensor, shape: Ints) -> Tensor:
    return bias.view(-1, *(1,) * (len(shape) - 2)).expand(tuple(shape))


def _record(
    ctx: Any, x: Tensor, weight: Tensor, bias: Maybe, stride: Ints, padding: Ints, dilation: Ints, groups: int, act: str
) -> Tensor:
    numbers = _packed(weight.dim() - 2, stride, padding, dilation)
    ctx.geometry = stride, padding, dilation, groups
    if act == "none":
        ctx.activation = act
        out: Tensor = COMPILED(x, weight, bias, *numbers, groups, 0)
        note_two(ctx, x, weight)
        return out
    y: Tensor = COMPILED(x, weight, bias, *numbers, groups, activation_number(act))
    keep_layer(ctx, (x, weight, bias), y, act)
    return y


@derivative("convolution", _keep, _tangent, _record)
def _gradient(ctx: Any, grad: Tensor) -> tuple[Maybe, ...]:
    x, weight, bias, y = kept_layer(ctx)
    needs = ctx.needs_input_grad
    if ctx.activation != "none":
        grad = through(ctx.activation, grad, y, lambda: call_convolution(x, weight, bias, *ctx.geometry))
    dx: Maybe = None
    dw: Maybe = None
    if needs[0] and needs[1] and way(grad, x, weight) == KERNEL:
        dx, dw = both_gradients(grad, x, weight, *ctx.geometry)
    else:
        of_x, of_weight = shapes_of(ctx, x, weight)
        dx = call_input(grad, weight, of_x, *ctx.geometry) if needs[0] else None
        dw = call_weight(grad, x, of_weight, *ctx.geometry) if needs[1] else None
    return dx, dw, grad.sum(BUT_CHANNELS[grad.dim() - 2]) if needs[2] else None


def _keep_sized(ctx: Any, inputs: tuple[Any, ...], keywords: dict[str, Any], output: Tensor) -> None:
    keep_two(ctx, *inputs[:2])
    ctx.size, ctx.geometry = inputs[2], inputs[3:]


def _input_tangent(ctx: Any, dgrad: Maybe, dw: Maybe, *rest: None) -> Tensor:
    grad, weight = ctx.saved_tensors
    return total(
        None if dgrad is None else call_input(dgrad, weight, ctx.size, *ctx.geometry),
        None if dw is None else call_input(grad, dw, ctx.size, *ctx.geometry),
    )


@derivative("convolution_input", _keep_sized, _input_tangent)
def _input_gradient(ctx: Any, grad: Tensor) -> tuple[Maybe, ...]:
    dy, weight = ctx.saved_tensors
    needs = ctx.needs_input_grad
    ddy = call_convolution(grad, weight, None, *ctx.geometry) if needs[0] else None
    return ddy, call_weight(dy, grad, shapes_of(ctx, dy, weight)[1], *ctx.geometry) if needs[1] else None


def _weight_tangent(ctx: Any, dgrad: Maybe, dx: Maybe, *rest: None) -> Tensor:
    grad, x = ctx.saved_tensors
    return total(
        None if dgrad is None else call_weight(dgrad, x, ctx.size, *ctx.geometry),
        None if dx is None else call_weight(grad, dx, ctx.size, *ctx.geometry),
    )


@derivative("convolution_weight", _keep_sized, _weight_tangent)
def _weight_gradient(ctx: Any, grad: Tensor) -> tuple[Maybe, ...]:
    dy, x = ctx.saved_tensors
    needs = ctx.needs_input_grad
    ddy = call_convolution(x, grad, None, *ctx.geometry) if needs[0] else None
    return ddy, call_input(dy, grad, shapes_of(ctx, dy, x)[1], *ctx.geometry) if needs[1] else None
