"""Reductions with every keyword drawn at random, beside NumPy: axes, initial, where, keepdims, empty axes."""

from __future__ import annotations

import random
import warnings
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from numpy_comparison import difference, drawn

FUNCTIONS = "sum prod max min mean var std any all".split()
UFUNCS = (
    "add multiply maximum minimum fmax fmin logical_xor bitwise_or bitwise_and bitwise_xor hypot gcd logaddexp".split()
)
WHOLE = ("bitwise_or", "bitwise_and", "bitwise_xor", "gcd")
AXES: list[Any] = [None, 0, -1, (0, 1), (-1, 0), ()]


def call(xp: Any, name: str, x: Any, options: dict[str, Any]) -> Any:
    function = getattr(xp, name)
    try:
        return (function if name in FUNCTIONS else function.reduce)(x, **options)
    except (TypeError, ValueError, OverflowError, IndexError) as error:
        return error


def options_of(name: str, shape: tuple[int, ...], pick: random.Random, seed: int) -> dict[str, Any]:
    made: dict[str, Any] = {"axis": pick.choice(AXES), "keepdims": pick.random() < 0.5}
    if name not in ("mean", "var", "std", "any", "all") and pick.random() < 0.5:
        made["initial"] = pick.choice([0, 1, 2, 2.5] if name in FUNCTIONS else [0, 1, 2])
    if pick.random() < 0.4:
        made["where"] = drawn("bool", shape if name in UFUNCS else pick.choice([shape, shape[-1:]]), seed)
    return made


@pytest.mark.parametrize("name", [*FUNCTIONS, *UFUNCS])
def test_as_numpy(name: str) -> None:
    pick = random.Random(name)
    for seed in range(40):
        shape = tuple(pick.choice([0, 1, 2, 3]) for _ in range(pick.choice([1, 2, 3])))
        dtypes = ["int8", "int64", "uint8"] if name in WHOLE else ["float32", "float64", "int16", "uint8", "bool"]
        host = drawn(pick.choice(dtypes), shape, seed)
        options = options_of(name, shape, pick, seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            want, got = call(np, name, host, options), call(ng, name, ng.array(host), options)
        if isinstance(want, Exception) and isinstance(got, Exception):
            continue
        wrong = difference(got, want)
        assert wrong is None, f"{name}({host!r}, {options}): {wrong}"
