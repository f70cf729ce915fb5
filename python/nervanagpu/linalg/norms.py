"""Norms, condition numbers and ranks, as numpy.linalg's. What needs no singular values is one kernel on the device."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.calls.arguments import flag, number, shown
from nervanagpu.linalg.contractions import finite_eps
from nervanagpu.linalg.decompositions import singular_values, svdvals
from nervanagpu.linalg.operands import LinAlgError, as_tensor, axes_of, check_matrices, inexact
from nervanagpu.linalg.solving import inv
from nervanagpu.math import elementwise, reductions
from nervanagpu.math.elementwise import Operand

_MATRIX_ORDERS = "None, 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2"


def _float(function: str, name: str, value: object) -> GPUTensor:
    """The operand; integers and bool as float64."""
    x = as_tensor(function, name, value)
    return x.astype(np.float64) if str(x.dtype) != "bfloat16" and np.dtype(x.dtype).kind in "biu" else x


def _squares(x: GPUTensor) -> GPUTensor:
    """|x| ** 2, real."""
    return elementwise.square(elementwise.absolute(x) if _complex(x) else x)


def _complex(x: GPUTensor) -> bool:
    return str(x.dtype) in ("complex64", "complex128")


def _largest(x: GPUTensor, axis: int | tuple[int, ...], keepdims: bool = False) -> GPUTensor:
    """The largest of sizes; 0 of none."""
    axes = (axis,) if isinstance(axis, int) else axis
    reduced = reductions.max if all(x.shape[i] for i in axes) else reductions.sum
    return reduced(x, axis, keepdims=keepdims)


def _vector(function: str, x: GPUTensor, order: object, axes: tuple[int, ...], keepdims: bool) -> GPUTensor:
    if isinstance(order, str):
        raise ValueError(f"{function}: ord is {order!r}; needs a number for vectors")
    if order is None or order == 2:
        return elementwise.sqrt(reductions.sum(_squares(x), axes, keepdims=keepdims))
    size = elementwise.absolute(x)
    if order == math.inf:
        return _largest(size, axes, keepdims)
    if order == -math.inf:
        return reductions.min(size, axes, keepdims=keepdims)
    if order == 0:
        return reductions.sum(elementwise.not_equal(x, 0).astype(size.dtype), axes, keepdims=keepdims)
    if order == 1:
        return reductions.sum(size, axes, keepdims=keepdims)
    power = number(function, "ord", order)
    return elementwise.power(reductions.sum(elementwise.power(size, power), axes, keepdims=keepdims), 1 / power)


def _spectral(x: GPUTensor, order: object, axes: tuple[int, int]) -> GPUTensor:
    """2, -2 and 'nuc' of the matrices in two axes."""
    rest = [i for i in range(x.ndim) if i not in axes]
    s = svdvals(x.transpose(*rest, *axes))
    if order == "nuc":
        return reductions.sum(s, -1)
    return _largest(s, s.ndim - 1) if order == 2 else reductions.min(s, -1)


def _matrix(function: str, x: GPUTensor, order: Any, axes: tuple[int, int], keepdims: bool) -> GPUTensor:
    row, column = axes
    if order is None or (isinstance(order, str) and order in ("fro", "f")):
        return elementwise.sqrt(reductions.sum(_squares(x), axes, keepdims=keepdims))
    if not isinstance(order, str) and order in (1, -1, math.inf, -math.inf):
        first, second = (row, column) if order in (1, -1) else (column, row)
        sums = reductions.sum(elementwise.absolute(x), first, keepdims=True)
        result = (_largest if order > 0 else reductions.min)(sums, second, keepdims=True)
    elif order == "nuc" or (not isinstance(order, str) and order in (2, -2)):
        result = _spectral(x, order, axes)
    else:
        raise ValueError(f"{function}: ord is {shown(order)}; needs {_MATRIX_ORDERS} for matrices")
    kept = tuple(1 if i in axes else length for i, length in enumerate(x.shape))
    shape = kept if keepdims else tuple(length for i, length in enumerate(x.shape) if i not in axes)
    return result.reshape(shape) if shape else _core.number(result.reshape(()))


def norm(x: Operand, ord: object = None, axis: object = None, keepdims: bool = False) -> GPUTensor:
    """The norm of a vector, a matrix, or of all along one axis or two, as numpy.linalg.norm.

    Vectors (one axis): ord is None or 2, inf, -inf, 0 (how many are not 0), or any number p. Matrices: None or 'fro',
    'nuc', inf, -inf, 1, -1, 2, -2; the last and 'nuc' by singular values. Without axis and ord: of all elements.
    """
    operand, keepdims = _float("norm", "x", x), flag("norm", "keepdims", keepdims)
    everything = tuple(range(operand.ndim))
    if axis is None:
        if ord is None:
            return _vector("norm", operand, None, everything, keepdims)
        axes = everything
    else:
        axes = axes_of("norm", axis, operand.ndim)
    if len(axes) == 1:
        return _vector("norm", operand, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm: axis is {shown(axis)} of shape {operand.shape}; needs one axis or two")
    return _matrix("norm", operand, ord, (axes[0], axes[1]), keepdims)


def vector_norm(x: Operand, /, *, axis: object = None, keepdims: bool = False, ord: object = 2) -> GPUTensor:
    """The norm of all elements, or of those along one axis or more, as one vector."""
    operand, keepdims = _float("vector_norm", "x", x), flag("vector_norm", "keepdims", keepdims)
    axes = tuple(range(operand.ndim)) if axis is None else axes_of("vector_norm", axis, operand.ndim)
    return _vector("vector_norm", operand, ord, axes, keepdims)


def matrix_norm(x: Operand, /, *, keepdims: bool = False, ord: object = "fro") -> GPUTensor:
    """The norm of the matrices in the last two axes; ord as of `norm`."""
    operand, keepdims = _float("matrix_norm", "x", x), flag("matrix_norm", "keepdims", keepdims)
    axes_of("matrix_norm", (-2, -1), operand.ndim)
    return _matrix("matrix_norm", operand, ord, (operand.ndim - 2, operand.ndim - 1), keepdims)


def _inverse_or_inf(x: GPUTensor, order: object) -> GPUTensor:
    """The norms of the inverses; inf of singular matrices."""
    try:
        return norm(inv(x), order, (-2, -1))
    except LinAlgError:
        if x.ndim == 2:
            return creation.full((), math.inf, np.float64 if x.dtype == np.complex128 else x.dtype)
    parts = [_inverse_or_inf(x[i], order) for i in range(x.shape[0])]
    return creation.array(np.stack([p.get() for p in parts]))


def cond(x: Operand, p: object = None) -> GPUTensor:
    """Condition numbers norm(x, p) * norm(inv(x), p); p None, 2, -2: from singular values. inf of singular matrices."""
    (operand,) = inexact("cond", x=x)
    if not operand.size and 0 in operand.shape[-2:]:
        raise LinAlgError(f"cond: x has shape {operand.shape}; needs elements (cond is not defined on empty arrays)")
    check_matrices("cond", "x", operand)
    if isinstance(p, str | bytes | float | int) or p is None:
        known = p in (None, 1, -1, 2, -2, math.inf, -math.inf, "fro", "nuc")
    else:
        known = False
    if not known:
        raise ValueError(f"cond: p is {shown(p)}; needs {_MATRIX_ORDERS}")
    if p is None or p in (2, -2):
        s = svdvals(operand)
        large, small = s[..., 0], s[..., -1]
        result = small / large if p == -2 else large / small
    else:
        check_matrices("cond", "x", operand, square=True)
        result = norm(operand, p, (-2, -1)) * _inverse_or_inf(operand, p)
    given = reductions.any(elementwise.isnan(elementwise.absolute(operand)), (-2, -1))
    made = elementwise.logical_and(elementwise.isnan(result), elementwise.logical_not(given))
    return elementwise.where(made, creation.full((), math.inf, result.dtype), result)


def matrix_rank(A: object, tol: object = None, hermitian: bool = False, *, rtol: object = None) -> GPUTensor:
    """How many singular values are above tol, or above rtol times the largest: int64.

    By default rtol is max(m, n) times the machine epsilon. Of less than two axes: whether an element is not 0.
    """
    if tol is not None and rtol is not None:
        raise ValueError(f"matrix_rank: tol is {shown(tol)} and rtol {shown(rtol)}; needs one of them")
    (x,) = inexact("matrix_rank", A=A)
    if x.ndim < 2:
        return reductions.any(elementwise.not_equal(x, 0)).astype(np.int64)
    s = singular_values("matrix_rank", x, hermitian)
    if not s.size:
        return creation.zeros(s.shape[:-1], np.int64)
    if tol is None:
        relative = max(x.shape[-2:]) * finite_eps(s.dtype) if rtol is None else _bound("rtol", rtol)
        bound: float | GPUTensor = elementwise.multiply(reductions.max(s, -1, keepdims=True), relative)
    else:
        bound = _bound("tol", tol)
    return reductions.sum(elementwise.greater(s, bound), -1)


def _bound(name: str, value: object) -> float | GPUTensor:
    if not getattr(value, "ndim", 0) and not isinstance(value, list | tuple):
        return number("matrix_rank", name, value)
    return as_tensor("matrix_rank", name, value)[..., None]


__all__ = ["cond", "matrix_norm", "matrix_rank", "norm", "vector_norm"]
