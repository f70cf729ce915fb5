"""Products of many shapes in one call."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest


def integers(rng, shape, dtype):
    return ng.array(rng.integers(-3, 4, shape).astype(dtype))


def wide(t):
    return t.get().astype(np.int64)


DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8], ids=lambda t: np.dtype(t).name)


@DTYPES
def test_exact_integers_of_any_shapes(rng, dtype):
    result = np.int32 if dtype == np.int8 else dtype
    shapes = [(16, 24, 32), (1, 1, 1), (65, 7, 19), (8, 0, 8), (8, 8, 0), (40, 40, 64), (40, 40, 64), (5, 9, 100)]
    products = []
    for i, (m, n, k) in enumerate(shapes):
        a, b = integers(rng, (m, k), dtype), integers(rng, (k, n), dtype)
        if i % 3 == 1:
            a, b = ng.array(a.get().T).T, ng.array(b.get().T).T
        out = integers(rng, (m, n), result)
        if i % 4 == 2:
            out = integers(rng, (n, m), result).T
        if i == 7:
            a = integers(rng, (2 * m, 3 * k), dtype)[::2, ::3]  # no kernel reads it as it lies
        products.append((a, b, out))
    old = [wide(out) for _, _, out in products]
    outs = ng.grouped_dot(products, alpha=2, beta=-1, relu=True)
    for (a, b, out), got, before in zip(products, outs, old, strict=True):
        assert got is out
        assert np.array_equal(out.get(), np.maximum(2 * (wide(a) @ wide(b)) - before, 0)), out.shape
    outs = ng.grouped_dot([(a, b) for a, b, _ in products])
    for (a, b, _), got in zip(products, outs, strict=True):
        assert got.dtype == result
        assert np.array_equal(got.get(), wide(a) @ wide(b))
    assert ng.grouped_dot([]) == []


@DTYPES
def test_runs_of_equal_distances(rng, dtype):
    """Slices of larger tensors in each order: one after the other or side by side, some with one operand for all."""
    result = np.int32 if dtype == np.int8 else dtype
    a, b = integers(rng, (6, 16, 32), dtype), integers(rng, (6, 32, 24), dtype)
    for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [0, 2, 4, 1, 3, 5], [0, 1, 3, 4, 5, 2]):
        for side_by_side in (False, True):
            whole = ng.zeros((16, 6 * 24) if side_by_side else (6, 16, 24), result)
            outs = [whole[:, 24 * i : 24 * i + 24] if side_by_side else whole[i] for i in range(6)]
            ng.grouped_dot([(a[i], b[0 if i < 3 else i], outs[i]) for i in order])
            for i in range(6):
                assert np.array_equal(outs[i].get(), wide(a)[i] @ wide(b)[0 if i < 3 else i]), (order, i)


def test_bits_do_not_depend_on_the_group(rng):
    for dtype in (np.float32, np.float16):
        whole = ng.array(rng.standard_normal((40, 520)).astype(dtype))
        b = ng.array(rng.standard_normal((256, 48)).astype(dtype))
        a = [whole[:, i : i + 256] for i in (0, 4, 8, 16, 264)]  # aligned to 16 bytes or not
        outs = ng.grouped_dot([(x, b) for x in a])
        for x, out in zip(a, outs, strict=True):
            assert np.array_equal(out.get(), ng.dot(x, b, splits=1).get())


def test_random_rounding_goes_on(rng):
    a, b = ng.array(rng.standard_normal((3, 16, 32)).astype(np.float16)), ng.ones((32, 8), np.float16)
    whole = ng.empty((3, 16, 8), np.float16)
    ng.grouped_dot([(a[i], b, whole[i]) for i in range(3)], rounding="stochastic", seed=3, bits=4)
    assert np.array_equal(whole.get(), ng.batched_dot(a, b, rounding="stochastic", seed=3, bits=4).get())


def test_refusals(rng):
    a, b = ng.ones((3, 4, 5)), ng.ones((3, 5, 6))
    out = ng.full((3, 4, 6), 7.0)
    cases = [
        (
            ValueError,
            "grouped_dot: product 1: dot: a has shape (4, 5) and b (4, 5); a's columns (5) must be as many as b's rows "
            "(4)",
            lambda: ng.grouped_dot([(a[0], b[0], out[0]), (a[0], a[1], out[1])]),
        ),
        (
            ValueError,
            "grouped_dot: product 0: out shares memory with out of product 1",
            lambda: ng.grouped_dot([(a[0], b[0], out[0]), (a[1], b[1], out[0])]),
        ),
        (
            ValueError,
            "grouped_dot: product 2: b shares memory with out of product 0",
            lambda: ng.grouped_dot(
                [(a[0], b[0], out[0]), (a[1], b[1], out[1]), (ng.ones((2, 4)), out[0], ng.ones((2, 6)))]
            ),
        ),
        (
            TypeError,
            "grouped_dot: product 1: dot: b has dtype float16; needs float32, as a",
            lambda: ng.grouped_dot([(a[0], b[0], out[0]), (a[0], ng.ones((5, 6), np.float16), out[1])]),
        ),
        (
            ValueError,
            "grouped_dot: product 0: a has shape (3, 4, 5); needs 2 axes",
            lambda: ng.grouped_dot([(a, b, out)]),
        ),
        (
            TypeError,
            "grouped_dot: product 0 is GPUTensor; needs a tuple (a, b) or (a, b, out)",
            lambda: ng.grouped_dot([a]),
        ),
        (
            ValueError,
            "grouped_dot: beta is 1 but product 0 has no out to read",
            lambda: ng.grouped_dot([(a[0], b[0])], beta=1),
        ),
    ]
    for error, text, call in cases:
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == text
    assert (out.get() == 7).all(), "a refused group has written nothing"
