"""InclusiveScanKernel, ExclusiveScanKernel: every element reduced with all before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nervanagpu.calls.protocols import AllocatorLike
from nervanagpu.kernels import c_types, kernel_templates
from nervanagpu.pycuda import driver
from nervanagpu.pycuda.arrays import VectorView

T = TypeVar("T")

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]


class InclusiveScanKernel:
    """Element i becomes elements 0 to i reduced by `scan_expr`, of a (before) and b, which must associate:

    InclusiveScanKernel(numpy.int32, "a + b")(array)
    """

    exclusive = False

    def __init__(
        self,
        dtype: npt.DTypeLike,
        scan_expr: str,
        neutral: str | float | None = None,
        name_prefix: str = "scan",
        options: Sequence[str] | None = None,
        preamble: str = "",
        devices: object = None,
    ) -> None:
        if self.exclusive and neutral is None:
            raise ValueError("ExclusiveScanKernel: neutral is None; needs the element that changes nothing: 0 of a sum")
        self.dtype = np.dtype(dtype)
        self._name = name_prefix
        self._text = kernel_templates.scan(
            c_types.name_of(self.dtype), scan_expr, name_prefix, preamble, "" if neutral is None else str(neutral)
        )
        self._options = tuple(options or ())

    def __call__(
        self,
        input_ary: T,
        output_ary: T | None = None,
        allocator: AllocatorLike = None,
        queue: object = None,
        stream: driver.Stream | None = None,
    ) -> T:
        """The scan of a contiguous array of one axis, in `output_ary` or in the array itself."""
        from nervanagpu.pycuda import gpuarray

        out = input_ary if output_ary is None else output_ary
        given, view = VectorView.required("scan: input_ary", input_ary), VectorView.required("scan: output_ary", out)
        for what, one in (("input_ary", given), ("output_ary", view)):
            if one.dtype != self.dtype or len(one.shape) != 1 or not one.dense:
                raise ValueError(
                    f"scan: {what} is {one.dtype} of shape {one.shape}; needs contiguous {self.dtype} of one axis"
                )
        if given.size != view.size:
            raise ValueError(f"scan: output_ary has {view.size} elements; needs {given.size}")
        if given.size == 0:
            return out
        if not self.exclusive:
            self._scan(given.address, view.address, given.size, stream)
            return out
        between = gpuarray.empty(given.size, self.dtype)
        self._scan(given.address, between.ptr, given.size, stream)
        values = [between.ptr, view.address, kernel_templates.whole(given.size)]
        self._run("_shift", kernel_templates.blocks_for(given.size), values, stream)
        return out

    def _run(self, suffix: str, blocks: int, values: list[Any], stream: driver.Stream | None) -> None:
        kernel = kernel_templates.kernel(self._text, self._name + suffix, self._options)
        kernel[blocks, kernel_templates.THREADS](*values, stream=driver.stream_of(stream))

    def _scan(self, source: int, to: int, n: int, stream: driver.Stream | None) -> None:
        """Tiles, then the sums of the tiles by the same kernels, then the sums into the tiles."""
        from nervanagpu.pycuda import gpuarray

        tiles = -(-n // (kernel_templates.THREADS * kernel_templates.SCAN_ITEMS))
        sums = gpuarray.empty(tiles, self.dtype)
        self._run("", tiles, [source, to, sums.ptr, kernel_templates.whole(n)], stream)
        if tiles > 1:
            self._scan(sums.ptr, sums.ptr, tiles, stream)
            self._run("_carry", kernel_templates.blocks_for(n), [to, sums.ptr, kernel_templates.whole(n)], stream)


class ExclusiveScanKernel(InclusiveScanKernel):
    """Element i becomes elements 0 to i - 1 reduced by `scan_expr`; element 0 becomes `neutral`."""

    exclusive = True
