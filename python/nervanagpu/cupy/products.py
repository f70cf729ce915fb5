"""Products with the dtypes of NumPy's: those of bytes are bytes, and `out` must be what the result is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.linalg import products
from nervanagpu.math.reductions import operand_of

__all__ = ["dot", "matmul"]


def _stored(function: str, made: GPUTensor, out: object) -> GPUTensor:
    if out is None:
        return made
    if not isinstance(out, GPUTensor) or (out.dtype, out.shape) != (made.dtype, made.shape) or not out.contiguous:
        raise ValueError(f"{function}: out is {out!r:.60}; needs {made.dtype} {made.shape}, contiguous")
    _core.assign(out, made)
    return out


def dot(a: object, b: object, out: GPUTensor | None = None) -> GPUTensor:
    """Sums of products over the last axis of a and the last but one of b. ValueError for an `out` of another dtype."""
    return _stored("dot", products._numpy_dot(operand_of(a), operand_of(b)), out)


def matmul(
    x1: Any, x2: Any, /, out: GPUTensor | None = None, *, dtype: npt.DTypeLike | None = None, **more: Any
) -> GPUTensor:
    """The matrix product; axes before the last two are a batch. more: axes, signature, casting, order."""
    a, b = operand_of(x1), operand_of(x2)
    if dtype is None and more.get("signature") is None and more.get("sig") is None:
        dtype = np.result_type(a.dtype, b.dtype)
    return products.matmul(a, b, out=out, dtype=dtype, **more)
