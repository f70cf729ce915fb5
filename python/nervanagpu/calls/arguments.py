"""Arguments of functions that are written in Python: checked, and refused by name.

Every message says which argument it is, what came and what is needed. The functions that are not written in Python
answer alike: nervanagpu.calls.refusals.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nervanagpu._core import GPUTensor

T = TypeVar("T")

AxisError: type[ValueError] = getattr(np, "exceptions", np).AxisError  # NumPy 1.24 has it in the top module
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def shown(value: object) -> str:
    """A value for a message: a short one as it is, any other by its type."""
    if isinstance(value, _PLAIN) or (type(value) in (tuple, list) and all(isinstance(v, _PLAIN) for v in value)):  # type: ignore[attr-defined]
        try:
            text = repr(value)
        except ValueError:  # Python prints no int of more than 4300 digits
            return "an int of thousands of digits"
        return text if len(text) <= 60 else f"{text[:57]}..."
    return type(value).__name__


def either(words: Iterable[str]) -> str:
    """a, b or c"""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def _limits(low: float | None, high: float | None) -> str:
    if high is None:
        return f"{low} or more"
    return f"at most {high}" if low is None else f"{low} to {high}"


def integer(function: str, name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """`value` as an int, from `low` to `high`: of integers, NumPy's too, not of floats."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{function}: {name} is {shown(value)}; needs an integer") from None
    if (low is not None and number < low) or (high is not None and number > high):
        raise ValueError(f"{function}: {name} is {shown(number)}; needs {_limits(low, high)}")
    return number


def no_bool(function: str, name: str, value: T) -> T:
    """`value`, a number or several, none of them a bool: an integer to Python, but not to NumPy's functions in C."""
    if value is not None and type(value) is not int:
        held = value if isinstance(value, tuple | list) else (value,)
        if any(isinstance(v, bool) for v in held):
            needs = "needs an integer, not a bool (an integer is required)"
            raise TypeError(f"{function}: {name} is {shown(value)}; {needs}")
    return value


def count(function: str, name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """How many of something: an integer and no bool, from `low` to `high`."""
    return integer(function, name, no_bool(function, name, value), low, high)


def counts(function: str, name: str, value: Any, low: int | None = None, high: int | None = None) -> list[int]:
    """Counts of a sequence, or one alone."""
    return integers(function, name, no_bool(function, name, value), low, high)


def number(function: str, name: str, value: Any, low: float | None = None, high: float | None = None) -> float:
    """`value` as a finite float, from `low` to `high`: of numbers, not of text."""
    try:
        result = float("text" if isinstance(value, str | bytes | bytearray) else value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{function}: {name} is {shown(value)}; needs a number") from None
    if not math.isfinite(result):
        raise ValueError(f"{function}: {name} is {result}; needs a finite number")
    if (low is not None and result < low) or (high is not None and result > high):
        raise ValueError(f"{function}: {name} is {result}; needs {_limits(low, high)}")
    return result


def choice(function: str, name: str, value: object, among: Iterable[str]) -> str:
    """`value`, if it is one of these words."""
    words = tuple(among)
    if not isinstance(value, str):
        raise TypeError(f"{function}: {name} is {shown(value)}; needs {either(words)}")
    if value not in words:
        raise ValueError(f"{function}: {name} is {value!r}; needs {either(words)}")
    return value


def flag(function: str, name: str, value: object) -> bool:
    """`value` as a bool: of True and False, NumPy's too."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{function}: {name} is {shown(value)}; needs True or False")
    return bool(value)


def dtype_name(function: str, value: Any) -> str:
    """NumPy's name of a dtype, or "bfloat16", which NumPy alone does not know."""
    try:
        if isinstance(value, str) and value == "bfloat16":
            return value
        return str(np.dtype(value).name)
    except TypeError:
        raise TypeError(f"{function}: dtype is {shown(value)}; needs what numpy.dtype understands") from None


def iterable(function: str, name: str, value: object) -> list[Any]:
    """The items of a sequence, not of a text."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise TypeError(f"{function}: {name} is {shown(value)}; needs a sequence")
    return list(value)


def host_array(name: str, value: object) -> npt.NDArray[Any]:
    """`value` as a NumPy array, as it is if it is one. TypeError for one that hides elements after a mask."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        count = int(np.ma.getmaskarray(value).sum())
        raise TypeError(f"{name} has {count} masked elements, and tensors no masks; needs .filled(number), or .data")
    try:
        return np.asarray(value.get() if isinstance(value, GPUTensor) else value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} is {shown(value)}; needs what numpy.asarray understands ({error})") from None


def is_array_like(value: object) -> bool:
    """Whether NumPy makes an array of numbers of it: a sequence, a buffer, or what has __array__."""
    if isinstance(value, np.ndarray | np.generic | list | tuple):
        return True
    if isinstance(value, str | bytes | bytearray | type):
        return False
    return isinstance(value, Sequence) or hasattr(value, "__array__") or hasattr(value, "__array_interface__")


def is_operand(value: object) -> bool:
    """Whether `value` beside a tensor is an operand of ours, and not one whose own operators come first, as NumPy's."""
    if getattr(value, "__array_ufunc__", 0) is None or getattr(value, "__array_priority__", 0) > 0:
        return isinstance(value, np.ndarray | np.generic)
    return is_array_like(value)


def path_of(function: str, name: str, value: Any) -> str:
    """The name of a file."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise TypeError(f"{function}: {name} is {shown(value)}; needs the name of a file") from None


def tensor(function: str, name: str, value: object) -> GPUTensor:
    """`value`, if it is a tensor."""
    if not isinstance(value, GPUTensor):
        if name.startswith("out") and isinstance(value, np.ndarray):  # results stay on the device, as CuPy's
            words = f"needs GPUTensor (result.get(out={name}) copies there)"
            raise TypeError(f"{function}: {name} is ndarray, in the host's memory; {words}")
        raise TypeError(f"{function}: {name} is {shown(value)}; needs GPUTensor (nervanagpu.array makes one)")
    return value


def check_tensors(function: str, **operands: object) -> None:
    """Every keyword argument is a tensor."""
    for name, value in operands.items():
        tensor(function, name, value)


def check_given(function: str, **operands: object) -> None:
    """Every keyword argument is a tensor, or None: it is not given."""
    check_tensors(function, **{name: value for name, value in operands.items() if value is not None})


def tensors(function: str, name: str, value: object) -> list[GPUTensor]:
    """The tensors of a sequence."""
    if isinstance(value, GPUTensor | str | bytes) or not isinstance(value, Iterable):
        raise TypeError(f"{function}: {name} is {shown(value)}; needs a sequence of GPUTensor")
    return [_as_tensor(function, f"{name}[{i}]", item) for i, item in enumerate(value)]


def _as_tensor(function: str, name: str, value: object) -> GPUTensor:
    """Numbers and what NumPy makes arrays of as tensors, too."""
    if not isinstance(value, GPUTensor) and (isinstance(value, int | float | complex) or is_array_like(value)):
        from nervanagpu.arrays import creation

        return creation.array(value)
    return tensor(function, name, value)


def is_integer(value: Any) -> bool:
    """Whether it is one integer, to operator.index; arrays have the method, too."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def integers(function: str, name: str, value: Any, low: int | None = None, high: int | None = None) -> list[int]:
    """The integers of a sequence, or one alone."""
    if is_integer(value):
        return [integer(function, name, value, low, high)]
    try:
        if isinstance(value, str | bytes):
            raise TypeError
        items = list(value)
    except TypeError:
        raise TypeError(f"{function}: {name} is {shown(value)}; needs an integer or a sequence of integers") from None
    for i, item in enumerate(items):
        if type(item) is not int or (low is not None and item < low) or (high is not None and item > high):
            items[i] = integer(function, f"{name}[{i}]", item, low, high)
    return items
