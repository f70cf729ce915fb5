"""GEMM of bfloat16: chains of multiply-adds and tensor cores, every layout, epilogue and output."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import nervanagpu as ng
import numpy as np
import numpy.typing as npt
import pytest

BF16 = np.dtype(ml_dtypes.bfloat16)
LAYOUTS = ["nn", "nt", "tn", "tt"]
TILES = ["128x64", "128x128", "128x128x2", "128x192", "128x256"]  # of the tensor cores
CORES = ng.device().arch == "sm_90a"
Wide = npt.NDArray[np.float64]


def integers(rng: np.random.Generator, shape: tuple[int, ...], size: int = 3) -> npt.NDArray[Any]:
    return rng.integers(-size, size + 1, shape).astype(BF16)


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    return rng.standard_normal(shape).astype(BF16)


def put(x: npt.NDArray[Any], letter: str) -> ng.GPUTensor:
    return ng.array(np.ascontiguousarray(x.T)).T if letter == "t" else ng.array(x)


def wide(x: npt.NDArray[Any]) -> Wide:
    return x.astype(np.float64)


def rounded(x: Wide, out: np.dtype[Any]) -> npt.NDArray[Any]:
    return x.astype(np.float32).astype(out)


# The second shape of each pair has rows that the copy engine does not take.
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("out", [BF16, np.dtype(np.float32)], ids=str)
@pytest.mark.parametrize(
    "shape", [(64, 136, 72), (65, 33, 17), (200, 264, 208), (130, 67, 51), (1, 8, 8), (3, 5, 0)], ids=str
)
def test_exact_integers_in_every_epilogue(rng, shape, out, layout):
    m, n, k = shape
    a, b, c = integers(rng, (m, k)), integers(rng, (k, n)), integers(rng, (m, n), 9)
    x, y = put(a, layout[0]), put(b, layout[1])
    product = wide(a) @ wide(b)
    row, column = integers(rng, (n,), 9), integers(rng, (m, 1), 9)
    old = wide(c)
    cases: list[tuple[dict[str, Any], Wide]] = [
        ({}, product),
        ({"relu": True, "alpha": -2}, np.maximum(-2 * product, 0)),
        ({"beta": -3, "bias": ng.array(row.astype(out))}, product - 3 * old + wide(row)),
        ({"bias": ng.array(column.astype(np.float32)), "relu": True}, np.maximum(product + wide(column), 0)),
        ({"beta": 2, "relu_first": True}, np.maximum(product, 0) + 2 * old),
        ({"splits": 2, "beta": 1}, product + old),
        ({"tensor_cores": False, "alpha": 0.5}, product / 2),
    ]
    for options, want in cases:
        got = ng.array(c.astype(out))
        ng.dot(x, y, got, **options)
        assert got.get().tobytes() == rounded(want + 0.0, out).tobytes(), options
    if out == BF16:
        assert ng.dot(x, y).get().tobytes() == rounded(product + 0.0, BF16).tobytes()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("cores", [True, False])
def test_within_the_bound(rng, layout, cores):
    m, n, k = 136, 264, 712
    a, b = normal(rng, (m, k)), normal(rng, (k, n))
    x, y = put(a, layout[0]), put(b, layout[1])
    exact, scale = wide(a) @ wide(b), np.abs(wide(a)) @ np.abs(wide(b))
    chain = k * 2.0**-24 / (1 - k * 2.0**-24) * scale
    sums = ng.zeros((m, n))
    ng.dot(x, y, sums, tensor_cores=cores)
    assert (np.abs(wide(sums.get()) - exact) <= chain).all()
    got = ng.dot(x, y, tensor_cores=cores)
    assert got.get().tobytes() == sums.get().astype(BF16).tobytes(), "one rounding of the same sums"
    if not (cores and CORES):
        return
    for tile in TILES:
        assert np.array_equal(ng.dot(x, y, tile=tile).get(), got.get()), tile
        parts = [ng.dot(x, y, tile=t, splits=3).get() for t in (tile, TILES[0])]
        assert np.array_equal(parts[0], parts[1]), tile


@pytest.mark.skipif(not CORES, reason="the tensor cores of sm_90a")
def test_sums_are_those_of_float16(rng):
    """Numbers that both types hold have the same products, summed alike."""
    a, b = (rng.integers(-128, 129, s) / 64 for s in ((72, 136), (136, 200)))
    results = []
    for dtype in ("bfloat16", "float16"):
        out = ng.zeros((72, 200))
        ng.dot(ng.array(a, dtype), ng.array(b, dtype), out)
        results.append(out.get())
    assert np.array_equal(*results)


@pytest.mark.parametrize("cores", [True, False])
def test_special_values(rng, cores):
    """NaN and infinities reach their rows and columns only; numbers beyond float16's range and subnormals are kept."""
    a, b = normal(rng, (72, 136)), normal(rng, (136, 264))
    a[3, 5], a[7, 135], b[0, 9] = np.nan, np.inf, -np.inf
    got = wide(ng.dot(ng.array(a), ng.array(b), tensor_cores=cores).get())
    with np.errstate(invalid="ignore"):
        want = wide(a) @ wide(b)
    assert np.array_equal(np.isnan(got), np.isnan(want))
    assert np.array_equal(np.isinf(got), np.isinf(want)) and (got[7] == want[7])[np.isinf(want[7])].all()
    one = np.zeros((8, 8), BF16)
    one[0, 0] = 1
    for value in (3e38, -1e30, 2.0**-133, -(2.0**-127), 2.0**-126, 1e-20):
        x = np.full((8, 8), value, BF16)
        got = ng.dot(ng.array(x), ng.array(one), tensor_cores=cores).get()
        assert got[:, 0].tobytes() == x[:, 0].tobytes(), value
    big = np.full((8, 8), 3e38, BF16)
    assert np.isinf(ng.dot(ng.array(big), ng.array(np.full((8, 8), 2, BF16)), tensor_cores=cores).get()).all()


@pytest.mark.parametrize("columns", [64, 61])
def test_stochastic_rounding(rng, columns):
    """Every result is one of the two neighbours; the mean over many seeds is the exact value."""
    bits, seeds = 5, 200
    a = integers(rng, (32, 5), 7)
    b = (rng.integers(-31, 32, (5, columns)) / 32).astype(BF16)
    exact = wide(a) @ wide(b)
    unit = 2.0 ** (np.floor(np.log2(np.where(exact == 0, 1, np.abs(exact)))) - bits)
    below = np.floor(exact / unit) * unit
    mean = np.zeros_like(exact)
    x, y = ng.array(a), ng.array(b)
    for seed in range(seeds):
        got = wide(ng.dot(x, y, rounding="stochastic", seed=seed, bits=bits).get())
        assert (((got == below) | (got == below + unit)) & ((got == exact) | (below != exact))).all()
        mean += got / seeds
    assert (np.abs(mean - exact) <= 6 * 0.5 * unit / np.sqrt(seeds)).all()
    one = ng.dot(x, y, rounding="stochastic", seed=3, bits=bits).get()
    same = ng.dot(x, y, rounding="stochastic", seed=3, bits=bits, tile="64x64").get()
    assert one.tobytes() == same.tobytes()
    parts = ng.dot(x, y, rounding="stochastic", seed=3, bits=bits, splits=2, tensor_cores=False).get()
    assert one.tobytes() == parts.tobytes(), "the sums are exact, and so are those of parts"


def test_large_ones_are_copied_to_the_tensor_cores(rng):
    m, n, k = 300, 600, 1501
    a, b = normal(rng, (m, k)), normal(rng, (k, n))
    even_a, even_b = np.zeros((m, 1504), BF16), np.zeros((1504, n), BF16)
    even_a[:, :k], even_b[:k] = a, b
    for layout in LAYOUTS:
        want = ng.dot(put(even_a, layout[0]), put(even_b, layout[1])).get()
        assert np.array_equal(ng.dot(put(a, layout[0]), put(b, layout[1])).get(), want), layout


def test_refusals(rng):
    bf, f16, f32 = (ng.ones((8, 8), d) for d in ("bfloat16", "float16", "float32"))
    cases = [
        (TypeError, "dot: b has dtype float16; needs bfloat16, as a", lambda: ng.dot(bf, f16, relu=True)),
        (
            TypeError,
            "dot: out has dtype float16; needs bfloat16 or float32, what bfloat16 operands give",
            lambda: ng.dot(bf, bf, f16),
        ),
        (
            TypeError,
            "dot: bias has dtype float16; needs bfloat16 or float32",
            lambda: ng.dot(bf, bf, bias=ng.ones(8, "float16")),
        ),
        (
            TypeError,
            "dot: bias has dtype bfloat16; needs float32",
            lambda: ng.dot(bf, bf, f32, bias=ng.ones(8, "bfloat16")),
        ),
        (
            ValueError,
            "gemm: rounding bits is 8; needs 1 to 7 for bfloat16, or 0 for the most",
            lambda: ng.dot(bf, bf, rounding="stochastic", bits=8),
        ),
    ]
    for error, text, call in cases:
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == text
