"""numpy.random's names: moments and ranges beside what the distributions have, and that seeds repeat."""

from __future__ import annotations

import math

import nervanagpu as ng
import numpy as np
import pytest

N = 40000
# Name, parameters, mean and standard deviation of the distribution.
MOMENTS = [
    ("random", (), 0.5, 12**-0.5),
    ("uniform", (-1.0, 3.0), 1.0, 4 * 12**-0.5),
    ("standard_normal", (), 0.0, 1.0),
    ("normal", (2.0, 3.0), 2.0, 3.0),
    ("lognormal", (0.0, 0.25), math.exp(0.03125), math.exp(0.03125) * math.sqrt(math.exp(0.0625) - 1)),
    ("exponential", (2.0,), 2.0, 2.0),
    ("laplace", (1.0, 2.0), 1.0, 2 * 2**0.5),
    ("logistic", (1.0, 0.5), 1.0, 0.5 * math.pi / 3**0.5),
    ("gumbel", (0.0, 1.0), 0.5772156649, math.pi / 6**0.5),
    ("rayleigh", (1.5,), 1.5 * (math.pi / 2) ** 0.5, 1.5 * (2 - math.pi / 2) ** 0.5),
    ("weibull", (2.0,), math.gamma(1.5), (math.gamma(2) - math.gamma(1.5) ** 2) ** 0.5),
    ("pareto", (6.0,), 1 / 5, math.sqrt(6 / (25 * 4))),
    ("triangular", (0.0, 1.0, 4.0), 5 / 3, math.sqrt((16 + 1 - 4) / 18)),
]


@pytest.mark.parametrize(("name", "parameters", "mean", "deviation"), MOMENTS, ids=[m[0] for m in MOMENTS])
def test_moments(name, parameters, mean, deviation):
    x = getattr(ng.random.default_rng(7), name)(*parameters, size=N).get()
    assert x.shape == (N,) and x.dtype == np.float32 and np.isfinite(x).all()
    assert abs(x.mean() - mean) <= 5 * deviation / N**0.5
    assert abs(x.std() - deviation) <= 0.05 * deviation
    again = getattr(ng.random.default_rng(7), name)(*parameters, size=N).get()
    np.testing.assert_array_equal(x, again)
    other = getattr(ng.random.default_rng(8), name)(*parameters, size=N).get()
    assert (x != other).mean() > 0.9


def test_names_of_the_module_follow_the_seed():
    ng.seed(3)
    first = ng.random.normal(size=(2, 3)).get()
    ng.seed(3)
    np.testing.assert_array_equal(ng.random.normal(size=(2, 3)).get(), first)
    assert ng.random.uniform().shape == () and ng.random.random(4).shape == (4,)
    assert ng.random.normal(np.zeros((3, 1)), np.ones(2)).shape == (3, 2)


def test_whole_numbers_and_choices():
    rng = ng.random.default_rng(1)
    x = rng.integers(-2, 3, 5000).get()
    assert x.dtype == np.int64 and set(x) == {-2, -1, 0, 1, 2}
    assert set(rng.integers(3, size=2000, endpoint=True).get()) == {0, 1, 2, 3}
    order = rng.permutation(100).get()
    assert sorted(order) == list(range(100)) and (order != np.arange(100)).any()
    y = ng.array(np.arange(20.0))
    rng.shuffle(y)
    assert sorted(y.tolist()) == list(range(20))
    assert len(set(rng.choice(50, 50, replace=False).tolist())) == 50
    likely = rng.choice(ng.array([10, 20, 30]), 20000, p=[0.5, 0.0, 0.5]).get()
    assert set(likely) == {10, 30} and abs((likely == 10).mean() - 0.5) < 0.02
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    z = rng.multivariate_normal([1.0, -1.0], cov, 30000).get()
    np.testing.assert_allclose(np.cov(z.T), cov, atol=0.08)
    np.testing.assert_allclose(z.mean(0), [1, -1], atol=0.05)
    for wrong in (
        lambda: rng.integers(3, 3),
        lambda: rng.choice(3, 4, replace=False),
        lambda: rng.choice(3, p=[0.5, 0.5]),
        lambda: rng.triangular(2, 1, 0),
        lambda: ng.random.default_rng(-1),
    ):
        with pytest.raises(ValueError, match="needs"):
            wrong()
    with pytest.raises(AttributeError, match="no_such"):
        _ = ng.random.no_such
