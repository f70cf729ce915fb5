"""cupy.random: the library's random numbers, as float64 unless dtype says otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import random as _ours
from nervanagpu._core import GPUTensor
from nervanagpu.cupy.random_generators import Generator as Generator
from nervanagpu.cupy.random_generators import RandomState as RandomState
from nervanagpu.cupy.random_generators import default_rng as default_rng
from nervanagpu.cupy.random_generators import double
from nervanagpu.random import state


def _wide(first: GPUTensor, second: GPUTensor) -> GPUTensor:
    """Uniform in [0, 1), multiples of 2**-48, of two uniform multiples of 2**-24."""
    return first.astype("float64") + second.astype("float64") * 2.0**-24


def _uniform(size: Any, dtype: npt.DTypeLike) -> GPUTensor:
    shape = () if size is None else size
    first = _ours._uniform(shape)
    if np.dtype(dtype) == np.float32:
        return first
    return _wide(first, _ours._uniform(shape)).astype(dtype)


def random_sample(size: object = None, dtype: npt.DTypeLike = float) -> GPUTensor:
    """Uniform in [0, 1); size None: one number, without axes."""
    return _uniform(size, dtype)


random = sample = ranf = random_sample


def rand(*size: int, dtype: npt.DTypeLike = float) -> GPUTensor:
    """Uniform in [0, 1)."""
    return _uniform(size, dtype)


def standard_normal(size: object = None, dtype: npt.DTypeLike = float) -> GPUTensor:
    """Normal, of mean 0 and variance 1."""
    shape = () if size is None else size
    return _ours.normal_of(_uniform(shape, dtype), _uniform(shape, dtype))


def randn(*size: int, dtype: npt.DTypeLike = float) -> GPUTensor:
    """Normal, of mean 0 and variance 1."""
    return standard_normal(size, dtype)


def normal(loc: object = 0.0, scale: object = 1.0, size: object = None, dtype: npt.DTypeLike = float) -> GPUTensor:
    """Normal, of mean loc and standard deviation scale."""
    made: GPUTensor = standard_normal(_drawn(size, loc, scale), dtype) * scale + loc
    return made


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None, dtype: npt.DTypeLike = float) -> GPUTensor:
    """Uniform in [low, high)."""
    made: GPUTensor = _uniform(_drawn(size, low, high), dtype) * (high - low) + low
    return made


def _drawn(size: object, *parameters: object) -> object:
    return np.broadcast_shapes(*(getattr(p, "shape", ()) for p in parameters)) if size is None else size


def randint(low: object, high: object = None, size: object = None, dtype: npt.DTypeLike = int) -> GPUTensor:
    """Whole numbers from low to high - 1; from 0 to low - 1 without high."""
    return state.SHARED.randint(low, high, size, dtype)


_ELEMENTS = ("choice", "permutation", "shuffle", "bytes", "get_state", "set_state")


def __getattr__(name: str) -> Any:
    found = getattr(_ours, name)
    numbers = getattr(found, "__self__", None) is state.SHARED and name not in _ELEMENTS
    return double(found) if numbers else found
