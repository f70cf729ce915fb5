"""Members that change the tensor object itself, its memory or whether it may be written, and fields of its elements."""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.arrays.manipulation import ravel
from nervanagpu.calls.arguments import integer

_made_read_only: dict[int, weakref.ref[GPUTensor]] = {}  # by setflags


def _become(x: GPUTensor, read_only: bool) -> None:
    """The tensor over the same memory, which it keeps by another handle than the object itself."""
    held = _core.to(x, _core.tensor_device(x))
    _core.become(x, _core.adopt(held.ptr, held.shape, held.element_strides, held.dtype, held, read_only))


def resize(self: GPUTensor, *new_shape: Any, refcheck: object = True) -> None:
    """The tensor itself in another shape: the elements as they lie, after them zeros. Without a shape: as it is.

    ValueError for a view, and for a tensor that has views, unless refcheck is false: they keep the memory before.
    """
    if not new_shape or new_shape == (None,):
        return
    lengths = _core.shape(new_shape[0] if len(new_shape) == 1 else new_shape)
    if min(lengths, default=0) < 0:
        raise ValueError(f"resize: shape is {lengths}; needs lengths of 0 or more (negative dimensions not allowed)")
    if math.prod(lengths) == self.size:
        if not self.contiguous and not self.T.contiguous:
            raise ValueError("resize: the tensor has gaps; needs a contiguous one")
        by_columns = not self.contiguous
        _core.become(self, self.T.reshape(*lengths[::-1]).T if by_columns else self.reshape(*lengths))
        return
    if self.base is not None:
        raise ValueError("resize: the tensor is a view; needs one that owns its memory (it does not own its data)")
    if refcheck and _core.has_views(self):
        raise ValueError("resize: the tensor has views; needs one without, or refcheck=False")
    by_columns = not self.contiguous and self.T.contiguous
    made = creation.zeros(lengths[::-1] if by_columns else lengths, self.dtype)
    count = min(self.size, made.size)
    ravel(made)[:count] = ravel(self.T if by_columns else self)[:count]
    _core.become(self, made.T if by_columns else made)


def setflags(self: GPUTensor, write: object = None, align: object = None, uic: object = None) -> None:
    """write: whether the tensor may be written; views that are there keep theirs. align has no effect: all are aligned.

    ValueError for what is read-only since others' memory is, and for `uic`, which nothing here has.
    """
    if uic:
        raise ValueError("setflags: uic is true; needs false (cannot set WRITEBACKIFCOPY flag to True)")
    if write is None or bool(write) != _core.read_only(self) or not self.size:  # it is so already
        return
    key, base = id(self), self.base
    if not write:
        _made_read_only[key] = weakref.ref(self, lambda _: _made_read_only.pop(key, None))
    elif key not in _made_read_only and (base is None or _core.read_only(base)):
        raise ValueError("setflags: the memory is read-only (cannot set WRITEABLE flag to True of this array)")
    else:
        _made_read_only.pop(key, None)
    _become(self, not write)


def _native(function: str, dtype: npt.DTypeLike) -> np.dtype[Any] | str:
    """The dtype of a view. TypeError for the other order of bytes, in which no tensor is."""
    wanted = _core.dtype(dtype)
    if str(wanted) != dtypes.BFLOAT16 and not np.dtype(dtype).isnative:
        raise TypeError(
            f"{function}: dtype is {np.dtype(dtype).str}; needs this machine's order, which byteswap() makes"
        )
    return wanted


def getfield(self: GPUTensor, dtype: npt.DTypeLike, offset: int = 0) -> GPUTensor:
    """The bytes of each element from `offset` on as another dtype: a view.

    ValueError for more bytes than an element has, and for an offset that is no multiple of the dtype's alignment.
    """
    wanted, first = _native("getfield", dtype), integer("getfield", "offset", offset)
    width, size = dtypes.size_of(self.dtype), dtypes.size_of(wanted)
    if first < 0:
        raise ValueError(f"getfield: offset is {first}; needs 0 or more (offset is negative)")
    if first + size > width:
        raise ValueError(f"getfield: offset is {first}; {wanted} there needs more than {self.dtype}'s {width} bytes")
    if first % size or any(s * width % size for s in self.element_strides):
        raise ValueError(f"getfield: offset is {first}; needs a multiple of {size}, where {wanted} may lie")
    return _strided(self, first, self.shape, [s * width // size for s in self.element_strides], wanted)


def _strided(x: GPUTensor, offset: int, shape: tuple[int, ...], steps: list[int], dtype: Any) -> GPUTensor:
    """The view of x's memory, `offset` bytes after its first element."""
    if not x.size:
        return creation.empty(shape, dtype)
    return _core.based_on(x, _core.adopt(x.ptr + offset, shape, steps, dtype, x, _core.read_only(x)))


def view(self: GPUTensor, dtype: npt.DTypeLike | None = None) -> GPUTensor:
    """The same memory as another tensor; with a dtype its bytes as that.

    ValueError for a dtype of another size where the last axis has gaps, or no whole number of the new elements.
    """
    if dtype is None:
        return self[...]
    wanted, width = _native("view", dtype), dtypes.size_of(self.dtype)
    size = dtypes.size_of(wanted)
    shape = self.shape
    if size != width:
        if self.ndim == 0 or shape[-1] * width % size:
            raise ValueError(f"view: the last axis of shape {shape} has no whole number of {wanted}")
        shape = (*shape[:-1], shape[-1] * width // size)
    if self.contiguous:
        return self.share(shape, dtype)
    steps = self.element_strides
    if size == width:
        return _strided(self, 0, shape, list(steps), wanted)
    if (steps[-1] != 1 and self.shape[-1] != 1) or any(s * width % size for s in steps[:-1]):
        raise ValueError(f"view: the tensor has gaps, steps {steps}; needs none along its last axis for {wanted}")
    return _strided(self, 0, shape, [*(s * width // size for s in steps[:-1]), 1], wanted)


def set_dtype(self: GPUTensor, dtype: npt.DTypeLike) -> None:
    """The very tensor as view(dtype) has it."""
    _core.become(self, view(self, dtype))


def setfield(self: GPUTensor, val: Any, dtype: npt.DTypeLike, offset: int = 0) -> None:
    """Writes `val` to the field that getfield has."""
    getfield(self, dtype, offset)[...] = val


MEMBERS: tuple[tuple[str, Any], ...] = (
    ("resize", resize),
    ("setflags", setflags),
    ("view", view),
    ("getfield", getfield),
    ("setfield", setfield),
)
