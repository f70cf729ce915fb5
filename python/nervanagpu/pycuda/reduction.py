"""ReductionKernel: a kernel that makes one number of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nervanagpu.calls.protocols import AllocatorLike
from nervanagpu.kernels import c_types, kernel_templates
from nervanagpu.pycuda import driver
from nervanagpu.pycuda.elementwise import Arguments, declarations, selected, values_for

if TYPE_CHECKING:
    from nervanagpu.pycuda.array_class import GPUArray

__all__ = ["ReductionKernel"]


class ReductionKernel:
    """`map_expr` of each i, an expression of C, reduced by `reduce_expr`, one of a and b, from `neutral` on:

        ReductionKernel(numpy.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y")

    reduce_expr must commute. map_expr None: in[i] of the one array, or of the first. Returns a GPUArray of no axes.
    """

    def __init__(
        self,
        dtype_out: npt.DTypeLike,
        neutral: str | float,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: Arguments | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
        allocator: AllocatorLike = None,
    ) -> None:
        self.dtype_out = np.dtype(dtype_out)
        self.name = name
        type_name = c_types.name_of(self.dtype_out)
        self.arguments = declarations(f"{type_name} *in" if arguments is None else arguments)
        vectors = [d for d in self.arguments if d.vector]
        if not vectors:
            raise TypeError(f"ReductionKernel {name}: no argument is an array; needs one: float *x")
        each = f"{vectors[0].name}[i]" if map_expr is None else map_expr
        parameters = ", ".join([*(d.declarator() for d in self.arguments), f"{type_name} *ng_out"])
        # What scripts call the number of elements.
        count = "const size_t n = ng_rows * ng_length; (void)n"
        self._first = kernel_templates.reduction(
            parameters, type_name, str(neutral), reduce_expr, each, name, preamble, before=count
        )
        self._second = kernel_templates.reduction(
            f"const {type_name} *ng_in, {type_name} *ng_out", type_name, str(neutral), reduce_expr, "ng_in[i]", name,
            preamble,
        )  # fmt: skip
        self._options = tuple(options or ())

    def __call__(
        self,
        *args: Any,
        range: slice | None = None,
        slice: slice | None = None,
        stream: driver.Stream | None = None,
        allocator: AllocatorLike = None,
        return_async: bool = False,
        out: Any = None,
    ) -> GPUArray:
        """The result, a GPUArray of shape (). range, slice: of some elements alone."""
        from nervanagpu.pycuda import gpuarray

        title = f"ReductionKernel {self.name}"
        values, vectors = values_for(title, self.arguments, args)
        start, step, count = selected(title, vectors, range if range is not None else slice)
        result = gpuarray.empty((), self.dtype_out, allocator or driver.mem_alloc) if out is None else out
        parts = kernel_templates.parts_for(1, count)
        partial = gpuarray.empty(parts, self.dtype_out) if parts > 1 else result
        self._run(self._first, parts, [*values, partial.ptr], (start, step, 1, count), stream)
        if parts > 1:
            self._run(self._second, 1, [partial.ptr, result.ptr], (0, 1, 1, parts), stream)
        return result

    def _run(
        self, text: str, parts: int, values: list[Any], counts: Sequence[int], stream: driver.Stream | None
    ) -> None:
        kernel = kernel_templates.kernel(text, self.name, self._options)
        numbers = [kernel_templates.whole(c) for c in counts]
        kernel[parts, kernel_templates.THREADS](*values, *numbers, stream=driver.stream_of(stream))
