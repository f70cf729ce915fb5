"""Memory, streams and events, as scripts of PyCUDA use them. Sizes are bytes; host arrays must be contiguous.

Work of the default stream is waited for by copies to and from the host, whose asynchronous forms wait, too.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, SupportsInt

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.pycuda.copies import Memcpy2D as Memcpy2D
from nervanagpu.pycuda.copies import Memcpy3D as Memcpy3D
from nervanagpu.pycuda.device import *  # noqa: F403
from nervanagpu.pycuda.enumerations import *  # noqa: F403
from nervanagpu.pycuda.enumerations import mem_host_register_flags

if TYPE_CHECKING:
    from nervanagpu.pycuda.compiler import CudaModule

NO_TEXTURE_REFERENCES = (
    "texture references are not there: compilers since CUDA 12 refuse texture<>; ng.texture makes a texture object, "
    "which is an argument of kernels"
)
Error = _core.Error
LogicError = LaunchError = RuntimeError = _core.Error
MemoryError = builtins.MemoryError

Address = SupportsInt | GPUTensor
Array = npt.NDArray[Any]


class DeviceAllocation:
    """Device memory, freed with its last reference or by free(). `size`: bytes."""

    def __init__(self, nbytes: int) -> None:
        if nbytes <= 0:
            raise ValueError(f"mem_alloc: nbytes is {nbytes}; needs 1 or more")
        self._memory: GPUTensor | None = _core.empty(nbytes, "uint8")
        self.size = nbytes

    def __int__(self) -> int:
        if self._memory is None:
            raise ValueError("the allocation was freed")
        return self._memory.ptr

    __index__ = __int__

    def __add__(self, offset: int) -> int:
        return int(self) + int(offset)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, SupportsInt) and int(self) == int(other))

    def free(self) -> None:
        """Give the memory back now."""
        self._memory = None

    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """The memory as bytes, as GPUTensor.asbuffer has it."""
        return _device(self, size, offset).asbuffer()


class PooledDeviceAllocation(DeviceAllocation):
    """Memory of a pool, which counts it."""

    counts: ClassVar[dict[int, tuple[int, int]]] = {}  # of a pool: blocks and bytes in use

    def __init__(self, nbytes: int, pool: object) -> None:
        self._pool: object = None
        super().__init__(nbytes)
        self._pool = pool
        self._count(1)

    def __len__(self) -> int:
        return self.size

    def _count(self, sign: int) -> None:
        blocks, size = self.counts.get(id(self._pool), (0, 0))
        self.counts[id(self._pool)] = blocks + sign, size + sign * self.size

    def free(self) -> None:
        """Give the memory back to the pool."""
        super().free()
        if self._pool is not None:
            self._count(-1)
            self._pool = None

    def __del__(self) -> None:
        if self._pool is not None:
            self._count(-1)


def mem_alloc(nbytes: int) -> DeviceAllocation:
    """`nbytes` of device memory. MemoryError if there is no room."""
    return DeviceAllocation(int(nbytes))


def mem_alloc_like(array: Array) -> DeviceAllocation:
    """Device memory of the size of a host array."""
    return mem_alloc(array.nbytes)


def mem_alloc_pitch(width: int, height: int, access_size: int) -> tuple[DeviceAllocation, int]:
    """Memory for `height` rows of `width` bytes, and how many bytes they lie apart: a multiple of 512."""
    if access_size not in (4, 8, 16):
        raise ValueError(f"mem_alloc_pitch: access_size is {access_size}; needs 4, 8 or 16")
    pitch = -(-int(width) // 512) * 512
    return mem_alloc(pitch * int(height)), pitch


class PointerHolderBase:
    """Of classes of scripts that hold an address: get_pointer() says it."""

    def get_pointer(self) -> int:
        raise NotImplementedError("PointerHolderBase: get_pointer is not there; a class of it needs one")

    def __int__(self) -> int:
        return self.get_pointer()

    __index__ = __int__


def _bytes_of(array: object, what: str, writable: bool = False) -> npt.NDArray[np.uint8]:
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


def memcpy_htod(dest: Address, src: object) -> None:
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


def memcpy_htod_async(dest: Address, src: object, stream: Stream | None = None) -> None:
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


def memset_d8_async(dest: Address, data: int, count: int, stream: Stream | None = None) -> None:
    """memset_d8 after the work of `stream`."""
    _wait(stream)
    memset_d8(dest, data, count)


def memset_d16_async(dest: Address, data: int, count: int, stream: Stream | None = None) -> None:
    """memset_d16 after the work of `stream`."""
    _wait(stream)
    memset_d16(dest, data, count)


def memset_d32_async(dest: Address, data: int, count: int, stream: Stream | None = None) -> None:
    """memset_d32 after the work of `stream`."""
    _wait(stream)
    memset_d32(dest, data, count)


def _memset_2d(dest: Address, pitch: int, value: int, width: int, height: int, dtype: str) -> None:
    size = np.dtype(dtype).itemsize
    if pitch % size != 0:
        raise ValueError(f"memset_d2d{8 * size}: pitch is {pitch}; needs a multiple of {size}")
    if width and height:
        start = dest.ptr if isinstance(dest, GPUTensor) else int(dest)
        rows = _core.wrap(start, (height, width), (pitch // size, 1), dtype)
        rows[...] = int(value) % (1 << 8 * size)


def memset_d2d8(dest: Address, pitch: int, data: int, width: int, height: int) -> None:
    """Set `height` rows of `width` bytes, `pitch` bytes apart."""
    _memset_2d(dest, pitch, data, width, height, "uint8")


def memset_d2d16(dest: Address, pitch: int, data: int, width: int, height: int) -> None:
    """Set `height` rows of `width` numbers of 16 bits, `pitch` bytes apart."""
    _memset_2d(dest, pitch, data, width, height, "uint16")


def memset_d2d32(dest: Address, pitch: int, data: int, width: int, height: int) -> None:
    """Set `height` rows of `width` numbers of 32 bits, `pitch` bytes apart."""
    _memset_2d(dest, pitch, data, width, height, "uint32")


def memset_d2d8_async(
    dest: Address, pitch: int, data: int, width: int, height: int, stream: Stream | None = None
) -> None:
    """memset_d2d8 after the work of `stream`."""
    _wait(stream)
    memset_d2d8(dest, pitch, data, width, height)


def memset_d2d16_async(
    dest: Address, pitch: int, data: int, width: int, height: int, stream: Stream | None = None
) -> None:
    """memset_d2d16 after the work of `stream`."""
    _wait(stream)
    memset_d2d16(dest, pitch, data, width, height)


def memset_d2d32_async(
    dest: Address, pitch: int, data: int, width: int, height: int, stream: Stream | None = None
) -> None:
    """memset_d2d32 after the work of `stream`."""
    _wait(stream)
    memset_d2d32(dest, pitch, data, width, height)


def to_device(array: object) -> DeviceAllocation:
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


def pagelocked_zeros(shape: Sequence[int] | int, dtype: npt.DTypeLike, order: str = "C", mem_flags: int = 0) -> Array:
    """A host array of zeros in page-locked memory."""
    out = pagelocked_empty(shape, dtype, order, mem_flags)
    out.fill(0)
    return out


def pagelocked_empty_like(array: Array, mem_flags: int = 0) -> Array:
    """An undefined page-locked array of the shape, dtype and order of `array`."""
    return pagelocked_empty(array.shape, array.dtype, "C" if array.flags.c_contiguous else "F", mem_flags)


def pagelocked_zeros_like(array: Array, mem_flags: int = 0) -> Array:
    """A page-locked array of zeros, of the shape, dtype and order of `array`."""
    return pagelocked_zeros(array.shape, array.dtype, "C" if array.flags.c_contiguous else "F", mem_flags)


def aligned_empty(shape: Sequence[int] | int, dtype: npt.DTypeLike, order: str = "C", alignment: int = 4096) -> Array:
    """An undefined host array whose address is a multiple of `alignment` bytes."""
    kind: np.dtype[Any] = np.dtype(dtype)
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    size = int(np.prod(lengths, dtype=np.int64)) * kind.itemsize
    room = np.empty(size + alignment, np.uint8)
    start = -room.ctypes.data % alignment
    return room[start : start + size].view(kind).reshape(lengths, order="F" if order == "F" else "C")


def aligned_zeros(shape: Sequence[int] | int, dtype: npt.DTypeLike, order: str = "C", alignment: int = 4096) -> Array:
    """As aligned_empty, of zeros."""
    out = aligned_empty(shape, dtype, order, alignment)
    out.fill(0)
    return out


def aligned_empty_like(array: Array, alignment: int = 4096) -> Array:
    """An undefined array of the shape, dtype and order of `array`, whose address is a multiple of `alignment`."""
    return aligned_empty(array.shape, array.dtype, "C" if array.flags.c_contiguous else "F", alignment)


def aligned_zeros_like(array: Array, alignment: int = 4096) -> Array:
    """As aligned_empty_like, of zeros."""
    return aligned_zeros(array.shape, array.dtype, "C" if array.flags.c_contiguous else "F", alignment)


def register_host_memory(ary: Array, flags: int = 0) -> Array:
    """The array itself: copies of any host memory work. ValueError for DEVICEMAP, which it cannot have."""
    if flags & mem_host_register_flags.DEVICEMAP:
        raise ValueError("register_host_memory: flags has DEVICEMAP; needs none: copy the array to the device")
    return ary


def managed_empty(*shape: object, **more: object) -> Array:
    """NotImplementedError: memory is the host's or the device's."""
    raise NotImplementedError(
        "managed memory is not there; copy by memcpy_htod and memcpy_dtoh, or use pagelocked_empty"
    )


managed_zeros = managed_empty_like = managed_zeros_like = managed_empty


def matrix_to_texref(*matrix: object, **more: object) -> None:
    """RuntimeError: compilers since CUDA 12 have no texture references."""
    raise builtins.RuntimeError(NO_TEXTURE_REFERENCES)


matrix_to_array = np_to_array = make_multichannel_2d_array = bind_array_to_texref = matrix_to_texref


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

    def is_done(self) -> bool:
        """True, after waiting for its work."""
        self._stream.synchronize()
        return True

    def wait_for_event(self, event: Event) -> None:
        """Later work here waits for the event."""
        event._event.make_wait(self._stream)


def _wait(stream: Stream | None) -> None:
    if stream is not None:
        stream.synchronize()


def stream_of(stream: Stream | _core.Stream | None) -> _core.Stream | None:
    """The library's stream under one of PyCUDA's."""
    return stream._stream if isinstance(stream, Stream) else stream


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

    def query(self) -> bool:
        """True, after waiting for the mark."""
        self._event.synchronize()
        return True

    def time_since(self, event: Event) -> float:
        """Milliseconds from `event` to here."""
        return self._event.ms_since(event._event)

    def time_till(self, event: Event) -> float:
        """Milliseconds from here to `event`."""
        return event.time_since(self)


def initialize_profiler(config_file: str, output_file: str, output_mode: int) -> None:
    """Taken and without effect: profilers are started from outside."""


def start_profiler() -> None:
    """Nothing: a profiler that is there watches from the first call on."""


def stop_profiler() -> None:
    """Nothing, as start_profiler."""


def module_from_buffer(buffer: bytes, options: object = (), message_handler: object = None) -> CudaModule:
    """The module of a cubin's bytes."""
    from nervanagpu.kernels.toolchain import load
    from nervanagpu.pycuda.compiler import CudaModule

    return CudaModule(load(bytes(buffer)))


def module_from_file(filename: str) -> CudaModule:
    """The module of a cubin's file."""
    from nervanagpu.kernels.toolchain import load, read_cubin
    from nervanagpu.pycuda.compiler import CudaModule

    return CudaModule(load(read_cubin(filename)))


def __getattr__(name: str) -> Any:
    """Classes of modules that are made of this one."""
    if name == "Function":
        from nervanagpu.pycuda.function import Function

        return Function
    if name in ("CompileError", "Module"):
        from nervanagpu.pycuda import compiler

        return compiler.CompileError if name == "CompileError" else compiler.CudaModule
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
