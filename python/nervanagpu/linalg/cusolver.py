"""Decompositions by cuSOLVER and cuBLAS on the GPU, on the default stream; the functions of nervanagpu.linalg.host.

Where the maths does not allow to take a matrix by rows for its transpose, a copy by columns is made. The result is then
given back as a transposed view. Arrays are (count, lines, length) of a stack.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.cuda_toolkit import cuda_libraries
from nervanagpu.linalg import host
from nervanagpu.linalg.calls import BLAS_LETTERS, LOWER, UPPER, Calls, code_of, columns_of, rows_of
from nervanagpu.linalg.cusolver_equations import cholesky, det, inv, slogdet, solve
from nervanagpu.linalg.operands import conjugate, matrix_transpose, real_of
from nervanagpu.linalg.triangles import triangle

_NO_VECTORS, _VECTORS = 0, 1  # cusolverEigMode_t
_MOST_ROTATED = 32  # rows that gesvdjBatched takes
_DIVERGED = "the iteration did not converge"


def available() -> None:
    """ImportError that says what to install, if one of the libraries is not found."""
    cuda_libraries.library("cusolver")
    cuda_libraries.library("cublas")


def _orthogonal(vectors: GPUTensor, tau: GPUTensor, columns: int) -> GPUTensor:
    """Q (count, columns, m) by columns, of Householder vectors (count, n, m)."""
    count, n, m = vectors.shape
    k = tau.shape[1]
    q = creation.zeros((count, columns, m), vectors.dtype)
    q[:, : min(n, columns)] = vectors[:, : min(n, columns)]
    calls = Calls("qr", count)
    name = f"cusolverDn{BLAS_LETTERS[str(q.dtype)]}{'un' if np.dtype(q.dtype).kind == 'c' else 'or'}gqr"
    size = ctypes.c_int()
    calls.solver.call(f"{name}_bufferSize", calls.handle, m, columns, k, q.ptr, m, tau.ptr, ctypes.byref(size))
    work = calls.workspace(size.value * q.dtype.itemsize)
    for i in range(count):
        at, factors = q.ptr + i * q.nbytes // count, tau.ptr + i * tau.nbytes // count
        calls.solver.call(name, calls.handle, m, columns, k, at, m, factors, work, size.value, calls.info_at(i))
    calls.check("cuSOLVER failed")
    return q


def qr(a: GPUTensor, mode: str) -> tuple[GPUTensor, ...]:
    if not a.size:
        return host.qr(a, mode)
    x = columns_of(a)
    count, n, m = x.shape
    k = min(m, n)
    tau = creation.empty((count, k), x.dtype)
    calls = Calls("qr", count)
    for i in range(count):
        at, factors = x.ptr + i * x.nbytes // count, tau.ptr + i * tau.nbytes // count
        calls.x("Xgeqrf", (m, n, code_of(x), at, m, code_of(x), factors, code_of(x)), i)
    calls.check("cuSOLVER failed")
    stack = a.shape[:-2]
    if mode == "raw":
        return x.reshape(*stack, n, m), tau.reshape(*stack, k)
    columns = m if mode == "complete" else k
    r = triangle(matrix_transpose(x)[:, :columns], upper=True).copy().reshape(*stack, columns, n)
    if mode == "r":
        return (r,)
    q = _orthogonal(x, tau, columns)
    return matrix_transpose(q.reshape(*stack, columns, m)), r


def _gesvd(x: GPUTensor, job: str) -> tuple[GPUTensor, GPUTensor, GPUTensor]:
    """(U, s, VT), each (count, ...) and by columns, of matrices by columns that are not wide. job: "A", "S" or "N"."""
    count, columns, rows = x.shape
    s = creation.empty((count, columns), real_of(x.dtype))
    width = {"A": rows, "S": columns, "N": 1}[job]
    u = creation.empty((count, width, rows if job != "N" else 1), x.dtype)
    v = creation.empty((count, columns, columns) if job != "N" else (count, 1, 1), x.dtype)
    calls = Calls("svd", count)
    code = code_of(x)
    for i in range(count):
        of_x, of_s, of_u, of_v = (t.ptr + i * t.nbytes // count for t in (x, s, u, v))
        results = (code_of(s), of_s, code, of_u, rows, code, of_v, columns)
        calls.x("Xgesvd", (ord(job), ord(job), rows, columns, code, of_x, rows, *results, code), i)
    calls.check(_DIVERGED)
    return u, s, v


def _gesvdj_batched(x: GPUTensor, job: str) -> tuple[GPUTensor, GPUTensor, GPUTensor]:
    """The same of a stack of small matrices in one call, by rotations."""
    count, columns, rows = x.shape
    s = creation.empty((count, columns), real_of(x.dtype))
    u, v = creation.empty((count, rows, rows), x.dtype), creation.empty((count, columns, columns), x.dtype)
    calls = Calls("svd", count)
    info = cuda_libraries.handle("cusolver", "cusolverDnCreateGesvdjInfo", None)
    name = f"cusolverDn{BLAS_LETTERS[str(x.dtype)]}gesvdjBatched"
    mode = _NO_VECTORS if job == "N" else _VECTORS
    matrices = (mode, rows, columns, x.ptr, rows, s.ptr, u.ptr, rows, v.ptr, columns)
    size = ctypes.c_int()
    calls.solver.call(f"{name}_bufferSize", calls.handle, *matrices, ctypes.byref(size), info, count)
    work = calls.workspace(size.value * x.dtype.itemsize)
    calls.solver.call(name, calls.handle, *matrices, work, size.value, calls.info_at(), info, count)
    calls.check(_DIVERGED)
    if job == "S":
        u = u[:, :columns].copy()
    return u, s, conjugate(matrix_transpose(v)).copy()  # V to VT


def _decomposed(a: GPUTensor, job: str) -> tuple[GPUTensor, GPUTensor, GPUTensor]:
    """(U, s, VT) by columns of the taller of each matrix and its transpose."""
    x = columns_of(a) if a.shape[-2] > a.shape[-1] else rows_of(a)
    small = x.shape[0] > 1 and max(x.shape[1:]) <= _MOST_ROTATED
    return (_gesvdj_batched if small else _gesvd)(x, job)


def svd(a: GPUTensor, full: bool) -> tuple[GPUTensor, GPUTensor, GPUTensor]:
    if not a.size:
        return host.svd(a, full)
    u, s, v = _decomposed(a, "A" if full else "S")
    stack = a.shape[:-2]
    first, second = (t.reshape(*stack, *t.shape[1:]) for t in (u, v))
    values = s.reshape(*stack, s.shape[1])
    if a.shape[-2] > a.shape[-1]:
        return matrix_transpose(first), values, matrix_transpose(second)
    return second, values, first


def svdvals(a: GPUTensor) -> GPUTensor:
    if not a.size:
        return host.svdvals(a)
    s = _decomposed(a, "N")[1]
    return s.reshape(*a.shape[:-2], s.shape[1])


def _syevd(a: GPUTensor, uplo: str, job: int) -> tuple[GPUTensor, GPUTensor]:
    """Eigenvalues (count, n) and, by columns, eigenvectors of the transposes (count, n, n)."""
    x = rows_of(a)
    count, n = x.shape[:2]
    w = creation.empty((count, n), real_of(x.dtype))
    fill = UPPER if uplo == "L" else LOWER  # of the transpose
    calls = Calls("eigh", count)
    if count > 1 and calls.solver.has("cusolverDnXsyevBatched"):
        calls.x("XsyevBatched", (job, fill, n, code_of(x), x.ptr, n, code_of(w), w.ptr, code_of(x)), 0, (count,))
    else:
        for i in range(count):
            at, values = x.ptr + i * x.nbytes // count, w.ptr + i * w.nbytes // count
            calls.x("Xsyevd", (job, fill, n, code_of(x), at, n, code_of(w), values, code_of(x)), i)
    calls.check(_DIVERGED)
    return w, x


def eigh(a: GPUTensor, uplo: str) -> tuple[GPUTensor, GPUTensor]:
    if not a.size:
        return host.eigh(a, uplo)
    w, v = _syevd(a, uplo, _VECTORS)
    return w.reshape(a.shape[:-1]), conjugate(matrix_transpose(v.reshape(a.shape)))


def eigvalsh(a: GPUTensor, uplo: str) -> GPUTensor:
    return _syevd(a, uplo, _NO_VECTORS)[0].reshape(a.shape[:-1]) if a.size else host.eigvalsh(a, uplo)


# NumPy's results are real where all eigenvalues are, before 2.5.
_ALWAYS_COMPLEX = np.lib.NumpyVersion(np.__version__) >= "2.5.0"


def _geev(a: GPUTensor, job: int) -> tuple[GPUTensor, GPUTensor]:
    """Eigenvalues (count, n), complex whatever the matrices are, and eigenvectors of the matrices' dtype."""
    x = columns_of(a)
    count, n = x.shape[:2]
    w = creation.zeros((count, n), np.result_type(x.dtype, np.complex64))
    v = creation.empty((count, n, n) if job else (count, 1, 1), x.dtype)
    calls = Calls("eig", count)
    code = code_of(x)
    for i in range(count):
        at = [t.ptr + i * t.nbytes // count for t in (x, w, v)]
        left = (code, 0, n)  # no left eigenvectors
        calls.x(
            "Xgeev",
            (_NO_VECTORS, job, n, code, at[0], n, code_of(w), at[1], *left, code, at[2], n, code),
            i,
        )
    calls.check(_DIVERGED)
    return w, v


def _paired(w: Any, v: Any) -> tuple[Any, Any]:
    """Complex eigenvectors of real ones: a pair of eigenvalues has the columns j + i (j + 1) and its conjugate."""
    out = v.astype(np.result_type(v.dtype, np.complex64))
    for i, j in zip(*np.nonzero(w.imag > 0), strict=True):
        out[i, :, j] = v[i, :, j] + 1j * v[i, :, j + 1]
        out[i, :, j + 1] = out[i, :, j].conj()
    return w, out


def _eigenvalues(a: GPUTensor, job: int) -> tuple[GPUTensor, GPUTensor]:
    w, v = _geev(a, job)
    vectors = matrix_transpose(v.reshape(a.shape)) if job else v
    if np.dtype(a.dtype).kind == "c":
        return w.reshape(a.shape[:-1]), vectors
    values = w.get()
    if not _ALWAYS_COMPLEX and not values.imag.any():
        return w.real.copy().reshape(a.shape[:-1]), vectors
    if not job:
        return w.reshape(a.shape[:-1]), v
    values, columns = _paired(values, matrix_transpose(v).copy().get())
    return creation.array(values.reshape(a.shape[:-1])), creation.array(columns.reshape(a.shape))


def _has_geev() -> bool:
    return cuda_libraries.library("cusolver").has("cusolverDnXgeev")


def eig(a: GPUTensor) -> tuple[GPUTensor, GPUTensor]:
    return _eigenvalues(a, _VECTORS) if a.size and _has_geev() else host.eig(a)


def eigvals(a: GPUTensor) -> GPUTensor:
    return _eigenvalues(a, _NO_VECTORS)[0] if a.size and _has_geev() else host.eigvals(a)


__all__ = [
    "available",
    "cholesky",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
]
