"""A trap for NaN and infinity: the statement that first makes one raises."""

from __future__ import annotations

import functools
import linecache
import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_PACKAGE = os.path.dirname(__file__)

# Operations of _core that write a tensor: which argument that is; what they return is looked at, too.
_WRITES = {
    "plain_dot": None, "dot": 2, "batched_dot": 2, "matmul": None, "nn_convert": 1, "nn_add": 2, "nn_activation": 2,
    "nn_activation_bprop": 3, "nn_dropout": 1, "nn_bias_add": 3, "nn_bias_grad": 2, "nn_sgd_update": 0,
    "nn_softmax": 2, "nn_softmax_bprop": 2, "conv_fprop": 2, "conv_bprop": 2, "conv_update": 2,
    "pool_fprop": 2, "pool_bprop": 3, "conv_max_pool_fprop": 2,
}  # fmt: skip


def statement() -> str:
    """Where the caller outside this package stands: "train.py:12: y = ng.log(x)"."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    name, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(name, line).strip()
    return f"{name}:{line}" + (f": {text}" if text else "")


class _Trap:
    on = False
    busy = False
    originals: dict[str, Callable[..., Any]] = {}  # noqa: RUF012 (one trap)

    def look(self, tensor: GPUTensor) -> None:
        if self.busy or str(tensor.dtype) not in _FLOATS or tensor.size == 0:
            return
        self.busy = True
        try:
            _core.evaluate(tensor)  # rounded as it is stored
            finite = _core.reduce("min", _core.apply("finite", tensor), None, False, 0)
            if not finite.get():
                self.refuse(tensor)
        finally:
            self.busy = False

    def refuse(self, tensor: GPUTensor) -> None:
        host = _core.cast(tensor, "float64").get()
        bad = ~np.isfinite(host)
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        raise FloatingPointError(
            f"{statement()}: {int(bad.sum())} of {tensor.size} elements of the result, {tensor.dtype} {tensor.shape}, "
            f"are not finite; the first is {host[first]} at {first}"
        )

    def wrapped(self, name: str, out: int | None) -> Callable[..., Any]:
        original = self.originals[name]

        @functools.wraps(original)
        def call(*args: object, **kwargs: object) -> object:
            result = original(*args, **kwargs)
            written = result if isinstance(result, GPUTensor) else args[out] if out is not None else None
            if isinstance(written, GPUTensor):
                self.look(written)
            return result

        return call

    def switch(self, on: bool) -> None:
        if on and not self.on:
            self.originals = {name: getattr(_core, name) for name in _WRITES}
            for name, out in _WRITES.items():
                setattr(_core, name, self.wrapped(name, out))
        if not on and self.on:
            for name, original in self.originals.items():
                setattr(_core, name, original)
        _core.set_result_check(self.look if on else None)
        self.on = on


_trap = _Trap()


class check_finite:
    """check_finite(True): from now on a result with NaN or infinity raises FloatingPointError.

    The error names the statement (file, line, text), how many elements are not finite and where the first is. While it
    is on, every expression is computed when it is written, and looked at: slow, and for looking only. Operators,
    functions, assignments, products, convolutions, pooling and `nn` are looked at; what `where` leaves out is, too.
    Kernels of one's own and `Network` are not. check_finite(False) ends it; as a context it ends by itself:

        with ng.check_finite():
            train()
    """

    def __init__(self, on: bool = True) -> None:
        self._before = _trap.on
        _trap.switch(on)

    def __enter__(self) -> check_finite:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _trap.switch(self._before)
