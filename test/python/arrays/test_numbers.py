"""Python's numbers beside tensors of every dtype, as NumPy has them.

Integers are exact up to 64 bits, one that the dtype does not hold is an OverflowError, and comparisons are by value.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest

Array = np.ndarray[Any, Any]
INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
DTYPES = ["float16", "float32", "float64", *INTEGERS, "bool"]
LIMITS = sorted({v + d for n in INTEGERS for v in (np.iinfo(n).min, np.iinfo(n).max) for d in (-1, 0, 1)})
NUMBERS: list[Any] = [*LIMITS, 2, 3, -7, 300, 2**24 + 1, 2**53 + 1, 2**62 + 1, 2**100, -(2**100), 10**400, True, False]
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]
OPERATORS = [*COMPARISONS, operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.and_,
             operator.or_, operator.xor, operator.truediv]  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore")


def operand(dtype: str) -> Array:
    if dtype == "bool":
        return np.array([True, False, True])
    if dtype in INTEGERS:
        i = np.iinfo(dtype)
        few = {0, 1, 2, 5, i.max, i.max - 1, i.min, i.min + 1, i.max // 2, 2**53, 2**53 + 1, -1, -7}
        return np.array([v for v in sorted(few) if i.min <= v <= i.max], dtype)
    return np.array([0, 1, -1, 2.5, 2.0**15, -3], dtype)


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    """An array, or the exception's type; NumPy's TypeErrors have a type of their own."""
    try:
        made = f(*args)
    except (OverflowError, TypeError) as e:
        return OverflowError if isinstance(e, OverflowError) else TypeError
    return np.asarray(made.get() if isinstance(made, ng.GPUTensor) else made)


def check(what: str, got: Any, want: Any) -> None:
    if isinstance(want, type) or isinstance(got, type):
        assert got is want, f"{what}: {got}; NumPy: {want}"
        return
    assert got.dtype == want.dtype, f"{what}: {got.dtype}; NumPy: {want.dtype}"
    assert np.array_equal(got, want, equal_nan=got.dtype.kind == "f"), f"{what}: {got}; NumPy: {want}"


def by_value(f: Any, a: Array, n: int) -> bool:
    """Where NumPy has no answer: truth values beside what int64 does not hold."""
    return f in COMPARISONS and a.dtype == bool and not -(2**63) <= n < 2**63


@pytest.mark.parametrize("dtype", DTYPES)
def test_operators(dtype: str) -> None:
    a = operand(dtype)
    for f, n in itertools.product(OPERATORS, NUMBERS):
        what = f"{f.__name__} {dtype} {n if abs(n) < 2**101 else 'large'}"
        x = ng.array(a)
        if by_value(f, a, n):
            check(what, outcome(f, x, n), f(a.astype(object), n).astype(bool))
            check(what + " reversed", outcome(f, n, x), f(n, a.astype(object)).astype(bool))
            continue
        check(what, outcome(f, x, n), outcome(f, a, n))
        check(what + " reversed", outcome(f, n, x), outcome(f, n, a))


def changed(f: Callable[[Any, Any], None], x: Any, n: Any) -> Any:
    f(x, n)
    return x


def iadd(x: Any, n: Any) -> None:
    x += n


def put(key: Any) -> Callable[[Any, Any], None]:
    return lambda x, n: x.__setitem__(key, n)


STATEMENTS: dict[str, Callable[[Any, Any], None]] = {
    "+=": iadd,
    "[...]": put(...),
    "[:]": put(slice(None)),
    "[1]": put(1),
    "[::2]": put(slice(None, None, 2)),
    "[[0, 2]]": put([0, 2]),
    "by a mask": lambda x, n: x.__setitem__(np.arange(len(x)) % 2 == 0, n),
    "a list": lambda x, n: x.__setitem__(slice(0, 2), [n, 1]),
    "a list by a list": lambda x, n: x.__setitem__([0, 2], [n, 1]),
    "fill": lambda x, n: x.fill(n),
    "add.at": lambda x, n: np.add.at(x, [0, 2, 0], n),
}


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_statements(dtype: str, name: str) -> None:
    """Nothing is written by one that is refused."""
    f, a = STATEMENTS[name], operand(dtype)
    for n in NUMBERS:
        what = f"{name} of {dtype}, {n if abs(n) < 2**101 else 'large'}"
        if "list" in name and (dtype == "bool" or (dtype in INTEGERS and n is True) or abs(n) >= 2**64):
            continue  # lists are arrays of a dtype of their own there
        if name == "add.at" and (outcome(np.add, a, n) is OverflowError or dtype == "bool" or abs(n) > 2**24):
            continue  # NumPy's wraps and rounds in other ways there
        x = ng.array(a)
        got, want = outcome(changed, f, x, n), outcome(changed, f, a.copy(), n)
        check(what, got, want)
        if isinstance(got, type):
            np.testing.assert_array_equal(x.get(), a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions(dtype: str) -> None:
    a = operand(dtype)
    for n in NUMBERS:
        if dtype == "bool" and not -(2**63) <= n < 2**63:
            continue  # NumPy's truth of a large number is an OverflowError in some places
        what = f"{dtype} {n if abs(n) < 2**101 else 'large'}"
        x = ng.array(a)
        check("full " + what, outcome(ng.full, 3, n, dtype), outcome(np.full, 3, n, dtype))
        check("array " + what, outcome(ng.array, n, dtype), outcome(np.array, n, dtype))
        check("array of " + what, outcome(ng.array, [n, 1], dtype), outcome(np.array, [n, 1], dtype))
        for low, high in ((n, None), (None, n), (n, 5), (0, n)):
            check(f"clip {low} {high} {what}", outcome(ng.clip, x, low, high), outcome(np.clip, a, low, high))
        check("maximum " + what, outcome(ng.maximum, x, n), outcome(np.maximum, a, n))
        # NumPy's where() wraps what does not fit.
        want, got = outcome(np.add, a, n), outcome(ng.where, x == 1, x, n)
        if isinstance(want, type):
            assert got is want, "where " + what
        else:
            check("where " + what, got, np.where(a == 1, a, want.dtype.type(n)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_int64_beside_uint64(dtype: str) -> None:
    """Arrays of integers are compared by value, too: not by way of float64."""
    rng = np.random.default_rng(5)
    a = np.repeat(operand(dtype), 40)
    for other in INTEGERS:
        b = np.resize(operand(other), a.size)
        rng.shuffle(b)
        for f in COMPARISONS:
            check(f"{f.__name__} {dtype} {other}", f(ng.array(a), ng.array(b)).get(), f(a, b))


def test_exact() -> None:
    for n in (2**53 + 1, 2**63 - 1, -(2**63)):
        assert ng.full(2, n, "int64").get().tolist() == [n, n]
        assert int(ng.full((), n, "int64")) == n
        assert ng.full(2, np.int64(n), "int64").get().tolist() == [n, n]
    x = ng.zeros(3, "uint64")
    for n in (3, 2**53 + 1, 2**63, 2**64 - 1):
        x[...] = n
        assert x.get().tolist() == [n] * 3
        assert (x - n).get().tolist() == [0] * 3
        x[1:] = ng.full((), n, "uint64")
        assert ng.full(1, ng.full((), n, "uint64"), "uint64").get().tolist() == [n]
    assert float(ng.full((), 2**53, "uint64")) == 2.0**53


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (OverflowError, "number 300 does not fit into dtype uint8, which holds 0 to 255", lambda x: x + 300),
        (OverflowError, "number -1 does not fit into dtype uint8, which holds 0 to 255", lambda x: x.fill(-1)),
        (OverflowError, "number of more than 64 bits does not fit into dtype uint8", lambda x: x * 2**64),
        (OverflowError, "number 18446744073709551615 does not fit into dtype int64",
         lambda x: ng.full(3, 2**64 - 1, "int64")),
        (OverflowError, "number of more than 64 bits does not fit into dtype int64", lambda x: ng.full(3, 10**400)),
        (OverflowError, "number inf does not fit into dtype uint8", lambda x: x.fill(np.inf)),
        (ValueError, "number nan does not fit into dtype uint8, which holds 0 to 255", lambda x: x.fill(np.nan)),
        (TypeError, "number is complex; dtype is uint8, needs complex64 or complex128", lambda x: x.fill(1j)),
        (TypeError, "value is str; needs a number", lambda x: ng.full(3, "1")),
    ],
)  # fmt: skip
def test_messages(error: type[Exception], message: str, call: Callable[[Any], Any]) -> None:
    with pytest.raises(error, match=message):
        call(ng.zeros(3, "uint8"))


def test_int_of_one_element_is_an_int():
    for value in (np.bool_(True), np.int8(-3), np.float32(2.75)):
        got = int(ng.array(value))
        assert type(got) is int and got == int(value)


@pytest.mark.parametrize("value", [-1, [-1], [[300]], (3, 256)])
@pytest.mark.parametrize(
    "write",
    [
        lambda m, x, v: m.put(x, [0, 1], v),
        lambda m, x, v: x.put([0], v),
        lambda m, x, v: m.putmask(x, x == 0, v),
        lambda m, x, v: m.place(x, x == 0, v if isinstance(v, list | tuple) else [v]),
        lambda m, x, v: m.insert(x, [0] * np.size(v), np.ravel(v).tolist()),
        lambda m, x, v: m.piecewise(x, [x == 0], [np.ravel(v).tolist()[-1], 1]),
        lambda m, x, v: setattr(x, "flat", v),
    ],
)
def test_written_integers_that_do_not_fit(write: Callable[[Any, Any, Any], object], value: Any) -> None:
    for m, x in ((np, np.zeros(4, np.uint8)), (ng, ng.zeros(4, dtype=np.uint8))):
        with pytest.raises(OverflowError):
            write(m, x, value)
        assert not np.any(np.asarray(x))
    x = ng.zeros(3, dtype=np.uint64)
    write(ng, x, 2**64 - 1)
    ng.put(x, [1, 2], [2**64 - 1, 1])
    assert int(x[1]) == 2**64 - 1


BOUNDS = [0, 2, 1.5, float("inf"), True, np.uint64(9), np.int8(-3), np.float16(1), np.float32(1.5), np.arange(3)]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32"])
def test_both_bounds_say_clips_dtype(dtype: str) -> None:
    x = np.arange(3).astype(dtype)
    for low, high in itertools.product(BOUNDS, BOUNDS):
        got, want = ng.clip(ng.array(x), low, high).get(), np.clip(x, low, high)
        assert got.dtype == want.dtype and np.array_equal(got, want), (low, high)
