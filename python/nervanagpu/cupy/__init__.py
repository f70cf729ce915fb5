"""What programs for CuPy use: change `import cupy` to `import nervanagpu.cupy`, or run them as they stand:

    python -m nervanagpu.cupy script.py

Everything of nervanagpu is here, with CuPy's defaults where they differ. So zeros, ones, random numbers and their like
are float64 unless dtype says otherwise, and `order="F"` lets arrays lie by columns. `cupyx` is not.
`docs/modules.md` lists what there is.
"""

from __future__ import annotations

from typing import Any

from nervanagpu import module_aliases

_MODULES = {"cuda", "random", "cuda.device", "cuda.memory", "cuda.nvtx", "cuda.runtime", "cuda.stream"}
_PARTS = {
    "array_class",
    "creation",
    "device_code",
    "elementwise",
    "functions",
    "fusion",
    "kernels",
    "memo",
    "namespace",
    "parameters",
    "products",
    "random_generators",
    "raw",
    "reduction",
}
_OURS = {"exceptions", "fft", "lib", "linalg", "polynomial", "testing", "typing"}  # of the library itself


def __getattr__(name: str) -> Any:
    """CuPy's own, or else the library's."""
    import importlib

    if name.startswith("__") and name != "__version__":
        raise AttributeError(f"module 'nervanagpu.cupy' has no attribute {name!r}")
    if name in _MODULES or name in _PARTS or name in _OURS:
        return importlib.import_module(f"nervanagpu.cupy.{name}")
    namespace = importlib.import_module("nervanagpu.cupy.namespace")
    try:
        return getattr(namespace, name)
    except AttributeError as error:
        why = str(error).partition(f" has no attribute {name!r}")[2]
        raise AttributeError(f"module 'nervanagpu.cupy' has no attribute {name!r}{why}") from None


def __dir__() -> list[str]:
    import importlib

    namespace = importlib.import_module("nervanagpu.cupy.namespace")
    return sorted({*dir(namespace), *(m for m in _MODULES if "." not in m), *_OURS, "install"})


def _own(name: str) -> str | None:
    """The library's module after one of `nervanagpu.cupy`."""
    rest = name.removeprefix("nervanagpu.cupy.")
    return f"nervanagpu.{rest}" if rest.split(".")[0] in _OURS else None


def _target(name: str) -> str | None:
    """The module that stands for one of CuPy's."""
    rest = name.partition(".")[2]
    if not rest:
        return "nervanagpu.cupy"
    if rest.split(".")[0] in _OURS:
        return f"nervanagpu.{rest}"
    return f"nervanagpu.cupy.{rest}".replace("cuda.stream", "cuda.streams") if rest in _MODULES else None


def install() -> None:
    """Let `import cupy` of later code mean this package."""
    module_aliases.install("cupy", _target, "cupy.cuda")


module_aliases.install("nervanagpu.cupy", _own)
