"""Functions that make arrays, and those that ask and change dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from . import draws
from .calls import Call, Row, call, ours

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
DTYPES = st.sampled_from(draws.EVERY).map(np.dtype)


@st.composite
def ranges(draw: Any) -> Call:
    """One to three numbers; whole ones give int64, a float among them float64, and a dtype what it says."""
    whole = draw(st.booleans())
    number = st.integers(-30, 30) if whole else st.integers(-120, 120).map(lambda n: n / 4)
    step = draw(number.filter(lambda v: v != 0))
    keywords = {}
    if draw(st.booleans()):
        names = ("int32", "int64", "float32", "float64") if whole else ("float32", "float64")
        keywords["dtype"] = np.dtype(draw(st.sampled_from(names)))
    start, stop = draw(number), draw(number)
    return draw(
        st.sampled_from([call(stop, **keywords), call(start, stop, **keywords), call(start, stop, step, **keywords)])
    )


@st.composite
def spaced(draw: Any) -> Call:
    number = st.integers(-1000, 1000) | st.floats(-1000, 1000, width=32)
    start, stop, count = draw(number), draw(number), draw(st.integers(0, 12))
    keywords: dict[str, Any] = {"endpoint": draw(st.booleans())} if draw(st.booleans()) else {}
    dtype = "float64"
    if draw(st.booleans()):
        dtype = draw(st.sampled_from(draws.FLOATING))
        keywords["dtype"] = np.dtype(dtype)
    bound = 4 * float(np.finfo(dtype).eps) * max(abs(start), abs(stop), 1e-30)
    return Call((start, stop, count), tuple(keywords.items()), bound)


@st.composite
def shaped(draw: Any) -> Call:
    """ones, zeros: a shape or a side, and a dtype."""
    shape = draw(SHAPES | st.integers(0, 5))
    return call(shape, dtype=draw(DTYPES)) if draw(st.booleans()) else call(shape)


@st.composite
def filled(draw: Any) -> Call:
    dtype = draw(DTYPES)
    shape = draw(SHAPES | st.integers(0, 5))
    if draw(st.booleans()):
        return call(shape, draw(draws.values(dtype.name)), dtype=dtype)
    return call(shape, draw(draws.values(draw(st.sampled_from(["int64", "float64", "bool"])))))


@st.composite
def alike(draw: Any, value: bool = False) -> Call:
    a = draw(draws.any_array(draws.EVERY))
    dtype = draw(DTYPES) if draw(st.booleans()) else None
    args = (a, draw(draws.values((dtype or a.dtype).name))) if value else (a,)
    return call(*args, **({"dtype": dtype} if dtype else {}))


@st.composite
def eyes(draw: Any) -> Call:
    args = [draw(st.integers(0, 5))]
    if draw(st.booleans()):
        args.append(draw(st.none() | st.integers(0, 5)))
    keywords: dict[str, Any] = {"k": draw(st.integers(-6, 6))} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        keywords["dtype"] = draw(DTYPES)
    return call(*args, **keywords)


@st.composite
def grids(draw: Any) -> Call:
    dtype = draw(st.sampled_from(draws.EVERY))
    vectors = [draw(draws.arrays(dtype, st.integers(0, 4))) for _ in range(draw(st.integers(1, 3)))]
    return call(*vectors, **({"indexing": draw(st.sampled_from(["xy", "ij"]))} if draw(st.booleans()) else {}))


@st.composite
def converted(draw: Any) -> Call:
    """asarray of arrays, nested lists and numbers."""
    a = draw(draws.any_array(draws.EVERY, hnp.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=3)))
    source: Any = draw(st.sampled_from(["array", "list"]))
    keywords = {"dtype": a.dtype} if draw(st.booleans()) else {}
    if source == "list":
        narrow = a.dtype.kind in "iu" and a.dtype.itemsize < 8
        value = a.tolist() if not narrow or keywords else a.astype(np.int64).tolist()
        return call(value, **keywords)
    if draw(st.booleans()):
        keywords["copy"] = draw(st.sampled_from([None, True]))
    return call(a, **keywords)


@st.composite
def cast(draw: Any) -> Call:
    """astype where the values of one dtype are among the other's: floats to integers only if they fit."""
    dtype = draw(DTYPES)
    source = draw(st.sampled_from([d for d in draws.EVERY if d not in draws.COMPLEX or dtype.kind == "c"]))
    limits: dict[str, Any] = {}
    if dtype.kind in "iu" and np.dtype(source).kind == "f":
        limits = {"low": 0 if dtype.kind == "u" else -100, "high": 100}
    a = draw(draws.arrays(source, **limits))
    return call(a, dtype, **({"copy": draw(st.booleans())} if draw(st.booleans()) else {}))


def empty_has(made: Call, got: Any) -> None:
    """empty, empty_like: only shape and dtype are known."""
    first = made.args[0]
    like = isinstance(first, np.ndarray)
    shape = first.shape if like else first if isinstance(first, tuple) else (first,)
    dtype = dict(made.kwargs).get("dtype") or (first.dtype if like else np.dtype("float64"))
    assert tuple(got.shape) == shape
    assert str(got.dtype) == dtype.name


def finfo_has(made: Call, got: Any) -> None:
    want = np.finfo(made.args[0])
    for name in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(got, name) == getattr(want, name), name
        assert type(getattr(got, name)) is (int if name == "bits" else float), name
    assert got.dtype == ours(np.dtype(want.dtype))


def iinfo_has(made: Call, got: Any) -> None:
    want = np.iinfo(made.args[0])
    for name in ("bits", "max", "min"):
        assert getattr(got, name) == getattr(want, name) and type(getattr(got, name)) is int, name
    assert got.dtype == ours(np.dtype(want.dtype))


def promoted_is(made: Call, got: Any) -> None:
    assert got == ours(np.result_type(*made.args))


def kinds(draw_kinds: tuple[str, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(draw_kinds) | st.lists(st.sampled_from(draw_kinds), min_size=1, max_size=3).map(tuple)


KINDS = (
    "bool",
    "signed integer",
    "unsigned integer",
    "integral",
    "real floating",
    "complex floating",
    "numeric",
)


@st.composite
def questions(draw: Any) -> Call:
    """isdtype(dtype, kind): a kind's name, a dtype or several of them."""
    kind = kinds(KINDS) | DTYPES | st.lists(DTYPES, min_size=1, max_size=2).map(tuple)
    return call(draw(DTYPES), draw(kind))


@st.composite
def castings(draw: Any) -> Call:
    source = draw(DTYPES)
    return call(draw(st.just(source) | draws.arrays(source.name)), draw(DTYPES))


def cast_is(made: Call, got: Any) -> None:
    source = made.args[0]
    assert got is bool(np.can_cast(source.dtype if isinstance(source, np.ndarray) else source, made.args[1]))


@st.composite
def promotions(draw: Any) -> Call:
    a, b = draw(draws.dtype_pairs(draws.EVERY))
    either = [st.just(np.dtype(d)) | draws.arrays(d) for d in (a, b)]
    return call(*(draw(e) for e in either))


ROWS = [
    Row("arange", ranges(), ulps=4),
    Row("asarray", converted()),
    Row("empty", shaped(), check=empty_has),
    Row("empty_like", alike(), check=empty_has),
    Row("eye", eyes(), reference=lambda n, m=None, k=0, dtype=np.float64: np.eye(n, m, k=k, dtype=dtype)),
    Row("from_dlpack", draws.any_array(draws.REAL).map(call), reference=lambda a: a),
    Row("full", filled()),
    Row("full_like", alike(value=True)),
    Row("linspace", spaced(), ulps=2),
    Row("meshgrid", grids()),
    Row("ones", shaped()),
    Row("ones_like", alike()),
    Row("zeros", shaped()),
    Row("zeros_like", alike()),
    Row("astype", cast()),
    Row("can_cast", castings(), check=cast_is),
    Row("finfo", st.sampled_from(draws.INEXACT).map(lambda d: call(np.dtype(d))), check=finfo_has),
    Row("iinfo", st.sampled_from(draws.INTEGER).map(lambda d: call(np.dtype(d))), check=iinfo_has),
    Row("isdtype", questions()),
    Row("result_type", promotions(), check=promoted_is),
]
