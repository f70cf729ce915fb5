"""What kernels made from expressions take as arrays: a GPUArray, a tensor, or what has __cuda_array_interface__."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nervanagpu._core import GPUTensor


def dense_strides(shape: tuple[int, ...], itemsize: int, order: str = "C") -> tuple[int, ...]:
    """Of an array without gaps, in bytes."""
    out = [0] * len(shape)
    step = itemsize
    for axis in reversed(range(len(shape))) if order == "C" else range(len(shape)):
        out[axis] = step
        step *= max(shape[axis], 1)
    return tuple(out)


def is_dense(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int, order: str) -> bool:
    """Whether elements follow each other, by rows ("C") or by columns ("F")."""
    if 0 in shape:
        return True
    wanted = dense_strides(shape, itemsize, order)
    return all(n == 1 or s == w for n, s, w in zip(shape, strides, wanted, strict=True))


@dataclass(frozen=True)
class VectorView:
    """Device memory as an array. strides: bytes. owner: what keeps the memory."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    owner: Any

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def order(self) -> str:
        """ "C", "F", "both", or "" where there are gaps."""
        rows = is_dense(self.shape, self.strides, self.dtype.itemsize, "C")
        columns = is_dense(self.shape, self.strides, self.dtype.itemsize, "F")
        return "both" if rows and columns else "C" if rows else "F" if columns else ""

    @property
    def dense(self) -> bool:
        return self.order != ""

    @staticmethod
    def of(given: object) -> VectorView | None:
        """None: it is no array."""
        from nervanagpu.pycuda.array_class import GPUArray

        if isinstance(given, GPUArray):
            return VectorView(given.ptr, given.shape, given.strides, given.dtype, given)
        if isinstance(given, GPUTensor) or hasattr(given, "__cuda_array_interface__"):
            facts = given.__cuda_array_interface__
            dtype: np.dtype[Any] = np.dtype(facts["typestr"])
            shape = tuple(facts["shape"])
            strides = facts.get("strides") or dense_strides(shape, dtype.itemsize)
            return VectorView(int(facts["data"][0]), shape, tuple(strides), dtype, given)
        return None

    @staticmethod
    def required(what: str, given: object) -> VectorView:
        """TypeError: it is no array."""
        found = VectorView.of(given)
        if found is None:
            raise TypeError(f"{what} is a {type(given).__name__}; needs a GPUArray")
        return found


def pointer_of(what: str, given: Any) -> int:
    """The address that a DeviceAllocation or a number is. TypeError for what is none."""
    if isinstance(given, float | str | np.ndarray):
        raise TypeError(f"{what} is a {type(given).__name__}; needs a GPUArray or an allocation")
    try:
        return int(given)
    except (TypeError, ValueError):
        raise TypeError(f"{what} is a {type(given).__name__}; needs a GPUArray or an allocation") from None
