"""Device memory shared with other libraries: DLPack and the CUDA array interface.

`torch.from_dlpack(x)` and `cupy.from_dlpack(x)` see the memory of x; what they write, x has. Before it is shared, every
expression that reads it is computed. On the emulator, whose memory nobody else sees, they get a copy on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nervanagpu import _core, creation, dtypes
from nervanagpu._core import Event, GPUTensor, Stream

_HOST, _CUDA = 1, 2


def _dlpack_device(self: GPUTensor) -> tuple[int, int]:
    """(2, 0) for the GPU, (1, 0) for host memory."""
    return (_CUDA if _core.device().kind == "cuda" else _HOST), 0


def _dlpack(
    self: GPUTensor,
    *,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule. BufferError for another device than __dlpack_device__ says, and for a copy on the GPU."""
    gpu = _core.device().kind == "cuda"
    if dl_device is not None and tuple(dl_device) != _dlpack_device(self):
        raise BufferError(f"dl_device is {dl_device}; the tensor is on {_dlpack_device(self)}")
    if copy is not None and copy is gpu:
        raise BufferError("a tensor of the GPU is shared, not copied" if gpu else "a tensor of the emulator is copied")
    capsule = _core.to_dlpack(self)
    if gpu and stream is not None and stream > 2:  # 1 and 2 are default streams, which ours waits for and they for it
        written = Event()
        written.record()
        written.make_wait(Stream.from_handle(stream))
    return capsule


def from_dlpack(x: Any) -> GPUTensor:
    """A copy, on the device, of what `x` (with __dlpack__, on the same GPU or the host) holds.

    TypeError for a dtype that tensors cannot hold; ValueError for memory of another device.
    """
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: x is {type(x).__name__}; needs an object with __dlpack__")
    where = x.__dlpack_device__()[0]
    if where == _HOST and _core.device().kind == "cuda":
        return creation.array(np.from_dlpack(x))
    return _core.from_dlpack(x.__dlpack__(stream=1) if where == _CUDA else x.__dlpack__())


def _interface(self: GPUTensor) -> dict[str, Any]:
    """Version 3 of the CUDA array interface. AttributeError on the emulator and for bfloat16."""
    if _core.device().kind != "cuda":
        raise AttributeError("__cuda_array_interface__: there is no GPU")
    if str(self.dtype) == dtypes.BFLOAT16:
        raise AttributeError("__cuda_array_interface__: dtype bfloat16 has no code there")
    dtype = np.dtype(self.dtype)
    return {
        "shape": self.shape,
        "typestr": dtype.str,
        "data": (self.ptr, False),
        "strides": None if self.contiguous else tuple(s * dtype.itemsize for s in self.strides),
        "stream": 1,
        "version": 3,
    }


def install() -> None:
    """Gives GPUTensor the methods by which other libraries ask for its memory."""
    for name, member in (
        ("__dlpack__", _dlpack),
        ("__dlpack_device__", _dlpack_device),
        ("__cuda_array_interface__", property(_interface)),
    ):
        setattr(GPUTensor, name, member)
