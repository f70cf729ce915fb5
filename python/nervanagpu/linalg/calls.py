"""Calls of cuSOLVER and cuBLAS: their numbers for types and triangles, copies that they may write, workspaces, info.

Both libraries know matrices by columns. A matrix that lies by rows is to them its transpose.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.cuda_toolkit import cuda_libraries
from nervanagpu.linalg.operands import LinAlgError, matrix_transpose

_DATA_TYPES = {"float32": 0, "float64": 1, "complex64": 4, "complex128": 5}  # cudaDataType
BLAS_LETTERS = {"float32": "S", "float64": "D", "complex64": "C", "complex128": "Z"}
LOWER, UPPER = 0, 1  # cublasFillMode_t


def code_of(x: GPUTensor) -> int:
    return _DATA_TYPES[str(x.dtype)]


def _count(x: GPUTensor) -> int:
    return math.prod(x.shape[:-2])


def rows_of(x: GPUTensor) -> GPUTensor:
    """(count, m, n), by rows: to the libraries the transposes."""
    return x.copy().reshape(_count(x), *x.shape[-2:])


def columns_of(x: GPUTensor) -> GPUTensor:
    """(count, n, m): the matrices by columns."""
    return rows_of(matrix_transpose(x))


class Written:
    """An address that the query for the size of workspaces does not take."""

    def __init__(self, address: int) -> None:
        self.address = address


class Calls:
    """Calls for a stack of matrices: workspaces as long as they are used, and what each call said in `info`."""

    def __init__(self, function: str, count: int) -> None:
        cuda_libraries.outside_of_graphs(function)
        self.function, self.count = function, count
        self.solver = cuda_libraries.library("cusolver")
        self.handle = cuda_libraries.handle("cusolver", "cusolverDnCreate", "cusolverDnSetStream")
        self.params = cuda_libraries.handle("cusolver", "cusolverDnCreateParams", None)
        self.info = creation.zeros(max(count, 1), np.int32)
        self._held: list[Any] = []
        self._sizes: tuple[int, int] | None = None

    def info_at(self, i: int = 0) -> int:
        """The address of the number that call i writes."""
        return self.info.ptr + 4 * i

    def workspace(self, bytes: int) -> int:
        """The address of so many bytes of device memory, held until `check`."""
        memory = creation.empty(max(bytes, 1), np.uint8)
        self._held.append(memory)
        return memory.ptr

    def pointers(self, x: GPUTensor) -> int:
        """The address of an array of the addresses x[0], x[1], ..."""
        step = x.nbytes // x.shape[0]
        addresses = creation.array(np.arange(x.shape[0], dtype=np.int64) * step + x.ptr)
        self._held.append(addresses)
        return addresses.ptr

    def x(self, name: str, args: tuple[Any, ...], i: int = 0, last: tuple[Any, ...] = ()) -> None:
        """cusolverDn{name} of the 64-bit interface; its workspaces are made for the first call and used by all."""
        if self._sizes is None:
            device, on_host = ctypes.c_size_t(), ctypes.c_size_t()
            sizes = (ctypes.byref(device), ctypes.byref(on_host))
            query = tuple(a for a in args if not isinstance(a, Written))
            self.solver.call(f"cusolverDn{name}_bufferSize", self.handle, self.params, *query, *sizes, *last)
            self._sizes = device.value, on_host.value
            self._device = self.workspace(device.value)
            self._host = ctypes.create_string_buffer(max(on_host.value, 1))
        device_bytes, host_bytes = self._sizes
        plain = tuple(a.address if isinstance(a, Written) else a for a in args)
        spaces = (self._device, device_bytes, self._host, host_bytes)
        self.solver.call(f"cusolverDn{name}", self.handle, self.params, *plain, *spaces, self.info_at(i), *last)

    def check(self, meaning: str) -> None:
        """Waits for the calls. LinAlgError if `info` of one is above 0: `meaning` says what that is."""
        said = self.info.get()
        self._held.clear()
        bad = np.flatnonzero(said)
        if not len(bad):
            return
        which = f" (matrix {bad[0]} of the stack)" if self.count > 1 else ""
        if said[bad[0]] < 0:
            raise RuntimeError(f"{self.function}: cuSOLVER refused argument {-said[bad[0]]}")
        raise LinAlgError(f"{self.function}: {meaning}{which}")
