"""Pooling with dilation, ceil_mode and divisors of its own, as pooling without them of tensors laid out anew.

Dilated windows of one phase lie side by side in every d-th row: the phases become part of the batch, are pooled at all
places, and every stride-th place is taken. What hangs over the end (ceil_mode) is laid out as filling.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor

from nervanagpu.torch.bridge import check, need, need_numbers

Ints = Sequence[int]


def result_lengths(space: Ints, size: Ints, step: Ints, pad: Ints, spread: Ints, ceil: bool) -> list[int]:
    """Lengths of the result, as torch has them: with ceil_mode no window begins after the elements."""
    out = []
    for n, k, s, p, d in zip(space, size, step, pad, spread, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        length = (room + s - 1 if ceil else room) // s + 1
        out.append(length - 1 if ceil and (length - 1) * s >= n + p else length)
    check(all(n >= 1 for n in out), lambda: f"{tuple(space)} elements are less than a window")
    return out


def _padded(x: Tensor, before: Ints, after: Ints, value: float) -> Tensor:
    """x with so many elements before and after it along each spatial axis."""
    sides = [n for pair in zip(reversed(before), reversed(after), strict=True) for n in pair]
    return torch.nn.functional.pad(x, sides, value=value) if any(sides) else x


def _inner(x: Tensor, space: Ints) -> Tensor:
    """The first elements along each spatial axis."""
    return x[(..., *(slice(n) for n in space))]


class Spread:
    """A max pooling of tensors (N, C, *space): `inside(x)` is pooled by (size, step, 0), `outside` is the result."""

    def __init__(self, space: Ints, size: Ints, step: Ints, pad: Ints, spread: Ints, ceil: bool) -> None:
        need_numbers(len(size), dilation=(spread, 1), stride=(step, 1), kernel=(size, 1), padding=(pad, 0))
        need(
            all(2 * p <= d * (k - 1) + 1 for p, k, d in zip(pad, size, spread, strict=True)),
            f"padding {tuple(pad)} is more than half the kernel {tuple(size)} of dilation {tuple(spread)}",
        )
        self.lengths = result_lengths(space, size, step, pad, spread, ceil)
        self._space, self._pad, self._phases = space, pad, list(spread)
        # Where there is one phase, the kernel strides; else every step-th place of all is taken.
        self.step = [s if d == 1 else 1 for s, d in zip(step, spread, strict=True)]
        self._taken = [1 if d == 1 else s for s, d in zip(step, spread, strict=True)]
        self._rows = [
            -(-max(n + p, (out - 1) * s + d * (k - 1) + 1) // d)
            for n, k, s, p, d, out in zip(space, size, step, pad, spread, self.lengths, strict=True)
        ]
        self._places = [(m - k) // s + 1 for m, k, s in zip(self._rows, size, self.step, strict=True)]

    def _divided(self, x: Tensor, rows: Ints) -> Tensor:
        """(N, C, rows * phases) -> (N * phases, C, rows)."""
        axes = len(rows)
        pairs = [n for pair in zip(rows, self._phases, strict=True) for n in pair]
        parts = x.reshape(*x.shape[:2], *pairs)
        order = (0, *range(3, 3 + 2 * axes, 2), 1, *range(2, 2 + 2 * axes, 2))
        return parts.permute(order).reshape(x.shape[0] * prod(self._phases), x.shape[1], *rows)

    def _joined(self, x: Tensor, rows: Ints) -> Tensor:
        """The way back."""
        axes = len(rows)
        parts = x.reshape(-1, *self._phases, x.shape[1], *rows)
        order = (0, axes + 1, *(n for i in range(axes) for n in (axes + 2 + i, 1 + i)))
        return parts.permute(order).reshape(-1, x.shape[1], *self._whole(rows))

    def _whole(self, rows: Ints) -> list[int]:
        return [m * d for m, d in zip(rows, self._phases, strict=True)]

    def inside(self, x: Tensor) -> Tensor:
        """x as it is to be pooled."""
        after = [m - n - p for m, n, p in zip(self._whole(self._rows), self._space, self._pad, strict=True)]
        return self._divided(_padded(x, self._pad, after, float("-inf")), self._rows)

    def outside(self, y: Tensor) -> Tensor:
        """The result of x, from that of inside(x)."""
        every = self._joined(y, self._places)[(..., *(slice(None, None, s) for s in self._taken))]
        return _inner(every, self.lengths)

    def gradient_inside(self, grad: Tensor) -> Tensor:
        """The gradient of the result of inside(x), from that of the result of x."""
        every = grad.new_zeros((*grad.shape[:2], *self._whole(self._places)))
        _inner(every[(..., *(slice(None, None, s) for s in self._taken))], self.lengths).copy_(grad)
        return self._divided(every, self._places)

    def gradient_outside(self, dx: Tensor) -> Tensor:
        """The gradient of x, from that of inside(x)."""
        whole = self._joined(dx, self._rows)
        own = (slice(p, p + n) for p, n in zip(self._pad, self._space, strict=True))
        return whole[(..., *own)]


class Means:
    """An average pooling of tensors (N, C, *space): that of `inside(x)`, padding counted, times `factor`."""

    def __init__(
        self, x: Tensor, size: Ints, step: Ints, pad: Ints, ceil: bool, count_padding: bool, divisor: int | None
    ) -> None:
        whole = divisor is None or (hasattr(divisor, "__index__") and divisor != 0)
        need(whole, f"divisor_override is {divisor!r}; needs None, or an integer that is not 0")
        self._space = x.shape[2:]
        axes = len(size)
        self.lengths = result_lengths(self._space, size, step, pad, [1] * axes, ceil)
        self._after = [
            max(0, (out - 1) * s + k - n - 2 * p)
            for n, k, s, p, out in zip(self._space, size, step, pad, self.lengths, strict=True)
        ]
        count = torch.full((), 1 if divisor is None else divisor, device=x.device)
        for i in range(axes if divisor is None else 0):
            begin = torch.arange(self.lengths[i], device=x.device) * step[i] - pad[i]
            end = (begin + size[i]).clamp(max=self._space[i] + pad[i])
            if not count_padding:
                begin, end = begin.clamp(min=0), end.clamp(max=self._space[i])
            count = count[..., None] * (end - begin)
        self.factor = prod(size) / count

    def inside(self, x: Tensor) -> Tensor:
        """x as it is to be pooled."""
        return _padded(x, [0] * len(self._after), self._after, 0.0)

    def outside(self, y: Tensor) -> Tensor:
        """The result of x, from that of inside(x)."""
        return (_inner(y, self.lengths) * self.factor).to(y.dtype)

    def gradient_inside(self, grad: Tensor, size: Ints, step: Ints, pad: Ints) -> Tensor:
        """The gradient of the result of inside(x)."""
        grad = (grad * self.factor).to(grad.dtype)
        room = [
            (n + e + 2 * p - k) // s + 1
            for n, e, p, k, s in zip(self._space, self._after, pad, size, step, strict=True)
        ]
        return _padded(grad, [0] * len(room), [m - n for m, n in zip(room, self.lengths, strict=True)], 0.0)

    def gradient_outside(self, dx: Tensor) -> Tensor:
        """The gradient of x."""
        return _inner(dx, self._space)
