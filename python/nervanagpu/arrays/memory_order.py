"""Where the elements of a copy lie: NumPy's orders C (by rows), F (by columns), A and K (as those of the operand)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import choice


def wanted(function: str, order: object, among: str = "CFAK") -> str:
    """The order as a capital letter, None as C. ValueError for any other."""
    if order is None:
        return "C"
    return choice(function, "order", order.upper() if isinstance(order, str) else order, tuple(among))


def axes_by_step(x: Any) -> list[int]:
    """The axes of a tensor or an array from that of the largest step to that of the smallest."""
    return sorted(range(x.ndim), key=lambda a: (-abs(x.strides[a]), a))


def axes_walked(x: Any) -> list[int]:
    """The same as NumPy's iterators take them: an axis of step 0 says nothing about those beside it."""
    axes: list[int] = []  # from the smallest step on
    for axis in reversed(range(x.ndim)):
        place, step = len(axes), abs(x.strides[axis])
        for k in reversed(range(len(axes))):
            other = abs(x.strides[axes[k]])
            if step and other:
                if other <= step:
                    break
                place = k
        axes.insert(place, axis)
    return axes[::-1]


def axes_in(function: str, x: Any, order: Any) -> list[int] | None:
    """The axes of a copy of x from that of the largest step to that of the smallest; None: row by row."""
    letter = wanted(function, order)
    if letter == "C" or x.ndim < 2 or (letter != "F" and x.flags.c_contiguous):
        return None
    if letter == "F" or x.flags.f_contiguous:
        return list(range(x.ndim))[::-1]
    axes = None if letter == "A" else axes_by_step(x)
    return None if axes == list(range(x.ndim)) else axes


def lies(function: str, x: GPUTensor, order: object) -> bool:
    """Whether x itself lies so."""
    letter, flags = wanted(function, order), x.flags
    by = {"C": flags.c_contiguous, "F": flags.f_contiguous, "A": flags.c_contiguous or flags.f_contiguous, "K": True}
    return bool(by[letter])


def turned(made: GPUTensor, axes: Sequence[int]) -> GPUTensor:
    """A new tensor whose axes stand in the order `axes`, with them where they belong: no view, it has its memory."""
    _core.become(made, made.transpose(*(list(axes).index(a) for a in range(len(axes)))))
    return made
