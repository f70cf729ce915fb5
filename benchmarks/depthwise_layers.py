"""Depthwise layers as data, for conv.py: those of no list that the kernels were written by.

Square maps and filters, a filter for each channel, half of the filter as padding. Of the kind of MobileNet (3x3),
EfficientNet (3x3 and 5x5) and ConvNeXt (7x7), and some that fill no vector, no warp or no strip.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Depthwise:
    """One layer: n pictures of c channels and side x side pixels."""

    n: int
    c: int
    side: int
    size: int
    stride: int

    @property
    def name(self) -> str:
        """As in c144_56_3x3s1."""
        batch = "" if self.n == 64 else f"n{self.n}_"
        return f"{batch}c{self.c}_{self.side}_{self.size}x{self.size}s{self.stride}"


DEPTHWISE = [
    Depthwise(*row)
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
]
