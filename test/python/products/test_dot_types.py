"""GEMM of float16, int8 and uint8, and stochastic rounding."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest

SHAPES = [(1, 1, 1), (3, 5, 7), (64, 64, 64), (65, 33, 17), (127, 130, 20), (128, 64, 48), (4, 8, 0), (160, 132, 36)]


def operand(rng, rows, columns, dtype, transposed):
    """A (rows, columns) view whose memory is transposed or not, and its values."""
    low, high = (0, 256) if dtype == np.uint8 else (-128, 128) if dtype == np.int8 else (-8, 9)
    host = rng.integers(low, high, (columns, rows) if transposed else (rows, columns)).astype(dtype)
    device = ng.array(host)
    return (device.T, host.T) if transposed else (device, host)


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize(
    "types",
    [
        (np.float32, np.float32),
        (np.float16, np.float16),
        (np.int8, np.int8),
        (np.uint8, np.int8),
        (np.int8, np.uint8),
        (np.uint8, np.uint8),
    ],
    ids=lambda t: f"{np.dtype(t[0])}-{np.dtype(t[1])}",
)
def test_exact_integers(rng, types, layout):
    for m, n, k in SHAPES:
        a, host_a = operand(rng, m, k, types[0], layout[0] == "t")
        b, host_b = operand(rng, k, n, types[1], layout[1] == "t")
        exact = host_a.astype(np.int64) @ host_b.astype(np.int64)
        c = ng.dot(a, b)
        integer = np.dtype(types[0]).kind in "iu"
        assert c.dtype == (np.int32 if integer else types[0])
        assert np.array_equal(c.get(), exact.astype(c.dtype)), (m, n, k)
        bias = rng.integers(-9, 10, n)
        out = ng.array(rng.integers(-5, 6, (m, n)).astype(c.dtype))
        old = out.get().astype(np.int64)
        ng.dot(a, b, out, alpha=2, beta=-3, bias=ng.array(bias.astype(c.dtype)), relu=True)
        want = np.maximum(2 * exact - 3 * old + bias, 0).astype(c.dtype)
        assert np.array_equal(out.get(), want), (m, n, k)
        out = ng.array(old.astype(c.dtype))
        ng.dot(a, b, out, alpha=2, beta=-3, relu_first=True)
        assert np.array_equal(out.get(), (np.maximum(2 * exact, 0) - 3 * old).astype(c.dtype)), (m, n, k)


def test_float16_error_bound(rng):
    for m, n, k in [(33, 70, 300), (129, 65, 999)]:
        a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((k, n)).astype(np.float16)
        exact = a.astype(np.float64) @ b.astype(np.float64)
        sums = k * 2.0**-24 / (1 - k * 2.0**-24) * (np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)))
        got = ng.dot(ng.array(a), ng.array(b)).get().astype(np.float64)
        assert (np.abs(got - exact) <= sums * (1 + 2.0**-11) + np.abs(exact) * 2.0**-11 + 2.0**-25).all()


def test_float16_special_values():
    a = np.ones((2, 4), np.float16)
    for value, want in [(np.nan, np.nan), (np.inf, np.inf), (-np.inf, -np.inf), (60000, np.inf), (-0.0, 1.0)]:
        a[0] = [value, value if abs(value) > 1e4 else 1, 0, 0]
        c = ng.dot(ng.array(a), ng.array(np.eye(4, dtype=np.float16)[:, :1] + np.eye(4, k=-1, dtype=np.float16)[:, :1]))
        assert np.array_equal(c.get()[0], np.float16([want]), equal_nan=True), value
    tiny = ng.dot(ng.full((1, 1), 2.0**-12, np.float16), ng.full((1, 1), 2.0**-12, np.float16))
    assert tiny.get()[0, 0] == 2.0**-24, "the smallest subnormal number"


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("columns", [64, 61])
def test_stochastic_rounding(rng, dtype, columns):
    """The mean over many seeds is the exact value; bits, neighbours and repetition are right."""
    bits = 6
    a = rng.integers(-7, 8, (32, 5)).astype(dtype)
    b = (rng.integers(-31, 32, (5, columns)) / 32).astype(dtype)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    unit = 2.0 ** (np.floor(np.log2(np.where(exact == 0, 1, np.abs(exact)))) - bits)
    below = np.floor(exact / unit) * unit
    mean = np.zeros_like(exact)
    seeds = 200
    da, db = ng.array(a), ng.array(b)
    for seed in range(seeds):
        got = ng.dot(da, db, rounding="stochastic", seed=seed, bits=bits).get().astype(np.float64)
        assert (((got == below) | (got == below + unit)) & ((got == exact) | (below != exact))).all()
        mean += got / seeds
    # A mean of `seeds` choices deviates by at most half a unit / sqrt(seeds) in one sigma; 6 of them in none of 2048.
    assert (np.abs(mean - exact) <= 6 * 0.5 * unit / np.sqrt(seeds)).all()
    assert abs(((mean - exact) / unit).mean()) <= 6 * 0.5 / np.sqrt(seeds * exact.size)
    one = ng.dot(da, db, rounding="stochastic", seed=3, bits=bits).get()
    moved = ng.dot(da, db, rounding="stochastic", seed=3, offset=1, bits=bits).get()
    assert np.array_equal(one, ng.dot(da, db, rounding="stochastic", seed=3, bits=bits, tile="64x64").get())
    assert (one != moved).any()


def test_random_words_are_those_of_the_element(rng):
    """Rows of a matrix that is a multiple of four wide see the counters that follow each other."""
    a, b = rng.standard_normal((8, 12)).astype(np.float32), rng.standard_normal((12, 16)).astype(np.float32)
    whole = ng.dot(ng.array(a), ng.array(b), rounding="stochastic", seed=5, bits=3).get()
    row = ng.dot(ng.array(a[3:4]), ng.array(b), rounding="stochastic", seed=5, offset=3 * 4, bits=3).get()
    assert np.array_equal(whole[3:4], row)


def test_refusals():
    f32, f16, i8 = ng.ones((4, 4)), ng.ones((4, 4), np.float16), ng.ones((4, 4), np.int8)
    f64 = ng.ones((4, 4), np.float64)
    cases = [
        (TypeError, "dot: b has dtype float32; needs int8 or uint8, as a", lambda: ng.dot(i8, f32, relu=True)),
        (
            TypeError,
            "dot: a has dtype uint64; needs float64, float32, float16, bfloat16, int64, int32, int8 or uint8",
            lambda: ng.dot(ng.ones((4, 4), np.uint64), f32, relu=True),
        ),
        (TypeError, "dot: b has dtype float32; needs float64, as a", lambda: ng.dot(f64, f32, relu=True)),
        (
            ValueError,
            "gemm: an activation is asked for of a product of float64 operands; needs none",
            lambda: ng.dot(f64, f64, relu=True),
        ),
        (
            TypeError,
            "dot: out has dtype float16; needs int32, float32 or int8, what int8 operands give",
            lambda: ng.dot(i8, i8, f16.copy()),
        ),
        (TypeError, "dot: bias has dtype float32; needs int32", lambda: ng.dot(i8, i8, bias=ng.ones(4))),
        (
            ValueError,
            "gemm: alpha is 0.500000; an int32 result needs an integer of 32 bits",
            lambda: ng.dot(i8, i8, alpha=0.5),
        ),
        (
            TypeError,
            "gemm: rounding is stochastic but the result is int32; needs a float or int8 result",
            lambda: ng.dot(i8, i8, rounding="stochastic"),
        ),
        (
            ValueError,
            "gemm: rounding bits is 11; needs 1 to 10 for float16, or 0 for the most",
            lambda: ng.dot(f16, f16, rounding="stochastic", bits=11),
        ),
        (ValueError, "rounding is 'up'; needs 'nearest' or 'stochastic'", lambda: ng.dot(f16, f16, rounding="up")),
    ]
    for error, text, call in cases:
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == text


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8], ids=lambda t: np.dtype(t).name)
def test_parts_of_k(rng, dtype):
    """k in parts: exact integers with every epilogue, and stochastic rounding with the bits of the one part."""
    for m, n, k in [(16, 100, 300), (1, 65, 129), (70, 33, 64)]:
        a, host_a = operand(rng, m, k, dtype, False)
        b, host_b = operand(rng, k, n, dtype, True)
        a, b = (ng.array((h % 3).astype(dtype)) for h in (host_a, host_b))
        exact = a.get().astype(np.int64) @ b.get().astype(np.int64)
        bias = ng.array(rng.integers(-9, 10, (m, 1)).astype(np.int32 if dtype == np.int8 else dtype))
        for splits in (0, 1, 2, 5):
            out = ng.array(rng.integers(-5, 6, (m, n)).astype(bias.dtype))
            old = out.get().astype(np.int64)
            ng.dot(a, b, out, alpha=2, beta=-3, bias=bias, relu=True, splits=splits)
            want = np.maximum(2 * exact - 3 * old + bias.get().astype(np.int64), 0)
            assert np.array_equal(out.get(), want.astype(bias.dtype)), (m, n, k, splits)
            out = ng.array(old.astype(bias.dtype))
            ng.dot(a, b, out, alpha=2, beta=-3, relu_first=True, splits=splits)
            assert np.array_equal(out.get(), (np.maximum(2 * exact, 0) - 3 * old).astype(bias.dtype)), (m, n, k, splits)
        if dtype != np.int8:
            a, b = (ng.array((t.get() * 0.37).astype(dtype)) for t in (a, b))
            rounded = [ng.dot(a, b, rounding="stochastic", seed=3, bits=7, splits=s).get() for s in (1, 3)]
            assert (np.abs(rounded[0] - rounded[1]) <= 2.0**-6 * np.abs(rounded[0])).all()
    with pytest.raises(ValueError, match="gemm: splits is -2; needs 0 to 65535"):
        ng.dot(a, b, splits=-2)
