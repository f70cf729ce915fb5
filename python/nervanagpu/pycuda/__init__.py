"""What scripts of PyCUDA use, over this library's device: change `import pycuda` to `import nervanagpu.pycuda`.

    import nervanagpu.pycuda.autoinit
    import nervanagpu.pycuda.driver as drv
    from nervanagpu.pycuda.compiler import SourceModule

On a machine without a GPU the kernels run on the emulator, where NERVANAGPU_EMULATOR=checked names their mistakes.
`docs/modules.md` lists what there is.
"""

from __future__ import annotations

VERSION = (2026, 1)
VERSION_STATUS = ""
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


def _target(name: str) -> str | None:
    """The module that stands for one of PyCUDA's."""
    rest = name.partition(".")[2]
    return f"nervanagpu.{name}" if not rest or rest in _MODULES else None


def install() -> None:
    """Let `import pycuda` of later code mean this package."""
    from nervanagpu import module_aliases

    module_aliases.install("pycuda", _target)
