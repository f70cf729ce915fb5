"""How a tensor lies in memory, as NumPy's arrays say it: flags, flat, data, and bytes that leave it."""

from __future__ import annotations

import os
import pickle
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes, memory_order
from nervanagpu.calls.arguments import path_of, shown
from nervanagpu.math import reductions


class Flags:
    """Whether elements lie by rows or by columns without gaps, and whether the memory is the tensor's own."""

    _SHORT: ClassVar[dict[str, str]] = {
        "C": "c_contiguous",
        "F": "f_contiguous",
        "O": "owndata",
        "W": "writeable",
        "A": "aligned",
        "B": "behaved",
        "CA": "carray",
        "FA": "farray",
        "X": "writebackifcopy",
    }
    aligned, writebackifcopy = True, False

    def __init__(self, tensor: GPUTensor) -> None:
        alone = tensor.size < 2
        vars(self).update(
            _tensor=tensor,
            c_contiguous=alone or tensor.contiguous,
            f_contiguous=alone or tensor.T.contiguous,
            owndata=tensor.base is None,
            writeable=not _core.read_only(tensor),
        )

    _tensor: Any
    c_contiguous: bool
    f_contiguous: bool
    owndata: bool
    writeable: bool

    def __setattr__(self, name: str, value: object) -> None:
        if name == "writeable":
            self._tensor.setflags(write=value)
            vars(self)[name] = not _core.read_only(self._tensor)
            return
        raise AttributeError(f"flags: {name} is what the tensor is; it cannot be set")

    def __setitem__(self, key: str, value: object) -> None:
        setattr(self, self._SHORT.get(key, key.lower()), value)

    @property
    def forc(self) -> bool:
        """By rows or by columns."""
        return self.c_contiguous or self.f_contiguous

    @property
    def fnc(self) -> bool:
        """By columns and not by rows."""
        return self.f_contiguous and not self.c_contiguous

    contiguous = property(lambda self: self.c_contiguous)
    behaved = property(lambda self: self.writeable)
    carray = property(lambda self: self.writeable and self.c_contiguous)
    farray = property(lambda self: self.writeable and self.f_contiguous and not self.c_contiguous)

    def __getitem__(self, key: str) -> bool:
        if not isinstance(key, str):
            raise TypeError(f"flags: key is {shown(key)}; needs the name of a flag")
        name = self._SHORT.get(key, key.lower())
        if name not in (*self._SHORT.values(), "forc", "fnc", "contiguous"):
            raise KeyError(f"flags: there is no {key!r}; there are c_contiguous, f_contiguous, owndata, writeable")
        return bool(getattr(self, name))

    def __repr__(self) -> str:
        names = ("c_contiguous", "f_contiguous", "owndata")
        return "\n".join(f"  {n.upper()} : {self[n]}" for n in names)


class Flat:
    """The elements of a tensor in row-major order: read and written by number, slice or list, and iterated over."""

    def __init__(self, tensor: GPUTensor) -> None:
        self.base = tensor
        self.index = 0  # of the element that is next

    def __len__(self) -> int:
        return self.base.size

    def __getitem__(self, key: object) -> GPUTensor:
        return self.base.reshape(-1)[key].copy()

    def __setitem__(self, key: Any, value: Any) -> None:
        row = self.base.reshape(-1)
        places = row[key]
        if getattr(value, "ndim", 0) or isinstance(value, list | tuple):  # in one row, and again and again
            values = reductions.values_for(row.dtype, value).reshape(-1)
            if values.size and values.size != places.size and places.ndim:
                values = values[creation.arange(places.size) % values.size]
            value = values
        row[key] = value
        if not self.base.contiguous:  # the row is a copy
            self.base[...] = row.reshape(self.base.shape)

    @property
    def coords(self) -> tuple[int, ...]:
        """The place of the element that is next."""
        return tuple(map(int, np.unravel_index(self.index, self.base.shape)))

    def __iter__(self) -> Flat:
        return self

    def __next__(self) -> GPUTensor:
        if self.index >= self.base.size:
            raise StopIteration
        element: GPUTensor = self.base[self.coords]
        self.index += 1
        return element

    def __eq__(self, other: object) -> GPUTensor:  # type: ignore[override]
        return self.copy() == _row(other)

    def __ne__(self, other: object) -> GPUTensor:  # type: ignore[override]
        return self.copy() != _row(other)

    def __lt__(self, other: object) -> GPUTensor:
        return self.copy() < _row(other)

    def __le__(self, other: object) -> GPUTensor:
        return self.copy() <= _row(other)

    def __gt__(self, other: object) -> GPUTensor:
        return self.copy() > _row(other)

    def __ge__(self, other: object) -> GPUTensor:
        return self.copy() >= _row(other)

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self.base.get().reshape(-1), dtype)

    def copy(self) -> GPUTensor:
        """A row of its own."""
        return self.base.flatten()


def _row(x: object) -> object:
    return x.copy() if isinstance(x, Flat) else x


class Data:
    """Where the elements lie: `ptr`, the address of the first one."""

    def __init__(self, tensor: GPUTensor) -> None:
        self._tensor = tensor
        self.ptr = tensor.ptr
        self.mem = self

    size = property(lambda self: self._tensor.nbytes)
    device_id = 0

    def __int__(self) -> int:
        return int(self.ptr)

    __index__ = __int__

    def __add__(self, offset: int) -> int:
        return int(self.ptr) + int(offset)


def _flags(self: GPUTensor) -> Flags:
    """How it lies in memory."""
    return Flags(self)


def _flat(self: GPUTensor) -> Flat:
    """The elements in row-major order."""
    return Flat(self)


def _set_flat(self: GPUTensor, value: object) -> None:
    Flat(self)[...] = value


def _data(self: GPUTensor) -> Data:
    """Where the elements lie."""
    return Data(self)


_contiguous_copy, _converted = GPUTensor.copy, GPUTensor.astype


def copied(self: GPUTensor, order: str = "C") -> GPUTensor:
    """A copy in memory of its own, by rows; order: F by columns, A as the tensor is, K as its axes lie."""
    axes = None if order == "C" else memory_order.axes_in("copy", self, order)
    if axes is None:
        return _contiguous_copy(self)
    return memory_order.turned(_contiguous_copy(self.transpose(*axes)), axes)


def converted(
    self: GPUTensor,
    dtype: Any,
    order: str | None = None,
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool | None = True,
) -> GPUTensor:
    """A copy with another dtype, on the device; of an expression an expression. order: as copy's, None by rows.

    Floats are rounded to nearest; to integers they are truncated and saturate, NaN becomes 0; integers keep their low
    bits. copy=False: the tensor itself where it has the dtype, and the order if there is one. casting: TypeError for
    what numpy.can_cast's rule does not allow.
    """
    if casting != "unsafe" and not dtypes.can_cast(self.dtype, dtype, casting):
        raise TypeError(f"astype: dtype is {shown(dtype)}; needs what {self.dtype} becomes ({casting})")
    if not copy and self.dtype == _core.dtype(dtype) and (order is None or memory_order.lies("astype", self, order)):
        return self
    axes = None if order is None else memory_order.axes_in("astype", self, order)
    if axes is None:
        return _converted(self, dtype)
    return memory_order.turned(_contiguous_copy(_converted(self.transpose(*axes), dtype)), axes)


def on_host(array: npt.NDArray[Any], order: Any, out: Any) -> npt.NDArray[Any]:
    """A new array by rows as get() hands it out: in this order, or in `out`."""
    letter = memory_order.wanted("get", order)
    if out is None:
        return np.asfortranarray(array) if letter == "F" and array.ndim else array
    if not isinstance(out, np.ndarray):
        raise TypeError(f"get: out is {shown(out)}; needs a NumPy array")
    if out.shape != array.shape:
        raise ValueError(f"get: out has shape {out.shape}; needs {array.shape}")
    if out.dtype != array.dtype:
        raise TypeError(f"get: out has dtype {out.dtype}; needs {array.dtype}")
    if not out.flags.writeable:
        raise ValueError("get: out is read-only; needs an array that may be written")
    out[...] = array
    return out


def byteswap(self: GPUTensor, inplace: bool = False) -> GPUTensor:
    """The elements with their bytes in the other order; `inplace`: in the tensor itself, which is returned."""
    width = dtypes.size_of(self.dtype) // (2 if dtypes.kind_of(self.dtype) == "c" else 1)  # each part for itself
    x = self.copy()
    if width > 1:
        parts = x.reshape(-1).view(np.uint8).reshape(-1, width)[:, ::-1].copy()
        x = parts.reshape(-1).view(self.dtype).reshape(self.shape)
    if not inplace:
        return x
    self[...] = x
    return self


def dumps(self: GPUTensor) -> bytes:
    """The tensor, pickled."""
    return pickle.dumps(self)


def dump(self: GPUTensor, file: object) -> None:
    """The tensor, pickled to a file or to the file of a name."""
    if hasattr(file, "write"):
        file.write(dumps(self))
        return
    with open(path_of("dump", "file", file), "wb") as to:
        to.write(dumps(self))


def tofile(self: GPUTensor, fid: Any, sep: str = "", format: str = "%s") -> None:
    """The elements, row by row, to a file or to the file of a name: their bytes, or text with `sep` between them."""
    host = dtypes.host_of(self)
    if hasattr(fid, "write") or isinstance(fid, str | os.PathLike):
        host.tofile(fid, sep, format)
        return
    raise TypeError(f"tofile: fid is {shown(fid)}; needs a file or the name of one")


def partition(self: GPUTensor, kth: object, axis: int = -1) -> None:
    """Puts element kth along `axis` where it is when sorted, smaller ones in front of it: sorts all of them."""
    from nervanagpu.math import sorting

    self[...] = sorting.partition(self, kth, axis)


def scatter_add(self: GPUTensor, slices: object, value: object) -> None:
    """self[slices] += value, where an element that is named twice is added to twice."""
    from nervanagpu.arrays import indexing

    indexing.add_at(self, slices, value)


def scatter_max(self: GPUTensor, slices: object, value: object) -> None:
    """self[slices] = the larger one of it and the value, of all values for an element that is named twice."""
    from nervanagpu.math import elementwise

    elementwise.maximum.at(self, slices, value)  # type: ignore[attr-defined]


def scatter_min(self: GPUTensor, slices: object, value: object) -> None:
    """self[slices] = the smaller one of it and the value, of all values for an element that is named twice."""
    from nervanagpu.math import elementwise

    elementwise.minimum.at(self, slices, value)  # type: ignore[attr-defined]


def reduced_view(self: GPUTensor, dtype: npt.DTypeLike | None = None) -> GPUTensor:
    """The same elements with as few axes as they can have without a copy."""
    if self.contiguous:
        return self.reshape(-1)
    return self[...]


def to_dlpack(self: GPUTensor) -> object:
    """A capsule of DLPack."""
    return self.__dlpack__()


MEMBERS: tuple[tuple[str, Any], ...] = (
    ("flags", property(_flags)),
    ("flat", property(_flat, _set_flat)),
    ("data", property(_data)),
    ("copy", copied),
    ("astype", converted),
    ("byteswap", byteswap),
    ("dump", dump),
    ("dumps", dumps),
    ("tofile", tofile),
    ("partition", partition),
    ("scatter_add", scatter_add),
    ("scatter_max", scatter_max),
    ("scatter_min", scatter_min),
    ("reduced_view", reduced_view),
    ("toDlpack", to_dlpack),
)


def empty_at(shape: Any, dtype: Any, memptr: Any, strides: Any) -> GPUTensor:
    """A tensor over memory at an address, which it keeps; `strides` in bytes, row-major if None."""
    lengths, kind = _core.shape(shape), _core.dtype(dtype)
    width = dtypes.size_of(kind)
    if strides is None:
        steps = [1] * len(lengths)
        for k in range(len(lengths) - 2, -1, -1):
            steps[k] = steps[k + 1] * max(lengths[k + 1], 1)
    else:
        steps = [int(s) // width for s in strides]
        if len(steps) != len(lengths) or any(int(s) % width for s in strides):
            raise ValueError(f"ndarray: strides is {shown(strides)}; needs {len(lengths)} multiples of {width}")
    if memptr is None:
        low = sum(min((n - 1) * s, 0) for n, s in zip(lengths, steps, strict=True))
        high = sum(max((n - 1) * s, 0) for n, s in zip(lengths, steps, strict=True))
        held = creation.empty(high - low + 1, kind)
        return _core.adopt(held.ptr - low * width, lengths, steps, kind, held, False)
    return _core.adopt(int(memptr.ptr), lengths, steps, kind, memptr, False)
