"""Convolutions of float32 on the tensor cores (kernels/conv/pieces/pieces.h), as Python reaches them."""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
import tier

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")


def error(got: Any, a: Any, b: Any) -> float:
    """The root mean square of |got - a b| / (|a| |b|)."""
    off = (got - a.astype(np.float64) @ b) / (np.abs(a).astype(np.float64) @ np.abs(b))
    return float(np.sqrt((off**2).mean()))


def test_the_setting_reaches_convolutions() -> None:
    """1 x 1 filters are products of matrices: the sums of the tensor cores are others, and closer."""
    rng = np.random.default_rng(20)
    n, side, c, k = 4, 56, 256, 384
    x = rng.standard_normal((n, side, side, c), dtype=np.float32)
    w = rng.standard_normal((k, 1, 1, c), dtype=np.float32)
    dy = rng.standard_normal((n, side, side, k), dtype=np.float32)
    gx, gw, gdy = ng.array(x), ng.array(w), ng.array(dy)
    calls = {
        "fprop": lambda: ng.conv2d(gx, gw, layout="NHWC").get().reshape(-1, k),
        "bprop": lambda: ng.conv2d_bprop(gdy, gw, x.shape, layout="NHWC").get().reshape(-1, c),
    }
    rows, weights, gradients = x.reshape(-1, c), w.reshape(k, c), dy.reshape(-1, k)
    factors = {"fprop": (rows, weights.T), "bprop": (gradients, weights)}
    for name, call in calls.items():
        strict = call()
        with ng.precision("tensor"):
            tensor = call()
        assert error(tensor, *factors[name]) < error(strict, *factors[name]), name
        assert (tensor != strict).any()
        assert (call() == strict).all(), name  # the setting is over


@pytest.mark.parametrize("axes", [pytest.param(1, marks=pytest.mark.long), 2, pytest.param(3, marks=pytest.mark.long)])
def test_of_a_call(axes: int) -> None:
    """precision= of each function and of plans, whatever holds in the thread, which it leaves as it was."""
    rng = np.random.default_rng(22)
    space = {1: (4096,), 2: (64, 64), 3: (16, 16, 16)}[axes]
    x, w, dy = (
        ng.array(rng.standard_normal(s, dtype=np.float32))
        for s in ((2, *space, 256), (256, *(1,) * axes, 256), (2, *space, 256))
    )
    ending = f"conv{axes}d"
    calls = {
        "fprop": lambda **o: getattr(ng, ending)(x, w, **o),
        "bprop": lambda **o: getattr(ng, ending + "_bprop")(dy, w, x.shape, **o),
        "update": lambda **o: getattr(ng, ending + "_update")(dy, x, w.shape, **o),
        "deconv": lambda **o: getattr(ng, "de" + ending)(dy, w, **o),
    }
    operands = {"fprop": (x, w), "bprop": (dy, w), "update": (dy, x)}
    for name, call in calls.items():
        strict = call().get()
        tensor = call(precision="tensor").get()
        assert (tensor != strict).any() and np.abs(tensor - strict).max() < 1e-2, name
        if axes == 2 and (name == "fprop" or tier.LONG):
            assert (call().get() == strict).all(), "the setting is over"
            with ng.precision("tensor"):
                assert (call().get() == tensor).all() and (call(precision="strict").get() == strict).all()
                with pytest.raises(ValueError, match="precision is 'fast'"):
                    call(precision="fast")
                assert (call().get() == tensor).all()
        if name in operands:
            for precision, want in (("tensor", tensor), ("strict", strict)):
                out = ng.empty(want.shape)
                ng.ConvPlan(name, *operands[name], out, precision=precision)(*operands[name], out)
                assert (out.get() == want).all(), (name, precision)


def test_first_layers_become_cells() -> None:
    """By what a plan launches: x in cells, in every layout."""
    shapes = {"NHWC": ((32, 224, 224, 3), (64, 7, 7, 3), (32, 112, 112, 64))}
    shapes["NCHW"] = ((32, 3, 224, 224), (64, 3, 7, 7), (32, 64, 112, 112))
    shapes["CHWN"] = ((3, 224, 224, 32), (3, 7, 7, 64), (64, 112, 112, 32))
    for layout, (of_x, of_w, of_y) in shapes.items():
        x, w, y = ng.empty(of_x), ng.empty(of_w), ng.empty(of_y)
        for which, tensors in (("fprop", (x, w, y)), ("update", (y, x, w))):
            with ng.precision("tensor"):
                plan = ng.ConvPlan(which, *tensors, stride=2, padding=3, layout=layout)
            assert plan.kernels.count("cells_bf16x3") == (2 if which == "fprop" else 1), (layout, which)
            assert any(name.startswith("conv_if") for name in plan.kernels)
            strict = ng.ConvPlan(which, *tensors, stride=2, padding=3, layout=layout)
            assert not any("bf16" in name for name in strict.kernels)


def test_small_layers_and_other_layouts_stay_strict() -> None:
    rng = np.random.default_rng(21)
    x = ng.array(rng.standard_normal((2, 5, 6, 7), dtype=np.float32))
    w = ng.array(rng.standard_normal((3, 2, 2, 7), dtype=np.float32))
    xc = ng.array(rng.standard_normal((7, 5, 6, 4), dtype=np.float32))
    wc = ng.array(rng.standard_normal((7, 2, 2, 8), dtype=np.float32))
    for call in (lambda: ng.conv2d(x, w, layout="NHWC"), lambda: ng.conv2d(xc, wc, layout="CHWN")):
        strict = call().get()
        with ng.precision("tensor"):
            assert (call().get() == strict).all()
