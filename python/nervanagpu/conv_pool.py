"""A convolution, its relu and the max pool behind it, which need not write what lies between.

In one kernel for a first layer: at most four channels to at most 64 filters, a multiple of eight, float16 or bfloat16,
"NHWC", stride 1, an even width, and windows of 2 x 2 with a stride of 2. Else in two. The one kernel's sums are of 16
products along a line (docs/numerics.md, `narrow_swapped`); all else has the bits of conv2d and max_pool2d.
"""

from __future__ import annotations

from nervanagpu import _core
from nervanagpu._core import GPUTensor, Stream
from nervanagpu.arguments import flag
from nervanagpu.convolution import Ints, _check, _geometry
from nervanagpu.pooling import _geometry as _windows

_OP = "conv2d_max_pool2d"


def conv2d_max_pool2d(
    x: GPUTensor,
    w: GPUTensor,
    window: Ints,
    bias: GPUTensor | None = None,
    *,
    pool_stride: Ints | None = None,
    pool_padding: Ints = 0,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    layout: str = "NHWC",
    relu: bool = True,
    out: GPUTensor | None = None,
    argmax: GPUTensor | None = None,
    stream: Stream | None = None,
) -> GPUTensor:
    """max_pool2d(conv2d(x, w, bias, relu=relu), window): shapes, dtypes and errors as theirs; `out` is the pool's.

    pool_stride, pool_padding: the pool's stride (default: its window) and padding. argmax: uint8, of the length that
    conv2d_max_pool2d_argmax gives: the codes that max_pool2d_bprop reads, the relu's gradient among them.
    """
    _check(_OP, x=x, w=w, bias=bias, out=out, argmax=argmax)
    geometry = _geometry(_OP, stride, padding, dilation, 2)
    windows = _windows(_OP, 2, window, pool_stride, pool_padding, layout, False)
    last = (geometry, groups, 2, windows, argmax, stream)
    y = _core.conv_max_pool_fprop(x, w, out, bias, flag(_OP, "relu", relu), layout, *last)
    return y if out is None else out


def conv2d_max_pool2d_argmax(
    x: GPUTensor, w: GPUTensor, window: Ints, *, pool_stride: Ints | None = None, pool_padding: Ints = 0,
    stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1, groups: int = 1, layout: str = "NHWC",
) -> GPUTensor:  # fmt: skip
    """An empty tensor for the codes of conv2d_max_pool2d with these arguments. Errors as there."""
    op = "conv2d_max_pool2d_argmax"
    _check(op, x=x, w=w)
    geometry = _geometry(op, stride, padding, dilation, 2)
    windows = _windows(op, 2, window, pool_stride, pool_padding, layout, False)
    return _core.empty((_core.conv_max_pool_argmax_bytes(x, w, layout, geometry, groups, 2, windows),), "uint8")


def conv2d_max_pool2d_is_one_kernel(
    x: GPUTensor, w: GPUTensor, window: Ints, *, pool_stride: Ints | None = None, pool_padding: Ints = 0,
    stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1, groups: int = 1, layout: str = "NHWC", relu: bool = True,
) -> bool:  # fmt: skip
    """Whether conv2d_max_pool2d with these arguments, aligned to 16 bytes, is one kernel here. Errors as there."""
    op = "conv2d_max_pool2d_is_one_kernel"
    _check(op, x=x, w=w)
    geometry = _geometry(op, stride, padding, dilation, 2)
    windows = _windows(op, 2, window, pool_stride, pool_padding, layout, False)
    return _core.conv_max_pool_is_one_kernel(x, w, flag(op, "relu", relu), layout, geometry, groups, 2, windows)
