"""The compiled part of nervanagpu."""

from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

_Shape = SupportsIndex | Sequence[SupportsIndex]
_Key = SupportsIndex | slice | None | tuple[Any, ...] | Any

class Error(RuntimeError): ...
class DeviceLost(Error): ...

class CheckError(Error):
    findings: list[Finding]

class Finding:
    @property
    def what(self) -> str: ...
    @property
    def detail(self) -> str: ...
    @property
    def kernel(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def pc(self) -> int: ...
    @property
    def cta(self) -> list[int]: ...
    @property
    def warp(self) -> int: ...
    @property
    def lane(self) -> int: ...
    @property
    def count(self) -> int: ...

class DeviceInfo:
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def arch(self) -> str: ...
    @property
    def multiprocessors(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def driver(self) -> int: ...
    @property
    def checked(self) -> bool: ...

class MemoryStats:
    @property
    def in_use(self) -> int: ...
    @property
    def peak(self) -> int: ...
    @property
    def reserved(self) -> int: ...
    @property
    def allocations(self) -> int: ...
    @property
    def reused(self) -> int: ...

class Stream:
    def __init__(self) -> None: ...
    @staticmethod
    def from_handle(handle: int) -> Stream: ...
    @property
    def handle(self) -> int: ...
    def synchronize(self) -> None: ...

class Event:
    def __init__(self) -> None: ...
    def record(self, stream: Stream | None = None) -> None: ...
    def synchronize(self) -> None: ...
    def ms_since(self, start: Event) -> float: ...
    def make_wait(self, stream: Stream | None = None) -> None: ...

class GPUTensor:
    __array_ufunc__: None
    name: str
    rounding: int
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def ptr(self) -> int: ...
    @property
    def gpudata(self) -> int: ...
    @property
    def contiguous(self) -> bool: ...
    @property
    def T(self) -> GPUTensor: ...
    def get(self) -> npt.NDArray[Any]: ...
    def set(self, value: npt.ArrayLike) -> None: ...
    def fill(self, value: float) -> None: ...
    def copy(self) -> GPUTensor: ...
    def astype(self, dtype: npt.DTypeLike) -> GPUTensor: ...
    def transpose(self, *axes: Any) -> GPUTensor: ...
    def reshape(self, *shape: Any) -> GPUTensor: ...
    def __getitem__(self, key: _Key) -> GPUTensor: ...
    def __setitem__(self, key: _Key, value: npt.ArrayLike | GPUTensor) -> None: ...
    def __len__(self) -> int: ...
    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]: ...
    def __float__(self) -> float: ...
    def __matmul__(self, other: GPUTensor) -> GPUTensor: ...

def version() -> str: ...
def device() -> DeviceInfo: ...
def synchronize() -> None: ...
def memory_stats() -> MemoryStats: ...
def release_cached_memory() -> None: ...
def doctor() -> str: ...
def shape(shape: _Shape) -> tuple[int, ...]: ...
def empty(shape: _Shape, dtype: npt.DTypeLike) -> GPUTensor: ...
def full(shape: _Shape, value: float, dtype: npt.DTypeLike) -> GPUTensor: ...
def wrap(address: int, shape: _Shape, strides: _Shape, dtype: npt.DTypeLike) -> GPUTensor: ...
def dot(
    a: GPUTensor,
    b: GPUTensor,
    out: GPUTensor | None,
    alpha: float,
    beta: float,
    bias: GPUTensor | None,
    relu: bool,
    relu_first: bool,
    rounding: str,
    seed: int,
    offset: int,
    bits: int,
    stream: Stream | None,
    tile: str,
) -> GPUTensor: ...
def nn_convert(
    from_: GPUTensor,
    to: GPUTensor,
    rounding: str,
    seed: int,
    offset: int,
    bits: int,
    stream: Stream | None,
    /,
) -> None: ...
def nn_add(
    a: GPUTensor,
    b: GPUTensor,
    out: GPUTensor,
    alpha: float,
    beta: float,
    rounding: str,
    seed: int,
    offset: int,
    bits: int,
    stream: Stream | None,
    /,
) -> None: ...
def nn_activation(
    kind: str,
    x: GPUTensor,
    y: GPUTensor,
    slope: float,
    rounding: str,
    seed: int,
    offset: int,
    bits: int,
    stream: Stream | None,
    /,
) -> None: ...
def nn_activation_bprop(
    kind: str,
    y: GPUTensor,
    dy: GPUTensor,
    dx: GPUTensor,
    slope: float,
    rounding: str,
    seed: int,
    offset: int,
    bits: int,
    stream: Stream | None,
    /,
) -> None: ...
def nn_dropout(
    x: GPUTensor,
    y: GPUTensor,
    keep: float,
    mask_seed: int,
    mask_offset: int,
    rounding: str,
    seed: int,
    offset: int,
    bits: int,
    stream: Stream | None,
    /,
) -> None: ...
def nn_bias_add(
    x: GPUTensor,
    bias: GPUTensor,
    channel_last: bool,
    y: GPUTensor,
    rounding: str,
    seed: int,
    offset: int,
    bits: int,
    stream: Stream | None,
    /,
) -> None: ...
def nn_bias_grad(
    dy: GPUTensor,
    channel_last: bool,
    db: GPUTensor,
    alpha: float,
    beta: float,
    rounding: str,
    seed: int,
    offset: int,
    bits: int,
    stream: Stream | None,
    /,
) -> None: ...
def nn_sgd_update(
    w: GPUTensor,
    master: GPUTensor | None,
    velocity: GPUTensor,
    grad: GPUTensor,
    lr: float,
    momentum: float,
    weight_decay: float,
    rounding: str,
    seed: int,
    offset: int,
    bits: int,
    stream: Stream | None,
    /,
) -> None: ...
def nn_softmax(
    logits: GPUTensor,
    labels: GPUTensor | None,
    probs: GPUTensor,
    loss: GPUTensor | None,
    stream: Stream | None,
    /,
) -> None: ...
def nn_softmax_bprop(
    probs: GPUTensor,
    labels: GPUTensor,
    dlogits: GPUTensor,
    scale: float,
    rounding: str,
    seed: int,
    offset: int,
    bits: int,
    stream: Stream | None,
    /,
) -> None: ...
def nn_statistics(x: GPUTensor, stream: Stream | None, /) -> tuple[float, float]: ...

_Geometry = tuple[tuple[int, int, int], tuple[int, int, int], tuple[int, int, int]]

def conv_fprop(
    x: GPUTensor,
    w: GPUTensor,
    out: GPUTensor | None,
    bias: GPUTensor | None,
    relu: bool,
    layout: str,
    geometry: _Geometry,
    groups: int,
    axes: int,
    finish: tuple[Any, ...],
) -> GPUTensor: ...
def conv_bprop(
    dy: GPUTensor,
    w: GPUTensor,
    out: GPUTensor | None,
    x_shape: _Shape,
    layout: str,
    geometry: _Geometry,
    groups: int,
    axes: int,
    finish: tuple[Any, ...],
) -> GPUTensor: ...
def conv_update(
    dy: GPUTensor,
    x: GPUTensor,
    out: GPUTensor | None,
    w_shape: _Shape,
    layout: str,
    geometry: _Geometry,
    groups: int,
    axes: int,
    finish: tuple[Any, ...],
) -> GPUTensor: ...

_Quad = tuple[int, int, int, int]

def pool_fprop(
    op: str,
    x: GPUTensor,
    out: GPUTensor | None,
    layout: str,
    geometry: tuple[_Quad, _Quad, _Quad, bool],
    finish: tuple[Any, ...],
    /,
) -> GPUTensor: ...
def pool_bprop(
    op: str,
    dy: GPUTensor,
    x: GPUTensor,
    out: GPUTensor | None,
    layout: str,
    geometry: tuple[_Quad, _Quad, _Quad, bool],
    finish: tuple[Any, ...],
    /,
) -> GPUTensor: ...
