"""What is true of two devices; test_devices.py runs it on two emulated ones, and on two GPUs where there are."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import _core

KIND = ng.device().kind
RNG = np.random.default_rng(23)
MIXED = r"is on device [01], .* on device [01]; needs one device"


@pytest.fixture(autouse=True)
def _on_the_first() -> Iterator[None]:
    """Each test begins with device 0, and leaves it so."""
    assert ng.device().ordinal == 0
    yield
    assert ng.device().ordinal == 0


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def on(device: int, host: Any) -> Any:
    return ng.array(host, device=device)


def same(x: Any, host: Any, device: int = 1, bound: float = 1e-5) -> None:
    """x has these elements and is on that device, before and after it is computed."""
    assert x.device.ordinal == device
    got = np.asarray(x.get(), np.float64)
    assert got.shape == np.shape(host)
    assert np.all(np.abs(got - np.asarray(host, np.float64)) <= bound)
    assert x.device.ordinal == device
    if x.size:
        assert _core.device_at(x.ptr) == device


def test_the_devices() -> None:
    assert ng.device_count() == 2
    assert [ng.device(i).ordinal for i in range(2)] == [0, 1]
    assert ng.device(0) != ng.device(1)
    assert len({ng.device(0), ng.device(1), ng.device(1)}) == 2
    assert ng.device(f"{KIND}:1") == ng.device(1) == ng.device(ng.device(1)) == ng.device(np.int64(1))
    assert "device 1" in repr(ng.device(1))
    for wrong in (2, -1, f"{'cuda' if KIND == 'emulator' else 'emulator'}:0", f"{KIND}:2"):
        with pytest.raises(ValueError, match="device is .*; needs"):
            ng.device(wrong)


def test_the_current_one() -> None:
    with ng.device(1) as d:
        assert d == ng.device() == ng.device(1)
        same(ng.ones((2, 3)), np.ones((2, 3)))
        with ng.device(0):
            same(ng.ones(3), np.ones(3), 0)
        same(ng.zeros(0), np.zeros(0))
        with pytest.raises(RuntimeError, match="in the block"), ng.device(0):
            raise RuntimeError("in the block")
        assert ng.device().ordinal == 1
    ng.device(1).use()
    try:
        assert ng.ones(3).device.ordinal == 1
    finally:
        ng.device(0).use()


def test_a_thread_begins_with_the_first() -> None:
    seen = []
    with ng.device(1):
        t = threading.Thread(target=lambda: seen.append(ng.ones(2).device.ordinal))
        t.start()
        t.join()
    assert seen == [0]


def test_threads_each_with_a_device() -> None:
    failed: list[BaseException] = []

    def work(device: int) -> None:
        try:
            rng = np.random.default_rng(device)
            with ng.device(device):
                for n in range(12):
                    a, b = rng.random((33, 17 + n), np.float32), rng.random((17 + n, 9), np.float32)
                    x = ng.array(a)
                    y = ng.tanh(x @ ng.array(b)) + 1
                    x *= 2
                    same(y, np.tanh(a @ b) + 1, device)
                    same(x.sum(0), (2 * a).sum(0), device, 1e-3)
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work, args=(i % 2,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed, failed[0]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int64", "bool", "complex64", "float64"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5), (2, 0, 3), (4099,)])
def test_moving(dtype: str, shape: tuple[int, ...]) -> None:
    host = (RNG.random(shape) * 100).astype(dtype)
    x = ng.array(host)
    y = x.to(1)
    z = y.to(f"{KIND}:0")
    assert [t.device.ordinal for t in (x, y, z)] == [0, 1, 0]
    for t in (y, z):
        assert t.dtype == host.dtype
        assert np.array_equal(t.get(), host)
    assert y.to(1) is y
    assert y.to(ng.device(1)) is y
    y.fill(1)
    assert np.array_equal(x.get(), host)


def test_moving_views_and_expressions() -> None:
    host = floats(7, 6)
    x = on(0, host)
    same(x[::2, ::-1].to(1), host[::2, ::-1])
    same(x.T.to(1), host.T)
    same((x * 2 + 1).to(1), host * 2 + 1)
    y = on(0, host)
    y *= 3
    same(y.to(1), 3 * host)
    same(on(1, x + x), 2 * host)
    same(ng.array(on(1, host), np.float64), host)
    same(ng.asarray(on(1, host)), host)
    same(ng.asarray(x, device=1), host)
    same(x.to_device(ng.device(1)), host)
    assert ng.asarray(x, device=0) is x


def test_moving_by_a_statement_in_place() -> None:
    host = floats(5, 4)
    x, y = on(0, host), ng.zeros((5, 4), device=1)
    y[:] = x
    same(y, host)
    y[1:3, ::2] = 10 * x[2:4, 1::2]
    host2 = host.copy()
    host2[1:3, ::2] = 10 * host[2:4, 1::2]
    same(y, host2)
    y.copy_from(x.T.copy().T)
    same(y, host)
    y[0] = 2
    y[1] = host[3]
    assert np.array_equal(y.get()[1], host[3])


def test_expressions() -> None:
    a, b = floats(9, 7), floats(9, 7)
    x, y = on(1, a), on(1, b)
    same(x + y, a + b)
    same(-x, -a)
    same(2 * x - 1, 2 * a - 1)
    same(ng.exp(x) / (1 + abs(y)), np.exp(a) / (1 + abs(b)), bound=1e-4)
    same(ng.where(x > 0, x, y), np.where(a > 0, a, b))
    same(x * y + x, a * b + a)
    same(x + b, a + b)  # host data goes where the tensor is
    same(b + x, a + b)
    same(ng.add(x, [[1.0] * 7]), a + 1)
    same((x > y).astype(np.float32), a > b)
    same(ng.exp(ng.log_softmax(x)), np.exp(a) / np.exp(a).sum(1, keepdims=True))
    same(ng.std(x, 1), a.std(1))
    same(x.sum(), a.sum(), bound=1e-3)
    same(ng.real(x + 1j * y), a)


def test_in_place() -> None:
    a, b = floats(6, 5), floats(6, 5)
    x, y = on(1, a), on(0, a)
    x *= 2
    y -= 1
    x += x
    y *= y
    same(x, 4 * a)
    same(y, (a - 1) * (a - 1), 0)
    x[2:] += b[2:]
    want = 4 * a
    want[2:] += b[2:]
    same(x, want)
    with pytest.raises(ValueError, match=MIXED):
        x += on(0, b)
    same(x, want)


def test_products() -> None:
    a, b, c = floats(33, 20), floats(20, 12), floats(12)
    x, y, z = on(1, a), on(1, b), on(1, c)
    same(x @ y, a @ b, bound=1e-4)
    same(ng.dot(x, y, bias=z, relu=True), np.maximum(a @ b + c, 0), bound=1e-4)
    same(ng.tanh(x @ y + z), np.tanh(a @ b + c), bound=1e-4)
    out = ng.empty((33, 12), device=1)
    ng.dot(x, y, out=out)
    same(out, a @ b, bound=1e-4)
    p = floats(3, 8, 5)
    q = floats(3, 5, 4)
    same(ng.matmul(on(1, p), on(1, q)), p @ q, bound=1e-4)
    same(ng.linalg.norm(x), np.linalg.norm(a), bound=1e-3)
    plan = ng.GemmPlan(x, y, out)
    out.fill(0)
    plan.launch(x, y, out)
    same(out, a @ b, bound=1e-4)
    with pytest.raises(ValueError, match=MIXED):
        plan.launch(x.to(0), y.to(0), out.to(0))


def test_convolution_and_pooling() -> None:
    x, w = floats(2, 9, 9, 8).astype(np.float16), floats(16, 3, 3, 8).astype(np.float16)
    first = ng.conv2d(on(0, x), on(0, w), padding=1, relu=True)
    second = ng.conv2d(on(1, x), on(1, w), padding=1, relu=True)
    same(second, first.get(), bound=0)
    dy = on(1, first)
    want = ng.conv2d_bprop(first, on(0, w), x.shape, padding=1)
    same(ng.conv2d_bprop(dy, on(1, w), x.shape, padding=1), want.get(), bound=0)
    want = ng.conv2d_update(first, on(0, x), w.shape, padding=1)
    same(ng.conv2d_update(dy, on(1, x), w.shape, padding=1), want.get(), bound=0)
    same(ng.max_pool2d(on(1, x), 2), ng.max_pool2d(on(0, x), 2).get(), bound=0)
    with pytest.raises(ValueError, match=MIXED):
        ng.conv2d(on(0, x), on(1, w), padding=1)
    with pytest.raises(ValueError, match=MIXED):
        ng.conv2d_bprop(on(0, first), on(1, w), x.shape, padding=1)


def test_reductions_sorting_indexing() -> None:
    a = floats(11, 13)
    x = on(1, a)
    same(ng.sort(x), np.sort(a))
    same(ng.argsort(x), np.argsort(a))
    same(ng.cumsum(x, 1), np.cumsum(a, 1), bound=1e-4)
    same(ng.argmax(x, 1), a.argmax(1))
    same(x.max(0), a.max(0))
    same(x[[1, 3, 3]], a[[1, 3, 3]])
    same(x[on(1, np.array([4, 2]))], a[[4, 2]])
    same(x[x > 0], a[a > 0])
    same(ng.take(x, [5, 0], 1), a[:, [5, 0]])
    x[[0, 2]] = 5
    a[[0, 2]] = 5
    same(x, a)
    same(ng.concatenate([x, x]), np.concatenate([a, a]))
    same(ng.stack([x, x]), np.stack([a, a]))
    same(ng.pad(x, 1), np.pad(a, 1))
    same(ng.zeros_like(x), 0 * a)
    same(ng.full_like(x, 3), 0 * a + 3)
    same(ng.tril(x), np.tril(a))
    same(ng.unique(on(1, np.array([3, 1, 3]))), [1, 3])
    same(ng.onehot(on(1, np.array([1, 0])), 3), [[0, 1, 0], [1, 0, 0]])
    same(ng.where(x > 0)[0], np.where(a > 0)[0])
    same(ng.einsum("ij,kj->ik", x, x), a @ a.T, bound=1e-3)
    assert ng.arange(5, device=1).device.ordinal == 1
    same(ng.arange(5, device=1), np.arange(5))
    same(ng.linspace(0, 1, 5, device=1), np.linspace(0, 1, 5))
    same(ng.eye(4, device=1), np.eye(4))
    # What a function has kept for one device is not what another one gets.
    same(ng.argmax(on(0, a), 1), a.argmax(1), 0)


def test_small_operations() -> None:
    a = floats(8, 10)
    x = on(1, a)
    same(ng.nn.convert(x, "float16"), a, bound=1e-2)
    same(ng.layer_norm(x), (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5), bound=1e-4)
    with pytest.raises(ValueError, match=MIXED):
        ng.layer_norm(x, on(0, floats(10)))


def test_random() -> None:
    ng.seed(7)
    first = [ng.rand(5, 3).get() for _ in range(2)]
    with ng.device(1):
        for want in first:  # each device counts for itself
            r = ng.rand(5, 3)
            same(r, want, bound=0)
        x = ng.rand(4)
    same(x + 1, x.get() + 1)
    y = ng.dropout(on(1, np.ones(100, np.float32)), 0.5)
    assert set(np.unique(y.get())) == {0.0, 2.0}
    assert y.device.ordinal == 1
    z = ng.randn(10)
    with ng.device(1):
        same(z, z.get(), 0)


MIXES: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: y - x,
    lambda x, y: x > y,
    lambda x, y: (x + 1) * (y + 1),
    lambda x, y: ng.maximum(x, y),
    lambda x, y: ng.where(x > 0, x, y),
    lambda x, y: x @ y,
    lambda x, y: ng.dot(x, y),
    lambda x, y: ng.dot(x, x, out=y),
    lambda x, y: ng.dot(x, x, bias=y[0]),
    lambda x, y: ng.matmul(x[None], y[None]),
    lambda x, y: ng.concatenate([x, y]),
    lambda x, y: ng.stack([x, y]),
    lambda x, y: ng.take(x, y.astype("int32")),
    lambda x, y: x[y.astype("int32")],
    lambda x, y: ng.add(x, x, out=y),
    lambda x, y: ng.einsum("ij,jk->ik", x, y),
    lambda x, y: ng.nn.activation(x, out=y),
    lambda x, y: ng.nn.convert(x, "float16", out=y.astype("float16")),
    lambda x, y: x.__iadd__(y),
    lambda x, y: x + 1j * y,
    lambda x, y: ng.linalg.solve(x, y),
    lambda x, y: ng.clip(x, y, None),
]


@pytest.mark.parametrize("number", range(len(MIXES)))
def test_mixed_devices_are_refused(number: int) -> None:
    host = floats(4, 4)
    for first, second in ((0, 1), (1, 0)):
        x, y = on(first, host), on(second, host)
        with pytest.raises(ValueError, match=MIXED):
            r = MIXES[number](x, y)
            r.get()
        same(x, host, first)
        same(y, host, second)


def test_the_message_names_both() -> None:
    a, b = ng.zeros((2, 2)), ng.zeros((2, 2), device=1)
    with pytest.raises(ValueError, match=r"dot: a is on device 0, b (is )?on device 1; needs one device"):
        ng.dot(a, b)
    with pytest.raises(ValueError, match=r"concatenate: arrays\[0\] is on device 0, arrays\[1\] on device 1"):
        ng.concatenate([a, b])
    with pytest.raises(ValueError, match=r"is on device 1, .* on device 0"):
        b + a


def test_streams_events_graphs() -> None:
    a = floats(16, 16)
    with ng.device(1):
        stream, event = ng.Stream(), ng.Event()
        x, out = ng.array(a), ng.zeros((16, 16))
        graph = ng.Graph(lambda: out.__setitem__(slice(None), x * 2 + 1))
    ng.dot(x, x, out=out, stream=stream)
    event.record(stream)
    event.make_wait()
    stream.synchronize()
    same(out, a @ a, bound=1e-4)
    graph.launch()
    same(out, 2 * a + 1)
    x.fill(1)
    graph.launch()
    same(out, 0 * a + 3)
    y = on(0, a)
    with pytest.raises(ValueError, match=MIXED):
        ng.dot(y, y, stream=stream)
    with pytest.raises(ValueError, match="needs one device"):
        event.ms_since(ng.Event())
    with pytest.raises(ng.Error, match="another device is used while this thread records"):
        ng.Graph(lambda: x.__setitem__(slice(None), x + 1))
    with pytest.raises(ng.Error, match="another device is used"), ng.device(1):
        ng.Graph(lambda: ng.device(0).use())
    ng.synchronize(device=1)


def test_memory() -> None:
    ng.synchronize()
    before = [ng.memory_stats(device=i).in_use for i in range(2)]
    x = ng.zeros(1 << 20, device=1)
    assert ng.memory_stats(device=0).in_use == before[0]
    assert ng.memory_stats(device=1).in_use >= before[1] + (4 << 20)
    with ng.device(1):
        assert ng.memory_stats().in_use == ng.memory_stats(device=1).in_use
    del x
    assert ng.memory_stats(device=1).in_use == before[1]
    with ng.track_memory():
        y = ng.zeros(1 << 10, device=1)
        z = ng.zeros(1 << 11)
        assert sum(h.bytes for h in ng.memory_report(device=1).held) == y.nbytes
        assert sum(h.bytes for h in ng.memory_report().held) == z.nbytes
        assert "device 1" in repr(ng.memory_report(1))


@pytest.mark.skipif(KIND == "cuda", reason="needs devices of 256 MB")
def test_out_of_memory_on_one() -> None:
    kept = ng.zeros(200 << 18, device=1)
    with pytest.raises(MemoryError):
        ng.zeros(100 << 18, device=1)
    same(ng.ones(3, device=1), np.ones(3))
    other = ng.zeros(200 << 18)
    assert other.device.ordinal == 0
    with pytest.raises(MemoryError):
        other.to(1)
    del kept
    assert other.to(1).device.ordinal == 1


def test_sharing() -> None:
    host = floats(3, 4)
    x = on(1, host)
    again = ng.from_dlpack(x)
    assert again.device.ordinal == 1
    again[1] = 7
    assert np.all(x[1].get() == 7)
    if KIND == "cuda":
        assert x.__dlpack_device__() == (2, 1)
    else:
        assert x.__dlpack_device__() == (1, 0)
        seen = np.from_dlpack(x)
        seen[0, 0] = 42
        assert x[0, 0].item() == 42
    with ng.device(1):
        lent = ng.from_dlpack(host)
    same(lent * 2, host * 2)
    assert ng.from_dlpack(host).device.ordinal == 0


def test_copies_and_pickles() -> None:
    host = floats(3, 4)
    x = on(1, host)
    same(x.copy(), host)
    same(copy.deepcopy(x), host)
    same(x.astype(np.float64), host)
    same(pickle.loads(pickle.dumps(x)), host, 0)  # by way of the host, to the current device


def test_networks() -> None:
    x, y = floats(12, 10), RNG.integers(0, 3, 12)

    def train(device: int) -> np.ndarray:
        chain = [ng.layers.Full(16), ng.layers.Activation("relu"), ng.layers.Full(3), ng.layers.Softmax()]
        with ng.device(device):
            net = ng.Network(chain, (10,), seed=3)
        net.fit(x, y, epochs=2, batch=5)
        return net.predict(x)

    before = ng.memory_stats(device=0).allocations
    second = train(1)
    assert ng.memory_stats(device=0).allocations == before
    assert np.array_equal(second, train(0))


def test_each_where_it_is() -> None:
    host = floats(4, 3)
    x, y = on(0, host) + 1, on(1, host) * 2
    ng.evaluate(x, y)
    same(x, host + 1, 0)
    same(y, host * 2)
    assert not ng.shares_memory(x, y)
    z = ng.zeros((4, 3))
    ng.copyto(z, y)
    same(z, host * 2, 0)


def test_what_is_kept_is_each_devices_own() -> None:
    host = floats(6, 6)
    for device in (1, 0, 1):
        x = on(device, host)
        same(ng.argmin(x, 0), host.argmin(0), device)
        same(ng.triu(x), np.triu(host), device)
        same(ng.fft.fft(x).real, np.fft.fft(host).real, device, 1e-3)
        same(ng.linalg.inv(x), np.linalg.inv(host), device, 1e-2)
