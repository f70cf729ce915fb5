"""Random numbers inside expressions: Philox4x32-10, the same numbers on every device."""

from __future__ import annotations

import threading
from typing import Any

import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays.creation import Shape
from nervanagpu.calls.arguments import check_tensors, integer, number
from nervanagpu.math import elementwise

_MODULES = ("discrete", "distributions", "gamma_based", "host_sampling", "source", "state")  # no names of numpy.random
COUNTERS = 1 << 61  # of a seed; past the last one comes the first again
_lock = threading.Lock()
_seed = 0
_offsets: dict[int, int] = {}  # by device: what each has spent


def seed(value: int = 0) -> None:
    """Let the next `rand` start again: the same seed, 0 to 2^64 - 1, gives the same numbers, on each device."""
    global _seed
    number = integer("seed", "value", value, 0, (1 << 64) - 1)
    with _lock:
        _seed = number
        _offsets.clear()


def counters_after(start: int, count: int) -> int:
    """The first counter after those for `count` words."""
    return (start + (count + 3) // 4) % COUNTERS


def _take(count: int) -> tuple[int, int]:
    """The seed, and the first of the counters for `count` words, which are spent."""
    device = _core.get_device()
    with _lock:
        start = _offsets.get(device, 0)
        _offsets[device] = counters_after(start, count)
        return _seed, start


def stochastic_round(
    x: GPUTensor, dtype: npt.DTypeLike, bits: int = 0, seed: int | None = None, offset: int = 0
) -> GPUTensor:
    """x as `dtype`, rounded up or down at random so that the expected value is x: an expression.

    dtype: float16, bfloat16, float32 (to `bits` mantissa bits, at most 10, 7 and 15; 0: the most). Or an integer of up
    to 32 bits (saturated; NaN gives 0). Values that can be kept stay. Element i (row-major) takes word i % 4 of
    Philox4x32-10(key=seed, counter=offset + i // 4), as in every other operation with rounding="stochastic". Without a
    seed they are the next of `ng.seed`. What is written to a tensor whose `rounding` is not 0 is rounded so, too.
    TypeError for other dtypes, ValueError for bits.
    """
    check_tensors("stochastic_round", x=x)
    seed, offset = _take(x.size) if seed is None else (seed, offset)
    return _core.round(x, dtype, {"rounding": "stochastic", "seed": seed, "offset": offset, "bits": bits})


def rand(*shape: int) -> GPUTensor:
    """Uniform float32 numbers in [0, 1), multiples of 2**-24: an expression, which fuses with what is made of it.

    Element i (row-major) is made of word i % 4 of Philox4x32-10(key=seed, counter=offset + i // 4); one call takes
    ceil(elements / 4) counters. `rand(3, 4) < 0.5` is a mask. ValueError for a negative length.
    """
    return _uniform(shape)


def _uniform(shape: Shape) -> GPUTensor:
    device = _core.get_device()
    with _lock:
        start = _offsets.get(device, 0)
        result = _core.random(shape, _seed, start)
        _offsets[device] = counters_after(start, result.size)
    return result


# cos(2 pi t) for |t| <= 1/2 is a polynomial of t * t, from the sixteenth power down: least squares at Chebyshev nodes.
_COSINE = (0.243762836, -1.69687513, 7.89916007, -26.4256166, 60.2445862, -85.4568145, 64.939394, -19.7392088, 1)


def randn(*shape: int) -> GPUTensor:
    """Normal float32 numbers of mean 0 and variance 1, at most 5.77 from 0: an expression of two uniform ones.

    ValueError for a negative length.
    """
    return normal_of(_uniform(shape), _uniform(shape))


def normal_of(first: GPUTensor, second: GPUTensor) -> GPUTensor:
    """Normal numbers from two uniform ones each."""
    radius = elementwise.sqrt(-2 * elementwise.log(1 - first))
    turn = second - 0.5
    square = turn * turn
    cosine = square * _COSINE[0] + _COSINE[1]
    for c in _COSINE[2:]:
        cosine = cosine * square + c
    return radius * cosine


def randint(low: int, high: int | None = None, size: Shape | None = None, dtype: npt.DTypeLike = "int32") -> GPUTensor:
    """Whole numbers from `low` to `high` - 1, or from 0 to `low` - 1, made of 24 random bits each where that is enough.

    size: the shape; None: one number, without axes. ValueError for limits that `dtype` does not hold, or with nothing
    between them.
    """
    from nervanagpu.random import state

    return state.SHARED._integers("randint", low, high, size, dtype, False)


def __getattr__(name: str) -> Any:
    """numpy.random's other names: nervanagpu.random.state, imported for them alone."""
    if not name.startswith("__") and name not in _MODULES:
        from nervanagpu.random import state

        if name in state.NAMES:
            return state.NAMES[name]
    raise AttributeError(f"module 'nervanagpu.random' has no attribute {name!r}")


def dropout(x: GPUTensor, keep: float = 0.5) -> GPUTensor:
    """x / keep where a uniform number is below `keep`, else 0. ValueError unless 0 < keep <= 1."""
    check_tensors("dropout", x=x)
    keep = number("dropout", "keep", keep)
    if not 0 < keep <= 1:
        raise ValueError(f"dropout: keep is {keep}; needs more than 0 and at most 1")
    return elementwise.where(elementwise.less(rand(*x.shape), keep), x * (1 / keep), 0)
