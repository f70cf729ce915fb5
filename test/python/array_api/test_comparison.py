"""The comparison of the rows can fail: each kind of wrong result is one."""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import numpy as np
import pytest

from .calls import Row, call, compare, run, same

ONE = np.ones(3, np.float32)


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (ng.array(ONE), ONE.astype(np.float64)),  # another dtype
        (ng.array(ONE), ONE[:2]),  # another shape
        (ng.array(ONE), ONE[:, None]),
        (ng.array(ONE), np.array([1, 1, 2], np.float32)),
        (ng.array(ONE), np.array([1, 1, np.nan], np.float32)),
        (ng.array(np.array([-0.0], np.float32)), np.array([0.0], np.float32)),
        (ng.array(np.array([np.nan], np.float32)), np.array([1.0], np.float32)),
        (1.0, np.float32(1)),  # no tensor
        ((ng.array(ONE),), (ONE, ONE)),
        (2, 1),
    ],
)
def test_wrong_results_are_found(got: Any, want: Any) -> None:
    with pytest.raises(AssertionError):
        compare(got, want)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1.001, -1.0])
def test_wrong_within_a_bound_is_found(wrong: float) -> None:
    same(ONE, ONE, 4)
    with pytest.raises(AssertionError):
        same(np.array([1, 1, wrong], np.float32), ONE, 4)
    with pytest.raises(AssertionError):
        same(ONE, np.array([1, 1, wrong], np.float32), 4, 1e-6)


def test_an_infinity_of_the_other_sign_is_found() -> None:
    one = np.array([np.inf], np.float64)
    same(one, one, 4)
    for wrong in (-np.inf, np.nan, 1.0):
        with pytest.raises(AssertionError):
            same(np.array([wrong]), one, 4)


def test_a_complex_part_that_is_wrong_is_found() -> None:
    want = np.array([1 + 2j, 3j], np.complex64)
    same(want, want, 4)
    for wrong in (want.conj(), want * np.complex64(1.001), np.array([1 + 2j, complex(np.nan, 3)], np.complex64)):
        with pytest.raises(AssertionError):
            same(wrong, want, 4)


def test_a_row_of_another_function_fails() -> None:
    from hypothesis import strategies as st

    made = call(np.array([0.5, 2.0], np.float32))
    run(Row("sin", st.just(made), ulps=4, wide=True), made)
    with pytest.raises(AssertionError):
        run(Row("sin", st.just(made), ulps=4, wide=True, reference=np.cos), made)
