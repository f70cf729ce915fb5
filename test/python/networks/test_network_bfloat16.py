"""Networks in bfloat16: beside float32, learning, files, and what is refused."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import layers as L

BF16 = np.dtype(ml_dtypes.bfloat16)


def make(dtype: str, **options: object) -> ng.Network:
    return ng.Network(
        [L.Full(32, relu=True), L.Bias(), L.Activation("tanh"), L.Dropout(0.1), L.Full(4), L.Softmax()],
        (12,),
        dtype,
        5,
        **options,
    )


@pytest.fixture
def data(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Samples of four classes: a bump at one of four places."""
    y = rng.integers(0, 4, 128)
    x = 0.3 * rng.standard_normal((128, 12))
    for k in range(3):
        x[np.arange(128), 3 * y + k] += 1
    return x.astype(np.float32), y


def test_results_are_those_of_float32(data: tuple[np.ndarray, np.ndarray]) -> None:
    x, _ = data
    net, exact = make("bfloat16"), make("float32")
    for p, q in zip(net.parameters, exact.parameters, strict=True):
        assert p.value.dtype == (BF16 if p.name.endswith("weight") else p.value.dtype)
        q.value.set(p.value.get().astype(np.float32))
    got, want = net.predict(x), exact.predict(x)
    assert np.abs(got - want).max() <= 8 * 2.0**-8
    assert not np.array_equal(got, want)


@pytest.mark.parametrize("options", [{}, {"rounding": "stochastic"}, {"master": False}], ids=str)
def test_it_learns(data: tuple[np.ndarray, np.ndarray], options: dict[str, object]) -> None:
    x, y = data
    net = make("bfloat16", **options)
    before = net.evaluate(x, y)
    net.fit(x, y, epochs=12, batch=32, lr=0.1, momentum=0.9)
    after = net.evaluate(x, y)
    assert after.loss < before.loss / 3
    assert after.accuracy > 0.95
    if options.get("master", not options):
        for p in net.parameters:
            if p.name.endswith("weight"):
                assert np.array_equal(p.master.get().astype(BF16), p.value.get())


@pytest.mark.parametrize("layout", ["NHWC", "CHWN"])
@pytest.mark.parametrize("channels", [3, 8])
def test_convolutions(rng: np.random.Generator, layout: str, channels: int) -> None:
    """The weights of a network of convolutions after two steps, beside float32."""
    x = rng.standard_normal((32, 7, 6, channels)).astype(np.float32)
    y = rng.integers(0, 3, 32)

    def make(dtype: str) -> ng.Network:
        first = L.Conv(16, 3, padding=1, relu=True)
        second = [L.Conv(8, 3, stride=2, bias=False), L.Deconv(4, 2, relu=True), L.Pool(2, op="avg")]
        chain = [first, L.Pool(2, stride=1), *second, L.Full(3), L.Softmax()]
        return ng.Network(chain, x.shape[1:], dtype, 3, layout=layout)

    nets = [make("bfloat16"), make("float32")]
    for p, q in zip(nets[0].parameters, nets[1].parameters, strict=True):
        q.value.set(p.value.get().astype(np.float32))
    start = [p.value.get().astype(np.float32) for p in nets[1].parameters]
    for net in nets:
        net.fit(x, y, epochs=1, batch=16, lr=0.125, shuffle=False)
    for p, q, old in zip(nets[0].parameters, nets[1].parameters, start, strict=True):
        got = (p.master if p.name.endswith("weight") else p.value).get().astype(np.float32)
        moved = np.abs(q.value.get() - old).max()
        assert moved > 0
        assert np.abs(got - q.value.get()).max() <= 0.08 * moved, p.name


def test_files(data: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    x, y = data
    net = make("bfloat16")
    net.fit(x, y, epochs=1, batch=32)
    net.save(tmp_path / "net.safetensors")
    assert b'"BF16"' in (tmp_path / "net.safetensors").read_bytes()
    other = ng.Network.load(tmp_path / "net.safetensors")
    assert other.dtype == BF16
    assert np.array_equal(net.predict(x), other.predict(x))


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="bits is 8; needs 0 to 7"):
        ng.Network([L.Full(3)], (3,), "bfloat16", bits=8)
    with pytest.raises(TypeError, match="dtype is int8; needs float32, float16 or bfloat16"):
        ng.Network([L.Full(3)], (3,), "int8")
