"""One training step's fprop and bprop of a network of networks.py, through the public calls of nervanagpu.

fprop: convolutions and products with fused ReLU, pooling; the branches of an inception write into slices of its output.
bprop: for each layer the gradient of the ReLU, the data gradient (not of the first layer) and the weight gradient; pool
gradients; the branches of an inception read slices of its output's gradient, and add up in the gradient of its input
(beta = 1). No bias, no weight update.

With channels last, a ReLU between two convolutions or two products leaves its bits, which the data gradient of the
second applies (mask=), and the 1x1 convolutions with which branches of an inception begin are one convolution. Its
result is a part of the tensor that has the inception's output, too (plan.Wide); so is its gradient. A max pool keeps
its places, and its gradient is that of the ReLU before it, too. Elsewhere that is a pass of its own.

All memory is taken when the step is planned: outputs and weight gradients are kept, gradients of outputs share buffers.
"""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from convnets.bprop import Bprop
from convnets.fprop import Fprop
from convnets.networks import Conv, Network, Work, work
from convnets.plan import Buffers, Layout, Op
from nervanagpu import nn

Array = npt.NDArray[Any]

# Axes of (N, C, H, W) and of (K, C, R, S) in the order of each layout.
DATA_AXES = {"CHWN": (1, 2, 3, 0), "NHWC": (0, 2, 3, 1)}
FILTER_AXES = {"CHWN": (1, 2, 3, 0), "NHWC": (0, 2, 3, 1)}


class Step(Fprop, Bprop):
    """fprop() and bprop() of `net` on the device, with everything they read and write.

    x: (N, 3, image, image); error: (N, classes), the gradient of the last layer's output; weights: by the names of
    networks.work(), (K, C, R, S) of convolutions and (K, C * H * W) of fully connected layers. All are converted to
    `dtype`.

    Afterwards: `y` and `dw` by name as tensors in the layout; `host_y`, `host_dw`, `host_dy1` give the plain order.
    `dy1` is the gradient of the first layer's output, the ReLU and pools after it passed.

    lanes: fprop queues the branches of an inception in streams of their own.
    beside: bprop queues weight gradients in a stream of their own, beside the data gradients; no two gradients share
    memory then. Else float32's pieces of x and dy are made once for two passes (ng.SharedPieces).
    """

    def __init__(
        self,
        net: Network,
        dtype: npt.DTypeLike,
        weights: dict[str, Array],
        x: Array,
        error: Array,
        layout: Layout = "CHWN",
        stream: ng.Stream | None = None,
        beside: bool = False,
        lanes: bool = False,
    ) -> None:
        self.lanes = [ng.Stream() for _ in range(3)] if lanes else []
        self.beside = ng.Stream() if beside else None
        self.net, self.layout, self.dtype, self.stream = net, layout, dtype, stream
        self.dy_pieces = None if beside else ng.SharedPieces()  # of one layer's dy after the other's
        self.work = work(net)
        self._named = iter(self.work)
        self.y: dict[str, ng.GPUTensor] = {}
        self.w = {w.name: self._weight(w, weights[w.name]) for w in self.work}
        self.dw = {name: ng.empty(w.shape, self.dtype) for name, w in self.w.items()}
        self.x = self._array(x.transpose(DATA_AXES[layout]))
        self.error = self._array(error.T if layout == "CHWN" else error)
        self.fprop_ops: list[Op] = []
        self.bprop_ops: list[Op] = []
        self.buffers = Buffers(self.dtype, reuse=not beside)
        nodes = self._plan_fprop(net.layers, self.x, None)
        self.output = nodes[-1].y
        if nodes[-1].relu:
            raise ValueError(f"{net.name}: the last layer has a ReLU, whose gradient would overwrite the error")
        self.dy1, _ = self._plan_bprop(nodes, self.error, None, masked=False)

    def fprop(self) -> None:
        """Queue the forward pass."""
        fork, used = "", set[int]()
        for op in self.fprop_ops:
            if op.fork != fork:
                for lane in used:
                    self._order(self.lanes[lane - 1], self.stream)
                fork, used = op.fork, set()
            if not self.lanes or op.lane == 0:
                op.run()
                continue
            side = self.lanes[op.lane - 1]
            if op.lane not in used:
                self._order(self.stream, side)
                used.add(op.lane)
            op.run(stream=side)
        for lane in used:
            self._order(self.lanes[lane - 1], self.stream)

    def bprop(self) -> None:
        """Queue the backward pass; fprop() has run."""
        for op in self.bprop_ops:
            if self.beside is None or op.pass_ != "update":
                op.run()
                continue
            self._order(self.stream, self.beside)
            op.run(stream=self.beside)
        if self.beside is not None:
            self._order(self.beside, self.stream)

    def _order(self, first: ng.Stream | None, then: ng.Stream | None) -> None:
        """What `then` is given from now on waits for what `first` has been given."""
        event = ng.Event()
        event.record(first)
        event.make_wait(then)

    # What is on the host: float64; but for host(), in plain order.

    def host(self, tensor: ng.GPUTensor) -> Array:
        """A tensor as it lies."""
        return nn.convert(tensor, "float32").get().astype(np.float64)

    def host_y(self, name: str) -> Array:
        """The output of a layer as (N, K, P, Q) or (N, K)."""
        return self._host_data(self.y[name])

    def host_dy1(self) -> Array:
        """The gradient of the first layer's output as (N, K, P, Q)."""
        return self._host_data(self.dy1)

    def host_dw(self, name: str) -> Array:
        """The weight gradient in the order of the weights that were given."""
        host = self.host(self.dw[name])
        w = next(w for w in self.work if w.name == name)
        if isinstance(w.layer, Conv):
            return host.transpose(np.argsort(FILTER_AXES[self.layout]))
        if self.layout == "NHWC":
            host = host.reshape(w.k, w.side_in, w.side_in, w.c).transpose(0, 3, 1, 2)
        return host.reshape(w.k, -1)

    def _host_data(self, tensor: ng.GPUTensor) -> Array:
        host = self.host(tensor)
        if host.ndim == 4:
            return host.transpose(np.argsort(DATA_AXES[self.layout]))
        return host.T if self.layout == "CHWN" else host

    def _array(self, host: Array) -> ng.GPUTensor:
        if self.dtype == "bfloat16":  # NumPy alone has none
            return nn.convert(ng.array(np.ascontiguousarray(host, np.float32)), "bfloat16")
        return ng.array(np.ascontiguousarray(host, dtype=self.dtype))

    def _weight(self, w: Work, host: Array) -> ng.GPUTensor:
        if isinstance(w.layer, Conv):
            return self._array(host.transpose(FILTER_AXES[self.layout]))
        if self.layout == "NHWC":
            host = host.reshape(w.k, w.c, w.side_in, w.side_in).transpose(0, 2, 3, 1)
        return self._array(host.reshape(w.k, -1))
