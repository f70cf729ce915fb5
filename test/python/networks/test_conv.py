"""Convolution and its gradients: exact integers against a definition in NumPy, the factory's layers, refusals."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from conv_reference import LAYOUTS, arranged, gradients, integers, layout_name, plain, reference

FPROP = {1: ng.conv1d, 2: ng.conv2d, 3: ng.conv3d}
BPROP = {1: ng.conv1d_bprop, 2: ng.conv2d_bprop, 3: ng.conv3d_bprop}
UPDATE = {1: ng.conv1d_update, 2: ng.conv2d_update, 3: ng.conv3d_update}
DECONV = {1: ng.deconv1d, 2: ng.deconv2d, 3: ng.deconv3d}

CASES = [
    # n, c, k, spatial, filter, stride, padding, dilation, groups
    (1, 1, 1, (1,), (1,), (1,), (0,), (1,), 1),
    (3, 5, 7, (11,), (3,), (2,), (1,), (1,), 1),
    (2, 3, 4, (4,), (7,), (1,), (3,), (1,), 1),
    (3, 3, 5, (7, 6), (3, 2), (1, 1), (1, 0), (1, 1), 1),
    (2, 6, 4, (9, 8), (3, 3), (2, 3), (2, 1), (2, 1), 2),
    (1, 5, 5, (6, 5), (3, 3), (1, 1), (1, 1), (1, 1), 5),
    (4, 4, 8, (5, 5), (1, 2), (3, 4), (0, 0), (1, 1), 1),
    (2, 3, 2, (3, 5, 4), (2, 3, 1), (1, 2, 1), (1, 1, 0), (1, 1, 1), 1),
]


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_pass(rng, case, dtype, kind):
    n, c, k, spatial, filters, stride, padding, dilation, groups = case
    axes = len(spatial)
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    x, w = integers(rng, n, c, *spatial), integers(rng, k, c // groups, *filters)
    y = reference(x, w, *how.values())
    dy = integers(rng, *y.shape)
    dx, dw = gradients(x, w, dy, *how.values())
    on_device = [ng.array(arranged(a, kind).astype(dtype)) for a in (x, w, dy)]
    how["layout"] = layout_name(kind, axes)
    got = FPROP[axes](on_device[0], on_device[1], **how)
    assert got.dtype == dtype
    assert np.array_equal(plain(got.get(), kind), y)
    got = BPROP[axes](on_device[2], on_device[1], on_device[0].shape, **how)
    assert np.array_equal(plain(got.get(), kind), dx)
    got = UPDATE[axes](on_device[2], on_device[0], on_device[1].shape, **how)
    assert np.array_equal(plain(got.get(), kind), dw)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("seed", range(8))
def test_depthwise(seed, dtype):
    """Random layers with a filter for each channel, in every layout; half of them have kernels of strips."""
    rng = np.random.default_rng([seed, 3])
    strips = seed % 2 == 0
    axes = 2 if strips else int(rng.integers(1, 4))
    kind = "last" if strips else list(LAYOUTS)[seed // 2 % 3]
    n, c = int(rng.integers(1, 4)), int(rng.choice([2, 3, 24, 40, 66]))
    filters = (int(rng.choice([3, 5, 7])),) * 2 if strips else tuple(int(v) for v in rng.integers(1, 5, axes))
    stride = (int(rng.integers(1, 3)),) * 2 if strips else tuple(int(v) for v in rng.integers(1, 4, axes))
    dilation = (1, 1) if strips else tuple(int(v) for v in rng.integers(1, 3, axes))
    spatial = tuple(int(v) for v in rng.integers(1, [0, 40, 13, 6][axes], axes))
    reach = [d * (f - 1) for d, f in zip(dilation, filters, strict=True)]
    padding = tuple(int(rng.integers(max(0, r - x + 2) // 2, r + 2)) for r, x in zip(reach, spatial, strict=True))
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": c}
    x, w = rng.integers(-1, 2, (n, c, *spatial)), rng.integers(-1, 2, (c, 1, *filters))
    y = reference(x, w, *how.values())
    dy = rng.integers(-1, 2, y.shape)
    dx, dw = gradients(x, w, dy, *how.values())
    d_x, d_w, d_dy = (ng.array(arranged(a, kind).astype(np.float32)).astype(dtype) for a in (x, w, dy))
    how["layout"] = layout_name(kind, axes)
    for got, want in [
        (FPROP[axes](d_x, d_w, **how), y),
        (BPROP[axes](d_dy, d_w, d_x.shape, **how), dx),
        (UPDATE[axes](d_dy, d_x, d_w.shape, **how), dw),
    ]:
        want = ng.array(arranged(want, kind).astype(np.float32)).astype(dtype)
        np.testing.assert_array_equal(got.astype(np.float32).get(), want.astype(np.float32).get())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("seed", range(12))
def test_few_channels(seed, dtype):
    """Random layers of up to 48 channels with channels last, as tensors that begin at any element."""
    rng = np.random.default_rng([seed, 2026])
    axes = int(rng.integers(1, 4))
    groups = int(rng.choice([1, 1, 1, 2]))
    n, c = int(rng.integers(1, 4)), groups * int(rng.choice([1, 2, 3, 3, 4, 7, 8, 12, 16, 24, 40]))
    k = groups * int(rng.choice([1, 5, 8, 24, 64]))
    filters = tuple(int(v) for v in rng.integers(1, [0, 12, 6, 4][axes], axes))
    spatial = tuple(int(v) for v in rng.integers(1, [0, 60, 13, 6][axes], axes))
    stride, dilation = (tuple(int(v) for v in rng.integers(1, 4, axes)) for _ in range(2))
    reach = [d * (f - 1) for d, f in zip(dilation, filters, strict=True)]
    padding = tuple(int(rng.integers(max(0, r - x + 2) // 2, r + 2)) for r, x in zip(reach, spatial, strict=True))
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    x, w = rng.integers(-1, 2, (n, c, *spatial)), rng.integers(-1, 2, (k, c // groups, *filters))
    y = reference(x, w, *how.values())
    dy = rng.integers(-1, 2, y.shape)
    dx, dw = gradients(x, w, dy, *how.values())

    def on_device(array):
        moved = int(rng.integers(0, 3))
        flat = arranged(array, "last").astype(np.float32)
        t = ng.array(np.concatenate([np.full(moved, np.nan, np.float32), flat.ravel()])).astype(dtype)
        return t[moved:].reshape(flat.shape)

    d_x, d_w, d_dy = (on_device(a) for a in (x, w, dy))
    for got, want in [
        (FPROP[axes](d_x, d_w, **how), y),
        (BPROP[axes](d_dy, d_w, d_x.shape, **how), dx),
        (UPDATE[axes](d_dy, d_x, d_w.shape, **how), dw),
    ]:
        want = ng.array(arranged(want, "last").astype(np.float32)).astype(dtype)
        np.testing.assert_array_equal(got.astype(np.float32).get(), want.astype(np.float32).get())


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize(
    ("shape", "filters", "padding"),
    [
        ((2, 3, 7, 17, 18), (32, 5, 5, 5), (1, 2, 0)),
        ((2, 1, 39, 42), (64, 11, 9), (5, 9)),
        ((2, 2, 2001), (128, 63), (31,)),
    ],
)
def test_gradients_of_few_channels_by_cells(rng, shape, filters, padding, kind):
    """Where the model has cells of pixels: launched, exact, and equal to what chains of multiply-adds give."""
    axes = len(padding)
    w = rng.integers(-1, 2, (filters[0], shape[1], *filters[1:]))
    lengths = [x + 2 * p - f + 1 for x, p, f in zip(shape[2:], padding, filters[1:], strict=True)]
    dy = rng.integers(-1, 2, (shape[0], filters[0], *lengths))
    want = gradients(np.zeros(shape, np.int64), w, dy, (1,) * axes, padding, (1,) * axes, 1)[0]
    d_w, d_dy = (ng.array(arranged(a, kind).astype(np.float16)) for a in (w, dy))
    dx = ng.empty(arranged(want, kind).shape, "float16")
    how = {"padding": padding, "layout": layout_name(kind, axes)}
    made = "cell_filters" in ng.ConvPlan("bprop", d_dy, d_w, dx, **how).kernels
    assert made == (ng.device().arch == "sm_90a")
    assert "cell_filters" not in ng.ConvPlan("bprop", d_dy, d_w, dx, tensor_cores=False, **how).kernels
    for tensor_cores in (True, False):
        got = BPROP[axes](d_dy, d_w, dx.shape, tensor_cores=tensor_cores, **how)
        np.testing.assert_array_equal(plain(got.get(), kind), want.astype(np.float16))


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("bytes_", [np.int8, np.uint8])
def test_first_layer_of_bytes(rng, bytes_, kind):
    x = rng.integers(-128, 128, (2, 3, 6, 7)) if bytes_ == np.int8 else rng.integers(0, 256, (2, 3, 6, 7))
    w = integers(rng, 5, 3, 3, 3)
    y = reference(x, w, (1, 1), (1, 1), (1, 1), 1)
    on_device = ng.array(arranged(x, kind).astype(bytes_))
    layout = layout_name(kind, 2)
    for dtype in (np.float32, np.int8):
        got = ng.conv2d(on_device, ng.array(arranged(w, kind).astype(dtype)), padding=1, layout=layout)
        assert got.dtype == (np.int32 if dtype == np.int8 else dtype)
        assert np.array_equal(plain(got.get(), kind), y)
    dy = integers(rng, *y.shape)
    got = ng.conv2d_update(
        ng.array(arranged(dy, kind).astype(np.float32)), on_device, arranged(w, kind).shape, padding=1, layout=layout
    )
    assert np.array_equal(plain(got.get(), kind), gradients(x, w, dy, (1, 1), (1, 1), (1, 1), 1)[1])


@pytest.mark.parametrize("kind", LAYOUTS)
def test_epilogue(rng, kind):
    x, w, bias = integers(rng, 2, 3, 5, 6), integers(rng, 4, 3, 2, 2), integers(rng, 4)
    sums = reference(x, w, (1, 1), (0, 0), (1, 1), 1)
    before = integers(rng, *sums.shape)
    layout = layout_name(kind, 2)
    d_x, d_w, out = (ng.array(arranged(a, kind).astype(np.float32)) for a in (x, w, before))
    d_bias = ng.array(bias.astype(np.float32))
    got = ng.conv2d(d_x, d_w, d_bias, layout=layout, relu=True, out=out, alpha=2, beta=-3)
    assert got is out
    expected = np.maximum(2 * sums - 3 * before + bias[:, None, None], 0)
    assert np.array_equal(plain(out.get(), kind), expected)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("more", [0, 1])
def test_transposed(rng, axes, more):
    x = integers(rng, 2, 6, *(4, 3, 2)[:axes])
    w = integers(rng, 6, 2, *(3, 2, 3)[:axes])
    stride, padding, dilation = (2,) * axes, (1,) * axes, (1,) * axes
    lengths = [
        (p - 1) * 2 - 2 + r - 1 + 1 + more for p, r in zip(x.shape[2:], w.shape[2:], strict=True)
    ]  # of the result
    like = np.zeros((2, 4, *lengths), int)
    expected, _ = gradients(like, w, x, stride, padding, dilation, 2)
    d_x, d_w = (ng.array(arranged(a, "last").astype(np.float32)) for a in (x, w))
    got = DECONV[axes](d_x, d_w, stride=2, padding=1, groups=2, output_padding=more)
    assert np.array_equal(plain(got.get(), "last"), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_error_bound(rng, dtype):
    x = rng.standard_normal((2, 17, 6, 6)).astype(dtype)
    w = rng.standard_normal((9, 17, 3, 3)).astype(dtype)
    exact = reference(x.astype(float), w.astype(float), (1, 1), (1, 1), (1, 1), 1)
    scale = reference(np.abs(x.astype(float)), np.abs(w.astype(float)), (1, 1), (1, 1), (1, 1), 1)
    u = 17 * 9 * 2.0**-24
    bound = u / (1 - u) * scale
    if dtype == np.float16:
        bound = bound + (np.abs(exact) + bound) * 2.0**-11
    got = ng.conv2d(ng.array(arranged(x, "last")), ng.array(arranged(w, "last")), padding=1).get()
    assert np.all(np.abs(plain(got, "last") - exact) <= bound)


def like(got, want):
    """The same infinities, NaN and numbers, to a few places of 16-bit floats."""
    return np.allclose(got, want, rtol=2**-7, atol=2**-4, equal_nan=True)


@pytest.mark.usefixtures("numpy_is_quiet")
@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("channels", [3, 8, 70])
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_special_values(rng, kind, dtype, channels, special):
    """At one element of either operand. Padding is zeros that take part: times infinity they are NaN."""
    ones, none = (1, 1), (0, 0)
    for filters, padding, dilation in [((3, 2), (1, 1), (1, 1)), ((2, 3), (0, 2), (2, 1))]:
        x, w = rng.integers(1, 4, (2, channels, 5, 6)) * 1.0, rng.integers(1, 4, (9, channels, *filters)) * 1.0
        y = reference(x, w, ones, padding, dilation, 1)
        dy = rng.integers(1, 4, y.shape) * 1.0
        how = {"padding": padding, "dilation": dilation, "layout": layout_name(kind, 2)}

        def on_device(a):
            return ng.array(arranged(a, kind).astype(np.float32)).astype(dtype)

        def back(t):
            return plain(t.astype(np.float32).get(), kind)

        for which in range(3):
            operands = [x.copy(), w.copy(), dy.copy()]
            place = tuple(int(rng.integers(length)) for length in operands[which].shape)
            operands[which][place] = special
            a, b, c = operands
            d_x, d_w, d_dy = (on_device(v) for v in operands)
            if which != 2:
                assert like(back(ng.conv2d(d_x, d_w, **how)), reference(a, b, ones, padding, dilation, 1))
            if which != 0:
                around = [(e * (f - 1) - p,) * 2 for e, f, p in zip(dilation, filters, padding, strict=True)]
                turned = b[:, :, ::-1, ::-1].swapaxes(0, 1)
                want = reference(np.pad(c, [none, none, *around]), turned, ones, none, dilation, 1)
                assert like(back(ng.conv2d_bprop(d_dy, d_w, d_x.shape, **how)), want)
            if which != 1:
                want = gradients(a, b, c, ones, padding, dilation, 1)[1]
                assert like(back(ng.conv2d_update(d_dy, d_x, d_w.shape, **how)), want)


@pytest.mark.parametrize("kind", LAYOUTS)
def test_stochastic_rounding(rng, kind):
    x, w = rng.random((2, 5, 6, 6)).astype(np.float16), rng.random((4, 5, 3, 3)).astype(np.float16)
    layout = layout_name(kind, 2)
    wide = [ng.array(arranged(a, kind).astype(np.float32)) for a in (x, w)]
    exact = ng.conv2d(*wide, layout=layout).get().astype(float)
    narrow = [ng.array(arranged(a, kind)) for a in (x, w)]

    def run(offset):
        how = {"layout": layout, "rounding": "stochastic", "seed": 5, "offset": offset}
        return ng.conv2d(*narrow, **how).get().astype(float)

    assert np.array_equal(run(7), run(7))
    runs = [run(1000 * i) for i in range(64)]
    step = np.spacing(exact.astype(np.float16)).astype(float)
    assert all(np.all(np.abs(r - exact) <= step) for r in runs)
    assert len({float(r.flat[0]) for r in runs}) == 2
    assert abs(np.mean([(r - exact) / step for r in runs])) < 0.02


def test_layers_of_the_factory(rng):
    backend = ng.NervanaGPU(default_dtype=np.float32)
    layer = backend.conv_layer(np.float32, 4, 3, 8, 1, 9, 8, 1, 3, 4, 0, 1, 2, 1, 2, 1)
    assert layer.dimI == (3, 1, 9, 8, 4)
    assert layer.dimF == (3, 1, 3, 4, 8)
    assert layer.dimO == (8, 1, 5, 9, 4)
    assert layer.flops == 2 * 4 * 8 * 5 * 9 * 3 * 3 * 4
    x, w = integers(rng, 4, 3, 1, 9, 8), integers(rng, 8, 3, 1, 3, 4)
    geometry = ((1, 2, 1), (0, 1, 2), (1, 1, 1), 1)
    y = reference(x, w, *geometry)
    dy = integers(rng, *y.shape)
    dx, dw = gradients(x, w, dy, *geometry)
    d_x, d_w, d_dy = (backend.array(arranged(a, "batch")) for a in (x, w, dy))
    out, grad_x, grad_w = backend.empty(layer.dimO), backend.empty(layer.dimI), backend.empty(layer.dimF)
    assert backend.fprop_conv(layer, d_x, d_w, out, relu=True) == (0, 0)
    assert backend.bprop_conv(layer, d_w, d_dy, grad_x, alpha=2.0) == (0, 0)
    ms, gflops = backend.bprop_conv(layer, d_w, d_dy, grad_x, alpha=2.0, repeat=2)
    assert ms > 0 and gflops > 0
    assert backend.update_conv(layer, d_x, d_dy, grad_w) == (0, 0)
    assert np.array_equal(plain(out.get(), "batch"), np.maximum(y, 0))
    assert np.array_equal(plain(grad_x.get(), "batch"), 2 * dx)
    assert np.array_equal(plain(grad_w.get(), "batch"), dw)
    backend.bench = True
    ms, gflops = backend.fprop_conv(layer, d_x, d_w, out)
    assert ms > 0
    assert gflops == pytest.approx(1e-6 * layer.flops / ms)
    back = backend.deconv_layer(np.float32, 4, 3, 8, 5, 9, 3, 4, 0, 1, 2, 1, 2, 1)
    assert back.dimO == layer.dimO
    assert back.dimI == layer.dimI


def test_refusals(rng):
    x, w = ng.array(np.ones((2, 5, 5, 4), np.float32)), ng.array(np.ones((6, 3, 3, 4), np.float32))
    out = ng.full((2, 3, 3, 6), 7.0)
    for error, text, how in [
        (ValueError, "stride has 3 numbers; needs 1 or 2", {"stride": (1, 1, 1)}),
        (ValueError, "stride .height. is 0", {"stride": 0}),
        (ValueError, "pad .width. is -1", {"padding": (0, -1)}),
        (ValueError, "groups", {"groups": 3}),
        (ValueError, "layout is ", {"layout": "HWNC"}),
        (ValueError, "layout is NWC; needs one of 4 letters", {"layout": "NWC"}),
        (ValueError, "the output is empty", {"dilation": 3}),
        (ValueError, "y has shape", {"padding": 1}),
        (ValueError, "bias has shape", {"bias": ng.zeros((5,))}),
        (TypeError, "bias is float16", {"bias": ng.zeros((6,), np.float16)}),
        (ValueError, "rounding", {"rounding": "up"}),
        (TypeError, "bias is ndarray", {"bias": np.zeros(6, np.float32)}),
    ]:
        with pytest.raises(error, match=text):
            ng.conv2d(x, w, out=out, **how)
        assert np.all(out.get() == 7), how
    with pytest.raises(TypeError, match="w float16"):
        ng.conv2d(x, ng.array(np.ones((6, 3, 3, 4), np.float16)))
    with pytest.raises(ValueError, match="no out to read"):
        ng.conv2d(x, w, beta=1)
    with pytest.raises(ValueError, match="4 axes; needs 3"):
        ng.conv1d(x, w)
    with pytest.raises(ValueError, match="dy has shape"):
        ng.conv2d_bprop(x, w, (2, 5, 5, 4))
    with pytest.raises(ValueError, match="output_padding is 2"):
        ng.deconv2d(out, w, stride=2, output_padding=2)


GROUPED = [
    # n, c, k, spatial, filter, stride, padding, dilation, groups
    (2, 128, 128, (5, 6), (3, 3), (1, 1), (1, 1), (1, 1), 2),
    (3, 96, 48, (7, 5), (3, 2), (1, 1), (1, 0), (1, 1), 2),
    (2, 24, 24, (6, 6), (3, 3), (1, 1), (1, 1), (1, 1), 3),
    (2, 192, 72, (5, 4), (2, 3), (1, 1), (1, 1), (1, 2), 3),
    (3, 160, 64, (4, 5), (3, 3), (1, 1), (1, 1), (1, 1), 4),
    (1, 384, 384, (3, 4), (1, 1), (1, 1), (0, 0), (1, 1), 4),
    (2, 40, 80, (6, 5), (3, 3), (2, 2), (1, 1), (1, 1), 5),
    (5, 128, 128, (5, 5), (3, 3), (1, 1), (1, 1), (1, 1), 32),
    (2, 256, 128, (6, 6), (3, 3), (2, 2), (1, 1), (1, 1), 32),
    (2, 128, 192, (5, 3), (1, 2), (1, 2), (0, 1), (1, 1), 64),
    (1, 192, 96, (4, 4), (3, 3), (1, 1), (1, 1), (1, 1), 8),
    (1, 320, 192, (4, 4), (3, 3), (1, 1), (1, 1), (1, 1), 8),
    (2, 55, 33, (5, 4), (3, 3), (1, 1), (1, 1), (1, 1), 11),
    (2, 14, 70, (9,), (3,), (1,), (1,), (1,), 7),
    (2, 576, 12, (7,), (3,), (2,), (1,), (1,), 6),
    (2, 48, 96, (3, 4, 5), (3, 2, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1), 6),
    (1, 120, 60, (3, 4, 4), (3, 3, 3), (2, 1, 2), (1, 1, 1), (1, 1, 1), 5),
    (2, 128, 64, (2, 3, 4), (2, 2, 2), (1, 1, 1), (1, 0, 1), (1, 1, 1), 8),
]


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("case", GROUPED, ids=str)
def test_groups(rng, case, dtype, kind):
    """Every pass, fprop with an epilogue: packs of all sizes, channels that do and do not begin at 16 bytes."""
    n, c, k, spatial, filters, stride, padding, dilation, groups = case
    axes = len(spatial)
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    x, w = rng.integers(-1, 2, (n, c, *spatial)), rng.integers(-1, 2, (k, c // groups, *filters))
    y = reference(x, w, *how.values())
    dy, old, bias = rng.integers(-1, 2, y.shape), rng.integers(-9, 10, y.shape), rng.integers(-9, 10, k)
    dx, dw = gradients(x, w, dy, *how.values())

    def device(array):
        return ng.array(np.asarray(array, np.float32)).astype(dtype)

    d_x, d_w, d_dy, out = (device(arranged(a, kind)) for a in (x, w, dy, old))
    d_bias = device(bias)
    how["layout"] = layout_name(kind, axes)
    along = (slice(None), *[None] * axes)
    for got, want in [
        (FPROP[axes](d_x, d_w, d_bias, out=out, beta=2.0, relu=True, **how), np.maximum(y + 2 * old + bias[along], 0)),
        (BPROP[axes](d_dy, d_w, d_x.shape, **how), dx),
        (UPDATE[axes](d_dy, d_x, d_w.shape, **how), dw),
    ]:
        np.testing.assert_array_equal(
            got.astype(np.float32).get(), device(arranged(want, kind)).astype(np.float32).get()
        )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("channels, packed", [(4, 16), (8, 8), (32, 2), (40, 1), (64, 1), (72, 1)])
def test_infinities_of_groups(channels, packed, dtype):
    """An infinite element reaches its own pack of groups alone; in an update only its own group."""
    groups = max(2 * packed, 8) if packed > 1 else 5  # of four, a launch each would cost less than packs
    x = np.ones((1, 3, 3, groups * channels), np.float32)
    x[0, 1, 1, channels] = np.inf  # of group 1
    w = np.ones((groups * channels, 3, 3, channels), np.float32)
    d_x, d_w, ones = (ng.array(a).astype(dtype) for a in (x, w, np.ones_like(x)))

    def hurt(t, axis):
        return set(np.nonzero(~np.isfinite(np.moveaxis(t.astype(np.float32).get(), axis, 0)))[0] // channels)

    own = set(range(packed)) if packed > 1 and ng.device().arch == "sm_90a" else {1}
    assert hurt(ng.conv2d(d_x, d_w, padding=1, groups=groups), -1) == own
    assert hurt(ng.conv2d_bprop(d_x, d_w, x.shape, padding=1, groups=groups), -1) == own
    assert hurt(ng.conv2d_update(ones, d_x, w.shape, padding=1, groups=groups), 0) == {1}
    strict = ng.conv2d(d_x, d_w, padding=1, groups=groups, tensor_cores=False)
    assert hurt(strict, -1) == {1}


def bits_of(array):
    """The words of a mask: bit j % 32 of word j / 32 of each row of the last axis is whether element j is above 0."""
    rows = np.pad(array > 0, [(0, 0)] * (array.ndim - 1) + [(0, -array.shape[-1] % 32)])
    words = rows.reshape(*array.shape[:-1], -1, 32).astype(np.uint32) << np.arange(32, dtype=np.uint32)
    return words.sum(-1, dtype=np.uint32)


MASKED = [
    # n, c, k, side, size, stride, padding, groups
    (2, 64, 64, 6, 3, 1, 1, 1),
    (1, 72, 40, 5, 3, 1, 1, 1),
    (3, 3, 96, 9, 3, 2, 1, 1),
    (2, 64, 128, 5, 1, 1, 0, 2),
    (2, 16, 48, 5, 3, 1, 2, 2),
    (2, 128, 128, 5, 3, 1, 1, 32),
    (1, 160, 192, 4, 3, 1, 1, 4),
    (1, 96, 48, 4, 3, 1, 1, 6),
    (5, 24, 33, 7, 3, 2, 0, 1),
    (1, 8, 8, 3, 1, 1, 2, 1),
    (1, 512, 64, 2, 3, 1, 1, 1),
    (2, 66, 66, 5, 3, 1, 1, 66),
]


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("case", MASKED, ids=str)
def test_bits_of_relu(rng, case, dtype, kind):
    n, c, k, side, size, stride, padding, groups = case
    how = {"stride": stride, "padding": padding, "groups": groups, "layout": layout_name(kind, 2)}

    def device(array):
        return ng.array(arranged(array, kind).astype(np.float32)).astype(dtype)

    x, w = device(integers(rng, n, c, side, side)), device(integers(rng, k, c // groups, size, size))
    y = ng.conv2d(x, w, relu=True, **how)
    mask = ng.full((*y.shape[:-1], -(-y.shape[-1] // 32)), 0xAAAAAAAA, np.uint32)
    again = ng.conv2d(x, w, relu=True, mask=mask, **how)
    np.testing.assert_array_equal(again.get(), y.get())
    np.testing.assert_array_equal(mask.get(), bits_of(y.get().astype(np.float32)))
    dy = device(integers(rng, *plain(y.get(), kind).shape))
    for beta in (0.0, 1.0, 0.5):
        old = device(integers(rng, *plain(x.get(), kind).shape))
        expected = ng.conv2d_bprop(dy, w, x.shape, out=old.copy(), beta=beta, **how).get().astype(np.float32)
        bits = ng.array(bits_of(x.get().astype(np.float32)))
        got = ng.conv2d_bprop(dy, w, x.shape, out=old, beta=beta, mask=bits, **how).get().astype(np.float32)
        np.testing.assert_array_equal(got, np.where(x.get().astype(np.float32) > 0, expected, 0))


def test_bits_of_relu_that_cannot_be():
    x, w = ng.ones((1, 4, 4, 40)), ng.ones((8, 3, 3, 40))
    y, mask = ng.ones((1, 2, 2, 8)), ng.zeros((1, 2, 2, 1), np.uint32)
    with pytest.raises(ValueError, match="mask is given; needs fprop with relu"):
        ng.conv2d(x, w, mask=mask)
    with pytest.raises(ValueError, match=r"mask has shape \(1, 2, 2, 1\); needs \(1, 4, 4, 2\), a bit for each .* dx"):
        ng.conv2d_bprop(y, w, x.shape, mask=mask)
    with pytest.raises(TypeError, match="mask has dtype float32; needs uint32 or int32"):
        ng.conv2d(x, w, relu=True, mask=ng.zeros((1, 2, 2, 1)))
    with pytest.raises(ValueError, match="mask has strides"):
        ng.conv2d(x, w, relu=True, mask=ng.zeros((1, 4, 2, 1), np.uint32)[:, ::2])
    with pytest.raises(ValueError, match="mask shares memory with y"):
        ng.conv2d(x, w, relu=True, out=y, mask=ng.wrap(y.ptr, mask.shape, np.uint32))
    with pytest.raises(TypeError, match="mask is given but the result has dtype int32"):
        ng.conv2d(x.astype(np.int8), w.astype(np.int8), relu=True, mask=mask)
    with pytest.raises(TypeError, match="mask is ndarray; needs GPUTensor"):
        ng.conv2d(x, w, relu=True, mask=np.zeros((1, 2, 2, 1), np.uint32))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_slices_of_channels(dtype: str, rng: np.random.Generator) -> None:
    """The branches of an inception: each writes its part of the joined output and reads its part of the gradient."""

    def numbers(*shape: int) -> ng.GPUTensor:
        return ng.array(rng.integers(-2, 3, shape).astype(dtype))

    x, joined, error = numbers(2, 5, 6, 40), numbers(2, 5, 6, 72), numbers(2, 5, 6, 72)
    w, host = numbers(32, 3, 3, 16), joined.get()
    part, narrow = slice(24, 56), slice(8, 24)
    expected = ng.conv2d(x[..., narrow].copy(), w, padding=1, relu=True).get()
    y = ng.conv2d(x[..., narrow], w, padding=1, relu=True, out=joined[..., part])
    np.testing.assert_array_equal(y.get(), expected)
    host[..., part] = expected
    np.testing.assert_array_equal(joined.get(), host)

    dense = error[..., part].copy()
    dx = numbers(2, 5, 6, 40)
    host = dx.get()
    host[..., narrow] += ng.conv2d_bprop(dense, w, (2, 5, 6, 16), padding=1).get()
    ng.conv2d_bprop(error[..., part], w, (2, 5, 6, 16), padding=1, beta=1.0, out=dx[..., narrow])
    np.testing.assert_array_equal(dx.get(), host)
    dw = ng.conv2d_update(error[..., part], x[..., narrow], w.shape, padding=1)
    np.testing.assert_array_equal(dw.get(), ng.conv2d_update(dense, x[..., narrow].copy(), w.shape, padding=1).get())
    with pytest.raises(ValueError, match="x has strides .* or a slice of the last axis"):
        ng.conv2d(x[..., ::2][..., :16], w, padding=1)
    with pytest.raises(ValueError, match="y shares memory with x"):
        ng.conv2d(joined[..., :16], w, padding=1, out=joined[..., 8:40])
