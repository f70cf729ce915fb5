"""One training step's fprop and bprop of a network of networks.py, through the public calls of nervanagpu.

fprop: convolutions and products with fused ReLU, pooling; the branches of an inception write into slices of its output.
bprop: for each layer the gradient of the ReLU, the data gradient (not of the first layer) and the weight gradient; pool
gradients; the branches of an inception read slices of its output's gradient, and add up in the gradient of its input
(beta = 1). No bias, no weight update.

With channels last, a ReLU between two convolutions or two products leaves its bits, which the data gradient of the
second applies (mask=). Elsewhere its gradient is a pass of its own.

All memory is taken when the step is planned: outputs and weight gradients are kept, gradients of outputs share buffers.
Where a max pool follows a ReLU, the ReLU's gradient is taken of the pooled map: max(x, 0) and the largest of a window
commute, so the result is the same and the map smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from nervanagpu import nn
from networks import Conv, Full, Inception, Layer, Network, Pool, Work, side_after, work

Array = npt.NDArray[Any]
Layout = Literal["CHWN", "NHWC"]
Pass = Literal["fprop", "bprop", "update", "relu", "pool", "join"]

# Axes of (N, C, H, W) and of (K, C, R, S) in the order of each layout.
DATA_AXES = {"CHWN": (1, 2, 3, 0), "NHWC": (0, 2, 3, 1)}
FILTER_AXES = {"CHWN": (1, 2, 3, 0), "NHWC": (0, 2, 3, 1)}


@dataclass
class Op:
    """One call of the library: what a layer does in a pass, and the FLOPs it executes."""

    layer: str
    pass_: Pass
    flops: int
    run: Callable[..., object]


@dataclass
class Node:
    """A layer of the plan with its tensors; `branches` are those of an inception."""

    name: str
    layer: Layer
    x: ng.GPUTensor
    y: ng.GPUTensor
    work: Work | None = None
    bits: ng.GPUTensor | None = None  # y > 0, for the data gradient of the next layer
    branches: list[list[Node]] = field(default_factory=list)

    @property
    def relu(self) -> bool:
        """Whether every element of y went through a ReLU."""
        if isinstance(self.layer, Inception):
            return all(branch[-1].relu for branch in self.branches)
        return isinstance(self.layer, Conv) or (isinstance(self.layer, Full) and self.layer.relu)


class Buffers:
    """Memory for gradients: taken and given back while the plan is made, so that later ones reuse it, if they may."""

    def __init__(self, dtype: npt.DTypeLike, reuse: bool) -> None:
        self.dtype, self.reuse = dtype, reuse
        self.free: list[ng.GPUTensor] = []
        self.kept: list[ng.GPUTensor] = []
        self.held: dict[int, ng.GPUTensor] = {}
        self.elements = 0

    def take(self, shape: Sequence[int]) -> ng.GPUTensor:
        """The smallest free buffer that fits, or a new one, as a tensor of `shape`."""
        size = int(np.prod(shape))
        fitting = [b for b in self.free if b.size >= size]
        if fitting:
            buffer = min(fitting, key=lambda b: b.size)
            self.free = [b for b in self.free if b is not buffer]
        else:
            buffer = ng.empty((size,), self.dtype)
            self.elements += size
        self.held[buffer.ptr] = buffer
        return buffer[:size].reshape(tuple(shape))

    def give(self, tensor: ng.GPUTensor) -> None:
        """What `take` returned is not needed any more."""
        buffer = self.held.pop(tensor.ptr)
        if self.reuse:
            self.free.append(buffer)
        else:
            self.kept.append(buffer)


class Step:
    """fprop() and bprop() of `net` on the device, with everything they read and write.

    x: (N, 3, image, image); error: (N, classes), the gradient of the last layer's output; weights: by the names of
    networks.work(), (K, C, R, S) of convolutions and (K, C * H * W) of fully connected layers. All are converted to
    `dtype`.

    Afterwards: `y` and `dw` by name as tensors in the layout; `host_y`, `host_dw`, `host_dy1` give the plain order.
    `dy1` is the gradient of the first layer's output, the ReLU and pools after it passed.

    beside: bprop queues weight gradients in a stream of their own, beside the data gradients; no two gradients share
    memory then.
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
    ) -> None:
        self.beside = ng.Stream() if beside else None
        self.net, self.layout, self.dtype, self.stream = net, layout, dtype, stream
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
        self._pools = self._inceptions = 0
        nodes = self._plan_fprop(net.layers, self.x, None)
        self.output = nodes[-1].y
        if nodes[-1].relu:
            raise ValueError(f"{net.name}: the last layer has a ReLU, whose gradient would overwrite the error")
        self.dy1, _ = self._plan_bprop(nodes, self.error, None, masked=False)

    def fprop(self) -> None:
        """Queue the forward pass."""
        for op in self.fprop_ops:
            op.run()

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

    # Shapes of the layout.

    def _shape(self, c: int, side: int) -> tuple[int, ...]:
        n = self.net.n
        return (c, side, side, n) if self.layout == "CHWN" else (n, side, side, c)

    def _c(self, x: ng.GPUTensor) -> int:
        return x.shape[0 if self.layout == "CHWN" else -1]

    def _slice(self, joined: ng.GPUTensor, first: int, count: int) -> ng.GPUTensor:
        """Feature maps of a joined output: contiguous with CHWN."""
        return joined[first : first + count] if self.layout == "CHWN" else joined[..., first : first + count]

    def _flat(self, x: ng.GPUTensor) -> ng.GPUTensor:
        """Features in rows (CHWN) or columns."""
        return x.reshape(-1, self.net.n) if self.layout == "CHWN" else x.reshape(self.net.n, -1)

    # fprop

    def _plan_fprop(self, layers: Sequence[Layer], x: ng.GPUTensor, last: ng.GPUTensor | None) -> list[Node]:
        """Plan a chain of layers on x; the last one writes into `last` if that is given."""
        nodes: list[Node] = []
        for i, layer in enumerate(layers):
            out = last if i == len(layers) - 1 else None
            after = layers[i + 1] if i + 1 < len(layers) else None
            if isinstance(layer, Inception):
                node = self._plan_inception(layer, x)
            elif isinstance(layer, Pool):
                node = self._plan_pool(layer, x, out)
            else:
                node = self._plan_weights(layer, x, out, bits=type(after) is type(layer))
            nodes.append(node)
            x = node.y
        return nodes

    def _plan_weights(self, layer: Conv | Full, x: ng.GPUTensor, out: ng.GPUTensor | None, bits: bool) -> Node:
        """bits: of its ReLU, where channels come last: elsewhere no kernel has them for nothing."""
        found = next(self._named)
        w = self.w[found.name]
        relu = isinstance(layer, Conv) or layer.relu
        kept: ng.GPUTensor | None = None
        if bits and relu and self.layout == "NHWC":
            places = (self.net.n, *[found.side_out] * 2) if isinstance(layer, Conv) else (self.net.n,)
            kept = ng.empty((*places, -(-layer.k // 32)), "uint32")
        if isinstance(layer, Conv):
            y = ng.empty(self._shape(layer.k, found.side_out), self.dtype) if out is None else out
            run: Callable[[], object] = partial(
                ng.conv2d, x, w, stride=layer.stride, padding=layer.pad, layout=self.layout, relu=True, out=y,
                mask=kept, stream=self.stream,
            )  # fmt: skip
        else:
            x = self._flat(x)
            y = ng.empty((layer.k, self.net.n) if self.layout == "CHWN" else (self.net.n, layer.k), self.dtype)
            a, b = (w, x) if self.layout == "CHWN" else (x, w.T)
            run = partial(ng.dot, a, b, out=y, relu=layer.relu, mask=kept, stream=self.stream)
        self.fprop_ops.append(Op(found.name, "fprop", found.fprop, run))
        self.y[found.name] = y
        return Node(found.name, layer, x, y, found, kept)

    def _plan_pool(self, layer: Pool, x: ng.GPUTensor, out: ng.GPUTensor | None) -> Node:
        self._pools += 1
        name = f"pool{self._pools}"
        side = side_after(layer, x.shape[1])
        y = ng.empty(self._shape(self._c(x), side), self.dtype) if out is None else out
        call = ng.max_pool2d if layer.op == "max" else ng.avg_pool2d
        run = partial(call, x, layer.size, layer.stride, layer.pad, self.layout, out=y, stream=self.stream)
        self.fprop_ops.append(Op(name, "pool", 0, run))
        self.y[name] = y
        return Node(name, layer, x, y)

    def _plan_inception(self, layer: Inception, x: ng.GPUTensor) -> Node:
        self._inceptions += 1
        name = f"inc{self._inceptions}"
        widths = [next(part.k for part in reversed(branch) if isinstance(part, Conv)) for branch in layer.branches]
        y = ng.empty(self._shape(sum(widths), x.shape[1]), self.dtype)
        node = Node(name, layer, x, y)
        first = 0
        for branch, width in zip(layer.branches, widths, strict=True):
            part = self._slice(y, first, width)
            direct = part.contiguous or isinstance(branch[-1], Conv)
            chain = self._plan_fprop(branch, x, part if direct else None)
            if not direct:
                run = partial(nn.convert, chain[-1].y, None, part, stream=self.stream)
                self.fprop_ops.append(Op(name, "join", 0, run))
            node.branches.append(chain)
            first += width
        self.y[name] = y
        return node

    # bprop

    def _plan_bprop(
        self, nodes: list[Node], dy: ng.GPUTensor, dx: tuple[ng.GPUTensor, float] | None, masked: bool
    ) -> tuple[ng.GPUTensor, bool]:
        """Plan the gradients of a chain whose output has the gradient `dy`, which stays the caller's.

        dx: where the gradient of the chain's input goes, and its beta; None: it is not computed. masked: the gradient
        of the last layer's ReLU has been taken. Returns the gradient of the first node's output, and whether it is in
        a buffer to be given back.
        """
        own = False
        for i in range(len(nodes) - 1, -1, -1):
            node = nodes[i]
            before = nodes[i - 1] if i > 0 else None
            if node.relu and not masked:
                self._mask(node.name, node.y, dy)
            # A ReLU before a max pool: its gradient is taken here, of the smaller map.
            masked = isinstance(node.layer, Pool) and node.layer.op == "max" and before is not None and before.relu
            if masked and before is not None:
                self._mask(before.name, node.y, dy)
            bits = before.bits if before is not None else None
            masked = masked or bits is not None
            target = dx
            if before is not None:
                target = (self.buffers.take(node.x.shape), 0.0)
            if isinstance(node.layer, Inception):
                self._branches_bprop(node, dy, target)
            elif isinstance(node.layer, Pool):
                self._pool_bprop(node, dy, target)
            else:
                self._weights_bprop(node, dy, target, bits)
            if before is not None and target is not None:
                if own:
                    self.buffers.give(dy)
                dy, own = target[0].reshape(before.y.shape), True
        return dy, own

    def _mask(self, name: str, y: ng.GPUTensor, dy: ng.GPUTensor) -> None:
        self.bprop_ops.append(Op(name, "relu", 0, partial(nn.activation_bprop, "relu", y, dy, dy, stream=self.stream)))

    def _weights_bprop(
        self, node: Node, dy: ng.GPUTensor, dx: tuple[ng.GPUTensor, float] | None, bits: ng.GPUTensor | None
    ) -> None:
        """bits: of the ReLU that made x, whose gradient is taken, too."""
        layer, found = node.layer, node.work
        assert found is not None
        w, dw = self.w[node.name], self.dw[node.name]
        if isinstance(layer, Conv):
            options = {"stride": layer.stride, "padding": layer.pad, "layout": self.layout, "stream": self.stream}
            bprop = partial(ng.conv2d_bprop, dy, w, node.x.shape, mask=bits, **options)
            update: Callable[[], object] = partial(ng.conv2d_update, dy, node.x, w.shape, out=dw, **options)
        elif self.layout == "CHWN":
            bprop = partial(ng.dot, w.T, dy, stream=self.stream)
            update = partial(ng.dot, dy, node.x.T, out=dw, stream=self.stream)
        else:
            drelu = {} if bits is None else {"activation": "drelu", "mask": bits}
            bprop = partial(ng.dot, dy, w, stream=self.stream, **drelu)
            update = partial(ng.dot, dy.T, node.x, out=dw, stream=self.stream)
        if dx is not None:
            run = partial(bprop, out=dx[0], beta=dx[1])
            self.bprop_ops.append(Op(node.name, "bprop", found.bprop, run))
        self.bprop_ops.append(Op(node.name, "update", found.update, update))

    def _pool_bprop(self, node: Node, dy: ng.GPUTensor, dx: tuple[ng.GPUTensor, float] | None) -> None:
        layer = node.layer
        assert isinstance(layer, Pool)
        if dx is None:
            return
        call = ng.max_pool2d_bprop if layer.op == "max" else ng.avg_pool2d_bprop
        run = partial(
            call, dy, node.x, layer.size, layer.stride, layer.pad, self.layout, out=dx[0], beta=dx[1],
            stream=self.stream,
        )  # fmt: skip
        self.bprop_ops.append(Op(node.name, "pool", 0, run))

    def _branches_bprop(self, node: Node, dy: ng.GPUTensor, dx: tuple[ng.GPUTensor, float] | None) -> None:
        """The ReLUs at the ends of the branches have been passed, all in one."""
        first, beta = 0, 0.0 if dx is None else dx[1]
        for chain in node.branches:
            width = self._c(chain[-1].y)
            part = self._slice(dy, first, width)
            copied = not part.contiguous and not isinstance(chain[-1].layer, Conv)
            if copied:
                whole = self.buffers.take(chain[-1].y.shape)
                run = partial(nn.convert, part, None, whole, stream=self.stream)
                self.bprop_ops.append(Op(node.name, "join", 0, run))
                part = whole
            inner, own = self._plan_bprop(chain, part, None if dx is None else (dx[0], beta), masked=True)
            if own:
                self.buffers.give(inner)
            if copied:
                self.buffers.give(part)
            first, beta = first + width, 1.0
