"""A convolution and the max pool after it, in one kernel or two: beside both by themselves, and in a network."""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import layers as L

DTYPES = ["float16", "bfloat16", "float32"]


def small(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Integers whose sums are exact, and many of them alike."""
    return ng.array(rng.integers(-2, 3, shape).astype(np.float32)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("height", "width", "k", "window"), [(10, 16, 8, 2), (13, 24, 24, 2), (12, 16, 10, 2), (9, 16, 8, 3)]
)
def test_are_those_of_both(rng: np.random.Generator, dtype: str, height: int, width: int, k: int, window: int) -> None:
    x, w = small(rng, (2, height, width, 3), dtype), small(rng, (k, 3, 3, 3), dtype)
    bias = small(rng, (k,), "float32")
    between = ng.conv2d(x, w, bias, padding=1, relu=True)
    codes = ng.max_pool_argmax(between, window)
    wanted = ng.max_pool2d(between, window, argmax=codes, relu=True)
    own = ng.conv2d_max_pool2d_argmax(x, w, window, padding=1)
    assert own.shape == codes.shape
    got = ng.conv2d_max_pool2d(x, w, window, bias, padding=1, argmax=own)
    np.testing.assert_array_equal(got.get(), wanted.get())
    np.testing.assert_array_equal(own.get(), codes.get())
    dy = small(rng, wanted.shape, dtype)
    dx = [ng.empty(between.shape, dtype) for _ in range(2)]
    for c, out in zip((codes, own), dx, strict=True):
        ng.max_pool2d_bprop(dy, None, window, argmax=c, out=out)
    np.testing.assert_array_equal(dx[0].get(), dx[1].get())
    plain = ng.conv2d_max_pool2d(x, w, window, padding=1, relu=False)
    np.testing.assert_array_equal(plain.get(), ng.max_pool2d(ng.conv2d(x, w, padding=1), window).get())


def test_out_and_layouts(rng: np.random.Generator) -> None:
    x, w = small(rng, (3, 8, 8, 4), "float32"), small(rng, (3, 3, 3, 8), "float32")  # CHWN
    out = ng.empty((8, 4, 4, 4), "float32")
    got = ng.conv2d_max_pool2d(x, w, 2, padding=1, layout="CHWN", out=out)
    assert got is out
    wanted = ng.max_pool2d(ng.conv2d(x, w, padding=1, layout="CHWN", relu=True), 2, layout="CHWN")
    np.testing.assert_array_equal(out.get(), wanted.get())
    assert not ng.conv2d_max_pool2d_is_one_kernel(x, w, 2, padding=1, layout="CHWN")


def test_what_does_not_fit_is_refused() -> None:
    x, w = ng.zeros((1, 8, 8, 3), "float16"), ng.zeros((8, 3, 3, 3), "float16")
    with pytest.raises(ValueError, match="y has shape"):
        ng.conv2d_max_pool2d(x, w, 2, padding=1, out=ng.empty((1, 4, 5, 8), "float16"))
    with pytest.raises(ValueError, match="argmax has shape"):
        ng.conv2d_max_pool2d(x, w, 2, padding=1, argmax=ng.empty((3,), "uint8"))
    with pytest.raises(TypeError, match="needs float32, float16 or bfloat16, the same for all"):
        ng.conv2d_max_pool2d(x, ng.zeros((8, 3, 3, 3), "float32"), 2)
    with pytest.raises(TypeError, match="bias is bfloat16; needs"):
        ng.conv2d_max_pool2d(x, w, 2, ng.zeros((8,), "bfloat16"), padding=1)
    with pytest.raises(ValueError, match="window"):
        ng.conv2d_max_pool2d(x, w, (2, 2, 2))
    with pytest.raises(ValueError, match="shares memory"):
        ng.conv2d_max_pool2d(x, w, 2, padding=1, out=x.reshape(-1)[: 16 * 8].reshape(1, 4, 4, 8))


def test_network(rng: np.random.Generator) -> None:
    """A first layer and its pool, which NHWC computes at once, beside the same in CHWN: statistics, training."""
    x = rng.standard_normal((12, 16, 16, 3)).astype(np.float32)
    y = rng.integers(0, 4, 12)
    nets = []
    for layout in ("NHWC", "CHWN"):
        layers = [L.Conv(8, 3, padding=1, relu=True), L.Pool(2), L.Full(4), L.Softmax()]
        nets.append(ng.Network(layers, (16, 16, 3), "float16", 3, layout=layout))
    np.testing.assert_allclose(nets[0].predict(x), nets[1].predict(x), atol=4e-3)

    def means() -> list[dict[tuple[str, str], float]]:
        return [{(r.layer, r.what): r.mean_abs for r in net.statistics(x, y)} for net in nets]

    def agree(bound: float) -> None:
        ours, others = means()
        assert ours.keys() == others.keys() and ("conv1", "activations") in ours
        for key, mean in ours.items():
            assert abs(mean - others[key]) <= bound * others[key] + 1e-6, key

    agree(0.02)
    for net in nets:
        net.fit(x, y, epochs=3, batch=6, lr=0.02, shuffle=False, progress=False)
    agree(0.05)
