"""python -m nervanagpu: the folders that C and C++ programs are built with, and what was found on this machine."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import platform
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
FOLDERS = {  # below this package, a file that is there, what it is
    "cmakedir": ("lib/cmake/nervanagpu", "nervanagpu-config.cmake", "of the CMake package: -Dnervanagpu_DIR=DIR"),
    "pkgconfigdir": ("lib/pkgconfig", "nervanagpu.pc", "of nervanagpu.pc, for PKG_CONFIG_PATH"),
    "includedir": ("include", "nervanagpu/nervanagpu.h", "of the headers, this one and nervanagpu/nervanagpu.hpp"),
    "libdir": ("lib", "libnervanagpu.so", "of libnervanagpu.so"),
}

_CUDA_LIBRARIES = {"cublas": "linear algebra", "cusolver": "linear algebra", "cufft": "Fourier transforms"}
_NO_GPU = (
    "no GPU is used; the emulator computes the same bits, slowly",
    "for a GPU: NVIDIA's driver, so that nvidia-smi lists it (in a container: docker run --gpus all),",
    "and NERVANAGPU_DEVICE unset or cuda",
)


def folder(name: str) -> Path:
    """The folder that --`name` prints. FileNotFoundError: this package was not installed from a wheel."""
    path, file = HERE / FOLDERS[name][0], FOLDERS[name][1]
    if not (path / file).is_file():
        raise FileNotFoundError(
            f"--{name}: there is no {path / file}; needs an installed package (pip install), and this one runs from "
            "its sources: there `cmake --install build --prefix DIR` installs the same"
        )
    return path


def _line(key: str, value: str) -> str:
    return f"{key:<12}{value}"


def _module(name: str, what: str, extra: str) -> str:
    if importlib.util.find_spec(name) is not None:
        return _line("package", f"{name}: {what}")
    return _line("missing", f"{name}, for {what}: pip install {extra}")


def _library(what: str, open_it: Callable[[], str]) -> str:
    try:
        return _line("library", f"{what}: {open_it()}")
    except Exception as e:  # whatever is wrong with it, the other lines are wanted, too
        return _line("missing", " ".join(f"{what}: {e}".split()))


def _torch() -> list[str]:
    """What nervanagpu.torch has found, which only torch itself can tell."""
    lines = [_module("torch", "nervanagpu.torch", "torch")]
    if importlib.util.find_spec("torch") is not None:
        try:
            from nervanagpu.torch import entry

            lines.append(_line("operators", f"of nervanagpu.torch: {entry()}"))
        except Exception as e:  # as above
            lines.append(_line("missing", " ".join(f"nervanagpu.torch: {e}".split())))
    return lines


def _path_of(name: str) -> str:
    from nervanagpu.cuda_toolkit import cuda_libraries

    return str(cuda_libraries.library(name).path)


def doctor() -> str:
    """Lines of what was found: versions, driver, devices, kernels, packages, and how to get what is missing."""
    import numpy

    import nervanagpu
    from nervanagpu.cuda_toolkit import nvrtc

    lines = [
        nervanagpu.doctor().rstrip("\n"),
        _line("python", f"{platform.python_version()}, {platform.machine()}, {' '.join(platform.libc_ver())}"),
        _line("numpy", numpy.__version__),
        _line("installed", str(HERE)),
        _module("ml_dtypes", "bfloat16 as a dtype of NumPy's", "ml_dtypes"),
        *_torch(),
        _module("jax", "nervanagpu.jax", "jax"),
        _library("nvrtc, for CUDA C", lambda: str(nvrtc.library().path)),
    ]
    for name, purpose in _CUDA_LIBRARIES.items():
        lines.append(_library(f"{name}, for {purpose} on a GPU", functools.partial(_path_of, name)))
    if nervanagpu.device().kind != "cuda":
        lines += [_line(*pair) for pair in zip(("advice", "", ""), _NO_GPU, strict=True)]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 0, or 1 for a folder that is not there."""
    parser = argparse.ArgumentParser(prog="python -m nervanagpu", description=__doc__)
    one = parser.add_mutually_exclusive_group(required=True)
    for name, (_, _, what) in FOLDERS.items():
        one.add_argument(f"--{name}", dest="name", action="store_const", const=name, help=f"the folder {what}")
    one.add_argument("--doctor", action="store_true", help="what was found here, and how to get what is missing")
    one.add_argument("--version", action="store_true", help="the version")
    chosen = parser.parse_args(arguments)
    if chosen.doctor:
        print(doctor())
    elif chosen.version:
        import nervanagpu

        print(nervanagpu.version())
    else:
        try:
            print(folder(chosen.name))
        except FileNotFoundError as e:
            print(e, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
