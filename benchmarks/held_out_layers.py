"""Layers as data, for conv.py: those of no list that the kernels were written or their models fitted by.

Square maps and filters, half of the filter as padding. Depthwise: of the kind of MobileNet (3x3), EfficientNet (3x3
and 5x5) and ConvNeXt (7x7), and some that fill no vector, no warp or no strip. Grouped: of ResNeXt 32x4d and RegNet,
and two groups of AlexNet. Residual: bottlenecks of ResNet-50, with their strides, the layers of a U-Net, and odd sides.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layer:
    """One layer: n pictures of c channels and side x side pixels, k filters of size x size in groups."""

    n: int
    c: int
    side: int
    k: int
    size: int
    stride: int
    groups: int = 1

    @property
    def pad(self) -> int:
        return self.size // 2

    @property
    def out(self) -> int:
        return (self.side + 2 * self.pad - self.size) // self.stride + 1

    @property
    def name(self) -> str:
        """As in c144_56_3x3s1, and where they differ n1_, -k288 and g8."""
        batch = "" if self.n == 64 else f"n{self.n}_"
        filters = "" if self.groups == self.c == self.k else f"-k{self.k}"
        groups = "" if self.groups in (1, self.c) else f"g{self.groups}"
        return f"{batch}c{self.c}{filters}_{self.side}_{self.size}x{self.size}s{self.stride}{groups}"


def depthwise(n: int, c: int, side: int, size: int, stride: int) -> Layer:
    """A filter for each channel."""
    return Layer(n, c, side, c, size, stride, c)


HELDOUT: dict[str, list[Layer]] = {
    "heldout_depthwise": [
        depthwise(*row)
        for row in [
            (64, 32, 112, 3, 1),
            (64, 64, 112, 3, 2),
            (64, 128, 56, 3, 1),
            (64, 144, 56, 3, 1),
            (64, 144, 56, 3, 2),
            (128, 256, 28, 3, 1),
            (128, 192, 28, 3, 2),
            (128, 512, 14, 3, 1),
            (128, 576, 14, 3, 2),
            (128, 1024, 7, 3, 1),
            (64, 144, 56, 5, 2),
            (64, 240, 28, 5, 1),
            (128, 672, 14, 5, 1),
            (128, 672, 14, 5, 2),
            (128, 1152, 7, 5, 1),
            (64, 96, 56, 7, 1),
            (64, 192, 28, 7, 1),
            (128, 384, 14, 7, 1),
            (128, 768, 7, 7, 1),
            (64, 96, 56, 7, 2),
            (1, 96, 112, 3, 1),
            (1, 512, 14, 3, 1),
            (64, 24, 56, 3, 1),
            (64, 40, 28, 5, 1),
            (64, 1000, 14, 3, 1),
            (64, 27, 56, 3, 1),
            (64, 130, 33, 3, 2),
        ]
    ],
    "heldout_grouped": [
        Layer(*row)
        for row in [
            (64, 128, 56, 128, 3, 1, 32),
            (64, 256, 56, 256, 3, 2, 32),
            (64, 256, 28, 256, 3, 1, 32),
            (64, 512, 14, 512, 3, 1, 32),
            (64, 1024, 7, 1024, 3, 1, 32),
            (64, 192, 28, 192, 3, 1, 8),
            (64, 448, 14, 448, 3, 1, 8),
            (64, 224, 28, 224, 3, 1, 2),
            (128, 96, 27, 256, 5, 1, 2),
            (128, 384, 13, 384, 3, 1, 2),
        ]
    ],
    "heldout_residual": [
        Layer(*row)
        for row in [
            (64, 64, 56, 64, 1, 1),
            (64, 64, 56, 64, 3, 1),
            (64, 64, 56, 256, 1, 1),
            (64, 128, 56, 128, 3, 2),
            (64, 512, 28, 128, 1, 1),
            (64, 128, 28, 128, 3, 1),
            (64, 256, 28, 256, 3, 2),
            (64, 256, 14, 256, 3, 1),
            (64, 1024, 14, 512, 1, 1),
            (64, 512, 14, 512, 3, 2),
            (64, 512, 7, 512, 3, 1),
            (64, 256, 56, 512, 1, 2),
            (8, 64, 256, 64, 3, 1),
            (8, 128, 128, 128, 3, 1),
            (8, 512, 32, 256, 3, 1),
            (32, 80, 45, 112, 3, 1),
            (32, 160, 23, 200, 3, 1),
        ]
    ],
}
