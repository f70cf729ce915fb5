"""NumPy's own functions on tensors: np.exp(x), np.add.reduce(x, 0), np.concatenate([x, y]) stay on the device.

A function without a counterpart here raises TypeError, as NumPy's protocol has it; `x.get()` gives an array for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nervanagpu import indexing, ufuncs
from nervanagpu._core import GPUTensor
from nervanagpu.names import of_numpy

_SERVED: dict[Any, Callable[..., Any]] = {}  # NumPy's functions and ufuncs, and ours


def _array_ufunc(self: GPUTensor, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **more: Any) -> Any:
    to = out[0] if isinstance(out, tuple) else out
    if to is not None and not isinstance(to, GPUTensor):
        return NotImplemented
    if method == "reduce" and ufunc.__name__ in ufuncs.REDUCE:
        return ufuncs.REDUCE[ufunc.__name__](inputs[0], more.pop("axis", 0), out=to, **_given(more))
    if method == "accumulate" and ufunc.__name__ in ufuncs.ACCUMULATE:
        return ufuncs.ACCUMULATE[ufunc.__name__](inputs[0], more.pop("axis", 0), out=to, **_given(more))
    if method == "at" and ufunc is np.add and isinstance(inputs[0], GPUTensor) and not more:
        return indexing.add_at(*inputs)
    function: Any = _SERVED.get(ufunc)
    if function is None or method not in ("__call__", "outer"):
        return NotImplemented
    if method == "outer":
        return function.outer(*inputs) if to is None and not more else NotImplemented
    return function(*inputs, out=to, **more)


def _given(more: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in more.items() if v is not np._NoValue and v is not None}


def _array_function(
    self: GPUTensor, function: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    ours = _SERVED.get(function)
    if ours is None:
        return NotImplemented
    return ours(*args, **{k: v for k, v in kwargs.items() if v is not np._NoValue})


def install() -> None:
    """Gives GPUTensor the methods by which NumPy asks for these."""
    _SERVED.update(of_numpy())
    for name, method in (("__array_ufunc__", _array_ufunc), ("__array_function__", _array_function)):
        setattr(GPUTensor, name, method)
