"""The five networks of convnet-benchmarks as data: layers, shapes and executed FLOPs.

AlexNet (one weird trick), OverFeat (fast), VGG-A, VGG-E and GoogLeNet v1, with the widths of the fully connected layers
that convnet-benchmarks uses. No bias, no local response normalisation, no dropout, no auxiliary classifiers. Every
convolution and every fully connected layer but the last is followed by a ReLU.

FLOPs count multiply-adds twice and the zeros of padding as work; pooling and everything element-wise count as none.
Only what runs counts: the first layer has no data gradient.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Conv:
    """`k` feature maps of size x size filters."""

    k: int
    size: int
    stride: int = 1
    pad: int = 0


@dataclass(frozen=True)
class Pool:
    """Windows of size x size; `op` is max or avg."""

    size: int
    stride: int
    pad: int = 0
    op: str = "max"


@dataclass(frozen=True)
class Full:
    """A fully connected layer of `k` units."""

    k: int
    relu: bool = True


@dataclass(frozen=True)
class Inception:
    """Chains of layers over one input, their outputs joined along the feature maps."""

    branches: tuple[tuple[Conv | Pool, ...], ...]


Layer = Conv | Pool | Full | Inception


@dataclass(frozen=True)
class Network:
    """`title` is the name in reports; images are image x image with 3 channels."""

    name: str
    title: str
    n: int
    image: int
    layers: tuple[Layer, ...]


@dataclass(frozen=True)
class Work:
    """One layer with weights: where it stands, its shapes, and the FLOPs of each pass. Sides are those of squares."""

    name: str
    layer: Conv | Full
    c: int
    side_in: int
    k: int
    side_out: int
    fprop: int
    bprop: int  # the data gradient; 0 for the first layer
    update: int  # the weight gradient


def side_after(layer: Conv | Pool, side: int) -> int:
    """The side of the output map."""
    out = (side + 2 * layer.pad - layer.size) // layer.stride + 1
    if out < 1:
        raise ValueError(f"{layer} on a map of side {side} has no output; needs a larger image")
    return out


def inception(a: int, b: int, c: int, d: int, e: int, f: int) -> Inception:
    """1x1 a | 1x1 b, 3x3 c | 1x1 d, 5x5 e | max pool, 1x1 f."""
    return Inception(
        (
            (Conv(a, 1),),
            (Conv(b, 1), Conv(c, 3, pad=1)),
            (Conv(d, 1), Conv(e, 5, pad=2)),
            (Pool(3, 1, 1), Conv(f, 1)),
        )
    )


def vgg(*groups: tuple[int, int]) -> tuple[Layer, ...]:
    """Groups of (how many, width) 3x3 convolutions, each closed by a 2x2 pool, and the classifier."""
    layers: list[Layer] = []
    for count, k in groups:
        layers += [Conv(k, 3, pad=1)] * count + [Pool(2, 2)]
    return (*layers, Full(4096), Full(4096), Full(1000, relu=False))


NETWORKS = {
    net.name: net
    for net in (
        Network(
            "alexnet",
            "Alexnet",
            128,
            224,
            (
                Conv(64, 11, 4, 2),
                Pool(3, 2),
                Conv(192, 5, pad=2),
                Pool(3, 2),
                Conv(384, 3, pad=1),
                Conv(256, 3, pad=1),
                Conv(256, 3, pad=1),
                Pool(3, 2),
                Full(4096),
                Full(4096),
                Full(1000, relu=False),
            ),
        ),
        Network(
            "overfeat",
            "Overfeat",
            128,
            231,
            (
                Conv(96, 11, 4),
                Pool(2, 2),
                Conv(256, 5),
                Pool(2, 2),
                Conv(512, 3, pad=1),
                Conv(1024, 3, pad=1),
                Conv(1024, 3, pad=1),
                Pool(2, 2),
                Full(3072),
                Full(4096),
                Full(1000, relu=False),
            ),
        ),
        Network("vgg_a", "VGG", 64, 224, vgg((1, 64), (1, 128), (2, 256), (2, 512), (2, 512))),
        Network("vgg_e", "VGG_E", 64, 224, vgg((2, 64), (2, 128), (4, 256), (4, 512), (4, 512))),
        Network(
            "googlenet",
            "GoogLeNet1",
            128,
            224,
            (
                Conv(64, 7, 2, 3),
                Pool(3, 2, 1),
                Conv(64, 1),
                Conv(192, 3, pad=1),
                Pool(3, 2, 1),
                inception(64, 96, 128, 16, 32, 32),
                inception(128, 128, 192, 32, 96, 64),
                Pool(3, 2, 1),
                inception(192, 96, 208, 16, 48, 64),
                inception(160, 112, 224, 24, 64, 64),
                inception(128, 128, 256, 24, 64, 64),
                inception(112, 144, 288, 32, 64, 64),
                inception(256, 160, 320, 32, 128, 128),
                Pool(3, 2, 1),
                inception(256, 160, 320, 32, 128, 128),
                inception(384, 192, 384, 48, 128, 128),
                Pool(7, 1, op="avg"),
                Full(1000, relu=False),
            ),
        ),
    )
}


def scaled(net: Network, n: int | None = None, divisor: int = 1, image: int | None = None) -> Network:
    """The same layers with another batch, widths divided by `divisor` (at least 1), and images of another side."""

    def width(layer: Layer) -> Layer:
        if isinstance(layer, Inception):
            return Inception(tuple(tuple(width(x) for x in branch) for branch in layer.branches))  # type: ignore[misc]
        return layer if isinstance(layer, Pool) else replace(layer, k=max(1, layer.k // divisor))

    return replace(net, n=n or net.n, image=image or net.image, layers=tuple(width(x) for x in net.layers))


def work(net: Network) -> list[Work]:
    """The layers with weights in the order of fprop, named conv1, ... fc1, ... and, in GoogLeNet, inc1.1a, ..."""
    return list(_walk(net))


def _walk(net: Network) -> Iterator[Work]:
    c, side = 3, net.image
    counts = {"conv": 0, "fc": 0, "inc": 0}
    first = True

    def one(name: str, layer: Conv | Full, c: int, side: int) -> Work:
        nonlocal first
        out, taps = (side_after(layer, side), layer.size**2) if isinstance(layer, Conv) else (1, side**2)
        flops = 2 * net.n * layer.k * out**2 * c * taps
        bprop, first = 0 if first else flops, False
        return Work(name, layer, c, side, layer.k, out, flops, bprop, flops)

    for layer in net.layers:
        if isinstance(layer, Pool):
            side = side_after(layer, side)
            continue
        if isinstance(layer, Inception):
            counts["inc"] += 1
            joined = 0
            for letter, branch in zip("abcdefgh", layer.branches, strict=False):
                width, at, number = c, side, 0
                for part in branch:
                    if isinstance(part, Conv):
                        number += 1
                        yield one(f"inc{counts['inc']}.{letter}{number}", part, width, at)
                        width = part.k
                    at = side_after(part, at)
                joined += width
            c, side = joined, at
            continue
        kind = "conv" if isinstance(layer, Conv) else "fc"
        counts[kind] += 1
        found = one(f"{kind}{counts[kind]}", layer, c, side)
        yield found
        c, side = found.k, found.side_out


def flops(net: Network) -> tuple[int, int]:
    """(fprop, bprop) FLOPs executed in one step; bprop is data and weight gradients together."""
    parts = work(net)
    return sum(w.fprop for w in parts), sum(w.bprop + w.update for w in parts)
