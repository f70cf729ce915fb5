"""kernels/sort beside NumPy's stable order: lengths around tiles, every dtype, both directions, odd keys."""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import numpy as np
import pytest

INTEGERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES = [*INTEGERS, "float16", "float32", "float64"]
ROWS = {8: 3072}  # the longest rows of one CTA, by the bytes of a key
ROW = 4096


def tile(dtype: np.dtype[Any], places: bool) -> int:
    return 384 * (11 if dtype.itemsize == 8 else 16 if places else 20)


def any_bits(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    count = int(np.prod(shape))
    return rng.integers(0, 256, count * dtype.itemsize, dtype=np.uint8).view(dtype).reshape(shape)


def specials(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Both zeros, both infinities, NaNs of both signs and several payloads, subnormals."""
    assert dtype.kind == "f"
    bits, unsigned = 8 * dtype.itemsize, np.dtype(f"u{dtype.itemsize}")
    top = 1 << (bits - 1)
    infinity = int(np.array(np.inf, dtype).view(unsigned))
    words = [0, 1, infinity - 1, infinity, infinity + 1, top - 1, infinity | infinity >> 1]
    of_both_signs = np.array(words + [w | top for w in words], unsigned)
    return of_both_signs[rng.integers(0, len(of_both_signs), shape)].view(dtype)


def reference(x: np.ndarray[Any, Any], descending: bool) -> np.ndarray[Any, Any]:
    """Of the last axis: equal ones keep their order in both directions."""
    if not descending:
        return np.argsort(x, axis=-1, kind="stable")
    return x.shape[-1] - 1 - np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]


def check(x: np.ndarray[Any, Any], descending: bool = False) -> None:
    """Places, and values to the bit."""
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    places = reference(x, descending)
    want = np.take_along_axis(x.view(unsigned), places, -1)
    t = ng.array(x)
    assert np.array_equal(ng.argsort(t, descending=descending).get(), places)
    assert np.array_equal(ng.sort(t, descending=descending).get().view(unsigned), want)
    both = ng.topk(t, x.shape[-1], largest=descending)
    assert np.array_equal(both.indices.get(), places)
    assert np.array_equal(both.values.get().view(unsigned), want)
    assert np.array_equal(t.get().view(unsigned), x.view(unsigned))


@pytest.mark.parametrize("name", DTYPES)
def test_lengths(name: str) -> None:
    dtype = np.dtype(name)
    rng = np.random.default_rng(1)
    row = ROWS.get(dtype.itemsize, ROW)
    lengths = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1024, 1025, row, row + 1}
    for places in (False, True):
        size = tile(dtype, places)
        lengths |= {size - 1, size, size + 1, 2 * size, 2 * size + 1}
    for number, n in enumerate(sorted(lengths)):
        x = any_bits(rng, dtype, (n,))
        with np.errstate(invalid="ignore"):
            check(x, bool(number % 2))


@pytest.mark.parametrize("name", DTYPES)
def test_rows(name: str) -> None:
    dtype = np.dtype(name)
    rng = np.random.default_rng(2)
    for shape in ((5, 1), (3, 7), (2, 3, 300), (2, 2000), (3, 9001)):
        for descending in (False, True):
            check(any_bits(rng, dtype, shape), descending)


@pytest.mark.parametrize("name", ["int32", "float32", "uint8", "int64"])
def test_long_rows(name: str) -> None:
    check(any_bits(np.random.default_rng(3), np.dtype(name), (100_003,)))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("n", [200, 4000, 9001])
def test_kinds_of_rows(name: str, n: int) -> None:
    """Few different keys, all equal, in order already, the other way round."""
    dtype = np.dtype(name)
    rng = np.random.default_rng(4)
    some = any_bits(rng, dtype, (3,))
    in_order = np.sort(any_bits(rng, dtype, (n,)))
    for x in (some[rng.integers(0, 3, n)], np.repeat(some[:1], n), in_order, np.ascontiguousarray(in_order[::-1])):
        check(x)
        check(x, True)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
@pytest.mark.parametrize("n", [14, 1000, 9001])
def test_special_values(name: str, n: int) -> None:
    for descending in (False, True):
        check(specials(np.random.default_rng(5), np.dtype(name), (n,)), descending)


@pytest.mark.parametrize("n", [300, 9001])
def test_bfloat16(n: int) -> None:
    """Its order is that of the float32 with the same upper half."""
    rng = np.random.default_rng(6)
    upper = rng.integers(0, 1 << 16, n, dtype=np.uint16)
    upper[::7] = rng.choice(np.array([0, 0x8000, 0x7F80, 0xFF80, 0x7F81, 0xFFFF, 1], np.uint16), len(upper[::7]))
    x = (upper.astype(np.uint32) << 16).view(np.float32)
    t = ng.array(upper).view("bfloat16")
    for descending in (False, True):
        places = reference(x, descending)
        assert np.array_equal(ng.argsort(t, descending=descending).get(), places)
        assert np.array_equal(ng.sort(t, descending=descending).view(np.uint16).get(), upper[places])


def test_other_axes_and_strides() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(6, 50, 4)).astype(np.float32)
    t = ng.array(x)
    for axis in (0, 1, 2):
        assert np.array_equal(ng.sort(t, axis).get(), np.sort(x, axis))
        assert np.array_equal(ng.argsort(t, axis).get(), np.argsort(x, axis, kind="stable"))
        values, places = ng.topk(t, 3, axis)
        want = np.flip(np.sort(x, axis), axis).take(range(3), axis)
        assert np.array_equal(values.get(), want) and values.shape == places.shape
    assert np.array_equal(ng.sort(t[::2, ::-3, 1], 0).get(), np.sort(x[::2, ::-3, 1], 0))
    assert np.array_equal(ng.sort(t * 2 + 1).get(), np.sort(x * np.float32(2) + np.float32(1)))


def test_what_is_made_of_it() -> None:
    """Rows of several tiles below unique, quantiles and searches."""
    rng = np.random.default_rng(8)
    x = rng.integers(0, 500, 9001).astype(np.int32)
    t = ng.array(x)
    for got, want in zip(ng.unique(t, True, True, True), np.unique(x, True, True, True), strict=True):
        assert np.array_equal(got.get(), want)
    y = rng.normal(size=(2, 9001))
    assert np.allclose(ng.median(ng.array(y), 1).get(), np.median(y, 1), rtol=1e-14)
    assert np.allclose(ng.percentile(ng.array(y), [5, 95]).get(), np.percentile(y, [5, 95]), rtol=1e-14)
    assert np.array_equal(ng.isin(t, x[:3]).get(), np.isin(x, x[:3]))


def test_refusals() -> None:
    with pytest.raises(ValueError, match="sort"):
        ng.sort(ng.ones((3, 4)), 2)
    with pytest.raises(TypeError, match="descending"):
        ng.argsort(ng.ones(3), descending="up")  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_by_parts(dtype: type, rng: np.random.Generator) -> None:
    """By the real part, then the imaginary one, stable, NaN last: NumPy's order."""
    parts = np.array([-np.inf, -1, -0.0, 0.0, 2, np.inf, np.nan])
    x = (rng.choice(parts, (3, 300)) + 0j).astype(dtype)
    x.imag = rng.choice(parts, x.shape)
    t = ng.array(x)
    assert np.array_equal(ng.sort(t, 1).get(), np.sort(x, 1), equal_nan=True)
    assert np.array_equal(ng.argsort(t, 1).get(), np.argsort(x, 1, kind="stable"))
