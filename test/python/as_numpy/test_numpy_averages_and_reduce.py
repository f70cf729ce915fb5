"""Sums of weights beside infinities, reductions of one element, methods of what is real: beside NumPy."""

from __future__ import annotations

import pytest
from numpy_comparison import check

PROGRAMS = """
    xp.average(L([[np.inf, 1], [2, 3]]), axis=1, weights=[1, 1])
    xp.average(L([[np.inf, 1], [2, 3]]), axis=1, weights=[1, 2], returned=True)
    xp.average(L([[np.nan, 1], [2, 3]]), axis=0, weights=L([1, 3]), returned=True)
    xp.average(L([np.inf, 1]), returned=True)
    xp.average(L([[np.nan, 1, 2]], 'float32'), axis=0, returned=True)
    xp.average(L([1, 2, 4]), returned=True)
    xp.average(A('complex64', (2, 3)), axis=1, returned=True)
    xp.subtract.reduce(L(9.0), initial=2.5)
    xp.subtract.reduce(L(9.0), axis=None, initial=2.5)
    xp.divide.reduce(L(4.0), axis=-1, initial=2, keepdims=True)
    xp.subtract.reduce(L(9.0), axis=(), initial=2.5)
    xp.fmax.reduce(L(9.0), initial=12)
    xp.fmax.reduce(L(9.0), initial=12, where=False)
    xp.subtract.reduce(L(9.0))
    xp.hypot.reduce(L([-3.0]))
    xp.hypot.reduce(L(-3.0))
    xp.hypot.reduce(L([[-3.0], [4.0]]), axis=1)
    xp.hypot.reduce(L([-3.0]), initial=4)
    xp.hypot.reduce(L([-3.0, 4.0]))
    xp.hypot.accumulate(L([-3.0, 4.0]))
    xp.hypot.reduce(L([[2.0, 1], [5, -4]]), axis=None, initial=2.5)
    xp.hypot.reduce(A('float64', (2, 3, 4)), axis=(0, 2), initial=2.5, keepdims=True)
    xp.logaddexp.reduce(L([[2.0, 1], [5, -4]]), axis=(0, 1), initial=2.5)
    xp.logaddexp.reduce(Z((0, 3)), axis=(0, 1), initial=2.5)
    xp.logaddexp.reduce(Z((3, 0)), axis=None, initial=2.5)
    xp.logaddexp.reduce(Z((3, 0)), axis=None)
    xp.bitwise_xor.reduce(L([[2, 1], [5, 4]]), axis=None, initial=9)
    xp.bitwise_xor.reduce(L([[2, 1], [5, 4]]), axis=None, initial=9, where=L([[True, False], [True, True]]))
    xp.logical_xor.reduce(L([[2, 1], [5, 4]]), axis=None, initial=1)
    xp.fmax.reduce(Z((3, 0)), axis=None, initial=-2.5)
    xp.max(L([1, 9], 'int16'), initial=2.5, where=L([True, False]))
    xp.min(L([[1, 9]], 'uint8'), axis=1, initial=4.5, where=L([False, True]))
    xp.max(L([True, False]), initial=0, where=L([False, True]))
    xp.max(L([1, 9], 'int8'), initial=300, where=L([True, False]))
    xp.bitwise_or.reduce(L([[True], [False]]), axis=None, where=L([[False], [True]]))
    xp.bitwise_or.reduce(L([[True], [False]]), axis=None, initial=2, where=L([[False], [True]]), keepdims=True)
    xp.fmax.reduce(L([[True], [False]]), axis=(0, 1), initial=0, where=L([[False], [True]]))
    xp.bitwise_and.reduce(Z((3, 0), 'uint8'), axis=None, where=Z((3, 0), 'bool'))
    xp.logaddexp.reduce(Z((3, 0)), axis=(-1, 0), initial=2, where=Z((3, 0), 'bool'), keepdims=True)
    xp.hypot.reduce(Z((1, 0)), axis=(-1, 0), initial=0, where=Z((1, 0), 'bool'))
    xp.gcd.reduce(L([-4]))
    xp.gcd.reduce(L(-4))
    xp.gcd.reduce(L([-4, 6]))
    x = L([1, 2]); y = x.conj(); y[0] = 5; x
    x = L([1 + 2j]); y = x.conj(); y[0] = 5; x
    L([True]).conjugate()
    xp.conj(L([True]))
    xp.subtract.reduce(L([9.0, 1.0]), axis=(), initial=2.5)
    xp.hypot.reduce(L([-9.0, 1.0]), axis=(), keepdims=True)
    xp.take(L(5), [0, -1], axis=-1)
    xp.take(L(5), 0, axis=0)
    xp.take(L(5), 0, axis=1)
    xp.repeat(L(5), 2, axis=0)
    xp.repeat(L(5), 2, axis=1)
    xp.compress([True, False], L(5), axis=-1)
    xp.compress([True], L(5), axis=1)
    x = Z((2, 3)); xp.copyto(x, L([[[1, 2, 3]]]), where=L([True, False, True])); x
    x = Z((2, 3)); xp.copyto(x, A('float64', (2, 2, 3)), where=True); x
    x = xp.broadcast_to(L([1, 2]), (2, 2)); y = xp.require(x, requirements='W'); y[0] = 5; y
    x = L([1, 2]); y = xp.require(x, requirements=['W', 'C']); y[0] = 5; x
"""


@pytest.mark.parametrize("program", [line.strip() for line in PROGRAMS.strip().splitlines()])
def test_as_numpy(program: str) -> None:
    check(program)
