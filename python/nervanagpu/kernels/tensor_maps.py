"""Tensor maps: what the copy engine of sm_90a is told about a tensor, as arguments of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import check_tensors, integers


@dataclass(frozen=True)
class Im2col:
    """Columns of pixels of a tensor (N, [D, [H,]] W, C) instead of boxes.

    The base pixel of a filter goes through the spatial axes, moved by `lower` at their low and by `upper` at their high
    ends. Each is in the order of the axes. A copy takes `channels` of `pixels` of them.
    """

    lower: Sequence[int]
    upper: Sequence[int]
    channels: int
    pixels: int


class TensorMap:
    """A tensor's description for the copy engine, an argument of kernels. It keeps the tensor alive."""

    __slots__ = ("_tensor_map_bytes", "tensor")

    def __init__(self, tensor: GPUTensor, encoded: bytes) -> None:
        self.tensor = tensor
        self._tensor_map_bytes = encoded

    def __repr__(self) -> str:
        return f"<TensorMap of {self.tensor!r}>"


def tensor_map(
    tensor: GPUTensor,
    box: Sequence[int] | None = None,
    *,
    dtype: str | None = None,
    steps: Sequence[int] | None = None,
    swizzle: int = 0,
    interleave: int = 0,
    promotion: int = 0,
    fill: str = "zeros",
    im2col: Im2col | None = None,
) -> TensorMap:
    """Encode a tensor map for the device that is in use.

    `box`: elements along each axis of the tensor, at most 256 each. `dtype`: the element type where it is not that of
    the tensor: "bfloat16", "tfloat32", "float32_ftz". `steps`: element strides of the axes, 1 to 8. `swizzle`: 0, 32,
    64 or 128 bytes. `interleave`: 0, 16 or 32 bytes. `promotion`: 0, 64, 128 or 256 bytes that L2 fetches at a time.
    `fill`: "zeros" or "nan" for what lies outside the tensor. `im2col`: columns of pixels instead of a box. ValueError
    names the argument, innermost axis first: box[0] is that of the last axis.
    """
    if (box is None) == (im2col is None):
        raise ValueError("tensor map: needs box or im2col, one of them")
    check_tensors("tensor_map", tensor=tensor)
    columns = None if im2col is None else (list(im2col.lower), list(im2col.upper), im2col.channels, im2col.pixels)
    encoded = _core.encode_tensor_map(
        tensor,
        [] if box is None else integers("tensor_map", "box", box),
        dtype or "",
        [] if steps is None else integers("tensor_map", "steps", steps),
        str(swizzle),
        str(interleave),
        str(promotion),
        fill,
        columns,
    )
    return TensorMap(tensor, encoded)
