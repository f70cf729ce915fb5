"""DLPack and the CUDA array interface: what other libraries see, how long, and what is refused."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu.arrays import exchange

GPU = ng.device().kind == "cuda"
emulator_only = pytest.mark.skipif(GPU, reason="NumPy does not see device memory")


def address_of(a: np.ndarray) -> int:
    return int(a.__array_interface__["data"][0])


@emulator_only
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int8", "int64", "uint16", "bool"])
def test_numpy_sees_the_memory(dtype: str, rng: np.random.Generator) -> None:
    a = rng.integers(0, 2, (3, 4, 5)).astype(dtype)
    x = ng.array(a)
    for view, want in ((x, a), (x[1:, ::2], a[1:, ::2]), (x[::-1], a[::-1]), (x.T, a.T), (x[0, 0, 0], a[0, 0, 0])):
        got = np.from_dlpack(view)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    if dtype != "bool":
        x += 1  # waits until the memory is asked for
        np.testing.assert_array_equal(np.from_dlpack(x), a + np.asarray(1, dtype))
        np.testing.assert_array_equal(np.from_dlpack(x * 2), (a + np.asarray(1, dtype)) * 2)
    b = np.from_dlpack(x)
    del x
    gc.collect()
    assert ng.memory_stats().in_use > 0  # b keeps it
    b[1] = 1
    np.testing.assert_array_equal(ng.from_dlpack(b).get(), b)


@emulator_only
def test_both_sides_write() -> None:
    x = ng.zeros((4, 6))
    b = np.from_dlpack(x)
    b[:, 1] = 3
    np.testing.assert_array_equal(x.get(), b)
    x += 1  # nobody asks for the memory before NumPy looks
    np.testing.assert_array_equal(b[0], [1, 4, 1, 1, 1, 1])
    x[2] = 9.0
    x[:, ::2] *= 2
    np.testing.assert_array_equal(b[2], [18, 9, 18, 9, 18, 9])

    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    y = ng.from_dlpack(a)
    assert y.ptr == address_of(a)
    y *= 2
    y[1:3, ::3] = ng.ones((2, 2))
    want = np.arange(24, dtype=np.float32).reshape(4, 6) * 2
    want[1:3, ::3] = 1
    np.testing.assert_array_equal(a, want)
    a[0] = 7
    np.testing.assert_array_equal((y + 1).get()[0], np.full(6, 8, np.float32))


@emulator_only
def test_products_read_and_write_there(rng: np.random.Generator) -> None:
    a = rng.standard_normal((70, 50)).astype(np.float32)
    b = rng.standard_normal((90, 50)).astype(np.float32)
    c = np.full((70, 200), 5, np.float32)
    ng.dot(ng.from_dlpack(a), ng.from_dlpack(b.T), out=ng.from_dlpack(c[:, 3:93]))
    np.testing.assert_allclose(c[:, 3:93], a @ b.T, rtol=1e-5, atol=1e-5)
    assert (c[:, :3] == 5).all() and (c[:, 93:] == 5).all()
    steps = a[::-2, ::3]
    np.testing.assert_array_equal(ng.from_dlpack(steps).get(), steps)
    np.testing.assert_allclose(ng.from_dlpack(steps).T.copy().get(), steps.T)
    np.testing.assert_allclose(ng.sum(ng.from_dlpack(steps), 1).get(), steps.sum(1), rtol=1e-5)


@emulator_only
@pytest.mark.parametrize("m, k, n", [(2, 64, 8), (5, 140, 3), (7, 33, 1), (3, 51, 70)])
def test_products_of_memory_that_begins_anywhere(m: int, k: int, n: int, rng: np.random.Generator) -> None:
    b = rng.random((k, n), dtype=np.float32)
    for begins in range(5):
        memory = rng.random(m * k + 8, dtype=np.float32)
        a = memory[begins : begins + m * k]
        for given in (a.reshape(m, k), a.reshape(k, m).T):
            got = ng.dot(ng.from_dlpack(given), ng.from_dlpack(b)).get()
            np.testing.assert_allclose(got, given @ b, rtol=1e-5, atol=1e-5)


def test_our_own_memory_comes_back_as_ours() -> None:
    x = ng.ones((8, 8))
    y = ng.from_dlpack(np.from_dlpack(x)[2:, ::2])
    assert y.ptr == x[2:, ::2].ptr
    later = x + 1
    y[:] = 5.0  # later reads what x held
    assert (later.get() == 2).all()
    assert ng.from_dlpack(x).ptr == x.ptr


class Owner:
    """Something whose end can be seen."""


def held(shape: tuple[int, ...]) -> tuple[np.ndarray, Any]:
    """An array, and whether what it stands on still lives."""
    memory = (ctypes.c_float * int(np.prod(shape)))()
    owner = weakref.ref(memory)
    return np.ctypeslib.as_array(memory).reshape(shape), owner


@emulator_only
def test_memory_is_held_and_given_back_once() -> None:
    a, alive = held((5, 6))
    x = ng.from_dlpack(a)
    view = x[1:, ::2].T
    del a, x
    gc.collect()
    assert alive() is not None
    later = view + 1
    del view
    gc.collect()
    assert alive() is not None  # the expression reads it
    assert later.get().shape == (3, 4)
    del later
    gc.collect()
    assert alive() is None
    for empty in (np.empty((0, 3), np.float32), np.empty((2, 0))):
        assert ng.from_dlpack(empty).shape == empty.shape


def test_memory_comes_back() -> None:
    gc.collect()
    before = ng.memory_stats().in_use
    for version in (None, (0, 8), (1, 0), (1, 3), (2, 0)):
        x = ng.ones((1000,))
        capsule = x.__dlpack__(max_version=version)
        assert ("versioned" in repr(capsule)) == (version is not None and version[0] >= 1)
        del x
        assert ng.memory_stats().in_use > before
        del capsule  # nobody took it
        gc.collect()
        assert ng.memory_stats().in_use == before


class Array(ctypes.Structure):
    """DLTensor, as the specification has it."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", DELETER),
        ("flags", ctypes.c_uint64), ("array", Array),
    )  # fmt: skip


class Producer:
    """Six floats after a capsule of version 1 whose fields the test chooses; counts what is given back."""

    def __init__(self, major: int = 1, flags: int = 0, **fields: int) -> None:
        self.memory = (ctypes.c_float * 7)(*range(7))
        self.shape, self.strides = (ctypes.c_int64 * 2)(2, 3), (ctypes.c_int64 * 2)(3, 1)
        self.given_back = 0
        self.deleter = DELETER(self._give_back)
        array = Array(ctypes.addressof(self.memory), 1, 0, 2, 2, 32, 1, self.shape, self.strides, 0)
        for name, value in fields.items():
            setattr(array, name, value)
        self.managed = Versioned(major, 0, None, self.deleter, flags, array)
        self.device = (array.device_type, array.device_id)

    def _give_back(self, _: int) -> None:
        self.given_back += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **_: Any) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor_versioned", None)


@emulator_only
def test_what_capsules_say() -> None:
    p = Producer()
    x = ng.from_dlpack(p)
    view = x[1]
    assert x.ptr == ctypes.addressof(p.memory)
    np.testing.assert_array_equal(x.get(), [[0, 1, 2], [3, 4, 5]])
    del x
    gc.collect()
    assert p.given_back == 0
    del view
    gc.collect()
    assert p.given_back == 1

    p = Producer(byte_offset=4)
    np.testing.assert_array_equal(ng.from_dlpack(p).get(), [[1, 2, 3], [4, 5, 6]])
    gc.collect()
    assert p.given_back == 1
    copy = ng.from_dlpack(p := Producer(), copy=True)
    gc.collect()
    assert p.given_back == 1
    p.memory[0] = 9
    assert copy.get()[0, 0] == 0

    for refused, error, text in (
        (Producer(major=2), ValueError, "version 2.0"),
        (Producer(device_type=2), ValueError, "device of type 2"),
        (Producer(lanes=4), TypeError, "4 lanes"),
        (Producer(bits=128), TypeError, "code 2 and 128 bits"),
        (Producer(code=9, bits=8), TypeError, "code 9 and 8 bits"),
        (Producer(byte_offset=2), ValueError, "needs a multiple of 4"),
    ):
        with pytest.raises(error, match=text):
            ng.from_dlpack(refused)
        gc.collect()
        assert refused.given_back == 0  # it stays the capsule's, which has no destructor here

    capsule = Producer.__dlpack__(p := Producer())
    x = ng._core.from_dlpack(capsule)
    with pytest.raises(ValueError, match='"used_dltensor_versioned"'):
        ng._core.from_dlpack(capsule)
    del x, capsule
    gc.collect()
    assert p.given_back == 1


@emulator_only
def test_read_only_memory_is_not_written() -> None:
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    a.flags.writeable = False
    x = ng.from_dlpack(a)
    other = ng.ones((3, 4))

    def in_place() -> None:
        nonlocal x
        x += 1

    def indexed() -> None:
        x[np.array([0, 2])] = 1.0

    for write in (
        in_place,
        indexed,
        lambda: x.fill(3),
        lambda: x.set(np.ones((3, 4), np.float32)),
        lambda: x.__setitem__((slice(None), 1), 5.0),
        lambda: x[1:].__setitem__(Ellipsis, other[1:]),
        lambda: x.T.__setitem__(Ellipsis, other.T * 2),
        lambda: ng.dot(other, other.T, out=x[:, :3]),
        lambda: ng.add(other, other, out=x),
        lambda: ng.add_at(x, 0, other[0]),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    np.testing.assert_array_equal(a.ravel(), np.arange(12))
    np.testing.assert_array_equal((x + 1).get(), a + 1)
    y = x.copy()
    y += 1
    np.testing.assert_array_equal(y.get(), a + 1)

    shown = np.from_dlpack(x)
    assert not shown.flags.writeable
    assert address_of(shown) == address_of(a)
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__()
    assert np.from_dlpack(x, copy=True).flags.writeable


def test_arrays_of_jax_are_not_written() -> None:
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.ones((3, 4))
    seen = ng.from_dlpack(x)
    if not GPU:
        with pytest.raises(ValueError, match="read-only"):
            seen[0, 0] = 2
    own = ng.from_dlpack(x, copy=True)
    own[0, 0] = 2
    assert (np.asarray(x) == 1).all() and (seen.get() == 1).all() and own.get().sum() == 13


def test_from_dlpack(rng: np.random.Generator) -> None:
    for dtype in ("float32", "int16", "uint8", "float64"):
        a = rng.integers(0, 99, (4, 6)).astype(dtype)
        x = ng.from_dlpack(a, copy=True)
        want = a.copy()
        a += 1
        np.testing.assert_array_equal(x.get(), want)
        assert x.dtype == a.dtype
    y = ng.from_dlpack(x * 2)
    np.testing.assert_array_equal(y.get(), want * 2)
    with pytest.raises(TypeError, match="needs an object with __dlpack__"):
        ng.from_dlpack([1, 2])
    if GPU:
        with pytest.raises(BufferError, match="copy is False"):
            ng.from_dlpack(a, copy=False)


def test_what_is_refused() -> None:
    x = ng.ones((3,))
    here = x.__dlpack_device__()
    for wrong in ((13, 0), (here[0], 1), (1, 1)):
        with pytest.raises(BufferError, match="dl_device is"):
            x.__dlpack__(dl_device=wrong)
    assert x.__dlpack__(dl_device=here, copy=False) is not None
    for arguments in ({"dl_device": 3}, {"dl_device": (1,)}, {"max_version": 1}, {"max_version": "10"}):
        (name,) = arguments
        with pytest.raises(TypeError, match=f"{name} is .*; needs two integers"):
            x.__dlpack__(**arguments)
    with pytest.raises(TypeError, match="copy is"):
        x.__dlpack__(copy="yes")
    for stream in (0, "1", 1) if not GPU else (0, "1", -2):
        with pytest.raises(BufferError, match="stream is"):
            x.__dlpack__(stream=stream)
    assert hasattr(x, "__cuda_array_interface__") == GPU


def test_who_breaks_the_protocol_is_told() -> None:
    class Half:
        def __dlpack__(self, **more: Any) -> Any:
            return np.ones(3).__dlpack__()

    with pytest.raises(TypeError, match="Half; needs an object with __dlpack__ and __dlpack_device__"):
        ng.from_dlpack(Half())
    for device in ("cpu", 1, (1,), None):
        Half.__dlpack_device__ = lambda self, device=device: device  # type: ignore[attr-defined]
        with pytest.raises(TypeError, match="needs two integers"):
            ng.from_dlpack(Half())


def test_negated_views_of_torch_are_not_shared() -> None:
    """Their memory holds the other numbers; torch's capsule does not say so."""
    torch: Any = pytest.importorskip("torch")
    view = torch.complex(torch.ones(3), torch.ones(3)).conj().imag
    assert view.is_neg()
    with pytest.raises(BufferError, match="resolve_neg"):
        ng.from_dlpack(view)
    np.testing.assert_array_equal(ng.from_dlpack(view.resolve_neg()).get(), -np.ones(3, np.float32))


def test_a_copy_on_the_host() -> None:
    x = ng.array(np.arange(6, dtype=np.float32).reshape(2, 3))
    a = np.from_dlpack(x.T, device="cpu", copy=True)
    np.testing.assert_array_equal(a, x.get().T)
    x += 1
    np.testing.assert_array_equal(a.ravel("F"), np.arange(6))
    if GPU:
        with pytest.raises(BufferError, match="copy is False"):
            x.__dlpack__(dl_device=(1, 0), copy=False)


def test_cuda_array_interfaces_are_read() -> None:
    whole = {"shape": (2, 3), "typestr": "<f4", "data": (4096, False), "version": 3}
    assert exchange.view_of(whole) == (4096, (2, 3), (3, 1), np.dtype("f4"), False)
    stepped = exchange.view_of(whole | {"strides": (-4, 8), "data": (4096, True)})
    assert stepped == (4096, (2, 3), (-1, 2), np.dtype("f4"), True)
    assert exchange.view_of(whole | {"shape": (0, 5), "data": (0, False)})[:3] == (0, (0, 5), (5, 1))
    for change, error, text in (
        ({"mask": object()}, ValueError, "mask"),
        ({"strides": (6, 4)}, ValueError, "multiples of 4"),
        ({"strides": (4,)}, ValueError, "strides are"),
        ({"typestr": ">f4"}, TypeError, "native"),
        ({"typestr": "<M8[s]"}, TypeError, "datetime64"),
    ):
        with pytest.raises(error, match=text):
            exchange.view_of(whole | change)
    with pytest.raises(TypeError, match="needs an object with __cuda_array_interface__"):
        exchange.from_cuda_array(np.ones(3))
    if not GPU:
        Owner.__cuda_array_interface__ = whole  # type: ignore[attr-defined]
        with pytest.raises(ValueError, match="no GPU"):
            exchange.from_cuda_array(Owner())


@pytest.mark.skipif(not GPU, reason="needs a GPU")
def test_torch_shares_memory(rng: np.random.Generator) -> None:
    torch: Any = pytest.importorskip("torch")
    a = rng.standard_normal((5, 6)).astype(np.float32)
    x = ng.array(a)
    before = x + 1
    t = torch.from_dlpack(x)
    t *= 2
    np.testing.assert_array_equal(x.get(), a * 2)
    np.testing.assert_array_equal(before.get(), a + 1)
    for share in (ng.from_dlpack, exchange.from_cuda_array):
        y = share(t[:, ::2])
        assert y.ptr == t.data_ptr()
        np.testing.assert_array_equal(y.get(), (a * 2)[:, ::2])
    assert torch.as_tensor(x, device="cuda").data_ptr() == x.ptr
    np.testing.assert_array_equal(torch.as_tensor(x[1:, ::2], device="cuda").cpu().numpy(), (a * 2)[1:, ::2])
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        x += 1
        np.testing.assert_array_equal(torch.from_dlpack(x).cpu().numpy(), a * 2 + 1)
