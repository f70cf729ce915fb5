"""Transforms by NumPy on the host: what the emulator has, and a GPU without cuFFT. nervanagpu.fft.cufft has the same.

Operands and results are contiguous: real numbers (batch, *n), or pairs of real and imaginary part (batch, *n, 2). Every
transform is of all axes of n and is not divided by anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation


def _numbers(pairs: GPUTensor) -> npt.NDArray[Any]:
    host = pairs.get()
    return host.view(np.result_type(host.dtype, np.complex64))[..., 0]


def _pairs(numbers: npt.NDArray[Any], like: GPUTensor) -> GPUTensor:
    parts = np.stack([numbers.real, numbers.imag], -1)
    return creation.array(parts.astype(like.dtype))  # NumPy before 2.0 computes all in float64


def complex_to_complex(x: GPUTensor, forward: bool) -> GPUTensor:
    """Pairs to pairs, by e ** (-2 pi i j k / n) forward and by its conjugate back."""
    axes = tuple(range(1, x.ndim - 1))
    numbers = _numbers(x)
    if forward:
        return _pairs(np.fft.fftn(numbers, axes=axes), x)
    return _pairs(np.fft.ifftn(numbers, axes=axes, norm="forward"), x)


def real_to_complex(x: GPUTensor) -> GPUTensor:
    """Real numbers to pairs, n[-1] // 2 + 1 of them in the last axis."""
    return _pairs(np.fft.rfftn(x.get(), axes=tuple(range(1, x.ndim))), x)


def complex_to_real(x: GPUTensor, n: int) -> GPUTensor:
    """Pairs (batch, n // 2 + 1, 2) to real numbers (batch, n). x is not needed any more."""
    return creation.array(np.fft.irfft(_numbers(x), n, norm="forward").astype(x.dtype))
