"""Random arrays, by the library's Philox: they repeat by their seed. CUDA's own sequences are not remade."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import nervanagpu as ng
from nervanagpu import _core
from nervanagpu.calls.protocols import StreamLike
from nervanagpu.pycuda import compute
from nervanagpu.pycuda.array_class import GPUArray, Shape

if TYPE_CHECKING:
    from nervanagpu._core import GPUTensor

__all__ = [
    "MRG32k3aRandomNumberGenerator", "Philox4_32_10RandomNumberGenerator", "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator", "Sobol32RandomNumberGenerator", "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator", "generate_scramble_constants32", "generate_scramble_constants64",
    "get_curand_version", "rand", "seed_getter_uniform", "seed_getter_unique",
]  # fmt: skip


def _uniform(count: int, seed: int, offset: int, dtype: np.dtype[Any]) -> GPUTensor:
    """`count` numbers in (0, 1], as CUDA's: float64 is made of two words."""
    if dtype == np.float32:
        return 1 - _core.random((count,), seed, offset)
    if dtype == np.float64:
        words = _core.cast(_core.random((2 * count,), seed, offset), "float64")
        return 1 - (words[:count] + words[count:] * 2.0**-24)
    raise TypeError(f"uniform random numbers of dtype {dtype}; needs float32 or float64")


def get_curand_version() -> tuple[int, int, int]:
    """Of the interface that this module has."""
    return 10, 0, 0


def rand(shape: Shape, dtype: npt.DTypeLike = np.float32, stream: StreamLike = None) -> GPUArray:
    """Uniform numbers: floats of 0 to 1, or 32-bit integers of all values."""
    out = GPUArray(shape, dtype)
    _default.fill_uniform(out, stream)
    return out


class _Generator:
    """Takes the next numbers of a seed with each call."""

    def __init__(self, seed_getter: Callable[[int], Any] | None = None, offset: int = 0) -> None:
        """seed_getter: called with 1, gives a GPUArray of a seed; None: of numpy's random numbers."""
        if seed_getter is None:
            self._seed = int(np.random.default_rng().integers(1 << 62))
        else:
            self._seed = int(seed_getter(1).get().reshape(-1)[0]) & ((1 << 64) - 1)
        self._offset = int(offset)

    @property
    def generators_per_block(self) -> int:
        return 256

    def _take(self, count: int) -> tuple[int, int]:
        start = self._offset
        self._offset += (count + 3) // 4
        return self._seed, start

    def call_skip_ahead(self, i: int, stream: StreamLike = None) -> None:
        """Leave out `i` numbers."""
        self._offset += (int(i) + 3) // 4

    def call_skip_ahead_array(self, i: GPUArray, stream: StreamLike = None) -> None:
        """Leave out as many numbers as the array's elements add up to."""
        compute.wait(stream)
        self.call_skip_ahead(int(i.get().sum()))

    def fill_uniform(self, data: GPUArray, stream: StreamLike = None) -> None:
        """Uniform numbers: floats of 0 to 1, or integers of all values of 32 bits."""
        compute.wait(stream)
        if data.size == 0:
            return
        if data.dtype.kind in "iu":
            # Two numbers of 16 bits each: a word of the generator has 24 that count.
            high, low = (_core.random((data.size,), *self._take(data.size)) * 65536.0 for _ in range(2))
            words = GPUArray(data.size, np.int64)
            words.tensor[...] = ng.left_shift(_core.cast(high, "int64"), 16) + _core.cast(low, "int64")
            data[...] = words.astype(data.dtype).reshape(data.shape)
            return
        kind: np.dtype[Any] = np.dtype(np.float32) if data.dtype.itemsize < 4 else data.dtype
        words_each = 2 if kind == np.float64 else 1
        numbers = _uniform(data.size, *self._take(words_each * data.size), kind)
        self._put(data, numbers, kind)

    def _put(self, data: GPUArray, numbers: Any, kind: np.dtype[Any]) -> None:
        out = GPUArray(data.size, kind)
        out.tensor[...] = numbers
        data[...] = out.reshape(data.shape)

    def _normal(self, count: int, kind: np.dtype[Any]) -> GPUTensor:
        """Box and Muller's: of two uniform numbers one normal one."""
        words_each = 2 if kind == np.float64 else 1
        radius = _uniform(count, *self._take(words_each * count), kind)
        angle = _uniform(count, *self._take(words_each * count), kind)
        return ng.sqrt(-2 * ng.log(radius)) * ng.cos(angle * (2 * np.pi))

    def fill_normal(self, data: GPUArray, stream: StreamLike = None) -> None:
        """Normal numbers of mean 0 and variance 1."""
        compute.wait(stream)
        if data.size:
            self._put(data, self._normal(data.size, data.dtype), data.dtype)

    def gen_uniform(self, shape: Shape, dtype: npt.DTypeLike, stream: StreamLike = None) -> GPUArray:
        """A new array of uniform numbers."""
        out = GPUArray(shape, dtype)
        self.fill_uniform(out, stream)
        return out

    def gen_normal(self, shape: Shape, dtype: npt.DTypeLike, stream: StreamLike = None) -> GPUArray:
        """A new array of normal numbers."""
        out = GPUArray(shape, dtype)
        self.fill_normal(out, stream)
        return out

    def gen_log_normal(
        self, shape: Shape, dtype: npt.DTypeLike, log_mean: float, log_stddev: float, stream: StreamLike = None
    ) -> GPUArray:
        """Numbers whose logarithm is normal."""
        out = GPUArray(shape, dtype)
        if out.size:
            numbers = ng.exp(self._normal(out.size, out.dtype) * float(log_stddev) + float(log_mean))
            self._put(out, numbers, out.dtype)
        return out

    def gen_poisson(
        self, shape: Shape, dtype: npt.DTypeLike, lambda_value: float, stream: StreamLike = None
    ) -> GPUArray:
        """Poisson's numbers of mean `lambda_value`: each step of a product of uniform numbers counts one."""
        out = GPUArray(shape, dtype)
        self.fill_poisson(out, lambda_value, stream)
        return out

    def fill_log_normal(self, data: GPUArray, log_mean: float, log_stddev: float, stream: StreamLike = None) -> None:
        """Numbers whose logarithm is normal."""
        data[...] = self.gen_log_normal(data.shape, data.dtype, log_mean, log_stddev, stream)

    def fill_poisson(self, data: GPUArray, lambda_value: float | None = None, stream: StreamLike = None) -> None:
        """Poisson's numbers of mean `lambda_value`; None: each element is the mean of its own number."""
        compute.wait(stream)
        if data.size == 0:
            return
        left, count = GPUArray(data.size, np.float64), GPUArray(data.size, np.int64)
        left[...] = data.astype(np.float64).reshape(data.size) if lambda_value is None else float(lambda_value)
        most = float(left.get().max())
        count.fill(0)
        # Beyond mean + 12 deviations + 30 lies less than 1e-20.
        for _ in range(int(most + 12 * np.sqrt(most) + 30)):
            spent = ng.log(_uniform(data.size, *self._take(2 * data.size), np.dtype(np.float64)))
            left.tensor[...] = left.tensor + spent
            count.tensor[...] = count.tensor + _core.cast(ng.greater(left.tensor, 0), "int64")
        data[...] = count.astype(data.dtype).reshape(data.shape)


class _Sequences(_Generator):
    """A generator whose numbers come in sequences of 2**42."""

    def call_skip_ahead_sequence(self, i: int, stream: StreamLike = None) -> None:
        """Leave out `i` sequences."""
        self.call_skip_ahead(int(i) << 42)

    def call_skip_ahead_sequence_array(self, i: GPUArray, stream: StreamLike = None) -> None:
        """Leave out as many sequences as the array's elements add up to."""
        compute.wait(stream)
        self.call_skip_ahead_sequence(int(i.get().sum()))


class XORWOWRandomNumberGenerator(_Sequences):
    """The library's generator under this name."""


class MRG32k3aRandomNumberGenerator(_Sequences):
    """The library's generator under this name."""


class Philox4_32_10RandomNumberGenerator(_Sequences):
    """The library's generator."""


class Sobol32RandomNumberGenerator(_Generator):
    """The library's generator under this name: random, not quasi-random."""


class ScrambledSobol32RandomNumberGenerator(_Generator):
    """The library's generator under this name: random, not quasi-random."""


class Sobol64RandomNumberGenerator(_Generator):
    """The library's generator under this name: random, not quasi-random."""


class ScrambledSobol64RandomNumberGenerator(_Generator):
    """The library's generator under this name: random, not quasi-random."""


def generate_scramble_constants32(count: int) -> npt.NDArray[np.uint32]:
    """Random words, for the constructors of scrambled generators."""
    return np.random.default_rng().integers(0, 1 << 32, count, np.uint32)


def generate_scramble_constants64(count: int) -> npt.NDArray[np.uint64]:
    """Random words of 64 bits, for the constructors of scrambled generators."""
    return np.random.default_rng().integers(0, 1 << 64, count, np.uint64)


def seed_getter_uniform(n: int) -> GPUArray:
    """One seed, n times."""
    return GPUArray(n, np.int32).fill(int(np.random.default_rng().integers(1, 1 << 31)))


def seed_getter_unique(n: int) -> GPUArray:
    """n seeds."""
    from nervanagpu.pycuda.creation import to_gpu

    return to_gpu(np.random.default_rng().integers(1, 1 << 31, n).astype(np.int32))


_default = _Generator()
