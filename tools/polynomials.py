#!/usr/bin/env python3
"""The polynomials of src/fuse/numeric/double_*.cpp: minimax by Remez's exchange, coefficients as float64.

    python tools/polynomials.py [NAME ...]

Prints each table as the sources have it, highest power first, with log2 of the largest error over the interval,
relative to the function that it serves, of the polynomial with its rounded coefficients in exact arithmetic. The
first ones are rounded to 21 bits where that costs nothing, so that they are immediates; those after a rounded one are
fitted again.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, getcontext

import decimal_functions

D = Decimal
Function = Callable[[Decimal], Decimal]
DIGITS = 60
WIDE_FROM = 9  # how many of the last coefficients are rounded either way
WAYS = 6


@dataclass(frozen=True)
class Spec:
    """`value(u)` on [low, high] by `count` coefficients, of which the first `short` have 21 bits.

    `weight(u)` times an error of the polynomial is the relative error of the function that is made of it.
    """

    name: str
    what: str
    value: Function
    weight: Function
    low: Decimal
    high: Decimal
    count: int
    short: int = 0


TINY = D(10) ** -16
QUARTER = (D(math.pi / 4) + D("1e-6")) ** 2
EIGHTH = (D(2).sqrt() - 1) ** 2 * D("1.0001")
LN2 = D("0.34658")  # half of ln 2, and some
K = D("3.5")  # of erfc: t = (z - K) / (z + K)
LEAST, MOST = D("0.4949"), D("27.5")


def _sine(z: Decimal) -> Decimal:
    r = z.sqrt()
    return (decimal_functions.sin(r) / r - 1) / z


def _cosine(z: Decimal) -> Decimal:
    return (decimal_functions.cos(z.sqrt()) - 1 + z / 2) / (z * z)


def _arc_tangent(z: Decimal) -> Decimal:
    t = z.sqrt()
    return (decimal_functions.arctan(t) / t - 1) / z


def _arc_sine(z: Decimal) -> Decimal:
    s = z.sqrt()
    return (decimal_functions.arcsin(s) / s - 1) / z


def _exp(r: Decimal) -> Decimal:
    r = r if abs(r) > TINY else TINY
    return (decimal_functions.expm1(r) - r - r * r / 2) / r**3


def _log(z: Decimal) -> Decimal:
    s = z.sqrt()
    return (decimal_functions.log1p(2 * s / (1 - s)) / s - 2) / z


def _log_tail(z: Decimal) -> Decimal:
    s = z.sqrt()
    return (decimal_functions.log1p(2 * s / (1 - s)) / s - 2 - 2 * z / 3 - 2 * z * z / 5) / z**3


def _erf(z: Decimal) -> Decimal:
    x = z.sqrt()
    return (decimal_functions.erf(x) / x - 2 / decimal_functions.pi().sqrt()) / z


def _scaled(t: Decimal) -> Decimal:
    z = K * (1 + t) / (1 - t)
    return (1 + 2 * z) * decimal_functions.erfcx(z) - D("1.25")


def _slope(t: Decimal) -> Decimal:
    step = D("1e-20")
    return (_scaled(t + step) - _scaled(t)) / step


def _one(_: Decimal) -> Decimal:
    return D(1)


def _itself(z: Decimal) -> Decimal:
    return z


def _from_zero(value: Function) -> Function:
    """value(u), and next to 0, where its digits cancel, that of a number that is as good."""
    return lambda u: value(max(u, TINY))


T: tuple[Decimal, Decimal] = ((LEAST - K) / (LEAST + K), (MOST - K) / (MOST + K))
SPECS: dict[str, Spec] = {
    s.name: s
    for s in (
        Spec("kSine", "(sin(r) / r - 1) / r^2, |r| <= pi/4, in r^2", _from_zero(_sine), _itself, D(0), QUARTER, 6, 1),
        Spec(
            "kCosine",
            "(cos(r) - 1 + r^2 / 2) / r^4, |r| <= pi/4, in r^2",
            _from_zero(_cosine),
            lambda z: z * z * D("1.4"),
            D(0),
            QUARTER,
            6,
            1,
        ),
        Spec(
            "kArcTangent",
            "(atan(t) / t - 1) / t^2, |t| <= sqrt(2) - 1, in t^2",
            _from_zero(_arc_tangent),
            _itself,
            D(0),
            EIGHTH,
            12,
            2,
        ),
        Spec(
            "kArcSine",
            "(asin(s) / s - 1) / s^2, |s| <= 1/2, in s^2",
            _from_zero(_arc_sine),
            _itself,
            D(0),
            D("0.25"),
            14,
            3,
        ),
        Spec(
            "kExp",
            "(e^r - 1 - r - r^2 / 2) / r^3, |r| <= ln(2) / 2",
            _exp,
            lambda r: abs(r) ** 2 * D("1.2") if r else D(0),
            -LN2,
            LN2,
            10,
            2,
        ),
        Spec(
            "kLog",
            "(2 atanh(s) / s - 2) / s^2, |s| <= 3 - sqrt(8), in s^2",
            _from_zero(_log),
            lambda z: z / 2,
            D(0),
            (3 - D(8).sqrt()) ** 2 * D("1.0001"),
            7,
            1,
        ),
        Spec(
            "kLogTail",
            "(2 atanh(s) / s - 2 - 2/3 s^2 - 2/5 s^4) / s^6, |s| <= 3 - sqrt(8), in s^2",
            _from_zero(_log_tail),
            lambda z: z**3 / 2,
            D(0),
            (3 - D(8).sqrt()) ** 2 * D("1.0001"),
            7,
            1,
        ),
        Spec(
            "kErf",
            "(erf(x) / x - 2 / sqrt(pi)) / x^2, |x| <= 1/2, in x^2",
            _from_zero(_erf),
            _itself,
            D(0),
            D("0.25"),
            10,
            2,
        ),
        Spec("kScaled", f"erfc(z) e^(z^2) (1 + 2z) - 5/4, {LEAST} <= z <= {MOST}, in t", _scaled, _one, *T, 22, 1),
        Spec("kSlope", "the derivative of that", _slope, _one, *T, 4, 4),
    )
}


def solve(rows: list[list[Decimal]], right: list[Decimal]) -> list[Decimal]:
    """Of linear equations, by elimination with the largest pivots."""
    n = len(right)
    m = [[*row, r] for row, r in zip(rows, right, strict=True)]
    for k in range(n):
        at = max(range(k, n), key=lambda i: abs(m[i][k]))
        m[k], m[at] = m[at], m[k]
        for i in range(k + 1, n):
            f = m[i][k] / m[k][k]
            if f:
                m[i] = [a - f * b if j >= k else a for j, (a, b) in enumerate(zip(m[i], m[k], strict=True))]
    out = [D(0)] * n
    for k in range(n - 1, -1, -1):
        out[k] = (m[k][n] - sum((m[k][j] * out[j] for j in range(k + 1, n)), D(0))) / m[k][k]
    return out


def evaluate(c: list[Decimal], u: Decimal) -> Decimal:
    """c[0] + c[1] u + ..."""
    total = D(0)
    for k in reversed(c):
        total = total * u + k
    return total


@dataclass
class Grid:
    """Where the error is looked at: Chebyshev's extrema, the function and its weight there."""

    u: list[Decimal]
    value: list[Decimal]
    weight: list[Decimal]


def grid_of(spec: Spec) -> Grid:
    count = 40 * spec.count
    middle, half = (spec.low + spec.high) / 2, (spec.high - spec.low) / 2
    u = [middle - half * D(math.cos(math.pi * i / count)) for i in range(count + 1)]
    u = [min(max(v, spec.low), spec.high) for v in u]
    return Grid(u, [spec.value(v) for v in u], [spec.weight(v) for v in u])


def errors(c: list[Decimal], g: Grid) -> list[Decimal]:
    return [w * (evaluate(c, u) - v) for u, v, w in zip(g.u, g.value, g.weight, strict=True)]


def minimax(g: Grid, fixed: list[Decimal], count: int) -> list[Decimal]:
    """The lower `count` coefficients; `fixed` stand above them."""
    rest = [v - evaluate([D(0)] * count + fixed, u) for u, v in zip(g.u, g.value, strict=True)]
    weighted = [i for i, w in enumerate(g.weight) if w > 0]
    at = [weighted[(len(weighted) - 1) * i // count] for i in range(count + 1)]  # the grid is Chebyshev's
    c: list[Decimal] = []
    for _ in range(20):
        rows = [[g.u[i] ** k for k in range(count)] + [(-1) ** j / g.weight[i]] for j, i in enumerate(at)]
        c = solve(rows, [rest[i] for i in at])[:-1]
        e = [w * (evaluate(c, u) - v) for u, v, w in zip(g.u, rest, g.weight, strict=True)]
        peaks: list[int] = []  # of each run of one sign
        for i in weighted:
            if peaks and (e[i] > 0) == (e[peaks[-1]] > 0):
                if abs(e[i]) > abs(e[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > count + 1:
            peaks.pop(0 if abs(e[peaks[0]]) < abs(e[peaks[-1]]) else -1)
        if len(peaks) < count + 1 or peaks == at:
            break
        at = peaks
    return c


def rounded(v: Decimal, bits: int) -> Decimal:
    """To so many bits of significand, as a float64."""
    f = float(v)
    if bits >= 53:
        return D(f)
    m, e = math.frexp(f)
    return D(math.ldexp(round(math.ldexp(m, bits)), e - bits))


def neighbours(v: Decimal, bits: int) -> list[Decimal]:
    """The two numbers of so many bits on either side of v, the nearer one first."""
    near = rounded(v, bits)
    _, e = math.frexp(float(v))
    step = D(math.ldexp(1.0, e - bits))
    return [near, near + step if v > near else near - step]


def fit(spec: Spec) -> tuple[list[float], float]:
    """Coefficients, highest power first, and log2 of the largest weighted error.

    Each is rounded in turn and those below it are fitted again; of the last ones both neighbours are tried, since the
    nearer one is not always the better one, and the best few of these ways are followed.
    """
    g = grid_of(spec)
    ways: list[list[Decimal]] = [[]]
    for k in range(spec.count):
        left = spec.count - k
        tried: list[tuple[Decimal, list[Decimal]]] = []
        for fixed in ways:
            top = minimax(g, fixed, left)[-1]
            choices = neighbours(top, 21 if k < spec.short else 53)
            for choice in choices[: 1 if left > WIDE_FROM else 2]:
                way = [choice, *fixed]
                lower = minimax(g, way, left - 1) if left > 1 and left <= WIDE_FROM else []
                tried.append((max(abs(e) for e in errors(lower + way, g)), way))
        tried.sort(key=lambda t: t[0])
        ways = [way for _, way in tried[:WAYS]]
    best = ways[0]
    largest = max(abs(e) for e in errors(best, g))
    return [float(v) for v in reversed(best)], math.log2(largest)


def hexadecimal(v: float) -> str:
    """As clang-format leaves it: without zeros at the end."""
    digits, exponent = v.hex().split("p")
    digits = digits.rstrip("0") if "." in digits else digits
    return f"{digits}{'0' if digits.endswith('.') else ''}p{exponent}"


def main() -> int:
    """Parse the command line, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(SPECS), metavar="NAME")
    args = parser.parse_args()
    unknown = [n for n in args.names if n not in SPECS]
    if unknown:
        parser.error(f"there is no {unknown[0]}; there are {', '.join(SPECS)}")
    getcontext().prec = DIGITS
    for name in args.names:
        spec = SPECS[name]
        c, error = fit(spec)
        print(f"// {spec.what}: 2^{error:.1f}")
        print(f"constexpr double {name}[] = {{{', '.join(map(hexadecimal, c))}}};", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
