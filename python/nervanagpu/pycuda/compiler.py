"""CUDA C from scripts, compiled by NVRTC."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NoReturn

from nervanagpu.cuda_toolkit.nvrtc import CompileError
from nervanagpu.kernels import modules
from nervanagpu.kernels.toolchain import Module
from nervanagpu.pycuda.driver import NO_TEXTURE_REFERENCES
from nervanagpu.pycuda.function import Function

__all__ = ["DEFAULT_NVCC_FLAGS", "CompileError", "CudaModule", "DynamicSourceModule", "SourceModule", "compile"]
DEFAULT_NVCC_FLAGS: list[str] = []
# What nvcc takes and NVRTC does not: of the host's compiler, of files, of linking.
_OF_NVCC = (
    "-O",
    "--optimize",
    "-Xcompiler",
    "--compiler-options",
    "-ccbin",
    "-m64",
    "--keep",
    "-arch",
    "-code",
    "-rdc",
    "-lcudadevrt",
    "-Xptxas",
    "-cubin",
    "--cubin",
)


class GlobalVariable:
    """The address of a variable of a module, which it keeps."""

    def __init__(self, module: Module, address: int) -> None:
        self._module = module
        self._address = address

    def __int__(self) -> int:
        return self._address

    __index__ = __int__

    def __add__(self, offset: int) -> int:
        return self._address + int(offset)


class CudaModule:
    """Kernels and variables of a cubin."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def get_function(self, name: str) -> Function:
        """The kernel `name`; KeyError, which lists what there is."""
        return Function(self._module[name])

    def get_global(self, name: str) -> tuple[GlobalVariable, int]:
        """(address, bytes) of a __device__ or __constant__ variable; KeyError for a name that there is not."""
        try:
            address, size = self._module._module.variable(name)
        except ValueError as e:
            raise KeyError(str(e)) from None
        return GlobalVariable(self._module, address), size

    def get_texref(self, name: str) -> NoReturn:
        """RuntimeError: compilers since CUDA 12 have no texture references."""
        raise RuntimeError(NO_TEXTURE_REFERENCES)

    get_surfref = get_texref


def _options(given: Sequence[str]) -> list[str]:
    """Those of nvcc that NVRTC knows, too."""
    return [o for o in given if not o.startswith(_OF_NVCC)]


class SourceModule(CudaModule):
    """Kernels of CUDA C, by `get_function`.

    options: the compiler's; those of nvcc alone are left out. arch: "sm_90a", ...; None: the device's. nvcc, keep,
    no_extern_c, code and cache_dir are accepted and have no effect: NVRTC compiles in memory, and kernels have names
    as the text gives them.
    CompileError (a ValueError) with the compiler's log; ImportError, which says what to install, without NVRTC.
    """

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | None = None,
        include_dirs: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        flags = ["-include=ng_before.h", *_options(options or ()), *(f"-I{os.fspath(d)}" for d in include_dirs)]
        super().__init__(modules.SourceModule(str(source), options=flags, arch=arch))


def compile(source: str, options: Sequence[str] | None = None, arch: str | None = None, **ignored: object) -> bytes:
    """The cubin of CUDA C, for driver.module_from_buffer."""
    return modules.SourceModule(source, options=_options(options or ()), arch=arch).cubin.bytes


class DynamicModule(CudaModule):
    """A module of several texts of CUDA C: add_source() of each, link(), then get_function and get_global.

    The texts are compiled as one, so that what one declares `extern` another may define; static names of two texts are
    the same name. The libraries of add_stdlib that NVIDIA's compilers link are not there, and kernels cannot start
    kernels. The arguments that concern nvcc and its linker are accepted and have no effect.
    """

    def __init__(
        self, nvcc: str = "nvcc", link_options: object = None, keep: bool = False, no_extern_c: bool = False,
        arch: str | None = None, code: str | None = None, cache_dir: str | None = None,
        include_dirs: Sequence[str | os.PathLike[str]] = (), **ignored: object,
    ) -> None:  # fmt: skip
        self._texts: list[str] = []
        self._flags = [f"-I{os.fspath(d)}" for d in include_dirs]
        self._arch = arch
        self._linked: Module | None = None

    @property
    def _module(self) -> Module:  # type: ignore[override]
        if self._linked is None:
            raise RuntimeError("DynamicModule: nothing is linked yet; needs link()")
        return self._linked

    def add_source(
        self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> DynamicModule:
        """One more text; returns the module."""
        if not isinstance(source, str):
            raise TypeError(f"DynamicModule.add_source: source is {type(source).__name__}; needs a text")
        self._texts.append(f'#line 1 "{name.rpartition(".")[0] or name}.cu"\n{source}\n')
        self._flags += _options(nvcc_options or ())
        return self

    def add_file(self, filename: str | os.PathLike[str], input_type: object = None) -> DynamicModule:
        """The text of a file of CUDA C; returns the module. ValueError for a file of another kind."""
        path = os.fspath(filename)
        if not str(path).endswith((".cu", ".cuh", ".h", ".hpp")):
            raise ValueError(f"DynamicModule.add_file: filename is {path!r}; needs CUDA C, whose name ends in .cu")
        with open(path, encoding="utf-8") as file:
            return self.add_source(file.read(), name=os.path.basename(path))

    def add_data(self, data: object, input_type: object, name: str = "unknown") -> DynamicModule:
        """NotImplementedError: there is no linker of cubins and PTX here."""
        raise NotImplementedError("DynamicModule.add_data: cubins and PTX are not linked; needs add_source")

    def add_stdlib(self, libname: str) -> DynamicModule:
        """NotImplementedError: NVIDIA's device libraries are not there."""
        raise NotImplementedError(f"DynamicModule.add_stdlib: there is no library {libname!r}")

    def link(self) -> DynamicModule:
        """Compile what was added; returns the module. CompileError with the compiler's log."""
        if not self._texts:
            raise ValueError("DynamicModule.link: there is no source; needs add_source")
        flags = ["-include=ng_before.h", *dict.fromkeys(self._flags)]
        self._linked = modules.SourceModule("".join(self._texts), options=flags, arch=self._arch)
        return self


class DynamicSourceModule(DynamicModule):
    """A DynamicModule of one text, linked. CompileError for kernels that start kernels."""

    def __init__(
        self, source: str, nvcc: str = "nvcc", options: Sequence[str] | None = None, keep: bool = False,
        no_extern_c: bool = False, arch: str | None = None, code: str | None = None, cache_dir: str | None = None,
        include_dirs: Sequence[str | os.PathLike[str]] = (), **ignored: object,
    ) -> None:  # fmt: skip
        super().__init__(arch=arch, include_dirs=include_dirs)
        self.add_source(source, options)
        self.link()
