"""skcuda.fft: plans, and transforms from one tensor into another, not divided unless `scale` says so."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import integer, integers, tensor
from nervanagpu.calls.protocols import StreamLike
from nervanagpu.fft import transforms
from nervanagpu.math import elementwise
from nervanagpu.skcuda import arrays


class Plan:
    """Transforms of `shape`, `batch` of them, from in_dtype to out_dtype: complex to complex, or one of them real.

    Layouts other than contiguous ones (inembed, istride, ...) are not there: a view does the same.
    """

    def __init__(
        self,
        shape: int | Sequence[int],
        in_dtype: npt.DTypeLike,
        out_dtype: npt.DTypeLike,
        batch: int = 1,
        stream: StreamLike = None,
        mode: int = 1,
        **layout: object,
    ) -> None:
        given = {name: value for name, value in layout.items() if value is not None}
        if given:
            raise ValueError(
                f"Plan: {', '.join(given)} given; needs contiguous data (views of tensors are transformed)"
            )
        self.shape = tuple(integers("Plan", "shape", shape, 1))
        self.in_dtype, self.out_dtype = np.dtype(in_dtype), np.dtype(out_dtype)
        self.batch = integer("Plan", "batch", batch, 1)
        kinds = self.in_dtype.kind + self.out_dtype.kind
        if kinds not in ("cc", "fc", "cf"):
            raise TypeError(f"Plan: from {self.in_dtype} to {self.out_dtype}; needs complex numbers on one side")


def _stored(function: str, plan: Plan, y: GPUTensor, result: GPUTensor, scale: bool) -> None:
    tensor(function, "y_gpu", y)
    if y.size != result.size:
        raise ValueError(f"{function}: y_gpu has shape {y.shape}; needs {result.size} elements")
    values = elementwise.divide(result, math.prod(plan.shape)) if scale else result
    y[...] = values.copy().reshape(y.shape)


def _operand(function: str, plan: Plan, x: GPUTensor, lengths: Sequence[int]) -> GPUTensor:
    tensor(function, "x_gpu", x)
    shape = (plan.batch, *lengths)
    if x.size != math.prod(shape):
        raise ValueError(f"{function}: x_gpu has shape {x.shape}; needs {math.prod(shape)} elements for the plan")
    return (x if x.contiguous else x.copy()).reshape(shape)


def fft(x_gpu: GPUTensor, y_gpu: GPUTensor, plan: Plan, scale: bool = False) -> None:
    """y = the transform of x, complex or (in_dtype real) half of it; with `scale` over the number of elements."""
    x = _operand("fft", plan, x_gpu, plan.shape)
    axes = tuple(range(1, x.ndim))
    transform = transforms.rfftn if plan.in_dtype.kind == "f" else transforms.fftn
    _stored("fft", plan, y_gpu, transform(x, axes=axes), scale)


def ifft(x_gpu: GPUTensor, y_gpu: GPUTensor, plan: Plan, scale: bool = False) -> None:
    """y = the inverse transform of x times the number of elements, or with `scale` the inverse."""
    real = plan.out_dtype.kind == "f"
    lengths = (*plan.shape[:-1], plan.shape[-1] // 2 + 1) if real else plan.shape
    x = _operand("ifft", plan, x_gpu, lengths)
    axes = tuple(range(1, x.ndim))
    if real:
        result = transforms.irfftn(x, plan.shape, axes, "forward")
    else:
        result = transforms.ifftn(x, axes=axes, norm="forward")
    _stored("ifft", plan, y_gpu, result, scale)


__all__ = ["Plan", "fft", "ifft"]
arrays.give(globals())
