"""Arrays as text and in files, through the host: NumPy's functions with tensors in and out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import host_array, integer, shown
from nervanagpu.function_table import public
from nervanagpu.math.elementwise import Operand


def _host(x: Operand) -> npt.NDArray[Any]:
    return dtypes.host_of(x) if isinstance(x, GPUTensor) else host_array("x", x)


def _named(function: str, error: Exception, what: str, value: object) -> Exception:
    return type(error)(f"{function}: {what} is {shown(value)} ({error})")


@public()
def array2string(x: Operand, *args: Any, **more: Any) -> str:
    """The elements as text, with numpy.array2string's arguments."""
    try:
        return np.array2string(_host(x), *args, **more)
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
        raise TypeError(f"array2string: the arguments beside x do not fit ({error})") from None


def _row_text(
    function: Any, x: Operand, max_line_width: int | None, precision: int | None, suppress_small: bool | None
) -> str:
    try:
        return str(function(_host(x), max_line_width, precision, suppress_small))
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise TypeError(f"{function.__name__}: max_line_width or precision is no integer ({error})") from None


@public()
def array_str(
    x: Operand, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None
) -> str:
    """The elements as str(x) has them."""
    return _row_text(np.array_str, x, max_line_width, precision, suppress_small)


@public()
def array_repr(
    x: Operand, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None
) -> str:
    """The elements as NumPy's repr(x) has them."""
    return _row_text(np.array_repr, x, max_line_width, precision, suppress_small)


def _number(function: str, x: Operand) -> np.number[Any] | np.bool_:
    """A number, or that of a tensor of one element."""
    host = _host(x)
    if host.size != 1 or host.dtype.kind not in "fiub":
        raise TypeError(f"{function}: x is {shown(x)}; needs one number")
    number: np.number[Any] | np.bool_ = host.reshape(-1)[0]
    return number


def _float_text(function: Any, x: Operand, args: tuple[Any, ...], more: dict[str, Any]) -> str:
    name = function.__name__
    try:
        return str(function(_number(name, x), *args, **more))
    except (TypeError, ValueError, OverflowError) as error:
        raise _named(name, error, "x", x) from None


@public()
def format_float_positional(x: Operand, *args: object, **more: object) -> str:
    """A float as 0.001, with numpy.format_float_positional's arguments."""
    return _float_text(np.format_float_positional, x, args, more)


@public()
def format_float_scientific(x: Operand, *args: object, **more: object) -> str:
    """A float as 1.e-03, with numpy.format_float_scientific's arguments."""
    return _float_text(np.format_float_scientific, x, args, more)


@public()
def base_repr(number: int, base: int = 2, padding: int = 0) -> str:
    """An integer in base 2 to 36."""
    value, of = integer("base_repr", "number", number), integer("base_repr", "base", base, 2, 36)
    return np.base_repr(value, of, integer("base_repr", "padding", padding, 0))


@public()
def binary_repr(num: int, width: int | None = None) -> str:
    """An integer in base 2, `width` digits wide; numbers below 0 as their two's complement then."""
    value = integer("binary_repr", "num", num)
    try:
        return np.binary_repr(value, None if width is None else integer("binary_repr", "width", width, 0, 1 << 20))
    except ValueError as error:
        raise _named("binary_repr", error, "width", width) from None


def _tensor(made: Any) -> GPUTensor:
    """An array of a file. ml_dtypes writes bfloat16 as two bytes without a type."""
    if made.dtype == np.dtype("V2"):
        return creation.array(made.view(np.uint16)).view("bfloat16")
    return creation.array(made)


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """An .npy file."""
    np.save(file, _host(arr), allow_pickle=allow_pickle)


def savez(file: Any, *args: Any, **named: Any) -> None:
    """An .npz file: several arrays, by their keywords or as arr_0, arr_1."""
    parts: dict[str, Any] = {k: _host(v) for k, v in named.items()}
    np.savez(file, *map(_host, args), **parts)


def savez_compressed(file: Any, *args: Any, **named: Any) -> None:
    """savez, compressed."""
    parts: dict[str, Any] = {k: _host(v) for k, v in named.items()}
    np.savez_compressed(file, *map(_host, args), **parts)


def savetxt(fname: Any, x: Operand, *args: Any, **more: Any) -> None:
    """A text file, with numpy.savetxt's arguments."""
    np.savetxt(fname, _host(x), *args, **more)


class Archive(Mapping[str, GPUTensor]):
    """What load() makes of an .npz file: arrays by name, read when they are asked for."""

    def __init__(self, theirs: Any) -> None:
        self.npz_file = theirs
        self.f = theirs.f
        self.files: list[str] = theirs.files

    def __getitem__(self, name: str) -> GPUTensor:
        return _tensor(self.npz_file[name])

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __contains__(self, name: object) -> bool:
        return name in self.npz_file  # "a.npy" is "a", too

    def close(self) -> None:
        """Close the file."""
        self.npz_file.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def load_arrays(file: Any, mmap_mode: Any = None, allow_pickle: bool | None = None) -> GPUTensor | Archive:
    """The tensor of an .npy file, or those of an .npz file. (CuPy's and NumPy's `load`.)"""
    made = np.load(file, mmap_mode, bool(allow_pickle))
    return _tensor(made) if isinstance(made, np.ndarray) else Archive(made)


def loadtxt(*args: Any, **more: Any) -> GPUTensor:
    """A tensor of a text file, with numpy.loadtxt's arguments."""
    return creation.array(np.loadtxt(*args, **more))


def genfromtxt(*args: Any, **more: Any) -> GPUTensor:
    """A tensor of a text file with gaps, with numpy.genfromtxt's arguments."""
    return creation.array(np.genfromtxt(*args, **more))


def fromfile(*args: Any, **more: Any) -> GPUTensor:
    """A tensor of a binary file, with numpy.fromfile's arguments."""
    return creation.array(np.fromfile(*args, **more))


def fromstring(string: str, dtype: npt.DTypeLike = float, count: int = -1, *, sep: str) -> GPUTensor:
    """A tensor of the numbers in a text."""
    return creation.array(np.fromstring(string, dtype, count, sep=sep))
