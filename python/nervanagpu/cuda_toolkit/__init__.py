"""What NVIDIA's toolkit has, where it is installed: libraries and NVRTC, opened at run time; nothing links to them."""

from types import ModuleType

from nervanagpu.calls.submodules import submodule


def __getattr__(name: str) -> ModuleType:
    return submodule(__name__, name)
