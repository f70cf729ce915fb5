"""How an operator of torch.ops.nervanagpu is entered: kernel, shapes, gradient and autocast by one decorator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from nervanagpu.torch import gradients, native
from nervanagpu.torch.bridge import Unsupported, check_fakes, need

Function = Callable[..., Any]
_REFUSED = "nervanagpu: "  # how the compiled operators begin what they say of their arguments

LIBRARY = torch.library.Library("nervanagpu", "DEF")
_ENTRIES = native.entries()


def operator(
    schema: str, *, fake: Function, compiled: Function, autocast: bool = False
) -> Callable[[Function], Function]:
    """Registers the function below it as `schema` for CPU and CUDA tensors. fake: makes the empty results alone.

    compiled: takes its place where there are compiled operators, which it calls.
    autocast: in a region of torch.autocast, floats become its dtype first.
    The function that comes back raises Unsupported for operands that are not ours.
    """

    def register(in_python: Function) -> Function:
        name = schema.partition("(")[0]
        kernel = _refusing_as_torch(in_python, schema) if native.why_not else compiled
        gradients.KERNELS[name] = kernel
        if autocast:
            gradients.CASTING.add(name)
        LIBRARY.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
        for key in ("CPU", "CUDA"):
            LIBRARY.impl(name, _ENTRIES.of_device(name, kernel) if _ENTRIES else kernel, key)
        torch.library.register_fake(f"nervanagpu::{name}", _checking(fake), lib=LIBRARY)
        if autocast:
            for device in ("cpu", "cuda"):
                LIBRARY.impl(name, _casting(name, device), f"Autocast{device.upper()}")
        return in_python if native.why_not else _saying_unsupported(compiled)

    return register


def _refusing_as_torch(in_python: Function, schema: str) -> Function:
    """The same, but what the library refuses is torch's RuntimeError, as the compiled operators have it."""
    arguments = torch._C.parse_schema(schema).arguments
    tensors = [(i, a.name) for i, a in enumerate(arguments) if isinstance(a.type, torch.TensorType)]

    def run(*args: object, **kwargs: Any) -> object:
        native.precision_number(kwargs.get("precision"))
        for i, name in tensors:
            need(args[i] is not None, f"an operand is None: {name}; needs a tensor")
        try:
            return in_python(*args, **kwargs)
        except (ValueError, TypeError, MemoryError) as error:
            raise RuntimeError(f"{_REFUSED}{error}") from error

    return run


def _saying_unsupported(compiled: Function) -> Function:
    """The same, but what is refused is Unsupported."""

    def run(*args: object, **kwargs: object) -> object:
        try:
            return compiled(*args, **kwargs)
        except RuntimeError as error:
            why = why_refused(error)
            if why is None or isinstance(error, Unsupported):
                raise
            raise Unsupported(why) from None

    return run


def why_refused(error: RuntimeError) -> str | None:
    """Why operands are not ours, if that is what the error says."""
    text = str(error)
    ours = type(error) in (RuntimeError, Unsupported) and text.startswith(_REFUSED)
    return text.removeprefix(_REFUSED) if ours else None


def _checking(fake: Function) -> Function:
    def run(*args: object, **kwargs: Any) -> object:
        check_fakes(*(t for t in tree_leaves(args) if isinstance(t, torch.Tensor)))
        native.precision_number(kwargs.get("precision"))
        return fake(*args, **kwargs)

    return run


def _casting(name: str, device: str) -> Function:
    def run(*args: object, **kwargs: object) -> object:
        operands = gradients.autocast(args, device)
        with torch.autocast(device, enabled=False):
            return getattr(torch.ops.nervanagpu, name)(*operands, **kwargs)

    return run


def derivative(
    name: str, setup: Function, tangent: Function, record: Function | None = None
) -> Callable[[Function], Function]:
    """Registers the function below it as the operator's backward formula: gradients.register says of what kind."""

    def enter(backward: Function) -> Function:
        kernel = gradients.register(name, setup, backward, tangent, record)
        LIBRARY.impl(name, _ENTRIES.of_autograd(name, kernel) if _ENTRIES else kernel, "Autograd", with_keyset=True)
        return backward

    return enter
