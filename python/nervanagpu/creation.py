"""Tensors from shapes and from host data."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from nervanagpu import _core, dtypes
from nervanagpu._core import GPUTensor
from nervanagpu.arguments import check_tensors, host_array

Shape = SupportsIndex | Sequence[SupportsIndex]

FLOAT32 = np.dtype(np.float32)


def _made(make: Callable[..., GPUTensor], *args: Any) -> GPUTensor:
    """make(*args); where there is no room once more, when the garbage collector has freed tensors."""
    try:
        return make(*args)
    except MemoryError:
        gc.collect()
    return make(*args)


def named(tensor: GPUTensor, name: str | None) -> GPUTensor:
    """`tensor`, with a name for messages."""
    if name is not None:
        tensor.name = name
    return tensor


def array(ary: npt.ArrayLike, dtype: npt.DTypeLike | None = None, name: str | None = None) -> GPUTensor:
    """A copy of `ary` (any array-like) on the device, row-major.

    It keeps its dtype unless `dtype` says otherwise, and is then converted as `ndarray.astype` does. TypeError for a
    dtype that tensors cannot hold (complex, object, ...). "bfloat16" needs no package: without ml_dtypes the elements
    are float32 on the host and rounded on the device.
    """
    if isinstance(ary, GPUTensor):
        copy = ary.copy() if dtype is None else ary.astype(dtype).copy()
        return named(copy, name)
    bare = dtype is not None and isinstance(_core.dtype(dtype), str)  # bfloat16 without ml_dtypes
    host = host_array("ary", ary)
    if dtype is not None and not hasattr(ary, "dtype"):
        host = dtypes.from_list(ary, _core.dtype(dtype))
    if bare:
        tensor = _made(_core.empty, host.shape, dtype)
        _core.nn_convert(array(host, np.float32), tensor, "nearest", 0, 0, 0, None)
        return named(tensor, name)
    tensor = _made(_core.empty, host.shape, host.dtype if dtype is None else dtype)
    try:
        converted = host.astype(tensor.dtype, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(
            f"array: ary has dtype {host.dtype}; needs elements that become {tensor.dtype} ({error})"
        ) from None
    tensor.set(converted)
    return named(tensor, name)


def empty(shape: Shape, dtype: npt.DTypeLike = FLOAT32, name: str | None = None) -> GPUTensor:
    """A tensor whose elements are undefined. MemoryError if the device has no room; ValueError: a negative length."""
    return named(_made(_core.empty, shape, dtype), name)


def full(shape: Shape, value: float, dtype: npt.DTypeLike = FLOAT32, name: str | None = None) -> GPUTensor:
    """A tensor of one value, which 64-bit integers hold exactly. OverflowError if `dtype` cannot hold it."""
    return named(_made(_core.full, shape, value, dtype), name)


def zeros(shape: Shape, dtype: npt.DTypeLike = FLOAT32, name: str | None = None) -> GPUTensor:
    """A tensor of zeros."""
    return full(shape, 0.0, dtype, name)


def ones(shape: Shape, dtype: npt.DTypeLike = FLOAT32, name: str | None = None) -> GPUTensor:
    """A tensor of ones."""
    return full(shape, 1.0, dtype, name)


def pinned(shape: Shape, dtype: npt.DTypeLike = FLOAT32) -> npt.NDArray[Any]:
    """An undefined NumPy array in page-locked host memory, which `set` and `array` read at the full speed of the bus.

    On the emulator an ordinary array. MemoryError if the host has no room. Fill it in place: `a[...] = data`.
    """
    return _core.pinned(shape, dtype)


def empty_like(other: GPUTensor, name: str | None = None) -> GPUTensor:
    """An undefined, contiguous tensor of the shape and dtype of `other`."""
    check_tensors("empty_like", other=other)
    return empty(other.shape, other.dtype, name)


def zeros_like(other: GPUTensor, name: str | None = None) -> GPUTensor:
    """Zeros of the shape and dtype of `other`."""
    check_tensors("zeros_like", other=other)
    return zeros(other.shape, other.dtype, name)


def wrap(ptr: int, shape: Shape, dtype: npt.DTypeLike, strides: Shape | None = None) -> GPUTensor:
    """A tensor over memory of the caller's, who keeps it alive; `strides` in elements, row-major if not given."""
    lengths = _core.shape(shape)
    if strides is None:
        steps = [1]
        for length in reversed(lengths[1:]):
            steps.insert(0, steps[0] * max(length, 1))
        strides = steps[: len(lengths)]
    return _core.wrap(ptr, lengths, strides, dtype)
