"""Stochastic rounding."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import jax

from nervanagpu import _core
from nervanagpu.calls.arguments import dtype_name, either, integer
from nervanagpu.jax import checks
from nervanagpu.jax.calls import batched_by, call_as, differentiable

Array: TypeAlias = jax.Array


class Round(NamedTuple):
    dtype: str
    seed: int  # of 64 bits, as a signed number
    offset: int
    bits: int


def _round_of_batch(config: Round, size: int, batched: object, x: Array) -> tuple[Array, bool]:
    return _round(config, x), True


@batched_by(_round_of_batch)
def _round(config: Round, x: Array) -> Array:
    numbers = {"seed": config.seed, "offset": config.offset, "bits": config.bits}
    return call_as("stochastic_round", x, config.dtype, numbers)


def _kept(config: Round, x: Array) -> tuple[Array, Array]:
    return _rounded(config, x), x[:0] if x.ndim else x


def _gradient(config: Round, like: Array, grad: Array) -> tuple[Array]:
    return (grad.astype(like.dtype),)  # as of a conversion


_rounded = differentiable(_round, _kept, _gradient)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def stochastic_round(x: Array, dtype: object, seed: int, offset: int = 0, bits: int = 0) -> Array:
    """x as `dtype` (float16, bfloat16, or float32 of `bits` bits), up or down at random: the expected value is x.

    Element i takes word i % 4 of Philox4x32-10(seed, offset + i / 4), under vmap too, where i counts the whole batch.
    seed and offset are integers, not arrays: a jitted function has those with which it was traced. bits: of the
    mantissa; 0: the most. The gradient is that of a conversion. TypeError for dtypes, ValueError for numbers.
    """
    checks.operands("stochastic_round", x=x)
    name = dtype_name("stochastic_round", dtype)
    if name not in checks.FLOATS:
        raise TypeError(f"stochastic_round: dtype is {name}; needs {either(checks.FLOATS)}")
    limit = (1 << 64) - 1
    seed = _signed(integer("stochastic_round", "seed", seed, 0, limit))
    offset = _signed(integer("stochastic_round", "offset", offset, 0, limit))
    return _rounded(Round(name, seed, offset, integer("stochastic_round", "bits", bits, 0, _core.most_bits(name))), x)
