"""Products that are planned once."""

from __future__ import annotations

import threading

import nervanagpu as ng
import numpy as np
import pytest


def integers(rng, shape, dtype):
    return ng.array(rng.integers(-3, 4, shape).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8], ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("layout", ["nn", "tt"])
def test_launches_have_the_bits_of_dot(rng, dtype, layout):
    m, n, k = 40, 24, 96
    result = np.int32 if dtype == np.int8 else dtype

    def operands():
        a, b = integers(rng, (m, k), dtype), integers(rng, (k, n), dtype)
        return (ng.array(a.get().T).T, ng.array(b.get().T).T) if layout == "tt" else (a, b)

    bias = integers(rng, (n,), result)
    a, b = operands()
    plan = ng.GemmPlan(a, b, ng.empty((m, n), result), alpha=2, bias=bias, relu=True)
    assert plan.kernel
    for _ in range(3):
        a, b = operands()
        out = ng.empty((m, n), result)
        assert plan.launch(a, b, out, bias) is None
        exact = 2 * (a.get().astype(np.int64) @ b.get().astype(np.int64)) + bias.get().astype(np.int64)
        assert np.array_equal(out.get(), np.maximum(exact, 0))
        assert np.array_equal(out.get(), ng.dot(a, b, alpha=2, bias=bias, relu=True).get())


def test_rounded_stochastically_as_dot(rng):
    how = {"rounding": "stochastic", "seed": 7, "offset": 3, "bits": 6}
    a, b = (ng.array(rng.standard_normal(s).astype(np.float16)) for s in ((24, 40), (40, 16)))
    out = ng.zeros((24, 16), np.float16)
    plan = ng.GemmPlan(a, b, out, **how)
    plan(a, b, out)
    assert np.array_equal(out.get(), ng.dot(a, b, **how).get())
    assert not np.array_equal(out.get(), ng.dot(a, b, **{**how, "seed": 8}).get())


def test_parts_of_k_streams_and_threads(rng):
    a, b = integers(rng, (16, 2048), np.float32), integers(rng, (2048, 48), np.float32)
    plan = ng.GemmPlan(a, b, ng.empty((16, 48)), splits=4)
    assert plan.workspace == 4 * 16 * 48 * 4
    want = a.get() @ b.get()
    results = [ng.zeros((16, 48)) for _ in range(8)]

    def work(some):
        stream = ng.Stream()
        for out in some:
            plan(a, b, out, stream=stream)
        stream.synchronize()

    threads = [threading.Thread(target=work, args=(results[i::2],)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for out in results:
        assert np.array_equal(out.get(), want)


@pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=lambda t: np.dtype(t).name)
def test_batches(rng, dtype):
    batch, m, n, k = 3, 24, 16, 40
    bias = integers(rng, (m, 1), dtype)
    for shape, columns in (((batch, m, n), False), ((batch, n, m), True), ((m, n), False), ((n, m), True)):
        total = len(shape) == 2
        plan = None
        for _ in range(2):
            a, b = integers(rng, (batch, m, k), dtype), integers(rng, (k, n), dtype)
            out = ng.zeros(shape, dtype)
            view = out if not columns else out.T if total else out.transpose(0, 2, 1)
            plan = plan or ng.GemmPlan(a, b, view, bias=bias)
            plan(a, b, view, bias)
            exact = a.get().astype(np.int64) @ b.get().astype(np.int64)
            exact = (exact.sum(0) if total else exact) + bias.get().astype(np.int64)
            assert np.array_equal(view.get(), exact.astype(dtype)), shape
    odd = integers(rng, (2 * batch, 2 * m, k), dtype)[::2, ::2, ::2]
    with pytest.raises(ValueError, match="batched_dot: a has strides .* a plan needs matrices with rows or columns"):
        ng.GemmPlan(odd, integers(rng, (k // 2, n), dtype), ng.empty((batch, m, n), dtype))


def test_expressions_see_the_values_of_their_time(rng):
    a, b = integers(rng, (8, 8), np.float32), integers(rng, (8, 8), np.float32)
    out = ng.ones((8, 8))
    plan = ng.GemmPlan(a, b, out)
    before = out + 1  # of the ones
    plan(a + 0, b, out)
    assert np.array_equal(before.get(), np.full((8, 8), 2))
    assert np.array_equal(out.get(), a.get() @ b.get())


def test_refusals(rng):
    a, b, out = ng.ones((8, 16)), ng.ones((16, 4)), ng.empty((8, 4))
    plan = ng.GemmPlan(a, b, out)
    cases = [
        (
            ValueError,
            "gemm plan: b has shape (4, 16) and strides (16, 1); needs (16, 4) and (4, 1), as planned",
            lambda: plan(a, ng.ones((4, 16)), out),
        ),
        (
            TypeError,
            "gemm plan: a has dtype float16; needs float32, as planned",
            lambda: plan(ng.ones((8, 16), np.float16), b, out),
        ),
        (TypeError, "gemm plan: a is int; needs GPUTensor", lambda: plan(3, b, out)),
        (ValueError, "gemm plan: bias was not planned", lambda: plan(a, b, out, ng.ones(4))),
        (
            ValueError,
            "dot: out shares memory with a; needs memory of its own",
            lambda: ng.GemmPlan(a[:, :16], b, a[:, :4]),
        ),
        (
            ValueError,
            "gemm plan: alpha is 0.1; needs a number that float32 holds for float64 operands",
            lambda: ng.GemmPlan(a.astype("float64"), b.astype("float64"), ng.empty((8, 4), "float64"), 0.1),
        ),
        (
            ValueError,
            "gemm plan: clip is (0, 1) but activation is None; needs 'clip'",
            lambda: ng.GemmPlan(a, b, out, clip=(0, 1)),
        ),
        (
            TypeError,
            "gemm plan: out is list; needs GPUTensor (nervanagpu.array makes one)",
            lambda: ng.GemmPlan(a, b, [[1.0]]),
        ),
        (ValueError, "dot: out has shape (4, 8); needs (8, 4)", lambda: ng.GemmPlan(a, b, ng.empty((4, 8)))),
    ]
    for error, text, call in cases:
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == text
