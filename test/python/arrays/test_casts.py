"""Casts among all dtypes, beside NumPy and the rule of the docs: floats become integers towards zero and saturate;
NaN is 0.

On the instructions of each family of chips: NaN and what lies outside an integer's range are the chip's own business.
"""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import nervanagpu as ng
import numpy as np
import pytest

Array = np.ndarray[Any, Any]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
DTYPES = [*FLOATS, *INTEGERS, "bool"]
PROGRAM = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_casts as t; t.check_all()"


def numpy_dtype(name: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def sample(dtype: str) -> Array:
    """Special values, the limits of every integer dtype and what is next to them, and random bit patterns."""
    rng = np.random.default_rng(list(dtype.encode()))
    limits = [v + d for name in INTEGERS for v in (np.iinfo(name).min, np.iinfo(name).max) for d in (-1, 0, 1)]
    if dtype == "bool":
        return rng.integers(0, 2, 500).astype(bool)
    if dtype in INTEGERS:
        i = np.iinfo(dtype)
        few = [v for v in limits if i.min <= v <= i.max]
        return np.concatenate([np.array(few, dtype), rng.integers(i.min, i.max, 500, dtype, endpoint=True)])
    d = numpy_dtype(dtype)
    with np.errstate(all="ignore"):
        near = np.array([float(v) * s for v in limits for s in (1 - 2.0**-7, 1 - 2.0**-20, 1, 1 + 2.0**-20)])
        special = [0.0, -0.0, 0.5, -0.5, 0.999, 1.5, -1.5, 2.5, np.inf, -np.inf, 1e-40, 1e30, -1e30]
        ordinary = rng.standard_normal(300) * 10.0 ** rng.integers(0, 22, 300)
        values = np.concatenate([near, special, ordinary]).astype(d)
    bits = rng.integers(0, 256, 2000 * d.itemsize, np.uint8).view(d)
    nans = np.array([np.nan, -np.nan]).astype(d)
    return np.concatenate([values, nans, bits])


def expected(x: Array, to: str) -> Array:
    d = numpy_dtype(to)
    with np.errstate(all="ignore"):
        if to not in INTEGERS or x.dtype.kind in "biu":
            return x.astype(d)
        wide = np.trunc(x.astype(np.float64))
        i = np.iinfo(to)
        inside = (wide >= float(i.min)) & (wide < float(i.max) + (1 if d.itemsize < 8 else 0))
        out = np.where(inside, wide, 0).astype(d)
        out[wide < float(i.min)] = i.min
        out[wide >= float(i.max)] = i.max
        return out


def check(dtype: str, to: str) -> None:
    x = sample(dtype)
    want = expected(x, to)
    t = ng.array(x)
    for how, got in (
        ("astype", t.astype(to)),
        ("astype of an expression", ng.where(True, t, t).astype(to)),
        ("one element each", ng.where(True, t[::2], t[::2]).astype(to)),
    ):
        g, w = got.get(), want[::2] if how.startswith("one") else want
        assert g.dtype == w.dtype
        if to in FLOATS:
            with np.errstate(invalid="ignore"):
                same = (g == w) & (np.signbit(g) == np.signbit(w)) | np.isnan(g) & np.isnan(w)
        else:
            same = g == w
        wrong = np.flatnonzero(~same)
        source = x[::2] if how.startswith("one") else x
        listed = [(source[k], g[k], w[k]) for k in wrong[:5]]
        assert not wrong.size, f"{how}, {dtype} to {to}: {wrong.size} of {g.size}: {listed}"


def written(x: Array, to: str, write: Callable[[ng.GPUTensor, Array], object]) -> ng.GPUTensor:
    out = ng.zeros(x.shape, dtype=to)
    write(out, x)
    return out


FROM_HOST: dict[str, Callable[[Array, str], ng.GPUTensor]] = {
    "x[...] =": lambda x, to: written(x, to, lambda out, x: out.__setitem__(..., x)),
    "a leading axis": lambda x, to: written(x, to, lambda out, x: out.__setitem__(..., x[None])),
    "x[::-1] =": lambda x, to: written(x, to, lambda out, x: out[::-1].__setitem__(slice(None), x[::-1])),
    "by indices": lambda x, to: written(x, to, lambda out, x: out.__setitem__(np.arange(x.size), x)),
    "by a mask": lambda x, to: written(x, to, lambda out, x: out.__setitem__(np.ones(x.size, bool), x)),
    "copyto": lambda x, to: written(x, to, lambda out, x: ng.copyto(out, x, casting="unsafe")),
    "array": lambda x, to: ng.array(x, dtype=to),
    "asarray": lambda x, to: ng.asarray(x, dtype=to),
    "full": lambda x, to: ng.full(x.shape, x, dtype=to),
    "the other order of bytes": lambda x, to: ng.array(x.astype(x.dtype.newbyteorder()), dtype=to),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("how", FROM_HOST)
def test_arrays_of_the_host(dtype: str, how: str) -> None:
    """The host's processor converts NaN and what integers do not hold in its own way; here nothing depends on it."""
    x = sample(dtype)
    for to in INTEGERS:
        got = FROM_HOST[how](x, to).get()
        assert got.dtype == to and np.array_equal(got, expected(x, to)), to


NUMBERS = [np.nan, 300.5, [np.nan, 1.0], [1e30, 1.0], [300.5, 1], (np.float32(np.nan), 1)]
SCALARS = [np.float32(np.nan), np.float64(-np.inf), np.float16(300)]  # by indices NumPy takes them as arrays
WRITES = list(itertools.product([..., slice(None)], NUMBERS + SCALARS))
WRITES += itertools.product([[0, 1], np.array([True, True])], NUMBERS)


@pytest.mark.parametrize(("key", "value"), WRITES)
def test_numbers_that_integers_do_not_hold_are_refused(key: Any, value: Any) -> None:
    errors = []
    for lib in (np, ng):
        x = lib.zeros(2, dtype="int8")
        with pytest.raises((ValueError, OverflowError)) as refused:
            x[key] = value
        errors.append(refused.type)
        assert x.tolist() == [0, 0]
    assert errors[0] is errors[1]


def check_all() -> None:
    for dtype, to in itertools.product(DTYPES, DTYPES):
        check(dtype, to)


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cast(dtype: str, to: str) -> None:
    check(dtype, to)


@pytest.mark.parametrize("arch", ["sm_52", "sm_80"])
def test_on_other_chips(arch: str, python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = python(PROGRAM, device="emulator", emulator_arch=arch)
    assert done.returncode == 0, done.stderr
