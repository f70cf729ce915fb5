"""Corners of CuPy's inside that its test files touch: helpers of tests, and settings that have no meaning here."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from nervanagpu import cupy


def repeat(times: int, intensive_times: int | None = None) -> Callable[[Any], Any]:
    """A test that must pass every time: once is enough here, where numbers are the same each time."""
    return lambda test: test


def retry(times: int) -> Callable[[Any], Any]:
    """A test that must pass in one of some times."""

    def decorator(test: Any) -> Any:
        @functools.wraps(test)
        def run(*args: Any, **more: Any) -> Any:
            for left in range(times - 1, -1, -1):
                try:
                    return test(*args, **more)
                except Exception:  # also of NumPy, which a drawn matrix may be singular for
                    if left == 0:
                        raise
            return None

        return run

    return decorator


@contextlib.contextmanager
def errstate(**settings: Any) -> Iterator[None]:
    """cupyx.errstate: errors of linear algebra are raised in any case."""
    yield


def stacked_identity(batch: Any, n: int, dtype: Any) -> Any:
    """Identity matrices."""
    return cupy.array(np.broadcast_to(np.eye(n, dtype=dtype), (*batch, n, n)))


class DummyObjectWithCuPyGetNDArray:
    """What says its array by CuPy's protocol."""

    def __init__(self, a: Any) -> None:
        self.a = a

    def __cupy_get_ndarray__(self) -> Any:
        return self.a


class DummyObjectWithCudaArrayInterface:
    """What says where its array lies."""

    def __init__(
        self, a: Any, ver: int = 3, include_strides: Any = False, mask: Any = None, stream: Any = None
    ) -> None:
        self.a, self.ver, self.include_strides, self.mask, self.stream = a, ver, include_strides, mask, stream

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"version": self.ver}
        if isinstance(self.a, cupy.ndarray):
            x = self.a
            facts |= {"shape": x.shape, "typestr": x.dtype.str, "descr": x.dtype.descr, "data": (x.ptr, False)}
            strides, dense = x.strides, x.flags.c_contiguous
        else:
            shape, strides, typestr, descr, data = self.a
            facts |= {"shape": shape, "typestr": typestr, "descr": descr, "data": (data, False)}
            dense = True
        if not dense or self.include_strides:
            facts["strides"] = strides
        elif self.include_strides is None:
            facts["strides"] = None
        if self.mask is not None:
            facts["mask"] = self.mask
        if self.stream is not None:
            facts["stream"] = self.stream.ptr or 1
        return facts
