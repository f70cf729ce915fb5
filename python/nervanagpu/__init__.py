"""nervanagpu: deep-learning primitives in hand-written GPU assembly.

    import numpy as np
    import nervanagpu as ng

    a = ng.array(np.random.rand(300, 200).astype(np.float32))
    b = ng.array(np.random.rand(200, 100).astype(np.float32))
    c = ng.dot(a, b, relu=True)          # one fused kernel, on the GPU or the built-in emulator
    print(c.get(), ng.device())

`ng.doctor()` says what was found on this machine. `NervanaGPU` is the factory of the 2015 library of this name.
"""

from nervanagpu import layers, nn
from nervanagpu._core import (
    AssembleError,
    CheckError,
    Cubin,
    DeviceInfo,
    DeviceLost,
    Error,
    Event,
    Finding,
    GPUTensor,
    Hazard,
    KernelInfo,
    MemoryStats,
    Stream,
    device,
    doctor,
    memory_stats,
    release_cached_memory,
    release_captured_memory,
    synchronize,
    version,
)
from nervanagpu.convolution import (
    conv1d,
    conv1d_bprop,
    conv1d_update,
    conv2d,
    conv2d_bprop,
    conv2d_update,
    conv3d,
    conv3d_bprop,
    conv3d_update,
    deconv1d,
    deconv2d,
    deconv3d,
)
from nervanagpu.creation import array, empty, empty_like, full, ones, wrap, zeros, zeros_like
from nervanagpu.factory import NervanaGPU
from nervanagpu.linalg import dot
from nervanagpu.network import Network
from nervanagpu.pooling import (
    avg_pool1d,
    avg_pool1d_bprop,
    avg_pool2d,
    avg_pool2d_bprop,
    avg_pool3d,
    avg_pool3d_bprop,
    l2_pool1d,
    l2_pool1d_bprop,
    l2_pool2d,
    l2_pool2d_bprop,
    l2_pool3d,
    l2_pool3d_bprop,
    max_pool1d,
    max_pool1d_bprop,
    max_pool2d,
    max_pool2d_bprop,
    max_pool3d,
    max_pool3d_bprop,
    pool,
    pool_bprop,
)
from nervanagpu.tensor_maps import Im2col, TensorMap, tensor_map
from nervanagpu.toolchain import Kernel, Module, assemble, disassemble, load

__version__ = version()

__all__ = [
    "AssembleError",
    "CheckError",
    "Cubin",
    "DeviceInfo",
    "DeviceLost",
    "Error",
    "Event",
    "Finding",
    "GPUTensor",
    "Hazard",
    "Im2col",
    "Kernel",
    "KernelInfo",
    "MemoryStats",
    "Module",
    "NervanaGPU",
    "Network",
    "Stream",
    "TensorMap",
    "array",
    "assemble",
    "avg_pool1d",
    "avg_pool1d_bprop",
    "avg_pool2d",
    "avg_pool2d_bprop",
    "avg_pool3d",
    "avg_pool3d_bprop",
    "conv1d",
    "conv1d_bprop",
    "conv1d_update",
    "conv2d",
    "conv2d_bprop",
    "conv2d_update",
    "conv3d",
    "conv3d_bprop",
    "conv3d_update",
    "deconv1d",
    "deconv2d",
    "deconv3d",
    "device",
    "disassemble",
    "doctor",
    "dot",
    "empty",
    "empty_like",
    "full",
    "l2_pool1d",
    "l2_pool1d_bprop",
    "l2_pool2d",
    "l2_pool2d_bprop",
    "l2_pool3d",
    "l2_pool3d_bprop",
    "layers",
    "load",
    "max_pool1d",
    "max_pool1d_bprop",
    "max_pool2d",
    "max_pool2d_bprop",
    "max_pool3d",
    "max_pool3d_bprop",
    "memory_stats",
    "nn",
    "ones",
    "pool",
    "pool_bprop",
    "release_cached_memory",
    "release_captured_memory",
    "synchronize",
    "tensor_map",
    "version",
    "wrap",
    "zeros",
    "zeros_like",
]
