"""The small operations that layers need besides products, convolution and pooling: one simple kernel each.

Tensors are contiguous and float32, float16 or bfloat16, alike within a call, unless said otherwise; arithmetic is
float32. `out` is the tensor that is written and returned; without it, a new one. It may be the first tensor itself.

Where a call takes `rounding`: "nearest", or "stochastic" by `seed` and the counter `offset` to `bits` mantissa bits.
float16 has 1 to 10, bfloat16 1 to 7, float32 1 to 15; 0: the most. One call takes ceil(elements / 4) counter values.
`stream` is where the work is queued. A call that raises has written nothing: ValueError for shapes, strides, memory
and numbers that do not fit, TypeError for dtypes. The bits of results depend on the arguments alone, not on the device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor, Stream
from nervanagpu.calls.arguments import check_tensors
from nervanagpu.calls.options import Rounding, keywords
from nervanagpu.calls.placement import place

if TYPE_CHECKING:
    from typing_extensions import Unpack

ActivationName = Literal["identity", "relu", "leaky_relu", "tanh", "sigmoid"]


class Statistics(NamedTuple):
    """Of the absolute values of a tensor; NaN where one of them is."""

    mean_abs: float
    max_abs: float


def _result(op: str, out: GPUTensor | None, like: GPUTensor) -> GPUTensor:
    if out is None:
        return _core.empty(like.shape, like.dtype)
    check_tensors(op, out=out)
    return out


@keywords(Rounding)
def convert(
    x: GPUTensor,
    dtype: npt.DTypeLike | None = None,
    out: GPUTensor | None = None,
    *,
    stream: Stream | None = None,
    **rounding: Unpack[Rounding],
) -> GPUTensor:
    """The elements of `x` as `dtype`, contiguous, or in `out`, which has the shape of `x`.

    Both are float32, float16, bfloat16, int32, int8 or uint8, with any strides: this also changes layouts
    (`convert(x.transpose(0, 2, 3, 1), x.dtype)` makes NHWC of NCHW). Floats become integers by truncation and saturate,
    NaN becomes 0; integers keep their low bits.
    ValueError: more than 5 axes that cannot be joined, `out` overlapping `x`.
    """
    check_tensors("convert", x=x)
    if out is None:
        out = _core.empty(x.shape, x.dtype if dtype is None else dtype)
    else:
        check_tensors("convert", out=out)
        if dtype is not None and _core.dtype(dtype) != out.dtype:
            raise TypeError(f"convert: dtype is {_core.dtype(dtype)} but out has {out.dtype}; needs one of them")
    _core.nn_convert(x, out, rounding, stream)
    return out


@keywords(Rounding)
def add(
    a: GPUTensor,
    b: GPUTensor,
    out: GPUTensor | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    *,
    stream: Stream | None = None,
    **rounding: Unpack[Rounding],
) -> GPUTensor:
    """out = alpha * a + beta * b, of one shape; `out` may be a or b. With beta = 0, `b` is not read."""
    check_tensors("add", a=a, b=b)
    out = _result("add", out, a)
    _core.nn_add(a, b, out, alpha, beta, rounding, stream)
    return out


@keywords(Rounding)
def activation(
    kind: ActivationName,
    x: GPUTensor,
    out: GPUTensor | None = None,
    slope: float = 0.01,
    *,
    stream: Stream | None = None,
    **rounding: Unpack[Rounding],
) -> GPUTensor:
    """out = f(x). slope: what leaky_relu multiplies negative numbers by, 0 or more."""
    check_tensors("activation", x=x)
    out = _result("activation", out, x)
    _core.nn_activation(kind, x, out, slope, rounding, stream)
    return out


@keywords(Rounding)
def activation_bprop(
    kind: ActivationName,
    y: GPUTensor,
    dy: GPUTensor,
    out: GPUTensor | None = None,
    slope: float = 0.01,
    *,
    stream: Stream | None = None,
    **rounding: Unpack[Rounding],
) -> GPUTensor:
    """out = dy * f'(x), found from y = f(x); `out` may be y or dy. The gradient of relu at 0 is 0."""
    check_tensors("activation_bprop", y=y, dy=dy)
    out = _result("activation_bprop", out, dy)
    _core.nn_activation_bprop(kind, y, dy, out, slope, rounding, stream)
    return out


@keywords(Rounding)
def bias_add(
    x: GPUTensor,
    bias: GPUTensor,
    out: GPUTensor | None = None,
    channel_last: bool = True,
    *,
    stream: Stream | None = None,
    **rounding: Unpack[Rounding],
) -> GPUTensor:
    """out[..., j] = x[..., j] + bias[j], or with channel_last=False out[i, ...] = x[i, ...] + bias[i].

    bias: one axis, float32, float16 or bfloat16 whatever `x` is.
    """
    check_tensors("bias_add", x=x, bias=bias)
    out = _result("bias_add", out, x)
    _core.nn_bias_add(x, bias, channel_last, out, rounding, stream)
    return out


@keywords(Rounding)
def bias_grad(
    dy: GPUTensor,
    out: GPUTensor | None = None,
    channel_last: bool = True,
    alpha: float = 1.0,
    beta: float = 0.0,
    *,
    stream: Stream | None = None,
    **rounding: Unpack[Rounding],
) -> GPUTensor:
    """out = alpha * (the sum of dy over all axes but the last, or the first) + beta * out, in a fixed order.

    out: one axis, float32, float16 or bfloat16 whatever `dy` is. With beta = 0 it is not read.
    """
    check_tensors("bias_grad", dy=dy)
    if out is None:
        if dy.ndim == 0:
            raise ValueError("bias_grad: dy has no axis; needs 1 or more")
        out = _core.full((dy.shape[-1 if channel_last else 0],), 0.0, dy.dtype)
    check_tensors("bias_grad", out=out)
    _core.nn_bias_grad(dy, channel_last, out, alpha, beta, rounding, stream)
    return out


@keywords(Rounding)
def sgd_update(
    w: GPUTensor,
    velocity: GPUTensor,
    grad: GPUTensor,
    lr: float,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    master: GPUTensor | None = None,
    *,
    stream: Stream | None = None,
    **rounding: Unpack[Rounding],
) -> None:
    """g = grad + weight_decay * w; velocity = momentum * velocity + g; w = w - lr * velocity.

    lr, weight_decay: finite, 0 or more; momentum: 0 or more and less than 1.
    One shape; each float32, or all others float16 or all bfloat16. master: the float32 weights that are updated, w
    then being their copy, rounded by `rounding`. With momentum = 0, `velocity` is not read. No two share memory.
    """
    check_tensors("sgd_update", w=w, velocity=velocity, grad=grad)
    if master is not None:
        check_tensors("sgd_update", master=master)
    _core.nn_sgd_update(w, master, velocity, grad, lr, momentum, weight_decay, rounding, stream)


def softmax(logits: GPUTensor, out: GPUTensor | None = None, *, stream: Stream | None = None) -> GPUTensor:
    """The softmax of each row of logits (rows, classes)."""
    check_tensors("softmax", logits=logits)
    out = _result("softmax", out, logits)
    _core.nn_softmax(logits, None, out, None, stream)
    return out


def softmax_loss(
    logits: GPUTensor,
    labels: GPUTensor,
    out: GPUTensor | None = None,
    loss: GPUTensor | None = None,
    *,
    stream: Stream | None = None,
) -> tuple[GPUTensor, GPUTensor]:
    """(out, loss): the softmax of each row of logits (rows, classes), and -log(out[row, labels[row]]), float32 (rows,).

    labels: int32 (rows,); one that is no class gives a NaN loss.
    """
    check_tensors("softmax", logits=logits, labels=labels)
    out = _result("softmax", out, logits)
    if loss is None:
        loss = _core.empty(labels.shape, np.float32)
    check_tensors("softmax", loss=loss)
    _core.nn_softmax(logits, labels, out, loss, stream)
    return out, loss


@keywords(Rounding)
def softmax_bprop(
    probs: GPUTensor,
    labels: GPUTensor,
    scale: float = 1.0,
    out: GPUTensor | None = None,
    *,
    stream: Stream | None = None,
    **rounding: Unpack[Rounding],
) -> GPUTensor:
    """out = scale * (probs - onehot(labels)): the logits' gradient of `scale` times the sum of the losses."""
    check_tensors("softmax_bprop", probs=probs, labels=labels)
    out = _result("softmax_bprop", out, probs)
    _core.nn_softmax_bprop(probs, labels, out, scale, rounding, stream)
    return out


def dropout(
    x: GPUTensor,
    keep: float,
    seed: int,
    offset: int = 0,
    out: GPUTensor | None = None,
    *,
    rounding: str = "nearest",
    rounding_seed: int = 0,
    rounding_offset: int = 0,
    bits: int = 0,
    stream: Stream | None = None,
) -> GPUTensor:
    """out[i] = x[i] / keep where element i is kept (with probability `keep`, 0 < keep <= 1), else 0.

    Element i (row-major) is kept if word i % 4 of Philox4x32-10(seed, offset + i / 4) is less than keep * 2**32. The
    same seed and offset give the same mask: called with the gradient, this is its gradient.
    """
    check_tensors("dropout", x=x)
    out = _result("dropout", out, x)
    how: Rounding = {"rounding": rounding, "seed": rounding_seed, "offset": rounding_offset, "bits": bits}
    _core.nn_dropout(x, out, keep, seed, offset, how, stream)
    return out


def statistics(x: GPUTensor, *, stream: Stream | None = None) -> Statistics:
    """The mean and the largest absolute value of `x`; waits for the work queued before."""
    check_tensors("statistics", x=x)
    return Statistics(*_core.nn_statistics(x, stream))


place(globals())
