"""Kernels as PyCUDA calls them: f(*arguments, block=(x, y, z), grid=(x, y))."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from nervanagpu.pycuda.driver import ArgumentHandler, DeviceAllocation, Event, Stream
from nervanagpu.toolchain import Kernel


class ArgumentSizeWarning(UserWarning):
    """A number has another size than the parameter that it is for."""


class Function:
    """A kernel. Numbers are NumPy's, of the declared size; others are converted, with an ArgumentSizeWarning."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._shared = 0
        self.num_regs = kernel.info.registers
        self.shared_size_bytes = kernel.info.shared
        self.local_size_bytes = kernel.info.local

    def __call__(
        self,
        *args: Any,
        block: Sequence[int] | None = None,
        grid: Sequence[int] = (1, 1),
        stream: Stream | None = None,
        shared: int = 0,
        texrefs: Sequence[object] = (),
        time_kernel: bool = False,
    ) -> float | None:
        """Run the kernel. drv.In, Out and InOut are copied before and after; with time_kernel returns its seconds.

        `shared`: bytes of dynamic shared memory. TypeError and ValueError name the argument.
        """
        if block is None:
            raise ValueError(f"kernel {self._kernel.name}: there is no block; needs block=(x, y, z)")
        if texrefs:
            raise ValueError(f"kernel {self._kernel.name}: texrefs are not there; needs none")
        copies: list[tuple[ArgumentHandler, DeviceAllocation]] = []
        values = [self._value(i, a, copies) for i, a in enumerate(args)]
        start, end = Event(), Event()
        if time_kernel:
            start.record(stream)
        self._launch(grid, block, values, stream, shared)
        if time_kernel:
            end.record(stream)
        if copies and stream is not None:
            stream.synchronize()
        for handler, memory in copies:
            handler.download(memory)
        return end.time_since(start) * 1e-3 if time_kernel else None

    def prepare(self, arg_types: Any, shared: int = 0, texrefs: Sequence[object] = ()) -> Function:
        """Itself: the declaration says the types."""
        self._shared = shared
        return self

    def prepared_call(
        self, grid: Sequence[int], block: Sequence[int], *args: Any, shared_size: int | None = None
    ) -> None:
        """Run the kernel."""
        shared = self._shared if shared_size is None else shared_size
        self(*args, grid=grid, block=block, shared=shared)

    def prepared_async_call(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        stream: Stream | None,
        *args: Any,
        shared_size: int | None = None,
    ) -> None:
        """Run the kernel in `stream`."""
        shared = self._shared if shared_size is None else shared_size
        self(*args, grid=grid, block=block, stream=stream, shared=shared)

    def _launch(
        self, grid: Sequence[int], block: Sequence[int], values: list[Any], stream: Stream | None, shared: int
    ) -> None:
        launch = self._kernel[tuple(grid), tuple(block)]
        launch(*values, shared=shared, stream=None if stream is None else stream._stream)

    def _value(self, index: int, given: Any, copies: list[tuple[ArgumentHandler, DeviceAllocation]]) -> Any:
        title = f"kernel {self._kernel.name}: argument {index}"
        if isinstance(given, ArgumentHandler):
            memory = given.upload()
            copies.append((given, memory))
            return int(memory)
        if isinstance(given, np.ndarray):
            raise TypeError(f"{title} is a numpy.ndarray; needs drv.In, drv.Out or drv.InOut around it")
        if isinstance(given, DeviceAllocation):
            return int(given)
        params = self._kernel.info.params
        if isinstance(given, np.number | np.bool_) and index < len(params) and params[index].bytes != given.nbytes:
            types = getattr(self._kernel, "types", None)
            wanted = f"{types[index]}, " if types else ""
            warnings.warn(
                f"{title} is a numpy.{type(given).__name__}, {given.nbytes} bytes; the kernel declares {wanted}"
                f"{params[index].bytes} bytes: converted",
                ArgumentSizeWarning,
                stacklevel=3,
            )
        return given
