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
