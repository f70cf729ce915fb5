"""The factory class of the 2015 library, over the same device and tensors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nervanagpu import _core, linalg
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.arrays.creation import Shape
from nervanagpu.arrays.tensor_methods import facts_of
from nervanagpu.calls.arguments import check_tensors, dtype_name, integer
from nervanagpu.compat.factory_conv import ConvFactory
from nervanagpu.compat.factory_elementwise import ElementwiseFactory
from nervanagpu.compat.factory_pool import PoolFactory


class NervanaGPU(ElementwiseFactory, ConvFactory, PoolFactory):
    """Creates tensors (float16 unless told otherwise) and runs operations on them.

    stochastic_round: False: results are rounded to nearest. True, or a number of mantissa bits to keep: tensors made
    here get it as their `rounding`. At most 10 bits of float16, 15 of float32.
    seed: of these random numbers; every operation takes the next ones.
    bench: print the milliseconds and GFLOP/s of each operation; above 1 also of each function with `out`, which runs
    `bench` times then.
    default_dtype: of `empty`, `array`, `zeros` and `ones`.
    cubin_path, scratch_size: no effect; kernels are in the library, scratch memory comes from its pool.

    An operation with `repeat` above 1 runs a tenth as often first, prints its milliseconds and GFLOP/s, and returns
    them (dot and batched_dot: GFLOP/s alone).
    """

    def __init__(
        self,
        stochastic_round: bool | int = False,
        bench: bool | int = False,
        cubin_path: str | None = None,
        scratch_size: int | None = None,
        default_dtype: npt.DTypeLike = np.float16,
        seed: int = 0,
    ) -> None:
        bits = 10 if stochastic_round is True else integer("NervanaGPU", "stochastic_round", stochastic_round, 0, 15)
        super().__init__(
            integer("NervanaGPU", "bench", bench, 0), integer("NervanaGPU", "seed", seed, 0, (1 << 64) - 1)
        )
        self.stochastic_round = bits
        self.default_dtype = _core.dtype(dtype_name("NervanaGPU", default_dtype))

    def _dtype(self, dtype: npt.DTypeLike | None) -> npt.DTypeLike:
        return self.default_dtype if dtype is None else dtype

    def _made(self, tensor: GPUTensor) -> GPUTensor:
        tensor.rounding = self.stochastic_round
        facts_of(tensor).backend = self
        return tensor

    def empty(
        self, shape: Shape, dtype: npt.DTypeLike | None = None, name: str | None = None, allocator: object = None
    ) -> GPUTensor:
        """A tensor whose elements are undefined. Memory is the library's, whatever `allocator` is."""
        return self._made(creation.empty(shape, self._dtype(dtype), name))

    def array(
        self, ary: npt.ArrayLike, dtype: npt.DTypeLike | None = None, name: str | None = None, allocator: object = None
    ) -> GPUTensor:
        """A copy of `ary` on the device, converted to `dtype`, else to the default dtype; `allocator` as in `empty`."""
        return self._made(creation.array(ary, self._dtype(dtype), name))

    def zeros(
        self, shape: Shape, dtype: npt.DTypeLike | None = None, name: str | None = None, allocator: object = None
    ) -> GPUTensor:
        """A tensor of zeros. Memory is the library's, whatever `allocator` is."""
        return self._made(creation.zeros(shape, self._dtype(dtype), name))

    def ones(
        self, shape: Shape, dtype: npt.DTypeLike | None = None, name: str | None = None, allocator: object = None
    ) -> GPUTensor:
        """A tensor of ones. Memory is the library's, whatever `allocator` is."""
        return self._made(creation.ones(shape, self._dtype(dtype), name))

    def empty_like(self, other: GPUTensor, name: str | None = None) -> GPUTensor:
        """An undefined tensor of the shape and dtype of `other`."""
        return self._made(creation.empty_like(other, name=name))

    def zeros_like(self, other: GPUTensor, name: str | None = None) -> GPUTensor:
        """Zeros of the shape and dtype of `other`."""
        return self._made(creation.zeros_like(other, name=name))

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
    ) -> GPUTensor | float:
        """C = act(alpha * A @ B) + beta * C; returns C, or GFLOP/s with `repeat` above 1.

        A: (m, k), B: (k, n), C: (m, n), float32, float16 or bfloat16, or int8/uint8 with an int32 C. relu: act is
        max(x, 0). repeat: time so many runs; C is what the last one leaves. size: a tile, "128x128".
        """
        check_tensors("dot", A=A, B=B, C=C)
        for name, matrix in (("A", A), ("B", B), ("C", C)):
            if matrix.ndim != 2:
                raise ValueError(f"dot: {name} has shape {matrix.shape}; needs 2 axes")
        flops = 2.0 * A.shape[0] * A.shape[1] * B.shape[1]
        _, gflops = self._timed(
            f"dot {A.shape[0]}x{B.shape[1]}x{A.shape[1]}",
            flops,
            repeat,
            lambda: linalg.dot(
                A, B, C, alpha, beta, None, False, self.stream, size, relu_first=relu, **self._rounding(C)
            ),
        )
        return gflops if repeat > 1 else C

    def batched_dot(
        self,
        A: GPUTensor,
        B: GPUTensor,
        C: GPUTensor,
        alpha: float = 1.0,
        beta: float = 0.0,
        relu: bool = False,
        repeat: int = 1,
        size: str | None = None,
    ) -> GPUTensor | float:
        """C[i] = act(alpha * A[i] @ B[i]) + beta * C[i] of a batch; returns C, or GFLOP/s with `repeat` above 1.

        A: (batch, m, k), B: (batch, k, n), C: (batch, m, n), or C: (m, n) and the sum of all products. An A or B of two
        axes is the same for all. relu, repeat, size: as `dot` has them.
        """
        check_tensors("batched_dot", A=A, B=B, C=C)
        for name, matrices in (("A", A), ("B", B), ("C", C)):
            if matrices.ndim not in (2, 3):
                raise ValueError(f"batched_dot: {name} has shape {matrices.shape}; needs 2 or 3 axes")
        batch = max([t.shape[0] for t in (A, B) if t.ndim == 3], default=1)
        m, k, n = A.shape[-2], A.shape[-1], B.shape[-1]
        _, gflops = self._timed(
            f"batched_dot {batch}x{m}x{n}x{k}",
            2.0 * batch * m * n * k,
            repeat,
            lambda: linalg.batched_dot(
                A, B, C, alpha, beta, None, False, self.stream, size, relu_first=relu, **self._rounding(C)
            ),
        )
        return gflops if repeat > 1 else C
