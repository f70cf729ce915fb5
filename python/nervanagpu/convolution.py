"""Convolution in one, two and three dimensions, its gradients, and transposed convolution.

Layouts and shapes, for two dimensions (three: D before H, T before R; one: W and S alone):

    layout            x              w                  y
    "NHWC"            (N, H, W, C)   (K, R, S, C/g)     (N, P, Q, K)
    "CHWN"            (C, H, W, N)   (C/g, R, S, K)     (K, P, Q, N)
    "NCHW"            (N, C, H, W)   (K, C/g, R, S)     (N, K, P, Q)     computed through copies in another layout

P = floor((H + 2 padding - dilation (R - 1) - 1) / stride) + 1, Q alike. `stride`, `padding` and `dilation` are an int
for all axes or a sequence of one each; g is `groups`. Tensors are contiguous. With channels last x, dx, y and dy may
be slices of the last axis, as wide[..., 64:192], read and written in place.

Dtypes are float32, float16 or bfloat16, all alike, with float32 sums. x may be int8 or uint8 beside float tensors
(fprop and update: a first layer), or beside an int8 w. Sums of bytes are int32, modulo 2^32. y is then int32, float32
or int8: the dtype of `out`, else float32 if there is a `scale`, else int32. float32 and int8 take the sums as floats,
times alpha and `scale`: a number, or float32 (K,), a factor for each filter. int8 is rounded half to even, or
stochastically, saturates, and has 0 for NaN.

`out` is written and returned, without it a new tensor: out = alpha * result + beta * out (beta = 0: not read).
`activation` of a convolution is what act is, of float32 numbers, for a float or int8 y. It is one of products but
"drelu" (docs/gemm.md), such as "gelu", or "clip" between the bounds `clip` = (low, high).
`rounding`: "nearest", or "stochastic" by `seed` and the counter `offset` to `bits` mantissa bits (0: the most).
`tensor_cores`: float16 and bfloat16 are multiplied by the tensor cores of sm_90a, 16 products at a time, where the copy
engine can gather them (docs/convolution.md). False: all sums are of multiply-adds.
`precision`: of float32, "strict" or "tensor"; None: what `ng.precision` has set.
`mask`: uint32 or int32 of the shape of `out`, but with ceil(last / 32) words for its last axis. Bit j % 32 of word
j / 32 belongs to element j. A convolution with relu writes there whether what it stored is above 0. A data gradient
given the bits of x is 0 where they are 0: the gradient in front of the relu that made x. `channel_sum`,
`channel_sum_squares` of a convolution or data gradient: float32, a number for each channel of a float `out`. The sum of
its elements, as they are stored, and that of their squares are written there. `stream`: where the work is queued.
`x_pieces`, `dy_pieces`: `SharedPieces` of x and dy, of precision "tensor". A convolution leaves those of x there, a
data gradient those of dy, and the filters' gradient takes them. So each is split once, not twice.
ValueError for shapes and numbers that do not fit, TypeError for dtypes; nothing is written then. The bits of a result
depend on the arguments and where they begin, not on the GPU, but for those of the tensor cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from nervanagpu import _core
from nervanagpu._core import GPUTensor, SharedPieces, Stream
from nervanagpu.arrays.creation import Shape
from nervanagpu.calls.arguments import check_given, integers, is_integer, number
from nervanagpu.calls.options import Epilogue, check_clip, keywords
from nervanagpu.calls.placement import place
from nervanagpu.calls.precision_setting import at

if TYPE_CHECKING:
    from typing_extensions import Unpack

Ints = int | Sequence[int]
Triple = tuple[int, int, int]
Clip = tuple[float, float]
Scale = GPUTensor | float


def _spatial(op: str, name: str, value: Ints, axes: int, fill: int) -> Triple:
    """One number for each spatial axis, `fill` for those that the problem does not have."""
    numbers = integers(op, name, value) * (axes if is_integer(value) else 1)
    if len(numbers) != axes:
        raise ValueError(f"{op}: {name} has {len(numbers)} numbers; needs 1 or {axes}")
    three = [fill] * (3 - axes) + numbers
    return three[0], three[1], three[2]


def _geometry(op: str, stride: Ints, padding: Ints, dilation: Ints, axes: int) -> tuple[Triple, Triple, Triple]:
    return (
        _spatial(op, "padding", padding, axes, 0),
        _spatial(op, "stride", stride, axes, 1),
        _spatial(op, "dilation", dilation, axes, 1),
    )


class Finish(NamedTuple):
    """What comes after the sums of a convolution, as the compiled module takes it."""

    activation: str
    clip: Clip
    scale: GPUTensor | None


def _finish(
    op: str, activation: str | None, clip: Clip | None, scale: Scale | None, epilogue: Epilogue, x: GPUTensor,
    w: GPUTensor, out: GPUTensor | None,
) -> tuple[Finish, Epilogue]:  # fmt: skip
    """A scale that is one number is in alpha."""
    check_clip(op, activation, clip)
    if activation == "drelu":
        raise ValueError(f"{op}: activation is 'drelu'; needs one of a forward pass (a data gradient takes mask)")
    by_filter = scale if isinstance(scale, GPUTensor) else None
    if scale is not by_filter:
        y = "float32" if out is None else str(out.dtype)
        if str(w.dtype) != "int8" or y == "int32":
            needs = "needs fprop of bytes with a float32 or int8 y"
            raise ValueError(f"{op}: scale is given but y is {y} of x {x.dtype}; {needs}")
        alpha = number(op, "alpha", epilogue.get("alpha", 1.0)) * number(op, "scale", scale)
        epilogue = {**epilogue, "alpha": alpha}
    return Finish(activation or "none", clip or (0.0, 0.0), by_filter), epilogue


def _fprop(
    axes: int, x: GPUTensor, w: GPUTensor, bias: GPUTensor | None, stride: Ints, padding: Ints, dilation: Ints,
    groups: int, layout: str, relu: bool, out: GPUTensor | None, epilogue: Epilogue, tensor_cores: bool,
    mask: GPUTensor | None, stream: Stream | None, activation: str | None, clip: Clip | None, scale: Scale | None,
    channel_sum: GPUTensor | None, channel_sum_squares: GPUTensor | None, precision: str | None,
    x_pieces: SharedPieces | None,
) -> GPUTensor:  # fmt: skip
    op = f"conv{axes}d"
    check_given(op, x=x, w=w, bias=bias, out=out, mask=mask, channel_sum=channel_sum,
           channel_sum_squares=channel_sum_squares)  # fmt: skip
    geometry = _geometry(op, stride, padding, dilation, axes)
    finish, epilogue = _finish(op, activation, clip, scale, epilogue, x, w, out)
    sums = (channel_sum, channel_sum_squares)
    last = (epilogue, tensor_cores, mask, sums, stream, *finish, scale is not None, x_pieces)
    with at(precision):
        y = _core.conv_fprop(x, w, out, bias, relu, layout, geometry, groups, axes, *last)
    return y if out is None else out


def _bprop(
    axes: int, dy: GPUTensor, w: GPUTensor, x_shape: Shape, stride: Ints, padding: Ints, dilation: Ints,
    groups: int, layout: str, out: GPUTensor | None, epilogue: Epilogue, tensor_cores: bool,
    mask: GPUTensor | None, stream: Stream | None, channel_sum: GPUTensor | None,
    channel_sum_squares: GPUTensor | None, precision: str | None, dy_pieces: SharedPieces | None,
) -> GPUTensor:  # fmt: skip
    op = f"conv{axes}d_bprop"
    check_given(op, dy=dy, w=w, out=out, mask=mask, channel_sum=channel_sum,
           channel_sum_squares=channel_sum_squares)  # fmt: skip
    geometry = _geometry(op, stride, padding, dilation, axes)
    last = (epilogue, tensor_cores, mask, (channel_sum, channel_sum_squares), stream, dy_pieces)
    with at(precision):
        dx = _core.conv_bprop(dy, w, out, x_shape, layout, geometry, groups, axes, *last)
    return dx if out is None else out


def _update(
    axes: int, dy: GPUTensor, x: GPUTensor, w_shape: Shape, stride: Ints, padding: Ints, dilation: Ints,
    groups: int, layout: str, out: GPUTensor | None, epilogue: Epilogue, tensor_cores: bool,
    stream: Stream | None, precision: str | None, x_pieces: SharedPieces | None, dy_pieces: SharedPieces | None,
) -> GPUTensor:  # fmt: skip
    op = f"conv{axes}d_update"
    check_given(op, dy=dy, x=x, out=out)
    geometry = _geometry(op, stride, padding, dilation, axes)
    last = (epilogue, tensor_cores, stream, x_pieces, dy_pieces)
    with at(precision):
        dw = _core.conv_update(dy, x, out, w_shape, layout, geometry, groups, axes, *last)
    return dw if out is None else out


def _deconv(
    axes: int, x: GPUTensor, w: GPUTensor, stride: Ints, padding: Ints, dilation: Ints, groups: int, layout: str,
    output_padding: Ints, out: GPUTensor | None, epilogue: Epilogue, tensor_cores: bool,
    stream: Stream | None, precision: str | None,
) -> GPUTensor:  # fmt: skip
    op = f"deconv{axes}d"
    check_given(op, x=x, w=w, out=out)
    geometry = _geometry(op, stride, padding, dilation, axes)
    more = _spatial(op, "output_padding", output_padding, axes, 0)[3 - axes :]
    if x.ndim != axes + 2 or w.ndim != axes + 2:
        raise ValueError(f"{op}: x has {x.ndim} axes and w {w.ndim}; needs {axes + 2} each")
    batch_last, channels_first = layout.startswith("C"), layout.startswith("NC")
    first = 2 if channels_first else 1  # of the spatial axes, in x and in w
    shape = list(x.shape)
    shape[0 if batch_last else 1 if channels_first else -1] = (
        w.shape[0 if batch_last else 1 if channels_first else -1] * groups
    )
    pad, step, spread = (g[3 - axes :] for g in geometry)
    for i in range(axes):
        if not 0 <= more[i] < max(step[i], spread[i]):
            raise ValueError(f"{op}: output_padding is {more[i]}; needs 0 or more and less than stride or dilation")
        taps = w.shape[first + i]
        shape[first + i] = (x.shape[first + i] - 1) * step[i] - 2 * pad[i] + spread[i] * (taps - 1) + 1 + more[i]
    last = (epilogue, tensor_cores, None, (None, None), stream, None)
    with at(precision):
        y = _core.conv_bprop(x, w, out, tuple(shape), layout, geometry, groups, axes, *last)
    return y if out is None else out


@keywords(Epilogue)
def conv1d(
    x: GPUTensor,
    w: GPUTensor,
    bias: GPUTensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NWC",
    relu: bool = False,
    *,
    out: GPUTensor | None = None,
    tensor_cores: bool = True,
    precision: str | None = None,
    mask: GPUTensor | None = None,
    stream: Stream | None = None,
    activation: str | None = None,
    clip: Clip | None = None,
    scale: Scale | None = None,
    channel_sum: GPUTensor | None = None,
    channel_sum_squares: GPUTensor | None = None,
    x_pieces: SharedPieces | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:
    """y = act(alpha * (x * w) + beta * y + bias) in one dimension; bias (K,), float32 or of the dtype of y.

    relu: act is max(x, 0); or any `activation`. The shapes, dtypes, options and errors of this and all functions here:
    the module's text.
    """
    return _fprop(
        1, x, w, bias, stride, padding, dilation, groups, layout, relu, out, epilogue, tensor_cores, mask, stream,
        activation, clip, scale, channel_sum, channel_sum_squares, precision, x_pieces,
    )  # fmt: skip


@keywords(Epilogue)
def conv1d_bprop(
    dy: GPUTensor,
    w: GPUTensor,
    x_shape: Shape,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NWC",
    *,
    out: GPUTensor | None = None,
    tensor_cores: bool = True,
    precision: str | None = None,
    mask: GPUTensor | None = None,
    stream: Stream | None = None,
    channel_sum: GPUTensor | None = None,
    channel_sum_squares: GPUTensor | None = None,
    dy_pieces: SharedPieces | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:
    """The gradient of conv1d with respect to x, of shape `x_shape`: dx = alpha * (dy * w transposed) + beta * dx."""
    return _bprop(
        1, dy, w, x_shape, stride, padding, dilation, groups, layout, out, epilogue, tensor_cores, mask, stream,
        channel_sum, channel_sum_squares, precision, dy_pieces,
    )  # fmt: skip


@keywords(Epilogue)
def conv1d_update(
    dy: GPUTensor,
    x: GPUTensor,
    w_shape: Shape,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NWC",
    *,
    out: GPUTensor | None = None,
    tensor_cores: bool = True,
    precision: str | None = None,
    stream: Stream | None = None,
    x_pieces: SharedPieces | None = None,
    dy_pieces: SharedPieces | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:
    """The gradient of conv1d with respect to w, of shape `w_shape`: dw = alpha * (sum over dy x) + beta * dw.

    The sum over batch and positions is split in a way that depends on the problem alone, and added up in order.
    """
    return _update(
        1, dy, x, w_shape, stride, padding, dilation, groups, layout, out, epilogue, tensor_cores, stream, precision,
        x_pieces, dy_pieces,
    )  # fmt: skip


@keywords(Epilogue)
def deconv1d(
    x: GPUTensor,
    w: GPUTensor,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NWC",
    output_padding: Ints = 0,
    *,
    out: GPUTensor | None = None,
    tensor_cores: bool = True,
    precision: str | None = None,
    stream: Stream | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:
    """Transposed convolution: the data gradient of a conv1d whose output has the shape of x.

    w is that convolution's filter: its K are the channels of x, its C the channels of the result. A spatial length of
    the result is (P - 1) stride - 2 padding + dilation (R - 1) + 1 + output_padding.
    """
    return _deconv(
        1, x, w, stride, padding, dilation, groups, layout, output_padding, out, epilogue, tensor_cores, stream,
        precision,
    )  # fmt: skip


@keywords(Epilogue)
def conv2d(
    x: GPUTensor,
    w: GPUTensor,
    bias: GPUTensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NHWC",
    relu: bool = False,
    *,
    out: GPUTensor | None = None,
    tensor_cores: bool = True,
    precision: str | None = None,
    mask: GPUTensor | None = None,
    stream: Stream | None = None,
    activation: str | None = None,
    clip: Clip | None = None,
    scale: Scale | None = None,
    channel_sum: GPUTensor | None = None,
    channel_sum_squares: GPUTensor | None = None,
    x_pieces: SharedPieces | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:
    """y = act(alpha * (x * w) + beta * y + bias) in two dimensions; bias (K,), float32 or of the dtype of y.

    relu: act is max(x, 0); or any `activation`. The shapes, dtypes, options and errors of this and all functions here:
    the module's text.
    """
    return _fprop(
        2, x, w, bias, stride, padding, dilation, groups, layout, relu, out, epilogue, tensor_cores, mask, stream,
        activation, clip, scale, channel_sum, channel_sum_squares, precision, x_pieces,
    )  # fmt: skip


@keywords(Epilogue)
def conv2d_bprop(
    dy: GPUTensor,
    w: GPUTensor,
    x_shape: Shape,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NHWC",
    *,
    out: GPUTensor | None = None,
    tensor_cores: bool = True,
    precision: str | None = None,
    mask: GPUTensor | None = None,
    stream: Stream | None = None,
    channel_sum: GPUTensor | None = None,
    channel_sum_squares: GPUTensor | None = None,
    dy_pieces: SharedPieces | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:
    """The gradient of conv2d with respect to x, of shape `x_shape`: dx = alpha * (dy * w transposed) + beta * dx."""
    return _bprop(
        2, dy, w, x_shape, stride, padding, dilation, groups, layout, out, epilogue, tensor_cores, mask, stream,
        channel_sum, channel_sum_squares, precision, dy_pieces,
    )  # fmt: skip


@keywords(Epilogue)
def conv2d_update(
    dy: GPUTensor,
    x: GPUTensor,
    w_shape: Shape,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NHWC",
    *,
    out: GPUTensor | None = None,
    tensor_cores: bool = True,
    precision: str | None = None,
    stream: Stream | None = None,
    x_pieces: SharedPieces | None = None,
    dy_pieces: SharedPieces | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:
    """The gradient of conv2d with respect to w, of shape `w_shape`: dw = alpha * (sum over dy x) + beta * dw.

    The sum over batch and positions is split in a way that depends on the problem alone, and added up in order.
    """
    return _update(
        2, dy, x, w_shape, stride, padding, dilation, groups, layout, out, epilogue, tensor_cores, stream, precision,
        x_pieces, dy_pieces,
    )  # fmt: skip


@keywords(Epilogue)
def deconv2d(
    x: GPUTensor,
    w: GPUTensor,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NHWC",
    output_padding: Ints = 0,
    *,
    out: GPUTensor | None = None,
    tensor_cores: bool = True,
    precision: str | None = None,
    stream: Stream | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:
    """Transposed convolution: the data gradient of a conv2d whose output has the shape of x.

    w is that convolution's filter: its K are the channels of x, its C the channels of the result. A spatial length of
    the result is (P - 1) stride - 2 padding + dilation (R - 1) + 1 + output_padding.
    """
    return _deconv(
        2, x, w, stride, padding, dilation, groups, layout, output_padding, out, epilogue, tensor_cores, stream,
        precision,
    )  # fmt: skip


@keywords(Epilogue)
def conv3d(
    x: GPUTensor,
    w: GPUTensor,
    bias: GPUTensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NDHWC",
    relu: bool = False,
    *,
    out: GPUTensor | None = None,
    tensor_cores: bool = True,
    precision: str | None = None,
    mask: GPUTensor | None = None,
    stream: Stream | None = None,
    activation: str | None = None,
    clip: Clip | None = None,
    scale: Scale | None = None,
    channel_sum: GPUTensor | None = None,
    channel_sum_squares: GPUTensor | None = None,
    x_pieces: SharedPieces | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:
    """y = act(alpha * (x * w) + beta * y + bias) in three dimensions; bias (K,), float32 or of the dtype of y.

    relu: act is max(x, 0); or any `activation`. The shapes, dtypes, options and errors of this and all functions here:
    the module's text.
    """
    return _fprop(
        3, x, w, bias, stride, padding, dilation, groups, layout, relu, out, epilogue, tensor_cores, mask, stream,
        activation, clip, scale, channel_sum, channel_sum_squares, precision, x_pieces,
    )  # fmt: skip


@keywords(Epilogue)
def conv3d_bprop(
    dy: GPUTensor,
    w: GPUTensor,
    x_shape: Shape,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NDHWC",
    *,
    out: GPUTensor | None = None,
    tensor_cores: bool = True,
    precision: str | None = None,
    mask: GPUTensor | None = None,
    stream: Stream | None = None,
    channel_sum: GPUTensor | None = None,
    channel_sum_squares: GPUTensor | None = None,
    dy_pieces: SharedPieces | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:
    """The gradient of conv3d with respect to x, of shape `x_shape`: dx = alpha * (dy * w transposed) + beta * dx."""
    return _bprop(
        3, dy, w, x_shape, stride, padding, dilation, groups, layout, out, epilogue, tensor_cores, mask, stream,
        channel_sum, channel_sum_squares, precision, dy_pieces,
    )  # fmt: skip


@keywords(Epilogue)
def conv3d_update(
    dy: GPUTensor,
    x: GPUTensor,
    w_shape: Shape,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NDHWC",
    *,
    out: GPUTensor | None = None,
    tensor_cores: bool = True,
    precision: str | None = None,
    stream: Stream | None = None,
    x_pieces: SharedPieces | None = None,
    dy_pieces: SharedPieces | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:
    """The gradient of conv3d with respect to w, of shape `w_shape`: dw = alpha * (sum over dy x) + beta * dw.

    The sum over batch and positions is split in a way that depends on the problem alone, and added up in order.
    """
    return _update(
        3, dy, x, w_shape, stride, padding, dilation, groups, layout, out, epilogue, tensor_cores, stream, precision,
        x_pieces, dy_pieces,
    )  # fmt: skip


@keywords(Epilogue)
def deconv3d(
    x: GPUTensor,
    w: GPUTensor,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NDHWC",
    output_padding: Ints = 0,
    *,
    out: GPUTensor | None = None,
    tensor_cores: bool = True,
    precision: str | None = None,
    stream: Stream | None = None,
    **epilogue: Unpack[Epilogue],
) -> GPUTensor:
    """Transposed convolution: the data gradient of a conv3d whose output has the shape of x.

    w is that convolution's filter: its K are the channels of x, its C the channels of the result. A spatial length of
    the result is (P - 1) stride - 2 padding + dilation (R - 1) + 1 + output_padding.
    """
    return _deconv(
        3, x, w, stride, padding, dilation, groups, layout, output_padding, out, epilogue, tensor_cores, stream,
        precision,
    )  # fmt: skip


class ConvPlan(_core.ConvPlan):
    """A pass of a convolution that is computed many times, with its kernels chosen and their parameters packed once.

    Made from tensors such as those of the launches: dtypes, shapes, strides, alignment. `which`, and what it takes:

        "fprop"    x, w, y      conv1d, conv2d or conv3d; `bias`, `relu`, `mask`, `activation`, `clip`, `scale`, sums
        "bprop"    dy, w, dx    conv1d_bprop and so on; `mask`, sums
        "update"   dy, x, dw    conv1d_update and so on

    Keywords as those of these functions; `layout` is "NWC", "NHWC" or "NDHWC" if not given. No tensor is kept.

    launch(in1, in2, out, bias=None, mask=None, stream=None, *, workspace=None, offset=0, scale=None, channel_sum=None,
    channel_sum_squares=None): queues the pass on other tensors of the same form. The bits are those of the functions.
    A bias, a mask, a scale or sums are given just where they were planned; a scale that is a number remains as planned.
    ValueError or TypeError for a tensor of another form or alignment, or one that is written and shares memory.
    `workspace`: a contiguous tensor of `workspace` bytes, for launches that do not overlap; without it the memory pool
    has it. `offset` is added to the planned one. plan(x, w, y) is the same. Any thread, any stream; may be captured in
    a CUDA graph. `kernels`: their names, in order.
    """

    @keywords(Epilogue)
    def __init__(
        self,
        which: str,
        in1: GPUTensor,
        in2: GPUTensor,
        out: GPUTensor,
        stride: Ints = 1,
        padding: Ints = 0,
        dilation: Ints = 1,
        groups: int = 1,
        layout: str | None = None,
        relu: bool = False,
        *,
        bias: GPUTensor | None = None,
        mask: GPUTensor | None = None,
        tensor_cores: bool = True,
        precision: str | None = None,
        activation: str | None = None,
        clip: Clip | None = None,
        scale: Scale | None = None,
        channel_sum: GPUTensor | None = None,
        channel_sum_squares: GPUTensor | None = None,
        **epilogue: Unpack[Epilogue],
    ) -> None:
        """Choose the kernels. Nothing is launched."""
        op = "conv plan"
        check_given(op, in1=in1, in2=in2, out=out, bias=bias, mask=mask, channel_sum=channel_sum,
               channel_sum_squares=channel_sum_squares)  # fmt: skip
        axes = in1.ndim - 2
        if axes not in (1, 2, 3):
            raise ValueError(f"{op}: in1 has {in1.ndim} axes; needs 3, 4 or 5")
        geometry = _geometry(op, stride, padding, dilation, axes)
        name = layout or ("NWC", "NHWC", "NDHWC")[axes - 1]
        finish, epilogue = _finish(op, activation, clip, scale, epilogue, in1, in2, out)
        last = (epilogue, tensor_cores, mask, (channel_sum, channel_sum_squares), *finish)
        with at(precision):
            super().__init__(which, in1, in2, out, bias, relu, name, geometry, groups, axes, *last)


place(globals())
