"""Convolution as the 2015 library has it: a parameter object and three operations on (C, D, H, W, N) tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core, convolution
from nervanagpu._core import GPUTensor
from nervanagpu.calls.arguments import check_tensors, dtype_name, integer, integers, shown
from nervanagpu.compat.factory_base import FactoryBase


class ConvLayer:
    """What a convolution is: sizes, padding and strides.

    dimI (C, D, H, W, N): the shape of its input. dimF (C, T, R, S, K): that of its filter. dimO (K, M, P, Q, N): that
    of its output. dimI2, dimF2, dimO2: the same as matrices. sizeI, sizeF, sizeO, nOut: numbers of elements.
    flops: those of a pass.
    """

    def __init__(
        self, dtype: npt.DTypeLike, N: int, C: int, K: int, D: int, H: int, W: int, T: int, R: int, S: int,
        pad: tuple[int, int, int], stride: tuple[int, int, int],
    ) -> None:  # fmt: skip
        self.dtype = _core.dtype(dtype_name("conv_layer", dtype))
        for name, length in zip("NCKDHWTRS", (N, C, K, D, H, W, T, R, S), strict=True):
            integer("conv_layer", name, length, 1)
        integers("conv_layer", "pad", pad, 0)
        integers("conv_layer", "stride", stride, 1)
        self.N, self.C, self.K = N, C, K
        self.DHW, self.TRS = (D, H, W), (T, R, S)
        self.padding, self.strides = pad, stride
        m, p, q = (
            (x + 2 * edge - taps) // step + 1
            for x, edge, taps, step in zip(self.DHW, pad, self.TRS, stride, strict=True)
        )
        if min(m, p, q) < 1:
            raise ValueError(f"conv_layer: the output is {m} x {p} x {q}; needs a filter that fits the padded input")
        self.MPQ = (m, p, q)
        self.dimI, self.dimF, self.dimO = (C, D, H, W, N), (C, T, R, S, K), (K, m, p, q, N)
        self.dimI2, self.dimF2, self.dimO2 = (C * D * H * W, N), (C * T * R * S, K), (K * m * p * q, N)
        self.sizeI, self.sizeF, self.sizeO = (int(np.prod(d)) for d in (self.dimI, self.dimF, self.dimO))
        self.nOut = self.sizeO // N
        self.flops = 2.0 * self.sizeO * C * T * R * S

    def __str__(self) -> str:
        return (
            f"ConvLayer: N {self.N}, C {self.C}, K {self.K}, DHW {self.DHW}, TRS {self.TRS}, MPQ {self.MPQ}, "
            f"padding {self.padding}, strides {self.strides}"
        )


class DeconvLayer(ConvLayer):
    """A convolution that is run backwards: its output (K, M, P, Q, N) is given, its input (C, D, H, W, N) computed."""


def _check(function: str, layer: object, **operands: GPUTensor) -> None:
    if not isinstance(layer, ConvLayer):
        raise TypeError(f"{function}: layer is {shown(layer)}; needs ConvLayer (conv_layer makes one)")
    check_tensors(function, **operands)


class ConvFactory(FactoryBase):
    """The convolutions of NervanaGPU."""

    def conv_layer(
        self, dtype: npt.DTypeLike, N: int, C: int, K: int, D: int = 1, H: int = 1, W: int = 1,
        T: int = 1, R: int = 1, S: int = 1, pad_d: int = 0, pad_h: int = 0, pad_w: int = 0,
        str_d: int = 1, str_h: int = 1, str_w: int = 1, grid_P: int = 0, grid_Q: int = 0,
        update_size: str | None = None,
    ) -> ConvLayer:  # fmt: skip
        """A convolution of N images of C maps with K filters. grid_P, grid_Q and update_size have no effect."""
        return ConvLayer(dtype, N, C, K, D, H, W, T, R, S, (pad_d, pad_h, pad_w), (str_d, str_h, str_w))

    def deconv_layer(
        self, dtype: npt.DTypeLike, N: int, C: int, K: int, P: int, Q: int, R: int = 1, S: int = 1,
        pad_d: int = 0, pad_h: int = 0, pad_w: int = 0, str_d: int = 1, str_h: int = 1, str_w: int = 1,
        grid_P: int = 0, grid_Q: int = 0, update_size: str | None = None,
    ) -> DeconvLayer:  # fmt: skip
        """A transposed convolution of (K, 1, P, Q, N): run it with bprop_conv, its gradient with fprop_conv."""
        sizes = {"P": P, "Q": Q, "R": R, "S": S, "str_h": str_h, "str_w": str_w, "pad_h": pad_h, "pad_w": pad_w}
        for name, value in sizes.items():
            integer("deconv_layer", name, value, 0 if name.startswith("pad") else 1)
        H = (P - 1) * str_h - 2 * pad_h + R
        W = (Q - 1) * str_w - 2 * pad_w + S
        return DeconvLayer(dtype, N, C, K, 1, H, W, 1, R, S, (pad_d, pad_h, pad_w), (str_d, str_h, str_w))

    def fprop_conv(
        self, layer: ConvLayer, I: GPUTensor, F: GPUTensor, O: GPUTensor, alpha: float = 1.0, relu: bool = False,  # noqa: E741
        repeat: int = 1,
    ) -> tuple[float, float]:  # fmt: skip
        """O = act(alpha * (I * F)). Returns (milliseconds, GFLOP/s) if benchmarking, else (0, 0)."""
        _check("fprop_conv", layer, I=I, F=F, O=O)
        i, f, o = I.reshape(layer.dimI), F.reshape(layer.dimF), O.reshape(layer.dimO)
        how: dict[str, Any] = {"alpha": alpha, "relu": relu, **self._how(layer), **self._rounding(O)}
        return self._timed("fprop_conv", layer.flops, repeat, lambda: convolution.conv3d(i, f, out=o, **how))

    def bprop_conv(
        self, layer: ConvLayer, F: GPUTensor, E: GPUTensor, grad_I: GPUTensor, alpha: float = 1.0, repeat: int = 1
    ) -> tuple[float, float]:
        """grad_I = alpha * (E * F transposed), E the gradient of the output."""
        _check("bprop_conv", layer, F=F, E=E, grad_I=grad_I)
        f, e, g = F.reshape(layer.dimF), E.reshape(layer.dimO), grad_I.reshape(layer.dimI)
        how: dict[str, Any] = {"alpha": alpha, **self._how(layer), **self._rounding(grad_I)}
        return self._timed(
            "bprop_conv", layer.flops, repeat, lambda: convolution.conv3d_bprop(e, f, layer.dimI, out=g, **how)
        )

    def update_conv(
        self, layer: ConvLayer, I: GPUTensor, E: GPUTensor, grad_F: GPUTensor, alpha: float = 1.0,  # noqa: E741
        repeat: int = 1,
    ) -> tuple[float, float]:  # fmt: skip
        """grad_F = alpha * (sum of E over the images and positions, times I). E, grad_F: float32 or float16, alike."""
        _check("update_conv", layer, I=I, E=E, grad_F=grad_F)
        i, e, g = I.reshape(layer.dimI), E.reshape(layer.dimO), grad_F.reshape(layer.dimF)
        how: dict[str, Any] = {"alpha": alpha, **self._how(layer), **self._rounding(grad_F)}
        return self._timed(
            "update_conv", layer.flops, repeat, lambda: convolution.conv3d_update(e, i, layer.dimF, out=g, **how)
        )

    def _how(self, layer: ConvLayer) -> dict[str, Any]:
        return {"stride": layer.strides, "padding": layer.padding, "layout": "CDHWN", "stream": self.stream}
