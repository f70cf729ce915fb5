"""Kernels of pycuda.elementwise that are made for dtypes: sums of products, copies, functions. Each is a Function that
is prepared for its arguments and the number of elements, a size_t, after them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nervanagpu.calls.arguments import shown
from nervanagpu.pycuda import driver
from nervanagpu.pycuda.function import Function
from nervanagpu.pycuda.tools import dtype_to_ctype

# Name: its dtypes in the order of the arguments, the kernel's parameters, what it does with each element.
_TABLE: dict[str, tuple[str, str, str]] = {
    "get_copy_kernel": ("dest src", "{dest} *dest, {src} *src", "dest[i] = src[i]"),
    "get_axpbz_kernel": ("x z", "{z} a, {x} *x, {z} b, {z} *z", "z[i] = a * x[i] + b"),
    "get_rdivide_elwise_kernel": ("x z", "{x} *x, {z} y, {z} *z", "z[i] = y / x[i]"),
    "get_fill_kernel": ("z", "{z} a, {z} *z", "z[i] = a"),
    "get_reverse_kernel": ("z", "{z} *y, {z} *z", "z[i] = y[n - 1 - i]"),
    "get_real_kernel": ("y z", "{y} *y, {z} *z", "z[i] = real(y[i])"),
    "get_imag_kernel": ("y z", "{y} *y, {z} *z", "z[i] = imag(y[i])"),
    "get_conj_kernel": ("y z", "{y} *y, {z} *z", "z[i] = pycuda::conj(y[i])"),
    "get_arange_kernel": ("z", "{z} *z, {z} start, {z} step", "z[i] = start + (long long)i * step"),
    "get_fmod_kernel": ("", "float *arg, float *mod, float *z", "z[i] = fmodf(arg[i], mod[i])"),
    "get_modf_kernel": ("", "float *x, float *intpart, float *fracpart", "fracpart[i] = modff(x[i], &intpart[i])"),
    "get_frexp_kernel": (
        "", "float *x, float *significand, float *exponent",
        "int e = 0; significand[i] = frexpf(x[i], &e); exponent[i] = e",
    ),
    "get_ldexp_kernel": ("", "float *sig, float *expt, float *z", "z[i] = ldexpf(sig[i], (int)expt[i])"),
    "get_if_positive_kernel": (
        "crit z", "{crit} *crit, {z} *then_, {z} *else_, {z} *result", "result[i] = crit[i] > 0 ? then_[i] : else_[i]",
    ),
}  # fmt: skip


@functools.cache
def _kernel(parameters: str, operation: str, name: str) -> Function:
    from nervanagpu.pycuda.elementwise import get_elwise_kernel

    return get_elwise_kernel(parameters, operation, name)


def _named(name: str) -> Callable[..., Function]:
    words, parameters, operation = _TABLE[name]
    letters = words.split()

    def get(*dtypes: Any) -> Function:
        if len(dtypes) != len(letters):
            raise TypeError(f"{name}: there are {len(dtypes)} dtypes; needs {len(letters)} ({words or 'none'})")
        types = {letter: dtype_to_ctype(d) for letter, d in zip(letters, dtypes, strict=True)}
        return _kernel(parameters.format(**types), operation, name[4:])

    get.__name__ = get.__qualname__ = name
    get.__doc__ = f"The kernel {operation}, of the dtypes {words or 'float32'}."
    return get


def _of_two(operation: str, name: str, x: Any, y: Any, z: Any, scalars: tuple[bool, bool], first: str = "") -> Function:
    """A kernel of x and y, of which arrays of one element (`scalars`) are read at 0."""
    for letter, alone in zip("xy", scalars, strict=True):
        operation = operation.replace(f"{letter}[i]", f"{letter}[0]") if alone else operation
    kinds = dtype_to_ctype(x), dtype_to_ctype(y), dtype_to_ctype(z)
    return _kernel(f"{first}{kinds[0]} *x, {kinds[1]} *y, {kinds[2]} *z", operation, name)


def get_axpbyz_kernel(
    dtype_x: Any, dtype_y: Any, dtype_z: Any, x_is_scalar: bool = False, y_is_scalar: bool = False
) -> Function:
    """z[i] = a * x[i] + b * y[i], called with a, x, b, y, z; an x or y that is one element is the same for all."""
    x, y, z = (dtype_to_ctype(d) for d in (dtype_x, dtype_y, dtype_z))
    at_x, at_y = ("0" if alone else "i" for alone in (x_is_scalar, y_is_scalar))
    text = f"z[i] = a * ({z})x[{at_x}] + b * ({z})y[{at_y}]"
    return _kernel(f"{z} a, {x} *x, {z} b, {y} *y, {z} *z", text, "axpbyz")


def get_binary_op_kernel(
    dtype_x: object,
    dtype_y: object,
    dtype_z: object,
    operator: str,
    x_is_scalar: bool = False,
    y_is_scalar: bool = False,
) -> Function:
    """z[i] = x[i] operator y[i]."""
    return _of_two(
        f"z[i] = x[i] {operator} y[i]", "binary_op", dtype_x, dtype_y, dtype_z, (bool(x_is_scalar), bool(y_is_scalar))
    )


def get_binary_func_kernel(func: str, dtype_x: object, dtype_y: object, dtype_z: object) -> Function:
    """z[i] = func(x[i], y[i])."""
    return _of_two(f"z[i] = {func}(x[i], y[i])", "binary_func", dtype_x, dtype_y, dtype_z, (False, False))


def get_binary_func_scalar_kernel(func: str, dtype_x: Any, dtype_y: Any, dtype_z: Any) -> Function:
    """z[i] = func(x[i], y), of a number y."""
    x, y, z = (dtype_to_ctype(d) for d in (dtype_x, dtype_y, dtype_z))
    return _kernel(f"{x} *x, {y} y, {z} *z", f"z[i] = {func}(x[i], y)", "binary_func_scalar")


def get_binary_minmax_kernel(func: str, dtype_x: Any, dtype_y: Any, dtype_z: Any, use_scalar: bool) -> Function:
    """z[i] = min or max (`func`) of x[i] and y[i], or of x[i] and the number y. Of NaN and a number: the number."""
    if func not in ("min", "max"):
        raise ValueError(f"get_binary_minmax_kernel: func is {shown(func)}; needs 'min' or 'max'")
    floats = any(np.dtype(d).kind == "f" for d in (dtype_x, dtype_y, dtype_z))
    get = get_binary_func_scalar_kernel if use_scalar else get_binary_func_kernel
    return get(f"f{func}" if floats else func, dtype_x, dtype_y, dtype_z)


def get_unary_func_kernel(func_name: str, in_dtype: Any, out_dtype: Any = None) -> Function:
    """z[i] = func_name(y[i])."""
    out = in_dtype if out_dtype is None else out_dtype
    kinds = dtype_to_ctype(in_dtype), dtype_to_ctype(out)
    return _kernel(f"{kinds[0]} *y, {kinds[1]} *z", f"z[i] = {func_name}(y[i])", "unary_func")


def get_scalar_op_kernel(dtype_x: Any, dtype_a: Any, dtype_y: Any, operator: str) -> Function:
    """y[i] = x[i] operator a, of a number a."""
    x, a, y = (dtype_to_ctype(d) for d in (dtype_x, dtype_a, dtype_y))
    return _kernel(f"{x} *x, {a} a, {y} *y", f"y[i] = x[i] {operator} a", "scalar_op")


def get_pow_array_kernel(dtype_x: Any, dtype_y: Any, dtype_z: Any, is_base_array: bool, is_exp_array: bool) -> Function:
    """z[i] = x ** y, each an array or a number."""
    x, y, z = (dtype_to_ctype(d) for d in (dtype_x, dtype_y, dtype_z))
    base, exponent = ("x[i]", f"{x} *x") if is_base_array else ("x", f"{x} x"), ("y[i]", f"{y} *y")
    exponent = exponent if is_exp_array else ("y", f"{y} y")
    single = np.float64 not in (np.dtype(dtype_x), np.dtype(dtype_y), np.dtype(dtype_z))
    power = f"{'powf' if single else 'pow'}({base[0]}, {exponent[0]})"
    return _kernel(f"{base[1]}, {exponent[1]}, {z} *z", f"z[i] = {power}", "pow_method")


class ScalarReference:
    """Where a kernel finds a number that is on the device: GPUArray.bind_to_texref_ext says which array has it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.array: Any = None

    def bind(self, array: object) -> None:
        """The array, whose first element is read."""
        self.array = array


class _Combination:
    """A kernel that has the addresses of bound numbers in front of its other arguments."""

    def __init__(self, function: Function, references: Sequence[ScalarReference]) -> None:
        self._function, self._references = function, references

    def _bound(self) -> list[Any]:
        for r in self._references:
            if r.array is None:
                raise ValueError(
                    f"linear_combination: {r.name} is not bound; needs array.bind_to_texref_ext(reference)"
                )
        return [r.array.gpudata for r in self._references]

    def prepared_call(self, grid: Any, block: Any, *args: Any, **more: Any) -> None:
        """Run the kernel with what the sum reads and writes, and the number of elements."""
        self._function.prepared_call(grid, block, *self._bound(), *args, **more)

    def prepared_async_call(self, grid: Any, block: Any, stream: driver.Stream | None, *args: Any, **more: Any) -> None:
        """prepared_call in a stream."""
        self._function.prepared_async_call(grid, block, stream, *self._bound(), *args, **more)


def get_linear_combination_kernel(
    summand_descriptors: Sequence[tuple[bool, Any, Any]], dtype_z: Any
) -> tuple[_Combination, list[ScalarReference]]:
    """(the kernel z[i] = a0 * x0[i] + a1 * x1[i] + ..., references of the a that are on the device).

    summand_descriptors: of each summand whether its a is an array of one element on the device, the dtype of a and that
    of x. Such an a is bound to its reference; others stand before their x in the call.
    """
    numbers, parameters, references, sums = [], [], [], []
    for i, (on_device, scalar, vector) in enumerate(summand_descriptors):
        a, x = dtype_to_ctype(scalar), dtype_to_ctype(vector)
        if on_device:
            numbers.append(f"{a} *a{i}")
            references.append(ScalarReference(f"a{i}"))
        else:
            parameters.append(f"{a} a{i}")
        parameters.append(f"{x} *x{i}")
        sums.append(f"{f'a{i}[0]' if on_device else f'a{i}'} * x{i}[i]")
    if not sums:
        raise ValueError("get_linear_combination_kernel: summand_descriptors is empty; needs one or more")
    text = ", ".join([*numbers, *parameters, f"{dtype_to_ctype(dtype_z)} *z"])
    return _Combination(_kernel(text, "z[i] = " + " + ".join(sums), "linear_combination"), references), references


NAMED: dict[str, Callable[..., Function]] = {name: _named(name) for name in _TABLE}
