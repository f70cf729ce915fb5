"""What linear and convolution make of their sums before they store them, in XLA's operations, and its derivative."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp

from nervanagpu import _core

Array: TypeAlias = jax.Array
_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "none": lambda v: v,
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "gelu": partial(jax.nn.gelu, approximate=False),
    "gelu_tanh": partial(jax.nn.gelu, approximate=True),
    "silu": jax.nn.silu,
}
ACTIVATIONS = {name: i for i, name in enumerate(_core.ACTIVATIONS) if name in _FUNCTIONS}  # their numbers
_FROM_RESULT = ("relu", "tanh", "sigmoid")  # derivatives that the result tells; others want what stood before it


def activated(activation: str, x: Array) -> Array:
    """act(x) of float32."""
    return _FUNCTIONS[activation](x)


def kept(activation: str, y: Array) -> Array | None:
    """Of the result, what `through` reads."""
    return y if activation in _FROM_RESULT else None


def through(activation: str, grad: Array, y: Array | None, before: Callable[[], Array]) -> Array:
    """The gradient in front of the activation, of grad's dtype; before: makes what stood there, computed again."""
    if activation == "none":
        return grad
    wide = grad.astype(jnp.float32)
    if y is None:
        (out,) = jax.vjp(partial(activated, activation), before().astype(jnp.float32))[1](wide)
        return out.astype(grad.dtype)
    y = y.astype(jnp.float32)
    slope = {"relu": y > 0, "tanh": 1 - y * y, "sigmoid": y * (1 - y)}[activation]
    return (jnp.where(slope, wide, 0) if activation == "relu" else wide * slope).astype(grad.dtype)
