"""The backward pass of a step of step.py: data gradients, weight gradients, those of ReLUs and pools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import nervanagpu as ng
from convnets.networks import Conv, Inception, Pool
from convnets.plan import Node, Op, Plan
from nervanagpu import nn


class Bprop(Plan):
    """Plans bprop_ops."""

    def _plan_bprop(
        self, nodes: list[Node], dy: ng.GPUTensor, dx: tuple[ng.GPUTensor, float] | None, masked: bool
    ) -> tuple[ng.GPUTensor, ng.GPUTensor | None]:
        """Plan the gradients of a chain whose output has the gradient `dy`, which stays the caller's.

        dx: where the gradient of the chain's input goes, and its beta; None: it is not computed. masked: the gradient
        of the last layer's ReLU has been taken. Returns the gradient of the first node's output, and the buffer that
        is to be given back for it.
        """
        lent: ng.GPUTensor | None = None
        for i in range(len(nodes) - 1, -1, -1):
            node = nodes[i]
            before = nodes[i - 1] if i > 0 else None
            if node.relu and not masked and node.dy_at is None:
                self._mask(node, dy)
            bits = before.bits if before is not None else None
            # A max pool's gradient is that of the ReLU before it, too.
            masked = bits is not None or (node.codes is not None and before is not None and before.relu)
            target, taken = dx, None
            if before is not None:
                place, taken = self._gradient_of(before, node.x.shape)
                target = (place, 0.0)
            if isinstance(node.layer, Inception):
                self._branches_bprop(node, dy, target, bits)
            elif isinstance(node.layer, Pool):
                self._pool_bprop(node, dy, target)
            elif node.dy_at is None:  # else it is one of an inception's heads
                self._weights_bprop(node, dy, target, bits)
            if before is not None and target is not None:
                if lent is not None:
                    self.buffers.give(lent)
                lent = taken
                dy = target[0] if target[0].shape == before.y.shape else target[0].reshape(before.y.shape)
        return dy, lent

    def _gradient_of(self, node: Node, shape: Sequence[int]) -> tuple[ng.GPUTensor, ng.GPUTensor | None]:
        """Where the gradient of a node's output goes, seen as `shape`; and what was taken for it."""
        if node.dy_at is not None:
            return node.dy_at, None
        if node.wide is None:
            taken = self.buffers.take(shape)
            return taken, taken
        node.wide.dy = self.buffers.take(node.wide.y.shape)
        return node.wide.dy[..., node.wide.first : node.wide.first + self._c(node.y)], node.wide.dy

    def _mask(self, node: Node, dy: ng.GPUTensor) -> None:
        """Of a part the whole, which is contiguous: what the gradients of heads will be is not there yet."""
        name, y = node.name, node.y
        if node.wide is not None and node.wide.dy is not None:
            y, dy = node.wide.y, node.wide.dy
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
            of_dy = None if dx is None else self.dy_pieces
            bprop = partial(ng.conv2d_bprop, dy, w, node.x.shape, mask=bits, dy_pieces=of_dy, **options)
            update: Callable[[], object] = partial(
                ng.conv2d_update, dy, node.x, w.shape, out=dw, x_pieces=node.pieces, dy_pieces=of_dy, **options
            )
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
        windows = (layer.size, layer.stride, layer.pad, self.layout)
        options: dict[str, Any] = {"out": dx[0], "beta": dx[1], "stream": self.stream}
        run: Callable[..., object] = partial(ng.avg_pool2d_bprop, dy, node.x, *windows, **options)
        if node.codes is not None:
            run = partial(ng.max_pool2d_bprop, dy, None, *windows, argmax=node.codes, **options)
        self.bprop_ops.append(Op(node.name, "pool", 0, run))

    def _branches_bprop(
        self, node: Node, dy: ng.GPUTensor, dx: tuple[ng.GPUTensor, float] | None, bits: ng.GPUTensor | None
    ) -> None:
        """The ReLUs at the ends of the branches have been passed, all in one. bits: of the ReLU that made x.

        Each adds to dx what its first layer gives: pools, then convolutions, the last of which applies the bits.
        """
        heads = node.heads
        joint, lent = self._joint_gradient(node)
        order = sorted(range(len(node.branches)), key=lambda i: (isinstance(node.branches[i][0].layer, Conv), i))
        widths = [self._c(chain[-1].y) for chain in node.branches]
        beta = 0.0 if dx is None else dx[1]
        for number in order:
            chain = node.branches[number]
            part = self._slice(dy, sum(widths[:number]), widths[number])
            if heads is not None and joint is not None and number == heads.alone:
                if node.wide is None:
                    first = heads.first[number]
                    run = partial(nn.convert, part, None, joint[..., first:], stream=self.stream)
                    self.bprop_ops.append(Op(node.name, "join", 0, run))
                continue
            copied = not part.contiguous and not isinstance(chain[-1].layer, Conv)
            if copied:
                whole = self.buffers.take(chain[-1].y.shape)
                run = partial(nn.convert, part, None, whole, stream=self.stream)
                self.bprop_ops.append(Op(node.name, "join", 0, run))
                part = whole
            is_head = heads is not None and number in heads.nodes
            if heads is not None and joint is not None and is_head:
                first = heads.first[number]
                chain[0].dy_at = joint[..., first : first + self._c(chain[0].y)]
            target = None if dx is None or is_head else (dx[0], beta)
            _, inner = self._plan_bprop(chain, part, target, masked=True)
            if inner is not None:
                self.buffers.give(inner)
            if copied:
                self.buffers.give(part)
            beta = beta if is_head else 1.0
        if heads is None or joint is None:
            return
        works = [head.work for head in heads.nodes.values()]
        works += [] if heads.alone is None else [node.branches[heads.alone][0].work]
        options: dict[str, Any] = {"layout": self.layout, "stream": self.stream}
        of_dy = None if dx is None else self.dy_pieces
        if dx is not None:
            shared = {"mask": bits, "dy_pieces": of_dy}
            run = partial(ng.conv2d_bprop, joint, heads.w, node.x.shape, out=dx[0], beta=beta, **shared, **options)
            self.bprop_ops.append(Op(heads.name, "bprop", sum(w.bprop for w in works if w), run))
        run = partial(ng.conv2d_update, joint, node.x, heads.w.shape, out=heads.dw, dy_pieces=of_dy, **options)
        self.bprop_ops.append(Op(heads.name, "update", sum(w.update for w in works if w), run))
        if lent is not None:
            self.buffers.give(lent)

    def _joint_gradient(self, node: Node) -> tuple[ng.GPUTensor | None, ng.GPUTensor | None]:
        """Of an inception's heads, and what was taken for it. Nothing else makes zeros of channels without filters."""
        heads, lent = node.heads, None
        if heads is None:
            return None, None
        count = heads.w.shape[0]
        if node.wide is not None and node.wide.dy is not None:
            joint = node.wide.dy[..., :count]
        else:
            joint = lent = self.buffers.take((*node.x.shape[:3], count))
        begin, end = heads.gaps
        if begin < end:
            gaps = joint[..., begin:end]
            run = partial(nn.convert, ng.zeros(gaps.shape, self.dtype), None, gaps, stream=self.stream)
            self.bprop_ops.append(Op(node.name, "join", 0, run))
        return joint, lent
