#!/usr/bin/env python3
"""Arguments and values of the float64 functions of expressions: test/data/functions64.txt.

    python tools/function_values.py [--out FILE]

A line a value: function, arguments (hexadecimal), the float64 number nearest to the value, and what the value has more
than it, in units in its last place. Arguments: random ones of every size that the function tells apart, those where it
bends, begins and ends, close ones to multiples of pi/2, and those that cost the kernels most in long runs.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal, getcontext
from pathlib import Path

import decimal_functions as exact

D = Decimal
DIGITS = 90
MOST = sys.float_info.max
TINY = sys.float_info.min
LEAST = 5e-324
LOG_MOST = 709.782712893384
BESIDE_ONE = (1 - 2.0**-53, 1 + 2.0**-52)


def power(x: Decimal, y: Decimal) -> Decimal:
    """Of a positive x."""
    return (y * x.ln()).exp()


@dataclass(frozen=True)
class Function:
    """`value`, the range of its arguments, whether these are positive alone, and places to look at."""

    value: Callable[..., Decimal]
    low: float
    high: float
    signed: bool = True
    places: tuple[float, ...] = ()
    pairs: tuple[tuple[float, float], ...] = field(default=())


SMALL = (LEAST, 1e-310, TINY, 2.0**-500, 2.0**-60, 2.0**-54, 2.0**-30, 2.0**-28, 1e-5)
EXP = (0.34657, 0.3466, 1.0, 36.0, 37.2, 50.0, 708.0, LOG_MOST)
LOW_EXP = (-708.5, -720.0, -744.4)
LOG = (LEAST, 1e-310, TINY, 0.5, 0.7071, 0.70711, *BESIDE_ONE, 1.4142, 1.41422, 2.0, 10.0, 1e22, MOST)
ARC = (0.25, 0.4999999999999999, 0.5, 0.5000000000000001, 0.7071067811865476, 0.9999, BESIDE_ONE[0])
ERF = (0.4999999999999999, 0.5, 0.7, 1.0, 2.0, 3.5, 5.8, 5.93)

FUNCTIONS: dict[str, Function] = {
    "exp": Function(lambda x: x.exp(), 2.0**-20, 700, places=(*EXP, *LOW_EXP)),
    "exp2": Function(exact.exp2, 2.0**-20, 1000, places=(0.5, 1023.9, -1022.5, -1060.5, -1074.0)),
    "expm1": Function(exact.expm1, 2.0**-54, 700, places=(*SMALL, *EXP, -0.3465, -0.3466, -36.9, -50.0)),
    "log": Function(lambda x: x.ln(), TINY, MOST, False, LOG),
    "log2": Function(exact.log2, TINY, MOST, False, LOG),
    "log10": Function(lambda x: x.log10(), TINY, MOST, False, (*LOG, 1000.0, 0.001)),
    "log1p": Function(exact.log1p, 2.0**-54, 2.0**60, False, (*SMALL, -0.29, -0.3, -0.5, -BESIDE_ONE[0], 0.4143, MOST)),
    "sig": Function(exact.sig, 2.0**-54, 700, places=(*EXP, -36.5, -42.0, -42.1, *LOW_EXP)),
    "sig2": Function(lambda x: exact.sig(x * D(2).ln()), 2.0**-54, 1000, places=(-59.9, -60.1, -1022.5, -1074.0)),
    "tanh": Function(exact.tanh, 2.0**-40, 20, places=(*SMALL, 0.1733, 0.5, 18.0, 19.0, 22.0, 30.1)),
    "tanh2": Function(lambda x: exact.tanh(x * D(2).ln()), 2.0**-40, 30, places=(*SMALL, 0.25, 26.0, 27.5)),
    "sin": Function(exact.sin, 2.0**-30, MOST, places=(*SMALL, 0.7853981633974483, 2.0**30 - 1, 2.0**30, 1e22, MOST)),
    "cos": Function(exact.cos, 2.0**-30, MOST, places=(*SMALL, 0.7853981633974483, 2.0**30 - 1, 2.0**30, 1e22, MOST)),
    "tan": Function(exact.tan, 2.0**-30, MOST, places=(*SMALL, 0.7853981633974483, 2.0**30 - 1, 2.0**30, 1e22, MOST)),
    "arcsin": Function(exact.arcsin, 2.0**-30, 1, places=(*SMALL, *ARC)),
    "arccos": Function(exact.arccos, 2.0**-60, 1, places=(*SMALL, *ARC, *(-v for v in ARC))),
    "arctan": Function(
        exact.arctan, 2.0**-30, 2.0**60, places=(*SMALL, 0.4142135, 0.4142136, 1.0, 2.4142, 2.41422, MOST)
    ),
    "arctan2": Function(
        exact.arctan2,
        2.0**-40,
        2.0**40,
        pairs=(
            (1.0, MOST),
            (1e-300, 1e8),
            (MOST, MOST),
            (LEAST, LEAST),
            (1e-310, -3e-310),
            (2.0, -1e300),
            (TINY, -MOST),
        ),
    ),
    "sinh": Function(exact.sinh, 2.0**-30, 710, places=(*SMALL, *EXP, 13.0, 17.5, 21.99, 22.01, 710.4758600739439)),
    "cosh": Function(exact.cosh, 2.0**-30, 710, places=(*EXP, 13.0, 17.5, 21.99, 22.01, 710.4758600739439)),
    "arcsinh": Function(exact.arcsinh, 2.0**-30, MOST, places=(*SMALL, 0.3535, 0.3536, 1.0, 2.0**30, 2.0**31, MOST)),
    "arccosh": Function(
        exact.arccosh, 1.0625, MOST, False, (1 + 2.0**-52, 1 + 2.0**-30, 1.0606, 1.0607, 2.0**31, MOST)
    ),
    "arctanh": Function(exact.arctanh, 2.0**-30, 1, places=(*SMALL, 0.1715, 0.1716, 0.5, 0.99, BESIDE_ONE[0])),
    "cbrt": Function(exact.cbrt, TINY, MOST, places=(LEAST, 1e-310, TINY, 2.0**-900, 0.001, 1.0, 27.0, MOST)),
    "hypot": Function(exact.hypot, 2.0**-500, 2.0**500, pairs=((MOST / 2, MOST / 2), (LEAST, 3 * LEAST), (3.0, 4.0))),
    "erf": Function(exact.erf, 2.0**-30, 6, places=(*SMALL, *ERF)),
    "erfc": Function(exact.erfc, 2.0**-30, 26, places=(*ERF, -0.49, -0.51, -2.0, -5.8, 9.0, 15.0, 26.5, 26.6, 27.2)),
    "gelu": Function(
        exact.gelu, 2.0**-30, 38, places=(*SMALL, 0.69, 0.7, 0.71, -0.7, -0.71, 2.0, 8.2, 9.1, -37.6, -38.4)
    ),
    "power": Function(power, 0, 0),
}


def close_to_quarters() -> Iterator[float]:
    """For some exponents e the m < 2^53 that brings m 2^e closest to a multiple of pi/2: by continued fractions."""
    with_digits = getcontext().copy()
    with_digits.prec = 400
    quarter = with_digits.divide(D(2), _pi(400))
    for e in (-52, -30, -22, -21, 0, 50, 200, 431, 600, 797, 900, 970):
        a = with_digits.multiply(quarter, with_digits.power(D(2), e))
        before, m = 1, 0  # denominators of the convergents
        while True:
            whole = a.to_integral_value(rounding="ROUND_FLOOR")
            before, m = m, int(whole) * m + before
            if m >= 1 << 53:
                break
            a = with_digits.divide(D(1), with_digits.subtract(a, whole))
        if before > 1:
            yield math.ldexp(before, e)


def _pi(digits: int) -> Decimal:
    before = getcontext().prec
    getcontext().prec = digits
    value = exact.pi()
    getcontext().prec = before
    return value


def arguments(
    name: str, f: Function, hard: dict[str, list[tuple[float, ...]]], seed: int = 0
) -> list[tuple[float, ...]]:
    """What the table has of one function; other seeds give other numbers."""
    rng = random.Random(f"{name} {seed}")
    out: list[tuple[float, ...]] = []

    def size() -> float:
        v = math.exp(rng.uniform(math.log(f.low), math.log(f.high)))
        return v * rng.choice((-1, 1)) if f.signed else v

    if name == "power":
        for k in range(60):
            x = math.exp(rng.uniform(-700, 700)) if k % 3 else 1 + rng.uniform(-1, 1) * 2.0 ** -rng.randrange(1, 40)
            out.append((x, rng.uniform(-1, 1) * 744 / abs(math.log(x))))
        out += [(x, y) for x in (LEAST, TINY, BESIDE_ONE[0], 10.0, MOST) for y in (1.0, -0.3, 0.9, 3.0, 1e-3)]
    elif name in ("arctan2", "hypot"):
        out = [(size(), size()) for _ in range(30)]
        out += [(v, v * rng.uniform(-3, 3)) for v in (size() for _ in range(30))]
        out += list(f.pairs)
    else:
        out = [(size(),) for _ in range(24)]
        out += [(rng.uniform(-1, 1) * min(f.high, 3.0),) for _ in range(24 if f.signed else 0)]
        out += [(v,) for v in f.places]
        if name in ("sin", "cos", "tan"):
            out += [(v,) for v in close_to_quarters()]
    out += hard.get(name, [])
    return [a for a in dict.fromkeys(out) if 0 not in a]


def unit_of(value: Decimal) -> Decimal:
    """A unit in the last place of a float64 number of this size."""
    near = abs(float(value))
    exponent = math.frexp(near)[1] if near else -1021
    if near > TINY and math.frexp(near)[0] == 0.5 and abs(value) < D(near):
        exponent -= 1
    return D(2) ** (max(exponent, -1021) - 53)


def line(name: str, args: tuple[float, ...], value: Decimal) -> str | None:
    """The table's line; None for values beyond float64."""
    near = float(value)
    if math.isinf(near):
        return None
    more = (value - D(near)) / unit_of(value)
    return f"{name} {' '.join(a.hex() for a in args)} {near.hex()} {float(more):.4f}"


def main() -> int:
    """Parse the command line, compute, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "test/data/functions64.txt")
    args = parser.parse_args()
    getcontext().prec = DIGITS
    lines = ["# function, arguments, nearest float64, what the value has more in its units: tools/function_values.py"]
    for name, f in FUNCTIONS.items():
        for a in arguments(name, f, HARD):
            text = line(name, a, f.value(*(D(v) for v in a)))
            if text is not None:
                lines.append(text)
    args.out.write_text("\n".join(lines) + "\n")
    print(f"{len(lines) - 1} values")
    return 0


# Where long runs against libquadmath found the largest errors.
HARD: dict[str, list[tuple[float, ...]]] = {
    name: [tuple(map(float.fromhex, words.split())) for words in lines]
    for name, lines in {
        "tan": [
            "0x1.8b9c4b93a3cf8p-1",
            "-0x1.609d30279c082p+2",
            "0x1.8b89ccefbf41ap-1",
            "-0x1.2ee8385ddf979p+1",
        ],
        "sin": [
            "0x1.8e15776de827ep-1",
            "0x1.3146593a1a1dfp+1",
            "0x1.86d91b3ed8fb4p-1",
            "-0x1.b8501106f90a6p+4",
        ],
        "cos": [
            "-0x1.5e8a673b9a148p+2",
            "-0x1.9ca986db87712p-1",
            "-0x1.36ea4bd85d223p+6",
            "0x1.f5dbd8d8fbd47p+414",
        ],
        "arcsin": [
            "-0x1.0ab0f2ec6dd9cp-1",
            "0x1.01ce4267b2554p-1",
            "0x1.045bbc96e9bc7p-1",
            "-0x1.1ef2b05555bd8p-1",
        ],
        "arccos": [
            "0x1.2c0c5c3c49718p-1",
            "0x1.1971087bfab40p-1",
            "0x1.1d53d898583e4p-1",
            "0x1.1c4d9d7118350p-1",
        ],
        "arctan": [
            "-0x1.ad31124b06e71p-2",
            "0x1.a42fd97cfaa48p-2",
            "0x1.ae4505a764ff5p-2",
            "0x1.b0b3035156b00p-2",
        ],
        "arctan2": [
            "0x1.68cf9141dc790p-250 0x1.21eab357497d2p+771",
            "0x1.608947d613ebap-837 0x1.c6e087771d834p+183",
            "-0x1.e033205eb7468p-92 0x1.c4c103b1e5729p+929",
            "0x1.e2d0672218d78p-292 0x1.cf16e6966c1c1p+729",
        ],
        "sinh": [
            "0x1.63eb05cfece44p-2",
            "0x1.7e2c85f7e4ec8p-2",
            "0x1.7b78e3e0add10p-2",
            "-0x1.6b32d99e69198p-2",
        ],
        "cosh": [
            "0x1.e9a377ace8498p+1",
            "0x1.7eb5f5edced9ap+4",
            "-0x1.333d14f5eb39dp+9",
            "-0x1.a41583c758448p+6",
        ],
        "arcsinh": [
            "0x1.68c2ec8029354p-2",
            "0x1.6148e643536b0p-2",
            "-0x1.66a260eda930cp-2",
            "-0x1.62eaa700be928p-2",
        ],
        "arccosh": [
            "0x1.0f010f002fb56p+0",
            "0x1.0d37b05fa7462p+0",
            "0x1.0bfd4de64b51fp+0",
            "0x1.0e9b933350524p+0",
        ],
        "arctanh": [
            "0x1.52860159671b0p-3",
            "-0x1.5efb5274178dbp-3",
            "-0x1.521e56980a0b0p-3",
            "0x1.5874f262b3ca0p-3",
        ],
        "erf": [
            "-0x1.c18068567f094p-1021",
            "0x1.930397993ac26p-1021",
            "-0x1.209637b1cd468p-1021",
            "0x1.a891f3bd61977p-1021",
        ],
        "erfc": [
            "0x1.a8d3bb4921e84p+4",
            "0x1.a8d25cdc98c50p+4",
            "0x1.a8c5a888f5388p+4",
            "0x1.a8bd42c010410p+4",
        ],
        "gelu": [
            "-0x1.2cf8f66797500p+5",
            "-0x1.2cf2b29e83944p+5",
            "-0x1.2d02218495994p+5",
            "-0x1.2d0384f6fd3c4p+5",
        ],
        "exp": [
            "-0x1.627c778faad8dp+9",
            "-0x1.625e7eff48538p+9",
            "-0x1.628b2cc35d64ap+9",
            "-0x1.6264ce3e577d0p+9",
        ],
        "exp2": [
            "-0x1.fff81695c6021p+9",
            "-0x1.ffe3c67da41e7p+9",
            "-0x1.fff169fbf69acp+9",
            "-0x1.87b17e25fbbb8p+4",
        ],
        "expm1": [
            "0x1.6744fe0e25a78p-2",
            "0x1.6c8f435403780p-2",
            "0x1.635b68facd7b3p-2",
            "0x1.6499c32039ddcp-2",
        ],
        "log": [
            "0x1.696ff2fcd833cp-1",
            "0x1.678b77db928bcp-1",
            "0x1.6728e092689b0p+0",
            "0x1.64aeab00e6bb0p-1",
        ],
        "log2": [
            "0x1.672b5b03243b8p+0",
            "0x1.65545616dee37p+0",
            "0x1.5eb9e4c561162p+0",
            "0x1.68881817f3f28p+0",
        ],
        "log10": [
            "0x1.535a79b75f142p+0",
            "0x1.65ebae9223b40p-1",
            "0x1.549db7ae3085ep+0",
            "0x1.51f76083a1a03p+0",
        ],
        "log1p": [
            "0x1.9d2c5702b0d44p-2",
            "0x1.9fe740109dbb4p-2",
            "0x1.a6d36e754ef25p-2",
            "0x1.a0061db40c064p-2",
        ],
        "sig": [
            "-0x1.627c778faad8dp+9",
            "-0x1.625e7eff48538p+9",
            "-0x1.628b2cc35d64ap+9",
            "-0x1.6264ce3e577d0p+9",
        ],
        "sig2": [
            "-0x1.fff81695c6021p+9",
            "-0x1.ffe3c67da41e7p+9",
            "-0x1.fff169fbf69acp+9",
            "-0x1.f74a0c7b95a31p+4",
        ],
        "tanh": [
            "-0x1.67321cc017840p-3",
            "0x1.6a1962a326f28p-3",
            "0x1.727a1c7eaf2dap-3",
            "0x1.66e7f91088738p-3",
        ],
        "tanh2": [
            "0x1.6cc5bcd021111p-1021",
            "-0x1.43f177134891cp-1020",
            "-0x1.4b6ba3a609cffp-1021",
            "-0x1.2596da3d03bc1p-1020",
        ],
        "cbrt": [
            "-0x1.6cbd15e95782bp+1",
            "0x1.76d95271e9ecdp+19",
            "0x1.6f15007612df4p+7",
            "-0x1.7d0f562a1c3d8p-2",
        ],
        "hypot": [
            "0x0.a1a39caa29592p-1022 0x0.b839f8dfbd8acp-1022",
            "0x0.205836e0cacfbp-1022 0x0.899177ac7f715p-1022",
            "0x0.c45a8cb672008p-1022 0x0.4b85dfa3d7460p-1022",
            "0x0.5542a68e69f30p-1022 0x0.a16d7d9fd97cap-1022",
        ],
        "power": [
            "0x1.6c012b04d0a85p-1 -0x1.c79499751b04fp+10",
            "0x1.69d7632c11d58p+0 0x1.f0c2eab05bd6cp+10",
            "0x1.6ca3d840de14ap+0 -0x1.f1ccee4dd0fe7p+10",
            "0x1.6be49aa8ad951p-1 0x1.80d4b4bf4099cp+10",
        ],
    }.items()
}

if __name__ == "__main__":
    sys.exit(main())
