"""Questions about dtypes that bfloat16 answers, too, with the package ml_dtypes and without.

The dtype of a bfloat16 tensor is that package's, of which NumPy says kind "V", or the word "bfloat16".
"""

from __future__ import annotations

from typing import Any

import numpy as np

BFLOAT16 = "bfloat16"
_BESIDE_BFLOAT16 = ("bool", "int8", "uint8")  # what bfloat16 has the values of


def _is_bfloat16(dtype: Any) -> bool:
    return str(dtype) == BFLOAT16


def _stand_in(dtype: Any) -> np.dtype[Any]:
    """A dtype of NumPy's own, of the kind and size."""
    return np.dtype(np.float16 if _is_bfloat16(dtype) else dtype)


def kind_of(dtype: Any) -> str:
    """As numpy.dtype.kind: "b", "i", "u" or "f"."""
    return _stand_in(dtype).kind


def size_of(dtype: Any) -> int:
    """Bytes of an element."""
    return _stand_in(dtype).itemsize


def converts(source: Any, to: Any) -> bool:
    """numpy.can_cast(source, to, "same_kind")."""
    return np.can_cast(_stand_in(source), _stand_in(to), "same_kind")


def promoted(*dtypes: Any) -> Any:
    """The dtype that holds the values of all, as expressions have it."""
    others = [np.dtype(d) for d in dtypes if not _is_bfloat16(d)]
    if len(others) == len(dtypes):
        return np.result_type(*others)
    wide = [d for d in others if d.name not in _BESIDE_BFLOAT16]
    return np.result_type(np.float32, *wide) if wide else BFLOAT16


def from_list(values: Any, dtype: Any) -> Any:
    """A list as what is assigned to a tensor of `dtype`: its integers are numbers yet, and become some of this dtype.

    OverflowError for one that it does not hold. 2**63 beside 1 would be a float64 elsewhere.
    """
    array = np.asarray(values)
    if _is_bfloat16(dtype) or array.dtype.kind not in "iufO" or np.dtype(dtype).kind not in "iuf":
        return array
    held, kept = array.dtype.kind, np.dtype(dtype).kind
    if held == kept == "f":
        return array
    whole = held in "iu" or all(isinstance(v, int) for v in np.asarray(values, object).flat)
    if not whole:
        return array
    try:
        return np.asarray(values, dtype)
    except OverflowError as error:
        raise OverflowError(f"value has an integer that {dtype} does not hold ({error})") from None
