"""The names of scikit-cuda, as its scripts call them, beside NumPy."""

from __future__ import annotations

from typing import Any

import nervanagpu.pycuda.autoinit  # noqa: F401
import nervanagpu.pycuda.gpuarray as gpuarray
import nervanagpu.skcuda.fft as cu_fft
import nervanagpu.skcuda.linalg as linalg
import nervanagpu.skcuda.misc as misc
import numpy as np
import pytest

Array = np.ndarray[Any, Any]


@pytest.fixture(params=["float32", "float64"])
def a(request: pytest.FixtureRequest, rng: np.random.Generator) -> Array:
    linalg.init()
    return (rng.standard_normal((5, 5)) + 5 * np.eye(5)).astype(request.param)


def close(got: Any, want: Any) -> None:
    host = got.get() if isinstance(got, gpuarray.GPUArray) else np.asarray(got)
    want = np.asarray(want)
    assert host.shape == want.shape
    bound = 200 * np.finfo(host.dtype if host.dtype.kind == "f" else float).eps * (np.abs(want).max() + 1)
    assert bool((np.abs(host - want) <= bound).all())


def test_products(a: Array, rng: np.random.Generator) -> None:
    b, v = rng.standard_normal((5, 3)).astype(a.dtype), rng.standard_normal(5).astype(a.dtype)
    x, y, z = gpuarray.to_gpu(a), gpuarray.to_gpu(b), gpuarray.to_gpu(v)
    close(linalg.dot(x, y), a @ b)
    close(linalg.dot(y, x, "T", "T"), b.T @ a.T)
    close(linalg.dot(z, z), v @ v)
    close(linalg.dot(x, z), a @ v)
    close(linalg.dot(z, y), v @ b)
    out = gpuarray.zeros((5, 3), a.dtype)
    assert linalg.dot(x, y, out=out) is out
    close(linalg.add_dot(x, y, out, alpha=2.0, beta=0.5), 2.5 * a @ b)
    close(out, 2.5 * a @ b)
    close(linalg.mdot(x, x, y), a @ a @ b)
    close(linalg.dot_diag(z, y), np.diag(v) @ b)
    close(linalg.add_diag(z, x), a + np.diag(v))
    close(x, a)
    linalg.scale(3.0, x)
    close(x, 3 * a)


def test_forms(a: Array) -> None:
    x = gpuarray.to_gpu(a)
    close(linalg.transpose(x), a.T)
    close(linalg.hermitian(x), a.T)
    close(linalg.diag(x), np.diag(a))
    close(linalg.diag(linalg.diag(x)), np.diag(np.diag(a)))
    close(linalg.eye(3, a.dtype), np.eye(3))
    close(linalg.tril(x), np.tril(a))
    for k in (-1, 0, 2):
        close(linalg.triu(x, k), np.triu(a, k))
    close(linalg.trace(x), np.trace(a))
    close(linalg.norm(x), np.linalg.norm(a))
    close(linalg.vander(x[0], 4), np.vander(a[0], 4, increasing=True))
    close(linalg.multiply(x, x), a * a)
    assert linalg.tril(x, overwrite=True) is x
    close(x, np.tril(a))


def test_solutions(a: Array, rng: np.random.Generator) -> None:
    x = gpuarray.to_gpu(a)
    close(linalg.inv(x), np.linalg.inv(a))
    close(linalg.det(x), np.linalg.det(a))
    close(linalg.pinv(x), np.linalg.pinv(a))
    for jobs in ("AA", "SS", "AS"):
        u, s, vh = linalg.svd(x[:, :3], *jobs)
        assert u.shape == (5, 5 if jobs[0] == "A" else 3) and vh.shape == (3, 3)
        close(gpuarray.to_gpu((u.get()[:, :3] * s.get()) @ vh.get()), a[:, :3])
    close(linalg.svd(x, "N", "N"), np.linalg.svd(a)[1])
    q, r = linalg.qr(x, "economic")
    close(linalg.dot(q, r), a)
    spd = a @ a.T
    v, w = linalg.eig(gpuarray.to_gpu(spd), "N", "V")
    close(gpuarray.to_gpu(spd @ v.get()), v.get() * w.get())
    for uplo in "LU":
        factor, wrong = np.linalg.cholesky(spd), spd.copy()
        wrong[np.triu_indices(5, 1) if uplo == "L" else np.tril_indices(5, -1)] = 9
        p = gpuarray.to_gpu(wrong)
        b = rng.standard_normal((5, 2)).astype(a.dtype)
        y = gpuarray.to_gpu(b)
        linalg.cho_solve(p, y, uplo)
        assert np.allclose(spd @ y.get(), b, atol=1e-3 if a.dtype == np.float32 else 1e-9)
        lower = np.tril(factor) + np.triu(wrong, 1)
        close(p, lower if uplo == "L" else np.triu(factor.T) + np.tril(wrong, -1))
        p = gpuarray.to_gpu(spd)
        linalg.cholesky(p, uplo)
        close(p, factor if uplo == "L" else factor.T)
    assert linalg.inv(x, overwrite=True) is x
    close(x, np.linalg.inv(a))


def test_misc(a: Array) -> None:
    x = gpuarray.to_gpu(a)
    close(misc.sum(x, 0), a.sum(0))
    close(misc.mean(x), a.mean())
    close(misc.var(x, 1, axis=1), a.var(1, ddof=1))
    close(misc.std(x), a.std())
    close(misc.maxabs(x), np.abs(a).max()[None])
    close(misc.diff(x[0]), np.diff(a[0]))
    close(misc.add_matvec(x, x[0]), a + a[0])
    close(misc.mult_matvec(x, x[0], 0), a * a[0][:, None])
    close(misc.div_matvec(x, x[0], 1), a / a[0])
    for reps in (2, (2, 3), (2, 1, 3)):
        close(misc.tile(x[:2], reps), np.tile(a[:2], reps))
    close(misc.get_by_index(x[0], [3, 1]), a[0][[3, 1]])
    misc.set_by_index(x[0], [3, 1], gpuarray.to_gpu(a[1][:2]))
    a[0][[3, 1]] = a[1][:2]
    close(x, a)
    close(misc.ones((2, 2), a.dtype), np.ones((2, 2)))
    assert misc.isdoubletype(np.complex128) and misc.iscomplextype("complex64") and not misc.isdoubletype(np.float32)
    assert misc.get_compute_capability() >= 5


def test_plans_say_what_is_wrong() -> None:
    plan = cu_fft.Plan((4, 6), np.complex64, np.float32, batch=2)
    x, y = gpuarray.zeros((2, 4, 4)), gpuarray.zeros((2, 4, 6))
    cu_fft.ifft(x, y, plan)
    assert (y.get() == 0).all()
    with pytest.raises(ValueError, match="ifft: x_gpu has shape .* needs 32 elements for the plan"):
        cu_fft.ifft(y, y, plan)
    with pytest.raises(ValueError, match="ifft: y_gpu has shape .* needs 48 elements"):
        cu_fft.ifft(x, x, plan)
    with pytest.raises(TypeError, match="Plan: from float32 to float32; needs complex numbers on one side"):
        cu_fft.Plan(4, np.float32, np.float32)
    with pytest.raises(ValueError, match="Plan: istride given; needs contiguous data"):
        cu_fft.Plan(4, np.complex64, np.complex64, istride=2)


@pytest.mark.parametrize("shape", [8, (4, 6)])
def test_real_results(rng: np.random.Generator, shape: Any) -> None:
    lengths = (shape,) if isinstance(shape, int) else shape
    half = (*lengths[:-1], lengths[-1] // 2 + 1)
    a = rng.standard_normal((2, *half))
    plan = cu_fft.Plan(shape, np.complex128, np.float64, batch=2)
    for scale in (True, False):
        y = gpuarray.zeros((2, *lengths), np.float64)
        cu_fft.ifft(gpuarray.to_gpu(a), y, plan, scale)
        norm = "backward" if scale else "forward"
        close(y, np.fft.irfftn(a, lengths, tuple(range(1, 1 + len(lengths))), norm))


def test_refused(a: Array) -> None:
    x = gpuarray.to_gpu(a)
    with pytest.raises(ValueError, match="dot: transa is 'X'; needs N, T or C"):
        linalg.dot(x, x, "X")
    with pytest.raises(ValueError, match="cholesky: uplo is 'X'; needs L or U"):
        linalg.cholesky(x, "X")
    with pytest.raises(np.linalg.LinAlgError):
        linalg.cho_factor(gpuarray.to_gpu(-np.eye(3)))
    with pytest.raises(ValueError, match="eig: jobvl is 'V'"):
        linalg.eig(x, "V")
