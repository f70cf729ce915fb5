"""cuDNN's convolution of int8, which PyTorch does not reach on GPUs: through the library that PyTorch has loaded.

Two layouts: NHWC with as many channels as four divides, and 32 channels side by side (NCHW_VECT_C), what cuDNN made
its tensor-core kernels for. Channels are padded with zeros outside the timing, and filters reordered.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from convnets.held_out_layers import Layer

_NHWC, _VECTORS = 1, 2  # cudnnTensorFormat_t
_INT8, _INT32, _INT8X32 = 3, 4, 8  # cudnnDataType_t
_CROSS_CORRELATION, _TENSOR_CORES, _AS_IT_IS = 1, 1, 1
_ALGORITHMS = (1, 0)  # implicit GEMM with precomputed indices, and without


class NotSupported(Exception):
    """CuDNN has no such convolution."""


class Library:
    """The functions of libcudnn with their status checked, and a handle."""

    def __init__(self) -> None:
        """Raises OSError where there is no cuDNN 9."""
        self._library = ctypes.CDLL("libcudnn.so.9")
        self.handle = ctypes.c_void_p()
        self("cudnnCreate", ctypes.byref(self.handle))

    def __call__(self, name: str, *arguments: object) -> None:
        """Call it. NotSupported for any status but success."""
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise NotSupported(f"{name}: status {status}")

    def made(self, kind: str) -> ctypes.c_void_p:
        """A descriptor."""
        out = ctypes.c_void_p()
        self(f"cudnnCreate{kind}Descriptor", ctypes.byref(out))
        return out


@cache
def library() -> Library:
    """The one of this process."""
    return Library()


def _filled(t: Any, axis: int, multiple: int) -> Any:
    """With zeros after it along an axis."""
    missing = -t.shape[axis] % multiple
    if missing == 0:
        return t
    shape = list(t.shape)
    shape[axis] = missing
    return torch.cat([t, torch.zeros(shape, dtype=t.dtype, device=t.device)], axis)


def _vectors(t: Any) -> Any:
    """(N, C, H, W) as (N, C / 32, H, W, 32)."""
    n, c, h, w = t.shape
    return t.reshape(n, c // 32, 32, h, w).permute(0, 1, 3, 4, 2).contiguous()


def _milliseconds(body: Callable[[], None]) -> float:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    body()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end))


Body = Callable[[int], None]


class Forward:
    """y = alpha * (x * w), rounded to int8, of each x (N, C, H, W) and w (K, C, R, S)."""

    def __init__(self, library: Library, d: Layer, vectors: bool, x: list[Any], w: list[Any], alpha: float) -> None:
        """Describes the problem and lays the tensors out. NotSupported where cuDNN refuses."""
        if len(d.sides) != 2 or d.groups != 1:
            raise NotSupported("two dimensions and one group alone")
        unit = 32 if vectors else 4
        self._call, self._alpha, self._beta = library, ctypes.c_float(alpha), ctypes.c_float(0.0)
        self._kept = [(_filled(a, 1, unit), _filled(_filled(b, 1, unit), 0, unit)) for a, b in zip(x, w, strict=True)]
        (n, c, height, width), (k, _, r, s) = self._kept[0][0].shape, self._kept[0][1].shape
        form, kind = (_VECTORS, _INT8X32) if vectors else (_NHWC, _INT8)
        p, q = d.outs
        self._x, self._y = library.made("Tensor"), library.made("Tensor")
        self._w, self._walk = library.made("Filter"), library.made("Convolution")
        library("cudnnSetTensor4dDescriptor", self._x, form, kind, n, c, height, width)
        library("cudnnSetTensor4dDescriptor", self._y, form, kind, n, k, p, q)
        library("cudnnSetFilter4dDescriptor", self._w, kind, form, k, c, r, s)
        geometry = (*d.pads, *d.strides, d.dilation, d.dilation)
        library("cudnnSetConvolution2dDescriptor", self._walk, *geometry, _CROSS_CORRELATION, _INT32)
        library("cudnnSetConvolutionMathType", self._walk, _TENSOR_CORES)
        self._vectors, self._k = vectors, d.k
        lay = _vectors if vectors else (lambda t: t.permute(0, 2, 3, 1).contiguous())
        self._tensors = [(lay(a), self._filters(lay(b))) for a, b in self._kept]
        self._kept = []
        shape = (n, k // 32, p, q, 32) if vectors else (n, p, q, k)
        self._outs = [torch.zeros(shape, dtype=torch.int8, device="cuda") for _ in self._tensors]

    def _filters(self, w: Any) -> Any:
        """In the order of cuDNN's kernels, so that no call has to reorder them."""
        if not self._vectors:
            return w
        out = torch.empty_like(w)
        pointers = (ctypes.c_void_p(w.data_ptr()), ctypes.c_void_p(out.data_ptr()))
        self._call("cudnnReorderFilterAndBias", self._call.handle, self._w, 0, *pointers, 0, None, None)
        self._call("cudnnSetConvolutionReorderType", self._walk, _AS_IT_IS)
        return out

    def bodies(self) -> list[Body]:
        """What runs all operands so many times, by each algorithm that there is."""
        out: list[Body] = []
        for algorithm in _ALGORITHMS:
            size = ctypes.c_size_t()
            of = (self._call.handle, self._x, self._w, self._walk, self._y)
            try:
                self._call("cudnnGetConvolutionForwardWorkspaceSize", *of, algorithm, ctypes.byref(size))
                room = torch.empty(max(size.value, 1), dtype=torch.uint8, device="cuda")
                self._run(0, algorithm, room)
            except NotSupported:
                continue

            def body(passes: int, algorithm: int = algorithm, room: Any = room) -> None:
                for _ in range(passes):
                    for i in range(len(self._tensors)):
                        self._run(i, algorithm, room)

            out.append(body)
        return out

    def _run(self, i: int, algorithm: int, room: Any) -> None:
        x, w = self._tensors[i]
        self._call("cudnnSetStream", self._call.handle, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        at = [ctypes.c_void_p(t.data_ptr()) for t in (x, w, room, self._outs[i])]
        self._call(
            "cudnnConvolutionForward", self._call.handle, ctypes.byref(self._alpha), self._x, at[0], self._w, at[1],
            self._walk, algorithm, at[2], ctypes.c_size_t(room.nbytes), ctypes.byref(self._beta), self._y, at[3],
        )  # fmt: skip

    def result(self) -> Any:
        """Of the first operands, (N, K, P, Q)."""
        y = self._outs[0]
        if self._vectors:
            n, blocks, p, q, _ = y.shape
            return y.permute(0, 1, 4, 2, 3).reshape(n, 32 * blocks, p, q)[:, : self._k]
        return y.permute(0, 3, 1, 2)[:, : self._k]


def fastest(d: Layer, x: list[Any], w: list[Any], alpha: float) -> tuple[str, Body, Callable[[], Any]] | None:
    """The quicker layout and algorithm of a run: the layout, what runs it, its result. None: there is none."""
    found: list[tuple[float, str, Body, Callable[[], Any]]] = []
    for form, vectors in (("NHWC", False), ("NCHW_VECT_C", True)):
        try:
            one = Forward(library(), d, vectors, x, w, alpha)
        except NotSupported:
            continue
        for body in one.bodies():
            ms = min(_milliseconds(partial(body, 1)) for _ in range(3))
            found.append((ms, form, body, partial(Forward.result, one)))
    return min(found, key=lambda f: f[0])[1:] if found else None
