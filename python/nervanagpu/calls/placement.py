"""Where functions written in Python run: on the device of their tensors, whatever the current one is.

`placed` is the gate. It stands before every public function where there may be several devices, and nowhere else: with
one device, functions are as they were written. What a function makes on its way is then on that device, too.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from nervanagpu import _core
from nervanagpu._core import GPUTensor

F = TypeVar("F", bound=Callable[..., Any])

_SPACES = ("", ".math.elementwise", ".linalg", ".random")  # those imported later call place() themselves
SEVERAL = _core.other_devices_possible()

# These take tensors of several devices: they move elements, compute each where it is, or ask for no elements.
_OF_SEVERAL = set(
    "copyto copy_from to to_device array asarray asanyarray ascontiguousarray evaluate save savez savez_compressed "
    "shares_memory may_share_memory result_type can_cast broadcast_shapes".split()
)


def _tensors(values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, GPUTensor]]:
    for name, value in values:
        if isinstance(value, GPUTensor):
            yield name, value
        elif type(value) in (list, tuple) and len(value) <= 1024:
            yield from _tensors((f"{name}[{i}]", v) for i, v in enumerate(value))


def _names(function: Callable[..., Any], count: int) -> list[str]:
    """What the arguments without a name are called."""
    names: list[str] = []
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            names += [f"{p.name}[{i}]" for i in range(count - len(names))]
        names.append(p.name)
    return names


def _device_of(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> int:
    """That of the tensors among the arguments; -1: there are none. ValueError if they have several."""
    found, first = -1, ""
    operation = function.__name__.lstrip("_")
    for name, tensor in _tensors([*((str(i), a) for i, a in enumerate(args)), *named.items()]):
        device = _core.tensor_device(tensor)
        if found < 0:
            found, first = device, name
            if operation in _OF_SEVERAL:
                break
        elif device != found:
            a, b = (_shown(function, n, len(args)) for n in (first, name))
            raise ValueError(f"{operation}: {a} is on device {found}, {b} on device {device}; needs one device")
    return found


def _shown(function: Callable[..., Any], name: str, count: int) -> str:
    """The name of an argument that came as the n-th."""
    number, bracket, rest = name.partition("[")
    return _names(function, count)[int(number)] + bracket + rest if number.isdigit() else name


def placed(function: F) -> F:
    """`function`, run on the device that its argument `device` or its tensors say."""
    if not SEVERAL or not isinstance(function, types.FunctionType) or hasattr(function, "_placed"):
        return function

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> object:
        device = named.get("device")
        if device is not None:
            there = _core.ordinal_of(device)
        elif _core.other_devices_used():
            there = _device_of(function, args, named)
        else:
            return function(*args, **named)
        before = _core.get_device()
        if there in (-1, before):
            return function(*args, **named)
        _core.set_device(there)
        try:
            return function(*args, **named)
        finally:
            _core.set_device(before)

    call._placed = True  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def per_device(maxsize: int | None = None) -> Callable[[F], F]:
    """functools.lru_cache for what lies on a device: each has its own."""

    def decorate(make: F) -> F:
        @functools.lru_cache(maxsize)
        def kept(_device: int, *args: object) -> object:
            return make(*args)

        @functools.wraps(make)
        def find(*args: object) -> object:
            return kept(_core.get_device(), *args)

        return find  # type: ignore[return-value]

    return decorate


def place(shown: dict[str, Any]) -> None:
    """Puts the gate before the functions that a module shows: `place(globals())` at its end."""
    if not SEVERAL:
        return
    for name, value in list(shown.items()):
        if not name.startswith("_") and str(getattr(value, "__module__", "")).startswith("nervanagpu"):
            shown[name] = placed(value)


def install() -> None:
    """Puts the gate before what the package shows: functions of its modules, methods and properties of GPUTensor."""
    if not SEVERAL:
        return
    for space in _SPACES:
        place(vars(sys.modules[f"nervanagpu{space}"]))
    for name, value in list(vars(GPUTensor).items()):
        if isinstance(value, types.FunctionType):
            setattr(GPUTensor, name, placed(value))
        elif isinstance(value, property) and isinstance(value.fget, types.FunctionType):
            setattr(GPUTensor, name, property(placed(value.fget), value.fset and placed(value.fset), doc=value.__doc__))
