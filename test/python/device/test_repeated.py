"""Expressions of a form that was there before repeat its launches, which are those that would be found anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nervanagpu import _core

Array = np.ndarray[Any, Any]


@contextmanager
def compared() -> Iterator[None]:
    """Launches that would be repeated are found anew; an Error if they differ."""
    _core.compare_repeated(True)
    try:
        yield
    finally:
        _core.compare_repeated(False)


def three_times(make: Callable[[np.random.Generator], list[ng.GPUTensor]]) -> None:
    """The form is met, met again and compared, and repeated: with other elements, addresses and numbers each time."""
    for seed in range(4):
        make(np.random.default_rng(seed))
        with compared():
            want = [t.get() for t in make(np.random.default_rng(seed + 10))]
        got = [t.get() for t in make(np.random.default_rng(seed + 10))]
        for g, w in zip(got, want, strict=True):
            np.testing.assert_array_equal(g, w)


def tensors(rng: np.random.Generator, dtype: str = "float32") -> dict[str, ng.GPUTensor]:
    """Operands of 24 x 40 and what broadcasts to it; their addresses differ from call to call."""
    ng.empty(int(rng.integers(1, 5000)))
    kept.append(ng.empty(int(rng.integers(1, 5000))))

    def draw(*shape: int) -> ng.GPUTensor:
        return ng.array((rng.standard_normal(shape) * 5).astype(dtype))

    wide, tall = draw(24, 80), draw(24, 40, 2)
    start = int(rng.integers(0, 3))
    return {
        "x": draw(24, 40), "y": draw(24, 40), "row": draw(24, 1), "column": draw(40), "one": draw(1),
        "turned": draw(40, 24).T, "steps": wide[:, ::2], "inside": wide[:, start : start + 40],
        "reversed": wide[:, :40][::-1],
        "any": (tall[:, :, 0], wide[:, :40], wide[:, 40:])[start],
    }  # fmt: skip


kept: list[ng.GPUTensor] = []

STEPS: dict[str, Callable[[Any, dict[str, Any], np.random.Generator], Any]] = {
    "add": lambda p, t, r: p + t[r.choice(["x", "y"])],
    "row": lambda p, t, r: p * t["row"],
    "column": lambda p, t, r: p - t["column"],
    "turned": lambda p, t, r: ng.maximum(p, t["turned"]),
    "steps": lambda p, t, r: p + t["steps"],
    "inside": lambda p, t, r: p * 0.5 + t["inside"],
    "reversed": lambda p, t, r: p - t["reversed"],
    "one": lambda p, t, r: p + t["one"],
    "any": lambda p, t, r: p * t["any"],
    "number": lambda p, t, r: p * float(r.choice([1.0, 2.0, 2.5])) + float(r.choice([0.0, 1.0, 2.0])),
    "integer": lambda p, t, r: p + int(r.integers(0, 3)),
    "exp": lambda p, t, r: ng.exp(-ng.absolute(p)),
    "centre": lambda p, t, r: p - ng.mean(p, 1, keepdims=True),
    "norm": lambda p, t, r: (p - ng.mean(p, 0)) / ng.sqrt(ng.var(p, 0) + float(r.choice([1.0, 1e-3]))),
    "softmax": lambda p, t, r: ng.softmax(p),
    "where": lambda p, t, r: ng.where(p > float(r.choice([0.0, 1.0])), p, t["row"]),
    "random": lambda p, t, r: p + ng.rand(24, 40),
    "rounded": lambda p, t, r: ng.stochastic_round(p, "float32", bits=int(r.choice([7, 10]))),
    "dropped": lambda p, t, r: ng.dropout(p, 0.5),
    "product": lambda p, t, r: ng.tanh(ng.dot(p, t["x"].T) * 0.01) @ t["y"],
    "place": lambda p, t, r: p + (ng.argmax(p, 1, keepdims=True) + int(r.integers(0, 2))),
    "sum": lambda p, t, r: p + ng.sum(p, 0, keepdims=True) * 0.1,
}


@settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6),
    write=st.sampled_from(["get", "assign", "in place", "turned", "two", "last"]),
)
def test_random_forms(steps: list[str], write: str) -> None:
    """Whatever the form, how operands lie, which of them are the same, and how the result is written."""

    def make(rng: np.random.Generator) -> list[ng.GPUTensor]:
        t = tensors(rng)
        if rng.random() < 0.5:
            t["y"] = t["x"]
        kept[:-20] = []
        ng.seed(int(rng.integers(0, 3)))
        p: Any = t["x"]
        for step in steps:
            p = STEPS[step](p, t, rng)
        if write == "two":
            other = p * 2 + t["column"]
            ng.evaluate(p, other)
            return [p, other]
        if write == "last":
            total = ng.sum(p, 1)
            ng.evaluate(total)
            return [total]
        out = {"assign": t["x"], "in place": t["y"].copy(), "turned": ng.empty((40, 24)).T}.get(write)
        if out is None:
            return [p + 0]
        if write == "in place":
            out += p
        else:
            out[:] = p
        return [out]

    three_times(make)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "int8", "uint64"])
def test_dtypes(dtype: str) -> None:
    def make(rng: np.random.Generator) -> list[ng.GPUTensor]:
        t = tensors(rng, dtype)
        return [t["x"] + t["row"] * int(rng.integers(1, 4)), ng.sum(t["x"] + t["column"], 1), ng.max(t["steps"], 0)]

    three_times(make)


def test_results_of_nn() -> None:
    def make(rng: np.random.Generator) -> list[ng.GPUTensor]:
        t = tensors(rng)
        labels = ng.array(rng.integers(0, 40, 24).astype(np.int32))
        loss, gradient = ng.nn.softmax_loss(t["x"], labels)
        w, v = t["y"].copy(), t["turned"].copy()
        ng.nn.sgd_update(w, v, t["x"], lr=float(rng.random()), momentum=0.9, weight_decay=0.01)
        return [loss, gradient, w, v, ng.nn.bias_grad(t["x"]), ng.nn.dropout(t["x"], 0.5, seed=int(rng.integers(9)))]

    three_times(make)


def test_many_forms() -> None:
    """More than are kept."""
    x = ng.array(np.arange(5000, dtype=np.float32).reshape(1, 5000))
    column = ng.array(np.float32([[1], [2]]))
    for n in range(1, 4500, 7):
        part = x[:, :n] + column
        if n % 700 == 1:
            np.testing.assert_array_equal(part.get(), x.get()[:, :n] + column.get())
        ng.evaluate(part)
    np.testing.assert_array_equal((x[:, :8] + column).get(), x.get()[:, :8] + column.get())


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
def test_views_that_differ_only_along_axes_of_one(dtype: str) -> None:
    """The strides of such axes say nothing: they are one operand, also for the kernels that were kept."""
    a = np.arange(1, 6).astype(dtype).reshape(1, 5)
    x = ng.array(a)
    y = x.reshape((5, 1)).T
    assert x.strides != y.strides
    for left, right in ((x, y), (x, x), (y, x), (y, y)):
        np.testing.assert_array_equal((left <= right).get(), a <= a)
        np.testing.assert_array_equal((left * right + left).get(), a * a + a)
