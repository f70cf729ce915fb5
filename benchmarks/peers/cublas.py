"""cuBLAS as the peer: row-major GEMM of floats over raw device pointers, on the stream under test."""

from __future__ import annotations

import ctypes as C
import ctypes.util
import glob
import os
import sys

_N, _T = 0, 1
_DEFAULT, _TF32 = 0, 3  # cublasMath_t: true float32, or float32 cut to TF32
_KINDS = {"float16": 2, "bfloat16": 14}  # cudaDataType_t
_COMPUTE_32F, _DEFAULT_ALGORITHM = 68, -1


def find_libcublas() -> str | None:
    """Path or name of libcublas, looked for on the loader's path, in CUDA's folders and in PyTorch's wheels."""
    for name in ("libcublas.so.13", "libcublas.so.12", "libcublas.so"):
        try:
            C.CDLL(name)
            return name
        except OSError:
            continue
    folders = ["/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib"]
    folders += [os.path.join(p, "nvidia", "*", "lib") for p in sys.path if p.endswith("site-packages")]
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, "libcublas.so*")), reverse=True):
            return path
    return ctypes.util.find_library("cublas")


class Cublas:
    """One handle on one stream. Raises FileNotFoundError where there is no libcublas."""

    def __init__(self, stream: int) -> None:
        path = find_libcublas()
        if path is None:
            raise FileNotFoundError("libcublas.so not found: the benchmark needs cuBLAS to compare with")
        self.lib = C.CDLL(path)
        self.handle = C.c_void_p()
        self._call("cublasCreate_v2", C.byref(self.handle))
        self._call("cublasSetStream_v2", self.handle, C.c_void_p(stream))
        self._call("cublasSetMathMode", self.handle, _DEFAULT)
        version = C.c_int()
        self._call("cublasGetVersion_v2", self.handle, C.byref(version))
        self.version = version.value

    def _call(self, name: str, *args: object) -> None:
        status = getattr(self.lib, name)(*args)
        if status != 0:
            raise RuntimeError(f"{name}: cuBLAS status {status}")

    def gemm(self, dtype: str, layout: str, m: int, n: int, k: int, a: int, lda: int, b: int, ldb: int, c: int) -> None:
        """Row-major C[m,n] = op(A) op(B), contiguous rows of C; `layout` is two of n and t for A and B. 16-bit
        floats have float32 sums; float32 has no TF32, which is a dtype of its own here.

        cuBLAS is column-major, so it is asked for C^T = op(B)^T op(A)^T: operands swapped, letters kept.
        """
        op = {"n": _N, "t": _T}
        shape = (self.handle, op[layout[1]], op[layout[0]], n, m, k)
        one, zero = C.byref(C.c_float(1.0)), C.byref(C.c_float(0.0))
        if dtype in ("float32", "tf32"):
            self._call("cublasSetMathMode", self.handle, _TF32 if dtype == "tf32" else _DEFAULT)
            self._call("cublasSgemm_v2", *shape, one, C.c_void_p(b), ldb, C.c_void_p(a), lda, zero, C.c_void_p(c), n)
            return
        if dtype == "float64":
            one, zero = C.byref(C.c_double(1.0)), C.byref(C.c_double(0.0))
            self._call("cublasDgemm_v2", *shape, one, C.c_void_p(b), ldb, C.c_void_p(a), lda, zero, C.c_void_p(c), n)
            return
        kind = C.c_int(_KINDS[dtype])
        operands = (one, C.c_void_p(b), kind, ldb, C.c_void_p(a), kind, lda, zero, C.c_void_p(c), kind, n)
        self._call("cublasGemmEx", *shape, *operands, C.c_int(_COMPUTE_32F), C.c_int(_DEFAULT_ALGORITHM))
