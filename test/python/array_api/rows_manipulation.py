"""Functions that move elements: every dtype, shapes with 0, axes from either end, several arrays."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from . import draws
from .calls import Call, Row, call

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
ANY = draws.any_array(draws.EVERY, SHAPES)


@st.composite
def broadcast(draw: Any) -> Call:
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=draw(st.integers(1, 3)), min_side=0, max_side=4))
    return call(*(draw(draws.any_array(draws.EVERY, shape)) for shape in shapes.input_shapes))


@st.composite
def broadcast_to(draw: Any) -> Call:
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=1, base_shape=draw(SHAPES), min_side=0, max_dims=4))
    return call(draw(draws.any_array(draws.EVERY, shapes.input_shapes[0])), shapes.result_shape)


@st.composite
def concatenated(draw: Any) -> Call:
    """Arrays that differ along the axis, of dtypes that promote; without an axis of any shapes."""
    first, second = draw(draws.dtype_pairs(draws.EVERY))
    dtypes = draw(st.lists(st.sampled_from([first, second]), min_size=1, max_size=3))
    if draw(st.integers(0, 4)) == 0:
        arrays = [draw(draws.arrays(d, SHAPES)) for d in dtypes]
        return call(arrays if draw(st.booleans()) else tuple(arrays), axis=None)
    shape = list(draw(hnp.array_shapes(max_dims=3, min_side=0, max_side=4)))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    arrays = []
    for dtype in dtypes:
        shape[axis] = draw(st.integers(0, 3))
        arrays.append(draw(draws.arrays(dtype, tuple(shape))))
    return call(arrays, axis=axis) if axis or draw(st.booleans()) else call(arrays)


@st.composite
def stacked(draw: Any) -> Call:
    first, second = draw(draws.dtype_pairs(draws.EVERY))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    arrays = [draw(draws.arrays(draw(st.sampled_from([first, second])), shape)) for _ in range(draw(st.integers(1, 3)))]
    return call(arrays, axis=draw(st.integers(-len(shape) - 1, len(shape))))


@st.composite
def expanded(draw: Any) -> Call:
    a = draw(ANY)
    count = draw(st.integers(1, 2))
    axes = draw(st.lists(st.integers(0, a.ndim + count - 1), unique=True, min_size=count, max_size=count))
    signed = tuple(draw(st.sampled_from([i, i - a.ndim - count])) for i in axes)
    return call(a, axis=signed if count > 1 else draw(st.sampled_from([signed, signed[0]])))


@st.composite
def over_axes(draw: Any) -> Call:
    """flip: of all axes, one or several."""
    a = draw(ANY)
    return call(a, axis=draw(draws.axes_of(a.ndim)))


@st.composite
def moved(draw: Any) -> Call:
    a = draw(draws.any_array(draws.EVERY, hnp.array_shapes(max_dims=4, min_side=0, max_side=3)))
    count = draw(st.integers(1, a.ndim))

    def several() -> Any:
        axes = draw(st.permutations(range(a.ndim)))[:count]
        return tuple(draw(st.sampled_from([i, i - a.ndim])) for i in axes)

    source, destination = several(), several()
    return call(a, source, destination) if count > 1 else call(a, source[0], destination[0])


@st.composite
def permuted(draw: Any) -> Call:
    a = draw(ANY)
    axes = tuple(draw(st.sampled_from([i, i - a.ndim])) for i in draw(st.permutations(range(a.ndim))))
    return call(a, axes)


@st.composite
def repeated(draw: Any) -> Call:
    a, axis = draw(draws.array_and_axis(draws.EVERY))
    flat = draw(st.booleans())
    size = a.size if flat else a.shape[axis]
    counts: Any = draw(st.integers(0, 3))
    if draw(st.booleans()):
        counts = draw(draws.arrays("int64", (size,), low=0, high=3))
    return call(a, counts, axis=None if flat else axis)


@st.composite
def reshaped(draw: Any) -> Call:
    """To the factors of the size in another order or other groups; one of them may be -1."""
    a = draw(ANY)
    shape = list(draw(st.permutations(a.shape)))
    if shape and draw(st.booleans()):
        cut = draw(st.integers(0, len(shape)))
        shape = [math.prod(shape[:cut]), *shape[cut:]]
    if a.size and draw(st.booleans()):
        if not shape:
            shape = [1]
        shape[draw(st.integers(0, len(shape) - 1))] = -1
    keywords = {"copy": draw(st.sampled_from([None, True]))} if draw(st.booleans()) else {}
    return call(a, tuple(shape), **keywords)


@st.composite
def rolled(draw: Any) -> Call:
    a = draw(ANY)
    kind = draw(st.sampled_from(["flat", "one", "several"]))
    if kind == "flat" or a.ndim == 0:
        return call(a, draw(st.integers(-9, 9)))
    if kind == "one":
        return call(a, draw(st.integers(-9, 9)), axis=draw(st.integers(-a.ndim, a.ndim - 1)))
    axes = tuple(draw(st.lists(st.integers(-a.ndim, a.ndim - 1), min_size=1, max_size=3)))
    return call(a, tuple(draw(st.integers(-9, 9)) for _ in axes), axis=axes)


@st.composite
def squeezed(draw: Any) -> Call:
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=2).filter(lambda s: 1 in s))
    ones = [i for i, side in enumerate(shape) if side == 1]
    axes = draw(st.lists(st.sampled_from(ones), unique=True, min_size=1))
    signed = tuple(draw(st.sampled_from([i, i - len(shape)])) for i in axes)
    return call(draw(draws.any_array(draws.EVERY, shape)), signed[0] if len(signed) == 1 else signed)


@st.composite
def tiled(draw: Any) -> Call:
    a = draw(ANY)
    return call(a, tuple(draw(st.lists(st.integers(0, 2), max_size=4))))


@st.composite
def unstacked(draw: Any) -> Call:
    a, axis = draw(draws.array_and_axis(draws.EVERY))
    return call(a, axis=axis)


@st.composite
def triangles(draw: Any) -> Call:
    a = draw(draws.any_array(draws.EVERY, hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=4)))
    return call(a, k=draw(st.integers(-5, 5))) if draw(st.booleans()) else call(a)


@st.composite
def matrices(draw: Any) -> Call:
    return call(draw(draws.any_array(draws.EVERY, hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=4))))


@st.composite
def taken(draw: Any) -> Call:
    """take: indices of one dimension along an axis, from either end."""
    shape = hnp.array_shapes(max_dims=4, min_side=1, max_side=4)
    a, axis = draw(draws.array_and_axis(draws.EVERY, shape))
    side = a.shape[axis]
    indices = draw(draws.arrays(draw(st.sampled_from(["int32", "int64"])), st.integers(0, 5), low=-side, high=side - 1))
    return call(a, indices, axis=axis)


@st.composite
def taken_along(draw: Any) -> Call:
    a, axis = draw(draws.array_and_axis(draws.EVERY, hnp.array_shapes(max_dims=3, min_side=1, max_side=4)))
    shape = list(a.shape)
    shape[axis] = draw(st.integers(0, 4))
    side = a.shape[axis]
    indices = draw(draws.arrays(draw(st.sampled_from(["int32", "int64"])), tuple(shape), low=-side, high=side - 1))
    return call(a, indices, axis=axis)


@st.composite
def chosen(draw: Any) -> Call:
    """where with three arguments: a condition, and values of dtypes that promote; one may be a number."""
    first, second = draw(draws.dtype_pairs(draws.EVERY))
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=3, min_side=0, max_side=4, max_dims=3)).input_shapes
    a, b = draw(draws.arrays(first, shapes[1])), draw(draws.arrays(second, shapes[2]))
    condition = draw(draws.arrays("bool", shapes[0]))
    number = draw(st.sampled_from(["none", "none", "first", "second"]))
    if number == "first":
        return call(condition, draw(draws.values(second)), b)
    return call(condition, a, draw(draws.values(first)) if number == "second" else b)


ROWS = [
    Row("broadcast_arrays", broadcast()),
    Row("broadcast_to", broadcast_to()),
    Row("concat", concatenated()),
    Row("expand_dims", expanded()),
    Row("flip", over_axes()),
    Row("matrix_transpose", matrices()),
    Row("linalg.matrix_transpose", matrices()),
    Row("moveaxis", moved()),
    Row("permute_dims", permuted()),
    Row("repeat", repeated()),
    Row("reshape", reshaped()),
    Row("roll", rolled()),
    Row("squeeze", squeezed()),
    Row("stack", stacked()),
    Row("take", taken()),
    Row("take_along_axis", taken_along()),
    Row("tile", tiled()),
    Row("tril", triangles()),
    Row("triu", triangles()),
    Row("unstack", unstacked()),
    Row("where", chosen()),
]
