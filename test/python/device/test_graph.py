"""ng.Graph: recorded once, launched often."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest


def test_any_sequence(rng):
    """A product, an expression, a reduction and statements in place, on other operands each time."""
    a, b = (rng.integers(-3, 4, s).astype(np.float32) for s in ((32, 64), (64, 48)))
    x, w = ng.array(a), ng.array(b)
    y, rows, steps = ng.zeros((32, 48)), ng.zeros((32, 1)), ng.zeros(4)
    calls = []

    def body() -> None:
        calls.append(1)
        ng.dot(x, w, y, relu=True)
        rows[:] = ng.sum(y * 2 + 1, 1, keepdims=True)
        nonlocal steps
        steps += 1
        steps *= 2

    graph = ng.Graph(body)
    assert len(calls) == 1
    assert not y.get().any() and not steps.get().any(), "recorded, not done"
    count = np.zeros(4)
    for turn in (1, 2, 3):
        x[:] = ng.array(a * turn)
        graph.launch(ng.Stream() if turn == 2 else None)
        busy = [ng.dot(w.T, w) + 1 for _ in range(3)]  # eager work must not get the graph's memory
        ng.synchronize()
        want = np.maximum(a * turn @ b, 0)
        np.testing.assert_array_equal(y.get(), want)
        np.testing.assert_array_equal(rows.get(), (want * 2 + 1).sum(1, keepdims=True))
        count = (count + 1) * 2
        np.testing.assert_array_equal(steps.get(), count)
        assert all(np.array_equal(z.get(), b.T @ b + 1) for z in busy)
    assert len(calls) == 1
    del graph
    ng.release_captured_memory()


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_copies_between_kernels_that_start_early(rng, dtype):
    """Kernels that wait for the work ahead by themselves, after copies and fills."""
    a = rng.integers(-1, 2, (128, 128)).astype(dtype)
    x, w = ng.array(a), ng.array(a)
    y, z, sums = (ng.zeros((128, 128), dtype) for _ in range(3))

    def body() -> None:
        y.copy_from(x)  # no kernel
        ng.dot(y, w, out=z)
        y.fill(2)
        y[:] = y + z
        sums.copy_from(y)
        sums[:] = sums * 2
        z[:] = y - z

    graph = ng.Graph(body)
    for turn in (1, 2, 3):
        x[:] = ng.array(a * turn)
        graph.launch()
        ng.synchronize()
        product = (a * turn).astype(np.float64) @ a
        np.testing.assert_array_equal(z.get(), np.full_like(a, 2))
        np.testing.assert_array_equal(sums.get(), (2 * (product + 2)).astype(dtype))


def test_what_was_written_before_is_not_part_of_it():
    x = ng.ones(8)
    x *= 3  # waits until somebody wants it
    graph = ng.Graph(lambda: x.__iadd__(1))
    np.testing.assert_array_equal(x.get(), np.full(8, 3))
    graph.launch()
    graph.launch()
    x *= 2
    np.testing.assert_array_equal(x.get(), np.full(8, 10))


def test_random_numbers_are_those_of_the_recording():
    x = ng.zeros(100)
    noise = ng.rand(100)
    graph = ng.Graph(lambda: x.__setitem__(slice(None), x + noise))
    graph.launch()
    first = x.get()
    graph.launch()
    np.testing.assert_array_equal(x.get(), first + first)
    np.testing.assert_array_equal(first, noise.get())


def test_errors_in_the_body():
    x = ng.ones(4)

    def body() -> None:
        x[:] = x + 1
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ng.Graph(body)
    np.testing.assert_array_equal(x.get(), np.ones(4), "nothing was done")
    with pytest.raises(ZeroDivisionError):
        ng.Graph(lambda: 1 / 0)
    for waits in (lambda: x.get(), lambda: x.set(np.ones(4, np.float32)), ng.synchronize):
        with pytest.raises(ng.Error):
            ng.Graph(waits)
    with pytest.raises(ValueError, match="this thread records another one"):
        ng.Graph(lambda: ng.Graph(lambda: None))
    with pytest.raises(ValueError, match="graph: stream is the default one"):
        ng.Graph(lambda: None, ng.Stream.from_handle(0))
    x[:] = 5 * x
    ng.Graph(lambda: None).launch()
    assert ng.dot(ng.ones((2, 2)), ng.ones((2, 2))).get().tolist() == [[2, 2], [2, 2]]
