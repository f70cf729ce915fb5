"""What ElementwiseKernel and ReductionKernel share: their arguments, checked, broadcast and packed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.calls.arguments import shown
from nervanagpu.calls.protocols import StreamLike
from nervanagpu.cupy import device_code
from nervanagpu.cupy.parameters import Parameter, c_name, dtype_of, types_of


def checked(title: str, args: Sequence[Any], given: Sequence[Parameter], results: Sequence[Parameter]) -> list[Any]:
    """The arguments: tensors, numbers and textures. TypeError names another one, and says how many are needed."""
    nin, nargs = len(given), len(given) + len(results)
    if len(args) not in (nin, nargs):
        raise TypeError(
            f"{title}: Wrong number of arguments: {len(args)}; needs {nin}, or {nargs} with those it writes to"
        )
    values = []
    for k, value in enumerate(args):
        p = (*given, *results)[k]
        tensor = isinstance(value, GPUTensor)
        if not tensor and hasattr(value, "__cuda_array_interface__"):
            from nervanagpu.arrays.exchange import from_cuda_array

            value, tensor = from_cuda_array(value), True
        if k >= nin and not tensor:
            raise TypeError(f"{title}: {p.name} is {shown(value)}; Output arguments must be GPUTensor")
        number = isinstance(value, bool | int | float | complex | np.generic) or dtype_of(value) is not None
        if not tensor and not number:
            raise TypeError(f"{title}: {p.name} is {shown(value)}; needs a GPUTensor or a number")
        if not tensor and p.raw:
            raise TypeError(f"{title}: {p.name} is {shown(value)}; needs a GPUTensor, as it is raw")
        values.append(value)
    return values


def loop_shape(title: str, values: Sequence[Any], params: Sequence[Parameter], size: int | None) -> tuple[int, ...]:
    """What the arrays that are not raw broadcast to, or (size,)."""
    whole = [v for v, p in zip(values, params, strict=False) if isinstance(v, GPUTensor) and not p.raw]
    if size is not None:
        if whole:
            raise ValueError(f"Specified 'size' can be used only if all of the ndarray are 'raw'. ({title})")
        return (size,)
    if not whole:
        raise ValueError(f"Loop size is undecided. ({title}: every array is raw; needs size=)")
    try:
        return np.broadcast_shapes(*(v.shape for v in whole))
    except ValueError as error:
        raise ValueError(f"{title}: shapes {[v.shape for v in whole]} do not broadcast ({error})") from None


def letters(
    title: str, given: Sequence[Parameter], results: Sequence[Parameter], values: Sequence[Any]
) -> dict[str, Any]:
    """The dtypes of the letters, by the arguments."""
    nin = len(given)
    return types_of(title, given, results, [dtype_of(v) for v in values[:nin]], [dtype_of(v) for v in values[nin:]])


def results_for(
    title: str,
    outs: Sequence[GPUTensor],
    results: Sequence[Parameter],
    known: dict[str, Any],
    shape: tuple[int, ...],
    sized: bool,
) -> list[GPUTensor]:
    """The tensors that are written: those given, or new ones."""
    if outs:
        for p, out in zip(results, outs, strict=True):
            if not p.raw and out.shape != shape:
                raise ValueError(f"{title}: Out shape is mismatched: {p.name} has {out.shape}; needs {shape}")
        return list(outs)
    for p in results:
        if p.raw and not sized:
            raise ValueError(f"{title}: Output array size is Undecided: {p.name} is raw; needs the array, or size=")
    return [creation.empty(shape, p.dtype if p.dtype is not None else known[p.letter]) for p in results]


def strides_in(tensor: GPUTensor, shape: Sequence[int]) -> list[int]:
    """Bytes between elements along the axes of a shape that the tensor is broadcast to."""
    extra = len(shape) - tensor.ndim
    width = tensor.itemsize
    own = [
        0 if length == 1 else step * width for length, step in zip(tensor.shape, tensor.element_strides, strict=True)
    ]
    return [0] * extra + own


class Bound:
    """One parameter with its argument: the declaration in the kernel, its bytes, and what names the element."""

    def __init__(
        self, p: Parameter, value: object, known: dict[str, Any], layout: tuple[Sequence[int], Sequence[int]] | None
    ) -> None:
        dtype = p.dtype if p.dtype is not None else known[p.letter]
        kind = c_name(dtype)
        self.element = ""
        if not isinstance(value, GPUTensor):
            self.declaration = f"{kind} {p.name}"
            self.bytes = device_code.number(value, dtype)
            return
        if layout is None:
            shape, strides = list(value.shape), [s * value.itemsize for s in value.element_strides]
        else:
            shape, strides = list(layout[0]), list(layout[1])
        dense = device_code.is_dense(shape, strides, value.itemsize)
        name = p.name if p.raw else f"_raw_{p.name}"
        self.declaration = f"{device_code.array_type(kind, shape, dense)} {name}"
        self.bytes = device_code.packed_array(value, shape, strides)
        if not p.raw:
            self.element = f"{kind} &{p.name} = {name}[{'i' if dense else '_ind.get()'}];"


def stream_of(stream: StreamLike) -> _core.Stream | None:
    """The library's stream under one of CuPy's, or the current one."""
    from nervanagpu.cupy.cuda import streams

    return streams.native(stream)
