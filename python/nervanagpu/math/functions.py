"""Functions made of nervanagpu.math.elementwise's: rounding to decimals, comparisons with tolerance, activations.

Operands, broadcasting, dtypes, `out` and errors are those of the modules elementwise and reductions beside it. Each is
an expression, which becomes one kernel, or as few as its parts allow.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import Expression, GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import choice, integer
from nervanagpu.function_table import public
from nervanagpu.math import elementwise, reductions, ufunc_keywords
from nervanagpu.math.elementwise import Operand, _result
from nervanagpu.math.reductions import operand_of


def _floats(*operands: object) -> tuple[Any, ...]:
    """Operands without a float among them as the floats that NumPy's ufuncs make of them: int8 becomes float16."""
    tensors = tuple(x if type(x) in (int, float, complex) else operand_of(x) for x in operands)
    held = [x.dtype for x in tensors if isinstance(x, GPUTensor)]
    if builtins.any(dtypes.kind_of(d) in "fc" for d in held) or builtins.any(
        isinstance(x, float | complex) for x in tensors
    ):
        return tensors
    if builtins.all(dtypes.kind_of(d) == "b" for d in held) and builtins.any(type(x) is int for x in tensors):
        held.append(np.dtype(np.int64))  # what a bool and a number are together
    dtype = np.result_type(np.float16, *(held or [np.dtype(np.float64)]))
    return tuple(_core.as_dtype(operand_of(x), dtype) for x in tensors)


@public()
@elementwise.of_one
def fabs(x: Operand) -> GPUTensor:
    """|x| as a float."""
    return elementwise.absolute(_floats(x)[0])


def _divmod(a: Operand, b: Operand) -> tuple[GPUTensor, GPUTensor]:
    return _core.apply("floor_divide", a, b), _core.apply("remainder", a, b)


@public()
@elementwise.taking(elementwise.Binary, elementwise.PAIR)
def divmod(a: Operand, b: Operand, out: Any = None, **more: Any) -> tuple[GPUTensor, GPUTensor]:
    """floor_divide(a, b) and remainder(a, b); evaluated together they share a kernel."""
    return ufunc_keywords.call("divmod", _divmod, (a, b), out, 2, **more)


@public(numpy=False)
def gelu(x: Operand, approximate: str = "none", out: GPUTensor | None = None) -> GPUTensor:
    """x times the normal distribution up to x, x / 2 * erfc(-x / sqrt(2)): one operation, within 0.51 ULP (float64: 1).

    approximate="tanh": x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x ** 3))). ValueError for another word.
    """
    if choice("gelu", "approximate", approximate, ("none", "tanh")) == "none":
        return _result(_core.apply("gelu", x), out)
    square = elementwise.square(x)
    inner = elementwise.multiply(x, square * (0.7978845608028654 * 0.044715) + 0.7978845608028654)
    return _result(elementwise.multiply(x, elementwise.tanh(inner) * 0.5 + 0.5), out)


def _lost(x: Operand) -> bool | GPUTensor:
    """Where x is NaN."""
    return False if isinstance(x, int) else elementwise.isnan(x)


@public()
@elementwise.of_two
def fmax(a: Operand, b: Operand) -> GPUTensor:
    """The larger one, or the one that is a number."""
    larger = elementwise.where(_lost(a), b, elementwise.maximum(a, b))
    return elementwise.where(_lost(b), a, larger)


@public()
@elementwise.of_two
def fmin(a: Operand, b: Operand) -> GPUTensor:
    """The smaller one, or the one that is a number."""
    smaller = elementwise.where(_lost(a), b, elementwise.minimum(a, b))
    return elementwise.where(_lost(b), a, smaller)


@public("radians")
@elementwise.of_one
def deg2rad(x: Operand) -> GPUTensor:
    """x * pi / 180."""
    return elementwise.multiply(_floats(x)[0], math.pi / 180)


@public("degrees")
@elementwise.of_one
def rad2deg(x: Operand) -> GPUTensor:
    """x * 180 / pi."""
    return elementwise.multiply(_floats(x)[0], 180 / math.pi)


@public()
@elementwise.of_two
def logaddexp(a: Operand, b: Operand) -> GPUTensor:
    """log(e ** a + e ** b), without overflow."""
    a, b = _floats(a, b)
    larger, smaller = elementwise.maximum(a, b), elementwise.minimum(a, b)
    apart = elementwise.where(elementwise.equal(larger, smaller), 0.0, smaller - larger)  # inf - inf
    return larger + elementwise.log1p(elementwise.exp(apart))


@public()
@elementwise.of_two
def logaddexp2(a: Operand, b: Operand) -> GPUTensor:
    """log2(2 ** a + 2 ** b), without overflow."""
    a, b = _floats(a, b)
    larger, smaller = elementwise.maximum(a, b), elementwise.minimum(a, b)
    apart = elementwise.where(elementwise.equal(larger, smaller), 0.0, smaller - larger)
    return larger + elementwise.log1p(elementwise.exp2(apart)) * (1 / math.log(2))


@public()
@elementwise.of_two
def nextafter(a: Operand, b: Operand) -> GPUTensor:
    """The next number of the dtype after a on the way to b; integers become floats as in exp."""
    from nervanagpu.arrays.manipulation import broadcast_arrays

    first, second = _floats(a, b)
    dtype = elementwise.add(first, second).dtype  # numbers are weak
    if dtypes.kind_of(dtype) == "c":
        raise TypeError(f"nextafter: operands are {dtype}; needs real numbers")
    x, to = operand_of(first), operand_of(second)
    x, to = (t.copy() for t in broadcast_arrays(_core.as_dtype(x, dtype), _core.as_dtype(to, dtype)))
    whole = np.dtype(f"int{8 * dtypes.size_of(dtype)}")
    away = elementwise.equal(elementwise.greater(to, x), elementwise.greater(x, 0))
    moved = (x.view(whole) + elementwise.where(away, np.ones((), whole), -np.ones((), whole))).copy().view(dtype)
    least = creation.full((), 1, whole).view(dtype)
    step = elementwise.where(elementwise.equal(x, 0), elementwise.copysign(least, to), moved)
    lost = elementwise.logical_or(elementwise.isnan(x), elementwise.isnan(to))
    result = elementwise.where(lost, math.nan, elementwise.where(elementwise.equal(x, to), to, step))
    return result


@public()
@elementwise.of_two
def heaviside(a: Operand, b: Operand) -> GPUTensor:
    """0 below 0, b at 0, 1 above; NaN stays."""
    a, b = _floats(a, b)
    dtype = operand_of(elementwise.add(a, b)).dtype  # never computed
    side = elementwise.where(elementwise.less(a, 0), 0.0, elementwise.where(elementwise.equal(a, 0), b, 1.0))
    return _core.as_dtype(elementwise.where(elementwise.isnan(a), a, side), dtype)


@public()
def sinc(x: Operand) -> GPUTensor:
    """sin(pi x) / (pi x); 1 at 0."""
    turn = elementwise.multiply(x, math.pi)
    return elementwise.where(elementwise.equal(x, 0), 1.0, elementwise.sin(turn) / turn)


@public(composed=True)
def fix(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """x without its fraction."""
    return elementwise.trunc(x, out)


@public("around", method="round", composed=True)
def round(x: Operand, decimals: int = 0, out: GPUTensor | None = None) -> GPUTensor:
    """x rounded to so many decimals, half to even, as NumPy does it: rint(x * 10 ** decimals) / 10 ** decimals."""
    x = operand_of(x)
    decimals = integer("round", "decimals", decimals, -300, 300)
    if dtypes.kind_of(x.dtype) == "c":
        return _result(_core.complex_from(*(round(part(x), decimals) for part in (real, imag))), out)
    if dtypes.kind_of(x.dtype) in "biu":
        if decimals >= 0:
            return _result(
                _core.apply("positive", x) if dtypes.kind_of(x.dtype) != "b" else _core.cast(x, np.float16), out
            )
        step = 10**-decimals
        scaled = elementwise.rint(elementwise.divide(x, step)) * step
        return _result(_core.cast(scaled, x.dtype), out)
    if decimals == 0:
        return elementwise.rint(x, out)
    step = 10.0 ** abs(decimals)
    if decimals > 0:
        return _result(elementwise.rint(elementwise.multiply(x, step)) / step, out)
    return _result(elementwise.rint(elementwise.divide(x, step)) * step, out)


@public("conj", method=True)
@elementwise.of_one
def conjugate(x: Operand) -> GPUTensor:
    """The complex conjugate: of real numbers a copy, of bool int8."""
    x = operand_of(x)
    if dtypes.kind_of(x.dtype) == "b":
        x = _core.cast(x, np.int8)
    return _core.apply("conjugate", x)


@public()
def real(x: Operand) -> GPUTensor:
    """The real part: of a tensor of complex numbers a view, of real numbers x itself."""
    x = operand_of(x)
    if dtypes.kind_of(x.dtype) != "c":
        return x
    return _core.real_view(x)


@public()
def imag(x: Operand) -> GPUTensor:
    """The imaginary part: of a tensor of complex numbers a view, of real numbers zeros, which are read-only."""
    x = operand_of(x)
    if dtypes.kind_of(x.dtype) == "c":
        return _core.imag_view(x)
    zeros = creation.zeros(x.shape, x.dtype)
    if x.ndim:  # what is made of a number is its owner's alone
        zeros.setflags(write=False)
    return zeros


@public()
def angle(x: Operand, deg: bool = False) -> GPUTensor:
    """The angle in [-pi, pi] of each complex number: of real ones 0 or pi. `deg`: in degrees."""
    turned = _core.apply("angle", operand_of(x))
    return rad2deg(turned) if deg else turned


@public()
def isposinf(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """True where x is plus infinity. TypeError for complex numbers, which have no such order."""
    elementwise._check_real("isposinf", x)
    return _result(elementwise.logical_and(elementwise.isinf(x), elementwise.greater(x, 0)), out)


@public()
def isneginf(x: Operand, out: GPUTensor | None = None) -> GPUTensor:
    """True where x is minus infinity. TypeError for complex numbers, which have no such order."""
    elementwise._check_real("isneginf", x)
    return _result(elementwise.logical_and(elementwise.isinf(x), elementwise.less(x, 0)), out)


@public()
def isreal(x: Operand) -> GPUTensor:
    """True where the imaginary part is 0."""
    part = imag(x)
    return elementwise.equal(part, 0)


@public()
def iscomplex(x: Operand) -> GPUTensor:
    """True where the imaginary part is not 0."""
    return elementwise.logical_not(isreal(x))


@public()
def isrealobj(x: object) -> bool:
    """Whether a tensor or array has a dtype of real numbers."""
    return not iscomplexobj(x)


@public()
def iscomplexobj(x: Any) -> bool:
    """Whether a tensor or array has a dtype of complex numbers."""
    return dtypes.kind_of(x.dtype) == "c" if isinstance(x, GPUTensor) else bool(np.iscomplexobj(x))


@public()
def isscalar(x: Operand) -> bool:
    """Whether x is a number, as numpy.isscalar has it: of tensors those without axes that x[i] and sums give."""
    return (type(x) is Expression and x.ndim == 0) or bool(np.isscalar(x))


@public()
def nan_to_num(
    x: Operand, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> GPUTensor:
    """x with numbers for NaN and the infinities (None: the largest and the lowest that there are).

    copy=False writes them to x.
    """
    x = operand_of(x)
    result = x if not copy or dtypes.kind_of(x.dtype) in "fc" else _core.cast(x, x.dtype)
    if dtypes.kind_of(x.dtype) == "c":
        parts = [nan_to_num(part(x), True, nan, posinf, neginf) for part in (real, imag)]
        result = _core.complex_from(*parts)
    elif dtypes.kind_of(x.dtype) == "f":
        limits = dtypes.finfo(x.dtype)
        high, low = (float(limits.max) if posinf is None else posinf), (float(limits.min) if neginf is None else neginf)
        finite = elementwise.where(isposinf(x), high, elementwise.where(isneginf(x), low, x))
        result = _core.as_dtype(elementwise.where(elementwise.isnan(x), nan, finite), x.dtype)
        if result.shape != x.shape:
            raise ValueError(f"nan_to_num: nan, posinf or neginf make it {result.shape}; needs to be x's {x.shape}")
    if copy:
        return result
    x[...] = result
    return x


@public()
def isclose(a: Operand, b: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> GPUTensor:
    """True where |a - b| <= atol + rtol * |b|; infinities are close to equal ones."""
    a, b = operand_of(a), operand_of(b)
    rtol, atol = (t if isinstance(t, int | float) else operand_of(t) for t in (rtol, atol))
    if not {"f", "c"} & {dtypes.kind_of(a.dtype), dtypes.kind_of(b.dtype)}:
        a, b = _core.as_dtype(a, np.float64), _core.as_dtype(b, np.float64)
    apart = elementwise.absolute(elementwise.subtract(a, b))
    near = elementwise.less_equal(apart, elementwise.absolute(b) * rtol + atol)
    both = elementwise.logical_and(elementwise.finite(b), near)
    close = elementwise.logical_or(both, elementwise.equal(a, b))
    if equal_nan:
        close = elementwise.logical_or(close, elementwise.logical_and(elementwise.isnan(a), elementwise.isnan(b)))
    return close


@public()
def allclose(a: Operand, b: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all of isclose is true."""
    return bool(reductions.all(isclose(a, b, rtol, atol, equal_nan)))


@public()
def array_equal(a1: Operand, a2: Operand, equal_nan: bool = False) -> bool:
    """Whether shapes and elements are equal."""
    a1, a2 = operand_of(a1), operand_of(a2)
    if a1.shape != a2.shape:
        return False
    same = elementwise.equal(a1, a2)
    if equal_nan:
        same = elementwise.logical_or(same, elementwise.logical_and(elementwise.isnan(a1), elementwise.isnan(a2)))
    return bool(reductions.all(same))


@public()
def array_equiv(a1: Operand, a2: Operand) -> bool:
    """Whether the elements are equal once the shapes are broadcast; False where they do not."""
    a1, a2 = operand_of(a1), operand_of(a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return False
    return bool(reductions.all(elementwise.equal(a1, a2)))
