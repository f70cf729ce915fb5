"""Operators and y[:] = expression by the short way of small arrays: the same results and errors as by the long one."""

from __future__ import annotations

import gc
import sys

import nervanagpu as ng
import numpy as np
import pytest


@pytest.fixture
def xy(rng) -> tuple[ng.GPUTensor, ng.GPUTensor]:
    return ng.array(rng.standard_normal(100).astype(np.float32)), ng.zeros(100)


def test_operands_of_every_kind(xy):
    x, y = xy
    a = x.get()
    for value, want in (
        (x + 1, a + 1), (2.5 * x, np.float32(2.5) * a), (1 - x, 1 - a), (x / 2, a / 2), (x + x, a + a),
        ((x + 1) * (x - 1), (a + 1) * (a - 1)), (x + True, a + 1), (x + np.float32(3), a + 3), (x * a, a * a),
        (a + x, a + a), (x + np.float64(1), a + np.float64(1)), (x / (x * x + 1), a / (a * a + 1)),
    ):  # fmt: skip
        assert isinstance(value, ng.Expression)
        np.testing.assert_array_equal(value.get(), want)
        y[:] = value.astype("float32")
        np.testing.assert_array_equal(y.get(), want.astype(np.float32))


def test_errors_are_those_of_the_long_way(xy):
    x, y = xy
    with pytest.raises(ValueError, match="add: shapes do not broadcast"):
        x + ng.zeros(3)
    with pytest.raises(OverflowError, match="number of more than 64 bits does not fit into dtype int8"):
        ng.zeros(3, "int8") + 2**70
    with pytest.raises(TypeError):
        x + "1"
    with pytest.raises(TypeError):
        None - x
    with pytest.raises(ValueError, match="value has shape"):
        y[:] = ng.zeros((2, 100)) + 1
    with pytest.raises(ValueError, match="cannot be deleted"):
        del y[:]
    assert not y.get().any()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32"])
@pytest.mark.parametrize("source", ["float64", "int64", "bool"])
def test_expressions_become_the_dtype_that_they_are_assigned_to(dtype, source):
    a = np.array([0, 0.5, 1, 2.75, 100, 7], source)
    x, y = ng.array(a), ng.zeros(6, dtype)
    y[:] = x + x.dtype.type(1)  # the short way
    np.testing.assert_array_equal(y.get(), (a + a.dtype.type(1)).astype(dtype))
    y[...] = x + x.dtype.type(1)
    np.testing.assert_array_equal(y.get(), (a + a.dtype.type(1)).astype(dtype))


def test_an_expression_that_others_have_keeps_its_value(xy):
    x, y = xy
    a = x.get()
    kept = x + 1
    y[:] = kept  # kept may stand in y now
    y[:] = x * 3
    np.testing.assert_array_equal(kept.get(), a + 1)
    np.testing.assert_array_equal(y.get(), a * 3)
    late = y + 1
    y[:] = y * 2  # late reads y
    np.testing.assert_array_equal(late.get(), a * 3 + 1)
    np.testing.assert_array_equal(y.get(), a * 6)
    y[:] = y[::-1] + 0
    np.testing.assert_array_equal(y.get(), (a * 6)[::-1])


def test_nothing_is_leaked(xy):
    x, y = xy
    y[:] = x + 1
    gc.collect()
    before, references = ng.memory_stats().in_use, (sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(None))
    for _ in range(100):
        y[:] = (x + 1) * x - 2
        with pytest.raises(ValueError):
            y[:] = x + ng.zeros(7)
    gc.collect()
    assert ng.memory_stats().in_use == before
    assert (sys.getrefcount(x), sys.getrefcount(y)) == references[:2]
    assert abs(sys.getrefcount(None) - references[2]) < 50


def test_a_subclass_may_have_its_own_operators(xy):
    class Loud(ng.GPUTensor):
        def __add__(self, other):
            return "loud"

        def __setitem__(self, key, value):
            raise KeyError(key)

    made = Loud.__new__(Loud)
    assert Loud.__add__(made, 1) == "loud"
    with pytest.raises(KeyError):
        Loud.__setitem__(made, slice(None), xy[0] + 1)
