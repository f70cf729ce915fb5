"""Uniform random numbers inside expressions: Philox4x32-10, the same numbers on every device."""

from __future__ import annotations

import threading

from nervanagpu import _core
from nervanagpu._core import GPUTensor

_lock = threading.Lock()
_seed = 0
_offset = 0


def seed(value: int = 0) -> None:
    """Let the next `rand` start again: the same seed gives the same numbers."""
    global _seed, _offset
    if not 0 <= value < 1 << 64:
        raise ValueError(f"seed: value is {value}; needs 0 to 2^64 - 1")
    with _lock:
        _seed, _offset = value, 0


def rand(*shape: int) -> GPUTensor:
    """Uniform float32 numbers in [0, 1), multiples of 2**-24: an expression, which fuses with what is made of it.

    Element i (row-major) is made of word i % 4 of Philox4x32-10(key=seed, counter=offset + i // 4); one call takes
    ceil(elements / 4) counters. `rand(3, 4) < 0.5` is a mask. ValueError for a negative length.
    """
    global _offset
    count = 1
    for length in shape:
        count *= length
    with _lock:
        result = _core.random(shape, _seed, _offset)
        _offset += (count + 3) // 4
    return result
