"""The functions of nervanagpu.random beside those of expressions, and the class whose methods they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core, random
from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import integer, shown
from nervanagpu.random.distributions import (
    MT19937,
    PCG64,
    PCG64DXSM,
    SFC64,
    XORWOW,
    BitGenerator,
    Generator,
    MRG32k3a,
    Philox,
    Philox4x3210,
)
from nervanagpu.random.source import Size, seed_of


class RandomState(Generator):
    """A Generator with the names that NumPy had before it: rand, randn, randint, random_sample, seed and others."""

    def seed(self, seed: object = None) -> None:
        """Start again from a seed."""
        with self._lock:
            self._seed, self._offset = seed_of("seed", seed), 0

    def get_state(self, legacy: bool = True) -> tuple[str, int, int]:
        """The generator's name, its seed and how many counters are spent: what set_state takes."""
        with self._lock:
            return "Philox4x32-10", self._seed, self._offset

    def set_state(self, state: object) -> None:
        """Go on from where get_state was called."""
        seed, offset = _state(state)
        with self._lock:
            self._seed, self._offset = seed, offset

    def rand(self, *size: int) -> GPUTensor:
        """Uniform in [0, 1)."""
        return self.random(size)

    def randn(self, *size: int) -> GPUTensor:
        """Normal with mean 0 and variance 1."""
        return self.standard_normal(size)

    def randint(
        self, low: object, high: object = None, size: Size = None, dtype: npt.DTypeLike = np.int64
    ) -> GPUTensor:
        """Whole numbers from low to high - 1, or from 0 below low."""
        return self._integers("randint", low, high, size, dtype, False)

    def random_integers(self, low: int, high: int | None = None, size: Size = None) -> GPUTensor:
        """Whole numbers from low to high, or from 1 to low."""
        return self.integers(1 if high is None else low, low if high is None else high, size, endpoint=True)

    def tomaxint(self, size: Size = None) -> GPUTensor:
        """Whole numbers from 0 to 2**63 - 1."""
        return self.integers(0, (1 << 63) - 1, size, endpoint=True)

    def random_sample(self, size: Size = None) -> GPUTensor:
        """Uniform in [0, 1)."""
        return self.random(size)

    sample = ranf = random_sample


def _state(state: Any) -> tuple[int, int]:
    """Seed and counters of what get_state gave."""
    try:
        name, seed, offset = state
        if name != "Philox4x32-10":
            raise ValueError
        spent = integer("set_state", "counters", offset, 0, random.COUNTERS - 1)
        return integer("set_state", "seed", seed, 0, (1 << 64) - 1), spent
    except (TypeError, ValueError):
        needs = 'needs what get_state gives: ("Philox4x32-10", seed, counters)'
        raise ValueError(f"set_state: state is {shown(state)}; {needs}") from None


class _Shared(RandomState):
    """The one that `ng.seed` and `ng.rand` have."""

    def __init__(self) -> None:
        pass

    @property
    def _seed(self) -> int:  # type: ignore[override]
        return random._seed

    def _uniform(self, shape: tuple[int, ...]) -> GPUTensor:
        return random._uniform(shape)

    def get_state(self, legacy: bool = True) -> tuple[str, int, int]:
        """The generator's name, its seed and how many counters this device has spent: what set_state takes."""
        with random._lock:
            return "Philox4x32-10", random._seed, random._offsets.get(_core.get_device(), 0)

    def set_state(self, state: object) -> None:
        """Go on, on this device, from where get_state was called; another seed lets all others start again."""
        seed, offset = _state(state)
        with random._lock:
            if seed != random._seed:
                random._offsets.clear()
            random._seed, random._offsets[_core.get_device()] = seed, offset


def default_rng(seed: object = None) -> Generator:
    """A Generator; without a seed from the system's randomness. A Generator is given back as it is."""
    return seed if isinstance(seed, Generator) else Generator(seed)


def get_bit_generator() -> BitGenerator:
    """The seed of the functions of nervanagpu.random."""
    return SHARED.bit_generator


def set_bit_generator(bitgen: BitGenerator) -> None:
    """Let the functions of nervanagpu.random start from the seed of another one."""
    if not isinstance(bitgen, BitGenerator):
        raise TypeError(f"set_bit_generator: bitgen is {shown(bitgen)}; needs a BitGenerator")
    random.seed(bitgen.seed)


def get_random_state() -> RandomState:
    """What the functions of nervanagpu.random are methods of."""
    return SHARED


def set_random_state(rs: RandomState) -> None:
    """Let the functions of nervanagpu.random go on as `rs` would."""
    if not isinstance(rs, RandomState):
        raise TypeError(f"set_random_state: rs is {shown(rs)}; needs a RandomState")
    SHARED.set_state(rs.get_state())


SHARED = _Shared()
_HIDDEN = ("integers", "seed", "rand", "randn", "randint", "spawn", "bit_generator", "permuted", "tomaxint")
NAMES: dict[str, Any] = {
    name: getattr(SHARED, name) for name in dir(RandomState) if not name.startswith("_") and name not in _HIDDEN
}
NAMES |= {
    made.__name__: made
    for made in (
        *(BitGenerator, Generator, MRG32k3a, Philox4x3210, RandomState, XORWOW),
        *(MT19937, PCG64, PCG64DXSM, Philox, SFC64),
        *(default_rng, get_bit_generator, set_bit_generator, get_random_state, set_random_state),
    )
}
NAMES["SeedSequence"] = np.random.SeedSequence
