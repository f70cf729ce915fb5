"""Tensors from shapes and from host data."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeVar, overload

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import dtypes, memory_order
from nervanagpu.calls.arguments import choice, host_array, integer, is_array_like, no_bool, number, shown
from nervanagpu.calls.protocols import DeviceLike
from nervanagpu.function_table import public

if TYPE_CHECKING:
    from nervanagpu.math.elementwise import Operand

Shape = SupportsIndex | Sequence[SupportsIndex]

T = TypeVar("T")
FLOAT32 = np.dtype(np.float32)


def _made(make: Callable[..., GPUTensor], *args: object) -> GPUTensor:
    """make(*args); where there is no room once more, when the garbage collector has freed tensors."""
    try:
        return make(*args)
    except MemoryError:
        gc.collect()
    return make(*args)


def named(tensor: GPUTensor, name: str | None) -> GPUTensor:
    """`tensor`, with a name for messages."""
    if name is not None:
        tensor.name = name
    return tensor


def check_device(function: str, device: DeviceLike) -> int:
    """The ordinal of a device: of an ordinal, "cuda:1", or what ng.device() gives. ValueError for none there is."""
    if device is None:
        return _core.get_device()
    try:
        return _core.ordinal_of(device)
    except (TypeError, ValueError) as error:
        if str(device) == str(_core.device()):
            return _core.get_device()
        raise ValueError(f"{function}: {error}") from None


@public(numpy=False)
def array(
    ary: object,
    dtype: npt.DTypeLike | None = None,
    name: str | None = None,
    *,
    copy: bool | None = True,
    order: str | None = None,
    subok: bool = False,
    ndmin: int = 0,
    device: DeviceLike = None,
) -> GPUTensor:
    """A copy of `ary` (any array-like), by rows; order F: by columns, A as `ary` is, K as its axes lie. It is on
    `device`; None: on that of a tensor, else on the current one.

    It keeps its dtype unless `dtype` says otherwise, and is then converted as `ndarray.astype` does. TypeError for a
    dtype that tensors cannot hold (object, str, ...). "bfloat16" needs no package: without ml_dtypes the elements
    are float32 on the host and rounded on the device.
    """
    if order is not None:
        made = _in_order("array", array(ary, dtype, copy=copy, device=device), ary, order)
        return array(named(made, name), copy=False, ndmin=ndmin)
    if ndmin != 0:
        least = integer("array", "ndmin", ndmin, 0, 32)
        made = array(ary, dtype, name, copy=copy, device=device)
        return made[(None,) * (least - made.ndim)] if made.ndim < least else made
    if device is not None:
        check_device("array", device)
    if isinstance(ary, GPUTensor):
        given = ary if device is None else ary.to(device)
        own = given is not ary  # nobody else's: it was moved
        if (own or not copy) and (dtype is None or given.dtype == _core.dtype(dtype)):
            return named(given, name) if own else given
        if not given.ndim:  # also of a number a tensor that can be written
            made = _core.empty((), given.dtype if dtype is None else dtype)
            made[...] = given
            return named(made, name)
        return named(given.copy() if dtype is None else given.astype(dtype).copy(), name)
    if isinstance(ary, list | tuple):
        ary = _without_tensors(ary)
    bare = dtype is not None and isinstance(_core.dtype(dtype), str)  # bfloat16 without ml_dtypes
    host = host_array("ary", ary)
    if dtype is not None and not hasattr(ary, "dtype"):
        host = _numbers(ary, dtype)
    if bare:
        tensor = _made(_core.empty, host.shape, dtype)
        _core.nn_convert(array(host, np.float32), tensor, {}, None)
        return named(tensor, name)
    if dtype is not None and dtypes.kind_of(_core.dtype(dtype)) in "iu" and _has_floats(host):
        wide = _made(_core.empty, host.shape, np.float64 if host.dtype.itemsize > 4 else np.float32)
        wide.set(host.astype(wide.dtype))
        return named(wide.astype(dtype).copy(), name)  # on the device, whose rule holds for all floats
    tensor = _made(_core.empty, host.shape, host.dtype if dtype is None else dtype)
    try:
        converted = host.astype(tensor.dtype, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(
            f"array: ary has dtype {host.dtype}; needs elements that become {tensor.dtype} ({error})"
        ) from None
    tensor.set(converted)
    return named(tensor, name)


def _has_floats(host: Any) -> bool:
    return bool(host.dtype.kind == "f" or host.dtype.name == dtypes.BFLOAT16)


def _numbers(values: object, dtype: Any) -> npt.NDArray[Any]:
    """A list as an array, whose numbers are checked as NumPy checks them: no NaN and nothing too large for integers."""
    wanted = _core.dtype(dtype)
    if (
        isinstance(wanted, str)
        or str(wanted) == dtypes.BFLOAT16
        or not isinstance(values, list | tuple | float | complex)
    ):
        return dtypes.from_list(values, wanted)
    try:
        return np.asarray(values, wanted)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"array: ary has an element that does not become {wanted} ({error})") from None


def _without_tensors(items: object) -> object:
    """A nested list with its tensors as arrays."""
    if isinstance(items, GPUTensor):
        return dtypes.host_of(items)
    if isinstance(items, list | tuple) and any(isinstance(i, GPUTensor | list | tuple) for i in items):
        return [_without_tensors(i) for i in items]
    return items


def _by_columns(function: str, order: object) -> bool:
    """Whether `order` says that the first axis is the fastest. ValueError for one that there is not."""
    return memory_order.wanted(function, order) == "F"


def _in_order(function: str, made: GPUTensor, given: object, order: Any) -> GPUTensor:
    """`made` of `given`, by rows or `given` itself, as `order` wants it."""
    if made is given:
        stays = memory_order.wanted(function, order) == "A" or memory_order.lies(function, made, order)
        return made if stays else made.copy(order)
    like = given if isinstance(given, GPUTensor | np.ndarray) else made
    if memory_order.wanted(function, order) == "A" and like.dtype != made.dtype:  # as NumPy's array
        order = "K"
    axes = memory_order.axes_in(function, like, order)
    return made if axes is None else memory_order.turned(made.transpose(*axes).copy(), axes)


@public(numpy=False)
def empty(
    shape: Shape,
    dtype: npt.DTypeLike | None = FLOAT32,
    name: str | None = None,
    *,
    order: str | None = "C",
    device: DeviceLike = None,
) -> GPUTensor:
    """A tensor whose elements are undefined; order="F": which lies by columns. MemoryError if the device has no room;
    ValueError: a negative length."""
    if device is not None:
        check_device("empty", device)
    if order != "C" and _by_columns("empty", order):
        lengths = _core.shape(shape)
        return named(memory_order.turned(empty(lengths[::-1], dtype), range(len(lengths))[::-1]), name)
    return named(_made(_core.empty, shape, FLOAT32 if dtype is None else dtype), name)


def _dtype_of(value: object) -> dtypes.DType:
    """The dtype of new elements with that value: its own, of Python's integers and bools NumPy's, of its floats that of
    zeros and ones."""
    if hasattr(value, "dtype"):
        own: dtypes.DType = value.dtype
        return own
    if isinstance(value, int) and not isinstance(value, bool):
        return np.dtype(np.uint64 if value >> 63 == 1 else np.int64)
    if is_array_like(value) and not isinstance(value, list | tuple):
        return host_array("fill_value", value).dtype
    kind = host_array("fill_value", value).dtype if isinstance(value, list | tuple) else np.asarray(value).dtype
    return FLOAT32 if kind.kind not in "iubc" else np.dtype(np.complex64) if kind.kind == "c" else kind


@public(numpy=False)
def full(
    shape: Shape,
    fill_value: Any,
    dtype: npt.DTypeLike | None = None,
    name: str | None = None,
    *,
    order: str | None = "C",
    device: DeviceLike = None,
) -> GPUTensor:
    """A tensor of `fill_value`, which 64-bit integers hold exactly; of a sequence of values what they broadcast to.

    dtype=None: that of `fill_value`, as NumPy's; but of Python's floats float32, as zeros and ones, and of its complex
    numbers complex64. OverflowError if `dtype` cannot hold it.
    """
    if device is not None:
        check_device("full", device)
    if dtype is None:
        dtype = _dtype_of(fill_value)
    if order != "C" and _by_columns("full", order):
        out = empty(shape, dtype, name, order="F")
        out[...] = fill_value
        return out
    if isinstance(fill_value, GPUTensor) or (not isinstance(fill_value, np.generic) and is_array_like(fill_value)):
        out = empty(shape, dtype, name)
        out[...] = fill_value
        return out
    if isinstance(fill_value, np.integer) and dtypes.kind_of(_core.dtype(dtype)) in "iu":
        fill_value = fill_value.astype(_core.dtype(dtype))  # keeps the low bits, as NumPy's
    return named(_made(_core.full, shape, fill_value, dtype), name)


@public(numpy=False)
def zeros(
    shape: Shape,
    dtype: npt.DTypeLike | None = FLOAT32,
    name: str | None = None,
    *,
    order: str | None = "C",
    device: DeviceLike = None,
) -> GPUTensor:
    """A tensor of zeros."""
    return full(shape, 0.0, FLOAT32 if dtype is None else dtype, name, order=order, device=device)


@public(numpy=False)
def ones(
    shape: Shape,
    dtype: npt.DTypeLike | None = FLOAT32,
    name: str | None = None,
    *,
    order: str | None = "C",
    device: DeviceLike = None,
) -> GPUTensor:
    """A tensor of ones."""
    return full(shape, 1.0, FLOAT32 if dtype is None else dtype, name, order=order, device=device)


def pinned(shape: Shape, dtype: npt.DTypeLike = FLOAT32) -> npt.NDArray[Any]:
    """An undefined NumPy array in page-locked host memory, which `set` and `array` read at the full speed of the bus.

    On the emulator an ordinary array. MemoryError if the host has no room. Fill it in place: `a[...] = data`.
    """
    return _core.pinned(shape, dtype)


def _like(function: str, other: Operand, dtype: Any, shape: Any, device: DeviceLike) -> tuple[Any, Any]:
    if device is not None:
        check_device(function, device)
    if not isinstance(other, GPUTensor):
        other = host_array("other", other)
    return other.shape if shape is None else shape, other.dtype if dtype is None else _core.dtype(dtype)


def empty_in(function: str, like: Any, shape: Any, dtype: Any, order: Any, name: str | None = None) -> GPUTensor:
    """An undefined tensor that lies as `order` wants it of a copy of `like`."""
    lengths, letter = _core.shape(shape), memory_order.wanted(function, order)
    if letter == "A":
        letter = "F" if like.flags.f_contiguous and not like.flags.c_contiguous else "C"
    axes = memory_order.axes_in(function, like, "K") if letter == "K" and like.ndim == len(lengths) else None
    if axes is None:
        return empty(lengths, dtype, name, order="F" if letter == "F" else "C")
    return named(memory_order.turned(empty([lengths[a] for a in axes], dtype), axes), name)


def _filled(
    function: str, like: Any, shape: Any, value: Any, dtype: Any, name: str | None, order: Any
) -> GPUTensor:  # fmt: skip
    if order == "C":
        return full(shape, value, dtype, name)
    out = empty_in(function, like, shape, dtype, order, name)
    out[...] = value
    return out


@public()
def empty_like(
    other: Operand,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "C",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    name: str | None = None,
    device: DeviceLike = None,
) -> GPUTensor:
    """An undefined, contiguous tensor of the shape and dtype of `other`; order K or A: that lies as `other` does."""
    lengths, of = _like("empty_like", other, dtype, shape, device)
    return empty_in("empty_like", other, lengths, of, order, name)


@public()
def zeros_like(
    other: Operand,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "C",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    name: str | None = None,
    device: DeviceLike = None,
) -> GPUTensor:
    """Zeros of the shape and dtype of `other`."""
    lengths, of = _like("zeros_like", other, dtype, shape, device)
    return _filled("zeros_like", other, lengths, 0, of, name, order)


@public()
def ones_like(
    other: Operand,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "C",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    name: str | None = None,
    device: DeviceLike = None,
) -> GPUTensor:
    """Ones of the shape and dtype of `other`."""
    lengths, of = _like("ones_like", other, dtype, shape, device)
    return _filled("ones_like", other, lengths, 1, of, name, order)


@public()
def full_like(
    other: Operand,
    fill_value: object,
    dtype: npt.DTypeLike | None = None,
    order: str | None = "C",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    name: str | None = None,
    device: DeviceLike = None,
) -> GPUTensor:
    """`fill_value` in the shape and dtype of `other`."""
    lengths, of = _like("full_like", other, dtype, shape, device)
    if isinstance(fill_value, float) and dtypes.kind_of(of) in "biu":
        fill_value = int(fill_value) if dtypes.kind_of(of) != "b" else bool(fill_value)
    return _filled("full_like", other, lengths, fill_value, of, name, order)


@public("asanyarray", numpy=False)
def asarray(
    ary: object,
    dtype: npt.DTypeLike | None = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: DeviceLike = None,
) -> GPUTensor:
    """A tensor as it is, if it has that dtype, else a copy; of anything else what `array` makes of it.

    copy: True for a copy always; False for ValueError where one is needed.
    """
    if device is not None:
        check_device("asarray", device)
    if order is not None:
        return _in_order("asarray", asarray(ary, dtype, copy=copy, device=device), ary, order)
    if isinstance(ary, GPUTensor) and not copy and (dtype is None or ary.dtype == _core.dtype(dtype)):
        moved = ary if device is None else ary.to(device)
        if moved is ary or copy is None:
            return moved
    if copy is False:
        raise ValueError("asarray: copy is False; host data and other dtypes need one")
    return array(ary, dtype, device=device)


@public(numpy=False)
def asnumpy(x: object) -> npt.NDArray[Any]:
    """A tensor's elements as a NumPy array; anything else as numpy.asarray makes it."""
    return x.get() if isinstance(x, GPUTensor) else np.asarray(x)


@public()
def copy(x: object, order: str = "C", subok: bool = False) -> GPUTensor:
    """A contiguous copy, row-major; order F: by columns, A as x is, K as its axes lie."""
    made = array(x)
    return made if order == "C" else (x if isinstance(x, GPUTensor) else made).copy(order=order)


def _ramp(start: Any, step: Any, count: int, dtype: Any) -> GPUTensor:
    """start + step * i on the device."""
    from nervanagpu.math import composed

    i = composed._count(count) if count < 1 << 16 else composed._new_count(count)
    out = empty((count,), dtype)
    if count == 0:
        return out
    kind = dtypes.kind_of(dtype)
    wide = np.uint64 if isinstance(start, np.uint64) else np.int64 if kind in "iub" else np.float64
    value = _core.apply("add", _core.apply("multiply", _core.cast(i, wide), step), start)
    _core.assign(out, _core.cast(value, dtype))
    return out


@public(numpy=False)
def arange(
    start: float | None = None,
    stop: float | None = None,
    step: float | None = 1,
    dtype: npt.DTypeLike | None = None,
    *,
    device: DeviceLike = None,
) -> GPUTensor:
    """start, start + step, ... below stop; of one number 0 to it.

    Integers are int64, floats float64, as NumPy's: pass `dtype` for others.
    """
    if device is not None:
        check_device("arange", device)
    if stop is None:
        start, stop = 0, start
    if stop is None:
        raise TypeError("arange: there is no stop; needs one")
    start, step = 0 if start is None else start, 1 if step is None else step
    for name, value in (("start", start), ("stop", stop), ("step", step)):
        number("arange", name, value)
    if step == 0:
        raise ValueError("arange: step is 0; needs another number")
    bare = [np.asarray(dtypes.on_host(v)).dtype for v in (start, stop, step)]
    of = dtypes.promoted(*bare) if dtype is None else _core.dtype(dtype)
    if all(isinstance(v, int | np.integer) for v in (start, stop, step)):
        count = max(-((int(start) - int(stop)) // int(step)), 0)
        _check_count(of, start, count)
        if dtypes.kind_of(of) in "iu":
            if count:
                limits = np.iinfo(of)
                last = int(start) + (count - 1) * int(step)
                if min(int(start), last) < limits.min or max(int(start), last) > limits.max:
                    raise OverflowError(f"arange: {start} to {last} is outside {of}")
            if dtypes.size_of(of) == 8 and dtypes.kind_of(of) == "u":
                return _ramp(np.uint64(int(start) % 2**64), np.uint64(int(step) % 2**64), count, of)
            return _ramp(int(start), int(step), count, of)
        return _ramp(float(start), float(step), count, of)
    count = max(int(np.ceil((float(stop) - float(start)) / float(step))), 0)
    _check_count(of, start, count)
    if dtypes.kind_of(of) in "iu":  # NumPy's: the first two elements, cut off, make the step
        first = int(start)
        return _ramp(first, int(start + step) - first, count, of)
    return _ramp(float(start), float(start) + float(step) - float(start), count, of)


def _check_count(dtype: object, start: object, count: int) -> None:
    if count >= 2**63:
        raise ValueError(f"arange: {shown(count)} numbers from {start}; needs fewer than 2^63")
    if count > 2 and dtypes.kind_of(dtype) == "b":
        raise TypeError(f"arange: {count} numbers from {start}; needs two or fewer for dtype bool")


def _real(function: str, name: str, value: object) -> float:
    """A number, infinities and NaN, too."""
    if isinstance(value, float) and not math.isfinite(value):
        return value
    return number(function, name, value)


@overload
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> GPUTensor: ...


@overload
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
    device: DeviceLike = None,
) -> tuple[GPUTensor, GPUTensor | float | complex]: ...


@overload
def linspace(
    start: Any,
    stop: Any,
    num: int,
    endpoint: bool,
    retstep: Literal[True],
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> tuple[GPUTensor, GPUTensor | float | complex]: ...


@public(numpy=False)
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> GPUTensor | tuple[GPUTensor, GPUTensor | float | complex]:
    """`num` numbers from start to stop, with it or without, equally far apart; `retstep`: and how far.

    Complex numbers give complex128, or the complex `dtype`. Of tensors the numbers stand along a new axis, at `axis`.
    """
    if device is not None:
        check_device("linspace", device)
    from nervanagpu.arrays import manipulation, spaced_numbers

    if spaced_numbers.several(start, stop):
        made, apart = spaced_numbers.linspace(start, stop, num, endpoint, dtype, axis)
        return (made, apart) if retstep else made
    manipulation.axis_of("linspace", axis, 1)
    if isinstance(start, complex) or isinstance(stop, complex):
        ends = [(complex(e).real, complex(e).imag) for e in (start, stop)]
        (re, by), (im, turn) = (linspace(a, b, num, endpoint, True) for a, b in zip(*ends, strict=True))
        row = _core.as_dtype(_core.complex_from(re, im), np.complex128 if dtype is None else dtype)
        return (row, complex(by, turn)) if retstep else row
    low, high = (_real("linspace", *end) for end in (("start", start), ("stop", stop)))
    count = integer("linspace", "num", num, 0)
    of = np.dtype(np.float64) if dtype is None else _core.dtype(dtype)
    parts = count - 1 if endpoint else count
    step = (high - low) / parts if parts > 0 else float("nan")
    ramp = _ramp(low, step, count, np.float64) if parts > 0 else full((count,), low, np.float64)
    if endpoint and count > 1:
        ramp[-1:] = high
    if dtypes.kind_of(of) in "iu":
        ramp = _core.apply("floor", ramp)
    made = _core.as_dtype(ramp, of)
    return (made, step) if retstep else made


@public(numpy=False, composed=True)
def logspace(
    start: object,
    stop: object,
    num: int = 50,
    endpoint: bool = True,
    base: object = 10.0,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
) -> GPUTensor:
    """base ** linspace(start, stop, num, endpoint)."""
    from nervanagpu.arrays import manipulation, spaced_numbers

    if spaced_numbers.several(start, stop, base):
        return spaced_numbers.logspace(start, stop, num, endpoint, base, dtype, axis)
    manipulation.axis_of("logspace", axis, 1)
    made = _core.apply("power", number("logspace", "base", base), linspace(start, stop, num, endpoint))
    return made if dtype is None else _core.as_dtype(made, dtype)


@public(numpy=False, composed=True)
def geomspace(
    start: object, stop: object, num: int = 50, endpoint: bool = True, dtype: npt.DTypeLike | None = None, axis: int = 0
) -> GPUTensor:
    """`num` numbers from start to stop, each the same multiple of the one before.

    Complex ones lie on a spiral. Real ones of two signs have nothing but NaN between them.
    """
    from nervanagpu.arrays import manipulation, spaced_numbers

    signs = isinstance(start, int | float) and isinstance(stop, int | float) and start * stop < 0
    if signs or isinstance(start, complex) or isinstance(stop, complex) or spaced_numbers.several(start, stop):
        return spaced_numbers.geomspace(start, stop, num, endpoint, dtype, axis)
    manipulation.axis_of("geomspace", axis, 1)
    start, stop = number("geomspace", "start", start), number("geomspace", "stop", stop)
    num = integer("geomspace", "num", num, 0)
    if start * stop == 0:
        raise ValueError(f"geomspace: start is {start} and stop {stop}; needs other numbers than 0")
    sign = -1.0 if start < 0 else 1.0
    made = logspace(np.log10(abs(start)), np.log10(abs(stop)), num, endpoint) * sign
    made = made.copy()
    if num > 0:
        made[:1] = start
    if num > 1 and endpoint:
        made[-1:] = stop
    return made if dtype is None else _core.as_dtype(made, dtype)


@public(numpy=False)
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: npt.DTypeLike | None = FLOAT32,
    *,
    order: str | None = "C",
    device: DeviceLike = None,
) -> GPUTensor:
    """A matrix of ones on the diagonal k (above the main one if positive) and zeros elsewhere."""
    if order != "C" and _by_columns("eye", order):
        return eye(N if M is None else M, N, -k, dtype, device=device).T
    n = integer("eye", "N", no_bool("eye", "N", N), 0)
    m = n if M is None else integer("eye", "M", M, 0)
    out = zeros((n, m), dtype, device=device)
    length = min(n + min(k, 0), m - max(k, 0))
    if length > 0:
        first = (-k) * m if k < 0 else k
        out.reshape(n * m)[first : first + (length - 1) * (m + 1) + 1 : m + 1] = 1
    return out


@public(numpy=False)
def identity(n: int, dtype: npt.DTypeLike | None = FLOAT32) -> GPUTensor:
    """A square matrix of ones on the diagonal."""
    return eye(integer("identity", "n", no_bool("identity", "n", n), 0), dtype=dtype)


@public()
def meshgrid(*arrays: object, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> list[GPUTensor]:
    """The coordinates of a grid from those along its axes, a tensor for each.

    indexing: "xy" (the first two axes swapped, as images have them) or "ij". sparse: with axes of length 1.
    """
    choice("meshgrid", "indexing", indexing, ("xy", "ij"))
    rows = [asarray(a).reshape(-1) for a in arrays]
    ndim = len(rows)
    places = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        places[:2] = [1, 0]
    grids = [r.reshape(*[-1 if p == i else 1 for i in range(ndim)]) for r, p in zip(rows, places, strict=True)]
    if sparse:
        return [g.copy() for g in grids] if copy else grids
    shape = [rows[p].size for p in places]
    made = []
    for g in grids:
        out = empty(shape, g.dtype)
        out[...] = g
        made.append(out)
    return made


@overload
def indices(dimensions: Shape, dtype: npt.DTypeLike = np.int64, sparse: Literal[False] = False) -> GPUTensor: ...


@overload
def indices(dimensions: Shape, dtype: npt.DTypeLike = np.int64, *, sparse: Literal[True]) -> tuple[GPUTensor, ...]: ...


@overload
def indices(dimensions: Shape, dtype: npt.DTypeLike, sparse: Literal[True]) -> tuple[GPUTensor, ...]: ...


@public(numpy=False)
def indices(
    dimensions: Shape, dtype: npt.DTypeLike = np.int64, sparse: bool = False
) -> GPUTensor | tuple[GPUTensor, ...]:
    """The indices of a grid: (axes, *dimensions); sparse: a tuple of one for each axis, of length 1 along others."""
    lengths = _core.shape(tuple(dimensions) if isinstance(dimensions, Iterator) else dimensions)
    if sparse:
        sides = [[-1 if i == a else 1 for i in range(len(lengths))] for a in range(len(lengths))]
        return tuple(arange(n, dtype=dtype).reshape(*side) for n, side in zip(lengths, sides, strict=True))
    out = empty((len(lengths), *lengths), dtype)
    for a, length in enumerate(lengths):
        out[a] = arange(length, dtype=dtype).reshape(*[-1 if i == a else 1 for i in range(len(lengths))])
    return out


@public(numpy=False)
def fromfunction(function: Callable[..., T], shape: Shape, *, dtype: npt.DTypeLike = float, **more: object) -> T:
    """function(*indices(shape), **more)."""
    grid = indices(shape, dtype)
    return function(*(grid[a] for a in range(grid.shape[0])), **more)


@public(numpy=False)
def frombuffer(buffer: Any, dtype: npt.DTypeLike = float, count: int = -1, offset: int = 0) -> GPUTensor:
    """A copy of the bytes of a buffer as a row of numbers."""
    count, offset = integer("frombuffer", "count", count), integer("frombuffer", "offset", offset)
    try:
        kind = _core.dtype(dtype)
        order = kind if str(kind) == dtypes.BFLOAT16 else np.dtype(dtype)  # of the buffer's bytes, too
        return array(np.frombuffer(buffer, order, count, offset))
    except (TypeError, ValueError, BufferError, OverflowError) as error:
        raise type(error)(f"frombuffer: buffer is {shown(buffer)} and dtype {shown(dtype)} ({error})") from None


@public(numpy=False)
def fromiter(iter: Any, dtype: npt.DTypeLike, count: int = -1) -> GPUTensor:
    """A row of the numbers of an iterable."""
    count = integer("fromiter", "count", count)
    try:
        return array(np.fromiter(iter, _core.dtype(dtype), count))
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"fromiter: iter is {shown(iter)} and dtype {shown(dtype)} ({error})") from None


def wrap(ptr: int, shape: Shape, dtype: npt.DTypeLike, strides: Shape | None = None) -> GPUTensor:
    """A tensor over memory of the caller's, who keeps it alive; `strides` in elements, row-major if not given."""
    lengths = _core.shape(shape)
    if strides is None:
        steps = [1]
        for length in reversed(lengths[1:]):
            steps.insert(0, steps[0] * max(length, 1))
        strides = steps[: len(lengths)]
    return _core.wrap(ptr, lengths, strides, dtype)
