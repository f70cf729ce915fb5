"""Linear equations, inverses and least squares, as numpy.linalg's.

Operands and errors are those of nervanagpu.linalg.decompositions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.calls.arguments import integer, number, shown
from nervanagpu.linalg.backend import backend
from nervanagpu.linalg.contractions import finite_eps
from nervanagpu.linalg.decompositions import decomposed
from nervanagpu.linalg.operands import (
    LinAlgError,
    adjoint,
    as_tensor,
    axes_of,
    check_matrices,
    inexact,
    real_of,
)
from nervanagpu.linalg.products import product
from nervanagpu.math import elementwise, reductions
from nervanagpu.math.elementwise import Operand

_UNSET: Any = object()


class LstsqResult(NamedTuple):
    """residuals: squared lengths of b - a @ x, empty unless a has rank n and more rows than columns."""

    x: GPUTensor
    residuals: GPUTensor
    rank: np.int32
    singular_values: GPUTensor


def solve(a: Operand, b: Operand) -> GPUTensor:
    """x with a @ x = b. a: (..., n, n); b: (n,), or (..., n, k), whose stacks broadcast.

    LinAlgError for a singular matrix, and for shapes that do not fit.
    """
    x, y = inexact("solve", a=a, b=b)
    check_matrices("solve", "a", x, square=True)
    vector = y.ndim == 1
    if not y.ndim or y.shape[0 if vector else -2] != x.shape[-1]:
        raise LinAlgError(f"solve: b has shape {y.shape}; needs ({x.shape[-1]},) or (..., {x.shape[-1]}, k)")
    try:
        _stack(x.shape[:-2], () if vector else y.shape[:-2])
    except ValueError:
        raise LinAlgError(f"solve: b has shape {y.shape}; its stack does not broadcast against {x.shape}") from None
    found = backend().solve(x, y[:, None] if vector else y)
    return found[..., 0] if vector else found


def _stack(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    from numpy import broadcast_shapes

    return broadcast_shapes(tuple(a), tuple(b))


def inv(a: Operand) -> GPUTensor:
    """The inverse of square matrices. LinAlgError if one is singular."""
    (x,) = inexact("inv", a=a)
    check_matrices("inv", "a", x, square=True)
    return backend().inv(x)


def tensorsolve(a: Operand, b: Operand, axes: Sequence[int] | None = None) -> GPUTensor:
    """x with tensordot(a, x, x.ndim) = b. `axes` of a are moved after the others before."""
    x, y = inexact("tensorsolve", a=a, b=b)
    if axes is not None:
        last = axes_of("tensorsolve", axes, x.ndim)
        x = x.transpose(*(i for i in range(x.ndim) if i not in last), *last)
    shape = x.shape[y.ndim :]
    columns = math.prod(shape)
    if x.size != columns * columns or y.size != columns:
        raise LinAlgError(
            f"tensorsolve: a has shape {x.shape} and b {y.shape}; needs as many elements in b before as after"
        )
    flat = (x if x.contiguous else x.copy()).reshape(columns, columns)
    return solve(flat, (y if y.contiguous else y.copy()).reshape(columns)).copy().reshape(shape)


def tensorinv(a: Operand, ind: int = 2) -> GPUTensor:
    """The inverse for tensordot(a, b, ind): of a with its first `ind` axes as rows."""
    (x,) = inexact("tensorinv", a=a)
    ind = integer("tensorinv", "ind", ind)
    if ind <= 0:
        raise ValueError(f"tensorinv: ind is {ind}; needs 1 or more")
    rows, columns = x.shape[:ind], x.shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise LinAlgError(f"tensorinv: a has shape {x.shape}; needs as many elements in its first {ind} axes as after")
    flat = (x if x.contiguous else x.copy()).reshape(math.prod(rows), math.prod(columns))
    return inv(flat).copy().reshape(*columns, *rows)


def _cutoff(function: str, name: str, value: object) -> GPUTensor | float:
    """A relative bound, a number or one for each matrix, as what is multiplied with (..., 1) singular values."""
    if not getattr(value, "ndim", 0) and not isinstance(value, list | tuple):
        return number(function, name, value)
    return as_tensor(function, name, value)[..., None]


def _inverted(s: GPUTensor, cutoff: GPUTensor | float) -> GPUTensor:
    """1 / s where s is above cutoff times the largest, 0 elsewhere, of the dtype of s."""
    bound = elementwise.multiply(reductions.max(s, -1, keepdims=True), cutoff)
    large = elementwise.greater(s, bound)
    inverse = elementwise.reciprocal(elementwise.where(large, s, creation.ones((), s.dtype)))
    return elementwise.where(large, inverse, creation.zeros((), s.dtype))


def pinv(a: Operand, rcond: object = None, hermitian: bool = False, *, rtol: object = _UNSET) -> GPUTensor:
    """The Moore-Penrose inverse, from singular values above rcond (or rtol) times the largest.

    By default rcond is 1e-15; rtol=None: max(m, n) times the machine epsilon. Either may be one for each matrix.
    """
    (x,) = inexact("pinv", a=a)
    check_matrices("pinv", "a", x)
    if rcond is not None and rtol is not _UNSET:
        raise ValueError(f"pinv: rcond is {shown(rcond)} and rtol {shown(rtol)}; needs one of them")
    if rcond is None:
        automatic = max(x.shape[-2:]) * finite_eps(x.dtype)
        rcond = 1e-15 if rtol is _UNSET else automatic if rtol is None else rtol
    if not x.size:
        dtype = x.dtype if x.shape[-2] and x.shape[-1] else as_tensor("pinv", "a", a).dtype  # as NumPy's
        return creation.empty((*x.shape[:-2], x.shape[-1], x.shape[-2]), dtype)
    cutoff = _cutoff("pinv", "rcond", rcond)
    u, s, vh = decomposed("pinv", x, False, hermitian)
    return product(adjoint(vh) * _inverted(s, cutoff)[..., None, :], adjoint(u))


def lstsq(a: Operand, b: Operand, rcond: float | None = None) -> LstsqResult:
    """x that makes the length of b - a @ x least, and among these its own. a: (m, n); b: (m,) or (m, k).

    rcond: singular values up to rcond times the largest count as 0; None: max(m, n) times the machine epsilon.
    rank: how many are above; the other parts are tensors.
    """
    x, y = inexact("lstsq", a=a, b=b)
    if x.ndim != 2:
        raise LinAlgError(f"lstsq: a has shape {x.shape}; needs 2 axes")
    if y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise LinAlgError(f"lstsq: b has shape {y.shape}; needs ({x.shape[0]},) or ({x.shape[0]}, k)")
    m, n = x.shape
    eps = finite_eps(x.dtype)
    bound = eps * max(m, n) if rcond is None else number("lstsq", "rcond", rcond)
    bound = eps if bound < 0 else bound
    right = y[:, None] if y.ndim == 1 else y
    k, real = right.shape[1], real_of(x.dtype)
    if not m or not n:
        found, s, rank = creation.zeros((n, k), x.dtype), creation.empty(0, real), 0
    else:
        u, s, vh = decomposed("lstsq", x, False, False)
        inverse = _inverted(s, bound)
        rank = int(reductions.sum(elementwise.not_equal(inverse, 0)))
        found = product(adjoint(vh), inverse[:, None] * product(adjoint(u), right))
    residuals = creation.empty(0, real)
    if rank == n and m > n:
        rest = right - product(x, found)
        residuals = reductions.sum(elementwise.square(elementwise.absolute(rest)), 0)
    return LstsqResult(found[:, 0] if y.ndim == 1 else found, residuals, np.int32(rank), s)


__all__ = ["LstsqResult", "inv", "lstsq", "pinv", "solve", "tensorinv", "tensorsolve"]
