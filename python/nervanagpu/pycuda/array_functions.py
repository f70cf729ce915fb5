"""Functions of arrays: reductions, choices, joins, indices."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu.calls.protocols import AllocatorLike, StreamLike
from nervanagpu.kernels import c_types
from nervanagpu.pycuda import compute, creation
from nervanagpu.pycuda.array_class import GPUArray, Shape

__all__ = [
    "all", "any", "concatenate", "dot", "if_positive", "logical_and", "logical_not", "logical_or", "max", "maximum",
    "min", "minimum", "multi_put", "multi_take", "multi_take_put", "reshape", "stack", "subset_dot", "subset_max",
    "subset_min", "subset_sum", "sum", "take", "transpose", "where",
]  # fmt: skip


def _reduced(
    dtype: Any, neutral: str, combine: str, each: str, arrays: Sequence[GPUArray], allocator: AllocatorLike
) -> GPUArray:
    """A reduction of arrays x, y, z in C."""
    from nervanagpu.pycuda.reduction import ReductionKernel

    orders = {a.flags.c_contiguous for a in arrays if a.ndim > 1}
    dense = [a.dense() if len(orders) > 1 or not a.flags.forc else a for a in arrays]
    arguments = ", ".join(f"const {c_types.name_of(a.dtype)} *{name}" for a, name in zip(dense, "xyz", strict=False))
    kernel = ReductionKernel(dtype, neutral, combine, each, arguments)
    out: GPUArray = kernel(*dense, allocator=allocator)
    return out


def sum(
    a: GPUArray, dtype: npt.DTypeLike | None = None, stream: StreamLike = None, allocator: AllocatorLike = None
) -> GPUArray:
    """The sum of all elements, of the dtype that PyCUDA has: the array's."""
    compute.wait(stream)
    kind = np.dtype(a.dtype if dtype is None else dtype)
    name = c_types.name_of(kind)
    return _reduced(kind, f"{name}(0)" if " " not in name else "0", "a + b", "x[i]", [a], allocator)


def _truth(a: GPUArray, neutral: str, combine: str, allocator: AllocatorLike) -> GPUArray:
    kind = c_types.name_of(a.dtype)
    zero = f"{kind}(0)" if " " not in kind else "0"
    return _reduced(np.int8, neutral, combine, f"(x[i] != {zero})", [a], allocator).astype(np.bool_)


def any(a: GPUArray, stream: StreamLike = None, allocator: AllocatorLike = None) -> GPUArray:
    """Whether an element is not 0."""
    compute.wait(stream)
    return _truth(a, "0", "a || b", allocator)


def all(a: GPUArray, stream: StreamLike = None, allocator: AllocatorLike = None) -> GPUArray:
    """Whether no element is 0."""
    compute.wait(stream)
    return _truth(a, "1", "a && b", allocator)


def dot(a: GPUArray, b: GPUArray, dtype: npt.DTypeLike | None = None, stream: StreamLike = None, out: Any = None,
        allocator: AllocatorLike = None) -> GPUArray:  # fmt: skip
    """The sum of the products of all elements."""
    compute.wait(stream)
    kind = np.dtype(np.result_type(a.dtype, b.dtype) if dtype is None else dtype)
    name = c_types.name_of(kind)
    found = _reduced(kind, "0", "a + b", f"({name})x[i] * ({name})y[i]", [a, b], allocator)
    if out is None:
        return found
    out[...] = found
    return out  # type: ignore[no-any-return]


def _limits(dtype: np.dtype[Any], largest: bool) -> str:
    """The number that changes no maximum (or minimum)."""
    if dtype.kind == "f":
        return "-INFINITY" if largest else "INFINITY"
    if dtype.kind == "b":
        return "false" if largest else "true"
    if dtype.kind not in "iu":
        raise TypeError(f"{'max' if largest else 'min'}: dtype is {dtype}; needs real numbers")
    info = np.iinfo(dtype)
    number = info.min if largest else info.max
    return f"({c_types.name_of(dtype)})({number + 1}ll - 1)" if number < 0 else f"{number}ull"


def _extreme(largest: bool) -> Callable[..., GPUArray]:
    combine = "a > b || a != a ? a : b" if largest else "a < b || a != a ? a : b"

    def function(a: GPUArray, stream: StreamLike = None, allocator: AllocatorLike = None) -> GPUArray:
        compute.wait(stream)
        return _reduced(a.dtype, _limits(a.dtype, largest), combine, "x[i]", [a], allocator)

    function.__doc__ = f"The {'largest' if largest else 'smallest'} element; NaN if one is."
    return function


def _subset_extreme(largest: bool) -> Callable[..., GPUArray]:
    def function(subset: GPUArray, a: GPUArray, stream: StreamLike = None, allocator: AllocatorLike = None) -> GPUArray:
        return _extreme(largest)(take(a.ravel(), subset), stream, allocator)

    function.__doc__ = f"The {'largest' if largest else 'smallest'} of the elements that `subset` has the places of."
    return function


max, min = _extreme(True), _extreme(False)
subset_max, subset_min = _subset_extreme(True), _subset_extreme(False)


def subset_sum(
    subset: GPUArray,
    a: GPUArray,
    dtype: npt.DTypeLike | None = None,
    stream: StreamLike = None,
    allocator: AllocatorLike = None,
) -> GPUArray:
    """The sum of the elements that `subset` has the places of."""
    return sum(take(a.ravel(), subset), dtype or a.dtype, stream, allocator)


def subset_dot(
    subset: GPUArray, a: GPUArray, b: GPUArray, dtype: npt.DTypeLike | None = None, stream: StreamLike = None,
    allocator: AllocatorLike = None,
) -> GPUArray:  # fmt: skip
    """The sum of the products of the elements that `subset` has the places of."""
    return dot(take(a.ravel(), subset), take(b.ravel(), subset), dtype, stream, allocator=allocator)


def maximum(a: object, b: object, out: GPUArray | None = None, stream: StreamLike = None) -> GPUArray:
    """The larger, elementwise."""
    return compute.apply("maximum", a, b, out=out, stream=stream)


def minimum(a: object, b: object, out: GPUArray | None = None, stream: StreamLike = None) -> GPUArray:
    """The smaller, elementwise."""
    return compute.apply("minimum", a, b, out=out, stream=stream)


def logical_and(x1: object, x2: object, /, out: GPUArray | None = None, *, allocator: AllocatorLike = None) -> GPUArray:
    """Whether both are not 0, elementwise."""
    return compute.apply("logical_and", x1, x2, out=out)


def logical_or(x1: object, x2: object, /, out: GPUArray | None = None, *, allocator: AllocatorLike = None) -> GPUArray:
    """Whether one is not 0, elementwise."""
    return compute.apply("logical_or", x1, x2, out=out)


def logical_not(x: object, /, out: GPUArray | None = None, *, allocator: AllocatorLike = None) -> GPUArray:
    """Whether it is 0, elementwise."""
    if not isinstance(x, GPUArray):
        return creation.to_gpu(np.logical_not(np.asarray(x)), allocator)
    return compute.apply("logical_not", x, out=out)


def _chosen(
    text: str, criterion: GPUArray, then_: object, else_: object, out: GPUArray | None, stream: StreamLike
) -> GPUArray:
    compute.wait(stream)
    arrays = [x for x in (then_, else_) if isinstance(x, GPUArray)]
    for x in arrays:
        if x.shape != criterion.shape:
            raise ValueError(f"the shapes are {criterion.shape} and {x.shape}; needs the same")
    kind = compute.common_dtype(then_, else_)
    to = GPUArray(criterion.shape, kind, criterion.allocator) if out is None else out
    if to.size:
        compute.generated(text, to, (criterion, then_, else_))
    return to


def if_positive(
    criterion: GPUArray, then_: object, else_: object, out: GPUArray | None = None, stream: StreamLike = None
) -> GPUArray:
    """then_ where the criterion is more than 0, else else_."""
    return _chosen("a > A(0) ? T(b) : T(c)", criterion, then_, else_, out, stream)


def where(
    criterion: GPUArray, then_: object, else_: object, out: GPUArray | None = None, stream: StreamLike = None
) -> GPUArray:
    """then_ where the criterion is not 0, else else_."""
    return _chosen("a != A(0) ? T(b) : T(c)", criterion, then_, else_, out, stream)


def take(a: GPUArray, indices: GPUArray, out: GPUArray | None = None, stream: StreamLike = None) -> GPUArray:
    """The elements of an array of one axis at the places that `indices` has."""
    from nervanagpu.pycuda.elementwise import ElementwiseKernel

    compute.wait(stream)
    if a.ndim != 1:
        raise ValueError(f"take: the array has {a.ndim} axes; needs 1 (ary.ravel())")
    to = GPUArray(indices.shape, a.dtype, a.allocator) if out is None else out
    if to.size:
        value = c_types.name_of(a.dtype)
        kernel = ElementwiseKernel(
            f"{c_types.name_of(indices.dtype)} *places, {value} *to, size_t from",
            f"to[i] = (({value}*)from)[places[i]]", "take",
        )  # fmt: skip
        kernel(indices.dense(), to, a.dense().ptr)
    return to


def multi_take(
    arrays: Sequence[GPUArray], indices: GPUArray, out: Sequence[GPUArray] | None = None, stream: StreamLike = None
) -> list[GPUArray]:
    """take of several arrays."""
    return [take(a, indices, None if out is None else out[i], stream) for i, a in enumerate(arrays)]


def _put(source: GPUArray, places: GPUArray, to: GPUArray, dest: GPUArray | None, offset: int = 0) -> None:
    """to[dest] = source[places + offset], or source itself without places."""
    from nervanagpu.pycuda.elementwise import ElementwiseKernel

    value = c_types.name_of(to.dtype)
    index = c_types.name_of(places.dtype)
    text = "from[places[i] + offset]" if dest is not None else "from[i]"
    where_to = "dest[i]" if dest is not None else "places[i]"
    kernel = ElementwiseKernel(
        f"{index} *places, size_t from_at, size_t dest_at, size_t to_at, long long offset",
        f"const {value}* from = (const {value}*)from_at; const {index}* dest = (const {index}*)dest_at; (void)dest;"
        f" (({value}*)to_at)[{where_to}] = {text}",
        "put",
    )
    kernel(places, source.ptr, 0 if dest is None else dest.ptr, to.ptr, offset)


def multi_take_put(
    arrays: Sequence[GPUArray], dest_indices: GPUArray, src_indices: GPUArray, dest_shape: Any = None,
    out: Sequence[GPUArray] | None = None, stream: StreamLike = None, src_offsets: Sequence[int] | None = None,
) -> list[GPUArray]:  # fmt: skip
    """out[k][dest_indices] = arrays[k][src_indices + src_offsets[k]]."""
    compute.wait(stream)
    made = [GPUArray(dest_shape, a.dtype, a.allocator) for a in arrays] if out is None else list(out)
    for k, (a, to) in enumerate(zip(arrays, made, strict=True)):
        if src_indices.size:
            _put(a, src_indices, to, dest_indices, int(src_offsets[k]) if src_offsets is not None else 0)
    return made


def multi_put(
    arrays: Sequence[GPUArray], dest_indices: GPUArray, dest_shape: Any = None, out: Sequence[GPUArray] | None = None,
    stream: StreamLike = None,
) -> list[GPUArray]:  # fmt: skip
    """out[k][dest_indices] = arrays[k]."""
    compute.wait(stream)
    made = [GPUArray(dest_shape, a.dtype, a.allocator) for a in arrays] if out is None else list(out)
    for a, to in zip(arrays, made, strict=True):
        if dest_indices.size:
            _put(a, dest_indices, to, None)
    return made


def concatenate(arrays: Sequence[GPUArray], axis: int = 0, allocator: AllocatorLike = None) -> GPUArray:
    """Arrays one after the other along an axis."""
    shapes = [list(a.shape) for a in arrays]
    if not shapes or builtins.any(len(s) != len(shapes[0]) for s in shapes):
        raise ValueError(f"concatenate: the shapes are {shapes}; needs arrays of the same number of axes")
    along = range(len(shapes[0]))[axis]
    for s in shapes:
        if s[:along] + s[along + 1 :] != shapes[0][:along] + shapes[0][along + 1 :]:
            raise ValueError(f"concatenate: the shapes {shapes} differ beside axis {along}")
    shape = list(shapes[0])
    shape[along] = builtins.sum(s[along] for s in shapes)
    out = GPUArray(shape, np.result_type(*(a.dtype for a in arrays)), allocator or arrays[0].allocator)
    at = 0
    for a in arrays:
        out[(*(slice(None),) * along, slice(at, at + a.shape[along]))] = a
        at += a.shape[along]
    return out


def stack(arrays: Sequence[GPUArray], axis: int = 0, allocator: AllocatorLike = None) -> GPUArray:
    """Arrays of one shape along a new axis."""
    if not arrays or builtins.any(a.shape != arrays[0].shape for a in arrays):
        raise ValueError(f"stack: the shapes are {[a.shape for a in arrays]}; needs the same")
    along = range(arrays[0].ndim + 1)[axis]
    key = (slice(None),) * along
    return concatenate([a[(*key, None)] for a in arrays], along, allocator)


def transpose(a: GPUArray, axes: Sequence[int] | None = None) -> GPUArray:
    """A view with the axes in the given order."""
    return a.transpose(axes)


def reshape(a: GPUArray, *shape: Shape, order: str = "C") -> GPUArray:
    """A view of another shape."""
    return a.reshape(*shape, order=order)
