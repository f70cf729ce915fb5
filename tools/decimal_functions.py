"""Functions to as many digits as `decimal` is asked for: by series, continued fractions, and formulas made of these.

They are written to be plainly right, not fast. Every argument is a Decimal; results have some digits less than the
context (`decimal.getcontext().prec`), so callers work with 20 more than they need.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, getcontext, localcontext
from functools import lru_cache

ONE = Decimal(1)
TWO = Decimal(2)


def _epsilon() -> Decimal:
    return Decimal(10) ** -getcontext().prec


def _series(first: Decimal, next_term: Callable[[Decimal, int], Decimal]) -> Decimal:
    """first + t1 + t2 ..., t(k) = next_term(t(k - 1), k), until terms do not count."""
    total = term = first
    small = _epsilon()
    k = 0
    while term != 0 and abs(term) > abs(total) * small:
        k += 1
        term = next_term(term, k)
        total += term
    return total


@lru_cache(maxsize=16)
def _pi(digits: int) -> Decimal:
    with localcontext() as c:
        c.prec = digits + 10
        return 16 * _arctan_series(ONE / 5) - 4 * _arctan_series(ONE / 239)


def pi() -> Decimal:
    """3.14159..., by Machin's formula."""
    return +_pi(getcontext().prec)


def _arctan_series(x: Decimal) -> Decimal:
    total, power, k = x, x, 0
    small = _epsilon()
    while power != 0 and abs(power) > abs(total) * small:
        k += 1
        power *= -x * x
        total += power / (2 * k + 1)
    return total


def exponent(x: Decimal) -> int:
    """The power of ten of x, 0 for 0."""
    return x.adjusted() if x else 0


def sin(x: Decimal) -> Decimal:
    with localcontext() as c:
        c.prec += 20 + max(0, exponent(x))
        r, odd, sign = _turn(x)
        value = sign * (_cos_series(r) if odd else _sin_series(r))
    return +value


def cos(x: Decimal) -> Decimal:
    with localcontext() as c:
        c.prec += 20 + max(0, exponent(x))
        r, odd, sign = _turn(x)
        value = -sign * _sin_series(r) if odd else sign * _cos_series(r)
    return +value


def tan(x: Decimal) -> Decimal:
    return sin(x) / cos(x)


def _turn(x: Decimal) -> tuple[Decimal, bool, int]:
    """x = k pi / 2 + r: r with its digits, whether k is odd, and the sign of k / 2 half turns."""
    with localcontext() as c:
        c.prec += 40  # r may be as small as 10^-19
        half = pi() / 2
        k = int((x / half).to_integral_value())
        r = x - k * half
    return r, k % 2 == 1, -1 if k // 2 % 2 else 1


def _sin_series(r: Decimal) -> Decimal:
    return _series(r, lambda t, k: -t * r * r / (2 * k * (2 * k + 1)))


def _cos_series(r: Decimal) -> Decimal:
    return _series(ONE, lambda t, k: -t * r * r / ((2 * k - 1) * 2 * k))


def sinh(x: Decimal) -> Decimal:
    if abs(x) < ONE:
        return _series(x, lambda t, k: t * x * x / (2 * k * (2 * k + 1)))
    return (x.exp() - (-x).exp()) / 2


def cosh(x: Decimal) -> Decimal:
    return (x.exp() + (-x).exp()) / 2


def expm1(x: Decimal) -> Decimal:
    if abs(x) < ONE:
        return _series(x, lambda t, k: t * x / (k + 1))
    return x.exp() - 1


def tanh(x: Decimal) -> Decimal:
    if abs(x) > 400:
        return ONE.copy_sign(x)
    t = expm1(2 * x)
    return t / (t + 2)


def log1p(x: Decimal) -> Decimal:
    """By 2 atanh(x / (2 + x)) near 0."""
    if abs(x) > Decimal("0.3"):
        return (1 + x).ln()
    s = x / (2 + x)
    total, power, k = s, s, 0
    small = _epsilon()
    while power != 0 and abs(power) > abs(total) * small:
        k += 1
        power *= s * s
        total += power / (2 * k + 1)
    return 2 * total


def arctan(x: Decimal) -> Decimal:
    a = abs(x)
    if a > 1:
        return (pi() / 2 - arctan(1 / a)).copy_sign(x)
    if a > Decimal("0.2"):
        return 2 * arctan(x / (1 + (1 + x * x).sqrt()))
    return _arctan_series(x)


def arctan2(y: Decimal, x: Decimal) -> Decimal:
    """Of a point that is not the origin."""
    if x == 0:
        return (pi() / 2).copy_sign(y)
    angle = arctan(abs(y / x))
    return (pi() - angle if x < 0 else angle).copy_sign(y)


def arcsin(x: Decimal) -> Decimal:
    if abs(x) == 1:
        return (pi() / 2).copy_sign(x)
    return arctan(x / ((1 - x) * (1 + x)).sqrt())


def arccos(x: Decimal) -> Decimal:
    if x == -1:
        return pi()
    return 2 * arctan(((1 - x) / (1 + x)).sqrt())


def arcsinh(x: Decimal) -> Decimal:
    a = abs(x)
    return log1p(a + a * a / (1 + (1 + a * a).sqrt())).copy_sign(x)


def arccosh(x: Decimal) -> Decimal:
    t = x - 1
    return log1p(t + (t * (t + 2)).sqrt())


def arctanh(x: Decimal) -> Decimal:
    return log1p(2 * x / (1 - x)) / 2


def sig(x: Decimal) -> Decimal:
    return 1 / (1 + (-x).exp())


def log2(x: Decimal) -> Decimal:
    return x.ln() / TWO.ln()


def exp2(x: Decimal) -> Decimal:
    return (x * TWO.ln()).exp()


def cbrt(x: Decimal) -> Decimal:
    return (abs(x).ln() / 3).exp().copy_sign(x) if x else x


def hypot(x: Decimal, y: Decimal) -> Decimal:
    return (x * x + y * y).sqrt()


def erf(x: Decimal) -> Decimal:
    """Below 6 by the series 2 / sqrt(pi) e^(-x^2) x (1 + 2 x^2 / 3 + ...), whose terms are positive."""
    if abs(x) > 6:
        return 1 - erfc(x) if x > 0 else erfc(-x) - 1
    sum_ = _series(x, lambda t, k: t * 2 * x * x / (2 * k + 1))
    return 2 / pi().sqrt() * (-x * x).exp() * sum_


def erfc(x: Decimal) -> Decimal:
    if x < 0:
        return 2 - erfc(-x)
    return (-x * x).exp() * erfcx(x)


def erfcx(x: Decimal) -> Decimal:
    """erfc(x) e^(x^2), x >= 0: below 6 by the series of erf, with digits for what cancels; else the continued fraction
    1 / sqrt(pi) / (x + (1/2) / (x + 1 / (x + (3/2) / (x + ...))))."""
    if x < 6:
        with localcontext() as c:
            c.prec += 40
            value = (x * x).exp() * (1 - erf(x))
        return +value
    terms = 20 + int((getcontext().prec * math.log(10)) ** 2 / (8 * float(min(x, Decimal(10**6))) ** 2))
    tail = x
    for k in range(2 * terms, 0, -1):
        tail = x + Decimal(k) / 2 / tail
    return 1 / pi().sqrt() / tail


def gelu(x: Decimal) -> Decimal:
    return x / 2 * erfc(-x / TWO.sqrt())
