"""Poolings that are planned once."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest


def numbers(rng, shape, dtype="float32"):
    return ng.array(rng.standard_normal(shape).astype(np.float32)).astype(dtype)


def extended(layout, n, c, lengths):
    return tuple({"N": n, "C": c}.get(a, 0) or lengths["DHW".index(a)] for a in layout)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("layout", ["NWC", "NHWC", "NDHWC", "CHWN", "NCHW"])
@pytest.mark.parametrize("op", ["max", "avg", "l2"])
def test_launches_have_the_bits_of_the_functions(rng, dtype, layout, op):
    x_shape, y_shape = extended(layout, 2, 8, (7, 7, 9)), extended(layout, 2, 8, (3, 3, 4))
    axes = len(layout) - 2
    fprop, bprop = getattr(ng, f"{op}_pool{axes}d"), getattr(ng, f"{op}_pool{axes}d_bprop")
    forward = backward = None
    for _ in range(2):
        x, dy = numbers(rng, x_shape, dtype), numbers(rng, y_shape, dtype)
        y, dx = ng.empty(y_shape, dtype), ng.empty(x_shape, dtype)
        forward = forward or ng.PoolPlan("fprop", op, x, y, 3, 2, 0, layout, alpha=2.0)
        backward = backward or ng.PoolPlan("bprop", op, dy, dx, 3, 2, 0, layout, x=x)
        assert forward.launch(x, y) is None
        backward(dy, dx, x=x)
        assert np.array_equal(y.get(), fprop(x, 3, 2, 0, layout, alpha=2.0).get())
        assert np.array_equal(dx.get(), bprop(dy, x, 3, 2, 0, layout).get())
    assert forward.kernels
    assert forward.workspace == 0


def test_places_of_maxima_streams_and_graphs(rng):
    x, y = numbers(rng, (2, 8, 8, 16), "float16"), ng.empty((2, 4, 4, 16), "float16")
    codes = ng.max_pool_argmax(x, 2)
    plan = ng.PoolPlan("fprop", "max", x, y, 2, argmax=codes, relu=True)
    back = ng.PoolPlan("bprop", "max", y, x, 2, argmax=codes)
    dx = ng.empty(x.shape, "float16")
    stream = ng.Stream()
    plan(x, y, codes, stream)
    back(y, dx, codes, stream)
    stream.synchronize()
    want_codes = ng.max_pool_argmax(x, 2)
    want = ng.max_pool2d(x, 2, argmax=want_codes, relu=True)
    assert np.array_equal(y.get(), want.get())
    assert np.array_equal(codes.get(), want_codes.get())
    assert np.array_equal(dx.get(), ng.max_pool2d_bprop(want, None, 2, argmax=codes, out=ng.empty_like(x)).get())
    graph = ng.Graph(lambda: plan(x, y, codes))
    x[:] = numbers(rng, x.shape, "float16")
    graph.launch()
    assert np.array_equal(y.get(), ng.max_pool2d(x, 2).get())


def test_over_feature_maps_and_random_rounding(rng):
    x, y = numbers(rng, (2, 6, 6, 8), "float16"), ng.empty((2, 3, 3, 4), "float16")
    stochastic = {"rounding": "stochastic", "seed": 5, "bits": 3}
    plan = ng.PoolPlan("fprop", "avg", x, y, (2, 1, 2, 2), (2, 1, 2, 2), offset=100, **stochastic)
    for later in (0, 144):
        plan(x, y, offset=later)
        want = ng.pool(x, "avg", (2, 1, 2, 2), layout="NHWC", offset=100 + later, **stochastic)
        assert np.array_equal(y.get(), want.get())


def test_refusals():
    x, y = ng.ones((2, 8, 8, 16)), ng.empty((2, 4, 4, 16))
    plan = ng.PoolPlan("fprop", "max", x, y, 2)
    cases = [
        (ValueError, "pool plan: y has shape (2, 8, 8, 16)", lambda: plan(x, ng.empty(x.shape))),
        (TypeError, "pool plan: x has dtype float16; needs float32", lambda: plan(ng.ones(x.shape, "float16"), y)),
        (TypeError, "pool plan: in1 is int; needs GPUTensor", lambda: plan(3, y)),
        (TypeError, "stream is int; needs Stream or None", lambda: plan(x, y, stream=1)),
        (ValueError, "pool plan: argmax was not planned", lambda: plan(x, y, ng.max_pool_argmax(x, 2))),
        (ValueError, "pool: y shares memory with x", lambda: ng.PoolPlan("fprop", "max", x, x, 1)),
        (ValueError, "which is 'back'; needs 'fprop' or 'bprop'", lambda: ng.PoolPlan("back", "max", x, y, 2)),
        (ValueError, "needs max, avg or l2", lambda: ng.PoolPlan("fprop", "min", x, y, 2)),
        (ValueError, "pool: y has shape (2, 4, 4, 16)", lambda: ng.PoolPlan("fprop", "max", x, y, 3)),
        (TypeError, "pool plan: out is 3; needs GPUTensor", lambda: ng.PoolPlan("fprop", "max", x, 3, 2)),
        (ValueError, "pool plan: in1 has 1 axes", lambda: ng.PoolPlan("fprop", "max", ng.ones(4), y, 2)),
        (ValueError, "neither x nor argmax is given", lambda: ng.PoolPlan("bprop", "max", y, x, 2)),
        (TypeError, "relu is 1; needs True or False", lambda: ng.PoolPlan("fprop", "max", x, y, 2, relu=1)),
    ]
    for error, text, call in cases:
        with pytest.raises(error) as raised:
            call()
        assert text in str(raised.value)
