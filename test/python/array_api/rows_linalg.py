"""Linear algebra: products exactly where elements are whole numbers, decompositions by what they have to give back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from . import draws
from .calls import Array, Call, Row, call, compare, host

STACKS = hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=2)
SIDES = st.integers(0, 5)
FILLED = st.integers(1, 5)


@st.composite
def numbers(draw: Any, dtype: str, shape: tuple[int, ...]) -> Array:
    """Small whole numbers: sums and products of them are exact in every dtype."""
    kind = np.dtype(dtype).kind
    low = 0 if kind == "u" else -4
    whole = draw(hnp.arrays(np.int64, shape, elements=st.integers(low, 4)))
    if kind == "c":
        return (whole + 1j * draw(hnp.arrays(np.int64, shape, elements=st.integers(-4, 4)))).astype(dtype)
    return whole.astype(dtype)


@st.composite
def square(draw: Any, dtypes: tuple[str, ...] = draws.INEXACT, filled: bool = False) -> Array:
    """Matrices far from singular: a large diagonal."""
    side = draw(FILLED if filled else SIDES)
    dtype = draw(st.sampled_from(dtypes))
    stack = draw(STACKS)
    a = draw(numbers(dtype, (*stack, side, side)))
    turned = draw(st.sampled_from([1, -1]))
    return (a + turned * (5 * side + 1) * np.eye(side)).astype(dtype)


@st.composite
def oblong(draw: Any, filled: bool = True) -> Array:
    dtype = draw(st.sampled_from(draws.INEXACT))
    sides = FILLED if filled else SIDES
    return draw(numbers(dtype, (*draw(STACKS), draw(sides), draw(sides))))


@st.composite
def symmetric(draw: Any, positive: bool = False) -> Array:
    a = draw(square()) if positive else draw(oblong())
    b = np.conj(np.swapaxes(a, -1, -2))
    if positive:
        return (b @ a + np.eye(a.shape[-1])).astype(a.dtype)
    return (b @ a).astype(a.dtype)


def mT(a: Array) -> Array:
    return np.conj(np.swapaxes(a, -1, -2))


def rounding(a: Array, growth: float = 1.0) -> float:
    largest = float(np.max(np.abs(a), initial=1.0))
    return 64 * float(np.finfo(a.dtype).eps) * largest * growth


def near(got: Array, want: Array, bound: float) -> None:
    assert got.shape == want.shape, f"{got.shape}; needs {want.shape}"
    assert np.all(np.abs(got - want) <= bound), f"{got}; needs {want} within {bound}"


@st.composite
def products(draw: Any) -> Call:
    """matmul: vectors, matrices, stacks that broadcast, dtypes that promote."""
    a, b = draw(draws.dtype_pairs(draws.NUMERIC))
    m, k, n = draw(SIDES), draw(SIDES), draw(SIDES)
    stacks = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, min_side=0, max_side=2, max_dims=2)).input_shapes
    left = (*stacks[0], m, k) if draw(st.booleans()) else (k,)
    right = (*stacks[1], k, n) if draw(st.booleans()) else (k,)
    return call(draw(numbers(a, left)), draw(numbers(b, right)))


@st.composite
def contracted(draw: Any) -> Call:
    """tensordot: over the last axes and the first, over pairs of axes, over none."""
    a, b = draw(draws.dtype_pairs(draws.NUMERIC))
    shared = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    left, right = (
        draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3)),
        draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3)),
    )
    count = len(shared)
    if draw(st.booleans()):
        return call(draw(numbers(a, (*left, *shared))), draw(numbers(b, (*shared, *right))), axes=count)
    order = tuple(draw(st.permutations(range(count))))
    turned = tuple(shared[i] for i in order)
    axes = (tuple(len(left) + i for i in order), tuple(range(count)))
    return call(draw(numbers(a, (*left, *shared))), draw(numbers(b, (*turned, *right))), axes=axes)


@st.composite
def along(draw: Any) -> Call:
    """vecdot: products along one axis of arrays that broadcast."""
    a, b = draw(draws.dtype_pairs(draws.NUMERIC))
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, min_side=0, max_side=3, max_dims=2)).input_shapes
    side = draw(SIDES)
    first, second = draw(numbers(a, (*shapes[0], side))), draw(numbers(b, (*shapes[1], side)))
    if draw(st.booleans()):
        axis = draw(st.integers(-min(first.ndim, second.ndim), -1))
        return call(np.moveaxis(first, -1, axis).copy(), np.moveaxis(second, -1, axis).copy(), axis=axis)
    return call(first, second)


@st.composite
def outer(draw: Any) -> Call:
    a, b = draw(draws.dtype_pairs(draws.NUMERIC))
    return call(draw(numbers(a, (draw(SIDES),))), draw(numbers(b, (draw(SIDES),))))


@st.composite
def crossed(draw: Any) -> Call:
    a, b = draw(draws.dtype_pairs(draws.NUMERIC))
    shape = list(draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3)))
    axis = draw(st.integers(-len(shape), -1))
    shape[axis] = 3
    keywords = {} if axis == -1 and draw(st.booleans()) else {"axis": axis}
    return call(draw(numbers(a, tuple(shape))), draw(numbers(b, tuple(shape))), **keywords)


@st.composite
def diagonals(draw: Any, dtypes: tuple[str, ...], typed: bool = False) -> Call:
    dtype = draw(st.sampled_from(dtypes))
    shape = (*draw(STACKS), draw(SIDES), draw(SIDES))
    keywords: dict[str, Any] = {"offset": draw(st.integers(-3, 3))} if draw(st.booleans()) else {}
    if typed and draw(st.booleans()):
        keywords["dtype"] = np.dtype("complex128" if np.dtype(dtype).kind == "c" else "float64")
    a = draw(numbers(dtype, shape)) if typed else draw(draws.arrays(dtype, shape))
    return call(a, **keywords)


@st.composite
def powers(draw: Any) -> Call:
    a = draw(square())
    exponent = draw(st.integers(-2, 4))
    return Call((a, exponent), (), rounding(a, float(np.max(np.abs(a), initial=1.0)) ** 3 * a.shape[-1] ** 3))


@st.composite
def ranked(draw: Any) -> Call:
    """Of rank at most that of a product's inner side."""
    dtype = draw(st.sampled_from(draws.INEXACT))
    m, k, n = draw(FILLED), draw(FILLED), draw(FILLED)
    stack = draw(STACKS)
    a = draw(numbers(dtype, (*stack, m, k))) @ draw(numbers(dtype, (*stack, k, n)))
    return call(a, rtol=1e-3) if draw(st.booleans()) else call(a)


@st.composite
def norms(draw: Any) -> Call:
    """vector_norm: along none, one or several axes, of every order."""
    dtype = draw(st.sampled_from(draws.INEXACT))
    a = draw(numbers(dtype, draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))))
    keywords: dict[str, Any] = {}
    if draw(st.booleans()):
        keywords["axis"] = draw(draws.axes_of(a.ndim).filter(lambda v: v != ()))
    if draw(st.booleans()):
        keywords["keepdims"] = draw(st.booleans())
    if draw(st.booleans()):
        keywords["ord"] = draw(st.sampled_from([0, 1, 2, 3, 0.5, np.inf, -np.inf]))
    return Call((a,), tuple(keywords.items()), rounding(a, a.size**2))


@st.composite
def matrix_norms(draw: Any) -> Call:
    a = draw(oblong())
    keywords: dict[str, Any] = {}
    if draw(st.booleans()):
        keywords["ord"] = draw(st.sampled_from(["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]))
    if draw(st.booleans()):
        keywords["keepdims"] = draw(st.booleans())
    return Call((a,), tuple(keywords.items()), rounding(a, a.shape[-1] * a.shape[-2]))


def of(make: st.SearchStrategy[Array], grows: Callable[[Array], float] = lambda a: 1.0) -> st.SearchStrategy[Call]:
    return make.map(lambda a: Call((a,), (), rounding(a, grows(a))))


@st.composite
def solved(draw: Any) -> Call:
    a = draw(square())
    side = a.shape[-1]
    stack = a.shape[:-2]
    right = (side,) if draw(st.booleans()) else (*stack, side, draw(SIDES))
    return Call((a, draw(numbers(a.dtype.name, right))), (), rounding(a))


def cholesky_has(made: Call, got: Any) -> None:
    a, upper = made.args[0], dict(made.kwargs).get("upper", False)
    factor = host(got)
    assert factor.dtype == a.dtype
    near(factor, np.triu(factor) if upper else np.tril(factor), 0)
    near(mT(factor) @ factor if upper else factor @ mT(factor), a, rounding(a, a.shape[-1]))


def eigh_has(made: Call, got: Any) -> None:
    a = made.args[0]
    values, vectors = host(got.eigenvalues), host(got.eigenvectors)
    assert vectors.dtype == a.dtype and values.dtype == np.abs(a[..., :0]).dtype
    near(values, np.linalg.eigvalsh(a), rounding(a, a.shape[-1]))
    near(vectors * values[..., None, :] @ mT(vectors), a, rounding(a, a.shape[-1]))


def qr_has(made: Call, got: Any) -> None:
    a = made.args[0]
    q, r = host(got.Q), host(got.R)
    want = np.linalg.qr(a, **dict(made.kwargs))
    assert q.dtype == r.dtype == a.dtype and q.shape == want.Q.shape and r.shape == want.R.shape
    near(r, np.triu(r), 0)
    near(q @ r, a, rounding(a, 8))
    near(mT(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], q.shape[-1], q.shape[-1])), rounding(q, 8))


def svd_has(made: Call, got: Any) -> None:
    a = made.args[0]
    u, s, v = host(got.U), host(got.S), host(got.Vh)
    want = np.linalg.svd(a, **dict(made.kwargs))
    assert u.dtype == v.dtype == a.dtype and s.dtype == want.S.dtype
    assert u.shape == want.U.shape and v.shape == want.Vh.shape
    near(s, want.S, rounding(a, 8))
    least = s.shape[-1]
    near(u[..., :least] * s[..., None, :] @ v[..., :least, :], a, rounding(a, 8))


@st.composite
def flagged(draw: Any, make: st.SearchStrategy[Array], name: str, values: list[Any]) -> Call:
    a = draw(make)
    return call(a, **{name: draw(st.sampled_from(values))}) if draw(st.booleans()) else call(a)


def determinant(made: Call, got: Any) -> None:
    a = made.args[0]
    want = np.linalg.slogdet(a)
    compare(got.sign, np.asarray(want.sign), None, 64)
    compare(got.logabsdet, np.asarray(want.logabsdet), None, 64 * (a.shape[-1] + 1), 1e-5 if a.itemsize < 8 else 1e-12)


@st.composite
def inverses(draw: Any) -> Call:
    a = draw(oblong())
    full = a + 20 * np.eye(*a.shape[-2:])  # of full rank, so that small errors stay small
    return Call((full.astype(a.dtype),), (), rounding(a))


def sized(a: Array) -> float:
    return float(np.max(np.abs(np.linalg.det(a.astype(np.complex128))), initial=1.0)) * (a.shape[-1] + 1)


ROWS = [
    # A sum of nothing but zeros begins from +0 here.
    *(Row(name, products(), either_zero=True) for name in ("matmul", "linalg.matmul")),
    *(Row(name, contracted(), either_zero=True) for name in ("tensordot", "linalg.tensordot")),
    *(Row(name, along()) for name in ("vecdot", "linalg.vecdot")),
    Row("linalg.cholesky", flagged(symmetric(positive=True), "upper", [True, False]), check=cholesky_has),
    Row("linalg.cross", crossed()),
    Row("linalg.det", of(square(), sized)),
    Row("linalg.diagonal", diagonals(draws.EVERY)),
    Row("linalg.eigh", symmetric().map(call), check=eigh_has),
    Row("linalg.eigvalsh", of(symmetric(), lambda a: a.shape[-1])),
    Row("linalg.inv", of(square())),
    Row("linalg.matrix_norm", matrix_norms()),
    Row("linalg.matrix_power", powers()),
    Row("linalg.matrix_rank", ranked(), reference=lambda a, rtol=None: np.asarray(np.linalg.matrix_rank(a, rtol=rtol))),
    Row("linalg.outer", outer()),
    Row("linalg.pinv", inverses()),
    Row("linalg.qr", flagged(oblong(), "mode", ["reduced", "complete"]), check=qr_has),
    Row("linalg.slogdet", square().map(call), check=determinant),
    Row("linalg.solve", solved()),
    Row("linalg.svd", flagged(oblong(), "full_matrices", [True, False]), check=svd_has),
    Row("linalg.svdvals", of(oblong(), lambda a: 8)),
    Row("linalg.trace", diagonals(draws.NUMERIC, typed=True)),
    Row("linalg.vector_norm", norms()),
]
