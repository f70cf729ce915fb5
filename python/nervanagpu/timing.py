"""How long something takes on the device."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nervanagpu import _core
from nervanagpu._core import Event, GPUTensor, Stream
from nervanagpu.calls.arguments import integer, shown


@dataclass(frozen=True)
class Benchmark:
    """Milliseconds of single runs. `ms` is the median; half of the runs lie between `low` and `high`; `host_ms` is the
    median of what the calling thread was busy for. `times` has all of them, in order.
    """

    ms: float
    low: float
    high: float
    host_ms: float
    times: tuple[float, ...]

    def __repr__(self) -> str:
        spread = f"{self.low:.4g} to {self.high:.4g}"
        return f"<Benchmark: {self.ms:.4g} ms ({spread}; host {self.host_ms:.4g} ms; {len(self.times)} runs)>"


def _computed(result: object) -> None:
    """Computes the expressions that a function returned."""
    if isinstance(result, GPUTensor):
        _core.evaluate(result)
    elif isinstance(result, list | tuple):
        for item in result:
            _computed(item)


def _quartiles(times: Iterable[float]) -> tuple[float, float, float]:
    ordered = sorted(times)
    if len(ordered) < 2:
        return ordered[0], ordered[0], ordered[0]
    low, middle, high = (_between(ordered, quarter * (len(ordered) - 1) / 4) for quarter in (1, 2, 3))
    return low, middle, high


def _between(ordered: Sequence[float], place: float) -> float:
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def benchmark(
    f: Callable[..., Any],
    *args: object,
    repeat: int = 20,
    warmup: int = 3,
    stream: Stream | None = None,
    **kwargs: object,
) -> Benchmark:
    """Time f(*args, **kwargs) on the device, run after run, between events of `stream`.

    Expressions that f returns, alone or in a list or tuple, are computed as part of the run; so are in-place operators.
    `warmup` runs come first: kernels are made and loaded there. Launches return before their kernels end, so a clock
    around f tells little (and `time.time()` around an expression that nobody has asked for tells nothing). Where a run
    keeps the host busy for longer than the device (`host_ms`), `ms` is the host's. ValueError for repeat below 1.
    """
    if not callable(f):
        raise TypeError(f"benchmark: f is {shown(f)}; needs a function")
    integer("benchmark", "repeat", repeat, 1)
    integer("benchmark", "warmup", warmup, 0)
    for _ in range(warmup):
        _computed(f(*args, **kwargs))
    _core.synchronize()
    marks = [(Event(), Event()) for _ in range(repeat)]
    host = []
    for start, end in marks:
        start.record(stream)
        begin = time.perf_counter()
        _computed(f(*args, **kwargs))
        end.record(stream)
        host.append((time.perf_counter() - begin) * 1e3)
    _core.synchronize()
    times = [end.ms_since(start) for start, end in marks]
    low, middle, high = _quartiles(times)
    return Benchmark(middle, low, high, _quartiles(host)[1], tuple(times))
