"""The namespace: constants, dtypes, what it says of itself, names of parameters; and that no function is forgotten."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest

from . import draws
from .calls import XP, find, is_there
from .conftest import FOLDER, known_faults
from .test_rows import ROWS

LIST = (Path(__file__).resolve().parents[2] / "data/names/array_api.txt").read_text(encoding="utf-8")
NAMES = {head: body.split() for head, body in re.findall(r"^\[array_api(.*): .*\]\n([^\[]*)", LIST, re.M)}
FUNCTIONS = [*NAMES[""], *(f"linalg.{n}" for n in NAMES[".linalg"]), *(f"fft.{n}" for n in NAMES[".fft"])]
DTYPES = [*draws.ALL, *draws.COMPLEX]


def test_every_function_and_member_has_a_row() -> None:
    assert {*FUNCTIONS, *(f"array.{n}" for n in NAMES[".array"])} <= {row.name for row in ROWS}


def test_list_of_faults_is_short_and_sorted() -> None:
    faults = known_faults()
    lines = [
        line for line in (FOLDER / "xfail.txt").read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#")
    ]
    assert lines == sorted(set(lines)) and len(lines) == len(faults)
    assert all(faults.values()), "each line has a reason"
    assert len(faults) <= 40
    tests = {f"test_rows.py::test_row[{row}]" for row in ROWS} | {
        f"test_namespace.py::{test}[{n}]" for test, names in PARAMETERS.items() for n in names
    }
    assert faults.keys() <= tests, faults.keys() - tests


@pytest.mark.parametrize("row", ["e", "inf", "nan", "newaxis", "pi"])
def test_constant(row: str) -> None:
    want = {"e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None, "pi": math.pi}[row]
    got = find(row)
    assert got is None if want is None else type(got) is float
    assert got == want or (want != want and got != got)


@pytest.mark.parametrize("row", DTYPES)
def test_dtype(row: str) -> None:
    """Equal to itself and to the dtype of what is made with it, different from every other."""
    dtype = find(row)
    assert XP.zeros(1, dtype=dtype).dtype == dtype
    for other in DTYPES:
        if is_there(other):
            assert (find(other) == dtype) is (other == row)


def test_says_its_version() -> None:
    assert XP.__array_api_version__ == "2024.12"
    x = XP.ones(1)
    assert x.__array_namespace__() is x.__array_namespace__(api_version=None) is XP
    with pytest.raises(ValueError, match="1999"):
        x.__array_namespace__(api_version="1999.12")


@pytest.mark.parametrize("row", ["__array_namespace_info__"])
def test_info(row: str) -> None:
    info = find(row)()
    assert info.capabilities().keys() >= {"boolean indexing", "data-dependent shapes", "max dimensions"}
    device = info.default_device()
    assert device in info.devices()
    defaults = info.default_dtypes(device=device)
    assert XP.ones(1).dtype == defaults["real floating"]
    assert XP.arange(3).dtype == defaults["integral"]
    assert XP.argmax(XP.ones(3)).dtype == defaults["indexing"]
    every = info.dtypes()
    assert all(XP.zeros(1, dtype=dtype).dtype == dtype for dtype in every.values())
    assert {*draws.ALL} <= {*every}
    assert [*info.dtypes(kind="bool")] == ["bool"]
    assert {*info.dtypes(kind="unsigned integer")} == {*draws.UNSIGNED}
    assert {*info.dtypes(kind=("signed integer", "real floating"))} == {*draws.SIGNED, *draws.FLOATING}
    with pytest.raises(ValueError, match="no kind"):
        info.dtypes(kind="no kind")


def positions(signature: inspect.Signature) -> list[str]:
    return [p.name for p in signature.parameters.values() if p.kind is p.POSITIONAL_ONLY]


@pytest.mark.parametrize("row", FUNCTIONS)
def test_parameters(row: str) -> None:
    """As array-api-strict has them: what has a name there may be given by that name, the others by their place."""
    strict: Any = pytest.importorskip("array_api_strict")
    for word in row.split(".")[:-1]:
        strict = getattr(strict, word)
    wanted = inspect.signature(getattr(strict, row.split(".")[-1]))
    got = inspect.signature(find(row)).parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in got.values())
    for name, p in wanted.parameters.items():
        if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD):
            assert takes_all or (name in got and got[name].kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)), name
            if name in got and p.default is not p.empty and name != "device":
                assert got[name].default is not p.empty, f"{name} has a default"
    places = [p for p in got.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not any(p.kind is p.VAR_POSITIONAL for p in got.values()):
        assert len(places) >= len(positions(wanted))
        for i, p in enumerate(wanted.parameters.values()):
            if p.kind is p.POSITIONAL_OR_KEYWORD:
                assert len(places) > i and places[i].name == p.name, f"parameter {i} is {p.name}"
    needed = [
        p.name for p in got.values() if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    given = [p for p in wanted.parameters.values() if p.default is p.empty]
    assert len(needed) <= len(given), f"{needed} have no default"


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_arrays_are_seen_by_others(dtype: str) -> None:
    """What takes any array of the standard tells by this that it is one."""
    x = XP.ones((2, 3), dtype=find(dtype))
    assert isinstance(x, ng.GPUTensor) and hasattr(x, "__array_namespace__")
    np.testing.assert_array_equal(x.get(), np.ones((2, 3), dtype))


PARAMETERS = {
    "test_constant": ["e", "inf", "nan", "newaxis", "pi"],
    "test_dtype": DTYPES,
    "test_info": ["__array_namespace_info__"],
    "test_parameters": FUNCTIONS,
}


def test_broadcast_arrays_gives_a_list() -> None:
    made = XP.broadcast_arrays(ng.ones(3), ng.ones((2, 1)))
    assert type(made) is list and [m.shape for m in made] == [(2, 3)] * 2


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floor_divide_beside_infinities_is_the_standards(dtype: str) -> None:
    """The floor of the quotient, where NumPy and the operator have NaN and -1."""
    a = [math.inf, math.inf, -math.inf, -math.inf, 2.0, -2.0, 2.0, -7.0, math.inf, math.nan]
    b = [2.0, -2.0, 2.0, -2.0, -math.inf, math.inf, math.inf, 2.0, -math.inf, math.inf]
    want = np.array([math.inf, -math.inf, -math.inf, math.inf, -0.0, -0.0, 0.0, -4.0, math.nan, math.nan], dtype)
    got = XP.floor_divide(XP.asarray(a, dtype=find(dtype)), XP.asarray(b, dtype=find(dtype))).get()
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype and np.array_equal(np.signbit(got)[:8], np.signbit(want)[:8])
    np.testing.assert_array_equal(XP.floor_divide(XP.asarray([7, -7]), 2).get(), [3, -4])


@pytest.mark.parametrize("dtype", draws.COMPLEX)
def test_signs_of_complex_zeros_are_the_standards(dtype: str) -> None:
    inf, nan = np.inf, np.nan
    a = np.array([complex(*z) for z in ((inf, 2), (inf, -2), (-inf, 2), (inf, nan), (1, 1), (-0.0, 0.0))], dtype)
    got = XP.tanh(XP.asarray(a)).get()
    np.testing.assert_array_equal(got.real[:4], [1, 1, -1, 1])
    np.testing.assert_array_equal(np.signbit(got.imag[:3]), [False, True, False])
    np.testing.assert_allclose(got[4], np.tanh(a[4]), rtol=1e-6)
    assert got.dtype == dtype and np.signbit(got[5].real)
    zeros = XP.expm1(XP.asarray(a[5:])).get()
    assert zeros == 0 and not np.signbit(zeros.real) and not np.signbit(zeros.imag)
    np.testing.assert_allclose(XP.expm1(XP.asarray(a[4:5])).get(), np.expm1(a[4:5]), rtol=1e-6)
    assert str(XP.tanh(XP.asarray([1.0])).dtype) == str(XP.expm1(XP.asarray([1.0])).dtype) == "float64"
