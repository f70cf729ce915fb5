"""CuPy's fuse. Expressions fuse without it: a function of them becomes as few kernels as it can in any case."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, overload

from nervanagpu.calls.arguments import shown

F = TypeVar("F", bound=Callable[..., Any])


@overload
def fuse(function: F, /, *, kernel_name: str | None = None) -> F: ...


@overload
def fuse(*, kernel_name: str | None = None) -> Callable[[F], F]: ...


def fuse(*args: object, kernel_name: str | None = None) -> object:
    """A decorator, `@fuse` or `@fuse()` or `@fuse(kernel_name="name")`: calls the function, whose result is lazy.

    The kernels are made when elements are wanted, one for the whole function where there can be one. Of NumPy's arrays
    the function is NumPy's. TypeError for what is no function.
    """
    if len(args) > 1:
        raise TypeError(f"fuse: there are {len(args)} arguments; needs a function, or none")
    if args:
        return _fused(args[0], kernel_name)
    return lambda function: _fused(function, kernel_name)


def _fused(function: object, kernel_name: str | None) -> Callable[..., object]:
    if not callable(function):
        raise TypeError(f"fuse: function is {shown(function)}; needs a function")

    @functools.wraps(function)
    def call(*args: object, **more: object) -> object:
        return function(*args, **more)

    made: Any = call
    made.kernel_name = kernel_name or getattr(function, "__name__", "fused")
    made.clear_cache = lambda: None  # kernels belong to the library's cache: ng.set_kernel_cache
    return call
