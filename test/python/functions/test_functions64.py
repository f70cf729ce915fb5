"""The float64 functions: beside values of 90 digits, and what does not depend on a reference.

test/data/functions64.txt (tools/function_values.py) has some 60 arguments and values of each function, with the digits
after float64's last. NumPy's functions of long double are the reference of test_functions.py. Each kernel is verified.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from source_tree import ROOT

Array = np.ndarray[Any, Any]
# Units in the last place: 1 is promised, and these are a hair above what long runs found, the second where results are
# subnormal or next to that.
LARGEST = defaultdict(lambda: 0.7, {"sin": 0.77, "cos": 0.77, "tan": 0.88, "cbrt": 0.77, "power": 0.88, "erfc": 0.77})
LARGEST_BELOW = 0.9
CASES: dict[str, list[tuple[float, ...]]] = defaultdict(list)
for _line in (ROOT / "test/data/functions64.txt").read_text().splitlines():
    if not _line.startswith("#"):
        _name, *_words, _more = _line.split()
        CASES[_name].append((*map(float.fromhex, _words), float(_more)))
ONE_OPERAND = [name for name in CASES if name not in ("arctan2", "hypot", "power")]


pytestmark = pytest.mark.usefixtures("numpy_is_quiet")


def bits(x: Array) -> Array:
    return x.view(np.uint64)


def bound(name: str, x: Array) -> Array:
    return np.where(np.abs(x) < 2.0**-1018, LARGEST_BELOW, LARGEST[name])


def units(x: Array) -> Array:
    """Of the last place of numbers, those of subnormal numbers included."""
    return np.spacing(np.maximum(np.abs(x), np.finfo(np.float64).tiny))


@pytest.mark.parametrize("name", CASES)
def test_table(name: str) -> None:
    *columns, near, more = np.array(CASES[name]).T
    got = getattr(ng, name)(*(ng.array(c) for c in columns)).get()
    unit = units(near)
    # a value below a power of two has smaller units than the power
    below = (np.abs(np.frexp(near)[0]) == 0.5) & (more * np.sign(near) < 0) & (np.abs(near) > np.finfo(np.float64).tiny)
    unit[below] /= 2
    error = np.abs((got - near) / unit - more)
    assert np.all(error <= bound(name, near)), (columns[0][np.argmax(error)].hex(), error.max())
    assert np.all(np.signbit(got) == np.signbit(near))


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_error_functions_beside_the_c_library(name: str, rng: np.random.Generator) -> None:
    """Which is within 1 unit of the value."""
    x = np.concatenate([rng.uniform(-6, 6, 4000), rng.uniform(0, 27.2, 4000), 2.0 ** rng.uniform(-1070, 0, 500)])
    want = np.array([getattr(math, name)(v) for v in x])
    got = getattr(ng, name)(ng.array(x)).get()
    error = np.abs(got - want) / units(want)
    assert np.all(error <= 2), (x[np.argmax(error)].hex(), error.max())


def test_special_values_of_error_functions() -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 40.0, -40.0, 5e-324, -5e-324])
    exact = {
        "erf": [0.0, -0.0, 1.0, -1.0, np.nan, 1.0, -1.0, 5e-324, -5e-324],
        "erfc": [1.0, 1.0, 0.0, 2.0, np.nan, 0.0, 2.0, 1.0, 1.0],
        "gelu": [0.0, -0.0, np.inf, -0.0, np.nan, 40.0, -0.0, 0.0, -0.0],
    }
    for name, want in exact.items():
        got = getattr(ng, name)(ng.array(x)).get()
        np.testing.assert_array_equal(got, want)
        number = ~np.isnan(got)
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(np.array(want)[number]))


def test_gelu_of_both_signs(rng: np.random.Generator) -> None:
    """x Phi(x) + x Phi(-x) = x, and x Phi(x) = x / 2 erfc(-x / sqrt 2) as well as the C library knows it."""
    x = np.concatenate([rng.uniform(-9, 9, 3000), 2.0 ** rng.uniform(-60, 4, 1000)])
    got, mirrored = ng.gelu(ng.array(x)).get(), ng.gelu(ng.array(-x)).get()
    assert np.all(np.abs(got - mirrored - x) <= 1.5 * units(x))
    middle = x[np.abs(x) < 1]  # where the argument's rounding does not matter
    want = np.array([v / 2 * math.erfc(-v / math.sqrt(2)) for v in middle])
    assert np.all(np.abs(ng.gelu(ng.array(middle)).get() - want) <= 4 * units(want))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_a_large_angle_changes_no_neighbour(name: str, rng: np.random.Generator) -> None:
    """Warps with large angles take another way; the others keep their bits, and large ones have theirs alone, too."""
    f: Callable[[ng.GPUTensor], ng.GPUTensor] = getattr(ng, name)
    x = rng.uniform(-100, 100, 4099)
    plain = f(ng.array(x)).get()
    places = np.array([0, 1, 2, 3, 62, 127, 640, 1501, 3000, 4095, 4098])
    sizes = np.array([2.0**30, -1e300, 1e22, 3e9, -(2.0**40), 2.0**1023, 7e100, -1e15, 1e16, -2e200, 5e50])
    x[places] = sizes
    got = f(ng.array(x)).get()
    others = np.ones(x.size, bool)
    others[places] = False
    np.testing.assert_array_equal(bits(got[others]), bits(plain[others]))
    alone = np.array([f(ng.array(v)).get() for v in sizes])
    np.testing.assert_array_equal(bits(got[places]), bits(alone))
    exact = getattr(np, name)(sizes.astype(np.longdouble))
    assert np.all(np.abs(got[places] - exact) <= LARGEST[name] * units(alone))
    for v in (np.inf, -np.inf, np.nan):
        assert np.isnan(f(ng.array(np.array([1.0, v]))).get()[1])


@pytest.mark.parametrize("name", ONE_OPERAND)
def test_bits_are_the_same_in_every_kernel(name: str) -> None:
    """Side by side, strided, in a row that is summed, and across columns."""
    f = getattr(ng, name)
    x = np.array(CASES[name])[:30, 0]
    want = bits(f(ng.array(x)).get())
    twice = np.zeros((30, 3))
    twice[:, 1] = x
    np.testing.assert_array_equal(bits(f(ng.array(twice)[:, 1]).get()), want)
    np.testing.assert_array_equal(bits(ng.max(f(ng.array(x).reshape(30, 1)), axis=1).get()), want)
    np.testing.assert_array_equal(bits(ng.sum(f(ng.array(x).reshape(1, 30)), axis=0).get()), want)


def test_dtypes(rng: np.random.Generator) -> None:
    """float64 stays float64; integers of 32 bits and more become it, narrower ones what NumPy has for them."""
    for dtype in (np.int32, np.int64, np.uint32, np.float64):
        x = rng.integers(0, 9, 100).astype(dtype)
        got = ng.sin(ng.array(x)).get()
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, np.sin(x), rtol=4e-16)
    assert ng.sin(ng.array(np.ones(3, np.int16))).dtype == np.float32
    single = ng.array(np.ones(3, np.float32))
    assert ng.arctan2(single, ng.array(np.ones(3))).dtype == np.float64
    out = ng.empty(3, np.float32)
    assert ng.erf(single, out=out) is out


def test_made_of_others(rng: np.random.Generator) -> None:
    a = rng.normal(0, 5, (33, 70))
    x, wide = ng.array(a), a.astype(np.longdouble)
    power = np.exp(wide - wide.max(1, keepdims=True))
    total = power.sum(1, keepdims=True)
    near = {"rtol": 5e-15, "atol": 1e-300}  # x less the largest is rounded
    np.testing.assert_allclose(ng.softmax(x, axis=1).get(), (power / total).astype(np.float64), **near)
    log_total = wide.max(1) + np.log(total[:, 0])
    np.testing.assert_allclose(ng.logsumexp(x, axis=1).get(), log_total.astype(np.float64), **near)
    np.testing.assert_allclose(ng.silu(x).get(), (wide / (1 + np.exp(-wide))).astype(np.float64), **near)
    inner = np.sqrt(2 / np.pi) * (a + 0.044715 * a**3)
    np.testing.assert_allclose(ng.gelu(x, "tanh").get(), a / 2 * (1 + np.tanh(inner)), rtol=1e-13, atol=1e-15)
    before = ng.launch_count()
    y = (ng.sin(x) * ng.cos(x) + ng.arctan2(x, 2.0) * ng.erf(x) - ng.arcsinh(x) ** 3).get()
    assert ng.launch_count() == before + 1
    want = np.sin(a) * np.cos(a) + np.arctan2(a, 2) * np.vectorize(math.erf)(a) - np.arcsinh(a) ** 3
    np.testing.assert_allclose(y, want, rtol=1e-14, atol=1e-15)


CHECKED = """
import zlib
import numpy as np, nervanagpu as ng
x = np.concatenate([np.linspace(-3, 3, 61), [1e9, -1e300, 0.999, 5e-324, 30, -700, np.inf, np.nan]])
total = 0
for name in NAMES:
    f = getattr(ng, name)
    y = f(ng.array(x), ng.array(x[::-1].copy())) if name in ("arctan2", "hypot", "power") else f(ng.array(x))
    y = y.get()
    y[np.isnan(y)] = 0
    total = zlib.crc32(y.tobytes(), total)
print(total)
"""


def test_checked_mode_finds_nothing(python: Callable[..., Any]) -> None:
    program = CHECKED.replace("NAMES", repr(list(CASES)))
    plain = python(program, device="emulator")
    checked = python(program, device="emulator", emulator="checked")
    assert checked.returncode == 0, checked.stderr
    assert checked.stderr == ""
    assert checked.stdout == plain.stdout != ""


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_many_values(name: str) -> None:
    """Fresh arguments of every size beside values of 90 digits."""
    spec = importlib.util.spec_from_file_location("function_values", ROOT / "tools/function_values.py")
    assert spec is not None and spec.loader is not None
    sys.path.insert(0, str(ROOT / "tools"))
    values = importlib.util.module_from_spec(spec)
    sys.modules["function_values"] = values
    spec.loader.exec_module(values)
    function = values.FUNCTIONS[name]
    arguments = [a for seed in range(60) for a in values.arguments(name, function, {}, seed)]
    got = getattr(ng, name)(*(ng.array(np.array(c)) for c in zip(*arguments, strict=True))).get()
    with localcontext() as c:
        c.prec = values.DIGITS
        for a, g in zip(arguments, got, strict=True):
            exact = function.value(*map(Decimal, a))
            if math.isinf(float(exact)):
                assert g == float(exact)
                continue
            error = abs(Decimal(float(g)) - exact) / values.unit_of(exact)
            assert error <= bound(name, g), (name, [v.hex() for v in a], error)


def almost_middles(rng: np.random.Generator, k: int) -> tuple[Array, Array]:
    """x and y whose quotients lie |k| / (y 2^54) of a unit of their last place from the middle of two numbers."""
    y = 2**53 - np.uint64(1) - 2 * np.floor(2 ** rng.uniform(0, 51, 4000)).astype(np.uint64)
    y[:100] = 2**53 - np.uint64(1)  # the largest significand: its reciprocal is the hardest
    inverse = y.copy()
    for _ in range(6):  # modulo 2^64
        inverse *= 2 - y * inverse
    middle = np.uint64(k % 2**64) * inverse % np.uint64(2**54)
    x = [(int(m) * int(d) - k) >> 54 for m, d in zip(middle, y, strict=True)]
    fits = [m >= 2**53 and 2**52 <= n < 2**53 for m, n in zip(middle, x, strict=True)]
    exponents = rng.integers(-400, 400, 4000)
    return np.ldexp(np.array(x, float), exponents)[fits], y.astype(float)[fits]


def test_quotients_are_rounded_once(rng: np.random.Generator) -> None:
    """Subnormal ones, too, and those next to the middle of two of them."""
    count = 20000
    any_x, any_y = (rng.integers(0, 1 << 64, count, dtype=np.uint64).view(np.float64) for _ in range(2))
    below_x = np.ldexp(rng.uniform(-2, 2, count), rng.integers(-1074, -900, count))
    below_y = np.ldexp(rng.uniform(1, 2, count), rng.integers(0, 120, count))
    # x / y is (k + 1/2) 2^-1074, but for what the rounding of x leaves
    odd = 2.0 * np.floor(2.0 ** rng.uniform(0, 40, count)) + 1
    y = rng.uniform(1, 2, count) * rng.choice([-1, 1], count)
    middle_x, middle_y = np.ldexp(y * odd, -1000), np.ldexp(y, 75)
    pairs = [(any_x, any_y), (below_x, below_y), (middle_x, middle_y), (np.ones(count), any_y)]
    for x, y in pairs + [almost_middles(rng, k) for k in (1, -1, 3, -3)]:
        want, got = x / y, (ng.array(x) / ng.array(y)).get()
        same = (bits(got) == bits(want)) | (np.isnan(got) & np.isnan(want))
        assert same.all(), (x[~same][0].hex(), y[~same][0].hex(), got[~same][0].hex(), want[~same][0].hex())
