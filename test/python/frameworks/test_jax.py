"""nervanagpu.jax: operations, gradients, jit and vmap beside JAX's own, on the CPU by the emulator or on the GPU."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from source_tree import ROOT

jax: Any = pytest.importorskip("jax", reason="needs JAX (make test-jax installs it)")

import nervanagpu.jax as ngj  # noqa: E402

jnp, lax = jax.numpy, jax.lax
DEVICE = jax.devices("gpu" if ng.device().kind == "cuda" else "cpu")[0]
DTYPES = ("float32", "float16", "bfloat16")
BOUND = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
KINDS = {1: ("NWC", "CWN", "NCW"), 2: ("NHWC", "CHWN", "NCHW"), 3: ("NDHWC", "CDHWN", "NCDHW")}


@pytest.fixture(autouse=True)
def _here() -> Iterator[None]:
    with jax.default_device(DEVICE), jax.default_matmul_precision("highest"):
        yield


def rand(*shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    numbers = np.random.default_rng([*shape, seed]).standard_normal(shape) * 0.5
    return jnp.asarray(numbers, dtype)


def close(got: Any, want: Any, bound: float | None = None) -> None:
    """One shape and dtype, and elements within a bound of the largest; NaN is never close."""
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    a, b = np.asarray(got, np.float64), np.asarray(want, np.float64)
    if a.size:
        assert np.abs(a - b).max() <= (BOUND[str(got.dtype)] if bound is None else bound) * max(1.0, np.abs(b).max())


def ran(name: str, function: Callable[[], Any], times: int | None = None) -> Any:
    """What the function returns, if our kernels made it: so often, or at least once."""
    before = ngj.calls()[name]
    out = jax.block_until_ready(function())
    more = ngj.calls()[name] - before
    assert more > 0 if times is None else more == times
    return out


def in_float32(function: Callable[..., Any], *operands: Any) -> Any:
    """function in float32, the result as the operands: as sums of 16-bit floats are to be."""
    y = function(*(x.astype(jnp.float32) for x in operands))
    return jax.tree.map(lambda t: t.astype(operands[0].dtype), y)


def same_gradients(ours: Callable[..., Any], theirs: Callable[..., Any], *operands: Any) -> None:
    """Results and gradients of both, jitted, for a random gradient of the result."""
    like = jax.eval_shape(ours, *operands)
    grad = rand(*like.shape, dtype=str(like.dtype), seed=9)

    def all_of(f: Any) -> Any:
        y, back = jax.vjp(f, *operands)
        return [y, *back(grad)]

    for a, b in zip(in_one(all_of, ours), in_one(all_of, partial(in_float32, theirs)), strict=True):
        close(a, b)


def in_one(f: Callable[..., Any], *static: Any) -> Any:
    """f(*static), compiled as one program: JAX alone would compile each operation."""
    return jax.jit(lambda: f(*static))()


def same_in_batches(ours: Callable[..., Any], theirs: Callable[..., Any], *operands: Any) -> None:
    """vmap of both over every choice of operands, and their gradients: of the vmap, and the vmap of the gradients."""

    def everything(h: Any, which: Any, batch: Any) -> Any:
        def total(f: Any, *t: Any) -> Any:
            return (f(*t) ** 2).sum()

        every = tuple(range(len(operands)))
        mapped = jax.vmap(h, in_axes=which)
        each = jax.vmap(jax.grad(partial(total, h), every), in_axes=which)
        return [mapped(*batch), *jax.grad(partial(total, mapped), every)(*batch), *each(*batch)]

    for axes in range(1, 1 << len(operands)):
        which = [0 if axes >> i & 1 else None for i in range(len(operands))]
        batch = [jnp.stack([x, x * 0.5, -x]) if w == 0 else x for x, w in zip(operands, which, strict=True)]
        for a, b in zip(*(in_one(everything, h, which, batch) for h in (ours, theirs)), strict=True):
            close(a, b, 1e-4)
    twice = [jnp.stack([jnp.stack([x, -x, x * 2]), jnp.stack([x * 3, x, x])]) for x in operands]
    got, want = (in_one(lambda h: jax.vmap(jax.vmap(h))(*twice), h) for h in (ours, theirs))
    close(got, want, 1e-4)


# --- products ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m, k, n", [(5, 7, 3), (33, 64, 40), (1, 1, 1), (17, 130, 1)])
def test_matmul(dtype: str, m: int, k: int, n: int) -> None:
    a, b = rand(m, k, dtype=dtype), rand(k, n, dtype=dtype)
    ran("gemm", lambda: ngj.matmul(a, b), 1)
    same_gradients(ngj.matmul, jnp.matmul, a, b)
    for ta in (False, True):
        for tb in (False, True):
            ours = partial(ngj.matmul, transpose_a=ta, transpose_b=tb)
            same_gradients(
                ours,
                lambda x, y, ta=ta, tb=tb: (x.swapaxes(-1, -2) if ta else x) @ (y.swapaxes(-1, -2) if tb else y),
                a.T if ta else a,
                b.T if tb else b,
            )


@pytest.mark.parametrize(
    "left, right",
    [
        ((4, 5, 7), (4, 7, 3)),
        ((4, 5, 7), (7, 3)),
        ((5, 7), (4, 7, 3)),
        ((2, 1, 5, 7), (3, 7, 3)),
        ((1, 5, 7), (6, 7, 2)),
        ((7,), (7,)),
        ((5, 7), (7,)),
        ((7,), (2, 7, 3)),
        ((2, 3, 4, 5, 7), (1, 3, 1, 7, 2)),
    ],
)
def test_batches(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    same_gradients(ngj.matmul, jnp.matmul, rand(*left), rand(*right, seed=1))
    if min(len(left), len(right)) > 1:
        ours = partial(ngj.matmul, transpose_a=True, transpose_b=True)
        a, b = rand(*left[:-2], left[-1], left[-2]), rand(*right[:-2], right[-1], right[-2])
        same_gradients(ours, lambda x, y: x.swapaxes(-1, -2) @ y.swapaxes(-1, -2), a, b)


@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("tb", [False, True])
def test_vmap_of_matmul(ta: bool, tb: bool) -> None:
    a, b = rand(*((7, 5) if ta else (5, 7))), rand(*((3, 7) if tb else (7, 3)))
    ours = partial(ngj.matmul, transpose_a=ta, transpose_b=tb)

    def theirs(x: Any, y: Any) -> Any:
        return (x.swapaxes(-1, -2) if ta else x) @ (y.swapaxes(-1, -2) if tb else y)

    same_in_batches(ours, theirs, a, b)
    same_in_batches(ours, theirs, jnp.stack([a, 2 * a]), jnp.stack([b, -b]))
    same_in_batches(ours, theirs, a[None], jnp.stack([b, -b]))


def test_a_batch_is_one_call() -> None:
    a, b = rand(6, 5, 7), rand(6, 7, 3)
    ran("gemm", lambda: jax.vmap(ngj.matmul)(a, b), 1)
    x, w = rand(6, 7), rand(7, 3)
    ran("gemm", lambda: jax.vmap(partial(ngj.linear, w=w))(x), 1)
    images, kernel = rand(6, 1, 8, 8, 3), rand(4, 3, 3, 3)
    ran("conv", lambda: jax.vmap(ngj.conv2d, in_axes=(0, None))(images, kernel), 1)
    ran("pool", lambda: jax.vmap(partial(ngj.max_pool2d, window=2))(images), 1)


def test_second_gradients() -> None:
    a, b = rand(5, 7), rand(7, 3)

    def norm(f: Any, x: Any, y: Any) -> Any:
        g = jax.grad(lambda s, t: (f(s, t) ** 3).sum(), (0, 1))(x, y)
        return (g[0] ** 2).sum() + (g[1] ** 2).sum()

    for f, g, x, y in (
        (ngj.matmul, jnp.matmul, a, b),
        (ngj.matmul, jnp.matmul, rand(2, 5, 7), rand(1, 7, 3)),
        (partial(ngj.linear, activation="gelu"), lambda s, t: jax.nn.gelu(s @ t, approximate=False), a, b),
        (ngj.conv2d, theirs_conv(2, "NHWC"), rand(2, 6, 5, 3), rand(4, 3, 2, 3)),
        *(
            (
                partial(ngj.conv2d, activation=f),
                theirs_conv(2, "NHWC", activation=f),
                rand(1, 5, 4, 2),
                rand(3, 2, 2, 2),
            )
            for f in ("tanh", "silu")
        ),
        (lambda s, t: ngj.grouped_matmul([s], [t])[0], jnp.matmul, a, b),
    ):
        ours, theirs = (in_one(lambda h, x=x, y=y: jax.grad(partial(norm, h), (0, 1))(x, y), h) for h in (f, g))
        for p, q in zip(ours, theirs, strict=True):
            close(p, q, 1e-4)


ACTIVATIONS: dict[str, Any] = {
    "none": lambda x: x,
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "gelu": partial(jax.nn.gelu, approximate=False),
    "gelu_tanh": jax.nn.gelu,
    "silu": jax.nn.silu,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("activation", list(ACTIVATIONS))
def test_linear(dtype: str, activation: str) -> None:
    f = ACTIVATIONS[activation]
    ours = partial(ngj.linear, activation=activation)
    w, bias = rand(7, 10, dtype=dtype), rand(10, dtype=dtype)
    for shape in ((9, 7), (2, 3, 7)):
        x = rand(*shape, dtype=dtype)
        same_gradients(ours, lambda x, w, b: f(x @ w + b), x, w, bias)
        same_gradients(ours, lambda x, w: f(x @ w), x, w)
    ran("gemm", lambda: ours(x, w, bias), 1)
    if dtype == "float32" and activation in ("relu", "gelu"):
        same_in_batches(ours, lambda x, w, b: f(x @ w + b), rand(4, 7), w, bias)


def test_groups() -> None:
    shapes = [(5, 7, 3), (33, 20, 9), (5, 7, 3), (1, 1, 1), (5, 7, 3)]
    for dtype in DTYPES:
        a = [rand(m, k, dtype=dtype, seed=i) for i, (m, k, _) in enumerate(shapes)]
        b = [rand(k, n, dtype=dtype, seed=i) for i, (_, k, n) in enumerate(shapes)]
        out = ran("gemm_grouped", lambda a=a, b=b: jax.jit(ngj.grouped_matmul)(a, b), 1)
        for x, y, z in zip(a, b, out, strict=True):
            close(z, in_float32(jnp.matmul, x, y))

    def ours(x: Any, y: Any) -> Any:
        p, q = ngj.grouped_matmul([x, y], [y, x])
        return p.sum(0) * q.sum()

    def theirs(x: Any, y: Any) -> Any:
        return (x @ y).sum(0) * (y @ x).sum()

    same_gradients(ours, theirs, rand(4, 6), rand(6, 4))
    same_in_batches(ours, theirs, rand(4, 6), rand(6, 4))
    assert ngj.grouped_matmul([], []) == []


@pytest.mark.parametrize("precision", ["strict", "tensor"])
def test_precision(precision: str) -> None:
    a, b = (np.asarray(rand(*shape)) for shape in ((150, 140), (140, 130)))
    x, y = ng.array(a), ng.array(b)
    assert (ngj.matmul(a, b, precision=precision) == ng.dot(x, y, precision=precision).get()).all()
    (group,) = ngj.grouped_matmul([a], [b], precision=precision)
    (want,) = ng.grouped_dot([(x, y)], precision=precision)
    assert (group == want.get()).all()
    images, kernel = rand(4, 16, 16, 64), rand(64, 1, 1, 64)
    with ng.precision(precision):  # what holds where a function is traced
        same = ng.conv2d(ng.array(np.asarray(images)), ng.array(np.asarray(kernel)), layout="NHWC").get()
        assert (ngj.conv2d(images, kernel) == same).all()
    assert (ngj.conv2d(images, kernel, precision=precision) == same).all()


@pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")
def test_tensor_is_not_strict() -> None:
    large = jax.ShapeDtypeStruct((2048, 2048), jnp.float32)
    images, kernel = (jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((4, 56, 56, 256), (384, 1, 1, 256)))
    for function, x, w in ((ngj.matmul, large, large), (ngj.conv2d, images, kernel)):
        for precision, room in (("strict", False), ("tensor", True)):  # for the pieces, which need a workspace
            text = jax.jit(partial(function, precision=precision)).lower(x, w).as_text()
            assert ("tensor<0xui8>" not in text) == room, (function, precision)
    a, b = rand(150, 140), rand(140, 130)
    strict, tensor = (ngj.grouped_matmul([a], [b], precision=p)[0] for p in ("strict", "tensor"))
    assert (strict != tensor).any()
    close(tensor, strict)


# --- convolution ------------------------------------------------------------------------------------------------------


def specs(axes: int, layout: str) -> tuple[str, str, str]:
    space = "DHW"[3 - axes :]
    weight = {"N": f"O{space}I", "C": f"I{space}O"}[layout[0]] if layout[1] != "C" else f"OI{space}"
    return layout, weight, layout


def theirs_conv(axes: int, layout: str, **options: Any) -> Callable[..., Any]:
    def run(x: Any, w: Any, bias: Any = None) -> Any:
        stride, padding = options.get("stride", 1), options.get("padding", 0)
        pairs = padding if not isinstance(padding, int) else [(padding, padding)] * axes
        y = lax.conv_general_dilated(
            x, w, (stride,) * axes, pairs, rhs_dilation=(options.get("dilation", 1),) * axes,
            dimension_numbers=specs(axes, layout), feature_group_count=options.get("groups", 1),
        )  # fmt: skip
        if bias is not None:
            y = y + bias.reshape([-1 if letter == "C" else 1 for letter in layout])
        return ACTIVATIONS["relu" if options.get("relu") else options.get("activation", "none")](y)

    return run


def arranged(x: Any, layout: str, weight: bool = False) -> Any:
    """x (N, C, ...) or w (K, C, ...) in a layout."""
    if layout[1] == "C":
        return x
    order = (1, *range(2, x.ndim), 0) if layout[0] == "C" else (0, *range(2, x.ndim), 1)
    return x.transpose(order)


CONV = {1: ngj.conv1d, 2: ngj.conv2d, 3: ngj.conv3d}
CONV_TRANSPOSE = {1: ngj.conv_transpose1d, 2: ngj.conv_transpose2d, 3: ngj.conv_transpose3d}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"stride": 2, "padding": 1},
    {"dilation": 2, "padding": 2},
    {"groups": 2, "relu": True},
    {"padding": "SAME", "stride": 2},
]


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_convolution(axes: int, options: dict[str, Any]) -> None:
    for layout in KINDS[axes]:
        for dtype in DTYPES if axes == 2 and layout == "NHWC" else ("float32",):
            x = arranged(rand(3, 4, *(7, 6, 5)[:axes], dtype=dtype), layout)
            w = arranged(rand(6, 4 // options.get("groups", 1), *(3, 2, 3)[:axes], dtype=dtype), layout)
            bias = rand(6, dtype=dtype)
            ours = partial(CONV[axes], layout=layout, **options)
            ran("conv", partial(ours, x, w, bias), 1)
            same_gradients(ours, theirs_conv(axes, layout, **options), x, w, bias)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("activation", list(ACTIVATIONS))
def test_convolution_with_activation(dtype: str, activation: str) -> None:
    layouts = {1: ("NWC",), 2: KINDS[2], 3: ("CDHWN",)} if dtype == "float32" else {2: ("NHWC",)}
    for axes, layout in ((axes, layout) for axes, some in layouts.items() for layout in some):
        x = arranged(rand(2, 4, *(7, 6, 5)[:axes], dtype=dtype), layout)
        w = arranged(rand(6, 2, *(3, 2, 3)[:axes], dtype=dtype), layout)
        options: dict[str, Any] = {"stride": 2, "padding": 1, "groups": 2, "activation": activation}
        ours, theirs = partial(CONV[axes], layout=layout, **options), theirs_conv(axes, layout, **options)
        ran("conv", partial(ours, x, w), 1)
        same_gradients(ours, theirs, x, w, rand(6, dtype=dtype))
        same_gradients(ours, theirs, x, w)
        if axes == 2 and layout == "CHWN" and activation in ("sigmoid", "silu"):
            same_in_batches(ours, theirs, x, w, rand(6))


def test_a_convolution_of_no_elements_has_an_activation() -> None:
    for bias in (None, rand(4)):
        shape = (2, 2, 3, 4)
        y = ngj.conv2d(rand(2, 0, 3, 3), rand(4, 3, 3, 3), bias, padding=((2, 2), (1, 1)), activation="sigmoid")
        close(y, jnp.broadcast_to(jax.nn.sigmoid(jnp.zeros(4) if bias is None else bias), shape))


@pytest.mark.parametrize("layout", KINDS[2])
def test_vmap_of_convolution(layout: str) -> None:
    x, w, bias = arranged(rand(2, 3, 6, 5), layout), arranged(rand(4, 3, 3, 2), layout), rand(4)
    more = [bias] if layout == "NHWC" else []
    same_in_batches(partial(ngj.conv2d, layout=layout, relu=True), theirs_conv(2, layout, relu=True), x, w, *more)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_transposed_convolution(axes: int) -> None:
    for layout in KINDS[axes]:
        for options in ({}, {"stride": 2, "padding": 1, "output_padding": 1}, {"dilation": 2, "groups": 2}):
            forth = {key: value for key, value in options.items() if key != "output_padding"}
            w = arranged(rand(6, 4 // options.get("groups", 1), *(3, 2, 3)[:axes]), layout)
            ours = partial(CONV_TRANSPOSE[axes], layout=layout, **options)
            x = arranged(rand(2, 6, *(4, 3, 2)[:axes]), layout)
            shape = jax.eval_shape(ours, x, w)

            def theirs(x: Any, w: Any, b: Any, layout: str = layout, forth: Any = forth, like: Any = shape) -> Any:
                zeros = jnp.zeros(like.shape, like.dtype)
                y = jax.vjp(lambda t: theirs_conv(axes, layout, **forth)(t, w), zeros)[1](x)[0]
                return y + b.reshape([-1 if letter == "C" else 1 for letter in layout])

            same_gradients(ours, theirs, x, w, rand(4))


def test_padding_of_one_side() -> None:
    x, w = rand(2, 6, 5, 3), rand(4, 3, 2, 3)
    for padding in ([(0, 1), (2, 1)], ((1, 1), (0, 0)), "VALID", "SAME"):
        same_gradients(partial(ngj.conv2d, padding=padding), theirs_conv(2, "NHWC", padding=padding), x, w)


# --- pooling ----------------------------------------------------------------------------------------------------------

MAX = {1: ngj.max_pool1d, 2: ngj.max_pool2d, 3: ngj.max_pool3d}
AVG = {1: ngj.avg_pool1d, 2: ngj.avg_pool2d, 3: ngj.avg_pool3d}
L2 = {1: ngj.l2_pool1d, 2: ngj.l2_pool2d, 3: ngj.l2_pool3d}


def theirs_pool(op: str, layout: str, window: int, stride: int, padding: int, count: bool = False) -> Any:
    def over(x: Any, start: Any, what: Any) -> Any:
        size = [1 if letter in "NC" else window for letter in layout]
        step = [1 if letter in "NC" else stride for letter in layout]
        pad = [(0, 0) if letter in "NC" else (padding, padding) for letter in layout]
        return lax.reduce_window(x, start, what, size, step, pad)

    def run(x: Any) -> Any:
        if op == "max":
            return over(x, -jnp.inf, lax.max)
        if op == "l2":
            return jnp.sqrt(over(x * x, 0.0, lax.add))
        every = window ** (len(layout) - 2)
        return over(x, 0.0, lax.add) / (every if count else over(jnp.ones_like(x), 0.0, lax.add))

    return run


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("window, stride, padding", [(2, 2, 0), (3, 2, 1)])
def test_pooling(axes: int, window: int, stride: int, padding: int) -> None:
    numbers = (window, stride, padding)
    for layout in KINDS[axes]:
        for dtype in DTYPES if layout == "NHWC" else ("float32",):
            x = arranged(rand(2, 3, *(7, 6, 5)[:axes], dtype=dtype), layout)
            entries = {"max": MAX, "l2": L2} if dtype == "float32" and padding < 2 else {"max": MAX}
            for op, functions in entries.items():
                same_gradients(partial_pool(functions[axes], numbers, layout), theirs_pool(op, layout, *numbers), x)
            for count in (False, True) if dtype == "float32" else (False,):
                ours = partial_pool(AVG[axes], numbers, layout, count_padding=count)
                same_gradients(ours, theirs_pool("avg", layout, *numbers, count), x)


def partial_pool(function: Any, numbers: tuple[int, int, int], layout: str, **options: Any) -> Any:
    window, stride, padding = numbers
    return partial(function, window=window, stride=stride, padding=padding, layout=layout, **options)


@pytest.mark.parametrize("layout", KINDS[2])
def test_vmap_of_pooling(layout: str) -> None:
    x = arranged(rand(2, 3, 6, 5), layout)
    for op, function in (("max", ngj.max_pool2d), ("avg", ngj.avg_pool2d)):
        same_in_batches(partial_pool(function, (3, 2, 1), layout), theirs_pool(op, layout, 3, 2, 1), x)


def test_second_gradient_of_pooling() -> None:
    x = rand(2, 6, 5, 3)

    def twice(f: Any) -> Any:
        return in_one(lambda: jax.grad(lambda t: (jax.grad(lambda s: (f(s) ** 3).sum())(t) ** 2).sum())(x))

    close(twice(partial(ngj.avg_pool2d, window=2)), twice(theirs_pool("avg", "NHWC", 2, 2, 0)), 1e-4)
    with pytest.raises(NotImplementedError, match="second gradient of max pooling"):
        twice(partial(ngj.max_pool2d, window=2))


def test_largest_padded_on_one_side() -> None:
    x = -1 - jnp.abs(rand(1, 5, 5, 2))  # zeros would win
    got = ngj.max_pool2d(x, 2, padding="SAME")
    close(got, lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"))
    close(ngj.l2_pool2d(x, 2, padding=[(0, 1), (0, 1)]), jnp.sqrt(
        lax.reduce_window(x * x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")))  # fmt: skip


# --- rounding ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype, bits", [("float16", 0), ("bfloat16", 0), ("float16", 3), ("float32", 12)])
def test_stochastic_round(dtype: str, bits: int) -> None:
    x = rand(13, 11)
    round_it = partial(ngj.stochastic_round, dtype=dtype, seed=2**64 - 3, offset=5, bits=bits)
    got = ran("stochastic_round", lambda: jax.jit(round_it)(x), 1)
    want = ng.stochastic_round(ng.array(np.asarray(x)), dtype, seed=2**64 - 3, offset=5, bits=bits)
    assert got.dtype == dtype
    assert (np.asarray(got, np.float32) == np.asarray(want.get(), np.float32)).all()
    assert (jax.vmap(round_it)(x) == got).all()
    assert (got != x.astype(dtype)).any()
    assert (jax.grad(lambda t: (round_it(t).astype(jnp.float32) * x).sum())(x) == x.astype(dtype)).all()
    assert jnp.result_type(jax.grad(lambda t: round_it(t).astype(jnp.float32))(jnp.float32(0.3))) == jnp.float32


# --- special values, empty arrays -------------------------------------------------------------------------------------


def test_special_values() -> None:
    for dtype in DTYPES:
        a = rand(9, 20, dtype=dtype).at[2, 3].set(jnp.nan).at[4, 5].set(jnp.inf).at[5, 6].set(-0.0)
        b = rand(20, 8, dtype=dtype)
        for got, want in (
            (ngj.matmul(a, b), in_float32(jnp.matmul, a, b)),
            (ngj.linear(a, b, activation="relu"), in_float32(lambda s, t: jax.nn.relu(s @ t), a, b)),
            (ngj.conv1d(a[None], b.T[:, None]), in_float32(theirs_conv(1, "NWC"), a[None], b.T[:, None])),
        ):
            for test in (jnp.isnan, jnp.isposinf, jnp.isneginf):
                assert (test(got) == test(want)).all()
        largest = ngj.max_pool1d(a[None], 3)[0]
        assert jnp.isnan(largest[0, 3]) and jnp.isposinf(largest[1, 5]) and int(jnp.isnan(largest).sum()) == 1


def test_empty_arrays() -> None:
    zeros = jnp.zeros
    close(ngj.matmul(zeros((0, 3)), zeros((3, 4))), zeros((0, 4)))
    close(ngj.matmul(zeros((3, 0)), zeros((0, 4))), zeros((3, 4)))
    close(ngj.matmul(zeros((0, 3, 2)), zeros((2, 5))), zeros((0, 3, 5)))
    close(ngj.matmul(zeros((0, 3, 2)), zeros((0, 2, 5))), zeros((0, 3, 5)))
    close(ngj.linear(zeros((3, 0)), zeros((0, 4)), jnp.ones(4)), jnp.ones((3, 4)))
    close(ngj.conv2d(zeros((0, 5, 5, 2)), rand(3, 2, 2, 2), rand(3)), zeros((0, 4, 4, 3)))
    close(ngj.max_pool2d(zeros((0, 4, 4, 2)), 2), zeros((0, 2, 2, 2)))
    close(ngj.stochastic_round(zeros((0, 4)), "float16", 1), zeros((0, 4), jnp.float16))
    close(ngj.grouped_matmul([zeros((0, 3)), rand(2, 3)], [rand(3, 4), rand(3, 1)])[0], zeros((0, 4)))
    same_gradients(ngj.conv2d, theirs_conv(2, "NHWC"), zeros((0, 5, 5, 2)), rand(3, 2, 2, 2))
    w = rand(3, 4)
    for a, f, shape in (
        (zeros((2, 0, 3)), lambda t: ngj.matmul(t, w), (2, 0, 4)),
        (zeros((2, 0, 3)), lambda t: ngj.linear(t, w), (2, 0, 4)),
        (zeros((2, 0, 5, 3)), lambda t: ngj.conv1d(t, w.T[:, None]), (2, 0, 5, 4)),
        (zeros((2, 0, 6, 4)), lambda t: ngj.max_pool1d(t, 2), (2, 0, 3, 4)),
    ):
        close(jax.vmap(f)(a), zeros(shape))


# --- what is refused --------------------------------------------------------------------------------------------------

A, B = np.zeros((5, 7), np.float32), np.zeros((7, 3), np.float32)
X, W = np.zeros((2, 6, 5, 3), np.float32), np.zeros((4, 3, 3, 3), np.float32)
REFUSED: list[tuple[type[Exception], str, Callable[[], Any]]] = [
    (TypeError, "matmul: a is 3; needs an array", lambda: ngj.matmul(3, B)),
    (TypeError, "matmul: b is None; needs an array", lambda: ngj.matmul(A, None)),
    (TypeError, "linear: w is None; needs an array", lambda: ngj.linear(A, None)),
    (TypeError, "conv2d: w is None; needs an array", lambda: ngj.conv2d(X, None)),
    (TypeError, "max_pool2d: x is None; needs an array", lambda: ngj.max_pool2d(None, 2)),
    (TypeError, "matmul: a is list; needs an array", lambda: ngj.matmul([A], B)),
    (TypeError, "b has dtype float64; needs float32, float16 or bfloat16", lambda: ngj.matmul(A, B.astype("d"))),
    (TypeError, "a has dtype int32", lambda: ngj.matmul(jnp.ones((5, 7), "int32"), B)),
    (TypeError, "several dtypes: a float32, b float16", lambda: ngj.matmul(A, B.astype("e"))),
    (ValueError, r"matmul: a \(5, 7\) and b \(5, 7\) cannot be multiplied: 7 is not 5", lambda: ngj.matmul(A, A)),
    (ValueError, r"needs one axis or more", lambda: ngj.matmul(jnp.float32(1), B)),
    (ValueError, "cannot be broadcast", lambda: ngj.matmul(jnp.ones((2, 5, 7)), jnp.ones((3, 7, 1)))),
    (ValueError, "precision is 'quick'; needs strict or tensor", lambda: ngj.matmul(A, B, precision="quick")),
    (TypeError, "transpose_a is 1; needs True or False", lambda: ngj.matmul(A, B, transpose_a=1)),
    (ValueError, r"linear: x is \(5, 6\); needs \(..., 7\)", lambda: ngj.linear(A[:, :6], B)),
    (ValueError, r"linear: w is \(3,\); needs 2 axes", lambda: ngj.linear(A, B[0])),
    (ValueError, r"linear: bias is \(7,\); needs \(3,\)", lambda: ngj.linear(A, B, A[0])),
    (ValueError, "activation is 'elu'", lambda: ngj.linear(A, B, activation="elu")),
    (ValueError, "a has 1 matrices and b 2", lambda: ngj.grouped_matmul([A], [B, B])),
    (ValueError, r"a\[1\] \(5, 7\) and b\[1\] \(5, 7\)", lambda: ngj.grouped_matmul([A, A], [B, A])),
    (TypeError, "a is 3; needs a sequence", lambda: ngj.grouped_matmul(3, [B])),
    (ValueError, r"conv2d: x is \(5, 7\); needs 4 axes", lambda: ngj.conv2d(A, W)),
    (ValueError, "has 2 channels; needs 3", lambda: ngj.conv2d(X[..., :2], W)),
    (ValueError, "has 4 kernels, in 3 groups", lambda: ngj.conv2d(X, W, groups=3)),
    (ValueError, "groups is 0; needs 1 or more", lambda: ngj.conv2d(X, W, groups=0)),
    (ValueError, "stride is 0; needs 1 or more", lambda: ngj.conv2d(X, W, stride=0)),
    (ValueError, "stride has 3 numbers; needs 1 or 2", lambda: ngj.conv2d(X, W, stride=(1, 1, 1))),
    (TypeError, "stride is 1.5; needs an integer", lambda: ngj.conv2d(X, W, stride=1.5)),
    (ValueError, "padding is -1; needs 0 or more", lambda: ngj.conv2d(X, W, padding=-1)),
    (ValueError, "padding is 'FULL'; needs SAME or VALID", lambda: ngj.conv2d(X, W, padding="FULL")),
    (ValueError, "padding has 1 pairs; needs 2", lambda: ngj.conv2d(X, W, padding=[(1, 1)])),
    (ValueError, "less than a window", lambda: ngj.conv2d(X, W, dilation=4)),
    (ValueError, "layout is 'NWC'; needs NHWC, CHWN or NCHW", lambda: ngj.conv2d(X, W, layout="NWC")),
    (ValueError, r"bias is \(3,\); needs \(4,\)", lambda: ngj.conv2d(X, W, B[0])),
    (ValueError, "conv2d: activation is 'clip'; needs none, relu", lambda: ngj.conv2d(X, W, activation="clip")),
    (ValueError, "relu and activation 'tanh'", lambda: ngj.conv2d(X, W, relu=True, activation="tanh")),
    (ValueError, "needs lengths of 1 or more", lambda: ngj.conv2d(X, W[:, :0])),
    (ValueError, "output_padding is .* needs less than the stride",
     lambda: ngj.conv_transpose2d(X, W[:3], output_padding=1)),
    (ValueError, "max_pool2d: window is 0; needs 1 or more", lambda: ngj.max_pool2d(X, 0)),
    (ValueError, "padding is .* needs less than the window", lambda: ngj.max_pool2d(X, 2, padding=2)),
    (ValueError, "less than a window", lambda: ngj.avg_pool2d(X, 9)),
    (ValueError, "as much before as after", lambda: ngj.avg_pool2d(X, 2, padding="SAME", stride=2)),
    (TypeError, "count_padding is 1", lambda: ngj.avg_pool2d(X, 2, count_padding=1)),
    (TypeError, "dtype is float64", lambda: ngj.stochastic_round(A, "float64", 1)),
    (TypeError, "seed is 1.5; needs an integer", lambda: ngj.stochastic_round(A, "float16", 1.5)),
    (ValueError, "seed is -1", lambda: ngj.stochastic_round(A, "float16", -1)),
    (ValueError, "bits is 11; needs 0 to 10", lambda: ngj.stochastic_round(A, "float16", 1, bits=11)),
]  # fmt: skip


@pytest.mark.parametrize("kind, words, function", REFUSED, ids=[words for _, words, _ in REFUSED])
def test_refusals(kind: type[Exception], words: str, function: Callable[[], Any]) -> None:
    with pytest.raises(kind, match=words):
        function()


def test_refused_when_traced() -> None:
    with pytest.raises(ValueError, match="cannot be multiplied"):
        jax.jit(ngj.matmul).lower(A, A)
    with pytest.raises(TypeError, match="dtype int32"):
        jax.eval_shape(ngj.conv2d, jax.ShapeDtypeStruct(X.shape, "int32"), jax.ShapeDtypeStruct(W.shape, "int32"))


def test_a_call_written_by_hand_is_judged_too() -> None:
    def gemm(*operands: Any, shape: Any = (1, 5, 3), room: int = 0, **numbers: Any) -> Any:
        given = dict.fromkeys(("transpose_a", "transpose_b", "sum_batch", "activation", "precision"), np.int64(0))
        results = [jax.ShapeDtypeStruct(shape, jnp.float32), jax.ShapeDtypeStruct((room,), jnp.uint8)]
        return jax.block_until_ready(jax.ffi.ffi_call("nervanagpu_gemm", results)(*operands, **(given | numbers)))[0]

    a, b = rand(1, 5, 7), rand(1, 7, 3)
    close(gemm(a, b), a @ b)
    for words, call in (
        ("needs \\(1, 5, 3\\)", lambda: gemm(a, b, shape=(1, 5, 4))),
        ("cannot be multiplied", lambda: gemm(a, a)),
        ("3 to 3 axes", lambda: gemm(a[0], b)),
        ("several dtypes", lambda: gemm(a, b.astype("float16"))),
        ("XLA's number", lambda: gemm(a, b.astype("int32"))),
        ("1 operands", lambda: gemm(a)),
        ("attribute activation is 300", lambda: gemm(a, b, activation=np.int64(300))),
        ("activation", lambda: gemm(a, b, activation=np.int64(99))),
        ("attribute precision: needs 1", lambda: gemm(a, b, precision=np.float32(1))),
        ("attribute transpose_", lambda: gemm(a, b, transpose_a=np.int64(2))),
        ("bias is \\(4,\\); needs \\(3,\\)", lambda: gemm(a, b, rand(4))),
    ):
        with pytest.raises(Exception, match=words) as caught:
            call()
        assert "nervanagpu.jax: gemm" in str(caught.value)
    close(gemm(a, b), a @ b)


# --- in a program -----------------------------------------------------------------------------------------------------


def test_a_jitted_function_is_traced_once() -> None:
    traces = []

    @jax.jit
    def f(a: Any, b: Any) -> Any:
        traces.append(1)
        return ngj.matmul(a, b)

    a, b = rand(5, 7), rand(7, 3)
    ran("gemm", lambda: [f(a, b), f(2 * a, b), f(a, -b)], 3)
    assert len(traces) == 1
    assert "nervanagpu_gemm" in f.lower(a, b).as_text()


def test_in_control_flow() -> None:
    w = rand(8, 8)

    def ours(x: Any) -> Any:
        return lax.scan(lambda s, _: (ngj.linear(s, w, activation="tanh"), None), x, length=4)[0].sum()

    def theirs(x: Any) -> Any:
        return lax.scan(lambda s, _: (jnp.tanh(s @ w), None), x, length=4)[0].sum()

    x = rand(3, 8)
    for f, g in ((ours, theirs), (jax.checkpoint(ours), theirs)):
        close(jax.grad(f)(x), jax.grad(g)(x), 1e-5)


def test_threads() -> None:
    wrong: list[int] = []
    a = [rand(20 + i, 33) for i in range(4)]
    b = rand(33, 17)
    want = [np.asarray(x @ b) for x in a]
    f = jax.jit(ngj.matmul)

    def work(i: int) -> None:
        with jax.default_device(DEVICE):
            for _ in range(20):
                if not np.abs(f(a[i], b) - want[i]).max() <= 1e-4:
                    wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def network(conv: Any, pool: Any, linear: Any, parameters: Any, x: Any) -> Any:
    h = pool(conv(x, parameters[0], parameters[1]))
    h = conv(h, parameters[2], parameters[3]).reshape(x.shape[0], -1)
    return linear(linear(h, parameters[4], parameters[5], "relu"), parameters[6], parameters[7], "none")


@pytest.mark.parametrize("dtype", DTYPES)
def test_training(dtype: str) -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 4, 48)
    images = rng.standard_normal((48, 12, 12, 3)) + labels[:, None, None, None] * np.array([0.3, -0.2, 0.1])
    x = jnp.asarray(images, dtype)
    shapes = [(8, 3, 3, 3), (8,), (12, 3, 3, 8), (12,), (3 * 3 * 12, 20), (20,), (20, 4), (4,)]
    start = [jnp.asarray(rng.standard_normal(s) * 0.15, dtype) for s in shapes]

    def layer(h: Any, w: Any, b: Any, activation: str) -> Any:
        return in_float32(lambda s, t, u: ACTIVATIONS[activation](s @ t + u), h, w, b)

    def convolution(h: Any, w: Any, b: Any) -> Any:
        return in_float32(theirs_conv(2, "NHWC", relu=True), h, w, b)

    def pool(h: Any) -> Any:
        return in_float32(theirs_pool("max", "NHWC", 2, 2, 0), h)

    nets = {
        "ours": partial(
            network, partial(ngj.conv2d, relu=True), partial(ngj.max_pool2d, window=2),
            lambda h, w, b, f: ngj.linear(h, w, b, activation=f),
        ),
        "theirs": partial(network, convolution, pool, layer),
    }  # fmt: skip

    def losses(net: Any) -> list[float]:
        def loss(parameters: Any) -> Any:
            scores = jax.nn.log_softmax(net(parameters, x).astype(jnp.float32))
            return -jnp.take_along_axis(scores, jnp.asarray(labels)[:, None], 1).mean()

        @jax.jit
        def step(parameters: Any) -> Any:
            value, grads = jax.value_and_grad(loss)(parameters)
            return value, jax.tree.map(
                lambda p, g: (p - 0.02 * g.astype(jnp.float32)).astype(p.dtype), parameters, grads
            )

        out, parameters = [], start
        for _ in range(12):
            value, parameters = step(parameters)
            out.append(float(value))
        return out

    before = ngj.calls()
    ours = losses(nets["ours"])
    more = {name: n - before[name] for name, n in ngj.calls().items()}
    # Two layers forth and twice back, two convolutions, the first of which has no gradient of x. On a GPU XLA may put
    # calls into a CUDA graph, which is recorded once and replayed.
    most = {"gemm": 12 * 6, "conv": 12 * 5, "pool": 12, "pool_gradient": 12}
    least = most if jax.default_backend() == "cpu" else {name: n // 12 for name, n in most.items()}
    assert all(least[name] <= more[name] <= most[name] for name in most), more
    theirs = losses(nets["theirs"])
    assert min(ours[-3:]) < ours[0]
    assert np.abs(np.subtract(ours, theirs)).max() <= {"float32": 1e-4, "float16": 2e-2, "bfloat16": 8e-2}[dtype]


def test_parts_of_arrays_on_two_devices(python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """In a shard_map, where what is the same on all devices has the sum of their gradients."""
    program = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax, jax.numpy as jnp, numpy as np, nervanagpu.jax as ngj
jax.config.update("jax_platforms", "cpu")
from jax import lax, shard_map
from jax.sharding import AxisType, PartitionSpec as P
mesh = jax.make_mesh((2,), ("n",), axis_types=(AxisType.Auto,))
rand = lambda *s: jnp.asarray(np.random.default_rng(sum(s)).standard_normal(s).astype(np.float32))
on = lambda f: shard_map(f, mesh=mesh, in_specs=(P("n"), P(), P()), out_specs=P("n"))
conv = lambda x, w, b: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "OHWI", "NHWC")) + b
peak = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
pairs = [
    (ngj.linear, lambda x, w, b: x @ w + b, (rand(4, 6), rand(6, 5), rand(5))),
    (lambda x, w, b: ngj.max_pool2d(ngj.conv2d(x, w, b, padding="SAME"), 2), lambda *a: peak(conv(*a)),
     (rand(4, 4, 6, 3), rand(5, 3, 3, 3), rand(5))),
    (lambda x, w, b: lax.scan(lambda s, _: (ngj.matmul(s, w) * b, None), x, length=3)[0],
     lambda x, w, b: lax.scan(lambda s, _: (s @ w * b, None), x, length=3)[0], (rand(4, 6), rand(6, 6), rand(6))),
]
for ours, theirs, operands in pairs:
    loss = lambda f: jax.jit(jax.value_and_grad(lambda *a: (on(f)(*a) ** 2).sum(), (0, 1, 2)))
    for got, want in zip(jax.tree.leaves(loss(ours)(*operands)), jax.tree.leaves(loss(theirs)(*operands)), strict=True):
        print(got.shape == want.shape and bool(jnp.abs(got - want).max() <= 1e-4 * jnp.abs(want).max()))
"""
    done = python(program, device="emulator")
    assert done.stdout == "True\n" * 12, done.stdout + done.stderr


def test_checked_emulator(python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    program = """
import jax, jax.numpy as jnp, nervanagpu.jax as ngj
jax.config.update("jax_platforms", "cpu")
x, w = jnp.ones((2, 7, 5, 3)), jnp.ones((6, 3, 2, 3))
loss = lambda x, w: ngj.max_pool2d(ngj.conv2d(x, w, padding=1, relu=True), 2).sum()
print(float(jax.jit(jax.grad(loss, 1))(x, w).sum()) > 0, ngj.matmul(x[0, 0], w[0, :, 0].T).shape, ngj.calls()["conv"])
"""
    done = python(program, device="emulator", emulator="checked")
    assert done.stdout == "True (5, 3) 2\n", done.stderr


def test_neither_build_nor_import_needs_jax(python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    program = """
import sys
sys.modules["jax"] = None
import nervanagpu
try:
    import nervanagpu.jax
except ImportError as error:
    print(error)
"""
    assert python(program, device="emulator").stdout == "nervanagpu.jax needs JAX: pip install 'nervanagpu[jax]'\n"


def test_the_page() -> None:
    page = (ROOT / "docs/jax.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    blocks = [part.partition("```")[0] for part in page.split("```python\n")[1:]]
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/jax.md", "exec"), names)
    for name in ngj.__all__:
        assert f"`{name}" in page or name[:-2] in page, name


def test_lengths_that_are_no_numbers_are_refused() -> None:
    (n,) = jax.export.symbolic_shape("n")
    with pytest.raises(TypeError, match=r"a is \('n', '7'\), with symbolic lengths; needs numbers"):
        jax.export.export(jax.jit(ngj.matmul))(jax.ShapeDtypeStruct((n, 7), "float32"), B)
