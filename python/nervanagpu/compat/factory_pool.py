"""Pooling as the 2015 library has it: a parameter object and two operations on (C, D, H, W, N) tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core, pooling
from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import check_tensors, choice, dtype_name, integer, integers, shown
from nervanagpu.compat.factory_base import FactoryBase

_Quad = tuple[int, int, int, int]


class PoolLayer:
    """What a pooling is: its operation, sizes, padding and strides.

    dimI (C, D, H, W, N), dimO (K, M, P, Q, N) are the shapes of its input and output. dimI2, dimO2: the same as
    matrices. JTRS, DHW, MPQ: lengths. sizeI, sizeO, nOut: numbers of elements. flops: 0, as in the figures of networks.
    """

    def __init__(
        self, dtype: npt.DTypeLike, op: str, N: int, C: int, D: int, H: int, W: int, window: _Quad, pad: _Quad,
        stride: _Quad,
    ) -> None:  # fmt: skip
        choice("pool_layer", "op", op, ("max", "avg", "l2"))
        self.dtype = _core.dtype(dtype_name("pool_layer", dtype))
        for name, length in zip("NCDHW", (N, C, D, H, W), strict=True):
            integer("pool_layer", name, length, 1)
        self.op = op
        self.N, self.C = N, C
        self.DHW, self.JTRS = (D, H, W), window
        self.padding, self.strides = pad, stride
        for what, numbers, least in (("window", window, 1), ("stride", stride, 1), ("padding", pad, 0)):
            integers("pool_layer", what, numbers, least)
        k, m, p, q = (
            (x + 2 * edge - taps) // step + 1
            for x, edge, taps, step in zip((C, D, H, W), pad, window, stride, strict=True)
        )
        if min(k, m, p, q) < 1:
            raise ValueError(f"pool_layer: the output is {k} x {m} x {p} x {q}; needs a window that fits the input")
        self.K, self.MPQ = k, (m, p, q)
        self.dimI, self.dimO = (C, D, H, W, N), (k, m, p, q, N)
        self.dimI2, self.dimO2 = (C * D * H * W, N), (k * m * p * q, N)
        self.sizeI, self.sizeO = (int(np.prod(d)) for d in (self.dimI, self.dimO))
        self.nOut = self.sizeO // N
        self.flops = 0.0

    def __str__(self) -> str:
        return (
            f"PoolLayer: {self.op}, N {self.N}, C {self.C}, K {self.K}, DHW {self.DHW}, JTRS {self.JTRS}, "
            f"MPQ {self.MPQ}, padding {self.padding}, strides {self.strides}"
        )


def _check(function: str, layer: object, **operands: GPUTensor) -> None:
    if not isinstance(layer, PoolLayer):
        raise TypeError(f"{function}: layer is {shown(layer)}; needs PoolLayer (pool_layer makes one)")
    check_tensors(function, **operands)


class PoolFactory(FactoryBase):
    """The pooling of NervanaGPU."""

    def pool_layer(
        self, dtype: npt.DTypeLike, op: str, N: int, C: int, D: int = 1, H: int = 1, W: int = 1,
        J: int = 1, T: int = 1, R: int = 1, S: int = 1, pad_j: int = 0, pad_d: int = 0, pad_h: int = 0, pad_w: int = 0,
        str_j: int | None = None, str_d: int | None = None, str_h: int | None = None, str_w: int | None = None,
    ) -> PoolLayer:  # fmt: skip
        """A pooling of N images of C maps over windows of J maps x T x R x S; strides are the window unless given."""
        stride = tuple(w if s is None else s for w, s in zip((J, T, R, S), (str_j, str_d, str_h, str_w), strict=True))
        return PoolLayer(
            dtype, op, N, C, D, H, W, (J, T, R, S), (pad_j, pad_d, pad_h, pad_w),
            (stride[0], stride[1], stride[2], stride[3]),
        )  # fmt: skip

    def fprop_pool(
        self, layer: PoolLayer, I: GPUTensor, O: GPUTensor, repeat: int = 1,  # noqa: E741
        argmax: GPUTensor | None = None,
    ) -> tuple[float, float]:  # fmt: skip
        """O = the pooled I. Returns (milliseconds, 0) if benchmarking, else (0, 0).

        argmax: where to save the places of the maxima; max_pool_argmax(I.reshape(layer.dimI), ..., "CDHWN") makes it.
        """
        _check("fprop_pool", layer, I=I, O=O)
        i, o = I.reshape(layer.dimI), O.reshape(layer.dimO)
        how: dict[str, Any] = {**self._pool_how(layer), **self._rounding(O)}
        how["argmax"] = argmax
        return self._timed("fprop_pool", 0.0, repeat, lambda: pooling.pool(i, layer.op, out=o, **how))

    def bprop_pool(
        self, layer: PoolLayer, I: GPUTensor, E: GPUTensor, grad_I: GPUTensor, repeat: int = 1,  # noqa: E741
        argmax: GPUTensor | None = None,
    ) -> tuple[float, float]:  # fmt: skip
        """grad_I = the gradient of the input I, E being that of the output; overlapping windows add up.

        argmax: what fprop_pool has saved; I is then not read.
        """
        _check("bprop_pool", layer, I=I, E=E, grad_I=grad_I)
        i, e, g = I.reshape(layer.dimI), E.reshape(layer.dimO), grad_I.reshape(layer.dimI)
        how: dict[str, Any] = {**self._pool_how(layer), **self._rounding(grad_I)}
        how["argmax"] = argmax
        return self._timed("bprop_pool", 0.0, repeat, lambda: pooling.pool_bprop(e, i, layer.op, out=g, **how))

    def _pool_how(self, layer: PoolLayer) -> dict[str, Any]:
        return {
            "window": layer.JTRS,
            "stride": layer.strides,
            "padding": layer.padding,
            "layout": "CDHWN",
            "stream": self.stream,
        }
