"""Functions of integers: common divisors, bits counted and packed."""

from __future__ import annotations

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.arrays.manipulation import axis_of, broadcast_arrays, moveaxis
from nervanagpu.calls.arguments import choice, integer
from nervanagpu.function_table import public
from nervanagpu.math import elementwise, reductions
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of

_STEPS = 8  # of Euclid's algorithm in a kernel; 64-bit numbers take 92 at most


def _whole(function: str, a: Operand, b: Operand) -> tuple[GPUTensor, GPUTensor]:
    """Both in the dtype that they promote to. TypeError for floats and bools."""
    given = [x if type(x) is int else operand_of(x) for x in (a, b)]  # Python's integers are weak
    try:
        dtype = dtypes.promoted_values(*given)
    except OverflowError as error:
        raise OverflowError(f"{function}: a or b has more than 64 bits ({error})") from None
    if dtypes.kind_of(dtype) not in "iu":
        raise TypeError(f"{function}: a and b are {dtype}; needs integers")
    for name, x in (("a", a), ("b", b)):
        dtypes.check_integer(function, name, x, dtype)
    first, second = (_core.cast(operand_of(x), dtype) for x in (a, b))
    first, second = broadcast_arrays(first, second)
    return first, second


def _size(x: GPUTensor) -> GPUTensor:
    """|x| as an unsigned integer, which holds that of the lowest number, too."""
    return _core.cast(elementwise.absolute(x), np.dtype(f"uint{8 * dtypes.size_of(x.dtype)}"))


def _common(first: GPUTensor, second: GPUTensor) -> GPUTensor:
    """The greatest common divisor of unsigned integers."""
    high, low = first, second
    while True:
        for _ in range(_STEPS):
            rest = elementwise.where(elementwise.equal(low, 0), 0, elementwise.remainder(high, low))
            high, low = elementwise.where(elementwise.equal(low, 0), high, low), rest
        elementwise.evaluate(high, low)
        if high.size == 0 or not bool(reductions.any(low)):
            return high


@public()
@elementwise.of_two
def gcd(a: Operand, b: Operand) -> GPUTensor:
    """The greatest common divisor, 0 or more; gcd(a, 0) is |a|."""
    first, second = _whole("gcd", a, b)
    return _core.cast(_common(_size(first), _size(second)), first.dtype)


@public()
@elementwise.of_two
def lcm(a: Operand, b: Operand) -> GPUTensor:
    """The least common multiple, 0 or more; of 0 it is 0."""
    first, second = _whole("lcm", a, b)
    x, y = _size(first), _size(second)
    part = elementwise.floor_divide(x, elementwise.maximum(_common(x, y), 1))
    return _core.cast(elementwise.multiply(part, y), first.dtype)


@public()
@elementwise.of_one
def bitwise_count(x: Operand) -> GPUTensor:
    """How many bits of |x| are set, as uint8."""
    given = operand_of(x)
    if dtypes.kind_of(given.dtype) not in "iub":
        raise TypeError(f"bitwise_count: x is {given.dtype}; needs integers")
    bits = _core.cast(elementwise.absolute(given) if dtypes.kind_of(given.dtype) == "i" else given, np.uint64)
    if dtypes.kind_of(given.dtype) == "i" and dtypes.size_of(given.dtype) < 8:
        bits = elementwise.bitwise_and(bits, (1 << 8 * dtypes.size_of(given.dtype)) - 1)  # |-128| stays -128
    # Sums of 2, 4 and 8 neighbours, and all bytes by one product.
    bits = bits - elementwise.bitwise_and(elementwise.right_shift(bits, 1), 0x5555555555555555)
    low = elementwise.bitwise_and(bits, 0x3333333333333333)
    bits = low + elementwise.bitwise_and(elementwise.right_shift(bits, 2), 0x3333333333333333)
    bits = elementwise.bitwise_and(bits + elementwise.right_shift(bits, 4), 0x0F0F0F0F0F0F0F0F)
    return _core.cast(elementwise.right_shift(bits * 0x0101010101010101, 56), np.uint8)


def _weights(bitorder: object, function: str) -> GPUTensor:
    order = choice(function, "bitorder", bitorder, ("big", "little"))
    places = np.arange(8) if order == "little" else np.arange(7, -1, -1)
    return creation.array((1 << places).astype(np.uint8))


@public()
def packbits(x: Operand, axis: int | None = None, bitorder: str = "big") -> GPUTensor:
    """Eight elements along `axis` (of all, if None) as the bits of a byte, set where they are not 0; then zeros."""
    given = operand_of(x)
    if dtypes.kind_of(given.dtype) not in "iub":
        raise TypeError(f"packbits: x is {given.dtype}; needs integers or bools")
    weights = _weights(bitorder, "packbits")
    given = given if given.ndim else given.reshape(1)
    at = 0 if axis is None else axis_of("packbits", axis, given.ndim)
    bits = moveaxis(given.reshape(-1) if axis is None else given, at, -1)
    length = bits.shape[-1]
    room = creation.zeros((*bits.shape[:-1], -(-length // 8) * 8), np.uint8)
    if bits.size:
        room[..., :length] = elementwise.not_equal(bits, 0)
    parts = room.reshape(*room.shape[:-1], -(-length // 8), 8)
    packed = reductions.sum(elementwise.multiply(parts, weights), -1, dtype=np.uint8)
    return moveaxis(packed, -1, at)


@public()
def unpackbits(x: Operand, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> GPUTensor:
    """The bits of bytes along `axis` (of all, if None) as zeros and ones.

    count: so many; below 0 all but so many.
    """
    given = operand_of(x)
    if np.dtype(given.dtype) != np.uint8:
        raise TypeError(f"unpackbits: x is {given.dtype}; needs uint8")
    weights = _weights(bitorder, "unpackbits")
    given = given if given.ndim else given.reshape(1)
    at = 0 if axis is None else axis_of("unpackbits", axis, given.ndim)
    packed = moveaxis(given.reshape(-1) if axis is None else given, at, -1)
    bits = _core.cast(elementwise.not_equal(elementwise.bitwise_and(packed[..., None], weights), 0), np.uint8)
    bits = bits.reshape(*packed.shape[:-1], packed.shape[-1] * 8)
    if count is not None:
        length = integer("unpackbits", "count", count)
        have = bits.shape[-1]
        wanted = length if length >= 0 else max(have + length, 0)
        room = creation.zeros((*bits.shape[:-1], wanted), np.uint8)
        room[..., : min(wanted, have)] = bits[..., : min(wanted, have)]
        bits = room
    return moveaxis(bits, -1, at)
