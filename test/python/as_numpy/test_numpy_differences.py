"""Where results differ from NumPy's on purpose: the list of docs/names.md."""

from __future__ import annotations

import nervanagpu as ng
import nervanagpu.cupy as cp
import numpy as np
import pytest
from source_tree import ROOT


def test_defaults_are_float32() -> None:
    for xp, dtype in ((ng, "float32"), (cp, "float64")):
        made = [xp.zeros(2), xp.ones(2), xp.eye(2), xp.full(2, 2.5), xp.random.rand(2), xp.random.standard_normal(2)]
        assert {str(x.dtype) for x in made} == {dtype}


def test_random_integers_are_int32() -> None:
    for size in (3, (2, 3)):
        assert ng.random.randint(0, 5, size).dtype == np.int32
        assert cp.random.randint(0, 5, size).dtype == ng.random.default_rng(0).integers(0, 5, size).dtype == np.int64


def test_results_without_axes_are_tensors() -> None:
    x = ng.array([1.0, 2.5])
    assert isinstance(x.sum(), ng.GPUTensor) and isinstance(x[1], ng.GPUTensor)
    assert float(x[1:]) == 2.5 and float(x[1:].reshape(1, 1)) == 2.5


def test_products_of_bytes_are_int32() -> None:
    a, b = ng.array(np.array([[100]], np.int8)), ng.array(np.array([[2]], np.int8))
    assert (a @ b).dtype == np.int32 and int(ng.dot(a, b)) == 200


def test_floats_become_integers_that_saturate() -> None:
    got = ng.array([-1.5, 300, np.nan, np.inf]).astype("uint8").get()
    np.testing.assert_array_equal(got, [0, 255, 0, 255])


def test_float16_is_rounded_at_the_end() -> None:
    x = ng.array(np.float16([1000]))
    np.testing.assert_array_equal((x * x / x).get(), np.float16([1000]))  # NumPy: inf


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ng.where(x > 0, x, 300),
        lambda x: ng.select([x > 0], [x], 300),
        lambda x: ng.choose(ng.array([0]), [x, 300]),
    ],
)
def test_integers_that_do_not_fit(call) -> None:
    with pytest.raises(OverflowError, match="300"):
        call(ng.array(np.uint8([1])))


def test_copies_lie_by_rows() -> None:
    x = ng.ones((2, 3)).T
    for made in (ng.array(x), ng.copy(x), x.copy(), x.astype("float64"), ng.zeros_like(x)):
        assert made.flags.c_contiguous
    assert ng.array(x, order="K").flags.f_contiguous


def test_order_of_unique_values_and_numbers_of_bools() -> None:
    np.testing.assert_array_equal(ng.unique_values([3, 1, 2]).get(), [1, 2, 3])
    x = ng.array([True, False])
    assert float(ng.percentile(x, 50)) == 0.5
    np.testing.assert_array_equal(ng.round(x, 1).get(), [1, 0])


def test_quantiles_on_an_infinite_element() -> None:
    assert float(ng.quantile([-np.inf, 0.0, 1.0, 2.0, 3.0], 0.25)) == 0.0
    assert float(ng.quantile([-np.inf, -np.inf, 1.0, 2.0, 3.0], 0.25)) == -np.inf


@pytest.mark.parametrize(
    "name", "ma char strings datetime64 timedelta64 isnat busday_count rec fromregex matrix".split()
)
def test_absent(name: str) -> None:
    page = (ROOT / "docs/names.md").read_text(encoding="utf-8").split("## Counts")[0]
    assert f"`{name}`" in page
    with pytest.raises(AttributeError, match=r"tensors|fields"):
        getattr(ng, name)
