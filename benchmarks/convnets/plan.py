"""What a step of step.py is planned of: calls, layers with their tensors, and memory for gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from convnets.networks import Conv, Full, Inception, Layer, Network, Work

Layout = Literal["CHWN", "NHWC"]
Pass = Literal["fprop", "bprop", "update", "relu", "pool", "join"]


@dataclass
class Op:
    """One call of the library: what a layer does in a pass, and the FLOPs it executes."""

    layer: str
    pass_: Pass
    flops: int
    run: Callable[..., object]
    fork: str = ""  # the inception whose branches may run side by side; they begin where its first operation does
    lane: int = 0  # of its streams; 0: the step's own


@dataclass
class Node:
    """A layer of the plan with its tensors; `branches` are those of an inception."""

    name: str
    layer: Layer
    x: ng.GPUTensor
    y: ng.GPUTensor
    work: Work | None = None
    bits: ng.GPUTensor | None = None  # y > 0, for the data gradient of the next layer
    pooled: bool = False  # y is not stored, and has but its shape: one kernel computes it and the pool after it
    codes: ng.GPUTensor | None = None  # of a max pool: its places, for the gradient
    pieces: ng.SharedPieces | None = None  # of x, from a convolution to the gradient of its weights
    dy_at: ng.GPUTensor | None = None  # where the gradient of y goes, if that is a part of a wider tensor
    heads: Heads | None = None  # of an inception
    wide: Wide | None = None  # of an inception: what its output is a part of
    branches: list[list[Node]] = field(default_factory=list)

    @property
    def relu(self) -> bool:
        """Whether every element of y went through a ReLU."""
        if isinstance(self.layer, Inception):
            return all(branch[-1].relu for branch in self.branches)
        return isinstance(self.layer, Conv) or (isinstance(self.layer, Full) and self.layer.relu)


@dataclass
class Heads:
    """The 1x1 convolutions that several branches of an inception begin with, as one: they read the same x.

    Each begins at a multiple of 32 channels, so that the bits of its ReLU are whole words; filters between are zero. A
    branch that is a 1x1 convolution alone has its filters after theirs, and the gradients of all are one. So are their
    outputs, if that of the inception is Wide.
    """

    name: str
    nodes: dict[int, Node]  # by branch
    first: dict[int, int]  # the channel that each begins at; `alone`, too
    w: ng.GPUTensor
    dw: ng.GPUTensor
    gaps: tuple[int, int]  # from the first channel without filters to the last; equal: there is none
    alone: int | None = None  # the branch without further layers


@dataclass
class Wide:
    """What the output of an inception is a part of: pixels hold [heads | output], and its first branch is alone.

    So one product makes [heads, alone], and layers after it read [alone, other branches]. Gradients lie alike.
    """

    y: ng.GPUTensor
    first: int  # channel of the output
    dy: ng.GPUTensor | None = None  # while gradients are planned


# Channels of an output inside of a wider tensor begin at multiples: sectors of float16, the copy engine's 16 bytes.
PART = 16


def up(value: int, unit: int) -> int:
    """The next multiple of `unit`."""
    return -(-value // unit) * unit


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


def in_lanes(name: str, common: list[Op], branches: list[list[Op]], after: list[int]) -> list[Op]:
    """The operations of an inception in an order in which no lane waits for what it does not need.

    after: the branches that go on after `common`, the others begin beside it. The last of them is no lane of its own.
    """
    alone = [i for i in range(len(branches)) if i not in after and branches[i]]
    order = [*alone, *after]
    out: list[Op] = []
    for number, i in enumerate(order, 1):
        if after and i == after[0]:
            out += common
        lane = number if number < len(order) else 0
        out += [replace(op, fork=name, lane=lane) for op in branches[i]]
    return [replace(op, fork=name) for op in out]


def words(channels: int) -> int:
    """Of 32 bits, that the bits of so many channels take."""
    return -(-channels // 32)


def heads_of(layer: Inception) -> list[int]:
    """The branches that begin with a 1x1 convolution and go on after it."""
    longer = [(i, branch[0]) for i, branch in enumerate(layer.branches) if len(branch) > 1]
    return [i for i, head in longer if isinstance(head, Conv) and head == Conv(head.k, 1)]


def alone_in(layer: Inception) -> int | None:
    """The only branch that is a 1x1 convolution and nothing else."""
    single = [(i, branch[0]) for i, branch in enumerate(layer.branches) if len(branch) == 1]
    found = [i for i, head in single if isinstance(head, Conv) and head == Conv(head.k, 1)]
    return found[0] if len(found) == 1 else None


class Plan:
    """What the planning of both passes works on: the network's tensors and calls. Step says what they are."""

    net: Network
    layout: Layout
    dtype: npt.DTypeLike
    stream: ng.Stream | None
    beside: ng.Stream | None
    dy_pieces: ng.SharedPieces | None
    work: list[Work]
    w: dict[str, ng.GPUTensor]
    dw: dict[str, ng.GPUTensor]
    y: dict[str, ng.GPUTensor]
    fprop_ops: list[Op]
    bprop_ops: list[Op]
    buffers: Buffers

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
