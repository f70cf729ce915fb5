"""Elementwise functions and reductions as the 2015 library has them: expressions, or written to `out`.

Each is the function of that name in nervanagpu.math.elementwise or nervanagpu.math.reductions. Reductions keep the
reduced axes with length 1. Comparisons and finite give bool, which assignments turn into 0 and 1. sgn(0) is 0.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import indexing
from nervanagpu.arrays.tensor_methods import facts_of
from nervanagpu.calls.arguments import AxisError, check_tensors, integer
from nervanagpu.compat.factory_base import FactoryBase
from nervanagpu.math import composed, elementwise, reductions
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import Axis


class ElementwiseFactory(FactoryBase):
    """The functions of NervanaGPU."""

    _random_calls = 0

    def rand(self) -> GPUTensor:
        """Uniform numbers in [0, 1) for every element of what they become part of; each call gives others."""
        self._random_calls += 1
        return _core.random(None, (self.seed + (self._random_calls << 32)) % (1 << 64), 0)

    def dropout(self, keep: float = 0.5) -> GPUTensor:
        """True with probability `keep` for each element: a mask to multiply by."""
        return elementwise.less(self.rand(), keep)

    def negative(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.negative"""
        return elementwise.negative(a, out)

    def sgn(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.sgn"""
        return elementwise.sgn(a, out)

    def reciprocal(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.reciprocal"""
        return elementwise.reciprocal(a, out)

    def absolute(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.absolute"""
        return elementwise.absolute(a, out)

    def fabs(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.absolute"""
        return elementwise.absolute(a, out)

    def sqrt(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.sqrt"""
        return elementwise.sqrt(a, out)

    def square(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.square"""
        return elementwise.square(a, out)

    def exp(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.exp"""
        return elementwise.exp(a, out)

    def exp2(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.exp2"""
        return elementwise.exp2(a, out)

    def log(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.log"""
        return elementwise.log(a, out)

    def log2(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.log2"""
        return elementwise.log2(a, out)

    def sig(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.sig"""
        return elementwise.sig(a, out)

    def sig2(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.sig2"""
        return elementwise.sig2(a, out)

    def tanh(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.tanh"""
        return elementwise.tanh(a, out)

    def tanh2(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.tanh2"""
        return elementwise.tanh2(a, out)

    def finite(self, a: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.finite"""
        return elementwise.finite(a, out)

    def add(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.add"""
        return elementwise.add(a, b, out)

    def subtract(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.subtract"""
        return elementwise.subtract(a, b, out)

    def multiply(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.multiply"""
        return elementwise.multiply(a, b, out)

    def divide(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.divide"""
        return elementwise.divide(a, b, out)

    def true_divide(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.divide"""
        return elementwise.divide(a, b, out)

    def power(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.power"""
        return elementwise.power(a, b, out)

    def equal(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.equal"""
        return elementwise.equal(a, b, out)

    def not_equal(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.not_equal"""
        return elementwise.not_equal(a, b, out)

    def less(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.less"""
        return elementwise.less(a, b, out)

    def less_equal(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.less_equal"""
        return elementwise.less_equal(a, b, out)

    def greater(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.greater"""
        return elementwise.greater(a, b, out)

    def greater_equal(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.greater_equal"""
        return elementwise.greater_equal(a, b, out)

    def maximum(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.maximum"""
        return elementwise.maximum(a, b, out)

    def minimum(self, a: Operand, b: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.minimum"""
        return elementwise.minimum(a, b, out)

    def clip(self, a: Operand, a_min: Operand, a_max: Operand, out: GPUTensor | None = None) -> GPUTensor:
        """elementwise.clip"""
        return elementwise.clip(a, a_min, a_max, out)

    def sum(
        self,
        a: Operand,
        axis: Axis = None,
        partial: GPUTensor | None = None,
        out: GPUTensor | None = None,
        keepdims: bool = True,
    ) -> GPUTensor:
        """reductions.sum; `partial` is not needed and not used."""
        return reductions.sum(a, axis, None, out, keepdims)

    def max(
        self,
        a: Operand,
        axis: Axis = None,
        partial: GPUTensor | None = None,
        out: GPUTensor | None = None,
        keepdims: bool = True,
    ) -> GPUTensor:
        """reductions.max; `partial` is not needed and not used."""
        return reductions.max(a, axis, out, keepdims)

    def min(
        self,
        a: Operand,
        axis: Axis = None,
        partial: GPUTensor | None = None,
        out: GPUTensor | None = None,
        keepdims: bool = True,
    ) -> GPUTensor:
        """reductions.min; `partial` is not needed and not used."""
        return reductions.min(a, axis, out, keepdims)

    def mean(
        self,
        a: Operand,
        axis: Axis = None,
        partial: GPUTensor | None = None,
        out: GPUTensor | None = None,
        keepdims: bool = True,
    ) -> GPUTensor:
        """reductions.mean; `partial` is not needed and not used."""
        return reductions.mean(a, axis, None, out, keepdims=keepdims)

    def var(
        self,
        a: Operand,
        axis: Axis = None,
        partial: GPUTensor | None = None,
        out: GPUTensor | None = None,
        keepdims: bool = True,
    ) -> GPUTensor:
        """reductions.var; `partial` is not needed and not used."""
        return reductions.var(a, axis, None, out, keepdims=keepdims)

    def std(
        self,
        a: Operand,
        axis: Axis = None,
        partial: GPUTensor | None = None,
        out: GPUTensor | None = None,
        keepdims: bool = True,
    ) -> GPUTensor:
        """reductions.std; `partial` is not needed and not used."""
        return reductions.std(a, axis, None, out, keepdims=keepdims)

    def argmax(
        self, a: GPUTensor, axis: int | None = 1, out: GPUTensor | None = None, keepdims: bool = True
    ) -> GPUTensor:
        """composed.argmax, along rows unless told otherwise"""
        return self._into(composed.argmax(a, axis, keepdims=keepdims), out)

    def argmin(
        self, a: GPUTensor, axis: int | None = 1, out: GPUTensor | None = None, keepdims: bool = True
    ) -> GPUTensor:
        """composed.argmin, along rows unless told otherwise"""
        return self._into(composed.argmin(a, axis, keepdims=keepdims), out)

    def take(self, a: GPUTensor, indices: GPUTensor, axis: int, out: GPUTensor | None = None) -> GPUTensor:
        """The rows (axis 0) or columns (axis 1) of `a` at `indices`, integers in any one row or column."""
        check_tensors("take", a=a, indices=indices)
        return indexing.take(a, indices.reshape(-1), axis, out)

    def onehot(self, indices: GPUTensor, axis: int, out: GPUTensor) -> GPUTensor:
        """out = 1 where an index is the position along `axis` of `out`, else 0. `indices` has out's other axes, or all
        elements of them in a row or column.
        """
        check_tensors("onehot", indices=indices, out=out)
        axis = integer("onehot", "axis", axis)
        if not -out.ndim <= axis < out.ndim:
            raise AxisError(f"onehot: axis {axis} is out of range; out has {out.ndim} axes")
        at = axis % out.ndim
        others = (*out.shape[:at], *out.shape[at + 1 :])
        if indices.shape != others:
            if indices.size != out.size // max(out.shape[at], 1):
                raise ValueError(f"onehot: indices have shape {indices.shape}; needs {others}")
            indices = indices.reshape(*others)
        return self._into(composed.onehot(indices, out.shape[at], at, out.dtype), out)

    def compensated_sum(
        self,
        sum_tensor: GPUTensor,
        cmp_tensor: GPUTensor,
        add_tensor: Operand,
        cmp_scale: float = 1.0,
        add_scale: float = 1.0,
    ) -> GPUTensor:
        """composed.compensated_sum; after `cmp_tensor.kahan_reset` sums, if that is not 0, what was lost is dropped."""
        check_tensors("compensated_sum", sum_tensor=sum_tensor, cmp_tensor=cmp_tensor)
        facts = facts_of(cmp_tensor)
        if facts.kahan_reset and facts.kahan_count >= facts.kahan_reset:
            facts.kahan_count, cmp_scale = 0, 0.0
        facts.kahan_count += 1
        return composed.compensated_sum(sum_tensor, cmp_tensor, add_tensor, cmp_scale, add_scale)

    @staticmethod
    def _into(x: GPUTensor, out: GPUTensor | None) -> GPUTensor:
        if out is None:
            return x
        _core.assign(out, x)
        return out


def _timed_with_out(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, timed as FactoryBase has it, when it writes to `out` and bench is above 1."""
    names = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(self: ElementwiseFactory, *args: Any, **more: Any) -> object:
        at = names.index("out") - 1
        out = more.get("out", args[at] if len(args) > at else None)
        if self.bench <= 1 or out is None:
            return function(self, *args, **more)
        self._timed(f"{name} {'x'.join(map(str, out.shape))}", 0.0, self.bench, lambda: function(self, *args, **more))
        return out

    call.__code__ = call.__code__.replace(co_name=name)  # type: ignore[attr-defined]  # what messages call it
    return call


for _name, _function in list(vars(ElementwiseFactory).items()):
    if callable(_function) and not _name.startswith("_") and "out" in inspect.signature(_function).parameters:
        setattr(ElementwiseFactory, _name, _timed_with_out(_name, _function))
