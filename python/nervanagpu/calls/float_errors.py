"""numpy.errstate, seterr, seterrcall and their like, of tensors.

Nothing is looked at unless a program asks for it: expressions are lazy, and a look waits for their elements. So every
kind of error is ignored at first, where NumPy warns. Once a thread has set one to another mode, that changes.
Operators, and functions that are ufuncs in NumPy, are then computed where they stand in the program, and looked at.
What the functions of this library do inside, reductions, products and conversions are not. Underflow is not seen in any
mode.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator
from functools import partial
from types import TracebackType
from typing import Any

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import dtypes
from nervanagpu.calls.arguments import choice, shown
from nervanagpu.function_table import TABLE
from nervanagpu.math import elementwise, reductions, ufunc_keywords

_MODES = ("ignore", "warn", "raise", "call", "print", "log")
_KINDS = {  # in NumPy's words, and its flags
    "divide": ("divide by zero", 1),
    "over": ("overflow", 2),
    "under": ("underflow", 4),
    "invalid": ("invalid value", 8),
}
_PACKAGE = os.path.dirname(os.path.dirname(__file__))
# Between a call in a program and what is computed.
_GATES = {
    os.path.join(_PACKAGE, name)
    for name in ("math/elementwise.py", "math/ufunc_keywords.py", "calls/numpy_protocol.py", "calls/placement.py")
}
_DIVISIONS = ("divide", "floor_divide", "remainder", "fmod")  # by the second operand
_POLES = ("log", "log2", "log10", "log1p", "arctanh")  # whose infinities are poles, of finite operands
_AT_ZERO = ("reciprocal", "power", "float_power")  # of the first operand

_UNSET: Any = object()


class _State(threading.local):
    """What a thread has set."""

    def __init__(self) -> None:
        self.modes = dict.fromkeys(_KINDS, "ignore")
        self.call: Any = None
        self.busy = False


_state = _State()
_looking: set[int] = set()  # threads that have set a mode to look for


def _pole(name: str, operands: list[GPUTensor]) -> GPUTensor | None:
    """Where the operation has a pole: division by zero. None: nowhere."""
    if name in _DIVISIONS:
        return elementwise.equal(operands[1], 0)
    if name in _AT_ZERO:
        return elementwise.equal(operands[0], 0)
    return elementwise.finite(operands[0]) if name in _POLES else None


def _errors(name: str, given: tuple[Any, ...], result: GPUTensor, mask: GPUTensor | None) -> Iterator[str]:
    """The kinds of errors in what an operation gave, in NumPy's order."""

    def there(condition: GPUTensor) -> bool:
        return bool(reductions.any(condition if mask is None else elementwise.logical_and(condition, mask)))

    kind = dtypes.kind_of(result.dtype)
    operands = [reductions.operand_of(x) for x in given]
    if result.size == 0:
        return
    if kind in "iu":
        pole = _pole(name, operands) if name in (*_DIVISIONS, "reciprocal") else None
        if pole is not None and there(pole):
            yield "divide"
        return
    if kind not in "fc" or not there(~elementwise.finite(result)):
        return
    endless, lost = elementwise.isinf(result), elementwise.isnan(result)
    for x in operands:
        if dtypes.kind_of(x.dtype) in "fc":
            endless, lost = endless & elementwise.finite(x), lost & ~elementwise.isnan(x)
    pole = _pole(name, operands)
    if pole is not None and there(endless & pole):
        yield "divide"
    if there(endless if pole is None else endless & ~pole):
        yield "over"
    if there(lost):
        yield "invalid"


def _report(kind: str, name: str, level: int, flags: int) -> None:
    mode, words = _state.modes[kind], _KINDS[kind][0]
    text = f"{words} encountered in {name}"
    if mode == "raise":
        raise FloatingPointError(text)
    if mode == "warn":
        warnings.warn(text, RuntimeWarning, stacklevel=level + 1)
    elif mode == "print":
        print(f"Warning: {text}", file=sys.stderr)
    elif mode in ("call", "log"):
        to = _state.call
        if to is None:
            raise NameError(f"{text}: mode is {mode!r}, but there is no function; needs one, by seterrcall or call=")
        if mode == "log":
            to.write(f"Warning: {text}\n")
        else:
            to(words, flags)


def _look(
    name: str, given: tuple[Any, ...], result: GPUTensor, mask: GPUTensor | None, level: int, scalar: bool = False
) -> None:
    _state.busy = True
    try:
        found = list(_errors(name, given, result, mask))
    finally:
        _state.busy = False
    flags = sum(_KINDS[kind][1] for kind in found)  # of all of them, as NumPy passes them to each call
    for kind in found:
        if _state.modes[kind] != "ignore":
            _report(kind, f"scalar {name}" if scalar else name, level + 1, flags)


def _level(gates: set[str]) -> int | None:
    """How many frames after the caller's the program stands; None: what is computed is part of a function here."""
    frame, level = sys._getframe(2), 2
    while frame.f_code.co_filename.startswith(_PACKAGE):
        if frame.f_code.co_filename not in gates or frame.f_back is None:
            return None
        frame, level = frame.f_back, level + 1
    return level


def _asked() -> bool:
    return not _state.busy and threading.get_ident() in _looking and not _core.Graph.recording()


def _operator(name: str, a: object, b: object, result: GPUTensor) -> None:
    """Sees what an operator computes (set_operation_check)."""
    level = _level(set()) if _asked() else None
    if level is not None:
        _look(name, (a, b), result, None, level, result.ndim == 0)


class _Watched:
    """What a function computes, looked at."""

    def __init__(self, name: str, compute: Callable[..., GPUTensor]) -> None:
        self.name, self.compute = name, compute

    def __call__(self, *operands: object, mask: GPUTensor | None = None) -> GPUTensor:
        level = _level(_GATES) if _asked() else None
        result = self.compute(*operands)
        if level is not None:
            _look(self.name, operands, result, mask, level)
        return result


def _watch(on: bool) -> None:
    """Puts the watchers in front of what functions compute, and before operators, or takes them away."""
    for row in TABLE:
        swap, theirs = getattr(row.function, "_swap", None), ufunc_keywords.theirs(row.name)
        if swap is not None and theirs is not None:
            swap(partial(_Watched, theirs.__name__) if on else lambda watched: watched.compute)
    _core.set_operation_check(_operator if on else None)


def _set(modes: dict[str, str]) -> None:
    _state.modes = modes
    before, me = bool(_looking), threading.get_ident()
    if any(mode != "ignore" for kind, mode in modes.items() if kind != "under"):
        _looking.add(me)
    else:
        _looking.discard(me)
    if bool(_looking) != before:
        _watch(bool(_looking))


def _wanted(function: str, all: Any, given: dict[str, Any]) -> dict[str, str]:
    for name, mode in {"all": all, **given}.items():
        if mode is not None:
            choice(function, name, mode, _MODES)
    return {kind: mode or all or _state.modes[kind] for kind, mode in given.items()}


def seterr(
    all: object = None, divide: object = None, over: object = None, under: object = None, invalid: object = None
) -> dict[str, str]:
    """What is done about floating-point errors of this thread's tensors; returns what was done before."""
    before = geterr()
    _set(_wanted("seterr", all, {"divide": divide, "over": over, "under": under, "invalid": invalid}))
    return before


def geterr() -> dict[str, str]:
    """What is done about floating-point errors: "ignore", unless the program has asked for more."""
    return dict(_state.modes)


def _check_call(function: str, func: object) -> object:
    if func is not None and not callable(func) and not callable(getattr(func, "write", None)):
        raise TypeError(f"{function}: it is {shown(func)}; needs a function, an object with write(), or None")
    return func


def seterrcall(func: object) -> object:
    """What mode "call" calls with an error's name and flag, or mode "log" writes to; returns what it was before."""
    before, _state.call = _state.call, _check_call("seterrcall", func)
    return before


def geterrcall() -> object:
    """What seterrcall has set."""
    return _state.call


class errstate(ContextDecorator):
    """seterr, and seterrcall with `call`, for a block or a function."""

    def __init__(
        self, *, call: object = _UNSET, all: object = None, divide: object = None, over: object = None,
        under: object = None, invalid: object = None,
    ) -> None:  # fmt: skip
        self._given = {"divide": divide, "over": over, "under": under, "invalid": invalid}
        self._all = all
        self._call = call if call is _UNSET else _check_call("errstate", call)
        _wanted("errstate", all, self._given)
        self._before: list[tuple[dict[str, str], Any]] = []

    def __enter__(self) -> errstate:
        self._before.append((_state.modes, _state.call))
        _set(_wanted("errstate", self._all, self._given))
        if self._call is not _UNSET:
            _state.call = self._call
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        modes, _state.call = self._before.pop()
        _set(modes)
