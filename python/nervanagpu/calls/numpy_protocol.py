"""NumPy's own functions on tensors: np.exp(x), np.add.reduce(x, 0), np.concatenate([x, y]) stay on the device.

A function without a counterpart here raises TypeError, as NumPy's protocol has it; `x.get()` gives an array for it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from nervanagpu import linalg
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, files
from nervanagpu.calls.arguments import tensor
from nervanagpu.calls.protocols import DeviceLike
from nervanagpu.function_table import of_numpy

# Functions that are in no table for NumPy: they have other defaults, or no tensors among their results.
_ELSEWHERE: tuple[tuple[Any, Any, str], ...] = (
    (np, creation, "linspace logspace geomspace"),
    (np, files, "save savez savez_compressed savetxt"),
    (np.linalg, linalg, "matmul"),
)
_SERVED: dict[Any, Callable[..., Any]] = {}  # NumPy's functions and ufuncs, and ours


def _array_ufunc(
    self: GPUTensor, ufunc: np.ufunc, method: str, *inputs: object, out: object = None, **more: object
) -> object:
    function: Any = _SERVED.get(ufunc)
    if function is None:
        return NotImplemented
    if method == "at":
        return function.at(*inputs, **more) if isinstance(inputs[0], GPUTensor) else NotImplemented
    if isinstance(out, tuple):
        for o in out:
            if isinstance(o, np.ndarray):
                tensor(ufunc.__name__, "out", o)
        if not all(o is None or isinstance(o, GPUTensor) for o in out):
            return NotImplemented
        more["out"] = out if len(out) > 1 else out[0]
    if method == "__call__":
        return function(*inputs, **more)
    return getattr(function, method)(*inputs, **_given(more))


def _given(more: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in more.items() if v is not np._NoValue}


@functools.cache
def _names_here(function: Callable[..., Any]) -> dict[str, str]:
    """NumPy's names of a function's parameters, and ours of those at the same places."""
    try:
        theirs, ours = (list(inspect.signature(f).parameters.values()) for f in (function, _SERVED[function]))
    except ValueError:
        return {}
    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY
    pairs = [(a.name, b.name) for a, b in zip(theirs, ours, strict=False) if a.kind in plain and b.kind in plain]
    known = {p.name for p in ours}
    return {a: b for a, b in pairs if a != b and a not in known}


def _array_function(
    self: GPUTensor, function: Callable[..., Any], types: object, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> object:
    ours = _SERVED.get(function)
    if ours is None and function.__module__ == "numpy.fft":  # which NumPy imports when it is asked for
        _SERVED.update(of_numpy("fft"))
        ours = _SERVED.get(function)
    if ours is None:
        return NotImplemented
    given = _given(kwargs)
    if given:
        names = _names_here(function)
        given = {names.get(k, k): v for k, v in given.items()}
    return ours(*args, **given)


def _hostless(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` without the argument `device`, which NumPy hands on and knows only itself in."""

    def make(*args: object, device: DeviceLike = None, **more: object) -> object:
        return function(*args, **more)

    return make


def _made_like() -> dict[Any, Callable[..., Any]]:
    """NumPy's functions that are asked for tensors by like=, with NumPy's defaults: float64."""
    from nervanagpu.cupy import creation as as_numpy

    names = "array asarray asanyarray empty eye full identity ones tri zeros".split()
    made = {getattr(np, name): _hostless(getattr(as_numpy, name)) for name in names}
    return made | {
        getattr(np, name): _hostless(getattr(creation, name))
        for name in ("arange", "frombuffer", "fromiter", "fromfunction")
    }


def install() -> None:
    """Gives GPUTensor the methods by which NumPy asks for these."""
    for theirs, ours, functions in _ELSEWHERE:
        _SERVED.update({getattr(theirs, n): getattr(ours, n) for n in functions.split() if hasattr(theirs, n)})
    _SERVED.update(_made_like())
    _SERVED.update(of_numpy("", "linalg"))
    for name, method in (("__array_ufunc__", _array_ufunc), ("__array_function__", _array_function)):
        setattr(GPUTensor, name, method)
