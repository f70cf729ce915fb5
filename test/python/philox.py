"""Philox4x32-10 by its definition (Salmon, Moraes, Dror and Shaw, 2011), in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def philox(seed: int, counter: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Four words for each 64-bit counter."""
    u = np.uint64
    low, mask = u(0xFFFFFFFF), 0xFFFFFFFF
    c = [counter & low, counter >> u(32), np.zeros_like(counter), np.zeros_like(counter)]
    k0, k1 = seed & mask, seed >> 32
    for _ in range(10):
        p, q = c[0] * u(0xD2511F53), c[2] * u(0xCD9E8D57)
        c = [(q >> u(32)) ^ c[1] ^ u(k0), q & low, (p >> u(32)) ^ c[3] ^ u(k1), p & low]
        k0, k1 = (k0 + 0x9E3779B9) & mask, (k1 + 0xBB67AE85) & mask
    return np.stack(c, -1).astype(np.uint32)
