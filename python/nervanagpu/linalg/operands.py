"""What a function of this package was given, as tensors of one dtype that LAPACK knows, or refused by name."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import AxisError, integer, is_integer, shown, tensor

LinAlgError = np.linalg.LinAlgError

_NEEDED = "needs float32, float64, complex64, complex128, bool or integers"


def as_tensor(function: str, name: str, value: object) -> GPUTensor:
    """`value` on the device: a tensor as it is, anything numpy.asarray understands as a copy."""
    if isinstance(value, GPUTensor):
        return value
    try:
        host = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{function}: {name} is {shown(value)}; needs a tensor or what numpy.asarray understands ({error})"
        ) from None
    if host.dtype.kind not in "biufc":
        raise TypeError(f"{function}: {name} is {shown(value)} with dtype {host.dtype}; {_NEEDED}")
    return creation.array(host)


def _computed(function: str, name: str, dtype: Any) -> np.dtype[Any]:
    """The dtype in which LAPACK computes with elements of `dtype`: integers and bool in float64."""
    if str(dtype) == dtypes.BFLOAT16 or np.dtype(dtype) == np.float16:
        raise TypeError(f"{function}: {name} has dtype {dtype}; {_NEEDED} (astype converts)")
    given = np.dtype(dtype)
    return np.dtype(np.float64) if given.kind in "biu" else given


def inexact(function: str, **operands: object) -> list[GPUTensor]:
    """The operands as tensors of one dtype: float32, float64, complex64 or complex128.

    TypeError for float16 and bfloat16, which LAPACK does not have.
    """
    tensors = [as_tensor(function, name, value) for name, value in operands.items()]
    each = [_computed(function, name, t.dtype) for name, t in zip(operands, tensors, strict=True)]
    common = np.result_type(*each)
    return [t if t.dtype == common else t.astype(common) for t in tensors]


def check_matrices(function: str, name: str, x: GPUTensor, square: bool = False) -> None:
    """LinAlgError unless x is a matrix or a stack of them; with `square`, of square ones."""
    if x.ndim < 2:
        raise LinAlgError(f"{function}: {name} has shape {x.shape}; needs 2 or more axes, the last two of each matrix")
    if square and x.shape[-1] != x.shape[-2]:
        raise LinAlgError(f"{function}: {name} has shape {x.shape}; needs square matrices in the last two axes")


def real_of(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """float32 of float32 and complex64, float64 of the others."""
    return np.dtype(np.float32 if np.dtype(dtype) in (np.float32, np.complex64) else np.float64)


def matrix_transpose(x: GPUTensor, /) -> GPUTensor:
    """The view with the last two axes swapped. ValueError for less than two axes."""
    x = as_tensor("matrix_transpose", "x", x)
    if x.ndim < 2:
        raise ValueError(
            f"matrix_transpose: x has shape {x.shape}; needs 2 axes (matrix transpose with ndim < 2 is undefined)"
        )
    return x.transpose(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)


def adjoint(x: GPUTensor) -> GPUTensor:
    """The conjugate of the transposed matrices; of real ones a view."""
    turned = matrix_transpose(x)
    return conjugate(turned)


def conjugate(x: GPUTensor) -> GPUTensor:
    """The complex conjugate; a real tensor as it is."""
    return _core.apply("conjugate", x) if np.dtype(x.dtype).kind == "c" else x


def axis_of(function: str, axis: object, ndim: int) -> int:
    """The one axis that `axis` names, 0 or more. AxisError if there is none."""
    return axes_of(function, (integer(function, "axis", axis),), ndim)[0]


def stored(function: str, result: GPUTensor, out: Any) -> GPUTensor:
    """The result, or `out` that has it now."""
    if out is None:
        return result
    if tensor(function, "out", out).shape != result.shape:
        raise ValueError(f"{function}: out has shape {out.shape}; needs {result.shape}")
    if not dtypes.converts(result.dtype, out.dtype):
        raise TypeError(f"{function}: out has dtype {out.dtype}; needs one that {result.dtype} converts to")
    out[...] = result
    return cast(GPUTensor, out)


def axes_of(function: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes that `axis` names, each 0 or more. AxisError for one that there is not, ValueError for one twice."""
    items = (axis,) if is_integer(axis) else axis
    try:
        axes = tuple(int(np.asarray(a).__index__()) for a in items)
    except TypeError:
        raise TypeError(f"{function}: axis is {shown(axis)}; needs an integer or a tuple of integers") from None
    for a in axes:
        if not -ndim <= a < ndim:
            raise AxisError(f"{function}: axis {a} is out of range; the operand has {ndim} axes")
    axes = tuple(a % ndim for a in axes)
    if len(set(axes)) != len(axes):
        raise ValueError(f"{function}: axis is {shown(axis)}; names an axis twice")
    return axes
