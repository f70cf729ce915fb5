"""CUDA C from scripts, compiled by NVRTC."""

from __future__ import annotations

import os
from collections.abc import Sequence

from nervanagpu import modules
from nervanagpu.nvrtc import CompileError
from nervanagpu.pycuda.function import Function

__all__ = ["CompileError", "SourceModule"]


class SourceModule:
    """Kernels of CUDA C, by `get_function`.

    options: the compiler's. arch: "sm_90a", ...; None: the device's. nvcc, keep, no_extern_c, code and cache_dir are
    accepted and have no effect: NVRTC compiles in memory, and kernels have the names that the text gives them.
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
        flags = [*(options or ()), *(f"-I{os.fspath(d)}" for d in include_dirs)]
        self._module = modules.SourceModule(source, options=flags, arch=arch)

    def get_function(self, name: str) -> Function:
        """The kernel `name`; KeyError, which lists what there is."""
        return Function(self._module[name])
