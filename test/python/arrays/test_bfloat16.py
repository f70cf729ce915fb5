"""bfloat16 tensors: to and from NumPy, conversions, expressions; with and without the package ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import _core

BF16 = np.dtype(ml_dtypes.bfloat16)


def sample(rng, size=1111):
    x = (rng.standard_normal(size) * 10).astype(BF16)
    x[:9] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2.0**-133, 3.3e38]
    rng.shuffle(x)
    return x


def same(got, want):
    """Equal bits, except that every NaN is NaN."""
    g = got.get()
    assert g.dtype == want.dtype and g.shape == want.shape
    np.testing.assert_array_equal(g.astype(np.float64), want.astype(np.float64))
    assert np.array_equal(np.signbit(g), np.signbit(want)) or np.isnan(want.astype(np.float32)).any()


def test_creation_and_numpy(rng):
    x = sample(rng, 60).reshape(5, 12)
    t = ng.array(x)
    assert t.dtype == BF16 and t.nbytes == 120 and repr(t).endswith("]], dtype=bfloat16)")
    assert t.get().tobytes() == x.tobytes()
    assert t[1::2, ::-1].get().tobytes() == np.ascontiguousarray(x[1::2, ::-1]).tobytes()
    for value in (1.0, -2.5, 1 / 3, 3.4e38, 1e-40, np.inf):
        want = np.full(3, value, BF16)
        assert ng.full(3, value, "bfloat16").get().tobytes() == want.tobytes(), value
        z = ng.zeros(3, BF16)
        z[:] = value
        assert z.get().tobytes() == want.tobytes()
    y = rng.standard_normal((5, 12)).astype(np.float32)
    assert ng.array(y, "bfloat16").get().tobytes() == y.astype(BF16).tobytes()
    t[:] = y
    assert t.get().tobytes() == y.astype(BF16).tobytes()
    assert str(ng.ones(2, "bfloat16")) == str(np.ones(2, BF16))
    assert ng.empty_like(t).dtype == BF16
    with pytest.raises(TypeError, match="value has dtype complex128; needs one that converts to bfloat16"):
        t.set(np.ones((5, 12), complex))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8", "uint8"])
def test_convert(rng, dtype):
    """The device's own conversions, beside ml_dtypes'."""
    x = (rng.standard_normal(5000) * 60).astype(BF16)
    if dtype in ("int8", "uint8"):
        x = np.clip(x.astype(np.float32), np.iinfo(dtype).min, np.iinfo(dtype).max).astype(BF16)
        x[x == 256] = 255
        x[x == 128] = 127
    assert ng.array(x).astype(dtype).get().tobytes() == x.astype(np.float32).astype(dtype).tobytes()
    y = rng.integers(0, 128, 5000).astype(dtype) if dtype == "uint8" else (rng.standard_normal(5000) * 30).astype(dtype)
    assert ng.array(y).astype("bfloat16").get().tobytes() == y.astype(np.float32).astype(BF16).tobytes()
    out = ng.empty(5000, "bfloat16")
    ng.nn.convert(ng.array(y), out=out, dtype="bfloat16")
    assert out.get().tobytes() == y.astype(np.float32).astype(BF16).tobytes()
    with pytest.raises(TypeError, match="dtype is float32 but out has bfloat16"):
        ng.nn.convert(ng.array(y), out=out, dtype="float32")


def test_stochastic_rounding_is_unbiased():
    """1 + 3/8 of a last place goes up for 3/8 of the random words."""
    n = 1 << 16
    x = ng.full(n, 1 + 3 / 8 * 2.0**-7, np.float32)
    got = ng.nn.convert(x, "bfloat16", rounding="stochastic", seed=5).get().astype(np.float32)
    assert set(got.tolist()) == {1.0, 1 + 2.0**-7}
    assert abs((got > 1).mean() - 3 / 8) < 5 * np.sqrt(15 / 64 / n)
    with pytest.raises(ValueError, match="rounding bits is 8; needs 1 to 7 for bfloat16"):
        ng.nn.convert(x, "bfloat16", rounding="stochastic", bits=8)


def test_factory_rounds_bfloat16_at_random():
    """A tensor's own rounding reaches what the factory writes, with bfloat16's seven bits at most."""
    gpu = ng.NervanaGPU(stochastic_round=10)
    x = gpu.array(np.full((64, 64), 1 + 2.0**-9), "float32")
    y = gpu.empty((64, 64), "bfloat16")
    assert y.rounding == 10
    assert gpu._rounding(y)["bits"] == 7 and gpu._rounding(x)["bits"] == 10


OPERATORS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "maximum": lambda a, b: (ng if isinstance(a, ng.GPUTensor) else np).maximum(a, b),
    "less": lambda a, b: a < b,
    "sqrt": lambda a, b: (ng if isinstance(a, ng.GPUTensor) else np).sqrt(a),
    "negative": lambda a, b: -a,
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("size", [1, 2, 1111, 2048])
def test_expressions(rng, name, size):
    """One operation is rounded as ml_dtypes rounds it: computed in float32, then to nearest."""
    a, b = (sample(rng, max(size, 16))[:size] for _ in range(2))
    with np.errstate(all="ignore"):
        same(OPERATORS[name](ng.array(a), ng.array(b)), OPERATORS[name](a, b))


@pytest.mark.parametrize(
    ("other", "result"),
    [
        ("bfloat16", "bfloat16"), ("bool", "bfloat16"), ("int8", "bfloat16"), ("uint8", "bfloat16"),
        ("int16", "float32"), ("float16", "float32"), ("float32", "float32"), ("int32", "float64"),
        ("float64", "float64"),
    ],
)  # fmt: skip
def test_promotion(other, result):
    a, b = ng.ones(4, "bfloat16"), ng.ones(4, other)
    assert (a + b).dtype == np.dtype(result) and (b + a).dtype == np.dtype(result)
    assert np.array_equal((a + b).get().astype(np.float32), np.full(4, 2, np.float32))


def test_numbers_are_weak_and_fused(rng):
    """A chain of operations is one kernel, computed in float32 and rounded once."""
    x = rng.standard_normal(1000).astype(BF16)
    t = ng.array(x)
    y = ng.tanh(t * 2 + 0.5)
    assert y.dtype == BF16
    before = ng.launch_count()
    got = y.get().astype(np.float64)
    assert ng.launch_count() == before + 1
    exact = np.tanh(x.astype(np.float64) * 2 + 0.5)
    assert (np.abs(got - exact) <= np.abs(exact) * 2.0**-8 * 1.01).all()
    for dtype in ("float64", "int64", "int16", "float16"):
        values = (x * 3).astype(np.float32).astype(dtype)
        same(_core.cast(ng.array(values), "bfloat16"), values.astype(BF16))
    same(_core.cast(t, "int16"), x.astype(np.float32).astype(np.int16))
    same(_core.cast(t, "bool"), x.astype(bool))


@pytest.mark.parametrize("shape", [(3, 1000), (700, 5), (2, 300000)])
def test_reductions_count_in_float32(rng, shape):
    x = (rng.random(shape) + 0.5).astype(BF16)
    t, wide = ng.array(x), x.astype(np.float64)
    for axis in (0, 1, None):
        for got, want in [(ng.sum(t, axis), wide.sum(axis)), (ng.mean(t, axis), wide.mean(axis))]:
            assert got.dtype == BF16
            assert (np.abs(got.get().astype(np.float64) - want) <= 2.0**-8 * 1.01 * np.abs(want)).all()
        same(ng.max(t, axis), x.max(axis) if axis is not None else np.asarray(x.max()))


def test_without_ml_dtypes(python):
    """The device does not need the package; NumPy does, and says so."""
    program = """
import sys
sys.modules["ml_dtypes"] = None  # importing it fails
import numpy as np
import nervanagpu as ng
a = ng.array(np.arange(6).reshape(2, 3), "bfloat16")
assert a.dtype == "bfloat16" and a.nbytes == 12 and ng.empty_like(a).dtype == a.dtype
b = (a + a * 0.5).astype("float32")
assert b.get().tolist() == [[0, 1.5, 3], [4.5, 6, 7.5]], b.get()
assert ng.nn.convert(b, "bfloat16").dtype == "bfloat16"
try:
    a.get()
except TypeError as e:
    print(e)
"""
    done = python(program, device="emulator")
    assert done.returncode == 0, done.stderr
    package = "NumPy has no bfloat16; needs the package ml_dtypes (pip install ml_dtypes), or "
    assert done.stdout.strip() == package + 'nervanagpu.nn.convert(x, "float32")'
