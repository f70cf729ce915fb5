"""Sums of a result's channels, and of their squares, which convolutions and their data gradients write beside it."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from conv_reference import LAYOUTS, arranged, integers, layout_name


def sums_of(result, name):
    """Of what is stored: exact of integers."""
    held = result.astype("float32").get().astype(np.float64)
    axes = {"NHWC": (0, 1, 2), "NCHW": (0, 2, 3), "CHWN": (1, 2, 3)}[name]
    return held.sum(axes), (held**2).sum(axes)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("groups", [1, 2])
def test_sums_are_those_of_the_result(rng, dtype, layout, groups):
    name = layout_name(layout, 2)
    x = ng.array(arranged(integers(rng, 3, 8, 9, 7), layout).astype(np.float32)).astype(dtype)
    filters = arranged(integers(rng, 20, 8 // groups, 3, 3), layout)
    w = ng.array(filters.astype(np.float32)).astype(dtype)
    channel_sum, squares = ng.full(20, np.nan), ng.full(20, np.nan)
    how = {"padding": 1, "groups": groups, "layout": name}
    y = ng.conv2d(x, w, relu=True, channel_sum=channel_sum, channel_sum_squares=squares, **how)
    want, want_squares = sums_of(y, name)
    np.testing.assert_array_equal(channel_sum.get(), want)
    np.testing.assert_array_equal(squares.get(), want_squares)
    of_dx = ng.full(8, np.nan)
    dx = ng.conv2d_bprop(y, w, x.shape, channel_sum=of_dx, alpha=0.125, **how)
    assert np.all(np.abs(of_dx.get() - sums_of(dx, name)[0]) <= 1e-5 * np.abs(dx.astype("float32").get()).sum())
    alone = ng.full(8, np.nan)
    ng.conv2d_bprop(y, w, x.shape, channel_sum_squares=alone, alpha=0.125, **how)
    np.testing.assert_allclose(alone.get(), sums_of(dx, name)[1], rtol=1e-5)


def test_plans_streams_and_graphs(rng):
    x = ng.array(rng.standard_normal((2, 9, 9, 16)).astype(np.float16))
    w = ng.array(rng.standard_normal((24, 3, 3, 16)).astype(np.float16))
    y, total, squares = ng.empty((2, 7, 7, 24), "float16"), ng.zeros(24), ng.zeros(24)
    plan = ng.ConvPlan("fprop", x, w, y, channel_sum=total, channel_sum_squares=squares)
    ng.conv2d(x, w, out=y, channel_sum=total, channel_sum_squares=squares)
    others = [ng.zeros(24), ng.zeros(24)]
    stream = ng.Stream()
    plan(x, w, y, stream=stream, channel_sum=others[0], channel_sum_squares=others[1])
    stream.synchronize()
    for a, b in zip((total, squares), others, strict=True):
        assert np.array_equal(a.get(), b.get())
    captured, room = [ng.zeros(24), ng.zeros(24)], ng.empty(plan.workspace, np.uint8)
    last = {"channel_sum": captured[0], "channel_sum_squares": captured[1]}
    graph = ng.Graph(lambda: plan(x, w, y, workspace=room, **last))
    for t in captured:
        t[:] = np.nan
    graph.launch()
    for a, b in zip((total, squares), captured, strict=True):
        assert np.array_equal(a.get(), b.get())
    with pytest.raises(ValueError, match="channel_sum is missing"):
        plan(x, w, y, channel_sum_squares=squares)
    with pytest.raises(ValueError, match="channel_sum was not planned"):
        ng.ConvPlan("fprop", x, w, y)(x, w, y, channel_sum=total)


def test_one_and_three_dimensions(rng):
    for axes in (1, 3):
        x = ng.array(integers(rng, 2, *(5,) * axes, 4).astype(np.float32))
        w = ng.array(integers(rng, 6, *(2,) * axes, 4).astype(np.float32))
        total = ng.zeros(6)
        y = getattr(ng, f"conv{axes}d")(x, w, channel_sum=total)
        np.testing.assert_array_equal(total.get(), y.get().sum(tuple(range(axes + 1))))
        back = ng.zeros(4)
        dx = getattr(ng, f"conv{axes}d_bprop")(y, w, x.shape, channel_sum=back)
        np.testing.assert_array_equal(back.get(), dx.get().sum(tuple(range(axes + 1))))


def test_what_cannot_be():
    x, w = ng.zeros((1, 4, 4, 8)), ng.zeros((16, 3, 3, 8))
    with pytest.raises(ValueError, match=r"channel_sum has shape \(8,\); needs \(16,\)"):
        ng.conv2d(x, w, channel_sum=ng.zeros(8))
    with pytest.raises(TypeError, match="channel_sum_squares has dtype float16; needs float32"):
        ng.conv2d(x, w, channel_sum_squares=ng.zeros(16, "float16"))
    with pytest.raises(TypeError, match=r"channel_sum is \[0.0"):
        ng.conv2d(x, w, channel_sum=[0.0] * 16)
    with pytest.raises(TypeError, match="the result has dtype int32"):
        ng.conv2d(x.astype("int8"), w.astype("int8"), channel_sum=ng.zeros(16))
