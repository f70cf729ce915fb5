"""Transforms by cuFFT on the GPU, on the default stream; the functions of nervanagpu.fft.host.

Plans are kept, the 16 used last of each thread, each for its device. Their work areas are taken from the library's
memory for each call.
"""

from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.cuda_toolkit import cuda_libraries

_TYPES = {"R2C": 0x2A, "C2R": 0x2C, "C2C": 0x29, "D2Z": 0x6A, "Z2D": 0x6C, "Z2Z": 0x69}  # cufftType
_FORWARD, _INVERSE = -1, 1
_DEFAULT_STREAM = 0
_KEPT = 16


def available() -> None:
    """ImportError that says what to install, if cuFFT is not found."""
    cuda_libraries.library("cufft")


class _Plan(NamedTuple):
    number: int
    work: int  # bytes


class _Plans(threading.local):
    def __init__(self) -> None:
        self.path = ""
        self.kept: OrderedDict[tuple[int, str, tuple[int, ...], int], _Plan] = OrderedDict()


_plans = _Plans()


def _plan(kind: str, lengths: tuple[int, ...], batch: int) -> _Plan:
    fft = cuda_libraries.library("cufft")
    if _plans.path != fft.path:
        _plans.path, _plans.kept = fft.path, OrderedDict()
    key = (_core.get_device(), kind, lengths, batch)
    found = _plans.kept.get(key)
    if found is not None:
        _plans.kept.move_to_end(key)
        return found
    while len(_plans.kept) >= _KEPT:
        fft.call("cufftDestroy", _plans.kept.popitem(last=False)[1].number)
    number, size = ctypes.c_int(), ctypes.c_size_t()
    fft.call("cufftCreate", ctypes.byref(number))
    try:
        fft.call("cufftSetAutoAllocation", number, 0)
        n = (ctypes.c_longlong * len(lengths))(*lengths)
        # Without embedding, strides and distances are those of contiguous data.
        layout = (None, 1, 0, None, 1, 0)
        fft.call("cufftMakePlanMany64", number, len(lengths), n, *layout, _TYPES[kind], batch, ctypes.byref(size))
        fft.call("cufftSetStream", number, _DEFAULT_STREAM)
    except Exception:
        fft.call("cufftDestroy", number)
        raise
    return _plans.kept.setdefault(key, _Plan(number.value, size.value))


def _run(kind: str, lengths: tuple[int, ...], x: GPUTensor, out: GPUTensor, *direction: int) -> GPUTensor:
    cuda_libraries.outside_of_graphs("fft")
    fft = cuda_libraries.library("cufft")
    plan = _plan(kind, lengths, x.shape[0])
    work = creation.empty(max(plan.work, 1), np.uint8)
    fft.call("cufftSetWorkArea", plan.number, work.ptr)
    fft.call(f"cufftExec{kind}", plan.number, x.ptr, out.ptr, *direction)
    return out


def _kind(x: GPUTensor, single: str, double: str) -> str:
    return single if x.dtype == np.float32 else double


def complex_to_complex(x: GPUTensor, forward: bool) -> GPUTensor:
    direction = _FORWARD if forward else _INVERSE
    return _run(_kind(x, "C2C", "Z2Z"), x.shape[1:-1], x, creation.empty(x.shape, x.dtype), direction)


def real_to_complex(x: GPUTensor) -> GPUTensor:
    out = creation.empty((*x.shape[:-1], x.shape[-1] // 2 + 1, 2), x.dtype)
    return _run(_kind(x, "R2C", "D2Z"), x.shape[1:], x, out)


def complex_to_real(x: GPUTensor, n: int) -> GPUTensor:
    return _run(_kind(x, "C2R", "Z2D"), (n,), x, creation.empty((x.shape[0], n), x.dtype))
