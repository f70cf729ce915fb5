"""CuPy's ReductionKernel: an expression of each element, reduced along axes, and what is made of the result.

Blocks reduce parts of rows and leave numbers of the reduce type in memory; one more block a row ends it. With one part
a row the first kernel ends it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.calls.arguments import AxisError, flag, integers, shown
from nervanagpu.calls.protocols import StreamLike
from nervanagpu.cupy import device_code, kernels
from nervanagpu.cupy.parameters import c_name, check_name, parameters, typedefs
from nervanagpu.kernels import kernel_templates
from nervanagpu.kernels.modules import SourceModule

_THREADS = 256
_TEXT = """{head}{typedefs}{preamble}
typedef {reduce_type} _type_reduce;
#define REDUCE(a, b) ({reduce})
#define POST_MAP(a) {{ {post}; }}
extern "C" {{ __device__ long long ng_reduce_bytes = sizeof(_type_reduce); }}

__device__ inline _type_reduce ng_block_reduce(_type_reduce mine, _type_reduce* part)
{{
  part[threadIdx.x] = mine;
  for (unsigned d = {threads} / 2; d != 0; d /= 2) {{
    __syncthreads();
    if (threadIdx.x < d) {{
      _type_reduce a = part[threadIdx.x], b = part[threadIdx.x + d];
      part[threadIdx.x] = REDUCE(a, b);
    }}
  }}
  __syncthreads();
  return part[0];
}}

extern "C" __global__ void ng_{name}({declarations}, CIndexer<{in_axes}> _ind, CIndexer<{out_axes}> _out_ind,
                                  ptrdiff_t ng_rows, ptrdiff_t ng_length, _type_reduce* ng_partial)
{{
  __shared__ alignas(16) char ng_room[{threads} * sizeof(_type_reduce)];
  CIndexer<{in_axes}>& _in_ind = _ind;
  for (ptrdiff_t _i = blockIdx.y; _i < ng_rows; _i += gridDim.y) {{
    _type_reduce _s = _type_reduce({identity});
    for (ptrdiff_t ng_j = (ptrdiff_t)blockIdx.x * {threads} + threadIdx.x; ng_j < ng_length;
         ng_j += (ptrdiff_t)gridDim.x * {threads}) {{
      const ptrdiff_t _j = ng_j * ng_rows + _i;
      const ptrdiff_t i = _j;
      (void)i;
      _in_ind.set(_j);
      {elements}
      _type_reduce _a = static_cast<_type_reduce>({map});
      _s = REDUCE(_s, _a);
    }}
    __syncthreads();
    _s = ng_block_reduce(_s, (_type_reduce*)ng_room);
    if (threadIdx.x == 0) {{
      if (gridDim.x > 1) {{
        ng_partial[_i * gridDim.x + blockIdx.x] = _s;
      }} else {{
        const ptrdiff_t i = _i;
        (void)i;
        _out_ind.set(_i);
        {results}
        POST_MAP(_s)
      }}
    }}
  }}
}}

extern "C" __global__ void ng_{name}_end({declarations}, CIndexer<{out_axes}> _out_ind, ptrdiff_t ng_rows,
                                      ptrdiff_t ng_parts, const _type_reduce* ng_partial)
{{
  __shared__ alignas(16) char ng_room[{threads} * sizeof(_type_reduce)];
  for (ptrdiff_t _i = blockIdx.x; _i < ng_rows; _i += gridDim.x) {{
    _type_reduce _s = _type_reduce({identity});
    for (ptrdiff_t p = threadIdx.x; p < ng_parts; p += {threads}) {{
      _type_reduce _a = ng_partial[_i * ng_parts + p];
      _s = REDUCE(_s, _a);
    }}
    __syncthreads();
    _s = ng_block_reduce(_s, (_type_reduce*)ng_room);
    if (threadIdx.x == 0) {{
      const ptrdiff_t i = _i;
      (void)i;
      _out_ind.set(_i);
      {results}
      POST_MAP(_s)
    }}
  }}
}}
"""


def _reduce_bytes(module: SourceModule) -> int:
    """What one number of the reduce type takes, asked of the module once."""
    known = module.__dict__.get("_reduce_bytes")
    if known is None:
        address, _ = module._module.variable("ng_reduce_bytes")
        known = int(_core.wrap(address, 1, 1, "int64").get()[0])
        module.__dict__["_reduce_bytes"] = known
    return int(known)


class ReductionKernel:
    """A reduction along axes: ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm").

    map_expr is of the parameters, reduce_expr of a and b and must commute, post_map_expr a statement that writes the
    results from a. identity: what is reduced with first, None: the reduce type's default. reduce_type: a type of C,
    that of the first result if not given. Parameters, preamble and options are ElementwiseKernel's.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: object,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: tuple[str, ...] = (),
    ) -> None:
        self.name = self.__name__ = check_name("ReductionKernel", name)
        self._title = f"ReductionKernel {name}"
        for what, text in (("map_expr", map_expr), ("reduce_expr", reduce_expr), ("post_map_expr", post_map_expr)):
            if not isinstance(text, str):
                raise TypeError(f"{self._title}: {what} is {shown(text)}; needs a text of C")
        self.in_params = parameters(f"{self._title}: in_params", in_params)
        self.out_params = parameters(f"{self._title}: out_params", out_params)
        if not self.out_params:
            raise ValueError(f"{self._title}: out_params is {out_params!r}; needs one result or more")
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity = "" if identity is None else str(identity)
        self.reduce_type, self.reduce_dims = reduce_type, reduce_dims
        self.preamble, self.options = preamble, tuple(options)
        self._cached_codes: dict[tuple[Any, ...], str] = {}

    def __call__(
        self,
        *args: object,
        out: GPUTensor | None = None,
        axis: object = None,
        keepdims: bool = False,
        stream: StreamLike = None,
    ) -> Any:
        """Reduce along `axis`, all if None; returns the results, which are new or `out` or the last arguments.

        AxisError for an axis that there is not; ValueError for no elements without an identity.
        """
        title = self._title
        if out is not None:
            if self.nout != 1 or len(args) != self.nin:
                raise ValueError(
                    f"{title}: out is there beside {len(args)} arguments; needs one result, not given twice"
                )
            args = (*args, out)
        params = (*self.in_params, *self.out_params)
        values = kernels.checked(title, args, self.in_params, self.out_params)
        shape = kernels.loop_shape(title, values[: self.nin], self.in_params, None)
        axes, left, out_shape = self._axes(shape, axis, flag(title, "keepdims", keepdims))
        known = kernels.letters(title, self.in_params, self.out_params, values)
        outs = kernels.results_for(title, values[self.nin :], self.out_params, known, out_shape, True)
        length = math.prod(shape[a] for a in axes)
        if length == 0 and self.identity == "" and 0 not in out_shape:
            raise ValueError(f"{title}: zero-size array to reduction operation {self.name} which has no identity")
        values[self.nin :] = outs
        if 0 not in out_shape:
            self._launch(params, values, known, shape, axes, left, length, stream)
        return outs[0] if self.nout == 1 else tuple(outs)

    def _axes(
        self, shape: tuple[int, ...], axis: object, keepdims: bool
    ) -> tuple[list[int], list[int], tuple[int, ...]]:
        """The axes that are reduced, those that stay, and the shape of the result."""
        ndim = len(shape)
        wanted = list(range(ndim)) if axis is None else integers(self._title, "axis", axis)
        for a in wanted:
            if not -ndim <= a < ndim:
                raise AxisError(f"{self._title}: axis {a} is out of range; the arrays have {ndim} axes")
        axes = sorted({a % ndim for a in wanted})
        if len(axes) != len(wanted):
            raise ValueError(f"{self._title}: axis {axis} has an axis twice")
        left = [a for a in range(ndim) if a not in axes]
        out_shape = tuple(1 if a in axes else shape[a] for a in range(ndim) if keepdims or a in left)
        return axes, left, out_shape

    def _launch(
        self,
        params: Sequence[Any],
        values: list[Any],
        known: dict[str, Any],
        shape: tuple[int, ...],
        axes: list[int],
        left: list[int],
        length: int,
        stream: StreamLike,
    ) -> None:
        rows = math.prod(shape[a] for a in left)
        order = [*axes, *left]
        in_shape = [shape[a] for a in order]
        looped = [
            k
            for k, (p, v) in enumerate(zip(self.in_params, values, strict=False))
            if isinstance(v, GPUTensor) and not p.raw
        ]
        strides = []
        for k in looped:
            own = kernels.strides_in(values[k], shape)
            strides.append([own[a] for a in order])
        if self.reduce_dims and "_ind" not in self.map_expr:
            in_shape, strides = device_code.merged(in_shape, strides)
        out_lengths = [shape[a] for a in left]
        layouts: dict[int, Any] = {k: (in_shape, s) for k, s in zip(looped, strides, strict=True)}
        for k in range(self.nin, self.nargs):
            if not params[k].raw:
                own = [s * values[k].itemsize for s in values[k].element_strides]
                kept = [s for s, n in zip(own, values[k].shape, strict=True) if n != 1]
                layouts[k] = ([n for n in out_lengths if n != 1], kept)
        out_lengths = [n for n in out_lengths if n != 1]
        bound = [
            kernels.Bound(p, v, known, layouts.get(k)) for k, (p, v) in enumerate(zip(params, values, strict=True))
        ]
        text = self._text(bound, known, len(in_shape), len(out_lengths))
        self._cached_codes[tuple(str(v.dtype) for v in values if isinstance(v, GPUTensor))] = text
        module = kernel_templates.module(text, self.options)
        native = kernels.stream_of(stream)
        whole, given = kernel_templates.whole, [b.bytes for b in bound]
        parts = kernel_templates.parts_for(rows, length)
        partial = creation.empty(rows * parts * _reduce_bytes(module), np.uint8) if parts > 1 else None
        at = whole(0 if partial is None else partial.ptr)
        indexer, end = device_code.packed_indexer(in_shape), device_code.packed_indexer(out_lengths)
        first = module.get_function(f"ng_{self.name}")[(parts, min(rows, 65535)), _THREADS]
        first(*given, indexer, end, whole(rows), whole(length), at, stream=native)
        if partial is not None:
            last = module.get_function(f"ng_{self.name}_end")[min(rows, 65535), _THREADS]
            last(*given, end, whole(rows), whole(parts), at, stream=native)

    def _text(self, bound: Sequence[kernels.Bound], known: dict[str, Any], in_axes: int, out_axes: int) -> str:
        declarations = ", ".join(b.declaration for b in bound)
        first = self.out_params[0]
        reduce_type = self.reduce_type or c_name(first.dtype if first.dtype is not None else known[first.letter])
        texts = (declarations, typedefs(known), self.preamble, reduce_type)
        return _TEXT.format(
            head=device_code.preamble(*texts),
            typedefs=typedefs(known),
            preamble=self.preamble,
            reduce_type=reduce_type,
            reduce=" ".join(self.reduce_expr.split()),
            post=" ".join(self.post_map_expr.split()),
            identity=self.identity,
            map=self.map_expr,
            name=self.name,
            declarations=declarations,
            in_axes=in_axes,
            out_axes=out_axes,
            threads=_THREADS,
            elements=" ".join("const " + b.element for b in bound[: self.nin] if b.element),
            results=" ".join(b.element.replace("_ind.get()", "_out_ind.get()") for b in bound[self.nin :] if b.element),
        )

    @property
    def cached_codes(self) -> dict[tuple[Any, ...], str]:
        """The texts that calls have compiled, by the dtypes of their arrays."""
        return dict(self._cached_codes)
