"""What scripts of cudamat use of cudamat.learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nervanagpu.compat.cudamat import CUDAMatrix


def mult_by_sigmoid_deriv(target: CUDAMatrix, acts: CUDAMatrix) -> CUDAMatrix:
    """target = target * acts * (1 - acts): through a logistic function whose results are `acts`."""
    return target._into(None, target._x * acts._x * (1 - acts._x))
