"""skcuda.misc: starting, elementwise functions and reductions, and vectors along the rows or columns of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, indexing
from nervanagpu.arrays.creation import Shape, zeros_like
from nervanagpu.calls.arguments import integer, tensor
from nervanagpu.calls.protocols import AllocatorLike, StreamLike
from nervanagpu.math import composed, elementwise, reductions
from nervanagpu.math.elementwise import add, divide, multiply, subtract
from nervanagpu.math.reductions import max, mean, min, sum
from nervanagpu.math.scans import cumsum
from nervanagpu.skcuda import arrays

argmax, argmin = composed.argmax, composed.argmin


def init(allocator: AllocatorLike = None) -> None:
    """Open the device."""
    _core.device()


def shutdown() -> None:
    """Wait for all work."""
    _core.synchronize()


init_context, done_context = init, shutdown


def iscomplextype(x: npt.DTypeLike) -> bool:
    """Whether a dtype is complex."""
    return np.dtype(x).kind == "c"


def isdoubletype(x: npt.DTypeLike) -> bool:
    """Whether a dtype is float64 or complex128."""
    return np.dtype(x) in (np.float64, np.complex128)


def get_compute_capability(dev: object = None) -> float:
    """9.0, for example."""
    digits = _core.device().arch[3:].rstrip("af")
    return int(digits) / 10


def zeros(shape: Shape, dtype: npt.DTypeLike, order: str = "C", allocator: AllocatorLike = None) -> GPUTensor:
    """A tensor of zeros; rows first, whatever the order."""
    return creation.zeros(shape, dtype)


def ones(shape: Shape, dtype: npt.DTypeLike, order: str = "C", allocator: AllocatorLike = None) -> GPUTensor:
    """A tensor of ones; rows first, whatever the order."""
    return creation.ones(shape, dtype)


def ones_like(a: GPUTensor) -> GPUTensor:
    """A tensor of ones of this shape and dtype."""
    return creation.ones(a.shape, a.dtype)


def inf(shape: Shape, dtype: npt.DTypeLike, order: str = "C", allocator: AllocatorLike = None) -> GPUTensor:
    """A tensor of infinities."""
    return creation.full(shape, np.inf, dtype)


def maxabs(x_gpu: GPUTensor) -> GPUTensor:
    """The largest absolute value, one element."""
    return reductions.max(elementwise.absolute(tensor("maxabs", "x_gpu", x_gpu))).reshape(1)


def var(
    x_gpu: GPUTensor, ddof: int = 0, axis: int | None = None, stream: StreamLike = None, keepdims: bool = False
) -> GPUTensor:
    """The variance along `axis`."""
    return reductions.var(x_gpu, axis, ddof=ddof, keepdims=keepdims)


def std(
    x_gpu: GPUTensor, ddof: int = 0, axis: int | None = None, stream: StreamLike = None, keepdims: bool = False
) -> GPUTensor:
    """The standard deviation along `axis`."""
    return reductions.std(x_gpu, axis, ddof=ddof, keepdims=keepdims)


def diff(x_gpu: GPUTensor) -> GPUTensor:
    """x[1:] - x[:-1] of one axis."""
    if tensor("diff", "x_gpu", x_gpu).ndim != 1:
        raise ValueError(f"diff: x_gpu has shape {x_gpu.shape}; needs one axis")
    return x_gpu[1:] - x_gpu[:-1]


def tile(a_gpu: GPUTensor, reps: int | Sequence[int]) -> GPUTensor:
    """Copies of a matrix or vector beside and below each other."""
    counts = [integer("tile", "reps", r, 0) for r in (reps if isinstance(reps, Sequence) else [reps])]
    shape = (1,) * (len(counts) - tensor("tile", "a_gpu", a_gpu).ndim) + a_gpu.shape
    counts = [1] * (len(shape) - len(counts)) + counts
    out = creation.empty([r * n for r, n in zip(counts, shape, strict=True)], a_gpu.dtype)
    if out.size:
        paired = out.reshape([k for pair in zip(counts, shape, strict=True) for k in pair])
        paired[...] = a_gpu.copy().reshape([k for n in shape for k in (1, n)])
    return out


def get_by_index(src_gpu: GPUTensor, ind: object) -> GPUTensor:
    """The elements of a vector at these places."""
    return indexing.take(src_gpu, ind if isinstance(ind, GPUTensor) else creation.array(np.asarray(ind)), 0)


def set_by_index(dest_gpu: GPUTensor, ind: Any, src_gpu: Any, ind_which: str = "dest") -> None:
    """dest[ind] = src, or with ind_which="src" dest[...] = src[ind]."""
    if ind_which == "src":
        dest_gpu[...] = get_by_index(src_gpu, ind)
    else:
        dest_gpu[ind if isinstance(ind, GPUTensor) else creation.array(np.asarray(ind))] = src_gpu


def _along(function: str, x: GPUTensor, a: GPUTensor, axis: int | None) -> tuple[GPUTensor, GPUTensor]:
    """A matrix, and a vector as a column (axis 0) or a row (axis 1) of it."""
    if tensor(function, "x_gpu", x).ndim != 2 or tensor(function, "a_gpu", a).ndim > 2:
        raise ValueError(f"{function}: x_gpu has shape {x.shape} and a_gpu {a.shape}; needs a matrix and a vector")
    if a.ndim == 1:
        if axis is None:
            axis = 1 if a.shape[0] == x.shape[1] else 0
        a = a[:, None] if integer(function, "axis", axis, 0, 1) == 0 else a[None, :]
    return x, a


def _stored(result: GPUTensor, out: GPUTensor | None) -> GPUTensor:
    if out is None:
        return result
    out[...] = result
    return out


def add_matvec(
    x_gpu: GPUTensor, a_gpu: GPUTensor, axis: int | None = None, out: GPUTensor | None = None, stream: StreamLike = None
) -> GPUTensor:
    """x plus a vector, a column (axis 0) or a row (axis 1)."""
    return _stored(elementwise.add(*_along("add_matvec", x_gpu, a_gpu, axis)), out)


def mult_matvec(
    x_gpu: GPUTensor, a_gpu: GPUTensor, axis: int | None = None, out: GPUTensor | None = None, stream: StreamLike = None
) -> GPUTensor:
    """x times a vector, a column (axis 0) or a row (axis 1)."""
    return _stored(elementwise.multiply(*_along("mult_matvec", x_gpu, a_gpu, axis)), out)


def div_matvec(
    x_gpu: GPUTensor, a_gpu: GPUTensor, axis: int | None = None, out: GPUTensor | None = None, stream: StreamLike = None
) -> GPUTensor:
    """x over a vector, a column (axis 0) or a row (axis 1)."""
    return _stored(elementwise.divide(*_along("div_matvec", x_gpu, a_gpu, axis)), out)


__all__ = [
    "add",
    "add_matvec",
    "argmax",
    "argmin",
    "cumsum",
    "diff",
    "div_matvec",
    "divide",
    "done_context",
    "get_by_index",
    "get_compute_capability",
    "inf",
    "init",
    "init_context",
    "iscomplextype",
    "isdoubletype",
    "max",
    "maxabs",
    "mean",
    "min",
    "mult_matvec",
    "multiply",
    "ones",
    "ones_like",
    "set_by_index",
    "shutdown",
    "std",
    "subtract",
    "sum",
    "tile",
    "var",
    "zeros",
    "zeros_like",
]


arrays.give(globals())
