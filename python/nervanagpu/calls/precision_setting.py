"""How float32 operands are multiplied."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import TracebackType

from nervanagpu import _core
from nervanagpu.calls.arguments import shown


class precision:
    """How this thread's products and convolutions multiply float32: "strict" (at first) or "tensor".

        ng.precision("tensor")            # from now on
        with ng.precision("tensor"):      # for these
            c = a @ b
            y = ng.conv2d(x, w, layout="NHWC")

    strict: fused multiply-adds, the same bits on every device. tensor: on the tensor cores of sm_90a, each operand as
    three bfloat16 pieces, six of their nine products summed. The error is no larger than strict's, at more than twice
    the speed where products are large. Those of some 1,500 cubes and more are tried from two float16 pieces first:
    three products, at three to five times the speed. Errors are no larger but where terms cancel one after the other.
    The device decides by what it finds in the operands. Small products, sums over a batch that are no one long k,
    convolutions of groups, and other devices are strict. NaN, infinities, elements below 2^-110 (but 0) and sums that
    might overflow take fused multiply-adds, too, which the device finds out. An expression has the precision under
    which it was written. ValueError: another name.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"precision: name is {shown(name)}; needs 'strict' or 'tensor'")
        self._before = _core.set_precision(name)

    def __enter__(self) -> precision:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _core.set_precision(self._before)


def at(name: str | None) -> AbstractContextManager[object]:
    """The setting of one call, its argument `precision`."""
    return nullcontext() if name is None else precision(name)
