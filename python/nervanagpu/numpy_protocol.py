"""NumPy's own functions on tensors: np.exp(x), np.add.reduce(x, 0), np.concatenate([x, y]) stay on the device.

A function without a counterpart here raises TypeError, as NumPy's protocol has it; `x.get()` gives an array for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nervanagpu import composed, creation, elementwise, functions, indexing, linalg, reductions
from nervanagpu._core import GPUTensor

_UFUNCS: dict[str, Callable[..., GPUTensor]] = {
    name: getattr(elementwise, name)
    for name in (
        "add subtract multiply divide power maximum minimum positive negative absolute fabs sign square reciprocal "
        "sqrt exp exp2 log log2 tanh floor ceil trunc rint isfinite isnan isinf "
        "equal not_equal less less_equal greater greater_equal "
        "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert"
    ).split()
} | {
    name: getattr(functions, name)
    for name in (
        "sin cos tan arcsin arccos arctan arctan2 sinh cosh arcsinh arccosh arctanh expm1 log1p log10 cbrt hypot "
        "signbit copysign floor_divide remainder fmod fmax fmin deg2rad rad2deg left_shift right_shift"
    ).split()
}
_UFUNCS |= {"radians": functions.radians, "degrees": functions.degrees}
_REDUCED = {"add": reductions.sum, "maximum": reductions.max, "minimum": reductions.min}


def _array_ufunc(self: GPUTensor, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **more: Any) -> Any:
    to = out[0] if isinstance(out, tuple) else out
    if to is not None and not isinstance(to, GPUTensor):
        return NotImplemented
    if method == "reduce" and ufunc.__name__ in _REDUCED and not more.keys() - {"axis", "keepdims", "dtype"}:
        if more.get("dtype") is not None:
            return NotImplemented
        return _REDUCED[ufunc.__name__](inputs[0], more.get("axis", 0), to, keepdims=more.get("keepdims", False))
    if method == "at" and ufunc is np.add and isinstance(inputs[0], GPUTensor) and not more:
        return indexing.add_at(*inputs)
    if method != "__call__" or more:
        return NotImplemented
    if ufunc is np.matmul and to is None and all(isinstance(i, GPUTensor) for i in inputs):
        return linalg.matmul(*inputs)
    function = _UFUNCS.get(ufunc.__name__)
    return NotImplemented if function is None else function(*inputs, out=to)


def _transpose(a: GPUTensor, axes: Sequence[int] | None = None) -> GPUTensor:
    return a.transpose() if axes is None else a.transpose(*axes)


_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sum: reductions.sum,
    np.max: reductions.max,
    np.min: reductions.min,
    np.mean: reductions.mean,
    np.var: reductions.var,
    np.std: reductions.std,
    np.argmax: composed.argmax,
    np.argmin: composed.argmin,
    np.take: indexing.take,
    np.cumsum: indexing.cumsum,
    np.nonzero: indexing.nonzero,
    np.flatnonzero: indexing.flatnonzero,
    np.all: functions.all,
    np.any: functions.any,
    np.where: elementwise.where,
    np.clip: elementwise.clip,
    np.concatenate: composed.concatenate,
    np.stack: composed.stack,
    np.dot: linalg.dot,
    np.transpose: _transpose,
    np.reshape: lambda a, shape: a.reshape(shape),
    np.empty_like: creation.empty_like,
    np.zeros_like: creation.zeros_like,
    np.copy: lambda a: a.copy(),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a: a.size,
}


def _array_function(
    self: GPUTensor, function: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    ours = _FUNCTIONS.get(function)
    if ours is None:
        return NotImplemented
    return ours(*args, **{k: v for k, v in kwargs.items() if v is not np._NoValue})


def install() -> None:
    """Gives GPUTensor the methods by which NumPy asks for these."""
    for name, method in (("__array_ufunc__", _array_ufunc), ("__array_function__", _array_function)):
        setattr(GPUTensor, name, method)
