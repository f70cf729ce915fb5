"""Factors, eigenvalues and singular values of matrices and of stacks of matrices, as numpy.linalg's.

Operands are tensors or what numpy.asarray understands; integers and bool are computed in float64, and float16 and
bfloat16 are refused, as NumPy refuses float16. LinAlgError (NumPy's) for shapes that do not fit, singular matrices and
iterations that do not converge. docs/linalg.md says where they are computed.
"""

from __future__ import annotations

from typing import NamedTuple

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import choice, flag
from nervanagpu.linalg.backend import backend
from nervanagpu.linalg.operands import adjoint, check_matrices, inexact
from nervanagpu.linalg.triangles import by_size, signs, sizes
from nervanagpu.math.elementwise import Operand


class QRResult(NamedTuple):
    """a = Q @ R."""

    Q: GPUTensor
    R: GPUTensor


class SVDResult(NamedTuple):
    """a = U @ diag(S) @ Vh."""

    U: GPUTensor
    S: GPUTensor
    Vh: GPUTensor


class EighResult(NamedTuple):
    """Of Hermitian matrices; eigenvectors[..., :, i] belongs to eigenvalues[..., i]."""

    eigenvalues: GPUTensor
    eigenvectors: GPUTensor


class EigResult(NamedTuple):
    """Of square matrices; eigenvectors[..., :, i] belongs to eigenvalues[..., i]."""

    eigenvalues: GPUTensor
    eigenvectors: GPUTensor


class SlogdetResult(NamedTuple):
    """det = sign * exp(logabsdet)."""

    sign: GPUTensor
    logabsdet: GPUTensor


def _square(function: str, a: Operand) -> GPUTensor:
    (x,) = inexact(function, a=a)
    check_matrices(function, "a", x, square=True)
    return x


def _triangle(function: str, uplo: object) -> str:
    return choice(function, "UPLO", uplo.upper() if isinstance(uplo, str) else uplo, ("L", "U"))


def cholesky(a: Operand, /, *, upper: bool = False) -> GPUTensor:
    """L, lower triangular, with a = L @ L^H; with `upper` U, with a = U^H @ U. Only that triangle of a is read.

    LinAlgError if a matrix is not positive definite.
    """
    return backend().cholesky(_square("cholesky", a), flag("cholesky", "upper", upper))


def qr(a: Operand, mode: str = "reduced") -> QRResult | GPUTensor | tuple[GPUTensor, GPUTensor]:
    """(Q, R), a = Q @ R, with orthonormal columns in Q (m, k) and R (k, n) upper triangular, k = min(m, n).

    mode "complete": Q (m, m) and R (m, n); "r": only R; "raw": Householder vectors (n, m) and their factors (k,).
    """
    modes = ("reduced", "complete", "r", "raw")
    mode = choice("qr", "mode", mode, modes)
    (x,) = inexact("qr", a=a)
    check_matrices("qr", "a", x)
    parts = backend().qr(x, mode)
    if mode == "r":
        return parts[0]
    return (parts[0], parts[1]) if mode == "raw" else QRResult(*parts)


def decomposed(function: str, x: GPUTensor, full: bool, hermitian: bool) -> SVDResult:
    """The singular value decomposition of checked matrices; of Hermitian ones from eigenvalues, whose signs vh has."""
    if not flag(function, "hermitian", hermitian):
        return SVDResult(*backend().svd(x, full))
    check_matrices(function, "a", x, square=True)
    w, v = backend().eigh(x, "L")
    w, v = by_size(w, v)
    return SVDResult(v, abs(w), adjoint(v * signs(w)[..., None, :]))


def svd(
    a: Operand, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> SVDResult | GPUTensor:
    """(U, S, Vh), a = U @ diag(S) @ Vh, singular values in S (k,), the largest first, k = min(m, n).

    full_matrices: U (m, m) and Vh (n, n); otherwise U (m, k) and Vh (k, n). compute_uv=False: only S. hermitian: a is,
    and its eigenvalues are computed instead, from the lower triangle.
    """
    full = flag("svd", "full_matrices", full_matrices)
    (x,) = inexact("svd", a=a)
    check_matrices("svd", "a", x)
    if not flag("svd", "compute_uv", compute_uv):
        return singular_values("svd", x, hermitian)
    return decomposed("svd", x, full, hermitian)


def singular_values(function: str, x: GPUTensor, hermitian: bool) -> GPUTensor:
    """Those of checked matrices, the largest first."""
    if flag(function, "hermitian", hermitian):
        check_matrices(function, "a", x, square=True)
        return sizes(backend().eigvalsh(x, "L"))
    return backend().svdvals(x)


def svdvals(x: Operand, /) -> GPUTensor:
    """Singular values, the largest first."""
    (operand,) = inexact("svdvals", x=x)
    check_matrices("svdvals", "x", operand)
    return backend().svdvals(operand)


def eigh(a: Operand, UPLO: str = "L") -> EighResult:
    """Eigenvalues, real and ascending, and orthonormal eigenvectors (columns) of symmetric or Hermitian matrices.

    UPLO: the triangle that is read, "L" or "U"; the other is what it must be.
    """
    return EighResult(*backend().eigh(_square("eigh", a), _triangle("eigh", UPLO)))


def eigvalsh(a: Operand, UPLO: str = "L") -> GPUTensor:
    """Eigenvalues, real and ascending, of symmetric or Hermitian matrices, of which one triangle is read."""
    return backend().eigvalsh(_square("eigvalsh", a), _triangle("eigvalsh", UPLO))


def eig(a: Operand) -> EigResult:
    """Eigenvalues, in no order, and eigenvectors (columns of length 1) of square matrices.

    Of real matrices they are complex only if one eigenvalue is, as NumPy's.
    """
    return EigResult(*backend().eig(_square("eig", a)))


def eigvals(a: Operand) -> GPUTensor:
    """Eigenvalues of square matrices, in no order; of real ones complex only if one is."""
    return backend().eigvals(_square("eigvals", a))


def det(a: Operand) -> GPUTensor:
    """Determinants: (...,) of (..., n, n)."""
    return _core.number(backend().det(_square("det", a)))


def slogdet(a: Operand) -> SlogdetResult:
    """Sign (complex: phase) and logarithm of the absolute value of determinants; 0 and -inf of singular matrices."""
    return SlogdetResult(*map(_core.number, backend().slogdet(_square("slogdet", a))))


__all__ = [
    "EigResult",
    "EighResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "decomposed",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "qr",
    "singular_values",
    "slogdet",
    "svd",
    "svdvals",
]
