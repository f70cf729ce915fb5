"""The functions of the table beside NumPy's: random operands of every dtype, shapes with zeros and without axes,
views.
"""

# ruff: noqa: B023  (a case is run where it is made)

from __future__ import annotations

import math
import subprocess
import sys

import nervanagpu as ng
import numpy as np
import pytest
from source_tree import ROOT

WIDTHS = ["float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "bool"]
SHAPES = [(), (1,), (7,), (0,), (3, 4), (2, 0, 3), (4, 1, 5), (2, 3, 4, 2)]


def made(rng, dtype, shape, low=-4, high=5):
    kind = np.dtype(dtype).kind
    if kind == "f":
        return rng.normal(size=shape).astype(dtype)
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    return rng.integers(0 if kind == "u" else low, high, shape).astype(dtype)


def views(rng, x):
    """The array, and tensors with its elements that lie in other ways."""
    yield ng.array(x)
    if x.ndim >= 2:
        yield ng.array(np.ascontiguousarray(x.T)).T
    if x.ndim >= 1:
        yield ng.array(np.ascontiguousarray(x[::-1]))[::-1]
        wide = np.repeat(x, 2, axis=-1)
        yield ng.array(wide)[..., ::2]


def agree(got, want, exact=True, ulps=4):
    if isinstance(want, tuple | list):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            agree(g, w, exact, ulps)
        return
    host = got.get() if isinstance(got, ng.GPUTensor) else np.asarray(got)
    want = np.asarray(want)
    assert host.shape == want.shape, (host.shape, want.shape)
    assert host.dtype == want.dtype, (host.dtype, want.dtype)
    if exact or want.dtype.kind not in "f":
        np.testing.assert_array_equal(host, want)
        return
    eps = np.finfo(want.dtype).eps
    scale = np.nanmax(np.abs(want), initial=1.0, where=np.isfinite(want))
    np.testing.assert_allclose(host, want, rtol=ulps * eps, atol=ulps * eps * scale)


def both(f, x, *rest, exact=True, ulps=4, **more):
    """f(numpy) and f(nervanagpu) agree, and so do their refusals."""
    rng = np.random.default_rng(5)
    try:
        want = f(np, x, *rest, **more)
    except Exception as error:  # NumPy's own types of errors
        with pytest.raises((ValueError, TypeError, IndexError)):
            f(ng, ng.array(x), *rest, **more)
        assert isinstance(error, ValueError | TypeError | IndexError)
        return
    for t in views(rng, x):
        agree(f(ng, t, *rest, **more), want, exact, ulps)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes_and_orders(dtype, shape):
    x = made(np.random.default_rng(1), dtype, shape)
    for f in (
        lambda np, x: np.ravel(x),
        lambda np, x: np.ravel(x, order="F"),
        lambda np, x: np.reshape(x, (-1, 1)) if math.prod(shape) else np.reshape(x, (0, 3)),
        lambda np, x: np.reshape(x, x.shape[::-1], order="F"),
        lambda np, x: np.squeeze(x),
        lambda np, x: np.expand_dims(x, (0, -1)),
        lambda np, x: np.flip(x),
        lambda np, x: np.transpose(x),
        lambda np, x: np.roll(x, 2),
        lambda np, x: np.tile(x, 2),
        lambda np, x: np.tile(x, (2, 1, 3)),
        lambda np, x: np.repeat(x, 3),
        lambda np, x: np.atleast_1d(x),
        lambda np, x: np.atleast_2d(x),
        lambda np, x: np.atleast_3d(x),
        lambda np, x: np.pad(x, 1),
        lambda np, x: np.broadcast_to(x, (2, *x.shape)),
        lambda np, x: x.flatten(),
        lambda np, x: np.append(x, x),
        lambda np, x: np.resize(x, (2, 5)),
        lambda np, x: np.concatenate([np.ravel(x), np.ravel(x)]),
        lambda np, x: np.stack([x, x], axis=-1),
        lambda np, x: np.copy(x),
        lambda np, x: np.zeros_like(x),
        lambda np, x: np.ones_like(x),
        lambda np, x: np.full_like(x, 1),
    ):
        both(f, x)


@pytest.mark.parametrize("dtype", ["float32", "int16", "bool"])
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (1, 5), (4, 0, 2), (6,)], ids=str)
def test_along_axes(dtype, shape):
    x = made(np.random.default_rng(2), dtype, shape)
    for axis in range(-len(shape), len(shape) + 1):  # one beyond
        for f in (
            lambda np, x, a: np.flip(x, a),
            lambda np, x, a: np.roll(x, (1, -2), (a, 0)),
            lambda np, x, a: np.roll(x, 1, a),
            lambda np, x, a: np.repeat(x, 2, a),
            lambda np, x, a: np.moveaxis(x, a, 0),
            lambda np, x, a: np.swapaxes(x, a, 0),
            lambda np, x, a: np.array_split(x, 3, a),
            lambda np, x, a: np.split(x, [1, 2], a),
            lambda np, x, a: np.diff(x, axis=a),
            lambda np, x, a: np.diff(x, 2, a),
            lambda np, x, a: np.diff(x, axis=a, prepend=x),
            lambda np, x, a: np.cumprod(x, a),
            lambda np, x, a: np.cumsum(x, a),
            lambda np, x, a: np.delete(x, [0], a),
            lambda np, x, a: np.insert(x, 1, 1, a),
            lambda np, x, a: np.concatenate([x, x], a),
            lambda np, x, a: np.take(x, [0, -1], a),
            lambda np, x, a: np.count_nonzero(x, axis=a),
            lambda np, x, a: np.compress([1, 0, 1][: x.shape[a]], x, a),
            lambda np, x, a: np.squeeze(x, a),
            lambda np, x, a: np.unstack(x, axis=a),
        ):
            both(f, x, axis, exact=False)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(dtype, keepdims):
    rng = np.random.default_rng(3)
    for shape in ((), (5,), (3, 4), (2, 3, 5), (3, 0)):
        x = made(rng, dtype, shape)
        for axis in (None, *range(len(shape)), tuple(range(len(shape))), ()):
            for name in ("sum", "prod", "all", "any", "max", "min", "mean", "ptp"):
                if name == "ptp" and (dtype == "bool" or axis == ()):
                    continue
                if name == "mean" and math.prod(shape) == 0:
                    continue

                def f(np, x, name=name, axis=axis):
                    return getattr(np, name)(x, axis=axis, keepdims=keepdims)

                both(f, x, exact=False, ulps=12)


def test_masks_initial_values_and_dtypes_of_reductions():
    rng = np.random.default_rng(4)
    for dtype in ("float32", "int32", "uint8", "float64"):
        x = made(rng, dtype, (4, 6))
        mask = rng.integers(0, 2, (4, 6)).astype(bool)
        mask[:, 0] = True
        for axis in (None, 0, 1):
            both(lambda np, x, a: np.sum(x, axis=a, where=mask), x, axis, exact=False, ulps=12)
            both(lambda np, x, a: np.sum(x, axis=a, initial=3), x, axis, exact=False, ulps=12)
            both(lambda np, x, a: np.sum(x, axis=a, dtype=np.float64), x, axis, exact=False, ulps=12)
            both(lambda np, x, a: np.prod(x, axis=a, where=mask, initial=2), x, axis, exact=False, ulps=24)
            both(lambda np, x, a: np.max(x, axis=a, where=mask, initial=2), x, axis)
            both(lambda np, x, a: np.min(x, axis=a, initial=2), x, axis)
            both(lambda np, x, a: np.mean(x, axis=a, where=mask), x, axis, exact=False, ulps=12)
            both(lambda np, x, a: np.var(x, axis=a, where=mask), x, axis, exact=False, ulps=24)
            both(lambda np, x, a: np.std(x, axis=a, ddof=1), x, axis, exact=False, ulps=24)
            both(lambda np, x, a: np.any(x > 1, axis=a, where=mask), x, axis)
            both(lambda np, x, a: np.all(x > -3, axis=a, where=mask), x, axis)
            both(lambda np, x, a: np.average(x, axis=a), x, axis, exact=False, ulps=12)
    out = ng.empty((4,), "float64")
    x = made(rng, "float32", (4, 6))
    assert ng.sum(ng.array(x), 1, out=out) is out
    np.testing.assert_allclose(out.get(), x.sum(1), rtol=1e-6)
    with pytest.raises(ValueError, match="initial"):
        ng.max(ng.array(x), where=x > 0)


def test_functions_that_skip_nan():
    rng = np.random.default_rng(6)
    for dtype in ("float32", "float64", "int32"):
        x = made(rng, dtype, (5, 6))
        if dtype != "int32":
            x[rng.integers(0, 2, x.shape).astype(bool)] = np.nan
            x[:, 0] = 1
        for name in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd"):
            for axis in (None, 0, 1):
                both(lambda np, x, a, name=name: getattr(np, name)(x, axis=a), x, axis, exact=False, ulps=24)
        both(lambda np, x: np.nancumsum(x, 1), x, exact=False, ulps=24)
    x = np.array([np.nan, np.inf, -np.inf, 2, -0.0], np.float32)
    both(lambda np, x: np.nan_to_num(x), x)
    both(lambda np, x: np.nan_to_num(x, nan=1, posinf=2, neginf=3), x)
    assert np.isnan(ng.nanmax(ng.array(np.full(3, np.nan))).item())


def test_powers_of_integers():
    rng = np.random.default_rng(7)
    for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        x = made(rng, dtype, (200,), -7, 8)
        e = rng.integers(0, 70, 200).astype(dtype)
        for n in (0, 1, 2, 3, 7, 64):
            both(lambda np, x, n: x**n, x, n)
        agree(ng.array(x) ** ng.array(e), x**e)
        agree(ng.power(3, ng.array(e)), np.power(np.dtype(dtype).type(3), e))
    with pytest.raises(ValueError, match="exponent"):
        ng.array([1, 2]) ** -1
    y = ng.array(np.array([2, 3], np.int64))
    y **= 3
    agree(y, np.array([8, 27]))
    with pytest.raises(ValueError, match="exponent -3"):
        ng.array([1, -1, 2, 0]) ** ng.array([-3, -3, -1, -1])


def test_products_along_axes():
    rng = np.random.default_rng(8)
    for dtype in ("float32", "float64", "int32", "int64", "uint8", "float16"):
        a, b, c = (made(rng, dtype, s) for s in ((3, 4), (4, 5), (2, 3, 4)))
        for text, operands in (
            ("ij,jk", (a, b)),
            ("ij,jk->ki", (a, b)),
            ("ij->", (a,)),
            ("ij->ji", (a,)),
            ("bij,jk->bik", (c, b)),
            ("bij,bij->b", (c, c)),
            ("...ij,jk->...ik", (c, b)),
            ("ij,ij->ij", (a, a)),
            ("i,j->ij", (a[0], b[0])),
            ("bij,jk,kl->bil", (c, b, b.T)),
        ):
            agree(ng.einsum(text, *map(ng.array, operands)), np.einsum(text, *operands), False, 60)
        agree(ng.tensordot(ng.array(c), ng.array(a), ([1, 2], [0, 1])), np.tensordot(c, a, ([1, 2], [0, 1])), False, 60)
        agree(ng.tensordot(ng.array(a), ng.array(b), 1), np.tensordot(a, b, 1), False, 60)
        agree(ng.inner(ng.array(c), ng.array(a)), np.inner(c, a), False, 60)
        agree(ng.outer(ng.array(a), ng.array(b)), np.outer(a, b), False)
        agree(ng.vdot(ng.array(a), ng.array(a)), np.vdot(a, a), False, 60)
        agree(ng.kron(ng.array(a), ng.array(b)), np.kron(a, b), False)
        agree(ng.cross(ng.array(a[:, :3]), ng.array(a[:, 1:4])), np.cross(a[:, :3], a[:, 1:4]), False, 8)
        agree(ng.dot(ng.array(c), ng.array(c.transpose(0, 2, 1))), np.dot(c, c.transpose(0, 2, 1)), False, 60)
        if dtype != "uint8":  # bytes: ng.dot sums them in int32
            agree(ng.array(a) @ ng.array(b), a @ b, False, 60)
            agree(ng.matmul(ng.array(c), ng.array(b)), np.matmul(c, b), False, 60)
            agree(ng.dot(ng.array(a[0]), ng.array(a[1])), np.dot(a[0], a[1]), False, 60)
    square = made(rng, "float32", (4, 4))
    agree(ng.einsum("ii->i", ng.array(square)), np.einsum("ii->i", square))
    agree(ng.einsum("ii", ng.array(square)), np.einsum("ii", square), False)
    x, y = made(rng, "float64", (3, 4)), made(rng, "int32", (4, 2))
    agree(ng.array(x) @ ng.array(y), x @ y, False, 60)
    agree(x @ ng.array(y), x @ y, False, 60)
    agree(ng.array(x) @ y, x @ y, False, 60)
    agree([1, 2, 3] @ ng.array(x), [1, 2, 3] @ x, False, 60)
    for wrong in ("ij,jk->il", "ij", "ij,jk,kl", "ij,jk->iik"):
        with pytest.raises(ValueError, match="einsum"):
            ng.einsum(wrong, ng.array(a), ng.array(b))


def test_parts_of_matrices():
    rng = np.random.default_rng(10)
    for shape in ((4, 4), (3, 5), (5, 3), (2, 3, 4)):
        x = made(rng, "int32", shape)
        for k in range(-6, 7):
            both(lambda np, x, k: np.tril(x, k), x, k)
            both(lambda np, x, k: np.triu(x, k), x, k)
            both(lambda np, x, k: np.diagonal(x, k), x, k)
            both(lambda np, x, k: np.trace(x, k), x, k)
            both(lambda np, x, k: np.diag(x[0, 0], k) if x.ndim == 3 else np.diag(x, k), x, k)
        agree(ng.eye(shape[0], shape[1], 1, np.int32), np.eye(shape[0], shape[1], 1, np.int32))
    x = ng.array(np.zeros((3, 4), np.float32))
    ng.diagonal(x, 1)[...] = 2  # a view
    agree(x, 2 * np.eye(3, 4, 1, np.float32))
    y = np.zeros((5, 3))
    t = ng.array(y)
    np.fill_diagonal(y, 7)
    ng.fill_diagonal(t, 7)
    agree(t, y)


def test_reshape_is_a_view_where_strides_allow_it():
    x = ng.array(np.arange(24, dtype=np.int32).reshape(4, 6))
    part = x[:, :4].reshape(4, 2, 2)  # no copy
    part[...] = 0
    want = np.arange(24, dtype=np.int32).reshape(4, 6)
    want[:, :4] = 0
    agree(x, want)
    column = x[:, 0].reshape(2, 2)
    column[0, 0] = 5
    assert int(x[0, 0]) == 5
    turned = x.T.reshape(24)  # a copy
    turned[...] = 9
    assert int(x[0, 0]) == 5
    with pytest.raises(ValueError, match="contiguous"):
        x.T.reshape(24, copy=False)
    rng = np.random.default_rng(11)
    for _ in range(300):  # NumPy says which are views
        shape = tuple(rng.integers(1, 4, rng.integers(1, 5)))
        host = np.arange(math.prod(shape)).reshape(shape)
        key = tuple(slice(None, None, int(rng.choice([1, 2, -1]))) for _ in shape)
        order = tuple(rng.permutation(len(shape)))
        host_view, view = host[key].transpose(order), ng.array(host)[key].transpose(*order)
        lengths = (
            [1] * int(rng.integers(0, 2))
            + [int(n) for n in rng.permutation(host_view.shape)]
            + [1] * int(rng.integers(0, 2))
        )
        agree(view.reshape(lengths), host_view.reshape(lengths))
        try:
            host_view.reshape(lengths, copy=False)
        except ValueError:
            with pytest.raises(ValueError):
                view.reshape(lengths, copy=False)
        else:
            agree(view.reshape(lengths, copy=False), host_view.reshape(lengths))


def test_making():
    for args in ((5,), (2, 9), (9, 2, -2), (0, 10, 3), (5, 2), (-3, 3)):
        agree(ng.arange(*args), np.arange(*args))
        for dtype in ("int32", "uint8", "float32", "float64"):
            if min(args[:2]) >= 0 or dtype[0] != "u":
                agree(ng.arange(*args, dtype=dtype), np.arange(*args, dtype=dtype))
    agree(ng.arange(0.5, 3, 0.25), np.arange(0.5, 3, 0.25))
    agree(ng.arange(2**40, 2**40 + 5), np.arange(2**40, 2**40 + 5))
    agree(ng.arange(2**63, 2**63 + 3, dtype="uint64"), np.arange(2**63, 2**63 + 3, dtype="uint64"))
    agree(ng.arange(100000), np.arange(100000))
    for n in (0, 1, 2, 7):
        for end in (True, False):
            agree(ng.linspace(-1, 3, n, endpoint=end), np.linspace(-1, 3, n, endpoint=end), False)
    agree(ng.logspace(0, 2, 5), np.logspace(0, 2, 5), False, 20)
    agree(ng.meshgrid(np.arange(3), np.arange(4)), list(np.meshgrid(np.arange(3), np.arange(4))))
    agree(
        ng.meshgrid(np.arange(3), np.arange(4), indexing="ij"),
        list(np.meshgrid(np.arange(3), np.arange(4), indexing="ij")),
    )
    agree(ng.indices((2, 3)), np.indices((2, 3)))
    agree(ng.full((2, 3), [1, 2, 3], np.int32), np.full((2, 3), [1, 2, 3], np.int32))
    agree(ng.tri(3, 4, -1), np.tri(3, 4, -1, np.float32))
    agree(ng.vander(ng.array([1.0, 2, 3]), 3), np.vander([1.0, 2, 3], 3), False)
    with pytest.raises(OverflowError):
        ng.arange(300, dtype="uint8")
    with pytest.raises(ValueError, match="step"):
        ng.arange(1, 5, 0)
    agree(ng.array([[ng.array([1, 2]), [3, 4]]]), np.array([[[1, 2], [3, 4]]]))
    agree(ng.asarray([1.5, 2]), np.asarray([1.5, 2]))


def test_choosing():
    rng = np.random.default_rng(12)
    x = made(rng, "float32", (4, 5))
    order = np.argsort(x, 1)
    agree(ng.take_along_axis(ng.array(x), ng.array(order), 1), np.take_along_axis(x, order, 1))
    agree(ng.argwhere(ng.array(x > 0)), np.argwhere(x > 0))
    agree(ng.select([x > 1, x > 0], [ng.array(x), -x], 3), np.select([x > 1, x > 0], [x, -x], np.float32(3)))
    agree(ng.choose([0, 1, 1], [ng.array([1, 2, 3]), [4, 5, 6]]), np.choose([0, 1, 1], [[1, 2, 3], [4, 5, 6]]))
    agree(ng.extract(x > 0, ng.array(x)), np.extract(x > 0, x))
    agree(list(ng.unravel_index(ng.array([3, 7]), (2, 5))), list(np.unravel_index([3, 7], (2, 5))))
    agree(ng.ravel_multi_index(([0, 1], [2, 3]), (2, 5)), np.ravel_multi_index(([0, 1], [2, 3]), (2, 5)))
    y, t = x.copy(), ng.array(x)
    np.put(y, [0, 3, -1], [9, 8])
    t.put([0, 3, -1], [9, 8])
    agree(t, y)
    np.put_along_axis(y, order[:, :1], 0, 1)
    ng.put_along_axis(t, ng.array(order[:, :1]), 0, 1)
    agree(t, y)
    agree(ng.array(x)[ng.ix_([0, 2], [1, 3])], x[np.ix_([0, 2], [1, 3])])
    agree(ng.where(ng.array(x) > 0), np.where(x > 0))
    agree(
        ng.interp([0.5, 1.5, -1, 9], [0, 1, 2], [3.0, 5, 4]),
        np.interp([0.5, 1.5, -1, 9], [0, 1, 2], [3.0, 5, 4]),
        False,
    )


def test_where_and_dtype_of_elementwise_functions():
    rng = np.random.default_rng(13)
    a, b = made(rng, "float32", (3, 4)), made(rng, "float32", (4,))
    mask = a > 0
    out, host = ng.zeros((3, 4)), np.zeros((3, 4), np.float32)
    assert ng.add(ng.array(a), b, out, where=mask) is out
    np.add(a, b, host, where=mask)
    agree(out, host)
    agree(ng.add(ng.array(a), b, dtype=np.float64), np.add(a, b, dtype=np.float64))
    agree(
        np.sqrt(ng.array(np.abs(a)), where=mask, out=ng.ones((3, 4))),
        np.sqrt(np.abs(a), where=mask, out=np.ones((3, 4), np.float32)),
    )
    agree(np.multiply.outer(ng.array(b), b), np.multiply.outer(b, b))
    agree(ng.add.reduce(ng.array(a)), np.add.reduce(a), False)
    agree(np.multiply.accumulate(ng.array(b)), np.multiply.accumulate(b), False)
    agree(np.logical_or.reduce(ng.array(mask), axis=1), np.logical_or.reduce(mask, axis=1))


def test_tensors_as_numbers():
    x = ng.array(np.array([[1.5, 2.25]]))
    assert x.item(1) == 2.25 and x[0, 0].item() == 1.5 and x.tolist() == [[1.5, 2.25]]
    assert f"{x[0, 1]:.3f}" == "2.250" and int(x[0, 1]) == 2 and complex(x[0, 0]) == 1.5
    assert [10, 20, 30][ng.array(1)] == 20 and list(range(ng.array(3))) == [0, 1, 2]
    assert 1.5 in x and 7 not in x and len(list(x)) == 1
    assert x.strides == (16, 8) and x.itemsize == 8 and x.T.strides == (8, 16) and x.element_strides == (2, 1)
    with pytest.raises(TypeError, match="index"):
        [1, 2][ng.array(1.0)]
    with pytest.raises(TypeError):
        iter(ng.array(1.0))
    with pytest.raises(ValueError, match="item"):
        x.item()
    assert ng.array(np.float32(1.5)).view(np.int32).item() == np.float32(1.5).view(np.int32)


def test_dtype_functions():
    assert ng.isdtype(ng.float32, "real floating") and ng.isdtype("bfloat16", "real floating")
    assert not ng.isdtype(np.int8, ("bool", "unsigned integer")) and ng.isdtype(np.int8, np.int8)
    assert ng.result_type(ng.array([1]), np.float32) == np.float64 and ng.result_type(ng.ones(1), 2.5) == np.float32
    assert ng.can_cast(ng.int8, ng.int16) and not ng.can_cast(ng.float64, ng.int8)
    assert ng.finfo(ng.ones(1)).eps == np.finfo(np.float32).eps and ng.finfo("bfloat16").eps == 2**-7
    assert ng.iinfo(np.int8).max == 127
    with pytest.raises(ValueError, match="kind"):
        ng.isdtype(np.int8, "numbers")


def test_the_others():
    rng = np.random.default_rng(14)
    x = rng.normal(size=(4, 4, 6))
    y = rng.normal(size=12)
    whole = rng.integers(-3, 4, (3, 5))
    for f in (
        lambda np, a: np.column_stack([a[0, 0], a[1, 1]]),
        lambda np, a: np.dstack([a[0], a[1]]),
        lambda np, a: np.hstack([a[0], a[1]]),
        lambda np, a: np.hsplit(a, 2),
        lambda np, a: np.vsplit(a, 2),
        lambda np, a: np.dsplit(a, 3),
        lambda np, a: np.fliplr(a),
        lambda np, a: np.flipud(a),
        lambda np, a: np.rot90(a, 3),
        lambda np, a: np.rot90(a, 2, (1, 2)),
        lambda np, a: np.rollaxis(a, 2),
        lambda np, a: np.rollaxis(a, 0, 3),
        lambda np, a: np.diagflat(a[0, 0], 1),
        lambda np, a: np.ediff1d(a),
        lambda np, a: np.ediff1d(a, 9, 7),
        lambda np, a: np.fix(a),
        lambda np, a: np.gradient(a[0]),
        lambda np, a: np.gradient(a, 0.5, axis=1),
        lambda np, a: np.heaviside(a, 0.5),
        lambda np, a: np.isclose(a, a + 1e-9),
        lambda np, a: np.iscomplex(a),
        lambda np, a: np.angle(a),
        lambda np, a: np.angle(a, deg=True),
        lambda np, a: np.isreal(a),
        lambda np, a: np.isposinf(a),
        lambda np, a: np.isneginf(a),
        lambda np, a: np.logaddexp(a, a * 2),
        lambda np, a: np.logaddexp2(a, a * 2),
        lambda np, a: np.nancumprod(a[0], 0),
        lambda np, a: np.nanmedian(a),
        lambda np, a: np.nanquantile(a, 0.2, 1),
        lambda np, a: np.percentile(a, 40, 0),
        lambda np, a: np.sinc(a),
        lambda np, a: np.trapezoid(a),
        lambda np, a: np.trapezoid(a, dx=0.5, axis=0),
        lambda np, a: np.average(a, 0, weights=[1, 2, 3, 4]),
        lambda np, a: np.average(a, weights=a * a),
        lambda np, a: np.piecewise(a, [a < 0, a > 1], [-1, 1, 0]),
        lambda np, a: np.histogram_bin_edges(a, 5),
    ):
        both(f, x, exact=False, ulps=40)
    agree(ng.identity(3, np.int8), np.identity(3, np.int8))
    agree(ng.geomspace(1, 1000, 4), np.geomspace(1, 1000, 4), False, 20)
    agree(ng.fromfunction(lambda i, j: i + 2 * j, (2, 3)), np.fromfunction(lambda i, j: i + 2 * j, (2, 3)))
    agree(ng.frombuffer(b"abcd", np.uint8), np.frombuffer(b"abcd", np.uint8))
    agree(ng.fromiter(range(4), np.int32), np.fromiter(range(4), np.int32))
    agree(ng.trim_zeros([0, 0, 1, 0, 2, 0]), np.trim_zeros(np.array([0, 0, 1, 0, 2, 0])))
    agree(ng.asnumpy(ng.array(y)), y)
    assert ng.broadcast_shapes((3, 1), (1, 4)) == (3, 4) and ng.promote_types("int8", "uint8") == np.int16
    assert ng.isrealobj(ng.array(y)) and ng.iscomplexobj(ng.array(y) * 1j) and not ng.iscomplexobj(whole)
    assert ng.isscalar(3) and ng.isscalar(ng.arange(3)[1]) and not ng.isscalar(ng.array(3))
    assert ng.allclose(y, y + 1e-12)
    assert ng.array_equal(whole, ng.array(whole)) and not ng.array_equal(whole, whole[:2])
    assert ng.array_equiv(np.ones((2, 3)), [1, 1, 1]) and not ng.array_equiv(whole, whole + 1)
    assert ng.argpartition(ng.array(y), 3).get().tolist() == np.argsort(y, kind="stable").tolist()
    to, host = ng.array(whole), whole.copy()
    ng.copyto(to, whole * 2, where=whole > 0)
    np.copyto(host, whole * 2, where=whole > 0)
    agree(to, host)
    with pytest.raises(TypeError, match="copyto"):
        ng.copyto(to, 1.5)


def test_the_next_number():
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, 65504.0]
    for dtype in ("float16", "float32", "float64"):
        with np.errstate(all="ignore"):
            x = np.array(special, dtype)
            a, b = np.meshgrid(x, x)
            want = np.nextafter(a, b)
        got = ng.nextafter(ng.array(a), ng.array(b))
        agree(got, want)
        numbers = ~np.isnan(want) & (a != b)  # of equal zeros NumPy gives one or the other, by dtype
        np.testing.assert_array_equal(np.signbit(got.get())[numbers], np.signbit(want)[numbers])


def test_what_the_table_writes_is_up_to_date():
    root = ROOT
    check = [sys.executable, "tools/write_stubs.py", "--check"]
    done = subprocess.run(check, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_name_is_there_once_and_has_a_docstring():
    from nervanagpu import function_table

    seen: dict[tuple[str, str], str] = {}
    for row in function_table.TABLE:
        assert row.function.__doc__, row.name
        for name in row.names:
            assert (row.space, name) not in seen, f"{name} is entered twice"
            seen[row.space, name] = row.name
            if not row.space:
                assert getattr(ng, name) is row.function
                assert name in ng.__all__
        for name in row.methods:
            assert hasattr(ng.GPUTensor, name)


def test_what_numpy_has_is_served():
    x = ng.array(np.arange(6.0).reshape(2, 3))
    agree(np.sum(x, axis=1, keepdims=True), np.sum(x.get(), axis=1, keepdims=True))
    agree(np.linalg.matrix_transpose(x), x.get().T)
    agree(np.moveaxis(x, 0, 1), x.get().T)
    agree(np.einsum("ij->i", x), x.get().sum(1))
    agree(np.vstack([x, x]), np.vstack([x.get()] * 2))
    with pytest.raises(TypeError):
        np.busday_count(x, x)
