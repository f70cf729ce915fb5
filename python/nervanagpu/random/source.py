"""What numpy.random's distributions draw from: uniform numbers of a seed and its counters, checked parameters, and
rejection by rounds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import dtypes
from nervanagpu.calls.arguments import shown
from nervanagpu.math import elementwise, reductions
from nervanagpu.math.reductions import operand_of
from nervanagpu.random import counters_after

Size = Any  # None: a number; an int; a tuple of them
Operand = GPUTensor | float
_MOST = (1 << 64) - 1


def seed_of(function: str, seed: Any) -> int:
    """0 to 2**64 - 1 of a seed: None has the system's randomness; larger and several numbers are mixed."""
    if isinstance(seed, int | np.integer) and 0 <= int(seed) <= _MOST:
        return int(seed)
    if isinstance(seed, np.random.SeedSequence):
        return int(seed.generate_state(1, np.uint64)[0])
    try:
        entropy = seed.get() if isinstance(seed, GPUTensor) else seed
        return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])
    except (TypeError, ValueError) as error:
        needs = "needs an integer, 0 or more, several, or None"
        raise type(error)(f"{function}: seed is {shown(seed)}; {needs}") from None


def parameters(function: str, range: str, **values: object) -> list[GPUTensor]:
    """The values as float64 tensors. ValueError, with its name, for one with a number outside of a range such as
    "[0, inf)" or NaN."""
    low, high = (float(end) for end in range[1:-1].split(","))
    made = []
    for name, value in values.items():
        x = np.float64(value) if isinstance(value, int | float | np.number) else _tensor(function, name, value)
        above = x > low if range[0] == "(" else x >= low
        below = x < high if range[-1] == ")" else x <= high
        if not bool(reductions.all(above & below) if isinstance(x, GPUTensor) else above and below):
            raise ValueError(f"{function}: {name} is {shown(value)}; needs numbers in {range}")
        made.append(operand_of(x))
    return made


def _tensor(function: str, name: str, value: object) -> GPUTensor:
    x = operand_of(value)
    if dtypes.kind_of(x.dtype) == "c":
        raise TypeError(f"{function}: {name} is {shown(value)}; needs real numbers")
    return _core.as_dtype(x, np.float64)


class Source:
    """Uniform numbers from a seed, 0 to 2**64 - 1."""

    _seed: int
    _offset: int

    def __init__(self, seed: object = None) -> None:
        self._seed, self._offset = seed_of("default_rng", seed), 0
        self._lock = threading.Lock()

    def _uniform(self, shape: tuple[int, ...]) -> GPUTensor:
        """float32 numbers in [0, 1), multiples of 2**-24."""
        with self._lock:
            words = _core.random(shape, self._seed, self._offset)
            self._offset = counters_after(self._offset, words.size)
        return words

    def _fine(self, shape: tuple[int, ...]) -> GPUTensor:
        """float64 numbers in [0, 1), multiples of 2**-48."""
        first, second = self._uniform(shape), self._uniform(shape)
        return _core.cast(first, np.float64) + _core.cast(second, np.float64) * 2.0**-24

    def _positive(self, shape: tuple[int, ...]) -> GPUTensor:
        """float64 numbers in (0, 1]."""
        return 1.0 - self._fine(shape)

    def _normal(self, shape: tuple[int, ...]) -> GPUTensor:
        """float64 numbers of mean 0 and variance 1."""
        from nervanagpu import random

        return random.normal_of(self._fine(shape), self._fine(shape))

    def _drawn(self, size: Size, *parameters: object) -> tuple[int, ...]:
        """The shape of the result. ValueError for a size that the parameters do not broadcast to."""
        common = np.broadcast_shapes(*(p.shape for p in parameters if hasattr(p, "shape")))
        if size is None:
            return common
        shape = _core.shape(size)
        try:
            fits = np.broadcast_shapes(shape, common) == shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"size is {shown(size)}; needs what parameters of shape {common} broadcast to")
        return shape

    def _until_accepted(self, shape: tuple[int, ...], propose: Callable[[], tuple[GPUTensor, GPUTensor]]) -> GPUTensor:
        """The first proposal of each element that is not refused: rounds of (numbers, whether to refuse them)."""
        values, refused = propose()
        found, open = values.copy(), _core.cast(refused, np.bool_).copy()
        while found.size and bool(reductions.any(open)):
            values, refused = propose()
            found[...] = elementwise.where(open, values, found)
            open[...] = elementwise.logical_and(open, refused)
        return found

    def _steps(self, shape: tuple[int, ...], step: Callable[[], GPUTensor], room: Any) -> GPUTensor:
        """How many steps, one after another, stay within `room` in sum: int64."""
        left = elementwise.add(elementwise.multiply(self._fine(shape), 0.0), room).copy()
        count = _core.cast(left * 0, np.int64).copy()
        while left.size:
            left[...] = left - step()
            inside = elementwise.greater_equal(left, 0)
            count[...] = count + inside
            if not bool(reductions.any(inside)):
                break
        return count
