"""Arrays of pycuda in, arrays of pycuda out: what the functions of these modules, which compute with tensors, are
called by.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.pycuda.gpuarray import GPUArray


class _Memory:
    """A tensor as what an array has its memory from."""

    def __init__(self, tensor: GPUTensor) -> None:
        self.tensor = tensor

    def __int__(self) -> int:
        return self.tensor.ptr


def array_of(tensor: GPUTensor) -> GPUArray:
    """The array over a tensor's memory, which it keeps."""
    _core.evaluate(tensor)
    made = GPUArray(tensor.shape, tensor.dtype, gpudata=_Memory(tensor), strides=tensor.strides)
    made.tensor_of = tensor
    return made


def _parts(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _parts(value)
        else:
            yield value


def _in(value: object) -> object:
    if isinstance(value, GPUArray):
        return value.tensor
    if isinstance(value, list | tuple) and any(isinstance(v, GPUArray) for v in value):
        return type(value)(_in(v) for v in value)
    return value


def _out(value: object, given: list[GPUArray]) -> object:
    if isinstance(value, GPUTensor):
        same = [g for g in given if g.tensor is value]  # what was written in place
        return same[0] if same else array_of(value)
    if isinstance(value, tuple):
        return tuple(_out(v, given) for v in value)
    return value


def of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function for arrays: its results are arrays, unless it was given a tensor."""

    @functools.wraps(function)
    def called(*args: object, **named: object) -> object:
        parts = list(_parts((*args, *named.values())))
        result = function(*map(_in, args), **{k: _in(v) for k, v in named.items()})
        if any(isinstance(p, GPUTensor) for p in parts):
            return result
        return _out(result, [p for p in parts if isinstance(p, GPUArray)])

    return called


def give(module: dict[str, Any]) -> None:
    """Puts the functions that a module lists in `__all__` after of_arrays, but those that another module has
    already.
    """
    for name in module["__all__"]:
        function = module[name]
        if not isinstance(function, type) and callable(function) and not hasattr(function, "__wrapped__"):
            module[name] = of_arrays(function)
