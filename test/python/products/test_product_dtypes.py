"""Products of every dtype and of two dtypes, beside NumPy: integers wrap, of bool it is any of the ands."""

from __future__ import annotations

import itertools
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu.linalg.products import product

Array = np.ndarray[Any, Any]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES = ["bool", *INTEGERS, "float16", "float32", "float64"]
SHAPES = [
    ((2, 3), (3, 4)),
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((2, 0), (0, 3)),
    ((0, 3), (3, 2)),
    ((0,), (0,)),
    ((5, 1, 2, 3), (3, 3, 4)),
    ((3,), (2, 3, 4)),
    ((2, 2, 3), (3,)),
    ((17, 33), (33, 9)),
]
BYTES = ("int8", "uint8")


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Integers of the whole range of the dtype; floats whose products are exact in float16."""
    if dtype == "bool":
        return rng.integers(0, 4, shape) == 0
    if dtype.startswith("float"):
        return rng.integers(-4, 5, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def agree(got: ng.GPUTensor, want: Any, a: Array, b: Array) -> None:
    """The bits of NumPy's, of the same shape and dtype; where integers became floats, within the bound of any order."""
    want = np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype.name), (a.dtype, b.dtype, a.shape, b.shape)
    if want.dtype.kind != "f" or (a.dtype.kind == b.dtype.kind == "f"):
        np.testing.assert_array_equal(got.get(), want)
        return
    sizes = np.matmul(np.abs(a.astype("float64")), np.abs(b.astype("float64")))
    k = a.shape[-1]
    bound = 4 * (k + 2) * np.finfo(want.dtype).eps * sizes  # both are wrong by half of it at most
    assert (np.abs(got.get().astype("float64") - want.astype("float64")) <= bound).all()


@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_two_dtypes_become_what_they_promote_to(
    rng: np.random.Generator, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    pairs = (
        list(itertools.product(DTYPES, DTYPES))
        if len(first) == len(second) == 2
        else zip(DTYPES, DTYPES[::-1], strict=True)
    )
    for d, e in [*pairs, ("bool", "bool"), ("float64", "float64"), ("int64", "int64"), ("int8", "int8")]:
        a, b = draw(rng, first, d), draw(rng, second, e)
        with np.errstate(all="ignore"):
            want = np.matmul(a, b)
        if want.dtype == np.float16 and "float16" != d != e:
            continue  # bytes as float16: NumPy rounds every sum
        agree(product(ng.array(a), ng.array(b)), want, a, b)
        if d in BYTES and e in BYTES:  # as documented
            want = np.matmul(a, b, dtype=np.int32)
        agree(ng.matmul(ng.array(a), ng.array(b)), want, a, b)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "int64", "float64"])
def test_views_are_operands(rng: np.random.Generator, dtype: str) -> None:
    a, b = draw(rng, (19, 26), dtype), draw(rng, (14, 19), dtype)
    da, db = ng.array(a), ng.array(b)
    agree(product(da.T, db.T), a.T @ b.T, a.T, b.T)
    agree(product(da[:, ::2], db[:13, ::-1]), a[:, ::2] @ b[:13, ::-1], a[:, ::2], b[:13, ::-1])
    agree(product(da[:14, 3], db[:, 2]), a[:14, 3] @ b[:, 2], a[:14, 3], b[:, 2])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_dtype_that_is_asked_for(rng: np.random.Generator, dtype: str) -> None:
    for d, e in itertools.product(("bool", "int8", "uint8", "int32", "float32"), ("int8", "float64", "bool")):
        a, b = draw(rng, (5, 3), d), draw(rng, (3, 4), e)
        try:
            with np.errstate(all="ignore"):
                want = np.matmul(a, b, dtype=dtype)
        except TypeError:
            which = r"[ab] has dtype \w+; needs one that converts to " + dtype
            with pytest.raises(TypeError, match=which):
                ng.matmul(ng.array(a), ng.array(b), dtype=dtype)
            continue
        if want.dtype == np.float16 and not (d.startswith("float") and e.startswith("float")):
            continue  # NumPy rounds every sum
        agree(ng.matmul(ng.array(a), ng.array(b), dtype=dtype), want, a, b)


@pytest.mark.parametrize("dtype", INTEGERS[:6])
def test_bytes_wrap(dtype: str) -> None:
    """Sums of bytes that no int32 holds have the low bits of the exact ones."""
    a = np.full((1, 140_000), 255 if dtype[0] == "u" else -128, "uint8" if dtype[0] == "u" else "int8")
    exact = int(a[0, 0]) ** 2 * a.size
    assert exact > np.iinfo(np.int32).max
    got = ng.matmul(ng.array(a), ng.array(a).T, dtype=dtype)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.get(), np.array([[exact]]).astype(dtype))


@pytest.mark.parametrize(("operands", "dtype"), [("bool", None), ("int8", "int8"), ("uint8", "int16")])
def test_bytes_and_bools_have_kernels_of_products(rng: np.random.Generator, operands: str, dtype: str | None) -> None:
    x = ng.array(draw(rng, (32, 32), operands))
    plan = ng.explain(ng.matmul(x, x, dtype=dtype))
    assert "reduc" not in plan and "sum" not in plan, plan


def test_float64_sums_are_within_their_bound(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((7, 301)), rng.standard_normal((301, 5))
    got = ng.matmul(ng.array(a), ng.array(b)).get()
    exact = (a.astype(np.longdouble)[:, :, None] * b.astype(np.longdouble)).sum(1)
    bound = 301 * 2.0**-53 * (np.abs(a) @ np.abs(b))
    assert (np.abs(got - exact) <= bound).all()
    mixed = ng.matmul(ng.array(a.astype(np.float32)), ng.array(b)).get()
    exact = (a.astype(np.float32).astype(np.longdouble)[:, :, None] * b.astype(np.longdouble)).sum(1)
    assert mixed.dtype == np.float64 and (np.abs(mixed - exact) <= bound).all()


def test_special_values() -> None:
    a = np.array([[np.inf, 1.0], [np.nan, 0.0], [1e308, 1e308], [-0.0, -0.0]])
    b = np.array([[1.0, 0.0], [2.0, 1.0]])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ng.matmul(ng.array(a), ng.array(b)).get(), a @ b)


def test_results_go_where_they_are_asked_to(rng: np.random.Generator) -> None:
    a, b = draw(rng, (3, 4), "int32"), draw(rng, (4, 5), "int64")
    out = ng.zeros((3, 5), "float64")
    assert ng.matmul(ng.array(a), ng.array(b), out=out) is out
    np.testing.assert_array_equal(out.get(), (a @ b).astype(np.float64))
    with pytest.raises(ValueError, match=r"matmul: out has shape \(3, 5\); needs one that the result's, \(3, 3\)"):
        ng.matmul(ng.array(a), ng.array(a.T.copy()), out=out)
    with pytest.raises(ValueError, match="both stream and arguments of ufuncs"):
        ng.matmul(ng.array(a), ng.array(b), ng.Stream(), dtype="int64")
