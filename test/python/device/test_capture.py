"""Work of the library in a CUDA graph: temporary memory belongs to the graph, so that replays stay right."""

from __future__ import annotations

import sys

import nervanagpu as ng
import numpy as np
import pytest
from source_tree import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
from measure.cuda import Driver, Graph

pytestmark = pytest.mark.skipif(ng.device().kind != "cuda", reason="needs a GPU: the emulator has no graphs")


def test_replays_of_split_products_and_convolutions(rng) -> None:
    """Sums in parts use a workspace; eager work between replays must not be given the same memory."""
    stream = ng.Stream()
    a, b = (rng.integers(-3, 4, s).astype(np.float32) for s in ((16, 4096), (4096, 512)))
    x, dy = (rng.integers(-2, 3, s).astype(np.float32) for s in ((4, 28, 28, 32), (4, 28, 28, 16)))
    da, db, dx, ddy = map(ng.array, (a, b, x, dy))
    c, dw = ng.empty((16, 512)), ng.empty((16, 3, 3, 32))

    def body() -> None:
        ng.dot(da, db, out=c, splits=8, stream=stream)
        ng.conv2d_update(ddy, dx, (16, 3, 3, 32), padding=1, out=dw, stream=stream)

    body()
    stream.synchronize()
    want_c, want_dw = c.get(), dw.get()
    assert np.array_equal(want_c, a @ b)
    graph = Graph(Driver(), stream.handle, body)
    for turn in range(3):
        da[:] = ng.array(a * (turn + 1))
        ng.synchronize()
        graph.launch()
        busy = [ng.dot(db.T, db, splits=8) for _ in range(4)]  # takes and returns workspaces of many sizes
        stream.synchronize()
        assert np.array_equal(c.get(), want_c * (turn + 1))
        assert np.array_equal(dw.get(), want_dw)
        assert len(busy) == 4
    del graph
    ng.release_captured_memory()


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_replays_of_plans_and_batches(rng, dtype) -> None:
    """A plan's launch is captured with its addresses, and so are the tensor maps in its parameters."""
    stream = ng.Stream()
    a, b = (rng.integers(-3, 4, s).astype(dtype) for s in ((3, 64, 128), (3, 128, 72)))
    da, db = ng.array(a), ng.array(b)
    c, all_of_them, total = ng.empty((64, 72), dtype), ng.empty((3, 64, 72), dtype), ng.empty((64, 72), dtype)
    plan = ng.GemmPlan(da[0], db[0], c)

    def body() -> None:
        plan(da[1], db[1], c, stream=stream)
        ng.batched_dot(da, db, all_of_them, stream=stream)
        ng.batched_dot(da, db, total, stream=stream)

    body()
    stream.synchronize()
    graph = Graph(Driver(), stream.handle, body)
    for turn in range(3):
        da[:] = ng.array(a * (turn - 1))
        plan(da[2], db[2], ng.empty((64, 72), dtype))  # other addresses
        ng.synchronize()
        graph.launch()
        stream.synchronize()
        want = (a.astype(np.int64) * (turn - 1)) @ b.astype(np.int64)
        assert np.array_equal(c.get(), want[1])
        assert np.array_equal(all_of_them.get(), want)
        assert np.array_equal(total.get(), want.sum(0).astype(dtype))
    del graph
    ng.release_captured_memory()
