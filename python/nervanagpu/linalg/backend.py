"""Who computes decompositions: cuSOLVER on a GPU that has it, otherwise NumPy's LAPACK on the host."""

from __future__ import annotations

import functools
import warnings
from typing import Protocol

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.linalg import cusolver, host


class Backend(Protocol):
    """The functions of nervanagpu.linalg.host, where they are described."""

    def solve(self, a: GPUTensor, b: GPUTensor) -> GPUTensor: ...
    def inv(self, a: GPUTensor) -> GPUTensor: ...
    def det(self, a: GPUTensor) -> GPUTensor: ...
    def slogdet(self, a: GPUTensor) -> tuple[GPUTensor, GPUTensor]: ...
    def cholesky(self, a: GPUTensor, upper: bool) -> GPUTensor: ...
    def qr(self, a: GPUTensor, mode: str) -> tuple[GPUTensor, ...]: ...
    def svd(self, a: GPUTensor, full: bool) -> tuple[GPUTensor, GPUTensor, GPUTensor]: ...
    def svdvals(self, a: GPUTensor) -> GPUTensor: ...
    def eigh(self, a: GPUTensor, uplo: str) -> tuple[GPUTensor, GPUTensor]: ...
    def eigvalsh(self, a: GPUTensor, uplo: str) -> GPUTensor: ...
    def eig(self, a: GPUTensor) -> tuple[GPUTensor, GPUTensor]: ...
    def eigvals(self, a: GPUTensor) -> GPUTensor: ...


def on_gpu() -> bool:
    """Whether tensors are in the memory of a GPU."""
    return _core.device().kind == "cuda"


@functools.cache
def backend() -> Backend:
    """cuSOLVER's functions or the host's, found once; a warning if a GPU has to do without cuSOLVER."""
    if not on_gpu():
        return host
    try:
        cusolver.available()
    except ImportError as error:
        warnings.warn(f"linalg: decompositions go to the host and back. {error}", RuntimeWarning, stacklevel=3)
        return host
    return cusolver
