"""Functions whose arguments CuPy calls or means otherwise than the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core, composed, dtypes, manipulation
from nervanagpu import creation as _ours
from nervanagpu._core import GPUTensor
from nervanagpu.arguments import choice, shown
from nervanagpu.layout import on_host
from nervanagpu.reductions import operand_of

__all__ = [
    "argmax", "argmin", "asnumpy", "broadcast_arrays", "concatenate", "dstack",
    "hstack", "meshgrid",
    "reshape", "row_stack", "stack", "vstack",
]  # fmt: skip


# ---- joining ---------------------------------------------------------------------------------------------------------


def _joined(function: str, arrays: Any, dtype: Any, casting: str, out: Any) -> list[Any]:
    """The arrays in the dtype that is wanted. TypeError where `casting` does not let one become it."""
    parts = [operand_of(a) for a in arrays]
    if out is not None and dtype is not None:
        raise TypeError(f"{function}: out and dtype: needs one of them")
    wanted = dtype if dtype is not None else None if out is None else out.dtype
    if wanted is None:
        return parts
    kind = _core.dtype(wanted)
    choice(function, "casting", casting, ("no", "equiv", "safe", "same_kind", "unsafe"))
    for k, p in enumerate(parts):
        if not dtypes.can_cast(p.dtype, kind, casting):
            raise TypeError(f"{function}: arrays[{k}] is {p.dtype}; needs what becomes {kind} ({casting})")
    return [p.astype(kind) for p in parts]


def concatenate(
    tup: Any, axis: int | None = 0, out: GPUTensor | None = None, *, dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> GPUTensor:  # fmt: skip
    """The arrays one behind the other along `axis` (None: each in one row)."""
    return composed.concatenate(_joined("concatenate", tup, dtype, casting, out), axis, out)


def stack(
    tup: Any, axis: int = 0, out: GPUTensor | None = None, *, dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> GPUTensor:  # fmt: skip
    """The arrays along a new axis."""
    return composed.stack(_joined("stack", tup, dtype, casting, out), axis, out)


def vstack(tup: Any, *, dtype: npt.DTypeLike | None = None, casting: str = "same_kind") -> GPUTensor:
    """The arrays one below the other."""
    return manipulation.vstack(_joined("vstack", tup, dtype, casting, None))


row_stack = vstack


def hstack(tup: Any, *, dtype: npt.DTypeLike | None = None, casting: str = "same_kind") -> GPUTensor:
    """The arrays beside each other."""
    return manipulation.hstack(_joined("hstack", tup, dtype, casting, None))


def dstack(tup: Any) -> GPUTensor:
    """The arrays along the third axis."""
    return manipulation.dstack(tup)


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


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> Any:
    """The elements as a NumPy array, by rows or with order F by columns, or written to the array `out`."""
    return a.get(stream, order, out) if isinstance(a, GPUTensor) else on_host(np.asarray(a), order, out)


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
