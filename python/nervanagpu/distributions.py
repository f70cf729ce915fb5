"""numpy.random's distributions over the library's own random numbers: float32 expressions, the same on every device.

A Generator has a seed and counters of its own; the functions of nervanagpu.random draw from `ng.seed`'s. Parameters are
numbers or tensors, which broadcast with `size`.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core, composed, creation, elementwise, random, sorting
from nervanagpu._core import GPUTensor
from nervanagpu.arguments import flag, integer, number
from nervanagpu.reductions import operand_of

Size = Any  # None: a number; an int; a tuple of them
Operand = GPUTensor | float


class Generator:
    """Random numbers from a seed, 0 to 2**64 - 1, with the methods of NumPy's generators; other numbers than theirs."""

    def __init__(self, seed: int | None = None) -> None:
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self._seed = integer("default_rng", "seed", seed, 0, (1 << 64) - 1)
        self._offset = 0
        self._lock = threading.Lock()

    def _uniform(self, shape: tuple[int, ...]) -> GPUTensor:
        with self._lock:
            words = _core.random(shape, self._seed, self._offset)
            self._offset += (words.size + 3) // 4
        return words

    def _drawn(self, size: Size, *parameters: Any) -> tuple[int, ...]:
        shapes = [p.shape for p in parameters if hasattr(p, "shape")]
        return np.broadcast_shapes(*shapes) if size is None else _core.shape(size)

    def _unit(self, size: Size, *parameters: Any) -> GPUTensor:
        return self._uniform(self._drawn(size, *parameters))

    def random(self, size: Size = None, dtype: npt.DTypeLike = np.float32) -> GPUTensor:
        """Uniform in [0, 1), multiples of 2**-24."""
        made = self._unit(size)
        return made if np.dtype(dtype) == np.float32 else made.astype(dtype)

    def uniform(self, low: Operand = 0.0, high: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Uniform in [low, high)."""
        return self._unit(size, low, high) * (high - low) + low

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Size = None,
        dtype: npt.DTypeLike = np.int64,
        endpoint: bool = False,
    ) -> GPUTensor:
        """Whole numbers from low to high - 1, or from 0 below low; `endpoint`: high, too. At most 2**24 of them."""
        first, end = (0, low) if high is None else (low, high)
        start = integer("integers", "low", first)
        stop = integer("integers", "high", end) + flag("integers", "endpoint", endpoint)
        if not start < stop <= start + (1 << 24):
            raise ValueError(f"integers: low is {start} and high {stop}; needs 1 to 2**24 numbers from low to high")
        drawn: GPUTensor = _core.cast(self._unit(size) * float(stop - start), dtype) + np.dtype(dtype).type(start)
        return drawn

    def standard_normal(self, size: Size = None) -> GPUTensor:
        """Normal with mean 0 and variance 1."""
        shape = self._drawn(size)
        return random.normal_of(self._uniform(shape), self._uniform(shape))

    def normal(self, loc: Operand = 0.0, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Normal with mean `loc` and standard deviation `scale`."""
        return self.standard_normal(self._drawn(size, loc, scale)) * scale + loc

    def lognormal(self, mean: Operand = 0.0, sigma: Operand = 1.0, size: Size = None) -> GPUTensor:
        """e to a normal number."""
        return elementwise.exp(self.normal(mean, sigma, size))

    def standard_exponential(self, size: Size = None) -> GPUTensor:
        """Exponential with mean 1."""
        return -elementwise.log(1 - self._unit(size))

    def exponential(self, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Exponential with mean `scale`."""
        return self.standard_exponential(self._drawn(size, scale)) * scale

    def laplace(self, loc: Operand = 0.0, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Double exponential: density e ** (-|x - loc| / scale) / (2 scale)."""
        u = self._unit(size, loc, scale) - 0.5
        apart: GPUTensor = elementwise.sgn(u) * elementwise.log1p(elementwise.absolute(u) * -2 * (1 - 2**-24)) * scale
        return -apart + loc

    def logistic(self, loc: Operand = 0.0, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Logistic: distribution function 1 / (1 + e ** (-(x - loc) / scale))."""
        u = self._unit(size, loc, scale) * (1 - 2**-23) + 2**-24
        return elementwise.log(u / (1 - u)) * scale + loc

    def gumbel(self, loc: Operand = 0.0, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Gumbel: distribution function e ** -(e ** (-(x - loc) / scale))."""
        u = self._unit(size, loc, scale) * (1 - 2**-23) + 2**-24
        apart: GPUTensor = elementwise.log(-elementwise.log(u)) * scale
        return -apart + loc

    def rayleigh(self, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """The length of two normal numbers of that deviation."""
        return elementwise.sqrt(self.standard_exponential(self._drawn(size, scale)) * 2) * scale

    def weibull(self, a: Operand, size: Size = None) -> GPUTensor:
        """Weibull of that shape and scale 1."""
        return self.standard_exponential(self._drawn(size, a)) ** (1.0 / a)

    def pareto(self, a: Operand, size: Size = None) -> GPUTensor:
        """Pareto II (Lomax) of that shape."""
        return elementwise.expm1(self.standard_exponential(self._drawn(size, a)) / a)

    def standard_cauchy(self, size: Size = None) -> GPUTensor:
        """Cauchy around 0."""
        return elementwise.tan((self._unit(size) - 0.5) * math.pi)

    def triangular(self, left: float, mode: float, right: float, size: Size = None) -> GPUTensor:
        """Between left and right, the most likely being `mode`."""
        a, c, b = (number("triangular", n, v) for n, v in (("left", left), ("mode", mode), ("right", right)))
        if not a <= c <= b or a == b:
            raise ValueError(f"triangular: left is {a}, mode {c}, right {b}; needs numbers that grow")
        u, turn = self._unit(size), (c - a) / (b - a)
        rising = a + elementwise.sqrt(u * ((b - a) * (c - a)))
        return elementwise.where(u < turn, rising, b - elementwise.sqrt((1 - u) * ((b - a) * (b - c))))

    def permutation(self, x: Any) -> GPUTensor:
        """0 .. x - 1 in any order, or a copy of x with its first axis in any order."""
        alone = isinstance(x, int | np.integer)
        count = integer("permutation", "x", x, 0) if alone else operand_of(x).shape[0]
        order = sorting.argsort(self._uniform((count,)))
        return order if alone else operand_of(x)[order]

    def shuffle(self, x: GPUTensor) -> None:
        """Puts the first axis of x in any order."""
        x[...] = self.permutation(x)

    def choice(self, a: Any, size: Size = None, replace: bool = True, p: Any = None) -> GPUTensor:
        """Elements of a (or of 0 .. a - 1), again and again or each once; p: how likely each one is."""
        whole = isinstance(a, int | np.integer)
        among = creation.arange(integer("choice", "a", a, 1)) if whole else operand_of(a)
        shape = self._drawn(size)
        count = math.prod(shape)
        if p is not None:
            weights = np.asarray(p.get() if isinstance(p, GPUTensor) else p, np.float64)
            if weights.shape != (among.shape[0],) or weights.min() < 0 or abs(weights.sum() - 1) > 1e-6:
                raise ValueError(f"choice: p has shape {weights.shape}; needs {among.shape[0]} numbers whose sum is 1")
            if not replace:
                raise ValueError("choice: p is given and replace is False; needs one of them")
            sums = creation.array(np.cumsum(weights).astype(np.float32))
            place = elementwise.minimum(sorting.searchsorted(sums, self._uniform(shape), side="right"), len(sums) - 1)
            return among[place]
        if replace:
            return among[self.integers(0, among.shape[0], shape)]
        if count > among.shape[0]:
            raise ValueError(f"choice: size is {shape} and a has {among.shape[0]} elements; needs no more")
        return among[sorting.argsort(self._uniform((among.shape[0],)))[:count].reshape(*shape)]

    def multivariate_normal(self, mean: Operand, cov: Operand, size: Size = None) -> GPUTensor:
        """Normal vectors of that mean and covariance."""
        from nervanagpu import linalg

        centre, root = operand_of(mean), linalg.cholesky(operand_of(cov))
        free = self.standard_normal((*self._drawn(size), centre.shape[0]))
        return elementwise.add(composed.stack([free], 0)[0] @ root.T.astype(np.float32), centre)


class _Shared(Generator):
    """The one that `ng.seed` and `ng.rand` have."""

    def __init__(self) -> None:
        pass

    def _uniform(self, shape: tuple[int, ...]) -> GPUTensor:
        return random._uniform(shape)


def default_rng(seed: int | None = None) -> Generator:
    """A Generator; without a seed from the system's randomness."""
    return Generator(seed)


_SHARED = _Shared()
NAMES: dict[str, Any] = {
    name: getattr(_SHARED, name) for name in vars(Generator) if not name.startswith("_") and name != "integers"
}
NAMES |= {"random_sample": _SHARED.random, "sample": _SHARED.random, "ranf": _SHARED.random}
NAMES |= {"Generator": Generator, "default_rng": default_rng}
