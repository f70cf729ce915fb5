"""dtypes of CUDA's short vectors: vec.float3, and vec.make_float3(x, y, z)."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from nervanagpu.kernels import c_types

if TYPE_CHECKING:
    import numpy.typing as npt

_ELEMENTS = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "long": "int64", "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64", "float": "float32",
    "double": "float64",
}  # fmt: skip


def _maker(dtype: np.dtype[Any]) -> Callable[..., Any]:
    def make(*numbers: object) -> npt.NDArray[Any]:
        if len(numbers) != len(dtype.names or ()):
            raise TypeError(f"needs {len(dtype.names or ())} numbers, found {len(numbers)}")
        return np.array(numbers, dtype=dtype) if len(numbers) == 1 else np.array(tuple(numbers), dtype=dtype)[()]

    return make


def _all() -> SimpleNamespace:
    out = SimpleNamespace()
    for name, element in _ELEMENTS.items():
        for count in range(1, 5):
            dtype = np.dtype([(axis, element) for axis in "xyzw"[:count]])
            # The same bytes under several C names are one dtype, whose first name stands.
            c_types.register(dtype, [f"{name}{count}"])
            setattr(out, f"{name}{count}", dtype)
            setattr(out, f"make_{name}{count}", _maker(dtype))
    return out


vec = _all()
