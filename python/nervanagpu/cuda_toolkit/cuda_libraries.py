"""NVIDIA's cuBLAS, cuSOLVER and cuFFT, opened at run time where they are installed; nothing is linked to them.

A library is looked for under the path of its environment variable. Then cuda-pathfinder is asked, if that package is
installed (`pip install nervanagpu[cuda]`), NVIDIA's Python packages, toolkits, and the names that the loader knows.
Their functions are tables of argument types: a letter for each.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

from nervanagpu._core import Error, Graph, get_device, in_driver_context

_LETTERS: dict[str, Any] = {
    "p": ctypes.c_void_p,  # handles, device addresses and host addresses
    "i": ctypes.c_int,  # int and every enum
    "l": ctypes.c_int64,
    "z": ctypes.c_size_t,
    "b": ctypes.c_byte,  # signed char
}


class _About(NamedTuple):
    """Its file names, the newest first; the Python package that has it; its functions."""

    files: tuple[str, ...]
    package: str
    functions: dict[str, str]


def _typed(name: str, letters: str, types: str = "SDCZ") -> dict[str, str]:
    """One function for each letter of BLAS's in place of the question mark."""
    return {name.replace("?", t): letters for t in types}


_CUBLAS = {
    "cublasCreate_v2": "p",
    "cublasSetStream_v2": "pp",
    **_typed("cublas?getrfBatched", "pipippi"),  # handle n A[] lda pivots info batch
    **_typed("cublas?getrsBatched", "piiipippipi"),  # handle trans n nrhs A[] lda pivots B[] ldb info(host) batch
}

# Of the X functions: handle params ... data types and addresses ... compute type, device and host workspace, info.
_CUSOLVER = {
    "cusolverDnCreate": "p",
    "cusolverDnSetStream": "pp",
    "cusolverDnCreateParams": "p",
    "cusolverDnXgetrf_bufferSize": "ppllipli" + "pp",
    "cusolverDnXgetrf": "ppllipl" + "p" + "ipzpzp",
    "cusolverDnXgetrs": "ppilliplp" + "iplp",
    "cusolverDnXpotrf_bufferSize": "ppilipli" + "pp",
    "cusolverDnXpotrf": "ppilipli" + "pzpzp",
    "cusolverDnXpotrs": "ppilliplipl" + "p",
    "cusolverDnXgeqrf_bufferSize": "ppllipl" + "ip" + "ipp",
    "cusolverDnXgeqrf": "ppllipl" + "ip" + "ipzpzp",
    "cusolverDnXsyevd_bufferSize": "ppiilipl" + "ip" + "ipp",
    "cusolverDnXsyevd": "ppiilipl" + "ip" + "ipzpzp",
    "cusolverDnXsyevBatched_bufferSize": "ppiilipl" + "ip" + "ipp" + "l",
    "cusolverDnXsyevBatched": "ppiilipl" + "ip" + "ipzpzp" + "l",
    "cusolverDnXgesvd_bufferSize": "ppbbllipl" + "ip" + "ipl" + "ipl" + "ipp",
    "cusolverDnXgesvd": "ppbbllipl" + "ip" + "ipl" + "ipl" + "ipzpzp",
    "cusolverDnXgeev_bufferSize": "ppiilipl" + "ip" + "ipl" + "ipl" + "ipp",
    "cusolverDnXgeev": "ppiilipl" + "ip" + "ipl" + "ipl" + "ipzpzp",
    **_typed("cusolverDn?potrfBatched", "piipipi"),  # handle uplo n A[] lda info batch
    "cusolverDnCreateGesvdjInfo": "p",
    **_typed("cusolverDn?gesvdjBatched_bufferSize", "piiipipp" + "ipi" + "ppi"),  # ... size parameters batch
    **_typed("cusolverDn?gesvdjBatched", "piiipipp" + "ipi" + "pippi"),  # ... work size info parameters batch
    **_typed("cusolverDn?orgqr_bufferSize", "piiipip" + "p", "SD"),
    **_typed("cusolverDn?orgqr", "piiipip" + "pip", "SD"),
    **_typed("cusolverDn?ungqr_bufferSize", "piiipip" + "p", "CZ"),
    **_typed("cusolverDn?ungqr", "piiipip" + "pip", "CZ"),
}

_CUFFT = {
    "cufftCreate": "p",
    "cufftSetAutoAllocation": "ii",
    "cufftMakePlanMany64": "iip"
    + "pll"
    + "pll"
    + "ilp",  # plan rank n[], (embed[] stride distance) twice, type batch size
    "cufftSetWorkArea": "ip",
    "cufftSetStream": "ip",
    "cufftDestroy": "i",
    **{
        f"cufftExec{kind}": "ipp" + ("i" if kind in ("C2C", "Z2Z") else "")
        for kind in ["C2C", "R2C", "C2R", "Z2Z", "D2Z", "Z2D"]
    },
}

_LIBRARIES = {
    "cublas": _About(("libcublas.so.13", "libcublas.so.12", "libcublas.so"), "nvidia-cublas", _CUBLAS),
    "cusolver": _About(("libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"), "nvidia-cusolver", _CUSOLVER),
    "cufft": _About(("libcufft.so.12", "libcufft.so.11", "libcufft.so"), "nvidia-cufft", _CUFFT),
}


def _variable(name: str) -> str:
    return f"NERVANAGPU_{name.upper()}"


def _candidates(name: str) -> Iterator[str]:
    about = _LIBRARIES[name]
    if os.environ.get(_variable(name)):
        yield os.environ[_variable(name)]
        return
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib  # type: ignore[import-not-found,unused-ignore]

        path = load_nvidia_dynamic_lib(name).abs_path
        if path:
            yield path
    except (ImportError, RuntimeError):  # not installed, or it finds none: RuntimeError is what it raises then
        pass
    from nervanagpu.cuda_toolkit import cuda_folders

    folders = [f / "lib" for f in cuda_folders.wheels(name)] + [f / "lib64" for f in cuda_folders.toolkits()]
    yield from (str(folder / file) for folder in folders for file in about.files if (folder / file).exists())
    yield from about.files


class Library:
    """The functions of one library. `call` raises an Error for a status that is not 0."""

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        calls = ctypes.CDLL(path)
        self._functions: dict[str, Any] = {}
        for function, letters in _LIBRARIES[name].functions.items():
            found = getattr(calls, function, None)
            if found is not None:
                found.argtypes, found.restype = [_LETTERS[c] for c in letters], ctypes.c_int
                self._functions[function] = found

    def has(self, function: str) -> bool:
        """Whether this version of the library has it."""
        return function in self._functions

    def call(self, function: str, *args: object) -> None:
        """Error if the library lacks the function or it refuses its arguments."""
        if function not in self._functions:
            raise Error(f"{function}: {self.path} does not have it; needs a newer version of {self.name}")
        status = in_driver_context(-1, self._functions[function], *args)
        if status:
            raise Error(f"{function}: {self.path} answered status {status}")


@functools.cache
def library(name: str) -> Library:
    """ "cublas", "cusolver" or "cufft". ImportError that says what to install, if it is not found."""
    reasons = []
    for path in _candidates(name):
        try:
            return Library(name, path)
        except OSError as error:
            reasons.append(str(error))
    package = _LIBRARIES[name].package
    raise ImportError(
        f"{name} was not found: pip install {package} (CUDA 12: {package}-cu12), or let {_variable(name)} name it "
        f"({'; '.join(reasons)})"
    )


_DEFAULT_STREAM = 0
_made = threading.local()


def handle(name: str, create: str, set_stream: str | None, stream: int = _DEFAULT_STREAM) -> int:
    """The library's handle of this thread, device and stream, made by the function `create` when first asked for."""
    kept: dict[tuple[str, str, int, int], int] = _made.__dict__.setdefault("handles", {})
    key = (library(name).path, create, get_device(), stream)
    if key not in kept:
        value = ctypes.c_void_p()
        library(name).call(create, ctypes.byref(value))
        if set_stream is not None:
            library(name).call(set_stream, value, stream)
        kept[key] = value.value or 0
    return kept[key]


def outside_of_graphs(function: str) -> None:
    """Error while this thread records a graph: the libraries' calls would run now instead of being part of it."""
    if Graph.recording():
        raise Error(f"{function}: calls of NVIDIA's libraries while this thread records a graph; needs to be outside")


def forget() -> None:
    """Libraries are looked for again, and handles made again."""
    library.cache_clear()
    _made.__dict__.pop("handles", None)
