"""What holds memory: statements that of the device, generated kernels that of both sides."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

from nervanagpu import _core
from nervanagpu.calls.arguments import integer
from nervanagpu.calls.protocols import DeviceLike


@dataclass(frozen=True)
class Held:
    """What one statement ("train.py:12: y = x + 1") asked for and holds: bytes, in so many allocations, on a device."""

    statement: str
    bytes: int
    allocations: int
    device: int = 0


@dataclass(frozen=True)
class KernelCache:
    """Kernels that expressions generated, and what finds them faster.

    `entries` are kept and take `bytes`, at most `budget`; `evictions` entries went for that since the process began.
    `loaded`: bytes of kernels that the device has, those among them that went but may still run or are in a graph.
    """

    entries: int
    bytes: int
    budget: int
    evictions: int
    loaded: int


class MemoryReport:
    """Device memory by statement, the largest first, and the memory of generated kernels. As text, a table.

    `held`: of what was allocated since track_memory(True); empty before. `in_use`, `peak`, `reserved`: bytes in all, as
    memory_stats() has them, of the device `device`. `kernels`: a KernelCache.
    """

    def __init__(self, device: DeviceLike = None) -> None:
        self.device = _core.get_device() if device is None else _core.ordinal_of(device)
        self.tracked = _core.records_memory()
        self.held = [h for h in (Held(*row) for row in _core.held_memory()) if h.device == self.device]
        stats = _core.memory_stats(self.device)
        self.in_use, self.peak, self.reserved = stats.in_use, stats.peak, stats.reserved
        self.kernels = KernelCache(*_core.kernel_cache())

    def __repr__(self) -> str:
        lines = [f"{self.in_use:,} bytes in use, at most {self.peak:,}, {self.reserved:,} taken from the device"]
        if self.device:
            lines[0] = f"device {self.device}: {lines[0]}"
        lines += [f"{h.bytes:>16,}  {h.allocations:>6} x  {h.statement or '(elsewhere)'}" for h in self.held]
        rest = self.in_use - sum(h.bytes for h in self.held)
        if not self.tracked:
            lines.append("statements are not recorded: ng.track_memory() before what is to be seen")
        elif rest > 0:
            lines.append(f"{rest:>16,}  from before, and what the allocator rounds up")
        k = self.kernels
        lines.append(
            f"generated kernels: {k.entries:,} entries of {k.bytes:,} bytes in all, at most {k.budget:,}; "
            f"{k.evictions:,} evicted; {k.loaded:,} bytes on the device"
        )
        return "\n".join(lines)


def set_kernel_cache(budget: int) -> None:
    """At most `budget` bytes of generated kernels are kept from now on; those used longest ago are evicted first.

    What runs, or is part of a Graph, stays until it has ended. What was evicted is generated again when it
    is needed, the same.
    256 MiB at first, or the environment's NERVANAGPU_KERNEL_CACHE ("64M").
    """
    _core.set_kernel_cache(integer("set_kernel_cache", "budget", budget, 0, 2**63 - 1))


def memory_report(device: DeviceLike = None) -> MemoryReport:
    """What holds the memory of a device (None: the current one). Statements are recorded after track_memory(True)."""
    return MemoryReport(device)


class track_memory:
    """track_memory(True): record from now on which statement allocates; track_memory(False) ends and forgets.

    An expression's memory is that of the statement that has it computed. It costs some microseconds for each
    allocation, and MemoryErrors then name the statements that hold most. As a context it ends by itself.
    """

    def __init__(self, on: bool = True) -> None:
        _core.record_memory(on)

    def __enter__(self) -> track_memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _core.record_memory(False)
