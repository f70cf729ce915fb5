"""numpy.random's distributions beside NumPy's numbers (Kolmogorov and Smirnov's distance), their moments, refusals."""

from __future__ import annotations

import collections
import copy

import nervanagpu as ng
import nervanagpu.cupy as cp
import numpy as np
import pytest

N, MANY = 10000, 200000
# Of the distributions that have no simple moments, or several ways to be computed: name and parameters.
CONTINUOUS = [
    ("standard_gamma", (0.3,)), ("standard_gamma", (2.5,)), ("gamma", (400.0, 0.5)), ("beta", (0.4, 0.2)),
    ("beta", (5.0, 2.0)), ("chisquare", (3.0,)), ("noncentral_chisquare", (0.7, 4.0)),
    ("noncentral_chisquare", (5.0, 30.0)), ("f", (3.0, 7.0)), ("noncentral_f", (3.0, 9.0, 2.0)), ("standard_t", (2.5,)),
    ("power", (0.4,)), ("wald", (2.0, 0.5)), ("vonmises", (1.0, 0.3)), ("vonmises", (-3.0, 4.0)),
    ("vonmises", (0.0, 0.0)), ("vonmises", (2.0, 1e5)), ("weibull", (0.8,)), ("standard_cauchy", ()),
    ("pareto", (3.0,)),
    ("standard_exponential", ()), ("triangular", (-1.0, 0.0, 3.0)), ("laplace", (1.0, 2.0)), ("gumbel", (0.0, 2.0)),
    ("logistic", (0.0, 1.0)), ("lognormal", (0.0, 1.0)), ("rayleigh", (2.0,)), ("normal", (1.0, 2.0)),
]  # fmt: skip
WHOLE = [
    ("poisson", (0.0,)), ("poisson", (0.5,)), ("poisson", (9.5,)), ("poisson", (10.5,)), ("poisson", (300.0,)),
    ("binomial", (10, 0.3)), ("binomial", (30, 0.9)), ("binomial", (1000, 0.4)), ("binomial", (1000, 0.995)),
    ("binomial", (7, 1.0)), ("binomial", (0, 0.5)), ("geometric", (0.2,)), ("geometric", (1.0,)),
    ("negative_binomial", (2.5, 0.3)), ("hypergeometric", (15, 8, 10)), ("hypergeometric", (3, 100, 50)),
    ("logseries", (0.8,)), ("zipf", (2.5,)), ("integers", (-5, 12)),
]  # fmt: skip


def distance(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference of the distribution functions of two samples, in units of what chance explains."""
    places = np.unique(np.concatenate([got, want]))
    apart = [np.searchsorted(np.sort(x), places, "right") / x.size for x in (got, want)]
    return float(np.max(np.abs(apart[0] - apart[1])) * np.sqrt(got.size * want.size / (got.size + want.size)))


@pytest.mark.parametrize(("name", "parameters"), CONTINUOUS + WHOLE, ids=lambda v: v if isinstance(v, str) else None)
def test_distributions(name, parameters):
    got = getattr(ng.random.default_rng(5), name)(*parameters, size=N).get()
    want = getattr(np.random.default_rng(6), name)(*parameters, size=MANY)
    assert got.shape == (N,) and got.dtype == (np.int64 if (name, parameters) in WHOLE else np.float32)
    if want.dtype.kind == "f":  # of numbers that float32 does not tell apart from others
        want = want.astype(np.float32)
    assert np.isfinite(got).all() and distance(got, want) <= 1.63  # chance: one in a hundred, for these fixed seeds
    again = getattr(ng.random.default_rng(5), name)(*parameters, size=N).get()
    np.testing.assert_array_equal(got, again)


def test_the_distance_can_fail():
    rng = np.random.default_rng(1)
    assert distance(rng.gamma(2.5, size=N), rng.gamma(2.6, size=MANY)) > 1.63
    assert distance(rng.poisson(10.5, N), rng.poisson(10.7, MANY)) > 1.63


def test_parameters_broadcast():
    rng = ng.random.default_rng(2)
    means = np.array([[0.0], [3.0], [50.0], [2000.0]])
    x = rng.poisson(ng.array(means), (4, 4000)).get()
    np.testing.assert_allclose(x.mean(1), means[:, 0], atol=5 * np.sqrt(2000 / 4000))
    np.testing.assert_allclose(x.std(1) ** 2, means[:, 0], rtol=0.15)
    n, p = np.array([[5], [100], [100000]]), np.array([0.01, 0.5, 0.9])
    y = rng.binomial(n, p, (2000, 3, 3)).get()
    np.testing.assert_allclose(y.mean(0), n * p, rtol=0.2)
    np.testing.assert_allclose(y.var(0), n * p * (1 - p), rtol=0.25)
    z = rng.gamma([0.1, 1.0, 20.0], [[1.0], [10.0]], (5000, 2, 3)).get()
    np.testing.assert_allclose(z.mean(0), np.outer([1, 10], [0.1, 1, 20]), rtol=0.15)
    h = rng.hypergeometric([5, 50], 10, [3, 30], (20000, 2)).get()
    np.testing.assert_allclose(h.mean(0), [1.0, 25.0], rtol=0.03)
    whole = rng.integers([0, 2, -5], [[5], [20]], (5000, 2, 3), endpoint=True).get()
    np.testing.assert_array_equal(whole.min(0), [[0, 2, -5]] * 2)
    np.testing.assert_array_equal(whole.max(0), [[5, 5, 5], [20, 20, 20]])
    assert rng.normal([0.0, 1.0]).shape == (2,) and rng.poisson([]).shape == (0,)


def test_several_outcomes():
    rng = ng.random.default_rng(3)
    p = np.array([0.2, 0.0, 0.5, 0.3])
    x = rng.multinomial(50, p, 4000).get()
    assert x.shape == (4000, 4) and (x.sum(1) == 50).all() and (x[:, 1] == 0).all()
    np.testing.assert_allclose(x.mean(0), 50 * p, atol=0.3)
    np.testing.assert_allclose(np.cov(x.T), 50 * (np.diag(p) - np.outer(p, p)), atol=0.8)
    assert rng.multinomial([3, 4], p).get().sum(-1).tolist() == [3, 4]
    for alpha in ([0.01, 0.02, 0.03], [2.0, 1.0, 5.0]):
        d = rng.dirichlet(alpha, (5000,)).get()
        share = np.array(alpha) / np.sum(alpha)
        np.testing.assert_allclose(d.sum(-1), 1, rtol=1e-5)
        np.testing.assert_allclose(d.mean(0), share, atol=0.03)
        np.testing.assert_allclose(d.var(0), share * (1 - share) / (1 + np.sum(alpha)), rtol=0.15)
    cov = np.array([[2.0, 1.0, 0.0], [1.0, 0.5, 0.0], [0.0, 0.0, 3.0]])  # singular
    v = rng.multivariate_normal([1.0, 2.0, 3.0], cov, (100, 200)).get()
    assert v.shape == (100, 200, 3)
    np.testing.assert_allclose(np.cov(v.reshape(-1, 3).T), cov, atol=0.1)
    with pytest.warns(RuntimeWarning, match="eigenvalue"):
        rng.multivariate_normal([0, 0], [[1, 2], [2, 1]])


def test_wide_integers():
    rng = ng.random.default_rng(4)
    for low, high, dtype in [
        (0, 1 << 31, "int32"), (-(1 << 63), 1 << 63, "int64"), (0, 1 << 64, "uint64"), (5, (1 << 40) + 5, "int64"),
        (-(1 << 31), 1 << 31, "int32"), (0, 3 << 61, "uint64"), (0, 2, "bool"),
        (-128, 128, "int8"), (0, 1 << 25, "int64"),
    ]:  # fmt: skip
        x = rng.integers(low, high, 40000, dtype).get()
        assert x.dtype == np.dtype(dtype)
        part = (x.astype(np.float64) - low) / (float(high) - low)
        assert part.min() >= 0 and part.max() <= 1
        if high - low > 256:
            assert distance(part, np.random.default_rng(7).random(MANY)) <= 1.63
            assert len(np.unique(x)) > 39000 and len(np.unique(x % 1024)) == 1024
        else:
            assert len(np.unique(x)) == high - low
    assert ng.random.randint(5, size=3).shape == (3,) and len(rng.bytes(11)) == 11


def test_orders_and_choices():
    rng = ng.random.default_rng(5)
    a = np.arange(60).reshape(3, 4, 5)
    for axis in (0, 1, -1):
        p = rng.permutation(ng.array(a), axis).get()
        np.testing.assert_array_equal(np.sort(p, axis), a)
        q = rng.permuted(ng.array(a), axis).get()
        np.testing.assert_array_equal(np.sort(q, axis), a)
        x = ng.array(a)
        rng.shuffle(x, axis)
        np.testing.assert_array_equal(np.sort(x.get(), axis), a)
        c = rng.choice(ng.array(a), 7, axis=axis).get()
        assert c.shape == tuple(7 if i == axis % 3 else n for i, n in enumerate(a.shape))
    assert sorted(rng.permuted(ng.array(a)).get().ravel()) == list(range(60))
    first = [int(rng.choice(4, 2, False, [0.1, 0.2, 0.3, 0.4]).get()[0]) for _ in range(600)]
    np.testing.assert_allclose(np.bincount(first, minlength=4) / 600, [0.1, 0.2, 0.3, 0.4], atol=0.07)
    assert sorted(rng.choice(4, 3, False, [0.5, 0.0, 0.3, 0.2]).get().tolist()) == [0, 2, 3]
    assert rng.choice(3).shape == () and rng.choice(0, 0).shape == (0,)


@pytest.mark.parametrize("source", [ng.random.default_rng(5), ng.random.RandomState(5), ng.random, cp.random])
def test_things(source):
    """Lists of Python's, arrays of the host, and what tensors do not hold."""
    words, numbers, host, queue = (
        list("abcdefgh"),
        list(range(50)),
        np.arange(60).reshape(20, 3),
        collections.deque("xyz"),
    )
    for things in (words, numbers, host, queue):
        before = copy.deepcopy(things)
        source.shuffle(things)
        assert sorted(np.ravel(list(things)).tolist()) == sorted(np.ravel(list(before)).tolist())
        assert things is queue or np.any(np.asarray(things) != np.asarray(before))
    assert np.array_equal(np.diff(host, axis=1), np.ones((20, 2)))
    assert sorted(source.permutation(list("abcd"))) == list("abcd")
    one, many = source.choice(["left", "right"]), source.choice(np.array(["left", "right"]), (40, 2), p=[0.5, 0.5])
    assert one in ("left", "right") and many.shape == (40, 2) and set(many.ravel()) == {"left", "right"}
    assert sorted(source.choice(list("abc"), 3, replace=False)) == list("abc")
    assert source.choice([None, {}], 3).dtype == object and source.choice(["a"], 0).shape == (0,)
    with pytest.raises(TypeError, match="shuffle: x is tuple; needs GPUTensor"):
        source.shuffle((object(),))
    with pytest.raises(ValueError, match="needs an integer, or one axis or more"):
        source.choice("text")


def test_other_bit_generators():
    first = ng.random.Philox(4)
    jumps = [
        ng.random.Generator(b).random().item()
        for b in (first, first.jumped(), first.jumped(2), first.jumped().jumped())
    ]
    assert len(set(jumps)) == 4 and ng.random.Generator(first.jumped(0)).random().item() == jumps[0]
    assert ng.random.Generator(ng.random.Philox(key=4)).random().item() == jumps[0]
    with pytest.raises(ValueError, match="counter is 3; needs None"):
        ng.random.Philox(1, counter=3)


def test_several_colours():
    rng, colors = ng.random.default_rng(3), [16, 8, 0, 4]
    drawn = rng.multivariate_hypergeometric(colors, 6, (5000,)).get()
    assert drawn.shape == (5000, 4) and drawn.dtype == np.int64 and (drawn.sum(-1) == 6).all()
    assert (drawn >= 0).all() and (drawn <= colors).all()
    np.testing.assert_allclose(drawn.mean(0), 6 * np.array(colors) / 28, atol=0.08)
    want = 6 * (16 / 28) * (12 / 28) * (22 / 27)
    assert abs(drawn[:, 0].var() - want) < 0.15
    assert rng.multivariate_hypergeometric(colors, 28).tolist() == colors and rng.multivariate_hypergeometric(
        [3], 2
    ).tolist() == [2]
    for arguments in (([1, 2], 4), ([[1]], 1), ([], 0), ([-1, 2], 1)):
        with pytest.raises(ValueError, match="needs"):
            rng.multivariate_hypergeometric(*arguments)


def test_states():
    state = ng.random.get_state()
    x = ng.random.gamma(2.0, size=5).get()
    ng.random.set_state(state)
    np.testing.assert_array_equal(ng.random.gamma(2.0, size=5).get(), x)
    r = ng.random.RandomState(9)
    first = r.rand(3).get()
    r.seed(9)
    np.testing.assert_array_equal(r.random_sample(3).get(), first)
    g = ng.random.Generator(ng.random.Philox4x3210(9))
    np.testing.assert_array_equal(g.random(3).get(), first)
    assert ng.random.default_rng(g) is g and len({c.random().item() for c in g.spawn(3)}) == 3
    lists = [ng.random.default_rng(s).random().item() for s in ([1, 2], [1, 3], 1 << 70, np.random.SeedSequence(4))]
    assert len(set(lists)) == 4
    out = ng.zeros(4)
    assert g.standard_normal(out=out) is out and out.get().any()
    assert g.standard_normal(3, dtype="float64").dtype == np.float64
    assert cp.random.gamma(2.0, size=3).dtype == np.float64 and cp.random.poisson(3.0, 2).dtype == np.int64
    assert cp.random.exponential(1.0, 3, dtype="float32").dtype == np.float32


BAD = float("nan")
REFUSED = [
    ("gamma", (-1.0,)), ("gamma", (BAD,)), ("gamma", (1.0, -2.0)), ("beta", (0.0, 1.0)), ("chisquare", (0,)),
    ("f", (1, 0)), ("standard_t", (-1,)), ("dirichlet", ([1.0, 0.0],)), ("dirichlet", (2.0,)), ("power", (0,)),
    ("wald", (1, 0)), ("vonmises", (0, -1)), ("vonmises", (BAD, 1)), ("poisson", (-1,)), ("poisson", ([1, BAD],)),
    ("poisson", (1e300,)), ("geometric", (0,)), ("geometric", (1.5,)), ("binomial", (-1, 0.5)),
    ("binomial", (2.5, 0.5)),
    ("binomial", (3, 1.1)), ("negative_binomial", (0, 0.5)), ("multinomial", (3, [0.8, 0.8, 0.1])),
    ("multinomial", (3, [])), ("multinomial", (3, [-0.1, 1.1])), ("hypergeometric", (3, 4, 8)), ("logseries", (1,)),
    ("hypergeometric", (-3, 4, 1)), ("zipf", (1,)), ("normal", (0, -1)), ("exponential", (-1,)), ("weibull", (0,)),
    ("integers", (3, 3)), ("integers", (0, 300, None, "int8")), ("integers", ([1, 2], [2, 2])), ("spawn", (-1,)),
    ("choice", (0, 3)), ("choice", (3, 2, True, [0.5, 0.6, 0.1])), ("choice", (3, 4, False)), ("permutation", (-2,)),
    ("choice", (3, 3, False, [0.5, 0.5, 0])), ("bytes", (-1,)), ("random", (-1,)), ("laplace", (0, -1)),
    ("multivariate_normal", ([0, 0], [[1]])), ("gumbel", (0, BAD)), ("rayleigh", (-1,)), ("normal", (0, [1, -1])),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), REFUSED, ids=[r[0] for r in REFUSED])
def test_refusals(name, arguments):
    with pytest.raises(ValueError, match=r"needs|negative"):
        getattr(ng.random.default_rng(1), name)(*arguments)


def test_refused_sizes_and_seeds():
    rng = ng.random.default_rng(1)
    with pytest.raises(ValueError, match="size"):
        rng.normal([0.0, 1.0], 1.0, 3)
    for wrong in ("text", -1, 1.5):
        with pytest.raises((TypeError, ValueError), match="seed is"):
            ng.random.default_rng(wrong)
    for wrong in (3, ("MT19937", 1, 2), ("Philox4x32-10", -1, 2)):
        with pytest.raises(ValueError, match="set_state"):
            ng.random.set_state(wrong)
    with pytest.raises(TypeError, match="dtype"):
        rng.integers(3, dtype="float32")
    with pytest.raises(ValueError, match="out"):
        rng.random(3, out=ng.zeros(4))
