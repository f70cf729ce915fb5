"""Memory pools, types, and what PyCUDA's tests are written with."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu.kernels import c_types
from nervanagpu.pycuda import driver

if TYPE_CHECKING:
    from collections.abc import Iterator

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

PooledDeviceAllocation = driver.PooledDeviceAllocation


def bitlog2(n: int) -> int:
    """The largest power of two that is not above n, as its exponent; 0 for 0."""
    return max(int(n).bit_length() - 1, 0)


class DeviceMemoryPool:
    """Memory of the library, which keeps what is freed for the next allocation in any case."""

    def __init__(self) -> None:
        self._held: list[Any] = []

    def allocate(self, size: int) -> driver.PooledDeviceAllocation:
        """`size` bytes."""
        return driver.PooledDeviceAllocation(max(int(size), 1), self)

    __call__ = allocate

    @property
    def active_blocks(self) -> int:
        """How many allocations of the pool are in use."""
        return driver.PooledDeviceAllocation.counts.get(id(self), (0, 0))[0]

    @property
    def active_bytes(self) -> int:
        """Of the allocations in use."""
        return driver.PooledDeviceAllocation.counts.get(id(self), (0, 0))[1]

    @property
    def managed_bytes(self) -> int:
        """What the library holds of the device's memory."""
        return int(_core.memory_stats().reserved)

    @property
    def held_blocks(self) -> int:
        """0: what is free belongs to the library."""
        return 0

    def bin_number(self, size: int) -> int:
        """The exponent of the least power of two that holds `size`."""
        return (int(size) - 1).bit_length() if size > 1 else 0

    def alloc_size(self, bin_nr: int) -> int:
        """The size of a bin."""
        return 1 << bin_nr

    def free_held(self) -> None:
        """Give free memory back to the device."""
        _core.release_cached_memory()

    stop_holding = free_held


class PageLockedAllocator:
    """What a PageLockedMemoryPool may be given: where its memory comes from is the library's affair."""

    def __init__(self, flags: int = 0) -> None:
        self.flags = flags


class PageLockedMemoryPool:
    """Page-locked host memory."""

    def __init__(self, allocator: PageLockedAllocator | int = 0) -> None:
        self.active_blocks = 0

    def allocate(self, shape: Sequence[int] | int, dtype: npt.DTypeLike, order: str = "C") -> npt.NDArray[Any]:
        """An undefined array."""
        return driver.pagelocked_empty(shape, dtype, order)

    held_blocks = 0

    def free_held(self) -> None:
        """Nothing: it is freed with its arrays."""

    stop_holding = free_held


def VectorArg(dtype: npt.DTypeLike, name: str, with_offset: bool = False) -> c_types.Declared:
    """A parameter that is an array."""
    return c_types.Declared(np.dtype(dtype), name, True, c_types.name_of(dtype))


def ScalarArg(dtype: npt.DTypeLike, name: str) -> c_types.Declared:
    """A parameter that is a number."""
    return c_types.Declared(np.dtype(dtype), name, False, c_types.name_of(dtype))


def parse_c_arg(c_arg: str) -> c_types.Declared:
    """The parameter that a text declares."""
    return c_types.declared(c_arg)


def dtype_to_ctype(dtype: npt.DTypeLike, with_fp_tex_hack: bool = False) -> str:
    """The C type of a dtype. ValueError for None."""
    if dtype is None:
        raise ValueError("dtype_to_ctype: dtype is None; needs a dtype")
    return c_types.name_of(dtype)


def get_or_register_dtype(
    names: str | Sequence[str], dtype: npt.DTypeLike | None = None, guess_c_names: bool = False
) -> np.dtype[Any]:
    """Let C types have a dtype; without `dtype` the one that a type has."""
    wanted = [names] if isinstance(names, str) else list(names)
    if dtype is None:
        return c_types.dtype_of(wanted[0])
    return c_types.register(dtype, wanted)


register_dtype = get_or_register_dtype


def get_default_device(default: int = 0) -> driver.Device:
    """The device."""
    return driver.Device(0)


def make_default_context(ctx_maker: Callable[[driver.Device], driver.Context] | None = None) -> driver.Context:
    """The context."""
    driver.init()
    device = driver.Device(0)
    return device.make_context() if ctx_maker is None else ctx_maker(device)


context_dependent_memoize = functools.cache


def context_dependent_memozize(function: Callable[..., T]) -> Callable[..., T]:
    """functools.cache: there is one context (older PyCUDA spells it so)."""
    return functools.cache(function)


def clear_context_caches() -> None:
    """Nothing: what is cached lives as long as the process."""


def mark_cuda_test(function: F) -> F:
    """Mark a test as one that needs a device; there always is one."""
    try:
        import pytest
    except ImportError:
        return function
    marked: F = pytest.mark.cuda(function)
    return marked


def init_cuda_context_fixture() -> Iterator[None]:
    """A generator for a fixture that opens the device."""
    driver.init()
    yield
    driver.Context.synchronize()


class DeviceData:
    """Sizes of the device that scripts choose blocks by."""

    def __init__(self, dev: driver.Device | None = None) -> None:
        facts = (dev or driver.Device(0)).get_attributes()
        attribute = driver.device_attribute
        self.max_threads = facts[attribute.MAX_THREADS_PER_BLOCK]
        self.warp_size = facts[attribute.WARP_SIZE]
        self.registers = facts[attribute.MAX_REGISTERS_PER_BLOCK]
        self.shared_memory = facts[attribute.MAX_SHARED_MEMORY_PER_BLOCK]
        self.warps_per_mp = 64
        self.thread_blocks_per_mp = 32
        self.smem_alloc_granularity = 128
        self.smem_granularity = 32

    @staticmethod
    def make_valid_tex_channel_count(size: int) -> int:
        """The least number of channels of a texture, 1, 2 or 4, that holds `size`."""
        for channels in (1, 2, 4):
            if size <= channels:
                return channels
        raise ValueError(f"make_valid_tex_channel_count: size is {size}; needs 4 or fewer")

    def align_bytes(self, word_size: int = 4) -> int:
        """Of rows that warps read as words of 4, 8 or 16 bytes. ValueError for other sizes."""
        sizes = {4: 64, 8: 128, 16: 128}
        if word_size not in sizes:
            raise ValueError(f"align_bytes: word_size is {word_size}; needs 4, 8 or 16")
        return sizes[word_size]

    def align(self, nbytes: int, word_size: int = 4) -> int:
        """nbytes, rounded up to align_bytes."""
        unit = self.align_bytes(word_size)
        return -(-nbytes // unit) * unit

    def align_words(self, word_size: int) -> int:
        """align_bytes in words."""
        return self.align_bytes(word_size) // word_size

    def align_dtype(self, elements: int, dtype_size: int) -> int:
        """elements, rounded up to align_words."""
        unit = self.align_words(dtype_size)
        return -(-elements // unit) * unit


class OccupancyRecord:
    """How much of a multiprocessor blocks of `threads` fill."""

    def __init__(self, devdata: DeviceData, threads: int, shared_mem: int = 0, registers: int = 0) -> None:
        if threads > devdata.max_threads:
            raise ValueError(f"OccupancyRecord: threads is {threads}; the device takes {devdata.max_threads}")
        warps = -(-threads // devdata.warp_size)
        limits = {"warps": devdata.warps_per_mp // warps, "device": devdata.thread_blocks_per_mp}
        if registers:
            limits["regs"] = devdata.registers // (registers * warps * devdata.warp_size)
        if shared_mem:
            limits["smem"] = devdata.shared_memory // shared_mem
        self.tb_per_mp = min(limits.values())
        self.limited_by = min(limits, key=lambda name: limits[name])
        self.warps_per_mp = self.tb_per_mp * warps
        self.occupancy = self.warps_per_mp / devdata.warps_per_mp
