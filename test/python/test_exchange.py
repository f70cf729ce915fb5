"""DLPack and the CUDA array interface: what other libraries see, how long, and what is refused."""

from __future__ import annotations

import gc
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest

GPU = ng.device().kind == "cuda"


@pytest.mark.skipif(GPU, reason="NumPy does not see device memory")
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int8", "int64", "uint16", "bool"])
def test_numpy_takes_copies_of_the_emulator(dtype: str, rng: np.random.Generator) -> None:
    a = rng.integers(0, 2, (3, 4, 5)).astype(dtype)
    x = ng.array(a)
    for view, want in ((x, a), (x[1:, ::2], a[1:, ::2]), (x.T, a.T), (x[0, 0, 0], a[0, 0, 0])):
        got = np.from_dlpack(view)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    if dtype != "bool":
        x += 1  # waits until the memory is asked for
        np.testing.assert_array_equal(np.from_dlpack(x), a + np.asarray(1, dtype))
        np.testing.assert_array_equal(np.from_dlpack(x * 2), (a + np.asarray(1, dtype)) * 2)
    b = np.from_dlpack(ng.array(a))
    gc.collect()
    np.testing.assert_array_equal(b, a)  # the capsule's owner keeps it


def test_memory_comes_back() -> None:
    gc.collect()
    before = ng.memory_stats().in_use
    x = ng.ones((1000,))
    capsule = x.__dlpack__()
    del x
    assert ng.memory_stats().in_use > before or not GPU
    del capsule  # nobody took it
    gc.collect()
    assert ng.memory_stats().in_use == before


def test_from_dlpack(rng: np.random.Generator) -> None:
    for dtype in ("float32", "int16", "uint8", "float64"):
        a = rng.integers(0, 99, (4, 6)).astype(dtype)
        x = ng.from_dlpack(a)
        a2 = a.copy()
        a += 1  # x is a copy
        np.testing.assert_array_equal(x.get(), a2)
        assert x.dtype == a.dtype
    y = ng.from_dlpack(x * 2)
    np.testing.assert_array_equal(y.get(), a2 * 2)
    with pytest.raises(TypeError, match="needs an object with __dlpack__"):
        ng.from_dlpack([1, 2])
    if not GPU:
        with pytest.raises(TypeError, match="a type of code 5 and 64 bits"):
            ng.from_dlpack(np.ones(3, np.complex64))
        with pytest.raises(ValueError, match="contiguous"):
            ng.from_dlpack(np.ones((4, 4), np.float32)[:, ::2])


def test_what_is_refused() -> None:
    x = ng.ones((3,))
    with pytest.raises(BufferError, match="dl_device is"):
        x.__dlpack__(dl_device=(13, 0))
    with pytest.raises(BufferError):
        x.__dlpack__(copy=GPU)
    assert hasattr(x, "__cuda_array_interface__") == GPU


@pytest.mark.skipif(not GPU, reason="needs a GPU")
def test_torch_shares_memory(rng: np.random.Generator) -> None:
    torch: Any = pytest.importorskip("torch")
    a = rng.standard_normal((5, 6)).astype(np.float32)
    x = ng.array(a)
    before = x + 1
    t = torch.from_dlpack(x)
    t *= 2
    np.testing.assert_array_equal(x.get(), a * 2)
    np.testing.assert_array_equal(before.get(), a + 1)
    np.testing.assert_array_equal(ng.from_dlpack(t[:, ::2]).get(), (a * 2)[:, ::2])
    np.testing.assert_array_equal(torch.as_tensor(x[1:, ::2], device="cuda").cpu().numpy(), (a * 2)[1:, ::2])
