"""What every activation gives, in float64: the formulas of activations.inc and nn_activations.inc."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from source_tree import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import activations

Array = npt.NDArray[Any]
CLIP = (-1.5, 2.0)


def u(x: Array) -> Array:
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)


NAMES: dict[str, Any] = {
    "abs": np.abs,
    "erfc": np.vectorize(math.erfc),
    "exp": np.exp,
    "fma": lambda x, y, z: x * y + z,
    "log1p": np.log1p,
    "max": np.maximum,
    "maximum": np.maximum,
    "min": np.minimum,
    "positive": lambda x: x > 0,
    "sig": lambda x: 1 / (1 + np.exp(-x)),
    "sqrt": math.sqrt,
    "tanh": np.tanh,
    "u": u,
    "where": np.where,
    "low": CLIP[0],
    "high": CLIP[1],
}


def value(formula: str, **operands: Any) -> Array:
    """Of a formula of the rows; what overflows is infinity."""
    with np.errstate(over="ignore"):
        result: Array = eval(formula, NAMES | operands)
    return result


def function(formula: str) -> Callable[[Array], Array]:
    return lambda x: value(formula, x=x)


# Of products, those that a forward pass has.
EXACT = {row.name: function(row.value) for row in activations.rows()[1:] if row.reads != "mask"}
# Of layers.
LAYER_ROWS = {row.name: row for row in activations.layer_rows()}


def options(name: str) -> dict[str, Any]:
    """The arguments that ask for it."""
    return {"activation": name} | ({"clip": CLIP} if name == "clip" else {})
