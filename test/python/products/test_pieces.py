"""ng.Pieces: an operand that was split once has the bits of one that each product splits, and is a value.

That kernels read what is kept, and do not make it again, is proven in test/kernels/gemm/pieces_test.cpp.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from test_precision import DISTRIBUTIONS, LAYOUTS, Floats, put, same_bits

pytestmark = pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the tensor cores of sm_90a")

TILES = {
    "f16_128x64": 2,
    "f16_128x128": 2,
    "f16_128x192": 2,
    "f16_c128x64": 2,
    "f16_c128x128": 2,
    "128x128": 3,
    "128x192": 3,
}
SPECIAL = [np.nan, -np.inf, 3.4e38, 1e38, 1e-38, 1e-45]


def kept(x: Floats, letter: str, pieces: int) -> ng.Pieces:
    return ng.Pieces(put(x, letter).T, pieces).T if letter == "t" else ng.Pieces(put(x, letter), pieces)


def check(a: Floats, b: Floats, layout: str, tile: str, count: int, **options: Any) -> None:
    """Pieces in either place, and in a plan."""
    x, y = put(a, layout[0]), put(b, layout[1])
    options = {"precision": "tensor", "splits": 1, "tile": tile} | options
    want = ng.dot(x, y, **options).get()
    of_a, of_b = kept(a, layout[0], count), kept(b, layout[1], count)
    assert same_bits(ng.dot(of_a, y, **options).get(), want)
    assert same_bits(ng.dot(x, of_b, **options).get(), want)
    for out in (ng.empty(want.shape), ng.empty(want.shape[::-1]).T):
        ng.dot(x, y, out, **options)
        in_place = out.get()
        for operands in ((of_a, y), (x, of_b)):
            out[:] = np.nan
            plan = ng.GemmPlan(*operands, out, **options)
            assert plan.pieces == (2 if tile.startswith("f16") else 3)
            plan(*operands, out)
            assert same_bits(out.get(), in_place)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize(("m", "n", "k"), [(130, 200, 513), (257, 3, 64), (140, 1, 65), (129, 64, 1)])
def test_same_bits(layout: str, tile: str, m: int, n: int, k: int) -> None:
    r = np.random.default_rng(1)
    a, b = (r.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
    check(a, b, layout, tile, TILES[tile])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("m", "n", "tail"), [(257, 131, "128rx2"), (131, 257, "64cx3"), (257, 131, "192rx1")])
def test_tails(layout: str, m: int, n: int, tail: str) -> None:
    """Whose pieces begin after those of the head."""
    r = np.random.default_rng(10)
    x, y = (put(r.standard_normal(s).astype(np.float32), t) for s, t in zip(((m, 640), (640, n)), layout, strict=True))
    options: dict[str, Any] = {"precision": "tensor", "splits": 1, "tile": "f16_128x128+" + tail}
    want = ng.dot(x, y, **options).get()
    assert same_bits(ng.dot(ng.Pieces(x.T).T, y, **options).get(), want)
    assert same_bits(ng.dot(x, ng.Pieces(y), **options).get(), want)


def check_once(a: Floats, b: Floats, layout: str, tile: str) -> Floats:
    x, y = put(a, layout[0]), put(b, layout[1])
    options: dict[str, Any] = {"precision": "tensor", "splits": 1, "tile": tile}
    want = ng.dot(x, y, **options).get()
    assert same_bits(ng.dot(kept(a, layout[0], TILES[tile]), y, **options).get(), want)
    assert same_bits(ng.dot(x, kept(b, layout[1], TILES[tile]), **options).get(), want)
    return want


@pytest.mark.parametrize("tile", ["f16_128x128", "128x128"])
def test_what_decides_on_the_device(tile: str) -> None:
    """Elements that no pieces hold, in either operand."""
    r = np.random.default_rng(2)
    for make in DISTRIBUTIONS.values():
        check_once(make(r, (70, 300)), make(r, (300, 90)), "nn", tile)
    a, b = (r.standard_normal(s).astype(np.float32) for s in ((20, 130), (130, 30)))
    for x in SPECIAL:
        for which in (a, b):
            before = which[3, 5]
            which[3, 5] = x
            check_once(a, b, "nt", tile)
            which[3, 5] = before


@pytest.mark.parametrize("layout", LAYOUTS)
def test_small_elements_along_k_and_across(layout: str) -> None:
    """A row of small elements, all of a sum, calls for three pieces. One in each sum does not."""
    r = np.random.default_rng(12)
    a, b = (r.standard_normal(s).astype(np.float32) for s in ((140, 256), (256, 150)))
    for i, along_k in ((0, True), (0, False), (1, True), (1, False)):
        x = [a.copy(), b.copy()]
        x[i][(5, slice(None)) if (i == 0) == along_k else (slice(None), 5)] *= 1e-10
        two = check_once(*x, layout, "f16_128x128")
        assert same_bits(two, check_once(*x, layout, "128x128")) == along_k


@pytest.mark.parametrize("tile", ["f16_128x128", "128x192"])
def test_epilogues_and_parts(tile: str) -> None:
    r = np.random.default_rng(3)
    a, b = (r.standard_normal(s).astype(np.float32) for s in ((65, 400), (400, 70)))
    x, y, bias = put(a), put(b), ng.array(r.standard_normal(70).astype(np.float32))
    of_b, of_a = ng.Pieces(y, TILES[tile]), ng.Pieces(x, TILES[tile])
    for options in (
        {"splits": 3},
        {"splits": 2, "bias": bias, "activation": "gelu", "alpha": 0.5},
        {"splits": 1, "beta": -2.0, "bias": bias, "relu": True},
        {"splits": 1, "rounding": "stochastic", "seed": 3, "bits": 7},
    ):
        outs = [ng.array(np.ones((65, 70), np.float32)) for _ in range(3)]
        sums = [ng.empty(70) for _ in range(3)]
        for (p, q), out, s in zip(((x, y), (x, of_b), (of_a, y)), outs, sums, strict=True):
            ng.dot(p, q, out, precision="tensor", tile=tile, column_sum=s, **options)
        for i in (1, 2):
            assert same_bits(outs[i].get(), outs[0].get()) and same_bits(sums[i].get(), sums[0].get())


def test_products_that_want_others_or_none() -> None:
    """Another number of pieces, multiply-adds, and a matrix that is a row and a column."""
    r = np.random.default_rng(4)
    a, b = put(r.standard_normal((40, 90)).astype(np.float32)), put(r.standard_normal((90, 50)).astype(np.float32))
    for count in (2, 3):
        y = ng.Pieces(b, count)
        for options in ({"precision": "strict"}, {"precision": "tensor"}, {"precision": "tensor", "splits": 1}, {}):
            assert same_bits(ng.dot(a, y, **options).get(), ng.dot(a, b, **options).get())
        with ng.precision("tensor"):
            assert same_bits(ng.dot(a, y, splits=2).get(), ng.dot(a, b, splits=2).get())
        row = ng.Pieces(a[:1].copy(), count)
        for z in (row, row.T.T):
            assert same_bits(
                ng.dot(z, b, splits=1, precision="tensor").get(), ng.dot(a[:1], b, splits=1, precision="tensor").get()
            )
        column = row.T
        want = ng.dot(a[:1].T, b[:1], splits=1, precision="tensor").get()
        assert same_bits(ng.dot(column, b[:1], splits=1, precision="tensor").get(), want)
        empty = ng.Pieces(ng.empty((90, 0)), count)
        assert ng.dot(a, empty, precision="tensor", splits=1).shape == (40, 0)
        assert not ng.dot(ng.empty((3, 0)), ng.Pieces(ng.empty((0, 4)), count), precision="tensor").get().any()


def test_products_that_choose_two_themselves() -> None:
    r = np.random.default_rng(5)
    a, b = (r.standard_normal(s).astype(np.float32) for s in ((4224, 704), (704, 512)))
    x, y = put(a), put(b)
    of_y = ng.Pieces(y)
    plan = ng.GemmPlan(x, of_y, ng.empty((4224, 512)), precision="tensor")
    assert plan.pieces == of_y.pieces == 2 and "f16x3" in plan.kernel
    assert same_bits(ng.dot(x, of_y, precision="tensor").get(), ng.dot(x, y, precision="tensor").get())


FILL = (
    'extern "C" __global__ void fill(float* x, int n) { int i = blockIdx.x * 128 + threadIdx.x; if (i < n) x[i] = 3; }'
)


def _kernel(w: ng.GPUTensor) -> None:
    ng.RawKernel(FILL, "fill")((-(-w.size // 128),), (128,), (w, np.int32(w.size)))


def _step(w: ng.GPUTensor) -> None:
    ng.nn.sgd_update(w, ng.zeros(w.shape), ng.ones(w.shape), lr=0.5)


WRITES: dict[str, Callable[[ng.GPUTensor], object]] = {
    "in place": lambda w: w.__iadd__(1),
    "assigned": lambda w: w.__setitem__(slice(None), 2.5),
    "a view": lambda w: w.T[3:5, ::2].__setitem__(slice(None), 7),
    "a view of a view": lambda w: w[1:][:, 2:].__imul__(-1),
    "set": lambda w: w.set(np.full(w.shape, 4, np.float32)),
    "copy_from": lambda w: ng.copyto(w, np.full(w.shape, 5, np.float32)),
    "out=": lambda w: ng.exp(w, out=w),
    "a product": lambda w: ng.dot(ng.ones((w.shape[0], 8)), ng.ones((8, w.shape[1])), out=w),
    "an optimizer's step": _step,
    "a kernel of the user's": _kernel,
    "memory of others": lambda w: ng.from_dlpack(w).__setitem__(slice(None), 6),
    "a wrapped address": lambda w: ng.wrap(w.ptr, w.shape, "float32").fill(9),
}


@pytest.mark.parametrize("how", WRITES)
@pytest.mark.parametrize("count", [2, 3])
def test_a_value_whatever_is_written_to_the_tensor(how: str, count: int) -> None:
    r = np.random.default_rng(6)
    x, w = (put(r.standard_normal(s).astype(np.float32)) for s in ((33, 70), (70, 48)))
    options = {"precision": "tensor", "splits": 1, "tile": {2: "f16_128x128", 3: "128x128"}[count]}
    of_w = ng.Pieces(w, count)
    before, old = ng.dot(x, w, **options).get(), w.get()
    WRITES[how](w)
    after, new = ng.dot(x, w, **options).get(), w.get()
    assert not same_bits(after, before) and not same_bits(new, old)
    assert same_bits(ng.dot(x, of_w, **options).get(), before) and same_bits(of_w.copy().get(), old)
    assert same_bits(ng.dot(x, of_w, precision="strict").get(), ng.dot(x, ng.array(old), precision="strict").get())
    of_w.set(w)
    assert same_bits(ng.dot(x, of_w, **options).get(), after) and same_bits(of_w.copy().get(), new)
    of_w.T.set(ng.array(old).T)
    assert same_bits(ng.dot(x, of_w, **options).get(), before)
    of_copy = of_w.copy()
    of_copy += 1
    assert same_bits(ng.dot(x, of_w, **options).get(), before)


@pytest.mark.parametrize("count", [2, 3])
def test_in_a_graph(count: int) -> None:
    """set() that was recorded takes what the tensor holds at each launch; without it nothing changes."""
    r = np.random.default_rng(7)
    x, w = (put(r.standard_normal(s).astype(np.float32)) for s in ((33, 70), (70, 48)))
    options = {"precision": "tensor", "splits": 1, "tile": {2: "f16_128x128", 3: "128x128"}[count]}
    of_w, fixed = ng.Pieces(w, count), ng.Pieces(w, count)
    first = ng.dot(x, w, **options).get()
    y, z, step = ng.empty((33, 48)), ng.empty((33, 48)), ng.full((70, 48), 0.5)

    def body() -> None:
        of_w.set(w)
        ng.dot(x, of_w, y, **options)
        ng.dot(x, fixed, z, **options)
        ng.nn.sgd_update(w, ng.zeros(w.shape), step, lr=0.25)

    graph = ng.Graph(body)
    for turn in range(4):
        if turn == 2:
            w[3] = 100  # between two launches
        want = ng.dot(x, w, **options).get()
        graph.launch()
        assert same_bits(y.get(), want) and same_bits(z.get(), first)
        assert (turn == 0) == same_bits(want, first)


def test_many_threads_and_streams() -> None:
    """One value, read by all at once; each product has words of its own."""
    r = np.random.default_rng(8)
    w = put(r.standard_normal((96, 80)).astype(np.float32))
    xs = [put((10.0**i * r.standard_normal((40 + i, 96))).astype(np.float32)) for i in range(6)]
    of_w = ng.Pieces(w)
    options = {"precision": "tensor", "splits": 1, "tile": "f16_128x128"}
    want = [ng.dot(x, w, **options).get() for x in xs]
    wrong: list[object] = []

    def work(i: int) -> None:
        try:
            stream = ng.Stream()
            for _ in range(5):
                got = ng.dot(xs[i], of_w, stream=stream, **options)
                stream.synchronize()
                if not same_bits(got.get(), want[i]):
                    wrong.append(i)
        except BaseException as e:
            wrong.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(xs))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_memory_is_named_and_given_back() -> None:
    w = ng.ones((128, 96))
    for count, each in ((2, 8), (3, 10)):
        ng.synchronize()
        before = ng.memory_stats().in_use
        with ng.track_memory():
            of_w = ng.Pieces(w, count)  # the holder
            held = [h for h in ng.memory_report().held if "# the holder" in h.statement]
            assert sum(h.bytes for h in held) == of_w.nbytes
        head = {2: 6144, 3: 2048}[count]
        assert of_w.nbytes == each * 128 * 96 + head and of_w.T.nbytes == of_w.nbytes
        assert ng.memory_stats().in_use - before >= of_w.nbytes
        handle = of_w.T
        del of_w
        assert ng.memory_stats().in_use - before >= handle.nbytes
        del handle
        assert ng.memory_stats().in_use == before


def test_facts_and_refusals() -> None:
    w = ng.ones((3, 5))
    of_w = ng.Pieces(w)
    assert (of_w.shape, of_w.T.shape, of_w.ndim, of_w.pieces, str(of_w.dtype)) == ((3, 5), (5, 3), 2, 2, "float32")
    for call, error, words in (
        (lambda: ng.Pieces(ng.ones((3, 5), "float16")), TypeError, "float16; needs float32"),
        (lambda: ng.Pieces(ng.ones(3)), ValueError, r"\(3,\); needs 2 axes"),
        (lambda: ng.Pieces(w, 4), ValueError, "count is 4; needs 2 or 3"),
        (lambda: ng.Pieces(np.ones((3, 5))), TypeError, "matrix"),
        (lambda: of_w.set(ng.ones((5, 3))), ValueError, r"\(5, 3\); needs \(3, 5\)"),
        (lambda: ng.dot(of_w, of_w.T), TypeError, "a and b are Pieces"),
        (lambda: ng.dot(of_w, ng.ones((3, 5))), ValueError, r"a has shape \(3, 5\)"),
        (lambda: ng.dot(of_w, ng.ones((5, 2), "float16")), TypeError, "float32"),
        (lambda: ng.dot(of_w, [[1.0], [2.0]]), TypeError, "GPUTensor"),
        (lambda: ng.dot(ng.ones((2, 3)), of_w, beta=1.0), ValueError, "beta"),
        (lambda: ng.GemmPlan(of_w, of_w.T, ng.empty((3, 3))), TypeError, "a and b are Pieces"),
    ):
        with pytest.raises(error, match=words):
            call()
    x, y = ng.ones((2, 3)), ng.empty((2, 5))
    plan = ng.GemmPlan(x, of_w, y, precision="tensor", splits=1)
    for operands, words in (
        ((x, w, y), "b is a tensor; needs 2 pieces, as planned"),
        ((x, ng.Pieces(w, 3), y), "b is 3 pieces; needs 2 pieces, as planned"),
        ((x, of_w.T, y), "shape"),
    ):
        with pytest.raises(ValueError, match=words):
            plan(*operands)
