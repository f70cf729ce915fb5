"""dtypes and values of results that numbers of Python, initial values and dtype= have a say in, beside NumPy's."""

from __future__ import annotations

import nervanagpu as ng
import nervanagpu.cupy as cp
import numpy as np
import pytest
from numpy_comparison import check, message

PROGRAMS = """
    xp.select([L([True, False]), L([False, True])], [L([1, 2], 'uint64'), L([True, False])])
    xp.select([L([True, False])], [A('complex64', (2,))], 2.5)
    xp.select([L([True, False])], [A('int32', (2,))], True)
    xp.select([L([True, False])], [A('uint8', (2,))], 7)
    xp.select([L([True, False]), L([True, True])], [A('int8', (2,)), 2], 0.5)
    xp.ldexp(5, L([0, 1, 2, 3]))
    xp.ldexp(1.5, L([1, 2], 'int16'))
    xp.ldexp(L([1.5, 2]), 3)
    xp.ldexp(1.5, 3)
    xp.roots(L([1, 0, -1], 'float32'))
    xp.roots(L([1, 0, 4], 'complex64'))
    xp.roots(L([1, 0], 'complex64'))
    xp.roots(L([3.0], 'complex128'))
    xp.roots(L([0, 0], 'complex64'))
    xp.polyder(L([3], 'int8'))
    xp.polyder(L([3, 1], 'float32'))
    xp.polyder(L([3, 1], 'float32'), 4)
    xp.polyder(L([3, 1], 'float32'), 0)
    xp.var(A('float32', (3, 4)), 0, dtype='complex64')
    xp.std(A('complex64', (5,)), dtype='complex128')
    xp.var(A('complex64', (5,)))
    xp.prod(L([-2, 5], 'int16'), initial=2.5)
    xp.sum(L([-2, 5], 'int16'), initial=2.5)
    xp.sum(L([-2, 5], 'int16'), initial=2.5, dtype=float)
    xp.sum(L([1.5, 2]), initial=1j)
    xp.max(L([1, 2], 'uint8'), initial=300)
    xp.max(L([1, 2], 'uint8'), initial=2.9)
    xp.max(Z((0,), 'uint16'), initial=-3)
    xp.sum(L([1, 2], 'uint8'), initial=-1)
    xp.fmax(-200, L([1, 2], 'uint64'), dtype='uint16')
    xp.bitwise_and(2, -200, dtype='int8')
    xp.add(L([1, 2], 'int8'), 100, dtype='int8')
    xp.power(0, L([2.5 + 2j, 3, -2 + 3j, 0]))
    xp.power(L([0, 0j]), 0.5)
    xp.cumsum(L(3), axis=1)
    xp.cumsum(L(3), axis=-1)
    xp.argsort(L(3), axis=1)
    xp.argsort(L(3), axis=0)
    xp.ediff1d(L([True, False]))
    xp.apply_along_axis(lambda row: row.sum(), 0, Z((0,)))
    xp.apply_along_axis(lambda row: row.sum(), 0, Z((0, 2)))
    xp.apply_along_axis(lambda row: row.sum(), 0, Z((2, 0)))
    xp.indices(n for n in (2, 3))
    [xp.quantile(L([1, 2, 4], 'float32'), q) for q in (0.3, np.float64(0.3), np.array(0.3), [0.3], np.float32(0.3), 1)]
    [xp.quantile(L([1, 2, 4], 'float32'), q, method='hazen') for q in (1, np.int64(1), np.array([0.25], 'float32'))]
    [xp.quantile(L([1, 2, 4], 'float32'), q, method='lower') for q in (0.3, np.float64(0.3), [0.3])]
    [xp.percentile(L([1, 2, 4], 'float16'), q) for q in (50, 33.3, np.float64(50), [50], np.float32(50), np.int64(50))]
    [xp.percentile(L([1, 2, 4], 'int32'), q) for q in (50, 33.3, np.float64(50), [50], np.float32(50), np.int64(50))]
    [xp.nanpercentile(L([1, np.nan, 4], 'float32'), q) for q in (50, 33.3, np.float64(50), [50], np.float32(50))]
    xp.logspace(np.float32(1), 2, 3)
    xp.logspace(L([1, 2], 'float32'), 3, 2)
    xp.logspace(L([1, 2]), 3, 2, base=np.array([2, 3]))
    xp.logspace(np.float16(1), 2, 2, base=np.float32(2))
    xp.logspace(np.float32(1), 2, 2, base=np.float64(2))
    xp.histogram(L([1, 2], 'float32'), range=(0, np.float64(2)))[1]
    xp.histogram(L([1, 2], 'float32'), range=(0, 2.0))[1]
    xp.unwrap(L([0, 4, 8], 'float32'), period=np.float64(6))
    xp.unwrap(L([0, 4, 8], 'float32'), period=6)
    xp.nan_to_num(L([np.nan, 1], 'float32'), nan=np.float64(2))
    xp.nan_to_num(L([np.inf, 1], 'float32'), posinf=np.array([7.0, 8.0]))
    xp.nan_to_num(L([np.nan, 1]), nan=np.array([[1.0], [2.0]]))
    xp.sum(L([[1.5, 2]]), axis=0, out=Z((2,), 'int64'))
    xp.sum(L([[300, 2]], 'int16'), axis=0, out=Z((2,), 'uint8'))
    xp.prod(L([[1.5, 2]]), axis=0, out=Z((2,), 'float32'))
    xp.cumsum(L([1.5, 2]), out=Z((2,), 'int64'))
    xp.cumprod(L([1 + 1j, 2]), out=Z((2,)))
    xp.cumulative_sum(L([1, 2], 'int16'), out=Z((2,), 'uint8'))
    xp.add.reduce(L([[1.5, 2]]), axis=0, out=Z((2,), 'int64'))
    xp.sum(L([[0.5, 0.75], [0.75, 1]], 'float32'), axis=0, out=Z((2,), 'int64'))
    xp.sum(L([[0.5, 0.75], [0.75, 1]], 'float32'), axis=0, dtype='float64', out=Z((2,), 'int16'))
    xp.sum(L([[200, 100], [100, 1]], 'uint8'), axis=0, out=Z((2,), 'uint8'))
    xp.sum(L([[200, 100], [100, 1]], 'uint8'), axis=0, out=Z((2,), 'uint16'))
    xp.sum(L([[1, 0], [1, 0]]), axis=0, out=Z((2,), 'bool'))
    xp.cumsum(L([0.5, 0.75, 0.75]), out=Z((3,), 'int64'))
    xp.cumprod(L([0.5, 4, 0.75]), out=Z((3,), 'int64'))
    xp.cumulative_prod(L([0.5, 4, 0.75]), out=Z((3,), 'int64'))
    xp.cumsum(L([0.5, 0.75, 0.75]), out=Z((2,)))
    xp.nancumsum(L([0.5, 0.75, np.nan]), out=Z((3,), 'float32'))
"""


@pytest.mark.parametrize("program", [line.strip() for line in PROGRAMS.strip().splitlines()])
def test_as_numpy(program: str) -> None:
    check(program)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["eps", "max", "min", "tiny", "smallest_subnormal", "resolution"])
def test_limits_are_numbers_of_the_dtype(dtype: str, name: str) -> None:
    ours, theirs = getattr(ng.finfo(dtype), name), getattr(np.finfo(dtype), name)
    assert (str(ours), np.asarray(ours).dtype) == (str(theirs), np.asarray(theirs).dtype)
    assert (ng.ones(2, "float16") * ours).dtype == (np.ones(2, "float16") * theirs).dtype


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int8", "bool"])
@pytest.mark.parametrize("spec", ["{}", "{:>30}", "{!s}"])
def test_numbers_in_texts(dtype: str, spec: str) -> None:
    """f"{x}" of a float32 has the digits of the Python float, str(x) the fewest that tell it."""
    x = np.array([0.1], dtype)
    assert spec.format(cp.array(x)[0]) == spec.format(x[0])


def test_dtype_can_be_assigned() -> None:
    x = ng.arange(4, dtype="int32")
    y = x[1:]
    x.dtype = "int16"
    assert x.shape == (8,) and x.dtype == np.int16 and x.tolist() == [0, 0, 1, 0, 2, 0, 3, 0]
    x[2] = 9
    assert y.tolist() == [9, 2, 3]
    lazy = ng.arange(3.0, dtype="float32") + 1
    lazy.dtype = np.uint32
    assert lazy.tolist() == np.arange(1, 4, dtype=np.float32).view(np.uint32).tolist()
    with pytest.raises(ValueError, match="no whole number"):
        ng.arange(3, dtype="int16").dtype = "int32"


@pytest.mark.parametrize("axes", [[(1, 2), (1, 2), (0, 1)], [(0, 1), (2, 0), (-1, -3)], [(2, 0), (-1, 1), (1, 2)]])
def test_axes_of_products(axes: list[tuple[int, int]]) -> None:
    a, b = np.arange(27.0).reshape(3, 3, 3), np.arange(27.0).reshape(3, 3, 3) ** 2
    for module in (ng, cp):
        assert np.array_equal(
            module.matmul(module.array(a), module.array(b), axes=axes).get(), np.matmul(a, b, axes=axes)
        )
    out = cp.zeros((3, 3, 3), "int64")
    assert cp.matmul(cp.array(a), cp.array(b), out=out, casting="unsafe") is out
    assert np.array_equal(out.get(), np.matmul(a, b))


def test_refusals_name_what_came() -> None:
    assert "a choice is 300; uint8 holds" in message("xp.select([L([True])], [L([1], 'uint8')], 300)")
    assert "initial is 300; uint8 holds 0 to 255" in message("xp.max(L([1], 'uint8'), initial=300)")
    assert "-200; int8 holds -128 to 127" in message("xp.bitwise_and(2, -200, dtype='int8')")
