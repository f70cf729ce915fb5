"""Kernels as PyCUDA calls them: f(*arguments, block=(x, y, z), grid=(x, y))."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nervanagpu.kernels.c_types import Packed
from nervanagpu.kernels.toolchain import Kernel
from nervanagpu.pycuda.device import Device
from nervanagpu.pycuda.driver import (
    NO_TEXTURE_REFERENCES,
    ArgumentHandler,
    DeviceAllocation,
    Event,
    PointerHolderBase,
    Stream,
    stream_of,
)
from nervanagpu.pycuda.enumerations import function_attribute


def _format_of(kind: Any) -> str:
    """The struct module's letter for a letter or a dtype."""
    if isinstance(kind, str) and len(kind) == 1:
        return kind
    letter = np.dtype(kind).char
    return {"l": "q", "L": "Q"}.get(letter, letter)


def _whole(lengths: Sequence[Any] | int) -> tuple[int, ...]:
    """Of a grid or block. Floats, which scripts get by dividing, lose their fractions, as in PyCUDA."""
    return tuple(int(n) for n in ((lengths,) if isinstance(lengths, int) else lengths))


class ArgumentSizeWarning(UserWarning):
    """A number has another size than the parameter that it is for."""


class Function:
    """A kernel. Numbers are NumPy's, of the declared size; others are converted, with an ArgumentSizeWarning."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._shared = 0
        self._formats: list[str] | None = None
        self.name = kernel.name
        self.num_regs = kernel.info.registers
        self.shared_size_bytes = kernel.info.shared
        self.local_size_bytes = kernel.info.local
        self.max_threads_per_block = kernel.info.max_threads
        self.const_size_bytes = 0
        major, minor = Device(0).compute_capability()
        self.ptx_version = self.binary_version = 10 * major + minor

    def get_attribute(self, attribute: int) -> int:
        """What driver.function_attribute names."""
        return int(getattr(self, function_attribute(attribute).name.lower()))

    def set_attribute(self, attribute: int, value: int) -> None:
        """Taken and without effect: a launch asks for the dynamic shared memory that it has."""
        function_attribute(attribute)

    def set_cache_config(self, config: int) -> None:
        """Taken and without effect."""

    def set_shared_config(self, config: int) -> None:
        """Taken and without effect."""

    def __call__(
        self,
        *args: object,
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
            raise ValueError(f"kernel {self._kernel.name}: texrefs: {NO_TEXTURE_REFERENCES}")
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
        """Itself. The declaration says the types; where extern "C" hides them, `arg_types` does: a format of the struct
        module, or dtypes and "P".
        """
        self._shared = shared
        if texrefs:
            raise ValueError(f"kernel {self._kernel.name}: texrefs: {NO_TEXTURE_REFERENCES}")
        if getattr(self._kernel, "types", None) is None:
            kinds = [c for c in arg_types if not c.isspace()] if isinstance(arg_types, str) else list(arg_types)
            self._formats = ["P" if k == "P" else _format_of(k) for k in kinds]
        return self

    def prepared_call(
        self, grid: Sequence[int], block: Sequence[int], *args: object, shared_size: int | None = None
    ) -> None:
        """Run the kernel."""
        shared = self._shared if shared_size is None else shared_size
        self(*args, grid=grid, block=block, shared=shared)

    def prepared_timed_call(
        self, grid: Sequence[int], block: Sequence[int], *args: object, shared_size: int | None = None
    ) -> Callable[[], float]:
        """Run the kernel; what is returned waits for it and tells its seconds."""
        start, end = Event(), Event()
        start.record()
        self.prepared_call(grid, block, *args, shared_size=shared_size)
        end.record()

        def seconds() -> float:
            end.synchronize()
            return end.time_since(start) * 1e-3

        return seconds

    def prepared_async_call(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        stream: Stream | None,
        *args: object,
        shared_size: int | None = None,
    ) -> None:
        """Run the kernel in `stream`."""
        shared = self._shared if shared_size is None else shared_size
        self(*args, grid=grid, block=block, stream=stream, shared=shared)

    def _launch(
        self, grid: Sequence[int], block: Sequence[int], values: list[Any], stream: Stream | None, shared: int
    ) -> None:
        launch = self._kernel[_whole(grid), _whole(block)]
        launch(*values, shared=shared, stream=stream_of(stream))

    def _value(self, index: int, given: Any, copies: list[tuple[ArgumentHandler, DeviceAllocation]]) -> object:
        title = f"kernel {self._kernel.name}: argument {index}"
        if isinstance(given, ArgumentHandler):
            memory = given.upload()
            copies.append((given, memory))
            return int(memory)
        if isinstance(given, np.ndarray):
            raise TypeError(f"{title} is a numpy.ndarray; needs drv.In, drv.Out or drv.InOut around it")
        if isinstance(given, DeviceAllocation | PointerHolderBase) or hasattr(given, "gpudata"):
            return int(given.gpudata if hasattr(given, "gpudata") else given)
        if isinstance(given, np.complexfloating | np.void):
            return Packed.of(given)
        if self._formats is not None and index < len(self._formats) and self._formats[index] != "P":
            return struct.pack(self._formats[index], given)
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
