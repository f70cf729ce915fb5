"""What a convolution makes of its sums: activations, and floats and int8 of sums of bytes."""

from __future__ import annotations

import itertools

import nervanagpu as ng
import numpy as np
import pytest
from activation_reference import EXACT, options
from conv_reference import LAYOUTS, arranged, integers, layout_name, plain, reference

UNIT = {"float32": 2.0**-21, "float16": 2.0**-10, "bfloat16": 2.0**-7}

# Each kernel's way: (channels, filters, side, filter, stride, padding, groups, tensor_cores).
WAYS = {
    "hconv": (64, 40, 9, 3, 2, 1, 1, True),
    "halo": (64, 128, 12, 3, 1, 1, 1, True),
    "few channels": (16, 24, 9, 5, 1, 2, 1, True),
    "a first layer": (3, 32, 20, 7, 2, 3, 1, True),
    "a first layer of pairs": (3, 32, 18, 3, 1, 1, 1, True),
    "cells": (12, 64, 16, 4, 2, 1, 1, True),
    "a product": (64, 72, 8, 1, 1, 0, 1, True),
    "groups": (32, 64, 8, 3, 1, 1, 4, True),
    "depthwise": (24, 24, 9, 3, 1, 1, 24, True),
    "parts": (512, 16, 4, 3, 1, 1, 1, True),
    "multiply-adds": (20, 36, 8, 3, 1, 1, 1, False),
}


def problem(rng, way):
    c, k, side, size, stride, pad, groups, cores = WAYS[way]
    scale = (c // groups * size * size) ** -0.5
    x = rng.standard_normal((2, c, side, side))
    w = rng.standard_normal((k, c // groups, size, size)) * scale
    bias = rng.standard_normal(k)
    return x, w, bias, (stride, pad, groups, cores)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("way", WAYS)
def test_activations(rng, way, dtype):
    x, w, bias, (stride, pad, groups, cores) = problem(rng, way)
    d_x, d_w = (ng.array(arranged(a, "last").astype(np.float32)).astype(dtype) for a in (x, w))
    d_bias = ng.array(bias.astype(np.float32))
    held = [plain(t.astype("float32").get().astype(np.float64), "last") for t in (d_x, d_w)]
    sums = reference(*held, (stride, stride), (pad, pad), (1, 1), groups) + d_bias.get()[None, :, None, None]
    how = {"stride": stride, "padding": pad, "groups": groups, "tensor_cores": cores}
    for name, function in EXACT.items():
        for precision in ("strict", "tensor") if dtype == "float32" else ("strict",):
            with ng.precision(precision):
                got = ng.conv2d(d_x, d_w, d_bias, **options(name), **how)
            got = plain(got.astype("float32").get().astype(np.float64), "last")
            want = function(sums)
            error = np.abs(got - want)
            bound = UNIT[dtype] * (np.abs(want) + np.abs(sums)) + 2.0**-17 * (1 + np.abs(sums))
            assert (error <= bound).all(), (name, precision, float((error - bound).max()))


def test_relu_by_name_is_relu(rng):
    x, w = (ng.array(rng.standard_normal(s).astype(np.float16)) for s in ((2, 8, 8, 32), (48, 3, 3, 32)))
    words = [ng.zeros((2, 8, 8, 2), np.uint32) for _ in range(2)]
    a = ng.conv2d(x, w, padding=1, relu=True, mask=words[0])
    b = ng.conv2d(x, w, padding=1, activation="relu", mask=words[1])
    assert np.array_equal(a.get(), b.get())
    assert np.array_equal(*(t.get() for t in words))


def test_activation_comes_before_rounding(rng):
    x, w = integers(rng, 2, 16, 6, 6), integers(rng, 8, 16, 3, 3)
    sums = reference(x, w, (1, 1), (1, 1), (1, 1), 1)
    on_device = [ng.array(arranged(a, "last").astype(np.float16)) for a in (x, w)]
    how = {"padding": 1, "activation": "clip", "clip": (-3, 5), "rounding": "stochastic", "seed": 3}
    got = ng.conv2d(*on_device, **how).get()  # integers are kept
    assert np.array_equal(plain(got, "last"), np.clip(sums, -3, 5))


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("result", ["float32", "int8"])
def test_bytes(rng, result, axes, kind):
    for turn, (c, k, groups) in enumerate([(3, 7, 1), (16, 24, 1), (32, 40, 2), (24, 24, 24), (160, 136, 1)]):
        signed = bool(rng.integers(2))
        x = (
            rng.integers(-128, 128, (2, c, *(7, 6, 5)[:axes]))
            if signed
            else rng.integers(0, 256, (2, c, 7, 6, 5)[: axes + 2])
        )
        w = rng.integers(-128, 128, (k, c // groups, *(3, 2, 3)[:axes]))
        step, pad = (int(v) for v in rng.integers(1, 3, 2))
        sums = reference(x, w, (step,) * axes, (pad,) * axes, (1,) * axes, groups)
        alpha = np.float32(2.0 ** -rng.integers(5, 12))
        scale = rng.standard_normal(k).astype(np.float32) if turn % 2 else np.float32(1.5)
        bias = rng.standard_normal(k).astype(np.float32) * 20
        channel = (None, slice(None), *(None,) * axes)
        v = sums.astype(np.float32) * alpha
        v = (v * scale[channel] if turn % 2 else sums.astype(np.float32) * np.float32(float(alpha) * 1.5)) + bias[
            channel
        ]
        relu = bool(rng.integers(2))
        v = np.maximum(v, 0) if relu else v
        want = v if result == "float32" else np.clip(np.rint(v), -128, 127)
        operands = [arranged(x, kind).astype(np.int8 if signed else np.uint8), arranged(w, kind).astype(np.int8)]
        how = {"stride": step, "padding": pad, "groups": groups, "layout": layout_name(kind, axes), "relu": relu}
        by = ng.array(scale) if turn % 2 else 1.5
        function = getattr(ng, f"conv{axes}d")
        d_x, d_w, d_bias = (ng.array(a) for a in (*operands, bias))
        out = None if result == "float32" else ng.empty(arranged(want, kind).shape, "int8")
        got = []
        for cores in (True, False):
            y = function(d_x, d_w, d_bias, **how, alpha=float(alpha), scale=by, out=out, tensor_cores=cores)
            assert y.dtype == result
            got.append(plain(y.get(), kind).copy())
        assert np.array_equal(got[0], got[1])
        assert np.array_equal(got[0].astype(np.float64), want.astype(np.float64)), (c, k, groups)


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("channels", [4, 64])
def test_bytes_with_beta_at_random_and_in_slices(rng, channels, kind):
    x, w = rng.integers(-9, 9, (2, channels, 5, 6)), rng.integers(-9, 9, (8, channels, 3, 3))
    sums = reference(x, w, (1, 1), (1, 1), (1, 1), 1).astype(np.float64)
    d_x, d_w = (ng.array(arranged(a, kind).astype(np.int8)) for a in (x, w))
    layout = layout_name(kind, 2)
    for result, spread in itertools.product(["float32", "int8"], [False, True]):
        if spread and kind != "last":
            continue
        old = rng.integers(-9, 9, arranged(sums, kind).shape)
        wide = ng.zeros((*old.shape[:-1], old.shape[-1] + 8), result)
        out = wide[..., 4:-4] if spread else ng.zeros(old.shape, result)
        alpha = 2.0**-6
        exact = np.clip(sums * alpha + 2 * plain(old, kind), -128, 127)
        out[...] = ng.array(old.astype(result))
        ng.conv2d(d_x, d_w, padding=1, layout=layout, alpha=alpha, beta=2.0, out=out)
        want = np.rint(exact) if result == "int8" else exact
        assert np.array_equal(plain(out.get(), kind).astype(np.float64), want)
        ways = []
        for cores in (True, False):
            out[...] = ng.array(old.astype(result))
            how = {"rounding": "stochastic", "seed": 11, "bits": 0 if result == "int8" else 4, "tensor_cores": cores}
            ng.conv2d(d_x, d_w, padding=1, layout=layout, alpha=alpha, beta=2.0, out=out, **how)
            ways.append(plain(out.get(), kind).astype(np.float64).copy())
        assert np.array_equal(*ways)
        if result == "int8":
            assert (np.abs(ways[0] - exact) < 1).all()
            assert (ways[0] != np.rint(exact)).any()
        if spread:
            whole = wide.get()
            assert not whole[..., :4].any() and not whole[..., -4:].any()


def test_plans_take_scales_and_activations(rng):
    x = ng.array(rng.integers(-99, 99, (2, 9, 9, 64)).astype(np.int8))
    w = ng.array(rng.integers(-99, 99, (48, 3, 3, 64)).astype(np.int8))
    bias = ng.array(rng.standard_normal(48).astype(np.float32))
    y = ng.empty((2, 9, 9, 48), "int8")
    scales = [ng.array((rng.random(48) * 1e-3).astype(np.float32)) for _ in range(3)]
    plan = ng.ConvPlan("fprop", x, w, y, padding=1, bias=bias, activation="gelu", scale=scales[0])
    assert any("_s8_s8_" in name for name in plan.kernels)
    for scale in scales:
        plan.launch(x, w, y, bias, scale=scale)
        want = ng.conv2d(x, w, bias, padding=1, activation="gelu", scale=scale, out=ng.empty_like(y))
        assert np.array_equal(y.get(), want.get())
    with pytest.raises(ValueError, match="scale is missing; one was planned"):
        plan.launch(x, w, y, bias)
    fixed = ng.ConvPlan("fprop", x, w, y, padding=1, bias=bias, scale=1e-3)
    fixed.launch(x, w, y, bias)
    assert np.array_equal(y.get(), ng.conv2d(x, w, bias, padding=1, scale=1e-3, out=ng.empty_like(y)).get())
    with pytest.raises(ValueError, match="scale was not planned"):
        fixed.launch(x, w, y, bias, scale=scales[0])


def test_refusals(rng):
    x, w = ng.ones((1, 5, 5, 8), "int8"), ng.ones((4, 3, 3, 8), "int8")
    h, f = x.astype("float16"), w.astype("float16")
    four = ng.ones(4)
    for error, text, call in [
        (ValueError, "activation is 'swish'; needs 'none'", lambda: ng.conv2d(h, f, activation="swish")),
        (ValueError, "'drelu'; needs one of a forward pass", lambda: ng.conv2d(h, f, activation="drelu")),
        (ValueError, "relu is set and there is an activation", lambda: ng.conv2d(h, f, relu=True, activation="tanh")),
        (ValueError, "there is no clip; needs clip=", lambda: ng.conv2d(h, f, activation="clip")),
        (ValueError, "needs clip_low <= clip_high", lambda: ng.conv2d(h, f, activation="clip", clip=(2, 1))),
        (ValueError, "needs 'clip'", lambda: ng.conv2d(h, f, clip=(1, 2))),
        (TypeError, "no activation but relu", lambda: ng.conv2d(x, w, activation="tanh")),
        (ValueError, "scale is given but y is float16", lambda: ng.conv2d(h, f, scale=four)),
        (ValueError, "scale is given but y is", lambda: ng.conv2d(h, f, scale=2.0)),
        (ValueError, "scale has shape", lambda: ng.conv2d(x, w, scale=ng.ones(5))),
        (TypeError, "scale has dtype float16; needs float32", lambda: ng.conv2d(x, w, scale=four.astype("float16"))),
        (TypeError, "bias is int32; needs float32", lambda: ng.conv2d(x, w, ng.ones(4, "int32"), scale=1.0)),
        (TypeError, "needs float32", lambda: ng.conv2d(x, w, out=ng.empty((1, 3, 3, 4), "float16"))),
        (ValueError, "mask is given; needs fprop with relu",
         lambda: ng.conv2d(h, f, activation="tanh", mask=ng.zeros((1, 3, 3, 1), np.uint32))),
    ]:  # fmt: skip
        with pytest.raises(error, match=text):
            call()


@pytest.mark.parametrize("channels", [4, 64])
@pytest.mark.parametrize("filters", [64, 20])
def test_int8_of_numbers_that_are_none(rng, channels, filters):
    x, w = rng.integers(-9, 9, (1, channels, 6, 6)), rng.integers(-9, 9, (filters, channels, 3, 3))
    w[5] = 0
    sums = reference(x, w, (1, 1), (1, 1), (1, 1), 1)
    scale = np.full(filters, 2.0**-6, np.float32)
    scale[[1, 4, 5, 9, 13]] = np.nan, np.inf, -np.inf, 1e38, -np.inf  # times 0: no number either
    with np.errstate(all="ignore"):
        v = sums.astype(np.float32) * scale[None, :, None, None]
    want = np.where(np.isnan(v), 0, np.clip(np.rint(v), -128, 127))
    d_x, d_w = (ng.array(arranged(a, "last").astype(np.int8)) for a in (x, w))
    for cores in (True, False):
        out = ng.empty((1, 6, 6, filters), "int8")
        ng.conv2d(d_x, d_w, padding=1, scale=ng.array(scale), out=out, tensor_cores=cores)
        assert np.array_equal(plain(out.get(), "last").astype(np.float64), want)
