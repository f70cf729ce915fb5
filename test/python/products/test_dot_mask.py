"""The bits of relu: written by a product with relu, read by the one that is its gradient, of every kernel."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import nervanagpu as ng
import numpy as np
import numpy.typing as npt
import pytest

BF16 = np.dtype(ml_dtypes.bfloat16)
CORES = ng.device().arch == "sm_90a"
TYPES = [np.dtype(np.float32), np.dtype(np.float16), BF16]
TILES = ["128x64", "128x128", "128x128x2", "128x192", "128x256"]
# On the tensor cores in 16 bits: the first three, several tiles, rows that begin anywhere in memory, one column.
SHAPES = [(40, 72, 64), (136, 264, 72), (130, 35, 16), (33, 35, 17), (7, 300, 5), (5, 1, 8), (1, 32, 3), (3, 65, 0)]
Array = npt.NDArray[Any]


def words(n: int) -> int:
    return -(-n // 32)


def pack(bits: Array) -> Array:
    """Bits (..., n) as the words of a mask."""
    wide = np.zeros((*bits.shape[:-1], words(bits.shape[-1]) * 32), bool)
    wide[..., : bits.shape[-1]] = bits
    return np.packbits(wide, axis=-1, bitorder="little").view(np.uint32)


def poisoned(shape: tuple[int, ...]) -> ng.GPUTensor:
    return ng.array(np.full(shape, 0xA5A5A5A5, np.uint32))


def operands(rng: np.random.Generator, m: int, n: int, k: int, dtype: Any) -> tuple[Array, Array]:
    return tuple(rng.integers(-3, 4, s).astype(dtype) for s in ((m, k), (k, n)))  # type: ignore[return-value]


def ways(dtype: Any) -> list[dict[str, Any]]:
    tiles = TILES if CORES and dtype.itemsize == 2 else []
    return [{}, {"splits": 2}, {"tensor_cores": False}, *({"tile": t} for t in tiles)]


def stored(x: Array, dtype: Any) -> Array:
    return x.astype(np.float32).astype(dtype).astype(np.float64)


def run(a: Array, b: Array, layout: str, out: ng.GPUTensor, **options: Any) -> Array:
    """dot of operands that lie as the letters say; a tile that this shape has no kernel of counts as no tile."""
    x, y = (
        ng.array(np.ascontiguousarray(t.T)).T if c == "t" else ng.array(t) for t, c in zip((a, b), layout, strict=True)
    )
    try:
        ng.dot(x, y, out, **options)
    except ValueError as e:
        assert "no kernel with tile" in str(e)
        options.pop("tile")
        ng.dot(x, y, out, **options)
    return out.get()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_written_by_relu(rng, shape, dtype):
    """With biases, beta and rows of C that begin anywhere: the bits of the result, whichever kernel computes it."""
    m, n, k = shape
    a, b = operands(rng, m, n, k, dtype)
    old, row, column = rng.integers(-9, 10, (m, n)), rng.integers(-9, 10, n), rng.integers(-9, 10, (m, 1))
    sums = a.astype(np.int64) @ b.astype(np.int64)
    epilogues: list[tuple[dict[str, Any], Array]] = [
        ({"relu": True}, sums),
        ({"activation": "relu", "bias": ng.array(row.astype(np.float32))}, sums + row),
        (
            {"relu": True, "alpha": -2, "beta": 3, "bias": ng.array(column.astype(np.float32))},
            3 * old - 2 * sums + column,
        ),
    ]
    for out, way, (options, exact) in itertools.product({np.dtype(np.float32), dtype}, ways(dtype), epilogues):
        want = np.maximum(exact, 0)
        c, mask = ng.array(old.astype(out)), poisoned((m, words(n)))
        got = run(a, b, "nt", c, mask=mask, **options, **way)
        assert np.array_equal(got.astype(np.float64), stored(want, out)), (out, way)
        assert np.array_equal(mask.get(), pack(want > 0)), (out, way)
        whole = ng.array(np.zeros((m, n + 3), out))
        outer = poisoned((m + 2, words(n) + 1))
        whole[:, 1 : n + 1] = ng.array(old.astype(out))
        run(a, b, "nt", whole[:, 1 : n + 1], mask=outer[1 : m + 1, : words(n)], **options, **way)
        expected = np.full((m + 2, words(n) + 1), 0xA5A5A5A5, np.uint32)
        expected[1 : m + 1, : words(n)] = pack(want > 0)
        assert np.array_equal(outer.get(), expected), (out, way)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_applied_by_drelu(rng, shape, dtype):
    """Elements whose bit is 0 are 0, whatever was computed for them; the others are what they are without a mask."""
    m, n, k = shape
    a, b = operands(rng, m, n, k, dtype)
    old, row = rng.integers(-9, 10, (m, n)), rng.integers(-9, 10, n)
    bits = rng.random((m, n)) < 0.5
    mask = pack(bits)
    noisy = mask.copy()
    if n % 32:
        noisy[:, -1] |= np.uint32(0xFFFFFFFF << (n % 32) & 0xFFFFFFFF)  # past column n: not looked at
    sums = a.astype(np.int64) @ b.astype(np.int64)
    epilogues: list[tuple[dict[str, Any], Array]] = [
        ({}, sums),
        ({"alpha": 2, "beta": -1, "bias": ng.array(row.astype(np.float32))}, 2 * sums - old + row),
    ]
    for out, way, (options, exact) in itertools.product({np.dtype(np.float32), dtype}, ways(dtype), epilogues):
        for layout in ("nn", "nt", "tn", "tt") if way == {} else ("nt",):
            got = run(
                a, b, layout, ng.array(old.astype(out)), mask=ng.array(noisy), activation="drelu", **options, **way
            )
            assert np.array_equal(got.astype(np.float64), stored(np.where(bits, exact, 0), out)), (out, way, layout)
            assert not np.signbit(got[~bits].astype(np.float32)).any()
        whole = ng.array(np.full((m + 2, n + 3), 7, out))
        whole[1 : m + 1, 1 : n + 1] = ng.array(old.astype(out))
        run(a, b, "nt", whole[1 : m + 1, 1 : n + 1], mask=ng.array(mask), activation="drelu", **options, **way)
        expected = np.full((m + 2, n + 3), 7.0)
        expected[1 : m + 1, 1 : n + 1] = stored(np.where(bits, exact, 0), out)
        assert np.array_equal(whole.get().astype(np.float64), expected), (out, way)


def test_special_values():
    """NaN, infinities, zeros and what rounds to zero: relu keeps NaN, whose bit is 0; drelu puts 0 for all of them."""
    f16, bf16 = 2.0**-25, 2.0**-134  # half of the least subnormal numbers: to even, which is 0
    specials = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0**-149, f16, np.nextafter(np.float32(f16), 1), bf16]
    column = np.array([*specials, np.nextafter(np.float32(bf16), 1)], np.float32)[:, None]
    for dtype, out in [(np.float32, np.float32), (np.float16, np.float16), (BF16, BF16), (BF16, np.float32)]:
        zeros = ng.zeros((len(column), 16), dtype), ng.zeros((16, 40), dtype)
        for way in ways(np.dtype(dtype)):
            mask = poisoned((len(column), 2))
            got = run(*(z.get() for z in zeros), "nt", ng.empty((len(column), 40), out), mask=mask, relu=True,
                      bias=ng.array(column), **way)  # fmt: skip
            with np.errstate(over="ignore"):
                rounded = np.broadcast_to(column.astype(out), got.shape)
            assert np.array_equal(mask.get(), pack(rounded.astype(np.float32) > 0)), (dtype, way)
            assert np.isnan(got[0].astype(np.float32)).all()
            grad = run(*(z.get() for z in zeros), "nt", ng.empty((len(column), 40), out), activation="drelu",
                       mask=ng.zeros((len(column), 2), np.int32), bias=ng.array(column), **way)  # fmt: skip
            assert not grad.view(np.uint16 if np.dtype(out).itemsize == 2 else np.uint32).any(), (dtype, way)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_rounded_at_random(rng, dtype):
    """The bits are those of the rounded result, and what drelu lets through has the bits of the unmasked one."""
    a, b = ((rng.standard_normal(s) * 2.0**-13).astype(dtype) for s in ((40, 64), (64, 72)))
    options = {"rounding": "stochastic", "seed": 3, "offset": 9}
    for way in ways(dtype):
        plain = run(a, b, "nt", ng.empty((40, 72), dtype), **options, **way)
        mask = poisoned((40, 3))
        got = run(a, b, "nt", ng.empty((40, 72), dtype), relu=True, mask=mask, **options, **way)
        assert np.array_equal(mask.get(), pack(got.astype(np.float32) > 0)) and (got > 0).any() and not (got > 0).all()
        grad = run(a, b, "nt", ng.empty((40, 72), dtype), activation="drelu", mask=mask, **options, **way)
        assert np.array_equal(grad, np.where(got > 0, plain, np.zeros_like(plain))), way


@pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=lambda d: np.dtype(d).name)
def test_batches_and_plans(rng, dtype):
    """A batch has a mask for each matrix; a sum over it, and a plan, have one."""
    for m, n, k in [(40, 72, 64), (33, 35, 17)]:
        a, b = (rng.integers(-3, 4, s).astype(dtype) for s in ((3, m, k), (3, k, n)))
        want = np.maximum(a.astype(np.int64) @ b.astype(np.int64), 0)
        x, y, out, mask = ng.array(a), ng.array(b), ng.empty((3, m, n), dtype), poisoned((3, m, words(n)))
        ng.batched_dot(x, y, out, relu=True, mask=mask)
        assert np.array_equal(out.get(), want) and np.array_equal(mask.get(), pack(want > 0))
        ng.batched_dot(x, y, out, alpha=-2, activation="drelu", mask=mask)
        assert np.array_equal(out.get(), -2 * want)
        side = ng.empty((m, 3, n), dtype).transpose(1, 0, 2)  # the matrices' rows side by side
        ng.batched_dot(x, y, side, alpha=-2, activation="drelu", mask=mask)
        assert np.array_equal(side.get(), -2 * want)
        total = np.maximum((a.astype(np.int64) @ b.astype(np.int64)).sum(0), 0)
        one = poisoned((m, words(n)))
        ng.batched_dot(x, y, ng.empty((m, n), dtype), relu=True, mask=one)
        assert np.array_equal(one.get(), pack(total > 0))
        plan = ng.GemmPlan(x, y, out, relu=True, mask=mask)
        mask[...] = 0
        for _ in range(2):
            plan(x, y, ng.empty((3, m, n), dtype))
            assert np.array_equal(mask.get(), pack(want > 0))
        turned = ng.empty((n, m), dtype).T
        ng.dot(x[0], y[0], turned, relu=True, mask=one)
        assert np.array_equal(turned.get(), want[0]) and np.array_equal(one.get(), pack(want[0] > 0))
        with pytest.raises(ValueError, match="there is a mask, or sums; a plan needs rows of contiguous elements"):
            ng.GemmPlan(x[0], y[0], turned, relu=True, mask=one)


def test_refusals():
    f, i8 = ng.ones((4, 40)), ng.ones((4, 4), np.int8)
    square, mask = ng.ones((40, 40)), ng.zeros((4, 2), np.uint32)
    wide = ng.zeros((4, 4), np.uint32)
    cases: list[tuple[type[Exception], str, Any]] = [
        (ValueError, "dot: activation is drelu but there is no mask", lambda: ng.dot(f, square, activation="drelu")),
        (ValueError, "gemm: mask is given; needs relu, which writes it, or", lambda: ng.dot(f, square, mask=mask)),
        (ValueError, "gemm: mask is given; needs relu", lambda: ng.dot(f, square, relu_first=True, mask=mask)),
        (ValueError, r"mask has shape \(4, 4\); needs \(4, 2\)", lambda: ng.dot(f, square, relu=True, mask=wide)),
        (ValueError, "mask has strides", lambda: ng.dot(f, square, relu=True, mask=wide[:, ::2])),
        (TypeError, "mask has dtype float32; needs uint32 or int32",
         lambda: ng.dot(f, square, relu=True, mask=ng.ones((4, 2)))),
        (TypeError, "mask is given but c has dtype int32",
         lambda: ng.dot(i8, i8, relu=True, mask=ng.zeros((4, 1), np.int32))),
        (TypeError, r"dot: mask is \[1\]; needs GPUTensor", lambda: ng.dot(f, square, relu=True, mask=[1])),
    ]  # fmt: skip
    for error, text, call in cases:
        with pytest.raises(error, match=text):
            call()
    assert not mask.get().any()
