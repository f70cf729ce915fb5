"""What arguments must offer where more than one class will do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, SupportsIndex, SupportsInt

if TYPE_CHECKING:
    from typing import TypeAlias

    from nervanagpu._core import DeviceInfo


class Queue(Protocol):
    """nervanagpu.Stream, and the streams of nervanagpu.cupy and nervanagpu.pycuda."""

    def synchronize(self) -> object:
        """Wait for the work queued so far."""


class Allocator(Protocol):
    """Gives memory: what keeps it alive, whose int() is its address."""

    def __call__(self, size: int, /) -> SupportsInt:
        """`size` bytes."""


StreamLike: TypeAlias = "Queue | None"  # None: the default stream, or the current one
AllocatorLike: TypeAlias = "Allocator | None"  # None: of the library's pool
DeviceLike: TypeAlias = "SupportsIndex | str | DeviceInfo | None"  # an ordinal, "cuda:1"; None: the current one
