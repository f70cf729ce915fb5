"""Products of matrices: of a batch, with bias and activation, and in groups."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from nervanagpu.calls.arguments import choice, flag, iterable
from nervanagpu.jax import checks
from nervanagpu.jax.activations import ACTIVATIONS, activated, kept, through
from nervanagpu.jax.calls import Numbers, batched_by, call, call_one, differentiable

Array: TypeAlias = jax.Array


class Product(NamedTuple):
    """Of a (batch, m, k) and b (batch, k, n), or transposed; a batch of 1 is the same for all."""

    transpose_a: bool
    transpose_b: bool
    precision: int
    sum_batch: bool = False  # the result is one matrix, the sum of all products


def _numbers(config: Product, activation: str = "none") -> Numbers:
    return {name: int(value) for name, value in config._asdict().items()} | {"activation": ACTIVATIONS[activation]}


def _shape(config: Product, a: Array, b: Array) -> tuple[int, int, int]:
    batch = 1 if config.sum_batch else max(a.shape[0], b.shape[0])
    return batch, a.shape[2 if config.transpose_a else 1], b.shape[1 if config.transpose_b else 2]


def _as_batch(size: int, batched: Sequence[bool], a: Array, b: Array) -> tuple[Array, Array, int]:
    """Operands of a vmap as operands of one product, and the batch that each had itself."""
    own = max(x.shape[1] if with_batch else x.shape[0] for x, with_batch in zip((a, b), batched, strict=True))
    out = []
    for x, with_batch in zip((a, b), batched, strict=True):
        if not with_batch and x.shape[0] == 1:
            out.append(x)
            continue
        x = x if with_batch else x[None]
        out.append(jnp.broadcast_to(x, (size, own, *x.shape[2:])).reshape(size * own, *x.shape[2:]))
    return out[0], out[1], own


def _long_k(size: int, batched: bool, x: Array, along_rows: bool) -> Array:
    """(size, batch, rows, columns) with the batch laid into the axis that is summed over."""
    x = x if batched else jnp.broadcast_to(x, (size, *x.shape))
    if not along_rows:
        x = x.swapaxes(1, 2)
        return x.reshape(size, x.shape[1], x.shape[2] * x.shape[3])
    return x.reshape(size, x.shape[1] * x.shape[2], x.shape[3])


def _gemm_of_batch(config: Product, size: int, batched: Sequence[bool], a: Array, b: Array) -> tuple[Array, bool]:
    if config.sum_batch:
        long_a = _long_k(size, batched[0], a, config.transpose_a)
        long_b = _long_k(size, batched[1], b, not config.transpose_b)
        return _gemm(config._replace(sum_batch=False), long_a, long_b)[:, None], True
    a, b, own = _as_batch(size, batched, a, b)
    y = _gemm(config, a, b)
    return y.reshape(size, own, *y.shape[1:]), True


@batched_by(_gemm_of_batch)
def _gemm(config: Product, a: Array, b: Array) -> Array:
    shape = _shape(config, a, b)
    if b.shape[0] == 1 < a.shape[0] and not config.transpose_a and not config.sum_batch:
        a = a.reshape(1, a.shape[0] * a.shape[1], a.shape[2])  # one product of many rows
        return call_one("gemm", [a, b], (1, *a.shape[1:2], shape[2]), _numbers(config)).reshape(shape)
    return call_one("gemm", [a, b], shape, _numbers(config))


def _product_kept(config: Product, a: Array, b: Array) -> tuple[Array, tuple[Array, Array]]:
    return product(config, a, b), (a, b)


def _product_gradient(config: Product, kept: tuple[Array, Array], grad: Array) -> tuple[Array, Array]:
    a, b = kept
    ta, tb, batch = config.transpose_a, config.transpose_b, max(a.shape[0], b.shape[0])
    of_a = Product(False, not tb, config.precision, a.shape[0] < batch)
    of_b = Product(not ta, False, config.precision, b.shape[0] < batch)
    da = product(of_a._replace(transpose_a=tb, transpose_b=True), b, grad) if ta else product(of_a, grad, b)
    db = product(of_b._replace(transpose_a=True, transpose_b=ta), grad, a) if tb else product(of_b, a, grad)
    return da, db


product = differentiable(_gemm, _product_kept, _product_gradient)  # of config: (batch, m, n)


def matmul(
    a: Array, b: Array, *, transpose_a: bool = False, transpose_b: bool = False, precision: str | None = None
) -> Array:
    """a @ b as jax.numpy.matmul has it: axes before the last two are a batch, which is broadcast.

    transpose_a, transpose_b: the last two axes of an operand are swapped, which costs nothing. precision: of float32,
    "strict" or "tensor"; None: what nervanagpu.precision has set. TypeError for dtypes, ValueError for shapes.
    """
    checks.operands("matmul", a=a, b=b)
    if min(a.ndim, b.ndim) == 0:
        raise ValueError(f"matmul: a is {a.shape} and b {b.shape}; needs one axis or more")
    config = Product(
        flag("matmul", "transpose_a", transpose_a) and a.ndim > 1,
        flag("matmul", "transpose_b", transpose_b) and b.ndim > 1,
        checks.precision("matmul", precision),
    )
    x = a if a.ndim > 1 else a[None]
    y = b if b.ndim > 1 else b[:, None]
    rows, inner = x.shape[-2:][:: -1 if config.transpose_a else 1]
    other, columns = y.shape[-2:][:: -1 if config.transpose_b else 1]
    if inner != other:
        raise ValueError(f"matmul: a {a.shape} and b {b.shape} cannot be multiplied: {inner} is not {other}")
    try:
        batch = jnp.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        raise ValueError(f"matmul: the batches of a {a.shape} and b {b.shape} cannot be broadcast") from None
    if prod(y.shape[:-2]) == 1 and not config.transpose_a:
        x = jnp.broadcast_to(x, (*batch, rows, inner)).reshape(1, prod(batch) * rows, inner)
        y = y.reshape(1, *y.shape[-2:])
    else:
        x, y = (
            t.reshape(1, *t.shape[-2:])
            if prod(t.shape[:-2]) == 1
            else jnp.broadcast_to(t, (*batch, *t.shape[-2:])).reshape(prod(batch), *t.shape[-2:])
            for t in (x, y)
        )
    shape = (*batch, *((rows,) if a.ndim > 1 else ()), *((columns,) if b.ndim > 1 else ()))
    return product(config, x, y).reshape(shape)


# --- act(x @ w + bias) ------------------------------------------------------------------------------------------------


class Linear(NamedTuple):
    activation: str
    precision: int


def _layer_of_batch(config: Linear, size: int, batched: Sequence[Any], *operands: Any) -> tuple[Array, bool]:
    x, w, bias = operands
    if not batched[1] and not batched[2]:
        y = _layer(config, x.reshape(size * x.shape[1], x.shape[2]), w, bias)
        return y.reshape(size, x.shape[1], y.shape[1]), True
    x, w = (t if b else t[None] for t, b in zip((x, w), batched, strict=False))
    y = _gemm(Product(False, False, config.precision), x, w).astype(jnp.float32)
    if bias is not None:
        y = y + (bias[:, None] if batched[2] else bias)
    y = activated(config.activation, y).astype(w.dtype)
    return jnp.broadcast_to(y, (size, *y.shape[1:])), True


@batched_by(_layer_of_batch)
def _layer(config: Linear, x: Array, w: Array, bias: Array | None) -> Array:
    shape = (1, x.shape[0], w.shape[1])
    numbers = _numbers(Product(False, False, config.precision), config.activation)
    if 0 in shape or x.shape[1] == 0:
        y = jnp.zeros(shape[1:], jnp.float32) + (0 if bias is None else bias)
        return activated(config.activation, y).astype(x.dtype)
    more = [] if bias is None else [bias]
    return call("gemm", [x[None], w[None], *more], [shape], numbers)[0][0]


def _linear_kept(config: Linear, x: Array, w: Array, bias: Array | None) -> tuple[Array, Any]:
    y = _linear(config, x, w, bias)
    return y, (x, w, bias, kept(config.activation, y))


def _linear_gradient(config: Linear, saved: Any, grad: Array) -> tuple[Array, Array, Array | None]:
    x, w, bias, y = saved
    plain = config._replace(activation="none")
    grad = through(config.activation, grad, y, lambda: _linear(plain, x, w, bias))
    dx = product(Product(False, True, config.precision), grad[None], w[None])[0]
    dw = product(Product(True, False, config.precision), x[None], grad[None])[0]
    return dx, dw, None if bias is None else grad.astype(jnp.float32).sum(0).astype(bias.dtype)


_linear = differentiable(_layer, _linear_kept, _linear_gradient)


def linear(
    x: Array, w: Array, bias: Array | None = None, *, activation: str = "none", precision: str | None = None
) -> Array:
    """act(x @ w + bias), one kernel: x (..., in), w (in, out), bias (out,); the result is (..., out).

    activation: one of products that has neither bounds nor a mask (docs/gemm.md). precision: as in matmul. TypeError
    for dtypes, ValueError for shapes.
    """
    checks.operands("linear", x=x, w=w, bias=bias)
    checks.axes("linear", "w", w, 2)
    if x.ndim == 0 or x.shape[-1] != w.shape[0]:
        raise ValueError(f"linear: x is {x.shape}; needs (..., {w.shape[0]}), as w is {w.shape}")
    if bias is not None and bias.shape != w.shape[1:]:
        raise ValueError(f"linear: bias is {bias.shape}; needs {w.shape[1:]}")
    config = Linear(choice("linear", "activation", activation, ACTIVATIONS), checks.precision("linear", precision))
    rows = x.reshape(prod(x.shape[:-1]), x.shape[-1])
    return _linear(config, rows, w, bias).reshape(*x.shape[:-1], w.shape[1])


# --- groups -----------------------------------------------------------------------------------------------------------


def _group_of_batch(
    config: Product, size: int, batched: Any, a: list[Array], b: list[Array]
) -> tuple[list[Array], list[bool]]:
    which = list(zip(*batched, strict=True))
    rows = [_as_batch(size, both, x, y) if any(both) else (x, y, 0) for both, x, y in zip(which, a, b, strict=True)]
    y = _group(config, [r[0] for r in rows], [r[1] for r in rows])
    out = [t.reshape(size, r[2], *t.shape[1:]) if r[2] else t for t, r in zip(y, rows, strict=True)]
    return out, [any(both) for both in which]


@batched_by(_group_of_batch)
def _group(config: Product, a: list[Array], b: list[Array]) -> list[Array]:
    shapes = [_shape(config, x, y) for x, y in zip(a, b, strict=True)]
    out = [jnp.zeros(shape, x.dtype) for shape, x in zip(shapes, a, strict=True)]
    some = [i for i, shape in enumerate(shapes) if 0 not in shape and a[i].size and b[i].size]
    if some:
        operands = [a[i] for i in some] + [b[i] for i in some]
        for i, y in zip(some, call("gemm_grouped", operands, [shapes[i] for i in some], _numbers(config)), strict=True):
            out[i] = y
    return out


def _grouped_kept(config: Product, a: list[Array], b: list[Array]) -> tuple[list[Array], Any]:
    return _grouped(config, a, b), (a, b)


def _grouped_gradient(config: Product, kept: Any, grads: list[Array]) -> tuple[list[Array], list[Array]]:
    a, b = kept
    da = _grouped(config._replace(transpose_b=True), grads, b)
    return da, _grouped(config._replace(transpose_a=True), a, grads)


# Of the two gradients' operands one is transposed, so theirs are not of this form: they are made of single products.
def _grouped_second(config: Product, kept: Any, grads: list[Array]) -> tuple[list[Array], list[Array]]:
    pairs = [_product_gradient(config, (x, y), g) for x, y, g in zip(*kept, grads, strict=True)]
    return [p[0] for p in pairs], [p[1] for p in pairs]


def _grouped_rule(config: Product, kept: object, grads: list[Array]) -> tuple[list[Array], list[Array]]:
    plain = not config.transpose_a and not config.transpose_b
    return (_grouped_gradient if plain else _grouped_second)(config, kept, grads)


_grouped = differentiable(_group, _grouped_kept, _grouped_rule)


def grouped_matmul(a: Sequence[Array], b: Sequence[Array], *, precision: str | None = None) -> list[Array]:
    """a[i] @ b[i] of matrices of any shapes, together: products of one form are one launch.

    precision: as in matmul. TypeError for dtypes, ValueError for shapes.
    """
    left, right = iterable("grouped_matmul", "a", a), iterable("grouped_matmul", "b", b)
    if len(left) != len(right):
        raise ValueError(f"grouped_matmul: a has {len(left)} matrices and b {len(right)}; needs as many")
    named = {f"{name}[{i}]": x for name, all_of in (("a", left), ("b", right)) for i, x in enumerate(all_of)}
    checks.operands("grouped_matmul", **named)
    for name, x in named.items():
        checks.axes("grouped_matmul", name, x, 2)
    for i, (x, y) in enumerate(zip(left, right, strict=True)):
        if x.shape[1] != y.shape[0]:
            raise ValueError(f"grouped_matmul: a[{i}] {x.shape} and b[{i}] {y.shape} cannot be multiplied")
    if not left:
        return []
    config = Product(False, False, checks.precision("grouped_matmul", precision))
    return [y[0] for y in _grouped(config, [x[None] for x in left], [y[None] for y in right])]
