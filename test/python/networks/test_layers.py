"""Every layer against NumPy in float64: results, gradients, and gradients against finite differences."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import layer_reference as ref
import nervanagpu as ng
import numpy as np
import pytest
from activation_reference import LAYER_ROWS
from nervanagpu import layers as L

LAYOUTS = ["NHWC", "CHWN"]
SEED = 5
# Largest error, in parts of the largest magnitude of what is compared.
TOLERANCE = {"float32": 2e-5, "float16": 8e-3}


@dataclass
class Case:
    """make: the layer under test, or layers. reference: the same in NumPy, given its parameters and the layout."""

    make: Any
    reference: Any
    shape: tuple[int, ...]
    n: int = 3
    extra: dict[str, Any] = field(default_factory=dict)


def conv(k, window, shape, n=3, **options):
    """A case of Conv."""
    axes = len(shape) - 1

    def reference(params, layout):
        del layout
        given = {name: v for name, v in options.items() if name != "bias"}
        return ref.Conv(*params, axes=axes, **given)

    return Case(lambda: L.Conv(k, window, **options), reference, shape, n)


def deconv(k, window, shape, n=3, **options):
    axes = len(shape) - 1

    def reference(params, layout):
        del layout
        given = {name: v for name, v in options.items() if name != "bias"}
        return ref.Deconv(*params, axes=axes, **given)

    return Case(lambda: L.Deconv(k, window, **options), reference, shape, n)


def pool(op, window, shape, n=3, **options):
    axes = len(shape) - 1
    given = {("count" if name == "count_padding" else name): v for name, v in options.items()}
    return Case(
        lambda: L.Pool(window, op=op, **options), lambda p, y: ref.Pool(op, window, axes=axes, **given), shape, n
    )


def activation(f, slope=0.01):
    return Case(lambda: L.Activation(f, slope), lambda p, layout: ref.Activation(f, slope), (3, 5, 7))


def inception():
    """Branches of one and of several layers, a pooling branch, layers that work in place at both ends of branches."""

    def make():
        return L.Inception(
            [
                [L.Conv(3, 1, relu=True)],
                [L.Conv(2, 1), L.Activation("tanh"), L.Conv(5, 3, padding=1, relu=True)],
                [L.Bias(), L.Conv(1, 5, padding=2)],
                [L.Pool(3, stride=1, padding=1), L.Conv(2, 1, bias=False), L.Bias()],
                [L.Activation("sigmoid")],
            ]
        )

    def reference(p, layout):
        del layout
        return ref.Inception(
            [
                ref.Chain([ref.Conv(p[0], p[1], relu=True)]),
                ref.Chain([ref.Conv(p[2], p[3]), ref.Activation("tanh"), ref.Conv(p[4], p[5], padding=1, relu=True)]),
                ref.Chain([ref.Bias(p[6]), ref.Conv(p[7], p[8], padding=2)]),
                ref.Chain([ref.Pool("max", 3, 1, 1), ref.Conv(p[9]), ref.Bias(p[10])]),
                ref.Chain([ref.Activation("sigmoid")]),
            ]
        )

    return Case(make, reference, (5, 4, 3))


def nested():
    """An inception in an inception."""

    def make():
        inner = L.Inception([[L.Conv(2, 1)], [L.Conv(3, 3, padding=1, relu=True)]])
        return L.Inception([[L.Pool(3, stride=1, padding=1, op="avg")], [L.Conv(4, 1, relu=True), inner]])

    def reference(p, layout):
        del layout
        inner = ref.Inception(
            [ref.Chain([ref.Conv(p[2], p[3])]), ref.Chain([ref.Conv(p[4], p[5], padding=1, relu=True)])]
        )
        return ref.Inception(
            [ref.Chain([ref.Pool("avg", 3, 1, 1)]), ref.Chain([ref.Conv(p[0], p[1], relu=True), inner])]
        )

    return Case(make, reference, (4, 3, 2), n=2)


def in_place():
    """Layers that overwrite what comes in, after layers that look at their results again, and after others."""

    def make():
        return [
            L.Conv(4, 3, padding=1, relu=True),
            L.Bias(),
            L.Activation("tanh"),
            L.Dropout(0.25),
            L.Inception([[L.Conv(3, 1, relu=True)], [L.Bias(), L.Activation("sigmoid")]]),
            L.Bias(),
            L.Deconv(2, 2, stride=2, relu=True),
            L.Activation("sigmoid"),
            L.Pool(2, op="avg"),
            L.Activation("leaky_relu", 0.3),
            L.Bias(),
            L.Full(6, relu=True),
            L.Activation("sigmoid"),
            L.Bias(),
            L.Dropout(0.5),
            L.Full(3),
            L.Bias(),
        ]

    def reference(p, layout):
        branches = [
            ref.Chain([ref.Conv(p[3], p[4], relu=True)]),
            ref.Chain([ref.Bias(p[5]), ref.Activation("sigmoid")]),
        ]
        return ref.Chain(
            [
                ref.Conv(p[0], p[1], padding=1, relu=True),
                ref.Bias(p[2]),
                ref.Activation("tanh"),
                ref.Dropout(0.25, SEED, 3, layout),
                ref.Inception(branches),
                ref.Bias(p[6]),
                ref.Deconv(p[7], p[8], stride=2, relu=True),
                ref.Activation("sigmoid"),
                ref.Pool("avg", 2),
                ref.Activation("leaky_relu", 0.3),
                ref.Bias(p[9]),
                ref.Full(p[10], p[11], relu=True),
                ref.Activation("sigmoid"),
                ref.Bias(p[12]),
                ref.Dropout(0.5, SEED, 17, layout),
                ref.Full(p[13], p[14]),
                ref.Bias(p[15]),
            ]
        )

    return Case(make, reference, (4, 3, 2))


def between():
    """ReLUs whose gradient the next layer takes along: bits of whole and of part words, places of maxima."""

    def make():
        return [
            L.Conv(40, 3, padding=1, relu=True),
            L.Conv(8, 1, relu=True),
            L.Pool(3, stride=2, padding=1),
            L.Conv(16, 3, padding=1, relu=True, bias=False),
            L.Conv(32, 2, relu=True),
            L.Full(33, relu=True, bias=False),
            L.Full(3),
        ]

    def reference(p, layout):
        del layout
        return ref.Chain(
            [
                ref.Conv(p[0], p[1], padding=1, relu=True),
                ref.Conv(p[2], p[3], relu=True),
                ref.Pool("max", 3, 2, 1),
                ref.Conv(p[4], padding=1, relu=True),
                ref.Conv(p[5], p[6], relu=True),
                ref.Full(p[7], relu=True),
                ref.Full(p[8], p[9]),
            ]
        )

    return Case(make, reference, (6, 5, 3))


def slices():
    """Branches that end in convolutions work on parts of the whole, before a pool that takes their ReLU along."""

    def make():
        return [
            L.Inception(
                [
                    [L.Conv(8, 1, relu=True)],
                    [L.Conv(4, 1, relu=True), L.Conv(16, 3, padding=1, relu=True)],
                    [L.Pool(3, stride=1, padding=1), L.Conv(8, 1, relu=True, bias=False)],
                ]
            ),
            L.Inception([[L.Conv(8, 1, relu=True)], [L.Conv(24, 3, padding=1, relu=True)]]),
            L.Pool(2),
            L.Inception([[L.Conv(8, 1)], [L.Conv(8, 3, padding=1, groups=2)]]),
        ]

    def reference(p, layout):
        del layout
        first = [
            ref.Chain([ref.Conv(p[0], p[1], relu=True)]),
            ref.Chain([ref.Conv(p[2], p[3], relu=True), ref.Conv(p[4], p[5], padding=1, relu=True)]),
            ref.Chain([ref.Pool("max", 3, 1, 1), ref.Conv(p[6], relu=True)]),
        ]
        second = [
            ref.Chain([ref.Conv(p[7], p[8], relu=True)]),
            ref.Chain([ref.Conv(p[9], p[10], padding=1, relu=True)]),
        ]
        third = [ref.Chain([ref.Conv(p[11], p[12])]), ref.Chain([ref.Conv(p[13], p[14], padding=1, groups=2)])]
        return ref.Chain([ref.Inception(first), ref.Inception(second), ref.Pool("max", 2), ref.Inception(third)])

    return Case(make, reference, (6, 4, 6))


CASES = {
    "conv_3x3": conv(4, 3, (6, 5, 3), padding=1, relu=True),
    "conv_plain": conv(5, (2, 3), (5, 7, 1), n=1, bias=False),
    "conv_stride_dilation": conv(3, 3, (11, 9, 2), stride=(2, 1), padding=(1, 2), dilation=(2, 1)),
    "conv_groups": conv(6, 3, (5, 4, 4), groups=2, padding=1, relu=True),
    "conv_depthwise": conv(5, 3, (4, 6, 5), groups=5, bias=False),
    "conv_1d": conv(3, 5, (17, 2), stride=2, padding=2),
    "conv_3d": conv(3, (2, 3, 1), (4, 5, 3, 2), n=2, padding=(1, 0, 0), relu=True),
    "deconv_2x2": deconv(3, 2, (3, 4, 2), stride=2, relu=True),
    "deconv_3x3": deconv(2, 3, (4, 3, 3), stride=2, padding=1, output_padding=1),
    "deconv_groups": deconv(4, 3, (3, 3, 2), groups=2, bias=False),
    "deconv_1d": deconv(2, 4, (5, 3), stride=3, dilation=2),
    "pool_max": pool("max", 2, (6, 5, 3)),
    "pool_max_overlapping": pool("max", 3, (7, 6, 2), stride=2, padding=1),
    "pool_maps": pool("max", (1, 2), (3, 4, 6), maps=2),
    "pool_maxout": pool("max", 1, (12,), maps=3),
    "pool_avg": pool("avg", 3, (5, 6, 2), stride=1, padding=1),
    "pool_avg_counted": pool("avg", 3, (5, 6, 2), stride=2, padding=1, count_padding=True),
    "pool_l2": pool("l2", (3, 2), (7, 4, 3), stride=(2, 1)),
    "pool_3d": pool("max", (2, 1, 2), (4, 3, 4, 2), n=2),
    "full": Case(lambda: L.Full(7), lambda p, y: ref.Full(*p), (13,), 5),
    "full_of_space": Case(lambda: L.Full(4, relu=True), lambda p, y: ref.Full(*p, relu=True), (3, 2, 5)),
    "full_plain": Case(lambda: L.Full(1, bias=False), lambda p, y: ref.Full(*p), (2, 2, 3, 2), 1),
    "bias": Case(L.Bias, lambda p, y: ref.Bias(*p), (3, 4, 5)),
    "bias_of_features": Case(L.Bias, lambda p, y: ref.Bias(*p), (33,), 7),
    **{name: activation(name, 0.2) for name in LAYER_ROWS},
    "dropout": Case(lambda: L.Dropout(0.3), lambda p, layout: ref.Dropout(0.3, SEED, 0, layout), (5, 3, 7)),
    "inception": inception(),
    "inception_nested": nested(),
    "in_place": in_place(),
    "between": between(),
    "slices": slices(),
    "data": Case(L.Data, lambda p, y: ref.Chain([]), (2, 3, 4)),
}


# With float16 a rounded number is now and then on the other side of a kink and has another gradient.
KINKED = ["relu", "leaky_relu", "inception", "inception_nested", "in_place", "between", "slices"]


def network(case: Case, layout: str, dtype: str, rng) -> tuple[ng.Network, list[np.ndarray]]:
    """A network of the case's layers, and its parameters in the form that does not depend on the layout, float64."""
    made = case.make()
    net = ng.Network(made if isinstance(made, list) else [made], case.shape, dtype, SEED, layout=layout)
    params = []
    for p in net.parameters:
        view = p.canonical(p.value)
        values = rng.standard_normal(view.shape).astype(p.value.dtype)
        view.set(values)
        params.append(values.astype(np.float64))
    return net, params


def near(got, expected, dtype: str) -> bool:
    """Within the tolerance; false for NaN and for another shape."""
    got = np.asarray(got, np.float64)
    return got.shape == np.shape(expected) and bool(
        (np.abs(got - expected) <= TOLERANCE[dtype] * max(np.abs(expected).max(), 1e-3)).all()
    )


def gradients(net: ng.Network) -> list[np.ndarray]:
    out = []
    for p in net.parameters:
        assert p.gradient is not None
        out.append(p.canonical(p.gradient).get().astype(np.float64) / net.loss_scale)
    return out


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients(rng, name, layout, dtype):
    case = CASES[name]
    net, params = network(case, layout, dtype, rng)
    reference = case.reference(params, layout)
    x = rng.standard_normal((case.n, *case.shape)).astype(dtype).astype(np.float64)
    y = net.forward(x, input_gradient=True)
    expected = reference.forward(x)
    assert near(y, expected, dtype)
    assert net.output_shape == y.shape[1:]
    if dtype == "float16" and name in KINKED:
        return
    dy = rng.standard_normal(expected.shape).astype(dtype).astype(np.float64)
    dx = net.backward(dy)
    assert near(dx, reference.backward(dy), dtype)
    for got, wanted in zip(gradients(net), reference.all_grads(), strict=True):
        assert near(got, wanted, dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CASES)
def test_finite_differences(rng, name, layout):
    """The gradients are those of the reference's forward pass alone."""
    case = CASES[name]
    net, params = network(case, layout, "float32", rng)
    x = rng.standard_normal((case.n, *case.shape)).astype(np.float32)
    y = net.forward(x, input_gradient=True)
    dy = rng.standard_normal(y.shape).astype(np.float32)
    dx = net.backward(dy)
    assert dx is not None

    wide = x.astype(np.float64)
    reference = case.reference(params, layout)
    for values, got in zip([wide, *params], [dx.astype(np.float64), *gradients(net)], strict=True):
        where = rng.permutation(values.size)[:12]
        wanted = ref.finite_differences(lambda: (reference.forward(wide) * dy).sum(), values, where)
        scale = max(np.abs(got).max(), 1.0)
        assert (np.abs(got.reshape(-1)[where] - wanted) <= 1e-4 * scale).all()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_relus_between_layers_do_not_show(rng, layout, dtype):
    """The bits of layers with ReLUs of their own after them, which take their gradients apart.

    Gradients of biases that a convolution above has summed are the same numbers' sums in another order.
    """

    def chain(relu):
        def conv(channels, window, **options):
            if relu:
                return [L.Conv(channels, window, relu=True, **options)]
            return [L.Conv(channels, window, **options), L.Activation("relu")]

        full = [L.Full(24, relu=True)] if relu else [L.Full(24), L.Activation("relu")]
        return [
            *conv(40, 3, padding=1),
            *conv(32, 3, padding=1, bias=False),
            L.Pool(2),
            *conv(32, 1),
            *conv(32, 3),
            *full,
            L.Full(5),
            L.Softmax(),
        ]

    nets = [ng.Network(chain(relu), (8, 8, 3), dtype, SEED, layout=layout) for relu in (True, False)]
    for one, other in zip(*(net.parameters for net in nets), strict=True):
        values = rng.standard_normal(one.value.shape).astype(np.float32) / 8
        for p in (one, other):
            p.value[:] = ng.array(values).astype(dtype if p.name.endswith("weight") else "float32")
    x, y = rng.standard_normal((6, 8, 8, 3)), rng.integers(0, 5, 6)
    results = [net.forward(x, input_gradient=True) for net in nets]
    assert np.array_equal(*results)
    dx = [net.backward(y) for net in nets]
    assert np.any(dx[0])
    assert np.array_equal(*dx)
    for one, other in zip(*(net.parameters for net in nets), strict=True):
        a, b = (ng.nn.convert(p.gradient, "float32").get() for p in (one, other))
        if one.name.endswith("bias"):
            assert np.all(np.abs(a - b) <= 1e-5 * np.abs(a).max()), one.name
        else:
            assert np.array_equal(a, b), one.name


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_slices_do_not_show(rng, dtype):
    """Branches that work on parts of the whole give the bits of branches whose results and gradients are copied."""

    def chain(copied):
        def end():
            return [L.Activation("identity")] if copied else []

        return [
            L.Inception(
                [
                    [L.Conv(8, 1, relu=True), *end()],
                    [L.Conv(16, 1, relu=True), L.Conv(24, 3, padding=1, relu=True), *end()],
                    [L.Pool(3, stride=1, padding=1), L.Conv(32, 1, relu=True, bias=False), *end()],
                ]
            ),
            L.Conv(8, 3, padding=1),
            L.Full(3),
            L.Softmax(),
        ]

    nets = [ng.Network(chain(copied), (9, 8, 16), dtype, SEED) for copied in (False, True)]
    for one, other in zip(*(net.parameters for net in nets), strict=True):
        other.value[:] = one.value
    x, y = rng.standard_normal((5, 9, 8, 16)), rng.integers(0, 3, 5)
    assert np.array_equal(*(net.forward(x, input_gradient=True) for net in nets))
    assert np.array_equal(*(net.backward(y) for net in nets))
    for one, other in zip(*(net.parameters for net in nets), strict=True):
        assert np.array_equal(one.gradient.get(), other.gradient.get()), one.name
    assert nets[0].memory(5).arena < nets[1].memory(5).arena


@pytest.mark.parametrize("layout", LAYOUTS)
def test_softmax(rng, layout):
    """The loss, its gradient, and the gradient against finite differences."""
    net = ng.Network([L.Softmax()], (11,), layout=layout)
    x = 4 * rng.standard_normal((6, 11)).astype(np.float32)
    labels = rng.integers(0, 11, 6)
    reference = ref.SoftmaxLoss()
    assert near(net.forward(x, input_gradient=True), reference.forward(x.astype(np.float64)), "float32")
    dx = net.backward(labels)
    assert near(dx, reference.backward(labels), "float32")
    evaluation = net.evaluate(x, labels)
    assert abs(evaluation.loss - reference.loss(labels).mean()) <= 1e-5
    assert evaluation.accuracy == (x.argmax(1) == labels).mean()

    wide = x.astype(np.float64)

    def loss():
        reference.forward(wide)
        return reference.loss(labels).mean()

    wanted = ref.finite_differences(loss, wide, np.arange(wide.size))
    assert (np.abs(np.asarray(dx).reshape(-1) - wanted) <= 1e-6).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_inception_adds_gradients(layout):
    """Whole numbers: the data gradient is exactly the sum over branches."""
    rng = np.random.default_rng(0)
    net = ng.Network([L.Inception([[L.Conv(1, 1, bias=False)] for _ in range(4)])], (3, 3, 2), layout=layout)
    weights = rng.integers(-3, 4, (4, 1, 1, 1, 1, 2)).astype(np.float32)
    for p, w in zip(net.parameters, weights, strict=True):
        p.canonical(p.value).set(w)
    x = rng.integers(-3, 4, (2, 3, 3, 2)).astype(np.float32)
    net.forward(x, input_gradient=True)
    dy = rng.integers(-3, 4, (2, 3, 3, 4)).astype(np.float32)
    dx = net.backward(dy)
    assert np.array_equal(dx, dy @ weights.reshape(4, 2))
    for i, p in enumerate(net.parameters):
        assert np.array_equal(p.canonical(p.gradient).get().ravel(), np.einsum("nhw,nhwc->c", dy[..., i], x))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_bytes_into_the_first_convolution(rng, kind, layout):
    info = np.iinfo(kind)
    x = rng.integers(info.min, info.max, (3, 6, 5, 3), kind, endpoint=True)
    chain = [L.Data(dtype=kind), L.Conv(4, 3, padding=1, relu=True), L.Full(3)]
    net = ng.Network(chain, (6, 5, 3), layout=layout)
    same = ng.Network([L.Conv(4, 3, padding=1, relu=True), L.Full(3)], (6, 5, 3), layout=layout)
    for p, q in zip(net.parameters, same.parameters, strict=True):
        q.value.set(p.value.get())
    assert near(net.forward(x), same.forward(x), "float32")
    dy = rng.standard_normal((3, 3)).astype(np.float32)
    assert net.backward(dy) is None
    same.backward(dy)
    for got, wanted in zip(gradients(net), gradients(same), strict=True):
        assert near(got, wanted, "float32")
    with pytest.raises(TypeError, match="x has dtype float64"):
        net.forward(x.astype(float))
    with pytest.raises(TypeError, match="input_gradient"):
        net.forward(x, input_gradient=True)


def test_layouts_agree_on_initial_weights(rng):
    """The same seed makes the same network in both layouts."""

    def make(layout):
        chain = [L.Conv(4, 3, relu=True), L.Deconv(3, 2, stride=2), L.Full(6, relu=True), L.Full(2)]
        return ng.Network(chain, (6, 5, 2), layout=layout, seed=9)

    a, b = make("NHWC"), make("CHWN")
    for p, q in zip(a.parameters, b.parameters, strict=True):
        assert np.array_equal(p.canonical(p.value).get(), q.canonical(q.value).get())
    x = rng.standard_normal((4, 6, 5, 2))
    assert near(a.predict(x), b.predict(x), "float32")


def test_initial_weights():
    """Uniform, within the bound of He (with relu) or Glorot, symmetric, another seed other weights, biases zero."""
    net = ng.Network([L.Conv(64, 5, relu=True), L.Conv(32, 3)], (16, 16, 32), seed=3)
    for p, fan in zip(net.parameters[::2], [32 * 25, 64 * 9 + 32 * 9], strict=True):
        w, bound = p.value.get(), np.sqrt(6 / fan)
        assert np.abs(w).max() < bound * (1 + 1e-6)
        assert np.abs(w).max() > 0.999 * bound
        assert abs(w.mean()) < 4 * bound / np.sqrt(3 * w.size)
        assert abs(w.var() - bound**2 / 3) < 0.02 * bound**2
    assert not net.parameters[1].value.get().any()
    other = ng.Network([L.Conv(64, 5, relu=True)], (16, 16, 32), seed=4)
    assert not np.array_equal(other.parameters[0].value.get(), net.parameters[0].value.get())


def test_dropout_in_training_and_in_use(rng):
    net = ng.Network([L.Full(8), L.Dropout(0.5), L.Softmax()], (4,), seed=2)
    x, y = rng.standard_normal((64, 4)), rng.integers(0, 8, 64)
    first = net.forward(x)
    assert np.array_equal(first, net.forward(x))  # a step has one mask
    assert not np.array_equal(first, net.predict(x))  # none in use
    net.forward(x)
    net.backward(y)
    net.update(lr=0.0)
    assert not np.array_equal(first, net.forward(x))  # another step, another mask


# --- table entries

SAME = {"R": 3, "S": 3, "pad_h": 1, "pad_w": 1}
PARTITIONS = (
    ({"layer": L.ConvLayer, "K": 4},),
    ({"layer": L.ConvLayer, "K": 2}, {"layer": L.ConvLayer, "K": 8, "common": SAME}),
    (
        {"layer": L.PoolLayer, "op": "max", "common": {**SAME, "str_h": 1, "str_w": 1}},
        {"layer": L.ConvLayer, "K": 4},
    ),
)
ENTRIES = [
    ({"layer": L.DataLayer, "N": 128, "C": 3, "H": 23, "W": 21}, (23, 21, 3)),
    ({"layer": L.ConvLayer, "K": 8, "R": 5, "S": 3, "str_h": 2, "str_w": 1, "pad_h": 2, "pad_w": 1}, (12, 21, 8)),
    ({"layer": L.PoolLayer, "common": {"op": "max", "R": 3, "S": 3, "str_h": 2, "str_w": 2}}, (5, 10, 8)),
    ({"layer": "ConvLayer", "common": SAME, "K": 16, "update_size": None}, (5, 10, 16)),
    ({"layer": L.Inception, "partitions": PARTITIONS}, (5, 10, 16)),
    ({"layer": L.PoolLayer, "op": "max", "J": 2, "C": 16, "H": 5, "W": 10}, (5, 10, 8)),
    ({"layer": L.FullLayer, "nOut": 30, "nIn": 400}, (30,)),
    ({"layer": L.DropoutLayer, "rate": 0.5}, (30,)),
    ({"layer": L.FullLayer, "nOut": 10, "relu": False}, (10,)),
    ({"layer": L.SoftmaxLayer}, (10,)),
]


def test_table_entries(rng):
    """Networks written as the 2015 library's tables."""
    lib = ng.NervanaGPU()
    layers, previous = [], None
    for conf, shape in ENTRIES:
        previous = L.Layer.create(lib, conf, previous, np.float32)
        assert previous.output_shape == shape
        layers.append(previous)
    assert layers[1].flops == 2 * 12 * 21 * 8 * 3 * 5 * 3
    net = ng.Network(layers)
    assert net.input_shape == (23, 21, 3)
    assert [p.name for p in layers[1].parameters] == ["conv1.weight"]  # no bias
    x = rng.standard_normal((2, 23, 21, 3))
    assert abs(net.predict(x).sum(1) - 1).max() < 1e-5
    # relu is on unless the entry says otherwise
    assert layers[1].config()["relu"] and not layers[8].config()["relu"]


def test_entries_round_trip():
    """config() gives the layer again."""
    for name, case in CASES.items():
        layer = case.make()
        if isinstance(layer, list):
            continue
        config = layer.config()
        again = L.Layer.create(None, config)
        assert again.config() == config, name
        assert json.loads(json.dumps(config)) == config
        assert again.configure(case.shape) == layer.configure(case.shape)


@pytest.mark.parametrize(
    ("conf", "message"),
    [
        ({"layer": "Konv", "K": 3}, "layer is 'Konv'; needs one of DataLayer, ConvLayer"),
        ({"K": 3}, "layer is ''"),
        ({"layer": "ConvLayer"}, "ConvLayer: K is missing"),
        ({"layer": "ConvLayer", "K": 3, "strides": 2}, "there is no field 'strides'"),
        ({"layer": "ConvLayer", "K": 0}, "K is 0; needs 1 or more"),
        ({"layer": "ConvLayer", "K": 2.5}, "field 'K' is of another kind; needs a whole number"),
        ({"layer": "ConvLayer", "K": 3, "R": 3, "window": 3}, "window is given, and its parts too"),
        ({"layer": "PoolLayer", "op": "min"}, "op is 'min'; needs max, avg or l2"),
        ({"layer": "DropoutLayer", "rate": 1.0}, "rate is 1.000000; needs 0 or more and less than 1"),
        ({"layer": "ActivationLayer", "activation": "elu"}, "activation is 'elu'"),
        ({"layer": "Inception", "partitions": []}, "partitions"),
        ({"layer": "Inception", "partitions": [[]]}, "a branch is empty"),
        ({"layer": "Inception", "partitions": [[{"layer": "SoftmaxLayer"}]]}, "needs it at the end"),
    ],
)
def test_entries_refused(conf, message):
    with pytest.raises(ValueError, match=message):
        L.Layer.create(None, conf)


@pytest.mark.parametrize(
    ("layer", "shape", "message"),
    [
        (lambda: L.Conv(3, 3), (5,), r"input shape is \(5,\); needs spatial axes"),
        (lambda: L.Conv(3, 3), (2, 5, 1), "the output is empty"),
        (lambda: L.Conv(3, (2, 2, 3)), (5, 5, 1), r"window is \(2, 2, 3\); needs 2 numbers"),
        (lambda: L.Conv(4, 3, groups=3), (5, 5, 3), "groups is 3; needs a divisor of 3 and 4"),
        (lambda: L.Deconv(4, 3, output_padding=1), (5, 5, 3), "output_padding is 1; needs less than the stride"),
        (lambda: L.Pool(7), (5, 5, 1), "empty|output"),
        (lambda: L.Softmax(), (5, 5, 1), r"input shape is \(5, 5, 1\); needs \(classes,\)"),
        (lambda: L.Inception([[L.Conv(1, 3)], [L.Conv(1, 1)]]), (5, 5, 1), "branch 1 is .* needs the spatial lengths"),
        (lambda: L.Layer.create(None, {"layer": "ConvLayer", "K": 3, "C": 4}), (5, 5, 1), "C is 4; needs 1"),
        (lambda: L.Data((5, 5, 2)), (5, 5, 1), r"the shape is \(5, 5, 2\)"),
    ],
)
def test_shapes_refused(layer, shape, message):
    """A refused shape leaves the layer as it was."""
    one = layer()
    with pytest.raises(ValueError, match=message):
        one.configure(shape)
    assert one.output_shape is None
    with pytest.raises(ValueError, match=f"{one.kind.lower()}1.*({message})|{message}"):
        ng.Network([one], shape)
    assert not one.parameters


def test_strides_and_padding_by_position():
    assert L.Conv(4, 3, 2, 1).config() == L.Conv(4, 3, stride=2, padding=1).config()
    assert L.Deconv(4, 3, 2, 1).config() == L.Deconv(4, 3, stride=2, padding=1).config()
    assert L.Pool(3, 2, 1).config() == L.Pool(3, stride=2, padding=1).config()


def test_a_layer_has_one_place():
    layer = L.Full(3)
    with pytest.raises(ValueError, match="belongs to a network already"):
        ng.Network([layer, layer], (3,))
    net = ng.Network([layer], (3,))
    with pytest.raises(ValueError, match="full1 belongs to a network already"):
        ng.Network([layer], (3,))
    with pytest.raises(ValueError, match="full1: its input has shape"):
        layer.configure((4,))
    assert layer.configure((3,)) == (3,)
    assert net.predict(np.ones((1, 3))).shape == (1, 3)
