"""Decompositions by NumPy's LAPACK on the host: what the emulator has, and a GPU without cuSOLVER.

The elements are copied to the host and the results back. Every function takes tensors of one dtype of LAPACK's whose
shapes have been checked, and stacks of matrices. nervanagpu.linalg.cusolver has the same functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation

_SINGULAR = "a matrix is singular"
_INDEFINITE = "a matrix is not positive definite"
_DIVERGED = "the iteration did not converge"


def _called(function: str, meaning: str, *args: object, **more: object) -> Any:
    """NumPy's function, whose LinAlgErrors become ours."""
    try:
        return getattr(np.linalg, function)(*args, **more)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError(f"{function}: {meaning}") from None


def solve(a: GPUTensor, b: GPUTensor) -> GPUTensor:
    """x with a @ x = b; a (..., n, n), b (..., n, k)."""
    right = b.get().reshape((1,) * (a.ndim - b.ndim) + b.shape)  # NumPy before 2.0 takes fewer axes for vectors
    return creation.array(_called("solve", _SINGULAR, a.get(), right))


def inv(a: GPUTensor) -> GPUTensor:
    """The inverse of each matrix."""
    return creation.array(_called("inv", _SINGULAR, a.get()))


def det(a: GPUTensor) -> GPUTensor:
    """The determinant of each matrix."""
    return creation.array(np.asarray(np.linalg.det(a.get())))


def slogdet(a: GPUTensor) -> tuple[GPUTensor, GPUTensor]:
    """Sign (or phase) and logarithm of the absolute value of each determinant."""
    sign, logarithm = np.linalg.slogdet(a.get())
    return creation.array(np.asarray(sign)), creation.array(np.asarray(logarithm))


def cholesky(a: GPUTensor, upper: bool) -> GPUTensor:
    """The triangular factor of each matrix."""
    host = a.get()
    if upper:  # NumPy before 2.0 has no argument for it
        lower = _called("cholesky", _INDEFINITE, np.conj(np.swapaxes(host, -1, -2)))
        return creation.array(np.conj(np.swapaxes(lower, -1, -2)))
    return creation.array(_called("cholesky", _INDEFINITE, host))


def qr(a: GPUTensor, mode: Any) -> tuple[GPUTensor, ...]:
    """(q, r), (r,) or (h, tau) in the modes of numpy.linalg.qr."""
    result = np.linalg.qr(a.get(), mode)
    return tuple(creation.array(part) for part in ((result,) if mode == "r" else result))


def svd(a: GPUTensor, full: bool) -> tuple[GPUTensor, GPUTensor, GPUTensor]:
    """(u, s, vh) with a = u @ diag(s) @ vh; `full`: u and vh are square."""
    u, s, vh = _called("svd", _DIVERGED, a.get(), full)
    return creation.array(u), creation.array(s), creation.array(vh)


def svdvals(a: GPUTensor) -> GPUTensor:
    """Singular values, the largest first."""
    return creation.array(_called("svd", _DIVERGED, a.get(), compute_uv=False))


def eigh(a: GPUTensor, uplo: str) -> tuple[GPUTensor, GPUTensor]:
    """Eigenvalues, ascending, and eigenvectors (columns) of Hermitian matrices, of which one triangle is read."""
    w, v = _called("eigh", _DIVERGED, a.get(), uplo)
    return creation.array(w), creation.array(v)


def eigvalsh(a: GPUTensor, uplo: str) -> GPUTensor:
    """Eigenvalues of Hermitian matrices, ascending."""
    return creation.array(_called("eigvalsh", _DIVERGED, a.get(), uplo))


def eig(a: GPUTensor) -> tuple[GPUTensor, GPUTensor]:
    """Eigenvalues and eigenvectors (columns) of square matrices; complex if one of them is."""
    w, v = _called("eig", _DIVERGED, a.get())
    return creation.array(w), creation.array(v)


def eigvals(a: GPUTensor) -> GPUTensor:
    """Eigenvalues of square matrices; complex if one of them is."""
    return creation.array(_called("eigvals", _DIVERGED, a.get()))
