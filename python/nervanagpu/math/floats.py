"""Functions of the parts of floats, of angles, and powers as floats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.arrays.manipulation import along, axis_of
from nervanagpu.calls.arguments import number
from nervanagpu.function_table import public
from nervanagpu.math import elementwise, functions, scans, ufunc_keywords
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.functions import _floats
from nervanagpu.math.reductions import operand_of


@public()
@elementwise.of_two
def float_power(a: Operand, b: Operand) -> GPUTensor:
    """a ** b in float64, of complex operands in complex128. TypeError for another `dtype`."""
    try:
        given = [operand_of(float(x) if isinstance(x, int | float) else x) for x in (a, b)]
    except OverflowError:
        raise OverflowError("float_power: a or b is an integer above the largest float64") from None
    kind = np.dtype(np.complex128 if any(dtypes.kind_of(x.dtype) == "c" for x in given) else np.float64)
    return elementwise.power(*(_core.as_dtype(x, kind) for x in given))


def _modf(x: Operand) -> tuple[GPUTensor, GPUTensor]:
    given = operand_of(_floats(x)[0])
    whole = elementwise.trunc(given)
    rest = elementwise.where(elementwise.isinf(given), 0.0, given - whole)
    return elementwise.copysign(rest, given), whole


@public()
@elementwise.taking(elementwise.Unary, elementwise.PAIR)
def modf(x: Operand, out: Any = None, **more: Any) -> tuple[GPUTensor, GPUTensor]:
    """(fraction, whole part), both with the sign of x."""
    elementwise._check_real("modf", x)
    return ufunc_keywords.call("modf", _modf, (x,), out, 2, **more)


def _bits(x: GPUTensor) -> GPUTensor:
    """The bits of float64 numbers as int64."""
    return x.copy().view(np.int64)


def _frexp(x: Operand) -> tuple[GPUTensor, GPUTensor]:
    given = operand_of(_floats(x)[0])
    wide = _core.cast(given, np.float64)
    small = elementwise.less(elementwise.absolute(wide), 2.0**-1000)  # normal numbers, for the exponent's bits
    bits = _bits(elementwise.where(small, wide * 2.0**200, wide))
    exponent = elementwise.right_shift(bits, 52) & 0x7FF
    plain = elementwise.logical_and(elementwise.finite(wide), elementwise.not_equal(wide, 0))
    lifted = elementwise.where(small, 200, 0)
    power = _core.cast(elementwise.where(plain, exponent - 1022 - lifted, 0), np.int32)
    half = (bits & ~(0x7FF << 52) | (1022 << 52)).copy().view(np.float64)
    part = _core.cast(elementwise.where(plain, half, wide), given.dtype)
    return part, power


@public()
@elementwise.taking(elementwise.Unary, elementwise.PAIR)
def frexp(x: Operand, out: Any = None, **more: Any) -> tuple[GPUTensor, GPUTensor]:
    """(significand, exponent): x = significand * 2 ** exponent, significands from 0.5 to 1; int32 exponents."""
    elementwise._check_real("frexp", x)
    return ufunc_keywords.call("frexp", _frexp, (x,), out, 2, **more)


def _two_to(exponent: GPUTensor) -> GPUTensor:
    """2.0 ** exponent, of int64 from -1022 to 1023."""
    return elementwise.left_shift(exponent + 1023, 52).copy().view(np.float64)


@public()
@elementwise.of_two
def ldexp(a: Any, b: Operand) -> GPUTensor:
    """a * 2 ** b, of integers b; float64 results below 2 ** -1022 may be rounded twice.

    A whole number of Python's beside a tensor of integers is a float16, as NumPy has it.
    """
    weak = type(a) in (bool, int) and hasattr(b, "dtype") and b.dtype != bool
    given, power = operand_of(np.float16(a) if weak else _floats(a)[0]), operand_of(b)
    if dtypes.kind_of(power.dtype) not in "iub":
        raise TypeError(f"ldexp: b is {power.dtype}; needs integers")
    if str(power.dtype) == "uint64":
        raise TypeError("ldexp: b is uint64; needs integers that int64 holds (casting 'safe')")
    steps = elementwise.minimum(elementwise.maximum(_core.cast(power, np.int64), -3000), 3000)
    made = _core.cast(given, np.float64)
    for _ in range(3):
        part = elementwise.minimum(elementwise.maximum(steps, -1000), 1000)
        made, steps = made * _two_to(part), steps - part
    return _core.cast(made, given.dtype)


@public()
@elementwise.of_one
def spacing(x: Operand) -> GPUTensor:
    """How far the next number away from 0 is, with the sign of x; NaN for the infinities."""
    given = operand_of(_floats(x)[0])
    size = elementwise.absolute(given)
    step = functions.nextafter(size, creation.full((), math.inf, given.dtype)) - size
    step = elementwise.where(elementwise.isinf(size), math.nan, step)
    return elementwise.where(elementwise.less(given, 0), -step, step)


@public()
def unwrap(p: Operand, discont: float | None = None, axis: int = -1, *, period: float = 2 * math.pi) -> GPUTensor:
    """p with multiples of `period` added so that neighbours along `axis` differ by no more than half of it.

    discont: differences below it stay, if it is more than half a period.
    """
    given = operand_of(p)
    kind = dtypes.promoted_values(given, period) if isinstance(period, np.generic) else None
    period = period if type(period) is int else number("unwrap", "period", period)
    if discont is not None:
        discont = number("unwrap", "discont", discont)
    kind = dtypes.promoted_values(given, period) if kind is None else kind
    if not isinstance(period, int) and dtypes.kind_of(kind) in "iub":
        kind = np.dtype(np.float64)
    x = _core.as_dtype(given, kind)
    at = axis_of("unwrap", axis, x.ndim)
    if x.shape[at] < 2:
        return x.copy()
    bare = scans.diff(given, 1, at)  # of the dtype that came: small integers wrap, as NumPy's
    step = _core.as_dtype(bare, kind)
    whole = dtypes.kind_of(kind) in "iu"
    if dtypes.kind_of(kind) == "u" and period > 1:
        raise OverflowError(f"unwrap: p is {kind} and period {period}; needs signed numbers, or a float as period")
    half: Any = period // 2 if whole else period / 2
    # An even period of integers has one middle, which belongs to the sign of the step; so do floats.
    exact = not whole or int(period) % 2 == 0
    turned = elementwise.remainder(step + half, period) - half
    if exact:
        edge = elementwise.logical_and(elementwise.equal(turned, -half), elementwise.greater(step, 0))
        turned = elementwise.where(edge, half, turned)
    least = half if discont is None else discont
    added = elementwise.where(elementwise.less(elementwise.absolute(bare), least), 0, turned - step)
    made = x.copy()
    made[along(at, slice(1, None))] = x[along(at, slice(1, None))] + scans.cumsum(added, at)
    return made
