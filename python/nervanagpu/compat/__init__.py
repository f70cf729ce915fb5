"""Other libraries' interfaces over this library's tensors: the factory of the 2015 library, and cudamat.

Programs import what they always did: `nervanagpu.NervanaGPU`, `nervanagpu.cudamat`. Interfaces of several modules are
packages of their own: `nervanagpu.pycuda`, `nervanagpu.skcuda`, `nervanagpu.cupy`.
"""

from types import ModuleType

from nervanagpu.calls.submodules import submodule


def __getattr__(name: str) -> ModuleType:
    return submodule(__name__, name)
