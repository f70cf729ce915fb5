"""Equations, inverses, determinants and Cholesky factors by cuSOLVER and cuBLAS (nervanagpu.linalg.cusolver).

A matrix by rows is factored as its transpose is, and the other triangle is named: no copy turns it.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.cuda_toolkit import cuda_libraries
from nervanagpu.linalg import host
from nervanagpu.linalg.calls import BLAS_LETTERS, LOWER, UPPER, Calls, Written, code_of, columns_of, rows_of
from nervanagpu.linalg.operands import matrix_transpose
from nervanagpu.linalg.triangles import eye, triangle

_TRANSPOSED = 1  # cublasOperation_t


def _broadcast(x: GPUTensor, shape: tuple[int, ...]) -> GPUTensor:
    if x.shape == shape:
        return x
    out = creation.empty(shape, x.dtype)
    out[...] = x
    return out


def _lu(calls: Calls, x: GPUTensor) -> GPUTensor:
    """LU factors of (count, n, n) in place; returns pivots, int64 of one matrix, int32 of more."""
    count, n = x.shape[:2]
    if count == 1:
        pivots = creation.empty((1, n), np.int64)
        calls.x("Xgetrf", (n, n, code_of(x), x.ptr, n, Written(pivots.ptr), code_of(x)))
        return pivots
    pivots = creation.empty((count, n), np.int32)
    blas, queue = _cublas()
    blas.call(
        f"cublas{BLAS_LETTERS[str(x.dtype)]}getrfBatched",
        queue,
        n,
        calls.pointers(x),
        n,
        pivots.ptr,
        calls.info_at(),
        count,
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
    calls = Calls(function, count)
    pivots = _lu(calls, x)
    calls.check("a matrix is singular")
    if count == 1:
        calls.solver.call(
            "cusolverDnXgetrs",
            calls.handle,
            calls.params,
            _TRANSPOSED,
            n,
            k,
            code_of(x),
            x.ptr,
            n,
            pivots.ptr,
            code_of(x),
            right.ptr,
            n,
            calls.info_at(),
        )
    else:
        blas, queue = _cublas()
        said = ctypes.c_int()
        blas.call(
            f"cublas{BLAS_LETTERS[str(x.dtype)]}getrsBatched",
            queue,
            _TRANSPOSED,
            n,
            k,
            calls.pointers(x),
            n,
            pivots.ptr,
            calls.pointers(right),
            n,
            ctypes.byref(said),
            count,
        )
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
    x = rows_of(a)
    right = creation.empty(x.shape, a.dtype)
    right[...] = eye(a.shape[-1], a.dtype)
    _solved("inv", x, right)
    return matrix_transpose(right.reshape(a.shape))


def _diagonal_and_sign(function: str, a: GPUTensor) -> tuple[Any, Any]:
    """On the host: the diagonal (..., n) of U, and the sign (...,) of the permutation."""
    x = rows_of(a)
    calls = Calls(function, x.shape[0])
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
    fill = LOWER if upper else UPPER  # of the transpose
    calls = Calls("cholesky", count)
    if count == 1:
        calls.x("Xpotrf", (fill, n, code_of(x), x.ptr, n, code_of(x)))
    else:
        letter = BLAS_LETTERS[str(x.dtype)]
        pointers = calls.pointers(x)
        calls.solver.call(f"cusolverDn{letter}potrfBatched", calls.handle, fill, n, pointers, n, calls.info_at(), count)
    calls.check("a matrix is not positive definite")
    return triangle(x.reshape(a.shape), upper)
