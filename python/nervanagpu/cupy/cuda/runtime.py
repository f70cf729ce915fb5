"""What scripts ask of cupy.cuda.runtime: the device, waiting, copies, memory."""

from __future__ import annotations

from typing import Any

from nervanagpu import _core
from nervanagpu.cupy.cuda.memory import Memory
from nervanagpu.cupy.raw import MemoryPointer
from nervanagpu.pycuda.device import Device, get_driver_version, get_version, mem_get_info

is_hip = False
CUDARuntimeError = _core.Error
memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = range(5)
_allocations: dict[int, Memory] = {}


def getDeviceCount() -> int:
    """How many there are."""
    return _core.device_count()


def getDevice() -> int:
    """The current one."""
    return _core.get_device()


def setDevice(device: int) -> None:
    """Makes it current. ValueError for one that there is not."""
    Device(int(device))
    _core.set_device(int(device))


def getDeviceProperties(device: int) -> dict[str, Any]:
    """By the names of cudaDeviceProp."""
    found = Device(int(device))
    facts = {name.name: value for name, value in found.get_attributes().items()}
    major, minor = found.compute_capability()
    return {
        "name": found.name().encode(),
        "totalGlobalMem": found.total_memory(),
        "sharedMemPerBlock": facts["MAX_SHARED_MEMORY_PER_BLOCK"],
        "regsPerBlock": facts["MAX_REGISTERS_PER_BLOCK"],
        "warpSize": facts["WARP_SIZE"],
        "maxThreadsPerBlock": facts["MAX_THREADS_PER_BLOCK"],
        "maxThreadsDim": tuple(facts[f"MAX_BLOCK_DIM_{a}"] for a in "XYZ"),
        "maxGridSize": tuple(facts[f"MAX_GRID_DIM_{a}"] for a in "XYZ"),
        "totalConstMem": facts["TOTAL_CONSTANT_MEMORY"],
        "major": major,
        "minor": minor,
        "multiProcessorCount": facts["MULTIPROCESSOR_COUNT"],
    }


def deviceSynchronize() -> None:
    """Wait for all work."""
    _core.synchronize()


def streamSynchronize(stream: int) -> None:
    """Wait for the work of a CUstream."""
    if stream == 0:
        _core.synchronize()
    else:
        _core.Stream.from_handle(stream).synchronize()


def memGetInfo() -> tuple[int, int]:
    """(free, total) bytes."""
    return mem_get_info()


def driverGetVersion() -> int:
    """12040 for CUDA 12.4."""
    return get_driver_version()


def runtimeGetVersion() -> int:
    """The compiler's: 12040 for CUDA 12.4."""
    major, minor, _ = get_version()
    return 1000 * major + 10 * minor


def deviceCanAccessPeer(device: int, peer: int) -> int:
    """0: there is one device."""
    return 0


def malloc(size: int) -> int:
    """The address of `size` bytes, which free() gives back."""
    memory = Memory(size)
    _allocations[memory.ptr] = memory
    return memory.ptr


def free(ptr: int) -> None:
    """Give memory of malloc back. ValueError for another address."""
    if ptr and _allocations.pop(ptr, None) is None:
        raise ValueError(f"free: ptr is {ptr}; needs an address of malloc")


def memset(ptr: int, value: int, size: int) -> None:
    """Set `size` bytes."""
    MemoryPointer(ptr).memset(value, size)


def memcpy(dst: int, src: int, size: int, kind: int) -> None:
    """Copy `size` bytes. kind: memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice; ValueError for another."""
    if kind == memcpyHostToDevice:
        MemoryPointer(dst).copy_from_host(src, size)
    elif kind == memcpyDeviceToHost:
        MemoryPointer(src).copy_to_host(dst, size)
    elif kind == memcpyDeviceToDevice:
        MemoryPointer(dst).copy_from_device(src, size)
    else:
        raise ValueError(f"memcpy: kind is {kind}; needs {memcpyHostToDevice}, {memcpyDeviceToHost} or 3")


def profilerStart() -> None:
    """Nothing: profilers of NVIDIA's see the library's kernels in any case."""


profilerStop = profilerStart
