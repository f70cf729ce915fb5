"""Expressions beside NumPy: every operation and dtype, random trees, views and mutation; each kernel is verified."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nervanagpu import _core
from samples import DTYPES, FLOATS, INTEGERS, sample


def same(got: ng.GPUTensor, want: np.ndarray[Any, Any]) -> None:
    g = got.get()
    assert g.dtype == want.dtype
    assert g.shape == want.shape
    np.testing.assert_array_equal(g, want)


BINARY: list[tuple[str, Callable[..., Any], list[str]]] = [
    ("add", np.add, DTYPES),
    ("subtract", np.subtract, [*FLOATS, *INTEGERS]),
    ("multiply", np.multiply, DTYPES),
    ("divide", np.divide, ["float32", "float64", *INTEGERS, "bool"]),
    ("maximum", np.maximum, DTYPES),
    ("minimum", np.minimum, DTYPES),
    ("equal", np.equal, DTYPES),
    ("not_equal", np.not_equal, DTYPES),
    ("less", np.less, DTYPES),
    ("less_equal", np.less_equal, DTYPES),
    ("greater", np.greater, DTYPES),
    ("greater_equal", np.greater_equal, DTYPES),
    ("logical_and", np.logical_and, DTYPES),
    ("logical_or", np.logical_or, DTYPES),
    ("logical_xor", np.logical_xor, DTYPES),
    ("bitwise_and", np.bitwise_and, [*INTEGERS, "bool"]),
    ("bitwise_or", np.bitwise_or, [*INTEGERS, "bool"]),
    ("bitwise_xor", np.bitwise_xor, [*INTEGERS, "bool"]),
]
UNARY: list[tuple[str, Callable[..., Any], list[str]]] = [
    ("negative", np.negative, [*FLOATS, *INTEGERS]),
    ("absolute", np.absolute, DTYPES),
    ("sgn", np.sign, [*FLOATS, *INTEGERS]),
    ("square", np.square, [*FLOATS, *INTEGERS]),
    ("reciprocal", np.reciprocal, ["float32", "float64"]),
    ("sqrt", np.sqrt, ["float32", "float64"]),
    ("floor", np.floor, FLOATS),
    ("ceil", np.ceil, FLOATS),
    ("trunc", np.trunc, FLOATS),
    ("rint", np.rint, FLOATS),
    ("finite", np.isfinite, DTYPES),
    ("isnan", np.isnan, DTYPES),
    ("isinf", np.isinf, DTYPES),
    ("logical_not", np.logical_not, DTYPES),
    ("invert", np.invert, [*INTEGERS, "bool"]),
]


@pytest.mark.parametrize(("name", "numpy", "dtypes"), BINARY, ids=[b[0] for b in BINARY])
def test_binary(name: str, numpy: Callable[..., Any], dtypes: list[str], rng: np.random.Generator) -> None:
    for dtype in dtypes:
        a, b = sample(rng, dtype), sample(rng, dtype)
        with np.errstate(all="ignore"):
            same(getattr(ng, name)(ng.array(a), ng.array(b)), numpy(a, b))


@pytest.mark.parametrize(("name", "numpy", "dtypes"), UNARY, ids=[u[0] for u in UNARY])
def test_unary(name: str, numpy: Callable[..., Any], dtypes: list[str], rng: np.random.Generator) -> None:
    for dtype in dtypes:
        a = sample(rng, dtype)
        with np.errstate(all="ignore"):
            same(getattr(ng, name)(ng.array(a)), numpy(a))


@pytest.mark.parametrize("dtype", DTYPES)
def test_casts(dtype: str, rng: np.random.Generator) -> None:
    for to in DTYPES:
        a = sample(rng, dtype)
        if dtype in FLOATS and to in INTEGERS:  # NumPy says nothing about numbers that do not fit
            a = np.nan_to_num(np.clip(a, 0 if to[0] == "u" else -100, 100)).astype(dtype)
        with np.errstate(all="ignore"):
            same(_core.cast(ng.array(a), to), a.astype(to))


def test_casts_saturate() -> None:
    x = ng.array(np.array([np.nan, np.inf, -np.inf, 300.0, -300.0, 1e20], np.float32))
    assert _core.cast(x, "int8").get().tolist() == [0, 127, -128, 127, -128, 127]
    assert _core.cast(x, "uint8").get().tolist() == [0, 255, 0, 255, 0, 255]
    assert _core.cast(x, "int32").get().tolist() == [0, 2**31 - 1, -(2**31), 300, -300, 2**31 - 1]


def test_where_and_clip(rng: np.random.Generator) -> None:
    c = sample(rng, "bool")
    for dtype in DTYPES:
        a, b = sample(rng, dtype), sample(rng, dtype)
        same(ng.where(ng.array(c), ng.array(a), ng.array(b)), np.where(c, a, b))
    a = sample(rng, "float32")
    same(ng.clip(ng.array(a), -1.5, 2.0), np.clip(a, np.float32(-1.5), np.float32(2.0)))


def test_promotion(rng: np.random.Generator) -> None:
    for d in DTYPES:
        for e in DTYPES:
            a, b = sample(rng, d, 16), sample(rng, e, 16)
            with np.errstate(all="ignore"):
                assert (ng.array(a) + ng.array(b)).dtype == (a + b).dtype, (d, e)
        if d != "bool":
            a = sample(rng, d, 16)
            for number in (2, 2.5):
                assert (ng.array(a) * number).dtype == (a * number).dtype, (d, number)
                assert (number - ng.array(a)).dtype == (number - a).dtype, (d, number)
        assert (ng.array(sample(rng, d, 16)) + np.float32(1)).dtype == np.promote_types(d, np.float32)


def ulps(got: np.ndarray[Any, Any], exact: np.ndarray[Any, Any]) -> float:
    """The largest error in units of the last place; NaN and infinities must agree."""
    with np.errstate(all="ignore"):
        nearest = exact.astype(np.float32)
    plain = np.isfinite(nearest)
    np.testing.assert_array_equal(got[~plain], nearest[~plain])
    unit = np.spacing(np.maximum(np.abs(nearest[plain]), np.float32(2.0**-126))).astype(np.float64)
    return float(np.max(np.abs(got[plain].astype(np.float64) - exact[plain]) / unit))


FUNCTIONS: list[tuple[str, Callable[..., Any]]] = [
    ("exp", np.exp),
    ("exp2", np.exp2),
    ("log", np.log),
    ("log2", np.log2),
    ("tanh", np.tanh),
    ("tanh2", lambda x: np.tanh(x * np.log(2.0))),
    ("sig", lambda x: np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x)))),
    ("sig2", lambda x: np.where(x < 0, np.exp2(x) / (1 + np.exp2(x)), 1 / (1 + np.exp2(-x)))),
]


@pytest.mark.parametrize(("name", "numpy"), FUNCTIONS, ids=[f[0] for f in FUNCTIONS])
def test_functions(name: str, numpy: Callable[..., Any], rng: np.random.Generator) -> None:
    exponents = np.arange(256, dtype=np.uint32).repeat(64) << 23
    bits = exponents | rng.integers(0, 1 << 23, exponents.size, dtype=np.uint32)
    bits[::64] &= 0xFF800000
    bits = np.concatenate([bits, bits | 0x80000000])
    x = np.concatenate([bits.view(np.float32), rng.uniform(-20, 20, 20001).astype(np.float32)])
    with np.errstate(all="ignore"):
        exact = numpy(x.astype(np.float64))
        if name.startswith("sig"):
            exact = np.where(x == -np.inf, 0.0, np.where(x < -800, 0.0, exact))
    assert ulps(getattr(ng, name)(ng.array(x)).get(), exact) <= 2


def test_power(rng: np.random.Generator) -> None:
    x = np.exp(rng.uniform(-80, 80, 20001)).astype(np.float32)
    y = (rng.uniform(-1, 1, x.size) * 88 / np.maximum(np.abs(np.log(x)), 1)).astype(np.float32)
    assert ulps((ng.array(x) ** ng.array(y)).get(), np.power(x.astype(np.float64), y.astype(np.float64))) <= 2
    special = np.array(
        [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1e10, 2**24, -3.5], np.float32
    )
    a, b = (m.copy() for m in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose((ng.array(a) ** ng.array(b)).get(), np.power(a, b), rtol=3e-7)
        for exponent in (2, 0.5, -1, 3):
            np.testing.assert_allclose((ng.array(special) ** exponent).get(), special**exponent, rtol=3e-7)


def test_quotients_and_roots_are_correctly_rounded(rng: np.random.Generator) -> None:
    bits = rng.integers(0, 1 << 32, 1 << 17, dtype=np.uint32)
    a, b = bits[::2].view(np.float32), bits[1::2].view(np.float32)
    with np.errstate(all="ignore"):
        same(ng.array(a) / ng.array(b), a / b)
        same(ng.sqrt(ng.array(np.abs(a))), np.sqrt(np.abs(a)))
        for dtype in (np.float32, np.float64):  # zeros keep the sign of the quotient
            tiny = np.finfo(dtype).smallest_subnormal
            zeros = np.array([0.0, -0.0] * 8, dtype)
            others = [1, 1, -1, -1, tiny, tiny, -tiny, -tiny, np.inf, -np.inf, 0, 0, np.nan, 3, -7, 1e30]
            quotient = (ng.array(zeros) / ng.array(np.array(others, dtype))).get()
            np.testing.assert_array_equal(quotient, zeros / np.array(others, dtype))
            number = ~np.isnan(quotient)
            np.testing.assert_array_equal(
                np.signbit(quotient[number]), np.signbit((zeros / np.array(others, dtype))[number])
            )
        wide = rng.integers(0, 1 << 64, 1 << 13, dtype=np.uint64)
        c, d = wide[::2].view(np.float64), wide[1::2].view(np.float64)
        normal = np.abs(c / d) >= np.finfo(np.float64).tiny
        same(ng.array(c[normal]) / ng.array(d[normal]), c[normal] / d[normal])
        same(ng.sqrt(ng.array(np.abs(c))), np.sqrt(np.abs(c)))


SHAPES = [(), (1,), (7,), (0, 3), (3, 5), (4, 1, 6), (2, 3, 8), (65, 9), (300,), (1, 40)]


def leaf(draw: st.DrawFn, rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """A tensor of a shape that broadcasts to `shape`, maybe a view, and the same array."""
    mine = tuple(1 if draw(st.integers(0, 3)) == 0 else n for n in shape)
    mine = mine[draw(st.integers(0, len(mine))) :] if draw(st.booleans()) else mine
    how = draw(st.sampled_from(["plain", "transposed", "reversed", "sliced"]))
    host = sample(rng, dtype, int(np.prod(mine, dtype=int)) * 2 + 16)
    if dtype in FLOATS:
        host = np.nan_to_num(host, posinf=3, neginf=-3)
    count = int(np.prod(mine, dtype=int))
    if how == "transposed":
        a = host[:count].reshape(mine[::-1])
        return ng.array(a).T, a.T
    if how == "sliced" and mine and mine[-1] > 0:
        a = host[: 2 * count].reshape(*mine[:-1], 2 * mine[-1])
        return ng.array(a)[..., ::2], a[..., ::2]
    a = host[:count].reshape(mine)
    if how == "reversed" and mine:
        return ng.array(a)[::-1], a[::-1]
    return ng.array(a), a


EXACT: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


@st.composite
def trees(draw: st.DrawFn) -> tuple[Any, Any]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.sampled_from(SHAPES))
    dtypes = draw(st.sampled_from([["float32"], ["float64", "float32"], [*INTEGERS], ["int32", "bool"]]))
    stack = [leaf(draw, rng, draw(st.sampled_from(dtypes)), shape) for _ in range(draw(st.integers(2, 4)))]
    for _ in range(draw(st.integers(1, 7))):
        g, h = draw(st.sampled_from(stack)), draw(st.sampled_from(stack))
        name = draw(st.sampled_from([*EXACT, "less", "where", "absolute"]))
        with np.errstate(all="ignore"):
            if name == "absolute":
                stack.append((ng.absolute(g[0]), np.absolute(g[1])))
            elif name == "less":
                if {g[1].dtype.kind, h[1].dtype.kind} != {"i", "u"}:
                    stack.append((ng.less(g[0], h[0]), np.less(g[1], h[1])))
            elif name == "where":
                stack.append((ng.where(g[0], h[0], g[0]), np.where(g[1], h[1], g[1])))
            elif not (name == "subtract" and g[1].dtype == h[1].dtype == bool):
                stack.append((getattr(ng, name)(g[0], h[0]), EXACT[name](g[1], h[1])))
    return stack[-1]


@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(trees())
def test_random_trees(case: tuple[Any, Any]) -> None:
    got, want = case
    same(got, np.asarray(want))


def test_one_kernel_and_common_subexpressions_once() -> None:
    x = ng.array(np.arange(1000, dtype=np.float32))
    before = ng.launch_count()
    y = (x + 1) * (x + 1) - ng.sqrt(x + 1)
    assert ng.launch_count() == before
    assert y.shape == (1000,)
    assert y.dtype == np.float32
    y.get()
    y.get()
    assert ng.launch_count() == before + 1
    assert "fused_elementwise" in ng.explain(x * 2)
    assert ng.launch_count() == before + 1


def test_structure_is_compiled_once() -> None:
    text = {ng.explain(ng.array(np.ones(n, np.float32)) * k) for n, k in ((2048, 2.0), (4096, 3.5))}
    assert len(text) == 2  # other CTAs, the same kernel
    assert len({t.split("CTAs")[1] for t in text}) == 1


def test_in_place() -> None:
    a = np.arange(3000, dtype=np.float32)
    x = ng.array(a)
    alias = x
    before = ng.launch_count()
    x *= 5
    x -= 1
    x /= 2
    same(alias, (a * 5 - 1) / 2)
    assert ng.launch_count() == before + 1
    x[1:] = x[:-1] + x[1:]
    b = (a * 5 - 1) / 2
    b[1:] = b[:-1] + b[1:]
    same(x, b)
    x[::2] += 1
    b[::2] += 1
    same(x, b)
    with pytest.raises(TypeError, match="same_kind"):
        ng.array(np.arange(3)).__iadd__(0.5)


def test_an_expression_keeps_the_values_it_was_written_with() -> None:
    a = np.arange(100, dtype=np.float32)
    writers: list[Callable[[ng.GPUTensor], object]] = [
        lambda x: x.fill(7),
        lambda x: x.set(np.zeros(100, np.float32)),
        lambda x: x.__setitem__(slice(3, 9), 1.0),
        lambda x: x.__setitem__(slice(None), x * 3),
        lambda x: x.__imul__(2),
        lambda x: ng.add(x, 1, out=x),
        lambda x: ng.nn.activation("tanh", x, out=x),
        lambda x: ng.dot(ng.ones((10, 10)), ng.ones((10, 10)), out=x.reshape(10, 10)),
    ]
    for write in writers:
        x = ng.array(a)
        y = x + 1
        z = y * 2
        write(x)
        assert not np.array_equal(x.get(), a)
        same(z, (a + 1) * 2)
        same(y, a + 1)
    x = ng.array(a)
    y = x + 1
    x[:] = y  # y is what stands in x now, until x changes
    before = ng.launch_count()
    x += 1
    ng.synchronize()
    assert ng.launch_count() == before + 2
    same(y, a + 1)
    same(x, a + 2)


def test_primitives_take_expressions(rng: np.random.Generator) -> None:
    a = rng.integers(-4, 5, (20, 30)).astype(np.float32)
    b = rng.integers(-4, 5, (30, 10)).astype(np.float32)
    same(ng.dot(ng.array(a) * 2, ng.array(b) + 1), (a * 2) @ (b + 1))
    y = ng.array(a) + 0.5
    assert isinstance(y, ng.GPUTensor)
    assert str(y) == str(a + np.float32(0.5))
    np.testing.assert_array_equal(np.asarray(y[3:5].T), (a + np.float32(0.5))[3:5].T)


def test_numpy_operands() -> None:
    x = ng.array(np.arange(6, dtype=np.float32).reshape(2, 3))
    row = np.array([1.0, 2.0, 3.0], np.float32)
    same(x + row, x.get() + row)
    same(row * x, row * x.get())
    assert (x + np.float64(1)).dtype == np.float64
    assert (x == x).get().all()
    assert len({x, x}) == 1


def test_errors() -> None:
    x = ng.array(np.ones((2, 3), np.float32))
    with pytest.raises(ValueError, match=r"add: shapes do not broadcast: float32 \(2, 3\), float32 \(2,\)"):
        x + ng.ones(2)
    with pytest.raises(ValueError, match="power: the exponent of integers is -1; needs 0 or more, or a float"):
        ng.power(ng.array(np.ones(3, np.int32)), -1)
    with pytest.raises(TypeError, match="bitwise_and: operands are float32"):
        x & 1
    with pytest.raises(OverflowError, match="number 300 does not fit into dtype int8"):
        ng.array(np.ones(3, np.int8)) + 300
    with pytest.raises(TypeError, match="exp: x is str"):
        ng.exp("x")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        x + "x"
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x == x)
    with pytest.raises(ValueError, match="value has shape"):
        x[:] = ng.ones((3, 2))


def test_large_trees_are_computed_in_parts() -> None:
    x = ng.array(np.ones(100, np.int32))
    y, want = x, np.ones(100, np.int64)
    for i in range(1000):
        y = y * 3 + i
        want = want * 3 + i
    same(y, want.astype(np.int32))
