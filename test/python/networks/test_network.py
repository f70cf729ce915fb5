"""Networks: training against NumPy, files, plans of memory, interruption, half precision, what is refused."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

import layer_reference as ref
import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import layers as L

CLASSES = 5


def make(dtype="float32", seed=3, **options) -> ng.Network:
    """A little of everything, on (6, 5, 2)."""
    return ng.Network(
        [
            L.Conv(6, 3, padding=1, relu=True),
            L.Pool(2),
            L.Inception([[L.Conv(3, 1, relu=True)], [L.Conv(2, 1), L.Activation("tanh"), L.Conv(4, 3, padding=1)]]),
            L.Bias(),
            L.Activation("leaky_relu", 0.1),
            L.Dropout(0.2),
            L.Full(8, relu=True),
            L.Full(CLASSES),
            L.Softmax(),
        ],
        (6, 5, 2),
        dtype,
        seed,
        **options,
    )


@pytest.fixture
def data(rng):
    """Samples whose class shows: a stripe at one of five places."""
    y = rng.integers(0, CLASSES, 90)
    x = 0.3 * rng.standard_normal((90, 6, 5, 2))
    x[np.arange(90), :, y] += 1
    return x.astype(np.float32), y


def values(net: ng.Network) -> list[np.ndarray]:
    return [p.value.get() for p in net.parameters]


def same(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return all(np.array_equal(p, q) for p, q in zip(a, b, strict=True))


# --- training


def test_steps_against_numpy(rng):
    """Three steps with momentum and weight decay are those of NumPy in float64."""
    net = ng.Network([L.Conv(3, 3, relu=True), L.Full(4), L.Softmax()], (5, 4, 2), seed=6)
    params = [p.canonical(p.value).get().astype(np.float64) for p in net.parameters]
    velocity = [np.zeros_like(p) for p in params]
    chain = ref.Chain([ref.Conv(params[0], params[1], relu=True), ref.Full(params[2], params[3])])
    loss = ref.SoftmaxLoss()
    lr, momentum, decay = 0.3, 0.8, 0.05
    for _ in range(3):
        x = rng.standard_normal((7, 5, 4, 2)).astype(np.float32)
        y = rng.integers(0, 4, 7)
        got = net.train_step(x, y, lr, momentum, decay)
        probs = loss.forward(chain.forward(x.astype(np.float64)))
        assert abs(got.loss - loss.loss(y).mean()) <= 1e-5
        assert got.accuracy == (probs.argmax(1) == y).mean()
        chain.backward(loss.backward(y))
        for i, (p, v, g) in enumerate(zip(params, velocity, chain.all_grads(), strict=True)):
            v[...] = momentum * v + g + (decay * p if i % 2 == 0 else 0)  # no decay of biases
            p -= lr * v
        for p, wanted in zip(net.parameters, params, strict=True):
            assert np.abs(p.canonical(p.value).get() - wanted).max() <= 2e-6


@pytest.mark.parametrize("layout", ["NHWC", "CHWN"])
@pytest.mark.parametrize(
    ("dtype", "options"),
    [
        ("float32", {}),
        ("float16", {}),
        ("float16", {"rounding": "stochastic"}),
        ("float16", {"rounding": "stochastic", "master": True}),
        ("float32", {"rounding": "stochastic", "bits": 8}),
    ],
)
def test_learns_and_repeats(data, dtype, options, layout):
    """In each mode the loss falls, and the same seed gives the same bits."""
    x, y = data
    nets = [make(dtype, layout=layout, **options) for _ in range(2)]
    before = nets[0].evaluate(x, y)
    histories = [net.fit(x, y, epochs=14, batch=32, lr=0.05, momentum=0.9, validation=(x[:40], y[:40])) for net in nets]
    assert histories[0] == histories[1]
    assert same(*map(values, nets))
    after = nets[0].evaluate(x, y)
    assert after.loss < 0.5 * before.loss
    assert after.accuracy > 0.8
    assert [len(h) for h in histories[0].values()] == [14] * 4
    assert histories[0]["val_accuracy"][-1] == nets[0].evaluate(x[:40], y[:40]).accuracy
    other = make(dtype, seed=4, layout=layout, **options)
    assert not same(values(other), values(make(dtype, layout=layout, **options)))
    for p in nets[0].parameters:
        assert p.value.dtype == (np.float32 if p.name.endswith("bias") else dtype)
        has_master = dtype == "float16" and options.get("master", not options) and p.name.endswith("weight")
        assert (p.master is not None) == has_master
        if p.master is not None and not options:  # the weight is its master, rounded
            assert np.array_equal(p.master.get().astype(np.float16), p.value.get())


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_replayed_steps_do_not_show(data, dtype, tmp_path):
    """A smaller last batch, another lr, dropout and files between epochs: the bits of steps that are called."""
    x, y = data
    nets = [make(dtype, graphs=graphs) for graphs in (True, False)]
    for lr in (0.05, 0.02):
        histories = [net.fit(x, y, epochs=3, batch=20, lr=lr, validation=(x[:9], y[:9])) for net in nets]
        assert histories[0] == histories[1]
        assert same(*map(values, nets))
        for net in nets:
            net.save(tmp_path / "net", optimizer=True)
            net.load_parameters(tmp_path / "net")
        assert np.array_equal(*(net.predict(x) for net in nets))
    assert nets[0].train_step(x, y, 0.1) == nets[1].train_step(x, y, 0.1)
    with pytest.raises(TypeError, match="graphs is 1; needs True or False"):
        make(graphs=1)


def test_small_updates_need_masters_or_stochastic_rounding(rng):
    """float16 weights at 1, steps of 2^-14: lost by rounding to nearest, kept by masters or stochastic rounding."""
    x, dy = np.ones((1, 64), np.float32), np.full((1, 64), -1.0, np.float32)

    def moved(**options):
        net = ng.Network([L.Full(64, bias=False)], (64,), "float16", **options)
        weight = net.parameters[0]
        weight.value.fill(1.0)
        if weight.master is not None:
            weight.master.fill(1.0)
        for _ in range(64):
            net.forward(x)
            net.backward(dy)
            net.update(lr=2.0**-14)
        return weight.value.get().astype(np.float64)

    step = 64 * 2.0**-14  # four units of the last place
    assert (moved(master=False) == 1).all()
    assert (moved(master=True) == 1 + step).all()
    stochastic = moved(rounding="stochastic")
    # 64 trials of probability 1/16 an element, 4096 elements: the mean is within six deviations.
    assert abs(stochastic.mean() - 1 - step) <= 6 * 2.0**-10 * np.sqrt(64 / 16 / 4096)
    assert len(np.unique(stochastic)) > 4


def test_loss_scale_does_not_show(data):
    """With powers of two, float32 gives the same bits."""
    x, y = data
    nets = [make(loss_scale=s) for s in (1, 1024)]
    for net in nets:
        net.fit(x, y, epochs=2, batch=30, lr=0.1, weight_decay=0.01)
    assert same(*map(values, nets))
    rows = [net.statistics(x, y) for net in nets]
    assert rows[0] == rows[1]


def test_last_batch_may_be_smaller(data):
    x, y = data
    net = make()
    seen = []
    net.fit(x, y, epochs=1, batch=40, callback=lambda epoch, history: seen.append((epoch, dict(history))))
    assert [epoch for epoch, _ in seen] == [0]
    assert seen[0][1]["loss"][0] > 0
    assert net.predict(x, batch=7).shape == (90, CLASSES)
    # Each sample's result does not depend on the batch that it is in.
    assert np.array_equal(net.predict(x, batch=7), net.predict(x, batch=90))


def test_rate_by_epoch(data):
    """A function of the epoch gives the bits of fits of one epoch each, and of one fit where it is constant."""
    x, y = data
    by_function, by_hand, constant, plain = (make() for _ in range(4))
    asked, seen = [], []

    def rate(epoch):
        asked.append(epoch)
        return 0.2 / (1 + epoch)

    options = {"batch": 32, "weight_decay": 0.01, "validation": (x[:40], y[:40])}
    history = by_function.fit(
        x, y, epochs=3, lr=rate, callback=lambda e, h: seen.append((e, len(h["val_loss"]))), **options
    )
    parts = [by_hand.fit(x, y, epochs=1, lr=0.2 / (1 + epoch), **options) for epoch in range(3)]
    assert asked == [0, 1, 2] and seen == [(0, 1), (1, 2), (2, 3)]
    assert same(values(by_function), values(by_hand))
    assert history == {name: [v for part in parts for v in part[name]] for name in history}
    assert constant.fit(x, y, epochs=2, lr=lambda _: 0.1, batch=32) == plain.fit(x, y, epochs=2, lr=0.1, batch=32)
    assert same(values(constant), values(plain)) and not same(values(plain), values(by_hand))
    assert make().fit(x, y, epochs=0, lr=rate) == {name: [] for name in history}
    for wrong, error, words in (
        (lambda _: -1.0, ValueError, r"fit: lr\(0\) is -1.0; needs 0 or more"),
        (lambda _: "fast", TypeError, r"fit: lr\(0\) is 'fast'; needs a number"),
        (lambda e: [0.1, np.nan][e], ValueError, r"fit: lr\(1\) is nan; needs a finite number"),
    ):
        with pytest.raises(error, match=words):
            make().fit(x, y, epochs=2, lr=wrong)


def test_default_batch(data):
    """That of the Data layer, else 64."""
    x, y = data

    def trained(own: int, batch: int | None) -> list[np.ndarray]:
        net = ng.Network([L.Data(batch=own), L.Full(CLASSES), L.Softmax()], (6, 5, 2))
        net.fit(x, y, epochs=2, batch=batch)
        return values(net)

    assert same(trained(17, None), trained(0, 17))
    assert same(trained(0, None), trained(0, 64))
    assert not same(trained(0, 17), trained(0, 64))


def test_order_of_samples(data):
    x, y = data
    a, b, c = make(), make(), make()
    a.fit(x, y, epochs=1, shuffle=False)
    b.fit(x, y, epochs=1)
    c.fit(x, y, epochs=1, shuffle=False)
    assert same(values(a), values(c))
    assert not same(values(a), values(b))


def test_samples_of_other_forms(data):
    x, _ = data
    net = make()
    expected = net.predict(x)
    assert np.array_equal(net.predict(x.reshape(90, -1)), expected)
    assert np.array_equal(net.predict(x.astype(np.float64)), expected)
    assert np.array_equal(net.predict(np.asfortranarray(x)), expected)
    assert np.array_equal(net.predict(x.tolist()), expected)
    gray = ng.Network([L.Full(2)], (3, 4, 1))
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    assert np.array_equal(gray.predict(pixels), gray.predict(pixels[..., None].astype(np.float32)))


def test_statistics(data):
    """Those of the tensors themselves."""
    x, y = data
    chain = [L.Conv(3, 3, relu=True), L.Full(CLASSES), L.Softmax()]
    net = ng.Network(chain, (6, 5, 2))
    rows = {(r.layer, r.what): r for r in net.statistics(x, y)}
    with pytest.raises(ValueError, match="one of x and y is missing"):
        net.statistics(x)

    def check(key, tensor):
        assert abs(rows[key].mean_abs - np.abs(tensor).mean()) <= 1e-6 * np.abs(tensor).max()
        assert rows[key].max_abs == np.abs(tensor).max()

    probs = net.forward(x)
    check(("softmax1", "activations"), probs)
    net.backward(y)
    for p in net.parameters:
        check((p.name, "weights"), p.value.get())
        check((p.name, "updates"), p.gradient.get())
    delta = (probs.astype(np.float64) - np.eye(CLASSES)[y]) / len(y)
    assert abs(rows["full1", "deltas"].max_abs - np.abs(delta).max()) <= 1e-6
    assert ("conv1", "deltas") in rows and ("conv1", "activations") in rows
    assert len(rows) == 3 + 2 + 8
    fresh = make()
    with pytest.raises(ValueError, match="there are none yet"):
        fresh.statistics()
    fresh.fit(x, y, statistics=True)
    assert {r.what for r in fresh.statistics()} == {"activations", "deltas", "weights", "updates"}


# --- memory


@pytest.mark.parametrize("layout", ["NHWC", "CHWN"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_shared_memory_does_not_show(data, dtype, layout):
    """Tensors that share memory never live at the same time: training is bit for bit the same without sharing."""
    x, y = data
    a, b = make(dtype, layout=layout), make(dtype, layout=layout)
    b.share_memory(False)
    dx = []
    for net in (a, b):
        net.fit(x, y, epochs=2, batch=32)
        net.forward(x[:9], input_gradient=True)
        dx.append(net.backward(y[:9]))
    assert np.array_equal(*dx)
    assert same(values(a), values(b))
    assert np.array_equal(a.predict(x), b.predict(x))
    training, inference = a.memory(64), a.memory(64, training=False)
    # The most that one step wants may be a forward one's: its copies, with the batch last.
    assert inference.arena <= training.arena < training.unshared
    assert inference.unshared < training.unshared
    assert b.memory(64).arena == b.memory(64).unshared == training.unshared
    half = a.memory(32)
    assert half.arena < training.arena


def test_steps_after_the_first_take_no_memory(data):
    x, y = data
    net = make()
    net.fit(x, y, epochs=1, batch=32)
    before = ng.memory_stats()
    net.fit(x, y, epochs=2, batch=32)
    after = ng.memory_stats()
    assert after.in_use == before.in_use
    assert after.reserved == before.reserved
    assert after.peak == before.peak


def test_out_of_memory_leaves_it_usable(data):
    x, y = data
    net = make()
    before = values(net)
    expected = net.predict(x)
    wide = ng.Network([L.Conv(4096, 1), L.Conv(1, 1)], (64, 64, 1))
    with pytest.raises(MemoryError):
        wide.forward(np.zeros((10000, 64, 64, 1), np.float32))
    assert wide.forward(np.zeros((1, 64, 64, 1), np.float32)).shape == (1, 64, 64, 1)
    assert same(values(net), before)
    assert np.array_equal(net.predict(x), expected)
    net.fit(x, y, epochs=1)


# --- interruption


class Stop(Exception):
    pass


def test_callback_may_raise(data):
    """The steps that were done count; the network goes on from there as one that was told to stop."""
    x, y = data
    net, other = make(), make()

    def stop(epoch, history):
        if epoch == 1:
            raise Stop

    with pytest.raises(Stop):
        net.fit(x, y, epochs=5, batch=32, callback=stop)
    other.fit(x, y, epochs=2, batch=32)
    assert same(values(net), values(other))
    net.fit(x, y, epochs=1, batch=32)
    other.fit(x, y, epochs=1, batch=32)
    assert same(values(net), values(other))


@pytest.mark.parametrize("what", ["fit", "predict", "evaluate", "load"])
def test_keyboard_interrupt(data, what, tmp_path):
    """Ctrl-C ends every long call at once, a fit between two steps."""
    x, y = data
    net = make()
    if what == "load":  # a network of a file is interrupted as any other
        net.save(tmp_path / "net")
        net = ng.Network.load(tmp_path / "net")
    many, labels = np.concatenate([x] * 5000), np.concatenate([y] * 5000)
    calls = {
        "fit": lambda: net.fit(x, y, epochs=1_000_000, batch=30),
        "evaluate": lambda: net.evaluate(many, labels, batch=1),
    }
    work = calls.get(what, lambda: net.predict(many, batch=1))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background may ignore it
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work()
    assert time.monotonic() - began < 10, "that was not at once"
    timer.join()
    signal.signal(signal.SIGINT, before)
    after = values(net)
    assert all(np.isfinite(v).all() for v in after)
    assert np.isfinite(net.evaluate(x, y).loss)
    assert np.isfinite(net.predict(x)).all()
    net.fit(x, y, epochs=1)


# --- files


@pytest.mark.parametrize("layout", ["NHWC", "CHWN"])
@pytest.mark.parametrize(
    ("dtype", "options"),
    [("float32", {}), ("float16", {}), ("float16", {"rounding": "stochastic", "bits": 9, "loss_scale": 64})],
)
def test_save_and_load(data, tmp_path, dtype, options, layout):
    """Bit for bit, and training goes on with the same bits if the velocities were saved too."""
    x, y = data
    net = make(dtype, layout=layout, **options)
    net.fit(x, y, epochs=2, batch=32)
    path = tmp_path / "net.safetensors"
    net.save(path, optimizer=True)
    again = ng.Network.load(path)
    assert same(values(net), values(again))
    assert np.array_equal(net.predict(x), again.predict(x))
    assert [layer.config() for layer in net.layers] == [layer.config() for layer in again.layers]
    assert (again.dtype, again.layout, again.seed, again.loss_scale) == (net.dtype, layout, 3, net.loss_scale)
    for one in (net, again):
        one.fit(x, y, epochs=1, batch=32)
    assert same(values(net), values(again))


def test_file_is_safetensors(data, tmp_path):
    """Another reader finds the parameters, in the form that does not depend on the layout."""
    load_file = pytest.importorskip("safetensors.numpy").load_file
    path = tmp_path / "net.safetensors"
    for layout in ("NHWC", "CHWN"):
        net = make("float16", layout=layout)
        net.fit(*data, epochs=1)
        net.save(path)
        arrays = load_file(path)
        for p in net.parameters:
            assert np.array_equal(arrays.pop(p.name), p.canonical(p.value).get())
            if p.master is not None:
                assert np.array_equal(arrays.pop(p.name + ".master"), p.canonical(p.master).get())
        assert not arrays
    assert [f.name for f in tmp_path.iterdir()] == ["net.safetensors"]


def test_parameters_of_another_layout(data, tmp_path):
    x, _ = data
    path = tmp_path / "net.safetensors"
    a, b = make(), make(seed=8, layout="CHWN")
    a.save(path)
    b.load_parameters(path)
    for p, q in zip(a.parameters, b.parameters, strict=True):
        assert np.array_equal(p.canonical(p.value).get(), q.canonical(q.value).get())
    assert np.abs(a.predict(x) - b.predict(x)).max() < 1e-5


def test_bad_files_change_nothing(data, tmp_path):
    net = make()
    before = values(net)
    path = tmp_path / "net.safetensors"
    net.save(path)
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    other = ng.Network([L.Conv(7, 3), L.Full(2)], (6, 5, 2))
    with pytest.raises(
        ValueError, match=r"'conv1.weight' as float32 \(6, 1, 3, 3, 2\); needs float32 \(7, 1, 3, 3, 2\)"
    ):
        other.load_parameters(path)
    with pytest.raises(ValueError, match="has no 'conv2.weight'"):
        ng.Network([L.Conv(6, 3), L.Conv(1, 1)], (6, 5, 2)).load_parameters(path)
    for damage in [
        b"",
        whole[:7],
        whole[: length // 2],
        whole[:-1],
        (1 << 62).to_bytes(8, "little") + whole[8:],
        whole[:8] + b"[" + whole[9:],
        whole[:8] + whole[8 : 8 + length].replace(b"F32", b"BF1", 1) + whole[8 + length :],
        whole[:8] + b"[" * length + whole[8 + length :],
        whole[:8] + whole[8 : 8 + length].replace(b"[0,", b"[4,", 1) + whole[8 + length :],
    ]:
        path.write_bytes(damage)
        with pytest.raises(ng.Error, match="net.safetensors"):
            net.load_parameters(path)
        with pytest.raises((ng.Error, ValueError)):
            ng.Network.load(path)
    with pytest.raises(ng.Error, match="cannot be read"):
        ng.Network.load(tmp_path / "none")
    with pytest.raises(ng.Error, match="cannot be written"):
        net.save(tmp_path / "no" / "such" / "folder")
    assert same(values(net), before)


# --- what is refused


def test_bad_samples_and_labels(data):
    x, y = data
    net = make()
    before = values(net)
    cases = [
        (ValueError, r"x has shape \(90, 5, 6, 2\); needs \(n, 6, 5, 2\)", (x.transpose(0, 2, 1, 3), y)),
        (ValueError, r"x has shape \(6, 5, 2\)", (x[0], y)),
        (ValueError, "x has no samples", (x[:0], y[:0])),
        (ValueError, "the size of y is 89; needs 90", (x, y[:-1])),
        (ValueError, "y has 0 to 5; needs 0 to 4", (x, np.r_[y[:-1], 5])),
        (ValueError, "y has -1 to 4", (x, np.r_[y[:-1], -1])),
        (TypeError, "y has dtype float64; needs whole numbers", (x, y.astype(float))),
        (ValueError, r"y has shape \(90, 1\)", (x, y[:, None])),
        (TypeError, "x has dtype complex128", (x.astype(complex), y)),
    ]
    for kind, message, (bad_x, bad_y) in cases:
        with pytest.raises(kind, match=message):
            net.fit(bad_x, bad_y)
        with pytest.raises(kind):
            net.fit(x, y, validation=(bad_x, bad_y))
    for message, options in [
        ("batch is 0", {"batch": 0}),
        ("epochs is -1", {"epochs": -1}),
        ("finite", {"lr": float("nan")}),
        ("momentum is inf; needs a finite number, 0 or more and less than 1", {"momentum": float("inf")}),
        ("momentum is 2.0+; needs", {"momentum": 2}),
        ("momentum is 1.0+; needs", {"momentum": 1}),
        ("lr is -1.0+; needs a finite number, 0 or more", {"lr": -1}),
        ("weight_decay is -0.5", {"weight_decay": -0.5}),
        ("3 parts", {"validation": (x, y, y)}),
    ]:
        with pytest.raises(ValueError, match=message):
            net.fit(x, y, **options)
    assert same(values(net), before)


def test_bad_networks():
    with pytest.raises(ValueError, match="layers is empty"):
        ng.Network([], (3,))
    with pytest.raises(TypeError, match=r"layers\[1\] is 3; needs a layer"):
        ng.Network([L.Full(3), 3], (3,))
    with pytest.raises(ValueError, match=r"layers\[0\] is Softmax; needs it at the end"):
        ng.Network([L.Softmax(), L.Full(3)], (3,))
    with pytest.raises(ValueError, match="input_shape is missing"):
        ng.Network([L.Full(3)])
    with pytest.raises(ValueError, match=r"input_shape is \(3, 0, 1\)"):
        ng.Network([L.Full(3)], (3, 0, 1))
    with pytest.raises(ValueError, match="layout is channels_first"):
        ng.Network([L.Full(3)], (3,), layout="NCHW")
    with pytest.raises(TypeError, match="dtype is float64"):
        ng.Network([L.Full(3)], (3,), dtype="float64")
    with pytest.raises(ValueError, match="rounding is 'up'"):
        ng.Network([L.Full(3)], (3,), rounding="up")
    with pytest.raises(ValueError, match="bits is 11; needs 0 to 10"):
        ng.Network([L.Full(3)], (3,), "float16", bits=11)
    with pytest.raises(TypeError, match="needs a convolution after bytes|needs float32"):
        ng.Network([L.Data((3,), dtype="uint8"), L.Full(3)])
    with pytest.raises(ValueError, match="conv2: .*the output is empty"):
        ng.Network([L.Conv(3, 3), L.Conv(3, 3)], (4, 4, 1))


def test_backward_follows_forward(data):
    x, y = data
    net = make()
    with pytest.raises(ValueError, match="no gradients yet"):
        net.update()
    with pytest.raises(ValueError, match="no forward pass to follow"):
        net.backward(y)
    net.forward(x)
    with pytest.raises(ValueError, match="the size of y is 3; needs 90"):
        net.backward(y[:3])
    net.backward(y)
    with pytest.raises(ValueError, match="no forward pass to follow"):
        net.backward(y)
    plain = ng.Network([L.Full(2)], (3,))
    plain.forward(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="the size of dy is 4; needs 8"):
        plain.backward(np.zeros((4, 1)))
    with pytest.raises(ValueError, match="does not end in a Softmax"):
        plain.fit(np.zeros((4, 3)), np.zeros(4, int))


# --- reports


def test_summary(capsys, data):
    net = make()
    text = net.summary()
    assert capsys.readouterr().out == text
    lines = text.splitlines()
    parameters = sum(p.value.size for p in net.parameters)
    assert any(line.split()[:2] == ["total", f"{parameters:,}"] for line in lines)
    assert any(line.startswith("conv1") and "(6, 5, 6)" in line and " 114 " in line for line in lines)
    assert any(line.startswith("  0.conv1") and "(3, 2, 3)" in line for line in lines)
    flops = 2 * (30 * 6 * 18 + 6 * (6 * 3 + 6 * 2 + 4 * 18) + 42 * 8 + 8 * CLASSES)
    assert net.flops == flops


def test_the_program_of_the_readme(rng, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y, yt = rng.integers(0, 10, 200), rng.integers(0, 10, 30)
    x, xt = rng.random((200, 8, 8, 1)), rng.random((30, 8, 8, 1))
    net = ng.Network([ng.layers.Conv(16, 3, padding=1, relu=True), ng.layers.Pool(2), ng.layers.Full(10),
                      ng.layers.Softmax()], input_shape=(8, 8, 1), dtype="float32", seed=1)  # fmt: skip
    history = net.fit(x, y, epochs=2, batch=64, lr=0.05, momentum=0.9, validation=(xt, yt))
    net.predict(xt)
    net.summary()
    net.save("digits.safetensors")
    assert np.isfinite(history["val_loss"]).all()
    assert np.array_equal(ng.Network.load("digits.safetensors").predict(xt), net.predict(xt))


def test_bar_only_on_a_terminal(data, capsys):
    x, y = data
    make().fit(x, y, epochs=1)
    assert capsys.readouterr().err == ""


def test_bar_on_a_terminal():
    pytest.importorskip("tqdm")
    program = """if True:
        import numpy as np, nervanagpu as ng
        net = ng.Network([ng.layers.Full(2), ng.layers.Softmax()], (3,))
        net.fit(np.ones((300, 3)), np.zeros(300, int), epochs=2)
    """
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        pytest.skip(f"there is no pseudo-terminal here: {error}")
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    try:
        subprocess.run([sys.executable, "-c", program], stderr=theirs, timeout=60, check=True, env=os.environ)
        text = os.read(ours, 1 << 16).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "epoch 2/2: 100%" in text
    assert "accuracy 100.00 %" in text
