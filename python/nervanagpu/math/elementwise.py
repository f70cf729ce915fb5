"""Elementwise functions of tensors, as NumPy's ufuncs: lazy, fused into one kernel with what they are part of.

An operand is a GPUTensor, a number, a list or a NumPy array; shapes broadcast and dtypes promote as NumPy's (numbers
are weak). Without `out` the result is an expression, a GPUTensor that is computed when its elements are wanted; with
`out` it is written there now. `where`: a mask; other elements of `out` stay as they are, without `out` they are
undefined. `dtype`: of the results, and so what the operands are converted to before. `casting`: which conversions are
allowed. `signature`, or `sig`: the dtypes of operands and results ("ff->f"). `order`: F for a result that lies by
columns. `subok` has no effect. ValueError for shapes that do not broadcast, TypeError for dtypes that an operation does
not take.

Complex operands: docs/expressions.md.

exp, exp2, log, log2, sig, sig2, tanh, tanh2 and power are within 2 ULP, of float64 within 1. The other functions of
float32 go through float64 and are within 0.51 ULP of the exact value for every input. float16 ones are these,
rounded; float64 ones are within 1 ULP. Integers and bool become floats, as NumPy's do.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Protocol, SupportsComplex, SupportsFloat, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import shown
from nervanagpu.function_table import public
from nervanagpu.math import ufunc_keywords

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
Operand: TypeAlias = GPUTensor | SupportsFloat | SupportsComplex | npt.NDArray[np.generic] | list[Any]

_apply = _core.apply
_SAME_KIND, _KEEP = "same_kind", "K"  # the defaults, which are the same objects in every call


class Unary(Protocol):
    """A function of one operand."""

    __name__: str

    def __call__(
        self,
        x: Operand,
        out: object = None,
        *,
        where: Operand = True,
        dtype: npt.DTypeLike | None = None,
        casting: str = "same_kind",
        order: str = "K",
        subok: bool = True,
        signature: object = None,
        sig: object = None,
    ) -> GPUTensor: ...


class Binary(Protocol):
    """A function of two operands."""

    __name__: str

    def __call__(
        self,
        a: Operand,
        b: Operand,
        out: object = None,
        *,
        where: Operand = True,
        dtype: npt.DTypeLike | None = None,
        casting: str = "same_kind",
        order: str = "K",
        subok: bool = True,
        signature: object = None,
        sig: object = None,
    ) -> GPUTensor: ...


def _result(x: GPUTensor, out: GPUTensor | None) -> GPUTensor:
    if out is None:
        return x
    _core.assign(out, x)
    return out


def _entered(function: F, name: str, doc: str, aliases: tuple[str, ...]) -> F:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return public(*aliases)(function)


def _named(function: T, compute: Callable[..., Any]) -> T:
    """`function` under the name, text and module of what it computes."""
    for fact in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(function, fact, getattr(compute, fact))
    return function


def _check_real(name: str, *operands: object) -> None:
    for k, x in enumerate(operands):
        x = np.asarray(x) if isinstance(x, list | tuple) else x
        if isinstance(x, complex) or (hasattr(x, "dtype") and dtypes.kind_of(x.dtype) == "c"):
            raise TypeError(f"{name}: operand {k} is {getattr(x, 'dtype', 'complex')}; needs real numbers")


@cache
def _signature(form: Any, result: str) -> inspect.Signature:
    """The parameters of a form, without self."""
    whole = inspect.signature(form.__call__)
    return whole.replace(parameters=list(whole.parameters.values())[1:], return_annotation=result)


def taking(form: object, result: str = "GPUTensor") -> Callable[[F], F]:
    """What inspect shows of a function: the parameters of `form`, and `result`.

    Keywords that are no parameters cost a call without them nothing.
    """
    shown = _signature(form, result)

    def shows(function: F) -> F:
        function.__signature__ = shown  # type: ignore[attr-defined]
        return function

    return shows


PAIR = "tuple[GPUTensor, GPUTensor]"  # the result of a function that has two


def _swapping(function: F, swap: Callable[[Callable[[Any], Any]], None]) -> F:
    """The function with what puts another `compute` in its place: that costs calls nothing (float_errors)."""
    function._swap = swap  # type: ignore[attr-defined]
    return function


def _one(name: str, compute: Callable[..., Any], real: bool) -> Callable[..., GPUTensor]:
    """The function `compute` of one operand, with the keyword arguments of ufuncs. real: complex ones are refused."""

    @taking(Unary)
    def function(x: Operand, out: Any = None, **more: Any) -> GPUTensor:
        if real:
            _check_real(name, x)
        if out is None and not more:
            made: GPUTensor = compute(x)
        else:
            made = ufunc_keywords.call(name, compute, (x,), out, **more)
        return made

    def swap(by: Callable[[Any], Any]) -> None:
        nonlocal compute
        compute = by(compute)

    return _swapping(function, swap)


def _two(name: str, compute: Callable[..., Any], real: bool) -> Callable[..., GPUTensor]:
    """The function `compute` of two operands, as _one."""

    @taking(Binary)
    def function(a: Operand, b: Operand, out: Any = None, **more: Any) -> GPUTensor:
        if real:
            _check_real(name, a, b)
        if out is None and not more:
            made: GPUTensor = compute(a, b)
        else:
            made = ufunc_keywords.call(name, compute, (a, b), out, **more)
        return made

    def swap(by: Callable[[Any], Any]) -> None:
        nonlocal compute
        compute = by(compute)

    return _swapping(function, swap)


def of_one(compute: Callable[..., GPUTensor]) -> Unary:
    """`compute` of one operand as a ufunc."""
    name = compute.__name__
    made: Unary = _named(_one(name, compute, not ufunc_keywords.takes_complex(name)), compute)
    return made


def of_two(compute: Callable[..., GPUTensor]) -> Binary:
    """`compute` of two operands as a ufunc."""
    name = compute.__name__
    made: Binary = _named(_two(name, compute, not ufunc_keywords.takes_complex(name)), compute)
    return made


def unary(name: str, doc: str, *aliases: str) -> Unary:
    """The function of the operation `name`, which refuses what it does not take."""
    made: Unary = _entered(_one(name, partial(_apply, name), False), name, doc, aliases)
    return made


def binary(name: str, doc: str, *aliases: str) -> Binary:
    """The function of the operation `name`, which refuses what it does not take."""
    made: Binary = _entered(_two(name, partial(_apply, name), False), name, doc, aliases)
    return made


_TENSORS = (GPUTensor, _core.Expression)
_FLOATS = frozenset(np.dtype(d) for d in ("float16", "float32", "float64"))


def _is_float(x: Any) -> bool:
    """Whether it is a tensor of floats: asked first, for the sake of the call's cost."""
    return type(x) in _TENSORS and x.dtype in _FLOATS


def _kind(x: object) -> str:
    return dtypes.kind_of(x.dtype) if hasattr(x, "dtype") else np.asarray(x).dtype.kind


@public()
@of_one
def square(x: object) -> GPUTensor:
    """x * x; of bool int8."""
    try:
        return _apply("square", x)
    except TypeError:
        if _kind(x) != "b":
            raise
    return _apply("square", _core.as_dtype(_tensor(x), np.int8))


@public()
@of_one
def reciprocal(x: object) -> GPUTensor:
    """1 / x, correctly rounded; of integers without its fraction, 0 for 0."""
    if _is_float(x) or _kind(x) not in "biu":
        return _apply("reciprocal", x)
    given = _core.as_dtype(_tensor(x), np.int8) if _kind(x) == "b" else _tensor(x)
    one = _apply("equal", _apply("absolute", given), 1)
    return _core.cast(_apply("where", one, given, 0), given.dtype)


@public()
@of_one
def rint(x: object) -> GPUTensor:
    """The nearest integer, ties to even, as a float; of complex numbers that of each part."""
    if _is_float(x):
        return _apply("rint", x)
    kind = _kind(x)
    if kind == "c":
        given = _tensor(x)
        return _core.complex_from(*(_apply("rint", _apply(part, given)) for part in ("real", "imag")))
    if kind not in "biu":
        return _apply("rint", x)
    given = _tensor(x)
    return _core.as_dtype(given, np.result_type(np.float16, given.dtype))


positive = unary("positive", "+x, a copy. TypeError for bool.")
negative = unary("negative", "-x. TypeError for bool.")
absolute = unary("absolute", "|x|.", "abs")
sgn = unary("sgn", "-1, 0 or 1; NaN stays.", "sign")
sqrt = unary("sqrt", "Square root, correctly rounded; NaN below 0.")
exp = unary("exp", "e ** x.")
exp2 = unary("exp2", "2 ** x.")
log = unary("log", "Natural logarithm; NaN below 0.")
log2 = unary("log2", "Logarithm to base 2; NaN below 0.")
sig = unary("sig", "The logistic function 1 / (1 + e ** -x).")
sig2 = unary("sig2", "1 / (1 + 2 ** -x).")
tanh = unary("tanh", "Hyperbolic tangent.")
tanh2 = unary("tanh2", "(2 ** 2x - 1) / (2 ** 2x + 1).")
floor = unary("floor", "The largest integer that is not above x.")
ceil = unary("ceil", "The smallest integer that is not below x.")
trunc = unary("trunc", "x without its fraction.")
finite = unary("finite", "True where x is neither infinite nor NaN.", "isfinite")
isnan = unary("isnan", "True where x is NaN.")
isinf = unary("isinf", "True where x is infinite.")
logical_not = unary("logical_not", "True where x is 0.")
invert = unary("invert", "Every bit flipped; of bool the opposite.", "bitwise_not", "bitwise_invert")
sin = unary("sin", "sin x, x in radians, any size.")
cos = unary("cos", "cos x, x in radians, any size.")
tan = unary("tan", "tan x, x in radians, any size.")
arcsin = unary("arcsin", "The angle in [-pi/2, pi/2] whose sine x is; NaN outside [-1, 1].", "asin")
arccos = unary("arccos", "The angle in [0, pi] whose cosine x is; NaN outside [-1, 1].", "acos")
arctan = unary("arctan", "The angle in [-pi/2, pi/2] whose tangent x is.", "atan")
sinh = unary("sinh", "Hyperbolic sine.")
cosh = unary("cosh", "Hyperbolic cosine.")
arcsinh = unary("arcsinh", "The number whose hyperbolic sine x is.", "asinh")
arccosh = unary("arccosh", "The number >= 0 whose hyperbolic cosine x is; NaN below 1.", "acosh")
arctanh = unary("arctanh", "The number whose hyperbolic tangent x is; NaN outside [-1, 1].", "atanh")
expm1 = unary("expm1", "e ** x - 1, as exact near 0 as elsewhere.")
log1p = unary("log1p", "log(1 + x), as exact near 0 as elsewhere; NaN below -1.")
log10 = unary("log10", "Logarithm to base 10; NaN below 0.")
cbrt = unary("cbrt", "Cube root, of negative numbers, too.")
erf = unary("erf", "The error function, 2 / sqrt(pi) times the integral of e ** -t ** 2 from 0 to x.")
erfc = unary("erfc", "1 - erf(x), as exact where it is small as elsewhere.")
signbit = unary("signbit", "True where the sign bit is set: -0.0, too.")
silu = unary("silu", "x / (1 + e ** -x), a product of x and its logistic function; -0 for minus infinity.")

add = binary("add", "a + b; of bool: or.")
subtract = binary("subtract", "a - b.")
multiply = binary("multiply", "a * b; of bool: and.")
divide = binary("divide", "a / b, correctly rounded; of integers float64.", "true_divide")
maximum = binary("maximum", "The larger one; NaN if one is.")
minimum = binary("minimum", "The smaller one; NaN if one is.")
equal = binary("equal", "a == b.")
not_equal = binary("not_equal", "a != b.")
less = binary("less", "a < b.")
less_equal = binary("less_equal", "a <= b.")
greater = binary("greater", "a > b.")
greater_equal = binary("greater_equal", "a >= b.")
logical_and = binary("logical_and", "True where both are not 0.")
logical_or = binary("logical_or", "True where one is not 0.")
logical_xor = binary("logical_xor", "True where exactly one is not 0.")
bitwise_and = binary("bitwise_and", "a & b.")
bitwise_or = binary("bitwise_or", "a | b.")
bitwise_xor = binary("bitwise_xor", "a ^ b.")
arctan2 = binary("arctan2", "The angle in [-pi, pi] of the point (b, a).", "atan2")
hypot = binary("hypot", "sqrt(a * a + b * b), without overflow.")
copysign = binary("copysign", "|a| with the sign of b.")
floor_divide = binary("floor_divide", "floor(a / b); a // b. Of integers by 0: 0.")
remainder = binary(
    "remainder",
    "a - floor(a / b) * b, of b's sign, exact but for its last rounding; a % b. Of integers by 0: 0.",
    "mod",
)
fmod = binary("fmod", "What is left of a by division by b, of a's sign, exact. Of integers by 0: 0.")
left_shift = binary("left_shift", "a << b; 0 if b is no less than the width.", "bitwise_left_shift")
right_shift = binary("right_shift", "a >> b; 0 or -1 if b is no less than the width.", "bitwise_right_shift")


def _is_integer(x: object) -> bool:
    return isinstance(x, int | np.integer) or (hasattr(x, "dtype") and dtypes.kind_of(x.dtype) in "biu")


_NO_POWER = "Integers to negative integer powers are not allowed."  # NumPy's words


def _check_exponents(a: Any, b: Any) -> None:
    """ValueError for one below 0: waits for them. While a graph is recorded nothing can be waited for."""
    if isinstance(b, bool) or 0 in (getattr(a, "size", 1), b.size):
        return
    if isinstance(b, GPUTensor) and _core.Graph.recording():
        return
    least = int(_core.reduce("min", b, None, False, 0).get() if isinstance(b, GPUTensor) else b.min())
    if least < 0:
        raise ValueError(f"power: b has the exponent {least} of integers; needs 0 or more, or floats ({_NO_POWER})")


def integer_power(a: Any, b: Any) -> GPUTensor:
    """a ** b of integers, modulo 2 ** width, by squaring. ValueError for an exponent below 0, as in NumPy.

    Of exponents that are tensors each bit is looked at: 8 to 64 products and selections in one kernel. One below 0 in
    the launch of a graph gives 1 / a without its fraction, and 0 for a = 0.
    """
    a, b = (_tensor(x) if isinstance(x, list | tuple) else x for x in (a, b))
    if isinstance(a, int) and isinstance(b, int):
        a = creation.array(a)
    if isinstance(b, int) and not isinstance(b, bool):
        if b >> 64 > 0:
            raise ValueError(f"power: the exponent b is {shown(b)}; needs 0 to 2**64 - 1, or a float")
        dtypes.check_integer("power", "the exponent b", b, a.dtype)
        if b < 0:
            raise ValueError(
                f"power: the exponent of integers is {shown(b)}; needs 0 or more, or a float ({_NO_POWER})"
            )
        base = a
        if dtypes.kind_of(a.dtype) == "b":  # a number beside bools is an int64, but squares are the operation's
            base = _core.as_dtype(a, np.int8 if b == 2 else np.int64)
        power: Any = None
        while b:
            if b & 1:
                power = base if power is None else _apply("multiply", power, base)
            b >>= 1
            if b:
                base = _apply("square", base)
        return _apply("add", _apply("multiply", base, 0), 1) if power is None else _apply("positive", power)
    dtype = dtypes.promoted_values(a, b)
    dtypes.check_integer("power", "a", a, dtype)
    kind = dtypes.kind_of(dtype)
    if kind == "i":
        _check_exponents(a, b)
    if kind == "b":
        dtype, kind = np.dtype(np.int8), "i"
    base, exponent = _core.cast(_tensor(a), dtype), _core.cast(_tensor(b), dtype)
    if kind == "f":  # int64 with uint64
        return _apply("power", base, exponent)
    result = _apply("add", _apply("multiply", _apply("multiply", base, exponent), 0), 1)
    for k in range(8 * dtypes.size_of(dtype) - (kind == "i")):
        bit = _apply("bitwise_and", _apply("right_shift", exponent, k), 1)
        result = _apply("where", bit, _apply("multiply", result, base), result)
        base = _apply("square", base)
    if kind == "u":
        return result
    first = _core.cast(_tensor(a), dtype)
    odd = _apply("bitwise_and", exponent, 1)
    inverse = _apply("where", _apply("equal", first, 1), 1, _apply("where", odd, -1, 1))
    unit = _apply("logical_or", _apply("equal", first, 1), _apply("equal", first, -1))
    below = _apply("where", unit, inverse, 0)
    return _core.cast(_apply("where", _apply("less", exponent, 0), below, result), dtype)


def _tensor(x: object) -> GPUTensor:
    return x if isinstance(x, GPUTensor) else creation.array(x)


@public("pow")
@of_two
def power(a: object, b: object) -> GPUTensor:
    """a ** b; of integers modulo 2 ** width. ValueError for an exponent of integers below 0."""
    a, b = (_tensor(x) if isinstance(x, list | tuple) else x for x in (a, b))
    whole = _is_integer(a) and _is_integer(b) and not (isinstance(b, int) and b == 2 and _kind(a) != "b")
    if type(b) is int and b == 2 and _kind(a) == "b":  # int8 by the operator, as NumPy's square; int64 here
        a = _core.as_dtype(_tensor(a), np.int64)
    return integer_power(a, b) if whole else _apply("power", a, b)


@overload
def where(condition: Operand, a: object, b: object, out: GPUTensor | None = None) -> GPUTensor: ...
@overload
def where(condition: Operand) -> tuple[GPUTensor, ...]: ...


@public()
def where(
    condition: Operand, a: object = None, b: object = None, out: GPUTensor | None = None
) -> GPUTensor | tuple[GPUTensor, ...]:
    """a where the condition is not 0, else b; of the condition alone its nonzero()."""
    if a is None and b is None:
        from nervanagpu.arrays import indexing

        return indexing.nonzero(_tensor(condition))
    if a is None or b is None:
        raise ValueError("where: there is one of a and b; needs both or neither")
    return _result(_apply("where", condition, a, b), out)


def _differ(low: object, high: object) -> bool:
    """Whether two bounds are of different kinds, and none a list."""
    own = [hasattr(b, "dtype") for b in (low, high)]
    return type(low) is not type(high) and all(
        h or isinstance(b, int | float) for h, b in zip(own, (low, high), strict=True)
    )


def _clipped(x: object, low: object, high: object) -> GPUTensor:
    dtype = getattr(x, "dtype", None)
    limits = np.iinfo(dtype) if getattr(dtype, "kind", "") in ("i", "u") else None
    if limits is not None and isinstance(low, int) and low <= limits.min:
        low = None
    if limits is not None and isinstance(high, int) and high >= limits.max:
        high = None
    if low is None and high is None:
        return _apply("where", True, x, x)
    if high is None:
        return _apply("maximum", x, low)
    if dtype is not None and low is not None and _differ(low, high):
        x = _core.as_dtype(x, dtypes.promoted_values(x, low, high))  # of one bound alone it may be another
    return _apply("minimum", x if low is None else _apply("maximum", x, low), high)


@public()
def clip(
    a: Operand,
    a_min: Operand | None = None,
    a_max: Operand | None = None,
    out: object = None,
    *,
    min: Operand | None = None,
    max: Operand | None = None,
    where: Operand = True,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
    order: str = "K",
    subok: bool = True,
    signature: object = None,
    sig: object = None,
) -> GPUTensor:
    """`a`, at least `a_min` and at most `a_max` (None, and a number that integers do not reach: no bound); NaN stays.

    `min` and `max` are other names of the bounds, and the method's own.
    """
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise ValueError("clip: there are a_min and min, or a_max and max; needs one of them")
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    asked = signature is not None or sig is not None
    if out is None and where is True and dtype is None and casting is _SAME_KIND and order is _KEEP and not asked:
        return _clipped(a, low, high)

    ufunc_keywords.outputs("clip", out, 1)  # NumPy's of one bound is another ufunc, which would name itself
    operands = [x for x in (a, low, high) if x is not None]
    name = "clip" if len(operands) == 3 else "positive" if low is high else "maximum" if high is None else "minimum"
    compute = _clipped if name == "clip" else partial(_apply, name)
    return ufunc_keywords.call(
        name, compute, operands, out, where=where, dtype=dtype, casting=casting, order=order, signature=signature,
        sig=sig,
    )  # fmt: skip


def clip_method(
    self: GPUTensor, min: Operand | None = None, max: Operand | None = None, out: Any = None, **more: Any
) -> GPUTensor:
    """The elements, at least `min` and at most `max`, as nervanagpu.clip."""
    return clip(self, min, max, out, **more)


def evaluate(*expressions: GPUTensor) -> None:
    """Compute these expressions now; those of one shape share a kernel."""
    _core.evaluate(*expressions)


def explain(x: GPUTensor) -> str:
    """What evaluating `x` would launch, a line a kernel. Nothing runs."""
    return _core.explain(x)


def launch_count() -> builtins.int:
    """How many kernels expressions have launched so far."""
    return _core.launch_count()
