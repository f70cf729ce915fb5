"""Pooling over one to three spatial axes: the largest, the mean or the root of the sum of squares of windows.

Layouts are the library's: "NHWC", "CHWN", "NCHW" for two axes, with D for three, without H for one.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from nervanagpu.calls.arguments import flag
from nervanagpu.jax import checks, geometry
from nervanagpu.jax.calls import batched_by, call_one, differentiable
from nervanagpu.jax.geometry import Ints, Padding, Triple

Array: TypeAlias = jax.Array
OPS = ("max", "avg", "l2")  # an ng_pool_op each


class Pool(NamedTuple):
    op: int
    window: Triple
    stride: Triple
    padding: Triple
    layout: int
    count_padding: bool
    lengths: tuple[int, ...]  # of the result's spatial axes

    def shape(self, x: Array) -> tuple[int, ...]:
        """Of the result."""
        shape = list(x.shape)
        shape[geometry.space(self.layout, x.ndim - 2)] = self.lengths
        return tuple(shape)


def _numbers(config: Pool) -> dict[str, Any]:
    names = ("op", "window", "stride", "padding", "layout")
    return {name: getattr(config, name) for name in names} | {"count_padding": int(config.count_padding)}


def _pool_of_batch(config: Pool, size: int, batched: object, x: Array) -> tuple[Array, bool]:
    axis = geometry.outer(config.layout, len(config.lengths))
    return geometry.unfolded(_pool(config, geometry.folded(x, axis)), axis, size), True


@batched_by(_pool_of_batch)
def _pool(config: Pool, x: Array) -> Array:
    return call_one("pool", [x], config.shape(x), _numbers(config))


def _gradient_of_batch(config: Pool, size: int, batched: Any, dy: Array, x: Array) -> tuple[Array, bool]:
    axis = geometry.outer(config.layout, len(config.lengths))
    both = [
        geometry.folded(t if b else jnp.broadcast_to(t, (size, *t.shape)), axis)
        for t, b in zip((dy, x), batched, strict=True)
    ]
    return geometry.unfolded(_pool_gradient(config, *both), axis, size), True


@batched_by(_gradient_of_batch)
def _pool_gradient(config: Pool, dy: Array, x: Array) -> Array:
    return call_one("pool_gradient", [dy, x], x.shape, _numbers(config))


def _pooled_kept(config: Pool, x: Array) -> tuple[Array, Array]:
    return _pooled(config, x), x


def _pooled_gradient(config: Pool, x: Array, grad: Array) -> tuple[Array]:
    return (_back(config, grad, x),)


def _back_kept(config: Pool, dy: Array, x: Array) -> tuple[Array, Array]:
    return _back(config, dy, x), x


def _back_gradient(config: Pool, x: Array, grad: Array) -> tuple[Array, Array]:
    if OPS[config.op] != "avg":
        raise NotImplementedError(f"nervanagpu.jax: the second gradient of {OPS[config.op]} pooling")
    return _pooled(config, grad), jnp.zeros_like(x)  # a mean's gradient reads no element of x


_pooled = differentiable(_pool, _pooled_kept, _pooled_gradient)
_back = differentiable(_pool_gradient, _back_kept, _back_gradient)


def _pooling(
    op: str, axes: int, x: Array, window: Ints, stride: Ints | None, padding: Padding, layout: str,
    count_padding: bool = False,
) -> Array:  # fmt: skip
    function = f"{op}_pool{axes}d"
    checks.operands(function, x=x)
    checks.axes(function, "x", x, axes + 2)
    code = geometry.layout_of(function, axes, layout)
    space = geometry.space(code, axes)
    size = geometry.each(function, "window", window, axes, 1)
    step = size if stride is None else geometry.each(function, "stride", stride, axes, 1)
    given = geometry.pairs(function, padding, x.shape[space], size, step)
    if any(before != after for before, after in given) and op == "avg":
        raise ValueError(f"{function}: padding is {given}; needs as much before as after, as it may not be counted")
    x, pad = geometry.evened(x, given, code, -jnp.inf if op == "max" else 0)
    if any(p >= k for p, k in zip(pad, size, strict=True)):
        raise ValueError(f"{function}: padding is {tuple(pad)}; needs less than the window {tuple(size)}")
    lengths = geometry.results(function, x.shape[space], size, step, pad)
    count = flag(function, "count_padding", count_padding)
    triples = geometry.triple(size, 1), geometry.triple(step, 1), geometry.triple(pad, 0)
    return _pooled(Pool(OPS.index(op), *triples, code, count, tuple(lengths)), x)


def max_pool1d(x: Array, window: Ints, stride: Ints | None = None, padding: Padding = 0, layout: str = "NWC") -> Array:
    """The largest element of each window; NaN wins, and padding takes no part. Its gradient goes to the first.

    window, stride, padding: a number, or one for each axis; stride None is the window. padding may be pairs (before,
    after), "SAME" or "VALID", and is less than the window. TypeError for dtypes, ValueError for shapes.
    """
    return _pooling("max", 1, x, window, stride, padding, layout)


def max_pool2d(x: Array, window: Ints, stride: Ints | None = None, padding: Padding = 0, layout: str = "NHWC") -> Array:
    """As max_pool1d, over 2 axes."""
    return _pooling("max", 2, x, window, stride, padding, layout)


def max_pool3d(
    x: Array, window: Ints, stride: Ints | None = None, padding: Padding = 0, layout: str = "NDHWC"
) -> Array:
    """As max_pool1d, over 3 axes."""
    return _pooling("max", 3, x, window, stride, padding, layout)


def avg_pool1d(
    x: Array, window: Ints, stride: Ints | None = None, padding: Padding = 0, layout: str = "NWC", *,
    count_padding: bool = False,
) -> Array:  # fmt: skip
    """The mean of each window; count_padding: padding counts as zeros, else the mean is of what lies inside.

    Arguments and errors: as max_pool1d, but padding is as much before as after.
    """
    return _pooling("avg", 1, x, window, stride, padding, layout, count_padding)


def avg_pool2d(
    x: Array, window: Ints, stride: Ints | None = None, padding: Padding = 0, layout: str = "NHWC", *,
    count_padding: bool = False,
) -> Array:  # fmt: skip
    """As avg_pool1d, over 2 axes."""
    return _pooling("avg", 2, x, window, stride, padding, layout, count_padding)


def avg_pool3d(
    x: Array, window: Ints, stride: Ints | None = None, padding: Padding = 0, layout: str = "NDHWC", *,
    count_padding: bool = False,
) -> Array:  # fmt: skip
    """As avg_pool1d, over 3 axes."""
    return _pooling("avg", 3, x, window, stride, padding, layout, count_padding)


def l2_pool1d(x: Array, window: Ints, stride: Ints | None = None, padding: Padding = 0, layout: str = "NWC") -> Array:
    """sqrt(sum of squares) of each window; its gradient is dy x / y, and 0 where y is 0.

    Arguments and errors: as max_pool1d.
    """
    return _pooling("l2", 1, x, window, stride, padding, layout)


def l2_pool2d(x: Array, window: Ints, stride: Ints | None = None, padding: Padding = 0, layout: str = "NHWC") -> Array:
    """As l2_pool1d, over 2 axes."""
    return _pooling("l2", 2, x, window, stride, padding, layout)


def l2_pool3d(x: Array, window: Ints, stride: Ints | None = None, padding: Padding = 0, layout: str = "NDHWC") -> Array:
    """As l2_pool1d, over 3 axes."""
    return _pooling("l2", 3, x, window, stride, padding, layout)
