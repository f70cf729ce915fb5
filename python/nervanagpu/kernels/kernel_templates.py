"""Kernels of CUDA C made from expressions: elementwise, reductions and scans. PyCUDA's and CuPy's classes fill them in.

Arguments are packed here, by the dtypes of their declarations, since the symbols of the kernels do not say them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nervanagpu import _core
from nervanagpu.calls.placement import per_device
from nervanagpu.kernels.c_types import Packed
from nervanagpu.kernels.modules import SourceModule
from nervanagpu.kernels.toolchain import Kernel

THREADS = 256
SCAN_ITEMS = 8  # of a thread: one tile is THREADS times as many

_ELEMENTWISE = """#include <pycuda-complex.hpp>
{preamble}
extern "C" __global__ void {name}({parameters})
{{
  {prologue};
  for (long long ng_i = (long long)blockIdx.x * blockDim.x + threadIdx.x; ng_i < ng_count;
       ng_i += (long long)gridDim.x * blockDim.x)
  {{
    const long long i = ng_start + ng_i * ng_step;
    {operation};
  }}
  {epilogue};
}}
"""

# blockIdx.y is the row, blockIdx.x the part of it that a block reduces. Threads take elements in turn, so that a warp
# reads neighbours: the expression must commute.
_REDUCTION = """#include <pycuda-complex.hpp>
{preamble}
typedef {type} out_type;
__device__ inline out_type ng_reduce(out_type a, out_type b) {{ return {reduce}; }}
extern "C" __global__ void {name}({parameters})
{{
  __shared__ alignas(16) char ng_room[{threads} * sizeof(out_type)];
  out_type* ng_part = (out_type*)ng_room;
  for (long long ng_row = blockIdx.y; ng_row < ng_rows; ng_row += gridDim.y)
  {{
    out_type acc = {neutral};
    for (long long ng_i = (long long)blockIdx.x * {threads} + threadIdx.x; ng_i < ng_length;
         ng_i += (long long)gridDim.x * {threads})
    {{
      const long long i = ng_start + (ng_row * ng_length + ng_i) * ng_step;
      {before};
      acc = ng_reduce(acc, {map});
    }}
    __syncthreads();
    ng_part[threadIdx.x] = acc;
    for (unsigned ng_d = {threads} / 2; ng_d != 0; ng_d /= 2)
    {{
      __syncthreads();
      if (threadIdx.x < ng_d)
        ng_part[threadIdx.x] = ng_reduce(ng_part[threadIdx.x], ng_part[threadIdx.x + ng_d]);
    }}
    if (threadIdx.x == 0)
    {{
      const out_type a = ng_part[0];
      const long long ng_at = ng_row * gridDim.x + blockIdx.x;
      {store};
    }}
  }}
}}
"""

# Each block scans one tile and tells its sum; with ng_carry the sums of the tiles before are added to the tile.
_SCAN = """#include <pycuda-complex.hpp>
{preamble}
typedef {type} scan_type;
__device__ inline scan_type ng_scan(scan_type a, scan_type b) {{ return {scan}; }}
extern "C" __global__ void {name}(const scan_type* in, scan_type* out, scan_type* sums, long long n)
{{
  __shared__ alignas(16) char ng_room[{threads} * sizeof(scan_type)];
  scan_type* part = (scan_type*)ng_room;
  const long long first = ((long long)blockIdx.x * {threads} + threadIdx.x) * {items};
  scan_type held[{items}];
  for (int k = 0; k < {items}; ++k)
    if (first + k < n) held[k] = k == 0 ? in[first] : ng_scan(held[k - 1], in[first + k]);
  const int last = n - first < {items} ? (int)(n - first) - 1 : {items} - 1;
  if (last >= 0) part[threadIdx.x] = held[last];
  for (unsigned d = 1; d < {threads}; d *= 2)
  {{
    __syncthreads();
    const bool adds = threadIdx.x >= d && last >= 0;
    scan_type before;
    if (adds) before = part[threadIdx.x - d];
    __syncthreads();
    if (adds) part[threadIdx.x] = ng_scan(before, part[threadIdx.x]);
  }}
  __syncthreads();
  for (int k = 0; k <= last; ++k)
    out[first + k] = threadIdx.x == 0 ? held[k] : ng_scan(part[threadIdx.x - 1], held[k]);
  if (last >= 0 && (threadIdx.x == {threads} - 1 || first + {items} >= n)) sums[blockIdx.x] = part[threadIdx.x];
}}
extern "C" __global__ void {name}_carry(scan_type* out, const scan_type* sums, long long n)
{{
  for (long long i = {tile} + (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (long long)gridDim.x * blockDim.x)
    out[i] = ng_scan(sums[i / {tile} - 1], out[i]);
}}
extern "C" __global__ void {name}_shift(const scan_type* in, scan_type* out, long long n)
{{
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    out[i] = i == 0 ? scan_type({neutral}) : in[i - 1];
}}
"""


@per_device(maxsize=512)
def _module(text: str, options: tuple[str, ...]) -> SourceModule:
    return SourceModule(text, options=options)


def kernel(text: str, name: str, options: Sequence[str] = ()) -> Kernel:
    """The kernel `name` of a text, which is compiled once."""
    return _module(text, tuple(options)).get_function(name)


def module(text: str, options: Sequence[str] = ()) -> SourceModule:
    """A text, compiled once."""
    return _module(text, tuple(options))


_RANGE = "long long ng_start, long long ng_step, long long ng_count"
_ROWS = "long long ng_start, long long ng_step, long long ng_rows, long long ng_length"


def elementwise(
    parameters: str, operation: str, name: str, preamble: str = "", prologue: str = "", epilogue: str = ""
) -> str:
    """The text of a kernel that runs `operation` for each i of a range."""
    joined = ", ".join(p for p in (parameters, _RANGE) if p)
    return _ELEMENTWISE.format(
        parameters=joined, operation=operation, name=name, preamble=preamble, prologue=prologue, epilogue=epilogue
    )


def reduction(
    parameters: str,
    type_name: str,
    neutral: str,
    reduce: str,
    map: str,
    name: str,
    preamble: str = "",
    before: str = "",
    store: str = "ng_out[ng_at] = a",
) -> str:
    """The text of a kernel that reduces rows of `map` by `reduce`, an expression of a and b, from `neutral` on."""
    joined = ", ".join(p for p in (parameters, _ROWS) if p)
    return _REDUCTION.format(
        parameters=joined, type=type_name, neutral=neutral, reduce=reduce, map=map, name=name, preamble=preamble,
        before=before, store=store, threads=THREADS,
    )  # fmt: skip


def scan(type_name: str, expression: str, name: str, preamble: str = "", neutral: str = "") -> str:
    """The text of the kernels of a scan by `expression`, of a and b: NAME for tiles, NAME_carry and NAME_shift."""
    return _SCAN.format(
        type=type_name, scan=expression, name=name, preamble=preamble, threads=THREADS, items=SCAN_ITEMS,
        tile=THREADS * SCAN_ITEMS, neutral=neutral,
    )  # fmt: skip


packed = Packed.of


def whole(value: int) -> Packed:
    """A long long."""
    return Packed.of(int(value), np.int64)


def blocks_for(count: int, most: int = 1024) -> int:
    """Of THREADS threads, for `count` elements."""
    return max(1, min(most, -(-count // THREADS)))


def parts_for(rows: int, length: int) -> int:
    """Into how many parts a row is cut that is reduced."""
    processors = _core.device().multiprocessors
    return max(1, min(-(-length // (THREADS * 4)), -(-processors * 4 // max(rows, 1)), 1024))
