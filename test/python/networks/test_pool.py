"""Pooling from Python: against NumPy in float64, the factory's operations, and refused calls that write nothing."""

from __future__ import annotations

import itertools
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
import pytest

Array = npt.NDArray[Any]
Quad = tuple[int, int, int, int]
OPS = ["max", "avg", "l2"]


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("stream", [False, True])
def test_slices_of_channels(op: str, stream: bool, rng: np.random.Generator) -> None:
    """The bits of copies, whether `out` is given or not; nothing is written beside."""
    wide = ng.array(rng.integers(-4, 5, (2, 7, 6, 40)).astype(np.float32))
    x, geometry = wide[..., 8:24], (3, 2, 1)
    options: dict[str, Any] = {"stream": ng.Stream()} if stream else {}
    fprop, bprop = getattr(ng, f"{op}_pool2d"), getattr(ng, f"{op}_pool2d_bprop")
    y = fprop(x, *geometry, **options)
    ng.synchronize()
    np.testing.assert_array_equal(y.get(), fprop(x.copy(), *geometry).get())
    expected = bprop(y, x.copy(), *geometry).get()
    dx = bprop(y, x, *geometry, **options)
    ng.synchronize()
    np.testing.assert_array_equal(dx.get(), expected)
    around = ng.full((2, 7, 6, 40), 9, np.float32)
    bprop(y, x, *geometry, out=around[..., 8:24], **options)
    ng.synchronize()
    host = around.get()
    np.testing.assert_array_equal(host[..., 8:24], expected)
    assert (host[..., :8] == 9).all() and (host[..., 24:] == 9).all()
    if op == "max":
        codes = ng.max_pool_argmax(x, *geometry)
        fprop(x, *geometry, argmax=codes)
        around.fill(9)
        bprop(y, None, *geometry, argmax=codes, out=around[..., 8:24])
        host[..., 8:24] = expected
        np.testing.assert_array_equal(around.get(), host)
        with pytest.raises(ValueError, match="address of dx is .* needs a multiple of 16"):
            bprop(y, None, *geometry, argmax=codes, out=around[..., 7:23])
    with pytest.raises(ValueError, match="rounded at random and a slice"):
        bprop(y, x, *geometry, out=around[..., 8:24], rounding="stochastic")


def windows(x: Array, window: Quad, stride: Quad, pad: Quad, outside: float) -> Array:
    """x (N, C, D, H, W) -> (N, K, M, P, Q, J, T, R, S): every window, `outside` where nothing is."""
    full = np.pad(x, [(0, 0), *((p, p) for p in pad)], constant_values=outside)
    view = np.lib.stride_tricks.sliding_window_view(full, window, axis=(1, 2, 3, 4))
    return view[:, :: stride[0], :: stride[1], :: stride[2], :: stride[3]]


def pooled(op: str, x: Array, window: Quad, stride: Quad, pad: Quad, count_padding: bool) -> Array:
    """The pooling of x (N, C, D, H, W) in float64."""
    axes = (-4, -3, -2, -1)
    x = x.astype(np.float64)
    if op == "max":
        return np.asarray(windows(x, window, stride, pad, -np.inf).max(axes))
    if op == "l2":
        return np.asarray(np.sqrt((windows(x, window, stride, pad, 0.0) ** 2).sum(axes)))
    inside = windows(np.ones_like(x), window, stride, pad, float(count_padding)).sum(axes)
    return np.asarray(windows(x, window, stride, pad, 0.0).sum(axes) / inside)


def gradient(op: str, dy: Array, x: Array, window: Quad, stride: Quad, pad: Quad, count_padding: bool) -> Array:
    """The gradient with respect to x, window by window in float64."""
    x, dy = x.astype(np.float64), dy.astype(np.float64)
    dx = np.zeros_like(x)
    for n, k, m, p, q in np.ndindex(*dy.shape):
        begin = [o * s - e for o, s, e in zip((k, m, p, q), stride, pad, strict=True)]
        cut = tuple(slice(max(b, 0), b + w) for b, w in zip(begin, window, strict=True))
        part, g = x[(n, *cut)], dy[n, k, m, p, q]
        into = dx[(n, *cut)]
        if op == "max":
            into[np.unravel_index(np.argmax(part), part.shape)] += g
        elif op == "avg":
            into += g / (np.prod(window) if count_padding else part.size)
        elif (part != 0).any():
            into += g * part / np.sqrt((part**2).sum())
    return dx


def laid_out(a: Array, layout: str) -> Array:
    """(N, C, D, H, W) in `layout`; axes that it does not have are of length 1."""
    a = np.ascontiguousarray(a.transpose(["NCDHW".index(letter) for letter in layout if letter in "NCDHW"] + [
        i for i, letter in enumerate("NCDHW") if letter not in layout
    ]))  # fmt: skip
    return a.reshape(a.shape[: len(layout)])


CASES: list[tuple[str, tuple[int, ...], Quad, Quad, Quad]] = [
    # letters, (N, C, D, H, W), window, stride, padding
    ("NHWC CHWN NCHW", (2, 8, 1, 6, 6), (1, 1, 2, 2), (1, 1, 2, 2), (0, 0, 0, 0)),
    ("NHWC CHWN NCHW", (8, 3, 1, 7, 9), (1, 1, 3, 3), (1, 1, 2, 2), (0, 0, 1, 1)),
    ("NHWC CHWN NCHW", (1, 5, 1, 5, 4), (1, 1, 3, 3), (1, 1, 1, 1), (0, 0, 1, 1)),
    ("NWC CWN NCW", (3, 4, 1, 1, 11), (1, 1, 1, 3), (1, 1, 1, 2), (0, 0, 0, 1)),
    ("NDHWC CDHWN NCDHW", (2, 7, 3, 4, 5), (3, 2, 2, 3), (2, 1, 2, 1), (1, 1, 0, 2)),
    ("NDHWC CDHWN NCDHW", (1, 1, 1, 2, 2), (1, 1, 4, 3), (1, 1, 3, 5), (0, 0, 3, 2)),
]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("op", OPS)
def test_against_numpy(op: str, dtype: str, rng: np.random.Generator) -> None:
    for (layouts, shape, window, stride, pad), count_padding in itertools.product(CASES, (False, True)):
        x = rng.integers(-3, 4, shape).astype(np.float32)
        want = pooled(op, x, window, stride, pad, count_padding)
        dy = rng.integers(-3, 4, want.shape).astype(np.float32)
        want_dx = gradient(op, dy, x, window, stride, pad, count_padding)
        for layout in layouts.split():
            a, b = ng.array(laid_out(x, layout), dtype=dtype), ng.array(laid_out(dy, layout), dtype=dtype)
            options: dict[str, Any] = {"layout": layout, "count_padding": count_padding}
            y = ng.pool(a, op, window, stride, pad, **options)
            dx = ng.pool_bprop(b, a, op, window, stride, pad, **options)
            assert y.dtype == dx.dtype == a.dtype
            for got, exact in ((y, want), (dx, want_dx)):
                exact, found = laid_out(exact, layout), got.get().astype(np.float64)
                if op == "max":
                    np.testing.assert_array_equal(found, exact)
                else:
                    unit = {"float32": 2.0**-21, "float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype]
                    np.testing.assert_allclose(found, exact, rtol=2 * unit, atol=1e-6 if dtype == "float32" else 1e-3)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("op", OPS)
def test_functions_of_one_to_three_dimensions(op: str, axes: int, rng: np.random.Generator) -> None:
    layout = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[axes]
    shape = (2, *((6,) * axes), 4)
    x = ng.array(rng.standard_normal(shape), dtype="float32")
    pool, back = getattr(ng, f"{op}_pool{axes}d"), getattr(ng, f"{op}_pool{axes}d_bprop")
    window = (1,) * (4 - axes) + (3,) * axes
    for stride, padding in ((None, 0), (2, 1), ((1,) * axes, (1,) * axes)):
        one = lambda v, fill: (fill,) * (4 - axes) + ((v,) * axes if isinstance(v, int) else v)  # noqa: E731
        step = window if stride is None else one(stride, 1)
        y = pool(x, 3, stride, padding)
        np.testing.assert_array_equal(y.get(), ng.pool(x, op, window, step, one(padding, 0), layout=layout).get())
        dx = back(y, x, (3,) * axes, stride, padding)
        want = ng.pool_bprop(y, x, op, window, step, one(padding, 0), layout=layout)
        np.testing.assert_array_equal(dx.get(), want.get())


def test_ties_nan_and_infinities() -> None:
    x = np.array([[1, 1, -np.inf, -np.inf], [1, 1, -np.inf, -np.inf], [np.nan, 2, 0, -0.0], [3, np.nan, -0.0, 0]])
    t = ng.array(x[None, :, :, None], dtype="float32")
    y = ng.max_pool2d(t, 2).get()[0, :, :, 0]
    np.testing.assert_array_equal(y, [[1, -np.inf], [np.nan, 0]])
    dx = ng.max_pool2d_bprop(ng.ones((1, 2, 2, 1), "float32"), t, 2).get()[0, :, :, 0]
    np.testing.assert_array_equal(dx, [[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]])
    overlapping = ng.max_pool2d_bprop(ng.ones((1, 3, 3, 1), "float32"), t, 2, 1).get()[0, :, :, 0]
    np.testing.assert_array_equal(overlapping, [[1, 1, 1, 0], [0, 0, 0, 0], [2, 1, 2, 0], [0, 1, 0, 0]])


def test_max_whose_gradient_reads_no_x(rng: np.random.Generator) -> None:
    windows_of = [(2, 2, 0), (3, 1, 1), (3, 2, 1), (3, 2, 0), (4, 3, 2), (5, 1, 4)]
    for (window, stride, padding), layout, dtype, n, c in itertools.product(
        windows_of, ("NHWC", "CHWN", "NCHW"), ("float32", "float16"), (1, 8), (5, 16)
    ):
        pixels = rng.integers(-3, 4, (n, c, 1, 6, 5)).astype(np.float32)
        x = ng.array(laid_out(pixels, layout), dtype=dtype)
        codes = ng.max_pool_argmax(x, window, stride, padding, layout)
        y = ng.max_pool2d(x, window, stride, padding, layout, argmax=codes)
        how = ((1, 1, window, window), (1, 1, stride, stride), (0, 0, padding, padding), False)
        want = pooled("max", pixels, *how)
        np.testing.assert_array_equal(y.get(), laid_out(want, layout))
        grad = rng.integers(-3, 4, want.shape).astype(np.float32)
        want_dx = gradient("max", grad, pixels, *how)
        dy = ng.array(laid_out(grad, layout), dtype=dtype)
        like = ng.empty(x.shape, dtype)  # gives its shape alone
        dx = ng.max_pool2d_bprop(dy, like, window, stride, padding, layout, argmax=codes)
        np.testing.assert_array_equal(dx.get(), laid_out(want_dx, layout))
        # In front of a relu that made x; x itself may be gone.
        ng.max_pool2d(x, window, stride, padding, layout, argmax=codes, relu=True, out=y)
        del x
        assert ng.max_pool2d_bprop(dy, None, window, stride, padding, layout, argmax=codes, out=like) is like
        np.testing.assert_array_equal(like.get(), laid_out(np.where(pixels > 0, want_dx, 0), layout))


def test_argmax_of_one_and_three_dimensions_and_by_pool(rng: np.random.Generator) -> None:
    for axes, layout in ((1, "NWC"), (3, "NDHWC")):
        x = ng.array(rng.standard_normal((2, *((6,) * axes), 8)), dtype="float16")
        forward, back = getattr(ng, f"max_pool{axes}d"), getattr(ng, f"max_pool{axes}d_bprop")
        codes = ng.max_pool_argmax(x, 2, 1, 1, layout)
        y = forward(x, 2, 1, 1, argmax=codes)
        np.testing.assert_array_equal(back(y, x, 2, 1, 1, argmax=codes).get(), back(y, x, 2, 1, 1).get())
        window = (1,) * (4 - axes) + (2,) * axes
        ones, pad = (1,) * 4, (0,) * (4 - axes) + (1,) * axes
        again = ng.empty(codes.shape, "uint8")
        ng.pool(x, "max", window, ones, pad, layout, argmax=again)
        np.testing.assert_array_equal(again.get(), codes.get())
        dx = ng.pool_bprop(y, x, "max", window, ones, pad, layout, argmax=again)
        np.testing.assert_array_equal(dx.get(), back(y, x, 2, 1, 1).get())


def test_argmax_that_is_refused() -> None:
    x = ng.ones((2, 4, 4, 8), "float16")
    codes = ng.max_pool_argmax(x, 2)
    assert codes.dtype == np.uint8 and codes.shape == (2 * 2 * 2 * 8 // 2,)
    assert ng.max_pool_argmax(ng.ones((2, 4, 4, 3), "float16"), 2).shape == (2 * 2 * 2 * 3,)
    y = ng.max_pool2d(x, 2)
    with pytest.raises(ValueError, match=r"pool: argmax has shape \(64,\); needs \(32,\)"):
        ng.max_pool2d(x, 2, argmax=ng.empty((64,), "uint8"))
    with pytest.raises(TypeError, match="pool: argmax has dtype int8; needs uint8"):
        ng.max_pool2d_bprop(y, x, 2, argmax=ng.empty((32,), "int8"))
    with pytest.raises(ValueError, match="pool: argmax is given; needs op max"):
        ng.pool(x, "avg", (1, 1, 2, 2), layout="NHWC", argmax=codes)
    with pytest.raises(ValueError, match="relu is given without argmax; needs max_pool_fprop"):
        ng.max_pool2d(x, 2, relu=True)
    with pytest.raises(ValueError, match="neither x nor out is given; needs one that has the gradient's shape"):
        ng.max_pool2d_bprop(y, None, 2, argmax=codes)
    with pytest.raises(TypeError, match="max_pool2d_bprop: x is None; needs GPUTensor"):
        ng.max_pool2d_bprop(y, None, 2)
    with pytest.raises(TypeError, match="max_pool2d: relu is 1; needs True or False"):
        ng.max_pool2d(x, 2, argmax=codes, relu=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_pool_argmax: layout is NC; needs 3 to 5 letters"):
        ng.max_pool_argmax(x, 2, layout="NC")


def test_l2_is_flat_at_zero() -> None:
    x = ng.zeros((1, 4, 4, 3), "float32")
    np.testing.assert_array_equal(ng.l2_pool2d(x, 2).get(), np.zeros((1, 2, 2, 3)))
    np.testing.assert_array_equal(ng.l2_pool2d_bprop(ng.ones((1, 2, 2, 3), "float32"), x, 2).get(), np.zeros(x.shape))


def test_alpha_beta_out_and_rounding(rng: np.random.Generator) -> None:
    x = ng.array(rng.integers(-9, 9, (2, 6, 6, 4)), dtype="float32")
    plain = ng.avg_pool2d(x, 3).get()
    out = ng.ones(plain.shape, "float32")
    assert ng.avg_pool2d(x, 3, out=out, alpha=2.0, beta=3.0) is out
    np.testing.assert_array_equal(out.get(), 2 * plain + 3)
    some = [ng.avg_pool2d(x, 3, rounding="stochastic", seed=s, bits=3).get() for s in (1, 1, 2)]
    np.testing.assert_array_equal(some[0], some[1])
    assert (some[0] != some[2]).any()
    assert np.abs(some[0] - plain).max() <= np.abs(plain).max() / 8
    stream = ng.Stream()
    y = ng.avg_pool2d(x, 3, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(y.get(), plain)


def test_the_factory(rng: np.random.Generator) -> None:
    gpu = ng.NervanaGPU(default_dtype=np.float32)
    layer = gpu.pool_layer(np.float32, "max", 8, 6, D=2, H=5, W=5, J=2, R=3, S=3, pad_h=1, pad_w=1, str_h=2, str_w=2)
    assert layer.strides == (2, 1, 2, 2) and layer.dimI == (6, 2, 5, 5, 8) and layer.dimO == (3, 2, 3, 3, 8)
    assert layer.sizeI == 6 * 2 * 25 * 8 and layer.nOut == 3 * 2 * 9
    x = rng.integers(-4, 5, layer.dimI).astype(np.float32)
    dy = rng.integers(-4, 5, layer.dimO).astype(np.float32)
    I, O = gpu.array(x), gpu.empty(layer.dimO2)  # noqa: E741
    assert gpu.fprop_pool(layer, I, O) == (0.0, 0.0)
    how: tuple[Quad, Quad, Quad, bool] = (layer.JTRS, layer.strides, layer.padding, False)
    first = x.transpose(4, 0, 1, 2, 3)
    np.testing.assert_array_equal(O.get().reshape(layer.dimO).transpose(4, 0, 1, 2, 3), pooled("max", first, *how))
    grad = gpu.empty(layer.dimI)
    gpu.bprop_pool(layer, I, gpu.array(dy), grad, repeat=2)
    want = gradient("max", dy.transpose(4, 0, 1, 2, 3), first, *how)
    np.testing.assert_array_equal(grad.get().transpose(4, 0, 1, 2, 3), want)
    flat = gpu.pool_layer(np.float32, "max", 8, 6, H=5, W=5, R=3, S=3, pad_h=1, pad_w=1, str_h=2, str_w=2)
    images = gpu.array(rng.integers(-4, 5, flat.dimI).astype(np.float32))
    outputs, grads = gpu.empty(flat.dimO), [gpu.empty(flat.dimI) for _ in range(2)]
    codes = ng.max_pool_argmax(images, (1, 3, 3), (1, 2, 2), (0, 1, 1), "CDHWN")
    gpu.fprop_pool(flat, images, outputs, argmax=codes)
    gpu.bprop_pool(flat, images, outputs, grads[0])
    gpu.bprop_pool(flat, grads[1], outputs, grads[1], argmax=codes)
    np.testing.assert_array_equal(grads[1].get(), grads[0].get())
    with pytest.raises(ValueError, match="pool_layer: op is 'mean'; needs"):
        gpu.pool_layer(np.float32, "mean", 1, 1)
    with pytest.raises(ValueError, match="the output is 1 x 1 x 0 x 1"):
        gpu.pool_layer(np.float32, "max", 1, 1, R=3)
    noisy = ng.NervanaGPU(stochastic_round=True, seed=3)
    half = noisy.array(rng.standard_normal((4, 1, 6, 6, 8)), dtype=np.float16)
    means = noisy.pool_layer(np.float16, "avg", 8, 4, H=6, W=6, R=3, S=3)
    outs = [noisy.empty(means.dimO, np.float16) for _ in range(2)]
    for o in outs:
        noisy.fprop_pool(means, half, o)
    assert (outs[0].get() != outs[1].get()).any()


def test_refused_calls_write_nothing(rng: np.random.Generator) -> None:
    x = ng.array(rng.standard_normal((2, 4, 4, 3)), dtype="float32")
    out = ng.full((2, 2, 2, 3), 7.0, "float32")
    small = ng.empty((2, 2, 2, 2), "float32")

    def refuse(kind: type[Exception], text: str, **changes: Any) -> None:
        arguments: dict[str, Any] = {"x": x, "window": 2, "out": out, **changes}
        with pytest.raises(kind) as caught:
            ng.max_pool2d(**arguments)
        assert text in str(caught.value)

    refuse(ValueError, "padding (height) is 2; needs 0 or more and less than the window, 2", padding=2)
    refuse(ValueError, "pool: stride (height) is 0; needs 1 or more and less than 2^31", stride=0)
    refuse(ValueError, "pool: window (width) is -1; needs 1 or more and less than 2^31", window=(2, -1))
    refuse(
        ValueError, "the output is empty (height): input length 4 + 2 * padding 0 is less than the window, 5", window=5
    )
    refuse(ValueError, "max_pool2d: window has 3 numbers; needs 1 or 2", window=(1, 2, 2))
    refuse(ValueError, "max_pool2d: layout is NDHWC; needs one of 4 letters", layout="NDHWC")
    refuse(ValueError, 'layout is "NCWH"; needs NWC, NHWC, NDHWC, CWN, CHWN, CDHWN, NCW, NCHW or NCDHW', layout="NCWH")
    refuse(ValueError, "pool: y has shape (2, 2, 2, 2); needs (2, 2, 2, 3)", out=small)
    refuse(ValueError, "pool: y shares memory with x; needs memory of its own", out=x, window=1)
    refuse(ValueError, "rounding bits is 16; needs 1 to 15 for float32, or 0", rounding="stochastic", bits=16)
    refuse(TypeError, "pool: y has dtype float16; needs float32", out=ng.empty(out.shape, "float16"))
    refuse(TypeError, "pool: dtype is int32; needs float32, float16 or bfloat16", x=ng.zeros((2, 4, 4, 3), "int32"))
    refuse(TypeError, "max_pool2d: x is ndarray; needs GPUTensor (nervanagpu.array makes one)", x=x.get())
    refuse(TypeError, "max_pool2d: window is 2.0; needs an integer", window=2.0)
    every_second = ng.zeros((2, 4, 4, 3), "float32")[:, ::2]
    refuse(ValueError, "x has strides (48, 24, 3, 1); needs contiguous memory (copy()", x=every_second, window=(1, 2))
    with pytest.raises(ValueError, match="beta is 1.0* but there is no out to read"):
        ng.max_pool2d(x, 2, beta=1.0)
    with pytest.raises(ValueError, match=r"stride is 2; needs 4 numbers \(feature maps, depth, height, width\)"):
        ng.pool(x, "max", (1, 1, 2, 2), 2, layout="NHWC")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='op is "min"; needs max, avg or l2'):
        ng.pool(x, "min", (1, 1, 2, 2), layout="NHWC")
    with pytest.raises(ValueError, match=r"pool: dy has shape \(2, 2, 2, 2\); needs \(2, 2, 2, 3\)"):
        ng.max_pool2d_bprop(small, x, 2)
    np.testing.assert_array_equal(out.get(), np.full(out.shape, 7.0))
