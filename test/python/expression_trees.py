"""Random expressions and the same in NumPy: operations that both do exactly, so that every bit can be compared.

Operands of all dtypes but 16-bit floats (which NumPy rounds after every operation) are broadcast, transposed, sliced,
reversed and picked by index arrays; numbers are weak; integers wrap; reductions are those that have one right result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
from hypothesis import note
from hypothesis import strategies as st
from nervanagpu import _core

Array = np.ndarray[Any, Any]
Pair = tuple[Any, Any, str]  # ours, NumPy's, and how it was made

SHAPES: list[tuple[int, ...]] = [
    (), (1,), (7,), (0, 3), (3, 5), (4, 1, 6), (2, 3, 8), (65, 9), (300,), (1, 40), (16, 16), (3, 1, 130), (2, 2, 2, 3)
]  # fmt: skip
DTYPES = "float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()
FAMILIES = [["float32"], ["float64"], ["float32", "float64", "int16"], ["float32", "bool", "uint8"], DTYPES, DTYPES[2:]]

BINARY = (
    "add subtract multiply maximum minimum equal not_equal less less_equal greater greater_equal logical_and "
    "logical_or logical_xor fmax fmin"
).split()
WITH_REMAINDER = "floor_divide remainder fmod".split()
OF_FLOATS = "divide copysign".split()
OF_BITS = "bitwise_and bitwise_or bitwise_xor left_shift right_shift".split()
UNARY = "negative absolute square logical_not signbit isnan isinf isfinite".split()
UNARY_FLOATS = "sqrt reciprocal floor ceil trunc rint sign".split()
FUNCTIONS = "sin cos tan exp log tanh expm1 log1p arctan sinh cbrt erf".split()  # compared by error, at the root


def host(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    """Elements with all that is special about the dtype among them."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype[0] == "f":
        x = (rng.standard_normal(shape) * 10).astype(dtype)
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, 3, 2.0**-130], dtype)
    else:
        i = np.iinfo(dtype)
        x = rng.integers(i.min, i.max, shape, dtype=dtype, endpoint=True)
        special = np.array([0, 1, 2, 3, i.max, i.min, i.max // 2], dtype)
    return np.where(rng.random(shape) < 0.2, rng.choice(special, shape), x).astype(dtype)


def leaf(draw: st.DrawFn, rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Pair:
    """A tensor that broadcasts to `shape`, maybe a view, and the same array."""
    mine = tuple(1 if draw(st.integers(0, 3)) == 0 else n for n in shape)
    mine = mine[draw(st.integers(0, len(mine))) :] if draw(st.booleans()) else mine
    how = draw(st.sampled_from(["plain", "transposed", "reversed", "sliced", "repeated", "picked"]))
    if how == "transposed":
        a = host(rng, dtype, mine[::-1])
        return ng.array(a).T, a.T, f"{dtype}{a.T.shape}.T"
    if how == "sliced" and mine and mine[-1] > 0:
        a = host(rng, dtype, (*mine[:-1], 2 * mine[-1] + 1))
        return ng.array(a)[..., 1::2], a[..., 1::2], f"{dtype}{a.shape}[..., 1::2]"
    if how == "picked" and mine and mine[0] > 0:
        a = host(rng, dtype, (5, *mine[1:]))
        index = rng.integers(-5, 5, mine[0])
        return ng.array(a)[ng.array(index)], a[index], f"{dtype}{a.shape}[index]"
    a = host(rng, dtype, mine)
    if how == "reversed" and mine:
        return ng.array(a)[::-1], a[::-1], f"{dtype}{a.shape}[::-1]"
    return ng.array(a), a, f"{dtype}{a.shape}"


def _apply(name: str, *operands: Pair) -> Pair:
    numpy: Callable[..., Array] = getattr(np, name)
    ours = getattr(ng, name)(*(o[0] for o in operands))
    want = np.asarray(numpy(*(o[1] for o in operands)))
    if name in ("fmin", "fmax", "minimum", "maximum") and want.dtype.kind == "f":
        # Of zeros of both signs NumPy takes one or the other by their places: -0 is the less.
        signs = [np.signbit(o[1]) & (o[1] == 0) for o in operands]
        less = signs[0] | signs[1] if "min" in name else signs[0] & signs[1]
        zeros = (want == 0) & (operands[0][1] == 0) & (operands[1][1] == 0)
        want = np.where(zeros, np.where(less, want.dtype.type(-0.0), want.dtype.type(0)), want)
    return ours, want, f"{name}({', '.join(o[2] for o in operands)})"


def _reduced(draw: st.DrawFn, g: Pair) -> Pair | None:
    x, a, text = g
    if a.ndim == 0 or a.size == 0:
        return None
    names = ["max", "min", "any", "all", "argmax"] + (["sum"] if a.dtype.kind != "f" else [])
    name = draw(st.sampled_from(names))
    axis = draw(st.integers(-a.ndim, a.ndim - 1))
    ours = getattr(ng, name)(x, axis, keepdims=True)
    return ours, np.asarray(getattr(np, name)(a, axis=axis, keepdims=True)), f"{name}({text}, {axis})"


def _step(draw: st.DrawFn, g: Pair, h: Pair) -> Pair | None:
    """One more operation on two operands, or None where the two libraries need not agree."""
    kinds = {g[1].dtype.kind, h[1].dtype.kind}
    whole = kinds <= {"i", "u", "b"} and np.result_type(g[1], h[1]).kind != "f"
    group = draw(st.sampled_from(["binary"] * 4 + ["unary"] * 2 + ["number", "where", "cast", "reduce", "clip"]))
    if group == "binary":
        name = draw(st.sampled_from(BINARY + WITH_REMAINDER + OF_FLOATS + (OF_BITS if whole else [])))
        if name in ("copysign", "fmax", "fmin") and whole:
            return None
        if name == "copysign" and np.isnan(h[1]).any():
            return None  # the sign of a NaN is the processor's
        if name in OF_FLOATS and min(g[1].itemsize, h[1].itemsize) < 4 and name == "copysign":
            return None  # NumPy's result may have 16 bits
        if name == "subtract" and kinds == {"b"}:
            return None
        if name.endswith("shift") and kinds == {"b"}:
            return None
        if kinds == {"i", "u"} and name in BINARY[5:11]:
            return None  # NumPy compares int64 with uint64 without a common dtype
        return _apply(name, g, h)
    if group == "unary":
        real = g[1].dtype.kind == "f"
        name = draw(st.sampled_from(UNARY + (UNARY_FLOATS if real else [])))
        if name in ("negative", "square") and g[1].dtype.kind == "b":
            return None
        if name in ("signbit", "isnan", "isinf", "isfinite") and not real:
            return None
        if name == "signbit" and np.isnan(g[1]).any():
            return None
        return _apply(name, g)
    if group == "number":
        if g[1].dtype.kind == "b":
            return None
        number: Any = draw(st.sampled_from([2, 3, 7, 100] + ([0.5, -1.25] if g[1].dtype.kind == "f" else [])))
        weak = (number, number, str(number))
        name = draw(st.sampled_from(["add", "subtract", "multiply", "remainder", "floor_divide", "maximum"]))
        return _apply(name, g, weak) if draw(st.booleans()) else _apply(name, weak, g)
    if group == "where":
        return _apply("where", (ng.not_equal(g[0], 0), np.not_equal(g[1], 0), f"{g[2]} != 0"), h, g)
    if group == "cast":
        to = draw(st.sampled_from(["float64", "bool"] if g[1].dtype.kind == "f" else DTYPES))
        return _core.cast(g[0], to), g[1].astype(to), f"{to}({g[2]})"
    if group == "clip":
        if g[1].dtype.kind == "b":
            return None
        return ng.clip(g[0], 1, 50), np.clip(g[1], 1, 50), f"clip({g[2]})"
    return _reduced(draw, g)


@st.composite
def trees(draw: st.DrawFn) -> tuple[Any, Array, str | None]:
    """An expression, its value in NumPy, and the function at its root, compared by its error, or None."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.sampled_from(SHAPES))
    dtypes = draw(st.sampled_from(FAMILIES))
    stack = [leaf(draw, rng, draw(st.sampled_from(dtypes)), shape) for _ in range(draw(st.integers(1, 4)))]
    with np.errstate(all="ignore"):
        for _ in range(draw(st.integers(1, 8))):
            made = _step(draw, draw(st.sampled_from(stack)), draw(st.sampled_from(stack)))
            if made is not None:
                stack.append(made)
        got, want, text = stack[-1]
        if want.dtype in (np.float32, np.float64) and draw(st.integers(0, 2)) == 0:
            name = draw(st.sampled_from(FUNCTIONS))
            note(f"{name}({text})")
            return getattr(ng, name)(got), want, name
    note(text)
    return got, want, None


def _exact(name: str, x: Array) -> Array:
    """In float64, or in long double if x is float64 (erf: what the C library has)."""
    wide = np.float64 if x.dtype == np.float32 else np.longdouble
    if name == "erf":
        return np.array([math.erf(v) for v in x.astype(np.float64).ravel()], wide).reshape(x.shape)
    return np.asarray(getattr(np, name)(x.astype(wide)))


def check(case: tuple[Any, Array, str | None]) -> None:
    """Every bit but the signs of zeros and NaNs; functions within 2 units in the last place."""
    expression, want, name = case
    got = expression.get()
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    if name is None:
        np.testing.assert_array_equal(got, want)
        return
    with np.errstate(all="ignore"):
        exact = _exact(name, want)
        nearest = exact.astype(want.dtype)
        plain = np.isfinite(nearest)
        np.testing.assert_array_equal(got[~plain], nearest[~plain])
        unit = np.spacing(np.maximum(np.abs(nearest[plain]), np.finfo(want.dtype).tiny)).astype(exact.dtype)
        error = np.abs(got[plain].astype(exact.dtype) - exact[plain]) / unit
        assert np.all(error <= 2), (name, want[plain][np.argmax(error)])
