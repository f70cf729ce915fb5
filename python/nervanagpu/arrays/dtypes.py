"""Questions about dtypes that bfloat16 answers, too, with the package ml_dtypes and without.

The dtype of a bfloat16 tensor is that package's, of which NumPy says kind "V", or the word "bfloat16".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import choice, shown
from nervanagpu.function_table import public

if TYPE_CHECKING:
    import numpy.typing as npt

T = TypeVar("T")
BFLOAT16 = "bfloat16"
DType: TypeAlias = "np.dtype[Any] | str"  # a str: bfloat16, without ml_dtypes
_BESIDE_BFLOAT16 = ("bool", "int8", "uint8")  # what bfloat16 has the values of


def _is_own(dtype: object) -> bool:
    """Whether it is a dtype of NumPy's own: asked first, since the text of one takes long."""
    return isinstance(dtype, np.dtype) and dtype.kind != "V"


def _is_bfloat16(dtype: object) -> bool:
    return not _is_own(dtype) and str(dtype) == BFLOAT16


def _stand_in(dtype: Any) -> np.dtype[Any]:
    """A dtype of NumPy's own, of the kind and size."""
    if _is_own(dtype):
        own: np.dtype[Any] = dtype
        return own
    return np.dtype(np.float16 if str(dtype) == BFLOAT16 else dtype)


def kind_of(dtype: object) -> str:
    """As numpy.dtype.kind: "b", "i", "u", "f" or "c"."""
    return _stand_in(dtype).kind


def size_of(dtype: object) -> int:
    """Bytes of an element."""
    return _stand_in(dtype).itemsize


def converts(source: object, to: object) -> bool:
    """numpy.can_cast(source, to, "same_kind")."""
    return np.can_cast(_stand_in(source), _stand_in(to), "same_kind")


def promoted(*dtypes: Any) -> DType:
    """The dtype that holds the values of all, as expressions have it."""
    others = [np.dtype(d) for d in dtypes if not _is_bfloat16(d)]
    if len(others) == len(dtypes):
        return np.result_type(*others)
    wide = [d for d in others if d.name not in _BESIDE_BFLOAT16]
    return np.result_type(np.float32, *wide) if wide else BFLOAT16


def from_list(values: Any, dtype: Any) -> npt.NDArray[Any]:
    """A list as what is assigned to a tensor of `dtype`: its integers are numbers yet, and become some of this dtype.

    OverflowError for a number that integers do not hold, ValueError for NaN. 2**63 beside 1 would be a float64
    elsewhere.
    """
    array = np.asarray(values)
    if _is_bfloat16(dtype) or array.dtype.kind not in "iufO" or np.dtype(dtype).kind not in "iuf":
        return array
    held, kept = array.dtype.kind, np.dtype(dtype).kind
    if held == kept == "f":
        return array
    whole = held in "iu" or all(isinstance(v, int) for v in np.asarray(values, object).flat)
    if not whole and (kept == "f" or held == "O"):
        return array
    try:
        with np.errstate(invalid="ignore"):  # of arrays in the list, which saturate
            numbers = np.asarray(values, dtype)
    except (OverflowError, ValueError) as error:
        raise type(error)(f"value has a number that {dtype} does not hold ({error})") from None
    return numbers if whole else array


def promoted_values(*values: Any) -> DType:
    """The dtype of an elementwise function's result: numbers of Python take that of the others."""
    given = [v.dtype if hasattr(v, "dtype") else v for v in values]
    if all(hasattr(v, "dtype") for v in values):
        return promoted(*given)
    for v in values:
        if type(v) is int and not -(2**63) <= v < 2**64:
            raise OverflowError(f"a number is {shown(v)}; needs one of 64 bits")
    own = [v.dtype for v in values if hasattr(v, "dtype")]
    if any(_is_bfloat16(d) for d in own):  # of which NumPy knows nothing, or that it is of kind "V"
        return promoted(*own, *([np.dtype(np.complex64)] if any(isinstance(v, complex) for v in values) else []))
    return np.result_type(*given)


def check_integer(function: str, name: str, value: object, dtype: Any) -> None:
    """OverflowError for an int of Python's that an integer dtype does not hold."""
    if type(value) is not int or kind_of(dtype) not in "iu":
        return
    limits = np.iinfo(dtype)
    if not limits.min <= value <= limits.max:
        raise OverflowError(f"{function}: {name} is {shown(value)}; {dtype} holds {limits.min} to {limits.max}")


def _bfloat16() -> type[np.generic] | str:
    try:
        import ml_dtypes
    except ImportError:
        return BFLOAT16
    found: type[np.generic] = ml_dtypes.bfloat16
    return found


_WIDTHS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
NAMES: dict[str, Any] = {
    **{name: getattr(np, name) for name in _WIDTHS.split()},
    "bool": np.bool_,
    "bool_": np.bool_,
    "bfloat16": _bfloat16(),
    "intp": np.intp,
    "single": np.float32,
    "double": np.float64,
    "half": np.float16,
    "csingle": np.complex64,
    "cdouble": np.complex128,
    "dtype": np.dtype,
}


def host_of(tensor: GPUTensor) -> npt.NDArray[Any]:
    """A tensor's elements as an array, of bfloat16 without ml_dtypes as float32."""
    try:
        return tensor.get()
    except TypeError:
        return tensor.astype("float32").get()


def on_host(x: T | GPUTensor) -> T | npt.NDArray[Any]:
    """A tensor as an array of the host; anything else as it is."""
    return host_of(x) if isinstance(x, GPUTensor) else x


# ---- functions of the array API --------------------------------------------------------------------------------------

KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "integral": ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float16", "bfloat16", "float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]


def dtype_of(x: Any, function: str, name: str = "dtype") -> DType:
    """The dtype that x is, has or names."""
    dtype: Any = x if isinstance(x, type | str | np.dtype) else getattr(x, "dtype", x)
    if _is_bfloat16(dtype):
        bfloat16: DType = dtype
        return bfloat16
    try:
        made: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        words = f"needs a tensor, or what numpy.dtype understands ({error})"
        raise TypeError(f"{function}: {name} is {shown(x)}; {words}") from None
    return made


@public()
def isdtype(dtype: object, kind: object) -> bool:
    """Whether a dtype is of a kind, which may be another dtype, or a tuple of kinds. The kinds are "bool", "signed
    integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"."""
    name = str(dtype_of(dtype, "isdtype"))
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str) and kind in KINDS:
        return name in KINDS[kind]
    try:
        return name == str(dtype_of(kind, "isdtype", "kind"))
    except TypeError:
        raise ValueError(f"isdtype: kind is {shown(kind)}; needs a dtype or one of {', '.join(KINDS)}") from None


@public()
def result_type(*values: object) -> DType:
    """The dtype that an elementwise function of these tensors, dtypes and numbers would compute in."""
    if not values:
        raise ValueError("result_type: there is nothing; needs tensors, dtypes or numbers")
    plain = (bool, int, float, complex)
    given = [v if isinstance(v, plain) else dtype_of(v, "result_type", f"values[{i}]") for i, v in enumerate(values)]
    if any(_is_bfloat16(g) for g in given if not isinstance(g, plain)):
        return promoted(*(g for g in given if not isinstance(g, plain)))
    try:
        return np.result_type(*given)
    except (TypeError, OverflowError) as error:
        raise TypeError(f"result_type: there is no dtype for these values ({error})") from None


@public()
def promote_types(first: object, second: object) -> DType:
    """The dtype that holds the values of both."""
    return result_type(dtype_of(first, "promote_types", "first"), dtype_of(second, "promote_types", "second"))


@public()
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether a tensor or dtype becomes another dtype by numpy.can_cast's rule."""
    from_, to = dtype_of(from_, "can_cast", "from_"), dtype_of(to, "can_cast", "to")
    if _is_bfloat16(from_) or _is_bfloat16(to):
        if casting in ("no", "equiv", "safe"):
            return str(promoted(from_, to)) == str(to)
        return casting == "unsafe" or converts(from_, to)
    choice("can_cast", "casting", casting, ("no", "equiv", "safe", "same_kind", "unsafe"))
    return bool(np.can_cast(from_, to, casting))


class _Bfloat16Info:
    """numpy.finfo of bfloat16."""

    bits, eps, epsneg = 16, 2.0**-7, 2.0**-8
    max, min = (2 - 2.0**-7) * 2.0**127, -(2 - 2.0**-7) * 2.0**127
    smallest_normal = tiny = 2.0**-126
    smallest_subnormal = 2.0**-133
    nmant, nexp, precision, resolution = 7, 8, 2, 0.01
    dtype = BFLOAT16


@public()
def finfo(dtype: object) -> np.finfo[Any] | type[_Bfloat16Info]:
    """The limits of a float dtype or of a tensor's, as numpy.finfo; of bfloat16, too."""
    found = dtype_of(dtype, "finfo")
    if _is_bfloat16(found):
        return _Bfloat16Info
    if kind_of(found) not in "fc":
        raise ValueError(f"finfo: dtype is {found}; needs a float")
    return np.finfo(found)


@public()
def iinfo(int_type: object) -> np.iinfo[Any]:
    """The limits of an integer dtype or of a tensor's, as numpy.iinfo."""
    found = dtype_of(int_type, "iinfo", "int_type")
    if _is_bfloat16(found) or kind_of(found) not in "iu":
        raise ValueError(f"iinfo: int_type is {found}; needs integers")
    return np.iinfo(found)
