"""The compiled part of nervanagpu."""

import builtins
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

class AssembleError(ValueError):
    message: str
    file: str
    line: int
    column: int

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

class KernelParam:
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def offset(self) -> int: ...
    @property
    def bytes(self) -> int: ...

class KernelInfo:
    @property
    def name(self) -> str: ...
    @property
    def instructions(self) -> int: ...
    @property
    def registers(self) -> int: ...
    @property
    def shared(self) -> int: ...
    @property
    def dynamic(self) -> int: ...
    @property
    def local(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def max_threads(self) -> int: ...
    @property
    def params(self) -> list[KernelParam]: ...
    @property
    def param_bytes(self) -> int: ...
    @property
    def variant(self) -> dict[str, str]: ...

class Hazard:
    @property
    def kernel(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def producer(self) -> int: ...
    @property
    def consumer(self) -> int: ...

class Cubin:
    def __init__(self, bytes: builtins.bytes) -> None: ...
    @property
    def bytes(self) -> builtins.bytes: ...
    @property
    def arch(self) -> str: ...
    @property
    def kernels(self) -> list[KernelInfo]: ...
    @property
    def listing(self) -> str: ...
    @property
    def report(self) -> str: ...
    def verify(self) -> list[Hazard]: ...

def assemble(text: str, arch: str, name: str, defines: dict[str, str], include_dirs: list[str]) -> Cubin: ...
def encode_tensor_map(
    tensor: GPUTensor,
    box: Sequence[int],
    type: str,
    steps: Sequence[int],
    swizzle: str,
    interleave: str,
    promotion: str,
    fill: str,
    im2col: tuple[Sequence[int], Sequence[int], int, int] | None,
) -> builtins.bytes: ...

class Module:
    def __init__(self, cubin: Cubin) -> None: ...
    @property
    def cubin(self) -> Cubin: ...
    def launch(
        self,
        kernel: str,
        grid: SupportsIndex | Sequence[SupportsIndex],
        block: SupportsIndex | Sequence[SupportsIndex] | None,
        args: tuple[Any, ...],
        shared: int | None,
        stream: Stream | None,
    ) -> None: ...

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
def release_captured_memory() -> None: ...
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
    splits: int = 0,
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

class Parameter:
    """What training changes: a weight or a bias of a layer."""
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> GPUTensor: ...
    @property
    def gradient(self) -> GPUTensor | None: ...
    @property
    def velocity(self) -> GPUTensor | None: ...
    @property
    def master(self) -> GPUTensor | None: ...
    @property
    def decays(self) -> bool: ...
    def canonical(self, tensor: GPUTensor) -> GPUTensor: ...

class Layer:
    def __init__(self, config: dict[str, Any] | list[list[Layer]]) -> None: ...
    def config(self) -> dict[str, Any]: ...
    def configure(self, input_shape: _Shape) -> tuple[int, ...]: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def input_shape(self) -> tuple[int, ...] | None: ...
    @property
    def output_shape(self) -> tuple[int, ...] | None: ...
    @property
    def flops(self) -> float: ...
    @property
    def parameters(self) -> list[Parameter]: ...

_Floats = npt.NDArray[np.float32]
_Samples = npt.NDArray[np.generic]
_Labels = npt.NDArray[np.int32]
_Lists = tuple[list[float], list[float], list[float], list[float]]

class Network:
    def __init__(
        self,
        layers: list[Layer],
        input_shape: Sequence[int] | None,
        layout: str,
        dtype: npt.DTypeLike,
        seed: int,
        stochastic: bool,
        bits: int,
        master: bool,
        loss_scale: float,
        stream: Stream | None,
    ) -> None: ...
    def fit(
        self,
        x: _Samples,
        y: _Labels,
        epochs: int,
        batch: int,
        lr: float,
        momentum: float,
        weight_decay: float,
        shuffle: bool,
        statistics: bool,
        validation_x: _Samples | None,
        validation_y: _Labels | None,
        callback: Any,
    ) -> _Lists: ...
    def predict(self, x: _Samples, batch: int) -> _Floats: ...
    def evaluate(self, x: _Samples, y: _Labels, batch: int) -> tuple[float, float]: ...
    def forward(self, x: _Samples, input_gradient: bool) -> _Floats: ...
    def backward(self, against: npt.NDArray[Any]) -> _Floats | None: ...
    def update(self, lr: float, momentum: float, weight_decay: float) -> None: ...
    def train_step(
        self, x: _Samples, y: _Labels, lr: float, momentum: float, weight_decay: float
    ) -> tuple[float, float]: ...
    def statistics(self) -> list[tuple[str, str, float, float]]: ...
    def statistics_of(self, x: _Samples, y: _Labels) -> list[tuple[str, str, float, float]]: ...
    @property
    def layers(self) -> list[Layer]: ...
    @property
    def parameters(self) -> list[Parameter]: ...
    @property
    def input_shape(self) -> tuple[int, ...]: ...
    @property
    def output_shape(self) -> tuple[int, ...]: ...
    @property
    def input_dtype(self) -> np.dtype[np.generic]: ...
    @property
    def dtype(self) -> np.dtype[np.generic]: ...
    @property
    def layout(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def loss_scale(self) -> float: ...
    @property
    def flops(self) -> float: ...
    def summary(self, batch: int) -> str: ...
    def memory(self, batch: int, training: bool) -> tuple[int, int]: ...
    def share_memory(self, share: bool) -> None: ...
    def save(self, path: str, optimizer: bool) -> None: ...
    def load_parameters(self, path: str) -> None: ...
    @staticmethod
    def load(path: str) -> Network: ...
