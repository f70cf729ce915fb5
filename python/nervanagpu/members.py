"""Members of GPUTensor that are written in Python: copies, pickling, and what scripts of 2015 use."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from nervanagpu import _core, creation
from nervanagpu._core import GPUTensor
from nervanagpu.arguments import check_tensors


class Facts:
    """What Python knows of a tensor object beyond what the tensor itself does; gone with the object."""

    def __init__(self) -> None:
        self.backend: Any = None
        self.kahan_count = 0
        self.kahan_reset = 0


_facts: dict[int, tuple[weakref.ref[GPUTensor], Facts]] = {}


def facts_of(tensor: GPUTensor) -> Facts:
    """The facts of this very object: views and copies have others."""
    key = id(tensor)
    found = _facts.get(key)
    if found is None:
        found = weakref.ref(tensor, lambda _: _facts.pop(key, None)), Facts()
        _facts[key] = found
    return found[1]


def _fact(name: str, doc: str) -> property:
    def get(self: GPUTensor) -> Any:
        return getattr(facts_of(self), name)

    def set(self: GPUTensor, value: Any) -> None:
        setattr(facts_of(self), name, value)

    return property(get, set, doc=doc)


def _backend(self: GPUTensor) -> Any:
    """The factory that made the tensor; of others, one with the default settings."""
    from nervanagpu.factory import NervanaGPU

    facts = facts_of(self)
    if facts.backend is None:
        facts.backend = NervanaGPU()
    return facts.backend


def _allocator(self: GPUTensor) -> Callable[[int], Any]:
    """What gives memory of so many bytes."""
    from nervanagpu.pycuda.driver import mem_alloc

    return mem_alloc


def _is_trans(self: GPUTensor) -> bool:
    """Whether a matrix lies by columns."""
    return self.ndim == 2 and not self.contiguous and self.T.contiguous


def _copy_from(self: GPUTensor, source: Any) -> GPUTensor:
    """self[...] = source; returns self."""
    self[...] = source
    return self


def _asnumpyarray(self: GPUTensor) -> npt.NDArray[Any]:
    """get()"""
    return self.get()


def _asbuffer(self: GPUTensor) -> memoryview:
    """The memory of a contiguous tensor as bytes, for libraries that take device memory as a buffer (MPI).

    On a GPU these are device addresses, which the host must not touch; on the emulator a copy in host memory.
    """
    if not self.contiguous:
        raise ValueError(f"asbuffer: {self!r} has gaps; needs a contiguous tensor")
    if _core.device().kind == "emulator":
        return memoryview(self.get().tobytes())
    return memoryview((ctypes.c_uint8 * self.nbytes).from_address(self.ptr))


_strided_transpose = GPUTensor.transpose


def _transpose(self: GPUTensor, *axes: Any, out: GPUTensor | None = None) -> GPUTensor:
    """The view with its axes in the given order, reversed without arguments; with `out` a copy there, returned."""
    view = _strided_transpose(self, *axes)
    if out is None:
        return view
    check_tensors("transpose", out=out)
    if out.shape != view.shape:
        raise ValueError(f"transpose: out has shape {out.shape}; needs {view.shape}")
    out[...] = view
    return out


def _rebuilt(host: npt.NDArray[Any], dtype: str, name: str, rounding: int) -> GPUTensor:
    tensor = creation.array(host, dtype, name or None)
    tensor.rounding = rounding
    return tensor


def _reduce(self: GPUTensor) -> tuple[Any, ...]:
    """Pickled as its elements, dtype, name and rounding: on the host, for any device."""
    dtype = str(self.dtype)
    try:
        host = self.get()
    except TypeError:  # bfloat16 without ml_dtypes
        host = self.astype("float32").get()
    return _rebuilt, (host, dtype, self.name, self.rounding)


def _copied(self: GPUTensor, memo: dict[int, Any] | None = None) -> GPUTensor:
    """A tensor of its own with the elements, the name and the rounding, made on the device."""
    out = self.copy()
    out.name, out.rounding = self.name, self.rounding
    return out


def install() -> None:
    """Gives GPUTensor these members."""
    for name, member in (
        ("__reduce__", _reduce),
        ("__copy__", _copied),
        ("__deepcopy__", _copied),
        ("copy_from", _copy_from),
        ("asnumpyarray", _asnumpyarray),
        ("asbuffer", _asbuffer),
        ("transpose", _transpose),
        ("backend", property(_backend)),
        ("allocator", property(_allocator)),
        ("is_trans", property(_is_trans)),
        ("take_array", property(lambda self: None, doc="None: what is taken by an index is a tensor of its own.")),
        ("kahan_count", _fact("kahan_count", "How many compensated sums this compensation was part of.")),
        ("kahan_reset", _fact("kahan_reset", "After so many compensated sums a compensation is dropped; 0: never.")),
    ):
        setattr(GPUTensor, name, member)
