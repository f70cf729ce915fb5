"""The few driver calls a fair timing needs, over ctypes: streams, events and graphs of any launches on a stream."""

from __future__ import annotations

import ctypes as C
import statistics
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

Operands = TypeVar("Operands")


class Stream(Protocol):
    """A stream of the library under test."""

    @property
    def handle(self) -> int: ...
    def synchronize(self) -> None: ...


class CudaError(RuntimeError):
    """A driver call failed; the message names the call and the driver's word for the error."""


class Driver:
    """libcuda.so.1 with the calls below; the current context is whatever the library under test made current."""

    def __init__(self) -> None:
        self.lib = C.CDLL("libcuda.so.1")

    def call(self, name: str, *args: object) -> None:
        """Call `name`; raise CudaError unless it returns CUDA_SUCCESS."""
        status = getattr(self.lib, name)(*args)
        if status != 0:
            text = C.c_char_p()
            self.lib.cuGetErrorName(status, C.byref(text))
            raise CudaError(f"{name}: {text.value.decode() if text.value else status}")


class Event:
    """A timing event."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.handle = C.c_void_p()
        driver.call("cuEventCreate", C.byref(self.handle), 0)

    def record(self, stream: int) -> None:
        """Mark this point of `stream`."""
        self.driver.call("cuEventRecord", self.handle, C.c_void_p(stream))

    def ms_since(self, start: Event) -> float:
        """Milliseconds from `start` to here; waits for both."""
        self.driver.call("cuEventSynchronize", self.handle)
        ms = C.c_float()
        self.driver.call("cuEventElapsedTime", C.byref(ms), start.handle, self.handle)
        return ms.value

    def __del__(self) -> None:
        self.driver.lib.cuEventDestroy_v2(self.handle)


class Graph:
    """What `body` launches on `stream`, captured once and replayed: host cost stays out of the figures."""

    def __init__(self, driver: Driver, stream: int, body: Callable[[], object]) -> None:
        self.driver = driver
        self.stream = C.c_void_p(stream)
        self.handle = C.c_void_p()  # null if the capture fails
        graph = C.c_void_p()
        relaxed = 2
        driver.call("cuStreamBeginCapture_v2", self.stream, relaxed)
        try:
            body()
        finally:
            driver.call("cuStreamEndCapture", self.stream, C.byref(graph))
        driver.call("cuGraphInstantiateWithFlags", C.byref(self.handle), graph, C.c_ulonglong(0))
        driver.lib.cuGraphDestroy(graph)

    def launch(self) -> None:
        """Replay once."""
        self.driver.call("cuGraphLaunch", self.handle, self.stream)

    def __del__(self) -> None:
        if self.handle:
            self.driver.lib.cuGraphExecDestroy(self.handle)


def graph_over(
    driver: Driver, stream: Stream, run: Callable[[Operands], object], sets: Sequence[Operands], passes: int
) -> Graph:
    """`passes` times `run` of each of the sets, captured; the first has run once, so that what it needs is loaded."""

    def body() -> None:
        for _ in range(passes):
            for s in sets:
                run(s)

    run(sets[0])
    stream.synchronize()
    return Graph(driver, stream.handle, body)


def median_ms(driver: Driver, stream: int, graphs: list[Graph], repeats: int) -> list[float]:
    """The median of each graph's milliseconds, launched in turn."""
    start, end = Event(driver), Event(driver)
    times: list[list[float]] = [[] for _ in graphs]
    for _ in range(repeats):
        for which, graph in enumerate(graphs):
            start.record(stream)
            graph.launch()
            end.record(stream)
            times[which].append(end.ms_since(start))
    return [statistics.median(t) for t in times]
