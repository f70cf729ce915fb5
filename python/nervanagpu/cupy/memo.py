"""Results that are kept by their arguments: cupy.memoize and cupy.clear_memo."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any

from nervanagpu import _core
from nervanagpu.arguments import flag

__all__ = ["clear_memo", "memoize"]

_memos: list[dict[Hashable, Any]] = []  # of every memoized function


def memoize(for_each_device: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: for equal arguments, which must be hashable, a function is called once, or once on each device."""
    apart = flag("memoize", "for_each_device", for_each_device)

    def decorator(f: Callable[..., Any]) -> Callable[..., Any]:
        memo: dict[Hashable, Any] = {}
        _memos.append(memo)

        @functools.wraps(f)
        def call(*args: object, **more: object) -> Any:
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
