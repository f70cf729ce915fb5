"""Linear algebra: products of matrices, and what numpy.linalg has, by its names (docs/linalg.md)."""

from types import ModuleType as _ModuleType

from nervanagpu.calls.submodules import submodule as _submodule
from nervanagpu.function_table import public
from nervanagpu.linalg.contractions import cross, matrix_power, multi_dot, outer, tensordot, vecdot
from nervanagpu.linalg.decompositions import (
    cholesky,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    slogdet,
    svd,
    svdvals,
)
from nervanagpu.linalg.norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from nervanagpu.linalg.operands import LinAlgError, matrix_transpose
from nervanagpu.linalg.products import batched_dot, dot, grouped_dot, matmul
from nervanagpu.linalg.solving import inv, lstsq, pinv, solve, tensorinv, tensorsolve
from nervanagpu.linalg.triangles import diagonal, trace

__all__ = [
    "LinAlgError",
    "batched_dot",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "dot",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "grouped_dot",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

public()(matrix_transpose)
for _name in __all__:
    if _name not in ("LinAlgError", "batched_dot", "dot", "grouped_dot", "matmul"):  # NumPy has these elsewhere
        public(space="linalg")(globals()[_name])
public(space="linalg", numpy=False)(matmul)


def __getattr__(name: str) -> _ModuleType:
    return _submodule(__name__, name)
