"""The library of 2015, member by member: the factory, its methods and the tensor's, with their arguments and results.

ARGUMENTS lists every public name; a name without a check below fails, and so does a check that NumPy contradicts.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import NervanaGPU

WINDOW = "pad_j pad_d pad_h pad_w str_j str_d str_h str_w"
ARGUMENTS = {
    "empty": "shape dtype name allocator", "zeros": "shape dtype name allocator", "ones": "shape dtype name allocator",
    "array": "ary dtype name allocator", "empty_like": "name", "zeros_like": "name",
    "conv_layer": "dtype N C K D H W T R S pad_d pad_h pad_w str_d str_h str_w grid_P grid_Q update_size",
    "deconv_layer": "dtype N C K P Q R S pad_d pad_h pad_w str_d str_h str_w grid_P grid_Q update_size",
    "pool_layer": f"dtype op N C D H W J T R S {WINDOW}",
    "fprop_conv": "layer I F O alpha relu repeat", "bprop_conv": "layer F E grad_I alpha repeat",
    "update_conv": "layer I E grad_F alpha repeat",
    "fprop_pool": "layer I O repeat", "bprop_pool": "layer I E grad_I repeat",
    "dot": "A B C alpha beta relu repeat size", "batched_dot": "A B C alpha beta relu repeat size",
    "compensated_sum": "sum_tensor cmp_tensor add_tensor cmp_scale add_scale",
    "rand": "", "dropout": "keep", "take": "a indices axis out", "onehot": "axis out", "clip": "a a_min a_max out",
    **dict.fromkeys("argmax argmin".split(), "a axis out keepdims"),
    **dict.fromkeys("sum max min mean var std".split(), "a axis partial out keepdims"),
    **dict.fromkeys(
        "reciprocal negative sgn absolute fabs sqrt square exp exp2 log log2 sig sig2 tanh tanh2 finite".split(),
        "a out",
    ),
    **dict.fromkeys(
        "add subtract multiply divide true_divide power equal not_equal less less_equal greater greater_equal "
        "maximum minimum".split(),
        "a b out",
    ),
}  # fmt: skip

FIELDS = (
    "backend base shape strides size dtype nbytes allocator take_array is_trans name rounding kahan_count kahan_reset "
    "gpudata ptr T"
).split()
METHODS = {  # reshape takes a shape, or its lengths
    "set": "value device", "get": "stream", "asnumpyarray": "", "asbuffer": "", "copy_from": "source",
    "reshape": "", "share": "shape dtype", "transpose": "out", "fill": "value", "copy": "",
}  # fmt: skip

Gpu = NervanaGPU
Host = np.ndarray


@pytest.fixture
def gpu() -> Gpu:
    return NervanaGPU(default_dtype=np.float32)


def parameters(function: Callable[..., object]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:  # pybind11's: "get(self: ..., stream: object = None) -> ..."
        text = (function.__doc__ or "").split("->")[0]
        return [part.split(":")[0].strip(" *") for part in text.split("(", 1)[1].split(",")]


def test_every_name_with_its_arguments():
    for name, wanted in ARGUMENTS.items():
        found = parameters(getattr(NervanaGPU, name))
        assert set(wanted.split()) <= set(found), f"{name}: {found}"
    for name, wanted in METHODS.items():
        found = parameters(getattr(ng.GPUTensor, name))
        assert set(wanted.split()) <= set(found), f"{name}: {found}"
    tensor = NervanaGPU().zeros((2, 3))
    assert all(hasattr(tensor, name) for name in FIELDS)
    for wanted in "stochastic_round bench cubin_path scratch_size default_dtype".split():
        assert wanted in inspect.signature(NervanaGPU).parameters
    untested = ARGUMENTS.keys() - {name.removeprefix("check_") for name in globals() if name.startswith("check_")}
    assert not untested - {*ELEMENTWISE, *REDUCTIONS}, untested


sig = lambda a: 1 / (1 + np.exp(-a))  # noqa: E731
ELEMENTWISE: dict[str, Callable[..., Host]] = {
    "reciprocal": lambda a: 1 / a, "negative": np.negative, "sgn": np.sign, "absolute": np.abs, "fabs": np.fabs,
    "sqrt": np.sqrt, "square": np.square, "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sig": sig,
    "sig2": lambda a: 1 / (1 + 2.0**-a), "tanh": np.tanh, "tanh2": lambda a: np.tanh(a * np.log(2)),
    "finite": np.isfinite, "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "true_divide": np.true_divide, "power": np.power, "equal": np.equal, "not_equal": np.not_equal, "less": np.less,
    "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal, "maximum": np.maximum,
    "minimum": np.minimum,
}  # fmt: skip
REDUCTIONS = {name: getattr(np, name) for name in "sum max min mean var std argmax argmin".split()}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(gpu, rng, name):
    a, b = (rng.uniform(0.25, 2, (6, 9)).astype(np.float32) for _ in range(2))
    b[0] = a[0]
    if name in ("sgn", "absolute", "fabs", "negative"):
        a[1] *= -1
    if name == "finite":
        a[2] = np.inf
    host = (a, b) if "b" in ARGUMENTS[name].split() else (a,)
    out = gpu.empty((6, 9))
    lazy = getattr(gpu, name)(*(gpu.array(h) for h in host))
    assert getattr(gpu, name)(*(gpu.array(h) for h in host), out=out) is out
    want = ELEMENTWISE[name](*(h.astype(np.float64) for h in host)).astype(np.float64)
    for got in (lazy.get(), out.get()):
        assert (np.abs(got - want) <= 2.0**-21 * np.abs(want)).all(), name


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reductions(gpu, rng, name, axis):
    a = rng.standard_normal((6, 9)).astype(np.float32)
    want = REDUCTIONS[name](a.astype(np.float64), axis=axis, keepdims=True)
    x, out = gpu.array(a), gpu.empty(want.shape, dtype=np.int32 if "arg" in name else np.float32)
    more = {} if "arg" in name else {"partial": gpu.empty((6, 1))}
    assert getattr(gpu, name)(x, axis=axis, out=out, **more) is out
    for got in (out.get(), getattr(gpu, name)(x, axis=axis).get()):
        assert got.shape == want.shape
        assert (np.abs(got - want) <= 1e-6 * np.abs(a).sum()).all()


def check_empty(gpu: Gpu, rng: np.random.Generator) -> None:
    x = gpu.empty((3, 4), dtype=np.int16, name="x", allocator=None)
    assert (x.shape, x.dtype, x.name, x.size, x.nbytes) == ((3, 4), np.int16, "x", 12, 24)


def check_zeros(gpu: Gpu, rng: np.random.Generator) -> None:
    np.testing.assert_array_equal(gpu.zeros((3, 4), np.uint8).get(), np.zeros((3, 4), np.uint8))


def check_ones(gpu: Gpu, rng: np.random.Generator) -> None:
    np.testing.assert_array_equal(gpu.ones((3, 4), np.float16).get(), np.ones((3, 4), np.float16))


def check_array(gpu: Gpu, rng: np.random.Generator) -> None:
    a = rng.standard_normal((5, 4))
    assert gpu.array(a).dtype == np.float32 and NervanaGPU().array(a).dtype == np.float16
    np.testing.assert_array_equal(gpu.array(a, np.float16, name="a").get(), a.astype(np.float16))


def check_empty_like(gpu: Gpu, rng: np.random.Generator) -> None:
    x = gpu.empty_like(gpu.zeros((2, 3), np.float16), name="like")
    assert (x.shape, x.dtype, x.name) == ((2, 3), np.float16, "like")


def check_zeros_like(gpu: Gpu, rng: np.random.Generator) -> None:
    assert not gpu.zeros_like(gpu.ones((2, 3))).get().any()


def check_dot(gpu: Gpu, rng: np.random.Generator) -> None:
    a, b, c = (rng.integers(-4, 5, s).astype(np.float32) for s in ((6, 5), (5, 7), (6, 7)))
    A, B, C = gpu.array(a), gpu.array(b), gpu.array(c)
    assert gpu.dot(A, B, C, alpha=2, beta=3, relu=True) is C
    np.testing.assert_array_equal(C.get(), np.maximum(2 * (a @ b), 0) + 3 * c)  # relu, then beta
    gpu.dot(gpu.array(a.T.copy()).T, gpu.array(b.T.copy()).T, C, size="128x128")
    np.testing.assert_array_equal(C.get(), a @ b)


def check_batched_dot(gpu: Gpu, rng: np.random.Generator) -> None:
    a, b = (rng.integers(-4, 5, s).astype(np.float32) for s in ((3, 6, 5), (3, 5, 7)))
    each, total = gpu.empty((3, 6, 7)), gpu.empty((6, 7))
    gpu.batched_dot(gpu.array(a), gpu.array(b), each)
    gpu.batched_dot(gpu.array(a), gpu.array(b), total)
    np.testing.assert_array_equal(each.get(), a @ b)
    np.testing.assert_array_equal(total.get(), (a @ b).sum(0))
    gpu.batched_dot(gpu.array(a), gpu.array(b[0]), each, relu=True)
    np.testing.assert_array_equal(each.get(), np.maximum(a @ b[0], 0))


def check_compensated_sum(gpu: Gpu, rng: np.random.Generator) -> None:
    """Numbers that a plain float16 sum loses."""
    total, lost, plain = gpu.ones((4, 4), np.float16), gpu.zeros((4, 4), np.float16), np.float16(1)
    small = gpu.array(np.full((4, 4), 2.0**-12), np.float16)
    for _ in range(64):
        assert gpu.compensated_sum(total, lost, small) is total
        plain = np.float16(plain + np.float16(2.0**-12))
    assert plain == 1
    np.testing.assert_array_equal(total.get(), np.full((4, 4), 1 + 64 * 2.0**-12, np.float16))
    assert lost.kahan_count == 64
    gpu.compensated_sum(total, lost, small, cmp_scale=0.0, add_scale=256)
    np.testing.assert_array_equal(total.get(), np.full((4, 4), 1 + (64 + 256) * 2.0**-12, np.float16))
    lost.kahan_count, lost.kahan_reset = 0, 2
    total.fill(1)
    lost.fill(0)
    for _ in range(5):  # two are remembered; the third begins again
        gpu.compensated_sum(total, lost, small)
    assert (total.get() == 1).all() and lost.kahan_count == 1
    np.testing.assert_array_equal(lost.get(), np.full((4, 4), -(2.0**-12), np.float16))


def check_clip(gpu: Gpu, rng: np.random.Generator) -> None:
    a = rng.standard_normal((4, 5)).astype(np.float32)
    out = gpu.empty((4, 5))
    gpu.clip(gpu.array(a), -0.5, 0.25, out)
    np.testing.assert_array_equal(out.get(), np.clip(a, np.float32(-0.5), np.float32(0.25)))


def check_rand(gpu: Gpu, rng: np.random.Generator) -> None:
    x = gpu.empty((100, 100))
    x[:] = gpu.rand()
    got = x.get()
    assert 0 <= got.min() < got.max() < 1 and abs(got.mean() - 0.5) < 0.02 and abs(got.var() - 1 / 12) < 0.01


def check_dropout(gpu: Gpu, rng: np.random.Generator) -> None:
    x = gpu.empty((100, 100))
    x[:] = gpu.dropout(0.75) * 2.0
    assert set(np.unique(x.get())) == {0, 2} and abs((x.get() != 0).mean() - 0.75) < 0.03


def check_take(gpu: Gpu, rng: np.random.Generator) -> None:
    a, places = rng.standard_normal((6, 9)).astype(np.float32), np.array([5, 0, 0, 3], np.int32)
    x, index = gpu.array(a), gpu.array(places, np.int32)
    out = gpu.empty((4, 9))
    assert gpu.take(x, index, 0, out) is out
    np.testing.assert_array_equal(out.get(), a[places])
    out[:] = gpu.take(x, index.reshape(4, 1), axis=0) * 2 + 1
    np.testing.assert_array_equal(out.get(), a[places] * 2 + 1)
    np.testing.assert_array_equal(gpu.take(x, index, axis=1).get(), a[:, places])
    np.testing.assert_array_equal(x[:, index].get(), a[:, places])
    x[index[1:]] = 7.0  # as a target, too
    a[places[1:]] = 7
    np.testing.assert_array_equal(x.get(), a)


def check_onehot(gpu: Gpu, rng: np.random.Generator) -> None:
    labels = rng.integers(0, 5, 8)
    out = gpu.empty((5, 8))
    gpu.onehot(gpu.array(labels, np.int32), axis=0, out=out)
    np.testing.assert_array_equal(out.get(), np.eye(5, dtype=np.float32)[labels].T)


def convolved(x: Host, w: Host, stride: int, pad: int) -> Host:
    """x (C, H, W, N), w (C, R, S, K) -> (K, P, Q, N)"""
    x = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    p, q = ((x.shape[1 + i] - w.shape[1 + i]) // stride + 1 for i in (0, 1))
    out = np.zeros((w.shape[3], p, q, x.shape[3]))
    for i in range(p):
        for j in range(q):
            part = x[:, i * stride : i * stride + w.shape[1], j * stride : j * stride + w.shape[2]]
            out[:, i, j] = np.einsum("crsn,crsk->kn", part, w)
    return out


def conv_case(gpu: Gpu, rng: np.random.Generator) -> tuple[object, dict[str, Host]]:
    layer = gpu.conv_layer(np.float32, 8, 3, 16, H=6, W=7, R=3, S=3, pad_h=1, pad_w=1, str_h=2, str_w=2)
    assert (layer.dimI, layer.dimF, layer.dimO) == ((3, 1, 6, 7, 8), (3, 1, 3, 3, 16), (16, 1, 3, 4, 8))
    return layer, {n: rng.integers(-3, 4, getattr(layer, f"dim{n}")).astype(np.float32) for n in "IFO"}


def check_conv_layer(gpu: Gpu, rng: np.random.Generator) -> None:
    layer, _ = conv_case(gpu, rng)
    assert (layer.sizeI, layer.sizeF, layer.sizeO, layer.nOut) == (1008, 432, 1536, 192)
    assert layer.flops == 2 * 1536 * 27 and "ConvLayer" in str(layer)


def check_fprop_conv(gpu: Gpu, rng: np.random.Generator) -> None:
    layer, h = conv_case(gpu, rng)
    out = gpu.empty(layer.dimO)
    assert gpu.fprop_conv(layer, gpu.array(h["I"]), gpu.array(h["F"]), out, alpha=2.0, relu=True) == (0, 0)
    want = np.maximum(2 * convolved(h["I"][:, 0], h["F"][:, 0], 2, 1), 0)
    np.testing.assert_array_equal(out.get()[:, 0], want)


def check_bprop_conv(gpu: Gpu, rng: np.random.Generator) -> None:
    layer, h = conv_case(gpu, rng)
    grad = gpu.empty(layer.dimI)
    gpu.bprop_conv(layer, gpu.array(h["F"]), gpu.array(h["O"]), grad)
    # The gradient of <conv(x, F), E> along x is linear: its product with x is that sum.
    assert (grad.get() * h["I"]).sum() == (convolved(h["I"][:, 0], h["F"][:, 0], 2, 1) * h["O"][:, 0]).sum()


def check_update_conv(gpu: Gpu, rng: np.random.Generator) -> None:
    layer, h = conv_case(gpu, rng)
    grad = gpu.empty(layer.dimF)
    gpu.update_conv(layer, gpu.array(h["I"]), gpu.array(h["O"]), grad, alpha=2.0)
    assert (grad.get() * h["F"]).sum() == 2 * (convolved(h["I"][:, 0], h["F"][:, 0], 2, 1) * h["O"][:, 0]).sum()


def check_deconv_layer(gpu: Gpu, rng: np.random.Generator) -> None:
    layer = gpu.deconv_layer(np.float32, 8, 3, 16, P=3, Q=4, R=2, S=2, str_h=2, str_w=2)
    assert layer.dimI == (3, 1, 6, 8, 8) and layer.dimO == (16, 1, 3, 4, 8)
    h = {n: rng.integers(-3, 4, getattr(layer, f"dim{n}")).astype(np.float32) for n in "IFO"}
    image = gpu.empty(layer.dimI)
    gpu.bprop_conv(layer, gpu.array(h["F"]), gpu.array(h["O"]), image)
    assert (image.get() * h["I"]).sum() == (convolved(h["I"][:, 0], h["F"][:, 0], 2, 0) * h["O"][:, 0]).sum()


def pool_case(gpu: Gpu, rng: np.random.Generator) -> tuple[object, Host, Host]:
    layer = gpu.pool_layer(np.float32, "max", 8, 4, H=6, W=6, J=2, R=3, S=3, str_j=2, str_h=3, str_w=3)
    x = rng.permutation(8 * 4 * 36).reshape(layer.dimI).astype(np.float32)
    groups = x.reshape(2, 2, 2, 3, 2, 3, 8).transpose(0, 2, 4, 6, 1, 3, 5).reshape(2, 2, 2, 8, 18)
    return layer, x, groups.max(-1)


def check_pool_layer(gpu: Gpu, rng: np.random.Generator) -> None:
    layer, _, _ = pool_case(gpu, rng)
    assert (layer.dimO, layer.sizeO, layer.nOut) == ((2, 1, 2, 2, 8), 64, 8)
    assert gpu.pool_layer(np.float32, "avg", 8, 4, H=6, W=6, R=2, S=2).MPQ == (1, 3, 3)  # strides are the window


def check_fprop_pool(gpu: Gpu, rng: np.random.Generator) -> None:
    layer, x, want = pool_case(gpu, rng)
    out = gpu.empty(layer.dimO)
    assert gpu.fprop_pool(layer, gpu.array(x), out) == (0, 0)
    np.testing.assert_array_equal(out.get()[:, 0], want)


def check_bprop_pool(gpu: Gpu, rng: np.random.Generator) -> None:
    layer, x, largest = pool_case(gpu, rng)
    e = rng.integers(1, 9, layer.dimO).astype(np.float32)
    grad = gpu.empty(layer.dimI)
    gpu.bprop_pool(layer, gpu.array(x), gpu.array(e), grad)
    got = grad.get()
    assert (got != 0).sum() == 64 and np.isin(x[got != 0], largest).all() and got.sum() == e.sum()


@pytest.mark.parametrize("name", [n for n in list(globals()) if n.startswith("check_")])
def test_method(gpu, rng, name):
    globals()[name](gpu, rng)


def test_repeat_and_bench(gpu, rng, capsys):
    a = rng.integers(-4, 5, (8, 8)).astype(np.float32)
    A, C = gpu.array(a), gpu.empty((8, 8))
    rate = gpu.dot(A, A, C, repeat=3)
    assert isinstance(rate, float) and rate > 0 and capsys.readouterr().out.startswith("dot 8x8x8: ")
    np.testing.assert_array_equal(C.get(), a @ a)
    layer = gpu.conv_layer(np.float32, 8, 8, 8)
    ms, rate = gpu.fprop_conv(layer, A, A, C, repeat=2)
    assert ms > 0 and rate > 0 and capsys.readouterr().out.startswith("fprop_conv: ")
    gpu.add(A, A, out=C)
    assert capsys.readouterr().out == ""
    loud = NervanaGPU(bench=2, default_dtype=np.float32)
    assert loud.add(A, A, out=C) is C and loud.add(A, A, C) is C
    assert capsys.readouterr().out.count("add 8x8: ") == 2
    np.testing.assert_array_equal(C.get(), 2 * a)


def test_the_constructor():
    gpu = NervanaGPU(True, 0, None, 9 * 1024**2, np.float32)
    assert (gpu.stochastic_round, gpu.bench, gpu.default_dtype, gpu.stream) == (10, 0, np.float32, None)
    assert gpu.zeros((2, 2)).rounding == 10
    assert NervanaGPU(stochastic_round=6, cubin_path="kernels/cubin").ones(3).rounding == 6


def test_fields(gpu):
    x = gpu.array(np.arange(12).reshape(3, 4), name="x")
    assert x.backend is gpu and isinstance(x[1:].backend, NervanaGPU)
    assert (x.shape, x.element_strides, x.size, x.dtype, x.nbytes, x.name) == ((3, 4), (4, 1), 12, np.float32, 48, "x")
    assert x.base is None and x.take_array is None
    part = x[1:, ::2]
    assert part.base is x and part[0].base is x and x.ptr == x.gpudata
    assert part.ptr == x.ptr + 16 and part.element_strides == (4, 2)
    assert int(x.allocator(16)) > 0
    assert x.T.is_trans and not x.is_trans and not part.is_trans
    assert {x: 1}[x] == 1  # a key of dicts, though == makes a tensor
    ng.memory_stats()


def test_transfer_and_views(gpu):
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    x = gpu.empty((2, 3, 4))
    x.set(a, device=0)
    np.testing.assert_array_equal(x.get(ng.Stream()), a)
    np.testing.assert_array_equal(x.asnumpyarray(), a)
    assert x.reshape(6, 4).shape == (6, 4) and x.reshape((4, 6)).get()[3, 5] == 23
    y = gpu.zeros((2, 3, 4))
    assert y.copy_from(x) is y
    np.testing.assert_array_equal(y.copy_from(a + 1).get(), a + 1)
    if ng.device().kind == "emulator":
        assert bytes(x.asbuffer()) == a.tobytes()
    with pytest.raises(ValueError, match="has gaps"):
        x[:, :, ::2].asbuffer()
    alias = x.share((2, 5))
    alias[:] = 7
    np.testing.assert_array_equal(x.get().ravel()[:11], [7] * 10 + [10])
    half = x.share((4, 4), np.float16, name="half")
    half.fill(2)
    assert half.name == "half" and (x.get().ravel()[:8].view(np.float16) == 2).all() and x.get()[0, 2, 0] == 7
    with pytest.raises(ValueError, match="needs 100 bytes without gaps; there are 96"):
        x.share((25,))
    with pytest.raises(ValueError, match="with gaps"):
        x[:, :, ::2].share((2,))
    m = gpu.array(a[0])
    out = gpu.empty((4, 3))
    assert m.transpose(out=out) is out
    np.testing.assert_array_equal(out.get(), a[0].T)
    np.testing.assert_array_equal(m.T.get(), a[0].T)
    with pytest.raises(ValueError, match=r"out has shape \(3, 4\); needs \(4, 3\)"):
        m.transpose(out=gpu.empty((3, 4)))


def test_assignment_and_operators(gpu, rng):
    a, b = (rng.uniform(0.5, 2, (4, 6)).astype(np.float32) for _ in range(2))
    x, y = gpu.array(a), gpu.array(b)
    z = gpu.empty((4, 6))
    for given, want in ((3.0, 3.0), (y, b), (a, a), (x * 2 + y, a * 2 + b), (x[:1], a[:1])):
        z[:] = given
        np.testing.assert_array_equal(z.get(), np.broadcast_to(np.float32(want), (4, 6)))
    z.fill(1.5)
    z[1, 2:5] = y[1, 2:5]
    assert z.get()[1, 3] == b[1, 3] and z.get()[0, 0] == 1.5
    copied = x.copy()
    x += y
    x *= 2
    x -= 1
    x /= y
    np.testing.assert_array_equal(x.get(), ((a + b) * 2 - 1) / b)
    np.testing.assert_array_equal(copied.get(), a)
    for got, want in (
        (1 + y, 1 + b), (1 - y, 1 - b), (2 * y, 2 * b), (1 / y, 1 / b), (-y, -b), (abs(-y), b), (copied - y, a - b),
        (copied == y, a == b), (copied != y, a != b), (copied < y, a < b), (copied <= y, a <= b), (copied > y, a > b),
        (copied >= y, a >= b),
    ):  # fmt: skip
        np.testing.assert_array_equal(got.get(), want)
    np.testing.assert_allclose((y**copied).get(), b**a, rtol=1e-6)


def test_pickles_and_copies(gpu):
    gpu.stochastic_round = 5
    x = gpu.array(np.arange(6).reshape(2, 3), np.float16, name="x")
    for again in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x), copy.deepcopy([x])[0]):
        assert (again.name, again.rounding, again.dtype, type(again)) == ("x", 5, np.float16, ng.GPUTensor)
        np.testing.assert_array_equal(again.get(), x.get())
        assert again.ptr != x.ptr
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x.T * 2)).get(), x.get().T * 2)
    np.testing.assert_array_equal(copy.deepcopy(x.T + 1).get(), x.get().T + 1)
    b = ng.array([1.5, 2.5], "bfloat16")
    assert str(pickle.loads(pickle.dumps(b)).dtype) == "bfloat16"
