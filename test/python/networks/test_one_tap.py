"""float32 layers of one tap on the tensor cores' device, which are products, of images that begin anywhere."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest


@pytest.mark.parametrize("shape", [(1, 20, 20, 64, 64), (2, 17, 17, 64, 100), (1, 40, 40, 16, 24)])
@pytest.mark.parametrize("before", [1, 2, 3])
def test_where_x_begins_shows_in_no_bit(shape: tuple[int, int, int, int, int], before: int) -> None:
    """Products whose maps begin at the 16 bytes before depend on the address, so calls are queued without a plan."""
    *pixels, c, k = shape
    r = np.random.default_rng(before)
    x = r.standard_normal((*pixels, c)).astype(np.float32)
    w = ng.array(r.standard_normal((k, 1, 1, c)).astype(np.float32))
    room = ng.zeros((x.size + 4,))
    room[before : before + x.size] = x.ravel()
    view = room[before : before + x.size].reshape(x.shape)
    want = ng.conv2d(ng.array(x), w, precision="tensor").get()
    for _ in range(2):
        assert ng.conv2d(view, w, precision="tensor").get().tobytes() == want.tobytes()
    exact = x.reshape(-1, c).astype(np.float64) @ w.get().reshape(k, c).T
    assert np.abs(want.reshape(-1, k) - exact).max() <= 1e-4


@pytest.mark.parametrize("k", [62, 126, 64])
def test_plans_of_tiles_that_are_not_plain(k: int) -> None:
    """Results that the copy engine cannot store, or that are rounded at random: planned by calls and by ConvPlan."""
    r = np.random.default_rng(k)
    x = ng.array(r.integers(-4, 5, (8, 56, 56, 256)).astype(np.float32))
    w = ng.array(r.integers(-4, 5, (k, 1, 1, 256)).astype(np.float32))
    want = (x.get().reshape(-1, 256) @ w.get().reshape(k, 256).T).reshape(8, 56, 56, k)
    for _ in range(2):
        np.testing.assert_array_equal(ng.conv2d(x, w, precision="tensor").get(), want)
    random = {"rounding": "stochastic", "seed": 3, "bits": 15}
    np.testing.assert_array_equal(ng.conv2d(x, w, precision="tensor", **random).get(), want)
    out = ng.zeros(want.shape)
    ng.ConvPlan("fprop", x, w, out, precision="tensor")(x, w, out)
    np.testing.assert_array_equal(out.get(), want)
    dx = ng.conv2d_bprop(ng.array(want), w, x.shape, precision="tensor").get()
    exact = (want.reshape(-1, k).astype(np.float64) @ w.get().reshape(k, 256)).reshape(x.shape)
    assert np.abs(dx - exact).max() <= 2e-6 * np.abs(want).max() * 4 * k
