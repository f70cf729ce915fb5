"""Products of vectors, matrices and tensors along chosen axes, and parts of matrices, as NumPy's functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.arrays.manipulation import axis_of, moveaxis, ravel
from nervanagpu.calls.arguments import integer, no_bool, number, tensor
from nervanagpu.function_table import public
from nervanagpu.linalg import contractions
from nervanagpu.linalg.operands import conjugate
from nervanagpu.linalg.products import product
from nervanagpu.math import composed, elementwise, reductions
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of


@public(composed=True)
def outer(a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """The product of each element of a with each of b, both in one row: (a.size, b.size)."""
    return elementwise.multiply(ravel(operand_of(a))[:, None], ravel(operand_of(b))[None], out)


@public()
def inner(a: Operand, b: Operand) -> GPUTensor:
    """Sums of products over the last axes of both; of numbers their product."""
    a, b = operand_of(a), operand_of(b)
    if a.ndim == 0 or b.ndim == 0:
        return elementwise.multiply(a, b)
    return product(a, b) if a.ndim == b.ndim == 1 else tensordot(a, b, ([-1], [-1]))


@public()
def vdot(a: Operand, b: Operand) -> GPUTensor:
    """The sum of the products of the elements, both in one row; of complex a their conjugates."""
    return product(conjugate(ravel(operand_of(a))), ravel(operand_of(b)))


@public()
def tensordot(a: Operand, b: Operand, axes: Any = 2) -> GPUTensor:
    """Sums of products over axes of both: the last `axes` of a with the first of b, or a pair of lists of axes."""
    return contractions.tensordot(a, b, axes=axes)


@public()
def kron(a: Operand, b: Operand) -> GPUTensor:
    """The Kronecker product: each element of a times all of b."""
    a, b = operand_of(a), operand_of(b)
    ndim = max(a.ndim, b.ndim)
    left, right = (1,) * (ndim - a.ndim) + a.shape, (1,) * (ndim - b.ndim) + b.shape
    x = a.reshape(*[n for length in left for n in (length, 1)])
    y = b.reshape(*[n for length in right for n in (1, length)])
    made = elementwise.multiply(x, y)
    return made.reshape(*[m * n for m, n in zip(left, right, strict=True)]) if ndim else made


@public()
def cross(
    a: Operand, b: Operand, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> GPUTensor:
    """Vector products of the vectors of three numbers along axisa and axisb, along axisc of the result.

    axis: all three. Of vectors of two numbers, whose third is 0: two of them give their product's third number alone.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = operand_of(a), operand_of(b)
    a, b = moveaxis(a, axis_of("cross", axisa, a.ndim), -1), moveaxis(b, axis_of("cross", axisb, b.ndim), -1)
    lengths = a.shape[-1], b.shape[-1]
    if not {*lengths} <= {2, 3}:
        raise ValueError(f"cross: the vectors have {lengths[0]} and {lengths[1]} numbers; needs 3, or 2")
    dtype = dtypes.promoted(a.dtype, b.dtype)
    if dtypes.kind_of(dtype) == "b":
        raise TypeError("cross: a and b are of bool, whose difference NumPy does not have; needs numbers")
    (x, y), (u, v) = (a[..., 0], a[..., 1]), (b[..., 0], b[..., 1])
    last = x * v - y * u
    if lengths == (2, 2):
        return _core.as_dtype(last, dtype)
    z = a[..., 2] if lengths[0] == 3 else None
    w = b[..., 2] if lengths[1] == 3 else None
    first = y * w if z is None else -(z * v) if w is None else y * w - z * v
    second = -(x * w) if z is None else z * u if w is None else z * u - x * w
    made = composed.stack([_core.as_dtype(part, dtype) for part in (first, second, last)], -1)
    return moveaxis(made, -1, axis_of("cross", axisc, made.ndim))


# ---- parts of matrices -----------------------------------------------------------------------------------------------


@public(method=True)
def diagonal(x: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1) -> GPUTensor:
    """The diagonal `offset` (above the main one if positive) of the matrices of two axes, along the last axis of a
    view.
    """
    x = operand_of(x)
    if x.ndim < 2:
        raise ValueError(f"diagonal: x has {x.ndim} axes; needs 2 or more")
    a, b = axis_of("diagonal", axis1, x.ndim, "axis1"), axis_of("diagonal", axis2, x.ndim, "axis2")
    if a == b:
        raise ValueError(f"diagonal: axis1 and axis2 are both {a}; needs two axes")
    k = integer("diagonal", "offset", offset)
    matrices = moveaxis(x, (a, b), (-2, -1))
    matrices = matrices[..., :, k:] if k >= 0 else matrices[..., -k:, :]
    length = min(matrices.shape[-2:])
    return _core.diagonal(matrices[..., :length, :length])


@public(method=True, composed=True)
def trace(
    x: Operand,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: npt.DTypeLike | None = None,
    out: GPUTensor | None = None,
) -> GPUTensor:
    """The sum of a diagonal."""
    return reductions.sum(diagonal(x, offset, axis1, axis2), -1, dtype, out)


@public()
def diag(x: Operand, k: int = 0) -> GPUTensor:
    """Of a row a matrix with it as diagonal k, of a matrix its diagonal k, a view."""
    x = operand_of(x)
    if x.ndim == 2:
        return diagonal(x, integer("diag", "k", k))
    if x.ndim != 1:
        raise ValueError(f"diag: x has {x.ndim} axes; needs 1 or 2")
    k = integer("diag", "k", k)
    n = x.shape[0] + abs(k)
    out = creation.zeros((n, n), x.dtype)
    diagonal(out, k)[...] = x
    return out


@public()
def diagflat(x: Operand, k: int = 0) -> GPUTensor:
    """A matrix with the elements, in one row, as diagonal k."""
    return diag(ravel(operand_of(x)), k)


@public()
def fill_diagonal(a: GPUTensor, val: object, wrap: bool = False) -> None:
    """a[i, i, ...] = val."""
    tensor("fill_diagonal", "a", a)
    if a.ndim < 2:
        raise ValueError(f"fill_diagonal: a has {a.ndim} axes; needs 2 or more")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError(f"fill_diagonal: a has shape {a.shape}; needs axes of one length")
    if a.ndim == 2 and not wrap:
        target = diagonal(a)
    else:
        step = a.shape[1] + 1 if a.ndim == 2 else sum(math.prod(a.shape[i + 1 :]) for i in range(a.ndim))
        target = a.reshape(-1, copy=False)[::step]
    given = operand_of(val) if not isinstance(val, int | float) else val
    if isinstance(given, GPUTensor) and given.size > 1:  # it begins again at its end
        row = ravel(given)
        reps = -(-target.size // row.size)
        given = composed.concatenate([row] * reps, 0)[: target.size] if reps > 1 else row[: target.size]
    target[...] = given


def _triangle(name: str, x: object, k: int, lower: bool) -> GPUTensor:
    x = operand_of(x)
    if x.ndim == 0:
        raise ValueError(f"{name}: x has no axes; needs one or more")
    rows, columns = x.shape[-2:] if x.ndim > 1 else (x.size, x.size)  # a row stands for a matrix of such rows
    i, j = composed._count(rows)[:, None], composed._count(columns)[None]
    apart = elementwise.subtract(j, i)
    inside = elementwise.less_equal(apart, k) if lower else elementwise.greater_equal(apart, k)
    zero = False if str(x.dtype) == "bool" else 0
    return elementwise.where(inside, x, zero)


@public()
def tril(x: Operand, k: int = 0) -> GPUTensor:
    """x with zeros above the diagonal k of its matrices."""
    return _triangle("tril", x, integer("tril", "k", k), True)


@public()
def triu(x: Operand, k: int = 0) -> GPUTensor:
    """x with zeros below the diagonal k of its matrices."""
    return _triangle("triu", x, integer("triu", "k", k), False)


@public(numpy=False)
def tri(N: int, M: int | None = None, k: int = 0, dtype: npt.DTypeLike = np.float32) -> GPUTensor:
    """A matrix of ones at and below the diagonal k, zeros above."""
    n = integer("tri", "N", N)
    return tril(creation.ones((n, n if M is None else integer("tri", "M", M)), dtype), k)


@public()
def vander(x: Operand, N: int | None = None, increasing: bool = False) -> GPUTensor:
    """The powers of x as columns, from N - 1 down to 0, or up, in a dtype that holds int64, too."""
    x = operand_of(x)
    if x.ndim != 1:
        raise ValueError(f"vander: x has {x.ndim} axes; needs 1")
    x = _core.as_dtype(x, dtypes.promoted(x.dtype, np.int64))
    count = x.shape[0] if N is None else integer("vander", "N", no_bool("vander", "N", N), 0, 4096)
    powers = range(count) if increasing else range(count - 1, -1, -1)
    columns = [elementwise.power(x, p) for p in powers]
    return composed.stack(columns, 1) if columns else creation.empty((x.shape[0], 0), x.dtype)


@public()
def interp(
    x: Operand,
    xp: Operand,
    fp: Operand,
    left: complex | None = None,
    right: complex | None = None,
    period: float | None = None,
) -> GPUTensor:
    """The piecewise linear function through (xp, fp), xp growing, at x; `left` and `right`: outside (fp's ends).

    period: of the function; xp is then in any order, and there is no outside.
    """
    from nervanagpu.math import sorting

    x, xp, fp = operand_of(x), operand_of(xp), operand_of(fp)
    for name, t in (("x", x), ("xp", xp)):
        if dtypes.kind_of(t.dtype) == "c":
            raise TypeError(f"interp: {name} is {t.dtype}; needs real numbers")
    if xp.ndim != 1 or xp.shape != fp.shape or xp.size == 0:
        raise ValueError(f"interp: xp has shape {xp.shape} and fp {fp.shape}; needs rows of one length, not 0")
    if period is not None:
        turn = abs(number("interp", "period", period))
        if turn == 0:
            raise ValueError("interp: period is 0; needs another number")
        x, xp = (elementwise.remainder(_core.as_dtype(t, np.float64), turn) for t in (x, xp))
        order = sorting.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = composed.concatenate([xp[-1:] - turn, xp, xp[:1] + turn])
        fp, left, right = composed.concatenate([fp[-1:], fp, fp[:1]]), None, None
    if dtypes.kind_of(fp.dtype) == "c":
        parts = [
            interp(x, xp, _core.apply(p, fp), *(None if e is None else getattr(complex(e), p) for e in (left, right)))
            for p in ("real", "imag")
        ]
        return _core.complex_from(*parts)
    wide = _core.as_dtype(x, np.float64)
    xs, fs = _core.as_dtype(xp, np.float64), _core.as_dtype(fp, np.float64)
    below = sorting.searchsorted(xs, wide, side="right")
    last = xp.size - 1
    i = elementwise.clip(below - 1, 0, max(last - 1, 0))
    j = elementwise.minimum(i + 1, last)
    x0, x1, f0, f1 = xs[i], xs[j], fs[i], fs[j]
    slope = elementwise.where(elementwise.equal(x1, x0), 0.0, (f1 - f0) / (x1 - x0))
    y = elementwise.where(elementwise.equal(wide, x1), f1, slope * (wide - x0) + f0)
    y = elementwise.where(elementwise.less(wide, xs[0]), fs[0] if left is None else left, y)
    return elementwise.where(elementwise.greater(wide, xs[last]), fs[last] if right is None else right, y)
