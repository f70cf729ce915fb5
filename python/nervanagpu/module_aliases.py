"""Modules of this library under the names of another one, for programs that were written for that one."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:  # that module brings a dozen others
    Loader = MetaPathFinder = object


class _Same(Loader):
    """A module of the library as it is."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        found = importlib.import_module(self._name)
        self._spec = found.__spec__
        return found

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


class _Finder(MetaPathFinder):
    """Finds the modules of one package."""

    def __init__(self, package: str, target: Callable[[str], str | None], packages: tuple[str, ...]) -> None:
        self.package, self._target, self._packages = package, target, packages

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != self.package and not name.startswith(f"{self.package}."):
            return None
        found = self._target(name)
        return None if found is None else ModuleSpec(name, _Same(found), is_package=name in self._packages)


def install(package: str, target: Callable[[str], str | None], *packages: str) -> None:
    """Let `import package` of later code mean what `target` says: the module of the library for a name, or None.

    packages: the names that have modules below them, beside `package` itself.
    """
    if not any(isinstance(f, _Finder) and f.package == package for f in sys.meta_path):
        sys.meta_path.insert(0, _Finder(package, target, (package, *packages)))


# Modules that stood in nervanagpu itself are in one of these packages, most under the same name.
_PACKAGES = ("arrays", "calls", "cuda_toolkit", "kernels", "math", "random")
_RENAMED = {
    "random_counts": "discrete",
    "random_gamma": "gamma_based",
    "random_source": "source",
    "random_state": "state",
}


def _moved(name: str) -> str | None:
    """nervanagpu.creation: nervanagpu.arrays.creation."""
    from importlib.util import find_spec

    _, _, module = name.partition(".")
    if not module.isidentifier() or module in _PACKAGES:
        return None
    places = (f"nervanagpu.{package}.{_RENAMED.get(module, module)}" for package in _PACKAGES)
    return next((place for place in places if find_spec(place)), None)


def keep_former_paths() -> None:
    """Let programs and pickles that name a module by its former path have it. It is asked last."""
    if not any(isinstance(f, _Finder) and f.package == "nervanagpu" for f in sys.meta_path):
        sys.meta_path.append(_Finder("nervanagpu", _moved, ()))


def run_script(module: str, install: Callable[[], None]) -> None:
    """`python -m module script.py ...`: run the script with its arguments; with -m a module, as of python."""
    import runpy

    arguments = sys.argv[1:]
    if not arguments or (arguments[0] == "-m" and len(arguments) < 2):
        raise SystemExit(f"python -m {module}: there is no script; needs script.py, or -m and a module")
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.realpath(arguments[0])))
    runpy.run_path(arguments[0], run_name="__main__")
