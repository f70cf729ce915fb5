"""What a program of statements may call, once by NumPy and once by us.

A program is Python text that runs unchanged in both namespaces: `xp` is numpy or nervanagpu, and the few functions
that only one of them has are defined here for the other. Elements are small whole numbers, so that every sum, product
and cast is exact in every dtype and both libraries have to agree on every bit.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
from ml_dtypes import bfloat16
from nervanagpu import _core

sys.path.insert(0, str(Path(__file__).parent.parent))  # where check.py is run by itself
from philox import philox

Array = np.ndarray[Any, Any]
Namespace = dict[str, Any]

WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REAL = ["float16", "bfloat16", "float32", "float64"]
DTYPES = ["bool", *WHOLE, *REAL]
# Whole numbers below it are exact, and so are their sums and products that stay below it.
EXACT = {"float16": 2048, "bfloat16": 256, "float32": 2**24, "float64": 2**53}


def numpy_dtype(name: str) -> np.dtype[Any]:
    return np.dtype(bfloat16 if name == "bfloat16" else name)


def numbers(seed: int, shape: tuple[int, ...], dtype: str) -> Array:
    """Small whole numbers, negative ones among them where the dtype has them."""
    low, high = (0, 2) if dtype == "bool" else (0, 6) if dtype[0] == "u" else (-5, 6)
    return np.asarray(np.random.default_rng(seed).integers(low, high, shape)).astype(numpy_dtype(dtype))


def dice(shape: tuple[int, ...], seed: int) -> Array:
    """Whole float32 numbers from 0 to 7."""
    count = int(np.prod(shape, dtype=int))
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    words = philox(seed, blocks).reshape(-1)[:count].reshape(shape)
    return np.floor((words >> 8).astype(np.float32) * np.float32(2.0**-21))


def cast(x: Array, dtype: str) -> Array:
    """ValueError for values that the dtype has not, but for integers that wrap."""
    to = numpy_dtype(dtype)
    if x.size and dtype != "bool" and not (x.dtype.kind in "iub" and to.kind in "iu"):
        wide = np.abs(x.astype(np.float64))
        high = EXACT[dtype] if dtype in EXACT else min(np.iinfo(dtype).max, 2**53)
        if wide.max() >= high or (to.kind == "u" and x.min() < 0):
            raise ValueError(f"not exact in {dtype}")
    return x.astype(to)


class HostGraph:
    """What nervanagpu.Graph is to a program: the body runs at each launch."""

    def __init__(self, body: Callable[[], object]) -> None:
        self.launch = body


def numpy_namespace() -> Namespace:
    def add_at(x: Array, index: Array, value: Any) -> None:
        np.add.at(x, index, value)

    return {
        "xp": np,
        "array": numbers,
        "host": numbers,
        "dice": dice,
        "index": lambda values: np.array(values, np.int32),
        "astype": cast,
        "where": lambda c, x, y: np.where(c, x, y)[()],  # without axes a number, as ours
        "fill": lambda x, value: x.fill(value),
        "put": lambda x, values: np.copyto(x, values),
        "add_at": add_at,
        "evaluate": lambda *tensors: None,
        "synchronize": lambda: None,
        "read": lambda x: None,
        "linear": lambda a, b, c: np.maximum(a @ b + c, 0),
        # ml_dtypes has no product of its own: NumPy's of bfloat16 arrays are float32.
        "bfloat16_product": lambda a, b: (a.astype(np.float32) @ b.astype(np.float32)).astype(bfloat16),
        "graph": HostGraph,
        **STATEMENTS,
    }


def our_namespace() -> Namespace:
    def linear(a: ng.GPUTensor, b: ng.GPUTensor, c: ng.GPUTensor) -> ng.GPUTensor:
        return ng.maximum(ng.dot(a, b) + c, 0)

    return {
        "xp": ng,
        "array": lambda seed, shape, dtype: ng.array(numbers(seed, shape, dtype)),
        "host": numbers,
        "dice": lambda shape, seed: ng.floor(_core.random(list(shape), seed, 0) * 8),
        "index": lambda values: ng.array(np.array(values, np.int32)),
        "astype": lambda x, dtype: x.astype(dtype),
        "where": ng.where,
        "fill": lambda x, value: x.fill(value),
        "put": lambda x, values: x.set(values),
        "add_at": np.add.at,
        "evaluate": ng.evaluate,
        "synchronize": ng.synchronize,
        "read": lambda x: x.get(),
        "linear": linear,
        "bfloat16_product": operator.matmul,
        "graph": ng.Graph,
        **STATEMENTS,
    }


# In-place operators as functions, for bodies that cannot assign.
STATEMENTS: Namespace = {name: getattr(operator, name) for name in ("iadd", "isub", "imul")}
STATEMENTS["assign"] = operator.setitem
STATEMENTS["launch"] = lambda graph, times: [graph.launch() for _ in range(times)] and None
