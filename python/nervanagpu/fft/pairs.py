"""Complex tensors as pairs of real and imaginary part, (..., 2), which transforms read and write."""

from __future__ import annotations

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.calls.placement import per_device
from nervanagpu.linalg.operands import as_tensor
from nervanagpu.math import elementwise

_COMPLEX = {"complex64": np.float32, "complex128": np.float64}
_SINGLE = ("float16", "bfloat16", "float32", "complex64")


def is_complex(x: GPUTensor) -> bool:
    """Whether its elements are."""
    return str(x.dtype) in _COMPLEX


def operand(function: str, value: object) -> GPUTensor:
    """A tensor of float32, float64, complex64 or complex128; integers and bool become float64."""
    x = as_tensor(function, "a", value)
    if is_complex(x):
        return x
    wanted = np.dtype(np.float32 if str(x.dtype) in _SINGLE else np.float64)
    return x if x.dtype == wanted else x.astype(wanted)


def of(x: GPUTensor) -> GPUTensor:
    """The pairs of any tensor, a new one (..., 2); of real numbers with 0."""
    if is_complex(x):
        return x.copy().share((*x.shape, 2), _COMPLEX[str(x.dtype)])
    out = creation.zeros((*x.shape, 2), x.dtype)
    out[..., 0] = x
    return out


def to_complex(x: GPUTensor) -> GPUTensor:
    """complex64 or complex128 of pairs that nobody else has."""
    pairs = x if x.contiguous else x.copy()
    return pairs.share(x.shape[:-1], np.result_type(x.dtype, np.complex64))


@per_device()
def _signs(dtype: str) -> GPUTensor:
    return creation.array(np.array([1, -1], dtype))


def conjugate(x: GPUTensor) -> GPUTensor:
    """Pairs with the other sign of the imaginary part."""
    return elementwise.multiply(x, _signs(str(x.dtype)))
