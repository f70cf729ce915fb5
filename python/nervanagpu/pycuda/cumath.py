"""Mathematical functions of arrays: cumath.sin(array)."""

from __future__ import annotations

from collections.abc import Callable

from nervanagpu.calls.protocols import StreamLike
from nervanagpu.pycuda import compute
from nervanagpu.pycuda.array_class import GPUArray

# PyCUDA's name, the name of the operation.
_UNARY = {
    "ceil": "ceil", "floor": "floor", "fabs": "absolute", "exp": "exp", "log": "log", "log10": "log10",
    "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
}  # fmt: skip


def _unary(name: str, operation: str) -> Callable[..., GPUArray]:
    def function(array: GPUArray, stream: StreamLike = None, out: GPUArray | None = None) -> GPUArray:
        if isinstance(stream, GPUArray):
            stream, out = None, stream
        if not isinstance(array, GPUArray):
            raise TypeError(f"{name}: the array is a {type(array).__name__}; needs a GPUArray")
        return compute.apply(operation, array, out=out, stream=stream)

    function.__name__ = name
    function.__doc__ = f"{name} of each element, in `out` or a new array."
    return function


ceil, floor, fabs, exp, log, log10, sqrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh = (
    _unary(name, operation) for name, operation in _UNARY.items()
)


def fmod(arg: GPUArray, mod: GPUArray, stream: StreamLike = None) -> GPUArray:
    """The remainder of a division that rounds towards 0."""
    return compute.apply("fmod", arg, mod, stream=stream)


def atan2(y: GPUArray, x: GPUArray, stream: StreamLike = None) -> GPUArray:
    """The angle of the point (x, y)."""
    return compute.apply("arctan2", y, x, stream=stream)


def frexp(arg: GPUArray, stream: StreamLike = None) -> tuple[GPUArray, GPUArray]:
    """(significand, exponent), both of the array's dtype: arg = significand * 2 ** exponent."""
    compute.wait(stream)
    significand, exponent = GPUArray(arg.shape, arg.dtype), GPUArray(arg.shape, arg.dtype)
    compute.generated("[](A x) { int e; return T(frexp(x, &e)); }(a)", significand, (arg,))
    compute.generated("[](A x) { int e; frexp(x, &e); return T(e); }(a)", exponent, (arg,))
    return significand, exponent


def ldexp(significand: GPUArray, exponent: GPUArray, stream: StreamLike = None) -> GPUArray:
    """significand * 2 ** exponent."""
    compute.wait(stream)
    out = GPUArray(significand.shape, significand.dtype)
    compute.generated("ldexp(a, int(b))", out, (significand, exponent))
    return out


def modf(arg: GPUArray, stream: StreamLike = None) -> tuple[GPUArray, GPUArray]:
    """(fraction, whole part), both with the sign of the element."""
    compute.wait(stream)
    fraction, whole = GPUArray(arg.shape, arg.dtype), GPUArray(arg.shape, arg.dtype)
    compute.generated("copysign(a - trunc(a), a)", fraction, (arg,))
    compute.generated("trunc(a)", whole, (arg,))
    return fraction, whole
