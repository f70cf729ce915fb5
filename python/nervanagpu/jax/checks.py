"""Arguments, as JAX's functions have them: arrays, dtypes and precision are judged when a function is traced."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from nervanagpu import _core
from nervanagpu.calls.arguments import choice, either, shown

FLOATS = ("float32", "float16", "bfloat16")
PRECISIONS = ("strict", "tensor")  # an ng_precision each


def operands(function: str, **given: object) -> None:
    """TypeError unless they are arrays of one of our dtypes, all alike; a bias of None is not there."""
    dtypes: dict[str, str] = {}
    for name, x in given.items():
        if x is None and name == "bias":
            continue
        if not isinstance(x, jax.Array | np.ndarray):
            raise TypeError(f"{function}: {name} is {shown(x)}; needs an array")
        if not all(isinstance(n, int) for n in x.shape):
            raise TypeError(f"{function}: {name} is {tuple(map(str, x.shape))}, with symbolic lengths; needs numbers")
        dtypes[name] = str(x.dtype)
        if dtypes[name] not in FLOATS:
            raise TypeError(f"{function}: {name} has dtype {dtypes[name]}; needs {either(FLOATS)}")
    if len(set(dtypes.values())) > 1:
        these = ", ".join(f"{name} {dtype}" for name, dtype in dtypes.items())
        raise TypeError(f"{function}: operands of several dtypes: {these}; needs one")


def axes(function: str, name: str, x: Any, count: int) -> None:
    """ValueError unless x has so many axes."""
    if x.ndim != count:
        raise ValueError(f"{function}: {name} is {x.shape}; needs {count} axes")


def precision(function: str, name: str | None) -> int:
    """An ng_precision; None is this thread's: nervanagpu.precision."""
    return PRECISIONS.index(_core.precision() if name is None else choice(function, "precision", name, PRECISIONS))
