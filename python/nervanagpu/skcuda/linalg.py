"""skcuda.linalg: products, factors and solutions, as scikit-cuda names them. What is called in place here is, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import linalg as ours
from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import choice, integer, tensor
from nervanagpu.linalg import triangles
from nervanagpu.linalg.decompositions import decomposed
from nervanagpu.linalg.operands import adjoint, check_matrices, conjugate, inexact
from nervanagpu.linalg.products import product
from nervanagpu.math import elementwise, reductions
from nervanagpu.skcuda import arrays
from nervanagpu.skcuda.misc import add_matvec, div_matvec, init, mult_matvec, shutdown


def _turned(function: str, name: str, x: GPUTensor, trans: object) -> GPUTensor:
    """x, x.T or its adjoint, by "N", "T" or "C"."""
    how = choice(function, name, trans.upper() if isinstance(trans, str) else trans, ("N", "T", "C"))
    if how == "N":
        return x
    return x.T if how == "T" else adjoint(x)


def _into(x: GPUTensor, result: GPUTensor, overwrite: bool) -> GPUTensor:
    if not overwrite:
        return result
    x[...] = result
    return x


Number = np.number[Any] | npt.NDArray[Any]  # an array for each matrix of several


def _number(x: GPUTensor) -> Number:
    """The one element, on the host."""
    return x.get()[()]


def dot(
    x_gpu: GPUTensor,
    y_gpu: GPUTensor,
    transa: str = "N",
    transb: str = "N",
    handle: object = None,
    out: GPUTensor | None = None,
) -> GPUTensor | Number:
    """The product of matrices, of which either may be transposed; of two vectors a number."""
    x, y = tensor("dot", "x_gpu", x_gpu), tensor("dot", "y_gpu", y_gpu)
    if x.ndim == y.ndim == 1:
        return _number(reductions.sum(elementwise.multiply(x, y)))
    row, column = x.ndim == 1, y.ndim == 1
    left = x[None, :] if row else _turned("dot", "transa", x, transa)
    right = y[:, None] if column else _turned("dot", "transb", y, transb)
    result = product(left, right)
    result = result[0] if row else result[:, 0] if column else result
    if out is None:
        return result
    out[...] = result
    return out


def add_dot(
    a_gpu: GPUTensor,
    b_gpu: GPUTensor,
    c_gpu: GPUTensor,
    transa: str = "N",
    transb: str = "N",
    alpha: float = 1.0,
    beta: float = 1.0,
    handle: object = None,
) -> GPUTensor:
    """c = alpha * a @ b + beta * c, in place; returns c."""
    left, right = _turned("add_dot", "transa", a_gpu, transa), _turned("add_dot", "transb", b_gpu, transb)
    result = product(left, right) * alpha
    c_gpu[...] = result if beta == 0 else result + c_gpu * beta
    return c_gpu


def mdot(*args: GPUTensor, **more: object) -> GPUTensor:
    """The product of several matrices."""
    return ours.multi_dot(args)


def transpose(a_gpu: GPUTensor, handle: object = None) -> GPUTensor:
    """A transposed copy of a matrix."""
    return ours.matrix_transpose(a_gpu).copy()


def hermitian(a_gpu: GPUTensor, handle: object = None) -> GPUTensor:
    """A transposed and conjugated copy of a matrix."""
    return adjoint(tensor("hermitian", "a_gpu", a_gpu)).copy()


def conj(x_gpu: GPUTensor, overwrite: bool = False) -> GPUTensor:
    """The complex conjugate."""
    return _into(x_gpu, conjugate(tensor("conj", "x_gpu", x_gpu)).copy(), overwrite)


def diag(v_gpu: GPUTensor) -> GPUTensor:
    """The matrix with this diagonal, or the diagonal of a matrix."""
    v = tensor("diag", "v_gpu", v_gpu)
    if v.ndim == 2:
        return ours.diagonal(v).copy()
    if v.ndim != 1:
        raise ValueError(f"diag: v_gpu has shape {v.shape}; needs a vector or a matrix")
    return elementwise.multiply(v, triangles.eye(v.shape[0], v.dtype))


def eye(N: int, dtype: npt.DTypeLike = np.float32) -> GPUTensor:
    """The identity (N, N)."""
    return triangles.eye(integer("eye", "N", N, 0), dtype)


def multiply(x_gpu: GPUTensor, y_gpu: GPUTensor, overwrite: bool = False) -> GPUTensor:
    """x * y, elementwise; with `overwrite` into y."""
    return _into(y_gpu, elementwise.multiply(x_gpu, y_gpu), overwrite)


def dot_diag(
    d_gpu: GPUTensor, a_gpu: GPUTensor, trans: str = "N", overwrite: bool = False, handle: object = None
) -> GPUTensor:
    """diag(d) @ a, or with trans "T" (a.T @ diag(d)).T, which is the same."""
    _turned("dot_diag", "trans", a_gpu, trans)
    return _into(a_gpu, elementwise.multiply(d_gpu[:, None], a_gpu), overwrite)


def add_diag(d_gpu: GPUTensor, a_gpu: GPUTensor, overwrite: bool = False, handle: object = None) -> GPUTensor:
    """a with d added to its diagonal."""
    out = a_gpu if overwrite else a_gpu.copy()
    ours.diagonal(out)[...] = ours.diagonal(out) + d_gpu
    return out


def scale(alpha: float, x_gpu: GPUTensor, alpha_real: bool = False, handle: object = None) -> None:
    """x *= alpha"""
    x_gpu[...] = elementwise.multiply(x_gpu, alpha)


def inv(a_gpu: GPUTensor, overwrite: bool = False, ipiv_gpu: object = None, lib: str = "cusolver") -> GPUTensor:
    """The inverse of a square matrix. LinAlgError if it is singular."""
    return _into(a_gpu, ours.inv(a_gpu), overwrite)


def pinv(a_gpu: GPUTensor, rcond: float = 1e-15, lib: str = "cusolver") -> GPUTensor:
    """The Moore-Penrose inverse."""
    return ours.pinv(a_gpu, rcond)


def svd(
    a_gpu: GPUTensor, jobu: str = "A", jobvt: str = "A", lib: str = "cusolver"
) -> GPUTensor | tuple[GPUTensor, GPUTensor, GPUTensor]:
    """(u, s, vh); "A": square u and vh, "S": reduced ones, one "N": only s."""
    jobs = [choice("svd", n, j, ("A", "S", "N")) for n, j in (("jobu", jobu), ("jobvt", jobvt))]
    if "N" in jobs:
        return ours.svdvals(a_gpu)
    (a,) = inexact("svd", a_gpu=a_gpu)
    check_matrices("svd", "a_gpu", a)
    u, s, vh = decomposed("svd", a, "A" in jobs, hermitian=False)
    k = s.shape[-1]
    return (u[:, :k] if jobs[0] == "S" else u), s, (vh[:k] if jobs[1] == "S" else vh)


def qr(
    a_gpu: GPUTensor, mode: str = "reduced", handle: object = None, lib: str = "cusolver"
) -> GPUTensor | tuple[GPUTensor, ...]:
    """(q, r), or with mode "economic" or "r" what numpy.linalg.qr gives."""
    return ours.qr(a_gpu, "reduced" if mode == "economic" else mode)


def eig(
    a_gpu: GPUTensor, jobvl: str = "N", jobvr: str = "V", imag: str = "F", lib: str = "cusolver"
) -> GPUTensor | tuple[GPUTensor, GPUTensor]:
    """(eigenvectors, eigenvalues); with jobvr "N" only the eigenvalues. Left eigenvectors: those of the adjoint."""
    left = choice("eig", "jobvl", jobvl, ("N", "V")) == "V"
    if choice("eig", "jobvr", jobvr, ("N", "V")) == "N" and not left:
        return ours.eigvals(a_gpu)
    if left:
        raise ValueError("eig: jobvl is 'V'; needs 'N' (ng.linalg.eig of the adjoint has left eigenvectors)")
    w, v = ours.eig(a_gpu)
    return v, w


def _triangle(function: str, uplo: object) -> bool:
    """Whether it is the upper one."""
    return choice(function, "uplo", uplo.upper() if isinstance(uplo, str) else uplo, ("L", "U")) == "U"


def cho_factor(A: GPUTensor, uplo: str = "L", lib: str = "cusolver") -> None:
    """A becomes its Cholesky factor in that triangle; the other stays."""
    upper = _triangle("cho_factor", uplo)
    factor = ours.cholesky(A, upper=upper)
    A[...] = factor + (A - triangles.triangle(A, upper))


def cholesky(A: GPUTensor, uplo: str = "L", lib: str = "cusolver") -> None:
    """A becomes its Cholesky factor, 0 in the other triangle."""
    A[...] = ours.cholesky(A, upper=_triangle("cholesky", uplo))


def cho_solve(A: GPUTensor, b: GPUTensor, uplo: str = "L", lib: str = "cusolver") -> None:
    """b becomes the solution of A x = b, and A, positive definite, its Cholesky factor."""
    upper = _triangle("cho_solve", uplo)
    half = triangles.triangle(A, upper)
    whole = half + adjoint(half) - elementwise.multiply(half, triangles.eye(A.shape[0], A.dtype))
    cho_factor(A, uplo)
    b[...] = ours.solve(whole, b)


def det(a_gpu: GPUTensor, overwrite: bool = False, handle: object = None, lib: str = "cusolver") -> Number:
    """The determinant, a number."""
    return _number(ours.det(a_gpu))


def trace(x_gpu: GPUTensor, handle: object = None) -> Number:
    """The sum of the diagonal, a number."""
    return _number(ours.trace(x_gpu))


def norm(x_gpu: GPUTensor, handle: object = None) -> Number:
    """The root of the sum of squares of all elements, a number."""
    return _number(ours.norm(x_gpu))


def tril(a_gpu: GPUTensor, overwrite: bool = False, handle: object = None) -> GPUTensor:
    """The lower triangle of a square matrix, 0 above."""
    return _into(a_gpu, triangles.triangle(a_gpu, upper=False), overwrite)


def triu(a_gpu: GPUTensor, k: int = 0, overwrite: bool = False, handle: object = None) -> GPUTensor:
    """The upper triangle from diagonal k on, 0 below."""
    return _into(a_gpu, triangles.triangle(a_gpu, upper=True, offset=integer("triu", "k", k)), overwrite)


def vander(a_gpu: GPUTensor, n: int | None = None, ascending: bool = True, handle: object = None) -> GPUTensor:
    """(m, n): powers 0, 1, ..., n - 1 of a vector in columns, or descending ones."""
    a = tensor("vander", "a_gpu", a_gpu)
    count = a.shape[0] if n is None else integer("vander", "n", n, 0)
    powers = triangles.counted(count) if ascending else triangles.counted(count)[::-1]
    return elementwise.power(a[:, None], powers.astype(a.dtype))


__all__ = [
    "add_diag",
    "add_dot",
    "add_matvec",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "conj",
    "det",
    "diag",
    "div_matvec",
    "dot",
    "dot_diag",
    "eig",
    "eye",
    "hermitian",
    "init",
    "inv",
    "mdot",
    "mult_matvec",
    "multiply",
    "norm",
    "pinv",
    "qr",
    "scale",
    "shutdown",
    "svd",
    "trace",
    "transpose",
    "tril",
    "triu",
    "vander",
]


arrays.give(globals())
