"""Products of matrices."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor, Pieces, Stream
from nervanagpu.arrays import array_checks, creation, dtypes
from nervanagpu.calls.arguments import dtype_name, is_array_like, is_operand, iterable, number, tensor
from nervanagpu.calls.options import Rounding, check_clip, differ, keywords
from nervanagpu.calls.precision_setting import at
from nervanagpu.function_table import public
from nervanagpu.linalg import core_axes
from nervanagpu.math import ufunc_keywords

if TYPE_CHECKING:
    from typing_extensions import Unpack

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def _check_tensor(name: str, value: object) -> None:
    tensor("dot", name, value)


def check_factors(name: str, dtype: object, **factors: float) -> None:
    """alpha and beta of 64-bit operands are what the kernels make of them: float32 numbers."""
    if str(dtype) not in ("float64", "int64"):
        return
    for which, value in factors.items():
        if float(np.float32(number(name, which, value))) != value:
            raise ValueError(f"{name}: {which} is {value}; needs a number that float32 holds for {dtype} operands")


def check_pieces(name: str, a: object, b: object) -> None:
    """One operand at most is made of pieces."""
    if isinstance(a, Pieces) and isinstance(b, Pieces):
        raise TypeError(f"{name}: a and b are Pieces; needs a GPUTensor for one of them")


def _is_plain(alpha: float, beta: float, bias: object, relu: bool) -> bool:
    return alpha == 1 and beta == 0 and bias is None and not relu


def _are_factors(*values: object) -> bool:
    return all(isinstance(x, GPUTensor | Pieces) for x in values)


def _operand(name: str, value: object) -> GPUTensor:
    """Numbers and what NumPy makes arrays of as tensors."""
    if isinstance(value, GPUTensor):
        return value
    if not isinstance(value, int | float | complex) and not is_array_like(value):
        _check_tensor(name, value)
    return creation.array(value)


_BYTES = ("int8", "uint8")
_MULTIPLIED = ("float64", "float32", "float16", "bfloat16", "int64", "int32")


def _multiplies(first: object, second: object) -> bool:
    """Whether there are kernels for products of these dtypes."""
    a, b = str(first), str(second)
    return (a == b and a in _MULTIPLIED) or (a in _BYTES and b in _BYTES)


def _are_matrices(a: GPUTensor, b: GPUTensor) -> bool:
    """That kernels multiply."""
    return a.ndim == 2 and b.ndim == 2 and _multiplies(a.dtype, b.dtype)


def _sums_of(dtype: T) -> T | type[np.int32]:
    return np.int32 if str(dtype) in _BYTES else dtype


def _by_bytes(a: GPUTensor, b: GPUTensor, dtype: Any) -> GPUTensor | None:
    """The product of bytes or bools by the kernels that sum bytes in int32. Its low bits are the product of a narrower
    integer dtype; a sum of ands is not 0 if any of them is true."""
    if str(dtype) == "bool":
        a, b = _core.as_dtype(a, "uint8"), _core.as_dtype(b, "uint8")
    elif dtypes.kind_of(dtype) not in "iu" or dtypes.size_of(dtype) > 4:
        return None
    if str(a.dtype) not in _BYTES or str(b.dtype) not in _BYTES:
        return None
    return _core.cast(_core.matmul(a, b, None), dtype)


_PARTS = {"complex64": np.dtype(np.float32), "complex128": np.dtype(np.float64)}


def _parts(x: GPUTensor, dtype: Any) -> tuple[GPUTensor, GPUTensor | None]:
    """Real and imaginary parts without gaps, as kernels of products read them; of real numbers one."""
    if dtypes.kind_of(x.dtype) != "c":
        return _core.as_dtype(x, dtype), None
    real, imag = (_core.cast(_core.apply(part, x), dtype) for part in ("real", "imag"))
    _core.evaluate(real, imag)
    return real, imag


def _complex_product(a: GPUTensor, b: GPUTensor, dtype: object) -> GPUTensor:
    """Four products of the parts, two where one operand is real. By three (Gauss) small parts lose their digits."""
    (ar, ai), (br, bi) = _parts(a, dtype), _parts(b, dtype)
    if ai is None or bi is None:
        real = product(ar, br)
        imag = product(ar, bi) if bi is not None else product(ai, br) if ai is not None else real * 0
        return _core.complex_from(real, imag)
    return _core.complex_from(product(ar, br) - product(ai, bi), product(ar, bi) + product(ai, br))


def product(a: GPUTensor, b: GPUTensor, dtype: npt.DTypeLike | None = None) -> GPUTensor:
    """numpy.matmul of any dtypes: operands become what they promote to, or `dtype`; integers wrap, of bool it is any of
    the ands.

    Bytes and bools are multiplied by the kernels of bytes, other integers by those of int32 and int64. The low bits of
    these are the product of any narrower or unsigned dtype.
    """
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError(f"matmul: a has shape {a.shape} and b {b.shape}; needs one axis or more")
    dtype = dtypes.promoted(a.dtype, b.dtype) if dtype is None else dtype
    bytes_product = _by_bytes(a, b, dtype)
    if bytes_product is not None:
        return bytes_product
    if str(dtype) in _PARTS:
        return _complex_product(a, b, _PARTS[str(dtype)])
    by = str(dtype)
    if by not in _MULTIPLIED:
        by = "int32" if dtypes.size_of(dtype) <= 4 else "int64"
    made = _core.matmul(_core.as_dtype(a, by), _core.as_dtype(b, by), None)
    return made if by == str(dtype) else _core.cast(made, dtype)


def _is_factor(value: object) -> bool:
    """What products take; numbers are refused as what has no axes."""
    return isinstance(value, GPUTensor | int | float | complex) or is_operand(value)


def operands_matmul(a: object, b: object) -> object:
    """a @ b where one is a list, an array or a number; NotImplemented for what is none of them."""
    if not _is_factor(a) or not _is_factor(b):
        return NotImplemented
    return _core.matmul(_operand("a", a), _operand("b", b), None)


def matmul_in_place(self: GPUTensor, other: object) -> object:
    """self @= other: the product, of self's shape and a dtype that becomes self's (same_kind), written there."""
    if not _is_factor(other):
        return NotImplemented
    b = _operand("b", other)
    ufunc_keywords.kinds_of("matmul", [self, b], [self], None, "same_kind")  # raises TypeError
    if self.ndim < 1 or b.ndim < 2:
        raise ValueError(f"@=: shapes are {self.shape} and {b.shape}; needs one axis or more, and two or more")
    return core_axes.stored("@=", _core.matmul(self, b, None), self)


def _numpy_dot(a: GPUTensor, b: GPUTensor) -> GPUTensor:
    """numpy.dot: of tensors of more axes sums over the last one of a and the last but one of b."""
    if a.ndim == 0 or b.ndim == 0:
        return _core.apply("multiply", a, b)
    if b.ndim <= 2:
        return product(a, b)
    k = b.shape[-2]
    order = (b.ndim - 2, *range(b.ndim - 2), b.ndim - 1)
    columns = b.transpose(*order).reshape(k, math.prod(b.shape[:-2]) * b.shape[-1])
    return product(a, columns).reshape(*a.shape[:-1], *b.shape[:-2], b.shape[-1])


def _result(name: str, x: GPUTensor, out: GPUTensor | None) -> GPUTensor:
    if out is None:
        return x
    if out.shape != x.shape:
        raise ValueError(f"{name}: out has shape {out.shape}; needs {x.shape}")
    _core.assign(out, x)
    return out


def _written_over(out: Any, a: Any, b: Any) -> bool:
    """Whether the result has the form of `out` and its only fault is to lie where an operand does."""
    if not isinstance(out, GPUTensor) or not any(array_checks.may_share_memory(out, x) for x in (a, b)):
        return False
    return out.shape == (a.shape[0], b.shape[1]) and str(out.dtype) == str(_sums_of(a.dtype))


_SUMS = ("row_sum", "column_sum", "row_max_abs", "column_max_abs")


def _check_sums(*sums: GPUTensor | None) -> tuple[GPUTensor | None, ...]:
    for name, value in zip(_SUMS, sums, strict=True):
        if value is not None:
            _check_tensor(name, value)
    return sums


def _shortened(full: F) -> F:
    """`full`, but calls without its rarer keywords, which need not be looked at, go to the product at once."""

    @functools.wraps(full)
    def dot(
        a: object, b: object, out: object = None, alpha: object = 1.0, beta: object = 0.0, bias: object = None,
        relu: object = False, *rest: object, **more: object,
    ) -> object:  # fmt: skip
        if not rest and not more:
            try:
                product = _core.plain_dot(a, b, out, alpha, beta, bias, relu)
            except ValueError:
                product = NotImplemented  # `full` knows another way, or says it again
            if product is not NotImplemented:
                return product
        return full(a, b, out, alpha, beta, bias, relu, *rest, **more)

    return dot  # type: ignore[return-value]


@public(method=True)
@_shortened
@keywords(Rounding)
def dot(
    a: GPUTensor | Pieces,
    b: GPUTensor | Pieces,
    out: GPUTensor | None = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    bias: GPUTensor | None = None,
    relu: bool = False,
    stream: Stream | None = None,
    tile: str | None = None,
    *,
    relu_first: bool = False,
    splits: int = 0,
    tensor_cores: bool = True,
    activation: str | None = None,
    clip: tuple[float, float] | None = None,
    scale: GPUTensor | float | None = None,
    mask: GPUTensor | None = None,
    row_sum: GPUTensor | None = None,
    column_sum: GPUTensor | None = None,
    row_max_abs: GPUTensor | None = None,
    column_max_abs: GPUTensor | None = None,
    batch_invariant: bool = False,
    precision: str | None = None,
    **rounding: Unpack[Rounding],
) -> GPUTensor:
    """out = act(alpha * a @ b + beta * out + bias); returns `out`, or a new tensor.

    Of a and b alone the result is an expression: what is made of it next becomes part of the same kernel.
    ng.sig(ng.dot(w, x) + b) is one (docs/expressions.md). With any other argument the product is queued at once.

    a: (m, k), b: (k, n), out: (m, n), any views; a transposed one costs nothing. Their dtypes:
    - all float32;
    - a and b float16 or bfloat16, both the same (with float32 sums), and `out` of that dtype or float32;
    - a and b int8 or uint8 with an int32 `out`: alpha and beta are then integers. With a float32 or int8 one their
      int32 sums become float32 first;
    - all int32 or int64, which wrap (alpha and beta are integers), or float64.
    64-bit ones have alpha and beta, numbers that float32 holds, and nothing else. Other dtypes: without any other
    argument than `out`, as `matmul`.
    bias: (n,) or (1, n), one for each column, or (m, 1), one for each row; float32, or of the dtype of `out`.
    relu: act is max(x, 0) if true, x otherwise. With beta = 0, `out` is not read.
    activation: what act is instead, of float32 numbers, such as "relu" or "gelu" (docs/gemm.md has all). "clip" has the
    bounds `clip` = (low, high), "drelu" reads `mask`.
    mask: uint32 or int32 (m, ceil(n / 32)): bit j % 32 of word j / 32 of row i belongs to out[i, j], a float. With relu
    it is written: whether the stored out[i, j] is above 0 (not for NaN); bits past column n are 0. With
    activation="drelu" it is read. Where the bit is 0, the result is 0, which is the gradient through that relu.
    row_sum, row_max_abs: float32 (m,) or (m, 1), written: of each row of the stored `out`, a float, the sum and the
    largest magnitude. column_sum, column_max_abs: (n,) or (1, n), of each column. Float32 sums in an order that m and n
    alone decide (docs/numerics.md). NaN is larger than all numbers. With drelu, column_sum is the gradient of a bias.
    scale: of bytes' sums, for a float32 or int8 `out` (without `out`: float32). A number, or float32 factors, one for
    each column or row as `bias`; the sums are multiplied by them after alpha. int8 is rounded half to even and
    saturates.
    relu_first: out = max(alpha * a @ b, 0) + beta * out + bias instead.
    rounding: "nearest" or "stochastic": by `seed` and the counter `offset`, to `bits` mantissa bits. float16 has 1 to
    10, bfloat16 1 to 7, float32 1 to 15; 0: the most. The same bits on every device.
    splits: of k (split-K), summed apart and then added in order. 0: as many as this product calls for (a function
    of the problem alone, not of the GPU). With 1, a row of the result does not depend on the other rows, nor on how
    many there are.
    batch_invariant: the same as splits=1, for who serves requests in batches.
    tensor_cores: 16-bit floats in rows that begin at multiples of 16 bytes are multiplied by the tensor cores of
    sm_90a, 16 products at a time. Others are after a copy, if that pays and splits is not 1. False has
    chains of multiply-adds everywhere. int8 and uint8: the same bits either way.
    precision: of float32, "strict" or "tensor"; None: what `ng.precision` has set. a or b may be `ng.Pieces` of a
    matrix: with "tensor" it is not split again.
    stream: where the work is queued. tile: only kernels of that tile, for example "128x128".

    ValueError: shapes that do not fit, `out` sharing memory with another argument (for a and b alone it may be
    one of them). TypeError: dtypes that do not fit.
    The bits of the result depend on the arguments alone, not on the device, the tile or (but for `tensor_cores`) the
    strides. With precision "tensor" they do on the device's architecture, and on which axis of `out` is contiguous.
    """
    if (
        (stream is None and tile is None and activation is None and clip is None and scale is None and mask is None)
        and (row_sum is None and column_sum is None and row_max_abs is None and column_max_abs is None)
        and not (relu_first or splits or batch_invariant or (rounding and differ("dot", rounding)))
        and tensor_cores
        and precision is None
    ):
        try:
            product = _core.plain_dot(a, b, out, alpha, beta, bias, relu)
        except ValueError:
            if not _is_plain(alpha, beta, bias, relu) or not _written_over(out, a, b):
                raise
            return _result("dot", dot(a, b), out)
        if product is not NotImplemented:
            return product
    check_pieces("dot", a, b)
    if _is_plain(alpha, beta, bias, relu) and not _are_factors(a, b):
        return dot(_operand("a", a), _operand("b", b), out, precision=precision)
    if not isinstance(a, Pieces):
        _check_tensor("a", a)
    if not isinstance(b, Pieces):
        _check_tensor("b", b)
    if out is not None:
        _check_tensor("out", out)
    plain = _is_plain(alpha, beta, bias, relu)
    if plain and isinstance(a, GPUTensor) and isinstance(b, GPUTensor) and not _are_matrices(a, b):
        with at(precision):
            return _result("dot", _numpy_dot(a, b), out)
    if bias is not None:
        _check_tensor("bias", bias)
    if mask is not None:
        _check_tensor("mask", mask)
    if batch_invariant:
        if splits > 1:
            raise ValueError(f"dot: batch_invariant is True but splits is {splits}; needs 0 or 1")
        splits = 1
    check_clip("dot", activation, clip)
    if scale is not None and not isinstance(scale, GPUTensor):
        if out is None:
            out = _core.empty((a.shape[0], b.shape[1]) if a.ndim == b.ndim == 2 else 0, "float32")
        if out.dtype == "int32" or a.dtype not in ("int8", "uint8"):
            needs = "needs bytes with a float32 or int8 result"
            raise ValueError(f"dot: scale is given but {a.dtype} operands have the result {out.dtype}; {needs}")
        alpha, scale = number("dot", "alpha", alpha) * number("dot", "scale", scale), None
    check_factors("dot", a.dtype, alpha=alpha, beta=beta)
    rest = (relu, relu_first, rounding, stream, tile or "", splits, tensor_cores)
    sums = _check_sums(row_sum, column_sum, row_max_abs, column_max_abs)
    last = (activation or "none", clip or (0.0, 0.0), scale, mask, sums)
    by: Any = _core.dot_by_pieces if isinstance(b, Pieces) else _core.dot
    if isinstance(a, Pieces):
        by = _core.dot_of_pieces
    with at(precision):
        result = by(a, b, out, alpha, beta, bias, *rest, *last)
    return result if out is None else out


def _check_batch(name: str, value: object) -> None:
    if not isinstance(value, GPUTensor):
        raise TypeError(f"batched_dot: {name} is {type(value).__name__}; needs GPUTensor (nervanagpu.array makes one)")
    if value.ndim not in (2, 3):
        raise ValueError(f"batched_dot: {name} has shape {value.shape}; needs 2 or 3 axes, has {value.ndim}")


@public(numpy=False)
@keywords(Rounding)
def batched_dot(
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
    sum_batch: bool = False,
    relu_first: bool = False,
    splits: int = 0,
    tensor_cores: bool = True,
    activation: str | None = None,
    clip: tuple[float, float] | None = None,
    mask: GPUTensor | None = None,
    row_sum: GPUTensor | None = None,
    column_sum: GPUTensor | None = None,
    row_max_abs: GPUTensor | None = None,
    column_max_abs: GPUTensor | None = None,
    precision: str | None = None,
    **rounding: Unpack[Rounding],
) -> GPUTensor:
    """out[i] = act(alpha * a[i] @ b[i] + beta * out[i] + bias) of every i, or one product that is their sum.

    a: (batch, m, k), b: (batch, k, n); one of two axes, or of one matrix, is the same for all. Dtypes, epilogue and
    rounding as those of `dot`; bias is that of each matrix. mask: (batch, m, ceil(n / 32)), of a sum (m, ceil(n / 32)).
    row_sum and the like: of a sum's result.
    out: (batch, m, n), any view whose elements are apart. Of shape (m, n): the sum of all products in ascending order,
    as the weight gradient of a sequence wants it. sum_batch asks for it where `out` is not given.
    splits: of a sum, of all its k. A product of a batch is not cut, so its bits do not depend on the batch.

    Computed by one launch where the matrices of each operand are rows or columns of contiguous elements, at any
    distance; any other is copied first. float16 and bfloat16 are on the tensor cores if the distance is a multiple of
    16 bytes. int8 is if they lie (m, k) and (n, k).
    ValueError: shapes that do not fit, `out` sharing memory with another argument. TypeError: dtypes that do not fit.
    """
    _check_batch("a", a)
    _check_batch("b", b)
    if out is None:
        if beta != 0:
            raise ValueError(f"batched_dot: beta is {beta} but there is no out to read")
        counts = {t.shape[0] for t in (a, b) if t.ndim == 3 and t.shape[0] != 1} or {1}
        shape = (a.shape[-2], b.shape[-1])
        out = creation.empty(shape if sum_batch else (min(counts), *shape), _sums_of(a.dtype))
    else:
        _check_batch("out", out)
        if sum_batch and out.ndim != 2:
            raise ValueError(f"batched_dot: out has shape {out.shape}; a sum over the batch needs 2 axes")
    if bias is not None and not isinstance(bias, GPUTensor):
        raise TypeError(f"batched_dot: bias is {type(bias).__name__}; needs GPUTensor (nervanagpu.array makes one)")
    if mask is not None and not isinstance(mask, GPUTensor):
        raise TypeError(f"batched_dot: mask is {type(mask).__name__}; needs GPUTensor (nervanagpu.array makes one)")
    check_clip("dot", activation, clip)
    check_factors("batched_dot", a.dtype, alpha=alpha, beta=beta)
    rest = (relu, relu_first, rounding, stream, tile or "", splits, tensor_cores)
    sums = _check_sums(row_sum, column_sum, row_max_abs, column_max_abs)
    last = (activation or "none", clip or (0.0, 0.0), mask, sums)
    with at(precision):
        _core.batched_dot(a, b, out, alpha, beta, bias, *rest, *last)
    return out


def _plain_matmul(a: GPUTensor, b: GPUTensor) -> GPUTensor:
    return _core.matmul(a, b, None)


def _check_converts(a: GPUTensor, b: GPUTensor, dtype: Any) -> None:
    """TypeError where an operand is of another kind than `dtype`."""
    name = dtype_name("matmul", dtype)
    asked = name if name == dtypes.BFLOAT16 else np.dtype(dtype)
    for name, x in (("a", a), ("b", b)):
        if not dtypes.converts(x.dtype, asked):
            raise TypeError(f"matmul: {name} has dtype {x.dtype}; needs one that converts to {asked} (same_kind)")


@public(numpy="matmul", composed=True)
def matmul(
    a: Any,
    b: Any,
    stream: Stream | None = None,
    *,
    out: Any = None,
    dtype: npt.DTypeLike | None = None,
    precision: str | None = None,
    **more: Any,
) -> GPUTensor:
    """a @ b as NumPy's matmul: a new tensor, axes before the last two are a batch and are broadcast.

    Of two matrices an expression, as `dot(a, b)`.
    Operands of two dtypes become what they promote to. Integers wrap, but int8 and uint8 are summed in int32, which is
    not NumPy's: dtype="int8" has that. dtype: what the operands become, and the result; `out` may be of another, and
    may stand third. more: axes, signature, casting, order (nervanagpu.linalg.core_axes).
    A tensor of one axis is a row (a) or a column (b) that the result does not have. Batches whose axes can be walked
    through as one are a single launch. ValueError: shapes that do not fit. TypeError: dtypes that do not fit.
    """
    if not (isinstance(a, GPUTensor) and isinstance(b, GPUTensor)):
        a, b = (x if isinstance(x, GPUTensor) else _operand(name, x) for name, x in (("a", a), ("b", b)))
    if stream is not None and isinstance(stream, GPUTensor | tuple):
        if out is not None:
            raise TypeError("matmul: out is given twice; needs it once")
        stream, out = None, stream
    if precision is None and dtype is None and out is None and not more:  # most calls: as little as can be
        return _core.matmul(a, b, stream)
    with at(precision):
        if dtype is None and not more:
            return core_axes.stored("matmul", _core.matmul(a, b, stream), out)
        if stream is not None:
            raise ValueError("matmul: there are both stream and arguments of ufuncs; needs one of them")
        if dtype is not None and more.get("casting", "same_kind") == "same_kind":
            _check_converts(a, b, dtype)
        plain = dtype is None and more.get("signature") is None and more.get("sig") is None
        return core_axes.call("matmul", _plain_matmul if plain else product, a, b, out, dtype=dtype, **more)


@public(numpy=False)
@keywords(Rounding)
def grouped_dot(
    products: Sequence[tuple[GPUTensor, GPUTensor] | tuple[GPUTensor, GPUTensor, GPUTensor]],
    alpha: float = 1.0,
    beta: float = 0.0,
    bias: GPUTensor | None = None,
    relu: bool = False,
    stream: Stream | None = None,
    *,
    relu_first: bool = False,
    splits: int = 1,
    tensor_cores: bool = True,
    precision: str | None = None,
    **rounding: Unpack[Rounding],
) -> list[GPUTensor]:
    """out = act(alpha * a @ b + beta * out + bias) of every (a, b, out), of any shapes; returns the outs.

    An `out` that is left out, as in (a, b), is a new tensor. Keywords as those of `dot`; a bias must fit every product.
    Products of one form go together: as a batch, if they lie at equal distances in memory. If multiply-adds compute
    them and they are small, it is by tables of their addresses. The others are launched one by one. Everything is
    checked before anything is written. k is not cut unless `splits` says so: the bits are those of
    `dot(a, b, splits=1)`. Rounded stochastically, a product takes the counters after those of the one before.
    ValueError, TypeError: as `dot`, with the number of the product; also for an out that shares memory with another
    operand of the group.
    """
    triples = []
    for i, product in enumerate(iterable("grouped_dot", "products", products)):
        if not isinstance(product, tuple) or len(product) not in (2, 3):
            raise TypeError(
                f"grouped_dot: product {i} is {type(product).__name__}; needs a tuple (a, b) or (a, b, out)"
            )
        for name, value in zip(("a", "b", "out"), product, strict=False):
            if not isinstance(value, GPUTensor):
                raise TypeError(f"grouped_dot: product {i}: {name} is {type(value).__name__}; needs GPUTensor")
            if value.ndim != 2:
                raise ValueError(f"grouped_dot: product {i}: {name} has shape {value.shape}; needs 2 axes")
        a, b = product[:2]
        if len(product) == 3:
            out = product[2]
        elif beta != 0:
            raise ValueError(f"grouped_dot: beta is {beta} but product {i} has no out to read")
        else:
            out = creation.empty((a.shape[0], b.shape[1]), _sums_of(a.dtype))
        triples.append((a, b, out))
        check_factors("grouped_dot", a.dtype, alpha=alpha, beta=beta)
    rest = (relu, relu_first, rounding, stream, splits, tensor_cores)
    with at(precision):
        _core.grouped_dot(triples, alpha, beta, bias, *rest)
    return [out for _, _, out in triples]
