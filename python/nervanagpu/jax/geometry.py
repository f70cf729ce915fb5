"""Windows over one to three spatial axes: layouts, lengths, padding."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from nervanagpu.calls.arguments import choice, integer, is_integer, shown

Ints = int | Sequence[int]
Padding = int | str | Sequence[int | tuple[int, int]]
Triple = tuple[int, int, int]
Pairs = list[tuple[int, int]]

LAYOUTS = {
    1: ("NWC", "CWN", "NCW"),
    2: ("NHWC", "CHWN", "NCHW"),
    3: ("NDHWC", "CDHWN", "NCDHW"),
}  # by ng_layout


def layout_of(function: str, axes: int, name: str) -> int:
    """An ng_layout."""
    return LAYOUTS[axes].index(choice(function, "layout", name, LAYOUTS[axes]))


def outer(layout: int, axes: int) -> int:
    """The axis of N in x and y, and of K in w."""
    return axes + 1 if layout == 1 else 0


def inner(layout: int, axes: int) -> int:
    """The axis of C in x, of C / groups in w, and of K in y."""
    return (axes + 1, 0, 1)[layout]


def space(layout: int, axes: int) -> slice:
    """The spatial axes."""
    first = 2 if layout == 2 else 1
    return slice(first, first + axes)


def shape_of(layout: int, n: int, c: int, lengths: Sequence[int]) -> tuple[int, ...]:
    """(n, c, lengths) in the order of the layout."""
    return ((n, *lengths, c), (c, *lengths, n), (n, c, *lengths))[layout]


def each(function: str, name: str, value: object, axes: int, low: int) -> list[int]:
    """One integer for each axis, each of them `low` or more."""
    if is_integer(value):
        return [integer(function, name, value, low)] * axes
    items = list(value) if isinstance(value, list | tuple) else None
    if items is None:
        raise TypeError(f"{function}: {name} is {shown(value)}; needs an integer or a sequence of {axes}")
    if len(items) != axes:
        raise ValueError(f"{function}: {name} has {len(items)} numbers; needs 1 or {axes}")
    return [integer(function, f"{name}[{i}]", item, low) for i, item in enumerate(items)]


def triple(numbers: Sequence[int], fill: int) -> Triple:
    """(depth, height, width), with `fill` for axes that are not there."""
    three = [fill] * (3 - len(numbers)) + list(numbers)
    return three[0], three[1], three[2]


def reaches(window: Sequence[int], dilation: Sequence[int]) -> list[int]:
    """How far a window reaches along each axis."""
    return [d * (k - 1) + 1 for k, d in zip(window, dilation, strict=True)]


def pairs(function: str, padding: object, lengths: Sequence[int], reach: Sequence[int], stride: Sequence[int]) -> Pairs:
    """Padding before and after each axis: from an int, one or two each, or "SAME" and "VALID", as jax.lax has them."""
    axes = len(lengths)
    if isinstance(padding, str):
        if choice(function, "padding", padding, ("SAME", "VALID")) == "VALID":
            return [(0, 0)] * axes
        more = [max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in zip(lengths, reach, stride, strict=True)]
        return [(m // 2, m - m // 2) for m in more]
    if isinstance(padding, list | tuple) and any(isinstance(p, list | tuple) for p in padding):
        if len(padding) != axes:
            raise ValueError(f"{function}: padding has {len(padding)} pairs; needs {axes}")
        both = [each(function, f"padding[{i}]", p, 2, 0) for i, p in enumerate(padding)]
        return [(p[0], p[1]) for p in both]
    return [(p, p) for p in each(function, "padding", padding, axes, 0)]


def evened(x: jax.Array, padding: Pairs, layout: int, value: float) -> tuple[jax.Array, list[int]]:
    """x with what is padded on one side alone, and the padding of both sides that is left."""
    even = [min(p) for p in padding]
    if all(p[0] == p[1] for p in padding):
        return x, even
    widths = [(0, 0)] * x.ndim
    widths[space(layout, len(padding))] = [(b - e, a - e) for (b, a), e in zip(padding, even, strict=True)]
    return jnp.pad(x, widths, constant_values=value), even


def results(
    function: str, lengths: Sequence[int], reach: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> list[int]:
    """Lengths of the result. ValueError where there is no room for a window."""
    out = [(n + 2 * p - k) // s + 1 for n, k, s, p in zip(lengths, reach, stride, padding, strict=True)]
    if min(out) < 1:
        raise ValueError(f"{function}: {tuple(lengths)} elements are less than a window, which reaches {tuple(reach)}")
    return out


def folded(x: jax.Array, axis: int) -> jax.Array:
    """The batch of a vmap, the first axis, laid into that axis (counted without it)."""
    moved = jnp.moveaxis(x, 0, axis)
    both = moved.shape[axis] * moved.shape[axis + 1]
    return moved.reshape(*moved.shape[:axis], both, *moved.shape[axis + 2 :])


def unfolded(x: jax.Array, axis: int, size: int) -> jax.Array:
    """The way back."""
    rest = x.shape[axis] // max(size, 1)
    return jnp.moveaxis(x.reshape(*x.shape[:axis], size, rest, *x.shape[axis + 1 :]), axis, 0)
