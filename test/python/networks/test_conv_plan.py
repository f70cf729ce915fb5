"""Convolutions that are planned once."""

from __future__ import annotations

import threading

import nervanagpu as ng
import numpy as np
import pytest

FUNCTIONS = {"fprop": "conv{}d", "bprop": "conv{}d_bprop", "update": "conv{}d_update"}


def numbers(rng, shape, dtype):
    return ng.array(rng.standard_normal(shape).astype(np.float32)).astype(dtype)


def shapes(layout, axes):
    spatial, taps, out = (7, 6, 5)[:axes], (3, 2, 3)[:axes], (7, 7, 5)[:axes]
    if layout.startswith("NC"):
        return (2, 8, *spatial), (16, 8, *taps), (2, 16, *out)
    if layout.startswith("C"):
        return (8, *spatial, 2), (8, *taps, 16), (16, *out, 2)
    return (2, *spatial, 8), (16, *taps, 8), (2, *out, 16)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("layout", ["NWC", "NHWC", "NDHWC", "CHWN", "NCHW"])
@pytest.mark.parametrize("which", FUNCTIONS)
def test_launches_have_the_bits_of_the_functions(rng, dtype, layout, which):
    axes = len(layout) - 2
    x_shape, w_shape, y_shape = shapes(layout, axes)
    inputs = {"fprop": (x_shape, w_shape), "bprop": (y_shape, w_shape), "update": (y_shape, x_shape)}[which]
    result = {"fprop": y_shape, "bprop": x_shape, "update": w_shape}[which]
    more = {} if which == "fprop" else {"bprop": (x_shape,), "update": (w_shape,)}[which]
    function = getattr(ng, FUNCTIONS[which].format(axes))
    keywords = {"padding": 1, "layout": layout, "alpha": 2.0}
    plan = None
    for _ in range(3):
        operands = [numbers(rng, s, dtype) for s in inputs]
        out = ng.empty(result, dtype)
        plan = plan or ng.ConvPlan(which, *operands, out, **keywords)
        assert plan.launch(*operands, out) is None
        want = function(*operands, *more, **keywords)
        assert np.array_equal(out.get(), want.get())
    assert plan.kernels
    assert plan.workspace >= 0


def test_bias_mask_streams_and_threads(rng):
    x, w = numbers(rng, (2, 8, 8, 32), "float16"), numbers(rng, (64, 3, 3, 32), "float16")
    bias, y = numbers(rng, (64,), "float32"), ng.empty((2, 8, 8, 64), "float16")
    mask = ng.zeros((2, 8, 8, 2), np.uint32)
    plan = ng.ConvPlan("fprop", x, w, y, padding=1, relu=True, bias=bias, mask=mask)
    bits = ng.zeros_like(mask)
    want = ng.conv2d(x, w, bias, padding=1, relu=True, mask=bits)
    results = [(ng.zeros(y.shape, "float16"), ng.zeros_like(mask)) for _ in range(8)]

    def work(some):
        stream = ng.Stream()
        for out, words in some:
            plan(x, w, out, bias, words, stream)
        stream.synchronize()

    threads = [threading.Thread(target=work, args=(results[i::2],)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for out, words in results:
        assert np.array_equal(out.get(), want.get())
        assert np.array_equal(words.get(), bits.get())


def test_random_rounding_goes_on_from_launch_to_launch(rng):
    x, w = numbers(rng, (2, 8, 8, 8), "float16"), numbers(rng, (8, 3, 3, 8), "float16")
    y = ng.empty((2, 6, 6, 8), "float16")
    plan = ng.ConvPlan("fprop", x, w, y, rounding="stochastic", seed=5, offset=100)
    for later in (0, 144):
        plan(x, w, y, offset=later)
        assert np.array_equal(y.get(), ng.conv2d(x, w, rounding="stochastic", seed=5, offset=100 + later).get())


def test_slices_graphs_and_workspaces(rng):
    wide_x, wide_y = numbers(rng, (2, 8, 8, 64), "float16"), ng.zeros((2, 8, 8, 96), "float16")
    w = numbers(rng, (32, 1, 1, 16), "float16")
    plan = ng.ConvPlan("fprop", wide_x[..., :16], w, wide_y[..., :32])
    for i in range(3):
        x, y = wide_x[..., 16 * i : 16 * i + 16], wide_y[..., 32 * i : 32 * i + 32]
        plan(x, w, y)
        assert np.array_equal(y.get(), ng.conv2d(x, w).get())
    x, y = ng.zeros((2, 16, 8, 8), "float16"), ng.zeros((2, 32, 6, 6), "float16")
    w = numbers(rng, (32, 16, 3, 3), "float16")
    plan = ng.ConvPlan("fprop", x, w, y, layout="NCHW")
    room = ng.empty(plan.workspace, np.uint8)
    graph = ng.Graph(lambda: plan(x, w, y, workspace=room))
    x[:] = numbers(rng, x.shape, "float16")
    graph.launch()
    assert np.array_equal(y.get(), ng.conv2d(x, w, layout="NCHW").get())


def test_expressions_see_the_values_of_their_time(rng):
    x, w = numbers(rng, (1, 4, 4, 8), "float32"), numbers(rng, (8, 1, 1, 8), "float32")
    out = ng.ones((1, 4, 4, 8))
    plan = ng.ConvPlan("fprop", x, w, out)
    before = out + 1  # of the ones
    plan(x + 0, w, out)
    assert np.array_equal(before.get(), np.full(out.shape, 2))
    assert np.array_equal(out.get(), ng.conv2d(x, w).get())


def test_refusals():
    x, w, y = ng.ones((2, 8, 8, 16)), ng.ones((4, 3, 3, 16)), ng.empty((2, 6, 6, 4))
    plan = ng.ConvPlan("fprop", x, w, y)
    cases = [
        (ValueError, "conv plan: w has shape (4, 5, 5, 16) and strides", lambda: plan(x, ng.ones((4, 5, 5, 16)), y)),
        (TypeError, "conv plan: x has dtype float16; needs float32", lambda: plan(ng.ones(x.shape, "float16"), w, y)),
        (TypeError, "conv plan: in1 is int; needs GPUTensor", lambda: plan(3, w, y)),
        (ValueError, "conv plan: bias was not planned", lambda: plan(x, w, y, ng.ones(4))),
        (TypeError, "stream is int; needs Stream or None", lambda: plan(x, w, y, stream=1)),
        (ValueError, "which is 'back'; needs 'fprop', 'bprop' or 'update'", lambda: ng.ConvPlan("back", x, w, y)),
        (
            ValueError,
            "conv: y has shape (2, 6, 6, 4); needs (2, 8, 8, 4)",
            lambda: ng.ConvPlan("fprop", x, w, y, padding=1),
        ),
        (
            ValueError,
            "conv plan: padding has 3 numbers; needs 1 or 2",
            lambda: ng.ConvPlan("fprop", x, w, y, 1, (1, 1, 1)),
        ),
        (TypeError, "conv plan: in2 is 3; needs GPUTensor", lambda: ng.ConvPlan("fprop", x, 3, y)),
        (ValueError, "conv plan: in1 has 1 axes; needs 3, 4 or 5", lambda: ng.ConvPlan("fprop", ng.ones(4), w, y)),
    ]
    for error, text, call in cases:
        with pytest.raises(error) as raised:
            call()
        assert text in str(raised.value)
