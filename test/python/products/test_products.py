"""Products in expressions: what follows becomes the epilogue; nobody can tell but by counting kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

Array = np.ndarray[Any, Any]
M, N, K = 24, 40, 12


class Operands:
    """a @ b of special values, too, and what may follow it."""

    def __init__(self, rng: np.random.Generator, dtype: str = "float32") -> None:
        def draw(*shape: int) -> ng.GPUTensor:
            return ng.array(rng.standard_normal(shape).astype("float32")).astype(dtype)

        a = rng.standard_normal((M, K)).astype("float32")
        a[0], a[1], a[2], a[3, 0] = 0.0, -0.0, np.inf, np.nan
        self.a, self.b = ng.array(a).astype(dtype), draw(K, N)
        self.column, self.flat, self.row, self.whole = draw(1, N), draw(N), draw(M, 1), draw(M, N)
        ng.evaluate(self.a, self.b, self.column, self.flat, self.row, self.whole)

    def product(self) -> ng.GPUTensor:
        return ng.dot(self.a, self.b)

    def apart(self) -> ng.GPUTensor:
        """The same elements, of which no kernel is left to run."""
        out = ng.dot(self.a, self.b)
        ng.evaluate(out)
        return ng.array(out.get()) if out.dtype != "bfloat16" else out


@pytest.fixture
def xs(rng: np.random.Generator) -> Operands:
    return Operands(rng)


def computed(make: Callable[[], ng.GPUTensor]) -> tuple[Array, int]:
    before = ng.launch_count()
    out = make().get()
    return out, ng.launch_count() - before


def same(a: Array, b: Array) -> None:
    np.testing.assert_array_equal(a, b)
    number = ~np.isnan(a)
    np.testing.assert_array_equal(np.signbit(a)[number], np.signbit(b)[number])


Follow = Callable[[Any, Any], Any]
ONE_KERNEL: dict[str, Follow] = {
    "nothing": lambda p, x: p,
    "number": lambda p, x: p * 0.37,
    "number first": lambda p, x: -3 * p,
    "negative": lambda p, x: -p,
    "power of two": lambda p, x: p / 8,
    "columns": lambda p, x: p + x.column,
    "flat": lambda p, x: x.flat + p,
    "rows": lambda p, x: p + x.row,
    "number and columns": lambda p, x: p * 0.37 + x.flat,
    "relu": lambda p, x: ng.maximum(p + x.row, 0),
    "relu, the other way": lambda p, x: ng.maximum(0.0, p),
    "sig": lambda p, x: ng.sig(p + x.row),
    "tanh": lambda p, x: ng.tanh(p * 0.5 + x.flat),
    "silu": lambda p, x: ng.silu(p + x.flat),
    "clip": lambda p, x: ng.clip(p + x.flat, -0.5, 0.75),
    "relu6": lambda p, x: ng.minimum(ng.maximum(p, 0), 6),
}
MORE_KERNELS: dict[str, Follow] = {
    "quotient": lambda p, x: p / 3,
    "number behind": lambda p, x: (p + x.flat) * 2,
    "two of each": lambda p, x: p * 2 * 3 + x.flat + x.row,
    "number added": lambda p, x: p + 1,
    "vector taken off": lambda p, x: p - x.flat,
    "matrix": lambda p, x: p + x.whole,
    "taken from": lambda p, x: x.whole - p,
    "relu at 1": lambda p, x: ng.maximum(p, 1),
    "relu at -0": lambda p, x: ng.maximum(p, -0.0),
    "bounds that cross": lambda p, x: ng.clip(p, 1, -1),
    "function of a function": lambda p, x: ng.tanh(ng.sig(p)),
    "bias behind": lambda p, x: ng.sig(p) + x.flat,
    "gelu": lambda p, x: ng.gelu(p + x.flat),
    "sums": lambda p, x: ng.sum(p + x.flat, axis=1),
    "softmax": lambda p, x: ng.softmax(p + x.flat, 1),
    "more": lambda p, x: ng.where(ng.sig(p + x.row) > 0.5, x.whole, x.flat),
    "float64": lambda p, x: p.astype("float64") + x.flat,
    "wider": lambda p, x: p + ng.array(np.ones((2, 1, N), np.float32)),
}


def check(follow: Follow, xs: Operands, kernels: int) -> Array:
    """What follows a product gives the bits that it gives apart, by so many kernels; returns them."""
    want = follow(xs.apart(), xs).get()
    got, launched = computed(lambda: follow(xs.product(), xs))
    assert launched == kernels
    same(got, want)
    return want


@pytest.mark.parametrize("name", ONE_KERNEL)
def test_what_follows_becomes_the_epilogue(xs: Operands, name: str) -> None:
    follow = ONE_KERNEL[name]
    want = check(follow, xs, kernels=1)
    out = ng.zeros((M, N))
    before = ng.launch_count()
    out[:] = follow(xs.product(), xs)
    assert ng.launch_count() == before + 1
    same(out.get(), want)


@pytest.mark.parametrize("name", MORE_KERNELS)
def test_what_is_no_epilogue_is_a_kernel_of_its_own(xs: Operands, name: str) -> None:
    check(MORE_KERNELS[name], xs, kernels=2)


def test_views_are_operands_and_results(xs: Operands) -> None:
    at, bt = ng.array(np.ascontiguousarray(xs.a.get().T)), ng.array(np.ascontiguousarray(xs.b.get().T))
    want = ng.sig(xs.apart() + xs.row).get()
    wide = ng.zeros((N, M + 8))
    gaps = ng.zeros((M, 2 * N))
    for a, b in ((at.T, xs.b), (xs.a, bt.T), (at.T, bt.T)):
        same((ng.sig(a @ b + xs.row)).get(), want)
        wide.T[3 : M + 3] = ng.sig(a @ b + xs.row)
        same(wide.T[3 : M + 3].get(), want)
        gaps[:, 1::2] = ng.sig(a @ b + xs.row)
        same(gaps[:, 1::2].get(), want)
    assert not wide[:, :3].get().any() and not wide[:, M + 3 :].get().any() and not gaps[:, ::2].get().any()


def test_vectors_may_be_expressions_and_views(xs: Operands) -> None:
    long = ng.array(np.arange(2 * N, dtype=np.float32))
    for vector in (lambda: xs.flat * 2 + 1, lambda: long[::2], lambda: xs.whole[3], lambda: ng.sum(xs.whole, axis=0)):
        v = vector()
        ng.evaluate(v)
        want = ng.sig(xs.apart() + v).get()
        same(ng.sig(xs.product() + vector()).get(), want)


def test_a_product_that_is_held_is_computed_once(xs: Operands) -> None:
    p = xs.product()
    y = ng.sig(p + xs.flat)
    before = ng.launch_count()
    got = y.get()
    assert ng.launch_count() == before + 2  # the product, and what is made of it
    same(p.get(), xs.apart().get())
    assert ng.launch_count() == before + 3  # that of apart() alone
    same(got, ng.sig(xs.apart() + xs.flat).get())


def test_a_sum_that_is_held_is_what_the_kernel_writes(xs: Operands) -> None:
    want = (xs.apart() + xs.flat).get()
    z = xs.product() + xs.flat
    first, second = ng.tanh(z), ng.maximum(z, 0)
    before = ng.launch_count()
    ng.evaluate(first, second)
    same(z.get(), want)
    assert ng.launch_count() == before + 2  # z, and both that are made of it
    same(first.get(), ng.tanh(ng.array(want)).get())
    same(second.get(), np.maximum(want, 0))


def test_two_results_share_a_product_that_nobody_holds(xs: Operands) -> None:
    def both() -> tuple[ng.GPUTensor, ng.GPUTensor]:
        p = xs.product()
        return ng.tanh(p), ng.sig(p + xs.flat)

    t, s = both()
    before = ng.launch_count()
    ng.evaluate(t, s)
    assert ng.launch_count() == before + 2
    same(t.get(), ng.tanh(xs.apart()).get())
    same(s.get(), ng.sig(xs.apart() + xs.flat).get())


def test_products_are_begun_before_other_work(xs: Operands) -> None:
    p = xs.product()
    before = ng.launch_count()
    ng.synchronize()
    assert ng.launch_count() == before + 1
    q = xs.product()
    r = xs.product()  # begins q
    assert ng.launch_count() == before + 2
    del r  # nobody wants it
    ng.synchronize()
    assert ng.launch_count() == before + 2
    same(q.get(), p.get())


def test_operands_have_the_values_of_the_statement(xs: Operands) -> None:
    want = ng.sig(xs.apart() + xs.flat).get()
    for change in (xs.a, xs.b, xs.flat):
        kept = change.get()
        y = ng.sig(xs.product() + xs.flat)
        change *= 2
        same(y.get(), want)
        change[:] = kept
        y = ng.sig(xs.product() + xs.flat)
        change[:] = 7
        same(y.get(), want)
        change[:] = ng.array(kept)
        y = ng.sig(xs.product() + xs.flat)
        assert change.ptr  # handed out: somebody may write there
        same(y.get(), want)


def test_results_may_be_operands(xs: Operands, rng: np.random.Generator) -> None:
    square = rng.standard_normal((32, 32)).astype(np.float32)
    want = ng.sig(ng.array((ng.array(square) @ ng.array(square)).get()) + ng.array(square[0])).get()
    c = ng.array(square)
    c[:] = ng.sig(c @ c + c[0])
    same(c.get(), want)
    c = ng.array(square)
    c[:, ::-1] = c @ ng.array(square)
    same(c.get()[:, ::-1], (ng.array(square) @ ng.array(square)).get())
    c = ng.array(square)
    c[1:] = (c @ c)[:-1]
    same(c.get()[1:], (ng.array(square) @ ng.array(square)).get()[:-1])


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_sums_go_over_what_is_there(rng: np.random.Generator, dtype: str) -> None:
    xs = Operands(rng, dtype)
    p = ng.dot(xs.a, xs.b, out=ng.empty((M, N))).get()  # float32, not rounded
    old = xs.whole.get().astype(np.float32)
    cases: list[tuple[Callable[[ng.GPUTensor], Any], Callable[[], Array]]] = [
        (lambda c: c.__iadd__(xs.product()), lambda: p + old),
        (lambda c: c.__isub__(xs.product() * 0.5), lambda: old - p * np.float32(0.5)),
        (lambda c: c.__setitem__(slice(None), xs.product() - c), lambda: p - old),
        (lambda c: c.__setitem__(slice(None), ng.tanh(c + xs.product() + xs.flat)), lambda: tanh(p + old)),
    ]

    def tanh(s: Array) -> Array:
        return ng.tanh(ng.array(s) + xs.flat.astype("float32")).get()

    for do, want in cases:
        c = xs.whole.copy()
        before = ng.launch_count()
        do(c)
        got = c.get()
        assert ng.launch_count() == before + 1
        same(got, want().astype(dtype))


def test_another_product_is_what_is_there(xs: Operands) -> None:
    """A cell of a recurrent network: the second product goes over the first."""
    want = ng.tanh(xs.apart() + xs.apart() + xs.flat).get()
    before = ng.launch_count()
    y = ng.tanh(xs.product() + xs.product() + xs.flat)
    assert ng.explain(y).count("kernel ") == 1  # the first has been begun
    same(y.get(), want)
    assert ng.launch_count() == before + 2
    first = xs.product()
    y = ng.tanh(first + xs.product() + xs.flat)  # it has a name: it stays
    same(y.get(), want)
    same(first.get(), xs.apart().get())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bits_are_rounded_once(rng: np.random.Generator, dtype: str) -> None:
    xs = Operands(rng, dtype)
    exact = ng.dot(xs.a, xs.b, out=ng.empty((M, N)))  # float32
    vector = xs.flat.astype("float32")
    for name, follow in {**ONE_KERNEL, "gelu": MORE_KERNELS["gelu"]}.items():
        if name in ("rows", "columns", "relu", "sig"):
            continue  # other vectors; the same steps
        wide = type("Wide", (), {"flat": vector})()
        numbers = name.startswith("number")
        if numbers:  # 0.37 has 16 bits there
            follow = {"number": lambda p, x: p * 0.25, "number first": lambda p, x: p * -3}.get(name, follow)
            if name == "number and columns":
                continue
        want = follow(exact, wide).astype(dtype).astype("float32").get()
        before = ng.launch_count()
        y = follow(xs.product(), xs)
        assert y.dtype == xs.a.dtype
        ng.evaluate(y)
        assert ng.launch_count() == before + 1, name
        got = y.astype("float32").get()
        if name == "gelu":
            np.testing.assert_allclose(got, want, rtol=2**-7 if dtype == "bfloat16" else 2**-10)
        else:
            same(got, want)


def test_16_bits_with_float32_around_them(rng: np.random.Generator) -> None:
    xs = Operands(rng, "float16")
    exact = ng.dot(xs.a, xs.b, out=ng.empty((M, N)))
    wide = ng.array(rng.standard_normal(N).astype(np.float32))
    for make, want in (
        (lambda p: p + wide, exact + wide),  # float32
        (lambda p: (p + wide).astype("float16"), (exact + wide).astype("float16")),
        (lambda p: (p + xs.flat).astype("float32"), exact + xs.flat.astype("float32")),
        (lambda p: ng.sig(p.astype("float32") + xs.flat), ng.sig(exact + xs.flat.astype("float32"))),
    ):
        got, kernels = computed(lambda make=make: make(xs.product()))
        assert got.dtype == want.dtype and kernels <= 2
        same(got, want.get())
    # Between two kernels there are 16 bits.
    got, kernels = computed(lambda: xs.whole.astype("float32") < ng.sig(xs.product() + xs.row))
    stands = ng.sig(exact + xs.row.astype("float32")).astype("float16")
    assert kernels == 2
    same(got, (xs.whole < stands).get())
    twice = xs.product().astype("float32").astype("float16").astype("float32") + wide  # rounded in between
    same(twice.get(), (exact.astype("float16").astype("float32") + wide).get())


@pytest.mark.parametrize("unsigned", [False, True])
def test_bytes(rng: np.random.Generator, unsigned: bool) -> None:
    low, kind = (0, np.uint8) if unsigned else (-128, np.int8)
    a = rng.integers(low, low + 256, (M, K)).astype(kind)
    b = rng.integers(-128, 128, (K, N)).astype(np.int8)
    exact = a.astype(np.int32) @ b.astype(np.int32)
    da, db = ng.array(a), ng.array(b)
    whole = rng.integers(-1000, 1000, N).astype(np.int32)
    scale, bias = (rng.standard_normal(N).astype(np.float32) for _ in range(2))
    rows = rng.standard_normal((M, 1)).astype(np.float32)
    f = np.float32
    for make, want in (
        (lambda p: p + ng.array(whole), exact + whole),
        (lambda p: ng.maximum(p + ng.array(whole), 0), np.maximum(exact + whole, 0)),
        (lambda p: p.astype("float32") * ng.array(scale) + ng.array(bias), exact.astype(f) * scale + bias),
        (lambda p: p.astype("float32") * 0.25 * ng.array(rows), exact.astype(f) * f(0.25) * rows),
        (lambda p: ng.maximum(p.astype("float32") * ng.array(rows) + ng.array(bias), 0),
         np.maximum(exact.astype(f) * rows + bias, 0)),
        (lambda p: p * 2 + ng.array(whole), exact * 2 + whole),
        (lambda p: (p + ng.array(whole)).astype("float32"), (exact + whole).astype(f)),
        (lambda p: ng.tanh(p.astype("float32") * 0.001).astype("int8"), None),
    ):  # fmt: skip
        got = make(ng.dot(da, db)).get()
        same(got, make(ng.array(exact)).get() if want is None else want)
    assert ng.dot(da, db).dtype == np.int32


def test_rounding_at_random(rng: np.random.Generator) -> None:
    xs = Operands(rng, "float16")
    exact = ng.dot(xs.a, xs.b, out=ng.empty((M, N)))
    ng.seed(5)
    want = ng.stochastic_round(exact + xs.flat.astype("float32"), "float16", bits=7).get()
    for transposed in (False, True):
        ng.seed(5)
        before = ng.launch_count()
        out = ng.zeros((N, M), "float16").T if transposed else ng.zeros((M, N), "float16")
        out[:] = ng.stochastic_round(xs.product().astype("float32") + xs.flat, "float16", bits=7)
        assert ng.launch_count() == before + (2 if transposed else 1)
        same(out.get(), want)


def test_no_elements_and_no_sums() -> None:
    for m, n, k in ((0, 3, 2), (3, 0, 2), (3, 4, 0), (1, 1, 1), (1, 5, 3), (5, 1, 3)):
        a, b = ng.ones((m, k)), ng.ones((k, n))
        y = ng.tanh(ng.dot(a, b) * 0.5 + ng.ones(n))
        assert y.shape == (m, n)
        same(y.get(), np.tanh(np.full((m, n), k * 0.5 + 1, np.float32)) if k * m * n == 0 else ng.tanh(
            ng.full((m, n), k * 0.5 + 1)).get())  # fmt: skip


def test_explain_says_what_will_run(xs: Operands) -> None:
    y = ng.rand(M, N) < ng.sig(xs.product() * 0.5 + xs.row)
    before = ng.launch_count()
    lines = ng.explain(y).splitlines()
    assert ng.launch_count() == before
    assert len(lines) == 2
    assert f"{M} x {N} x {K}, times a number, bias, sig" in lines[0] and lines[0].startswith("kernel ")
    assert lines[1].startswith("kernel fused_elementwise")
    y.get()
    assert ng.launch_count() == before + 2
    z = xs.product() + xs.flat
    assert len(ng.explain(ng.tanh(z)).splitlines()) == 2  # z is held


def test_errors_come_where_the_product_is_written(xs: Operands) -> None:
    with pytest.raises(ValueError, match=r"a's columns \(12\) must be as many as b's rows \(24\)"):
        ng.dot(xs.a, xs.a)
    with pytest.raises(TypeError, match="b has dtype float16; needs float32, as a"):
        ng.dot(xs.a, xs.b.astype("float16"), relu=True)
    with pytest.raises(ValueError, match="a has shape"):
        ng.dot(xs.flat, xs.b)
    with pytest.raises(TypeError, match="a is 'text'"):
        ng.dot("text", xs.b)
    with pytest.raises(ValueError, match="add: shapes do not broadcast"):
        xs.product() + ng.ones(3)


FLOATS = st.sampled_from([0.0, -0.0, 1.0, 0.5, -3.0, 1e-30, np.inf, np.nan, 3.4e38])


STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "scale": lambda p, x: p * 0.3,
    "negative": lambda p, x: -p,
    "half": lambda p, x: p / 2,
    "flat": lambda p, x: p + x.flat,
    "row": lambda p, x: x.row + p,
    "vector": lambda p, x: p + (x.flat * 2 - 1),
    "whole": lambda p, x: p + x.whole,
    "over": lambda p, x: p + x.out,
    "off": lambda p, x: x.out - p,
    "relu": lambda p, x: ng.maximum(p, 0),
    "sig": lambda p, x: ng.sig(p),
    "tanh": lambda p, x: ng.tanh(p),
    "silu": lambda p, x: ng.silu(p),
    "clip": lambda p, x: ng.clip(p, -1, 1),
    "cast": lambda p, x: p.astype("float16"),
    "square": lambda p, x: p * p,
    "centre": lambda p, x: p - ng.sum(p, axis=1, keepdims=True),
    "hold": lambda p, x: x.hold(p),
}


class Surroundings:
    """What is there beside a product: vectors, a matrix that is written over, names that keep a part."""

    def __init__(self, r: np.random.Generator, m: int, n: int, transposed: bool) -> None:
        self.flat, self.row, self.whole = (
            ng.array(r.standard_normal(s).astype(np.float32)) for s in (n, (m, 1), (m, n))
        )
        old = r.standard_normal((m, n)).astype(np.float32)
        self.out = ng.array(np.ascontiguousarray(old.T)).T if transposed else ng.array(old)
        self.held: list[ng.GPUTensor] = []

    def hold(self, p: ng.GPUTensor) -> ng.GPUTensor:
        self.held.append(p)
        return p


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 70), st.integers(0, 40)),
    seed=st.integers(0, 99),
    special=FLOATS,
    steps=st.lists(st.sampled_from(sorted(STEPS)), max_size=7),
    write=st.sampled_from(["get", "assign", "transposed"]),
)
def test_random_followers(shape: tuple[int, int, int], seed: int, special: float, steps: list[str], write: str) -> None:
    """Any operations after a product give the bits of the product alone and the operations after it."""
    m, n, k = shape

    def run(apart: bool) -> list[Array]:
        r = np.random.default_rng(seed)
        a, b = (r.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
        if k:
            a[0, 0] = special
        x = Surroundings(r, m, n, write == "transposed")
        da, db = ng.array(a), ng.array(b)

        def follow(p: Any) -> Any:
            for step in steps:
                p = STEPS[step](p, x)
            return p

        y = follow(ng.array(ng.dot(da, db).get())) if apart else follow(ng.dot(da, db))
        if write == "get":
            return [y.get(), *(h.get() for h in x.held)]
        x.out[:] = y
        return [x.out.get(), *(h.get() for h in x.held)]

    with np.errstate(all="ignore"):
        for got, want in zip(run(False), run(True), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_rows_of_more_axes(rng: np.random.Generator, dtype: str) -> None:
    """(..., k) @ (k, n) is one product of all rows, and what follows is its epilogue."""
    x = rng.standard_normal((2, 3, 8, K)).astype(dtype)
    w = rng.standard_normal((K, N)).astype(dtype)
    flat, row, old = (rng.standard_normal(s).astype(dtype) for s in (N, (2, 3, 8, 1), (2, 3, 8, N)))
    dx, dw, dflat, drow = map(ng.array, (x, w, flat, row))
    rows = ng.dot(ng.array(x.reshape(-1, K)), dw, splits=1, out=ng.empty((48, N)))
    exact = ng.array(rows.get().reshape(2, 3, 8, N))
    wide = {"flat": dflat.astype("float32"), "row": drow.astype("float32")}
    for name, make, want in (
        ("nothing", lambda: dx @ dw, exact),
        ("columns", lambda: ng.tanh(dx @ dw + dflat), ng.tanh(exact + wide["flat"])),
        ("columns, more axes", lambda: dx @ dw * 0.5 + dflat.reshape(1, 1, N), exact * 0.5 + wide["flat"]),
        ("rows", lambda: ng.maximum(dx @ dw + drow, 0), ng.maximum(exact + wide["row"], 0)),
        ("expression", lambda: ng.silu(dx @ dw + dflat * 2), ng.silu(exact + wide["flat"] * 2)),
    ):
        got, kernels = computed(make)
        assert got.shape == (2, 3, 8, N) and kernels == (2 if name == "expression" else 1), name
        same(got, want.astype(dtype).get())
    out = ng.array(old)
    want = (exact + out.astype("float32")).astype(dtype).get()
    before = ng.launch_count()
    out += dx @ dw
    same(out.get(), want)
    assert ng.launch_count() == before + 1
    turned = ng.zeros((N, 2, 3, 8), dtype).transpose(1, 2, 3, 0)
    turned[:] = ng.tanh(dx @ dw + dflat)
    same(turned.get(), ng.tanh(exact + wide["flat"]).astype(dtype).get())
    assert (ng.zeros((0, 3, K), dtype) @ dw + dflat).get().shape == (0, 3, N)
    # No walk along rows, or no matrix on the right: as before.
    same(
        (dx.transpose(1, 0, 2, 3) @ dw).astype("float32").get(),
        exact.astype(dtype).astype("float32").get().transpose(1, 0, 2, 3),
    )
    assert (dx @ ng.array(np.broadcast_to(w, (3, K, N)).copy())).shape == (2, 3, 8, N)
    with pytest.raises(ValueError, match=r"a's columns \(12\) must be as many as b's rows \(40\)"):
        dx @ dw.T


def test_threads_meet_at_a_product(rng: np.random.Generator) -> None:
    """Threads that know nothing of each other, and some that evaluate what another one made and is about to begin."""
    from concurrent.futures import ThreadPoolExecutor

    hosts = [[rng.integers(-8, 9, s).astype(np.float32) for s in ((24, 30), (30, 20))] for _ in range(16)]
    operands = [(ng.array(a), ng.array(b)) for a, b in hosts]

    def alone(i: int) -> bool:
        a, b = operands[i % 16]
        return np.array_equal(ng.maximum(a @ b, 0).get(), np.maximum(hosts[i % 16][0] @ hosts[i % 16][1], 0))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(alone, range(64)))
        for i in range(48):
            a, b = operands[i % 16]
            p = a @ b
            q = p + 1
            mine = [pool.submit(p.get), pool.submit(q.get), pool.submit(lambda i=i: alone(i))]
            ng.synchronize()  # begins p, unless another thread does
            want = hosts[i % 16][0] @ hosts[i % 16][1]
            np.testing.assert_array_equal(mine[0].result(), want)
            np.testing.assert_array_equal(mine[1].result(), want + 1)
            assert mine[2].result()
            np.testing.assert_array_equal(p.get(), want)
