"""Layers as data, for conv.py: those of no list that the kernels were written or their models fitted by.

Depthwise: of the kind of MobileNet (3x3), EfficientNet (3x3 and 5x5) and ConvNeXt (7x7), and some that fill no vector,
no warp or no strip. Grouped: of ResNeXt 32x4d and RegNet, and two groups of AlexNet. Residual: bottlenecks of
ResNet-50, with their strides, the layers of a U-Net, and odd sides. Dilated: of DeepLab and of small context networks.
Video: of C3D, of R(2+1)D, of a 3D U-Net, with filters of one frame or of one pixel. Signals: of WaveNet's kind, in 1D.
Strided: random sides, channels and paddings with strides 2 and 3.
Others: 2x2 and 4x4 filters with stride 2 and filters of one line, as U-Net, DCGAN and Inception v3 have them.
"""

from __future__ import annotations

from dataclasses import dataclass

Axes = int | tuple[int, ...]


@dataclass(frozen=True)
class Layer:
    """One layer: n images of c channels, k filters in groups. An int stands for both axes of an image; a tuple has a
    number for each axis, of which there are as many as sides. padding: None for half of what a filter reaches."""

    n: int
    c: int
    side: Axes
    k: int
    size: Axes
    stride: Axes
    groups: int = 1
    dilation: int = 1
    padding: int | None = None

    def _each(self, value: Axes) -> tuple[int, ...]:
        return value if isinstance(value, tuple) else (value,) * len(self.sides)

    @property
    def sides(self) -> tuple[int, ...]:
        return self.side if isinstance(self.side, tuple) else (self.side, self.side)

    @property
    def sizes(self) -> tuple[int, ...]:
        return self._each(self.size)

    @property
    def strides(self) -> tuple[int, ...]:
        return self._each(self.stride)

    @property
    def pads(self) -> tuple[int, ...]:
        if self.padding is not None:
            return self._each(self.padding)
        return tuple(self.dilation * (size - 1) // 2 for size in self.sizes)

    @property
    def outs(self) -> tuple[int, ...]:
        """Positions along each axis."""
        axes = zip(self.sides, self.pads, self.sizes, self.strides, strict=True)
        return tuple((side + 2 * pad - self.dilation * (size - 1) - 1) // step + 1 for side, pad, size, step in axes)

    @property
    def name(self) -> str:
        """As in c144_56_3x3s1, and where they say more n1_, -k288, 8x112x112, d2 and g8."""
        batch = "" if self.n == 64 else f"n{self.n}_"
        filters = "" if self.groups == self.c == self.k else f"-k{self.k}"
        side = str(self.side) if isinstance(self.side, int) else "x".join(map(str, self.side))
        stride = str(self.stride) if isinstance(self.stride, int) else "x".join(map(str, self.stride))
        dilation = "" if self.dilation == 1 else f"d{self.dilation}"
        groups = "" if self.groups in (1, self.c) else f"g{self.groups}"
        return f"{batch}c{self.c}{filters}_{side}_{'x'.join(map(str, self.sizes))}s{stride}{dilation}{groups}"


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
    "heldout_dilated": [
        Layer(*row[:6], dilation=row[6])
        for row in [
            (16, 256, 33, 256, 3, 1, 2),
            (16, 512, 33, 512, 3, 1, 4),
            (8, 2048, 33, 256, 3, 1, 12),
            (8, 2048, 33, 256, 3, 1, 24),
            (8, 32, 128, 32, 3, 1, 8),
            (32, 64, 64, 64, 3, 1, 2),
            (16, 128, 48, 96, 5, 1, 2),
        ]
    ],
    "heldout_video": [
        Layer(*row)
        for row in [
            (8, 3, (16, 112, 112), 64, 3, 1),
            (8, 64, (16, 56, 56), 128, 3, 1),
            (8, 256, (8, 28, 28), 256, 3, 1),
            (8, 512, (4, 14, 14), 512, 3, 1),
            (8, 64, (16, 56, 56), 144, (1, 3, 3), 1),
            (8, 144, (16, 56, 56), 64, (3, 1, 1), 1),
            (8, 128, (16, 56, 56), 256, 3, 2),
            (8, 3, (16, 112, 112), 45, (1, 7, 7), (1, 2, 2)),
            (8, 256, (8, 14, 14), 512, 1, 2),
            (2, 32, (64, 64, 64), 32, 3, 1),
            (2, 64, (32, 32, 32), 128, 3, 1),
            (1, 1, (96, 96, 96), 16, 3, 1),
            (4, 24, (20, 31, 31), 40, 3, 1),
        ]
    ],
    "heldout_signals": [
        Layer(*row[:6], dilation=row[6])
        for row in [
            (16, 64, (16000,), 128, 2, 1, 1),
            (16, 128, (4000,), 128, 3, 1, 16),
            (32, 256, (500,), 256, 5, 1, 1),
            (16, 1, (16000,), 64, 80, 4, 1),
            (64, 512, (100,), 512, 3, 1, 1),
        ]
    ],
    "heldout_strided": [
        Layer(*row)
        for row in [
            (8, 192, 128, 96, 3, 2, 1, 1, 0),
            (16, 512, 13, 96, 2, 2, 1, 1, 0),
            (64, 32, 128, 256, 3, 2),
            (32, 128, 27, 512, 4, 2),
            (32, 192, 15, 64, 5, 2, 1, 1, 0),
            (16, 256, 32, 192, 5, 2, 1, 1, 0),
            (16, 384, 13, 192, 3, 3),
            (64, 192, 28, 512, 3, 2),
            (32, 96, 32, 32, 4, 2, 1, 1, 2),
            (32, 96, 14, 96, 3, 2),
            (64, 64, 13, 384, 4, 3),
            (32, 384, 28, 384, 3, 2),
            (64, 192, 96, 96, 3, 2),
            (32, 64, 128, 192, 2, 2, 1, 1, 1),
        ]
    ],
    "heldout_others": [
        Layer(*row)
        for row in [
            (8, 128, 128, 64, 2, 2),
            (8, 1024, 16, 512, 2, 2),
            (64, 64, 64, 128, 4, 2),
            (64, 256, 16, 512, 4, 2),
            (32, 128, 17, 128, (1, 7), 1),
            (32, 160, 17, 192, (7, 1), 1),
            (32, 384, 8, 384, (1, 3), 1),
            (16, 3, 224, 768, 16, 16),
            (16, 3, 224, 96, 4, 4),
            (64, 3, 32, 64, 3, 1),
            (64, 1, 28, 32, 5, 1),
            (4, 48, 160, 48, 3, 1),
        ]
    ],
}
