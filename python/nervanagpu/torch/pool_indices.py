"""torch's indices of a max pooling, from the codes that our kernels write: which element of its window was the largest.

An index counts the elements of a plane of x: that of the window's first element, and what the code adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import torch
from torch import Tensor

Ints = Sequence[int]


def _plane(coordinates: Sequence[Tensor], space: Ints) -> Tensor:
    """The index of every combination of coordinates along the axes of `space`: one axis for each."""
    index = coordinates[0]
    for more, length in zip(coordinates[1:], space[1:], strict=True):
        index = (index * length)[..., None] + more
    return index


def _ranges(lengths: Ints, steps: Ints, device: torch.device) -> list[Tensor]:
    return [torch.arange(n, device=device) * s for n, s in zip(lengths, steps, strict=True)]


@lru_cache(maxsize=64)
def _first(
    space: Ints, lengths: Ints, size: Ints, step: Ints, pad: Ints, spread: Ints, device: torch.device
) -> tuple[Tensor, Tensor | None]:
    """Of windows, the indices of the first elements, and with padding of the first that x has."""
    begin = [r - p for r, p in zip(_ranges(lengths, step, device), pad, strict=True)]
    if not any(pad):
        return _plane(begin, space), None
    taps = [(-b).clamp(min=0).add(d - 1) // d for b, d in zip(begin, spread, strict=True)]
    return _plane(begin, space), _plane([b + t * d for b, t, d in zip(begin, taps, spread, strict=True)], space)


def _kept(*numbers: Ints, device: torch.device) -> tuple[Tensor, Tensor | None]:
    """_first, kept from call to call, but while a graph is recorded: memory is the graph's then."""
    arguments = (*map(tuple, numbers), device)
    if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        return _first.__wrapped__(*arguments)
    return _first(*arguments)


def _indices(codes: Tensor, last: bool, space: Ints, size: Ints, step: Ints, pad: Ints, spread: Ints) -> Tensor:
    """Of codes that lie as a result does: (N, C, ...), or with the channels last (N, ..., C)."""
    lengths = codes.shape[1:-1] if last else codes.shape[2:]
    starts, inside = _kept(space, lengths, size, step, pad, spread, device=codes.device)
    across = (..., None) if last else (...,)
    # A code counts along the last axis by spread[-1]; where it has passed a whole line of a window, by what is missing
    # to that line's distance in x.
    index = torch.add(starts[across], codes, alpha=spread[-1])
    taps, line, reach = 1, 1, spread[-1]
    for i in range(len(size) - 1, 0, -1):
        taps *= size[i]
        line *= space[i]
        missing = line * spread[i - 1] - size[i] * reach
        reach = line * spread[i - 1]
        if missing:
            index.add_(torch.div(codes, taps, rounding_mode="floor"), alpha=missing)
    if inside is not None:  # the code 0 of a window of infinities may be that of padding, which no other code is
        torch.maximum(index, inside[across], out=index)
    return index.movedim(-1, 1) if last else index


class Places:
    """The codes of a pooling's result of `shape` (N, C, ...), as the kernel has left them: of 8 bits, or of 4.

    Of 4 bits there are two a byte, the first in the lower half.
    """

    def __init__(self, codes: Tensor, shape: Ints, channels_last: bool) -> None:
        self._last = channels_last
        if len(codes) < prod(shape):
            codes = torch.stack((codes & 15, codes >> 4), 1).view(-1)
        lying = (shape[0], *shape[2:], shape[1]) if channels_last else tuple(shape)
        self._codes = codes[: prod(shape)].view(lying)

    def unpacked(self) -> Tensor:
        """The codes as a tensor (N, C, ...)."""
        return self._codes.movedim(-1, 1) if self._last else self._codes

    def indices(self, space: Ints, *windows: Ints) -> Tensor:
        """The index of each largest element in a plane of x of lengths `space`; windows: size, step, pad, spread."""
        return _indices(self._codes, self._last, space, *windows)


def indices_of(codes: Tensor, space: Ints, *windows: Ints) -> Tensor:
    """The indices of codes (N, C, ...) that were laid out anew."""
    return _indices(codes, False, space, *windows)
