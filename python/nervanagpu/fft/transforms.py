"""numpy.fft's transforms, with its n, s, norm and out.

Float32 and 16-bit floats are transformed in float32, everything else in float64. Real results of float16 along one
axis are float16.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.calls.arguments import AxisError, choice, integer, integers, is_integer, iterable, no_bool, shown
from nervanagpu.fft import cufft, host, pairs
from nervanagpu.linalg import backend as place
from nervanagpu.linalg.operands import stored
from nervanagpu.math import elementwise
from nervanagpu.math.elementwise import Operand

Transform = Callable[[GPUTensor], GPUTensor]
_MOST_AXES = 3  # of one plan of cuFFT


class Backend(Protocol):
    """The functions of nervanagpu.fft.host, where they are described."""

    def complex_to_complex(self, x: GPUTensor, forward: bool) -> GPUTensor: ...
    def real_to_complex(self, x: GPUTensor) -> GPUTensor: ...
    def complex_to_real(self, x: GPUTensor, n: int) -> GPUTensor: ...


@functools.cache
def backend() -> Backend:
    """cuFFT's functions or the host's, found once; a warning if a GPU has to do without cuFFT."""
    if not place.on_gpu():
        return host
    try:
        cufft.available()
    except ImportError as error:
        warnings.warn(f"fft: transforms go to the host and back. {error}", RuntimeWarning, stacklevel=3)
        return host
    return cufft


def _scale(function: str, norm: object, lengths: Sequence[int], forward: bool) -> float:
    """What a transform is multiplied with."""
    norm = "backward" if norm is None else choice(function, "norm", norm, ("backward", "ortho", "forward"))
    total = math.prod(lengths)
    if norm == "ortho":
        return 1 / math.sqrt(total)
    return 1 / total if (norm == "forward") == forward else 1.0


def _fitted(x: GPUTensor, axis: int, length: int) -> GPUTensor:
    """The first `length` along the axis, with zeros after if there are fewer."""
    has = x.shape[axis]
    if has == length:
        return x
    before = (slice(None),) * axis
    if has > length:
        return x[(*before, slice(length))]
    out = creation.zeros((*x.shape[:axis], length, *x.shape[axis + 1 :]), x.dtype)
    if has:
        out[(*before, slice(has))] = x
    return out


def _along(x: GPUTensor, axes: Sequence[int], extra: int, transform: Transform) -> GPUTensor:
    """`transform` of contiguous (batch, *axes, and `extra` more), x or a copy; then the axes are put back."""
    ndim = x.ndim - extra
    rest = [i for i in range(ndim) if i not in axes]
    order = [*rest, *axes]
    stack = [x.shape[i] for i in rest]
    there = x.contiguous and order == list(range(ndim))
    moved = x if there else x.transpose(*order, *range(ndim, x.ndim)).copy()
    lengths = moved.shape[len(rest) :]
    result = transform(moved.reshape(math.prod(stack), *lengths))
    result = result.reshape(*stack, *result.shape[1:])
    tail = range(ndim, result.ndim)  # the parts of pairs
    return result.transpose(*(order.index(i) for i in range(ndim)), *tail)


def _complex_passes(x: GPUTensor, axes: Sequence[int], forward: bool) -> GPUTensor:
    """Pairs transformed along all of the axes, the last ones first, as many at once as a plan takes; one twice, too."""
    axes = list(axes)
    while axes and x.size:
        group: list[int] = []
        while axes and len(group) < _MOST_AXES and axes[-1] not in group:
            group.insert(0, axes.pop())
        x = _along(x, group, 1, lambda t: backend().complex_to_complex(t, forward))
    return x


def _items(function: str, s: object) -> list[Any]:
    return [s] if is_integer(s) else iterable(function, "s", s)


def _lengths(
    function: str, a: GPUTensor, s: object, axes: object, real_result: bool = False
) -> tuple[list[int], list[int]]:
    """(s, axes) as many lengths as axes, each axis 0 or more."""
    if axes is None:
        count = a.ndim if s is None else len(_items(function, s))
        axes = range(-count, 0)
    picked = []
    for axis in integers(function, "axes", axes):
        if not -a.ndim <= axis < a.ndim:
            raise AxisError(f"{function}: axis {axis} is out of range; the operand has {a.ndim} axes")
        picked.append(axis % a.ndim)
    lengths = [a.shape[i] for i in picked]
    if s is not None:
        given = _items(function, s)
        if len(given) != len(picked):
            raise ValueError(f"{function}: s is {shown(s)}; needs a length for each of {len(picked)} axes")
        no_bool(function, "s", given)
        wanted = [has if n is None else integer(function, "s", n) for n, has in zip(given, lengths, strict=True)]
        lengths = [has if n == -1 else n for n, has in zip(wanted, lengths, strict=True)]
    if real_result and lengths and (s is None or _items(function, s)[-1] in (-1, None)):
        lengths[-1] = 2 * (lengths[-1] - 1)
    for n in lengths:
        if n < 1:
            raise ValueError(f"{function}: {n} points to transform; needs 1 or more")
    return lengths, picked


def _complex(
    function: str, a: Operand, s: object, axes: object, norm: object, forward: bool, out: GPUTensor | None
) -> GPUTensor:
    x = pairs.operand(function, a)
    lengths, where = _lengths(function, x, s, axes)
    scale = _scale(function, norm, lengths, forward)
    for axis, n in zip(where, lengths, strict=True):
        x = _fitted(x, axis, n)
    return stored(function, pairs.to_complex(_complex_passes(pairs.of(x), where, forward) * scale), out)


def _half(function: str, a: Operand, s: object, axes: object, norm: object, forward: bool = True) -> GPUTensor:
    """Pairs of the transform of real numbers; not forward: its conjugate, scaled as an inverse."""
    x = pairs.operand(function, a)
    if pairs.is_complex(x):
        raise TypeError(f"{function}: a has dtype {x.dtype}; needs real numbers")
    lengths, where = _lengths(function, x, s, axes)
    if not where:
        raise ValueError(f"{function}: axes is {shown(axes)}; needs one axis or more")
    scale = _scale(function, norm, lengths, forward)
    for axis, n in zip(where, lengths, strict=True):
        x = _fitted(x, axis, n)
    if x.size:
        last = [i for i in where[-_MOST_AXES:-1] if where.count(i) == 1 and i != where[-1]]
        result = _along(x, [*last, where[-1]], 0, backend().real_to_complex)
        result = _complex_passes(result, [i for i in where[:-1] if i not in last], True)
    else:
        shape = list(x.shape)
        shape[where[-1]] = shape[where[-1]] // 2 + 1
        result = creation.zeros((*shape, 2), x.dtype)
    return (result if forward else pairs.conjugate(result)) * scale


def _real(
    function: str, a: Operand, s: object, axes: object, norm: object, out: GPUTensor | None, conjugate: bool = False
) -> GPUTensor:
    """Real numbers of half a Hermitian spectrum."""
    x = pairs.operand(function, a)
    lengths, where = _lengths(function, x, s, axes, real_result=True)
    if not where:
        raise ValueError(f"{function}: axes is {shown(axes)}; needs one axis or more")
    scale = _scale(function, norm, lengths, conjugate)
    narrow = len(where) == 1 and str(getattr(a, "dtype", "")) == "float16"  # of several axes NumPy's is float32
    for axis, n in zip(where[:-1], lengths[:-1], strict=True):
        x = _fitted(x, axis, n)
    n, last = lengths[-1], where[-1]
    numbers = pairs.of(_fitted(x, last, n // 2 + 1))
    if conjugate:
        numbers = pairs.conjugate(numbers).copy()
    numbers = _complex_passes(numbers, where[:-1], False)
    if not numbers.size:
        shape = [n if i == last else length for i, length in enumerate(x.shape)]
        return _narrowed(function, creation.zeros(shape, numbers.dtype), narrow, out)

    def to_real(t: GPUTensor) -> GPUTensor:
        nothing = creation.zeros((), t.dtype)  # a number would go by way of the host into a view with gaps
        t[:, 0, 1] = nothing  # as of a real signal: NumPy ignores what is there, cuFFT does not say what it does
        if n % 2 == 0:
            t[:, n // 2, 1] = nothing
        return backend().complex_to_real(t, n)

    result = _along(numbers, [last], 1, to_real)
    return _narrowed(function, elementwise.multiply(result, scale).copy(), narrow, out)


def _narrowed(function: str, result: GPUTensor, narrow: bool, out: GPUTensor | None) -> GPUTensor:
    """The result, as float16 if it is to be narrow, or `out` that has it now."""
    return stored(function, result.astype("float16") if narrow and out is None else result, out)


def _one(function: str, n: object, axis: object) -> tuple[list[int] | None, list[int]]:
    where = [integer(function, "axis", axis)]
    if n is None:
        return None, where
    length = integer(function, "n", n, 1)
    if function not in ("rfft", "ihfft"):  # as NumPy's
        no_bool(function, "n", n)
    return [length], where


def fft(
    a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, out: GPUTensor | None = None
) -> GPUTensor:
    """The discrete Fourier transform along `axis`, of its first n elements (after them zeros).

    norm: what is divided by n: "backward" (None) the inverse, "forward" the transform, "ortho" both by its root.
    """
    return _complex("fft", a, *_one("fft", n, axis), norm, True, out)


def ifft(
    a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, out: GPUTensor | None = None
) -> GPUTensor:
    """The inverse of fft."""
    return _complex("ifft", a, *_one("ifft", n, axis), norm, False, out)


def fftn(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: GPUTensor | None = None,
) -> GPUTensor:
    """fft along each of `axes` (None: the last len(s), or all), with the lengths s; -1: all of an axis."""
    return _complex("fftn", a, s, axes, norm, True, out)


def ifftn(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: GPUTensor | None = None,
) -> GPUTensor:
    """The inverse of fftn."""
    return _complex("ifftn", a, s, axes, norm, False, out)


def fft2(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    out: GPUTensor | None = None,
) -> GPUTensor:
    """fftn of two axes."""
    return _complex("fft2", a, s, axes, norm, True, out)


def ifft2(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    out: GPUTensor | None = None,
) -> GPUTensor:
    """The inverse of fft2."""
    return _complex("ifft2", a, s, axes, norm, False, out)


def rfft(
    a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, out: GPUTensor | None = None
) -> GPUTensor:
    """The first n // 2 + 1 elements of fft of real numbers; the others are their conjugates."""
    return stored("rfft", pairs.to_complex(_half("rfft", a, *_one("rfft", n, axis), norm)), out)


def irfft(
    a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, out: GPUTensor | None = None
) -> GPUTensor:
    """The inverse of rfft: n real numbers, by default an even number, 2 (length - 1)."""
    return _real("irfft", a, *_one("irfft", n, axis), norm, out)


def rfftn(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: GPUTensor | None = None,
) -> GPUTensor:
    """rfft along the last of `axes` and fft along the others."""
    return stored("rfftn", pairs.to_complex(_half("rfftn", a, s, axes, norm)), out)


def irfftn(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: GPUTensor | None = None,
) -> GPUTensor:
    """The inverse of rfftn, real; s[-1] is by default an even number, 2 (length - 1)."""
    return _real("irfftn", a, s, axes, norm, out)


def rfft2(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    out: GPUTensor | None = None,
) -> GPUTensor:
    """rfftn of two axes."""
    return stored("rfft2", pairs.to_complex(_half("rfft2", a, s, axes, norm)), out)


def irfft2(
    a: Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
    out: GPUTensor | None = None,
) -> GPUTensor:
    """The inverse of rfft2."""
    return _real("irfft2", a, s, axes, norm, out)


def hfft(
    a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, out: GPUTensor | None = None
) -> GPUTensor:
    """The transform, real, of a signal that is Hermitian, of which the first half is given."""
    return _real("hfft", a, *_one("hfft", n, axis), norm, out, conjugate=True)


def ihfft(
    a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None, out: GPUTensor | None = None
) -> GPUTensor:
    """The inverse of hfft: the first half of a Hermitian signal."""
    return stored("ihfft", pairs.to_complex(_half("ihfft", a, *_one("ihfft", n, axis), norm, forward=False)), out)
