"""The table of public functions: a function enters it where it is written, and nowhere else.

    @public("concat", method=True)
    def concatenate(...): ...

From it come the names of the package, of nervanagpu.linalg and nervanagpu.fft, `__all__`, the methods of GPUTensor and
what NumPy's protocols find. tools/write_stubs.py makes the stubs (`__init__.pyi`) and docs/functions.md of it.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from nervanagpu.calls.arguments import AxisError
from nervanagpu.calls.placement import placed

F = TypeVar("F", bound=Callable[..., Any])


class Row(NamedTuple):
    """A public function."""

    name: str
    function: Callable[..., Any]
    aliases: tuple[str, ...]
    methods: tuple[str, ...]  # names of the members of GPUTensor that it is
    space: str  # "", "linalg" or "fft"
    numpy: tuple[str, ...]  # names of the functions of NumPy, in the namespace of that name, that it stands for

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


TABLE: list[Row] = []


_RENAMED = (TypeError, ValueError, IndexError, OverflowError, AxisError)


def _named(function: F) -> F:
    """`function`; its errors name it, and not the public functions that it is made of."""
    own = function.__name__

    @functools.wraps(function)
    def call(*args: object, **named: object) -> object:
        try:
            return function(*args, **named)
        except _RENAMED as error:
            name, colon, rest = str(error).partition(": ")
            if type(error) not in _RENAMED or name == own or not colon or name not in _all_names():
                raise
            raise type(error)(f"{own}: {rest}").with_traceback(error.__traceback__) from None

    return call  # type: ignore[return-value]


@functools.cache
def _all_names() -> frozenset[str]:
    return frozenset(name for row in TABLE for name in row.names)


def public(
    *aliases: str, method: bool | str = False, space: str = "", numpy: bool | str = True, composed: bool = False
) -> Callable[[F], F]:
    """Enters a function under its name and `aliases`.

    method: whether it is a method of tensors, which become its first argument; or the names that it has as one.
    space: the namespace below nervanagpu. numpy: whether NumPy's functions of these names may be given tensors and call
    it; or their names. composed: it hands arguments on to other public functions; errors of theirs get its name.
    """

    def enter(function: F) -> F:
        function = placed(_named(function) if composed else function)
        names = (function.__name__, *aliases)
        methods = tuple(method.split()) if isinstance(method, str) else names if method else ()
        theirs = tuple(numpy.split()) if isinstance(numpy, str) else names if numpy else ()
        TABLE.append(Row(names[0], function, aliases, methods, space, theirs))
        return function

    return enter


def _rows(space: str) -> list[Row]:
    if space == "fft":  # is imported when it is asked for, and enters its functions then
        importlib.import_module("nervanagpu.fft")
    return [row for row in TABLE if row.space == space]


def of_space(space: str = "") -> dict[str, Callable[..., Any]]:
    """The functions of a namespace by name."""
    return {name: row.function for row in _rows(space) for name in row.names}


def of_numpy(*spaces: str) -> dict[Any, Callable[..., Any]]:
    """NumPy's functions and ufuncs in these namespaces ("" is its own), and what stands for each."""
    found = {}
    for space in spaces:
        theirs = getattr(np, space) if space else np
        for row in _rows(space):
            found.update({getattr(theirs, n): row.function for n in row.numpy if hasattr(theirs, n)})
    return found
