"""nervanagpu: deep-learning primitives in hand-written GPU assembly.

    import numpy as np
    import nervanagpu as ng

    a = ng.array(np.random.rand(300, 200).astype(np.float32))
    b = ng.array(np.random.rand(200, 100).astype(np.float32))
    c = ng.dot(a, b, relu=True)          # one fused kernel, on the GPU or the built-in emulator
    print(c.get(), ng.device())

`ng.doctor()` says what was found on this machine. `NervanaGPU` is the factory of the 2015 library of this name.
"""

from nervanagpu import nn
from nervanagpu._core import (
    CheckError,
    DeviceInfo,
    DeviceLost,
    Error,
    Event,
    Finding,
    GPUTensor,
    MemoryStats,
    Stream,
    device,
    doctor,
    memory_stats,
    release_cached_memory,
    synchronize,
    version,
)
from nervanagpu.creation import array, empty, empty_like, full, ones, wrap, zeros, zeros_like
from nervanagpu.factory import NervanaGPU
from nervanagpu.linalg import dot

__version__ = version()

__all__ = [
    "CheckError",
    "DeviceInfo",
    "DeviceLost",
    "Error",
    "Event",
    "Finding",
    "GPUTensor",
    "MemoryStats",
    "NervanaGPU",
    "Stream",
    "array",
    "device",
    "doctor",
    "dot",
    "empty",
    "empty_like",
    "full",
    "memory_stats",
    "nn",
    "ones",
    "release_cached_memory",
    "synchronize",
    "version",
    "wrap",
    "zeros",
    "zeros_like",
]
