"""How an operator of torch.ops.nervanagpu is entered: kernel, shapes, gradient and autocast by one decorator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Function = Callable[..., Any]

LIBRARY = torch.library.Library("nervanagpu", "DEF")


def operator(schema: str, *, fake: Function, autocast: bool = False) -> Callable[[Function], Function]:
    """Registers the function below it as `schema` for CPU and CUDA tensors. fake: makes the empty results alone.

    autocast: in a region of torch.autocast, floats become its dtype first.
    """

    def register(kernel: Function) -> Function:
        name = schema.partition("(")[0]
        LIBRARY.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
        for key in ("CPU", "CUDA"):
            LIBRARY.impl(name, kernel, key)
        torch.library.register_fake(f"nervanagpu::{name}", fake, lib=LIBRARY)
        if autocast:
            for device in ("cpu", "cuda"):
                LIBRARY.impl(name, _casting(name, device), f"Autocast{device.upper()}")
        return kernel

    return register


def _casting(name: str, device: str) -> Function:
    def cast(value: Any, dtype: torch.dtype) -> Any:
        if isinstance(value, list | tuple):
            return [cast(v, dtype) for v in value]
        eligible = isinstance(value, torch.Tensor) and value.is_floating_point() and value.device.type == device
        return value.to(dtype) if eligible and value.dtype != torch.float64 else value

    def run(*args: Any, **kwargs: Any) -> Any:
        dtype = torch.get_autocast_dtype(device)
        operands = [cast(a, dtype) for a in args]
        with torch.autocast(device, enabled=False):
            return getattr(torch.ops.nervanagpu, name)(*operands, **kwargs)

    return run


def gradient(name: str, setup: Function) -> Callable[[Function], Function]:
    """Registers the function below it as the operator's formula; setup(ctx, inputs, output) saves what it needs."""

    def register(backward: Function) -> Function:
        torch.library.register_autograd(f"nervanagpu::{name}", backward, setup_context=setup, lib=LIBRARY)
        return backward

    return register
