"""repr and str of tensors, beside NumPy's."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest


def as_ours(host: np.ndarray) -> str:
    """NumPy's repr of the array, in our words."""
    text = np.array2string(host, separator=", ", prefix="GPUTensor(", suffix=",")
    return f"GPUTensor({text}, dtype={host.dtype})"


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint64", "bool", "float64"])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 2), (1, 1), ()])
def test_small(rng, shape, dtype):
    host = rng.uniform(-9, 9, shape).astype(dtype)
    tensor = ng.array(host)
    assert repr(tensor) == as_ours(host)
    assert str(tensor) == str(host)
    assert f"{tensor}" == f"{host}"


@pytest.mark.parametrize("shape", [(1001,), (10**6,), (400, 300), (3, 2000), (2000, 3), (12, 11, 10), (5, 1, 4, 3, 30)])
def test_large_as_numpy_shortens(shape):
    host = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    tensor = ng.array(host)
    assert str(tensor) == str(host)
    got = repr(tensor)
    body = np.array2string(host, separator=", ", prefix="GPUTensor(", suffix=",")
    assert got.startswith(f"GPUTensor({body},")
    assert got.endswith(f"shape={shape}, dtype=float32)")
    assert str(tensor.T[::-1]) == str(host.T[::-1])


def test_expressions_names_and_nothing():
    x = ng.array(np.arange(4, dtype=np.float32), name="x")
    assert repr(x) == "GPUTensor([0., 1., 2., 3.], dtype=float32, name='x')"
    assert repr(x * 2) == "GPUTensor([0., 2., 4., 6.], dtype=float32)"
    assert repr(ng.empty((0, 3))) == "GPUTensor([], shape=(0, 3), dtype=float32)"
    assert repr(ng.array([1.5, 2.5], "bfloat16")) == "GPUTensor([1.5, 2.5], dtype=bfloat16)"
    with np.printoptions(precision=2, threshold=3, edgeitems=1):
        assert str(ng.array(np.float32([1 / 3, 1, 2, 3]))) == "[0.33 ... 3.  ]"


def test_a_large_tensor_is_not_fetched():
    """Corners are what is printed: of a tensor of 256 MB that nobody can hold, too."""
    x = ng.zeros((1 << 13, 1 << 13))
    before = ng.memory_stats().peak
    assert "shape=(8192, 8192)" in repr(x)
    assert ng.memory_stats().peak - before < 1 << 20
