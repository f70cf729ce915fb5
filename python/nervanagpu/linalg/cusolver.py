"""Decompositions by cuSOLVER and cuBLAS on the GPU, on the default stream; the functions of nervanagpu.linalg.host.

Both know matrices by columns. A matrix that lies by rows is to them its transpose, which the maths often allows for: A
is factored as its transpose is and the other triangle is named; elsewhere a copy by columns is made and the result
given back as a transposed view. `rows_of` and `columns_of` are (count, lines, length) copies that a library may write.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from nervanagpu import creation, cuda_libraries, elementwise
from nervanagpu._core import GPUTensor
from nervanagpu.linalg import host
from nervanagpu.linalg.operands import LinAlgError, conjugate, matrix_transpose, real_of
from nervanagpu.linalg.triangles import eye, triangle

_DATA_TYPES = {"float32": 0, "float64": 1, "complex64": 4, "complex128": 5}  # cudaDataType
_BLAS = {"float32": "S", "float64": "D", "complex64": "C", "complex128": "Z"}
_LOWER, _UPPER = 0, 1  # cublasFillMode_t
_TRANSPOSED = 1  # cublasOperation_t
_NO_VECTORS, _VECTORS = 0, 1  # cusolverEigMode_t


def available() -> None:
    """ImportError that says what to install, if one of the libraries is not found."""
    cuda_libraries.library("cusolver")
    cuda_libraries.library("cublas")


def _code(x: GPUTensor) -> int:
    return _DATA_TYPES[str(x.dtype)]


def _count(x: GPUTensor) -> int:
    return math.prod(x.shape[:-2])


def rows_of(x: GPUTensor) -> GPUTensor:
    """(count, m, n), by rows: to the libraries the transposes."""
    return x.copy().reshape(_count(x), *x.shape[-2:])


def columns_of(x: GPUTensor) -> GPUTensor:
    """(count, n, m): the matrices by columns."""
    return rows_of(matrix_transpose(x))


def _broadcast(x: GPUTensor, shape: tuple[int, ...]) -> GPUTensor:
    if x.shape == shape:
        return x
    out = creation.empty(shape, x.dtype)
    out[...] = x
    return out


class _Calls:
    """Calls for a stack of matrices: workspaces as long as they are used, and what each call said in `info`."""

    def __init__(self, function: str, count: int) -> None:
        cuda_libraries.outside_of_graphs(function)
        self.function, self.count = function, count
        self.solver = cuda_libraries.library("cusolver")
        self.handle = cuda_libraries.handle("cusolver", "cusolverDnCreate", "cusolverDnSetStream")
        self.params = cuda_libraries.handle("cusolver", "cusolverDnCreateParams", None)
        self.info = creation.zeros(max(count, 1), np.int32)
        self._held: list[Any] = []
        self._sizes: tuple[int, int] | None = None

    def info_at(self, i: int = 0) -> int:
        """The address of the number that call i writes."""
        return self.info.ptr + 4 * i

    def workspace(self, bytes: int) -> int:
        """The address of so many bytes of device memory, held until `check`."""
        memory = creation.empty(max(bytes, 1), np.uint8)
        self._held.append(memory)
        return memory.ptr

    def pointers(self, x: GPUTensor) -> int:
        """The address of an array of the addresses x[0], x[1], ..."""
        step = x.nbytes // x.shape[0]
        addresses = creation.array(np.arange(x.shape[0], dtype=np.int64) * step + x.ptr)
        self._held.append(addresses)
        return addresses.ptr

    def x(self, name: str, args: tuple[Any, ...], i: int = 0, last: tuple[Any, ...] = ()) -> None:
        """cusolverDn{name} of the 64-bit interface; its workspaces are made for the first call and used by all."""
        if self._sizes is None:
            device, on_host = ctypes.c_size_t(), ctypes.c_size_t()
            sizes = (ctypes.byref(device), ctypes.byref(on_host))
            query = tuple(a for a in args if not isinstance(a, _Written))
            self.solver.call(f"cusolverDn{name}_bufferSize", self.handle, self.params, *query, *sizes, *last)
            self._sizes = device.value, on_host.value
            self._device = self.workspace(device.value)
            self._host = ctypes.create_string_buffer(max(on_host.value, 1))
        device_bytes, host_bytes = self._sizes
        plain = tuple(a.address if isinstance(a, _Written) else a for a in args)
        spaces = (self._device, device_bytes, self._host, host_bytes)
        self.solver.call(f"cusolverDn{name}", self.handle, self.params, *plain, *spaces, self.info_at(i), *last)

    def check(self, meaning: str) -> None:
        """Waits for the calls. LinAlgError if `info` of one is above 0: `meaning` says what that is."""
        said = self.info.get()
        self._held.clear()
        bad = np.flatnonzero(said)
        if not len(bad):
            return
        which = f" (matrix {bad[0]} of the stack)" if self.count > 1 else ""
        if said[bad[0]] < 0:
            raise RuntimeError(f"{self.function}: cuSOLVER refused argument {-said[bad[0]]}")
        raise LinAlgError(f"{self.function}: {meaning}{which}")


class _Written:
    """An address that the query for the size of workspaces does not take."""

    def __init__(self, address: int) -> None:
        self.address = address


def _lu(calls: _Calls, x: GPUTensor) -> GPUTensor:
    """LU factors of (count, n, n) in place; returns pivots, int64 of one matrix, int32 of more."""
    count, n = x.shape[:2]
    if count == 1:
        pivots = creation.empty((1, n), np.int64)
        calls.x("Xgetrf", (n, n, _code(x), x.ptr, n, _Written(pivots.ptr), _code(x)))
        return pivots
    pivots = creation.empty((count, n), np.int32)
    blas, queue = _cublas()
    blas.call(
        f"cublas{_BLAS[str(x.dtype)]}getrfBatched", queue, n, calls.pointers(x), n, pivots.ptr, calls.info_at(), count
    )
    return pivots


def _cublas() -> tuple[cuda_libraries.Library, int]:
    return (
        cuda_libraries.library("cublas"),
        cuda_libraries.handle("cublas", "cublasCreate_v2", "cublasSetStream_v2"),
    )


def _solved(function: str, x: GPUTensor, right: GPUTensor) -> None:
    """Writes into `right` (count, k, n), right sides by columns, the solutions; x (count, n, n) by rows becomes LU."""
    count, k, n = right.shape
    calls = _Calls(function, count)
    pivots = _lu(calls, x)
    calls.check("a matrix is singular")
    if count == 1:
        calls.solver.call(
            "cusolverDnXgetrs", calls.handle, calls.params, _TRANSPOSED, n, k, _code(x), x.ptr, n, pivots.ptr,
            _code(x), right.ptr, n, calls.info_at(),
        )  # fmt: skip
    else:
        blas, queue = _cublas()
        said = ctypes.c_int()
        blas.call(
            f"cublas{_BLAS[str(x.dtype)]}getrsBatched", queue, _TRANSPOSED, n, k, calls.pointers(x), n, pivots.ptr,
            calls.pointers(right), n, ctypes.byref(said), count,
        )  # fmt: skip
        if said.value:
            raise RuntimeError(f"{function}: cuBLAS refused argument {-said.value}")
    calls.check("a matrix is singular")


def solve(a: GPUTensor, b: GPUTensor) -> GPUTensor:
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if not a.size or not b.size or 0 in stack:
        return host.solve(a, b)
    right = columns_of(_broadcast(b, (*stack, *b.shape[-2:])))
    _solved("solve", rows_of(_broadcast(a, (*stack, *a.shape[-2:]))), right)
    return matrix_transpose(right.reshape(*stack, *right.shape[1:]))


def inv(a: GPUTensor) -> GPUTensor:
    if not a.size:
        return host.inv(a)
    right = creation.empty((_count(a), *a.shape[-2:]), a.dtype)
    right[...] = eye(a.shape[-1], a.dtype)
    _solved("inv", rows_of(a), right)
    return matrix_transpose(right.reshape(a.shape))


def _diagonal_and_sign(function: str, a: GPUTensor) -> tuple[Any, Any]:
    """On the host: the diagonal (..., n) of U, and the sign (...,) of the permutation."""
    x = rows_of(a)
    calls = _Calls(function, x.shape[0])
    pivots = _lu(calls, x)
    n = x.shape[1]
    swaps = (pivots.get() != np.arange(1, n + 1)).sum(-1)
    diagonal = x.reshape(x.shape[0], n * n)[:, :: n + 1].copy().get()
    stack = a.shape[:-2]
    return diagonal.reshape(*stack, n), (1 - 2 * (swaps % 2)).reshape(stack).astype(diagonal.dtype)


def det(a: GPUTensor) -> GPUTensor:
    if not a.size:
        return host.det(a)
    diagonal, sign = _diagonal_and_sign("det", a)
    return creation.array(np.asarray(diagonal.prod(-1) * sign))


def slogdet(a: GPUTensor) -> tuple[GPUTensor, GPUTensor]:
    if not a.size:
        return host.slogdet(a)
    diagonal, sign = _diagonal_and_sign("slogdet", a)
    size = np.abs(diagonal)
    with np.errstate(divide="ignore"):
        logarithm = np.log(size).sum(-1)
    unit = np.where(size > 0, diagonal / np.where(size > 0, size, 1), 0).prod(-1)
    phase = (unit * sign).astype(diagonal.dtype)
    return creation.array(np.asarray(phase)), creation.array(np.asarray(logarithm))


def cholesky(a: GPUTensor, upper: bool) -> GPUTensor:
    if not a.size:
        return host.cholesky(a, upper)
    x = rows_of(a)
    count, n = x.shape[:2]
    fill = _LOWER if upper else _UPPER  # of the transpose
    calls = _Calls("cholesky", count)
    if count == 1:
        calls.x("Xpotrf", (fill, n, _code(x), x.ptr, n, _code(x)))
    else:
        letter = _BLAS[str(x.dtype)]
        pointers = calls.pointers(x)
        calls.solver.call(f"cusolverDn{letter}potrfBatched", calls.handle, fill, n, pointers, n, calls.info_at(), count)
    calls.check("a matrix is not positive definite")
    return triangle(x.reshape(a.shape), upper)


def _orthogonal(vectors: GPUTensor, tau: GPUTensor, columns: int) -> GPUTensor:
    """Q (count, columns, m) by columns, of Householder vectors (count, n, m)."""
    count, n, m = vectors.shape
    k = tau.shape[1]
    q = creation.zeros((count, columns, m), vectors.dtype)
    q[:, : min(n, columns)] = vectors[:, : min(n, columns)]
    calls = _Calls("qr", count)
    name = f"cusolverDn{_BLAS[str(q.dtype)]}{'un' if np.dtype(q.dtype).kind == 'c' else 'or'}gqr"
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
    calls = _Calls("qr", count)
    for i in range(count):
        at, factors = x.ptr + i * x.nbytes // count, tau.ptr + i * tau.nbytes // count
        calls.x("Xgeqrf", (m, n, _code(x), at, m, _code(x), factors, _code(x)), i)
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


def _gesvd(a: GPUTensor, job: str) -> tuple[GPUTensor, GPUTensor, GPUTensor]:
    """(U, s, VT) by columns, each (count, ...), of the taller of the matrix and its transpose. job: A, S or N."""
    x = columns_of(a) if a.shape[-2] > a.shape[-1] else rows_of(a)
    count, columns, rows = x.shape
    s = creation.empty((count, columns), real_of(x.dtype))
    width = {"A": rows, "S": columns, "N": 1}[job]
    u = creation.empty((count, width, rows if job != "N" else 1), x.dtype)
    v = creation.empty((count, columns, columns) if job != "N" else (count, 1, 1), x.dtype)
    calls = _Calls("svd", count)
    code = _code(x)
    for i in range(count):
        at = [t.ptr + i * t.nbytes // count for t in (x, s, u, v)]
        calls.x(
            "Xgesvd",
            (ord(job), ord(job), rows, columns, code, at[0], rows, _code(s), at[1], code, at[2], rows,
             code, at[3], columns, code),
            i,
        )  # fmt: skip
    calls.check("the iteration did not converge")
    return u, s, v


def svd(a: GPUTensor, full: bool) -> tuple[GPUTensor, GPUTensor, GPUTensor]:
    if not a.size:
        return host.svd(a, full)
    u, s, v = _gesvd(a, "A" if full else "S")
    stack = a.shape[:-2]
    first, second = (t.reshape(*stack, *t.shape[1:]) for t in (u, v))
    values = s.reshape(*stack, s.shape[1])
    if a.shape[-2] > a.shape[-1]:
        return matrix_transpose(first), values, matrix_transpose(second)
    return second, values, first


def svdvals(a: GPUTensor) -> GPUTensor:
    if not a.size:
        return host.svdvals(a)
    s = _gesvd(a, "N")[1]
    return s.reshape(*a.shape[:-2], s.shape[1])


def _syevd(a: GPUTensor, uplo: str, job: int) -> tuple[GPUTensor, GPUTensor]:
    """Eigenvalues (count, n) and, by columns, eigenvectors of the transposes (count, n, n)."""
    x = rows_of(a)
    count, n = x.shape[:2]
    w = creation.empty((count, n), real_of(x.dtype))
    fill = _UPPER if uplo == "L" else _LOWER  # of the transpose
    calls = _Calls("eigh", count)
    if count > 1 and calls.solver.has("cusolverDnXsyevBatched"):
        calls.x("XsyevBatched", (job, fill, n, _code(x), x.ptr, n, _code(w), w.ptr, _code(x)), 0, (count,))
    else:
        for i in range(count):
            at, values = x.ptr + i * x.nbytes // count, w.ptr + i * w.nbytes // count
            calls.x("Xsyevd", (job, fill, n, _code(x), at, n, _code(w), values, _code(x)), i)
    calls.check("the iteration did not converge")
    return w, x


def eigh(a: GPUTensor, uplo: str) -> tuple[GPUTensor, GPUTensor]:
    if not a.size:
        return host.eigh(a, uplo)
    w, v = _syevd(a, uplo, _VECTORS)
    return w.reshape(a.shape[:-1]), conjugate(matrix_transpose(v.reshape(a.shape)))


def eigvalsh(a: GPUTensor, uplo: str) -> GPUTensor:
    return _syevd(a, uplo, _NO_VECTORS)[0].reshape(a.shape[:-1]) if a.size else host.eigvalsh(a, uplo)


def _geev(a: GPUTensor, job: int) -> tuple[GPUTensor, GPUTensor]:
    """Eigenvalues (count, n), of real matrices (count, 2 n): real parts, then imaginary ones; and eigenvectors."""
    x = columns_of(a)
    count, n = x.shape[:2]
    w = creation.empty((count, n if np.dtype(x.dtype).kind == "c" else 2 * n), x.dtype)
    v = creation.empty((count, n, n) if job else (count, 1, 1), x.dtype)
    calls = _Calls("eig", count)
    code = _code(x)
    for i in range(count):
        at = [t.ptr + i * t.nbytes // count for t in (x, w, v)]
        left = (code, 0, n)  # no left eigenvectors
        calls.x(
            "Xgeev",
            (_NO_VECTORS, job, n, code, at[0], n, code, at[1], *left, code, at[2], n, code),
            i,
        )
    calls.check("the iteration did not converge")
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
    n = a.shape[-1]
    vectors = matrix_transpose(v.reshape(a.shape)) if job else v
    if np.dtype(a.dtype).kind == "c":
        return w.reshape(a.shape[:-1]), vectors
    if not bool(elementwise.not_equal(w[:, n:], 0).copy().get().any()):
        return w[:, :n].copy().reshape(a.shape[:-1]), vectors
    both = w.get()
    values = (both[:, :n] + 1j * both[:, n:]).astype(np.result_type(both.dtype, np.complex64))
    if not job:
        return creation.array(values.reshape(a.shape[:-1])), v
    values, columns = _paired(values, matrix_transpose(v).copy().get())
    return creation.array(values.reshape(a.shape[:-1])), creation.array(columns.reshape(a.shape))


def _has_geev() -> bool:
    return cuda_libraries.library("cusolver").has("cusolverDnXgeev")


def eig(a: GPUTensor) -> tuple[GPUTensor, GPUTensor]:
    return _eigenvalues(a, _VECTORS) if a.size and _has_geev() else host.eig(a)


def eigvals(a: GPUTensor) -> GPUTensor:
    return _eigenvalues(a, _NO_VECTORS)[0] if a.size and _has_geev() else host.eigvals(a)
