"""Trigonometry, hyperbolic and error functions, float64 functions, division with remainder, shifts: beside NumPy.

Float32 functions are compared with NumPy's of float64, float64 ones with those of long double, on every exponent of
both signs and where the functions bend; remainders and shifts must be NumPy's bit for bit. Each kernel is verified.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from samples import FLOATS, INTEGERS

Array = np.ndarray[Any, Any]
SPECIAL = [
    0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1,
    -1,
    2,
    -2,
    0.5,
    -0.5,
    3,
    -3,
    7,
    2.5,
    -3.5,
    1e4,
    2.0**24,
    2.0**53 + 2,
    1e300,
]


pytestmark = pytest.mark.usefixtures("numpy_is_quiet")


def erfc(x: Array) -> Array:
    return np.array([math.erfc(v) if np.isfinite(v) else 1 - np.sign(v) for v in x])


def gelu(x: Array) -> Array:
    return np.where(x == -np.inf, -0.0, x * erfc(-np.clip(x, -40, None) / math.sqrt(2)) / 2)


def logistic(x: Array) -> Array:
    z = np.exp(-np.abs(x))
    return np.where(x < 0, z / (1 + z), 1 / (1 + z))


SINGLE: dict[str, Callable[..., Array]] = {
    name: getattr(np, name)
    for name in (
        "sin cos tan arcsin arccos arctan sinh cosh arcsinh arccosh arctanh expm1 log1p log10 cbrt arctan2 hypot"
    ).split()
} | {"erf": lambda x: np.array([math.erf(v) for v in x]), "erfc": erfc, "gelu": gelu}
TWICE: dict[str, Callable[..., Array]] = {
    name: getattr(np, name)
    for name in (
        "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 log1p "
        "cbrt arctan2 hypot"
    ).split()
} | {
    "sig": logistic,
    "sig2": lambda x: logistic(x * np.log(np.longdouble(2))),
    "tanh2": lambda x: np.tanh(x * np.log(np.longdouble(2))),
}


def inputs(rng: np.random.Generator, dtype: type[np.floating[Any]]) -> Array:
    """Every exponent of both signs, its powers of two among them, and numbers of everyday size."""
    digits, word = (23, np.uint32) if dtype is np.float32 else (52, np.uint64)
    count = 1 << (8 * word().itemsize - 1 - digits)
    each = 32 if dtype is np.float32 else 8
    bits = np.arange(count, dtype=word).repeat(each) << word(digits)
    bits |= rng.integers(0, 1 << digits, bits.size, dtype=word)
    bits[::each] &= ~word((1 << digits) - 1)
    plain = [rng.uniform(-size, size, 3000) for size in (1.2, 20, 110 if dtype is np.float32 else 760)]
    return np.concatenate([bits.view(dtype), -bits.view(dtype), *plain]).astype(dtype)


def check(name: str, got: Array, exact: Array, bound: float) -> None:
    """No error above `bound` units in the last place; special values and the signs of zeros as they are."""
    dtype = got.dtype
    nearest = exact.astype(dtype)
    plain = np.isfinite(nearest)
    np.testing.assert_array_equal(got[~plain], nearest[~plain])
    unit = np.spacing(np.maximum(np.abs(nearest), np.finfo(dtype).tiny))[plain].astype(exact.dtype)
    error = np.abs(got[plain].astype(exact.dtype) - exact[plain]) / unit
    assert np.all(error <= bound), (name, error.max())
    zero = plain & (exact == 0)
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(exact[zero]))


@pytest.mark.parametrize("name", SINGLE)
def test_single(name: str, rng: np.random.Generator) -> None:
    x = [inputs(rng, np.float32) for _ in range(2 if name in ("arctan2", "hypot") else 1)]
    if len(x) == 2:
        rng.shuffle(x[0])
    got = getattr(ng, name)(*(ng.array(v) for v in x)).get()
    check(name, got, SINGLE[name](*(v.astype(np.float64) for v in x)), 0.51)


@pytest.mark.parametrize("name", TWICE)
def test_twice(name: str, rng: np.random.Generator) -> None:
    x = [inputs(rng, np.float64) for _ in range(2 if name in ("arctan2", "hypot") else 1)]
    if len(x) == 2:
        rng.shuffle(x[0])
    got = getattr(ng, name)(*(ng.array(v) for v in x)).get()
    check(name, got, TWICE[name](*(v.astype(np.longdouble) for v in x)), 1)


def test_large_arguments_are_reduced() -> None:
    """Numbers that come close to multiples of pi / 2, and the largest ones: known to more digits than float64 has."""
    x = np.array([16367173.0 * 2.0**72, 2.0**127, 3.0e38, 1e22, 355.0, 103993.0, 2.0**28, -(2.0**29)], np.float32)
    exact = np.sin(x.astype(np.float64))  # NumPy reduces float64 exactly, too
    check("sin", ng.sin(ng.array(x)).get(), exact, 0.51)
    check("cos", ng.cos(ng.array(x)).get(), np.cos(x.astype(np.float64)), 0.51)
    check("cos", ng.cos(ng.array(x[0:1])).get(), np.array([-6.09891e-9]) * 0 + np.cos(np.float64(x[0])), 0.51)


def test_power_of_float64(rng: np.random.Generator) -> None:
    x = np.exp(rng.uniform(-700, 700, 20001))
    x[:4000] = 1 + rng.uniform(-1e-3, 1e-3, 4000)
    y = rng.uniform(-1, 1, x.size) * 740 / np.maximum(np.abs(np.log(x)), 1e-4)
    check("power", (ng.array(x) ** ng.array(y)).get(), np.power(x.astype(np.longdouble), y.astype(np.longdouble)), 1)
    special = np.array([*SPECIAL, 5e-324, -1e-310])
    a, b = (m.ravel() for m in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        want = np.power(a, b)
    got = (ng.array(a) ** ng.array(b)).get()
    np.testing.assert_allclose(got, want, rtol=4.5e-16, atol=0)
    np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))


def test_float16_is_rounded_once(rng: np.random.Generator) -> None:
    x = rng.integers(0, 1 << 16, 5000, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        for name in ("sin", "expm1", "arctan"):
            want = SINGLE[name](x.astype(np.float64)).astype(np.float16)
            np.testing.assert_allclose(getattr(ng, name)(ng.array(x)).get(), want, rtol=1e-3, atol=6e-8)


def exactly(got: ng.GPUTensor, want: Array) -> None:
    g = got.get()
    assert g.dtype == want.dtype
    np.testing.assert_array_equal(g, want)
    if g.dtype.kind == "f":
        same = g == want
        np.testing.assert_array_equal(np.signbit(g[same]), np.signbit(want[same]))


def pairs(rng: np.random.Generator, dtype: str) -> tuple[Array, Array]:
    if dtype in FLOATS:
        word = {2: np.uint16, 4: np.uint32, 8: np.uint64}[np.dtype(dtype).itemsize]
        special = np.array(SPECIAL).astype(dtype)
        bits = rng.integers(0, 1 << 8 * word().itemsize, 6000, dtype=word).view(dtype)
        near = (rng.uniform(-9, 9, 4000) * 2.0 ** rng.integers(-12, 12, 4000)).astype(dtype)
        whole = rng.integers(-9, 10, 2000).astype(dtype)
    else:
        i = np.iinfo(dtype)
        special = np.array([0, 1, 2, 3, 7, 100, i.max, i.max - 1, i.max // 2, i.min, i.min + 1], dtype)
        bits = rng.integers(i.min, i.max, 6000, dtype=dtype, endpoint=True)
        near = bits[:4000] >> rng.integers(0, i.bits, 4000).astype(dtype)
        whole = (bits[:2000] >> (i.bits // 2)).astype(dtype)
    a, b = (m.ravel() for m in np.meshgrid(special, special))
    return np.concatenate([a, bits[::2], near[::2], whole[::2]]), np.concatenate(
        [b, bits[1::2], near[1::2], whole[1::2]]
    )


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_division_with_remainder(dtype: str, rng: np.random.Generator) -> None:
    a, b = pairs(rng, dtype)
    x, y = ng.array(a), ng.array(b)
    with np.errstate(all="ignore"):
        exactly(ng.fmod(x, y), np.fmod(a, b))
        exactly(ng.remainder(x, y), np.remainder(a, b))
        if dtype == "float64":  # quotients below the normal numbers may be off by one unit
            usual = ~(np.abs(a / b) < np.finfo(np.float64).tiny)
            x, y, a, b = ng.array(a[usual]), ng.array(b[usual]), a[usual], b[usual]
        exactly(ng.floor_divide(x, y), np.floor_divide(a, b))
        for got, want in zip(divmod(x, 3), divmod(a, np.dtype(dtype).type(3)), strict=True):
            exactly(got, want)
        exactly(7 // x, np.dtype(dtype).type(7) // a)
        exactly(x % 5, a % np.dtype(dtype).type(5))
        if dtype == "float32":
            exactly(x / y, a / b)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(dtype: str, rng: np.random.Generator) -> None:
    a, _ = pairs(rng, dtype)
    bits = np.iinfo(dtype).bits
    counts = rng.integers(0, bits + 3, a.size).astype(dtype)
    if dtype[0] == "i":
        counts[::50] = -1
    counts[1::50] = np.iinfo(dtype).max
    exactly(ng.array(a) << ng.array(counts), a << counts)
    exactly(ng.array(a) >> ng.array(counts), a >> counts)
    x = ng.array(a)
    x <<= 3
    x >>= 1
    exactly(x, (a << 3) >> 1)


def test_bool_counts_as_int8() -> None:
    a, b = np.array([True, False, True, False]), np.array([True, True, False, False])
    with np.errstate(all="ignore"):
        for f in (operator.floordiv, operator.mod, operator.lshift, operator.rshift):
            exactly(f(ng.array(a), ng.array(b)), f(a, b))


def test_signs_extremes_and_truths(rng: np.random.Generator) -> None:
    for dtype in FLOATS:
        a, b = (v[~np.isnan(v)] for v in pairs(rng, dtype))
        n = min(a.size, b.size)
        exactly(ng.copysign(ng.array(a[:n]), ng.array(b[:n])), np.copysign(a[:n], b[:n]))
        exactly(ng.signbit(ng.array(a)), np.signbit(a))
        c, d = (v.copy() for v in (a[:n], b[:n]))
        c[::5], d[::7] = np.nan, np.nan
        np.testing.assert_array_equal(ng.fmax(ng.array(c), ng.array(d)).get(), np.fmax(c, d))
        np.testing.assert_array_equal(ng.fmin(ng.array(c), ng.array(d)).get(), np.fmin(c, d))
    for dtype in INTEGERS:
        a, _ = pairs(rng, dtype)
        exactly(ng.signbit(ng.array(a)), a < 0)
    m = rng.integers(0, 2, (5, 6)).astype(np.float32)
    m[0], m[:, 0] = 1, 0
    x = ng.array(m)
    for axis in (None, 0, 1, -1):
        exactly(ng.all(x, axis), np.asarray(np.all(m, axis)))
        exactly(ng.any(x, axis), np.asarray(np.any(m, axis)))
    assert bool(ng.all(x >= 0))
    np.testing.assert_allclose(ng.deg2rad(x * 90).get(), np.deg2rad(m * 90), rtol=1e-7)
    np.testing.assert_allclose(np.degrees(x).get(), np.degrees(m), rtol=1e-7)


def test_one_kernel_and_numpy_names(rng: np.random.Generator) -> None:
    a = rng.uniform(-3, 3, 1000).astype(np.float32)
    x = ng.array(a)
    y = np.sin(x) * np.cos(x) + np.arctan2(x, 2.0)
    assert isinstance(y, ng.GPUTensor)
    before = ng.launch_count()
    y.get()
    assert ng.launch_count() == before + 1
    tanh_form = a / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3)))
    np.testing.assert_allclose(ng.gelu(x, "tanh").get(), tanh_form, rtol=2e-5, atol=1e-6)
    out = ng.empty(1000)
    assert ng.gelu(x, out=out) is out
    check("gelu", out.get(), gelu(a.astype(np.float64)), 0.51)


def test_errors() -> None:
    x = ng.array(np.ones(3))
    with pytest.raises(TypeError, match="left_shift: operands are float64"):
        x << 1
    with pytest.raises(ValueError, match="gelu: approximate is 'erf'; needs none or tanh"):
        ng.gelu(ng.ones(3), "erf")
