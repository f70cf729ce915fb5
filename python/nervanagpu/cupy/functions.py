"""Functions whose arguments CuPy calls or means otherwise than the library."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation as _ours
from nervanagpu.arrays import exchange, manipulation
from nervanagpu.arrays.layout import on_host
from nervanagpu.calls.arguments import choice, shown
from nervanagpu.calls.protocols import StreamLike
from nervanagpu.cupy.creation import asarray
from nervanagpu.math import composed, functions, reductions, scans, sorting
from nervanagpu.math.reductions import operand_of

P = ParamSpec("P")
T = TypeVar("T")

__all__ = [
    "argmax", "argmin", "asfarray", "asnumpy", "broadcast_arrays", "cumproduct", "fromDlpack", "meshgrid", "msort",
    "product", "reshape", "round_", "row_stack", "show_config",
]  # fmt: skip


# ---- names that NumPy no longer has ----------------------------------------------------------------------------------


def _renamed(old: str, name: str, function: Callable[P, T]) -> Callable[P, T]:
    def call(*args: P.args, **more: P.kwargs) -> T:
        warnings.warn(f"{old} is deprecated; needs the name {name}", DeprecationWarning, stacklevel=2)
        return function(*args, **more)

    call.__name__, call.__doc__ = old, f"{name} under a name that NumPy no longer has."
    return call


product = _renamed("product", "prod", reductions.prod)
cumproduct = _renamed("cumproduct", "cumprod", scans.cumprod)
round_ = _renamed("round_", "round", functions.round)
fromDlpack = _renamed("fromDlpack", "from_dlpack", exchange.from_dlpack)


def msort(a: Any) -> GPUTensor:
    """sort along the first axis."""
    return sorting.sort(a, axis=0)


def asfarray(a: object, dtype: npt.DTypeLike = np.float64) -> GPUTensor:
    """An array of floats: of `dtype`, of float64 where that is one of integers."""
    return asarray(a, dtype if np.issubdtype(np.dtype(dtype), np.inexact) else np.float64)


def show_config(*, _full: bool = False) -> None:
    """Prints what the library found: devices, drivers, libraries."""
    from nervanagpu.__main__ import doctor

    print(doctor())


# ---- joining ---------------------------------------------------------------------------------------------------------


def row_stack(tup: Any, *, dtype: npt.DTypeLike | None = None, casting: str = "same_kind") -> GPUTensor:
    """vstack under the name that NumPy deprecates."""
    warnings.warn("row_stack is deprecated; needs the name vstack", DeprecationWarning, stacklevel=2)
    return manipulation.vstack(tup, dtype=dtype, casting=casting)


def broadcast_arrays(*args: Any) -> tuple[GPUTensor, ...]:
    """Views of one shape."""
    return tuple(manipulation.broadcast_arrays(*args))


def meshgrid(*xi: object, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> tuple[GPUTensor, ...]:
    """The coordinates of a grid from those along its axes."""
    return tuple(_ours.meshgrid(*xi, indexing=indexing, sparse=sparse, copy=copy))


# ---- shapes ----------------------------------------------------------------------------------------------------------


def _order(function: str, order: object, among: str) -> str:
    if not isinstance(order, str):
        raise TypeError(f"{function}: order is {shown(order)}; needs one of {', '.join(among)}")
    return choice(function, "order", order.upper(), tuple(among))


def reshape(
    a: object, newshape: object = None, order: str = "C", *, shape: object = None, copy: bool | None = None
) -> GPUTensor:
    """The elements in another shape; a view where it can be one."""
    x, lengths = operand_of(a), newshape if shape is None else shape
    return x.reshape(lengths, order=_order("reshape", order, "CFA"), copy=copy)


def asnumpy(
    a: Any, stream: StreamLike = None, order: str = "C", out: Any = None, *, blocking: bool = True
) -> npt.NDArray[Any]:
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
