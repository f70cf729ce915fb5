"""Functions whose arguments CuPy calls or means otherwise than the library."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import composed, manipulation
from nervanagpu import creation as _ours
from nervanagpu._core import GPUTensor
from nervanagpu.arguments import choice, shown
from nervanagpu.cupy.creation import asarray
from nervanagpu.layout import on_host
from nervanagpu.protocols import StreamLike
from nervanagpu.reductions import operand_of

__all__ = [
    "argmax", "argmin", "asnumpy", "broadcast_arrays", "meshgrid", "reshape", "row_stack",
]  # fmt: skip


# ---- joining ---------------------------------------------------------------------------------------------------------


def row_stack(tup: Any, *, dtype: npt.DTypeLike | None = None, casting: str = "same_kind") -> GPUTensor:
    """vstack under the name that NumPy deprecates."""
    warnings.warn("row_stack is deprecated; needs the name vstack", DeprecationWarning, stacklevel=2)
    return manipulation.vstack(tup, dtype=dtype, casting=casting)


def broadcast_arrays(*args: Any) -> tuple[GPUTensor, ...]:
    """Views of one shape."""
    return tuple(manipulation.broadcast_arrays(*args))


def meshgrid(*xi: Any, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> tuple[GPUTensor, ...]:
    """The coordinates of a grid from those along its axes."""
    return tuple(_ours.meshgrid(*xi, indexing=indexing, sparse=sparse, copy=copy))


# ---- shapes ----------------------------------------------------------------------------------------------------------


def _order(function: str, order: Any, among: str) -> str:
    if not isinstance(order, str):
        raise TypeError(f"{function}: order is {shown(order)}; needs one of {', '.join(among)}")
    return choice(function, "order", order.upper(), tuple(among))


def reshape(
    a: Any, newshape: Any = None, order: str = "C", *, shape: Any = None, copy: bool | None = None
) -> GPUTensor:
    """The elements in another shape; a view where it can be one."""
    x, lengths = operand_of(a), newshape if shape is None else shape
    return x.reshape(lengths, order=_order("reshape", order, "CFA"), copy=copy)


def asnumpy(a: Any, stream: StreamLike = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> Any:
    """The elements as a NumPy array, by rows or with order F by columns, or written to the array `out`."""
    on_device = isinstance(a, GPUTensor) or hasattr(a, "__cuda_array_interface__")
    return asarray(a).get(stream, order, out) if on_device else on_host(np.asarray(a), order, out)


# ---- numbers ---------------------------------------------------------------------------------------------------------


def argmax(
    a: Any, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: GPUTensor | None = None,
    keepdims: bool = False,
) -> GPUTensor:  # fmt: skip
    """Where the largest element along `axis` stands; dtype: of the places."""
    return composed.argmax(a, axis, out, keepdims=keepdims, dtype=dtype)


def argmin(
    a: Any, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: GPUTensor | None = None,
    keepdims: bool = False,
) -> GPUTensor:  # fmt: skip
    """Where the smallest element along `axis` stands; dtype: of the places."""
    return composed.argmin(a, axis, out, keepdims=keepdims, dtype=dtype)
