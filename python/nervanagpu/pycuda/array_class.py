"""GPUArray: an array in device memory of any dtype that C has, with PyCUDA's names and NumPy's meaning.

`ary.tensor` is the library's tensor over the same memory, where tensors have the dtype.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.calls.protocols import AllocatorLike, StreamLike
from nervanagpu.pycuda import compute, driver, operators
from nervanagpu.pycuda.arrays import dense_strides, is_dense

Shape = int | Sequence[int]


def _lengths(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if np.ndim(shape) == 0 else tuple(int(n) for n in shape)


class GPUArray:
    """shape, dtype, strides (bytes), gpudata (what keeps the memory, or the array that this is a view of), ptr."""

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        shape: Shape,
        dtype: npt.DTypeLike,
        allocator: AllocatorLike = None,
        base: Any = None,
        gpudata: Any = None,
        strides: Sequence[int] | None = None,
        order: str = "C",
    ) -> None:
        if order not in ("C", "F", "A"):
            raise ValueError(f"GPUArray: order is {order!r}; needs C or F")
        self.shape = _lengths(shape)
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if self.dtype.hasobject:
            raise TypeError(f"GPUArray: dtype is {self.dtype}; needs one of numbers")
        self.allocator = allocator or driver.mem_alloc
        self.base = base
        dense = dense_strides(self.shape, self.dtype.itemsize, "F" if order == "F" else "C")
        self.strides = dense if strides is None else tuple(int(s) for s in strides)
        self.gpudata = self.allocator(builtins.max(self.nbytes, 1)) if gpudata is None else gpudata
        self.tensor_of: GPUTensor | None = None

    # --- what it is -----------------------------------------------------------------------------------------------
    @property
    def ptr(self) -> int:
        return int(self.gpudata)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    mem_size = size

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def flags(self) -> SimpleNamespace:
        rows = is_dense(self.shape, self.strides, self.dtype.itemsize, "C")
        columns = is_dense(self.shape, self.strides, self.dtype.itemsize, "F")
        return SimpleNamespace(c_contiguous=rows, f_contiguous=columns, forc=rows or columns)

    @property
    def tensor(self) -> GPUTensor:
        """The tensor over the same memory. TypeError for dtypes that tensors lack."""
        if self.tensor_of is None:
            steps = tuple(s // self.dtype.itemsize for s in self.strides)
            self.tensor_of = _core.wrap(self.ptr, self.shape, steps, self.dtype)
        return self.tensor_of

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "strides": self.strides,
            "data": (self.ptr, False),
            "typestr": self.dtype.str,
            "stream": None,
            "version": 3,
        }

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a GPUArray of no axes")
        return self.shape[0]

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __complex__(self) -> complex:
        return complex(self.get())

    def __index__(self) -> int:
        return int(self.get().__index__())

    def __reduce__(self) -> tuple[Any, ...]:
        from nervanagpu.pycuda.creation import to_gpu

        return to_gpu, (self.get(),)

    # --- to and from the host -------------------------------------------------------------------------------------
    def set(self, ary: Any, stream: StreamLike = None, async_: bool | None = None) -> None:
        """Copy a host array of this shape and dtype."""
        host = np.asarray(ary)
        if host.size != self.size:
            raise ValueError(f"set: the array has shape {host.shape}; needs {self.shape}")
        if host.dtype != self.dtype:
            raise ValueError(f"set: the array is {host.dtype}; needs {self.dtype}")
        if host.shape != self.shape:
            raise ValueError(f"set: the array has shape {host.shape}; needs {self.shape}")
        compute.wait(stream)
        if self.size == 0:
            return
        if self.flags.c_contiguous:
            driver.memcpy_htod(self.gpudata, np.ascontiguousarray(host))
        elif self.flags.f_contiguous:
            driver.memcpy_htod(self.gpudata, np.asfortranarray(host))
        else:
            copy = GPUArray(self.shape, self.dtype)
            driver.memcpy_htod(copy.gpudata, np.ascontiguousarray(host))
            compute.copy_into(self, copy)

    def set_async(self, ary: Any, stream: StreamLike = None) -> None:
        """set, after the work of `stream`."""
        self.set(ary, stream)

    def get(
        self,
        ary: npt.NDArray[Any] | None = None,
        pagelocked: bool = False,
        async_: bool = False,
        stream: StreamLike = None,
    ) -> npt.NDArray[Any]:
        """A copy on the host, or in `ary`, of this shape and dtype."""
        compute.wait(stream)
        if ary is not None:
            if ary.size != self.size or ary.shape != self.shape:
                raise ValueError(f"get: ary has shape {ary.shape}; needs {self.shape}")
            if ary.dtype != self.dtype:
                raise TypeError(f"get: ary is {ary.dtype}; needs {self.dtype}")
        source = self if self.flags.forc else self.dense()
        order = "C" if source.flags.c_contiguous else "F"
        host: npt.NDArray[Any] = driver.pagelocked_empty(self.shape, self.dtype, order) if pagelocked else np.empty(
            self.shape, self.dtype, order)  # type: ignore[call-overload]  # fmt: skip
        if self.size:
            driver.memcpy_dtoh(host, source.gpudata)
        if ary is None:
            return host
        ary[...] = host
        return ary

    def get_async(self, stream: StreamLike = None, ary: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """get, after the work of `stream`."""
        return self.get(ary, stream=stream)

    # --- views and copies -----------------------------------------------------------------------------------------
    def viewed(
        self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any], offset: int = 0
    ) -> GPUArray:
        """Another array over this memory, `offset` bytes on."""
        return GPUArray(shape, dtype, self.allocator, self, _Within(self.gpudata, offset), strides)

    def dense(self) -> GPUArray:
        """This array if it lies by rows without gaps, else a copy that does."""
        if self.flags.c_contiguous:
            return self
        out = GPUArray(self.shape, self.dtype, self.allocator)
        compute.copy_into(out, self)
        return out

    def copy(self, order: str = "K") -> GPUArray:
        """An array of its own."""
        columns = order == "F" or (order != "C" and self.flags.f_contiguous and not self.flags.c_contiguous)
        out = GPUArray(self.shape, self.dtype, self.allocator, order="F" if columns else "C")
        compute.copy_into(out, self)
        return out

    def astype(self, dtype: npt.DTypeLike, stream: StreamLike = None) -> GPUArray:
        """A copy with another dtype."""
        columns = self.flags.f_contiguous and not self.flags.c_contiguous
        out = GPUArray(self.shape, dtype, self.allocator, order="F" if columns else "C")
        compute.copy_into(out, self)
        return out

    def fill(self, value: Any, stream: StreamLike = None) -> GPUArray:
        """Every element becomes `value`; returns the array."""
        compute.wait(stream)
        self[...] = value
        return self

    _block = (256, 1, 1)  # of the kernels of pycuda.elementwise, as scripts launch them

    @property
    def _grid(self) -> tuple[int, int]:
        return builtins.max(1, builtins.min((self.size + 255) // 256, 1024)), 1

    def bind_to_texref_ext(self, texref: Any, channels: int = 1, **more: Any) -> None:
        """Let a reference of elementwise.get_linear_combination_kernel find this array's first element."""
        from nervanagpu.pycuda.named_kernels import ScalarReference

        if not isinstance(texref, ScalarReference):
            raise TypeError(f"bind_to_texref_ext: texref is {type(texref).__name__}; {driver.NO_TEXTURE_REFERENCES}")
        texref.bind(self)

    bind_to_texref = bind_to_texref_ext

    def reshape(self, *shape: Shape, order: str = "C") -> GPUArray:
        """A view of another shape. ValueError if the number of elements is another, or where it needs a copy."""
        wanted = _lengths(shape[0]) if len(shape) == 1 else _lengths(shape)
        known = int(np.prod([n for n in wanted if n != -1], dtype=np.int64))
        if wanted.count(-1) > 1 or (-1 in wanted and (known == 0 or self.size % known)):
            raise ValueError(f"reshape: shape {wanted} does not hold {self.size} elements")
        if -1 in wanted:
            wanted = tuple(self.size // known if n == -1 else n for n in wanted)
        if int(np.prod(wanted, dtype=np.int64)) != self.size:
            raise ValueError(f"reshape: shape {wanted} does not hold {self.size} elements")
        if not self.flags.forc:
            raise ValueError("reshape: the array has gaps; needs a contiguous one (ary.copy())")
        # As in PyCUDA the memory stays as it lies, and `order` says how it is seen.
        return self.viewed(wanted, dense_strides(wanted, self.itemsize, order), self.dtype)

    def ravel(self, order: str = "C") -> GPUArray:
        """A view of one axis."""
        return self.reshape(self.size, order="F" if self.flags.f_contiguous and not self.flags.c_contiguous else order)

    def squeeze(self) -> GPUArray:
        """A view without the axes of length 1."""
        kept = [(n, s) for n, s in zip(self.shape, self.strides, strict=True) if n != 1]
        return self.viewed(tuple(n for n, _ in kept), tuple(s for _, s in kept), self.dtype)

    def transpose(self, axes: Sequence[int] | None = None) -> GPUArray:
        """A view with the axes in the given order, reversed without one."""
        order = tuple(reversed(range(self.ndim))) if axes is None else tuple(axes)
        if sorted(order) != list(range(self.ndim)):
            raise ValueError(f"transpose: axes are {order}; needs each of {self.ndim} once")
        shape = tuple(self.shape[i] for i in order)
        return self.viewed(shape, tuple(self.strides[i] for i in order), self.dtype)

    @property
    def T(self) -> GPUArray:
        """transpose()"""
        return self.transpose()

    def view(self, dtype: npt.DTypeLike | None = None) -> GPUArray:
        """A view of the bytes as another dtype."""
        wanted: np.dtype[Any] = self.dtype if dtype is None else np.dtype(dtype)
        if wanted.itemsize == self.itemsize:
            return self.viewed(self.shape, self.strides, wanted)
        axis = 0 if self.flags.f_contiguous and not self.flags.c_contiguous else self.ndim - 1
        if axis < 0 or not self.flags.forc or self.shape[axis] * self.itemsize % wanted.itemsize:
            raise ValueError(f"view: {self.dtype} of shape {self.shape} cannot be seen as {wanted}")
        shape = list(self.shape)
        shape[axis] = shape[axis] * self.itemsize // wanted.itemsize
        strides = dense_strides(tuple(shape), wanted.itemsize, "F" if axis == 0 and self.ndim > 1 else "C")
        return self.viewed(tuple(shape), strides, wanted)

    def __getitem__(self, key: Any) -> GPUArray:
        """A view, by integers, slices, ... and None. IndexError as NumPy's; arrays of indices are for take()."""
        # NumPy knows the rules: the same key on an array of the same steps, of which no element is touched.
        like = np.lib.stride_tricks.as_strided(
            np.ndarray((), self.dtype, buffer=np.empty(self.itemsize, np.uint8)),
            self.shape,
            self.strides,
            writeable=False,
        )
        if builtins.any(
            isinstance(k, np.ndarray | GPUArray | list) for k in (key if isinstance(key, tuple) else (key,))
        ):
            raise TypeError("GPUArray: an index is an array; needs integers and slices, or gpuarray.take")
        items = tuple(key) if isinstance(key, tuple) else (key,)
        full = tuple(k if not isinstance(k, np.integer) else int(k) for k in items)
        found = like[(*full, ...)] if Ellipsis not in full else like[full]
        offset = found.__array_interface__["data"][0] - like.__array_interface__["data"][0]
        return self.viewed(found.shape, found.strides, self.dtype, offset if found.size else 0)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Elements become those of an array, which broadcasts, or a number."""
        to = self[key]
        if isinstance(value, GPUTensor):
            to.tensor[...] = value
            return
        if not isinstance(value, GPUArray):
            from nervanagpu.pycuda.creation import to_gpu

            host = np.asarray(value).astype(self.dtype)
            if host.ndim == 0 and self.dtype.kind in "biufc":  # a kernel's constant, which needs no memory
                to.tensor[...] = host[()]
                return
            value = to_gpu(host)
        if len(value.shape) > len(to.shape) or np.broadcast_shapes(value.shape, to.shape) != to.shape:
            raise ValueError(f"an array of shape {value.shape} does not fit {to.shape}")
        compute.copy_into(to, compute.broadcast(value, to.shape))

    def setitem(self, index: Any, value: Any, stream: StreamLike = None) -> None:
        """self[index] = value, after the work of `stream`."""
        compute.wait(stream)
        self[index] = value

    # --- arithmetic that has names ----------------------------------------------------------------------------------
    def mul_add(
        self,
        selffac: Any,
        other: Any,
        otherfac: Any,
        add_timer: object = None,
        stream: StreamLike = None,
        out: GPUArray | None = None,
    ) -> GPUArray:
        """selffac * self + otherfac * other."""
        compute.wait(stream)
        return compute.apply("add", self * selffac, other * otherfac, out=out)

    def conj(self, out: GPUArray | None = None) -> GPUArray:
        """The conjugate."""
        if self.dtype.kind != "c" and out is None:
            return self
        result: GPUArray = compute.apply("conjugate", self, out=out)
        return result

    conjugate = conj

    @property
    def real(self) -> GPUArray:
        """The real parts: a copy of complex arrays, else the array."""
        parts: GPUArray = compute.apply("real", self) if self.dtype.kind == "c" else self
        return parts

    @property
    def imag(self) -> GPUArray:
        """The imaginary parts, a copy."""
        complex_ = self.dtype.kind == "c"
        parts: GPUArray = compute.apply("imag", self) if complex_ else compute.apply("multiply", self, 0)
        return parts

    def reverse(self, stream: StreamLike = None) -> GPUArray:
        """A copy of an array of one axis, last element first."""
        return self[::-1].copy("C")


class _Within:
    """An address inside of other memory, which it keeps."""

    def __init__(self, memory: Any, offset: int) -> None:
        self._memory, self._offset = memory, offset

    def __int__(self) -> int:
        return int(self._memory) + self._offset

    __index__ = __int__

    def __add__(self, offset: int) -> int:
        return int(self) + int(offset)


operators.install(GPUArray)
