"""Pooling: the largest, the mean or the root of the sum of squares of windows, and its gradient.

A window spans J feature maps x T x R x S positions (depth, height, width). `max_pool2d` and its like pool over space
alone, `pool` over all four. Layouts: "NHWC", "CHWN", "NCHW", and with D before H in three dimensions ("NDHWC"), with W
alone in one ("NWC"). The result has the layout and dtype of x: float32, float16 or bfloat16; the arithmetic is
float32's. Its lengths are floor((H + 2 padding - R) / stride) + 1, the feature maps alike.

window, stride, padding: an int for all spatial axes or a sequence of one each. stride None is the window; the padding
must be less than it.
max: NaN wins; padding does not take part. Its gradient goes to the first largest element in (j, t, r, s) order.
avg: count_padding: padding counts as zeros; else the mean is of what lies inside.
l2: sqrt(sum of squares), its gradient dy x / y, 0 where y is 0.
Gradients add up over overlapping windows in ascending order: the same bits every time.

`argmax` (max only): a tensor of max_pool_argmax, where fprop writes which element of each window was the first largest.
From it bprop makes the same bits faster: with x = None and the gradient's shape from `out`, or with an x that is not
read. relu=True in fprop: x is the result of a relu, and the gradient will be the one in front of it.

`out` is written and returned, without it a new tensor: out = alpha * result + beta * out (beta = 0: not read). It
shares no memory with the others. Tensors are contiguous. With channels last x and its gradient may be slices of the
last axis, alike if both are given and x is read. A gradient that is a slice is rounded to nearest.
`rounding`: "nearest", or "stochastic" by `seed` and the counter `offset` to `bits` mantissa bits (0: the most).
`stream`: where the work is queued. ValueError for shapes and numbers that do not fit, TypeError for dtypes; nothing is
written then. The bits of a result depend on the arguments alone, not on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nervanagpu import _core
from nervanagpu._core import GPUTensor, Stream
from nervanagpu.calls.arguments import check_given, flag, integers, is_integer, shown, tensor
from nervanagpu.calls.options import Epilogue, keywords
from nervanagpu.calls.placement import place

if TYPE_CHECKING:
    from typing_extensions import Unpack

Ints = int | Sequence[int]
Quad = tuple[int, int, int, int]


def _quad(op: str, name: str, value: Ints, axes: int, fill: int) -> Quad:
    """(feature maps, depth, height, width); `fill` for what is not pooled over. axes = 4: feature maps and space."""
    several = not is_integer(value)
    numbers = integers(op, name, value) * (1 if several else axes)
    if axes == 4 and not several and value != fill:
        raise ValueError(f"{op}: {name} is {value}; needs 4 numbers (feature maps, depth, height, width)")
    if len(numbers) != axes:
        raise ValueError(f"{op}: {name} has {len(numbers)} numbers; needs {'1 or ' if axes < 4 else ''}{axes}")
    j, t, r, s = [fill] * (4 - axes) + numbers
    return j, t, r, s


def _geometry(
    op: str, axes: int, window: Ints, stride: Ints | None, padding: Ints, layout: str, count_padding: bool
) -> tuple[Quad, Quad, Quad, bool]:
    if not isinstance(layout, str):
        raise TypeError(f'{op}: layout is {shown(layout)}; needs a str, such as "NHWC"')
    if axes < 4 and len(layout) != axes + 2:
        raise ValueError(f"{op}: layout is {layout}; needs one of {axes + 2} letters")
    size = _quad(op, "window", window, axes, 1)
    step = size if stride is None else _quad(op, "stride", stride, axes, 1)
    return size, step, _quad(op, "padding", padding, axes, 0), count_padding


def _fprop(
    name: str, op: str, axes: int, x: GPUTensor, window: Ints, stride: Ints | None, padding: Ints, layout: str,
    count_padding: bool, out: GPUTensor | None, epilogue: Epilogue, stream: Stream | None,
    argmax: GPUTensor | None = None, relu: bool = False,
) -> GPUTensor:  # fmt: skip
    check_given(name, x=x, out=out, argmax=argmax)
    geometry = _geometry(name, axes, window, stride, padding, layout, count_padding)
    y = _core.pool_fprop(op, x, out, layout, geometry, epilogue, stream, argmax, flag(name, "relu", relu))
    return y if out is None else out


def _bprop(
    name: str, op: str, axes: int, dy: GPUTensor, x: GPUTensor | None, window: Ints, stride: Ints | None,
    padding: Ints, layout: str, count_padding: bool, out: GPUTensor | None, epilogue: Epilogue,
    stream: Stream | None, argmax: GPUTensor | None = None,
) -> GPUTensor:  # fmt: skip
    check_given(name, dy=dy, out=out, argmax=argmax)
    if x is not None or argmax is None:
        tensor(name, "x", x)
    geometry = _geometry(name, axes, window, stride, padding, layout, count_padding)
    dx = _core.pool_bprop(op, dy, x, out, layout, geometry, epilogue, stream, argmax)
    return dx if out is None else out


def argmax_bytes(name: str, x: GPUTensor, window: Ints, stride: Ints | None, padding: Ints, layout: str) -> int:
    """Bytes that `argmax` of a max pooling of x needs; `name` is who asks."""
    check_given(name, x=x)
    axes = len(layout) - 2 if isinstance(layout, str) else 2
    if axes not in (1, 2, 3):
        raise ValueError(f"{name}: layout is {layout}; needs 3 to 5 letters")
    return _core.pool_argmax_bytes("max", x, layout, _geometry(name, axes, window, stride, padding, layout, False))


def max_pool_argmax(
    x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NHWC",
) -> GPUTensor:  # fmt: skip
    """An empty uint8 tensor of the size that `argmax` of a max pooling of x needs; x gives its shape and dtype only.

    window, stride and padding as of max_pool1d, max_pool2d or max_pool3d: whichever has as many axes as `layout`.
    """
    return _core.empty((argmax_bytes("max_pool_argmax", x, window, stride, padding, layout),), "uint8")


@keywords(Epilogue)
def pool(
    x: GPUTensor, op: str, window: Sequence[int], stride: Sequence[int] | None = None, padding: Ints = 0,
    layout: str = "NDHWC", *, count_padding: bool = False, out: GPUTensor | None = None,
    argmax: GPUTensor | None = None, relu: bool = False, stream: Stream | None = None, **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """op ("max", "avg" or "l2") over windows (J, T, R, S) of feature maps, depth, height and width; stride and padding
    alike, four numbers each. With fewer axes (a layout like "NHWC") T, and in one dimension R, are 1."""
    return _fprop("pool", op, 4, x, window, stride, padding, layout, count_padding, out, epilogue, stream, argmax, relu)


@keywords(Epilogue)
def pool_bprop(
    dy: GPUTensor, x: GPUTensor | None, op: str, window: Sequence[int], stride: Sequence[int] | None = None,
    padding: Ints = 0, layout: str = "NDHWC", *, count_padding: bool = False, out: GPUTensor | None = None,
    argmax: GPUTensor | None = None, stream: Stream | None = None, **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The gradient of `pool` with respect to x: dx = alpha * gradient + beta * dx. avg reads no element of x."""
    return _bprop(
        "pool_bprop", op, 4, dy, x, window, stride, padding, layout, count_padding, out, epilogue, stream, argmax
    )


@keywords(Epilogue)
def max_pool1d(
    x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NWC", *,
    out: GPUTensor | None = None, argmax: GPUTensor | None = None, relu: bool = False, stream: Stream | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The largest element of each S window. Shapes, options and errors: the module's text."""
    return _fprop(
        "max_pool1d", "max", 1, x, window, stride, padding, layout, False, out, epilogue, stream, argmax, relu
    )


@keywords(Epilogue)
def max_pool1d_bprop(
    dy: GPUTensor, x: GPUTensor | None, window: Ints, stride: Ints | None = None, padding: Ints = 0,
    layout: str = "NWC", *, out: GPUTensor | None = None, argmax: GPUTensor | None = None,
    stream: Stream | None = None, **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The gradient of max_pool1d with respect to x, dy being that of its result."""
    return _bprop(
        "max_pool1d_bprop", "max", 1, dy, x, window, stride, padding, layout, False, out, epilogue, stream, argmax
    )


@keywords(Epilogue)
def avg_pool1d(
    x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NWC", *,
    count_padding: bool = False, out: GPUTensor | None = None, stream: Stream | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The mean of each S window. Shapes, options and errors: the module's text."""
    return _fprop("avg_pool1d", "avg", 1, x, window, stride, padding, layout, count_padding, out, epilogue, stream)


@keywords(Epilogue)
def avg_pool1d_bprop(
    dy: GPUTensor, x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NWC", *,
    count_padding: bool = False, out: GPUTensor | None = None, stream: Stream | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The gradient of avg_pool1d with respect to x, dy being that of its result."""
    return _bprop(
        "avg_pool1d_bprop", "avg", 1, dy, x, window, stride, padding, layout, count_padding, out, epilogue, stream
    )


@keywords(Epilogue)
def l2_pool1d(
    x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NWC", *,
    out: GPUTensor | None = None, stream: Stream | None = None, **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The root of the sum of squares of each S window. Shapes, options and errors: the module's text."""
    return _fprop("l2_pool1d", "l2", 1, x, window, stride, padding, layout, False, out, epilogue, stream)


@keywords(Epilogue)
def l2_pool1d_bprop(
    dy: GPUTensor, x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NWC", *,
    out: GPUTensor | None = None, stream: Stream | None = None, **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The gradient of l2_pool1d with respect to x, dy being that of its result."""
    return _bprop("l2_pool1d_bprop", "l2", 1, dy, x, window, stride, padding, layout, False, out, epilogue, stream)


@keywords(Epilogue)
def max_pool2d(
    x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NHWC", *,
    out: GPUTensor | None = None, argmax: GPUTensor | None = None, relu: bool = False, stream: Stream | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The largest element of each R x S window. Shapes, options and errors: the module's text."""
    return _fprop(
        "max_pool2d", "max", 2, x, window, stride, padding, layout, False, out, epilogue, stream, argmax, relu
    )


@keywords(Epilogue)
def max_pool2d_bprop(
    dy: GPUTensor, x: GPUTensor | None, window: Ints, stride: Ints | None = None, padding: Ints = 0,
    layout: str = "NHWC", *, out: GPUTensor | None = None, argmax: GPUTensor | None = None,
    stream: Stream | None = None, **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The gradient of max_pool2d with respect to x, dy being that of its result."""
    return _bprop(
        "max_pool2d_bprop", "max", 2, dy, x, window, stride, padding, layout, False, out, epilogue, stream, argmax
    )


@keywords(Epilogue)
def avg_pool2d(
    x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NHWC", *,
    count_padding: bool = False, out: GPUTensor | None = None, stream: Stream | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The mean of each R x S window. Shapes, options and errors: the module's text."""
    return _fprop("avg_pool2d", "avg", 2, x, window, stride, padding, layout, count_padding, out, epilogue, stream)


@keywords(Epilogue)
def avg_pool2d_bprop(
    dy: GPUTensor, x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NHWC", *,
    count_padding: bool = False, out: GPUTensor | None = None, stream: Stream | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The gradient of avg_pool2d with respect to x, dy being that of its result."""
    return _bprop(
        "avg_pool2d_bprop", "avg", 2, dy, x, window, stride, padding, layout, count_padding, out, epilogue, stream
    )


@keywords(Epilogue)
def l2_pool2d(
    x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NHWC", *,
    out: GPUTensor | None = None, stream: Stream | None = None, **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The root of the sum of squares of each R x S window. Shapes, options and errors: the module's text."""
    return _fprop("l2_pool2d", "l2", 2, x, window, stride, padding, layout, False, out, epilogue, stream)


@keywords(Epilogue)
def l2_pool2d_bprop(
    dy: GPUTensor, x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NHWC", *,
    out: GPUTensor | None = None, stream: Stream | None = None, **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The gradient of l2_pool2d with respect to x, dy being that of its result."""
    return _bprop("l2_pool2d_bprop", "l2", 2, dy, x, window, stride, padding, layout, False, out, epilogue, stream)


@keywords(Epilogue)
def max_pool3d(
    x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NDHWC", *,
    out: GPUTensor | None = None, argmax: GPUTensor | None = None, relu: bool = False, stream: Stream | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The largest element of each T x R x S window. Shapes, options and errors: the module's text."""
    return _fprop(
        "max_pool3d", "max", 3, x, window, stride, padding, layout, False, out, epilogue, stream, argmax, relu
    )


@keywords(Epilogue)
def max_pool3d_bprop(
    dy: GPUTensor, x: GPUTensor | None, window: Ints, stride: Ints | None = None, padding: Ints = 0,
    layout: str = "NDHWC", *, out: GPUTensor | None = None, argmax: GPUTensor | None = None,
    stream: Stream | None = None, **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The gradient of max_pool3d with respect to x, dy being that of its result."""
    return _bprop(
        "max_pool3d_bprop", "max", 3, dy, x, window, stride, padding, layout, False, out, epilogue, stream, argmax
    )


@keywords(Epilogue)
def avg_pool3d(
    x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NDHWC", *,
    count_padding: bool = False, out: GPUTensor | None = None, stream: Stream | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The mean of each T x R x S window. Shapes, options and errors: the module's text."""
    return _fprop("avg_pool3d", "avg", 3, x, window, stride, padding, layout, count_padding, out, epilogue, stream)


@keywords(Epilogue)
def avg_pool3d_bprop(
    dy: GPUTensor, x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NDHWC", *,
    count_padding: bool = False, out: GPUTensor | None = None, stream: Stream | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The gradient of avg_pool3d with respect to x, dy being that of its result."""
    return _bprop(
        "avg_pool3d_bprop", "avg", 3, dy, x, window, stride, padding, layout, count_padding, out, epilogue, stream
    )


@keywords(Epilogue)
def l2_pool3d(
    x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NDHWC", *,
    out: GPUTensor | None = None, stream: Stream | None = None, **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The root of the sum of squares of each T x R x S window. Shapes, options and errors: the module's text."""
    return _fprop("l2_pool3d", "l2", 3, x, window, stride, padding, layout, False, out, epilogue, stream)


@keywords(Epilogue)
def l2_pool3d_bprop(
    dy: GPUTensor, x: GPUTensor, window: Ints, stride: Ints | None = None, padding: Ints = 0, layout: str = "NDHWC", *,
    out: GPUTensor | None = None, stream: Stream | None = None, **epilogue: Unpack[Epilogue],
) -> GPUTensor:  # fmt: skip
    """The gradient of l2_pool3d with respect to x, dy being that of its result."""
    return _bprop("l2_pool3d_bprop", "l2", 3, dy, x, window, stride, padding, layout, False, out, epilogue, stream)


class PoolPlan(_core.PoolPlan):
    """A pass of a pooling that is computed many times, with its kernel chosen and its parameters packed once.

    Made from tensors such as those of the launches: dtypes, shapes, alignment. `which`, and what it takes:

        "fprop"    x, y      max_pool2d and so on; `argmax`, `relu`
        "bprop"    dy, dx    max_pool2d_bprop and so on; for "max" and "l2" `x`, or for "max" `argmax`

    op: "max", "avg" or "l2". window, stride, padding: as of the functions; four numbers (J, T, R, S) reach over feature
    maps, too. `layout` is "NWC", "NHWC" or "NDHWC" if not given. The other keywords are those of the functions. No
    tensor is kept.

    launch(in1, out, argmax=None, stream=None, *, x=None, offset=0): queues the pass on other tensors of the same form,
    with the bits of those functions. argmax and x are given just where they were planned. ValueError or TypeError for a
    tensor of another form or alignment, or one that is written and shares memory. `offset` is added to the planned one.
    plan(in1, out) is the same. Any thread, any stream; may be captured in a CUDA graph. `kernels`: their names, in
    order. `workspace`: 0, for it needs none.
    """

    @keywords(Epilogue)
    def __init__(
        self, which: str, op: str, in1: GPUTensor, out: GPUTensor, window: Ints, stride: Ints | None = None,
        padding: Ints = 0, layout: str | None = None, *, x: GPUTensor | None = None, argmax: GPUTensor | None = None,
        relu: bool = False, count_padding: bool = False, **epilogue: Unpack[Epilogue],
    ) -> None:  # fmt: skip
        """Choose the kernel. Nothing is launched."""
        name = "pool plan"
        check_given(name, in1=in1, out=out, x=x, argmax=argmax)
        axes = in1.ndim - 2
        if axes not in (1, 2, 3):
            raise ValueError(f"{name}: in1 has {in1.ndim} axes; needs 3, 4 or 5")
        layout = layout or ("NWC", "NHWC", "NDHWC")[axes - 1]
        maps = not is_integer(window) and len(integers(name, "window", window)) == 4
        geometry = _geometry(name, 4 if maps else axes, window, stride, padding, layout, count_padding)
        super().__init__(which, op, in1, out, x, argmax, layout, geometry, epilogue, flag(name, "relu", relu))


place(globals())
