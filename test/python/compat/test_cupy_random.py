"""Generators of CuPy's package: float64 numbers, unless dtype says otherwise; the library's are float32."""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import nervanagpu.cupy as cp
import numpy as np
import pytest

FLOATS: dict[str, tuple[Any, ...]] = {
    "random": (), "standard_normal": (), "standard_exponential": (), "normal": (1.0, 2.0), "uniform": (1.0, 3.0),
    "exponential": (2.0,), "gamma": (2.0, 1.5), "beta": (1.0, 2.0), "laplace": (), "logistic": (), "gumbel": (),
    "chisquare": (3.0,), "standard_t": (4.0,), "dirichlet": ([1.0, 2.0],), "lognormal": (), "rayleigh": (),
    "triangular": (0.0, 1.0, 2.0), "vonmises": (0.0, 1.0), "wald": (1.0, 2.0), "weibull": (2.0,), "pareto": (3.0,),
    "multivariate_normal": ([0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]]), "standard_cauchy": (), "power": (2.0,),
}  # fmt: skip


@pytest.mark.parametrize("name", FLOATS)
def test_dtypes(name: str) -> None:
    theirs = getattr(np.random.default_rng(1), name)(*FLOATS[name], size=(3, 2))
    for made in (cp.random.default_rng(1), cp.random.RandomState(1)):
        got = getattr(made, name)(*FLOATS[name], size=(3, 2))
        assert (got.shape, got.dtype) == (theirs.shape, theirs.dtype) == (theirs.shape, np.float64)
    assert getattr(ng.random.default_rng(1), name)(*FLOATS[name], size=(3, 2)).dtype == np.float32


def test_asked_dtypes_and_out() -> None:
    rng = cp.random.default_rng(3)
    for name in ("random", "standard_normal", "standard_exponential"):
        assert getattr(rng, name)(4, dtype=np.float32).dtype == np.float32
        assert getattr(rng, name)(4, dtype="float32").dtype == np.float32
        out = cp.zeros(4)
        assert getattr(rng, name)(out=out) is out and float(abs(out).max()) > 0
    assert rng.integers(0, 9, 4).dtype == np.int64 and rng.poisson(3.0, 4).dtype == np.int64


def test_fine_numbers() -> None:
    """Half of them are no multiples of 2**-24, and they spread over [0, 1) evenly."""
    x = cp.random.default_rng(5).random(4096).get()
    assert (x * 2**24 % 1 != 0).mean() > 0.99 and (x * 2**48 % 1 == 0).all()
    assert abs(x.mean() - 0.5) < 0.03 and 0 <= x.min() < 0.01 and 0.99 < x.max() < 1
    z = cp.random.RandomState(5).randn(4096).get()
    assert abs(z.mean()) < 0.08 and abs(z.std() - 1) < 0.06
    assert not np.array_equal(*(r.random(4).get() for r in cp.random.default_rng(7).spawn(2)))
