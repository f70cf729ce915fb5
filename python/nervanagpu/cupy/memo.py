"""Results that are kept by their arguments: cupy.memoize and cupy.clear_memo."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any, ParamSpec, TypeVar

from nervanagpu import _core
from nervanagpu.calls.arguments import flag

__all__ = ["clear_memo", "memoize"]

P = ParamSpec("P")
T = TypeVar("T")
_memos: list[dict[Hashable, Any]] = []  # of every memoized function


def memoize(for_each_device: bool = False) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A decorator: for equal arguments, which must be hashable, a function is called once, or once on each device."""
    apart = flag("memoize", "for_each_device", for_each_device)

    def decorator(f: Callable[P, T]) -> Callable[P, T]:
        memo: dict[Hashable, T] = {}
        _memos.append(memo)

        @functools.wraps(f)
        def call(*args: P.args, **more: P.kwargs) -> T:
            key = (_core.get_device() if apart else None, args, frozenset(more.items()))
            if key not in memo:
                memo[key] = f(*args, **more)
            return memo[key]

        return call

    return decorator


def clear_memo() -> None:
    """Forgets what every memoized function gave."""
    for memo in _memos:
        memo.clear()
