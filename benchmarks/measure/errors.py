"""Errors of float32 products over all outputs, on numbers of three distributions, beside cuBLAS's DGEMM.

Of both precisions, and of cuBLAS's SGEMM without and with TF32.
"""

from __future__ import annotations

from collections.abc import Callable

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from peers.cublas import Cublas

Floats = npt.NDArray[np.float32]
ROWS = 512  # compared at a time

DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {
    "normal": lambda r, s: r.standard_normal(s, dtype=np.float32),
    "uniform": lambda r, s: r.random(s, dtype=np.float32),
    "exponential": lambda r, s: np.exp(r.standard_normal(s, dtype=np.float32)),
}


def off(got: Floats, exact: npt.NDArray[np.float64], scale: npt.NDArray[np.float64]) -> dict[str, float]:
    """The largest and the root mean square of |got - exact| / scale; NaN where anything is not a number."""
    largest, squares = 0.0, 0.0
    for i in range(0, got.shape[0], ROWS):
        error = np.abs(got[i : i + ROWS] - exact[i : i + ROWS]) / scale[i : i + ROWS]
        largest = float(np.maximum(largest, error.max()))  # NaN wins
        squares += float((error**2).sum())
    return {"max": largest, "rms": float(np.sqrt(squares / got.size))}


def whole_errors(peer: Cublas, stream: ng.Stream, m: int, n: int, k: int) -> dict[str, dict[str, dict[str, float]]]:
    """distribution -> who -> max and rms, of C[m,n] = A B as they lie."""
    out: dict[str, dict[str, dict[str, float]]] = {}
    for name, draw in DISTRIBUTIONS.items():
        r = np.random.default_rng(sum(name.encode()))
        a, b = draw(r, (m, k)), draw(r, (k, n))

        def double(x: Floats, y: Floats) -> npt.NDArray[np.float64]:
            da, db = ng.array(x.astype(np.float64)), ng.array(y.astype(np.float64))
            dc = ng.empty((m, n), dtype="float64")
            stream.synchronize()
            peer.gemm("float64", "nn", m, n, k, da.ptr, k, db.ptr, n, dc.ptr)
            stream.synchronize()
            return dc.get()

        exact, scale = double(a, b), double(np.abs(a), np.abs(b))
        da, db, dc = ng.array(a), ng.array(b), ng.empty((m, n))
        ng.synchronize()
        out[name] = {}
        for who, dtype in (("cuBLAS", "float32"), ("cuBLAS TF32", "tf32")):
            peer.gemm(dtype, "nn", m, n, k, da.ptr, k, db.ptr, n, dc.ptr)
            stream.synchronize()
            out[name][who] = off(dc.get(), exact, scale)
        for precision in ("tensor", "strict"):
            ng.dot(da, db, out=dc, precision=precision)
            out[name][precision] = off(dc.get(), exact, scale)
    return out


def no_worse(table: dict[str, dict[str, dict[str, float]]]) -> bool:
    """In every distribution, both the largest and the root mean square; false for NaN."""
    return all(
        who["tensor"][how] <= min(who["cuBLAS"][how], who["strict"][how])
        for who in table.values()
        for how in ("max", "rms")
    )
