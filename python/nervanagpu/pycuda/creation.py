"""New arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu.calls.protocols import AllocatorLike, StreamLike
from nervanagpu.pycuda import driver
from nervanagpu.pycuda.array_class import GPUArray, Shape

__all__ = [
    "arange", "empty", "empty_like", "ones", "ones_like", "to_gpu", "to_gpu_async", "zeros", "zeros_like",
]  # fmt: skip


def to_gpu(ary: Any, allocator: AllocatorLike = None, stream: StreamLike = None) -> GPUArray:
    """A copy of a host array, by columns if that lies so."""
    host = np.asarray(ary)
    columns = host.flags.f_contiguous and not host.flags.c_contiguous
    out = GPUArray(host.shape, host.dtype, allocator, order="F" if columns else "C")
    out.set(host, stream)
    return out


def to_gpu_async(ary: Any, allocator: AllocatorLike = None, stream: StreamLike = None) -> GPUArray:
    """to_gpu, after the work of `stream`."""
    return to_gpu(ary, allocator, stream)


def empty(
    shape: Shape, dtype: npt.DTypeLike = np.float64, allocator: AllocatorLike = None, order: str = "C"
) -> GPUArray:
    """An undefined array."""
    return GPUArray(shape, dtype, allocator, order=order)


def zeros(
    shape: Shape, dtype: npt.DTypeLike = np.float64, allocator: AllocatorLike = None, order: str = "C"
) -> GPUArray:
    """An array of zeros."""
    out = GPUArray(shape, dtype, allocator, order=order)
    driver.memset_d8(out.gpudata, 0, out.nbytes)
    return out


def ones(
    shape: Shape, dtype: npt.DTypeLike = np.float64, allocator: AllocatorLike = None, order: str = "C"
) -> GPUArray:
    """An array of ones."""
    return GPUArray(shape, dtype, allocator, order=order).fill(1)


def empty_like(other_ary: GPUArray, dtype: npt.DTypeLike | None = None, order: str = "K") -> GPUArray:
    """An undefined array of the shape, dtype and order of another."""
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"empty_like: order is {order!r}; needs C, F, A or K")
    flags = other_ary.flags
    columns = order == "F" or (order in "AK" and flags.f_contiguous and not flags.c_contiguous)
    kind = np.dtype(other_ary.dtype if dtype is None else dtype)
    strides = None
    if order == "K" and not flags.forc and 0 not in other_ary.shape:
        # As NumPy: the axes keep their order, and the gaps go.
        host = np.lib.stride_tricks.as_strided(np.empty(1, other_ary.dtype), other_ary.shape, other_ary.strides)
        strides = np.empty_like(host, kind).strides
    return GPUArray(other_ary.shape, kind, getattr(other_ary, "allocator", None), strides=strides,
                    order="F" if columns else "C")  # fmt: skip


def zeros_like(other_ary: GPUArray, dtype: npt.DTypeLike | None = None, order: str = "K") -> GPUArray:
    """Zeros of the shape, dtype and order of another array."""
    out = empty_like(other_ary, dtype, order)
    driver.memset_d8(out.gpudata, 0, out.nbytes)
    return out


def ones_like(other_ary: GPUArray, dtype: npt.DTypeLike | None = None, order: str = "K") -> GPUArray:
    """Ones of the shape, dtype and order of another array."""
    return empty_like(other_ary, dtype, order).fill(1)


def arange(*args: Any, dtype: npt.DTypeLike | None = None, **more: Any) -> GPUArray:
    """numpy.arange, with start, stop and step."""
    names = [more.pop(name) for name in ("start", "stop", "step") if name in more]
    allocator = more.pop("allocator", None)
    more.pop("stream", None)
    if more:
        raise TypeError(f"arange: {', '.join(more)} is not known; needs start, stop, step, dtype")
    given = list(args)
    if given and isinstance(given[-1], np.dtype | type):
        dtype = given.pop()
    return to_gpu(np.arange(*given, *names, dtype=dtype), allocator)
