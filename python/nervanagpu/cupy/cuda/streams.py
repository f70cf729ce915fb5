"""CuPy's streams and events.

Kernels of RawKernel, RawModule, ElementwiseKernel and ReductionKernel run in the current stream. Everything else runs
in the default one, which waits for the others and they for it, so that the order of the text holds.
"""

from __future__ import annotations

import threading

from nervanagpu import _core
from nervanagpu.calls.arguments import shown
from nervanagpu.calls.protocols import StreamLike

_state = threading.local()


class Stream:
    """A queue of work; `with stream:` makes it the current one.

    null: the default stream. non_blocking and priority are taken and without effect.
    """

    null: Stream

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int | None = None
    ) -> None:
        self._stream = None if null else _core.Stream()
        self._outer: list[Stream] = []

    @property
    def ptr(self) -> int:
        """The CUstream; 0 is the default one."""
        return 0 if self._stream is None else self._stream.handle

    def synchronize(self) -> None:
        """Wait for its work."""
        if self._stream is None:
            _core.synchronize()
        else:
            self._stream.synchronize()

    @property
    def done(self) -> bool:
        """True, after waiting for its work."""
        self.synchronize()
        return True

    def use(self) -> Stream:
        """Make it the current one."""
        _state.current = self
        return self

    def __enter__(self) -> Stream:
        self._outer.append(get_current_stream())
        return self.use()

    def __exit__(self, *exception: object) -> None:
        self._outer.pop().use()

    def record(self, event: Event | None = None) -> Event:
        """An event that marks this point."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Later work waits for the event."""
        event._event.make_wait(self._stream)

    def launch_host_func(self, callback: object, arg: object) -> None:
        """callback(arg), after waiting for its work."""
        if not callable(callback):
            raise TypeError(f"launch_host_func: callback is {shown(callback)}; needs a function")
        self.synchronize()
        callback(arg)

    def add_callback(self, callback: object, arg: object) -> None:
        """callback(stream, 0, arg), after waiting for its work."""
        if not callable(callback):
            raise TypeError(f"add_callback: callback is {shown(callback)}; needs a function")
        self.synchronize()
        callback(self, 0, arg)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr}>"

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.ptr


class ExternalStream(Stream):
    """A CUstream of another library's, which keeps it alive."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        self._stream = None if ptr == 0 else _core.Stream.from_handle(ptr)
        self._outer = []


Stream.null = Stream(null=True)
Stream.ptds = Stream.null  # type: ignore[attr-defined]


def get_current_stream(device_id: int = -1) -> Stream:
    """The stream of the innermost `with`, or the default one."""
    current: Stream = getattr(_state, "current", Stream.null)
    return current


def native(stream: StreamLike = None) -> _core.Stream | None:
    """The library's stream under one of CuPy's; of None under the current one. TypeError for anything else."""
    if stream is None:
        return get_current_stream()._stream
    if isinstance(stream, _core.Stream):
        return stream
    if not isinstance(stream, Stream):
        raise TypeError(f"stream is {shown(stream)}; needs a Stream or None")
    return stream._stream


class Event:
    """A mark in a stream."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        self._event = _core.Event()

    def record(self, stream: Stream | None = None) -> None:
        """Mark this point of the stream, or of the current one."""
        self._event.record(native(stream))

    def synchronize(self) -> None:
        """Wait until the mark is passed."""
        self._event.synchronize()

    @property
    def done(self) -> bool:
        """True, after waiting for the mark."""
        self.synchronize()
        return True


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two events."""
    for name, event in (("start_event", start_event), ("end_event", end_event)):
        if not isinstance(event, Event):
            raise TypeError(f"get_elapsed_time: {name} is {shown(event)}; needs an Event")
    return end_event._event.ms_since(start_event._event)
