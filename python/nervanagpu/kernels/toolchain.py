"""Kernels of one's own: assemble, load, launch.

module = ng.load(text)                      # a template, a cubin's bytes, or a Cubin
module["scale"][grid, block](x, y, n, 2.0)  # or module.scale[grid](...) where the kernel states its block
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from nervanagpu import _core
from nervanagpu._core import Cubin, KernelInfo, Stream

if TYPE_CHECKING:
    from nervanagpu._core import GPUTensor
    from nervanagpu.arrays.files import Archive

Dimensions = SupportsIndex | Sequence[SupportsIndex]


def assemble(
    text: str,
    arch: str | None = None,
    *,
    name: str = "kernel.sass",
    defines: Mapping[str, int | str] | None = None,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
) -> Cubin:
    """Assemble every variant of a template (docs: the template language) and prove each free of hazards.

    `arch` is "sm_90a", "sm_52", ...; None: the device's if the template is written for it, else the template's first.
    `name` is what messages call the text. `.include` reads what lies below `include_dirs` alone: nothing through
    "..", an absolute path or a link. `defines` restricts `.variants` or defines names, as -D of ngasm. Raises
    AssembleError with `line`, `column` and, as its text, the whole diagnostic.
    """
    fixed = {key: str(value) for key, value in (defines or {}).items()}
    return _core.assemble(text, arch or "", name, fixed, [os.fspath(d) for d in include_dirs])


_MAX_CUBIN_BYTES = 1 << 30


def _bytes_of_file(path: str | os.PathLike[str]) -> bytes:
    """An ordinary file's bytes; devices and pipes, which may never end, are refused and not waited for."""
    name = os.fspath(path)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        about = os.fstat(fd)
        if stat.S_ISDIR(about.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
        if not stat.S_ISREG(about.st_mode):
            raise ValueError(f"{name!r} is no ordinary file; needs a cubin's")
        if about.st_size > _MAX_CUBIN_BYTES:
            raise ValueError(f"{name!r} has {about.st_size} bytes; at most {_MAX_CUBIN_BYTES} are read")
        with open(fd, "rb", closefd=False) as file:
            return file.read(about.st_size)
    finally:
        os.close(fd)


def read_cubin(cubin: Cubin | bytes | bytearray | memoryview | str | os.PathLike[str]) -> Cubin:
    """A Cubin from a file's name or its bytes; a Cubin is returned as it is."""
    if isinstance(cubin, Cubin):
        return cubin
    if isinstance(cubin, str | os.PathLike):
        return Cubin(_bytes_of_file(cubin))
    return Cubin(bytes(cubin))


def disassemble(cubin: Cubin | bytes | bytearray | memoryview | str | os.PathLike[str]) -> str:
    """Every kernel of a cubin as text: addresses, control codes (wait:read:write:yield:stall), instructions.

    `cubin` is a Cubin, a file's bytes, or its name. ValueError on bytes that are no cubin.
    """
    return read_cubin(cubin).listing


class Launch:
    """A kernel with its grid and block: call it with the arguments."""

    __slots__ = ("_block", "_grid", "_kernel")

    def __init__(self, kernel: Kernel, grid: Dimensions, block: Dimensions | None) -> None:
        self._kernel = kernel
        self._grid = grid
        self._block = block

    def __call__(self, *args: object, shared: int | None = None, stream: Stream | None = None) -> None:
        """Start the kernel.

        A pointer takes a GPUTensor, an object with __cuda_array_interface__, or an address. A tensor map takes what
        ng.tensor_map() makes, a 64-bit handle what ng.texture() or ng.surface() makes. An integer must fit its
        parameter; a float takes ints, too. NumPy's scalars are as Python's. `shared`: dynamic shared memory in
        bytes; None: what the kernel's manifest asks for. TypeError and ValueError name the argument.
        """
        k = self._kernel
        k.module._module.launch(k.name, self._grid, self._block, args, shared, stream)

    def __repr__(self) -> str:
        return f"<Launch of {self._kernel.name}: grid {self._grid}, block {self._block}>"


class Kernel:
    """One kernel of a module, which it keeps alive."""

    __slots__ = ("info", "module")

    def __init__(self, module: Module, info: KernelInfo) -> None:
        self.module = module
        self.info = info

    @property
    def name(self) -> str:
        return self.info.name

    def __getitem__(self, key: Any) -> Launch:
        """`kernel[grid, block]`, each an int or a tuple of up to three; `kernel[grid]` where the kernel says its block.

        In a pair the second is the block: a grid of two dimensions alone is `kernel[(x, y), None]`.
        """
        if not isinstance(key, tuple):
            return Launch(self, key, None)
        if len(key) != 2:
            raise ValueError(f"kernel {self.name}: [grid, block] has {len(key)} entries; needs 2, tuples for more axes")
        return Launch(self, key[0], key[1])

    def __repr__(self) -> str:
        params = ", ".join(f"{p.type} {p.name}".rstrip() for p in self.info.params)
        return f"<Kernel {self.name}({params})>"


class Module:
    """A cubin on the device. module["name"] and module.name are its kernels; iterating gives their names."""

    def __init__(self, cubin: Cubin) -> None:
        self._module = _core.Module(cubin)
        self._kernels = {info.name: Kernel(self, info) for info in cubin.kernels}

    @property
    def cubin(self) -> Cubin:
        return self._module.cubin

    def __getitem__(self, name: str) -> Kernel:
        try:
            return self._kernels[name]
        except KeyError:
            raise KeyError(f"there is no kernel {name!r}; there are {', '.join(self._kernels)}") from None

    def __getattr__(self, name: str) -> Kernel:
        kernels = self.__dict__.get("_kernels", {})
        if name in kernels:
            kernel: Kernel = kernels[name]
            return kernel
        raise AttributeError(f"there is no kernel {name!r}; there are {', '.join(kernels)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._kernels]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __repr__(self) -> str:
        return f"<Module for {self.cubin.arch}: {', '.join(self._kernels)}>"


@overload
def load(cubin_or_text: Cubin | bytes, arch: None = None, *, name: str = "kernel.sass") -> Module: ...


@overload
def load(
    cubin_or_text: os.PathLike[str], *, mmap_mode: object = None, allow_pickle: bool = False
) -> GPUTensor | Archive: ...


@overload
def load(
    cubin_or_text: Any,
    arch: str | None = None,
    *,
    name: str = "kernel.sass",
    mmap_mode: object = None,
    allow_pickle: bool = False,
) -> Any: ...  # whether text is a path or a template is seen in the text


def load(
    cubin_or_text: Any,
    arch: str | None = None,
    *,
    name: str = "kernel.sass",
    mmap_mode: object = None,
    allow_pickle: bool = False,
) -> Any:
    """Put a cubin on the device: a Cubin, a file's bytes (ours or NVIDIA's), or the text of a template to assemble.

    A path, which is text of one line, and a file that is open are files of arrays: numpy.load's, as tensors.
    """
    named = isinstance(cubin_or_text, os.PathLike) or (isinstance(cubin_or_text, str) and "\n" not in cubin_or_text)
    if named or hasattr(cubin_or_text, "read"):
        from nervanagpu.arrays import files

        return files.load_arrays(cubin_or_text, mmap_mode, allow_pickle)
    if isinstance(cubin_or_text, str):
        return Module(assemble(cubin_or_text, arch, name=name))
    if arch is not None:
        raise ValueError(f"arch is {arch!r}, but a cubin is for the architecture it was made for; leave it out")
    return Module(read_cubin(cubin_or_text))
