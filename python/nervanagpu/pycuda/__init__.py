"""What scripts of PyCUDA use, over this library's device: change `import pycuda` to `import nervanagpu.pycuda`.

    import nervanagpu.pycuda.autoinit
    import nervanagpu.pycuda.driver as drv
    from nervanagpu.pycuda.compiler import SourceModule

On a machine without a GPU the kernels run on the emulator, where NERVANAGPU_EMULATOR=checked names their mistakes.
`docs/modules.md` lists what there is.
"""

import sys

VERSION = (2026, 1)
VERSION_TEXT = "2026.1"
_MODULES = (
    "autoinit",
    "autoprimaryctx",
    "characterize",
    "compiler",
    "cumath",
    "curandom",
    "driver",
    "elementwise",
    "gpuarray",
    "reduction",
    "scan",
    "tools",
)


def install() -> None:
    """Let `import pycuda` of later code mean this package."""
    import importlib
    from importlib.abc import Loader, MetaPathFinder
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    class Same(Loader):
        """The module of the library under PyCUDA's name."""

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
            head, _, rest = name.partition(".")
            if head != "pycuda" or (rest and rest not in _MODULES):
                return None
            return ModuleSpec(name, Same(f"nervanagpu.{name}"), is_package=not rest)

    if not any(type(f).__name__ == "Finder" and type(f).__module__ == __name__ for f in sys.meta_path):
        sys.meta_path.insert(0, Finder())
