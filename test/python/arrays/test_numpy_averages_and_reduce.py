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
