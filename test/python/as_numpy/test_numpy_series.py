"""nervanagpu.polynomial beside numpy.polynomial: every function of every module, and the classes."""

from __future__ import annotations

import copy
import importlib
import pickle

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import polynomial as ours
from numpy import polynomial as theirs

MODULES = {"polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "laguerre": "lag", "hermite": "herm"}
MODULES |= {"hermite_e": "herme"}
CLASSES = ["Polynomial", "Chebyshev", "Legendre", "Laguerre", "Hermite", "HermiteE"]
A, B, CUBE = np.array([1.0, 2, 3]), np.array([2, -1]), np.arange(24.0).reshape(2, 3, 4)
X, Y = np.linspace(-1, 1, 12).reshape(3, 4), np.linspace(0, 0.9, 12).reshape(3, 4)
POINTS = np.linspace(-1, 1, 9)
# The arguments of functions by their names after the module's prefix; those whose names begin otherwise whole.
CALLS = {
    "add": (A, B), "sub": (A, B), "mul": (A, B), "div": (A, B), "mulx": (A,), "pow": (A, 3), "der": (CUBE, 1, 2.0, 1),
    "int": (A, 2, [1, 2], 0.5), "line": (1.0, 2.0), "fromroots": (A,), "trim": (np.array([1, 2, 0.0, 0]),),
    "roots": (A,), "companion": (A,), "val": (X, CUBE), "valfromroots": (X, A), "val2d": (X, Y, CUBE),
    "val3d": (X, Y, X, CUBE), "grid2d": (POINTS, X, CUBE), "grid3d": (POINTS, B, A, CUBE), "vander": (X, 3),
    "vander2d": (X, Y, [1, 2]), "vander3d": (X, Y, X, [1, 2, 1]), "fit": (POINTS, POINTS**2, 2), "weight": (X / 2,),
    "gauss": (4,), "pts1": (5,), "pts2": (5,), "interpolate": (np.exp, 4),
}  # fmt: skip
OTHERS = {"as_series": ([A, B],), "trimseq": (A,), "trimcoef": (A,), "getdomain": (POINTS,)}
OTHERS |= {"mapdomain": (X, [-1, 1], [0, 4]), "mapparms": ([-1, 1], [0, 4])}


def tensors(x):
    if isinstance(x, list):
        return [tensors(v) for v in x]
    return ng.array(x) if isinstance(x, np.ndarray) else x


def same(got, want, name):
    if isinstance(want, tuple | list):
        assert type(got) is type(want) and len(got) == len(want), name
        for g, w in zip(got, want, strict=True):
            same(g, w, name)
        return
    if isinstance(want, np.ndarray):
        assert isinstance(got, ng.GPUTensor), (name, type(got))
        assert (got.dtype, got.shape) == (want.dtype, want.shape), (name, got.dtype, got.shape)
    host = got.get() if isinstance(got, ng.GPUTensor) else got
    assert np.all(np.abs(host - want) <= 1e-12 * (1 + np.abs(want))), (name, host, want)


@pytest.mark.parametrize("module", [*MODULES, "polyutils"])
def test_every_function(module):
    mine = importlib.import_module(f"nervanagpu.polynomial.{module}")
    other, prefix = getattr(theirs, module), MODULES.get(module, "-")
    assert set(other.__all__) == set(mine.__all__)
    for name in other.__all__:
        function, wanted = getattr(mine, name), getattr(other, name)
        if isinstance(wanted, np.ndarray):
            assert np.array_equal(function, wanted)
            continue
        if isinstance(wanted, type):
            assert issubclass(function, wanted)
            continue
        args = CALLS.get(name.removeprefix(prefix), OTHERS.get(name))
        if name.startswith("poly2") or name.endswith("2poly"):
            args = (A,)
        if name == "format_float":
            continue
        same(function(*map(tensors, args)), wanted(*args), name)
        same(function(*args), wanted(*args), name)
        assert function.__name__ == wanted.__name__ and function.__doc__ == wanted.__doc__


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int8", "bool", "float16"])
def test_values(module, dtype):
    """Of few and of many coefficients, at every form of tensor, in the dtypes that NumPy has."""
    value = f"{MODULES[module]}val"
    mine, other = getattr(getattr(ours, module), value), getattr(getattr(theirs, module), value)
    for shape in ((), (0,), (7,), (3, 1, 2)):
        x = (np.arange(np.prod(shape)).reshape(shape) % 3 - (dtype not in ("bool",))).astype(dtype)
        for c in ([3], [1, 2], [1, 0, -2, 1], np.array([1, 2, 1], "float32"), [1j, 2, 1], [[1, 2], [3, 4], [0, 1]]):
            want = np.asarray(other(x, c))
            for got in (mine(ng.array(x), c), mine(ng.array(x), ng.array(np.array(c)))):
                assert (got.dtype, got.shape) == (want.dtype, want.shape), (c, shape)
                assert np.all(np.abs(got.get() - want) <= 1e-3 * np.abs(want) + 1e-6), (c, shape)
    x = np.arange(6.0).reshape(2, 3)
    c = np.arange(12.0).reshape(2, 2, 3)
    same(mine(ng.array(x), c, tensor=False), other(x, c, tensor=False), value)
    assert ng.explain(mine(ng.array(x), [1, 2, 3, 4])).count("kernel") <= 2


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name):
    mine, other = getattr(ours, name), getattr(theirs, name)
    p, q = mine(ng.array(A)), other(A)
    assert isinstance(p, other) and str(p) == str(q) and repr(p) == repr(q)
    for x in (X, X.astype("float32"), np.zeros((0, 2)), np.array(0.5)):
        got, want = p(ng.array(x)), np.asarray(q(x))
        assert isinstance(got, ng.GPUTensor) and got.dtype == want.dtype and np.allclose(got.get(), want, rtol=1e-6)
    assert p(0.5) == q(0.5) and np.allclose(p([1, 2]).get(), q([1, 2]))
    for a, b in ((p * p, q * q), (p + 1, q + 1), (2 - p, 2 - q), (p**3, q**3), (p // p, q // q), (p % B, q % B)):
        assert type(a) is mine and np.array_equal(a.coef, b.coef)
    for a, b in ((p + ng.array(A), q + A), (ng.array(A) * p, A * q), (p - ng.array(B), q - B)):
        assert type(a) is mine and np.array_equal(a.coef, b.coef)
    for a, b in ((p.deriv(2), q.deriv(2)), (p.integ(2, [1, 2], 0.5), q.integ(2, [1, 2], 0.5)), (p.trim(), q.trim())):
        assert type(a) is mine and np.array_equal(a.coef, b.coef)
    assert np.array_equal(p.integ(1, ng.array([3.0])).coef, q.integ(1, [3.0]).coef)
    same(p.roots(), q.roots(), "roots")
    same(p.linspace(5), q.linspace(5), "linspace")
    x, y = POINTS * 3 + 1, POINTS**3 - POINTS
    fitted, wanted = (
        mine.fit(ng.array(x), ng.array(y), 3, w=ng.array(1 + POINTS**2)),
        other.fit(x, y, 3, w=1 + POINTS**2),
    )
    assert type(fitted) is mine and np.allclose(fitted.coef, wanted.coef) and np.allclose(fitted.domain, wanted.domain)
    same(fitted(ng.array(X)), wanted(X), "fit")
    for a, b in ((mine.fromroots(ng.array(A)), other.fromroots(A)), (mine.basis(3), other.basis(3))):
        assert type(a) is mine and np.allclose(a.coef, b.coef)
    for kind in CLASSES:
        moved = p.convert(kind=getattr(ours, kind))
        assert type(moved) is getattr(ours, kind)
        assert np.allclose(moved.coef, q.convert(kind=getattr(theirs, kind)).coef)
    assert pickle.loads(pickle.dumps(p)) == p == copy.deepcopy(p) and type(copy.copy(p)) is mine


def test_refusals():
    x = ng.array(X)
    for error, words, call in (
        (ValueError, r"2d: y has shape \(4,\); needs that of x,", lambda: ours.legendre.legval2d(x, x[0], CUBE)),
        (ValueError, "empty", lambda: ours.Polynomial([])),
        (ValueError, "1-d", lambda: ours.Polynomial(x)),
        (TypeError, "expected", lambda: ours.chebyshev.chebfit(x, x, 2)),
        (AttributeError, "no attribute 'polyfits'", lambda: ours.polynomial.polyfits),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()
