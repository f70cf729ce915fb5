"""Pieces that passes share, by `SharedPieces`: the bits of passes apart, on layers as the library chooses kernels."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import layers as L

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="strict elsewhere")

SHAPES = [  # n, side, c, k, taps, stride; the last is too small for two pieces
    (24, 14, 192, 224, 3, 1),
    (16, 14, 256, 256, 3, 1),
    (2, 6, 16, 16, 3, 1),
]


def tensors(n: int, side: int, c: int, k: int, taps: int, stride: int) -> tuple[ng.GPUTensor, ...]:
    """x, w and dy of a layer, with the zeros that a ReLU leaves."""
    rng = np.random.default_rng(n + c)
    out = (side + 2 * (taps // 2) - taps) // stride + 1
    shapes = [(n, side, side, c), (k, taps, taps, c), (n, out, out, k)]
    x, w, dy = (rng.standard_normal(shape, dtype=np.float32) for shape in shapes)
    return ng.array(np.maximum(x, 0)), ng.array(w), ng.array(dy)


@pytest.mark.parametrize("shape", SHAPES)
def test_bits(shape: tuple[int, ...]) -> None:
    """Of all three passes, twice with the same handles; and kernels that were not launched."""
    *_, taps, stride = shape
    x, w, dy = tensors(*shape)  # type: ignore[arg-type]
    geometry = {"stride": stride, "padding": taps // 2}
    of_x, of_dy = ng.SharedPieces(), ng.SharedPieces()
    with ng.precision("tensor"):
        want = [
            ng.conv2d(x, w, **geometry).get(),
            ng.conv2d_bprop(dy, w, x.shape, **geometry).get(),
            ng.conv2d_update(dy, x, w.shape, **geometry).get(),
        ]
        for _ in range(2):
            y = ng.conv2d(x, w, x_pieces=of_x, **geometry)
            dx = ng.conv2d_bprop(dy, w, x.shape, dy_pieces=of_dy, **geometry)
            dw = ng.conv2d_update(dy, x, w.shape, x_pieces=of_x, dy_pieces=of_dy, **geometry)
            for got, expected in zip((y, dx, dw), want, strict=True):
                np.testing.assert_array_equal(got.get(), expected)
    large = shape != SHAPES[-1]
    assert of_x.made == of_dy.made == large
    assert (of_x.nbytes > 4 * x.size) == large


def test_taken() -> None:
    """update reads pieces of the tensor that was left there, and of no other."""
    x, w, dy = tensors(*SHAPES[0])
    other = ng.array(x.get())
    of_x = ng.SharedPieces()
    with ng.precision("tensor"):
        want = ng.conv2d_update(dy, x, w.shape, padding=1).get()
        ng.conv2d(x, w, padding=1, x_pieces=of_x)
        x.fill(0.5)
        got = ng.conv2d_update(dy, x, w.shape, padding=1, x_pieces=of_x).get()
        np.testing.assert_array_equal(got, want)
        other.fill(0.5)
        fresh = ng.conv2d_update(dy, other, w.shape, padding=1).get()
        np.testing.assert_array_equal(ng.conv2d_update(dy, other, w.shape, padding=1, x_pieces=of_x).get(), fresh)
        assert not np.array_equal(fresh, want)
        ng.conv2d(x, w, padding=1, x_pieces=of_x)  # left anew
        np.testing.assert_array_equal(ng.conv2d_update(dy, x, w.shape, padding=1, x_pieces=of_x).get(), fresh)


def test_memory_of_the_tensor() -> None:
    """A new x does not come to lie where the one lies whose pieces there are."""
    x, w, dy = tensors(*SHAPES[0])
    host = np.flip(x.get()).copy()
    of_x = ng.SharedPieces()
    with ng.precision("tensor"):
        ng.conv2d(x, w, padding=1, x_pieces=of_x)
        del x
        new = ng.array(host)
        want = ng.conv2d_update(dy, new, w.shape, padding=1).get()
        np.testing.assert_array_equal(ng.conv2d_update(dy, new, w.shape, padding=1, x_pieces=of_x).get(), want)


def test_strict_leaves_nothing() -> None:
    """Nor do 16-bit floats."""
    x, w, dy = tensors(*SHAPES[0])
    pieces = ng.SharedPieces()
    ng.conv2d(x, w, padding=1, x_pieces=pieces, precision="strict")
    assert not pieces.made and pieces.nbytes == 0
    half = [ng.array(t.get().astype(np.float16)) for t in (x, w)]
    ng.conv2d(*half, padding=1, x_pieces=pieces, precision="tensor")
    assert not pieces.made
    with pytest.raises(TypeError):
        ng.conv2d_update(dy, x, w.shape, padding=1, x_pieces=x)  # type: ignore[arg-type]


def test_a_network() -> None:
    """Training with shared pieces: convolutions that are large enough, whose weights go as strict ones do."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((16, 14, 14, 256), dtype=np.float32)
    labels = rng.integers(0, 4, 16).astype(np.int32)

    def weights(precision: str) -> list[np.ndarray]:
        net = ng.Network(
            [
                L.Conv(256, 3, padding=1, relu=True),
                L.Conv(256, 3, padding=1, relu=True),
                L.Pool(14, op="avg"),
                L.Full(4),
                L.Softmax(),
            ],
            (14, 14, 256),
            seed=5,
            precision=precision,
        )
        net.fit(x, labels, epochs=2, batch=16, lr=0.01, shuffle=False, progress=False)
        return [p.value.get() for layer in net.layers for p in layer.parameters]

    for tensor, strict in zip(weights("tensor"), weights("strict"), strict=True):
        np.testing.assert_allclose(tensor, strict, rtol=1e-4, atol=1e-6)
