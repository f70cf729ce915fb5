"""numpy.random's distributions over the library's own random numbers: float32, the same on every device.

A Generator has a seed and counters of its own; the functions of nervanagpu.random draw from `ng.seed`'s. Parameters are
numbers or tensors, which broadcast with `size`; ValueError for those that a distribution does not have.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from nervanagpu import _core, random
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes, indexing, selection
from nervanagpu.arrays.manipulation import axis_of, moveaxis, ravel
from nervanagpu.calls.arguments import choice, flag, integer, is_integer, number, shown, tensor
from nervanagpu.math import elementwise, reductions, sorting
from nervanagpu.math.reductions import operand_of
from nervanagpu.random import host_sampling
from nervanagpu.random.discrete import Counts
from nervanagpu.random.source import Operand, Size, parameters, seed_of


def _plain(function: str, range: str, **values: object) -> list[Any]:
    """Parameters as they enter float32 expressions: numbers as they are, other things as float32 tensors."""
    checked = parameters(function, range, **values)
    return [
        value if isinstance(value, int | float | np.number) else _core.as_dtype(x, np.float32)
        for value, x in zip(values.values(), checked, strict=True)
    ]


def _given(function: str, made: GPUTensor, dtype: npt.DTypeLike, out: GPUTensor | None) -> GPUTensor:
    """The numbers as `dtype`, in `out` if there is one."""
    if _core.dtype(dtype) not in (np.float16, np.float32, np.float64):
        raise TypeError(f"{function}: dtype is {shown(dtype)}; needs float16, float32 or float64")
    if out is None:
        return _core.as_dtype(made, dtype)
    if tensor(function, "out", out).shape != made.shape:
        raise ValueError(f"{function}: out has shape {out.shape}; needs {made.shape}")
    _core.assign(out, made)
    return out


class BitGenerator:
    """A seed for a Generator: every class of them is the library's Philox4x32-10."""

    def __init__(self, seed: object = None) -> None:
        self.seed = seed_of(type(self).__name__, seed)

    def jumped(self, jumps: int = 1) -> BitGenerator:
        """Another one, whose numbers are others: the same for the same seed and `jumps`."""
        return type(self)(
            np.random.SeedSequence([self.seed, integer("jumped", "jumps", jumps, 0)]) if jumps else self.seed
        )


class Philox4x3210(BitGenerator):
    """The library's generator."""


class XORWOW(BitGenerator):
    """The library's generator under this name."""


class MRG32k3a(BitGenerator):
    """The library's generator under this name."""


class PCG64(BitGenerator):
    """The library's generator under this name."""


class PCG64DXSM(BitGenerator):
    """The library's generator under this name."""


class MT19937(BitGenerator):
    """The library's generator under this name."""


class SFC64(BitGenerator):
    """The library's generator under this name."""


class Philox(BitGenerator):
    """The library's generator under NumPy's name, whose key is a seed."""

    def __init__(self, seed: object = None, counter: object = None, key: object = None) -> None:
        if counter is not None:
            raise ValueError(f"Philox: counter is {shown(counter)}; needs None")
        super().__init__(seed if key is None else key)


class Generator(Counts):
    """Random numbers from a seed or BitGenerator with the methods of NumPy's generators; other numbers than theirs."""

    def __init__(self, bit_generator: object = None) -> None:
        super().__init__(bit_generator.seed if isinstance(bit_generator, BitGenerator) else bit_generator)

    @property
    def bit_generator(self) -> BitGenerator:
        """Its seed."""
        return Philox4x3210(self._seed)

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators of other seeds, made of this one's."""
        count = integer("spawn", "n_children", n_children, 0)
        return [Generator(child) for child in np.random.SeedSequence(self._seed).spawn(count)]

    def _unit(self, size: Size, *parameters: object) -> GPUTensor:
        return self._uniform(self._drawn(size, *parameters))

    def random(self, size: Size = None, dtype: npt.DTypeLike = np.float32, out: GPUTensor | None = None) -> GPUTensor:
        """Uniform in [0, 1), multiples of 2**-24."""
        made = self._unit(out.shape if out is not None and size is None else size)
        return made if out is None and dtype is np.float32 else _given("random", made, dtype, out)

    def uniform(self, low: Operand = 0.0, high: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Uniform in [low, high)."""
        low, high = _plain("uniform", "(-inf, inf)", low=low, high=high)
        return self._unit(size, low, high) * (high - low) + low

    def integers(
        self,
        low: object,
        high: object = None,
        size: Size = None,
        dtype: npt.DTypeLike = np.int64,
        endpoint: bool = False,
    ) -> GPUTensor:
        """Whole numbers from low to high - 1, or from 0 below low; `endpoint`: high, too. Tensors of limits broadcast.

        ValueError for limits that `dtype` does not hold, or with nothing between them.
        """
        return self._integers("integers", low, high, size, dtype, endpoint)

    def _integers(self, function: str, low: object, high: object, size: Size, dtype: Any, endpoint: bool) -> GPUTensor:
        first, end = (0, low) if high is None else (low, high)
        more, kind = int(flag(function, "endpoint", endpoint)), _core.dtype(dtype)
        if dtypes.kind_of(kind) not in "biu":
            raise TypeError(f"{function}: dtype is {shown(dtype)}; needs integers or bool")
        limits = (0, 1) if kind == np.bool_ else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
        if any(isinstance(v, GPUTensor | np.ndarray | list | tuple) for v in (first, end)):
            return self._between(function, first, end, size, kind, more, limits)
        start, stop = integer(function, "low", first), integer(function, "high", end) + more
        if not limits[0] <= start < stop <= limits[1] + 1:
            raise ValueError(f"{function}: low is {start} and high {stop}; needs low < high, both of {kind}")
        return self._whole(self._drawn(size), start, stop - start, kind)

    def _whole(self, shape: tuple[int, ...], start: int, count: int, kind: Any) -> GPUTensor:
        """`count` whole numbers from `start` on: as many bits as it takes, once more for what is too large."""
        if count <= 1 << 24:
            drawn = self._uniform(shape) * float(count)
            whole = start or kind == np.bool_
            return _core.cast(_core.cast(drawn, np.int64) + start, kind) if whole else _core.cast(drawn, kind)
        if count <= 1 << 32:
            low = _core.cast(self._fine(shape) * float(count), np.int64)
            return _core.cast(low + start, kind)
        bits = (count - 1).bit_length()

        def words() -> tuple[GPUTensor, GPUTensor]:
            parts = [_core.cast(self._uniform(shape) * 2.0**24, np.uint64) for _ in range(3)]
            word = elementwise.bitwise_xor(parts[0], elementwise.left_shift(parts[1], np.uint64(20)))
            word = elementwise.bitwise_xor(word, elementwise.left_shift(parts[2], np.uint64(40)))
            word = elementwise.bitwise_and(word, np.uint64((1 << bits) - 1))
            return word, elementwise.greater(word, np.uint64(count - 1))

        found = self._until_accepted(shape, words)
        return _core.cast(elementwise.add(found, np.uint64(start % (1 << 64))), kind)

    def _between(
        self, function: str, low: object, high: object, size: Size, kind: Any, more: int, limits: tuple[int, int]
    ) -> GPUTensor:
        """Whole numbers between tensors of limits."""
        start, stop = parameters(function, "(-4503599627370496, 4503599627370496)", low=low, high=high)
        start, stop = elementwise.ceil(start), elementwise.ceil(stop + more)
        good = elementwise.less(start, stop) & (start >= limits[0]) & (stop <= limits[1] + 1)
        if not bool(reductions.all(good)):
            raise ValueError(
                f"{function}: low is {shown(low)} and high {shown(high)}; needs low < high, both of {kind}"
            )
        u = self._fine(self._drawn(size, start, stop))
        return _core.cast(elementwise.floor(u * (stop - start)) + start, kind)

    def bytes(self, length: int) -> bytes:
        """So many random bytes, on the host."""
        return self.integers(0, 256, integer("bytes", "length", length, 0), np.uint8).get().tobytes()

    def standard_normal(
        self, size: Size = None, dtype: npt.DTypeLike = np.float32, out: GPUTensor | None = None
    ) -> GPUTensor:
        """Normal with mean 0 and variance 1."""
        shape = self._drawn(out.shape if out is not None and size is None else size)
        made = random.normal_of(self._uniform(shape), self._uniform(shape))
        return made if out is None and dtype is np.float32 else _given("standard_normal", made, dtype, out)

    def normal(self, loc: Operand = 0.0, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Normal with mean `loc` and standard deviation `scale`."""
        (loc,), (scale,) = _plain("normal", "[-inf, inf]", loc=loc), _plain("normal", "[0, inf]", scale=scale)
        return self.standard_normal(self._drawn(size, loc, scale)) * scale + loc

    def lognormal(self, mean: Operand = 0.0, sigma: Operand = 1.0, size: Size = None) -> GPUTensor:
        """e to a normal number."""
        return elementwise.exp(self.normal(mean, sigma, size))

    def standard_exponential(
        self,
        size: Size = None,
        dtype: npt.DTypeLike = np.float32,
        method: str = "inv",
        out: GPUTensor | None = None,
    ) -> GPUTensor:
        """Exponential with mean 1, by inversion whatever `method` ("zig", "inv") says."""
        choice("standard_exponential", "method", method, ("zig", "inv"))
        made = -elementwise.log(1 - self._unit(out.shape if out is not None and size is None else size))
        return made if out is None and dtype is np.float32 else _given("standard_exponential", made, dtype, out)

    def exponential(self, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Exponential with mean `scale`."""
        (scale,) = _plain("exponential", "[0, inf]", scale=scale)
        return self.standard_exponential(self._drawn(size, scale)) * scale

    def laplace(self, loc: Operand = 0.0, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Double exponential: density e ** (-|x - loc| / scale) / (2 scale)."""
        (loc,), (scale,) = _plain("laplace", "[-inf, inf]", loc=loc), _plain("laplace", "[0, inf]", scale=scale)
        u = self._unit(size, loc, scale) - 0.5
        apart: GPUTensor = elementwise.sgn(u) * elementwise.log1p(elementwise.absolute(u) * -2 * (1 - 2**-24)) * scale
        return -apart + loc

    def logistic(self, loc: Operand = 0.0, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Logistic: distribution function 1 / (1 + e ** (-(x - loc) / scale))."""
        (loc,), (scale,) = _plain("logistic", "[-inf, inf]", loc=loc), _plain("logistic", "[0, inf]", scale=scale)
        u = self._unit(size, loc, scale) * (1 - 2**-23) + 2**-24
        return elementwise.log(u / (1 - u)) * scale + loc

    def gumbel(self, loc: Operand = 0.0, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """Gumbel: distribution function e ** -(e ** (-(x - loc) / scale))."""
        (loc,), (scale,) = _plain("gumbel", "[-inf, inf]", loc=loc), _plain("gumbel", "[0, inf]", scale=scale)
        u = self._unit(size, loc, scale) * (1 - 2**-23) + 2**-24
        apart: GPUTensor = elementwise.log(-elementwise.log(u)) * scale
        return -apart + loc

    def rayleigh(self, scale: Operand = 1.0, size: Size = None) -> GPUTensor:
        """The length of two normal numbers of that deviation."""
        (scale,) = _plain("rayleigh", "[0, inf]", scale=scale)
        return elementwise.sqrt(self.standard_exponential(self._drawn(size, scale)) * 2) * scale

    def weibull(self, a: Operand, size: Size = None) -> GPUTensor:
        """Weibull of that shape and scale 1."""
        (a,) = _plain("weibull", "(0, inf)", a=a)
        return self.standard_exponential(self._drawn(size, a)) ** (1.0 / a)

    def pareto(self, a: Operand, size: Size = None) -> GPUTensor:
        """Pareto II (Lomax) of that shape."""
        (a,) = _plain("pareto", "(0, inf)", a=a)
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

    @overload
    def permutation(self, x: int | GPUTensor, axis: int = 0) -> GPUTensor: ...

    @overload
    def permutation(self, x: Operand, axis: int = 0) -> GPUTensor | npt.NDArray[Any]: ...

    def permutation(self, x: Operand, axis: int = 0) -> GPUTensor | npt.NDArray[Any]:
        """0 .. x - 1 in any order, or a copy of x with the parts along `axis` in any order; of texts NumPy's array."""
        if is_integer(x):
            return sorting.argsort(self._uniform((integer("permutation", "x", x, 0),)))
        given = host_sampling.among(x)
        if given.ndim == 0:
            raise ValueError("permutation: x has no axes; needs one or more, or an integer")
        at = axis_of("permutation", axis, given.ndim)
        if isinstance(given, np.ndarray):
            return host_sampling.taken(given, self.permutation(given.shape[at]), at)
        return indexing.take(given, sorting.argsort(self._uniform((given.shape[at],))), at)

    def permuted(self, x: Operand, axis: int | None = None, out: GPUTensor | None = None) -> GPUTensor:
        """A copy of x, each row along `axis` in an order of its own; None: all elements."""
        given = operand_of(x)
        rows = ravel(given) if axis is None else moveaxis(given, axis_of("permuted", axis, given.ndim), -1)
        made = selection.take_along_axis(rows, sorting.argsort(self._uniform(rows.shape), -1), -1)
        made = made.reshape(*given.shape) if axis is None else moveaxis(made, -1, axis)
        if out is None:
            return made
        tensor("permuted", "out", out)[...] = made
        return out

    def shuffle(self, x: Operand, axis: int = 0) -> None:
        """Puts the parts of x along `axis` in any order: of a tensor, an array of the host or a list."""
        if isinstance(x, GPUTensor):
            x[...] = self.permutation(x, axis)
        else:
            host_sampling.reorder(x, axis, self.permutation)

    @overload
    def choice(
        self,
        a: int | GPUTensor,
        size: Size = None,
        replace: bool = True,
        p: object = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> GPUTensor: ...

    @overload
    def choice(
        self, a: Operand, size: Size = None, replace: bool = True, p: object = None, axis: int = 0, shuffle: bool = True
    ) -> GPUTensor | npt.NDArray[Any]: ...

    def choice(
        self, a: Operand, size: Size = None, replace: bool = True, p: object = None, axis: int = 0, shuffle: bool = True
    ) -> GPUTensor | npt.NDArray[Any]:
        """Elements of a along `axis` (or of 0 .. a - 1), again and again or each once; p: how likely each one is.

        Of texts and other objects it is an array of the host, or one of them. shuffle has no effect: the order is
        always random. ValueError for a `p` that does not fit or add up to 1, and for more elements than there are
        without `replace`.
        """
        whole = is_integer(a)
        among = creation.arange(integer("choice", "a", a, 0)) if whole else host_sampling.among(a)
        if among.ndim == 0:
            raise ValueError(f"choice: a is {shown(a)}; needs an integer, or one axis or more")
        at = axis_of("choice", axis, among.ndim)
        shape, length = self._drawn(size), among.shape[at]
        count = math.prod(shape)
        if length == 0 and count:
            raise ValueError(f"choice: a is {shown(a)}, which has no elements; needs one or more")
        if not flag("choice", "replace", replace) and count > length:
            raise ValueError(f"choice: size is {shape} and a has {length} elements; needs no more")
        places = self._places(shape, length, replace, p)
        if isinstance(among, np.ndarray):
            return host_sampling.taken(among, places, at)
        return among[places] if among.ndim == 1 else indexing.take(among, places, at)

    def _places(self, shape: tuple[int, ...], length: int, replace: bool, p: object) -> GPUTensor:
        if p is None:
            if replace:
                return self.integers(0, max(length, 1), shape)
            return sorting.argsort(self._uniform((length,)))[: math.prod(shape)].reshape(*shape)
        weights = np.asarray(dtypes.on_host(p), np.float64)
        if weights.shape != (length,) or not (weights >= 0).all() or not abs(weights.sum() - 1) <= 1e-6:
            raise ValueError(f"choice: p has shape {weights.shape}; needs {length} numbers whose sum is 1")
        if replace:
            sums = creation.array((np.cumsum(weights) / weights.sum())[:-1])
            return sorting.searchsorted(sums, self._fine(shape), side="right")
        count = math.prod(shape)
        if count > np.count_nonzero(weights):
            raise ValueError(f"choice: p has {np.count_nonzero(weights)} numbers above 0; needs {count}")
        # The first of exponential times of these rates: one after another, each by its share of what is left.
        times = -elementwise.log(self._positive((length,))) / creation.array(weights)
        return sorting.argsort(times)[:count].reshape(*shape)

    def multivariate_normal(
        self,
        mean: object,
        cov: object,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
    ) -> GPUTensor:
        """Normal vectors of that mean (n,) and covariance (n, n), along the last axis.

        method: the root of the covariance: "svd", "eigh" or "cholesky", which needs one that is definite. check_valid:
        what to do with a covariance that is not symmetric or has an eigenvalue below -tol: "warn", "raise" or "ignore".
        """
        choice("multivariate_normal", "check_valid", check_valid, ("warn", "raise", "ignore"))
        choice("multivariate_normal", "method", method, ("svd", "eigh", "cholesky"))
        (centre,), (spread,) = (
            parameters("multivariate_normal", "(-inf, inf)", **{name: value})
            for name, value in (("mean", mean), ("cov", cov))
        )
        if centre.ndim != 1 or spread.shape != (centre.size, centre.size):
            raise ValueError(
                f"multivariate_normal: mean has shape {centre.shape} and cov {spread.shape}; needs (n,), (n, n)"
            )
        root = creation.array(_root(spread.get(), method, check_valid, tol).T)
        free = self._normal((*self._drawn(size), centre.size))
        return _core.as_dtype(elementwise.add(free @ root, centre), np.float32)


def _root(cov: npt.NDArray[Any], method: str, check_valid: str, tol: float) -> npt.NDArray[Any]:
    """A matrix whose product with its transpose is cov."""
    if method == "cholesky":
        return np.linalg.cholesky(cov)
    values, vectors = np.linalg.eigh(cov)
    if check_valid != "ignore" and not (np.allclose(cov, cov.T, tol, tol) and (values >= -tol).all()):
        text = f"multivariate_normal: cov has the eigenvalue {values.min():g}; needs symmetric, positive-semidefinite"
        if check_valid == "raise":
            raise ValueError(text)
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    root: npt.NDArray[Any] = vectors * np.sqrt(np.maximum(values, 0))
    return root
