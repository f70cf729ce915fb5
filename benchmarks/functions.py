"""Errors of the functions of expressions: of float32 for every one of the 2^32 inputs, against float64.

    python benchmarks/functions.py [--out FILE] [--every N] [--pairs N] [--names exp,log,...]
    python benchmarks/functions.py --dtype float64 [--out FILE] [--count N] [--names exp,log,...]

The reference is PyTorch's float64 function on the same GPU; without PyTorch or a GPU, NumPy's (then take --every: each
N-th bit pattern only). Errors are in units in the last place of the float32 result (subnormal ones have those of the
smallest normal number). NaN must be NaN, infinities must be these; results beyond float32 must be infinite or the
largest number. Functions of two operands are tried on random pairs of bit
patterns. The run fails if a function misses its bound.

Of float64, --count random arguments: half of them any bit patterns, half of magnitudes from 2^-60 to 2^10. The
reference is NumPy's function of long double, which must have 64 bits of significand or more (x86); erf, erfc and gelu,
which it has not, are compared with values of 90 digits in the tests.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
from measure.report import commit, machine, save

try:
    import torch
except ImportError:
    torch = None

CHUNK = 1 << 26
CHUNK64 = 1 << 20  # of float64: the reference is slow and takes ten times the memory
NEAR_2 = 2 - 2.0**-23  # all bits of the significand are set
TINY = 1.75 * 2.0**-140  # subnormal


@dataclass(frozen=True)
class Function:
    """Ours, the reference in words of the module `m` (NumPy or PyTorch), and the bound in units in the last place."""

    ours: Callable[..., ng.GPUTensor]
    exact: Callable[..., Any]
    bound: float
    operands: int = 1
    wide: bool = True  # for float64, too


def log_2(x: Any) -> Any:
    """The logarithm of 2 in the precision of x."""
    return np.log(np.longdouble(2)) if getattr(x, "dtype", None) == np.longdouble else math.log(2)


def cube_root(m: Any, x: Any) -> Any:
    """PyTorch has none."""
    return m.cbrt(x) if m is np else m.sign(x) * abs(x) ** (1 / 3)


def logistic(m: Any, x: Any, log_base: float) -> Any:
    """1 / (1 + base ** -x) without overflow."""
    z = m.exp(-abs(x) * log_base)
    return m.where(x >= 0, 1 / (1 + z), z / (1 + z))


def special(m: Any) -> Any:
    """Where erf and erfc are: PyTorch's, or SciPy's."""
    return importlib.import_module("scipy.special") if m is np else m.special


def silu(m: Any, x: Any) -> Any:
    """x / (1 + e^-x), of -87 for what is below."""
    x = m.where(x < -87.0, -87.0, x)
    return x * logistic(m, x, 1.0)


def gelu(m: Any, x: Any) -> Any:
    """x Phi(x), whose limit below is -0."""
    bounded = m.clip(x, -40, None)
    return bounded * special(m).erfc(-bounded / math.sqrt(2)) / 2


FUNCTIONS = {
    "exp": Function(ng.exp, lambda m, x: m.exp(x), 2),
    "exp2": Function(ng.exp2, lambda m, x: m.exp2(x), 2),
    "log": Function(ng.log, lambda m, x: m.log(x), 2),
    "log2": Function(ng.log2, lambda m, x: m.log2(x), 2),
    "sig": Function(ng.sig, lambda m, x: logistic(m, x, 1.0), 2),
    "sig2": Function(ng.sig2, lambda m, x: logistic(m, x, log_2(x)), 2),
    # Further down its logistic factor is subnormal, which leaves the product few bits (docs/numerics.md).
    "silu": Function(lambda x: ng.silu(ng.maximum(x, -87)), silu, 2.5, wide=False),
    "tanh": Function(ng.tanh, lambda m, x: m.tanh(x), 2),
    "tanh2": Function(ng.tanh2, lambda m, x: m.tanh(x * log_2(x)), 2),
    "sin": Function(ng.sin, lambda m, x: m.sin(x), 0.51),
    "cos": Function(ng.cos, lambda m, x: m.cos(x), 0.51),
    "tan": Function(ng.tan, lambda m, x: m.tan(x), 0.51),
    "arcsin": Function(ng.arcsin, lambda m, x: m.arcsin(x), 0.51),
    "arccos": Function(ng.arccos, lambda m, x: m.arccos(x), 0.51),
    "arctan": Function(ng.arctan, lambda m, x: m.arctan(x), 0.51),
    "sinh": Function(ng.sinh, lambda m, x: m.sinh(x), 0.51),
    "cosh": Function(ng.cosh, lambda m, x: m.cosh(x), 0.51),
    "arcsinh": Function(ng.arcsinh, lambda m, x: m.sign(x) * m.arcsinh(abs(x)), 0.51),
    "arccosh": Function(ng.arccosh, lambda m, x: m.arccosh(x), 0.51),
    "arctanh": Function(ng.arctanh, lambda m, x: m.arctanh(x), 0.51),
    "expm1": Function(ng.expm1, lambda m, x: m.expm1(x), 0.51),
    "log1p": Function(ng.log1p, lambda m, x: m.log1p(x), 0.51),
    "log10": Function(ng.log10, lambda m, x: m.log10(x), 0.51),
    "cbrt": Function(ng.cbrt, cube_root, 0.51),
    "erf": Function(ng.erf, lambda m, x: special(m).erf(x), 0.51, wide=False),
    "erfc": Function(ng.erfc, lambda m, x: special(m).erfc(x), 0.51, wide=False),
    "gelu": Function(ng.gelu, gelu, 0.51, wide=False),
    "sqrt": Function(ng.sqrt, lambda m, x: m.sqrt(x), 0.5),
    "reciprocal": Function(ng.reciprocal, lambda m, x: 1 / x, 0.5),
    "divide": Function(ng.divide, lambda m, x, y: x / y, 0.5, 2),
    # A divisor that is the same for all has a way of its own.
    "divide_by_3": Function(lambda x: x / 3, lambda m, x: x / 3, 0.5),
    "divide_by_near_2": Function(lambda x: x / NEAR_2, lambda m, x: x / NEAR_2, 0.5, wide=False),
    "divide_by_tiny": Function(lambda x: x / -TINY, lambda m, x: x / -TINY, 0.5, wide=False),
    "arctan2": Function(ng.arctan2, lambda m, x, y: m.arctan2(x, y), 0.51, 2),
    "hypot": Function(ng.hypot, lambda m, x, y: m.hypot(x, y), 0.51, 2),
    "fmod": Function(ng.fmod, lambda m, x, y: m.fmod(x, y), 0, 2),
    "power": Function(ng.power, lambda m, x, y: x**y, 2, 2),
}


@dataclass
class Result:
    """Of one function; `worst` is the input (or pair) of the largest error."""

    name: str
    inputs: int
    bound: float
    max_ulp: float = 0.0
    worst: str = ""
    wrong_special: int = 0
    special: str = ""
    seconds: float = 0.0


class Host:
    """Operands by NumPy."""

    m: Any = np
    largest = float(np.finfo(np.float32).max)

    def bits(self, start: int, count: int, every: int) -> Any:
        return (np.arange(start, start + count * every, every, dtype=np.uint64)).astype(np.uint32).view(np.float32)

    def random(self, count: int, seed: int) -> Any:
        return np.random.default_rng(seed).integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32)

    def run(self, f: Function, x: tuple[Any, ...]) -> Any:
        return f.ours(*(ng.array(v) for v in x)).get()

    def wide(self, x: Any) -> Any:
        return x.astype(np.float64)

    def spacing(self, v: Any) -> Any:
        return np.ldexp(1.0, np.maximum(np.frexp(v)[1] - 1, -126) - 23)


class Gpu:
    """The same by PyTorch, in memory that both see."""

    m: Any = torch
    largest = float(np.finfo(np.float32).max)

    def bits(self, start: int, count: int, every: int) -> Any:
        words = torch.arange(start, start + count * every, every, dtype=torch.int64, device="cuda")
        return torch.where(words >= 1 << 31, words - (1 << 32), words).to(torch.int32).view(torch.float32)

    def random(self, count: int, seed: int) -> Any:
        generator = torch.Generator("cuda").manual_seed(seed)
        words = torch.randint(-(1 << 31), 1 << 31, (count,), dtype=torch.int64, device="cuda", generator=generator)
        return words.to(torch.int32).view(torch.float32)

    def run(self, f: Function, x: tuple[Any, ...]) -> Any:
        y = torch.full_like(x[0], 12345.0)
        out = ng.wrap(y.data_ptr(), tuple(y.shape), np.float32)
        out[:] = f.ours(*(ng.wrap(v.data_ptr(), tuple(v.shape), np.float32) for v in x))
        ng.synchronize()
        return y

    def wide(self, x: Any) -> Any:
        return x.double()

    def spacing(self, v: Any) -> Any:
        exponent = torch.clamp(torch.frexp(v).exponent - 1, min=-126) - 23
        return torch.ldexp(torch.ones_like(v), exponent)


class Float64(Host):
    """Operands of float64 by NumPy, on any device."""

    largest = float(np.finfo(np.float64).max)

    def random(self, count: int, seed: int) -> Any:
        random = np.random.default_rng(seed)
        any_bits = random.integers(0, 1 << 64, count, dtype=np.uint64).view(np.float64)
        near = np.ldexp(random.uniform(-2, 2, count), random.integers(-60, 10, count))
        return np.where(random.integers(0, 2, count) == 0, any_bits, near)

    def wide(self, x: Any) -> Any:
        return x.astype(np.longdouble)

    def spacing(self, v: Any) -> Any:
        return np.ldexp(np.longdouble(1), np.maximum(np.frexp(v)[1] - 1, -1022) - 52)


def inputs(side: Host | Gpu, f: Function, every: int, pairs: int) -> Iterator[tuple[Any, ...]]:
    """Chunks of operands."""
    if isinstance(side, Float64):
        for k in range(0, pairs, CHUNK64):
            count = min(CHUNK64, pairs - k)
            yield tuple(side.random(count, 2 * k + 1 + i) for i in range(f.operands))
        return
    if f.operands == 1:
        for start in range(0, 1 << 32, CHUNK * every):
            count = min(CHUNK, ((1 << 32) - start + every - 1) // every)
            yield (side.bits(start, count, every),)
        return
    for k in range(0, pairs, CHUNK):
        count = min(CHUNK, pairs - k)
        yield side.random(count, 2 * k + 1), side.random(count, 2 * k + 2)


def check(name: str, f: Function, side: Host | Gpu, every: int, pairs: int) -> Result:
    """One function over all its inputs."""
    m = side.m
    result = Result(name, 0, f.bound)
    start = time.perf_counter()
    for x in inputs(side, f, every, pairs):
        got = side.wide(side.run(f, x))
        want = f.exact(m, *(side.wide(v) for v in x))
        result.inputs += len(got)
        largest = side.largest
        beyond = m.isfinite(want) & (abs(want) > largest)
        plain = m.isfinite(want) & ~beyond
        right = m.where(m.isnan(want), m.isnan(got), got == want)
        right = m.where(beyond, (abs(got) >= largest) & ((got > 0) == (want > 0)), right)
        wrong = ~plain & ~right
        error = m.where(plain, abs(got - want) / side.spacing(m.where(plain, want, m.ones_like(want))), 0.0 * right)
        error = m.where(m.isnan(error), m.full_like(error, math.inf), error)
        at = int(error.argmax())
        if float(error[at]) > result.max_ulp:
            result.max_ulp = float(error[at])
            result.worst = ", ".join(f"{float(v[at])!r}" for v in x)
        count = int(wrong.sum())
        if count and not result.wrong_special:
            first = int((wrong * 1).argmax())
            result.special = ", ".join(f"{float(v[first])!r}" for v in x) + f" gives {float(got[first])!r}"
        result.wrong_special += count
    result.seconds = time.perf_counter() - start
    return result


def main() -> int:
    """Parse the command line, check, print, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="JSON file; default: none")
    parser.add_argument("--every", type=int, default=1, help="take each N-th bit pattern")
    parser.add_argument("--pairs", type=int, default=1 << 30, help="operands of power and divide")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_argument("--count", type=int, default=1 << 24, help="arguments of each function of float64")
    parser.add_argument("--names", help="of functions; default: all")
    args = parser.parse_args()
    double = args.dtype == "float64"
    functions = {n: f for n, f in FUNCTIONS.items() if f.wide or not double}
    names = args.names.split(",") if args.names else list(functions)
    unknown = [n for n in names if n not in functions]
    if unknown:
        parser.error(f"--names: there is no {unknown[0]} of {args.dtype}; there are {', '.join(functions)}")
    if double and np.finfo(np.longdouble).nmant < 63:
        parser.error(f"--dtype: long double has {np.finfo(np.longdouble).nmant} bits here; needs 63")
    side = Float64() if double else Gpu() if torch is not None and ng.device().kind == "cuda" else Host()
    if double:  # one unit is promised of all but those that are rounded correctly
        functions = {n: replace(f, bound=max(f.bound, 1) if f.bound > 0.5 else f.bound) for n, f in functions.items()}
    rows = []
    with np.errstate(all="ignore"):
        for n in names:
            r = check(n, functions[n], side, args.every, args.count if double else args.pairs)
            rows.append(r)
            note = f"  {r.wrong_special} wrong: {r.special}" if r.wrong_special else ""
            print(
                f"{n:16s} {r.inputs:11d} inputs  {r.max_ulp:.4f} ulp at {r.worst}  {r.seconds:.1f} s{note}", flush=True
            )
    if args.out:
        body = {"commit": commit(), **machine(), "dtype": args.dtype, "every": args.every}
        body["rows"] = [asdict(r) for r in rows]
        save(args.out, body)
    return 0 if all(r.max_ulp <= r.bound + 1e-6 and not r.wrong_special for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
