"""Derivatives of the operators, backward and forward, as autograd functions that torch.func transforms.

A formula calls operators again, so that what it gives can be differentiated once more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from nervanagpu.torch.native import KERNEL, way

Function = Callable[..., Any]

FUNCTIONS: dict[str, _Differentiable] = {}  # of the operators, by name
RECORDERS: dict[str, Function] = {}  # the same where nothing but gradients is wanted (native.RECORDED)
KERNELS: dict[str, Function] = {}  # and what the dispatcher ends at
CASTING: set[str] = set()  # those whose floats torch.autocast makes its dtype
_with_gradients, _wants_one = torch.is_grad_enabled, torch._C._any_requires_grad
_transforms, _autocast = torch._C._are_functorch_transforms_active, torch._C._is_any_autocast_enabled


def keep(ctx: Any, *tensors: Tensor | None, backward: Sequence[bool] | None = None) -> None:
    """Saves tensors for a forward formula, which finds them in ctx.saved_tensors, and for a backward one.

    backward: which of them it reads. What is not saved costs no memory, and may be changed in place.
    """
    read = tensors if backward is None else [t if b else None for t, b in zip(tensors, backward, strict=True)]
    ctx.save_for_backward(*read)
    ctx.save_for_forward(*tensors)


def keep_two(ctx: Any, a: Tensor, b: Tensor) -> None:
    """Of a product: the gradient of each operand, the first two inputs, is made with the other.

    ctx.shapes is of both, if one of them is not saved.
    """
    of_a, of_b = ctx.needs_input_grad[:2]
    if of_a and of_b:
        ctx.save_for_backward(a, b)
    else:
        ctx.save_for_backward(a if of_b else None, b if of_a else None)
        ctx.shapes = a.shape, b.shape
    ctx.save_for_forward(a, b)


def note_two(ctx: Any, a: Tensor, b: Tensor) -> None:
    """keep_two in a recorder, where torch takes longer to say which gradients are wanted than tensors do."""
    of_a, of_b = a.requires_grad, b.requires_grad
    if of_a and of_b:
        ctx.save_for_backward(a, b)
    else:
        ctx.save_for_backward(a if of_b else None, b if of_a else None)
        ctx.shapes = a.shape, b.shape


def shapes_of(ctx: Any, a: Tensor | None, b: Tensor | None) -> tuple[Any, Any]:
    """Of the operands of keep_two, as they were found in ctx.saved_tensors."""
    return ctx.shapes if a is None or b is None else (a.shape, b.shape)


def total(*terms: Tensor | None) -> Tensor:
    """The sum of those that are there; one is."""
    some = [t for t in terms if t is not None]
    out = some[0]
    for t in some[1:]:
        out = out + t
    return out


def autocast(arguments: tuple[Any, ...], device: str) -> list[Any]:
    """The arguments with floats of that device as autocast's dtype, also in lists."""
    dtype = torch.get_autocast_dtype(device)

    def cast(value: Any) -> object:
        if isinstance(value, list | tuple):
            return type(value)(map(cast, value))
        eligible = isinstance(value, Tensor) and value.is_floating_point() and value.device.type == device
        return value.to(dtype) if eligible and value.dtype != torch.float64 else value

    return [cast(a) for a in arguments]


def register(name: str, setup: Function, backward: Function, tangent: Function, record: Function | None) -> Function:
    """Notes how the operator `name` is differentiated; its kernel for autograd, (keyset, *inputs, **keywords).

    setup(ctx, inputs, keywords, output): keeps what the formulas need.
    backward(ctx, *grads): gradients of the inputs, those at the end left out where they have none.
    tangent(ctx, *tangents): that of the output; None: of an input that does not vary.
    record(ctx, *arguments): the compiled operator's output, with what setup keeps; None: made of both.
    """
    operator = getattr(torch.ops.nervanagpu, name).default
    function = FUNCTIONS[name] = _Differentiable(operator, KERNELS[name], setup, backward, tangent)
    RECORDERS[name] = function.recorder(record)
    fill = _filler(operator._schema)
    after = torch._C._after_autograd_keyset

    def kernel(keyset: object, *inputs: object, **keywords: object) -> object:
        forward = forward_ad._current_level >= 0 and torch._C._is_fwd_grad_enabled()
        if forward or (_with_gradients() and _wants_one(*inputs)):
            if _transforms():
                raise RuntimeError(
                    f"nervanagpu: torch.ops.nervanagpu.{name} in a transform of torch.func, which takes functions of "
                    "nervanagpu.torch instead"
                )
            return function.apply(*fill(inputs, keywords))
        with torch._C._AutoDispatchBelowAutograd():
            return operator.redispatch(keyset & after, *inputs, **keywords)

    return kernel


def _filler(schema: Any) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...]]:
    """All arguments in their order: the dispatcher leaves out what has its default value."""
    positions = [a.default_value for a in schema.arguments if not a.kwarg_only]
    named = [(a.name, a.default_value) for a in schema.arguments if a.kwarg_only]

    def fill(inputs: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        return (*inputs, *positions[len(inputs) :], *(keywords.get(name, value) for name, value in named))

    return fill


class _Numbers:
    """A list of numbers as one argument: torch.func would look for a tangent of each number."""

    def __init__(self, values: object) -> None:
        self.values = values


class _Differentiable:
    """One operator's autograd functions: for torch.func's transforms, and the other, which is quicker to enter.

    Their arguments are those of the schema; lists of tensors stand joined at the end.
    """

    def __init__(self, operator: Any, kernel: Function, setup: Function, backward: Function, tangent: Function) -> None:
        schema = operator._schema
        self._operator, self._kernel, self._setup = operator, kernel, setup
        self._backward, self._tangent = backward, tangent
        self._casts = operator._opname in CASTING
        self._names = [a.name for a in schema.arguments if a.kwarg_only]
        self._count = len(schema.arguments) - len(self._names)
        self._lists = isinstance(schema.returns[0].type, torch.ListType)
        formulas = {"backward": staticmethod(self._gradients), "jvp": staticmethod(self._tangents)}
        quick = {"forward": staticmethod(self._forward_and_keep), **formulas}
        transformed = {
            "forward": staticmethod(self._forward),
            "setup_context": staticmethod(self._keep),
            "generate_vmap_rule": True,
            **formulas,
        }
        name = schema.name.replace("::", "_")
        self._quick: Any = type(name, (torch.autograd.Function,), quick)
        self._transformed: Any = type(f"{name}_transformed", (torch.autograd.Function,), transformed)

    def apply(self, *arguments: Any) -> Tensor | list[Tensor]:
        """Of the schema's arguments, all of them, in their order."""
        if self._casts and _autocast():  # which the dispatcher does elsewhere
            for device in ("cpu", "cuda"):
                if torch.is_autocast_enabled(device):
                    arguments = tuple(autocast(arguments, device))
        if self._lists:
            first = arguments[: self._count]
            arguments = (tuple(map(len, first)), *arguments[self._count :], *(t for some in first for t in some))
        if _transforms():
            whole = (_Numbers(a) if isinstance(a, list | tuple) else a for a in arguments)
            out = self._transformed.apply(*whole)
        else:
            out = self._quick.apply(*arguments)
        return list(out) if self._lists else out

    def recorder(self, record: Function | None) -> Function:
        """apply, where no transform, autocast, forward derivative, mode or subclass of tensors has to be thought of."""
        if self._lists:
            return self.apply
        kernel, setup, backward, count, names = self._kernel, self._setup, self._backward, self._count, self._names

        def forward(ctx: object, *arguments: object) -> object:
            inputs = arguments[:count]
            keywords = dict(zip(names, arguments[count:], strict=False)) if names else {}
            out = kernel(*inputs, **keywords)
            setup(ctx, inputs, keywords, out)
            return out

        every = count + len(names)

        def gradients(ctx: object, *grads: Tensor) -> tuple[Any, ...]:
            found: tuple[Any, ...] = backward(ctx, *grads)
            return found if len(found) == every else (*found, *(None,) * (every - len(found)))

        body: dict[str, Any] = {"forward": staticmethod(record or forward), "backward": staticmethod(gradients)}
        body["save_for_forward"] = lambda ctx, *tensors: None
        made: Any = type(self._quick.__name__, (torch.autograd.Function,), body)
        quick: Any = super(
            torch.autograd.Function, made
        )  # its own apply looks for transforms, which takes as long again
        return quick.apply

    def _parts(self, arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional arguments and the others."""
        arguments = tuple(a.values if type(a) is _Numbers else a for a in arguments)
        if not self._lists:
            return arguments[: self._count], dict(zip(self._names, arguments[self._count :], strict=True))
        lengths, rest = arguments[0], arguments[1 + len(self._names) :]
        first = tuple(list(rest[sum(lengths[:i]) : sum(lengths[: i + 1])]) for i in range(len(lengths)))
        return first, dict(zip(self._names, arguments[1:], strict=False))

    def _forward(self, *arguments: Any) -> Tensor | tuple[Tensor, ...]:
        inputs, keywords = self._parts(arguments)
        # Gradients are off here. Below a vmap that torch makes of this, the operator is called sample by sample.
        tensors = (t for some in inputs for t in some) if self._lists else inputs
        run = self._kernel if way(*(t for t in tensors if isinstance(t, Tensor))) == KERNEL else self._operator
        out = run(*inputs, **keywords)
        return tuple(out) if self._lists else out

    def _keep(self, ctx: Any, inputs: tuple[Any, ...], output: object) -> None:
        ctx.given = len(inputs)
        self._setup(ctx, *self._parts(inputs), output)

    def _forward_and_keep(self, ctx: object, *arguments: object) -> Tensor | tuple[Tensor, ...]:
        out = self._forward(*arguments)
        self._keep(ctx, arguments, out)
        return out

    def _gradients(self, ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        found = self._backward(ctx, *grads)
        if self._lists:
            return (*(None,) * (1 + len(self._names)), *(g for some in found for g in some))
        return (*found, *(None,) * (ctx.given - len(found)))

    def _tangents(self, ctx: object, *tangents: object) -> Tensor | tuple[Tensor, ...]:
        if self._lists:
            return tuple(self._tangent(ctx, *tangents[1 + len(self._names) :]))
        return self._tangent(ctx, *tangents[: self._count])
