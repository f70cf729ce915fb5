"""nditer, frompyfunc, vectorize, names of ufuncs and annotations: the same code beside NumPy."""

from __future__ import annotations

import itertools

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import cupy

SHAPES = [(), (1,), (5,), (2, 3), (3, 1, 4)]


def layouts(lib, shape, dtype):
    """Tensors of one shape that lie in memory in every way."""
    a = lib.arange(int(np.prod(shape)) * 4, dtype=dtype)
    yield a[: int(np.prod(shape))].reshape(shape)
    yield a[: int(np.prod(shape))].reshape(shape[::-1]).T
    if shape:
        double = a[: 2 * int(np.prod(shape))].reshape(*shape[:-1], 2 * shape[-1])
        yield double[..., ::2]
        yield double[..., ::-2]
        yield lib.broadcast_to(a[: shape[-1]], shape)


@pytest.mark.parametrize(("shape", "dtype"), list(itertools.product(SHAPES, ("int8", "float32", "complex128"))))
def test_order_of_elements(shape, dtype):
    for theirs, ours in zip(layouts(np, shape, dtype), layouts(ng, shape, dtype), strict=True):
        for order in "CFAK":
            got, want = ng.nditer(ours, order=order), np.nditer(theirs, order=order)
            assert [x.item() for x in got] == [x.item() for x in want]
        for flag in ("multi_index", "c_index", "f_index"):
            one, other = ng.nditer(ours, flags=[flag]), np.nditer(theirs, flags=[flag])
            name = "multi_index" if flag == "multi_index" else "index"
            assert [(x.item(), getattr(one, name)) for x in one] == [(x.item(), getattr(other, name)) for x in other]
        chunks = [[x.tolist() for x in lib.nditer(a, flags=["external_loop"])] for lib, a in ((ng, ours), (np, theirs))]
        assert chunks[0] == chunks[1]


@pytest.mark.parametrize("shape", SHAPES)
def test_writing(shape):
    for k in range(4 if shape else 2):
        made = []
        for lib in (np, ng):
            x = list(layouts(lib, shape, "float32"))[k]
            root = x if x.base is None else x.base
            with lib.nditer(x, op_flags=["readwrite"]) as it:
                for v in it:
                    v[...] = 2 * v + 1
            made.append(x.tolist())
            for v in lib.nditer(x, op_flags=[["readwrite"]]):  # without `with`, as long as it ends
                v[...] += 1
            it = lib.nditer(x, op_flags=["readwrite"], flags=["buffered"], op_dtypes=["float64"], casting="same_kind")
            with it:
                for v in it:
                    v[...] = v / 3
            made += [x.tolist(), root.tolist()]
        assert made[: len(made) // 2] == made[len(made) // 2 :]


def squares(lib, a, out=None):
    """The example of NumPy's manual."""
    flags = [["readonly"], ["writeonly", "allocate", "no_broadcast"]]
    with lib.nditer([a, out], flags=["external_loop", "buffered"], op_flags=flags) as it:
        for x, y in it:
            y[...] = x * x
        return it.operands[1]


def test_several_operands():
    results = []
    for lib in (np, ng):
        a, b = lib.arange(6).reshape(2, 3), lib.arange(3)
        out = lib.zeros((2, 3), dtype=a.dtype)
        it = lib.nditer([a, b, None])
        for x, y, z in it:
            z[...] = x * y
        assert squares(lib, a, out) is out
        shared = lib.arange(4)
        for x, y in lib.nditer([shared, shared], op_flags=[["readonly"], ["readwrite"]]):
            y[...] = x + 1
        once = lib.nditer(a, op_flags=["readwrite"])
        next(once)[...] = 50
        once.close()
        loop, walked = lib.nditer([a, b], flags=["c_index"]), []
        while not loop.finished:
            walked.append((loop[0].item(), loop[1].item(), loop.index))
            loop.iternext()
        loop.reset()
        facts = (len(loop), loop.shape, loop.nop, loop.ndim, loop.itersize)
        results.append([it.operands[2], squares(lib, a.T), out, shared, a, walked, facts])
        assert type(it.operands[2]) is type(squares(lib, a)) is type(a)
    for got, want in zip(results[1], results[0], strict=True):
        assert (got.tolist() if isinstance(got, ng.GPUTensor) else got) == (
            want.tolist() if isinstance(want, np.ndarray) else want
        )
    assert results[1][1].strides == results[0][1].strides or results[1][1].shape == (3, 2)
    assert list(ng.nditer(ng.zeros((0, 3)), flags=["zerosize_ok"])) == []


def test_nditer_refuses():
    x = ng.arange(6)
    for error, words, call in (
        (ValueError, r"op\[0\] and op\[1\] share memory", lambda: ng.nditer([x[1:], x[:5]], op_flags=["readwrite"])),
        (ValueError, "op_flags has 2 lists; needs 1", lambda: ng.nditer(x, op_flags=[["readonly"], ["readonly"]])),
        (ValueError, "broadcast", lambda: ng.nditer([x, ng.zeros(4)])),
        (ValueError, "read-only", lambda: ng.nditer(ng.broadcast_to(x, (2, 6)), op_flags=["readwrite"])),
        (TypeError, "copy", lambda: ng.nditer(x).copy()),
        (ValueError, "zero", lambda: ng.nditer(ng.zeros(0))),
    ):
        with pytest.raises(error, match=words):
            call()


def test_frompyfunc():
    made = []
    for lib in (np, ng):
        add, both = lib.frompyfunc(lambda a, b: a + b, 2, 1, identity=0), lib.frompyfunc(divmod, 2, 2)
        x, y = lib.arange(6).reshape(2, 3), lib.arange(3)
        at = lib.arange(4)
        add.at(at, [0, 2, 0], 5)
        parts = [add(x, y), add(x, 0.5), add.accumulate(x, 1), add.reduce(x), add.outer(y, y), *both(x, 2), at]
        parts.append(add.reduceat(y, [0, 2]))
        made.append([np.asarray(p.tolist()) for p in parts] + [add.nin, add.nout, add.nargs, add.identity])
    for got, want in zip(made[1], made[0], strict=True):
        assert np.array_equal(got, want)
    add = ng.frompyfunc(lambda a, b: a + b, 2, 1)
    assert add(ng.arange(3), 1).dtype == np.int64 and add(ng.arange(3), 1j).dtype == np.complex128
    out = ng.zeros(3)
    assert add(ng.arange(3), 0.5, out=out) is out and out.tolist() == [0.5, 1.5, 2.5]
    for error, words, call in (
        (TypeError, "func is 3; needs a function", lambda: ng.frompyfunc(3, 1, 1)),
        (TypeError, "nin is 'a'; needs an integer", lambda: ng.frompyfunc(abs, "a", 1)),
        (TypeError, "returned '0'; needs a number", lambda: ng.frompyfunc(str, 1, 1)(ng.arange(2))),
    ):
        with pytest.raises(error, match=words):
            call()


def test_vectorize_decorates():
    @ng.vectorize(otypes=[np.float32], excluded=["power"])
    def raised(x, power=2):
        """A docstring."""
        return x**power

    assert raised(ng.arange(3), power=3).tolist() == [0.0, 1.0, 8.0] and raised(ng.arange(3)).dtype == np.float32
    assert raised.__doc__ == "A docstring." and raised.__name__ == "raised"
    total = ng.vectorize(lambda row, k: (row.sum(), row * k), signature="(n),()->(),(n)")
    sums, rows = total(ng.arange(6).reshape(2, 3), ng.array([1, 10]))
    assert sums.tolist() == [3, 12] and rows.tolist() == [[0, 1, 2], [30, 40, 50]]
    with pytest.raises(TypeError, match="vectorize: the function returned 'x0'"):
        ng.vectorize(lambda v: f"x{v}")(ng.arange(2))


def test_ufuncs_have_numpys_attributes():
    for name in ("add", "sin", "divmod", "matmul", "logical_not", "frexp"):
        for attribute in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature"):
            assert getattr(getattr(ng, name), attribute) == getattr(getattr(np, name), attribute), (name, attribute)
    kinds = (np.dtype(np.float32), np.dtype(np.int32), None)
    assert ng.add.resolve_dtypes(kinds) == np.add.resolve_dtypes(kinds)
    assert all(isinstance(x, ng.ufunc) for x in (ng.add, ng.sin, np.add, ng.frompyfunc(abs, 1, 1)))
    assert not any(isinstance(x, ng.ufunc) for x in (ng.sum, ng.dot, 3, ng.array([1])))
    assert isinstance(ng.zeros(3).flat, ng.flatiter)


def test_annotations():
    def doubled(x: ng.typing.NDArray[np.float32], y: ng.typing.ArrayLike) -> ng.ndarray[tuple[int], np.dtype]:
        return x + y

    assert doubled(ng.ones(2), 1).tolist() == [2.0, 2.0]
    assert ng.typing.NDArray[np.int8].__origin__ is ng.ndarray and ng.ndarray[int, float].__args__ == (int, float)


def test_broadcast_is_iterated_over():
    for shapes in (((3,), (2, 1)), ((), (2,)), ((2, 0), (1,)), ((2, 1, 3), (4, 1), ())):
        arrays = [np.arange(np.prod(s)).reshape(s) for s in shapes]
        got, want = ng.broadcast(*map(ng.array, arrays)), np.broadcast(*arrays)
        assert (got.shape, got.nd, got.ndim, got.size, got.numiter, got.index) == (
            (want.shape, want.nd, want.ndim, want.size, want.numiter, want.index)
        )
        assert [tuple(map(int, t)) for t in got] == [tuple(map(int, t)) for t in want] and list(got) == []
        got.reset()
        assert got.index == 0 and len(list(got)) == want.size
        assert [[int(v) for v in it] for it in ng.broadcast(*map(ng.array, arrays)).iters] == [
            [int(v) for v in it] for it in np.broadcast(*arrays).iters
        ]


def test_flat_is_an_iterator():
    for theirs, ours in zip(layouts(np, (3, 4), "int32"), layouts(ng, (3, 4), "int32"), strict=True):
        got, want = ours.flat, theirs.flat
        assert [int(next(got)), int(next(got)), got.index, got.coords] == [
            next(want),
            next(want),
            want.index,
            want.coords,
        ]
        assert list(map(int, got)) == list(map(int, want)) and got.index == want.index and list(got) == []
        for compare in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
            for other in (3, theirs.reshape(-1)[::-1].copy()):
                found = getattr(ours.flat, compare)(ng.array(other) if isinstance(other, np.ndarray) else other)
                assert np.array_equal(found.get(), getattr(theirs.flat, compare)(other))


def test_bit_generators_have_numpys_names():
    for name in ("PCG64", "PCG64DXSM", "MT19937", "SFC64", "Philox"):
        kind = getattr(ng.random, name)
        one, other = (ng.random.Generator(kind(seed)).random(5) for seed in (7, 7))
        assert np.array_equal(one.get(), other.get())
        assert not np.array_equal(one.get(), ng.random.Generator(kind(8)).random(5).get())
    with pytest.raises(TypeError, match="PCG64: seed is 'a'; needs an integer"):
        ng.random.PCG64("a")


@pytest.mark.parametrize("axes", [[[1], [0, 2]], [[0], [1], [2]], [[2, 0], [1]]])
def test_nested_iterators(axes):
    def visited(lib):
        a = lib.arange(24).reshape(2, 4, 3)[:, ::2]
        first, second, *rest = lib.nested_iters([a, a[::-1]], axes, flags=["multi_index"])
        places = ((i, j) for i in first for j in second)
        return [
            (first.multi_index, second.multi_index, [tuple(map(int, xy)) for it in (rest or [[j]]) for xy in it])
            for _, j in places
        ]

    assert visited(ng) == visited(np)
    with pytest.raises(ValueError, match=r"op\[0\] is written; needs one that is read"):
        ng.nested_iters(ng.arange(6).reshape(2, 3), [[0], [1]], op_flags=["readwrite"])


@pytest.mark.parametrize("module", [ng, cupy])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ma", "tensors have no masks: where=, nanmean"),
        ("char", "tensors hold no text"),
        ("recarray", "tensors have no fields"),
        ("fromregex", "its result has fields: numpy.fromregex"),
        ("matrix", "tensors of two axes and the operator @"),
        ("datetime64", "tensors hold no times"),
        ("ctypeslib", "numpy.ctypeslib is of the host: give it what x.get"),
        ("round_", "`np.round_` was removed in the NumPy 2.0 release. Use `np.round` instead"),
        ("no_such_name", ""),
    ],
)
def test_names_that_are_absent_say_why(module, name, words):
    if module is cupy and name == "round_":
        return  # CuPy has it
    with pytest.raises(AttributeError, match=f"no attribute '{name}'" + (f" .{words}" if words else "$")):
        getattr(module, name)
    assert not hasattr(module, name)
