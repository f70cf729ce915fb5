"""NVRTC, NVIDIA's compiler of CUDA C at run time, where it is installed: text in, a cubin out. It needs no GPU."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nervanagpu.cuda_toolkit.cuda_headers import HEADERS

_HELP = (
    "pip install nvidia-cuda-nvrtc-cu12 (or nvidia-cuda-nvrtc), or let NERVANAGPU_NVRTC name a libnvrtc.so of CUDA 12 "
    "or later"
)


class CompileError(ValueError):
    """CUDA C that does not compile. `log` is all that NVRTC said, with the lines of the source."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log

    # PyCUDA's names. There is no command: the compiler is a library.
    @property
    def msg(self) -> str:
        return str(self)

    @property
    def stderr(self) -> str:
        return self.log

    stdout, command_line = "", ()


class Compiled(NamedTuple):
    """cubin: an ELF file; log: warnings; names: how the kernels of `expressions` are called in it."""

    cubin: bytes
    log: str
    names: dict[str, str]


def _candidates() -> Iterator[str]:
    if os.environ.get("NERVANAGPU_NVRTC"):
        yield os.environ["NERVANAGPU_NVRTC"]
        return
    from nervanagpu.cuda_toolkit import cuda_folders

    libraries = [f / "lib" for f in cuda_folders.wheels()] + [f / "lib64" for f in cuda_folders.toolkits()]
    for folder in libraries:
        yield from sorted(map(str, folder.glob("libnvrtc.so.1[2-9]")), reverse=True)
    yield from ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")


class Library:
    """The functions of one libnvrtc.so."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.calls = ctypes.CDLL(path)
        self.calls.nvrtcGetErrorString.restype = ctypes.c_char_p
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.check(self.calls.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
        self.version = (major.value, minor.value)

    def check(self, status: int) -> None:
        if status:
            raise CompileError(f"NVRTC: {self.error(status)}")

    def error(self, status: int) -> str:
        text: bytes = self.calls.nvrtcGetErrorString(status)
        return text.decode()

    def bytes_of(self, what: str, program: ctypes.c_void_p) -> bytes:
        size = ctypes.c_size_t()
        self.check(getattr(self.calls, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        out = ctypes.create_string_buffer(size.value)
        self.check(getattr(self.calls, f"nvrtcGet{what}")(program, out))
        return out.raw


@functools.cache
def library() -> Library:
    """NVRTC. ImportError that says what to install, if there is none."""
    reasons = []
    for path in _candidates():
        try:
            return Library(path)
        except OSError as e:
            reasons.append(str(e))
    raise ImportError(f"CUDA C needs NVRTC, which was not found: {_HELP}. ({'; '.join(reasons)})")


def _strings(texts: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(texts))(*(t.encode() for t in texts))


def compile(
    text: str,
    arch: str,
    name: str = "kernel.cu",
    options: Sequence[str] = (),
    expressions: Sequence[str] = (),
) -> Compiled:
    """CUDA C for `arch` ("sm_90a"). `expressions` name instances of templates: "scale<float>".

    CompileError: what NVRTC said, which names the lines. ImportError if NVRTC is not installed.
    """
    from nervanagpu.cuda_toolkit import cuda_folders

    nvrtc = library()
    program = ctypes.c_void_p()
    headers = _strings(list(HEADERS.values()))
    named = _strings(list(HEADERS))
    nvrtc.check(
        nvrtc.calls.nvrtcCreateProgram(
            ctypes.byref(program), text.encode(), name.encode(), len(HEADERS), headers, named
        )
    )
    try:
        for e in expressions:
            nvrtc.check(nvrtc.calls.nvrtcAddNameExpression(program, e.encode()))
        lines = [] if {"-lineinfo", "--generate-line-info", "-G", "--device-debug"} & set(options) else ["-lineinfo"]
        flags = [f"--gpu-architecture={arch}", *lines, *(f"-I{d}" for d in cuda_folders.include_dirs()), *options]
        status = nvrtc.calls.nvrtcCompileProgram(program, len(flags), _strings(flags))
        log = nvrtc.bytes_of("ProgramLog", program).rstrip(b"\0\n").decode(errors="replace")
        if status:
            version = ".".join(map(str, nvrtc.version))
            reason = log or nvrtc.error(status)
            raise CompileError(f"NVRTC {version} for {arch}: {reason}", log)
        names = {}
        for e in expressions:
            lowered = ctypes.c_char_p()
            nvrtc.check(nvrtc.calls.nvrtcGetLoweredName(program, e.encode(), ctypes.byref(lowered)))
            names[e] = (lowered.value or b"").decode()
        return Compiled(nvrtc.bytes_of("CUBIN", program), log, names)
    finally:
        nvrtc.calls.nvrtcDestroyProgram(ctypes.byref(program))
