"""The namespace of the Python array API standard: what x.__array_namespace__() gives.

The functions are nervanagpu's own, but for those that make arrays: without `dtype` floats are float64 here, as in
NumPy. Arguments have the names that the standard requires.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core, function_table
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes, manipulation
from nervanagpu.arrays.creation import Shape
from nervanagpu.calls.protocols import DeviceLike
from nervanagpu.linalg import products
from nervanagpu.math import elementwise, reductions
from nervanagpu.math.reductions import Axis

if TYPE_CHECKING:
    from nervanagpu._core import DeviceInfo

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
__array_api_version__ = VERSIONS[-1]

globals().update(function_table.of_space())
for _space in ("linalg", "fft"):
    _functions = function_table.of_space(_space)
    if _functions:
        globals()[_space] = type(_space, (), {n: staticmethod(f) for n, f in _functions.items()})

bool = np.dtype(np.bool_)
int8, int16, int32, int64 = (np.dtype(f"int{n}") for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{n}") for n in (8, 16, 32, 64))
float32, float64 = np.dtype(np.float32), np.dtype(np.float64)
complex64, complex128 = np.dtype(np.complex64), np.dtype(np.complex128)
e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi

_REAL = float64


def from_dlpack(x: object, /, *, device: DeviceLike = None, copy: object = None) -> GPUTensor:
    """nervanagpu.from_dlpack."""
    from nervanagpu.arrays import exchange

    made = exchange.from_dlpack(x)
    if device is not None:
        made = made.to(creation.check_device("from_dlpack", device))
    return made.copy() if copy else made


def asarray(
    obj: Any, /, *, dtype: npt.DTypeLike | None = None, device: DeviceLike = None, copy: Any = None
) -> GPUTensor:
    """nervanagpu.asarray."""
    return creation.asarray(obj, dtype, copy=copy, device=device)


def empty(shape: Shape, *, dtype: npt.DTypeLike | None = None, device: DeviceLike = None) -> GPUTensor:
    """nervanagpu.empty, of float64."""
    return creation.empty(shape, _REAL if dtype is None else dtype, device=device)


def zeros(shape: Shape, *, dtype: npt.DTypeLike | None = None, device: DeviceLike = None) -> GPUTensor:
    """nervanagpu.zeros, of float64."""
    return creation.zeros(shape, _REAL if dtype is None else dtype, device=device)


def ones(shape: Shape, *, dtype: npt.DTypeLike | None = None, device: DeviceLike = None) -> GPUTensor:
    """nervanagpu.ones, of float64."""
    return creation.ones(shape, _REAL if dtype is None else dtype, device=device)


def full(
    shape: Shape, fill_value: complex, *, dtype: npt.DTypeLike | None = None, device: DeviceLike = None
) -> GPUTensor:
    """nervanagpu.full, of the dtype that the value has as an array."""
    return creation.full(shape, fill_value, np.asarray(fill_value).dtype if dtype is None else dtype, device=device)


def full_like(
    x: GPUTensor, /, fill_value: complex, *, dtype: npt.DTypeLike | None = None, device: DeviceLike = None
) -> GPUTensor:
    """nervanagpu.full_like."""
    return creation.full_like(x, fill_value, dtype, device=device)


def empty_like(x: GPUTensor, /, *, dtype: npt.DTypeLike | None = None, device: DeviceLike = None) -> GPUTensor:
    """nervanagpu.empty_like."""
    return creation.empty_like(x, dtype, device=device)


def zeros_like(x: GPUTensor, /, *, dtype: npt.DTypeLike | None = None, device: DeviceLike = None) -> GPUTensor:
    """nervanagpu.zeros_like."""
    return creation.zeros_like(x, dtype, device=device)


def ones_like(x: GPUTensor, /, *, dtype: npt.DTypeLike | None = None, device: DeviceLike = None) -> GPUTensor:
    """nervanagpu.ones_like."""
    return creation.ones_like(x, dtype, device=device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike = None,
) -> GPUTensor:
    """nervanagpu.eye, of float64."""
    return creation.eye(n_rows, n_cols, k, _REAL if dtype is None else dtype, device=device)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike = None,
) -> GPUTensor:  # fmt: skip
    """nervanagpu.arange."""
    return creation.arange(start, stop, step, dtype, device=device)


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: npt.DTypeLike | None = None,
    device: DeviceLike = None,
    endpoint: Any = True,
) -> GPUTensor:
    """nervanagpu.linspace."""
    made: GPUTensor = creation.linspace(start, stop, num, endpoint, dtype=dtype, device=device)
    return made


def mean(x: GPUTensor, /, *, axis: Axis = None, keepdims: Any = False) -> GPUTensor:
    """nervanagpu.mean."""
    return reductions.mean(x, axis, keepdims=keepdims)


def std(x: GPUTensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: Any = False) -> GPUTensor:
    """nervanagpu.std."""
    return reductions.std(x, axis, keepdims=keepdims, correction=correction)


def var(x: GPUTensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: Any = False) -> GPUTensor:
    """nervanagpu.var."""
    return reductions.var(x, axis, keepdims=keepdims, correction=correction)


def broadcast_arrays(*arrays: GPUTensor) -> list[GPUTensor]:
    """nervanagpu.broadcast_arrays, as a list, which the standard wants."""
    return list(manipulation.broadcast_arrays(*arrays))


def clip(x: GPUTensor, /, min: Any = None, max: Any = None) -> GPUTensor:
    """nervanagpu.clip."""
    return elementwise.clip(x, min, max)


@dataclass(frozen=True)
class _Limits:
    """Of a dtype, as numbers of Python's."""

    bits: int
    max: Any
    min: Any
    dtype: Any
    eps: float | None = None
    smallest_normal: float | None = None


def finfo(type: object, /) -> _Limits:
    """nervanagpu.finfo, in numbers of Python's."""
    of = dtypes.finfo(type)
    high, low, eps, normal = (float(v) for v in (of.max, of.min, of.eps, of.smallest_normal))
    return _Limits(of.bits, high, low, of.dtype, eps, normal)


def iinfo(type: object, /) -> _Limits:
    """nervanagpu.iinfo."""
    of = dtypes.iinfo(type)
    return _Limits(of.bits, of.max, of.min, of.dtype)


def floor_divide(x1: Any, x2: Any, /) -> GPUTensor:
    """nervanagpu.floor_divide; beside infinities the floor of x1 / x2, as the standard has it, not NaN or -1."""
    whole: GPUTensor = elementwise.floor_divide(x1, x2)
    if dtypes.kind_of(whole.dtype) != "f":
        return whole
    endless = elementwise.logical_or(*(elementwise.isinf(x) for x in (x1, x2)))
    return elementwise.where(endless, elementwise.floor(elementwise.divide(x1, x2)), whole)


def tanh(x: Any, /) -> GPUTensor:
    """nervanagpu.tanh; of a complex number beyond all others the part 0 has the sign of the imaginary part."""
    made: GPUTensor = elementwise.tanh(x)
    if dtypes.kind_of(made.dtype) != "c":
        return made
    re, im = (_core.apply(part, x) for part in ("real", "imag"))
    endless = elementwise.logical_and(elementwise.isinf(re), elementwise.finite(im))
    part = elementwise.where(endless, elementwise.copysign(0.0, im), _core.apply("imag", made))
    return _core.complex_from(_core.apply("real", made), part)


def expm1(x: Any, /) -> GPUTensor:
    """nervanagpu.expm1; of the complex number 0 it has the real part +0, also of -0."""
    made: GPUTensor = elementwise.expm1(x)
    if dtypes.kind_of(made.dtype) != "c":
        return made
    re, im = (_core.apply(part, made) for part in ("real", "imag"))
    return _core.complex_from(elementwise.where(elementwise.equal(im, 0), elementwise.add(re, 0.0), re), im)


def matmul(x1: GPUTensor, x2: GPUTensor, /) -> GPUTensor:
    """Products of matrices in the dtype that the operands promote to: nervanagpu.matmul sums bytes in int32."""
    return products.product(x1, x2)


linalg.matmul = staticmethod(matmul)  # type: ignore[name-defined]  # noqa: F821


class _Info:
    """What this namespace can do: __array_namespace_info__()."""

    def capabilities(self) -> dict[str, Any]:
        """Boolean indexing and shapes that depend on data; no more than 64 axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> DeviceInfo:
        """The current one."""
        return _core.device()

    def devices(self) -> list[Any]:
        """All of them."""
        return [_core.device(i) for i in range(_core.device_count())]

    def default_dtypes(self, *, device: DeviceLike = None) -> dict[str, Any]:
        """Of what is made without a dtype."""
        creation.check_device("default_dtypes", device)
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: DeviceLike = None, kind: object = None) -> dict[str, Any]:
        """The dtypes of a kind by name."""
        creation.check_device("dtypes", device)
        known = ("bool", *dtypes.KINDS["integral"], "float32", "float64", *dtypes.KINDS["complex floating"])
        return {n: np.dtype(n) for n in known if kind is None or dtypes.isdtype(np.dtype(n), kind)}


def __array_namespace_info__() -> _Info:
    """What this namespace can do."""
    return _Info()
