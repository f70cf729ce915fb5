"""cupy.ndarray: the class of tensors, which can be called."""

from __future__ import annotations

from typing import Any

from nervanagpu._core import GPUTensor
from nervanagpu.arrays.layout import empty_at


class _Class(type):
    """Of tensors, as isinstance sees it."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, GPUTensor)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, GPUTensor) or type.__subclasscheck__(cls, other)

    def __getattr__(cls, name: str) -> Any:
        return getattr(GPUTensor, name)


class ndarray(metaclass=_Class):
    """ndarray(shape, dtype=float, memptr=None, strides=None, order="C"): an undefined array, or one over `memptr`.

    strides: in bytes. What it makes is a GPUTensor; isinstance knows.
    """

    def __new__(  # type: ignore[misc]
        cls, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None, order: str = "C"
    ) -> GPUTensor:
        from nervanagpu.cupy.creation import empty

        kind = float if dtype is None else dtype
        if memptr is None and strides is None:
            return empty(shape, kind, order)
        return empty_at(shape, kind, memptr, strides)
