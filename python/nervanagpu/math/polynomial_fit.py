"""Polynomials closest to points, in least squares."""

from __future__ import annotations

import warnings
from typing import Any, Literal, overload

import numpy as np

from nervanagpu import _core, linalg
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import dtypes
from nervanagpu.calls.arguments import integer, number, shown
from nervanagpu.function_table import public
from nervanagpu.math import algebra, elementwise, reductions
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of

_WARNING: Any = getattr(getattr(np, "exceptions", np), "RankWarning", RuntimeWarning)


def _points(name: str, x: object, ndims: tuple[int, ...]) -> GPUTensor:
    given = operand_of(x)
    if given.ndim not in ndims or given.size == 0:
        raise TypeError(
            f"polyfit: {name} has shape {given.shape}; needs {' or '.join(map(str, ndims))} axes, and elements"
        )
    return given if dtypes.kind_of(given.dtype) in "fc" else _core.as_dtype(given, np.float64)


def _as_long_as(name: str, given: GPUTensor, count: int) -> GPUTensor:
    if given.shape[0] != count:
        raise TypeError(f"polyfit: {name} has shape {given.shape}; needs {count} along its first axis, as x has")
    return given


@overload
def polyfit(
    x: Operand,
    y: Operand,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: object = None,
    cov: Literal[False] = False,
) -> GPUTensor: ...


@overload
def polyfit(
    x: Operand,
    y: Operand,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: object = None,
    cov: object = False,
) -> GPUTensor | tuple[Any, ...]: ...


@public()
def polyfit(
    x: Operand,
    y: Operand,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: object = None,
    cov: object = False,
) -> GPUTensor | tuple[Any, ...]:
    """The polynomial of degree deg whose values at x are closest to y, in least squares; y may have columns.

    w: factors of the distances. rcond: singular values up to so much of the largest count as 0; None: as many epsilons
    as there are points. full: (polynomial, sums of squares, rank, singular values, rcond). cov: (polynomial, its
    covariances), divided by the degrees of freedom unless it is "unscaled". RankWarning where x does not fix it.
    """
    order = integer("polyfit", "deg", deg, 0) + 1
    at, values = _points("x", x, (1,)), _points("y", y, (1, 2))
    count = at.size
    right = _as_long_as("y", values, count)
    bound = count * float(dtypes.finfo(at.dtype).eps) if rcond is None else number("polyfit", "rcond", rcond)
    powers = algebra.vander(at, order)
    if w is not None:
        weights = _as_long_as("w", _points("w", w, (1,)), count)
        powers = elementwise.multiply(powers, weights[:, None])
        right = elementwise.multiply(right, weights if right.ndim == 1 else weights[:, None])
    scale = elementwise.sqrt(reductions.sum(elementwise.multiply(powers, powers), 0))
    powers = elementwise.divide(powers, scale)
    found, residuals, rank, singular = linalg.lstsq(powers, right, bound)
    made = elementwise.divide(found.T, scale).T.copy()
    if full:
        return made, residuals, rank, singular, bound
    if rank != order:
        warnings.warn(f"polyfit: rank {rank} of {order}: x does not fix the polynomial", _WARNING, stacklevel=3)
    return made if cov is False else (made, _covariances(powers, scale, residuals, count, values.ndim, cov))


def _covariances(
    powers: GPUTensor, scale: GPUTensor, residuals: GPUTensor, count: int, ndim: int, cov: object
) -> GPUTensor:
    """(deg + 1, deg + 1), followed by the columns of y."""
    if not (isinstance(cov, bool | np.bool_) or cov == "unscaled"):
        raise ValueError(f"polyfit: cov is {shown(cov)}; needs True, False or 'unscaled'")
    order = powers.shape[1]
    base = elementwise.divide(linalg.inv(powers.T @ powers), elementwise.multiply(scale[:, None], scale))
    factor: Any = 1
    if cov != "unscaled":
        if count <= order:
            raise ValueError(f"polyfit: x has {count} elements; needs more than {order} for scaled covariances")
        factor = elementwise.divide(residuals, count - order)
    return elementwise.multiply(base if ndim == 1 else base[:, :, None], factor)
