"""Products of vectors and matrices, as NumPy's generalized ufuncs (nervanagpu.linalg.core_axes)."""

from __future__ import annotations

from typing import Any, Protocol

import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.function_table import public
from nervanagpu.linalg import core_axes
from nervanagpu.linalg.operands import conjugate
from nervanagpu.linalg.products import product
from nervanagpu.math import elementwise, reductions
from nervanagpu.math.elementwise import Operand, taking


class Core(Protocol):
    """A function of the last axes of two operands."""

    def __call__(
        self,
        a: Operand,
        b: Operand,
        out: object = None,
        *,
        axes: object = None,
        axis: int | None = None,
        keepdims: bool = False,
        dtype: npt.DTypeLike | None = None,
        casting: str = "same_kind",
        order: str = "K",
        subok: bool = True,
        signature: object = None,
        sig: object = None,
    ) -> GPUTensor: ...


def _dot_of_vectors(a: GPUTensor, b: GPUTensor) -> GPUTensor:
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"vecdot: a has {a.shape[-1]} elements along its axis and b {b.shape[-1]}; needs as many")
    terms = elementwise.multiply(conjugate(a), b)
    return _core.as_dtype(reductions.sum(terms, -1), terms.dtype)


@public()
@taking(Core)
def vecdot(a: Operand, b: Operand, out: Any = None, **more: Any) -> GPUTensor:
    """sum(conj(a) * b) along the last axes; the axes in front broadcast. Integers keep their dtype."""
    return core_axes.call("vecdot", _dot_of_vectors, a, b, out, **more)


def _matrix_by_vector(a: GPUTensor, b: GPUTensor) -> GPUTensor:
    return product(a, b[..., None])[..., 0]


@public()
@taking(Core)
def matvec(a: Operand, b: Operand, out: Any = None, **more: Any) -> GPUTensor:
    """Products of matrices a and vectors b, along the last axes; the axes in front broadcast."""
    return core_axes.call("matvec", _matrix_by_vector, a, b, out, **more)


def _vector_by_matrix(a: GPUTensor, b: GPUTensor) -> GPUTensor:
    return product(conjugate(a)[..., None, :], b)[..., 0, :]


@public()
@taking(Core)
def vecmat(a: Operand, b: Operand, out: Any = None, **more: Any) -> GPUTensor:
    """Products of vectors a, conjugated, and matrices b, along the last axes; the axes in front broadcast."""
    return core_axes.call("vecmat", _vector_by_matrix, a, b, out, **more)
