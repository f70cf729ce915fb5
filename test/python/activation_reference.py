"""What every activation of products gives, in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from nervanagpu import _core

Array = npt.NDArray[Any]
_erfc = np.vectorize(math.erfc)
CLIP = (-1.5, 2.0)


def logistic(x: Array) -> Array:
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


EXACT: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": logistic,
    "gelu": lambda x: x * _erfc(-x / math.sqrt(2)) / 2,
    "gelu_tanh": lambda x: x * logistic(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)),
    "silu": lambda x: x * logistic(x),
    "clip": lambda x: np.clip(x, *CLIP),
}
assert [*EXACT] == [name for name, reads in _core.ACTIVATIONS.items() if name != "none" and reads != "mask"]


def options(name: str) -> dict[str, Any]:
    """The arguments that ask for it."""
    return {"activation": name} | ({"clip": CLIP} if name == "clip" else {})
