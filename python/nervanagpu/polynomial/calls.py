"""NumPy's functions of series of polynomials, given tensors and giving them.

Coefficients are few: what is computed of them alone, and fits, NumPy computes on the host. Values at the places of a
tensor are computed on its device: NumPy's recurrences are elementwise operations, which become kernels.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import polynomial as theirs

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.placement import placed
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of

if TYPE_CHECKING:
    import numpy.typing as npt

_PREFIXES = {
    "polynomial": "poly",
    "chebyshev": "cheb",
    "legendre": "leg",
    "laguerre": "lag",
    "hermite": "herm",
    "hermite_e": "herme",
}


def to_host(x: Any) -> Any:
    """Tensors, also those in lists, as arrays of the host."""
    return type(x)(map(to_host, x)) if type(x) in (list, tuple) else dtypes.on_host(x)


def to_tensors(x: object) -> object:
    """Arrays, also those in lists, as tensors."""
    if isinstance(x, tuple | list):
        return type(x)(map(to_tensors, x))
    is_array = isinstance(x, np.ndarray) and x.dtype.kind in "biufc"
    return creation.array(x) if is_array else x


def _coefficients(c: object) -> npt.NDArray[Any]:
    """An array of one axis or more, of floats."""
    host = np.array(to_host(c), ndmin=1)
    return host.astype(np.float64) if host.dtype.kind in "biu" else host


def _named(function: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    """`ours` under the name and with the words of NumPy's."""
    functools.update_wrapper(ours, function, ("__name__", "__qualname__", "__doc__"))
    del ours.__wrapped__  # type: ignore[attr-defined]
    ours.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return placed(ours)


def _on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: object, **more: object) -> object:
        return to_tensors(function(*map(to_host, args), **{k: to_host(v) for k, v in more.items()}))

    return _named(function, call)


def value_of(function: Callable[..., Any], x: GPUTensor, c: object, tensor: bool = True) -> GPUTensor:
    """NumPy's `function` of places x and coefficients c, which have axes for those of x after theirs."""
    host = _coefficients(c)
    if tensor:
        host = host.reshape(host.shape + (1,) * x.ndim)
    made: GPUTensor = function(x, host, False)
    return made


def _values(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Operand, c: object, tensor: bool = True) -> GPUTensor:
        return value_of(function, operand_of(x), c, tensor)

    return _named(function, call)


def _at_points(function: Callable[..., Any], value: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's `function` of points that x, y (and z) have the coordinates of."""

    def call(*args: object, **more: object) -> GPUTensor:
        *places, c = inspect.signature(function).bind(*args, **more).args
        tensors = [operand_of(p) for p in places]
        for name, t in zip("yz", tensors[1:], strict=False):
            if t.shape != tensors[0].shape:
                raise ValueError(
                    f"{function.__name__}: {name} has shape {t.shape}; needs that of x, {tensors[0].shape}"
                )
        made = value_of(value, tensors[0], c)
        for t in tensors[1:]:
            made = value_of(value, t, made, False)
        return made

    return _named(function, call)


def _on_grid(function: Callable[..., Any], value: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's `function` of the grid whose coordinates x, y (and z) are."""

    def call(*args: object, **more: object) -> object:
        *places, made = inspect.signature(function).bind(*args, **more).args
        for p in places:
            made = value_of(value, operand_of(p), made)
        return made

    return _named(function, call)


def names_of(module: str) -> dict[str, Any]:
    """What nervanagpu.polynomial's module of this name has: all that NumPy's has."""
    source = getattr(theirs, module)
    made: dict[str, Any] = {}
    value: Any = getattr(source, f"{_PREFIXES.get(module)}val", None)
    for name in source.__all__:
        found = getattr(source, name)
        rest = name.removeprefix(_PREFIXES.get(module, ""))
        if isinstance(found, type) or not callable(found) or name == "format_float":
            made[name] = found
        elif rest == "val":
            made[name] = _values(found)
        elif rest in ("val2d", "val3d"):
            made[name] = _at_points(found, value)
        elif rest in ("grid2d", "grid3d"):
            made[name] = _on_grid(found, value)
        else:
            made[name] = _on_host(found)
    return made
