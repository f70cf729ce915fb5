"""Digests of what expressions give, as JSON: every operation and dtype over special and random bit patterns, casts,
roundings, and the kernels that sum, scan and index. A program, so that each architecture has a process of its own."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
from nervanagpu import _core

Array = np.ndarray[Any, Any]
INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
DTYPES = ["float32", "float16", "bfloat16", "float64", *INTEGERS, "bool"]
OPS = Path(__file__).parents[2] / "include" / "nervanagpu" / "expr_ops.inc"
RANDOM = 600


def operations() -> list[tuple[str, int]]:
    return [(name, int(n)) for name, n in re.findall(r"^NG_OP\((\w+), (\d)", OPS.read_text(), re.M)]


def special(dtype: str) -> Array:
    if dtype == "bool":
        return np.array([False, True])
    if dtype in INTEGERS:
        i = np.iinfo(dtype)
        few = {0, 1, 2, 3, 7, 31, 32, 63, 64, 100, i.max, i.max - 1, i.max // 2, i.min, i.min + 1, -1, -2, -7, -64}
        return np.array([n for n in sorted(few) if i.min <= n <= i.max], dtype)
    f = np.finfo(np.float32 if dtype == "bfloat16" else dtype)
    values = [
        0,
        f.smallest_subnormal,
        f.tiny,
        f.eps,
        0.1,
        0.5,
        1,
        1.5,
        2,
        3,
        np.pi,
        10,
        88,
        100,
        1e4,
        65504,
        f.max,
        np.inf,
    ]
    with np.errstate(over="ignore"):
        return np.array([*values, *[-v for v in values], np.nan]).astype(f.dtype)


def bit_patterns(rng: np.random.Generator, dtype: str, size: int) -> Array:
    """Half of them of any exponent (NaN among them), half of ordinary size."""
    if dtype == "bool":
        return rng.integers(0, 2, size).astype(bool)
    if dtype in INTEGERS:
        i = np.iinfo(dtype)
        x = rng.integers(i.min, i.max, size, dtype=dtype, endpoint=True)
        return np.where(rng.random(size) < 0.3, x % np.array(100, dtype), x).astype(dtype)
    dtype = "float32" if dtype == "bfloat16" else dtype
    width = np.dtype(dtype).itemsize
    x = np.frombuffer(rng.bytes(size * width), dtype)
    return np.where(rng.random(size) < 0.5, x, (rng.standard_normal(size) * 4).astype(dtype))


def tensor(a: Array, dtype: str) -> ng.GPUTensor:
    return _core.cast(ng.array(a), "bfloat16") if dtype == "bfloat16" else ng.array(a)


def operands(dtype: str, count: int) -> list[ng.GPUTensor]:
    """All pairs of special values, then random ones; what `where` is of is bool."""
    rng = np.random.default_rng(list(f"{dtype} {count}".encode()))
    s = special(dtype)
    columns = [s] if count == 1 else [np.repeat(s, len(s)), np.tile(s, len(s))]
    arrays = [np.concatenate([c, bit_patterns(rng, dtype, RANDOM)]) for c in columns]
    if count == 3:
        return [ng.array(rng.integers(0, 2, len(arrays[0])).astype(bool)), *(tensor(a, dtype) for a in arrays)]
    return [tensor(a, dtype) for a in arrays]


def digest(x: Any) -> str:
    y = x.get() if hasattr(x, "get") else np.asarray(x)
    return f"{y.dtype} {y.shape} " + hashlib.sha256(np.ascontiguousarray(y).tobytes()).hexdigest()[:20]


def of(compute: Callable[[], Any]) -> str:
    try:
        return digest(compute())
    except TypeError as refused:
        return str(refused)


def elementwise() -> Iterator[tuple[str, str]]:
    for (name, count), dtype in itertools.product(operations(), DTYPES):
        x = operands(dtype, count)
        yield f"{name} {dtype}", of(lambda n=name, x=x: _core.apply(n, *x))
    for dtype, to in itertools.product(DTYPES, DTYPES):
        yield f"cast {dtype} {to}", of(lambda d=dtype, t=to: _core.cast(operands(d, 1)[0], t))
    for to, bits in [("float16", 10), ("float16", 3), ("bfloat16", 7), ("float32", 12), ("int8", 0), ("int32", 0)]:
        yield f"round {to} {bits}", of(lambda t=to, b=bits: _core.round(operands("float32", 1)[0], t, 5, 9, b))


def views() -> Iterator[tuple[str, str]]:
    """Strided and broadcast operands, and places that data names."""
    rng = np.random.default_rng(1)
    for dtype in ["float32", "float16", "int8", "int64", "float64"]:
        x = ng.array(bit_patterns(rng, dtype, 3 * 40 * 12).reshape(3, 40, 12))
        y = ng.array(bit_patterns(rng, dtype, 40 * 3).reshape(40, 3))
        yield f"strided {dtype}", of(lambda x=x, y=y: x[:, ::2, ::-1] + y.T[:, ::2, None])
        yield f"broadcast {dtype}", of(lambda x=x: x * x[:1, :, 5:6])
        index = ng.array(rng.integers(-40, 40, 25))
        yield f"take {dtype}", of(lambda x=x, i=index: ng.take(x, i, axis=1))
    for dtype in ["int32", "uint32", "int64", "uint64"]:
        to = ng.array(bit_patterns(rng, dtype, 50))
        ng.add_at(to, ng.array(rng.integers(0, 50, 300)), ng.array(bit_patterns(rng, dtype, 300)))
        yield f"add_at {dtype}", digest(to)
    yield "random", digest(_core.random((1000,), 3, 7))


def sums() -> Iterator[tuple[str, str]]:
    """Of shapes whose order of sums does not depend on how many multiprocessors there are."""
    rng = np.random.default_rng(2)
    for dtype, (shape, axis) in itertools.product(
        DTYPES, [((5, 300), 1), ((70, 33), 0), ((3, 17, 64), 1), ((2, 5000), 1)]
    ):
        x = tensor(bit_patterns(rng, dtype, int(np.prod(shape))).reshape(shape), dtype)
        small = tensor(rng.integers(0, 2 if dtype == "bool" else 9, shape).astype(x.get().dtype), dtype)
        # The second pass of a column may be a cluster's on the one, and is not on the other.
        for name in ["sum", "max", "min", "mean", "var"] if axis > 0 else ["sum", "max", "min", "mean"]:
            yield f"{name} {dtype} {shape} {axis}", of(lambda n=name, x=x, a=axis: _core.reduce(n, x, [a], False, 0))
        yield f"centred {dtype} {shape} {axis}", of(lambda x=small, a=axis: x - ng.mean(x, a, keepdims=True))
        yield f"cumsum {dtype} {shape} {axis}", of(lambda x=x, a=axis: ng.cumsum(x, a))
        if dtype in ("float32", "float16") and axis > 0:
            yield f"softmax {dtype} {shape}", of(lambda x=small, a=axis: ng.softmax(x, a))
    # More sums at once than the shared memory of the smallest chip holds.
    u = ng.array(rng.integers(0, 256, (400, 64)).astype(np.uint8))
    yield "four sums", of(lambda: ng.sum(u > 9, 0) + ng.sum(u > 99, 0) * ng.sum(u > 3, 0) - ng.sum(u > 200, 0))


def main() -> None:
    _core.verify_generated(True)
    json.dump(dict(itertools.chain(elementwise(), views(), sums())), sys.stdout)


if __name__ == "__main__":
    main()
