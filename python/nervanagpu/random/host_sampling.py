"""Draws and orders of what lies on the host: texts, objects, lists of Python's and arrays."""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.calls.arguments import tensor

if TYPE_CHECKING:
    import numpy.typing as npt


def among(a: object) -> GPUTensor | npt.NDArray[Any]:
    """What is drawn from, as a tensor; of texts and other objects as an array of the host."""
    if isinstance(a, GPUTensor):
        return a
    try:
        return creation.array(a)
    except TypeError:
        things = np.asarray(a)
        if things.dtype.kind in "biufc":
            raise
        return things


def taken(things: Any, places: GPUTensor, axis: int) -> npt.NDArray[Any]:
    """The things at places along an axis: one of them where the places have no axes."""
    return np.take(things, places.get(), axis)


def reorder(x: Any, axis: int, order: Any) -> None:
    """Puts the parts of x in the order that `order(count)` draws."""
    if isinstance(x, np.ndarray):
        x[...] = np.take(x, order(x.shape[axis]).get(), axis)
    elif isinstance(x, MutableSequence):
        for place, value in enumerate([x[i] for i in order(len(x)).tolist()]):
            x[place] = value
    else:
        tensor("shuffle", "x", x)
