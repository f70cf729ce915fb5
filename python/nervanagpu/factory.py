"""The factory class of the 2015 library, over the same device and tensors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nervanagpu import creation, linalg
from nervanagpu._core import GPUTensor, Stream
from nervanagpu.creation import Shape


class NervanaGPU:
    """Creates tensors (float16 unless told otherwise) and runs operations on them.

    stochastic_round: False; rounding at random is not supported yet.
    bench: print the milliseconds and GFLOP/s of each operation.
    default_dtype: of `empty`, `array`, `zeros` and `ones`.
    """

    def __init__(
        self,
        stochastic_round: bool = False,
        bench: bool = False,
        default_dtype: npt.DTypeLike = np.float16,
    ) -> None:
        if stochastic_round:
            raise ValueError(f"stochastic_round is {stochastic_round!r}; needs False (not supported yet)")
        self.stochastic_round = False
        self.bench = bool(bench)
        self.default_dtype = np.dtype(default_dtype)
        self.stream: Stream | None = None

    def _dtype(self, dtype: npt.DTypeLike | None) -> npt.DTypeLike:
        return self.default_dtype if dtype is None else dtype

    def empty(self, shape: Shape, dtype: npt.DTypeLike | None = None, name: str | None = None) -> GPUTensor:
        """A tensor whose elements are undefined."""
        return creation.empty(shape, self._dtype(dtype), name)

    def array(self, ary: npt.ArrayLike, dtype: npt.DTypeLike | None = None, name: str | None = None) -> GPUTensor:
        """A copy of `ary` on the device, converted to `dtype`, else to the default dtype."""
        return creation.array(ary, self._dtype(dtype), name)

    def zeros(self, shape: Shape, dtype: npt.DTypeLike | None = None, name: str | None = None) -> GPUTensor:
        """A tensor of zeros."""
        return creation.zeros(shape, self._dtype(dtype), name)

    def ones(self, shape: Shape, dtype: npt.DTypeLike | None = None, name: str | None = None) -> GPUTensor:
        """A tensor of ones."""
        return creation.ones(shape, self._dtype(dtype), name)

    def empty_like(self, other: GPUTensor, name: str | None = None) -> GPUTensor:
        """An undefined tensor of the shape and dtype of `other`."""
        return creation.empty_like(other, name)

    def zeros_like(self, other: GPUTensor, name: str | None = None) -> GPUTensor:
        """Zeros of the shape and dtype of `other`."""
        return creation.zeros_like(other, name)

    def dot(
        self,
        A: GPUTensor,
        B: GPUTensor,
        C: GPUTensor,
        alpha: float = 1.0,
        beta: float = 0.0,
        relu: bool = False,
        repeat: int = 1,
        size: str | None = None,
    ) -> GPUTensor:
        """C = act(alpha * A @ B + beta * C); returns C.

        A: (m, k), B: (k, n), C: (m, n), float32. relu: act is max(x, 0); it comes after beta * C is added (in the 2015
        library before). repeat: run it so often; C is then what the last run leaves. size: a tile, "128x128".
        """
        if repeat < 1:
            raise ValueError(f"dot: repeat is {repeat}; needs 1 or more")
        from nervanagpu import Event  # not at import: an event needs the device

        start, end = (Event(), Event()) if self.bench else (None, None)
        if start is not None:
            start.record(self.stream)
        for _ in range(repeat):
            linalg.dot(A, B, C, alpha, beta, None, relu, self.stream, size)
        if start is not None and end is not None:
            end.record(self.stream)
            ms = end.ms_since(start) / repeat
            m, k = A.shape
            n = B.shape[1]
            print(f"dot {m}x{n}x{k}: {ms:.4f} ms, {2e-6 * m * n * k / max(ms, 1e-9):.1f} GFLOP/s")
        return C
