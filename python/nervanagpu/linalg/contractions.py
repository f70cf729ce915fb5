"""Products made of products and elementwise operations: outer, cross, vecdot, tensordot, chains and powers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.calls.arguments import integer, integers, is_integer, iterable, shown
from nervanagpu.linalg.operands import LinAlgError, as_tensor, axes_of, axis_of, check_matrices, conjugate, stored
from nervanagpu.linalg.products import product
from nervanagpu.linalg.triangles import eye
from nervanagpu.math import composed, elementwise, reductions


def outer(x1: object, x2: object, /) -> GPUTensor:
    """x1[i] * x2[j] of two tensors of one axis. ValueError for more axes."""
    a, b = as_tensor("outer", "x1", x1), as_tensor("outer", "x2", x2)
    for name, x in (("x1", a), ("x2", b)):
        if x.ndim != 1:
            raise ValueError(f"outer: {name} has shape {x.shape}; needs one axis")
    return elementwise.multiply(a[:, None], b)


def cross(x1: object, x2: object, /, *, axis: int = -1) -> GPUTensor:
    """The cross products of the vectors of three elements along `axis`; the other axes broadcast."""
    a, b = as_tensor("cross", "x1", x1), as_tensor("cross", "x2", x2)
    for name, x in (("x1", a), ("x2", b)):
        at = axis_of("cross", axis, x.ndim)
        if x.shape[at] != 3:
            raise ValueError(f"cross: {name} has shape {x.shape}; needs 3 elements along axis {axis}")
    a, b = _last(a, axis), _last(b, axis)
    terms = []
    for i, j in ((1, 2), (2, 0), (0, 1)):
        terms.append(a[..., i] * b[..., j] - a[..., j] * b[..., i])
    ndim = max(a.ndim, b.ndim)
    return composed.stack(terms, axis % ndim)


def _last(x: GPUTensor, axis: int) -> GPUTensor:
    """The view with `axis` as the last one."""
    order = [i for i in range(x.ndim) if i != axis % x.ndim]
    return x.transpose(*order, axis % x.ndim)


def vecdot(x1: object, x2: object, /, *, axis: int = -1) -> GPUTensor:
    """sum(conj(x1) * x2) along `axis`; the other axes broadcast. Integers keep their dtype, as NumPy's."""
    a, b = as_tensor("vecdot", "x1", x1), as_tensor("vecdot", "x2", x2)
    lengths = []
    for x in (a, b):
        lengths.append(x.shape[axis_of("vecdot", axis, x.ndim)])
    if lengths[0] != lengths[1]:
        raise ValueError(f"vecdot: x1 has {lengths[0]} elements along axis {axis} and x2 {lengths[1]}; needs as many")
    terms = elementwise.multiply(conjugate(_last(a, axis)), _last(b, axis))
    return reductions.sum(terms, -1).astype(terms.dtype)


def _contracted(axes: object, a: GPUTensor, b: GPUTensor) -> tuple[list[int], list[int]]:
    """Which axes of a go with which of b."""
    if is_integer(axes) or not isinstance(axes, Iterable):
        count = integer("tensordot", "axes", axes, 0)
        if count > min(a.ndim, b.ndim):
            raise ValueError(f"tensordot: axes is {count}; the operands have {a.ndim} and {b.ndim} axes")
        return list(range(a.ndim - count, a.ndim)), list(range(count))
    lists = iterable("tensordot", "axes", axes)
    if len(lists) != 2:
        raise ValueError(f"tensordot: axes is {shown(axes)}; needs an integer or two lists of axes")
    first, second = lists
    pairs = integers("tensordot", "axes[0]", first), integers("tensordot", "axes[1]", second)
    of_a, of_b = (list(axes_of("tensordot", p, x.ndim)) for p, x in zip(pairs, (a, b), strict=True))
    if [a.shape[i] for i in of_a] != [b.shape[i] for i in of_b]:
        raise ValueError(f"tensordot: axes is {shown(axes)}; shapes {a.shape} and {b.shape} do not match there")
    return of_a, of_b


def tensordot(
    x1: object, x2: object, /, *, axes: int | tuple[Sequence[int] | int, Sequence[int] | int] = 2
) -> GPUTensor:
    """Sums of products over pairs of axes: the last `axes` of x1 with the first of x2, or those of two lists."""
    a, b = as_tensor("tensordot", "x1", x1), as_tensor("tensordot", "x2", x2)
    of_a, of_b = _contracted(axes, a, b)
    if [a.shape[i] for i in of_a] != [b.shape[i] for i in of_b]:
        raise ValueError(f"tensordot: axes is {shown(axes)}; shapes {a.shape} and {b.shape} do not match there")
    keep_a = [i for i in range(a.ndim) if i not in of_a]
    keep_b = [i for i in range(b.ndim) if i not in of_b]
    inner = math.prod(a.shape[i] for i in of_a)
    left = _flat(a.transpose(*keep_a, *of_a) if a.ndim else a, (a.size // inner if inner else _size(a, keep_a)), inner)
    right = _flat(b.transpose(*of_b, *keep_b) if b.ndim else b, inner, (b.size // inner if inner else _size(b, keep_b)))
    shape = [a.shape[i] for i in keep_a] + [b.shape[i] for i in keep_b]
    return product(left, right).reshape(*shape) if shape else product(left, right).reshape(())


def _size(x: GPUTensor, axes: Sequence[int]) -> int:
    return math.prod(x.shape[i] for i in axes)


def _flat(x: GPUTensor, rows: int, columns: int) -> GPUTensor:
    return (x if x.contiguous else x.copy()).reshape(rows, columns)


def _chain_order(sides: Sequence[int]) -> list[list[int]]:
    """Where to cut matrices i to j, whose shapes are sides[i], sides[i + 1], ..., for the fewest multiplications."""
    n = len(sides) - 1
    cost = [[0] * n for _ in range(n)]
    cut = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], cut[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + sides[i] * sides[k + 1] * sides[j + 1], k) for k in range(i, j)
            )
    return cut


def multi_dot(arrays: Sequence[Any], *, out: GPUTensor | None = None) -> GPUTensor:
    """The product of two or more matrices in the order that needs the fewest multiplications.

    The first and the last may have one axis: a row and a column that the result does not have.
    """
    chain = [as_tensor("multi_dot", f"arrays[{i}]", x) for i, x in enumerate(iterable("multi_dot", "arrays", arrays))]
    if len(chain) < 2:
        raise ValueError(f"multi_dot: arrays has {len(chain)} items; needs 2 or more")
    row, column = chain[0].ndim == 1, chain[-1].ndim == 1
    chain[0] = chain[0][None, :] if row else chain[0]
    chain[-1] = chain[-1][:, None] if column else chain[-1]
    for i, x in enumerate(chain):
        if x.ndim != 2:
            raise LinAlgError(f"multi_dot: arrays[{i}] has shape {x.shape}; needs 2 axes (first and last: 1 or 2)")
        if i and chain[i - 1].shape[1] != x.shape[0]:
            raise ValueError(f"multi_dot: arrays[{i}] has shape {x.shape}; needs {chain[i - 1].shape[1]} rows")
    cut = _chain_order([x.shape[0] for x in chain] + [chain[-1].shape[1]])

    def of(i: int, j: int) -> GPUTensor:
        return chain[i] if i == j else product(of(i, cut[i][j]), of(cut[i][j] + 1, j))

    result = of(0, len(chain) - 1)
    shape = (() if row else result.shape[:1]) + (() if column else result.shape[1:])
    result = result.reshape(shape) if shape else _core.number(result.reshape(()))
    return stored("multi_dot", result, out)


def matrix_power(a: object, n: int) -> GPUTensor:
    """a @ a @ ... of square matrices, n times; 0: the identity; negative: of the inverse."""
    from nervanagpu.linalg.solving import inv

    x = as_tensor("matrix_power", "a", a)
    check_matrices("matrix_power", "a", x, square=True)
    n = integer("matrix_power", "n", n)
    if n == 0:
        out = creation.empty(x.shape, x.dtype)
        out[...] = eye(x.shape[-1], x.dtype)
        return out
    power, n = (inv(x), -n) if n < 0 else (x, n)
    result: GPUTensor | None = None
    while True:
        if n & 1:
            result = power if result is None else product(result, power)
        n >>= 1
        if not n:
            break
        power = product(power, power)
    assert result is not None
    return result.copy() if result is x else result


def finite_eps(dtype: Any) -> float:
    """The distance from 1 to the next number of a float or complex dtype."""
    return float(np.finfo(np.dtype(dtype)).eps)
