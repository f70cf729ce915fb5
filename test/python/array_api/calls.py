"""A row is a function with the calls that are drawn for it; a call is made here and in NumPy, and compared."""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nervanagpu as ng
import numpy as np
from hypothesis import strategies as st

Array = np.ndarray[Any, Any]
# The standard's namespace, in which new arrays are float64 as in NumPy; the package itself until there is one.
XP: Any = ng.zeros(1).__array_namespace__() if hasattr(ng.GPUTensor, "__array_namespace__") else ng


# Operators are called as such, so that Python may ask either operand.
OPERATORS: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name)
    for name in dir(operator)
    if name.startswith("__") and callable(getattr(operator, name))
}
OPERATORS |= {"__bool__": bool, "__complex__": complex, "__float__": float, "__index__": operator.index, "__int__": int}
OPERATORS["to_device"] = lambda array: array.to_device(array.device)


@dataclass(frozen=True)
class Call:
    """Arguments, with NumPy's arrays and dtypes; of an operation with rounded sums the bound of a result's error."""

    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    bound: Any = 0.0


def call(*args: Any, **kwargs: Any) -> Call:
    return Call(args, tuple(kwargs.items()))


@dataclass(frozen=True)
class Row:
    """name: as in the standard, with its namespace ("linalg.inv").

    ulps: of the result's dtype, on top of the call's own bound. wide: float32 is computed in float64 and rounded, for
    functions of which NumPy's float32 has errors of its own. reference: what is expected, NumPy's function of this name
    if None. check: compares (call, got) by itself, of results that are not the only right ones. either_zero: -0 and 0
    are the same, where the standard leaves open which is the larger.
    """

    name: str
    calls: st.SearchStrategy[Call]
    ulps: float = 0
    wide: bool = False
    reference: Callable[..., Any] | None = None
    check: Callable[[Call, Any], None] | None = None
    either_zero: bool = False
    id: str = ""

    def __str__(self) -> str:
        return f"{self.name}-{self.id}" if self.id else self.name


def find(name: str) -> Any:
    """Our function of a dotted name; AttributeError if there is none. array.NAME: takes the array first."""
    *spaces, last = name.split(".")
    if spaces == ["array"]:
        getattr(ng.GPUTensor, last)
        return OPERATORS.get(last) or functools.partial(member, last)
    owner: Any = XP
    for space in spaces:
        owner = getattr(owner, space, None) or importlib.import_module(f"{owner.__name__}.{space}")
    return getattr(owner, last)


def member(name: str, array: Any, *args: Any, **kwargs: Any) -> Any:
    """What an array has under a name; of a method what it gives."""
    found = getattr(array, name)
    return found(*args, **kwargs) if callable(found) else found


def is_there(name: str) -> bool:
    try:
        find(name)
    except (AttributeError, ImportError):
        return False
    return True


def numpys(name: str) -> Callable[..., Any]:
    owner: Any = np
    if name.startswith("array."):
        last = name.removeprefix("array.")
        return OPERATORS.get(last) or functools.partial(member, last)
    for word in name.split("."):
        owner = getattr(owner, word)
    return owner


def ours(value: Any) -> Any:
    """What stands here for a value of NumPy's: arrays are tensors, dtypes those of this package."""
    if isinstance(value, np.ndarray):
        return ng.array(value)
    if isinstance(value, np.dtype):
        return getattr(XP, value.name)
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return type(value)(ours(v) for v in value)
    return value


def host(value: Any) -> Any:
    """A result on the host; what the standard wants to be an array must be a tensor."""
    return value.get() if isinstance(value, ng.GPUTensor) else value


def copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def widened(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.name in ("float32", "complex64"):
        return value.astype(np.float64 if value.dtype.kind == "f" else np.complex128)
    return value


def run(row: Row, made: Call) -> None:
    """One call, here and in NumPy."""
    keywords = dict(made.kwargs)
    args = tuple(ours(a) for a in made.args)  # copies: what a call changes is seen by that call alone
    got = find(row.name)(*args, **{k: ours(v) for k, v in keywords.items()})
    if row.check:
        row.check(made, got)
        return
    reference = row.reference or numpys(row.name)
    with np.errstate(all="ignore"):
        want = reference(*map(copied, made.args), **keywords)
        better = want
        if row.wide:
            better = reference(*map(widened, made.args), **{k: widened(v) for k, v in keywords.items()})
    compare(got, want, better, row.ulps, made.bound, row.either_zero)


def compare(
    got: Any, want: Any, better: Any = None, ulps: float = 0, bound: Any = 0.0, either_zero: bool = False
) -> None:
    """got: of ours, want: of NumPy, which has dtype and shape; better: its values, more precisely."""
    if isinstance(want, tuple | list):
        assert len(got) == len(want), f"{len(got)} results; needs {len(want)}"
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            compare(g, w, None if better is None else better[i], ulps, bound, either_zero)
        return
    if not isinstance(want, np.ndarray | np.generic):
        assert got == want, f"{got!r}; needs {want!r}"
        return
    assert isinstance(got, ng.GPUTensor), f"{type(got).__name__}; needs a tensor"
    want = np.asarray(want)
    assert str(got.dtype) == want.dtype.name, f"dtype {got.dtype}; needs {want.dtype}"
    assert tuple(got.shape) == want.shape, f"shape {got.shape}; needs {want.shape}"
    values = host(got)
    if either_zero:
        values, want = values + np.zeros((), values.dtype), want + np.zeros((), want.dtype)
    same(values, want if better is None or either_zero else np.asarray(better).astype(want.dtype), ulps, bound)


def same(got: Array, want: Array, ulps: float, bound: Any = 0.0) -> None:
    if want.dtype.kind not in "fc" or (ulps == 0 and not np.any(bound)):
        np.testing.assert_array_equal(got, want)
        if want.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))
        return
    if want.dtype.kind == "c":
        scale = np.maximum(np.abs(want.real), np.abs(want.imag))
        within(got.real, want.real, ulps, bound, scale)
        within(got.imag, want.imag, ulps, bound, scale)
    else:
        within(got, want, ulps, bound, np.abs(want))


def within(got: Array, want: Array, ulps: float, bound: Any, scale: Array) -> None:
    """NaN and infinities where they are wanted; elsewhere an error of at most ulps * scale, or the bound."""
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    finite = np.isfinite(want) & np.isfinite(scale)
    limits = np.finfo(want.dtype)
    with np.errstate(all="ignore"):
        room = np.maximum(ulps * limits.eps * np.maximum(scale.astype(np.float64), limits.tiny), bound)
        near = finite & (np.abs(got.astype(np.float64) - want) <= room)
        # One may overflow where the other just does not.
        top = (np.abs(want) >= limits.max * (1 - 4 * ulps * limits.eps)) | np.isinf(want)
        near |= top & ((got == want) | (np.abs(got) >= limits.max * (1 - 4 * ulps * limits.eps)) & (got * want > 0))
    right = np.where(np.isnan(want), np.isnan(got), near | ((got == want) & ~finite))
    room = np.broadcast_to(room, want.shape)
    assert np.all(right), f"{got[~right][:4]}; needs {want[~right][:4]} (room {room[~right][:4]})"
