"""cupy.cuda: the device, memory, streams and events."""

from __future__ import annotations

from nervanagpu import _core
from nervanagpu.cuda_toolkit import nvrtc
from nervanagpu.cupy.cuda import device as device
from nervanagpu.cupy.cuda import memory as memory
from nervanagpu.cupy.cuda import nvtx as nvtx
from nervanagpu.cupy.cuda import runtime as runtime
from nervanagpu.cupy.cuda import streams as stream
from nervanagpu.cupy.cuda.device import Device, get_device_id
from nervanagpu.cupy.cuda.memory import (
    Memory,
    MemoryPool,
    OutOfMemoryError,
    PinnedMemoryPool,
    UnownedMemory,
    alloc,
    alloc_pinned_memory,
    get_allocator,
    set_allocator,
    set_pinned_memory_allocator,
    using_allocator,
)
from nervanagpu.cupy.cuda.streams import Event, ExternalStream, Stream, get_current_stream, get_elapsed_time
from nervanagpu.cupy.raw import MemoryPointer

CompileException = nvrtc.CompileError


def is_available() -> bool:
    """Whether the device is a GPU, not the emulator."""
    return bool(_core.device().kind != "emulator")


def get_cuda_path() -> str | None:
    """Where CUDA is installed; None if it is not."""
    from nervanagpu.cuda_toolkit import cuda_folders

    for folder in cuda_folders.toolkits():
        if folder.is_dir():
            return str(folder)
    return None


class profile:
    """A context for NVIDIA's profilers, without effect."""

    def __enter__(self) -> profile:
        return self

    def __exit__(self, *exception: object) -> None:
        return None


__all__ = [
    "CompileException",
    "Device",
    "Event",
    "ExternalStream",
    "Memory",
    "MemoryPointer",
    "MemoryPool",
    "OutOfMemoryError",
    "PinnedMemoryPool",
    "Stream",
    "UnownedMemory",
    "alloc",
    "alloc_pinned_memory",
    "device",
    "get_allocator",
    "get_cuda_path",
    "get_current_stream",
    "get_device_id",
    "get_elapsed_time",
    "is_available",
    "memory",
    "nvtx",
    "profile",
    "runtime",
    "set_allocator",
    "set_pinned_memory_allocator",
    "stream",
    "using_allocator",
]
