"""dot: exact integers, so that every element must be equal to the bit; then the error bound; then what is refused."""

from __future__ import annotations

import itertools

import nervanagpu as ng
import numpy as np
import pytest

LENGTHS = [1, 3, 17, 127, 129]


def integers(rng, *shape):
    return rng.integers(-8, 9, shape).astype(np.float32)


def stored(host, transposed):
    """`host` on the device, in rows or in columns."""
    return ng.array(np.ascontiguousarray(host.T)).T if transposed else ng.array(host)


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_exact_integers_over_odd_shapes(rng, layout):
    for m, n, k in itertools.product(LENGTHS, LENGTHS, [0, 1, 3, 17, 129]):
        if k and (m + n + k) % 3:
            continue  # a third of them keeps it short; every length meets every other
        a, b = integers(rng, m, k), integers(rng, k, n)
        out = ng.full((m, n), np.nan)
        got = ng.dot(stored(a, layout[0] == "t"), stored(b, layout[1] == "t"), out)
        assert got is out
        assert np.array_equal(out.get(), a @ b), (m, n, k)


@pytest.mark.parametrize("alpha", [1.0, -2.0, 0.0])
@pytest.mark.parametrize("beta", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("bias", [None, "row of n", "1 x n", "m x 1"])
@pytest.mark.parametrize("relu", [False, True])
def test_epilogues(rng, alpha, beta, bias, relu):
    m, n, k = 19, 33, 11
    a, b, c = integers(rng, m, k), integers(rng, k, n), integers(rng, m, n)
    shape = {None: None, "row of n": (n,), "1 x n": (1, n), "m x 1": (m, 1)}[bias]
    v = None if shape is None else integers(rng, *shape)
    out = ng.array(c if beta else np.full((m, n), np.nan, np.float32))
    ng.dot(ng.array(a), ng.array(b), out, alpha, beta, None if v is None else ng.array(v), relu)
    expected = alpha * (a @ b) + (beta * c if beta else 0) + (0 if v is None else v)
    assert np.array_equal(out.get(), np.maximum(expected, 0) if relu else expected)


def test_the_rest_of_the_memory_is_untouched(rng):
    whole = ng.full((40, 50), np.nan)
    a, b = integers(rng, 17, 9), integers(rng, 9, 21)
    ng.dot(ng.array(a), ng.array(b), whole[7:24, 11:32])
    host = whole.get()
    assert np.array_equal(host[7:24, 11:32], a @ b)
    host[7:24, 11:32] = np.nan
    assert np.isnan(host).all()


@pytest.mark.parametrize("where", ["rows backwards", "every second column", "transposed", "both strided"])
def test_any_view_is_an_operand_and_a_result(rng, where):
    def view(rows, columns):
        if where == "rows backwards":
            return ng.array(integers(rng, rows, columns))[::-1]
        if where == "every second column":
            return ng.array(integers(rng, rows, 2 * columns))[:, ::2]
        if where == "transposed":
            return ng.array(integers(rng, columns, rows)).T
        return ng.array(integers(rng, 2 * rows, 3 * columns))[::2, ::3]

    a, b, c = view(21, 10), view(10, 13), view(21, 13)
    expected = a.get() @ b.get() + 2 * c.get()
    ng.dot(a, b, c, beta=2)
    assert np.array_equal(c.get(), expected)


def test_error_bound(rng):
    for m, n, k in [(65, 33, 257), (128, 64, 1000)]:
        a = (rng.standard_normal((m, k)) * np.exp(rng.standard_normal((m, k)) * 3)).astype(np.float32)
        b = rng.standard_normal((k, n)).astype(np.float32)
        exact = a.astype(np.float64) @ b.astype(np.float64)
        unit = 2.0**-24
        bound = k * unit / (1 - k * unit) * (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64))
        got = (ng.array(a) @ ng.array(b)).get()
        assert (np.abs(got - exact) <= bound).all()  # false for NaN


def test_tiles_give_the_same_bits(rng):
    a = ng.array(rng.standard_normal((132, 72)).astype(np.float32))
    b = ng.array(rng.standard_normal((72, 92)).astype(np.float32))
    large, small = (ng.dot(a, b, tile=tile).get() for tile in ("128x128", "64x64"))
    assert large.tobytes() == small.tobytes()
    with pytest.raises(ValueError, match="gemm: no kernel with tile 7x7 for m 132, n 92, k 72"):
        ng.dot(a, b, tile="7x7")


def test_streams(rng):
    a, b = integers(rng, 20, 30), integers(rng, 30, 10)
    stream = ng.Stream()
    out = ng.dot(ng.array(a), ng.array(b), stream=stream)
    stream.synchronize()
    assert np.array_equal(out.get(), a @ b)


def refuses(error, text, call):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int8", "complex64"])
def test_out_may_be_an_operand(rng, dtype):
    a, b = rng.integers(-3, 4, (2, 5, 5)).astype(dtype)
    for which in range(3 if dtype != "int8" else 0):
        x, y = ng.array(a), ng.array(b)
        out = (x, y, x.T)[which]
        assert ng.dot(x, y, out) is out and np.array_equal(out.get(), a @ b)
    whole = rng.integers(-3, 4, (6, 6)).astype(dtype if dtype != "int8" else "int32")
    x = ng.array(whole)
    ng.dot(x[:4, :4], x[2:, 2:], out=x[1:5, 1:5])
    want = whole.copy()
    want[1:5, 1:5] = whole[:4, :4] @ whole[2:, 2:]
    assert np.array_equal(x.get(), want)
    with pytest.raises(ValueError, match=r"out has shape"):
        ng.dot(x[:4, :4], x[2:, 2:], out=x)


def test_refusals():
    a, b, half = ng.ones((4, 3)), ng.ones((3, 5)), ng.ones((4, 3), dtype=np.float16)
    out = ng.full((4, 5), 7.0)
    refuses(TypeError, "dot: b has dtype float32; needs float16, as a", lambda: ng.dot(half, b, relu=True))
    refuses(TypeError, "dot: b is 'b'; needs GPUTensor (nervanagpu.array makes one)", lambda: ng.dot(a, "b"))
    refuses(ValueError, "dot: out has shape (4, 5); needs (5, 4)", lambda: ng.dot(b.T, a.T, out))
    refuses(
        ValueError, "dot: out shares memory with a; needs memory of its own", lambda: ng.dot(out[:, :3], b, out, beta=1)
    )
    refuses(TypeError, "stream is int; needs Stream or None", lambda: ng.dot(a, b, stream=0))
    refuses(
        ValueError,
        "dot: a has shape (4, 3) and b (4, 3); a's columns (3) must be as many as b's rows (4)",
        lambda: a @ a,
    )
    assert (out.get() == 7).all()
    assert (half @ b).dtype == np.float32  # promoted as NumPy's
    with pytest.raises(TypeError):
        a @ "text"
    with pytest.raises(TypeError):
        object() @ a
