"""Indexing by arrays, take, nonzero, running sums and add_at beside NumPy, bit for bit; each kernel is verified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import DTYPES, FLOATS, sample

Array = np.ndarray[Any, Any]


def same(got: ng.GPUTensor, want: Array) -> None:
    g = got.get()
    assert g.dtype == want.dtype
    assert g.shape == want.shape
    np.testing.assert_array_equal(g, want)


def on_device(key: Any) -> Any:
    """The key with its arrays as tensors."""
    if isinstance(key, tuple):
        return tuple(on_device(k) for k in key)
    return ng.array(key) if isinstance(key, np.ndarray) else key


array = np.array
MASK = array([[True, False, True, True, False], [False] * 5, [True] * 5, [False, True, False, True, False]])
KEYS: list[Any] = [
    array([0, 3, -1, 0]),
    [1, 2, 2],
    array([[0, 1], [-4, 3]], np.int8),
    (slice(None), array([4, 0, 0], np.int32)),
    (Ellipsis, array([5, -6, 2])),
    (array([0, 1]), array([2, 3])),
    (array([[0], [3]]), array([1, 4, 4])),
    (array([0, 1]), slice(1, 4), array([2, 3])),
    (slice(None, None, 2), array([1, 0]), slice(None, None, -1)),
    (2, array([1, 4])),
    (array([1, 3]), None, 2),
    (None, array([1, 3], np.uint16), slice(2, 2)),
    (array([], np.int64),),
    array(2),
    MASK,
    (MASK, array([0, 5, 1, 2, 3, 4, 5, 0, 1, 2])),
    (slice(None), array([True, False, True, False, True])),
    (array([True, False, True, True]), Ellipsis, array([1, 2, 3])),
]


@pytest.mark.parametrize("key", KEYS, ids=[str(i) for i in range(len(KEYS))])
def test_keys(key: Any, rng: np.random.Generator) -> None:
    a = rng.standard_normal((4, 5, 6)).astype(np.float32)
    x = ng.array(a)
    for k in (key, on_device(key)):
        same(x[k], a[key])
        same((x * 2)[k] + 1, (a * 2)[key] + 1)
        same(x.transpose(0, 1, 2)[::-1][k], a[::-1][key])
        shape = a[key].shape
        for value in (7.5, rng.standard_normal(shape[1:]).astype(np.float32), rng.standard_normal(shape)):
            b, y = a.copy(), ng.array(a)
            b[key] = value
            y[k] = value if np.ndim(value) == 0 else ng.array(np.asarray(value, np.float32))
            same(y, b)
    b = np.zeros((5, 6, 8), np.float32)
    y = ng.array(b)
    view, host = y[:4, :5, 1:7], b[:4, :5, 1:7]  # with gaps
    view[key] = 3
    host[key] = 3
    same(y, b)
    same(view[key], host[key])


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str, rng: np.random.Generator) -> None:
    a = sample(rng, dtype, 1000)
    i = rng.integers(-1000, 1000, 700)
    x = ng.array(a)
    same(x[i], a[i])
    same(x[a == a[3]], a[a == a[3]])
    b, y = a.copy(), ng.array(a)
    b[i], y[i] = a[:700], x[:700]
    same(y, b)
    with np.errstate(all="ignore"):
        if dtype not in FLOATS:  # of floats the order of the sum matters
            same(ng.cumsum(x.reshape(10, 100), 0), np.cumsum(a.reshape(10, 100), 0))


def test_the_last_of_equal_indices_stays(rng: np.random.Generator) -> None:
    i = rng.integers(0, 50, (40, 25))
    v = rng.standard_normal((40, 25)).astype(np.float32)
    for k in (i, ng.array(i)):
        b, y = np.zeros(50, np.float32), ng.zeros(50)
        b[i] = v
        y[k] = ng.array(v)
        same(y, b)
    x = ng.array(np.arange(10, dtype=np.int32))
    x[np.array([3, 1, 2])] = x[:3]  # what is read lies where is written
    same(x, np.array([0, 1, 2, 0, 4, 5, 6, 7, 8, 9], np.int32))


def test_pending_expressions_keep_their_values() -> None:
    a = np.arange(8, dtype=np.float32)
    x = ng.array(a)
    y = x + 1
    x[[1, 2]] = 100
    same(y, a + 1)
    x += 1
    same(x[[1, 3]], np.array([101, 4], np.float32))


def test_masks(rng: np.random.Generator) -> None:
    for size in (1, 15, 16, 17, 5000):
        a = rng.standard_normal((size, 3)).astype(np.float32)
        x = ng.array(a)
        for m in (a > 0, np.zeros_like(a, bool), np.ones_like(a, bool)):
            same(x[ng.array(m)], a[m])
            for got, want in zip(ng.nonzero(ng.array(m)), np.nonzero(m), strict=True):
                same(got, want)
            same(ng.flatnonzero(ng.array(m)), np.flatnonzero(m))
            b, y = a.copy(), ng.array(a)
            b[m] = a[m] * 2
            y[ng.array(m)] = x[m] * 2
            same(y, b)
            y[y < 0] = 0
            same(y, np.where(b < 0, np.float32(0), b))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (16,), (17,), (4099,), (5, 300), (3, 20, 7), (0, 4), (4, 0)], ids=str)
def test_cumsum(dtype: str, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    a = (rng.integers(0, 5, shape) - (0 if dtype[0] in "ub" else 2)).astype(dtype)  # exact in every dtype
    if dtype == "float16":
        a[...] = np.sign(a)
    x = ng.array(a)
    for axis in range(-1, len(shape)):
        same(ng.cumsum(x, axis), np.cumsum(a, axis, dtype=np.int64 if dtype == "bool" else None))
    same(ng.cumsum(x), np.cumsum(a))
    same(ng.cumsum(x.T, 0), np.cumsum(a.T, 0))
    same(np.cumsum(x, 0, dtype=np.float64), np.cumsum(a, 0, dtype=np.float64))


# One item a thread to eight, with and without an end inside a CTA; rows of several CTAs, and of several times that.
@pytest.mark.parametrize("n", [32, 100, 999, 2048, 4100, 8192, 8193, 30_000, 2_100_000])
def test_cumsum_of_rows(n: int, rng: np.random.Generator) -> None:
    for dtype in DTYPES if n < 4000 else ["float32", "int8"]:
        a = (rng.integers(0, 5, (2, n)) - (0 if dtype[0] in "ub" else 2)).astype(dtype)
        if dtype == "float16":
            a = np.sign(a)
        same(ng.cumsum(ng.array(a), 1), np.cumsum(a, 1))
        if n < 10_000:
            same(ng.cumsum(ng.array(a)[:, 1:], 1), np.cumsum(a[:, 1:], 1))


def test_cumsum_of_special_values() -> None:
    a = np.full(5000, -0.0, np.float32)
    assert np.signbit(ng.cumsum(ng.array(a)).get()).all()
    a[4000] = np.inf
    a[4700] = np.nan
    np.testing.assert_array_equal(ng.cumsum(ng.array(a)).get(), np.cumsum(a))


def test_cumsum_has_a_fixed_order(rng: np.random.Generator) -> None:
    a = rng.standard_normal(100_003).astype(np.float32)
    got = ng.cumsum(ng.array(a)).get()
    exact = np.cumsum(a.astype(np.float64))
    bound = 40 * 2.0**-24 * np.cumsum(np.abs(a.astype(np.float64)))
    assert np.all(np.abs(got - exact) <= bound)
    assert got.tobytes() == ng.cumsum(ng.array(a)).get().tobytes()
    out = ng.empty(100_003)
    assert ng.cumsum(ng.array(a), 0, out=out) is out
    assert out.get().tobytes() == got.tobytes()


def test_take(rng: np.random.Generator) -> None:
    a = rng.standard_normal((6, 7, 2)).astype(np.float32)
    x = ng.array(a)
    i = rng.integers(-6, 6, (2, 3))
    for axis in (None, 0, 1, -3):
        same(ng.take(x, i, axis), np.take(a, i, axis))
        same(np.take(x, ng.array(i), axis), np.take(a, i, axis))
    far = rng.integers(-40, 40, 30)
    for mode in ("clip", "wrap"):
        same(ng.take(x, ng.array(far), 1, mode=mode), np.take(a, far, 1, mode=mode))
    out = ng.empty((2, 3, 7, 2))
    assert ng.take(x, i, 0, out) is out
    same(out, np.take(a, i, 0))
    before = ng.launch_count()
    ng.take(x, ng.array(far), 0, mode="clip")
    assert ng.launch_count() == before + 2  # indices, elements


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int8", "int32", "int64", "uint64"])
def test_add_at(dtype: str, rng: np.random.Generator) -> None:
    a = sample(rng, dtype, 60).reshape(20, 3)
    a = np.nan_to_num(a, posinf=1, neginf=2) if dtype[0] == "f" else a
    i = rng.integers(-20, 20, 50)
    v = rng.integers(0, 99, (50, 3)).astype(dtype) / (7 if dtype[0] == "f" else 1)
    v = v.astype(dtype)
    b, y = a.copy(), ng.array(a)
    with np.errstate(all="ignore"):
        np.add.at(b, i, v)
        np.add.at(y, ng.array(i), ng.array(v))
        same(y, b)
        np.add.at(b, (slice(None), [0, 0, 2]), np.dtype(dtype).type(3))
        ng.add_at(y, (slice(None), [0, 0, 2]), np.dtype(dtype).type(3))
    same(y, b)


def test_errors() -> None:
    x = ng.zeros((4, 5))
    cases: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: x[[0, 4]], IndexError, "index 4 is out of range for axis 0 with length 4"),
        (lambda: x[:, ng.array(np.array([0, -6]))], IndexError, "index -6 is out of range for axis 1 with length 5"),
        (lambda: x[[0.5]], IndexError, "index has dtype float64; needs integers or bool"),
        (lambda: x[[0, 1], [0, 1], [0, 1]], IndexError, "too many indices: the tensor has 2 axes, 3 were indexed"),
        (lambda: x[[0, 1, 2], [0, 1]], IndexError, r"index arrays have shapes \(3,\), \(2,\)"),
        (lambda: x[np.ones((4, 4), bool)], IndexError, r"boolean index has shape \(4, 4\)"),
        (lambda: x.__setitem__([0, 1], ng.zeros((3, 5))), ValueError, "value has shape"),
        (lambda: ng.array(np.arange(4)).__setitem__([0], 1j), TypeError, "value is 1j; needs a real number"),
        (lambda: ng.take(x, [0], 2), ValueError, "axis 2 is out of range"),
        (lambda: ng.take(x, [0], mode="grow"), ValueError, "mode is 'grow'"),
        (lambda: ng.take(x, [9], 0), IndexError, "index 9"),
        (lambda: ng.cumsum(x, 2), ValueError, "cumsum: axis 2 is out of range"),
    ]
    for call, kind, text in cases:
        with pytest.raises(kind, match=text):
            call()


@st.composite
def keys(draw: st.DrawFn) -> tuple[Array, Any]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)))
    a = rng.integers(-99, 99, shape).astype(draw(st.sampled_from(["float32", "int16", "float64", "uint8"])))
    together = tuple(draw(st.lists(st.integers(1, 4), max_size=2)))
    parts: list[Any] = []
    for n in shape[: draw(st.integers(1, len(shape)))]:
        kind = draw(st.sampled_from(["array", "array", "slice", "integer", "none"]))
        if kind == "none":
            parts.append(None)
        if kind == "integer":
            parts.append(draw(st.integers(-n, n - 1)))
        elif kind == "slice":
            parts.append(slice(draw(st.integers(0, n)), None, draw(st.sampled_from([1, 2, -1]))))
        else:
            part = together[draw(st.integers(0, len(together))) :]
            parts.append(rng.integers(-n, n, part))
    return a, tuple(parts)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(keys())
def test_random_keys(case: tuple[Array, Any]) -> None:
    a, key = case
    x = ng.array(a)
    same(x[key], np.asarray(a[key]))
    value = np.arange(a[key].size).reshape(a[key].shape).astype(a.dtype)
    b = a.copy()
    b[key] = value
    x[key] = ng.array(value)
    same(x, b)


def test_masks_without_axes() -> None:
    for number in (3, 7):
        a = np.array(number, np.int32)
        x = ng.array(a)
        np.testing.assert_array_equal(x[x > 5].get(), a[a > 5])
        x[x > 5] = 1
        a[a > 5] = 1
        np.testing.assert_array_equal(x.get(), a)
    assert ng.zeros((3,))[ng.array(np.array(True))].shape == (1, 3)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "uint64"])
def test_numbers_take_the_dtype_of_what_they_are_added_to(dtype: str) -> None:
    a = np.zeros(4, dtype)
    x = ng.array(a)
    np.add.at(a, [1, 1, 3], 2)
    np.add.at(x, [1, 1, 3], 2)
    np.testing.assert_array_equal(x.get(), a)


def test_assignments_leave_out_leading_axes_of_one() -> None:
    a = np.zeros((3, 4), np.float32)
    x = ng.array(a)
    b = np.arange(4, dtype=np.float32).reshape(1, 1, 1, 4)
    a[1] = b
    x[1] = ng.array(b)
    a[:, 2] = b[..., :1]
    x[:, 2] = ng.array(b)[..., :1] + 0
    np.testing.assert_array_equal(x.get(), a)
    with pytest.raises(ValueError, match="broadcast"):
        x[1] = ng.zeros((2, 1, 4))


def test_nonzero_of_no_axes_is_refused():
    with pytest.raises(ValueError, match="nonzero: x has no axes"):
        ng.nonzero(ng.full((), 1.0))


REDUCED: list[Callable[[Any, Any], Any]] = [
    lambda m, a: m.sum(a, axis=1),
    lambda m, a: m.max(a, axis=1) - m.min(a, axis=1),
    lambda m, a: m.sum(a, axis=1, keepdims=True)[:, 0] * 2,
    lambda m, a: m.sum(a),
    lambda m, a: m.sum(a * m.sum(a, axis=0), axis=1) + m.max(a),
]


@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64"])
@pytest.mark.parametrize("value", REDUCED)
def test_assignment_of_reductions(value: Callable[[Any, Any], Any], dtype: str) -> None:
    a = np.arange(12, dtype=dtype).reshape(4, 3) + (0.5j if dtype == "complex64" else 0)
    places = np.array([2, 0, 3, 1])
    for key in ((places, places), (places,), (slice(None), places)):
        want = np.zeros((4, 4), a.dtype)
        x = ng.array(want)
        want[key] = value(np, a)
        x[key] = value(ng, ng.array(a))
        same(x, want)


def test_sums_at_places_of_reductions() -> None:
    a = np.arange(12, dtype=np.int32).reshape(4, 3)
    want = np.zeros(40, np.int32)
    x = ng.zeros(40, dtype=np.int32)
    np.add.at(want, a.max(1) + a.min(1), a.sum(1) * 2)
    t = ng.array(a)
    np.add.at(x, ng.max(t, 1) + ng.min(t, 1), ng.sum(t, 1) * 2)
    same(x, want)
