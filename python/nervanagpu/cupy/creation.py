"""Arrays from shapes and data with CuPy's defaults: float64 unless dtype says otherwise, and an order of their axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation as _ours
from nervanagpu.arrays import memory_order
from nervanagpu.arrays.creation import Shape
from nervanagpu.calls.arguments import choice, host_array, integer, shown

__all__ = [
    "array", "asanyarray", "asarray", "asfortranarray", "copy", "empty", "empty_like", "eye", "full", "full_like",
    "identity", "ones", "ones_like", "tri", "zeros", "zeros_like",
]  # fmt: skip


def _order(function: str, order: object, among: str = "CF") -> str:
    """C for None."""
    if order is None:
        return "C" if "K" not in among else "K"
    if not isinstance(order, str):
        raise TypeError(f"{function}: order is {shown(order)}; needs one of {', '.join(among)}")
    return choice(function, "order", order.upper(), tuple(among))


def _made(function: str, make: Callable[[Any], GPUTensor], shape: Shape, order: object) -> GPUTensor:
    """make(shape), by columns with order F."""
    lengths = _core.shape(shape)
    if _order(function, order) == "C" or len(lengths) < 2:
        return make(lengths)
    return make(lengths[::-1]).T


def empty(shape: Shape, dtype: npt.DTypeLike = float, order: str | None = "C") -> GPUTensor:
    """An array whose elements are undefined."""
    return _made("empty", lambda s: _ours.empty(s, float if dtype is None else dtype), shape, order)


def zeros(shape: Shape, dtype: npt.DTypeLike = float, order: str | None = "C") -> GPUTensor:
    """An array of zeros."""
    return _made("zeros", lambda s: _ours.zeros(s, float if dtype is None else dtype), shape, order)


def ones(shape: Shape, dtype: npt.DTypeLike = float, order: str | None = "C") -> GPUTensor:
    """An array of ones."""
    return _made("ones", lambda s: _ours.ones(s, float if dtype is None else dtype), shape, order)


def full(shape: Shape, fill_value: Any, dtype: npt.DTypeLike | None = None, order: str | None = "C") -> GPUTensor:
    """An array of one value, or of what values broadcast to; dtype None: that of the value."""
    kind = (
        dtype if dtype is not None else fill_value.dtype if hasattr(fill_value, "dtype") else np.array(fill_value).dtype
    )
    out = empty(shape, kind, order)
    out[...] = fill_value
    return out


def _like(function: str, prototype: object, dtype: object, order: object, shape: Shape | None) -> GPUTensor:
    x = asarray(prototype)
    kind = x.dtype if dtype is None else dtype
    lengths = x.shape if shape is None else shape
    return _ours.empty_in(function, x, lengths, kind, _order(function, order, "CFAK"))


def empty_like(
    prototype: object,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "K",
    subok: object = None,
    shape: Shape | None = None,
) -> GPUTensor:
    """An undefined array of the shape and dtype of another; order K: that of its axes in memory."""
    return _like("empty_like", prototype, dtype, order, shape)


def _filled(made: GPUTensor, value: Any) -> GPUTensor:
    made[...] = value
    return made


def zeros_like(
    a: object,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "K",
    subok: object = None,
    shape: Shape | None = None,
) -> GPUTensor:
    """Zeros of the shape and dtype of another."""
    return _filled(_like("zeros_like", a, dtype, order, shape), 0)


def ones_like(
    a: object,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "K",
    subok: object = None,
    shape: Shape | None = None,
) -> GPUTensor:
    """Ones of the shape and dtype of another."""
    return _filled(_like("ones_like", a, dtype, order, shape), 1)


def full_like(
    a: object,
    fill_value: object,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "K",
    subok: object = None,
    shape: Shape | None = None,
) -> GPUTensor:
    """`fill_value` in the shape and dtype of another."""
    return _filled(_like("full_like", a, dtype, order, shape), fill_value)


def eye(N: int, M: int | None = None, k: int = 0, dtype: npt.DTypeLike = float, order: str | None = "C") -> GPUTensor:
    """A matrix of ones on the diagonal k and zeros elsewhere."""
    kind = float if dtype is None else dtype
    if _order("eye", order) == "F":
        return _ours.eye(N if M is None else M, N, -k, kind).T
    return _ours.eye(N, M, k, kind)


def identity(n: int, dtype: npt.DTypeLike = float) -> GPUTensor:
    """A square matrix of ones on the diagonal."""
    return _ours.identity(n, float if dtype is None else dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: npt.DTypeLike = float) -> GPUTensor:
    """Ones on and below the diagonal k, zeros above."""
    from nervanagpu.math import algebra

    return algebra.tri(N, M, k, float if dtype is None else dtype)


def copy(a: object, order: str | None = "K") -> GPUTensor:
    """A copy."""
    x = asarray(a)
    return _filled(_like("copy", x, None, order, None), x)


def _device_array(obj: object) -> object:
    """A tensor of what says that it lies on the device; anything else as it is."""
    if hasattr(obj, "__cupy_get_ndarray__"):
        return obj.__cupy_get_ndarray__()
    if hasattr(obj, "__cuda_array_interface__"):
        from nervanagpu.arrays.exchange import from_cuda_array

        return from_cuda_array(obj)
    return obj


def array(
    obj: object,
    dtype: npt.DTypeLike | None = None,
    copy: bool | None = True,
    order: str | None = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> GPUTensor:
    """An array of data of the host or the device. copy=False and None: x itself where it can be.

    ValueError where copy is False and one is needed.
    """
    wanted = _order("array", order, "CFAK")
    if not isinstance(obj, GPUTensor):
        obj = _device_array(obj)
    if isinstance(obj, GPUTensor):
        x = obj if dtype is None or obj.dtype == _core.dtype(dtype) else obj.astype(dtype)
        lies = memory_order.lies("array", x, wanted) or wanted == "A"
        if copy is False and (x is not obj or not lies):
            raise ValueError("array: copy is False, but the dtype or order needs one (unable to avoid copy)")
        if copy or not lies:
            x = _filled(_like("array", x, None, order, None), x)
    else:
        by_columns = wanted == "F"
        if wanted in "KA" and isinstance(obj, np.ndarray):
            by_columns = bool(obj.flags.f_contiguous and not obj.flags.c_contiguous)
        x = _ours.array(host_array("obj", obj).T, dtype).T if by_columns else _ours.array(obj, dtype)
    least = integer("array", "ndmin", ndmin, 0, 32)
    return x[(None,) * (least - x.ndim)] if x.ndim < least else x


def asarray(
    a: object, dtype: npt.DTypeLike | None = None, order: str | None = None, *, copy: bool | None = None,
    blocking: bool = False,
) -> GPUTensor:  # fmt: skip
    """A tensor as it is, if it has that dtype and order, else a copy."""
    if copy is False and not isinstance(a, GPUTensor):
        raise ValueError("asarray: copy is False; host data needs one")
    return array(a, dtype, None if copy is None else bool(copy), "K" if order is None else order)


asanyarray = asarray


def asfortranarray(a: object, dtype: npt.DTypeLike | None = None) -> GPUTensor:
    """An array that lies by columns: itself where it does; of no axes a row of one, as NumPy's."""
    made = array(a, dtype, None, "F")
    return made if made.ndim else made.reshape(1)
