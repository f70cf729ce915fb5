"""x[i] is a number: later writes do not change it, and what is done to it does not change x. x[i, ...] is a view."""

from __future__ import annotations

import itertools

import nervanagpu as ng
import numpy as np
import pytest

DTYPES = ["float32", "float64", "float16", "int8", "uint64", "bool", "complex64"]


@pytest.mark.parametrize(("dtype", "shape"), list(itertools.product(DTYPES, [(6,), (3, 4), (2, 3, 2)])))
def test_an_element_stays(rng, dtype, shape):
    host = rng.integers(0, 2, shape).astype(dtype)
    writes = (
        lambda x, key: x.__setitem__(..., np.ones(shape, "int8")),
        lambda x, key: x.fill(1),
        lambda x, key: x.__setitem__(key, 1),
        lambda x, key: x.__ior__(True) if dtype == "bool" else x.__iadd__(x),
        lambda x, key: x.sort(0),
        lambda x, key: ng.add(x, x, out=x),
        lambda x, key: ng.add.at(x, key, 1),
    )
    for key in (tuple(0 for _ in shape), tuple(n - 1 for n in shape), tuple(-n for n in shape)):
        for write in writes if dtype != "bool" else writes[:-1]:
            for turned in (False, True):
                x = ng.array(host)
                view, place = (x.T, key[::-1]) if turned else (x[None], (0, *key))
                taken, used, kept = view[place], view[place] * 2, view[(*place, ...)]
                write(x, key)
                assert taken.get() == host[key] and taken.dtype == host.dtype and taken.shape == ()
                assert used.get() == host[key] * 2 and kept.get() == x.get()[key]


def test_an_element_that_was_written_elsewhere_stays():
    """What stands in two places is neither."""
    for key in ((3,), (3, ...)):
        x = ng.arange(4.0)
        taken = x[1]
        x[key] = taken
        x[1] = 9
        assert (float(taken), x.tolist()) == (1.0, [0, 9, 2, 1])
        x[3] = 7
        assert float(taken) == 1.0


RESULTS = {
    "product": lambda np, v: v @ v,
    "dot": lambda np, v: np.dot(v, v),
    "inner": lambda np, v: np.inner(v, v),
    "vdot": lambda np, v: np.vdot(v, v),
    "take": lambda np, v: np.take(v, 1),
    "by an array": lambda np, v: v[np.array(1)],
    "det": lambda np, v: np.linalg.det(np.diag(v)),
    "slogdet": lambda np, v: np.linalg.slogdet(np.diag(v))[1],
    "norm": lambda np, v: np.linalg.norm(np.diag(v), 1),
    "multi_dot": lambda np, v: np.linalg.multi_dot([v, np.diag(v), v]),
    "vecdot": lambda np, v: np.linalg.vecdot(v, v),
    "median": lambda np, v: np.median(v),
    "quantile": lambda np, v: np.quantile(np.array([2, 0, 1]), 1),
    "nanquantile": lambda np, v: np.nanquantile(np.array([2, 0, 1]), 1),
    "lexsort": lambda np, v: np.lexsort(np.array([1.0, 2.0])),
    "kron": lambda np, v: np.kron(np.array(3.0), np.array(2.0)),
    "flip": lambda np, v: np.flip(np.array(3.0)),
    "nan_to_num": lambda np, v: np.nan_to_num(3),
    "astype": lambda np, v: v.sum().astype("float32"),
    "copy": lambda np, v: v.sum().copy(),
    "max": lambda np, v: v.max(),
    "flat": lambda np, v: v.flat[1],
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_stays(name):
    """What NumPy gives as a scalar: s += 1 leaves what else s was called."""
    made = []
    for lib in (np, ng):
        vector = lib.array([1.0, 2.0, 4.0])
        s = RESULTS[name](lib, vector)
        other, before = s, float(s)
        s += 1
        assert abs(float(other) - before) == 0 and abs(float(s) - before - 1) == 0, lib
        made.append((before, other.shape, other.dtype, vector.tolist()))
    assert abs(made[1][0] - made[0][0]) < 1e-12 and made[1][1:] == made[0][1:]


def test_arrays_without_axes_are_no_numbers():
    for lib in (np, ng):
        arrays = lib.array(3.0), lib.array(lib.arange(3.0).sum()), lib.full((), 3.0), lib.array(3.0).copy()
        views = lib.array([3.0]).reshape(()), lib.array([3.0]).squeeze(), lib.squeeze(lib.array([[3.0]]), (0, 1))
        for x in (*arrays, lib.arange(4.0)[3, ...], *views):
            other = x
            x += 1
            assert float(other) == 4.0, lib
        x = lib.array([[3.0]])
        squeezed = lib.squeeze(x)
        x *= 2
        assert float(squeezed) == 6.0, lib


def test_numpys_scalars(rng):
    """The idioms of loops, beside NumPy."""
    made = []
    for lib in (np, ng):
        x, y = lib.arange(5.0), lib.arange(5)
        x[0], x[4] = x[4], x[0]
        total = y[1]
        for value in y[2:]:
            total += value
        sums, s = [], y.sum()
        for value in y:
            s += value
            sums.append(s)
        first, *rest = lib.arange(3)
        first += 7
        for value in x.flat:
            value *= 2
        best = low = x.min()
        low -= 1
        half = y[3]
        half /= 2
        power = y[2]
        power **= 3
        added = x[1]
        added += lib.ones(2, dtype=float)
        shown = [x, y, total, sums, first, rest, best, low, half, power, added, x.max(), y[y.argmax()]]
        made.append([np.asarray([float(v) for v in s] if isinstance(s, list) else s.tolist()) for s in shown])
    for got, want in zip(made[1], made[0], strict=True):
        assert np.array_equal(got, want) and got.dtype == want.dtype


VIEWS = {
    "...": lambda np, s: s[...],
    "None": lambda np, s: s[None],
    "reshape": lambda np, s: s.reshape(1, 1),
    "T": lambda np, s: s.T,
    "transpose": lambda np, s: np.transpose(s),
    "ravel": lambda np, s: s.ravel(),
    "expand_dims": lambda np, s: np.expand_dims(s, 0),
    "atleast_2d": lambda np, s: np.atleast_2d(s),
    "real": lambda np, s: s.real,
    "imag": lambda np, s: np.imag(s),
    "squeeze": lambda np, s: s.squeeze(),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("dtype", ["float32", "complex64", "uint8"])
def test_what_is_made_of_a_number_has_its_own_memory(name, dtype):
    made = []
    for lib in (np, ng):
        x = lib.arange(4).astype(dtype)
        for s in (x[2], x.sum(), x[1] + x[3]):
            part = VIEWS[name](lib, s)
            part += part.dtype.type(10)
            made.append((s.item(), part.tolist(), x.tolist()))
    assert made[:3] == made[3:]
    for number in (x[2], x.sum()):
        with pytest.raises(AttributeError, match="real is that of a number, .*; needs a tensor"):
            number.real = 3


def test_views_of_one_element():
    x = ng.zeros((2, 3))
    x[1, 2, ...][...] = 5
    x[0, ...][1] = 4
    x[0:1, 0][...] = 3
    x[1][0] += 2
    x[1, 1] *= 0
    x.reshape(-1)[5:6].reshape(())[...] += 1
    assert x.tolist() == [[3, 4, 0], [2, 0, 6]]
    whole = ng.array(3.0)
    other = whole
    other += 1
    assert whole.item() == 4 and x[1, 2, ...].base is x and x[1, 2].base is None


def test_a_number_as_an_index():
    """x[k[0]] is what x[1] is: a view, and takes no kernel. An array without axes makes a copy, as in NumPy."""
    made = []
    for lib in (np, ng):
        x, k = lib.arange(12.0).reshape(3, 4), lib.array([1, -1, 3], dtype="int8")
        row, part, column = x[k[0]], x[k[1], k[0] :], x[:, k[2]]
        row[0], part[:], column[:2] = 50, 60, 70
        x[k[0], k[0]] = 80
        x[x[:, 0].argmax()] += 1
        x[lib.array(0)][0] = 90
        with pytest.raises(IndexError):
            x[k[2]]
        with pytest.raises(IndexError):
            x[x[0, 0]]
        made.append(x.tolist())
    assert made[0] == made[1]
    x, k = ng.arange(12.0).reshape(3, 4), ng.arange(3)
    before = ng.launch_count()
    assert x[k[2]].base is not None and float(x[k[1], k[2]]) == 6.0 and ng.launch_count() == before


def test_a_number_as_pythons():
    whole, half = ng.arange(5)[3], ng.arange(5)[3] / 2
    assert [0] * whole == [0, 0, 0] and whole * (1, 2) == (1, 2) * 3 and "ab" * whole == "ababab"
    listed = [1]
    listed *= whole
    assert listed == [1, 1, 1] and ([1, 2] * ng.array(3)).tolist() == [3, 6] and ([1, 2] * half).tolist() == [1.5, 3.0]
    assert whole.is_integer() and not half.is_integer() and half.as_integer_ratio() == (3, 2) and whole.bit_count() == 2
    with pytest.raises(TypeError, match="is_integer: the tensor has shape .*; needs one number"):
        ng.arange(2.0).is_integer()
    numbers = [ng.array([v], dtype)[0] for dtype in DTYPES[:-1] for v in (0, 1)]
    assert [bool(n) for n in numbers] == [False, True] * len(DTYPES[:-1])
    assert [int(n) for n in numbers] == [float(n) for n in numbers] == [0, 1] * len(DTYPES[:-1])
    for dtype, value in (("uint64", 2**64 - 1), ("int64", -(2**63)), ("uint8", 255), ("int8", -128), ("float16", 0.5)):
        number = ng.array([value], dtype)[0]
        assert int(number) == int(value) and float(number) == float(value)
    for value, error in ((np.nan, ValueError), (np.inf, OverflowError)):
        assert np.isnan(float(ng.array([value])[0])) or value == np.inf
        with pytest.raises(error):
            int(ng.array([value])[0])
    with pytest.raises(TypeError):
        float(ng.array([1j])[0])
    with pytest.raises(IndexError):
        ng.arange(3)[2**70]


def test_writing_to_a_number_is_refused():
    x = ng.arange(4.0)
    with pytest.raises(TypeError, match=r"x is an element of a tensor, .*; needs a tensor, as x\[i, ...\] is"):
        x[0][...] = 5
    for number in (x[0], x.sum(), x[0] + 1):
        with pytest.raises(TypeError, match="out is a number, .*; needs a tensor"):
            ng.add(1, 2, out=number)
        with pytest.raises(TypeError, match="out is a number, .*; needs a tensor"):
            ng.sum(x, out=number)
    assert x.tolist() == [0, 1, 2, 3]


def test_reading_an_element_takes_no_kernel():
    x = ng.arange(8.0)
    before = ng.launch_count()
    assert [float(x[3]), int(x[4]), x[5].item(), x[6].tolist(), f"{x[7]:.1f}"] == [3.0, 4, 5.0, 6.0, "7.0"]
    assert ng.launch_count() == before
    held, taken = ng.memory_report().in_use, x[3]
    assert float(taken) == 3.0 and ng.memory_report().in_use == held
    total = x[1] * 2 + x[2]
    assert total.item() == 4 and ng.launch_count() == before + 1
