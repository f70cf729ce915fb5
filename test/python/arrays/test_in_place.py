"""In-place operators wait until somebody needs the elements; nobody can tell but by counting kernels."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Array = np.ndarray[Any, Any]
VIEWS = [
    lambda a: a,
    lambda a: a[1:],
    lambda a: a[:-1],
    lambda a: a[::2, 1:],
    lambda a: a[:, ::-1],
    lambda a: a[2],
    lambda a: a[:4, :4],
    lambda a: a[:4, :4].T,
]


def test_three_statements_are_one_kernel() -> None:
    a = np.linspace(-2, 2, 1003, dtype=np.float32)
    x = ng.array(a)
    before = ng.launch_count()
    x *= 5
    x *= x
    x += x
    assert ng.launch_count() == before
    want = a * np.float32(5)
    want *= want
    want += want
    np.testing.assert_array_equal(x.get(), want)
    assert ng.launch_count() == before + 1
    np.testing.assert_array_equal(x.get(), want)
    assert ng.launch_count() == before + 1


@pytest.mark.parametrize("dtype", ["float16", "int8", "float64", "bool"])
def test_each_statement_rounds(dtype: str, rng: np.random.Generator) -> None:
    a = (rng.standard_normal(1000) * 30).astype(dtype)
    x, want = ng.array(a), a.copy()
    number = True if dtype == "bool" else 3
    for _ in range(3):
        x *= number
        want *= number
        x += x
        want += want
    np.testing.assert_array_equal(x.get(), want)


def test_what_makes_a_write_happen() -> None:
    a = np.arange(12, dtype=np.float32).reshape(3, 4)

    def changed() -> ng.GPUTensor:
        x = ng.array(a)
        x += 1
        return x

    def happened(x: ng.GPUTensor) -> None:
        before = ng.launch_count()
        np.testing.assert_array_equal(x.get(), a + 1)
        assert ng.launch_count() == before

    for need in (
        lambda x: ng.synchronize(),
        lambda x: ng.Event().record(),
        lambda x: x.ptr,
        lambda x: ng.array(a),
        lambda x: ng.ones(3),
        lambda x: ng.dot(ng.ones((4, 4)), ng.ones((4, 4))),
        lambda x: ng.evaluate(ng.ones(3) * 2),
        lambda x: ng.Stream().synchronize(),
        str,
    ):
        x = changed()
        need(x)
        happened(x)
    x = changed()
    np.testing.assert_array_equal(ng.dot(x, ng.ones((4, 2))).get(), (a + 1) @ np.ones((4, 2), np.float32))
    x = changed()
    np.testing.assert_array_equal(x[1].get(), a[1] + 1)
    x = changed()
    x.fill(3)
    np.testing.assert_array_equal(x.get(), np.full_like(a, 3))
    x = changed()
    y = ng.array(a)
    y[:] = x
    np.testing.assert_array_equal(y.get(), a + 1)
    np.testing.assert_array_equal(x.get(), a + 1)


def test_expressions_before_and_behind() -> None:
    a = np.arange(8, dtype=np.float32)
    x = ng.array(a)
    old = x + 100
    x *= 2
    between = x + 200
    x *= x
    np.testing.assert_array_equal(between.get(), a * 2 + 200)
    np.testing.assert_array_equal(x.get(), a * a * 4)
    np.testing.assert_array_equal(old.get(), a + 100)
    w = ng.array(a)
    x += w
    w *= 3  # x has what w was
    np.testing.assert_array_equal(x.get(), a * a * 4 + a)
    np.testing.assert_array_equal(w.get(), a * 3)
    x, y = ng.array(a), ng.array(a + 1)
    x += y
    y += x
    x -= y
    b = a + 1
    c = a + b
    d = b + c
    np.testing.assert_array_equal(y.get(), d)
    np.testing.assert_array_equal(x.get(), c - d)


MAKERS: dict[str, Callable[[ng.GPUTensor], ng.GPUTensor]] = {
    "operator": lambda a: a + 1,
    "function": lambda a: ng.exp(a),
    "where": lambda a: ng.where(a > 2, a, -a),
    "sum": lambda a: ng.sum(a, 0),
    "var": lambda a: ng.var(a, 1, keepdims=True),
    "astype": lambda a: a.astype("float64"),
    "softmax": lambda a: ng.softmax(a),
    "product": lambda a: a @ a,
    "dot": lambda a: ng.dot(a, a),
    "epilogue": lambda a: ng.tanh(a @ a + 1),
    "random": lambda a: ng.rand(4, 4),
    "gather": lambda a: a[ng.array(np.array([3, 1, 1]))],
    "cumsum": lambda a: ng.cumsum(a, 0),
    "square of a square": lambda a: (a * a) ** 2,
}
WHEN: dict[str, Callable[[ng.GPUTensor], object]] = {
    "open": lambda e: None,
    "read": lambda e: e.get(),
    "evaluated": lambda e: ng.evaluate(e),
    "read by another": lambda e: (e * 2).get(),
    "borrowed": lambda e: ng.empty(e.shape, e.dtype).__setitem__(slice(None), e),
}


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("make", MAKERS)
def test_results_of_expressions_are_written(make: str, when: str) -> None:
    """What an in-place operator did to the result of an expression is seen by every later expression of it."""
    a = ng.array(np.linspace(0.25, 4, 16, dtype=np.float32).reshape(4, 4))
    e = MAKERS[make](a)
    before = e - 1
    WHEN[when](e)
    want = e.get().copy() if when == "read" else None
    e *= 3
    later, total = e + e, ng.sum(e)
    part = e[1:]
    part += 2
    last = e * 1
    e -= e
    zero, fused = e.astype("float64"), ng.maximum(e, -1)
    if want is None:
        want = (before + 1).get() if make != "random" else (before.get() + np.float32(1)).astype(np.float32)
    np.testing.assert_allclose(before.get(), want - 1, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(later.get(), want * 6, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(total.get(), np.sum(want * 3, dtype=np.float64), rtol=1e-4)
    np.testing.assert_allclose(last.get()[1:], want[1:] * 3 + 2, rtol=1e-5)
    np.testing.assert_allclose(last.get()[:1], want[:1] * 3, rtol=1e-5)
    assert not zero.get().any() and not fused.get().any() and not e.get().any()


def test_momentum_moves() -> None:
    v, w, g = ng.zeros((1,)), ng.zeros((1,)), ng.ones((1,))
    for _ in range(3):
        v = v * 0.9
        v += g
        w = w - v * 0.1
    np.testing.assert_allclose(w.get(), -0.1 * (1 + 1.9 + 2.71), rtol=1e-6)


def test_what_cannot_be_written_is_refused_at_once() -> None:
    x = ng.array(np.arange(4, dtype=np.int32))
    with pytest.raises(TypeError, match="float64"):
        x /= 2
    with pytest.raises(ValueError, match="broadcast"):
        x += np.ones((2, 4), np.int32)
    x += 1
    np.testing.assert_array_equal(x.get(), np.arange(1, 5, dtype=np.int32))


def test_many_statements_do_not_pile_up() -> None:
    a = np.arange(5, dtype=np.int32)
    x = ng.array(a)
    for _ in range(500):
        x += 1
    np.testing.assert_array_equal(x.get(), a + 500)


STATEMENT = st.tuples(
    st.sampled_from(["iadd", "isub", "imul", "set", "keep", "read", "fill"]),
    st.integers(0, 1),  # which tensor
    st.integers(0, len(VIEWS) - 1),
    st.integers(0, 1),
    st.integers(0, len(VIEWS) - 1),
    st.integers(-2, 2),
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STATEMENT, min_size=1, max_size=12))
def test_any_order_of_statements(statements: list[tuple[str, int, int, int, int, int]]) -> None:
    start = np.arange(30, dtype=np.int32).reshape(5, 6) % 7 - 3
    host = [start.copy(), start[::-1].copy()]
    dev = [ng.array(h) for h in host]
    kept: list[tuple[ng.GPUTensor, Array]] = []
    for what, i, view, j, other, number in statements:
        to, source = VIEWS[view](host[i]), VIEWS[other](host[j])
        alone = to.shape != source.shape
        if what in ("iadd", "isub", "imul"):
            op = getattr(operator, what)
            op(to, number if alone else source.copy())
            op(VIEWS[view](dev[i]), number if alone else VIEWS[other](dev[j]))
        elif what == "set":
            to[...] = number if alone else source * 2 + number
            VIEWS[view](dev[i])[...] = number if alone else VIEWS[other](dev[j]) * 2 + number
        elif what == "keep":
            kept.append((VIEWS[view](dev[i]) + number, to + number))
        elif what == "fill":
            host[i][:] = number
            dev[i].fill(number)
        else:
            np.testing.assert_array_equal(VIEWS[view](dev[i]).get(), to)
    for got, want in kept:
        np.testing.assert_array_equal(got.get(), want)
    for d, h in zip(dev, host, strict=True):
        np.testing.assert_array_equal(d.get(), h)
