"""float32 products on the tensor cores (bf16x6.h): errors, elements without exact pieces, settings."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
import pytest

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")

Floats = npt.NDArray[np.float32]
LAYOUTS = ["nn", "nt", "tn", "tt"]


def put(x: Floats, letter: str = "n") -> ng.GPUTensor:
    return ng.array(np.ascontiguousarray(x.T)).T if letter == "t" else ng.array(x)


def put_anywhere(x: Floats, letter: str = "n") -> ng.GPUTensor:
    """In rows that do not begin at multiples of 16 bytes."""
    stored = x.T if letter == "t" else x
    room = ng.zeros((stored.shape[0], stored.shape[1] + 3))
    room[:, 1:-2] = np.ascontiguousarray(stored)
    view = room[:, 1:-2]
    return view.T if letter == "t" else view


def both(a: ng.GPUTensor, b: ng.GPUTensor, **options: Any) -> tuple[Floats, Floats]:
    """Precision tensor and strict; uncut unless `splits` is given."""
    options.setdefault("splits", 1)
    return (
        ng.dot(a, b, precision="tensor", **options).get(),
        ng.dot(a, b, precision="strict", **options).get(),
    )


def same_bits(x: Floats, y: Floats) -> bool:
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def errors(c: Floats, a: Floats, b: Floats) -> tuple[float, float]:
    """The largest and the root mean square of |c - a b| / (|a| |b|); NaN stays NaN."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    scale = np.abs(x) @ np.abs(y)
    off = np.abs(c - x @ y) / np.where(scale == 0, 1, scale)
    return float(off.max()), float(np.sqrt((off**2).mean()))


def few_huge(r: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    x = r.standard_normal(shape)
    return np.where(r.random(shape) < 0.01, 1e12 * x, x).astype(np.float32)


def cancelling(r: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Neighbours along both axes nearly cancel in a product with what is constant there."""
    x = np.cumsum(np.ones(shape), axis=-1) % 2 * 2 - 1
    return (x * (1 + 1e-3 * r.standard_normal(shape))).astype(np.float32)


DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Floats]] = {
    "normal": lambda r, s: r.standard_normal(s, dtype=np.float32),
    "uniform": lambda r, s: r.random(s, dtype=np.float32),
    "exponential": lambda r, s: np.exp(r.standard_normal(s)).astype(np.float32),
    "wide": lambda r, s: np.exp(4 * r.standard_normal(s)).astype(np.float32) * r.choice([-1, 1], s).astype(np.float32),
    "cancelling": cancelling,
    "few huge": few_huge,
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize(("m", "n", "k"), [(130, 200, 333), (70, 90, 2304)])
def test_no_less_exact_than_multiply_adds(name: str, m: int, n: int, k: int) -> None:
    r = np.random.default_rng(5)
    a, b = DISTRIBUTIONS[name](r, (m, k)), DISTRIBUTIONS[name](r, (k, n))
    ours, strict = both(put(a), put(b))
    assert not same_bits(ours, strict), "another kernel"
    largest, rms = errors(ours, a, b)
    largest_strict, rms_strict = errors(strict, a, b)
    u = 2.0**-24
    terms = 46 + -(-k // 64) + 1
    assert largest <= terms * u / (1 - terms * u)
    # A sum that is one product is rounded once by multiply-adds, and cut at the end of each of its chunk's HGMMA.
    most = {"few huge": 2.0, "wide": 1.0}.get(name, 0.7)
    assert largest <= max(most, 1.0) * largest_strict
    assert rms <= most * rms_strict


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("m", "n", "k", "splits"), [(1, 1, 1, 1), (129, 193, 65, 1), (257, 131, 640, 4), (3, 400, 127, 2)]
)
def test_integers_of_24_bits_are_exact(layout: str, m: int, n: int, k: int, splits: int) -> None:
    """All three pieces of one element times a power of two, for each sum."""
    r = np.random.default_rng(7)
    a = r.integers(-(2**24) + 1, 2**24, (m, k)).astype(np.float32)
    b = np.zeros((k, n), np.float32)
    b[r.integers(0, k, n), np.arange(n)] = 2.0 ** r.integers(-20, 20, n)
    want = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    x, y = put(a, layout[0]), put(b, layout[1])
    assert same_bits(ng.dot(x, y, splits=splits, precision="tensor").get() + 0.0, want + 0.0)
    other = ng.dot(y.T, x.T, splits=splits, precision="tensor").get()
    assert same_bits(other + 0.0, np.ascontiguousarray(want.T) + 0.0)


def test_rows_anywhere() -> None:
    """Offsets and leading dimensions that are no multiples of four."""
    r = np.random.default_rng(8)
    a = r.integers(-100, 100, (140, 77)).astype(np.float32)
    b = r.integers(-100, 100, (90, 150)).astype(np.float32)
    x, y = ng.array(a)[1:, 2:69], ng.array(b)[3:70, 5:]
    out = ng.array(np.full((141, 147), 5, np.float32))
    ng.dot(x, y, out=out[1:140, 1:146], splits=1, precision="tensor")
    got = out.get()
    assert np.array_equal(got[1:140, 1:146], a[1:, 2:69] @ b[3:70, 5:])
    got[1:140, 1:146] = 5
    assert (got == 5).all()


SPECIAL = [np.nan, np.inf, -np.inf, 3.4e38, -3.3961776e38, 1e-38, 1e-45, -(2.0**-110) * 0.999]


@pytest.mark.parametrize("value", SPECIAL)
def test_values_without_exact_pieces(value: float) -> None:
    """The bits of strict products, wherever it stands, in either operand."""
    r = np.random.default_rng(9)
    m, n, k = 130, 197, 131
    a, b = r.standard_normal((m, k), dtype=np.float32), r.standard_normal((k, n), dtype=np.float32)
    for i, j in [(0, 0), (m - 1, k - 1), (64, 1), (63, 130), (129, 64)]:
        x = a.copy()
        x[i, j] = value
        ours, strict = both(put(x), put(b))
        assert same_bits(ours, strict)
    for i, j in [(0, n - 1), (k - 1, 192), (64, 100)]:
        y = b.copy()
        y[i, j] = value
        ours, strict = both(put(a, "t"), put(y, "t"))
        assert same_bits(ours, strict)


@pytest.mark.parametrize("splits", [1, 3])
def test_values_with_exact_pieces_at_the_ends_of_the_range(splits: int) -> None:
    r = np.random.default_rng(10)
    a, b = r.standard_normal((130, 400), dtype=np.float32), r.standard_normal((400, 70), dtype=np.float32)
    a[0], a[1, ::2] = 0, 2.0**-110
    a[2] *= np.float32(2.0**120)
    ours, strict = both(put(a), put(b * np.float32(2.0**-20)), splits=splits)
    assert not same_bits(ours, strict), "they have exact pieces"
    largest, _ = errors(ours, a, b * np.float32(2.0**-20))
    assert largest <= 2e-6
    assert np.isfinite(ours).all() and (ours[0] == 0).all()


def test_sums_that_overflow() -> None:
    """Infinities where strict products have them, and NaN nowhere else."""
    r = np.random.default_rng(11)
    a = (r.standard_normal((130, 100)) * 1e25).astype(np.float32)
    b = (r.standard_normal((100, 70)) * 1e14).astype(np.float32)
    for scale in (1.0, 1e-12):
        ours, strict = both(put(a), put((b * scale).astype(np.float32)))
        assert np.isinf(strict).any() == (scale == 1.0)
        assert np.array_equal(np.isnan(ours), np.isnan(strict)) and np.array_equal(np.isinf(ours), np.isinf(strict))
        assert same_bits(ours, strict) == (scale == 1.0)
    # 1e38 beside 1e-38 in a row.
    a[:, ::2], a[:, 1::2] = 1e38, 1e-38
    ours, strict = both(put(a), put(b))
    assert same_bits(ours, strict)


def test_epilogues_are_those_of_strict_products() -> None:
    """Of integers, whose sums are exact: the same bits. Also where an operand has no exact pieces."""
    r = np.random.default_rng(12)
    m, n, k = 140, 203, 300
    a, b, c = (r.integers(-9, 9, s).astype(np.float32) for s in [(m, k), (k, n), (m, n)])
    row, column = r.integers(-9, 9, n).astype(np.float32), r.integers(-9, 9, (m, 1)).astype(np.float32)
    tiny = a.copy()
    tiny[5, 5] = 1e-40
    cases: list[dict[str, Any]] = [
        {"alpha": -0.5},
        {"bias": ng.array(row), "relu": True},
        {"bias": ng.array(column), "activation": "gelu"},
        {"beta": 2.0, "bias": ng.array(column)},
        {"beta": 2.0, "relu_first": True},
        {"activation": "clip", "clip": (-20.0, 30.0)},
        {"rounding": "stochastic", "seed": 3, "bits": 4, "alpha": 0.125},
    ]
    for x in (a, tiny):
        for splits in (1, 3):
            for options in cases:
                outs = []
                for precision in ("tensor", "strict"):
                    out = ng.array(c)
                    ng.dot(put(x), put(b, "t"), out=out, splits=splits, precision=precision, **options)
                    outs.append(out.get())
                assert same_bits(*outs), (options, splits)


def test_masks_and_sums() -> None:
    r = np.random.default_rng(13)
    a, b = r.integers(-9, 9, (150, 70)).astype(np.float32), r.integers(-9, 9, (70, 90)).astype(np.float32)
    results = []
    for precision in ("tensor", "strict"):
        mask = ng.zeros((150, 3), dtype="uint32")
        sums = [ng.empty(150), ng.empty(90)]
        options: dict[str, Any] = {"mask": mask, "splits": 1, "precision": precision}
        out = ng.dot(put(a), put(b), relu=True, row_sum=sums[0], column_max_abs=sums[1], **options)
        back = ng.dot(put(-a), put(b), activation="drelu", **options)
        results.append([t.get() for t in (out, back, mask, *sums)])
    for x, y in zip(*results, strict=True):
        assert same_bits(x, y)


def test_batches_groups_and_plans_have_the_bits_of_each_product() -> None:
    r = np.random.default_rng(14)
    a, b = r.standard_normal((5, 140, 90), dtype=np.float32), r.standard_normal((5, 90, 75), dtype=np.float32)
    alone = [ng.dot(put(x), put(y), splits=1, precision="tensor").get() for x, y in zip(a, b, strict=True)]
    assert not same_bits(alone[0], ng.dot(put(a[0]), put(b[0]), splits=1).get())
    batch = ng.batched_dot(ng.array(a), ng.array(b), splits=1, precision="tensor").get()
    one = ng.batched_dot(ng.array(a), ng.array(b[0]), splits=1, precision="tensor").get()
    group = ng.grouped_dot([(put(x), put(y)) for x, y in zip(a, b, strict=True)], precision="tensor")
    out = ng.empty((140, 75))
    plan = ng.GemmPlan(put(a[0]), put(b[0]), out, splits=1, precision="tensor")
    assert plan.kernel.startswith("bf16x6_nn_") and plan.workspace > 0
    for i, want in enumerate(alone):
        assert same_bits(batch[i], want) and same_bits(group[i].get(), want)
        plan(put(a[i]), put(b[i]), out)
        assert same_bits(out.get(), want)
        assert same_bits(one[i], ng.dot(put(a[i]), put(b[0]), splits=1, precision="tensor").get())
    a[3, 7, 7] = np.inf  # of one matrix: the whole batch is strict
    assert same_bits(
        ng.batched_dot(ng.array(a), ng.array(b), splits=1, precision="tensor").get(),
        ng.batched_dot(ng.array(a), ng.array(b), splits=1).get(),
    )


def test_a_row_does_not_depend_on_the_others() -> None:
    r = np.random.default_rng(15)
    a, b = r.standard_normal((300, 150), dtype=np.float32), r.standard_normal((150, 70), dtype=np.float32)
    whole = ng.dot(put(a), put(b), batch_invariant=True, precision="tensor").get()
    for rows in (slice(0, 1), slice(17, 190)):
        part = ng.dot(put(a[rows]), put(b), batch_invariant=True, precision="tensor").get()
        assert same_bits(part, np.ascontiguousarray(whole[rows]))


@pytest.mark.parametrize("splits", [1, 3])
def test_a_graph_decides_when_it_runs(splits: int) -> None:
    """The same launches, whatever the operands hold by then."""
    r = np.random.default_rng(18)
    a, b = r.standard_normal((140, 200), dtype=np.float32), r.standard_normal((200, 75), dtype=np.float32)
    x, y, out = ng.array(a), ng.array(b), ng.zeros((140, 75))
    graph = ng.Graph(lambda: ng.dot(x, y, out=out, splits=splits, precision="tensor"))
    for value in (1.0, np.nan, 2.0, np.inf, 1e-40, 3.0):
        a[7, 70] = value
        x[:] = ng.array(a)
        graph.launch()
        want = ng.dot(x, y, splits=splits, precision="tensor").get()
        assert same_bits(out.get(), want)
        if splits == 1:
            assert same_bits(want, ng.dot(x, y, splits=1).get()) == (not np.isfinite(value) or value < 1)
    del graph
    ng.release_captured_memory()


def test_small_products_stay_strict() -> None:
    r = np.random.default_rng(16)
    for m, n, k in [(64, 64, 64), (16, 1000, 300), (300, 300, 8)]:
        a, b = put(r.standard_normal((m, k), dtype=np.float32)), put(r.standard_normal((k, n), dtype=np.float32))
        assert same_bits(ng.dot(a, b, precision="tensor").get(), ng.dot(a, b, precision="strict").get())


def test_the_setting_goes_with_expressions_and_threads() -> None:
    r = np.random.default_rng(17)
    a, b = (
        ng.array(r.standard_normal((3, 50, 70), dtype=np.float32)),
        put(r.standard_normal((70, 60), dtype=np.float32)),
    )
    strict, tensor = (ng.matmul(a, b, precision=p).get() for p in ("strict", "tensor"))
    assert not same_bits(strict, tensor)
    with ng.precision("tensor"):
        inside = a @ b
        written = ng.tanh(ng.matmul(a, b) * 0.5)
        with ng.precision("strict"):
            assert same_bits((a @ b).get(), strict)
        there: list[Floats] = []
        thread = threading.Thread(target=lambda: there.append((a @ b).get()))
        thread.start()
        thread.join()
        assert same_bits(there[0], strict), "another thread's setting is its own"
        explained = ng.explain(ng.tanh(a @ b))
    outside = a @ b
    assert "bf16x6" in str(explained)
    assert same_bits(inside.get(), tensor) and same_bits(outside.get(), strict)
    assert np.allclose(written.get(), np.tanh(0.5 * tensor), atol=1e-5)
    held = ng.precision("tensor")
    assert same_bits((a @ b).get(), tensor)
    held.__exit__(None, None, None)
    assert same_bits((a @ b).get(), strict)


def test_other_architectures_are_strict() -> None:
    program = """
import nervanagpu as ng, numpy as np
r = np.random.default_rng(1)
a, b = (ng.array(r.standard_normal(s, dtype=np.float32)) for s in [(130, 90), (90, 70)])
x, y = (ng.dot(a, b, splits=1, precision=p).get() for p in ("tensor", "strict"))
assert ng.device().arch == "sm_80" and x.tobytes() == y.tobytes()
"""
    told = {**os.environ, "NERVANAGPU_DEVICE": "emulator", "NERVANAGPU_EMULATOR_ARCH": "sm_80"}
    subprocess.run([sys.executable, "-c", program], env=told, check=True)


def test_refusals() -> None:
    a = ng.zeros((4, 4))
    with pytest.raises(ValueError, match="precision is 'fast'; needs 'strict' or 'tensor'"):
        ng.precision("fast")
    with pytest.raises(TypeError, match="precision: name is 3; needs 'strict' or 'tensor'"):
        ng.precision(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="precision is 'x'"):
        ng.dot(a, a, precision="x")
    assert ng._core.set_precision(None) == "strict"
