"""Generators whose numbers are float64 unless dtype says otherwise, as CuPy's and NumPy's are."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import dtypes
from nervanagpu.random import distributions, state
from nervanagpu.random.source import Size

T = TypeVar("T")


def double(function: Callable[..., T]) -> Callable[..., T | GPUTensor]:
    """A distribution of float64 numbers, unless dtype says otherwise."""

    @functools.wraps(function)
    def drawn(*args: Any, dtype: npt.DTypeLike | None = None, **more: Any) -> T | GPUTensor:
        made = function(*args, **more)
        if not isinstance(made, GPUTensor) or (dtype is None and dtypes.kind_of(made.dtype) != "f"):
            return made
        return made.astype(float if dtype is None else dtype)

    return drawn


class Generator(distributions.Generator):
    """nervanagpu.random's Generator, of float64 numbers."""

    def _unit(self, size: Size, *parameters: object) -> GPUTensor:
        return self._fine(self._drawn(size, *parameters))

    def random(self, size: Size = None, dtype: npt.DTypeLike = float, out: GPUTensor | None = None) -> GPUTensor:
        """Uniform in [0, 1), multiples of 2**-48."""
        return super().random(size, np.dtype(dtype), out)

    def standard_normal(
        self, size: Size = None, dtype: npt.DTypeLike = float, out: GPUTensor | None = None
    ) -> GPUTensor:
        """Normal with mean 0 and variance 1."""
        shape = self._drawn(out.shape if out is not None and size is None else size)
        return distributions._given("standard_normal", self._normal(shape), dtype, out)

    def standard_exponential(
        self, size: Size = None, dtype: npt.DTypeLike = float, method: str = "inv", out: GPUTensor | None = None
    ) -> GPUTensor:
        """Exponential with mean 1, by inversion."""
        return super().standard_exponential(size, np.dtype(dtype), method, out)

    def spawn(self, n_children: int) -> list[distributions.Generator]:
        """Generators of other seeds, made of this one's."""
        return [type(self)(child.bit_generator) for child in super().spawn(n_children)]


# Distributions that are computed in float64 and rounded to float32 in the library's.
for _name in (
    "beta chisquare dirichlet f gamma multivariate_normal noncentral_chisquare noncentral_f power standard_gamma "
    "standard_t vonmises wald"
).split():
    setattr(Generator, _name, double(getattr(distributions.Generator, _name)))


class RandomState(Generator, state.RandomState):
    """nervanagpu.random's RandomState, of float64 numbers."""


def default_rng(seed: object = None) -> distributions.Generator:
    """A Generator; without a seed from the system's randomness. A Generator is given back as it is."""
    return seed if isinstance(seed, distributions.Generator) else Generator(seed)
