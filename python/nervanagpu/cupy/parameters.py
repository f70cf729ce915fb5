"""The parameters of CuPy's kernels: "T x, raw float32 y", and what their types are in a call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import shown
from nervanagpu.kernels import c_types

_DECLARATION = re.compile(r"^(?:(?P<raw>raw)\s+)?(?P<type>[A-Za-z_]\w*)\s+(?P<name>[A-Za-z_]\w*)$")
_NAME = re.compile(r"^[A-Za-z_]\w*$")
TEXTURE = "cudaTextureObject_t"

# As kernels of CuPy call them; c_types says `long` where users write `long long`.
_C_NAMES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float16": "float16",
    "float32": "float",
    "float64": "double",
    "complex64": "complex<float>",
    "complex128": "complex<double>",
}


class Parameter(NamedTuple):
    """One parameter. dtype None: `letter` stands for the dtype that the arguments have."""

    name: str
    letter: str
    dtype: np.dtype[Any] | None
    raw: bool


def c_name(dtype: Any) -> str:
    """The C type of a dtype in a kernel. TypeError if there is none."""
    if dtype == TEXTURE:
        return TEXTURE
    if str(dtype) == "bfloat16":
        raise TypeError("dtype bfloat16 has no C type here; needs another float")
    wanted = np.dtype(dtype)
    return _C_NAMES.get(wanted.name) or c_types.name_of(wanted)


def check_name(kind: str, name: object) -> str:
    """The name of a kernel: a word of C."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError(f"Invalid kernel name: {kind}: name is {shown(name)}; needs a word of C")
    return name


def parameters(title: str, text: object) -> tuple[Parameter, ...]:
    """The parameters that a text declares. TypeError and ValueError name the part that does not."""
    if not isinstance(text, str):
        raise TypeError(f"{title} is {shown(text)}; needs a text: 'T x, raw float32 y'")
    found = []
    for part in (p.strip() for p in text.split(",")):
        if not part:
            continue
        m = _DECLARATION.match(" ".join(word for word in part.split() if word != "const"))
        if m is None:
            raise ValueError(f"{title}: {part!r} declares no parameter; needs [raw] type name: 'raw T x'")
        kind = m["type"]
        if len(kind) == 1:
            dtype = None
        else:
            try:
                dtype = np.dtype(kind)
            except TypeError:
                raise TypeError(f"{title}: {part!r} has no dtype; needs a letter or a dtype of NumPy's") from None
        found.append(Parameter(m["name"], kind, dtype, m["raw"] is not None))
    names = [p.name for p in found]
    for name in names:
        if name == "i" or names.count(name) > 1:
            raise ValueError(f"{title}: the name {name!r} is taken: Can not use {name!r} as a parameter name")
    return tuple(found)


def dtype_of(value: object) -> np.dtype[Any] | str | None:
    """Of a tensor or texture; None of a number, which becomes what is needed."""
    if isinstance(value, GPUTensor):
        return value.dtype
    return TEXTURE if isinstance(value, _core.Texture) or hasattr(value, "_texture_handle") else None


def types_of(
    title: str,
    given: Sequence[Parameter],
    results: Sequence[Parameter],
    in_dtypes: Sequence[Any],
    out_dtypes: Sequence[Any],
) -> dict[str, Any]:
    """The dtype that each letter stands for. TypeError where arguments disagree, or say nothing."""
    known: dict[str, Any] = {}
    for p, dtype in [*zip(results, out_dtypes, strict=False), *zip(given, in_dtypes, strict=True)]:
        if dtype is None:
            continue
        wanted = p.dtype if p.dtype is not None else known.setdefault(p.letter, dtype)
        if wanted != dtype:
            raise TypeError(f"{title}: Type is mismatched: {p.name} is {dtype}; {p.letter} is {wanted}")
    for p in (*given, *results):
        if p.dtype is None and p.letter not in known:
            raise TypeError(f"{title}: no array says what {p.letter} of {p.name} is; needs one, or a dtype there")
    return known


def typedefs(known: dict[str, Any]) -> str:
    """The letters as names of types."""
    return "".join(f"typedef {c_name(dtype)} {letter};\n" for letter, dtype in sorted(known.items()))
