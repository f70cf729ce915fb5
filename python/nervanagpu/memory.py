"""Which statement holds device memory."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

from nervanagpu import _core


@dataclass(frozen=True)
class Held:
    """What one statement ("train.py:12: y = x + 1") asked for and holds: bytes, in so many allocations."""

    statement: str
    bytes: int
    allocations: int


class MemoryReport:
    """Device memory by statement, the largest first. As text, a table.

    `held`: of what was allocated since track_memory(True); empty before. `in_use`, `peak`, `reserved`: bytes in all, as
    memory_stats() has them.
    """

    def __init__(self) -> None:
        self.tracked = _core.records_memory()
        self.held = [Held(*h) for h in _core.held_memory()]
        stats = _core.memory_stats()
        self.in_use, self.peak, self.reserved = stats.in_use, stats.peak, stats.reserved

    def __repr__(self) -> str:
        lines = [f"{self.in_use:,} bytes in use, at most {self.peak:,}, {self.reserved:,} taken from the device"]
        lines += [f"{h.bytes:>16,}  {h.allocations:>6} x  {h.statement or '(elsewhere)'}" for h in self.held]
        rest = self.in_use - sum(h.bytes for h in self.held)
        if not self.tracked:
            lines.append("statements are not recorded: ng.track_memory() before what is to be seen")
        elif rest > 0:
            lines.append(f"{rest:>16,}  from before, and what the allocator rounds up")
        return "\n".join(lines)


def memory_report() -> MemoryReport:
    """What holds device memory now. Statements are recorded after track_memory(True)."""
    return MemoryReport()


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
