"""Random numbers in expressions: the bits of Philox4x32-10, whatever they are part of."""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import _core
from philox import philox


@pytest.fixture(autouse=True)
def _seeded() -> None:
    ng.seed(0)


def uniform(shape: tuple[int, ...], seed: int, offset: int = 0) -> np.ndarray[Any, Any]:
    count = int(np.prod(shape, dtype=int))
    blocks = (np.arange((count + 3) // 4, dtype=np.uint64) + np.uint64(offset)).astype(np.uint64)
    words = philox(seed, blocks).reshape(-1)[:count].reshape(shape)
    return (words >> 8).astype(np.float32) * np.float32(2.0**-24)


@pytest.mark.parametrize("shape", [(1,), (5,), (1000,), (40000,), (3, 7), (33, 20, 3), ()], ids=str)
@pytest.mark.parametrize(("seed", "offset"), [(0, 0), (0x123456789ABCDEF0, 7), (2**64 - 1, 2**33 - 2)])
def test_the_words_of_philox(shape: tuple[int, ...], seed: int, offset: int) -> None:
    np.testing.assert_array_equal(_core.random(shape, seed, offset).get(), uniform(shape, seed, offset))


def test_the_same_numbers_in_any_expression(rng: np.random.Generator) -> None:
    want = uniform((12, 40), 3)
    r = _core.random((12, 40), 3, 0)
    before = ng.launch_count()
    a = rng.standard_normal((12, 40)).astype(np.float32)
    np.testing.assert_array_equal(ng.where(r < 0.25, ng.array(a) * 2, 0).get(), np.where(want < 0.25, a * 2, 0))
    assert ng.launch_count() == before + 1
    y = ng.zeros((40, 12)).T
    y[:] = r  # another order in memory
    np.testing.assert_array_equal(y.get(), want)
    half = ng.zeros((12, 40), np.float16)
    half[:, ::2] = _core.random((12, 20), 3, 0)
    np.testing.assert_array_equal(half.get()[:, ::2], uniform((12, 20), 3).astype(np.float16))
    row = _core.random((40,), 3, 0) + ng.zeros((12, 40))
    np.testing.assert_array_equal(row.get(), np.broadcast_to(uniform((40,), 3), (12, 40)))
    np.testing.assert_allclose(ng.sum(_core.random((12, 40), 3, 0), 1).get(), want.sum(1), rtol=1e-6)


def test_numbers_without_a_shape_take_any() -> None:
    x = ng.zeros((7, 9))
    x[:] = _core.random(None, 5, 0)
    np.testing.assert_array_equal(x.get(), uniform((7, 9), 5))
    x[:] = (_core.random(None, 5, 0) <= 0.5) * (x + 1)
    want = uniform((7, 9), 5)
    np.testing.assert_array_equal(x.get(), (want <= 0.5) * (want + 1))


def test_calls_take_turns() -> None:
    ng.seed(11)
    first, second = ng.rand(5), ng.rand(3, 2)
    np.testing.assert_array_equal(second.get(), uniform((3, 2), 11, 2))
    np.testing.assert_array_equal(first.get(), uniform((5,), 11))
    ng.seed(11)
    np.testing.assert_array_equal(ng.rand(5).get(), first.get())
    big = ng.rand(300, 300).get()
    assert big.min() >= 0
    assert big.max() < 1
    assert abs(big.mean() - 0.5) < 0.01


def test_errors() -> None:
    with pytest.raises(ValueError, match="seed: value is -1"):
        ng.seed(-1)
    with pytest.raises(ValueError, match="negative"):
        ng.rand(-3)
    with pytest.raises(ValueError, match="offset"):
        _core.random((3,), 0, 1 << 61)


@pytest.mark.parametrize("shape", [(), (1,), (4,), (1, 4), (3, 1), (2, 1, 1), (1, 1, 4)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_numbers_broadcast(shape: tuple[int, ...], dtype: str) -> None:
    """Each number stands for all elements along the axes of length 1, a lone one for the whole array."""
    x = np.arange(2 * 3 * 4, dtype=dtype).reshape(2, 3, 4)
    want = x + np.floor(uniform(shape, 5) * 8).astype(dtype)
    number = ng.floor(_core.random(list(shape), 5, 0) * 8).astype(dtype)
    np.testing.assert_array_equal((ng.array(x) + number).get(), want)
    y = ng.array(x)
    y += number
    np.testing.assert_array_equal(y.get(), want)
    y[:] = number
    np.testing.assert_array_equal(y.get(), np.broadcast_to(want - x, x.shape))
    np.testing.assert_array_equal(ng.sum(ng.array(x) + number, 1).get(), want.sum(1))


def test_what_numbers_are_taken() -> None:
    for wrong in (1.5, "1", None, [1]):
        with pytest.raises(TypeError, match="seed: value is"):
            ng.seed(wrong)  # type: ignore[arg-type]
    ng.seed(np.uint64(2**64 - 1))  # type: ignore[arg-type]
    last = ng.rand(4).get()
    ng.seed(2**64 - 1)
    np.testing.assert_array_equal(ng.rand(4).get(), last)
    with pytest.raises(ValueError, match=r"seed: value is 18446744073709551616; needs 0 to"):
        ng.seed(2**64)


@pytest.mark.parametrize(("low", "high"), [(-(2**31), -(2**31) + 1000), (2**31 - 1000, 2**31), (-3, 2), (0, 1)])
def test_whole_numbers_to_the_ends_of_int32(low: int, high: int) -> None:
    ng.seed(4)
    got = ng.randint(low, high, [40, 500]).get()
    assert got.dtype == np.int32 and got.shape == (40, 500)
    assert low <= got.min() <= low + (high - low) // 50 and high - 1 - (high - low) // 50 <= got.max() < high
    assert len(np.unique(got)) > 0.98 * (high - low)


def test_whole_numbers_that_are_refused() -> None:
    for low, high, message in [
        (2**31 - 1, 2**31 + 1, "high 2147483649; needs low < high, both of int32"),
        (2**31, 2**31 + 1, "low is 2147483648"),
        (-(2**31) - 1, 0, "low is -2147483649"),
        (5, 5, "randint: low is 5 and high 5; needs low < high"),
        (0, None, "low is 0 and high 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            ng.randint(low, high, 3)
    for low, high, shape, message in [
        (0.5, 3, 3, "low is 0.5"),
        (0, 3.0, 3, "high is 3.0"),
        (0, 3, 2.5, "shape is"),
    ]:
        with pytest.raises(TypeError, match=message):
            ng.randint(low, high, shape)  # type: ignore[arg-type]
