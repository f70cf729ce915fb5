"""Networks of float32 on the tensor cores: what is large runs there, and is no less accurate."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import nervanagpu as ng
import numpy as np
import pytest
import tier
from nervanagpu import layers as L

PRECISIONS = ("strict", "tensor")


def dense(precision: str = "tensor") -> ng.Network:
    return ng.Network([L.Full(1024, bias=False)], (2048,), seed=5, precision=precision)


def wide(precision: str = "tensor") -> ng.Network:
    return ng.Network([L.Conv(384, 1, bias=False)], (56, 56, 256), seed=6, precision=precision)


def results(net: ng.Network, x: np.ndarray, dy: np.ndarray) -> list[np.ndarray]:
    """Of the forward pass, the gradients of data and weights; each as a matrix."""
    y = net.forward(x, input_gradient=True)
    dx = net.backward(dy)
    assert dx is not None
    weight = net.parameters[0]
    dw = weight.canonical(weight.gradient).get()
    return [y.reshape(-1, y.shape[-1]), dx.reshape(-1, dx.shape[-1]), dw.reshape(dw.shape[0], -1)]


@pytest.mark.parametrize(("make", "count", "large"), [(dense, 512, (0, 1, 2)), (wide, 4, (0, 1))])
def test_no_less_accurate(make, count: int, large: tuple[int, ...], rng: np.random.Generator) -> None:
    """large: which results are worth while on the tensor cores; others are multiply-adds, cut as gemm() cuts them."""
    nets = {p: make(p) for p in PRECISIONS}
    x = rng.standard_normal((count, *nets["tensor"].input_shape), dtype=np.float32)
    dy = rng.standard_normal((count, *nets["tensor"].output_shape), dtype=np.float32)
    got = {p: results(net, x, dy) for p, net in nets.items()}
    w = nets["tensor"].parameters[0]
    weight = w.canonical(w.value).get().astype(np.float64)
    weight = weight.reshape(weight.shape[0], -1)
    rows, deltas = (a.reshape(-1, a.shape[-1]).astype(np.float64) for a in (x, dy))
    for i, want in enumerate((rows @ weight.T, deltas @ weight, deltas.T @ rows)):
        error = {p: np.sqrt(np.mean((got[p][i] - want) ** 2)) for p in PRECISIONS}
        most = error["strict"] * (1 if i in large else 1.25)
        assert error["tensor"] <= most <= 1e-5 * np.abs(want).max(), (i, error)
        assert not np.array_equal(got["tensor"][i], got["strict"][i]), "another kernel"


def test_the_threads_setting_does_not_count(rng: np.random.Generator) -> None:
    x = rng.standard_normal((512, 2048), dtype=np.float32)
    want = dense("strict").predict(x, 512)
    with ng.precision("tensor"):
        net = dense("strict")
        np.testing.assert_array_equal(net.predict(x, 512), want)
    with ng.precision("strict"):
        other = dense().predict(x, 512)
    assert not np.array_equal(other, want)


def losses(precision: str, steps: int) -> list[float]:
    r = np.random.default_rng(9)
    net = ng.Network([L.Full(1024, relu=True), L.Full(10), L.Softmax()], (2048,), precision=precision)
    labels = r.integers(0, 10, 512)
    x = r.standard_normal((512, 2048)).astype(np.float32)
    x[:, :10] += 3 * np.eye(10, dtype=np.float32)[labels]
    return [net.train_step(x, labels, 0.02, 0.9).loss for _ in range(steps)]


def test_trains_as_strict_networks_do() -> None:
    steps = tier.drawn(3, 200)
    strict, tensor = (np.array(losses(p, steps)) for p in PRECISIONS)
    assert strict[-1] < strict[0]
    assert np.any(strict != tensor), "other kernels"
    np.testing.assert_allclose(tensor, strict, rtol=2e-5 if steps < 10 else 2e-3, atol=1e-6)


@pytest.mark.parametrize("layout", ["NHWC", "CHWN"])
def test_small_layers_stay_strict(layout: str, rng: np.random.Generator) -> None:
    x = rng.standard_normal((6, 7, 5, 3), dtype=np.float32)
    chain = [[L.Conv(4, 3, relu=True), L.Pool(2), L.Full(5), L.Softmax()] for _ in PRECISIONS]
    a, b = (ng.Network(c, (7, 5, 3), precision=p, layout=layout) for c, p in zip(chain, PRECISIONS, strict=True))
    np.testing.assert_array_equal(a.predict(x), b.predict(x))


def test_files_keep_it(tmp_path: Path) -> None:
    file = tmp_path / "net.safetensors"
    assert ng.Network([L.Full(2)], (3,)).precision == "tensor"
    for precision in PRECISIONS:
        net = ng.Network([L.Full(2)], (3,), precision=precision)
        net.save(file)
        assert ng.Network.load(file).precision == net.precision == precision
    for change, want in ((None, "strict"), ("strict", "strict"), ("fast", None)):  # None: of a version before
        raw = file.read_bytes()
        length = struct.unpack("<Q", raw[:8])[0]
        header = json.loads(raw[8 : 8 + length])
        network = json.loads(header["__metadata__"]["network"])
        network.pop("precision")
        if change is not None:
            network["precision"] = change
        header["__metadata__"]["network"] = json.dumps(network)
        text = json.dumps(header).encode()
        other = tmp_path / "other.safetensors"
        other.write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + length :])
        if want is None:
            with pytest.raises(ng.Error, match="its precision is 'fast'"):
                ng.Network.load(other)
        else:
            assert ng.Network.load(other).precision == want


@pytest.mark.parametrize("bad", ["fast", "Tensor", "", None, 1])
def test_refused(bad: object) -> None:
    with pytest.raises((TypeError, ValueError), match="precision"):
        ng.Network([L.Full(2)], (3,), precision=bad)  # type: ignore[arg-type]
