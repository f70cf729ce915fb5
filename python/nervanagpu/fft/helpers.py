"""Sample frequencies, and the order of spectra."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.calls.arguments import integer, number
from nervanagpu.calls.protocols import DeviceLike
from nervanagpu.linalg.operands import as_tensor, axes_of
from nervanagpu.math import composed
from nervanagpu.math.elementwise import Operand


def _frequencies(function: str, n: object, d: object) -> tuple[int, float]:
    return integer(function, "n", n, 1, 2**31 - 1), number(function, "d", d)


def fftfreq(n: int, d: float = 1.0, device: DeviceLike = None, *, dtype: npt.DTypeLike | None = None) -> GPUTensor:
    """Frequencies (n,), float64 or `dtype`, of a transform of n samples at distance d: 0, 1/(nd), ..., then the
    negative ones.
    """
    n, d = _frequencies("fftfreq", n, d)
    return creation.array(np.fft.fftfreq(n, d), dtype)


def rfftfreq(n: int, d: float = 1.0, device: DeviceLike = None, *, dtype: npt.DTypeLike | None = None) -> GPUTensor:
    """Frequencies (n // 2 + 1,), float64 or `dtype`, of a transform of n real samples at distance d."""
    n, d = _frequencies("rfftfreq", n, d)
    return creation.array(np.fft.rfftfreq(n, d), dtype)


def _rolled(function: str, x: Operand, axes: object, back: bool) -> GPUTensor:
    tensor = as_tensor(function, "x", x)
    for axis in range(tensor.ndim) if axes is None else axes_of(function, axes, tensor.ndim):
        length = tensor.shape[axis]
        cut = length // 2 if back else length - length // 2
        if 0 < cut < length:
            before = (slice(None),) * axis
            tensor = composed.concatenate([tensor[(*before, slice(cut, None))], tensor[(*before, slice(cut))]], axis)
    return tensor.copy() if tensor is x else tensor


def fftshift(x: Operand, axes: int | Sequence[int] | None = None) -> GPUTensor:
    """The frequency 0 in the middle of the axes (None: of all)."""
    return _rolled("fftshift", x, axes, False)


def ifftshift(x: Operand, axes: int | Sequence[int] | None = None) -> GPUTensor:
    """What fftshift did, undone."""
    return _rolled("ifftshift", x, axes, True)
