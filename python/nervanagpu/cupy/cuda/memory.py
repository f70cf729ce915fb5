"""CuPy's allocations and pools, over the library's one pool of device memory."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from nervanagpu import _core
from nervanagpu.arrays.creation import empty, pinned
from nervanagpu.calls.arguments import integer, number
from nervanagpu.calls.protocols import AllocatorLike, StreamLike
from nervanagpu.cupy.raw import MemoryPointer
from nervanagpu.pycuda.device import mem_get_info

if TYPE_CHECKING:
    import numpy.typing as npt

OutOfMemoryError = MemoryError


class Memory:
    """Device memory, freed with its last reference."""

    def __init__(self, size: int) -> None:
        self.size = integer("Memory", "size", size, 0)
        self._held = empty(max(self.size, 1), "uint8")
        self.ptr = self._held.ptr
        self.device_id = 0


class UnownedMemory:
    """Device memory of somebody else's, who is kept alive: `owner`."""

    def __init__(self, ptr: int, size: int, owner: object, device_id: int = -1) -> None:
        self.ptr, self.size, self._owner, self.device_id = int(ptr), int(size), owner, 0


def alloc(size: int) -> MemoryPointer:
    """`size` bytes of device memory. MemoryError if there is no room."""
    pointer: MemoryPointer = _allocator(size)
    return pointer


def _from_pool(size: int) -> MemoryPointer:
    return MemoryPointer(Memory(size))


_allocator: Callable[[int], Any] = _from_pool


class MemoryPool:
    """The pool: tensors of any making count. Every MemoryPool is this one."""

    def malloc(self, size: int) -> MemoryPointer:
        """`size` bytes."""
        return _from_pool(size)

    def used_bytes(self) -> int:
        """Of tensors that are in use."""
        return int(_core.memory_stats().in_use)

    def total_bytes(self) -> int:
        """Taken from the device."""
        return int(_core.memory_stats().reserved)

    def free_bytes(self) -> int:
        """Taken from the device and not in use."""
        stats = _core.memory_stats()
        return int(stats.reserved - stats.in_use)

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """What tensors and memory cached for them may take of the current device in all; MemoryError for more.

        size: bytes, 0 for no limit; or fraction: of the device's memory. What is taken already stays.
        """
        if size is not None and fraction is not None:
            raise ValueError("set_limit: there are both size and fraction; needs one of them")
        if fraction is not None:
            size = int(number("set_limit", "fraction", fraction, 0, 1) * mem_get_info()[1])
        _core.set_memory_limit(0 if size is None else integer("set_limit", "size", size, 0, (1 << 63) - 1))

    def get_limit(self) -> int:
        """The limit in bytes; 0: none."""
        return int(_core.memory_limit())

    def free_all_blocks(self, stream: StreamLike = None) -> None:
        """Give what is not in use back to the device."""
        _core.release_cached_memory()

    free_all_free = free_all_blocks


class PinnedMemoryPool:
    """Page-locked host memory, freed with its arrays."""

    def malloc(self, size: int) -> npt.NDArray[Any]:
        """`size` bytes: a NumPy array."""
        return alloc_pinned_memory(size)

    def n_free_blocks(self) -> int:
        """0: nothing is kept."""
        return 0

    def free_all_blocks(self) -> None:
        """Nothing: nothing is kept."""


def alloc_pinned_memory(size: int) -> npt.NDArray[Any]:
    """`size` bytes of page-locked host memory: a NumPy array, which is a buffer."""
    return pinned(integer("alloc_pinned_memory", "size", size, 0), "uint8")


_pool, _pinned = MemoryPool(), PinnedMemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """The pool of device memory."""
    return _pool


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """The pool of page-locked host memory."""
    return _pinned


def set_allocator(allocator: AllocatorLike = None) -> None:
    """What alloc() asks. Tensors take theirs from the library's pool in any case."""
    global _allocator
    _allocator = _from_pool if allocator is None else allocator


def get_allocator() -> Callable[[int], Any]:
    """What alloc() asks."""
    return _allocator


class using_allocator:
    """A context in which alloc() asks another allocator."""

    def __init__(self, allocator: AllocatorLike = None) -> None:
        self._wanted = allocator

    def __enter__(self) -> using_allocator:
        self._before = get_allocator()
        set_allocator(self._wanted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        set_allocator(self._before)


def set_pinned_memory_allocator(allocator: AllocatorLike = None) -> None:
    """Taken and without effect: page-locked memory is asked of the driver."""
