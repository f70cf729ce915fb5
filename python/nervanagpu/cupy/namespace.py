"""The names of nervanagpu.cupy: the library's, and over them those that differ in CuPy."""

from __future__ import annotations

import builtins as _builtins
from typing import Any as _Any

import numpy as _numpy

import nervanagpu as _library
from nervanagpu import exceptions as exceptions
from nervanagpu.arrays import files as _files
from nervanagpu.arrays.array_checks import byte_bounds as byte_bounds
from nervanagpu.arrays.files import fromfile as fromfile
from nervanagpu.arrays.files import fromstring as fromstring
from nervanagpu.arrays.files import genfromtxt as genfromtxt
from nervanagpu.arrays.files import loadtxt as loadtxt
from nervanagpu.arrays.files import save as save
from nervanagpu.arrays.files import savetxt as savetxt
from nervanagpu.arrays.files import savez as savez
from nervanagpu.arrays.files import savez_compressed as savez_compressed
from nervanagpu.arrays.slices import broadcast as broadcast
from nervanagpu.cupy import cuda as cuda
from nervanagpu.cupy import random as random
from nervanagpu.cupy.array_class import ndarray as ndarray
from nervanagpu.cupy.creation import *  # noqa: F403
from nervanagpu.cupy.cuda.memory import get_default_memory_pool as get_default_memory_pool
from nervanagpu.cupy.cuda.memory import get_default_pinned_memory_pool as get_default_pinned_memory_pool
from nervanagpu.cupy.elementwise import ElementwiseKernel as ElementwiseKernel
from nervanagpu.cupy.functions import *  # noqa: F403
from nervanagpu.cupy.fusion import fuse as fuse
from nervanagpu.cupy.memo import clear_memo as clear_memo
from nervanagpu.cupy.memo import memoize as memoize
from nervanagpu.cupy.products import *  # noqa: F403
from nervanagpu.cupy.raw import RawKernel as RawKernel
from nervanagpu.cupy.raw import RawModule as RawModule
from nervanagpu.cupy.reduction import ReductionKernel as ReductionKernel
from nervanagpu.exceptions import *  # noqa: F403

load = _files.load_arrays  # the library's own `load` loads kernels
__version__ = "13.0.0"  # of the CuPy whose interface this is

_OF_NUMPY = (
    "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "complex64", "complex128", "byte", "ubyte", "short", "ushort", "intc", "uintc", "int_", "uint",
    "longlong", "ulonglong", "single", "double", "half", "intp", "uintp", "csingle", "cdouble", "number", "integer",
    "signedinteger", "unsignedinteger", "inexact", "floating", "complexfloating", "generic", "dtype", "e",
    "euler_gamma", "inf", "nan", "pi", "newaxis",
)  # fmt: skip
for _name in _OF_NUMPY:
    globals()[_name] = getattr(_numpy, _name)
bool = _numpy.bool_


def get_array_module(*args: _Any) -> _Any:
    """This module if one of the arguments is on the device, else numpy."""
    import nervanagpu.cupy

    return nervanagpu.cupy if any(isinstance(a, _library.GPUTensor) for a in args) else _numpy


def is_available() -> _builtins.bool:
    """Whether there is a GPU; without one this library's emulator computes."""
    return cuda.is_available()


def __getattr__(name: str) -> _Any:
    return getattr(_library, name)


def __dir__() -> list[str]:
    return sorted({*(n for n in globals() if not n.startswith("_")), *_library.__all__})
