"""One training step's fprop and bprop of a network of networks.py, through the public calls of nervanagpu.

fprop: convolutions and products with fused ReLU, pooling; the branches of an inception write into slices of its output.
bprop: for each layer the gradient of the ReLU, the data gradient (not of the first layer) and the weight gradient; pool
gradients; the branches of an inception read slices of its output's gradient, and add up in the gradient of its input
(beta = 1). No bias, no weight update.

With channels last, a ReLU between two convolutions or two products leaves its bits, which the data gradient of the
second applies (mask=), and the 1x1 convolutions with which branches of an inception begin are one convolution. A max
pool keeps its places, and its gradient is that of the ReLU before it, too. Elsewhere that is a pass of its own.

All memory is taken when the step is planned: outputs and weight gradients are kept, gradients of outputs share buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from nervanagpu import nn
from netplan import Buffers, Heads, Layout, Node, Op, in_lanes
from networks import Conv, Full, Inception, Layer, Network, Pool, Work, side_after, work

Array = npt.NDArray[Any]

# Axes of (N, C, H, W) and of (K, C, R, S) in the order of each layout.
DATA_AXES = {"CHWN": (1, 2, 3, 0), "NHWC": (0, 2, 3, 1)}
FILTER_AXES = {"CHWN": (1, 2, 3, 0), "NHWC": (0, 2, 3, 1)}


def words(channels: int) -> int:
    """Of 32 bits, that the bits of so many channels take."""
    return -(-channels // 32)


def heads_of(layer: Inception) -> list[int]:
    """The branches that begin with a 1x1 convolution and go on behind it."""
    longer = [(i, branch[0]) for i, branch in enumerate(layer.branches) if len(branch) > 1]
    return [i for i, head in longer if isinstance(head, Conv) and head == Conv(head.k, 1)]


class Step:
    """fprop() and bprop() of `net` on the device, with everything they read and write.

    x: (N, 3, image, image); error: (N, classes), the gradient of the last layer's output; weights: by the names of
    networks.work(), (K, C, R, S) of convolutions and (K, C * H * W) of fully connected layers. All are converted to
    `dtype`.

    Afterwards: `y` and `dw` by name as tensors in the layout; `host_y`, `host_dw`, `host_dy1` give the plain order.
    `dy1` is the gradient of the first layer's output, the ReLU and pools after it passed.

    lanes: fprop queues the branches of an inception in streams of their own.
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
        lanes: bool = False,
    ) -> None:
        self.lanes = [ng.Stream() for _ in range(3)] if lanes else []
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

    def _plan_fprop(
        self, layers: Sequence[Layer], x: ng.GPUTensor, last: ng.GPUTensor | None, bits: ng.GPUTensor | None = None
    ) -> list[Node]:
        """Plan a chain of layers on x; the last writes into `last` and, its ReLU, into `bits`, if they are given."""
        nodes: list[Node] = []
        for i, layer in enumerate(layers):
            ends = i == len(layers) - 1
            out, after = (last, None) if ends else (None, layers[i + 1])
            masks = isinstance(after, Inception) and len(heads_of(after)) > 1  # the data gradient in front of it does
            if isinstance(layer, Inception):
                node = self._plan_inception(layer, x, bits=masks)
            elif isinstance(layer, Pool):
                node = self._plan_pool(layer, x, out, relu=bool(nodes) and nodes[-1].relu)
            else:
                masks = masks if isinstance(after, Inception) else type(after) is type(layer)
                kept = bits if ends else self._bits(layer, x) if masks else None
                node = self._plan_weights(layer, x, out, kept)
            nodes.append(node)
            x = node.y
        return nodes

    def _bits(self, layer: Conv | Full, x: ng.GPUTensor) -> ng.GPUTensor | None:
        """Of the ReLU of a layer on x, where channels come last: elsewhere no kernel has them for nothing."""
        if self.layout != "NHWC":
            return None
        side = side_after(layer, x.shape[1]) if isinstance(layer, Conv) else 0
        places = (self.net.n, side, side) if isinstance(layer, Conv) else (self.net.n,)
        return ng.empty((*places, words(layer.k)), "uint32")

    def _plan_weights(
        self, layer: Conv | Full, x: ng.GPUTensor, out: ng.GPUTensor | None, kept: ng.GPUTensor | None
    ) -> Node:
        """kept: where the bits of the ReLU go."""
        found = next(self._named)
        w = self.w[found.name]
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

    def _plan_pool(self, layer: Pool, x: ng.GPUTensor, out: ng.GPUTensor | None, relu: bool) -> Node:
        """relu: x is the result of one, whose gradient the pool's is."""
        self._pools += 1
        name = f"pool{self._pools}"
        side = side_after(layer, x.shape[1])
        y = ng.empty(self._shape(self._c(x), side), self.dtype) if out is None else out
        windows = (layer.size, layer.stride, layer.pad, self.layout)
        codes = ng.max_pool_argmax(x, *windows) if layer.op == "max" else None
        if codes is not None:
            run = partial(ng.max_pool2d, x, *windows, out=y, argmax=codes, relu=relu, stream=self.stream)
        else:
            run = partial(ng.avg_pool2d, x, *windows, out=y, stream=self.stream)
        self.fprop_ops.append(Op(name, "pool", 0, run))
        self.y[name] = y
        return Node(name, layer, x, y, codes=codes)

    def _plan_inception(self, layer: Inception, x: ng.GPUTensor, bits: bool) -> Node:
        """bits: of the ReLUs, where the channels of each branch begin at a word."""
        self._inceptions += 1
        name = f"inc{self._inceptions}"
        widths = [next(part.k for part in reversed(branch) if isinstance(part, Conv)) for branch in layer.branches]
        firsts = [sum(widths[:i]) for i in range(len(widths))]
        y = ng.empty(self._shape(sum(widths), x.shape[1]), self.dtype)
        before = len(self.fprop_ops)
        node = Node(name, layer, x, y, heads=self._plan_heads(name, layer, x))
        ends = all(isinstance(branch[-1], Conv) for branch in layer.branches)
        if bits and ends and self.layout == "NHWC" and all(first % 32 == 0 for first in firsts):
            node.bits = ng.empty((*y.shape[:3], words(sum(widths))), "uint32")
        common = self.fprop_ops[before:]
        lanes: list[list[Op]] = []
        for i, (branch, first, width) in enumerate(zip(layer.branches, firsts, widths, strict=True)):
            mark = len(self.fprop_ops)
            part = self._slice(y, first, width)
            direct = part.contiguous or isinstance(branch[-1], Conv)
            mask = None if node.bits is None else node.bits[..., first // 32 : first // 32 + words(width)]
            head = node.heads.nodes.get(i) if node.heads is not None else None
            if head is not None:
                next(self._named)
            rest, source = (branch, x) if head is None else (branch[1:], head.y)
            chain = self._plan_fprop(rest, source, part if direct else None, mask)
            if not direct:
                run = partial(nn.convert, chain[-1].y, None, part, stream=self.stream)
                self.fprop_ops.append(Op(name, "join", 0, run))
            node.branches.append(chain if head is None else [head, *chain])
            lanes.append(self.fprop_ops[mark:])
        self.fprop_ops[before:] = in_lanes(name, common, lanes, [] if node.heads is None else list(node.heads.nodes))
        self.y[name] = y
        return node

    def _plan_heads(self, name: str, layer: Inception, x: ng.GPUTensor) -> Heads | None:
        """One convolution for the first layers of branches that go on behind them, with channels last."""
        which = heads_of(layer)
        if self.layout != "NHWC" or len(which) < 2:
            return None
        found = [next(w for w in self.work if w.name == f"{name}.{'abcdefgh'[i]}1") for i in which]
        w = ng.empty((sum(part.k for part in found), *self.w[found[0].name].shape[1:]), self.dtype)
        dw = ng.empty(w.shape, self.dtype)
        y = ng.empty((*x.shape[:3], w.shape[0]), self.dtype)
        bits = None
        if all(sum(part.k for part in found[:i]) % 32 == 0 for i in range(len(found))):
            bits = ng.empty((*x.shape[:3], words(w.shape[0])), "uint32")
        nodes, at = {}, 0
        for i, part in zip(which, found, strict=True):
            end = at + part.k
            w[at:end] = self.w[part.name]
            self.w[part.name], self.dw[part.name], self.y[part.name] = w[at:end], dw[at:end], y[..., at:end]
            own = None if bits is None else bits[..., at // 32 : at // 32 + words(part.k)]
            nodes[i] = Node(part.name, part.layer, x, y[..., at:end], part, own)
            at = end
        joint = f"{name}.{'+'.join(part.name.split('.')[1] for part in found)}"
        run = partial(ng.conv2d, x, w, layout=self.layout, relu=True, out=y, mask=bits, stream=self.stream)
        self.fprop_ops.append(Op(joint, "fprop", sum(part.fprop for part in found), run))
        return Heads(joint, nodes, y, w, dw)

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
            if node.relu and not masked and node.dy_at is None:
                self._mask(node.name, node.y, dy)
            bits = before.bits if before is not None else None
            # A max pool's gradient is that of the ReLU before it, too.
            masked = bits is not None or (node.codes is not None and before is not None and before.relu)
            target = dx
            if before is not None:
                place = before.dy_at if before.dy_at is not None else self.buffers.take(node.x.shape)
                target = (place, 0.0)
            if isinstance(node.layer, Inception):
                self._branches_bprop(node, dy, target, bits)
            elif isinstance(node.layer, Pool):
                self._pool_bprop(node, dy, target)
            elif node.dy_at is None:  # else it is one of an inception's heads
                self._weights_bprop(node, dy, target, bits)
            if before is not None and target is not None:
                if own:
                    self.buffers.give(dy)
                own = before.dy_at is None
                dy = target[0].reshape(before.y.shape) if own else target[0]
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
            options: dict[str, Any] = {
                "stride": layer.stride,
                "padding": layer.pad,
                "layout": self.layout,
                "stream": self.stream,
            }
            bprop = partial(ng.conv2d_bprop, dy, w, node.x.shape, mask=bits, **options)
            update: Callable[[], object] = partial(ng.conv2d_update, dy, node.x, w.shape, out=dw, **options)
        elif self.layout == "CHWN":
            bprop = partial(ng.dot, w.T, dy, stream=self.stream)
            update = partial(ng.dot, dy, node.x.T, out=dw, stream=self.stream)
        else:
            drelu: dict[str, Any] = {} if bits is None else {"activation": "drelu", "mask": bits}
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
        call, more = ng.avg_pool2d_bprop, {"stream": self.stream}
        x: ng.GPUTensor | None = node.x
        if node.codes is not None:
            call, more, x = ng.max_pool2d_bprop, {"stream": self.stream, "argmax": node.codes}, None
        windows = (layer.size, layer.stride, layer.pad, self.layout)
        run = partial(call, dy, x, *windows, out=dx[0], beta=dx[1], **more)
        self.bprop_ops.append(Op(node.name, "pool", 0, run))

    def _branches_bprop(
        self, node: Node, dy: ng.GPUTensor, dx: tuple[ng.GPUTensor, float] | None, bits: ng.GPUTensor | None
    ) -> None:
        """The ReLUs at the ends of the branches have been passed, all in one. bits: of the ReLU that made x.

        Each adds to dx what its first layer gives: pools, then convolutions, the last of which applies the bits.
        """
        heads = node.heads
        joint = None if heads is None else self.buffers.take(heads.y.shape)
        order = sorted(range(len(node.branches)), key=lambda i: (isinstance(node.branches[i][0].layer, Conv), i))
        widths = [self._c(chain[-1].y) for chain in node.branches]
        beta, at = 0.0 if dx is None else dx[1], 0
        for number in order:
            chain = node.branches[number]
            part = self._slice(dy, sum(widths[:number]), widths[number])
            copied = not part.contiguous and not isinstance(chain[-1].layer, Conv)
            if copied:
                whole = self.buffers.take(chain[-1].y.shape)
                run = partial(nn.convert, part, None, whole, stream=self.stream)
                self.bprop_ops.append(Op(node.name, "join", 0, run))
                part = whole
            is_head = heads is not None and number in heads.nodes
            if is_head and joint is not None:
                chain[0].dy_at = joint[..., at : at + self._c(chain[0].y)]
                at += self._c(chain[0].y)
            target = None if dx is None or is_head else (dx[0], beta)
            inner, own = self._plan_bprop(chain, part, target, masked=True)
            if own:
                self.buffers.give(inner)
            if copied:
                self.buffers.give(part)
            beta = beta if is_head else 1.0
        if heads is None or joint is None:
            return
        if any(head.bits is None for head in heads.nodes.values()):
            self._mask(heads.name, heads.y, joint)
        works = [head.work for head in heads.nodes.values()]
        options: dict[str, Any] = {"layout": self.layout, "stream": self.stream}
        if dx is not None:
            run = partial(ng.conv2d_bprop, joint, heads.w, node.x.shape, out=dx[0], beta=beta, mask=bits, **options)
            self.bprop_ops.append(Op(heads.name, "bprop", sum(w.bprop for w in works if w), run))
        run = partial(ng.conv2d_update, joint, node.x, heads.w.shape, out=heads.dw, **options)
        self.bprop_ops.append(Op(heads.name, "update", sum(w.update for w in works if w), run))
        self.buffers.give(joint)
