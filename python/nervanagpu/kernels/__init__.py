"""Kernels of one's own: from assembly, CUDA C or expressions, and what they take beside tensors."""

from types import ModuleType

from nervanagpu.calls.submodules import submodule


def __getattr__(name: str) -> ModuleType:
    return submodule(__name__, name)
