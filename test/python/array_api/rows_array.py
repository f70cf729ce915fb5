"""Members of an array: operators, also in place and with numbers, indices, attributes, conversions."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from . import draws, rows_elementwise, rows_linalg
from .calls import XP, Array, Call, Row, call, compare, ours
from .rows_elementwise import one

# The operator of an elementwise function; rows are those of the function.
UNARY = {"__abs__": "abs", "__invert__": "bitwise_invert", "__neg__": "negative", "__pos__": "positive"}
BINARY = {
    "__add__": "add",
    "__and__": "bitwise_and",
    "__eq__": "equal",
    "__floordiv__": "floor_divide",
    "__ge__": "greater_equal",
    "__gt__": "greater",
    "__le__": "less_equal",
    "__lshift__": "bitwise_left_shift",
    "__lt__": "less",
    "__mod__": "remainder",
    "__mul__": "multiply",
    "__ne__": "not_equal",
    "__or__": "bitwise_or",
    "__pow__": "pow",
    "__rshift__": "bitwise_right_shift",
    "__sub__": "subtract",
    "__truediv__": "divide",
    "__xor__": "bitwise_xor",
}
COMPARED = ("__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__")
FUNCTIONS: dict[str, list[Row]] = {}
for _row in rows_elementwise.ROWS:
    FUNCTIONS.setdefault(_row.name, []).append(_row)


def as_operator(name: str, row: Row) -> Row:
    return Row(f"array.{name}", row.calls, row.ulps, row.wide, id=row.id)


@st.composite
def in_place(draw: Any, name: str) -> Call:
    """The right operand broadcasts to the left one and has its dtype."""
    bitwise = name in ("__iand__", "__ior__", "__ixor__")
    shifts = name in ("__ilshift__", "__irshift__")
    integer = draws.INTEGER + (draws.BOOL if bitwise else ())
    dtype = draw(st.sampled_from(integer if bitwise or shifts else draws.FLOATING if "truediv" in name else draws.REAL))
    a = draw(draws.arrays(dtype, low=None if bitwise else 0, high=None if bitwise else 9))
    cut = draw(st.integers(0, a.ndim))
    shape = tuple(draw(st.sampled_from([side, 1])) for side in a.shape[cut:])
    low, high = (None, None) if bitwise else (1, 6)
    if draw(st.booleans()):
        return call(a, draw(draws.values(dtype, low, high)))
    return call(a, draw(draws.arrays(dtype, shape, low=low, high=high)))


@st.composite
def indexed(draw: Any, masks: bool = True) -> tuple[Array, Any]:
    """An array and an index: integers, slices with any step, Ellipsis, None; a mask; arrays of integers."""
    a = draw(draws.any_array(draws.EVERY, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)))
    kind = draw(st.sampled_from(["basic", "basic", "basic", "mask", "integers"]))
    if kind == "mask" and masks:
        return a, draw(draws.arrays("bool", a.shape))
    if kind == "integers" and a.ndim and 0 not in a.shape:
        shape = draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=1, max_side=3))
        return a, tuple(
            draw(st.integers(-side, side - 1) | draws.arrays("int64", shape, low=-side, high=side - 1))
            for side in a.shape
        )
    return a, draw(hnp.basic_indices(a.shape, allow_newaxis=masks, allow_ellipsis=True))


@st.composite
def assigned(draw: Any) -> Call:
    """To what an index selects: a number, or an array that broadcasts to it."""
    a, index = draw(indexed(masks=False))
    selected = np.asarray(a[index])
    if draw(st.booleans()):
        return call(a, index, draw(draws.values(a.dtype.name)))
    shape = selected.shape[draw(st.integers(0, selected.ndim)) :]
    return call(a, index, draw(draws.arrays(a.dtype.name, shape)))


@st.composite
def masked(draw: Any) -> Call:
    a = draw(draws.any_array(draws.EVERY, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)))
    return call(a, draw(draws.arrays("bool", a.shape)), draw(draws.values(a.dtype.name)))


def with_item(array: Any, index: Any, value: Any) -> Any:
    array[index] = value
    return array


def assigned_is(made: Call, _: Any) -> None:
    a, index, value = made.args
    want = with_item(a.copy(), index, value)
    compare(with_item(ours(a), ours(index), ours(value)), want)


def scalar(dtypes: Any, low: Any = -100, high: Any = 100) -> st.SearchStrategy[Call]:
    return draws.any_array(dtypes, (), low=low, high=high).map(call)


def number_is(kind: type, made: Call, got: Any) -> None:
    want = kind(made.args[0].item())
    assert type(got) is kind and got == want, f"{got!r}; needs {want!r}"


def attribute_is(name: str) -> Any:
    def check(made: Call, got: Any) -> None:
        want = getattr(made.args[0], name)
        assert got == want and type(got) is type(want), f"{got!r}; needs {want!r}"

    return check


def dtype_is(made: Call, got: Any) -> None:
    assert got == getattr(XP, made.args[0].dtype.name)
    assert got != getattr(XP, "int8" if made.args[0].dtype != np.int8 else "int16")


def device_is(_: Call, got: Any) -> None:
    assert got in XP.__array_namespace_info__().devices()


def namespace_is(made: Call, got: Any) -> None:
    assert got is XP
    assert ours(made.args[0]).__array_namespace__(api_version="2024.12") is XP


def capsule_is(_: Call, got: Any) -> None:
    assert type(got).__name__ == "PyCapsule"


def dlpack_device_is(_: Call, got: Any) -> None:
    kind, number = got
    assert int(kind) in (1, 2, 3, 13) and int(number) >= 0


ANY = one(draws.EVERY)
ROWS = [as_operator(name, row) for name, function in UNARY.items() for row in FUNCTIONS[function]]
ROWS += [as_operator(name, row) for name, function in BINARY.items() for row in FUNCTIONS[function]]
ROWS += [
    Row(f"array.__i{name[2:]}", in_place(f"__i{name[2:]}"), ulps=8 if "pow" in name else 0, wide="pow" in name)
    for name in BINARY
    if name not in COMPARED
]
ROWS += [
    Row("array.__matmul__", rows_linalg.products()),
    Row("array.__getitem__", indexed().map(lambda pair: call(*pair)), reference=lambda a, i: np.asarray(a[i])),
    Row("array.__setitem__", assigned(), check=assigned_is),
    Row("array.__setitem__", masked(), check=assigned_is, id="mask"),
    Row("array.__bool__", scalar(draws.EVERY), check=lambda made, got: number_is(bool, made, got)),
    Row("array.__int__", scalar(draws.ALL), check=lambda made, got: number_is(int, made, got)),
    Row("array.__float__", scalar(draws.ALL), check=lambda made, got: number_is(float, made, got)),
    Row("array.__complex__", scalar(draws.EVERY), check=lambda made, got: number_is(complex, made, got)),
    Row("array.__index__", scalar(draws.INTEGER), check=lambda made, got: number_is(int, made, got)),
    Row("array.ndim", ANY, check=attribute_is("ndim")),
    Row("array.shape", ANY, check=attribute_is("shape")),
    Row("array.size", ANY, check=attribute_is("size")),
    Row("array.dtype", ANY, check=dtype_is),
    Row("array.device", ANY, check=device_is),
    Row("array.T", draws.any_array(draws.EVERY, hnp.array_shapes(min_dims=2, max_dims=2, min_side=0)).map(call)),
    Row("array.mT", draws.any_array(draws.EVERY, hnp.array_shapes(min_dims=2, max_dims=4, min_side=0)).map(call)),
    Row("array.to_device", ANY),
    Row("array.__array_namespace__", ANY, check=namespace_is),
    Row("array.__dlpack__", one(draws.ALL), check=capsule_is),
    Row("array.__dlpack_device__", one(draws.ALL), check=dlpack_device_is),
]
