"""Products of matrices: mm, addmm, bmm, linear with its activation, groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import torch
from torch import Tensor

import nervanagpu as ng
from nervanagpu.torch.activations import keep_layer, kept_layer, through
from nervanagpu.torch.bridge import check_operands, check_place, empty, need, ours, stream_of
from nervanagpu.torch.gradients import FUNCTIONS, RECORDERS, keep, keep_two, note_two, total
from nervanagpu.torch.library import derivative, operator
from nervanagpu.torch.native import (
    FLOATS,
    GRADIENT,
    KERNEL,
    RECORDED,
    activation_number,
    compiled,
    precision_number,
    real,
    way,
)  # fmt: skip

OPS = torch.ops.nervanagpu
_MM, _BMM, _ADDMM, _LINEAR = (compiled(name) for name in ("mm", "bmm", "addmm", "linear"))
_NOTE, _RUN, _ROUND = (compiled(name) for name in ("grouped_mm_note", "grouped_mm_run", "stochastic_round"))
_WORDS = 12  # of a note


def _shapes(a: Tensor, b: Tensor, axes: int = 2) -> list[int]:
    need(a.dim() == b.dim() == axes, f"operands of {a.dim()} and {b.dim()} axes; needs {axes}")
    shapes = f"{tuple(a.shape)} and {tuple(b.shape)}"
    torch._check(a.shape[-1] == b.shape[-2], lambda: f"nervanagpu: {shapes} cannot be multiplied")
    if axes == 3:
        torch._check(a.shape[0] == b.shape[0], lambda: f"nervanagpu: batches of {shapes} differ")
    return [*a.shape[:-1], b.shape[-1]]


def _fake_product(a: Tensor, b: Tensor, *, precision: str | None = None) -> Tensor:
    return empty(a, _shapes(a, b, a.dim()))


def _compiled_mm(a: Tensor, b: Tensor, *, precision: str | None = None) -> Tensor:
    return _MM(a, b, precision_number(precision))


def _compiled_bmm(a: Tensor, b: Tensor, *, precision: str | None = None) -> Tensor:
    return _BMM(a, b, precision_number(precision))


@operator(
    "mm(Tensor a, Tensor b, *, str? precision=None) -> Tensor",
    fake=_fake_product,
    compiled=_compiled_mm,
    autocast=True,
)
def mm(a: Tensor, b: Tensor, *, precision: str | None = None) -> Tensor:
    """a @ b of matrices."""
    check_operands(a, b)
    out = empty(a, _shapes(a, b))
    if out.numel() == 0 or a.shape[1] == 0:
        return out.zero_()
    ng.dot(ours(a), ours(b), out=ours(out), stream=stream_of(out), precision=precision)
    return out


@operator(
    "bmm(Tensor a, Tensor b, *, str? precision=None) -> Tensor",
    fake=_fake_product,
    compiled=_compiled_bmm,
    autocast=True,
)
def bmm(a: Tensor, b: Tensor, *, precision: str | None = None) -> Tensor:
    """a[i] @ b[i] of every i."""
    check_operands(a, b)
    out = empty(a, _shapes(a, b, 3))
    if out.numel() == 0 or a.shape[2] == 0:
        return out.zero_()
    ng.batched_dot(ours(a), ours(b), ours(out), stream=stream_of(out), precision=precision)
    return out


def _fake_addmm(
    bias: Tensor, a: Tensor, b: Tensor, *, beta: object = 1, alpha: object = 1, precision: object = None
) -> Tensor:
    shape = _shapes(a, b)
    bias.expand(shape)
    return empty(a, shape)


def _compiled_addmm(
    bias: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1, precision: str | None = None
) -> Tensor:
    return _ADDMM(bias, a, b, real("beta", beta), real("alpha", alpha), precision_number(precision))


@operator(
    "addmm(Tensor bias, Tensor a, Tensor b, *, Scalar beta=1, Scalar alpha=1, str? precision=None) -> Tensor",
    fake=_fake_addmm,
    compiled=_compiled_addmm,
    autocast=True,
)
def addmm(
    bias: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1, precision: str | None = None
) -> Tensor:
    """beta * bias + alpha * (a @ b), where bias broadcasts; with beta = 0 it is not read."""
    check_operands(bias, a, b)
    shape = _shapes(a, b)
    alpha, beta = real("alpha", alpha), real("beta", beta)
    if a.shape[1] == 0 or 0 in shape or alpha == 0:  # as BLAS has it: no element of a and b is read
        out = bias.expand(shape).clone(memory_format=torch.contiguous_format)
        return out.mul_(beta) if beta != 0 else out.zero_()
    out = empty(a, shape)
    options: dict[str, Any] = {"alpha": alpha, "stream": stream_of(out), "precision": precision}
    if beta == 1 and bias.dim() == 1 and bias.shape[0] == shape[1]:
        options["bias"] = ours(bias.contiguous())
    elif beta != 0:
        out.copy_(bias.expand(shape))
        options["beta"] = beta
    ng.dot(ours(a), ours(b), out=ours(out), **options)
    return out


def _rows(x: Tensor, weight: Tensor, bias: Tensor | None, activation: str) -> tuple[Tensor, list[int]]:
    activation_number(activation)
    torch._check(
        weight.dim() == 2 and x.dim() >= 1 and x.shape[-1] == weight.shape[1],
        lambda: f"nervanagpu: x {tuple(x.shape)} does not fit weight {tuple(weight.shape)}",
    )
    if bias is not None:
        torch._check(
            bias.shape == weight.shape[:1], lambda: f"nervanagpu: bias {tuple(bias.shape)}; needs ({weight.shape[0]},)"
        )
    return _flat(x), [*x.shape[:-1], weight.shape[0]]


def _flat(x: Tensor) -> Tensor:
    """All axes but the last as one."""
    return x if x.dim() == 2 else x.reshape(prod(x.shape[:-1]), x.shape[-1])


def _fake_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *, activation: str = "none", precision: str | None = None
) -> Tensor:
    return empty(x, _rows(x, weight, bias, activation)[1])


def _compiled_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *, activation: str = "none", precision: str | None = None
) -> Tensor:
    return _LINEAR(x, weight, bias, activation_number(activation), precision_number(precision))


@operator(
    'linear(Tensor x, Tensor weight, Tensor? bias=None, *, str activation="none", str? precision=None) -> Tensor',
    fake=_fake_linear,
    compiled=_compiled_linear,
    autocast=True,
)
def linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *, activation: str = "none", precision: str | None = None
) -> Tensor:
    """act(x @ weight.T + bias) along the last axis of x: one kernel."""
    check_operands(x, weight, bias)
    rows, shape = _rows(x, weight, bias, activation)
    out = empty(x, shape)
    if out.numel() == 0:
        return out
    ng.dot(
        ours(rows),
        ours(weight.t()),
        out=ours(out.view(-1, shape[-1])),
        bias=None if bias is None else ours(bias.contiguous()),
        activation=None if activation == "none" else activation,
        stream=stream_of(out),
        precision=precision,
    )
    return out


def _fake_grouped(a: list[Tensor], b: list[Tensor], *, precision: str | None = None) -> list[Tensor]:
    torch._check(len(a) == len(b), lambda: f"nervanagpu: {len(a)} and {len(b)} operands; needs as many")
    return [empty(x, _shapes(x, y)) for x, y in zip(a, b, strict=True)]


def _compiled_grouped(a: Sequence[Tensor], b: Sequence[Tensor], *, precision: str | None = None) -> list[Tensor]:
    number = precision_number(precision)
    torch._check(len(a) == len(b), lambda: f"nervanagpu: {len(a)} and {len(b)} operands; needs as many")
    if not a:
        return []
    notes = torch.empty((len(a), _WORDS), dtype=torch.int64, device="cpu")
    outs = [_NOTE(notes, i, x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))]
    _RUN(notes, a[0], number)
    return outs


@operator(
    "grouped_mm(Tensor[] a, Tensor[] b, *, str? precision=None) -> Tensor[]",
    fake=_fake_grouped,
    compiled=_compiled_grouped,
    autocast=True,
)
def grouped_mm(a: list[Tensor], b: list[Tensor], *, precision: str | None = None) -> list[Tensor]:
    """a[i] @ b[i] of matrices of any shapes, together."""
    if not a and not b:
        return []
    check_operands(*a, *b)
    outs = _fake_grouped(a, b)
    some = [i for i, out in enumerate(outs) if out.numel() and a[i].shape[1]]
    for i in set(range(len(outs))) - set(some):
        outs[i].zero_()
    if some:
        triples = [(ours(a[i]), ours(b[i]), ours(outs[i])) for i in some]
        ng.grouped_dot(triples, stream=stream_of(outs[0]), precision=precision)
    return outs


def _fake_round(x: Tensor, dtype: torch.dtype, seed: int, offset: int = 0, bits: int = 0) -> Tensor:
    return torch.empty(x.shape, dtype=dtype, device=x.device)


def _compiled_round(x: Tensor, dtype: torch.dtype, seed: int, offset: int = 0, bits: int = 0) -> Tensor:
    need(dtype in FLOATS, f"dtype {dtype}; needs float32, float16 or bfloat16")
    return _ROUND(x, FLOATS.index(dtype), seed, offset, bits)


@operator(
    "stochastic_round(Tensor x, ScalarType dtype, int seed, int offset=0, int bits=0) -> Tensor",
    fake=_fake_round,
    compiled=_compiled_round,
)
def stochastic_round(x: Tensor, dtype: torch.dtype, seed: int, offset: int = 0, bits: int = 0) -> Tensor:
    """x as float16, bfloat16 or float32 of `bits` bits, up or down at random: nervanagpu.stochastic_round."""
    check_operands(x)
    for name, number in (("seed", seed), ("offset", offset)):
        need(number >= 0, f"{name} is {number}; needs 0 or more")
    out = _fake_round(x, dtype, seed)
    check_operands(out)
    check_place(out)
    if out.numel():
        options: dict[str, Any] = {"seed": seed, "offset": offset, "bits": bits, "stream": stream_of(out)}
        ng.nn.convert(ours(x.contiguous()), out=ours(out), rounding="stochastic", **options)
    return out


# --- by the shortest way ----------------------------------------------------------------------------------------------


def call_mm(a: Tensor, b: Tensor, *, precision: str | None = None) -> Tensor:
    taken = way(a, b)
    if taken == KERNEL:
        return _MM(a, b, -1 if precision is None else precision_number(precision))
    if taken == RECORDED:
        return RECORDERS["mm"](a, b, precision)
    if taken == GRADIENT:
        return FUNCTIONS["mm"].apply(a, b, precision)
    return OPS.mm(a, b, precision=precision)


def call_bmm(a: Tensor, b: Tensor, *, precision: str | None = None) -> Tensor:
    taken = way(a, b)
    if taken == KERNEL:
        return _BMM(a, b, -1 if precision is None else precision_number(precision))
    if taken == RECORDED:
        return RECORDERS["bmm"](a, b, precision)
    if taken == GRADIENT:
        return FUNCTIONS["bmm"].apply(a, b, precision)
    return OPS.bmm(a, b, precision=precision)


def call_addmm(
    bias: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1, precision: str | None = None
) -> Tensor:
    taken = way(bias, a, b)
    if taken == KERNEL:
        return _compiled_addmm(bias, a, b, beta=beta, alpha=alpha, precision=precision)
    if taken == RECORDED:
        return RECORDERS["addmm"](bias, a, b, beta, alpha, precision)
    if taken == GRADIENT:
        return FUNCTIONS["addmm"].apply(bias, a, b, beta, alpha, precision)
    return OPS.addmm(bias, a, b, beta=beta, alpha=alpha, precision=precision)


def call_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *, activation: str = "none", precision: str | None = None
) -> Tensor:
    taken = way(x, weight, bias)
    if taken == KERNEL:
        return _compiled_linear(x, weight, bias, activation=activation, precision=precision)
    if taken == RECORDED:
        return RECORDERS["linear"](x, weight, bias, activation, precision)
    if taken == GRADIENT:
        return FUNCTIONS["linear"].apply(x, weight, bias, activation, precision)
    return OPS.linear(x, weight, bias, activation=activation, precision=precision)


def call_grouped(a: list[Tensor], b: list[Tensor], *, precision: str | None = None) -> list[Tensor]:
    taken = way(*a, *b)
    if taken in (RECORDED, GRADIENT):
        return FUNCTIONS["grouped_mm"].apply(a, b, precision)
    return (_compiled_grouped if taken == KERNEL else OPS.grouped_mm)(a, b, precision=precision)


def call_round(x: Tensor, dtype: torch.dtype, seed: int, offset: int = 0, bits: int = 0) -> Tensor:
    taken = way(x)
    if taken == KERNEL:
        return _compiled_round(x, dtype, seed, offset, bits)
    if taken == RECORDED:
        return RECORDERS["stochastic_round"](x, dtype, seed, offset, bits)
    run = FUNCTIONS["stochastic_round"].apply if taken == GRADIENT else OPS.stochastic_round
    return run(x, dtype, seed, offset, bits)


# --- derivatives ------------------------------------------------------------------------------------------------------

Inputs: TypeAlias = "tuple[Any, ...]"
Keywords: TypeAlias = "dict[str, Any]"
Maybe: TypeAlias = "Tensor | None"


def _keep_product(ctx: Any, inputs: Inputs, keywords: Keywords, output: object) -> None:
    keep_two(ctx, *inputs)
    ctx.options = keywords


def _keep_addmm(ctx: Any, inputs: Inputs, keywords: Keywords, output: Any) -> None:
    _, of_a, of_b = ctx.needs_input_grad[:3]
    keep(ctx, *inputs[1:], backward=(of_b, of_a))
    ctx.bias_shape = inputs[0].shape
    ctx.options = keywords


def _number(precision: str | None) -> int:
    return -1 if precision is None else precision_number(precision)


def _derivatives_of(name: str, call: Callable[..., Tensor], kernel: Callable[..., Tensor]) -> None:
    """Of a product without more, of matrices or of batches of them: products again."""

    def tangent(ctx: Any, da: Maybe, db: Maybe) -> Tensor:
        a, b = ctx.saved_tensors
        return total(
            None if da is None else call(da, b, **ctx.options), None if db is None else call(a, db, **ctx.options)
        )

    def record(ctx: Any, a: Tensor, b: Tensor, precision: str | None) -> Tensor:
        out = kernel(a, b, _number(precision))
        note_two(ctx, a, b)
        ctx.options = {"precision": precision}
        return out

    @derivative(name, _keep_product, tangent, record)
    def gradient(ctx: Any, grad: Tensor) -> tuple[Maybe, ...]:
        a, b = ctx.saved_tensors
        of_a, of_b = ctx.needs_input_grad[:2]
        if way(grad, a, b) == KERNEL:
            number = _number(ctx.options["precision"])
            return kernel(grad, b.mT, number) if of_a else None, kernel(a.mT, grad, number) if of_b else None
        da = call(grad, b.mT, **ctx.options) if of_a else None
        return da, call(a.mT, grad, **ctx.options) if of_b else None


_derivatives_of("mm", call_mm, _MM)
_derivatives_of("bmm", call_bmm, _BMM)


def _addmm_tangent(ctx: Any, dbias: Maybe, da: Maybe, db: Maybe) -> Tensor:
    a, b = ctx.saved_tensors
    options = {"precision": ctx.options["precision"]}
    shape = (a.shape[0], b.shape[1])
    return total(
        None if dbias is None else (dbias * ctx.options["beta"]).expand(shape),
        None if da is None else call_mm(da, b, **options) * ctx.options["alpha"],
        None if db is None else call_mm(a, db, **options) * ctx.options["alpha"],
    )


def _record_addmm(ctx: Any, bias: Tensor, a: Tensor, b: Tensor, beta: Any, alpha: Any, precision: str | None) -> Tensor:
    out: Tensor = _ADDMM(bias, a, b, real("beta", beta), real("alpha", alpha), _number(precision))
    note_two(ctx, a, b)
    ctx.bias_shape = bias.shape
    ctx.options = {"beta": beta, "alpha": alpha, "precision": precision}
    return out


@derivative("addmm", _keep_addmm, _addmm_tangent, _record_addmm)
def _addmm_gradient(ctx: Any, grad: Tensor) -> tuple[Maybe, ...]:
    a, b = ctx.saved_tensors
    alpha, beta = ctx.options["alpha"], ctx.options["beta"]
    options = {"precision": ctx.options["precision"]}
    scaled = grad if alpha == 1 else grad * alpha
    db = (grad if beta == 1 else grad * beta).sum_to_size(ctx.bias_shape) if ctx.needs_input_grad[0] else None
    da = call_mm(scaled, b.t(), **options) if ctx.needs_input_grad[1] else None
    return db, da, call_mm(a.t(), scaled, **options) if ctx.needs_input_grad[2] else None


def _keep_linear(ctx: Any, inputs: Inputs, keywords: Keywords, output: Tensor) -> None:
    keep_layer(ctx, inputs, output, keywords["activation"])
    ctx.options = {"precision": keywords["precision"]}


def _linear_tangent(ctx: Any, dx: Maybe, dw: Maybe, db: Maybe) -> Tensor:
    x, weight, bias, y = kept_layer(ctx)
    out = total(
        None if dx is None else call_linear(dx, weight, **ctx.options),
        None if dw is None else call_linear(x, dw, **ctx.options),
        None if db is None else db.expand(*x.shape[:-1], weight.shape[0]),
    )
    return through(ctx.activation, out, y, lambda: call_linear(x, weight, bias, **ctx.options))


def _record_linear(ctx: Any, x: Tensor, weight: Tensor, bias: Maybe, act: str, precision: str | None) -> Tensor:
    ctx.options = {"precision": precision}
    if act == "none":
        ctx.activation = act
        out: Tensor = _LINEAR(x, weight, bias, 0, _number(precision))
        note_two(ctx, x, weight)
        return out
    y: Tensor = _LINEAR(x, weight, bias, activation_number(act), _number(precision))
    keep_layer(ctx, (x, weight, bias), y, act)
    return y


@derivative("linear", _keep_linear, _linear_tangent, _record_linear)
def _linear_gradient(ctx: Any, grad: Tensor) -> tuple[Maybe, ...]:
    x, weight, bias, y = kept_layer(ctx)
    if ctx.activation != "none":
        grad = through(ctx.activation, grad, y, lambda: call_linear(x, weight, bias, **ctx.options))
    rows, needs = _flat(grad), ctx.needs_input_grad
    if grad.dim() == 2 and way(grad, x, weight) == KERNEL:
        number = _number(ctx.options["precision"])
        return (
            _MM(grad, weight, number) if needs[0] else None,
            _MM(grad.t(), x, number) if needs[1] else None,
            grad.sum(0) if needs[2] else None,
        )
    dx = call_mm(rows, weight, **ctx.options).view(*grad.shape[:-1], weight.shape[1]) if needs[0] else None
    dw = call_mm(rows.t(), _flat(x), **ctx.options) if needs[1] else None
    return dx, dw, rows.sum(0) if needs[2] else None


def _keep_grouped(ctx: Any, inputs: Inputs, keywords: Keywords, output: Any) -> None:
    n = ctx.count = len(inputs[0])
    wants = ctx.needs_input_grad[-2 * n :]
    keep(ctx, *inputs[0], *inputs[1], backward=(*wants[n:], *wants[:n]))
    ctx.options = keywords


def _grouped_tangent(ctx: Any, *tangents: Tensor) -> list[Tensor]:
    n, saved = ctx.count, ctx.saved_tensors
    full = [torch.zeros_like(t) if d is None else d for t, d in zip(saved, tangents, strict=True)]
    da = call_grouped(full[:n], list(saved[n:]), **ctx.options)
    return [s + t for s, t in zip(da, call_grouped(list(saved[:n]), full[n:], **ctx.options), strict=True)]


def _grouped_where(wanted: Sequence[bool], a: Sequence[Any], b: Sequence[Any], options: Keywords) -> list[Maybe]:
    """a[i] @ b[i] of those that are wanted; None stands for others."""
    left, right = ([t for t, w in zip(some, wanted, strict=True) if w] for some in (a, b))
    found = iter(call_grouped(left, right, **options) if left else [])
    return [next(found) if w else None for w in wanted]


@derivative("grouped_mm", _keep_grouped, _grouped_tangent)
def _grouped_gradient(ctx: Any, *grads: Tensor) -> tuple[list[Maybe], list[Maybe]]:
    n = ctx.count
    wants = ctx.needs_input_grad[-2 * n :]
    a, b = ([None if t is None else t.t() for t in some] for some in (ctx.saved_tensors[:n], ctx.saved_tensors[n:]))
    return _grouped_where(wants[:n], grads, b, ctx.options), _grouped_where(wants[n:], a, grads, ctx.options)


def _keep_dtype(ctx: Any, inputs: Inputs, keywords: Keywords, output: Tensor) -> None:
    ctx.dtypes = inputs[0].dtype, output.dtype


@derivative("stochastic_round", _keep_dtype, lambda ctx, dx, *rest: dx.to(ctx.dtypes[1]))
def _round_gradient(ctx: Any, grad: Tensor) -> tuple[Maybe, ...]:
    return (grad.to(ctx.dtypes[0]),)  # as of a conversion
