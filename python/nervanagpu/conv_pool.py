"""A convolution, its relu and the max pool after it, which need not write what lies between.

In one kernel for a first layer of float16 or bfloat16, "NHWC", stride 1 and an even width. It has at most four
channels, at most 64 filters, a multiple of eight, and windows of 2 x 2 with a stride of 2. Else in two. The one
kernel's sums are of 16 products along a line (docs/numerics.md, `narrow_swapped`); all else has the bits of conv2d and
max_pool2d.
"""

from __future__ import annotations

from nervanagpu import _core
from nervanagpu._core import GPUTensor, Stream
from nervanagpu.calls.arguments import check_given, flag
from nervanagpu.convolution import Ints, Triple, _geometry
from nervanagpu.pooling import Quad
from nervanagpu.pooling import _geometry as _windows

Problem = tuple[tuple[Triple, Triple, Triple], int, int, tuple[Quad, Quad, Quad, bool]]


def _problem(
    op: str, window: Ints, pool_stride: Ints | None, pool_padding: Ints, stride: Ints, padding: Ints, dilation: Ints,
    groups: int, layout: str,
) -> Problem:  # fmt: skip
    """Of the convolution and of the pool, as the compiled module takes them."""
    geometry = _geometry(op, stride, padding, dilation, 2)
    return geometry, groups, 2, _windows(op, 2, window, pool_stride, pool_padding, layout, False)


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
    op = "conv2d_max_pool2d"
    check_given(op, x=x, w=w, bias=bias, out=out, argmax=argmax)
    problem = _problem(op, window, pool_stride, pool_padding, stride, padding, dilation, groups, layout)
    y = _core.conv_max_pool_fprop(x, w, out, bias, flag(op, "relu", relu), layout, *problem, argmax, stream)
    return y if out is None else out


def conv2d_max_pool2d_argmax(
    x: GPUTensor, w: GPUTensor, window: Ints, *, pool_stride: Ints | None = None, pool_padding: Ints = 0,
    stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1, groups: int = 1, layout: str = "NHWC",
) -> GPUTensor:  # fmt: skip
    """An empty tensor for the codes of conv2d_max_pool2d with these arguments. Errors as there."""
    op = "conv2d_max_pool2d_argmax"
    check_given(op, x=x, w=w)
    problem = _problem(op, window, pool_stride, pool_padding, stride, padding, dilation, groups, layout)
    return _core.empty((_core.conv_max_pool_argmax_bytes(x, w, layout, *problem),), "uint8")


def conv2d_max_pool2d_is_one_kernel(
    x: GPUTensor, w: GPUTensor, window: Ints, *, pool_stride: Ints | None = None, pool_padding: Ints = 0,
    stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1, groups: int = 1, layout: str = "NHWC", relu: bool = True,
) -> bool:  # fmt: skip
    """Whether conv2d_max_pool2d with these arguments, aligned to 16 bytes, is one kernel here. Errors as there."""
    op = "conv2d_max_pool2d_is_one_kernel"
    check_given(op, x=x, w=w)
    problem = _problem(op, window, pool_stride, pool_padding, stride, padding, dilation, groups, layout)
    return _core.conv_max_pool_is_one_kernel(x, w, flag(op, "relu", relu), layout, *problem)
