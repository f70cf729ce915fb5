"""The factory class of the 2015 library, over the same device and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import creation, linalg
from nervanagpu._core import GPUTensor, Stream
from nervanagpu.creation import Shape


class NervanaGPU:
    """Creates tensors (float16 unless told otherwise) and runs operations on them.

    stochastic_round: False: results are rounded to nearest. True, or a number of mantissa bits to keep (at most 10 of
    float16, 15 of float32): tensors made here get it as their `rounding`, and are rounded into at random.
    seed: of these random numbers; every operation takes the next ones.
    bench: print the milliseconds and GFLOP/s of each operation.
    default_dtype: of `empty`, `array`, `zeros` and `ones`.
    """

    def __init__(
        self,
        stochastic_round: bool | int = False,
        bench: bool = False,
        default_dtype: npt.DTypeLike = np.float16,
        seed: int = 0,
    ) -> None:
        bits = 10 if stochastic_round is True else int(stochastic_round)
        if not 0 <= bits <= 15:
            raise ValueError(f"stochastic_round is {stochastic_round!r}; needs False, True or 1 to 15 mantissa bits")
        self.stochastic_round = bits
        self.seed = seed
        self._random_offset = 0
        self.bench = bool(bench)
        self.default_dtype = np.dtype(default_dtype)
        self.stream: Stream | None = None

    def _dtype(self, dtype: npt.DTypeLike | None) -> npt.DTypeLike:
        return self.default_dtype if dtype is None else dtype

    def _made(self, tensor: GPUTensor) -> GPUTensor:
        tensor.rounding = self.stochastic_round
        return tensor

    def _rounding(self, out: GPUTensor) -> dict[str, Any]:
        """How a result is rounded into `out`: keyword arguments of the operations; takes the random numbers for it."""
        if not out.rounding or out.dtype.kind != "f":
            return {}
        bits = min(out.rounding, 10 if out.dtype == np.float16 else 15)
        offset = self._random_offset
        self._random_offset += (out.size + 3) // 4
        return {"rounding": "stochastic", "seed": self.seed, "offset": offset, "bits": bits}

    def empty(self, shape: Shape, dtype: npt.DTypeLike | None = None, name: str | None = None) -> GPUTensor:
        """A tensor whose elements are undefined."""
        return self._made(creation.empty(shape, self._dtype(dtype), name))

    def array(self, ary: npt.ArrayLike, dtype: npt.DTypeLike | None = None, name: str | None = None) -> GPUTensor:
        """A copy of `ary` on the device, converted to `dtype`, else to the default dtype."""
        return self._made(creation.array(ary, self._dtype(dtype), name))

    def zeros(self, shape: Shape, dtype: npt.DTypeLike | None = None, name: str | None = None) -> GPUTensor:
        """A tensor of zeros."""
        return self._made(creation.zeros(shape, self._dtype(dtype), name))

    def ones(self, shape: Shape, dtype: npt.DTypeLike | None = None, name: str | None = None) -> GPUTensor:
        """A tensor of ones."""
        return self._made(creation.ones(shape, self._dtype(dtype), name))

    def empty_like(self, other: GPUTensor, name: str | None = None) -> GPUTensor:
        """An undefined tensor of the shape and dtype of `other`."""
        return self._made(creation.empty_like(other, name))

    def zeros_like(self, other: GPUTensor, name: str | None = None) -> GPUTensor:
        """Zeros of the shape and dtype of `other`."""
        return self._made(creation.zeros_like(other, name))

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
        """C = act(alpha * A @ B) + beta * C; returns C.

        A: (m, k), B: (k, n), C: (m, n), float32 or float16, or int8/uint8 with an int32 C. relu: act is max(x, 0).
        repeat: run it so often; C is then what the last run leaves. size: a tile, "128x128".
        """
        if repeat < 1:
            raise ValueError(f"dot: repeat is {repeat}; needs 1 or more")
        from nervanagpu import Event  # not at import: an event needs the device

        start, end = (Event(), Event()) if self.bench else (None, None)
        if start is not None:
            start.record(self.stream)
        for _ in range(repeat):
            linalg.dot(A, B, C, alpha, beta, None, False, self.stream, size, relu_first=relu, **self._rounding(C))
        if start is not None and end is not None:
            end.record(self.stream)
            ms = end.ms_since(start) / repeat
            m, k = A.shape
            n = B.shape[1]
            print(f"dot {m}x{n}x{k}: {ms:.4f} ms, {2e-6 * m * n * k / max(ms, 1e-9):.1f} GFLOP/s")
        return C
