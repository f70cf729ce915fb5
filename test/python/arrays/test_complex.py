"""complex64 and complex128 beside NumPy: memory, views, dtypes, arithmetic, functions, reductions, refusals."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import _core

Array = np.ndarray[Any, Any]
DTYPES = ["complex64", "complex128"]
SHAPES = [(), (1,), (7,), (3, 5), (2, 1, 9), (0,), (3, 0), (131, 3)]

pytestmark = pytest.mark.usefixtures("numpy_is_quiet")


def drawn(rng: np.random.Generator, shape: Any, dtype: str) -> Array:
    return np.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape), dtype)


def eps(dtype: Any) -> float:
    return float(np.finfo(dtype).eps)


def close(got: Any, want: Any, ulps: float, better: Any = None) -> None:
    """Shape and dtype of NumPy's result; elements within so many ulps of its magnitude, infinities and NaN alike."""
    want = np.asarray(want)
    better = want if better is None else np.asarray(better)
    assert got.shape == want.shape and got.dtype == want.dtype, (got.shape, got.dtype, want.shape, want.dtype)
    host = got.get()
    parts = [(host, better)] if want.dtype.kind != "c" else [(host.real, better.real), (host.imag, better.imag)]
    size = np.abs(better)
    for part, exact in parts:
        usual = np.isfinite(exact)
        of = np.where(np.isfinite(size), size, np.abs(exact))  # beside an infinite part, the other alone
        room = ulps * eps(want.dtype if want.dtype.kind in "fc" else np.float64) * np.where(usual, of, 0)
        apart = np.abs(np.where(usual, part, 0) - np.where(usual, exact, 0))
        assert np.all(apart <= room), (np.max(apart / np.maximum(room, 1e-300)), host[~(apart <= room)][:3])
        # Beside NaN the sign of an infinity is anyone's.
        alike = np.where(np.isnan(better), np.abs(part) == np.abs(exact), part == exact)
        same = np.where(np.isnan(exact), np.isnan(part), alike)
        assert np.all(same | usual), (host[~(same | usual)][:4], better[~(same | usual)][:4])


def same(got: Any, want: Any) -> None:
    want = np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, got.shape, want.dtype, want.shape)
    np.testing.assert_array_equal(got.get(), want)


# ---- memory ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_there_and_back(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> None:
    a = drawn(rng, shape, dtype)
    x = ng.array(a)
    assert x.itemsize == a.itemsize and x.nbytes == a.nbytes and x.strides == ng.empty(shape, dtype).strides
    same(x, a)
    same(x.copy(), a)
    same(ng.array(x), a)
    same(x.T.copy(), a.T)
    same(ng.array(a.tolist(), dtype), a)
    assert x.tolist() == a.tolist() and x.tobytes() == a.tobytes() and str(x) == str(a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_made(dtype: str) -> None:
    for shape in SHAPES:
        same(ng.zeros(shape, dtype), np.zeros(shape, dtype))
        same(ng.ones(shape, dtype), np.ones(shape, dtype))
        same(ng.full(shape, 2 - 3j, dtype), np.full(shape, 2 - 3j, dtype))
    x = ng.zeros((3, 4), dtype)
    x.fill(1j)
    same(x, np.full((3, 4), 1j, dtype))
    same(ng.full_like(x, np.complex64(1 + 1j)), np.full((3, 4), 1 + 1j, dtype))
    same(ng.eye(3, dtype=dtype), np.eye(3, dtype=dtype))
    same(ng.array([1, 2j]), np.array([1, 2j]))
    assert repr(ng.array([1 + 2j])) == "GPUTensor([1.+2.j], dtype=complex128)"


@pytest.mark.parametrize("dtype", DTYPES)
def test_views_and_indices(rng: np.random.Generator, dtype: str) -> None:
    a = drawn(rng, (5, 6, 3), dtype)
    x = ng.array(a)
    keys: list[Any] = [
        2, (slice(None, None, -2), slice(1, 5)), (..., 1), (None, 3), np.array([4, 0, -1]), ([1, 2], [0, 5]),
        a.real > 0, (slice(None), np.array([True, False] * 3)),
    ]  # fmt: skip
    for key in keys:
        same(x[key], a[key])
        b, y = a.copy(), x.copy()
        b[key], y[key] = 3 - 1j, 3 - 1j
        same(y, b)
        b[key], y[key] = a[key] * 2, x[key] * 2
        same(y, b)
        b[key] = 1.5
        y[key] = 1.5
        same(y, b)
    same(ng.take(x, [1, 4], 1), np.take(a, [1, 4], 1))
    same(ng.concatenate([x, x[:2]]), np.concatenate([a, a[:2]]))
    same(ng.stack([x, x], 1), np.stack([a, a], 1))
    same(ng.where(ng.array(a.real > 0), x, 1j), np.where(a.real > 0, a, np.asarray(1j, dtype)))
    same(ng.flip(x, 1), np.flip(a, 1))
    same(ng.roll(x, 2, 0), np.roll(a, 2, 0))
    same(ng.tile(x, (2, 1, 1)), np.tile(a, (2, 1, 1)))
    same(x.reshape(-1, 2), a.reshape(-1, 2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_parts_are_views(rng: np.random.Generator, dtype: str) -> None:
    a = drawn(rng, (4, 5), dtype)
    x = ng.array(a)
    same(x.real, a.real)
    same(x.imag, a.imag)
    same(x[1:, ::2].imag, a[1:, ::2].imag)
    assert x.real.strides == a.real.strides and x.real.ptr == x.ptr and x.imag.ptr == x.ptr + a.itemsize // 2
    x.real[1] = 7
    a.real[1] = 7
    same(x, a)
    x.imag *= 2
    a.imag *= 2
    same(x, a)
    x.real = x.imag
    a.real = a.imag
    same(x, a)
    lazy = x * 2
    x.imag[...] = 0  # the expression has the values of when it was written
    same(lazy, a * 2)
    lazy = x + 1j
    view = lazy.imag
    view[...] = 5
    assert (lazy.get().imag == 5).all()
    y = ng.ones((2, 3))
    assert (y.imag.get() == 0).all() and y.real is not None
    with pytest.raises(TypeError, match="imag of float32; needs complex64 or complex128"):
        y.imag = 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_exchange(rng: np.random.Generator, dtype: str) -> None:
    a = drawn(rng, (3, 4), dtype)
    x = ng.from_dlpack(a)
    same(x, a)
    same(ng.from_dlpack(a[:, 1::2]), a[:, 1::2])
    if _core.device().kind == "emulator":
        np.testing.assert_array_equal(np.from_dlpack(ng.array(a).T), a.T)
    same(pickle.loads(pickle.dumps(x)), a)
    same(copy.deepcopy(x), a)
    same(ng.frombuffer(a.tobytes(), dtype), a.ravel())
    same(x.copy().view(a.real.dtype), a.view(a.real.dtype))
    assert x[1, 2].item() == a[1, 2].item() and complex(x[0, 0]) == complex(a[0, 0])
    with pytest.raises(TypeError):
        float(x[0, 0])
    with pytest.raises(TypeError, match="is complex; needs a real number"):
        int(x[0, 0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_pycuda(rng: np.random.Generator, dtype: str) -> None:
    """They are computed by expressions, which needs no compiler."""
    from nervanagpu.pycuda import cumath, gpuarray

    a, b = drawn(rng, (77,), dtype), drawn(rng, (77,), dtype)
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    for got, want in (
        (x + y, a + b), (x * y, a * b), (2 * x - 1j, 2 * a - np.asarray(1j, dtype)), (abs(x), abs(a)),
        (x.conj(), a.conj()), (x.real, a.real), (x.imag, a.imag), (cumath.exp(x), np.exp(a)),
        (x[::-3].imag, a[::-3].imag),
    ):  # fmt: skip
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got.get(), want, rtol=50 * eps(dtype), atol=50 * eps(dtype))


def test_a_part_that_is_not_aligned_to_the_whole() -> None:
    raw = np.zeros(9, np.float64)[1:].view(np.complex128)
    x = ng.from_dlpack(raw)
    x += 1j
    assert (raw == 1j).all() or _core.device().kind != "emulator"


# ---- dtypes ----------------------------------------------------------------------------------------------------------

EVERY = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("other", EVERY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_promotion(dtype: str, other: str) -> None:
    a, b = np.array([1, 2, 3], dtype), np.array([1, 0, 1], other)
    for x, y, p, q in ((ng.array(a), ng.array(b), a, b), (ng.array(b), ng.array(a), b, a)):
        same(x + y, p + q)
        same(x * y, p * q)
        assert ng.result_type(x, y) == np.result_type(p, q)
        same(ng.where(ng.array([True, False, True]), x, y), np.where([True, False, True], p, q))
    same(ng.array(b) * 1j, b * 1j)
    same(1j - ng.array(b), 1j - b)
    same(ng.array(a) + 2, a + 2)
    same(ng.array(a) / 2.0, a / 2.0)
    same(ng.array(b).astype(dtype), b.astype(dtype))
    assert ng.isdtype(dtype, "complex floating") and ng.can_cast(other, dtype) == np.can_cast(other, dtype)


def test_bfloat16_meets_complex() -> None:
    x = ng.ones(3, "bfloat16") * 1j
    assert str(x.dtype) == "complex64" and (x.get() == 1j).all()


def test_conversions(rng: np.random.Generator) -> None:
    a = drawn(rng, (4, 3), "complex128")
    x = ng.array(a)
    same(x.astype("complex64"), a.astype("complex64"))
    same(x.astype("complex64").astype("complex128"), a.astype("complex64").astype("complex128"))
    with pytest.warns(np.exceptions.ComplexWarning, match="complex128, of which float32 keeps the real parts alone"):
        same(x.astype("float32"), a.real.astype("float32"))
    a[0] = 0
    a[1] = 1j
    same(ng.array(a).astype("bool"), a.astype("bool"))
    y = ng.zeros((4, 3))
    for key in (..., [0], slice(None)):
        with pytest.raises(TypeError, match="value has dtype complex128|is 1j; needs a real number"):
            y[key] = 1j
    for value in (x, a, 1j * x, [[1j]]):
        with pytest.raises(TypeError, match="complex"):
            y += value
    with pytest.raises(TypeError, match="number is complex; dtype is float32, needs complex64 or complex128"):
        y.fill(1j)
    with pytest.raises(TypeError, match="number is complex; dtype is int32, needs"):
        ng.full(3, 1j, "int32")
    assert (y.get() == 0).all()


def assigned(xp: Any, dtype: str, key: Any, value: Any) -> tuple[Any, list[str]]:
    """zeros after x[key] = value, and the categories of the warnings."""
    x = xp.zeros((4, 3), dtype)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        x[key] = value(xp)
    return x, [w.category.__name__ for w in seen]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("key", [..., slice(None), 1, (slice(None), 0), [0, 2], (slice(None), [True, False, True])])
def test_assignments_of_complex_numbers(rng: np.random.Generator, dtype: str, key: Any) -> None:
    a = np.abs(drawn(rng, (4, 3), "complex128")) * (2 + 1j)
    part = a[key]
    for value in (
        lambda xp: xp.array(part),
        lambda xp: xp.array(part) * 2,
        lambda xp: part,
        lambda xp: np.complex64(2 + 1j),
        lambda xp: xp.array(part).ravel()[0],
    ):
        got, warned = assigned(ng, dtype, key, value)
        want, theirs = assigned(np, dtype, key, value)
        assert warned == theirs == ([] if dtype in ("bool", "complex64") else ["ComplexWarning"])
        np.testing.assert_allclose(got.get(), want, rtol=1e-3 if dtype == "float16" else 1e-6)


def test_a_warning_as_an_error_leaves_the_tensor(rng: np.random.Generator) -> None:
    x = ng.ones((4, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for key in (..., slice(None), [1]):
            with pytest.raises(np.exceptions.ComplexWarning):
                x[key] = ng.array([[1j]]) * 2
        with pytest.raises(np.exceptions.ComplexWarning):
            ng.array([1j]).astype("float32")
        ng.array([1j]).astype(bool)
    assert (x.get() == 1).all()


# ---- elementwise -----------------------------------------------------------------------------------------------------

# name, ulps of the magnitude; of the exact value, but for complex128, whose reference is NumPy's own.
UNARY = {
    "negative": 0, "positive": 0, "conj": 0, "conjugate": 0, "real": 0, "imag": 0, "square": 4, "absolute": 2,
    "reciprocal": 4, "angle": 4, "exp": 8, "exp2": 16, "expm1": 16, "log": 8, "log2": 8, "log10": 8, "log1p": 16,
    "sqrt": 4, "sin": 8, "cos": 8, "tan": 8, "arcsin": 8, "arccos": 8, "arctan": 8, "sinh": 8, "cosh": 8, "tanh": 8,
    "arcsinh": 8, "arccosh": 8, "arctanh": 8, "isnan": 0, "isinf": 0, "isfinite": 0, "logical_not": 0, "isreal": 0,
    "iscomplex": 0,
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary(rng: np.random.Generator, name: str, dtype: str) -> None:
    for shape in ((131,), (3, 5), (0, 2), ()):
        a = drawn(rng, shape, dtype) * 3
        f = getattr(np, name)
        close(getattr(ng, name)(ng.array(a)), f(a), UNARY[name], f(a.astype(np.complex128)))
    a = drawn(rng, (6, 8), dtype)
    close(getattr(ng, name)(ng.array(a)[::2, ::-3]), f(a[::2, ::-3]), UNARY[name], f(a[::2, ::-3].astype("complex128")))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [n for n in UNARY if n not in ("exp2", "expm1", "log2", "log1p", "reciprocal")])
def test_special_values(name: str, dtype: str) -> None:
    """Infinities, NaN and zeros in either part, as NumPy has them (C99, Annex G)."""
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, -3.0, np.inf, -np.inf, np.nan]
    a = np.array([complex(p, q) for p in parts for q in parts], dtype)
    want = getattr(np, name)(a)
    got = getattr(ng, name)(ng.array(a))
    close(got, want, max(UNARY[name], 8))
    if name in ("sqrt", "arcsin", "arccos", "arctan", "log", "arcsinh", "arctanh"):  # which side of the cut
        usual = np.isfinite(a) & np.isfinite(want)
        for part in (np.real, np.imag):
            np.testing.assert_array_equal(np.signbit(part(got.get()))[usual], np.signbit(part(want))[usual])


@pytest.mark.parametrize(
    "name", ["abs", "log", "sqrt", "arcsin", "arctanh", "exp", "sinh", "cosh", "tanh", "reciprocal"]
)
def test_far_and_near(rng: np.random.Generator, name: str) -> None:
    """Neither squares nor exponentials of parts leave float64 where the result does not."""
    size = 10.0 ** rng.uniform(-300, 300, (2, 300)) * rng.choice([-1, 1], (2, 300))
    if name in ("exp", "sinh", "cosh", "tanh"):
        size = np.stack([rng.uniform(-740, 712, 300), rng.uniform(-9, 9, 300)])
    a = size[0] + 1j * size[1]
    want = getattr(np, name)(a)
    keep = np.abs(want) > 1e-290
    close(getattr(ng, name)(ng.array(a))[ng.array(keep)], want[keep], 64)


def test_logarithm_near_one(rng: np.random.Generator) -> None:
    turn = rng.uniform(-3, 3, 200)
    a = (np.exp(1j * turn) * (1 + rng.uniform(-1e-6, 1e-6, 200))).astype(np.complex64)
    wide = a.astype(np.complex128)
    exact = 0.5 * np.log1p((wide.real - 1) * (wide.real + 1) + wide.imag**2)
    got = ng.log(ng.array(a)).real.get()
    assert np.all(np.abs(got - exact) <= 1e-6 * np.abs(exact) + 1e-15)


BINARY = {"add": 1, "subtract": 1, "multiply": 4, "divide": 4, "power": 32, "equal": 0, "not_equal": 0,
          "logical_and": 0, "logical_or": 0, "logical_xor": 0}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_binary(rng: np.random.Generator, name: str, dtype: str) -> None:
    f, g = getattr(np, name), getattr(ng, name)
    for p, q in (((7,), (7,)), ((3, 5), (5,)), ((4, 1), (1, 6)), ((0, 3), (3,)), ((), (2,))):
        a, b = drawn(rng, p, dtype), drawn(rng, q, dtype)
        b.flat[:1] = a.flat[:1] if b.size and a.size else 0
        close(g(ng.array(a), ng.array(b)), f(a, b), BINARY[name], f(a.astype("complex128"), b.astype("complex128")))
        c = b.real.copy()
        close(g(ng.array(a), ng.array(c)), f(a, c), BINARY[name], f(a.astype("complex128"), c))
        close(g(ng.array(c), ng.array(a)), f(c, a), BINARY[name], f(c, a.astype("complex128")))
    a = drawn(rng, (5, 3), dtype)
    for number in (2, 2.5, 1 - 3j, 0.5j):
        close(g(ng.array(a), number), f(a, number), BINARY[name], f(a.astype("complex128"), number))
        close(g(number, ng.array(a)), f(number, a), BINARY[name], f(number, a.astype("complex128")))


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers(rng: np.random.Generator, dtype: str) -> None:
    a = drawn(rng, (11,), dtype)
    wide = a.astype("complex128")
    for n in (0, 1, 2, 3, 7, -1, -2, -5, 0.5, 1.5, 2j, 1 + 1j):
        close(ng.array(a) ** n, a**n, 32, wide**n)
    zero = np.zeros(4, dtype)
    exponents = np.array([0, 2, 1j, -1], dtype)
    got = ng.power(ng.array(zero), ng.array(exponents)).get()
    assert got[0] == 1 and got[1] == 0 and np.isnan(got[2:]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_quotients_of_any_size(rng: np.random.Generator, dtype: str) -> None:
    most = 18 if dtype == "complex64" else 150
    a, b = (10 ** rng.uniform(-most, most, (2, 200)) * drawn(rng, (200,), "complex128")).astype(dtype)
    close(ng.divide(ng.array(a), ng.array(b)), a / b, 8, a.astype("complex128") / b.astype("complex128"))
    for value in (0, complex(np.inf, 1), complex(0, np.nan), -0.0):
        close(ng.array(a) / np.full(200, value, dtype), a / np.full(200, value, dtype), 8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sign(dtype: str) -> None:
    a = np.array([3 + 4j, 0, -2, 1j, complex(np.inf, 2), complex(1, -np.inf), complex(np.nan, 1)], dtype)
    got = ng.sign(ng.array(a)).get()
    want = np.array([0.6 + 0.8j, 0, -1, 1j, 1, -1j], dtype)
    assert np.all(np.abs(got[:6] - want) <= 2 * eps(dtype)) and np.isnan(got[6])


def test_expressions_are_fused(rng: np.random.Generator) -> None:
    a, b = drawn(rng, (40, 9), "complex64"), drawn(rng, (9,), "complex64")
    x, y = ng.array(a), ng.array(b)
    before = ng.launch_count()
    z = ((x * y + 2j) * ng.conj(x)).copy()
    assert ng.launch_count() == before + 1 or ng.launch_count() == before + 2  # and its copy
    close(z, (a * b + np.complex64(2j)) * a.conj(), 8)
    before = ng.launch_count()
    w = abs(x * y) ** 2 + 1
    w.get()
    assert ng.launch_count() == before + 1
    before = ng.launch_count()
    ng.exp(x).get()
    assert ng.launch_count() == before + 1
    assert "kernel" in ng.explain(x * y) or "fused" in ng.explain(x * y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_parts_that_are_not_of_one_tensor(rng: np.random.Generator, dtype: str) -> None:
    """Kernels that load both parts at once are not for parts of two tensors, nor for addresses of another alignment."""
    a, b = drawn(rng, (40, 3), dtype), drawn(rng, (40, 3), dtype)
    x, y = ng.array(a), ng.array(b)
    for _ in range(3):
        same(x.real * x.imag, a.real * a.imag)
        same(x.real * y.imag, a.real * b.imag)
        same(x.imag * x.real, a.imag * a.real)
        same(x.imag * y.real, a.imag * b.real)
        same(x[1:].imag - x[:-1].real, a[1:].imag - a[:-1].real)
        out = ng.zeros((40, 3), dtype)
        out.real[...], out.imag[...] = y.imag, x.real
        same(out, (b.imag + 1j * a.real).astype(dtype))
    raw = np.zeros(241, a.real.dtype)
    moved = raw[1:].view(dtype).reshape(40, 3)
    z = ng.from_dlpack(moved)
    for _ in range(2):
        z[...] = x + y
        same(z, a + b)
        same(z + y, (a + b) + b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_in_place(rng: np.random.Generator, dtype: str) -> None:
    a = drawn(rng, (6, 6), dtype)
    x = ng.array(a)
    old = x * 3
    x *= 1 + 1j
    x += x.T
    b = a * np.asarray(1 + 1j, dtype)
    b = b + b.T
    close(x, b, 4)
    close(old, a * 3, 1)
    x[:] = x * x
    close(x, b * b, 8)
    z = x * 2
    x[...] = z
    close(z, b * b * 2, 8)
    x[1:] = x[:-1]
    c = b * b * 2
    c[1:] = c[:-1].copy()
    close(x, c, 8)
    x -= ng.mean(x)
    close(x, c - c.mean(), 64)
    x /= 2
    x **= 2
    close(x, ((c - c.mean()) / 2) ** 2, 256)
    out = ng.empty((6, 6), dtype)
    assert ng.multiply(x, 1j, out) is out
    close(out, ((c - c.mean()) / 2) ** 2 * 1j, 256)
    ng.add(x, x, out, where=ng.eye(6, dtype="bool"))
    real = ng.ones((6, 6))
    with pytest.raises(TypeError, match="complex"):
        real *= 1j
    assert (real.get() == 1).all()


# ---- reductions and products -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "std", "all", "any", "count_nonzero"])
def test_reductions(rng: np.random.Generator, name: str, dtype: str) -> None:
    for shape in ((13,), (5, 7), (3, 4, 5)):
        a = drawn(rng, shape, dtype)
        a[0] = 0 if name in ("all", "any", "count_nonzero") else a[0]
        for axis in (None, 0, -1, tuple(range(len(shape)))):
            for keepdims in (False, True):
                f, g = getattr(np, name), getattr(ng, name)
                want = np.asarray(f(a, axis=axis, keepdims=keepdims))
                got = g(ng.array(a), axis=axis, keepdims=keepdims)
                assert got.shape == want.shape and got.dtype == want.dtype
                if want.dtype.kind in "bi":
                    assert (got.get() == want).all()
                    continue
                scale = np.max(np.abs(want)) + (0 if name == "prod" else np.abs(a).sum())
                assert np.all(np.abs(got.get() - want) <= 8 * eps(dtype) * scale)
    a = drawn(rng, (4, 6), dtype)
    mask = a.real > 0
    if name in ("sum", "mean", "prod", "var", "std"):
        want = getattr(np, name)(a, axis=1, where=mask)
        got = getattr(ng, name)(ng.array(a), axis=1, where=ng.array(mask)).get()
        np.testing.assert_allclose(got, want, rtol=1e3 * eps(dtype))
    if name in ("var", "std"):
        close(getattr(ng, name)(ng.array(a), ddof=1), getattr(np, name)(a, ddof=1), 16)
    if name in ("sum", "prod"):
        same(getattr(ng, name)(ng.zeros((0, 3), dtype), axis=0), getattr(np, name)(np.zeros((0, 3), dtype), axis=0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_scans(rng: np.random.Generator, dtype: str) -> None:
    a = drawn(rng, (3, 37), dtype)
    for axis in (0, 1):
        np.testing.assert_allclose(ng.cumsum(ng.array(a), axis).get(), a.cumsum(axis), rtol=1e3 * eps(dtype), atol=1e-5)
        close(ng.diff(ng.array(a), axis=axis), np.diff(a, axis=axis), 2)
    close(ng.cumprod(ng.array(a[:, :9]), 1), a[:, :9].cumprod(1), 64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_passes_over_nan(rng: np.random.Generator, dtype: str) -> None:
    a = drawn(rng, (4, 7), dtype)
    a[1, 2], a[3, 0], a[0, 5] = np.nan, complex(1, np.nan), complex(np.nan, 2)
    x = ng.array(a)
    for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd"):
        want = getattr(np, name)(a, axis=1)
        got = getattr(ng, name)(x, axis=1)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got.get(), want, rtol=200 * eps(dtype))
    np.testing.assert_allclose(ng.nancumsum(x, 1).get(), np.nancumsum(a, 1), rtol=200 * eps(dtype))
    np.testing.assert_allclose(ng.nancumprod(x, 1).get(), np.nancumprod(a, 1), rtol=200 * eps(dtype))
    a[2, 2] = complex(np.inf, -np.inf)
    same(ng.nan_to_num(ng.array(a)), np.nan_to_num(a))
    assert ng.allclose(x, x, equal_nan=True) and not ng.allclose(x, x) and not ng.isclose(x, x + 1j).get().any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_rounded_and_counted(rng: np.random.Generator, dtype: str) -> None:
    a = drawn(rng, (3, 7), dtype) * 9
    for decimals in (0, 2, -1):
        close(ng.round(ng.array(a), decimals), np.round(a, decimals), 2)
    close(ng.linspace(1 + 2j, 3, 5), np.linspace(1 + 2j, 3, 5), 2)
    close(ng.linspace(0, 1j, 4, endpoint=False, dtype=dtype), np.linspace(0, 1j, 4, endpoint=False, dtype=dtype), 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products(rng: np.random.Generator, dtype: str) -> None:
    a, b, v = drawn(rng, (5, 7), dtype), drawn(rng, (7, 3), dtype), drawn(rng, (7,), dtype)
    stack = drawn(rng, (2, 3, 5, 7), dtype)
    x, y, w, s = (ng.array(t) for t in (a, b, v, stack))
    pairs: list[tuple[Any, Any]] = [
        (x @ y, a @ b), (x @ w, a @ v), (w @ y, v @ b), (w @ w, v @ v), (s @ y, stack @ b), (ng.dot(x, y), a @ b),
        (ng.vdot(w, w), np.vdot(v, v)), (ng.inner(x, w), np.inner(a, v)), (ng.outer(w, w), np.outer(v, v)),
        (ng.einsum("ij,kj->ik", x, x), np.einsum("ij,kj->ik", a, a)), (ng.tensordot(x, y, 1), np.tensordot(a, b, 1)),
        (ng.conj(y).T @ y, b.conj().T @ b), (x @ ng.array(b.real), a @ b.real), (ng.array(a.real) @ y, a.real @ b),
        (x[::2, ::2] @ y[::2], a[::2, ::2] @ b[::2]), (ng.linalg.vecdot(x, x), np.sum(a.conj() * a, -1)),
        (ng.kron(w, w), np.kron(v, v)), (ng.trace(x[:, :5]), np.trace(a[:, :5])),
    ]  # fmt: skip
    for got, want in pairs:
        assert got.dtype == np.asarray(want).dtype and got.shape == np.asarray(want).shape
        assert np.all(np.abs(got.get() - want) <= 64 * eps(dtype) * (np.abs(want) + 7))


def test_three_products_would_not_do() -> None:
    """Small imaginary parts beside large real ones keep their digits."""
    a = np.array([[1e6 + 1e-3j]], np.complex64)
    got = (ng.array(a) @ ng.array(a)).get()
    assert abs(got.imag[0, 0] - 2e3) <= 1e-3


# ---- what is refused -------------------------------------------------------------------------------------------------

REFUSED: dict[str, Callable[[Any], Any]] = {
    "floor_divide": lambda x: x // 2,
    "remainder": lambda x: x % 2,
    "fmod": lambda x: ng.fmod(x, 2),
    "bitwise_and": lambda x: x & 1,
    "invert": lambda x: ~x,
    "left_shift": lambda x: x << 1,
    "floor": ng.floor,
    "cbrt": ng.cbrt,
    "erf": ng.erf,
    "arctan2": lambda x: ng.arctan2(x, 1.0),
    "hypot": lambda x: ng.hypot(x, x),
    "copysign": lambda x: ng.copysign(x, 1.0),
    "signbit": ng.signbit,
    "nextafter": lambda x: ng.nextafter(x, x),
    "complex_from": lambda x: _core.complex_from(x, 1.0),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str, dtype: str) -> None:
    with pytest.raises(TypeError, match=f"{name}: .*{dtype}.*needs real numbers"):
        REFUSED[name](ng.ones((3,), dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_quantiles(dtype: str) -> None:
    with pytest.raises(TypeError, match="needs real numbers"):
        ng.quantile(ng.ones((3,), dtype), 0.5)


def test_a_number_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="remainder: operands are float32 .3,., a number; needs real numbers"):
        ng.ones(3) % 1j


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["expm1", "log1p", "sin", "tan", "sinh", "tanh", "arcsin", "arctan", "sqrt"])
def test_signs_of_zeros(name: str, dtype: str) -> None:
    """Those of NumPy; the array API standard wants expm1(-0 + 0j) to be 0 + 0j."""
    zeros = np.array([complex(a, b) for a in (0.0, -0.0) for b in (0.0, -0.0)], dtype)
    got, want = getattr(ng, name)(ng.array(zeros)).get(), getattr(np, name)(zeros)
    for part in ("real", "imag"):
        assert np.array_equal(np.signbit(getattr(got, part)), np.signbit(getattr(want, part))), (got, want)


def test_parts_that_are_written():
    """Parts of an expression are views of it; a real number has no imaginary part to write to."""
    made = []
    for lib in (np, ng):
        z = lib.array(np.array([1 + 2j, 3 - 1j])) * 2
        lib.real(z)[0] = 7
        lib.imag(z)[1] += 5
        z.real[1] *= 2
        made.append((z * 1).tolist())
        for x in (lib.arange(3.0), lib.arange(3) * 2):
            for zeros in (lib.imag(x), x.imag):
                assert zeros.tolist() == [0, 0, 0] and zeros.dtype == x.dtype
                with pytest.raises(ValueError, match="read-only"):
                    zeros[0] = 1
                with pytest.raises(ValueError, match="read-only"):
                    zeros += 1
    assert made[0] == made[1]
