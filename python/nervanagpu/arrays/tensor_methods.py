"""Members of GPUTensor that are written in Python: copies, pickling, and what scripts of 2015 use."""

from __future__ import annotations

import ctypes
import math
import types
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core, linalg
from nervanagpu._core import Expression, GPUTensor
from nervanagpu.arrays import creation, dtypes, layout, manipulation, memory_order, selection, tensor_state
from nervanagpu.calls.arguments import check_tensors, integer
from nervanagpu.calls.protocols import DeviceLike
from nervanagpu.function_table import TABLE
from nervanagpu.linalg import products
from nervanagpu.math import elementwise, functions, reductions, sorting

if TYPE_CHECKING:
    from nervanagpu._core import DeviceInfo
    from nervanagpu.compat.factory import NervanaGPU
    from nervanagpu.pycuda.driver import DeviceAllocation


class Facts:
    """What Python knows of a tensor object beyond what the tensor itself does; gone with the object."""

    def __init__(self) -> None:
        self.backend: NervanaGPU | None = None
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
    def get(self: GPUTensor) -> object:
        return getattr(facts_of(self), name)

    def set(self: GPUTensor, value: object) -> None:
        setattr(facts_of(self), name, value)

    return property(get, set, doc=doc)


def _backend(self: GPUTensor) -> NervanaGPU:
    """The factory that made the tensor; of others, one with the default settings."""
    from nervanagpu.compat.factory import NervanaGPU

    facts = facts_of(self)
    if facts.backend is None:
        facts.backend = NervanaGPU()
    return facts.backend


def _allocator(self: GPUTensor) -> Callable[[int], DeviceAllocation]:
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
        return memoryview(_tobytes(self))
    return memoryview((ctypes.c_uint8 * self.nbytes).from_address(self.ptr))


_strided_transpose = GPUTensor.transpose


def _transpose(self: GPUTensor, *axes: object, out: GPUTensor | None = None) -> GPUTensor:
    """The view with its axes in the given order, reversed without arguments; with `out` a copy there, returned."""
    view = _strided_transpose(self, *(() if axes == (None,) else axes))
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


def _item(self: GPUTensor, *index: Any) -> Any:
    """The element as a number of Python; of several the one at an index, which counts row by row if it is one
    number.
    """
    if not index:
        if self.size != 1:
            raise ValueError(f"item: the tensor has {self.size} elements; needs one, or an index")
        return dtypes.host_of(self).item()
    if len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    index = tuple(integer("item", "index", i) for i in index)
    if len(index) == 1 and self.ndim != 1:
        if not -self.size <= index[0] < self.size:
            raise IndexError(f"item: index {index[0]} is out of range; the tensor has {self.size} elements")
        index = np.unravel_index(index[0] % self.size, self.shape)
    return dtypes.host_of(self[tuple(int(i) for i in index)]).item()


def _tolist(self: GPUTensor) -> Any:
    """The elements as nested lists of numbers."""
    return dtypes.host_of(self).tolist()


def _tobytes(self: GPUTensor, order: str | None = "C") -> bytes:
    """The elements as bytes: row by row ("C"), by columns ("F"), or so where they lie so ("A"); "K" is as "C"."""
    by = memory_order.wanted("tobytes", order)
    axes = memory_order.axes_in("tobytes", self, "C" if by == "K" else by)
    tensor = self if axes is None else self.transpose(*axes)
    if self.dtype == "bfloat16":  # no dtype of NumPy's own
        tensor = tensor.copy().view("uint16")
    return tensor.get().tobytes()


def _index(self: GPUTensor) -> int:
    if self.ndim == 0 and dtypes.kind_of(self.dtype) in "iu":
        return int(self)
    raise TypeError(f"{self.dtype} tensor of shape {self.shape} is no index; needs one integer, of no axes")


def _complex(self: GPUTensor) -> complex:
    if self.size != 1:
        raise TypeError(f"{self.dtype} tensor of shape {self.shape} is not one number")
    return complex(_item(self))


def _hash(self: GPUTensor) -> int:
    """Of no axes that of the number, as NumPy's: set(x) and d[x.argmax()] go by values; of others by identity."""
    return hash(_item(self)) if self.ndim == 0 else object.__hash__(self)


def _round(self: GPUTensor, ndigits: Any = None) -> int | GPUTensor:
    """round(x) of one number, of no axes: an int, or with `ndigits` a tensor."""
    _one_number("round", self)
    return round(_item(self)) if ndigits is None else functions.round(self, ndigits)


def _trunc(self: GPUTensor) -> int:
    _one_number("trunc", self)
    return int(math.trunc(_item(self)))


def _is_integer(self: GPUTensor) -> bool:
    """Whether the number, of no axes, has no fraction."""
    _one_number("is_integer", self)
    return dtypes.kind_of(self.dtype) in "iu" or float(self).is_integer()


def _as_integer_ratio(self: GPUTensor) -> tuple[int, int]:
    """Two whole numbers whose quotient the number, of no axes, is."""
    _one_number("as_integer_ratio", self)
    ratio: tuple[int, int] = _item(self).as_integer_ratio()
    return ratio


def _bit_count(self: GPUTensor) -> int:
    """How many bits of the magnitude of a whole number, of no axes, are 1."""
    _one_number("bit_count", self)
    return int(self.__index__()).bit_count()


def _one_number(function: str, x: GPUTensor) -> None:
    if x.ndim:
        raise TypeError(f"{function}: the tensor has shape {x.shape}; needs one number, of no axes")


def _format(self: GPUTensor, spec: str) -> str:
    if spec == "" and self.ndim:
        return str(self)
    if self.size == 1:  # a float32 as the Python float that it is: f"{x}" has its digits, str(x) the fewest
        return format(_item(self), spec)
    raise TypeError(f"format {spec!r} needs one element; the tensor has shape {self.shape}")


def _contains(self: GPUTensor, value: Any) -> bool:
    if value is None or isinstance(value, str | bytes):
        return False
    return bool(reductions.any(elementwise.equal(self, value)))


def _iter(self: GPUTensor) -> Iterator[GPUTensor]:
    if self.ndim == 0:
        raise TypeError("a tensor without axes has nothing to iterate over")
    return (self[i] for i in range(self.shape[0]))


def _device(self: GPUTensor) -> DeviceInfo:
    """The device whose memory it is in, or is going to be."""
    return _core.device(_core.tensor_device(self))


def _to(self: GPUTensor, device: DeviceLike) -> GPUTensor:
    """The tensor on a device (1, "cuda:1", ng.device(1)): itself if it is there, else a contiguous copy.

    ValueError for a device that there is not.
    """
    there = creation.check_device("to", device)
    return self if there == _core.tensor_device(self) else _core.to(self, there)


def _to_device(self: GPUTensor, device: DeviceLike, /, *, stream: object = None) -> GPUTensor:
    """As `to`; what the array API calls it. The default streams of both devices wait for the copy."""
    return _to(self, device)


def _namespace(self: GPUTensor, /, *, api_version: str | None = None) -> types.ModuleType:
    """The functions of the array API, nervanagpu.array_api. ValueError for a version that they are not of."""
    from nervanagpu import array_api

    if api_version not in (None, *array_api.VERSIONS):
        raise ValueError(f"__array_namespace__: api_version is {api_version!r}; needs one of {array_api.VERSIONS}")
    return array_api


def _strides(self: GPUTensor) -> tuple[int, ...]:
    """Bytes from an element to the next along each axis."""
    width = dtypes.size_of(self.dtype)
    return tuple(s * width for s in self.element_strides)


def _real(self: GPUTensor) -> GPUTensor:
    """The real parts: a view; of real numbers the tensor."""
    return _core.real_view(self) if dtypes.kind_of(self.dtype) == "c" else self


def _part_to_set(self: GPUTensor, part: str, view: GPUTensor) -> GPUTensor:
    """AttributeError where `view` is none: of a number, and of what has no such part."""
    if isinstance(self, Expression) and not self.ndim:
        raise AttributeError(f"{part} is that of a number, an element or a result; needs a tensor, as x[i, ...] is")
    return view


def _set_real(self: GPUTensor, value: Any) -> None:
    _part_to_set(self, "real", _core.real_view(self))[...] = value


def _imag(self: GPUTensor) -> GPUTensor:
    """The imaginary parts: a view; of real numbers zeros."""
    return _core.imag_view(self) if dtypes.kind_of(self.dtype) == "c" else functions.imag(self)


def _set_imag(self: GPUTensor, value: Any) -> None:
    _part_to_set(self, "imag", _core.imag_view(self))[...] = value


def _sizes(self: GPUTensor) -> int:
    """Bytes of an element."""
    return dtypes.size_of(self.dtype)


def _conjugate(self: GPUTensor, out: GPUTensor | None = None) -> GPUTensor:
    """The complex conjugate; a real tensor itself, as NumPy's method."""
    return self if out is None and dtypes.kind_of(self.dtype) != "c" else functions.conjugate(self, out)


def _give(name: str, member: object) -> None:
    """A member of GPUTensor; Python's own errors name a method as its caller does."""
    if isinstance(member, types.FunctionType) and member.__name__ != name:
        member.__name__, member.__qualname__ = name, f"GPUTensor.{name}"
    setattr(GPUTensor, name, member)


def install() -> None:
    """Gives GPUTensor these members."""
    for row in TABLE:
        for name in row.methods:
            setattr(GPUTensor, name, row.function)
    for name, function in manipulation._members().items():
        _give(name, function)
    for name, member in (
        *layout.MEMBERS,
        *tensor_state.MEMBERS,
        ("conj", _conjugate),
        ("conjugate", _conjugate),
        ("item", _item),
        ("tolist", _tolist),
        ("tobytes", _tobytes),
        ("sort", sorting.sort_in_place),
        ("clip", elementwise.clip_method),
        ("put", selection.put_method),
        ("compress", lambda self, condition, axis=None, out=None: selection.compress(condition, self, axis, out)),
        ("__index__", _index),
        ("__class_getitem__", classmethod(types.GenericAlias)),
        ("__complex__", _complex),
        ("__format__", _format),
        ("__hash__", _hash),
        ("__round__", _round),
        ("__trunc__", _trunc),
        ("is_integer", _is_integer),
        ("as_integer_ratio", _as_integer_ratio),
        ("bit_count", _bit_count),
        ("__contains__", _contains),
        ("__imatmul__", products.matmul_in_place),
        ("__iter__", _iter),
        ("__array_namespace__", _namespace),
        ("to", _to),
        ("to_device", _to_device),
        ("device", property(_device)),
        ("itemsize", property(_sizes)),
        ("strides", property(_strides)),
        ("mT", property(linalg.matrix_transpose)),
        ("real", property(_real, _set_real)),
        ("imag", property(_imag, _set_imag)),
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
        _give(name, member)
