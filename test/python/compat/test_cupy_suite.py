"""The stand-in for cupy.testing, and the counts of CuPy's own tests (tools/cupy_tests.py).

CUPY_TESTS=DIR, a checkout of CuPy, runs one of its files again: no fewer cases pass than the JSON says.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import nervanagpu.cupy as cp
import numpy as np
import pytest
from source_tree import ROOT

sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "test/python")]
import cupy_tests  # noqa: E402
from cupy_suite import testing  # noqa: E402


def test_equal_results_pass():
    seen = []

    @testing.for_dtypes(["int8", "float32"])
    @testing.numpy_cupy_array_equal()
    def body(xp, dtype):
        seen.append((xp, dtype))
        return xp.arange(3, dtype=dtype) * 2

    body()
    assert len(seen) == 4 and {xp for xp, _ in seen} == {cp, np}
    testing.numpy_cupy_allclose(rtol=1e-3)(lambda xp: xp.array([1.0, float("nan")]) + 1e-5 * (xp is cp))()
    testing.numpy_cupy_array_equal(accept_error=ValueError)(lambda xp: xp.ones(2).reshape(3))()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (lambda xp: xp.arange(3) + (xp is cp), "Arrays are not equal"),
        (lambda xp: xp.ones(2, "float32" if xp is cp else "float64"), "dtype"),
        (lambda xp: xp.ones(2 if xp is cp else (2, 1)), "shape"),
        (lambda xp: xp.array([np.nan if xp is cp else 1.0]), "Arrays are not equal"),
        (lambda xp: 1 if xp is cp else xp.ones(2), "a int"),
        (lambda xp: xp.no_such_name if xp is cp else xp.ones(1), "only this raises"),
        (lambda xp: xp.ones(1) if xp is cp else xp.no_such_name, "only NumPy raises"),
        (lambda xp: xp.ones(2).reshape(3), "not accepted"),
    ],
)
def test_other_results_do_not(body, words):
    with pytest.raises(AssertionError, match=words):
        testing.numpy_cupy_array_equal()(body)()


def test_other_errors_do_not_pass():
    def body(xp):
        raise IndexError("ours") if xp is cp else TypeError("theirs")

    with pytest.raises(AssertionError, match="this raises IndexError"):
        testing.numpy_cupy_raises()(body)()
    with pytest.raises(AssertionError, match="neither raises"):
        testing.numpy_cupy_raises()(lambda xp: xp.ones(1))()


def test_products_and_combinations():
    assert testing.product({"a": [1, 2], "b": [3]}) == [{"a": 1, "b": 3}, {"a": 2, "b": 3}]
    pairs = []
    testing.for_dtypes_combination([np.int8, np.float32], ["x", "y"], full=True)(lambda x, y: pairs.append((x, y)))()
    assert len(set(pairs)) == 4


def test_counts_add_up():
    result = json.loads(cupy_tests.RESULT.read_text(encoding="utf-8"))
    rows, total = result["rows"], result["total"]
    for key in ("passed", "failed", "skipped"):
        assert sum(r[key] for r in rows) == total[key]
    for row in rows:
        assert sum(row["reasons"].values()) == row["failed"] and row["file"] in cupy_tests.FILES
    assert len(rows) >= 20
    assert abs(total["share"] - total["passed"] / (total["passed"] + total["failed"])) < 1e-3


def test_reasons_are_found():
    assert cupy_tests.reason_of("AssertionError: dtype int8; NumPy has int64") == "another dtype than NumPy's"
    assert cupy_tests.reason_of("Strange: of no kind\nmore") == "Strange: of no kind"
    assert cupy_tests.reason_of("AssertionError: \nArrays are not equal\n\nMismatched elements: 1") == (
        "other numbers than NumPy's"
    )


def test_what_is_drawn_may_be_singular():
    from cupy_suite import corners

    drawn = iter([0.0, 0.0, 2.0])

    @corners.retry(3)
    def body():
        return float(np.linalg.inv([[next(drawn)]])[0, 0])

    assert body() == 0.5
    with pytest.raises(np.linalg.LinAlgError):
        corners.retry(2)(lambda: np.linalg.inv([[0.0]]))()


@pytest.mark.skipif("CUPY_TESTS" not in os.environ, reason="CUPY_TESTS names no checkout of CuPy")
def test_a_file_of_cupys():
    rows = {r["file"]: r for r in json.loads(cupy_tests.RESULT.read_text(encoding="utf-8"))["rows"]}
    name = "sorting/test_count"
    now = cupy_tests.counted(name, cupy_tests.run(Path(os.environ["CUPY_TESTS"]), name, 600))
    assert now["passed"] >= rows[name]["passed"] > 0
