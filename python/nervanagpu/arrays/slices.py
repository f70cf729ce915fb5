"""Functions applied along axes, and tensors put together from blocks."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes, manipulation
from nervanagpu.arrays.manipulation import axis_of
from nervanagpu.calls.arguments import integers, shown
from nervanagpu.function_table import public
from nervanagpu.math import composed
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of


@public()
def apply_along_axis(func1d: Callable[..., Any], axis: int, x: Operand, *args: object, **more: object) -> GPUTensor:
    """func1d(row, *args, **more) of each row along `axis`: what it returns stands there instead. One call a row."""
    if not callable(func1d):
        raise TypeError(f"apply_along_axis: func1d is {shown(func1d)}; needs a function")
    given = operand_of(x)
    at = axis_of("apply_along_axis", axis, given.ndim)
    rows = manipulation.moveaxis(given, at, -1)
    lead = rows.shape[:-1]
    if 0 in lead:
        raise ValueError(
            f"apply_along_axis: x has shape {given.shape}: Cannot apply_along_axis when any iteration dimensions are 0"
        )
    flat = rows.reshape(math.prod(lead), rows.shape[-1])
    made = composed.stack([operand_of(func1d(flat[k], *args, **more)) for k in range(flat.shape[0])])
    made = made.reshape(*lead, *made.shape[1:])
    inner = made.ndim - len(lead)
    return (
        manipulation.moveaxis(made, list(range(len(lead), made.ndim)), list(range(at, at + inner))) if inner else made
    )


@public()
def apply_over_axes(func: Callable[[GPUTensor, int], Any], a: Operand, axes: object) -> GPUTensor:
    """func(a, axis) for one axis after the other; an axis that it takes away comes back with length 1."""
    if not callable(func):
        raise TypeError(f"apply_over_axes: func is {shown(func)}; needs a function")
    made = operand_of(a)
    ndim = made.ndim
    for axis in integers("apply_over_axes", "axes", axes):
        at = axis_of("apply_over_axes", axis, ndim)
        found = operand_of(func(made, at))
        if found.ndim == ndim - 1:
            found = manipulation.expand_dims(found, at)
        if found.ndim != ndim:
            raise ValueError("apply_over_axes: func is not returning an array of the correct shape; needs as many axes")
        made = found
    return made


@public()
def block(arrays: object) -> GPUTensor:
    """Nested lists of tensors put together: the innermost along the last axis, and so on outwards."""
    depth = _depth(arrays)
    ndim = max(depth, _axes(arrays))
    return _joined(arrays, depth, ndim).copy() if depth == 0 else _joined(arrays, depth, ndim)


def _depth(parts: object) -> int:
    if not isinstance(parts, list):
        return 0
    if not parts:
        raise ValueError("block: arrays has an empty list; needs tensors in it")
    depths = {_depth(p) for p in parts}
    if len(depths) > 1:
        raise ValueError("block: arrays has lists of different depths; needs one depth: List depths are mismatched")
    return depths.pop() + 1


def _axes(parts: object) -> int:
    return max(map(_axes, parts)) if isinstance(parts, list) else operand_of(parts).ndim


def _joined(parts: object, depth: int, ndim: int) -> GPUTensor:
    if not isinstance(parts, list):
        x = operand_of(parts)
        return x.reshape(*[1] * (ndim - x.ndim), *x.shape)
    return composed.concatenate([_joined(p, depth - 1, ndim) for p in parts], -depth)


class broadcast:
    """What shapes broadcast to: `shape`, `size`, `nd`, and the operands in that shape, `values`.

    Iterated over, on the host, it gives the operands' elements at each place, row by row.
    """

    def __init__(self, *arrays: object) -> None:
        held = [a if isinstance(a, GPUTensor) else np.asarray(a) for a in arrays]
        try:
            self.shape = np.broadcast_shapes(*(a.shape for a in held))
        except ValueError as error:
            raise ValueError(f"broadcast: arrays have shapes {[a.shape for a in held]} ({error})") from None
        self.nd = self.ndim = len(self.shape)
        self.size = int(np.prod(self.shape, dtype=np.int64))
        self.numiter = len(held)
        self.values = tuple(manipulation.broadcast_to(creation.asarray(a), self.shape) for a in held)

    @functools.cached_property
    def _theirs(self) -> np.broadcast:
        return np.broadcast(*(dtypes.host_of(v) for v in self.values))

    def __iter__(self) -> broadcast:
        return self

    def __next__(self) -> tuple[Any, ...]:
        return tuple(next(self._theirs))

    @property
    def index(self) -> int:
        """How many places the iteration has passed."""
        return int(self._theirs.index)

    @property
    def iters(self) -> tuple[Any, ...]:
        """An iterator for each operand over its elements."""
        return tuple(self._theirs.iters)

    def reset(self) -> None:
        """Back to the first place."""
        self._theirs.reset()
