"""Element types by kind, and random elements of each with its special values among them."""

from __future__ import annotations

from typing import Any

import numpy as np

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float16", "float64"]
DTYPES = [*FLOATS, *INTEGERS, "bool"]
SIZE = 1111  # no multiple of a vector or a tile


def sample(rng: np.random.Generator, dtype: str, size: int = SIZE) -> np.ndarray[Any, Any]:
    if dtype == "bool":
        return rng.integers(0, 2, size).astype(bool)
    if dtype in FLOATS:
        x = (rng.standard_normal(size) * 10).astype(dtype)
        x[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5]
    else:
        i = np.iinfo(dtype)
        x = rng.integers(i.min, i.max, size, dtype=dtype, endpoint=True)
        x[:4] = [0, 1, i.max, i.min]
    rng.shuffle(x)
    return x
