"""The way into XLA: targets of its foreign function interface, calls of them, and what vmap makes of a call.

A workspace is a result that nobody looks at: XLA plans its memory as any other's, and a launch allocates nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from nervanagpu import _core

Numbers = Mapping[str, int | Sequence[int]]

_PREFIX = "nervanagpu_"
_Shape: Any = jax.ShapeDtypeStruct

for _name, _platform, _handler in _core.xla_targets():
    jax.ffi.register_ffi_target(_PREFIX + _name, _handler, platform=_platform)


def calls() -> dict[str, int]:
    """How often each operation has run in this process, by XLA's calls: {"gemm": 3, "conv": 0, ...}."""
    return _core.xla_calls()


def call(
    name: str,
    operands: Sequence[jax.Array],
    shapes: Sequence[Sequence[int]],
    numbers: Numbers,
    dtype: object = None,
) -> list[jax.Array]:
    """The results, of these shapes and the operands' or that dtype, of an operation with these attributes."""
    dtype = jnp.dtype(operands[0].dtype if dtype is None else dtype)
    given = [(x.shape, str(x.dtype)) for x in operands]
    wanted = [(tuple(shape), str(dtype)) for shape in shapes]
    values = {key: [value] if isinstance(value, int) else list(value) for key, value in numbers.items()}
    room = _core.xla_workspace(name, given, wanted, values)
    results: list[Any] = [_Shape(shape, dtype) for shape in shapes]
    if room >= 0:
        results.append(_Shape((room,), np.uint8))
    attributes = {
        key: np.int64(value) if isinstance(value, int) else np.asarray(value, np.int64)
        for key, value in numbers.items()
    }
    run = jax.ffi.ffi_call(_PREFIX + name, results, vmap_method="sequential")
    return _varying(list(run(*operands, **attributes))[: len(shapes)], _axes(operands))


def _varies(x: object) -> frozenset[str]:
    """The axes of a shard_map along which x differs from device to device."""
    kind = jax.typeof(x)
    marked = getattr(kind, "manual_axis_type", None)  # newer JAX has it there
    return getattr(kind, "vma", frozenset()) if marked is None else marked.varying


def _axes(arrays: object) -> frozenset[str]:
    """Those of any of the arrays."""
    return frozenset().union(*map(_varies, jax.tree.leaves(arrays)))


def _varying(arrays: T, axes: frozenset[str]) -> T:
    """The same arrays, all of which differ along these axes.

    JAX's own functions see to that, too: the gradient of what is the same on all devices is then summed over them.
    """
    if not axes:
        return arrays

    def vary(x: jax.Array) -> jax.Array:
        more = tuple(axes - _varies(x))
        return jax.lax.pcast(x, more, to="varying") if more else x

    return jax.tree.map(vary, arrays)


def call_one(name: str, operands: Sequence[jax.Array], shape: Sequence[int], numbers: Numbers) -> jax.Array:
    """The same for one result; zeros where an operand or the result has no elements."""
    if 0 in shape or any(x.size == 0 for x in operands):
        return jnp.zeros(shape, operands[0].dtype)
    return call(name, operands, [shape], numbers)[0]


def call_as(name: str, x: jax.Array, dtype: str, numbers: Numbers) -> jax.Array:
    """The same for a result of the shape of x, and of another dtype."""
    return call(name, [x], [x.shape], numbers, dtype)[0] if x.size else jnp.zeros(x.shape, dtype)


Run = Callable[..., Any]
T = TypeVar("T")


def batched_by(rule: Callable[..., tuple[Any, Any]]) -> Callable[[Run], Run]:
    """A function of a hashable configuration and arrays, whose vmap is `rule`.

    rule(config, size, batched, *operands) has the batch as the first axis of the operands that are `batched`. It
    returns the result and whether it is batched.
    """

    def decorate(function: Run) -> Run:
        @lru_cache(maxsize=4096)
        def made(config: object) -> Run:
            run = jax.custom_batching.custom_vmap(partial(function, config))
            run.def_vmap(partial(rule, config))
            return run

        def enter(config: object, *operands: object) -> object:
            return made(config)(*operands)

        return enter

    return decorate


def differentiable(function: Run, kept: Run, gradient: Run) -> Run:
    """function(config, *operands) with a gradient, as one compiled program for each config.

    kept(config, *operands) is the result, and what gradient(config, it, grad) makes the operands' gradients from.
    """
    with_gradient = jax.custom_vjp(function, nondiff_argnums=(0,))
    with_gradient.defvjp(kept, gradient)
    program = jax.jit(with_gradient, static_argnums=0, inline=True)

    def enter(config: object, *operands: object) -> object:
        return program(config, *_varying(operands, _axes(operands)))

    return enter


def one_by_one(function: Callable[..., T], batched: Sequence[Any], operands: Sequence[Any]) -> T:
    """function(*operands) of every element of the batch, one after the other."""
    moving = [x for x, b in zip(operands, batched, strict=True) if b]

    def step(parts: Sequence[Any]) -> T:
        rest = iter(parts)
        return function(*(next(rest) if b else x for x, b in zip(operands, batched, strict=True)))

    return jax.lax.map(step, moving)
