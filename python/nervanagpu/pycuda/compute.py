"""How arrays are computed: by the library's expressions, or, for dtypes that these lack (structures),
by kernels that are made of an expression in C.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import nervanagpu as ng
from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.calls.placement import per_device
from nervanagpu.calls.protocols import StreamLike
from nervanagpu.kernels import c_types

if TYPE_CHECKING:
    from nervanagpu.pycuda.array_class import GPUArray
    from nervanagpu.pycuda.elementwise import ElementwiseKernel

Scalar = bool | int | float | complex | np.generic


@functools.cache
def known(dtype: np.dtype[Any]) -> bool:
    """Whether tensors have this dtype."""
    try:
        return not dtype.hasobject and dtype.kind != "V" and _core.dtype(dtype) is not None
    except (TypeError, ValueError):
        return False


def in_c(given: np.dtype[Any]) -> str:
    """The C type of a dtype; of structures that no C type is registered for, bytes of their size."""
    return c_types.name_of(given)


# name: (of tensors, in C with T for the type of the result, "result" or "bool" or "real")
_TABLE: dict[str, tuple[Any, str, str]] = {
    "add": (ng.add, "T(a) + T(b)", "result"),
    "subtract": (ng.subtract, "T(a) - T(b)", "result"),
    "multiply": (ng.multiply, "T(a) * T(b)", "result"),
    "divide": (ng.divide, "T(a) / T(b)", "float"),
    "power": (ng.power, "pow(T(a), T(b))", "result"),
    "floor_divide": (ng.floor_divide, "a / b", "result"),
    "remainder": (ng.remainder, "a % b", "result"),
    "bitwise_and": (ng.bitwise_and, "a & b", "result"),
    "bitwise_or": (ng.bitwise_or, "a | b", "result"),
    "bitwise_xor": (ng.bitwise_xor, "a ^ b", "result"),
    "left_shift": (ng.left_shift, "a << b", "result"),
    "right_shift": (ng.right_shift, "a >> b", "result"),
    "equal": (ng.equal, "C(a) == C(b)", "bool"),
    "not_equal": (ng.not_equal, "C(a) != C(b)", "bool"),
    "less": (ng.less, "a < b", "bool"),
    "less_equal": (ng.less_equal, "a <= b", "bool"),
    "greater": (ng.greater, "a > b", "bool"),
    "greater_equal": (ng.greater_equal, "a >= b", "bool"),
    "maximum": (ng.maximum, "a > b ? a : b", "result"),
    "minimum": (ng.minimum, "a < b ? a : b", "result"),
    "fmod": (ng.fmod, "fmod(a, b)", "result"),
    "arctan2": (ng.arctan2, "atan2(a, b)", "float"),
    "logical_and": (ng.logical_and, "(a != A(0)) && (b != B(0))", "bool"),
    "logical_or": (ng.logical_or, "(a != A(0)) || (b != B(0))", "bool"),
    "logical_not": (ng.logical_not, "a == A(0)", "bool"),
    "negative": (ng.negative, "-a", "result"),
    "invert": (ng.invert, "~a", "result"),
    "absolute": (ng.absolute, "abs(a)", "real"),
    "conjugate": (ng.conjugate, "conj(a)", "result"),
    "real": (ng.real, "real(a)", "real"),
    "imag": (ng.imag, "imag(a)", "real"),
    "exp": (ng.exp, "exp(a)", "float"),
    "log": (ng.log, "log(a)", "float"),
    "log10": (ng.log10, "log10(a)", "float"),
    "sqrt": (ng.sqrt, "sqrt(a)", "float"),
    "sin": (ng.sin, "sin(a)", "float"),
    "cos": (ng.cos, "cos(a)", "float"),
    "tan": (ng.tan, "tan(a)", "float"),
    "arcsin": (ng.arcsin, "asin(a)", "float"),
    "arccos": (ng.arccos, "acos(a)", "float"),
    "arctan": (ng.arctan, "atan(a)", "float"),
    "sinh": (ng.sinh, "sinh(a)", "float"),
    "cosh": (ng.cosh, "cosh(a)", "float"),
    "tanh": (ng.tanh, "tanh(a)", "float"),
    "floor": (ng.floor, "floor(a)", "result"),
    "ceil": (ng.ceil, "ceil(a)", "result"),
}


def _is_scalar(x: object) -> bool:
    return isinstance(x, bool | int | float | complex | np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0)


def common_dtype(*operands: Any) -> np.dtype[Any]:
    """As NumPy promotes arrays and numbers."""
    return np.result_type(*(x if _is_scalar(x) else x.dtype for x in operands))


def result_dtype(name: str, operands: tuple[Any, ...]) -> np.dtype[Any]:
    """Of an operation of the table."""
    rule = _TABLE[name][2]
    common = common_dtype(*operands)
    if rule == "bool":
        return np.dtype(bool)
    if rule == "real":
        return np.empty(0, common).real.dtype
    if rule == "float" and common.kind == "c":
        return common
    if rule == "float" and common.kind in "biu":
        return np.result_type(common, np.float32 if common.itemsize <= 2 else np.float64)
    return common


def apply(
    name: str,
    *operands: Any,
    out: GPUArray | None = None,
    dtype: npt.DTypeLike | None = None,
    stream: StreamLike = None,
) -> GPUArray:
    """An operation of the table, elementwise, on GPUArrays and numbers, which broadcast: a new array, or `out`."""
    from nervanagpu.pycuda.array_class import GPUArray

    if stream is not None:
        stream.synchronize()
    of_tensors, text, _ = _TABLE[name]
    arrays = [x for x in operands if isinstance(x, GPUArray)]
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    kind = np.dtype(dtype) if dtype is not None else result_dtype(name, operands)
    if out is None:
        out = _like(arrays, shape, kind)
    elif out.shape != shape:
        raise ValueError(f"{name}: out has shape {out.shape}; needs {shape}")
    if out.size == 0:
        return out
    kinds = [x.dtype for x in arrays] + [out.dtype, common_dtype(*operands)]
    if all(known(k) for k in kinds):
        values = [x.tensor if isinstance(x, GPUArray) else _plain(x) for x in operands]
        out.tensor[...] = of_tensors(*values)
        return out
    generated(text, out, operands)
    return out


def _plain(x: object) -> object:
    return x.item() if isinstance(x, np.generic | np.ndarray) else x


def _like(arrays: list[Any], shape: tuple[int, ...], dtype: np.dtype[Any]) -> GPUArray:
    """An array for a result: by columns if all operands are."""
    from nervanagpu.pycuda.array_class import GPUArray

    allocator = arrays[0].allocator
    by_columns = all(a.flags.f_contiguous and not a.flags.c_contiguous for a in arrays)
    return GPUArray(shape, dtype, allocator, order="F" if by_columns else "C")


def generated(text: str, out: Any, operands: tuple[Any, ...]) -> None:
    """out = an expression in C of a, b, c. T, A and B are the types of the result and of operands, C the common one."""
    from nervanagpu.pycuda.array_class import GPUArray
    from nervanagpu.pycuda.creation import empty

    dense_out = out if out.flags.c_contiguous else empty(out.shape, out.dtype)
    declared = []
    before = []
    values: list[Any] = []
    preamble = [f"typedef {in_c(out.dtype)} T;", f"typedef {in_c(common_dtype(*operands))} C;"]
    for letter, x in zip("abc", operands, strict=False):
        kind = x.dtype if isinstance(x, GPUArray | np.generic) else common_dtype(x, *operands)
        type_name = in_c(kind)
        preamble.append(f"typedef {type_name} {letter.upper() if letter != 'c' else 'D'};")
        if isinstance(x, GPUArray):
            declared.append(f"const {type_name} *ng_{letter}")
            before.append(f"const {type_name} {letter} = ng_{letter}[i]")
            values.append(broadcast(x, out.shape).dense())
        else:
            declared.append(f"{type_name} {letter}")
            values.append(x)
    _kernel(", ".join([*declared, f"{in_c(out.dtype)} *ng_z"]), "; ".join([*before, f"ng_z[i] = {text}"]),
            "\n".join(preamble))(*values, dense_out)  # fmt: skip
    if dense_out is not out:
        out[...] = dense_out


@per_device(maxsize=256)
def _kernel(arguments: str, operation: str, preamble: str) -> ElementwiseKernel:
    from nervanagpu.pycuda.elementwise import ElementwiseKernel

    return ElementwiseKernel(arguments, operation, "elementwise", preamble=preamble)


def broadcast(x: GPUArray, shape: tuple[int, ...]) -> GPUArray:
    """A view of another shape, whose new and repeated axes have steps of 0 bytes."""
    if x.shape == shape:
        return x
    extra = len(shape) - len(x.shape)
    strides = [0] * extra + [0 if n == 1 else s for n, s in zip(x.shape, x.strides, strict=True)]
    return x.viewed(shape, tuple(strides), x.dtype)


def bytes_tensor(x: Any) -> GPUTensor:
    """The bytes of an array of any dtype, on one more axis."""
    return _core.wrap(x.ptr, (*x.shape, x.dtype.itemsize), (*x.strides, 1), "uint8")


def copy_into(to: Any, source: Any) -> None:
    """to[...] = source, of one shape; dtypes are converted."""
    if to.size == 0:
        return
    if to.dtype == source.dtype:
        width = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}.get(to.dtype.itemsize)
        even = width and all(s % to.dtype.itemsize == 0 for s in (*to.strides, *source.strides))
        if width and even and to.dtype.itemsize > 1:
            size = to.dtype.itemsize
            views = [_core.wrap(x.ptr, x.shape, tuple(s // size for s in x.strides), width) for x in (to, source)]
            views[0][...] = views[1]
        else:
            bytes_tensor(to)[...] = bytes_tensor(source)
    elif known(to.dtype) and known(source.dtype):
        to.tensor[...] = _core.cast(source.tensor, to.dtype)
    elif source.dtype.kind == "c" and to.dtype.kind != "c":
        generated("T(real(a))", to, (source,))
    else:
        generated("T(a)", to, (source,))


def wait(stream: StreamLike) -> None:
    """Wait for the work of a stream."""
    if stream is not None:
        stream.synchronize()
