"""Operands of a GEMM benchmark: random matrices in enough buffers to leave the L2, and the errors of results."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import nervanagpu as ng
import numpy as np
import numpy.typing as npt

with contextlib.suppress(ImportError):
    import ml_dtypes  # noqa: F401  NumPy's bfloat16

L2_BYTES = 60 << 20
SAMPLED_ROWS, SAMPLED_COLUMNS = 32, 1024
POOL = 50_000_017  # random numbers that all matrices are cut from
Matrix = npt.NDArray[Any]


@dataclass
class Operands:
    """One set of device buffers: `a` and `b` as they lie in memory, `c` for each of the two libraries."""

    a: ng.GPUTensor
    b: ng.GPUTensor
    ours: ng.GPUTensor
    theirs: ng.GPUTensor


class Errors(NamedTuple):
    """|got - exact| / (|A| |B|) over sampled elements; inf where anything is not a number."""

    mean: float
    max: float


def shapes(layout: str, m: int, n: int, k: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Shapes in memory of A and B for a layout of two letters, n as is and t transposed."""
    return (k, m) if layout[0] == "t" else (m, k), (n, k) if layout[1] == "t" else (k, n)


def result_type(dtype: str) -> str:
    """Of a product of two matrices of `dtype`."""
    return "int32" if dtype == "int8" else dtype


@functools.cache
def pool(dtype: str) -> Matrix:
    """Normal floats, bytes of their whole range."""
    rng = np.random.default_rng(2015)
    if dtype == "int8":
        return rng.integers(-128, 128, POOL, dtype=np.int8)
    return rng.standard_normal(POOL, dtype=np.float32).astype(dtype)


def cut(numbers: Matrix, at: int, shape: tuple[int, int]) -> tuple[Matrix, int]:
    """The next numbers as a matrix, from the start again at the end; and where they ended."""
    size = shape[0] * shape[1]
    out = np.resize(np.roll(numbers, -at) if at else numbers, shape) if at + size > POOL else numbers[at : at + size]
    return out.reshape(shape), (at + size) % POOL


def make(dtype: str, layout: str, m: int, n: int, k: int) -> tuple[list[Operands], Matrix, Matrix]:
    """Enough sets to leave the L2; also the first set's A and B on the host."""
    numbers = pool(dtype)
    at = 0
    shape_a, shape_b = shapes(layout, m, n, k)
    out = np.dtype(result_type(dtype))
    bytes_a_set = np.dtype(dtype).itemsize * (m * k + k * n) + out.itemsize * m * n
    sets: list[Operands] = []
    first: list[Matrix] = []
    for _ in range(max(1, min(8, -(-2 * L2_BYTES // bytes_a_set)))):
        a, at = cut(numbers, at, shape_a)
        b, at = cut(numbers, at, shape_b)
        first = first or [a, b]
        poison = np.full((m, n), np.iinfo(out).min if out.kind == "i" else np.nan, out)
        sets.append(Operands(ng.array(a), ng.array(b), ng.array(poison), ng.array(poison)))
    return sets, first[0], first[1]


def errors(got: Matrix, a: Matrix, b: Matrix, layout: str) -> Errors:
    """Of sampled rows and columns; integers are right (0) or not (inf)."""
    rng = np.random.default_rng(1)
    rows, columns = (
        rng.choice(size, min(most, size), replace=False)
        for size, most in zip(got.shape, (SAMPLED_ROWS, SAMPLED_COLUMNS), strict=True)
    )
    x = (a.T if layout[0] == "t" else a)[rows].astype(np.float64)
    y = (b.T if layout[1] == "t" else b)[:, columns].astype(np.float64)
    mine = got[rows][:, columns]
    if mine.dtype.kind == "i":
        right = np.array_equal(mine.astype(np.float64), x @ y)  # below 2^53: exact
        return Errors(0.0, 0.0) if right else Errors(float("inf"), float("inf"))
    scale = np.abs(x) @ np.abs(y)
    error = np.abs(mine.astype(np.float64) - x @ y) / np.where(scale > 0, scale, 1.0)
    finite = bool(np.isfinite(error).all())
    return Errors(float(error.mean()), float(error.max())) if finite else Errors(float("inf"), float("inf"))


def bound(dtype: str, k: int, precision: str | None = None) -> float:
    """What the error may be: of a chain of k float32 multiply-adds (the tensor cores' is less), and of the result."""
    if dtype == "int8":
        return 0.0
    if precision == "tensor":
        k = 46 + -(-k // 64) + 64  # at most 64 parts
    chain = k * 2.0**-24 / (1 - k * 2.0**-24)
    return chain + {"float16": 2.0**-11, "bfloat16": 2.0**-8}.get(dtype, 0.0)
