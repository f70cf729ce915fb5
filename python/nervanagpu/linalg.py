"""Products of matrices."""

from __future__ import annotations

from nervanagpu import _core
from nervanagpu._core import GPUTensor, Stream


def _check_tensor(name: str, value: object) -> None:
    if not isinstance(value, GPUTensor):
        raise TypeError(f"dot: {name} is {type(value).__name__}; needs GPUTensor (nervanagpu.array makes one)")


def dot(
    a: GPUTensor,
    b: GPUTensor,
    out: GPUTensor | None = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    bias: GPUTensor | None = None,
    relu: bool = False,
    stream: Stream | None = None,
    tile: str | None = None,
    *,
    relu_first: bool = False,
    rounding: str = "nearest",
    seed: int = 0,
    offset: int = 0,
    bits: int = 0,
    splits: int = 0,
    tensor_cores: bool = True,
) -> GPUTensor:
    """out = act(alpha * a @ b + beta * out + bias); returns `out`, or a new tensor.

    a: (m, k), b: (k, n), out: (m, n), any views; a transposed one costs nothing. All float32; or a and b float16
    or bfloat16, both the same (with float32 sums), and `out` of that dtype or float32; or a and b int8 or uint8 with an
    int32 `out` (alpha and beta are then integers).
    bias: (n,) or (1, n), one for each column, or (m, 1), one for each row; float32, or of the dtype of `out`.
    relu: act is max(x, 0) if true, x otherwise. With beta = 0, `out` is not read.
    relu_first: out = max(alpha * a @ b, 0) + beta * out + bias instead.
    rounding: "nearest" or "stochastic": up or down at random, by `seed` and the counter `offset`, to `bits` mantissa
    bits (float16: 1 to 10, bfloat16: 1 to 7, float32: 1 to 15; 0: the most). The same bits on every device.
    splits: parts of k that are summed apart and then added in order; 0: as many as this m, n and k call for (a function
    of them alone). With 1, a row of the result does not depend on the other rows, nor on how many there are.
    tensor_cores: 16-bit floats in rows that begin at multiples of 16 bytes are multiplied by the tensor cores of
    sm_90a, 16 products at a time (docs/numerics.md), and others after a copy if that pays and splits is not 1. False
    has chains of multiply-adds everywhere. int8 and uint8: the same bits either way.
    stream: where the work is queued. tile: only kernels of that tile, for example "128x128".

    ValueError: shapes that do not fit, `out` sharing memory with another argument. TypeError: dtypes that do not fit.
    The bits of the result depend on the arguments alone, not on the device, the tile or (but for `tensor_cores`) the
    strides.
    """
    _check_tensor("a", a)
    _check_tensor("b", b)
    if out is not None:
        _check_tensor("out", out)
    if bias is not None:
        _check_tensor("bias", bias)
    rest = (relu, relu_first, rounding, seed, offset, bits, stream, tile or "", splits, tensor_cores)
    result = _core.dot(a, b, out, alpha, beta, bias, *rest)
    return result if out is None else out
