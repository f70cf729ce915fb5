"""Memory shared with other libraries, without a copy: DLPack and the CUDA array interface.

`torch.from_dlpack(x)`, `np.from_dlpack(x)` and `cupy.from_dlpack(x)` see the memory of x, and `from_dlpack` sees
theirs: what one side writes, the other has. Before memory is shared, every expression that reads it is computed;
statements in place on it are done at once from then on. On the emulator tensors are host memory, and NumPy and torch on
the CPU share them.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import Event, GPUTensor, Stream
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import flag, is_integer, shown

if TYPE_CHECKING:
    from typing_extensions import CapsuleType

_HOST, _CUDA, _PINNED, _MANAGED = 1, 2, 3, 13
_VERSION = (1, 0)
_LEGACY, _PER_THREAD = 1, 2  # CUDA's default streams, as the protocol names them


def _gpu() -> bool:
    return _core.device().kind == "cuda"


def _dlpack_device(self: GPUTensor) -> tuple[int, int]:
    """(2, 0) for the first GPU; (1, 0), host memory, on the emulator."""
    return (_CUDA, _core.tensor_device(self)) if _gpu() else (_HOST, 0)


def _pair(name: str, value: object) -> tuple[int, int]:
    """TypeError unless it is two integers."""
    if isinstance(value, tuple | list) and len(value) == 2 and all(is_integer(n) for n in value):
        return int(value[0]), int(value[1])
    raise TypeError(f"{name} is {shown(value)}; needs two integers")


def _let_wait(stream: int | None) -> None:
    """Lets `stream` of the consumer wait for what our default stream has been given."""
    if stream is None or stream in (-1, _LEGACY, _PER_THREAD):
        return  # both default streams wait for ours, and -1 asks for nothing
    if not isinstance(stream, int) or stream <= 0:
        raise BufferError(f"stream is {stream!r}; needs None, -1, 1, 2 or a CUstream")
    written = Event()
    written.record()
    written.make_wait(Stream.from_handle(stream))


def _dlpack(
    self: GPUTensor,
    *,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> CapsuleType:
    """A DLPack capsule: of version 1 if `max_version` allows it, else of version 0, which cannot say read-only.

    dl_device: where it is, or (1, 0) for a copy in host memory. copy: True makes one, False refuses to. BufferError for
    what cannot be had, TypeError for what is no argument.
    """
    if copy is not None:
        flag("__dlpack__", "copy", copy)
    here = _dlpack_device(self)
    wanted = here if dl_device is None else _pair("dl_device", dl_device)
    if wanted not in (here, (_HOST, 0)):
        raise BufferError(f"dl_device is {wanted}; the tensor is on {here} and can be copied to {(_HOST, 0)}")
    if not _gpu() and stream is not None and stream != -1:
        raise BufferError(f"stream is {stream!r}; host memory has none, needs None")
    to_host = wanted != here
    if to_host and copy is False:
        raise BufferError(f"copy is False, but from {here} to {wanted} elements are copied")
    versioned = max_version is not None and _pair("max_version", max_version)[0] >= _VERSION[0]
    given = self.copy() if copy and not to_host else self
    if not versioned and not to_host and _core.read_only(given):
        raise BufferError("the tensor is read-only, which a capsule says from version 1 on: needs max_version=(1, 0)")
    capsule = _core.to_dlpack(given, versioned, to_host, given is not self)
    if _gpu() and not to_host:
        _let_wait(stream)
    return capsule


def _capsule(x: Any, arguments: dict[str, Any]) -> object:
    """Of version 1, or of version 0 from who does not know more."""
    try:
        try:
            return x.__dlpack__(max_version=_VERSION, **arguments)
        except TypeError:
            return x.__dlpack__(**arguments)
    except BufferError as error:
        raise BufferError(f"from_dlpack: x is {shown(x)}, which cannot be shared: {error}") from None


def _never_changes(x: object) -> bool:
    """Whether it is an array of JAX's, whose capsules are of version 0, which cannot say it."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(x, getattr(jax, "Array", ()))


def from_dlpack(x: object, *, copy: bool | None = None) -> GPUTensor:
    """A tensor over the memory of `x`, which has __dlpack__ and is kept alive. Host memory becomes a copy on a GPU.

    Any strides. Over read-only memory, and over JAX's arrays, it is read-only: what would write there is a ValueError.
    copy: True makes one, False never: BufferError. TypeError for a dtype that tensors cannot hold. ValueError for
    memory of another device. BufferError for what its owner does not share, and for memory of other numbers than x.
    """
    if copy is not None:
        flag("from_dlpack", "copy", copy)
    if not (hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")):
        raise TypeError(f"from_dlpack: x is {type(x).__name__}; needs an object with __dlpack__ and __dlpack_device__")
    where, ordinal = _pair("from_dlpack: x.__dlpack_device__()", x.__dlpack_device__())
    if getattr(x, "is_neg", bool)():  # PyTorch shares the memory all the same
        raise BufferError("from_dlpack: x is a view of negated numbers; needs x.resolve_neg()")
    if where == _HOST and _gpu():
        if copy is False:
            raise BufferError("from_dlpack: copy is False, but from the host to the GPU elements are copied")
        return creation.array(np.from_dlpack(x))
    arguments = {"stream": _LEGACY} if where in (_CUDA, _MANAGED) else {}
    if arguments and _gpu() and 0 <= ordinal < _core.device_count():
        # PyTorch gives tensors of the driver's current GPU only.
        capsule = _core.in_driver_context(ordinal, _capsule, x, arguments)
    else:
        capsule = _capsule(x, arguments)
    shared = _core.from_dlpack(capsule, _never_changes(x))
    return shared.copy() if copy else shared


def _interface(self: GPUTensor) -> dict[str, Any]:
    """Version 3 of the CUDA array interface. AttributeError on the emulator and for bfloat16."""
    if not _gpu():
        raise AttributeError("__cuda_array_interface__: there is no GPU")
    if str(self.dtype) == dtypes.BFLOAT16:
        raise AttributeError("__cuda_array_interface__: dtype bfloat16 has no code there")
    dtype = np.dtype(self.dtype)
    _core.expose(self)
    return {
        "shape": self.shape,
        "typestr": dtype.str,
        "data": (self.ptr, _core.read_only(self)),
        "strides": None if self.contiguous else self.strides,
        "stream": _LEGACY,
        "version": 3,
    }


def view_of(interface: dict[str, Any]) -> tuple[int, tuple[int, ...], tuple[int, ...], np.dtype[Any], bool]:
    """Address, shape, strides in elements, dtype and whether it is read-only, of a CUDA array interface.

    ValueError for a mask, and for strides that are no multiple of the element; TypeError for a dtype that tensors
    cannot hold.
    """
    if interface.get("mask") is not None:
        raise ValueError("__cuda_array_interface__: there is a mask, which the library does not support; needs None")
    dtype = np.dtype(interface["typestr"])
    if isinstance(_core.dtype(dtype), str) or not dtype.isnative:
        raise TypeError(f"__cuda_array_interface__: typestr is {interface['typestr']!r}; needs native numbers")
    shape = tuple(int(n) for n in interface["shape"])
    steps = interface.get("strides")
    if steps is None:
        strides = tuple(int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape)))
    else:
        if len(steps) != len(shape) or any(s % dtype.itemsize for s in steps):
            needs = f"needs {len(shape)} multiples of {dtype.itemsize}"
            raise ValueError(f"__cuda_array_interface__: strides are {tuple(steps)} bytes; {needs}")
        strides = tuple(int(s) // dtype.itemsize for s in steps)
    address, read_only = interface["data"]
    return int(address or 0), shape, strides, dtype, bool(read_only)


def from_cuda_array(x: object) -> GPUTensor:
    """A tensor over the memory of `x`, which has __cuda_array_interface__ (version 2 or 3) and is kept alive.

    Work that is queued next waits for the stream that the interface names. Of read-only memory the tensor is read-only.
    TypeError without an interface and for a dtype that tensors cannot hold; ValueError for masks, and on the emulator.
    """
    interface = getattr(x, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(f"from_cuda_array: x is {type(x).__name__}; needs an object with __cuda_array_interface__")
    address, shape, strides, dtype, read_only = view_of(interface)
    if not _gpu():
        raise ValueError("from_cuda_array: there is no GPU; its memory cannot be seen")
    stream = interface.get("stream")
    if stream == 0:
        raise ValueError("from_cuda_array: the interface's stream is 0, which version 3 does not allow")
    if stream is not None and stream not in (_LEGACY, _PER_THREAD):  # both default streams are waited for
        ordinal = _core.device_at(address)
        with _core.device(None if ordinal < 0 else ordinal):
            written = Event()
            written.record(Stream.from_handle(stream))
            written.make_wait()
    return _core.adopt(address, shape, strides, dtype, x, read_only)


def install() -> None:
    """Gives GPUTensor the methods by which other libraries ask for its memory."""
    for name, member in (
        ("__dlpack__", _dlpack),
        ("__dlpack_device__", _dlpack_device),
        ("__cuda_array_interface__", property(_interface)),
    ):
        setattr(GPUTensor, name, member)
