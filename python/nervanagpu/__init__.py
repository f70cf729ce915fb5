"""nervanagpu: deep-learning primitives in hand-written GPU assembly.

    import numpy as np
    import nervanagpu as ng

    a = ng.array(np.random.rand(300, 200).astype(np.float32))
    b = ng.array(np.random.rand(200, 100).astype(np.float32))
    c = ng.dot(a, b, relu=True)          # one fused kernel, on the GPU or the built-in emulator
    print(c.get(), ng.device())

`ng.doctor()` says what was found on this machine. `NervanaGPU` is the factory of the 2015 library of this name.
"""

import types as _types
import typing as _typing
from importlib import import_module as _import_module

import numpy as _numpy

from nervanagpu import function_table, linalg, module_aliases
from nervanagpu._core import (
    AssembleError,
    CheckError,
    Cubin,
    DeviceInfo,
    DeviceLost,
    Error,
    Event,
    Expression,
    Finding,
    GPUTensor,
    Graph,
    Hazard,
    KernelInfo,
    MemoryStats,
    Pieces,
    SharedPieces,
    Stream,
    autotune,
    device,
    device_count,
    doctor,
    memory_stats,
    release_cached_memory,
    release_captured_memory,
    synchronize,
    version,
)
from nervanagpu.arrays import (
    array_checks,
    dtypes,
    exchange,
    files,
    index_tricks,
    manipulation,
    padding,
    selection,
    slices,
    tensor_methods,
    text,
)
from nervanagpu.arrays.creation import pinned, wrap
from nervanagpu.arrays.exchange import from_cuda_array, from_dlpack
from nervanagpu.arrays.index_tricks import c_, index_exp, mgrid, ogrid, r_, s_
from nervanagpu.calls import numpy_protocol, placement
from nervanagpu.calls.precision_setting import precision
from nervanagpu.math import (
    algebra,
    floats,
    functions,
    gufuncs,
    integers,
    nan_functions,
    polynomial_fit,
    polynomials,
    quantiles,
    scans,
    signals,
    sorting,
    summation,
    ufuncs,
    windows,
)
from nervanagpu.math.elementwise import evaluate, explain, launch_count
from nervanagpu.random import dropout, rand, randint, randn, seed, stochastic_round

# Imported when a name of theirs is first asked for: most programs need few of them, and each takes its part of a
# millisecond or two.
_LATER = {
    "compat.factory": "NervanaGPU",
    "conv_pool": "conv2d_max_pool2d conv2d_max_pool2d_argmax conv2d_max_pool2d_is_one_kernel",
    "convolution": """
        ConvPlan conv1d conv1d_bprop conv1d_update conv2d conv2d_bprop conv2d_update conv3d conv3d_bprop conv3d_update
        deconv1d deconv2d deconv3d """,
    "cuda_toolkit.nvrtc": "CompileError",
    "cupy.cuda.memory": "get_default_memory_pool get_default_pinned_memory_pool",
    "cupy.elementwise": "ElementwiseKernel",
    "cupy.fusion": "fuse",
    "cupy.raw": "RawKernel RawModule",
    "cupy.reduction": "ReductionKernel",
    "kernels.modules": "SassModule SourceModule",
    "kernels.tensor_maps": "Im2col TensorMap tensor_map",
    "kernels.textures": "Image Surface Texture image surface texture",
    "kernels.toolchain": "Kernel Module assemble disassemble load",
    "linalg.gemm_plan": "GemmPlan",
    "memory": "memory_report set_kernel_cache track_memory",
    "nan_trap": "check_finite",
    "network": "Network",
    "pooling": """
        PoolPlan avg_pool1d avg_pool1d_bprop avg_pool2d avg_pool2d_bprop avg_pool3d avg_pool3d_bprop l2_pool1d
        l2_pool1d_bprop l2_pool2d l2_pool2d_bprop l2_pool3d l2_pool3d_bprop max_pool1d max_pool1d_bprop max_pool2d
        max_pool2d_bprop max_pool3d max_pool3d_bprop max_pool_argmax pool pool_bprop """,
    "timing": "Benchmark benchmark",
}
_HOMES = {name: f"nervanagpu.{module}" for module, names in _LATER.items() for name in names.split()}
_PUBLIC_MODULES = {"cuda": "nervanagpu.cupy.cuda", **{n: f"nervanagpu.{n}" for n in ("fft", "layers", "linalg", "nn")}}
_OWN_MODULES = {module.partition(".")[0] for module in _LATER} | {"lib"}  # attributes, as if imported

globals().update(function_table.of_space())  # the table of functions: __init__.pyi lists it for type checkers
globals().update(dtypes.NAMES)  # float32, int64, ...
newaxis, ndarray = None, GPUTensor
e, euler_gamma, inf, nan, pi = _numpy.e, _numpy.euler_gamma, _numpy.inf, _numpy.nan, _numpy.pi

ufuncs.install()
exchange.install()
tensor_methods.install()
text.install()
numpy_protocol.install()
placement.install()
module_aliases.keep_former_paths()

__version__ = version()

__all__ = sorted(
    {n for n, value in globals().items() if not n.startswith("_") and not isinstance(value, _types.ModuleType)}
    | _HOMES.keys()
    | _PUBLIC_MODULES.keys()
)


def __getattr__(name: str) -> _typing.Any:
    """What is imported when it is asked for, and NumPy's names that are about the host."""
    if name in _HOMES:
        found = placement.placed(getattr(_import_module(_HOMES[name]), name))
    elif name in _PUBLIC_MODULES:
        found = _import_module(_PUBLIC_MODULES[name])
    elif name in _OWN_MODULES:
        found = _import_module(f"nervanagpu.{name}")
    elif name.startswith("_"):
        raise AttributeError(f"module 'nervanagpu' has no attribute {name!r}")
    else:
        numpy_names = _import_module("nervanagpu.calls.numpy_names")
        if name in numpy_names.NAMES:
            return numpy_names.NAMES[name]
        raise AttributeError(f"module 'nervanagpu' has no attribute {name!r}{numpy_names.absent(name)}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_OWN_MODULES})
