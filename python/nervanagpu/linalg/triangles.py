"""Parts and orders of matrices: triangles, diagonals, eigenvalues by size."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, indexing
from nervanagpu.calls.arguments import integer
from nervanagpu.calls.placement import per_device
from nervanagpu.linalg.operands import as_tensor
from nervanagpu.math import elementwise, reductions
from nervanagpu.math.elementwise import Operand


@per_device(maxsize=32)
def counted(length: int) -> GPUTensor:
    """0, 1, ..., length - 1, int32."""
    return creation.array(np.arange(length, dtype=np.int32))


def eye(n: int, dtype: npt.DTypeLike) -> GPUTensor:
    """The (n, n) matrix of ones on the diagonal."""
    return elementwise.equal(counted(n)[:, None], counted(n)).astype(dtype)


def triangle(x: GPUTensor, upper: bool, offset: int = 0) -> GPUTensor:
    """The upper or the lower triangle with the diagonal that is `offset` columns to the right, the rest 0."""
    rows, columns = counted(x.shape[-2])[:, None], counted(x.shape[-1])
    rows = rows + offset
    inside = elementwise.less_equal(rows, columns) if upper else elementwise.greater_equal(rows, columns)
    return elementwise.where(inside, x, creation.zeros((), x.dtype))


def diagonal(x: Operand, /, *, offset: int = 0) -> GPUTensor:
    """The diagonals of the matrices in the last two axes, `offset` columns to the right (negative: rows below).

    A view of a contiguous tensor, to which one may write; otherwise a copy.
    """
    tensor = as_tensor("diagonal", "x", x)
    offset = integer("diagonal", "offset", offset)
    if tensor.ndim < 2:
        raise ValueError(f"diagonal: x has shape {tensor.shape}; needs 2 or more axes")
    *stack, rows, columns = tensor.shape
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    if not count or not tensor.size:
        return creation.empty((*stack, count), tensor.dtype)
    flat = (tensor if tensor.contiguous else tensor.copy()).reshape(*stack, rows * columns)
    first = offset if offset >= 0 else -offset * columns
    return flat[..., first : first + (count - 1) * (columns + 1) + 1 : columns + 1]


def trace(x: Operand, /, *, offset: int = 0, dtype: npt.DTypeLike | None = None) -> GPUTensor:
    """The sums of these diagonals; of integers in int64 or uint64, unless `dtype` says otherwise."""
    found = diagonal(x, offset=offset)
    return reductions.sum(found if dtype is None else found.astype(dtype), -1)


def signs(w: GPUTensor) -> GPUTensor:
    """-1, 0 and 1."""
    return elementwise.sgn(w)


def _gathered(x: GPUTensor, order: npt.NDArray[np.int64]) -> GPUTensor:
    """x[..., order[..., i]] of stacks: x (..., n) or, by columns, (..., m, n); order (..., n)."""
    *stack, n = order.shape
    columns = x if x.ndim == order.ndim else x.transpose(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    width = columns.size // order.size
    rows = (columns if columns.contiguous else columns.copy()).reshape(order.size, width)
    starts = np.arange(math.prod(stack)).reshape(*stack, 1) * n
    picked = indexing.take(rows, creation.array((order + starts).reshape(-1)), 0).copy().reshape(*columns.shape)
    return picked if x.ndim == order.ndim else picked.transpose(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)


def by_size(w: GPUTensor, v: GPUTensor) -> tuple[GPUTensor, GPUTensor]:
    """Eigenvalues with the largest absolute value first, and the columns of v in that order."""
    if not w.size:
        return w, v
    order = np.argsort(-np.abs(w.get()), axis=-1, kind="stable")
    return _gathered(w, order), _gathered(v, order)


def sizes(w: GPUTensor) -> GPUTensor:
    """|w|, the largest first."""
    return creation.array(-np.sort(-np.abs(w.get()), axis=-1))
