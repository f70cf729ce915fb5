"""Activations of GEMM, and products of bytes as float32 and int8: the same bits from every kernel."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import nervanagpu as ng
import numpy as np
import numpy.typing as npt
import pytest
from activation_reference import EXACT, options
from nervanagpu import _core
from source_tree import ROOT

BF16 = np.dtype(ml_dtypes.bfloat16)
CORES = ng.device().arch == "sm_90a"
LAYOUTS = ["nn", "nt", "tn", "tt"]
Array = npt.NDArray[Any]


def put(x: Array, letter: str) -> ng.GPUTensor:
    return ng.array(np.ascontiguousarray(x.T)).T if letter == "t" else ng.array(x)


def operands(rng: np.random.Generator, m: int, n: int, k: int, dtype: Any) -> tuple[Array, Array]:
    """Multiples of 1/8 whose sums are exact."""
    return tuple((rng.integers(-3, 4, s) / 8).astype(dtype) for s in ((m, k), (k, n)))  # type: ignore[return-value]


def wide(x: Array) -> Array:
    return x.astype(np.float64)


# The first shape is taken by the tensor cores in 16 bits, the others by multiply-adds; the last is several tiles.
@pytest.mark.parametrize("dtype", [np.float32, np.float16, BF16], ids=lambda d: str(np.dtype(d)))
@pytest.mark.parametrize("shape", [(40, 72, 64), (33, 35, 17), (1, 5, 0), (136, 264, 72)], ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_activations(rng, name, shape, dtype):
    """Within the function's bound of the exact value, of float32; rounded from there to the result's type."""
    m, n, k = shape
    a, b = operands(rng, m, n, k, dtype)
    row = (rng.integers(-16, 17, n) / 8).astype(np.float32)
    old = (rng.integers(-16, 17, (m, n)) / 4).astype(np.float32)
    sums = 0.5 * (wide(a) @ wide(b)) - 2 * old + row
    assert np.array_equal(sums, sums.astype(np.float32)), "exact"
    want = EXACT[name](sums)
    for out in {np.dtype(np.float32), np.dtype(dtype)}:
        c = ng.array(old.astype(out))
        ng.dot(ng.array(a), ng.array(b), c, alpha=0.5, beta=-2, bias=ng.array(row), **options(name))
        unit = {4: 2.0**-21, 2: 2.0**-7 if out == BF16 else 2.0**-10}[out.itemsize]
        error = np.abs(wide(c.get()) - want)
        assert (error <= unit * (1 + np.abs(sums) / 16) * np.abs(want) + 2.0**-24).all(), (name, out)


@pytest.mark.parametrize("name", ["tanh", "gelu", "silu"])
def test_the_same_bits_from_every_kernel(rng, name):
    """Layouts, tiles, parts of k, tensor cores and what finishes their sums do not show in the result."""
    m, n, k = 72, 136, 192
    a, b = operands(rng, m, n, k, np.float16)
    first = None
    tiles = ["128x64", "128x128", "128x128x2", "128x192", "128x256"] if CORES else []
    ways: list[dict[str, Any]] = [{}, {"tensor_cores": False}, {"splits": 2}, *({"tile": t} for t in tiles)]
    for layout, way in itertools.product(LAYOUTS, ways):
        got = ng.dot(put(a, layout[0]), put(b, layout[1]), **options(name), **way).get()
        first = got if first is None else first
        assert got.tobytes() == first.tobytes(), (layout, way)
    seeded = [
        ng.dot(ng.array(a), ng.array(b), rounding="stochastic", seed=4, bits=4, **options(name), **w).get().tobytes()
        for w in ways
    ]
    assert len(set(seeded)) == 1


@pytest.mark.parametrize("shape", [(40, 72, 64), (33, 35, 17)], ids=str)
def test_plans(rng, shape):
    """A plan's launches have the bits of dot, whether the kernel finishes its sums or split_sum does."""
    m, n, k = shape
    a, b = operands(rng, m, n, k, np.float16)
    plan = ng.GemmPlan(ng.array(a), ng.array(b), ng.empty((m, n), np.float16), activation="gelu")
    x, y = (rng.integers(-128, 128, s).astype(np.int8) for s in ((m, k), (n, k)))
    scale = ng.array((rng.random((m, 1)) / 1000).astype(np.float32))
    bytes_plan = ng.GemmPlan(ng.array(x), ng.array(y).T, ng.empty((m, n), np.int8), scale=scale)
    for _ in range(2):
        out, small = ng.empty((m, n), np.float16), ng.empty((m, n), np.int8)
        plan(ng.array(a), ng.array(b), out)
        assert out.get().tobytes() == ng.dot(ng.array(a), ng.array(b), activation="gelu").get().tobytes()
        bytes_plan(ng.array(x), ng.array(y).T, small)
        want = ng.dot(ng.array(x), ng.array(y).T, ng.empty((m, n), np.int8), scale=scale).get()
        assert np.array_equal(small.get(), want) and want.any()


def test_batches(rng):
    """Batches and sums over them have every epilogue, but bytes as floats outside the tensor cores, which say so."""
    for (m, n, k), dtype in itertools.product([(40, 72, 64), (33, 35, 17)], [np.float16, BF16, np.float32]):
        a, b = ((rng.integers(-3, 4, s) / 8).astype(dtype) for s in ((3, m, k), (3, k, n)))
        x, y, out, total = ng.array(a), ng.array(b), ng.empty((3, m, n), dtype), ng.empty((m, n), dtype)
        row = ng.array((rng.integers(-9, 10, n) / 4).astype(np.float32))
        for name in ("gelu", "clip", "tanh"):
            ng.GemmPlan(x, y, out, bias=row, **options(name))(x, y, out, row)
            for i in range(3):
                one = ng.dot(x[i], y[i], bias=row, splits=1, **options(name)).get()
                assert out.get()[i].tobytes() == one.tobytes(), (name, dtype, m)
            want = EXACT[name](wide(a) @ wide(b) + row.get())
            assert (np.abs(wide(out.get()) - want) <= 2.0**-7 * (1 + np.abs(want))).all()
        ng.batched_dot(x, y, total, activation="tanh")
        assert (np.abs(wide(total.get()) - np.tanh((wide(a) @ wide(b)).sum(0))) <= 2.0**-7).all()
    byte = rng.integers(-128, 128, (3, 40, 64)).astype(np.int8)
    single, turned = ng.empty((3, 40, 40)), ng.array(byte).transpose(0, 2, 1)
    if CORES:
        ng.batched_dot(ng.array(byte), turned, single, alpha=0.5)
        assert np.array_equal(single.get(), 0.5 * wide(byte) @ wide(byte).transpose(0, 2, 1))
    with pytest.raises(ValueError, match="for a batch, whose epilogue only those of the tensor cores have"):
        ng.GemmPlan(ng.array(byte), turned, single, alpha=0.5, tensor_cores=False)


@pytest.mark.parametrize("name", EXACT)
def test_float32_in_every_kernel(rng, name):
    """One chain and one of its parts in a ring: sums of multiples of 1/8 are exact, so all have the same bits."""
    m, n, k = 72, 136, 192
    a, b = operands(rng, m, n, k, np.float32)
    column = ng.array((rng.integers(-16, 17, (m, 1)) / 8).astype(np.float32))
    old = (rng.integers(-16, 17, (m, n)) / 4).astype(np.float32)
    tiles = ["ring64x64", "ring32x64", "ring16x128t"] if CORES else []
    ways: list[dict[str, Any]] = [{}, {"splits": 1}, {"splits": 3}, {"tile": "64x64"}, {"tile": "128x128"}]
    seen = set()
    for layout, way in itertools.product(LAYOUTS, [*ways, *({"tile": t, "splits": 2} for t in tiles)]):
        c = ng.array(old)
        ng.dot(put(a, layout[0]), put(b, layout[1]), c, alpha=0.5, beta=-2, bias=column, **options(name), **way)
        seen.add(c.get().tobytes())
    assert len(seen) == 1
    plan = ng.GemmPlan(ng.array(a), ng.array(b), ng.empty((m, n)), splits=1, **options(name))
    assert plan.workspace == 0 and "split" not in plan.kernel


def test_special_values():
    a = np.array([[np.nan], [np.inf], [-np.inf], [0], [1]], np.float32)
    one = ng.ones((1, 1))
    for name, want in {
        "tanh": [np.nan, 1, -1, 0],
        "sigmoid": [np.nan, 1, 0, 0.5],
        "gelu": [np.nan, np.inf, 0, 0],
        "gelu_tanh": [np.nan, np.inf, 0, 0],
        "silu": [np.nan, np.inf, 0, 0],
        "clip": [np.nan, 2, -1.5, 0],
    }.items():
        got = ng.dot(ng.array(a), one, **options(name)).get()[:4, 0]
        assert np.array_equal(got, np.float32(want), equal_nan=True), name


def saturated(x: Array) -> Array:
    return np.clip(np.rint(x), -128, 127).astype(np.int8)


@pytest.mark.parametrize("types", list(itertools.product([np.int8, np.uint8], repeat=2)), ids=str)
@pytest.mark.parametrize("shape", [(24, 40, 32), (33, 35, 19), (130, 200, 272), (5, 3, 0)], ids=str)
@pytest.mark.parametrize("letter", ["n", "t"])
def test_bytes_to_float32_and_int8(rng, types, shape, letter):
    """Exact: scales are powers of two. NT in multiples of 16 goes to the tensor cores, the rest does not."""
    m, n, k = shape
    a, b = (
        rng.integers(np.iinfo(t).min, np.iinfo(t).max + 1, s).astype(t)
        for t, s in zip(types, ((m, k), (k, n)), strict=True)
    )
    x, y = ng.array(a), put(b, letter)
    sums = a.astype(np.int64) @ b.astype(np.int64)
    columns = (2.0 ** rng.integers(-12, -5, n)).astype(np.float32)
    rows = (2.0 ** rng.integers(-12, -5, (m, 1))).astype(np.float32)
    bias = (rng.integers(-64, 65, n) / 2).astype(np.float32)
    old = rng.integers(-99, 100, (m, n))
    cases: list[tuple[dict[str, Any], Array]] = [
        ({"scale": 2.0**-8}, sums / 256),
        ({"scale": ng.array(columns), "alpha": 2}, 2 * sums * columns),
        ({"scale": ng.array(rows), "bias": ng.array(bias), "relu": True}, np.maximum(sums * rows + bias, 0)),
        ({"alpha": -(2.0**-9), "beta": 0.5, "bias": ng.array(rows * 1024)}, -sums / 512 + old / 2 + rows * 1024),
        ({"scale": ng.array(columns[None]), "activation": "clip", "clip": (-20, 60)}, np.clip(sums * columns, -20, 60)),
        ({"scale": 2.0**-8, "relu_first": True, "beta": -1}, np.maximum(sums / 256, 0) - old),
    ]
    for more in ({}, {"splits": 2}, {"tensor_cores": False}):
        for option, want in cases:
            single, byte = ng.array(old.astype(np.float32)), ng.array(old.astype(np.int8))
            ng.dot(x, y, single, **option, **more)
            ng.dot(x, y, byte, **option, **more)
            assert np.array_equal(single.get(), want.astype(np.float32)), (option, more)
            assert np.array_equal(byte.get(), saturated(want)), (option, more)
    assert np.array_equal(ng.dot(x, y, scale=0.5).get(), (sums / 2).astype(np.float32))
    assert np.array_equal(ng.dot(x, y, scale=ng.array(columns)).get(), (sums * columns).astype(np.float32))


@pytest.mark.skipif(not CORES, reason="the tensor cores of sm_90a")
@pytest.mark.parametrize("tile", ["128x64", "128x128", "128x128x2", "128x192", "128x256"])
@pytest.mark.parametrize("dtype", [np.float16, BF16, np.int8], ids=lambda d: str(np.dtype(d)))
def test_bias_and_scale_of_columns(rng, dtype, tile):
    """The path of 16 bytes a lane, and the one for vectors that begin at an odd element: the same bits."""
    for (m, n), k in itertools.product([(136, 264), (130, 24), (5, 520)], [48, 208]):
        if dtype == np.int8:
            a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((m, k), (n, k)))
        else:
            a, b = ((rng.integers(-3, 4, s) / 8).astype(dtype) for s in ((m, k), (n, k)))
        sums = wide(a) @ wide(b).T
        for out, kind in itertools.product({np.dtype(dtype), np.dtype(np.float32), np.dtype(np.int32)}, ["own", "f32"]):
            integer = out == np.int32
            if integer != (dtype == np.int8 and out == np.int32) or out == np.int8:
                continue
            vector = rng.integers(-64, 65, n + 1) * (1 if integer else 0.5)
            bias = ng.array(vector.astype(out if kind == "own" or integer else np.float32))
            scale = ng.array((2.0 ** rng.integers(-6, 3, n + 1)).astype(np.float32))
            for at, relu, scaled in itertools.product([0, 1], [False, True], [False, True]):
                if scaled and (dtype != np.int8 or integer):
                    continue
                option = {"scale": scale[at : n + at]} if scaled else {}
                c = ng.empty((m, n), out)
                ng.dot(ng.array(a), ng.array(b).T, c, bias=bias[at : n + at], relu=relu, alpha=2, tile=tile, **option)
                want = 2 * sums * (scale.get()[at : n + at] if scaled else 1) + vector[at : n + at]
                want = np.maximum(want, 0) if relu else want
                assert c.get().tobytes() == (want + 0.0).astype(np.float32).astype(out).tobytes(), (m, n, out, at, relu)


@pytest.mark.skipif(not CORES, reason="the tensor cores of sm_90a")
def test_int8_results_of_every_tile_and_views(rng):
    m, n, k = 140, 270, 64
    a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((m, k), (n, k)))
    want = saturated(a.astype(np.int64) @ b.astype(np.int64).T / 512)
    for tile in ("128x64", "128x128", "128x128x2", "128x192", "128x256"):
        whole = ng.array(np.full((m + 2, n + 13), 7, np.int8))
        out = whole[1 : m + 1, 5 : n + 5]
        ng.dot(ng.array(a), ng.array(b).T, out, scale=2.0**-9, tile=tile)
        got = whole.get()
        assert np.array_equal(got[1 : m + 1, 5 : n + 5], want), tile
        got[1 : m + 1, 5 : n + 5] = 7
        assert (got == 7).all(), tile
        # Rows of four bytes: the path of whole tiles, whose last columns and rows are not there.
        aligned = ng.array(np.full((m + 1, n + 2), 7, np.int8))
        ng.dot(ng.array(a), ng.array(b[:268]).T, aligned[:m, :268], scale=2.0**-9, tile=tile)
        got = aligned.get()
        assert np.array_equal(got[:m, :268], want[:, :268]), tile
        got[:m, :268] = 7
        assert (got == 7).all(), tile
    turned = ng.empty((n, m), np.int8)
    ng.dot(ng.array(a), ng.array(b).T, turned.T, scale=2.0**-9)
    assert np.array_equal(turned.get().T, want)


@pytest.mark.parametrize("cores", [True, False])
def test_stochastic_rounding_to_int8(rng, cores):
    """The mean over many seeds is the exact value; what is beyond int8 saturates."""
    a, b = (rng.integers(-8, 9, s).astype(np.int8) for s in ((16, 32), (24, 32)))
    exact = np.clip((a.astype(np.int64) @ b.astype(np.int64).T) * 0.375, -128, 127)
    mean, seeds = np.zeros(exact.shape), 200
    x, y, out = ng.array(a), ng.array(b).T, ng.empty((16, 24), np.int8)
    for seed in range(seeds):
        ng.dot(x, y, out, scale=0.375, rounding="stochastic", seed=seed, tensor_cores=cores)
        got = out.get().astype(np.float64)
        whole = exact == np.rint(exact)
        assert (np.abs(got - exact) < 1).all() and (got[whole] == exact[whole]).all()
        mean += got / seeds
    assert (np.abs(mean - exact) <= 6 * 0.5 / np.sqrt(seeds)).all()
    parts = ng.empty((16, 24), np.int8)
    ng.dot(x, y, parts, scale=0.375, rounding="stochastic", seed=seeds - 1, splits=1, tensor_cores=not cores)
    assert np.array_equal(parts.get(), out.get())


def test_the_page_says_what_each_is():
    """docs/gemm.md has a row for each activation, in the order of their numbers."""
    table = (ROOT / "docs" / "gemm.md").read_text().split("| `activation` |")[1].split("\n\n")[0]
    rows = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
    assert rows == [name for name in _core.ACTIVATIONS if name != "none"]


def test_refusals():
    f, i8, i32 = ng.ones((4, 4)), ng.ones((4, 4), np.int8), ng.ones((4, 4), np.int32)
    cases = [
        (
            ValueError,
            "dot: activation is 'swish'; needs 'none', 'relu', 'tanh', 'sigmoid', 'gelu', 'gelu_tanh', 'silu', "
            "'clip' or 'drelu'",
            lambda: ng.dot(f, f, activation="swish"),
        ),
        (
            ValueError,
            "gemm: relu is set and there is an activation; needs one of them",
            lambda: ng.dot(f, f, relu=True, activation="tanh"),
        ),
        (
            ValueError,
            "gemm: clip_low is 2.000000 and clip_high 1.000000; needs clip_low <= clip_high",
            lambda: ng.dot(f, f, activation="clip", clip=(2, 1)),
        ),
        (
            ValueError,
            "dot: activation is 'clip' but there is no clip; needs clip=(low, high)",
            lambda: ng.dot(f, f, activation="clip"),
        ),
        (
            ValueError,
            "dot: clip is (0, 1) but activation is 'tanh'; needs 'clip'",
            lambda: ng.dot(f, f, activation="tanh", clip=(0, 1)),
        ),
        (
            TypeError,
            "gemm: the result is int32, which has no activation but relu; needs a float or int8 result",
            lambda: ng.dot(i8, i8, activation="gelu"),
        ),
        (
            ValueError,
            "gemm: scale is given but int8 operands have the result int32; needs bytes with a float32 or int8 result",
            lambda: ng.dot(i8, i8, i32, scale=ng.ones(4)),
        ),
        (
            ValueError,
            "dot: scale is given but float32 operands have the result float32; needs bytes with a float32 or int8 "
            "result",
            lambda: ng.dot(f, f, scale=2.0),
        ),
        (
            ValueError,
            "dot: scale has shape (3,); needs (4,) or (1, 4), one for each column, or (4, 1), one for each row",
            lambda: ng.dot(i8, i8, scale=ng.ones(3)),
        ),
        (TypeError, "dot: scale has dtype int32; needs float32", lambda: ng.dot(i8, i8, scale=ng.ones(4, np.int32))),
        (
            TypeError,
            "dot: bias has dtype int8; needs float32",
            lambda: ng.dot(i8, i8, i8.copy(), bias=ng.ones(4, np.int8)),
        ),
        (
            ValueError,
            "gemm: rounding bits is 3; needs 0 for int8, whose last place is 1",
            lambda: ng.dot(i8, i8, i8.copy(), rounding="stochastic", bits=3),
        ),
    ]
    for error, text, call in cases:
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == text
