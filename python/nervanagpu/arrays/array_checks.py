"""Questions about arrays and dtypes, and arrays that fulfil conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import iterable as iterable_of
from nervanagpu.calls.arguments import shown
from nervanagpu.function_table import public
from nervanagpu.math import elementwise, functions, reductions
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of


@public()
def isfortran(x: GPUTensor) -> bool:
    """Whether its memory order is by columns and not by rows."""
    return bool(operand_of(x).flags.fnc)


@public()
def asfortranarray(x: Operand, dtype: npt.DTypeLike | None = None) -> GPUTensor:
    """x lying by columns: itself where it does; of no axes a row of one."""
    made = creation.asarray(x, dtype)
    if made.ndim == 0:
        return made.reshape(1)
    return made if made.flags.f_contiguous else made.copy("F")


@public()
def asarray_chkfinite(x: object, dtype: npt.DTypeLike | None = None, order: str | None = None) -> GPUTensor:
    """A tensor of x. ValueError if an element is infinite or NaN."""
    made = creation.asarray(x, dtype)
    if dtypes.kind_of(made.dtype) in "fc" and not bool(reductions.all(elementwise.finite(made))):
        raise ValueError("asarray_chkfinite: x has infinities or NaN; array must not contain infs or NaNs")
    return require(made, None, "F") if order in ("F", "f") else made


_WISHES = {
    "C": "C", "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F": "F", "F_CONTIGUOUS": "F", "FORTRAN": "F", "A": "A",
    "ALIGNED": "A", "W": "W", "WRITEABLE": "W", "O": "O", "OWNDATA": "O", "E": "E", "ENSUREARRAY": "E",
}  # fmt: skip


@public()
def require(x: object, dtype: npt.DTypeLike | None = None, requirements: object = None) -> GPUTensor:
    """A tensor of x that lies by rows ("C") or columns ("F"), has its own memory ("O") and may be written ("W")."""
    given = (
        [requirements] if isinstance(requirements, str) else iterable_of("require", "requirements", requirements or ())
    )
    wishes = set()
    for wish in given:
        if str(wish).upper() not in _WISHES:
            raise ValueError(f"require: requirements has {shown(wish)}; needs C, F, O, A, W or E")
        wishes.add(_WISHES[str(wish).upper()])
    if {"C", "F"} <= wishes:
        raise ValueError("require: requirements has C and F; needs one of them: Cannot specify both")
    made = creation.asarray(x, dtype)
    if "F" in wishes:
        made = asfortranarray(made)
    elif "C" in wishes and not made.flags.c_contiguous:
        made = made.copy()
    kept = ("O" not in wishes or made.flags.owndata) and ("W" not in wishes or made.flags.writeable)
    return made if kept else made.copy(order="F" if "F" in wishes else "C")


@public()
def real_if_close(x: Operand, tol: float = 100) -> GPUTensor:
    """x without its imaginary part, where that is no larger than `tol` (in epsilons of the dtype if above 1)."""
    given = operand_of(x)
    if dtypes.kind_of(given.dtype) != "c":
        return given
    least = tol if tol <= 1 else tol * float(np.finfo(np.dtype(given.dtype)).eps)
    small = elementwise.less(elementwise.absolute(functions.imag(given)), least)
    return functions.real(given) if bool(reductions.all(small)) else given


@public()
def common_type(*arrays: object) -> type[np.generic] | str:
    """The float dtype that holds the values of all; of integers float64. TypeError for bools."""
    kinds = []
    for k, x in enumerate(arrays):
        dtype = dtypes.dtype_of(x, "common_type", f"arrays[{k}]")
        if dtypes.kind_of(dtype) == "b":
            raise TypeError(
                f"common_type: arrays[{k}] is bool; needs numbers: can't get common type for non-numeric array"
            )
        kinds.append(np.dtype(np.float64) if dtypes.kind_of(dtype) in "iu" else dtype)
    found = dtypes.promoted(np.dtype(np.float16), *kinds)
    return found if isinstance(found, str) else np.dtype(found).type


@public()
def min_scalar_type(x: Any) -> np.dtype[Any]:
    """The smallest dtype that holds a number; of a tensor with axes its own."""
    if isinstance(x, GPUTensor):
        return np.dtype(x.dtype) if x.ndim else np.min_scalar_type(x.get()[()])
    return np.min_scalar_type(x)


@public()
def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is of a kind: numpy.issubdtype."""
    try:
        return bool(np.issubdtype(arg1, arg2))
    except (TypeError, ValueError) as error:
        raise TypeError(f"issubdtype: arg1 is {shown(arg1)} and arg2 {shown(arg2)} ({error})") from None


def _range_of(x: GPUTensor) -> tuple[int, int]:
    """The first byte and the one past the last."""
    width = dtypes.size_of(x.dtype)
    steps = [(n - 1) * s * width for n, s in zip(x.shape, x.element_strides, strict=True)]
    return x.ptr + sum(min(s, 0) for s in steps), x.ptr + sum(max(s, 0) for s in steps) + width


@public()
def may_share_memory(a: GPUTensor, b: GPUTensor, max_work: object = None) -> bool:
    """Whether the bytes of a and b lie in ranges that overlap."""
    if not (isinstance(a, GPUTensor) and isinstance(b, GPUTensor)) or not (a.size and b.size):
        return False
    (low, high), (first, last) = _range_of(a), _range_of(b)
    return low < last and first < high


@public()
def shares_memory(a: GPUTensor, b: GPUTensor, max_work: object = None) -> bool:
    """Whether a and b have a byte in common."""
    if not may_share_memory(a, b):
        return False
    base = min(_range_of(a)[0], _range_of(b)[0])

    def stand_in(x: GPUTensor) -> npt.NDArray[Any]:
        """An array of the host's with the same offsets, whose elements nobody looks at."""
        width = dtypes.size_of(x.dtype)
        strides = [s * width for s in x.element_strides]
        place = {"data": (4096 + x.ptr - base, False), "shape": x.shape, "strides": tuple(strides)}
        facts = {**place, "typestr": f"|V{width}", "version": 3}
        return np.asarray(type("Facts", (), {"__array_interface__": facts})())

    return bool(np.shares_memory(stand_in(a), stand_in(b)))


def byte_bounds(a: GPUTensor) -> tuple[int, int]:
    """The address of the first byte, and that past the last."""
    return _range_of(a)


@public()
def iterable(x: Any) -> bool:
    """Whether there is something to iterate over."""
    try:
        iter(x)
    except TypeError:
        return False
    return True
