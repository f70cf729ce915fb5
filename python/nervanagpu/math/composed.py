"""Functions made of others: each is an expression that becomes one kernel, or as few as its parts allow.

Operands, broadcasting, dtypes and errors are those of nervanagpu.math.elementwise and nervanagpu.math.reductions.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import AxisError, choice, integer, no_bool, number, tensor, tensors
from nervanagpu.calls.placement import per_device
from nervanagpu.exceptions import ComplexWarning
from nervanagpu.function_table import public
from nervanagpu.math import elementwise, reductions, ufunc_keywords
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of


@public(numpy=False, composed=True)
def logsumexp(x: GPUTensor, axis: int = -1, keepdims: bool = False) -> GPUTensor:
    """log(sum(e ** x)) along `axis`, without overflow: one kernel. inf among them gives inf, -inf alone -inf."""

    def centre(keepdims: bool) -> GPUTensor:
        largest = reductions.max(x, axis, keepdims=keepdims)
        return elementwise.where(elementwise.finite(largest), largest, 0)

    total = reductions.sum(elementwise.exp(elementwise.subtract(x, centre(True))), axis, keepdims=keepdims)
    return elementwise.log(total) + centre(keepdims)


@public(numpy=False, composed=True)
def log_softmax(x: GPUTensor, axis: int = -1) -> GPUTensor:
    """x - logsumexp(x) along `axis`: one kernel."""
    centred = elementwise.subtract(x, reductions.max(x, axis, keepdims=True))
    return centred - elementwise.log(reductions.sum(elementwise.exp(centred), axis, keepdims=True))


@public(numpy=False, composed=True)
def layer_norm(
    x: GPUTensor,
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: float = 1e-5,
    axis: int | Sequence[int] = -1,
) -> GPUTensor:
    """(x - mean) / sqrt(variance + eps) * weight + bias along `axis`: one kernel that reads x once if a row fits.

    `weight` and `bias` broadcast against x.
    """
    least = number("layer_norm", "eps", eps)
    inverse = elementwise.reciprocal(elementwise.sqrt(reductions.var(x, axis, keepdims=True) + least))
    result = (x - reductions.mean(x, axis, keepdims=True)) * inverse
    if weight is not None:
        result = result * weight
    return result if bias is None else result + bias


@per_device(maxsize=16)
def _count(length: int) -> GPUTensor:
    return creation.array(np.arange(length, dtype=np.int32))


def _new_count(length: int) -> GPUTensor:
    """0, 1, 2, ... as int32, or int64 beyond that; not kept."""
    ones = creation.full((length,), 1, np.int8)
    wide = np.int64 if length >= 1 << 31 else np.int32
    return _core.cast(_core.cumsum(ones, 0) - 1, wide)


def _positions(ndim: int, axis: int, length: int) -> GPUTensor:
    """0, 1, 2, ... along `axis`, to broadcast against `ndim` axes."""
    shape = [1] * ndim
    shape[axis] = length
    return _count(length).reshape(*shape)


def _extreme(name: str, x: object, axis: int | None, keepdims: bool) -> GPUTensor:
    x = operand_of(x)
    if axis is not None:
        axis = integer(f"arg{name}", "axis", no_bool(f"arg{name}", "axis", axis))
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        flat = _extreme(name, (x if x.contiguous else x.copy()).reshape(-1), 0, False)
        return flat.reshape(*[1] * x.ndim) if keepdims else flat
    if not -x.ndim <= axis < x.ndim:
        raise AxisError(f"arg{name}: axis {axis} is out of range; the operand has {x.ndim} axes")
    length = x.shape[axis]
    if length == 0:
        raise ValueError(f"arg{name}: the operand {x.shape} has no elements along axis {axis}; needs one or more")
    if dtypes.kind_of(x.dtype) == "c":
        found = reductions.extreme_found(name, x, axis)
    else:
        found = elementwise.equal(x, _core.reduce(name, x, [axis], True, 0))
    if dtypes.kind_of(x.dtype) == "f":  # the first NaN is what NumPy finds
        found = elementwise.logical_or(found, elementwise.isnan(x))
    place = elementwise.where(found, _positions(x.ndim, axis % x.ndim, length), np.int32(length))
    return _core.cast(reductions.min(place, axis, keepdims=keepdims), np.int64)


def _placed(name: str, found: GPUTensor, out: Any, dtype: Any) -> GPUTensor:
    """The places in `dtype`, written to `out`, which NumPy wants to hold nothing but integers."""
    if dtype is not None:
        if dtypes.kind_of(_core.dtype(dtype)) not in "iu":
            raise TypeError(f"{name}: dtype is {_core.dtype(dtype)}; needs integers")
        found = _core.as_dtype(found, dtype)
    if out is None:
        return found
    to = ufunc_keywords.outputs(name, out, 1)[0]
    if to is not None and not dtypes.can_cast(to.dtype, np.int64, "safe"):
        raise TypeError(f"{name}: out is {to.dtype}; needs integers that int64 holds")
    return reductions.stored(name, found, to, "unsafe")


@public(method=True)
def argmax(
    x: Operand, axis: int | None = None, out: GPUTensor | None = None, *, keepdims: bool = False,
    dtype: npt.DTypeLike | None = None,
) -> GPUTensor:  # fmt: skip
    """The index of the largest element along `axis` (of all, if None; the first of several); NaN is largest.

    dtype: int64, or another one of integers, as CuPy has it. ValueError for an axis that does not exist, and for no
    elements.
    """
    return _placed("argmax", _extreme("max", x, axis, keepdims), out, dtype)


@public(method=True)
def argmin(
    x: Operand, axis: int | None = None, out: GPUTensor | None = None, *, keepdims: bool = False,
    dtype: npt.DTypeLike | None = None,
) -> GPUTensor:  # fmt: skip
    """The index of the smallest element along `axis`, as argmax; NaN is smallest."""
    return _placed("argmin", _extreme("min", x, axis, keepdims), out, dtype)


@public(numpy=False)
def onehot(indices: GPUTensor, size: int, axis: int = -1, dtype: npt.DTypeLike = np.float32) -> GPUTensor:
    """1 where an index of `indices` (integers) is the position along the new axis of length `size`, else 0.

    The axis stands at `axis` of the result. An index outside 0 .. size - 1 gives zeros. TypeError for floats.
    """
    tensor("onehot", "indices", indices)
    size = integer("onehot", "size", size, 0, (1 << 31) - 1)
    axis = integer("onehot", "axis", axis)
    if dtypes.kind_of(indices.dtype) not in "iu":
        raise TypeError(f"onehot: indices have dtype {indices.dtype}; needs integers")
    ndim = indices.ndim + 1
    if not -ndim <= axis < ndim:
        raise AxisError(f"onehot: axis {axis} is out of range; the result has {ndim} axes")
    place = axis % ndim
    key = (slice(None),) * place + (None,)
    return _core.cast(elementwise.equal(indices[key], _positions(ndim, place, size)), dtype)


@public("concat")
def concatenate(
    arrays: Sequence[Operand],
    axis: int | None = 0,
    out: GPUTensor | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> GPUTensor:
    """The tensors one after the other along `axis` (None: each flattened), a kernel each.

    The dtype is what all of them promote to, unless `dtype` or `out` says otherwise, which `casting` must allow.

    ValueError for none, for an axis that does not exist, and for shapes that differ elsewhere.
    """
    given = tensors("concatenate", "arrays", arrays)
    if out is not None and dtype is not None:
        raise TypeError("concatenate: there are both out and dtype; needs one of them")
    if axis is None:
        given, axis = [(a if a.contiguous else a.copy()).reshape(-1 if a.size else 0) for a in given], 0
    axis = integer("concatenate", "axis", no_bool("concatenate", "axis", axis))
    if not given:
        raise ValueError("concatenate: there is no tensor; needs one or more")
    first = given[0]
    if not -first.ndim <= axis < first.ndim:
        raise AxisError(f"concatenate: axis {axis} is out of range; the tensors have {first.ndim} axes")
    at = axis % first.ndim
    for k, a in enumerate(given):
        if a.ndim != first.ndim or (*a.shape[:at], *a.shape[at + 1 :]) != (*first.shape[:at], *first.shape[at + 1 :]):
            raise ValueError(f"concatenate: tensor {k} has shape {a.shape}; needs that of the first, {first.shape}")
    shape = (*first.shape[:at], sum(a.shape[at] for a in given), *first.shape[at + 1 :])
    if out is None:
        out = creation.empty(shape, dtypes.promoted(*(a.dtype for a in given)) if dtype is None else dtype)
    elif tensor("concatenate", "out", out).shape != shape:
        raise ValueError(f"concatenate: out has shape {out.shape}; needs {shape}")
    choice("concatenate", "casting", casting, ufunc_keywords.CASTINGS)
    start = 0
    for k, a in enumerate(given):
        if not dtypes.can_cast(a.dtype, out.dtype, casting):
            raise TypeError(f"concatenate: tensor {k} is {a.dtype}; needs one that becomes {out.dtype} ({casting})")
        if dtypes.kind_of(a.dtype) == "c" and dtypes.kind_of(out.dtype) != "c":  # casting is unsafe
            if dtypes.kind_of(out.dtype) != "b":
                words = f"concatenate: tensor {k} is {a.dtype}, of which {out.dtype} keeps the real parts alone"
                warnings.warn(words, ComplexWarning, stacklevel=2)
            a = _core.as_dtype(a, out.dtype)
        out[(slice(None),) * at + (slice(start, start + a.shape[at]),)] = a
        start += a.shape[at]
    return out


@public(composed=True)
def stack(
    arrays: Sequence[Operand],
    axis: int = 0,
    out: GPUTensor | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> GPUTensor:
    """The tensors, all of one shape, along a new axis that stands at `axis` of the result."""
    given = tensors("stack", "arrays", arrays)
    axis = integer("stack", "axis", axis)
    if not given:
        raise ValueError("stack: there is no tensor; needs one or more")
    ndim = given[0].ndim + 1
    if not -ndim <= axis < ndim:
        raise AxisError(f"stack: axis {axis} is out of range; the result has {ndim} axes")
    key = (slice(None),) * (axis % ndim) + (None,)
    return concatenate([a[key] for a in given], axis, out, dtype=dtype, casting=casting)


@public(numpy=False)
def compensated_sum(
    total: GPUTensor, compensation: GPUTensor, add: Operand, cmp_scale: float = 1.0, add_scale: float = 1.0
) -> GPUTensor:
    """total += add_scale * add, with what rounding loses kept in `compensation` (Kahan's sum); returns `total`.

    compensation: of the shape and dtype of `total`, zeros at first; `cmp_scale` times it is taken off what is added.
    """
    tensor("compensated_sum", "total", total)
    tensor("compensated_sum", "compensation", compensation)
    if compensation.shape != total.shape or compensation.dtype != total.dtype:
        raise ValueError(
            f"compensated_sum: compensation is {compensation.dtype} {compensation.shape}; needs {total.dtype} "
            f"{total.shape}"
        )
    step = elementwise.subtract(elementwise.multiply(add, add_scale), elementwise.multiply(compensation, cmp_scale))
    new = total + step
    if dtypes.size_of(total.dtype) == 2:  # rounded as it will be stored, before it is looked at
        new = _core.cast(_core.cast(new, np.float32), total.dtype)
    lost = (new - total) - step
    elementwise.evaluate(new, lost)
    compensation[...] = lost
    total[...] = new
    return total
