"""The small operations of layers, from Python: against NumPy, in every dtype; then what is refused."""

from __future__ import annotations

import itertools
import math
from typing import get_args

import ml_dtypes
import nervanagpu as ng
import numpy as np
import pytest
from activation_reference import LAYER_ROWS, value
from nervanagpu import _core, nn

FLOATS = [np.float32, np.float16, ml_dtypes.bfloat16]
UNIT = {
    np.float32: 2.0**-23,
    np.float16: 2.0**-11,
    ml_dtypes.bfloat16: 2.0**-8,
}  # half a unit in the last place, or one
DTYPES = [np.float32, np.float16, np.int32, np.int8, np.uint8]
LENGTHS = [1, 3, 31, 33, 1000, 4099]


def normal(rng, shape, dtype):
    return rng.standard_normal(shape).astype(dtype)


def close(got, expected, dtype):
    """Within a few units of the last place."""
    unit = 2.0**-22 if dtype == np.float32 else UNIT[dtype]
    least = 2.0**-24 if dtype == np.float16 else 2.0**-133
    got = np.asarray(got, np.float64)
    expected = np.asarray(expected, np.float64)
    return bool((np.abs(got - expected) <= unit * np.abs(expected) + least).all())  # false for NaN


def converted(host, dtype):
    """What convert makes of an array: floats to integers truncate and saturate, NaN becomes 0."""
    if host.dtype.kind == "f" and np.dtype(dtype).kind != "f":
        info = np.iinfo(dtype)
        wide = np.nan_to_num(host.astype(np.float64), nan=0.0, posinf=1e300, neginf=-1e300)
        return np.clip(np.trunc(wide), info.min, info.max).astype(dtype)
    with np.errstate(over="ignore"):
        return host.astype(np.float32).astype(dtype) if np.dtype(dtype) == np.float16 else host.astype(dtype)


def samples(rng, shape, dtype):
    if np.dtype(dtype).kind != "f":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    values = rng.standard_normal(shape) * np.exp(rng.standard_normal(shape) * 4)
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 300.0, -1.0, 1e-7, 70000.0, 2.0**31, -(2.0**31)])
    where = rng.random(shape) < 0.2
    with np.errstate(over="ignore"):
        return np.where(where, rng.choice(special, shape), values).astype(dtype)


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_convert(rng, source, target):
    for shape, axes in [((5,), (0,)), ((3, 33), (1, 0)), ((20, 40), (1, 0)), ((2, 3, 4, 17, 5), (4, 0, 3, 1, 2))]:
        host = samples(rng, shape, source)
        x = ng.array(host)
        assert np.array_equal(x.astype(target).get(), converted(host, target), equal_nan=np.dtype(target).kind == "f")
        view = x.transpose(*axes)
        out = ng.zeros(view.shape, target)
        assert nn.convert(view, out=out) is out
        expected = converted(host.transpose(axes), target)
        assert np.array_equal(out.get(), expected, equal_nan=np.dtype(target).kind == "f")


def test_layouts_there_and_back(rng):
    host = normal(rng, (3, 20, 9, 18), np.float32)
    nhwc = nn.convert(ng.array(host).transpose(0, 2, 3, 1))
    assert nhwc.contiguous
    assert np.array_equal(nhwc.get(), host.transpose(0, 2, 3, 1))
    chwn = nn.convert(ng.array(host).transpose(1, 2, 3, 0), np.float16)
    assert np.array_equal(chwn.get(), host.transpose(1, 2, 3, 0).astype(np.float16))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", LENGTHS)
def test_add(rng, dtype, n):
    a, b = normal(rng, n, dtype), normal(rng, n, dtype)
    exact = 0.5 * a.astype(np.float64) - 2.0 * b.astype(np.float64)
    x, y = ng.array(a), ng.array(b)
    bound = UNIT[dtype] * (np.abs(0.5 * a.astype(np.float64)) + np.abs(2.0 * b.astype(np.float64))) + 2.0**-25
    assert (np.abs(nn.add(x, y, alpha=0.5, beta=-2.0).get() - exact) <= bound).all()
    assert nn.add(x, y, x) is x
    assert np.array_equal(x.get(), (a.astype(np.float32) + b.astype(np.float32)).astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", _core.NN_ACTIVATIONS)
def test_activation(rng, dtype, kind):
    def f(x):
        return value(LAYER_ROWS[kind].value, x=x, slope=0.125)

    assert get_args(nn.ActivationName) == _core.NN_ACTIVATIONS
    for n in LENGTHS:
        x = (rng.standard_normal(n) * 5).astype(dtype)
        y = nn.activation(kind, ng.array(x), slope=0.125)
        assert y.dtype == dtype
        assert close(y.get(), f(x.astype(np.float64)), dtype)
        # The gradient against central differences, by the values of y that the kernel saw.
        t = x.astype(np.float64)
        h = 1e-6
        slope = (f(t + h) - f(t - h)) / (2 * h)
        dy = normal(rng, n, dtype)
        dx = nn.activation_bprop(kind, y, ng.array(dy), slope=0.125).get().astype(np.float64)
        unit = 2.0**-20 if dtype == np.float32 else 4 * UNIT[dtype]
        assert (np.abs(dx - slope * dy.astype(np.float64)) <= unit * np.abs(dy.astype(np.float64)) + 1e-8).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (3, 4, 8), (33, 128), (300, 10)])
@pytest.mark.parametrize("last", [True, False])
def test_bias(rng, dtype, shape, last):
    x = rng.integers(-8, 9, shape).astype(dtype)
    channels = shape[-1] if last else shape[0]
    b = rng.integers(-8, 9, channels).astype(np.float32)
    wide = b if last else b.reshape(-1, *[1] * (len(shape) - 1))
    assert np.array_equal(nn.bias_add(ng.array(x), ng.array(b), channel_last=last).get(), x + wide.astype(dtype))
    total = x.astype(np.float64).sum(axis=tuple(range(len(shape) - 1)) if last else tuple(range(1, len(shape))))
    out = ng.array(b)
    nn.bias_grad(ng.array(x), out, last, alpha=0.5, beta=-2.0)
    assert np.array_equal(out.get(), 0.5 * total - 2.0 * b)
    assert np.array_equal(nn.bias_grad(ng.array(x), channel_last=last).get(), total.astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("with_master", [False, True])
def test_sgd_descends_as_numpy(rng, dtype, with_master):
    n = 515
    w = normal(rng, n, np.float32)
    weights, master = ng.array(w.astype(dtype)), ng.array(w)
    if not with_master:
        w = w.astype(dtype).astype(np.float32)
    velocity, v = ng.zeros(n), np.zeros(n)
    exact = w.astype(np.float64)
    for _ in range(5):
        g = normal(rng, n, dtype)
        nn.sgd_update(weights, velocity, ng.array(g), 0.05, 0.9, 0.01, master if with_master else None)
        v = 0.9 * v + g.astype(np.float64) + 0.01 * exact
        exact = exact - 0.05 * v
        if not with_master:
            exact = weights.get().astype(np.float64) if dtype != np.float32 else exact
    unit = 1e-5 if with_master or dtype == np.float32 else 8 * UNIT[dtype]
    assert (np.abs((master if with_master else weights).get() - exact) <= unit).all()
    if with_master:
        assert np.array_equal(weights.get(), master.get().astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (64, 10), (4, 33), (3, 1000), (2, 2500)])
def test_softmax(rng, dtype, shape):
    x = (rng.standard_normal(shape) * 4).astype(dtype)
    labels = rng.integers(0, shape[1], shape[0]).astype(np.int32)
    t = x.astype(np.float64)
    e = np.exp(t - t.max(axis=1, keepdims=True))
    exact = e / e.sum(axis=1, keepdims=True)
    unit = 2.0**-18 if dtype == np.float32 else 2 * UNIT[dtype]
    probs, loss = nn.softmax_loss(ng.array(x), ng.array(labels))
    assert (np.abs(probs.get().astype(np.float64) - exact) <= unit * exact + 2.0**-24).all()
    picked = exact[np.arange(shape[0]), labels]
    assert (np.abs(loss.get() + np.log(picked)) <= 2.0**-18 * (1 - np.log(picked))).all()
    assert np.array_equal(nn.softmax(ng.array(x)).get(), probs.get())
    onehot = np.eye(shape[1])[labels]
    gradient = nn.softmax_bprop(probs, ng.array(labels), 0.25).get().astype(np.float64)
    assert (np.abs(gradient - 0.25 * (exact - onehot)) <= unit).all()


def philox(seed, counter):
    """Philox4x32-10 by its definition: the four words of one counter value."""
    mask = 0xFFFFFFFF
    key = [seed & mask, seed >> 32]
    c = [counter & mask, counter >> 32, 0, 0]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ key[0], q & mask, (p >> 32) ^ c[3] ^ key[1], p & mask]
        key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
    return c


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", LENGTHS)
def test_dropout(rng, dtype, n):
    x = normal(rng, n, dtype)
    seed, offset, keep = 0x0123456789ABCDEF, 2**40, 0.75
    words = np.array(list(itertools.chain(*(philox(seed, offset + i) for i in range((n + 3) // 4)))))[:n]
    scale = np.float32(1) / np.float32(keep)
    expected = np.where(words < keep * 2**32, (x.astype(np.float32) * scale).astype(dtype), 0)
    assert np.array_equal(nn.dropout(ng.array(x), keep, seed, offset).get(), expected)


def test_dropout_keeps_as_many_as_it_should():
    kept = nn.dropout(ng.ones(100_000), 0.3, 7).get() != 0
    assert abs(kept.mean() - 0.3) <= 5 * math.sqrt(0.3 * 0.7 / kept.size)


def test_stochastic_rounding_is_unbiased_and_repeats():
    value = 1 + 0.3 * 2.0**-10
    x = ng.full((40_000,), value)
    out = ng.zeros(x.shape, np.float16)
    nn.convert(x, out=out, rounding="stochastic", seed=3)
    got = out.get()
    assert set(np.unique(got)) == {np.float16(1), np.float16(1 + 2.0**-10)}
    assert abs((got > 1).mean() - 0.3) <= 5 * math.sqrt(0.3 * 0.7 / got.size)
    again = nn.convert(x, np.float16, rounding="stochastic", seed=3).get()
    assert np.array_equal(again, got)
    assert not np.array_equal(nn.convert(x, np.float16, rounding="stochastic", seed=4).get(), got)
    later = nn.convert(x[8:], np.float16, rounding="stochastic", seed=3, offset=2).get()
    assert np.array_equal(later, got[8:])
    coarse = nn.add(x, x, rounding="stochastic", bits=1, alpha=1.25, beta=0.0).get()
    assert set(np.unique(coarse)) == {np.float32(1), np.float32(1.5)}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", LENGTHS)
def test_statistics(rng, dtype, n):
    x = normal(rng, n, dtype)
    got = nn.statistics(ng.array(x))
    assert got.max_abs == float(np.abs(x).max())
    assert abs(got.mean_abs - np.abs(x.astype(np.float64)).mean()) <= 1e-6 * got.mean_abs
    x[n // 2] = np.nan
    assert math.isnan(nn.statistics(ng.array(x)).max_abs)


def refuses(error, text, call):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text


def test_refusals():
    a, half, ints = ng.ones((3, 4)), ng.ones((3, 4), dtype=np.float16), ng.zeros((3, 4), np.int32)
    out = ng.full((3, 4), 7.0)
    refuses(
        TypeError,
        "sgd_update: w, grad and velocity have dtypes bfloat16, float16 and float32; needs float16 or bfloat16, "
        "not both",
        lambda: nn.sgd_update(ng.ones((3, 4), "bfloat16"), ng.zeros((3, 4)), half, 0.1),
    )
    refuses(TypeError, "add: a is ndarray; needs GPUTensor (nervanagpu.array makes one)", lambda: nn.add(np.ones(3), a))
    refuses(TypeError, "add: b has dtype float16; needs that of a, float32", lambda: nn.add(a, half, out))
    refuses(
        ValueError,
        "add: out has shape (4, 3); needs that of a, (3, 4)",
        lambda: nn.add(a, a, ng.zeros((4, 3))),
    )
    refuses(
        ValueError,
        "activation is 'swish'; needs identity, relu, leaky_relu, tanh or sigmoid",
        lambda: nn.activation("swish", a),
    )
    refuses(ValueError, "rounding is 'up'; needs 'nearest' or 'stochastic'", lambda: nn.add(a, a, rounding="up"))
    refuses(
        TypeError,
        "convert: to has dtype float64; needs float32, float16, bfloat16, int32, int8 or uint8",
        lambda: nn.convert(a, np.float64),
    )
    refuses(
        TypeError,
        "convert: dtype is float16 but out has float32; needs one of them",
        lambda: nn.convert(a, np.float16, out),
    )
    refuses(ValueError, "dropout: keep is 1.500000; needs more than 0 and at most 1", lambda: nn.dropout(a, 1.5, 1))
    refuses(TypeError, "statistics: x has dtype int32; needs float32, float16 or bfloat16", lambda: nn.statistics(ints))
    refuses(
        ValueError,
        "softmax: loss has shape (2,); needs (3,), one for each row of logits",
        lambda: nn.softmax_loss(a, ng.zeros(3, np.int32), loss=ng.zeros(2)),
    )
    assert (out.get() == 7).all()
