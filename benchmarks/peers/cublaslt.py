"""cublasLt as the peer: row-major products by each of the algorithms that its heuristics propose."""

from __future__ import annotations

import ctypes as C
from dataclasses import dataclass, field

from peers.cublas import find_libcublas

_TRANSA, _TRANSB = 3, 4  # cublasLtMatmulDescAttributes_t
_MAX_WORKSPACE = 1  # cublasLtMatmulPreferenceAttributes_t
# dtype of A and B -> (their type, the result's, the sums', the scalars'): cudaDataType_t and cublasComputeType_t
_TYPES = {"float32": (0, 0, 68, 0), "float16": (2, 2, 68, 0), "bfloat16": (14, 14, 68, 0), "int8": (3, 10, 72, 10)}


class _Proposal(C.Structure):
    """cublasLtMatmulHeuristicResult_t"""

    _fields_ = (
        ("algorithm", C.c_uint64 * 8),
        ("workspace", C.c_size_t),
        ("state", C.c_int),
        ("waves", C.c_float),
        ("reserved", C.c_int * 4),
    )


@dataclass
class Plan:
    """One product and one way to compute it."""

    number: int  # among the proposals, the most promising first
    operation: C.c_void_p
    layouts: list[C.c_void_p]  # as cublasLt sees them: B, A, C
    proposal: _Proposal
    scalars: tuple[object, object] = field(default=(None, None))


class CublasLt:
    """One handle. `workspace`: device memory of `workspace_bytes` that it may use."""

    def __init__(self, stream: int, workspace: int, workspace_bytes: int) -> None:
        path = find_libcublas()
        if path is None:
            raise FileNotFoundError("libcublas.so not found: the benchmark needs cuBLAS to compare with")
        self.lib = C.CDLL(path.replace("libcublas.so", "libcublasLt.so"))
        self.stream, self.workspace, self.workspace_bytes = stream, workspace, workspace_bytes
        self.handle = C.c_void_p()
        self._call("cublasLtCreate", C.byref(self.handle))

    def _call(self, name: str, *args: object) -> None:
        status = getattr(self.lib, name)(*args)
        if status != 0:
            raise RuntimeError(f"{name}: cuBLAS status {status}")

    def _layout(self, dtype: int, rows: int, columns: int, ld: int) -> C.c_void_p:
        out = C.c_void_p()
        self._call(
            "cublasLtMatrixLayoutCreate", C.byref(out), dtype, C.c_uint64(rows), C.c_uint64(columns), C.c_int64(ld)
        )
        return out

    def plans(self, dtype: str, layout: str, m: int, n: int, k: int, most: int = 8) -> list[Plan]:
        """Up to `most` ways to compute C[m,n] = op(A) op(B), contiguous rows; empty where there is none.

        cublasLt is column-major here, so it is asked for C^T = op(B)^T op(A)^T: operands swapped, letters kept.
        """
        kind, result, sums, scale = _TYPES[dtype]
        operation = C.c_void_p()
        self._call("cublasLtMatmulDescCreate", C.byref(operation), sums, scale)
        for attribute, letter in ((_TRANSA, layout[1]), (_TRANSB, layout[0])):
            value = C.c_int32(int(letter == "t"))
            self._call("cublasLtMatmulDescSetAttribute", operation, attribute, C.byref(value), C.c_size_t(4))
        first = self._layout(kind, *((n, k, n) if layout[1] == "n" else (k, n, k)))
        second = self._layout(kind, *((k, m, k) if layout[0] == "n" else (m, k, m)))
        out = self._layout(result, n, m, n)
        preference = C.c_void_p()
        self._call("cublasLtMatmulPreferenceCreate", C.byref(preference))
        room = C.c_uint64(self.workspace_bytes)
        self._call("cublasLtMatmulPreferenceSetAttribute", preference, _MAX_WORKSPACE, C.byref(room), C.c_size_t(8))
        proposals = (_Proposal * most)()
        found = C.c_int()
        status = self.lib.cublasLtMatmulAlgoGetHeuristic(
            self.handle, operation, first, second, out, out, preference, most, proposals, C.byref(found)
        )
        self._call("cublasLtMatmulPreferenceDestroy", preference)
        if status != 0:
            return []
        number = C.c_int32 if scale == 10 else C.c_float
        scalars = (number(1), number(0))
        usable = [(i, p) for i, p in enumerate(proposals[: found.value]) if p.state == 0]
        return [Plan(i, operation, [first, second, out], p, scalars) for i, p in usable]

    def run(self, plan: Plan, a: int, b: int, c: int) -> None:
        """Queue one product of device addresses."""
        first, second, out = plan.layouts
        alpha, beta = plan.scalars
        self._call(
            "cublasLtMatmul",
            self.handle,
            plan.operation,
            C.byref(alpha),  # type: ignore[arg-type]
            C.c_void_p(b),
            first,
            C.c_void_p(a),
            second,
            C.byref(beta),  # type: ignore[arg-type]
            C.c_void_p(c),
            out,
            C.c_void_p(c),
            out,
            C.byref(plan.proposal.algorithm),
            C.c_void_p(self.workspace),
            C.c_size_t(self.workspace_bytes),
            C.c_void_p(self.stream),
        )
