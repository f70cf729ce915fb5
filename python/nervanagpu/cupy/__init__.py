"""What programs for CuPy use: change `import cupy` to `import nervanagpu.cupy`, or run them as they stand:

    python -m nervanagpu.cupy script.py

Everything of nervanagpu is here, with CuPy's defaults where they differ: zeros, ones, random numbers and their like are
float64 unless dtype says otherwise, and `order="F"` lets arrays lie by columns. `cupyx` is not.
`docs/modules.md` lists what there is.
"""

from __future__ import annotations

import sys
from typing import Any

_MODULES = {"cuda", "exceptions", "random", "cuda.device", "cuda.memory", "cuda.nvtx", "cuda.runtime", "cuda.stream"}
_PARTS = {
    "array_class",
    "creation",
    "device_code",
    "elementwise",
    "functions",
    "fusion",
    "kernels",
    "namespace",
    "parameters",
    "raw",
    "reduction",
}
_OURS = ("linalg", "fft")  # of the library itself


def __getattr__(name: str) -> Any:
    """CuPy's own, or else the library's."""
    import importlib

    if name.startswith("__") and name != "__version__":
        raise AttributeError(f"module 'nervanagpu.cupy' has no attribute {name!r}")
    if name in _MODULES or name in _PARTS:
        return importlib.import_module(f"nervanagpu.cupy.{name}")
    namespace = importlib.import_module("nervanagpu.cupy.namespace")
    try:
        return getattr(namespace, name)
    except AttributeError:
        raise AttributeError(f"module 'nervanagpu.cupy' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    import importlib

    namespace = importlib.import_module("nervanagpu.cupy.namespace")
    return sorted({*dir(namespace), *(m for m in _MODULES if "." not in m), "install"})


def _target(name: str) -> str | None:
    """The module that stands for one of CuPy's."""
    head, _, rest = name.partition(".")
    if head != "cupy":
        return None
    if not rest:
        return "nervanagpu.cupy"
    if rest.split(".")[0] in _OURS:
        return f"nervanagpu.{rest}"
    return f"nervanagpu.cupy.{rest}".replace("cuda.stream", "cuda.streams") if rest in _MODULES else None


def install() -> None:
    """Let `import cupy` of later code mean this package."""
    import importlib
    from importlib.abc import Loader, MetaPathFinder
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    class Same(Loader):
        """The module of the library under CuPy's name."""

        def __init__(self, name: str) -> None:
            self._name = name

        def create_module(self, spec: ModuleSpec) -> ModuleType:
            found = importlib.import_module(self._name)
            self._spec = found.__spec__
            return found

        def exec_module(self, module: ModuleType) -> None:
            module.__spec__ = self._spec

    class Finder(MetaPathFinder):
        def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
            found = _target(name)
            package = name in ("cupy", "cupy.cuda")
            return None if found is None else ModuleSpec(name, Same(found), is_package=package)

    if not any(type(f).__name__ == "Finder" and type(f).__module__ == __name__ for f in sys.meta_path):
        sys.meta_path.insert(0, Finder())
