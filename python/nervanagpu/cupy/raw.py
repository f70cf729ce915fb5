"""CuPy's RawKernel and RawModule: CUDA C by NVRTC, or a cubin, and its kernels called as kernel(grid, block, args)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import path_of, shown
from nervanagpu.calls.protocols import StreamLike
from nervanagpu.cupy.kernels import stream_of
from nervanagpu.kernels.c_types import Packed
from nervanagpu.kernels.modules import SourceModule
from nervanagpu.kernels.toolchain import Kernel, Module, load, read_cubin

if TYPE_CHECKING:
    import numpy.typing as npt

_COOPERATIVE = "enable_cooperative_groups is True; a grid cannot wait for itself here: needs False"


def _settings(kind: str, backend: str, cooperative: bool) -> None:
    if backend not in ("nvrtc", "auto"):
        raise ValueError(f"{kind}: backend is {shown(backend)}; needs 'nvrtc'")
    if cooperative:
        raise ValueError(f"{kind}: {_COOPERATIVE}")


def _argument(title: str, value: object) -> object:
    """As a launch takes it: numbers of Python are 8 bytes where the declaration does not say (extern "C")."""
    if isinstance(value, GPUTensor | bytes) or hasattr(value, "__cuda_array_interface__"):
        return value
    if isinstance(value, np.ndarray | np.void | np.complexfloating):
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError(f"{title} is a numpy.ndarray, which lies in host memory; needs a GPUTensor: cp.array(it)")
        return Packed.of(value)
    if isinstance(value, complex):
        return Packed.of(value, np.complex128)
    if value is None:
        return 0
    return value if not hasattr(value, "ptr") else int(value.ptr)


class RawFunction:
    """A kernel: kernel((grid x, y, z), (block x, y, z), (arguments...), shared_mem=bytes)."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.name = kernel.name
        self._shared_limit = 0

    @property
    def kernel(self) -> Kernel:
        """The library's kernel."""
        return self._kernel

    def __call__(
        self, grid: object, block: object, args: Sequence[Any], *, shared_mem: int = 0, stream: StreamLike = None
    ) -> None:
        """Start it in the current stream, or `stream`. TypeError and ValueError name the argument."""
        kernel = self.kernel
        title = f"kernel {self.name}"
        if not isinstance(args, tuple | list):
            raise TypeError(f"{title}: args is {shown(args)}; needs a tuple")
        values = [_argument(f"{title}: argument {i}", a) for i, a in enumerate(args)]
        shape = [tuple(d) if isinstance(d, list | tuple) else (d,) for d in (grid, block)]
        kernel[shape[0], shape[1]](*values, shared=shared_mem, stream=stream_of(stream))

    @property
    def num_regs(self) -> int:
        """Registers of a thread."""
        return self.kernel.info.registers

    @property
    def shared_size_bytes(self) -> int:
        """Static shared memory of a block."""
        return self.kernel.info.shared

    @property
    def local_size_bytes(self) -> int:
        """Local memory of a thread."""
        return self.kernel.info.local

    @property
    def const_size_bytes(self) -> int:
        """0: constants of a module belong to no kernel."""
        return 0

    @property
    def max_threads_per_block(self) -> int:
        """Threads of a block, at most."""
        return self.kernel.info.max_threads or 1024

    @property
    def binary_version(self) -> int:
        """90 for sm_90a."""
        return int(self.kernel.module.cubin.arch[3:].rstrip("af"))

    ptx_version = binary_version

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """What was set; every launch may ask for what the device has."""
        return self._shared_limit

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size: int) -> None:
        self._shared_limit = int(size)

    @property
    def attributes(self) -> dict[str, int]:
        """All of these by name."""
        names = (
            "max_threads_per_block shared_size_bytes const_size_bytes local_size_bytes num_regs ptx_version "
            "binary_version max_dynamic_shared_size_bytes"
        )
        return {name: int(getattr(self, name)) for name in names.split()}


class RawKernel(RawFunction):
    """A kernel of CUDA C, compiled when it is called first: RawKernel(code, "name").

    name: of an extern "C" kernel, or of one alone in the text; "name<float>" names an instance of a template.
    """

    def __init__(
        self,
        code: str,
        name: str,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None:
        for what, text in (("code", code), ("name", name)):
            if not isinstance(text, str):
                raise TypeError(f"RawKernel: {what} is {shown(text)}; needs a text")
        _settings("RawKernel", backend, enable_cooperative_groups)
        self.code, self.name, self.options, self.backend = code, name, tuple(options), backend
        self.file_path = None
        self.enable_cooperative_groups = False
        self._made: Kernel | None = None
        self._shared_limit = 0

    @property
    def kernel(self) -> Kernel:
        """The library's kernel. CompileError; ValueError if the text has none of the name."""
        if self._made is None:
            instances = (self.name,) if "<" in self.name else ()
            module = SourceModule(self.code, options=self.options, instances=instances)
            self._made = _kernel_of("RawKernel", module, self.name)
        return self._made

    def compile(self, log_stream: Any = None) -> None:
        """Compile now; the compiler's warnings go to log_stream."""
        module = self.kernel.module
        if log_stream is not None and isinstance(module, SourceModule):
            log_stream.write(module.log)

    def __repr__(self) -> str:
        return f"<RawKernel {self.name}>"


def _kernel_of(kind: str, module: Module, name: str) -> Kernel:
    try:
        return module[name]
    except KeyError as error:
        raise ValueError(f"{kind}: name is {name!r}: {error.args[0]}") from None


class MemoryPointer:
    """Device memory: an address inside of an allocation, which it keeps."""

    def __init__(self, mem: Any, offset: int = 0) -> None:
        self.mem = mem
        self.ptr = int(getattr(mem, "ptr", mem)) + int(offset)

    def __int__(self) -> int:
        return self.ptr

    __index__ = __int__

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.ptr - int(getattr(self.mem, "ptr", self.mem)) + int(offset))

    __radd__ = __add__

    def __sub__(self, offset: int) -> MemoryPointer:
        return self + -int(offset)

    def _bytes(self, size: int) -> GPUTensor:
        return _core.wrap(self.ptr, int(size), 1, "uint8")

    def copy_from_device(self, src: Any, size: int) -> None:
        """Copy `size` bytes from device memory."""
        if size:
            self._bytes(size)[...] = _core.wrap(int(getattr(src, "ptr", src)), int(size), 1, "uint8")

    def copy_from_host(self, mem: object, size: int) -> None:
        """Copy `size` bytes from a host array, a buffer or an address."""
        if size:
            self._bytes(size).set(_host_bytes("copy_from_host", mem, size))

    def copy_to_host(self, mem: object, size: int) -> None:
        """Copy `size` bytes to a host array, a writable buffer or an address."""
        if size:
            _host_bytes("copy_to_host", mem, size)[...] = self._bytes(size).get()

    def copy_from(self, mem: object, size: int) -> None:
        """Copy `size` bytes from device or host memory."""
        if hasattr(mem, "ptr"):
            self.copy_from_device(mem, size)
        else:
            self.copy_from_host(mem, size)

    copy_from_device_async = copy_from_device
    copy_from_host_async = copy_from_host
    copy_to_host_async = copy_to_host
    copy_from_async = copy_from

    def memset(self, value: int, size: int) -> None:
        """Set `size` bytes."""
        if size:
            self._bytes(size).fill(int(value) % 256)

    def memset_async(self, value: int, size: int, stream: StreamLike = None) -> None:
        """Set `size` bytes."""
        self.memset(value, size)


def _host_bytes(function: str, mem: Any, size: int) -> npt.NDArray[np.uint8]:
    """Host memory as bytes."""
    if isinstance(mem, np.ndarray):
        data = mem.reshape(-1).view(np.uint8) if mem.flags.c_contiguous else None
    elif isinstance(mem, int) or hasattr(mem, "value"):
        import ctypes

        address = int(getattr(mem, "value", mem) or 0)
        data = np.ctypeslib.as_array((ctypes.c_ubyte * size).from_address(address))
    else:
        data = np.frombuffer(mem, np.uint8)
    if data is None or data.size < size:
        raise ValueError(f"{function}: mem has gaps or fewer bytes; needs {size} in one piece")
    return data[:size]


class RawModule:
    """The kernels of a text of CUDA C, or of a cubin: RawModule(code=text) or RawModule(path="file.cubin").

    name_expressions: instances of templates, which get_function then finds by these names.
    """

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | os.PathLike[str] | None = None,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Sequence[str] | None = None,
        jitify: bool = False,
    ) -> None:
        if (code is None) == (path is None):
            both = "neither" if code is None else "both"
            raise TypeError(f"RawModule: code and path: {both} is there; needs one of them")
        if code is not None and not isinstance(code, str):
            raise TypeError(f"RawModule: code is {shown(code)}; needs a text")
        _settings("RawModule", backend, enable_cooperative_groups)
        if path is not None and (options or name_expressions):
            raise ValueError("RawModule: options and name_expressions are for code; path names a cubin")
        if isinstance(name_expressions, str):
            raise TypeError(f"RawModule: name_expressions is {shown(name_expressions)}; needs a sequence of texts")
        self.code, self.options, self.backend = code, tuple(options), backend
        self.file_path = None if path is None else path_of("RawModule", "path", path)
        self.name_expressions = None if name_expressions is None else tuple(name_expressions)
        self.enable_cooperative_groups = False
        self._made: Module | None = None

    @property
    def module(self) -> Module:
        """The library's module. CompileError if the text does not compile."""
        if self._made is None:
            if self.file_path is not None:
                self._made = load(read_cubin(self.file_path))
            else:
                assert self.code is not None
                self._made = SourceModule(self.code, options=self.options, instances=self.name_expressions or ())
        return self._made

    def compile(self, log_stream: Any = None) -> None:
        """Compile now; the compiler's warnings go to log_stream."""
        module = self.module
        if log_stream is not None and isinstance(module, SourceModule):
            log_stream.write(module.log)

    def get_function(self, name: str) -> RawFunction:
        """A kernel by its name. ValueError if there is none."""
        return RawFunction(_kernel_of("RawModule.get_function", self.module, name))

    def get_global(self, name: str) -> MemoryPointer:
        """The memory of a __device__ or __constant__ variable. ValueError if there is none."""
        address, _ = self.module._module.variable(name)
        return MemoryPointer(address)
