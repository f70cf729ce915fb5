"""Batches of products: batched_dot and NumPy's matmul."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
import tier


def integers(rng, shape, dtype):
    return ng.array(rng.integers(0 if dtype == np.uint8 else -3, 4, shape).astype(dtype))


def wide(t):
    return t.get().astype(np.int64)


DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8], ids=lambda t: np.dtype(t).name)


@pytest.mark.parametrize("same", ["neither", "a", "b"])
def test_more_products_than_a_launch_has(rng, same):
    batch = 65535 + 3
    a = integers(rng, (1 if same == "a" else batch, 1, 2), np.float32)
    b = integers(rng, (2, 1) if same == "b" else (batch, 2, 1), np.float32)
    out = integers(rng, (batch, 1, 1), np.float32)
    exact = wide(a) @ wide(b) + 2 * wide(out)
    ng.batched_dot(a, b, out, beta=2)
    np.testing.assert_array_equal(wide(out), exact)
    if same == "neither":
        np.testing.assert_array_equal(wide(a @ b), wide(a) @ wide(b))
        with pytest.raises(ValueError, match="batch is 65538; needs 0 to 65535"):
            ng.batched_dot(a, b, out, rounding="stochastic", seed=1)


@DTYPES
def test_exact_integers(rng, dtype):
    result = np.int32 if dtype == np.int8 else dtype
    for batch, m, n, k in [(3, 16, 24, 32), (2, 65, 7, 19), (5, 1, 8, 64), (1, 8, 8, 8), (4, 8, 8, 0)]:
        a, b = integers(rng, (batch, m, k), dtype), integers(rng, (batch, k, n), dtype)
        exact = wide(a) @ wide(b)
        out = ng.batched_dot(a, b)
        assert out.dtype == result
        assert out.shape == (batch, m, n)
        assert np.array_equal(out.get(), exact)
        assert np.array_equal((a @ b).get(), exact)
        assert np.array_equal(ng.batched_dot(a, b, sum_batch=True).get(), exact.sum(0))
        bias = integers(rng, (n,), result)
        old = integers(rng, (batch, m, n), result)
        got = ng.batched_dot(a, b, old.copy(), alpha=2, beta=-1, bias=bias, relu=True).get()
        assert np.array_equal(got, np.maximum(2 * exact - wide(old) + wide(bias), 0))
        one = integers(rng, (m, n), result)
        got = ng.batched_dot(a, b, one.copy(), alpha=-1, beta=2, bias=bias).get()
        assert np.array_equal(got, -exact.sum(0) + 2 * wide(one) + wide(bias))
        assert np.array_equal(ng.batched_dot(a[0], b).get(), wide(a)[0] @ wide(b)), "one a for all"
        assert np.array_equal(ng.batched_dot(a, b[:1]).get(), wide(a) @ wide(b)[:1]), "one b for all"


@DTYPES
def test_views(rng, dtype):
    """Transposed, interleaved, reversed and strided operands and results."""
    batch, m, n, k = 3, 24, 16, 40
    result = np.int32 if dtype == np.int8 else dtype
    rows = integers(rng, (m, batch, k), dtype)
    columns = integers(rng, (k, n, 2 * batch), dtype)
    for a in (rows.transpose(1, 0, 2), integers(rng, (batch, k, m), dtype).transpose(0, 2, 1)):
        for b in (columns.transpose(2, 0, 1)[::2], integers(rng, (batch, n, k), dtype).transpose(0, 2, 1)[::-1]):
            exact = wide(a) @ wide(b)
            outs = [
                ng.zeros((batch, m, n), result),
                ng.zeros((m, batch, n), result).transpose(1, 0, 2),
                ng.zeros((batch, n, m), result).transpose(0, 2, 1),
                ng.zeros((m, n, batch), result).transpose(2, 0, 1),
                ng.zeros((2 * batch, m, n), result)[::2],
            ]
            for out in outs:
                assert ng.batched_dot(a, b, out) is out
                assert np.array_equal(out.get(), exact), out.strides
            total = ng.zeros((n, m), result).T
            assert np.array_equal(ng.batched_dot(a, b, total).get(), exact.sum(0))


@DTYPES
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((4, 3, 8, 16), (4, 3, 16, 8)),
        ((4, 3, 8, 16), (16, 8)),
        ((4, 3, 8, 16), (3, 16, 8)),
        ((4, 1, 8, 16), (3, 16, 8)),
        ((4, 1, 8, 16), (1, 3, 16, 5)),
        ((2, 1, 3, 2, 4), (5, 1, 4, 3)),
        ((16,), (3, 16, 8)),
        ((3, 8, 16), (16,)),
        ((16,), (16,)),
        ((0, 8, 16), (16, 8)),
        ((3, 8, 0), (0, 4)),
    ],
)
def test_matmul_broadcasts_as_numpy(rng, dtype, left, right):
    a, b = integers(rng, left, dtype), integers(rng, right, dtype)
    want = np.matmul(wide(a), wide(b))
    for got in (ng.matmul(a, b), a @ b):
        assert got.shape == want.shape
        assert np.array_equal(got.get(), want)


def test_random_problems(rng):
    """Any layout, batch, broadcast, sum and epilogue; exact integers."""
    for number in range(tier.drawn(40, 3000)):
        dtype = (np.float32, np.float16, np.int8)[number % 3]
        result = np.int32 if dtype == np.int8 else dtype
        batch, m, n = (int(v) for v in (rng.integers(1, 9), rng.integers(1, 150), rng.integers(1, 150)))
        k = int(rng.integers(1, 200))
        if rng.random() < 0.5:
            m, n, k = -(-m // 8) * 8, -(-n // 8) * 8, -(-k // 16) * 16

        def operand(rows, columns, dtype=dtype, batch=batch):
            shape = (batch, rows, columns)
            order = (0, 1, 2) if rng.random() < 0.4 else (0, 2, 1) if rng.random() < 0.7 else (1, 0, 2)
            whole = ng.array(rng.integers(-3, 4, [shape[i] for i in order]).astype(dtype))
            view = whole.transpose(*np.argsort(order).tolist())
            return view[0] if rng.random() < 0.2 else view

        a, b = operand(m, k), operand(k, n)
        exact = np.matmul(wide(a), wide(b))
        summed = bool(rng.random() < 0.4) and exact.ndim == 3
        want = exact.sum(0) if summed else exact
        out = ng.array(rng.integers(-3, 4, want.shape).astype(result))
        alpha, beta = float(rng.integers(-2, 3)), float(rng.integers(-1, 2))
        bias = integers(rng, (n,) if rng.random() < 0.5 else (m, 1), result) if rng.random() < 0.5 else None
        want = alpha * want + beta * wide(out) + (0 if bias is None else wide(bias))
        relu = bool(rng.random() < 0.3)
        if relu:
            want = np.maximum(want, 0)
        ng.batched_dot(a, b, out, alpha, beta, bias, relu)
        what = (number, a.shape, a.strides, b.shape, b.strides, out.shape)
        assert np.array_equal(out.get(), want.astype(result)), what


def test_sums_keep_the_bound(rng):
    """A sum over a batch is as exact as the long product that it is."""
    for dtype, unit in ((np.float32, 2.0**-24), (np.float16, 2.0**-11)):
        a, b = rng.standard_normal((6, 70, 40)).astype(dtype), rng.standard_normal((6, 70, 33)).astype(dtype)
        exact = np.einsum("bki,bkj->ij", a.astype(np.float64), b.astype(np.float64))
        size = np.einsum("bki,bkj->ij", np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64)))
        got = ng.batched_dot(ng.array(a).transpose(0, 2, 1), ng.array(b), sum_batch=True).get().astype(np.float64)
        assert (np.abs(got - exact) <= size * 420 * 2.0**-22 + np.abs(exact) * unit).all()


def test_a_product_does_not_depend_on_the_batch(rng):
    for dtype in (np.float32, np.float16):
        a = ng.array(rng.standard_normal((5, 32, 256)).astype(dtype))
        b = ng.array(rng.standard_normal((5, 256, 48)).astype(dtype))
        whole = ng.batched_dot(a, b).get()
        for i in range(5):
            assert np.array_equal(whole[i], ng.dot(a[i], b[i], splits=1).get())


def test_special_values():
    for dtype in (np.float32, np.float16):
        a = np.ones((3, 8, 16), dtype)
        a[1, 2, 3] = np.nan
        a[2, 0, 0] = np.inf
        b = np.ones((16, 8), dtype)
        got = ng.batched_dot(ng.array(a), ng.array(b)).get()
        with np.errstate(invalid="ignore"):
            assert np.array_equal(got, a @ b, equal_nan=True)
        # Each operand for all, in parts: none may be counted twice, and what is not there is not multiplied.
        ones = ng.array(np.full((8, 16), np.inf, dtype))
        total = ng.batched_dot(ng.array(np.ones((3, 16, 8), dtype)).transpose(0, 2, 1), ng.array(b), sum_batch=True)
        assert np.array_equal(total.get(), np.full((8, 8), 48, dtype))
        total = ng.batched_dot(ones, ng.array(np.ones((5, 16, 8), dtype)), sum_batch=True, splits=0)
        assert np.array_equal(total.get(), np.full((8, 8), np.inf, dtype))


def test_a_batch_of_none():
    for dtype in (np.float32, np.float16):
        a, b = ng.empty((0, 8, 16), dtype), ng.empty((0, 16, 8), dtype)
        assert ng.batched_dot(a, b).shape == (0, 8, 8)
        assert np.array_equal(ng.batched_dot(a, b, sum_batch=True).get(), np.zeros((8, 8)))
        assert np.array_equal(ng.batched_dot(a, b, ng.ones((8, 8), dtype), beta=3).get(), np.full((8, 8), 3))


def test_factory(rng):
    gpu = ng.NervanaGPU()
    a, b = integers(rng, (4, 8, 16), np.float16), integers(rng, (4, 16, 8), np.float16)
    exact = wide(a) @ wide(b)
    assert np.array_equal(gpu.batched_dot(a, b, gpu.empty((4, 8, 8))).get(), exact)
    c = gpu.ones((8, 8))
    assert gpu.batched_dot(a, b, c, alpha=2, beta=-1, relu=True) is c
    assert np.array_equal(c.get(), np.maximum(2 * exact.sum(0), 0) - 1)


def test_refusals():
    a, b = ng.ones((3, 4, 5)), ng.ones((3, 5, 6))
    f16 = ng.ones((3, 5, 6), np.float16)
    cases = [
        (
            ValueError,
            "batched_dot: a has shape (3, 4, 5) and b (2, 5, 6); the numbers of matrices must be the same, or one of "
            "them 1",
            lambda: ng.batched_dot(a, ng.ones((2, 5, 6)), ng.empty((3, 4, 6))),
        ),
        (
            ValueError,
            "batched_dot: a has shape (3, 4, 5) and b (3, 4, 5); a's columns (5) must be as many as b's rows (4)",
            lambda: ng.batched_dot(a, a),
        ),
        (
            ValueError,
            "batched_dot: out has shape (2, 4, 6); needs (3, 4, 6)",
            lambda: ng.batched_dot(a, b, ng.empty((2, 4, 6))),
        ),
        (
            ValueError,
            "batched_dot: a has shape (5,); needs 2 or 3 axes, has 1",
            lambda: ng.batched_dot(ng.ones(5), b),
        ),
        (TypeError, "dot: b has dtype float16; needs float32, as a", lambda: ng.batched_dot(a, f16)),
        (
            ValueError,
            "gemm: splits is 2; needs 0 or 1 for a batch of products",
            lambda: ng.batched_dot(a, b, splits=2),
        ),
        (
            ValueError,
            "dot: out shares memory with b; needs memory of its own",
            lambda: ng.batched_dot(ng.ones((3, 5, 5)), b, b),
        ),
        (
            TypeError,
            "batched_dot: b is int; needs GPUTensor (nervanagpu.array makes one)",
            lambda: ng.batched_dot(a, 3),
        ),
        (
            ValueError,
            "matmul: a has shape (3, 4, 5) and b (2, 5, 6); batch axes must have the same lengths, or 1",
            lambda: ng.matmul(a, ng.ones((2, 5, 6))),
        ),
    ]
    for error, text, call in cases:
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == text
