"""Every function of nervanagpu.function_table that NumPy has gives what NumPy gives, called as its parameters say.

Arguments are drawn by the names of parameters: dtypes, shapes with zeros and without axes, axes, masks, dtype=, ddof=
and so on. DIFFERENT says where a function does not do as NumPy on purpose; in long runs one that does is a failure
until its line is gone.
"""

from __future__ import annotations

import inspect
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
import tier
from nervanagpu import function_table

CALLS = tier.drawn(30, 400)
DTYPES = "float32 float64 float16 int8 int16 int32 int64 uint8 uint32 uint64 bool".split()
SHAPES: list[tuple[int, ...]] = [(), (1,), (5,), (0,), (3, 4), (2, 0, 3), (4, 1, 5), (2, 3, 4)]
Rng = np.random.Generator
Array = np.ndarray[Any, Any]

# Functions that want arguments of their own kind; other tests draw those.
OWN_TESTS = (
    "array asarray asanyarray copy empty empty_like finfo iinfo isdtype result_type promote_types can_cast meshgrid "
    "indices ix_ broadcast_shapes fromfunction frombuffer fromiter einsum multi_dot piecewise select choose put "
    "put_along_axis copyto fill_diagonal ravel_multi_index unravel_index tensorinv tensorsolve eig eigvals lstsq "
    "vander compress dot matmul cross linspace logspace geomspace digitize histogram histogram2d "
    "interp pad insert block lexsort unique_values sort_complex polydiv"
).split()
# What differs from NumPy on purpose, by function.
DIFFERENT = {
    "eye": "float32 unless dtype says otherwise",
    "full": "float32 unless dtype says otherwise",
    "identity": "float32 unless dtype says otherwise",
    "ones": "float32 unless dtype says otherwise",
    "tri": "float32 unless dtype says otherwise",
    "zeros": "float32 unless dtype says otherwise",
    "reciprocal": "of the integer 0 0, NumPy's depends on the machine",
    "ascontiguousarray": "what has no axes stays so",
    **dict.fromkeys(("arctan2", "atan2", "hypot", "copysign"), "of int8 with uint8 float32"),
    **dict.fromkeys(("nanvar", "nanstd"), "differences from the mean have dtype, NumPy's are rounded to that of x"),
    "argsort": "what has no axes gives no axes",
    "bincount": "of nothing with weights float64",
    "cumprod": "float16 is multiplied in float32",
    "average": "of float16 with integers as weights float64",
    "diff": "wants an axis",
    "spacing": "of float16 below 0 as of the other floats",
    "polyadd": "of one axis",
    "polysub": "of one axis",
    "polymul": "refuses what has no elements",
}


def drawn(rng: Rng, shape: tuple[int, ...], dtype: Any = None) -> Array:
    kind = np.dtype(str(rng.choice(DTYPES)) if dtype is None else dtype)
    if kind.kind == "b":
        return np.asarray(rng.integers(0, 2, shape).astype(bool))
    if kind.kind == "f":
        return np.asarray((rng.integers(-8, 9, shape) / 2).astype(kind))
    return np.asarray(rng.integers(0 if kind.kind == "u" else -5, 6, shape).astype(kind))


def beside(rng: Rng, x: Array) -> Array:
    """A second operand, which broadcasts with the first."""
    return drawn(rng, [x.shape, x.shape, x.shape[1:], ()][rng.integers(4)])


def an_axis(rng: Rng, x: Array) -> int | None:
    return int(rng.integers(-x.ndim, x.ndim)) if x.ndim else None


def number(low: int, high: int) -> Callable[[Rng, Array], int]:
    return lambda rng, x: int(rng.integers(low, high))


def flag(rng: Rng, x: Array) -> bool:
    return bool(rng.integers(2))


def mask(rng: Rng, x: Array) -> Array:
    return drawn(rng, x.shape, bool)


# By name of the parameter: the argument, given what the first operand is.
ARGUMENTS: dict[str, Callable[[Rng, Array], Any]] = {
    **dict.fromkeys(("b", "x2"), beside),
    **dict.fromkeys(("axis", "axis1", "axis2"), an_axis),
    **dict.fromkeys(("keepdims", "equal_nan", "descending"), flag),
    **dict.fromkeys(("k", "offset", "n", "decimals", "ddof"), number(0, 3)),
    **dict.fromkeys(("source", "destination", "start"), lambda rng, x: int(rng.integers(x.ndim)) if x.ndim else 0),
    **dict.fromkeys(("where", "condition"), mask),
    **dict.fromkeys(("prepend", "append"), number(0, 2)),
    "dtype": lambda rng, x: np.dtype(str(rng.choice(["float32", "float64"]))),
    "initial": number(0, 4),
    "shape": lambda rng, x: x.shape[::-1],
    "shift": number(-4, 5),
    "reps": lambda rng, x: (2, 1),
    "repeats": number(0, 3),
    "sections": number(1, 3),
    "arrays": lambda rng, x: [x, x.astype(str(rng.choice(DTYPES)))],
    "conditions": lambda rng, x: [mask(rng, x)],
    "indices": lambda rng, x: np.array([0, -1]),
    "obj": number(0, 1),
    "values": number(0, 4),
    "weights": lambda rng, x: np.abs(drawn(rng, x.shape, np.float32)) + np.float32(1),
    "low": number(-2, 0),
    "high": number(0, 3),
    "order": lambda rng, x: str(rng.choice(["C", "F"])),
    **dict.fromkeys(("rows", "columns"), number(1, 5)),
}
FIRST = {"x", "a", "f", "y", "x1", "other", "A"}


def keywords_of(theirs: Callable[..., Any]) -> set[str]:
    if isinstance(theirs, np.ufunc):
        return {"where", "dtype"}
    try:
        return set(inspect.signature(theirs).parameters)
    except ValueError:
        return set()


def arguments(rng: Rng, row: function_table.Row, theirs: Callable[..., Any]) -> tuple[list[Any], dict[str, Any]] | None:
    """What to call both with; None where a parameter has a name that is not known here."""
    if row.space == "linalg":
        x = drawn(rng, (3, 3), str(rng.choice(["float32", "float64"])))
        x += 9 * np.eye(3, dtype=x.dtype)
    else:
        x = drawn(rng, SHAPES[rng.integers(len(SHAPES))])
    args: list[Any] = []
    keywords: dict[str, Any] = {}
    known = keywords_of(theirs)
    for p in inspect.signature(row.function).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            args.append(x)
        elif p.default is p.empty and p.kind is not p.VAR_KEYWORD:
            if p.name in FIRST:
                args.append(x if not args else beside(rng, x))
            elif p.name in ARGUMENTS:
                args.append(ARGUMENTS[p.name](rng, x))
            else:
                return None
        elif p.name in known and p.name in ARGUMENTS and rng.random() < 0.35:
            value = ARGUMENTS[p.name](rng, x)
            if value is not None:
                keywords[p.name] = value
    return args, keywords


def ours(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return ng.array(value)
    return [ours(v) for v in value] if isinstance(value, list) else value


def copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def compare(got: Any, want: Any, written: Array | None) -> None:
    """written: where the result is defined, everywhere if None."""
    if isinstance(want, tuple | list):
        assert isinstance(got, tuple | list) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            compare(g, w, written)
        return
    host = np.asarray(got.get() if isinstance(got, ng.GPUTensor) else got)
    want = np.asarray(want)
    assert host.shape == want.shape
    assert host.dtype == want.dtype
    if written is not None:
        written = np.broadcast_to(written, want.shape)
        host, want = host[written], want[written]
    if want.dtype.kind not in "fc":
        np.testing.assert_array_equal(host, want)
        return
    room = {2: 2e-3, 4: 1e-5, 8: 1e-11}[want.dtype.itemsize]
    largest = float(np.max(np.abs(want), initial=1, where=np.isfinite(want)))
    np.testing.assert_allclose(host.astype(float), want.astype(float), rtol=room, atol=room * largest, equal_nan=True)


def cases() -> list[Any]:
    found = []
    for row in function_table.TABLE:
        space = getattr(np, row.space) if row.space else np
        for name in row.names:
            if row.space == "fft":  # test_fft.py
                continue
            if hasattr(space, name) and not isinstance(getattr(space, name), type) and name not in OWN_TESTS:
                found.append(pytest.param(row, getattr(space, name), name, id=f"{row.space or 'ng'}.{name}"))
    return found


# Vectors that are defined up to their sign, which cuSOLVER and LAPACK choose differently.
SIGN_IS_FREE = {"eigh", "svd"}


def magnitudes(value: Any) -> Any:
    """The same without signs."""
    if isinstance(value, tuple | list):
        return tuple(map(magnitudes, value))
    return abs(value)


def shown(name: str, args: list[Any], keywords: dict[str, Any]) -> str:
    def one(v: Any) -> str:
        return f"{v.dtype}{v.shape}" if isinstance(v, np.ndarray) else repr(v)

    return f"{name}({', '.join([*map(one, args), *(f'{k}={one(v)}' for k, v in keywords.items())])})"


@pytest.mark.parametrize(("row", "theirs", "name"), cases())
def test_as_numpy(row: function_table.Row, theirs: Callable[..., Any], name: str) -> None:
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    wrong = []
    for _ in range(CALLS):
        made = arguments(rng, row, theirs)
        if made is None:
            pytest.skip("its arguments are drawn elsewhere")
        args, keywords = made
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                want = theirs(*map(copied, args), **keywords)
            except Exception:  # whatever NumPy raises
                continue
        ufunc_mask = keywords.get("where") if isinstance(theirs, np.ufunc) else None
        try:
            got = row.function(*map(ours, args), **{k: ours(v) for k, v in keywords.items()})
            if name in SIGN_IS_FREE:
                got, want = magnitudes(got), magnitudes(want)
            compare(got, want, ufunc_mask)
        except (AssertionError, TypeError, ValueError) as error:
            wrong.append(f"{shown(name, args, keywords)}: {type(error).__name__} {str(error).strip()[:300]}")
    if name in DIFFERENT:
        assert wrong or not tier.LONG, f"{name} does as NumPy: its line of DIFFERENT can go"
        return
    assert not wrong, f"{len(wrong)} of {CALLS} calls; " + "\n".join(wrong[:3])


def test_a_wrong_function_is_found() -> None:
    row = next(r for r in function_table.TABLE if r.name == "cos")
    with pytest.raises(AssertionError, match="of .* calls"):
        test_as_numpy(row, np.sin, "sin")


def test_what_differs_is_in_the_table() -> None:
    assert DIFFERENT.keys() <= {name for row in function_table.TABLE for name in row.names}
