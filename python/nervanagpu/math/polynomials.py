"""Polynomials as rows of coefficients, the highest power first."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import integer
from nervanagpu.function_table import public
from nervanagpu.math import composed, elementwise, signals
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of

F = TypeVar("F", bound=Callable[..., Any])
_OF_LINALG = ("float32", "float64", "complex64", "complex128")


def _row(function: str, name: str, p: object) -> GPUTensor:
    row = operand_of(getattr(p, "coeffs", p))  # those of a poly1d
    if row.ndim > 1:
        raise ValueError(f"{function}: {name} has {row.ndim} axes; needs one")
    return row.reshape(-1)


def _as_long(x: GPUTensor, length: int) -> GPUTensor:
    if x.size == length:
        return x
    return composed.concatenate([creation.zeros(length - x.size, x.dtype), x])


def _of_degree(function: str, name: str, value: object) -> GPUTensor:
    """A polynomial without zeros in front; of nothing but zeros one."""
    row = _row(function, name, value)
    there = np.flatnonzero(dtypes.host_of(row))
    if not there.size:
        return creation.zeros(1, row.dtype)
    return row[int(there[0]) :]


def _of_objects(function: F) -> F:
    """`function`, whose results are of the class poly1d where one of its arguments is."""

    @functools.wraps(function)
    def call(*args: object, **more: object) -> object:
        made = function(*args, **more)
        of: Any = next((type(a) for a in args if hasattr(a, "coeffs")), None)
        if of is None:
            return made
        return tuple(map(of, made)) if isinstance(made, tuple) else of(made)

    return call  # type: ignore[return-value]


@public()
@_of_objects
def polyadd(a1: Operand, a2: Operand) -> GPUTensor:
    """The sum."""
    x, y = _row("polyadd", "a1", a1), _row("polyadd", "a2", a2)
    length = max(x.size, y.size)
    return elementwise.add(_as_long(x, length), _as_long(y, length))


@public()
@_of_objects
def polysub(a1: Operand, a2: Operand) -> GPUTensor:
    """The difference."""
    x, y = _row("polysub", "a1", a1), _row("polysub", "a2", a2)
    length = max(x.size, y.size)
    return elementwise.subtract(_as_long(x, length), _as_long(y, length))


@public()
@_of_objects
def polymul(a1: Operand, a2: Operand) -> GPUTensor:
    """The product, without zeros in front of its factors."""
    return signals.convolve(_of_degree("polymul", "a1", a1), _of_degree("polymul", "a2", a2))


@public()
@_of_objects
def polydiv(u: Operand, v: Operand) -> tuple[GPUTensor, GPUTensor]:
    """(quotient, remainder), by division on the host. ZeroDivisionError for a polynomial v that is 0."""
    x, y = (dtypes.host_of(_row("polydiv", name, p)) for name, p in (("u", u), ("v", v)))
    y = np.trim_zeros(y, "f")
    if not y.size:
        raise ZeroDivisionError("polydiv: v is 0; needs another polynomial")
    quotient, rest = np.polydiv(x, y)
    return creation.array(quotient), creation.array(rest)


@public()
def polyval(p: Operand, x: Operand) -> GPUTensor:
    """p[0] * x ** (n - 1) + ... + p[n - 1], by Horner's rule."""
    row, at = _row("polyval", "p", p), operand_of(x)
    dtype = dtypes.promoted(row.dtype, at.dtype) if row.size else at.dtype
    made = creation.zeros(at.shape, dtype)
    for k in range(row.size):
        made = elementwise.add(elementwise.multiply(made, at), row[k])
    return made


@public()
@_of_objects
def polyder(p: Operand, m: int = 1) -> GPUTensor:
    """The derivative of order m."""
    row = _row("polyder", "p", p)
    for _ in range(min(integer("polyder", "m", m, 0), row.size + 1)):
        row = elementwise.multiply(row[:-1], creation.arange(max(row.size - 1, 0), 0, -1))
    return row


@public()
@_of_objects
def polyint(p: Operand, m: int = 1, k: object = None) -> GPUTensor:
    """The integral of order m; k: the constants, one number for all or one for each order (0)."""
    row, times = _row("polyint", "p", p), integer("polyint", "m", m, 0)
    given = dtypes.host_of(_row("polyint", "k", 0.0 if k is None else k))
    if given.size not in (1, times):
        raise ValueError(f"polyint: k has {given.size} numbers; needs 1 or m = {times}")
    constants = np.broadcast_to(given, times)
    for constant in constants:
        row = elementwise.divide(row, creation.arange(row.size, 0, -1))
        row = composed.concatenate([row, creation.full(1, constant.item(), row.dtype)])
    return row


@public()
def poly(seq_of_zeros: Operand) -> GPUTensor:
    """The polynomial of these roots, or of the eigenvalues of a square matrix, whose first coefficient is 1.

    Real where the roots are, and where each complex one has its conjugate beside it.
    """
    from nervanagpu import linalg

    given = operand_of(seq_of_zeros)
    zeros = dtypes.host_of(linalg.eigvals(given) if given.ndim == 2 else _row("poly", "seq_of_zeros", given))
    kind = np.dtype(np.mintypecode(zeros.dtype.char))  # float64 of integers, and of float16
    made = creation.ones(1 if zeros.size else (), kind if zeros.size else np.float64)
    for zero in zeros.astype(kind).tolist():
        below = made[1:] - made[:-1] * zero  # the first and the last are products: no NaN beside them counts
        made = composed.concatenate([made[:1], below, made[-1:] * -zero])
    paired = np.array_equal(np.sort(zeros), np.sort(zeros.conj()))
    return made.real.copy() if kind.kind == "c" and paired else made


@public()
def roots(p: Operand) -> GPUTensor:
    """The roots, in no order: eigenvalues of the polynomial's companion matrix, in p's floats."""
    from nervanagpu import linalg

    row = dtypes.host_of(_row("roots", "p", p))
    row = row.astype(row.dtype if row.dtype in _OF_LINALG else np.result_type(row.dtype, np.float64))
    there = np.flatnonzero(row)
    if not there.size:
        return creation.zeros(0, np.float64)
    behind = row.size - 1 - int(there[-1])  # roots at 0
    row = row[there[0] : there[-1] + 1]
    matrix = np.diag(np.ones(max(row.size - 2, 0), row.dtype), -1)
    matrix[:1] = -row[1:] / row[0] if row.size > 1 else 0
    found = linalg.eigvals(creation.array(matrix)) if row.size > 1 else creation.zeros(0, np.float64)
    return composed.concatenate([found, creation.zeros(behind, found.dtype)]) if behind else found
