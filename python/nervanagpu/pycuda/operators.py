"""Operators of GPUArray, from one table: elementwise, or of the library's reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from nervanagpu.calls.protocols import AllocatorLike, StreamLike
from nervanagpu.pycuda import compute

if TYPE_CHECKING:
    from nervanagpu.pycuda.array_class import GPUArray

_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power",
    "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
_COMPARED = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
_UNARY = {"neg": "negative", "invert": "invert", "abs": "absolute"}


def _operand(x: object) -> bool:
    from nervanagpu.pycuda.array_class import GPUArray

    return isinstance(x, GPUArray | bool | int | float | complex | np.generic) or (
        isinstance(x, np.ndarray) and x.ndim == 0
    )


def _binary(name: str) -> Callable[[Any, Any], GPUArray]:
    def operator(self: Any, other: object) -> GPUArray:
        return compute.apply(name, self, other) if _operand(other) else NotImplemented

    return operator


def _swapped(name: str) -> Callable[[Any, Any], GPUArray]:
    def operator(self: Any, other: object) -> GPUArray:
        return compute.apply(name, other, self) if _operand(other) else NotImplemented

    return operator


def _in_place(name: str) -> Callable[[Any, Any], GPUArray]:
    def operator(self: Any, other: object) -> GPUArray:
        return compute.apply(name, self, other, out=self) if _operand(other) else NotImplemented

    return operator


def _unary(name: str) -> Callable[[Any], GPUArray]:
    def operator(self: Any) -> GPUArray:
        return compute.apply(name, self)

    return operator


def _any(self: Any, stream: StreamLike = None, allocator: AllocatorLike = None) -> GPUArray:
    """Whether an element is not 0: an array of no axes."""
    from nervanagpu.pycuda import array_functions

    return array_functions.any(self, stream, allocator)


def _all(self: Any, stream: StreamLike = None, allocator: AllocatorLike = None) -> GPUArray:
    """Whether no element is 0: an array of no axes."""
    from nervanagpu.pycuda import array_functions

    return array_functions.all(self, stream, allocator)


def install(to: Any) -> None:
    """Gives the class its operators."""
    for short, name in _BINARY.items():
        setattr(to, f"__{short}__", _binary(name))
        setattr(to, f"__r{short}__", _swapped(name))
        setattr(to, f"__i{short}__", _in_place(name))
    for short, name in _COMPARED.items():
        setattr(to, f"__{short}__", _binary(name))
    for short, name in _UNARY.items():
        setattr(to, f"__{short}__", _unary(name))
    to.__pos__ = lambda self: self.copy()
    to.any, to.all = _any, _all
    to.rdiv = _swapped("divide")
