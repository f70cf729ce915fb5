"""ng.linalg beside numpy.linalg: shapes, dtypes, stacks, empty and singular matrices, errors.

Once by LAPACK on the host (on a GPU: as cuSOLVER does), and by the calls of cuBLAS and cuSOLVER, which a stand-in
answers (cuda_stand_in.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cuda_stand_in
import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import linalg

Array = np.ndarray[Any, Any]
SHAPES = [(), (3,), (2, 1), (0,), (1, 0, 2)]
COMPLEX = ["complex64", "complex128"] if cuda_stand_in.has_complex() else []
FLOATS = ["float32", "float64", *COMPLEX]
# What a matrix of `dtype` may be off by, times its size and norm.
EPS = {"float32": 1.2e-7, "float64": 2.3e-16, "complex64": 1.2e-7, "complex128": 2.3e-16}


@pytest.fixture(scope="module", params=["as found", "cusolver", "cusolver before 12.6"], autouse=True)
def lapack(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Who computes decompositions."""
    if request.param == "as found":
        yield request.param
        return
    flags = ["-DOLD"] if "before" in request.param else []
    with cuda_stand_in.installed(cuda_stand_in.build(tmp_path_factory.mktemp("cuda"), *flags)):
        yield request.param


def matrices(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return (x * 4).astype(dtype) if np.dtype(dtype).kind in "iu" else x.astype(dtype)


def adjoint(x: Array) -> Array:
    return np.conj(np.swapaxes(x, -1, -2))


def near(got: Any, want: Array, scale: float = 1.0) -> None:
    """Same shape and dtype, and as close as `scale` matrices of its size are computed."""
    assert isinstance(got, ng.GPUTensor)
    want = np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    if want.size:
        host = got.get()
        bound = 40 * EPS[str(want.dtype)] * scale * max((4, *want.shape[-2:])) * (np.abs(want).max() + 1)
        assert bool((np.abs(host - want) <= bound).all()), np.abs(host - want).max() / bound


def layouts(x: Array) -> Iterator[ng.GPUTensor]:
    """The same matrices by rows, by columns, and with gaps."""
    yield ng.array(x)
    if x.ndim >= 2:
        turned = ng.array(np.ascontiguousarray(np.swapaxes(x, -1, -2)))
        yield linalg.matrix_transpose(turned)
        yield ng.array(np.repeat(x, 2, axis=-1))[..., ::2]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("stack", SHAPES)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 13])
def test_square(rng: np.random.Generator, n: int, stack: tuple[int, ...], dtype: str) -> None:
    a = matrices(rng, (*stack, n, n), dtype) + 2 * n * np.eye(n, dtype=dtype)
    b = matrices(rng, (*stack, n, 3), dtype)
    for x in layouts(a):
        near(linalg.solve(x, ng.array(b)), np.linalg.solve(a, b))
        near(linalg.inv(x), np.linalg.inv(a))
        near(linalg.det(x), np.linalg.det(a), 10)
        got, want = linalg.slogdet(x), np.linalg.slogdet(a)
        near(got.sign, want.sign)
        near(got.logabsdet, want.logabsdet)
    spd = a @ adjoint(a) + np.eye(n, dtype=dtype)
    near(linalg.cholesky(ng.array(spd)), np.linalg.cholesky(spd))
    near(linalg.cholesky(ng.array(spd), upper=True), adjoint(np.linalg.cholesky(spd)))
    got, want = linalg.eigh(ng.array(spd)), np.linalg.eigh(spd)
    near(got.eigenvalues, want.eigenvalues)
    v = got.eigenvectors.get()
    assert np.allclose(spd @ v, v * want.eigenvalues[..., None, :], atol=1e4 * EPS[dtype] * max(n, 1) ** 2)
    near(linalg.eigvalsh(ng.array(spd), "U"), np.linalg.eigvalsh(spd, "U"))


@pytest.mark.parametrize("shape", [(5, 5), (3, 4, 4)])
def test_one_triangle_is_read(rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    a = rng.standard_normal(shape)
    a = a @ adjoint(a) + np.eye(shape[-1])
    for part, uplo in ((np.tril, "L"), (np.triu, "U")):
        half = part(a) + np.where(part(np.ones_like(a)) > 0, 0, 7.0)  # what the other triangle says is wrong
        near(linalg.eigvalsh(ng.array(half), uplo), np.linalg.eigvalsh(a))
        w, v = linalg.eigh(ng.array(half), uplo)
        near(ng.array((v.get() * w.get()[..., None, :]) @ adjoint(v.get())), a)
        lower = np.linalg.cholesky(a)
        near(linalg.cholesky(ng.array(half), upper=uplo == "U"), adjoint(lower) if uplo == "U" else lower)


def test_rows_are_exchanged(rng: np.random.Generator) -> None:
    """Of matrices that LU exchanges many rows of."""
    for n in (3, 6, 9):
        a = np.stack([rng.permutation(np.eye(n)) * rng.uniform(1, 3, n) for _ in range(12)])
        near(linalg.det(ng.array(a)), np.linalg.det(a))
        near(linalg.det(ng.array(a[0])), np.linalg.det(a[0]))
        near(linalg.slogdet(ng.array(a)).sign, np.linalg.slogdet(a).sign)
        near(linalg.inv(ng.array(a)), np.linalg.inv(a))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("stack", SHAPES)
@pytest.mark.parametrize(("m", "n"), [(4, 4), (7, 3), (2, 6), (1, 1), (0, 3), (3, 0), (33, 2)])
def test_rectangular(rng: np.random.Generator, m: int, n: int, stack: tuple[int, ...], dtype: str) -> None:
    a = matrices(rng, (*stack, m, n), dtype)
    for x in layouts(a):
        for mode in ("reduced", "complete"):
            got, want = linalg.qr(x, mode), np.linalg.qr(a, mode)
            near(got.Q, want.Q)
            near(got.R, want.R)
        near(linalg.qr(x, "r"), np.linalg.qr(a, "r"))
        near(linalg.svdvals(x), np.linalg.svd(a, compute_uv=False))
        for full in (True, False):
            u, s, vh = linalg.svd(x, full)
            want = np.linalg.svd(a, full)
            assert (u.shape, vh.shape) == (want[0].shape, want[2].shape)
            near(s, want[1])
            k = min(m, n)
            near(ng.array((u.get()[..., :k] * s.get()[..., None, :]) @ vh.get()[..., :k, :]), a)
        near(linalg.pinv(x), np.linalg.pinv(a), 10)
        near(linalg.pinv(x, rtol=None), np.linalg.pinv(a, rcond=None), 10)
        if min(m, n):
            assert linalg.matrix_rank(x).get().tolist() == np.linalg.matrix_rank(a).tolist()


def test_singular(rng: np.random.Generator) -> None:
    a = rng.standard_normal((3, 4, 4))
    a[1] = 0
    x = ng.array(a)
    for call in (lambda: linalg.inv(x), lambda: linalg.solve(x, x), lambda: linalg.matrix_power(x, -2)):
        with pytest.raises(linalg.LinAlgError, match="ingular"):
            call()
    assert linalg.det(x).get()[1] == 0
    got = linalg.slogdet(x)
    assert (got.sign.get()[1], got.logabsdet.get()[1]) == (0, -np.inf)
    assert linalg.matrix_rank(x).get().tolist() == [4, 0, 4]
    with np.errstate(all="ignore"):
        for p in (None, 1, -1, np.inf, -np.inf, "fro", 2, -2):
            assert np.allclose(linalg.cond(x, p).get(), np.linalg.cond(a, p))
    with pytest.raises(linalg.LinAlgError):
        linalg.cholesky(ng.array(-np.eye(3)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_ill_conditioned(rng: np.random.Generator, dtype: str) -> None:
    """A backward stable solution has a small residual, whatever the condition."""
    n = 24
    wide = np.complex128 if dtype in COMPLEX else np.float64
    turn = 1j if dtype in COMPLEX else 0
    u, _, vh = np.linalg.svd(rng.standard_normal((n, n)) + turn * rng.standard_normal((n, n)))
    a = ((u * np.logspace(0, -5 if EPS[dtype] > 1e-8 else -13, n)) @ vh).astype(dtype)
    b = rng.standard_normal((n, 2)).astype(dtype)
    x = linalg.solve(ng.array(a), ng.array(b)).get().astype(wide)
    bound = 8 * n * EPS[dtype] * np.linalg.norm(a, 2) * np.linalg.norm(x)
    assert np.linalg.norm(a.astype(wide) @ x - b) <= bound
    s = linalg.svdvals(ng.array(a)).get()
    assert (np.abs(s - np.linalg.svd(a.astype(wide))[1]) <= 8 * n * EPS[dtype]).all()
    inverse = linalg.pinv(ng.array(a), 1e-3).get().astype(wide)
    assert np.allclose(inverse @ a @ inverse, inverse, atol=0.05)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "uint64"])
def test_integers_become_float64(dtype: str) -> None:
    a = np.array([[4, 1], [1, 0]]).astype(dtype)
    near(linalg.inv(ng.array(a)), np.linalg.inv(a))
    near(linalg.norm(ng.array(a)), np.linalg.norm(a))
    near(linalg.eigvalsh(ng.array(a)), np.linalg.eigvalsh(a))
    near(linalg.solve(ng.array(np.eye(2, dtype=dtype)), [1.0, 2.0]), np.array([1.0, 2.0]))


def test_solve_takes_what_numpy_takes(rng: np.random.Generator) -> None:
    a = rng.standard_normal((2, 3, 4, 4)) + 8 * np.eye(4)
    for shape in [(4,), (4, 2), (3, 4, 1), (2, 1, 4, 2), (5, 2, 3, 4, 1)]:
        b = rng.standard_normal(shape)
        near(linalg.solve(ng.array(a), ng.array(b)), np.linalg.solve(a, b))
    near(linalg.solve(a, a.astype(np.float32)), np.linalg.solve(a, a.astype(np.float32)))
    near(linalg.solve([[2, 0], [0, 4]], [1, 2]), np.array([0.5, 0.5]))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("m", "n"), [(6, 3), (3, 6), (4, 4), (3, 3), (0, 3), (3, 0), (5, 1)])
def test_lstsq(rng: np.random.Generator, m: int, n: int, dtype: str) -> None:
    a = matrices(rng, (m, n), dtype)
    if m > 3:
        a[:, -1] = a[:, 0] if m == 4 else a[:, -1]
    for b in (matrices(rng, (m,), dtype), matrices(rng, (m, 2), dtype)):
        got, want = linalg.lstsq(ng.array(a), ng.array(b)), np.linalg.lstsq(a, b, rcond=None)
        near(got.x, want[0], 10)
        near(got.residuals, want[1], 10)
        assert got.rank == want[2] and type(got.rank) is np.int32
        near(got.singular_values, want[3])


def test_eig(rng: np.random.Generator) -> None:
    """Of real eigenvalues, and of complex ones of real and complex matrices."""
    for n, stack in [(1, ()), (5, ()), (4, (3,))]:
        p = rng.standard_normal((*stack, n, n)) + 4 * np.eye(n)
        a = p @ (np.arange(1.0, n + 1)[:, None] * np.linalg.inv(p))
        w, v = linalg.eig(ng.array(a))
        near(ng.array(np.sort(w.get())), np.sort(np.linalg.eigvals(a)))
        near(ng.array(np.sort(linalg.eigvals(ng.array(a)).get())), np.sort(np.linalg.eigvals(a)))
        assert np.allclose(a @ v.get(), v.get() * w.get()[..., None, :])
    for dtype in FLOATS:
        turn = matrices(rng, (2, 6, 6), dtype)
        turn[0, :2, :2], turn[0, :2, 2:], turn[0, 2:, :2] = [[0, 1], [-1, 0]], 0, 0  # i and -i
        w, v = linalg.eig(ng.array(turn))
        bound = 2000 * EPS[dtype]
        assert w.dtype == v.dtype == np.result_type(dtype, np.complex64)
        assert np.allclose(turn @ v.get(), v.get() * w.get()[..., None, :], rtol=bound, atol=bound)
        values = linalg.eigvals(ng.array(turn)).get()
        assert np.allclose(np.sort_complex(values), np.sort_complex(w.get()), rtol=bound, atol=bound)
        assert np.min(np.abs(values[0] - 1j)) <= bound


def test_hermitian(rng: np.random.Generator) -> None:
    for shape in [(4, 4), (2, 3, 5, 5), (0, 0)]:
        a = rng.standard_normal(shape)
        a = a + adjoint(a)
        x = ng.array(a)
        u, s, vh = linalg.svd(x, hermitian=True)
        near(s, np.linalg.svd(a, hermitian=True).S)
        assert np.allclose((u.get() * s.get()[..., None, :]) @ vh.get(), a)
        near(linalg.svd(x, compute_uv=False, hermitian=True), np.linalg.svd(a, compute_uv=False, hermitian=True))
        near(linalg.pinv(x, hermitian=True), np.linalg.pinv(a, hermitian=True), 10)
        if a.size:
            assert linalg.matrix_rank(x, hermitian=True).get().tolist() == np.linalg.matrix_rank(a).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_norms(rng: np.random.Generator, dtype: str) -> None:
    a = matrices(rng, (3, 4, 5), dtype)
    x = ng.array(a)
    for keep in (False, True):
        near(linalg.norm(x, keepdims=keep), np.linalg.norm(a, keepdims=keep))
        for order in (None, 1, 2, np.inf, -np.inf, 0, 3, 0.5):
            for axis in (0, -1, 1):
                near(linalg.norm(x, order, axis, keep), np.linalg.norm(a, order, axis, keep), 10)
            for axes in (None, 1, (0, 2), (-1, 1)):
                want = np.linalg.vector_norm(a, ord=2 if order is None else order, axis=axes, keepdims=keep)
                near(linalg.vector_norm(x, ord=2 if order is None else order, axis=axes, keepdims=keep), want, 10)
        for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
            for axes in ((0, 1), (2, 0), (-1, -2)):
                near(linalg.norm(x, order, axes, keep), np.linalg.norm(a, order, axes, keep), 10)
            want = np.linalg.matrix_norm(a, ord="fro" if order is None else order, keepdims=keep)
            near(linalg.matrix_norm(x, ord="fro" if order is None else order, keepdims=keep), want, 10)
    for p in (None, 2, -2):
        near(linalg.cond(x, p), np.linalg.cond(a, p), 100)
    for order in (1, 2, np.inf, "fro", "nuc"):  # of nothing (NumPy before 2.3 has no largest of it)
        assert linalg.matrix_norm(ng.zeros((2, 0, 3), dtype), ord=order).get().tolist() == [0, 0]
    assert linalg.norm(ng.zeros((0, 3), dtype), np.inf, 0).get().tolist() == [0, 0, 0]
    for tol in (0.5, np.array([0.1, 2.0, 9.0])):
        assert linalg.matrix_rank(x, tol).get().tolist() == np.linalg.matrix_rank(a, tol).tolist()
        assert linalg.matrix_rank(x, rtol=tol).get().tolist() == np.linalg.matrix_rank(a, rtol=tol).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "int8", "uint8"])
def test_contractions(rng: np.random.Generator, dtype: str) -> None:
    def of(*shape: int) -> tuple[Array, ng.GPUTensor]:
        a = matrices(rng, shape, dtype)
        return a, ng.array(a)

    def same(got: ng.GPUTensor, want: Any) -> None:
        if np.dtype(dtype).kind in "iu":
            assert got.dtype == np.asarray(want).dtype
            assert got.get().tolist() == np.asarray(want).tolist()
        else:
            near(got, want, 10)

    (a, x), (b, y) = of(2, 3, 4), of(4, 3, 5)
    same(linalg.tensordot(x, y, axes=1), np.tensordot(a, b, 1))
    same(linalg.tensordot(x, y, axes=([1, 2], [1, 0])), np.tensordot(a, b, ([1, 2], [1, 0])))
    same(linalg.tensordot(x, y, axes=(-1, 0)), np.tensordot(a, b, (-1, 0)))
    same(linalg.tensordot(x, y, axes=0), np.tensordot(a, b, 0))
    same(linalg.tensordot(x, x, axes=3), np.tensordot(a, a, 3))
    (p, u), (q, v) = of(5), of(7)
    same(linalg.outer(u, v), np.outer(p, q))
    (p, u), (q, v) = of(4, 1, 3), of(2, 3)
    same(linalg.cross(u, v), np.cross(p, q))
    (p, u), (q, v) = of(3, 2), of(3, 2)
    same(linalg.cross(u, v, axis=0), np.cross(p, q, axis=0))
    same(linalg.vecdot(u, v), np.linalg.vecdot(p, q))
    same(linalg.vecdot(u, v, axis=0), np.linalg.vecdot(p, q, axis=0))
    chain = [of(4, 2), of(2, 6), of(6, 1), of(1, 3)]
    same(linalg.multi_dot([c[1] for c in chain]), np.linalg.multi_dot([c[0] for c in chain]))
    (p, u), (q, v) = of(4), of(3)
    ends = [(p, u), *chain, (q, v)]
    same(linalg.multi_dot([c[1] for c in ends]), np.linalg.multi_dot([c[0] for c in ends]))
    for shape in [(3, 3), (2, 4, 4)]:
        a, x = of(*shape)
        for n in (0, 1, 2, 3, 7):
            same(linalg.matrix_power(x, n), np.linalg.matrix_power(a, n))
    a, x = of(3, 4, 6)
    for offset in (0, 1, -1, 5, 6, -3, -4):
        for array, tensor in ((a, x), (np.swapaxes(a, 1, 2), x.transpose(0, 2, 1))):
            same(linalg.diagonal(tensor, offset=offset), np.linalg.diagonal(array, offset=offset))
            same(linalg.trace(tensor, offset=offset), np.linalg.trace(array, offset=offset))


def test_numpys_functions_of_tensors(rng: np.random.Generator) -> None:
    a = rng.standard_normal((3, 4, 4)) + 8 * np.eye(4)
    x = ng.array(a)
    near(np.linalg.inv(x), np.linalg.inv(a))
    near(np.linalg.solve(x, x), np.linalg.solve(a, a))
    near(np.linalg.norm(x, axis=(1, 2)), np.linalg.norm(a, axis=(1, 2)))
    near(np.linalg.svd(x)[1], np.linalg.svd(a)[1])
    near(np.linalg.det(x), np.linalg.det(a), 10)
    assert np.linalg.matrix_rank(x).get().tolist() == [4, 4, 4]


def test_diagonal_is_a_view() -> None:
    x = ng.zeros((3, 4))
    linalg.diagonal(x, offset=1)[:] = 2
    assert x.get().tolist() == np.diag([2.0, 2, 2], 1)[:3].tolist()


def test_tensor_equations(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((2, 3, 6)), rng.standard_normal((2, 3))
    near(linalg.tensorsolve(ng.array(a), ng.array(b)), np.linalg.tensorsolve(a, b), 10)
    c = rng.standard_normal((2, 6, 3))
    near(linalg.tensorsolve(ng.array(c), ng.array(b), (1,)), np.linalg.tensorsolve(c, b, (1,)), 10)
    near(linalg.tensorinv(ng.array(a), 2), np.linalg.tensorinv(a, 2), 10)
    near(linalg.tensorinv(ng.array(a.reshape(6, 2, 3)), 1), np.linalg.tensorinv(a.reshape(6, 2, 3), 1), 10)


BAD = [
    (lambda: linalg.solve(ng.zeros(3), ng.zeros(3)), linalg.LinAlgError, r"solve: a has shape \(3,\); needs 2 or more"),
    (lambda: linalg.inv(ng.zeros((2, 3))), linalg.LinAlgError, r"inv: a has shape \(2, 3\); needs square"),
    (
        lambda: linalg.solve(ng.zeros((2, 2)), ng.zeros(3)),
        linalg.LinAlgError,
        r"solve: b has shape \(3,\); needs \(2,\)",
    ),
    (lambda: linalg.solve(ng.zeros((2, 2, 2)), ng.zeros((3, 2, 2))), linalg.LinAlgError, "does not broadcast"),
    (lambda: linalg.inv(ng.zeros((2, 2), "float16")), TypeError, "inv: a has dtype float16; needs float32"),
    (lambda: linalg.inv("no"), TypeError, "inv: a is 'no'"),
    (lambda: linalg.inv(None), TypeError, "inv: a is None"),
    (lambda: linalg.qr(ng.zeros((2, 2)), "fast"), ValueError, "qr: mode is 'fast'; needs reduced, complete, r or raw"),
    (lambda: linalg.eigh(ng.zeros((2, 2)), "X"), ValueError, "eigh: UPLO is 'X'; needs L or U"),
    (lambda: linalg.norm(ng.zeros((2, 2)), 7), ValueError, "norm: ord is 7; needs None, 'fro'"),
    (lambda: linalg.norm(ng.zeros(2), "fro"), ValueError, "norm: ord is 'fro'; needs a number"),
    (lambda: linalg.norm(ng.zeros((2, 2, 2)), 1), ValueError, "norm: axis is None"),
    (lambda: linalg.norm(ng.zeros(2), 1, 3), ValueError, "norm: axis 3 is out of range; the operand has 1 axes"),
    (lambda: linalg.norm(ng.zeros((2, 2)), 1, (0, 0)), ValueError, "names an axis twice"),
    (lambda: linalg.matrix_power(ng.zeros((2, 2)), 1.5), TypeError, "matrix_power: n is 1.5; needs an integer"),
    (lambda: linalg.multi_dot([ng.zeros((2, 2))]), ValueError, "multi_dot: arrays has 1 items; needs 2 or more"),
    (lambda: linalg.multi_dot([ng.zeros((2, 2)), ng.zeros((3, 2))]), ValueError, r"arrays\[1\].*needs 2 rows"),
    (lambda: linalg.cross(ng.zeros(2), ng.zeros(3)), ValueError, "cross: x1 has shape .* needs 3 elements"),
    (lambda: linalg.outer(ng.zeros((2, 2)), ng.zeros(3)), ValueError, "outer: x1 has shape .* needs one axis"),
    (lambda: linalg.vecdot(ng.zeros(2), ng.zeros(3)), ValueError, "vecdot: x1 has 2 elements"),
    (lambda: linalg.tensordot(ng.zeros((2, 3)), ng.zeros((2, 3))[None], axes=1), ValueError, "tensordot: axes is 1"),
    (lambda: linalg.pinv(ng.zeros((2, 2)), 0.1, rtol=0.2), ValueError, "pinv: rcond is 0.1 and rtol 0.2"),
    (lambda: linalg.matrix_rank(ng.zeros((2, 2)), 0.1, rtol=0.2), ValueError, "matrix_rank: tol is 0.1 and rtol 0.2"),
    (lambda: linalg.lstsq(ng.zeros((2, 2)), ng.zeros(3)), linalg.LinAlgError, r"lstsq: b has shape \(3,\)"),
    (lambda: linalg.tensorinv(ng.zeros((2, 3)), 1), linalg.LinAlgError, "tensorinv: a has shape"),
    (lambda: linalg.tensorsolve(ng.zeros((2, 3)), ng.zeros(2)), linalg.LinAlgError, "tensorsolve: a has shape"),
]


@pytest.mark.parametrize(("call", "error", "text"), BAD)
def test_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
