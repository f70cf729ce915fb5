"""The forward pass of a step of step.py: its calls, and what they leave for the backward pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import nervanagpu as ng
from convnets.networks import Conv, Full, Inception, Layer, Pool, Work, side_after
from convnets.plan import PART, Heads, Node, Op, Plan, Wide, alone_in, heads_of, in_lanes, up, words
from nervanagpu import nn


class Fprop(Plan):
    """Plans fprop_ops; layers with weights come in the order of `_named`."""

    _named: Iterator[Work]
    _pools = _inceptions = 0

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
                node = self._plan_inception(layer, x, bits=masks, part=isinstance(after, Conv | Pool | Inception))
            elif isinstance(layer, Pool) and nodes and nodes[-1].pooled:
                node = self._plan_pool_at_once(layer, nodes[-1], out)
            elif isinstance(layer, Pool):
                node = self._plan_pool(layer, x, out, relu=bool(nodes) and nodes[-1].relu)
            elif isinstance(layer, Conv) and isinstance(after, Pool) and self._pools_at_once(layer, after, x):
                node = self._plan_pooled(layer, x)
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
            pieces = None if self.beside is not None else ng.SharedPieces()
            run: Callable[[], object] = partial(
                ng.conv2d, x, w, stride=layer.stride, padding=layer.pad, layout=self.layout, relu=True, out=y,
                mask=kept, stream=self.stream, x_pieces=pieces,
            )  # fmt: skip
        else:
            pieces = None
            x = self._flat(x)
            y = ng.empty((layer.k, self.net.n) if self.layout == "CHWN" else (self.net.n, layer.k), self.dtype)
            a, b = (w, x) if self.layout == "CHWN" else (x, w.T)
            run = partial(ng.dot, a, b, out=y, relu=layer.relu, mask=kept, stream=self.stream)
        self.fprop_ops.append(Op(found.name, "fprop", found.fprop, run))
        self.y[found.name] = y
        return Node(found.name, layer, x, y, found, kept, pieces=pieces)

    def _pools_at_once(self, layer: Conv, pool: Pool, x: ng.GPUTensor) -> bool:
        """One kernel computes both."""
        if pool.op != "max" or self.layout != "NHWC" or len(self.y) > 0:
            return False
        w = self.w[self.work[0].name]
        return ng.conv2d_max_pool2d_is_one_kernel(
            x, w, pool.size, pool_stride=pool.stride, pool_padding=pool.pad, stride=layer.stride, padding=layer.pad
        )

    def _plan_pooled(self, layer: Conv, x: ng.GPUTensor) -> Node:
        """A convolution whose result only the pool after it sees."""
        found = next(self._named)
        shape_alone = ng.broadcast_to(ng.zeros((1,), self.dtype), self._shape(layer.k, found.side_out))
        return Node(found.name, layer, x, shape_alone, found, pooled=True)

    def _plan_pool_at_once(self, layer: Pool, before: Node, out: ng.GPUTensor | None) -> Node:
        """The convolution of `before` and its pool."""
        conv, found = before.layer, before.work
        assert isinstance(conv, Conv) and found is not None
        self._pools += 1
        name = f"pool{self._pools}"
        w = self.w[found.name]
        y = ng.empty(self._shape(conv.k, side_after(layer, found.side_out)), self.dtype) if out is None else out
        windows = {"pool_stride": layer.stride, "pool_padding": layer.pad, "stride": conv.stride, "padding": conv.pad}
        codes = ng.conv2d_max_pool2d_argmax(before.x, w, layer.size, **windows)
        run = partial(ng.conv2d_max_pool2d, before.x, w, layer.size, **windows, out=y, argmax=codes, stream=self.stream)
        self.fprop_ops.append(Op(f"{found.name}+{name}", "fprop", found.fprop, run))
        self.y[name] = y
        return Node(name, layer, before.y, y, codes=codes)

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

    def _plan_inception(self, layer: Inception, x: ng.GPUTensor, bits: bool, part: bool) -> Node:
        """bits: of the ReLUs, where the channels of each branch begin at a word. part: y may lie in a wider tensor."""
        self._inceptions += 1
        name = f"inc{self._inceptions}"
        widths = [next(p.k for p in reversed(branch) if isinstance(p, Conv)) for branch in layer.branches]
        firsts = [sum(widths[:i]) for i in range(len(widths))]
        ends = all(isinstance(branch[-1], Conv) for branch in layer.branches)
        bits = bits and ends and self.layout == "NHWC" and all(first % 32 == 0 for first in firsts)
        before = len(self.fprop_ops)
        node = self._plan_heads(name, layer, x, sum(widths), bits, part)
        y, heads = node.y, node.heads
        common = self.fprop_ops[before:]
        lanes: list[list[Op]] = []
        for i, (branch, first, width) in enumerate(zip(layer.branches, firsts, widths, strict=True)):
            mark = len(self.fprop_ops)
            own = self._slice(y, first, width)
            if heads is not None and node.wide is not None and i == heads.alone:
                found = next(self._named)
                self.y[found.name] = own
                node.branches.append([Node(found.name, branch[0], x, own, found)])
                lanes.append([])
                continue
            direct = own.contiguous or isinstance(branch[-1], Conv)
            mask = None if node.bits is None else node.bits[..., first // 32 : first // 32 + words(width)]
            head = heads.nodes.get(i) if heads is not None else None
            if head is not None:
                next(self._named)
            rest, source = (branch, x) if head is None else (branch[1:], head.y)
            chain = self._plan_fprop(rest, source, own if direct else None, mask)
            if not direct:
                run = partial(nn.convert, chain[-1].y, None, own, stream=self.stream)
                self.fprop_ops.append(Op(name, "join", 0, run))
            node.branches.append(chain if head is None else [head, *chain])
            lanes.append(self.fprop_ops[mark:])
        self.fprop_ops[before:] = in_lanes(name, common, lanes, [] if heads is None else list(heads.nodes))
        self.y[name] = y
        return node

    def _plan_heads(self, name: str, layer: Inception, x: ng.GPUTensor, width: int, bits: bool, part: bool) -> Node:
        """An inception with its output of `width` channels; with channels last one convolution for the first layers of
        branches that go on after them, and, if `part` allows it, the first branch."""
        which = heads_of(layer)
        if self.layout != "NHWC" or len(which) < 2:
            y = ng.empty(self._shape(width, x.shape[1]), self.dtype)
            return Node(name, layer, x, y, bits=ng.empty((*y.shape[:3], words(width)), "uint32") if bits else None)
        alone = alone_in(layer)
        members = [*which, *([] if alone is None else [alone])]
        found = {i: next(w for w in self.work if w.name == f"{name}.{'abcdefgh'[i]}1") for i in members}
        first, end, gaps = dict[int, int](), 0, list[int]()
        for i in members:
            first[i] = up(end, PART if i == alone and not bits else 32)
            gaps += [end, first[i]] if end < first[i] else []
            end = first[i] + found[i].k
        w = ng.zeros((end, *self.w[found[which[0]].name].shape[1:]), self.dtype)
        dw = ng.empty(w.shape, self.dtype)
        for i in members:
            own = slice(first[i], first[i] + found[i].k)
            w[own] = self.w[found[i].name]
            self.w[found[i].name], self.dw[found[i].name] = w[own], dw[own]
        is_wide = part and alone == 0
        joined = members if is_wide else which
        count = first[joined[-1]] + found[joined[-1]].k
        node = Node(name, layer, x, x)
        if alone is not None and is_wide:
            wide = ng.zeros((*x.shape[:3], up(first[alone] + width, PART)), self.dtype)
            node.wide = Wide(wide, first[alone])
            node.y, y = wide[..., first[alone] : first[alone] + width], wide[..., :count]
            kept = ng.empty((*x.shape[:3], words(first[alone] + width) if bits else words(count)), "uint32")
            node.bits = kept[..., first[alone] // 32 :] if bits else None
            kept = kept[..., : words(count)]
        else:
            node.y, y = ng.empty((*x.shape[:3], width), self.dtype), ng.empty((*x.shape[:3], count), self.dtype)
            node.bits = ng.empty((*x.shape[:3], words(width)), "uint32") if bits else None
            kept = ng.empty((*x.shape[:3], words(count)), "uint32")
        nodes = {}
        for i in which:
            part_y, k = found[i].name, found[i].k
            self.y[part_y] = y[..., first[i] : first[i] + k]
            own_bits = kept[..., first[i] // 32 : first[i] // 32 + words(k)]
            nodes[i] = Node(part_y, layer.branches[i][0], x, self.y[part_y], found[i], own_bits)
        joint = f"{name}.{'+'.join(found[i].name.split('.')[1] for i in sorted(joined))}"
        run = partial(ng.conv2d, x, w[:count], layout=self.layout, relu=True, out=y, mask=kept, stream=self.stream)
        self.fprop_ops.append(Op(joint, "fprop", sum(found[i].fprop for i in joined), run))
        node.heads = Heads(joint, nodes, first, w, dw, (gaps[0], gaps[-1]) if gaps else (0, 0), alone)
        return node
