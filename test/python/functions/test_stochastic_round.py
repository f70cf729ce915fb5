"""Rounding at random in expressions: unbiased by counting, the bits of nn.convert, and what writes to tensors do."""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import _core

Array = np.ndarray[Any, Any]
SPECIAL = [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 65504, 65519, 65520, 6.1e-5, 5.9e-8, 3e-8, 1e-45, 3.4e38, 1e-39]


def philox(count: int, seed: int, offset: int) -> Array:
    """Philox4x32-10 in NumPy: word i % 4 of counter offset + i / 4."""
    blocks = np.arange((count + 3) // 4, dtype=np.uint64) + np.uint64(offset)
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    c = [blocks & mask, blocks >> shift, np.zeros_like(blocks), np.zeros_like(blocks)]
    k = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(q >> shift) ^ c[1] ^ k[0], q & mask, (p >> shift) ^ c[3] ^ k[1], p & mask]
        k = [(k[0] + np.uint64(0x9E3779B9)) & mask, (k[1] + np.uint64(0xBB67AE85)) & mask]
    return np.stack(c, 1).reshape(-1)[:count].astype(np.uint32)


def test_words_are_those_of_rand() -> None:
    ng.seed(77)
    np.testing.assert_array_equal(ng.rand(1001).get(), (philox(1001, 77, 0) >> 8) * np.float32(2.0**-24))


@pytest.mark.parametrize(("dtype", "bits", "dropped"), [("float16", 10, 13), ("bfloat16", 7, 16), ("float32", 15, 8)])
def test_every_fraction_is_unbiased(dtype: str, bits: int, dropped: int) -> None:
    """All 2^23 float32 numbers of a binade: each goes up exactly when its fraction exceeds its word, so that over all
    words it does so as often as its distance from the lower neighbour says; the count agrees with that."""
    u = np.arange(1 << 23, dtype=np.uint32) | np.uint32(0x3F800000)
    got = _core.cast(ng.stochastic_round(ng.array(u.view(np.float32)), dtype, bits, seed=5, offset=9), "float32").get()
    fraction = (u.astype(np.uint64) << np.uint64(32 - dropped)) & np.uint64(0xFFFFFFFF)
    goes_up = fraction > philox(u.size, 5, 9)
    # The last step of the binade is 2, which every dtype has; nothing is beyond the largest number.
    want = ((u >> dropped) + goes_up) << dropped
    np.testing.assert_array_equal(got.view(np.uint32), want)
    expected = fraction.sum() / 2.0**32
    deviation = np.sqrt(np.sum(fraction / 2.0**32 * (1 - fraction / 2.0**32)))
    assert abs(goes_up.sum() - expected) <= 4 * deviation


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_bits_of_convert(dtype: str, rng: np.random.Generator) -> None:
    bits = rng.integers(0, 1 << 32, 30011, dtype=np.uint32).view(np.float32)
    x = np.concatenate([np.array(SPECIAL, np.float32), bits, (rng.standard_normal(5000) * 60).astype(np.float32)])
    a = ng.array(x)
    for kept in (0, 1, 5):
        want = ng.nn.convert(a, dtype, rounding="stochastic", seed=3, offset=11, bits=kept)
        got = ng.stochastic_round(a, dtype, kept, seed=3, offset=11)
        assert got.get().tobytes() == want.get().tobytes()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_integers(dtype: str, rng: np.random.Generator) -> None:
    i = np.iinfo(dtype)
    x = np.concatenate([np.array(SPECIAL, np.float32), (rng.standard_normal(9000) * 100).astype(np.float32)])
    x = np.concatenate([x, np.float32([i.max, i.min, i.max * 1.01, 2.0**23 + 1, 0.25, -0.25, 1e-8])])
    got = ng.stochastic_round(ng.array(x), dtype, seed=1 << 40, offset=2).get()
    bounded = np.clip(np.nan_to_num(x.astype(np.float64), nan=0.0), i.min, i.max)
    whole = np.trunc(bounded)
    chance = np.abs(bounded - whole)
    goes_up = np.floor(chance * 2.0**32) > philox(x.size, 1 << 40, 2)
    np.testing.assert_array_equal(got, (whole + np.sign(bounded) * goes_up).astype(np.int64).astype(dtype))


def test_it_fuses_and_is_seeded(rng: np.random.Generator) -> None:
    a = rng.standard_normal((100, 33)).astype(np.float32)
    x = ng.array(a)
    y = ng.stochastic_round(ng.exp(x) * 3 + 1, np.float16)
    before = ng.launch_count()
    y.get()
    assert ng.launch_count() == before + 1
    ng.seed(4)
    first = [ng.stochastic_round(x, np.float16).get() for _ in range(2)]
    assert first[0].tobytes() != first[1].tobytes()
    ng.seed(4)
    assert ng.stochastic_round(x, np.float16).get().tobytes() == first[0].tobytes()
    same = ng.stochastic_round(x.T, np.float16, seed=4)  # counted row by row of what is asked for
    want = ng.stochastic_round(ng.array(np.ascontiguousarray(a.T)), np.float16, seed=4)
    assert same.get().tobytes() == want.get().tobytes()
    mean = sum(ng.stochastic_round(x, np.float16).get().astype(np.float64) for _ in range(400)) / 400
    step = np.spacing(np.abs(a).astype(np.float16)).astype(np.float64)
    assert np.all(np.abs(mean - a) <= 5 * step / 2 / np.sqrt(400))


def test_what_is_written_to_a_tensor_with_rounding(rng: np.random.Generator) -> None:
    a = rng.standard_normal(5000).astype(np.float32)
    x = ng.array(a)
    out = ng.empty(5000, np.float16)
    out.rounding = 10

    def rounded(seed: int, values: ng.GPUTensor, bits: int = 10) -> bytes:
        return ng.stochastic_round(values, np.float16, bits, seed=seed).get().tobytes()

    ng.seed(21)
    out[:] = x * 3
    assert out.get().tobytes() == rounded(21, x * 3)
    ng.seed(22)
    ng.multiply(x, 5, out=out)
    assert out.get().tobytes() == rounded(22, x * 5)
    kept, mask = out.get(), a > 0
    ng.seed(22)
    ng.multiply(x, 7, out=out, where=ng.array(mask))
    assert np.array_equal(out.get()[~mask], kept[~mask])
    assert not np.array_equal(out.get()[mask], (a * np.float32(7))[mask].astype(np.float16))
    before = ng.array(out.get())
    ng.seed(23)
    out += x
    assert out.get().tobytes() == rounded(23, before + x)
    out.rounding = 3
    ng.seed(24)
    out[:] = x
    assert out.get().tobytes() == rounded(24, x, 3)
    assert not np.array_equal(out.get(), a.astype(np.float16))
    out.rounding = 0
    out[:] = x
    assert out.get().tobytes() == a.astype(np.float16).tobytes()
    factory = ng.NervanaGPU(stochastic_round=True)
    half = factory.empty((5000,), np.float16)
    assert half.rounding == 10
    half[:] = x
    assert not np.array_equal(half.get(), a.astype(np.float16))
    np.testing.assert_allclose(half.get().astype(np.float32), a, rtol=2e-3, atol=1e-6)


def test_errors() -> None:
    x = ng.ones(4)
    with pytest.raises(TypeError, match="round: dtype is int64; needs float16, bfloat16, float32 or an integer"):
        ng.stochastic_round(x, np.int64)
    with pytest.raises(ValueError, match="round: bits is 11; needs 1 to 10, or 0 for the most"):
        ng.stochastic_round(x, np.float16, 11)
    with pytest.raises(ValueError, match="needs 0 for integers"):
        ng.stochastic_round(x, np.int8, 3)
