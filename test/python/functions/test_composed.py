"""Functions made of others beside NumPy in float64; each kernel is verified."""

from __future__ import annotations

import pickle

import nervanagpu as ng
import numpy as np
import pytest


def kernels(x: ng.GPUTensor) -> int:
    return len(ng.explain(x).splitlines())


@pytest.mark.parametrize("shape", [(4, 7), (3, 1000), (2, 3, 64)], ids=str)
def test_rows(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    a = (rng.standard_normal(shape) * 4).astype(np.float32)
    w, b = rng.standard_normal((2, shape[-1])).astype(np.float32)
    x, e = ng.array(a), a.astype(np.float64)
    total = np.log(np.exp(e).sum(-1, keepdims=True))
    np.testing.assert_allclose(ng.logsumexp(x).get(), total[..., 0], rtol=1e-6)
    np.testing.assert_allclose(ng.logsumexp(x, keepdims=True).get(), total, rtol=1e-6)
    np.testing.assert_allclose(ng.log_softmax(x).get(), e - total, rtol=1e-5, atol=1e-6)
    assert kernels(ng.log_softmax(x)) == 1
    centred = e - e.mean(-1, keepdims=True)
    want = centred / np.sqrt(e.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(ng.layer_norm(x).get(), want, rtol=1e-4, atol=1e-5)
    with pytest.raises(TypeError, match="layer_norm: eps is 'a'; needs a number"):
        ng.layer_norm(x, eps="a")
    y = ng.layer_norm(x, ng.array(w), ng.array(b))
    assert kernels(y) == 1
    np.testing.assert_allclose(y.get(), want * w + b, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ng.silu(x).get(), e / (1 + np.exp(-e)), rtol=1e-6, atol=1e-7)
    inner = np.sqrt(2 / np.pi) * (e + 0.044715 * e**3)
    np.testing.assert_allclose(ng.gelu(x, "tanh").get(), e / 2 * (1 + np.tanh(inner)), rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_logsumexp_of_infinities(dtype: str) -> None:
    inf, nan = np.inf, np.nan
    rows = [[inf, 1], [1, inf], [inf, inf], [-inf, -inf], [-inf, inf], [-inf, 2], [nan, 1], [inf, nan], [0, 0]]
    want = [inf, inf, inf, -inf, inf, 2, nan, nan, np.log(2)]
    x = ng.array(np.array(rows), dtype)
    got = ng.logsumexp(x).copy().astype("float64").get()
    np.testing.assert_allclose(got, want, rtol=2.0**-8)
    assert kernels(ng.logsumexp(x)) == 1


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int8", "int64", "uint32"])
def test_argmax_and_argmin(dtype: str, rng: np.random.Generator) -> None:
    for shape in ((40,), (5, 33), (3, 4, 50)):
        a = rng.integers(0, 9, shape).astype(dtype)  # several are largest
        x = ng.array(a)
        for axis in (None, *range(-1, len(shape))):
            for keepdims in (False, True):
                for name in ("argmax", "argmin"):
                    got = getattr(ng, name)(x, axis, keepdims=keepdims).get()
                    want = np.asarray(getattr(np, name)(a, axis, keepdims=keepdims))
                    assert got.dtype == np.int64
                    np.testing.assert_array_equal(got, want)
    a = np.array([[1, np.nan, 3, np.nan], [3, -np.inf, np.inf, 0]], np.float32)
    np.testing.assert_array_equal(ng.argmax(ng.array(a), 1).get(), [1, 2])
    np.testing.assert_array_equal(ng.argmin(ng.array(a), 1).get(), [1, 1])
    np.testing.assert_array_equal(ng.argmax(ng.array(a.T)[::-1], 0).get(), np.argmax(a.T[::-1], 0))
    with pytest.raises(ValueError, match="axis 2 is out of range"):
        ng.argmax(ng.array(a), 2)


def test_onehot() -> None:
    i = np.array([[0, 3, 1], [2, -1, 4]], np.int32)
    eye = np.vstack([np.eye(4, dtype=np.float32), np.zeros((2, 4), np.float32)])  # 4 and -1: no row
    np.testing.assert_array_equal(ng.onehot(ng.array(i), 4).get(), eye[i])
    np.testing.assert_array_equal(ng.onehot(ng.array(i), 4, axis=0).get(), np.moveaxis(eye[i], -1, 0))
    assert ng.onehot(ng.array(i), 4, dtype=np.int8).get().dtype == np.int8
    with pytest.raises(TypeError, match="needs integers"):
        ng.onehot(ng.zeros(3), 4)


def test_joining(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((2, 3, 4)).astype(np.float32)
    c = rng.integers(0, 9, (3, 2)).astype(np.int16)
    x, y, z = ng.array(a), ng.array(b), ng.array(c)
    np.testing.assert_array_equal(ng.concatenate([x, y]).get(), np.concatenate([a, b]))
    np.testing.assert_array_equal(ng.concatenate([x, y * 2, z], -1).get(), np.concatenate([a, b * 2, c], -1))
    for axis in (0, 1, 2, -1):
        np.testing.assert_array_equal(ng.stack([x, y], axis).get(), np.stack([a, b], axis))
    out = ng.zeros((6, 4))
    assert ng.concatenate([x, y], out=out) is out
    with pytest.raises(ValueError, match="tensor 1 has shape"):
        ng.concatenate([x, z])
    with pytest.raises(ValueError, match="no tensor"):
        ng.stack([])


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_compensated_sum(dtype: str, rng: np.random.Generator) -> None:
    steps = (rng.random((300, 50)) * 0.01).astype(dtype)
    total, lost = ng.zeros(50, dtype), ng.zeros(50, dtype)
    plain = np.ones(50, dtype)
    total[:] = 1
    for s in steps:
        ng.compensated_sum(total, lost, ng.array(s))
        plain += s
    exact = 1 + steps.astype(np.float64).sum(0)
    eps = float(np.finfo(dtype).eps)
    error = np.abs(total.get().astype(np.float64) - exact)
    assert np.all(error <= 2 * eps * exact)
    assert np.abs(plain.astype(np.float64) - exact).max() > 2 * error.max()


def test_random_numbers() -> None:
    ng.seed(3)
    n = ng.randn(200, 500).get().astype(np.float64)
    assert np.isfinite(n).all()
    assert abs(n.mean()) <= 0.01
    assert abs(n.std() - 1) <= 0.01
    inside = np.mean(np.abs(n) < 1)
    assert abs(inside - 0.6827) <= 0.005
    assert abs(np.mean(n**3)) <= 0.03
    assert abs(np.mean(n**4) - 3) <= 0.1
    i = ng.randint(-3, 4, (7000,)).get()
    counts = np.bincount(i + 3, minlength=7)
    assert i.dtype == np.int32
    assert len(counts) == 7
    assert np.all(np.abs(counts - 1000) <= 150)
    x = ng.ones((100, 100))
    d = ng.dropout(x, 0.25).get()
    assert set(np.unique(d)) == {0.0, 4.0}
    assert abs(np.mean(d) - 1) <= 0.06
    ng.seed(3)
    np.testing.assert_array_equal(ng.randn(200, 500).get(), n.astype(np.float32))
    with pytest.raises(ValueError, match="randint: low is 3 and high 3; needs low < high"):
        ng.randint(3, 3, 1)


def test_numpy_asks(rng: np.random.Generator) -> None:
    a = (rng.random((4, 6)) + 0.5).astype(np.float32)
    x = ng.array(a)
    for got, want in (
        (np.exp(x), np.exp(a)),
        (np.add(x, a), a + a),
        (np.divide(1, x), 1 / a),
        (a * x, a * a),
        (np.float32(2) + x, 2 + a),
        (np.sum(x, axis=1), a.sum(1)),
        (np.add.reduce(x), a.sum(0)),
        (np.maximum.reduce(x, axis=1, keepdims=True), a.max(1, keepdims=True)),
        (np.mean(x), a.mean()),
        (np.var(x, axis=0), a.var(0)),
        (np.max(x), a.max()),
        (np.argmax(x, axis=1), a.argmax(1)),
        (np.where(x > 1, x, 0), np.where(a > 1, a, 0)),
        (np.clip(x, 0.7, 0.9), np.clip(a, 0.7, 0.9)),
        (np.concatenate([x, x]), np.concatenate([a, a])),
        (np.stack([x, x], axis=1), np.stack([a, a], 1)),
        (np.transpose(x), a.T),
        (np.reshape(x, (3, 8)), a.reshape(3, 8)),
        (np.matmul(x, x.T.copy()), a @ a.T),
    ):
        assert isinstance(got, ng.GPUTensor)
        np.testing.assert_allclose(got.get(), want, rtol=1e-5)
    out = ng.empty((4, 6))
    assert np.subtract(x, 1, out=out) is out
    np.testing.assert_array_equal(out.get(), a - 1)
    with pytest.raises(TypeError):
        np.datetime_as_string(x)  # nothing of ours
    with pytest.raises(TypeError):
        np.add(a, x, out=a)
    np.testing.assert_array_equal(np.asarray(x), a)


def test_members_of_2015(rng: np.random.Generator) -> None:
    a = rng.standard_normal((4, 6)).astype(np.float32)
    x = ng.array(a)
    part = x.share((2, 5))
    part += 1
    a.reshape(-1)[:10] += 1
    np.testing.assert_array_equal(x.asnumpyarray(), a)
    y = ng.empty((4, 6)).copy_from(x)
    np.testing.assert_array_equal(y.get(), a)
    with pytest.raises(ValueError, match="share of"):
        x.share((5, 6))
    x.name = "weights"
    z = pickle.loads(pickle.dumps(x))
    np.testing.assert_array_equal(z.get(), a)
    assert z.name == "weights"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x * 2)).get(), a * 2)
