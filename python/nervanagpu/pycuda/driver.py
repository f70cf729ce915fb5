"""Memory, streams and events, as scripts of PyCUDA use them. Sizes are bytes; host arrays must be contiguous.

Work of the default stream is waited for by copies to and from the host, whose asynchronous forms wait, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsInt

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor

Address = SupportsInt | GPUTensor
Array = npt.NDArray[Any]


class DeviceAllocation:
    """Device memory, freed with its last reference or by free()."""

    def __init__(self, nbytes: int) -> None:
        if nbytes <= 0:
            raise ValueError(f"mem_alloc: nbytes is {nbytes}; needs 1 or more")
        self._memory: GPUTensor | None = _core.empty(nbytes, "uint8")

    def __int__(self) -> int:
        if self._memory is None:
            raise ValueError("the allocation was freed")
        return self._memory.ptr

    __index__ = __int__

    def free(self) -> None:
        """Give the memory back now."""
        self._memory = None


def mem_alloc(nbytes: int) -> DeviceAllocation:
    """`nbytes` of device memory. MemoryError if there is no room."""
    return DeviceAllocation(int(nbytes))


def mem_get_info() -> tuple[int, int]:
    """(free, total) bytes: what this process does not hold of the device's memory, and all of it."""
    total = _core.device().memory
    return total - _core.memory_stats().reserved, total


def _bytes_of(array: Any, what: str, writable: bool = False) -> npt.NDArray[np.uint8]:
    """The memory of a host array."""
    host = array if isinstance(array, np.ndarray) else np.asarray(array)
    if not (host.flags.c_contiguous or host.flags.f_contiguous):
        raise ValueError(f"{what}: the array has gaps; needs a contiguous one (numpy.ascontiguousarray)")
    if writable and not (isinstance(array, np.ndarray) and host.flags.writeable):
        raise TypeError(f"{what}: {type(array).__name__} cannot be written to; needs a writable numpy.ndarray")
    return (host if host.flags.c_contiguous else host.T).reshape(-1).view(np.uint8)


def _device(address: Address, nbytes: int, offset: int = 0) -> GPUTensor:
    start = address.ptr if isinstance(address, GPUTensor) else int(address)
    return _core.wrap(start + offset, nbytes, 1, "uint8")


def memcpy_htod(dest: Address, src: Any) -> None:
    """Copy a host array to device memory."""
    data = _bytes_of(src, "memcpy_htod")
    if data.size:
        _device(dest, data.size).set(data)


def memcpy_dtoh(dest: Array, src: Address) -> None:
    """Fill a host array from device memory."""
    data = _bytes_of(dest, "memcpy_dtoh", writable=True)
    if data.size:
        data[:] = _device(src, data.size).get()


def memcpy_dtod(dest: Address, src: Address, size: int) -> None:
    """Copy `size` bytes inside the device."""
    if size:
        _device(dest, size)[:] = _device(src, size)


def memcpy_htod_async(dest: Address, src: Any, stream: Stream | None = None) -> None:
    """memcpy_htod after the work of `stream`."""
    _wait(stream)
    memcpy_htod(dest, src)


def memcpy_dtoh_async(dest: Array, src: Address, stream: Stream | None = None) -> None:
    """memcpy_dtoh after the work of `stream`."""
    _wait(stream)
    memcpy_dtoh(dest, src)


def memcpy_dtod_async(dest: Address, src: Address, size: int, stream: Stream | None = None) -> None:
    """memcpy_dtod after the work of `stream`."""
    _wait(stream)
    memcpy_dtod(dest, src, size)


def _memset(dest: Address, value: int, count: int, dtype: str) -> None:
    if count:
        start = dest.ptr if isinstance(dest, GPUTensor) else int(dest)
        _core.wrap(start, count, 1, dtype).fill(int(value) % (1 << 8 * np.dtype(dtype).itemsize))


def memset_d8(dest: Address, data: int, count: int) -> None:
    """Set `count` bytes."""
    _memset(dest, data, count, "uint8")


def memset_d16(dest: Address, data: int, count: int) -> None:
    """Set `count` numbers of 16 bits."""
    _memset(dest, data, count, "uint16")


def memset_d32(dest: Address, data: int, count: int) -> None:
    """Set `count` numbers of 32 bits."""
    _memset(dest, data, count, "uint32")


def to_device(array: Any) -> DeviceAllocation:
    """Device memory that holds a copy of a host array."""
    out = mem_alloc(_bytes_of(array, "to_device").size)
    memcpy_htod(out, array)
    return out


def from_device(devptr: Address, shape: Sequence[int] | int, dtype: npt.DTypeLike, order: str = "C") -> Array:
    """A host array of what lies at `devptr`."""
    out = np.empty(shape, dtype, order="F" if order == "F" else "C")
    memcpy_dtoh(out, devptr)
    return out


def from_device_like(devptr: Address, other_ary: Array) -> Array:
    """A host array of the shape and dtype of `other_ary`, of what lies at `devptr`."""
    return from_device(devptr, other_ary.shape, other_ary.dtype, "C" if other_ary.flags.c_contiguous else "F")


def pagelocked_empty(shape: Sequence[int] | int, dtype: npt.DTypeLike, order: str = "C", mem_flags: int = 0) -> Array:
    """An undefined host array in page-locked memory."""
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    return _core.pinned(lengths, dtype) if order != "F" else _core.pinned(lengths[::-1], dtype).T


class ArgumentHandler:
    """A host array as an argument of a kernel, which sees a copy of it in device memory."""

    before = after = True

    def __init__(self, array: Array) -> None:
        _bytes_of(array, type(self).__name__, writable=self.after)
        self.array = array

    def upload(self) -> DeviceAllocation:
        """Device memory for the call."""
        out = mem_alloc(max(self.array.nbytes, 1))
        if self.before:
            memcpy_htod(out, self.array)
        return out

    def download(self, memory: DeviceAllocation) -> None:
        """What the kernel wrote, into the array."""
        if self.after:
            memcpy_dtoh(self.array, memory)


class In(ArgumentHandler):
    """The kernel reads the array."""

    after = False


class Out(ArgumentHandler):
    """The kernel writes all of the array, whose elements it does not read."""

    before = False


class InOut(ArgumentHandler):
    """The kernel reads and writes the array."""


class Stream:
    """A queue of work beside the default one."""

    def __init__(self, flags: int = 0) -> None:
        self._stream = _core.Stream()

    @property
    def handle(self) -> int:
        return self._stream.handle

    def synchronize(self) -> None:
        """Wait for its work."""
        self._stream.synchronize()

    def wait_for_event(self, event: Event) -> None:
        """Later work here waits for the event."""
        event._event.make_wait(self._stream)


def _wait(stream: Stream | None) -> None:
    if stream is not None:
        stream.synchronize()


class Event:
    """A mark in a stream. Times are milliseconds."""

    def __init__(self, flags: int = 0) -> None:
        self._event = _core.Event()

    def record(self, stream: Stream | None = None) -> Event:
        """Mark this point of the stream."""
        self._event.record(None if stream is None else stream._stream)
        return self

    def synchronize(self) -> Event:
        """Wait until the mark is passed."""
        self._event.synchronize()
        return self

    def time_since(self, event: Event) -> float:
        """Milliseconds from `event` to here."""
        return self._event.ms_since(event._event)

    def time_till(self, event: Event) -> float:
        """Milliseconds from here to `event`."""
        return event.time_since(self)


class Context:
    """The one context that there is; it ends with the process."""

    @staticmethod
    def synchronize() -> None:
        """Wait for all work."""
        _core.synchronize()

    @staticmethod
    def get_device() -> Device:
        return Device(0)

    @staticmethod
    def pop() -> None:
        """Nothing: the context stays."""

    def push(self) -> None:
        """Nothing: the context stays."""

    def detach(self) -> None:
        """Nothing: the context stays."""


class Device:
    """The device that this library runs on; its number is 0."""

    def __init__(self, number: int = 0) -> None:
        if number != 0:
            raise ValueError(f"Device: number is {number}; needs 0 (CUDA_VISIBLE_DEVICES chooses the GPU)")

    @staticmethod
    def count() -> int:
        return 1

    def name(self) -> str:
        return _core.device().name

    def total_memory(self) -> int:
        return _core.device().memory

    def compute_capability(self) -> tuple[int, int]:
        number = int(_core.device().arch[3:].rstrip("af"))
        return number // 10, number % 10

    def make_context(self, flags: int = 0) -> Context:
        _core.device()
        return Context()


def init(flags: int = 0) -> None:
    """Open the device."""
    _core.device()
