"""NumPy dtypes and the types of CUDA C that have the same bytes, also of structures that scripts register."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_NAMES: dict[str, str] = {
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "int8_t": "int8",
    "unsigned char": "uint8",
    "uint8_t": "uint8",
    "short": "int16",
    "signed short": "int16",
    "short int": "int16",
    "int16_t": "int16",
    "unsigned short": "uint16",
    "unsigned short int": "uint16",
    "uint16_t": "uint16",
    "int": "int32",
    "signed int": "int32",
    "signed": "int32",
    "int32_t": "int32",
    "unsigned int": "uint32",
    "unsigned": "uint32",
    "uint32_t": "uint32",
    "long": "int64",
    "long int": "int64",
    "signed long": "int64",
    "long long": "int64",
    "long long int": "int64",
    "int64_t": "int64",
    "ptrdiff_t": "int64",
    "unsigned long": "uint64",
    "unsigned long int": "uint64",
    "unsigned long long": "uint64",
    "unsigned long long int": "uint64",
    "uint64_t": "uint64",
    "size_t": "uint64",
    "half": "float16",
    "__half": "float16",
    "float": "float32",
    "double": "float64",
    "fp_tex_float": "float32",
    "fp_tex_double": "float64",
    "pycuda::complex<float>": "complex64",
    "pycuda::complex<double>": "complex128",
    "cuFloatComplex": "complex64",
    "cuDoubleComplex": "complex128",
}
_dtypes: dict[str, np.dtype[Any]] = {name: np.dtype(dtype) for name, dtype in _NAMES.items()}
# Of the dtypes; those of several names have the first that C and C++ both know.
_names: dict[np.dtype[Any], str] = {}
for _name, _dtype in _dtypes.items():
    _names.setdefault(_dtype, _name)
_names[np.dtype("int8")] = "signed char"


def register(dtype: npt.DTypeLike, names: list[str] | tuple[str, ...]) -> np.dtype[Any]:
    """Let these C types have this dtype."""
    made = np.dtype(dtype)
    for name in names:
        _dtypes[name] = made
    _names.setdefault(made, names[0])
    return made


def name_of(dtype: npt.DTypeLike) -> str:
    """The C type of a dtype; TypeError if there is none."""
    wanted = np.dtype(dtype)
    if wanted not in _names:
        raise TypeError(f"dtype {wanted} has no C type; needs one of {', '.join(map(str, _names))}")
    return _names[wanted]


def dtype_of(name: str) -> np.dtype[Any]:
    """The dtype of a C type; TypeError if there is none."""
    wanted = " ".join(word for word in name.split() if word not in ("const", "volatile", "__restrict__", "struct"))
    wanted = re.sub(r"\s*([<>:]+)\s*", r"\1", wanted)
    if wanted not in _dtypes:
        raise TypeError(f"C type {name!r} is not known; get_or_register_dtype tells its dtype")
    return _dtypes[wanted]


def alignment(dtype: np.dtype[Any]) -> int:
    """Of a parameter, in bytes, as CUDA aligns it: short vectors of 2 and 4, and complex numbers, to their size."""
    if dtype.kind == "c":
        return dtype.itemsize
    if dtype.fields is None:
        return min(dtype.itemsize, 8)
    name = _names.get(dtype, "")
    if name[-1:] in ("2", "4"):
        return min(dtype.itemsize, 16)
    return max(alignment(field[0]) for field in dtype.fields.values())


class Packed(bytes):
    """The bytes of an argument, and what its place is a multiple of."""

    alignment: int

    @classmethod
    def of(cls, value: object, dtype: npt.DTypeLike | None = None) -> Packed:
        """A number or a structure, converted to `dtype`."""
        array = np.asarray(value)
        kind = array.dtype if dtype is None else np.dtype(dtype)
        out = cls(array.astype(kind).tobytes())
        out.alignment = alignment(kind)
        return out


class Declared(NamedTuple):
    """A parameter of a kernel as text declares it: `float *x` is a vector of float32."""

    dtype: np.dtype[Any]
    name: str
    vector: bool
    type_name: str

    @property
    def struct_char(self) -> str:
        """Its letter for Function.prepare."""
        return "P" if self.vector else self.dtype.char

    def declarator(self) -> str:
        """The text."""
        return f"{self.type_name} {'*' if self.vector else ''}{self.name}"


_DECLARATION = re.compile(
    r"^(?P<type>.*?)(?P<star>[\s*&]|\*.*\s)\s*(?:__restrict__\s+)?(?P<name>\w+)\s*(?P<array>\[\d*\])?$"
)


def declared(text: str) -> Declared:
    """The parameter that `const float *x` declares; ValueError for what is no declaration."""
    found = _DECLARATION.match(text.strip())
    if found is None:
        raise ValueError(f"{text.strip()!r} declares no parameter; needs a type and a name: float *x")
    words = found["type"] + found["star"]
    vector = "*" in words or found["array"] is not None
    plain = re.sub(r"[*&]|__restrict__", " ", words)
    type_name = " ".join(plain.split())
    return Declared(dtype_of(type_name), found["name"], vector, type_name)
