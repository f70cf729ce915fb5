"""Sizes that no memory has: one of our errors says the size, and everything goes on as before."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest


def wide(*shape: int) -> ng.GPUTensor:
    """A number seen as `shape`: no memory of its own."""
    return ng.broadcast_to(ng.ones(1), shape)


# Each makes, or asks the host for, at least n bytes.
MADE: dict[str, Callable[[int], Any]] = {
    "empty": ng.empty,
    "zeros": lambda n: ng.zeros((n,), "uint8"),
    "ones": lambda n: ng.ones((1, n)),
    "full": lambda n: ng.full(n, 3, "int64"),
    "eye": lambda n: ng.eye(n).get(),
    "arange": ng.arange,
    "linspace": lambda n: ng.linspace(0, 1, n),
    "logspace": lambda n: ng.logspace(0, 1, n),
    "indices": lambda n: ng.indices((n,)),
    "zeros_like": lambda n: ng.zeros_like(ng.ones(2), shape=n),
    "empty_like": lambda n: ng.empty_like(ng.ones(2), shape=(n, 2)),
    "tile": lambda n: ng.tile(ng.ones(2), n),
    "repeat": lambda n: ng.repeat(ng.ones(2), n),
    "pad": lambda n: ng.pad(ng.ones(2), (n, 0)),
    "bincount": lambda n: ng.bincount(ng.array([1]), minlength=n),
    "fft": lambda n: ng.fft.fft(ng.ones(3), n),
    "rand": lambda n: ng.rand(n).get(),
    "randn": lambda n: ng.randn(n).get(),
    "randint": lambda n: ng.randint(0, 10, n).get(),
    "random.normal": lambda n: ng.random.normal(size=n),
    "random.choice": lambda n: ng.random.choice(5, n),
    "random.permutation": lambda n: ng.random.permutation(n),
    "default_rng": lambda n: ng.random.default_rng(1).integers(0, 9, n).get(),
    "pinned": lambda n: ng.pinned(n),
    "conv2d": lambda n: ng.conv2d(wide(n // 2**20, 8, 8, 8), ng.ones((2**20, 1, 1, 8))),
    "max_pool2d": lambda n: ng.max_pool2d(wide(n // 2**20, 2**10, 2**10, 8), 2),
}
SEEN: dict[str, Callable[[int], Any]] = {
    "get": lambda n: wide(n).get(),
    "expression": lambda n: (wide(n) + 1).get(),
    "numpy": lambda n: np.asarray(wide(n) * 2),
    "tolist": lambda n: wide(n).tolist(),
    "outer": lambda n: (wide(n // 4, 1) + wide(1, 8)).get(),
    "product": lambda n: (wide(n // 4, 2) @ wide(2, 8)).get(),
    "where": lambda n: ng.where(wide(n) > 0, 1, 2).get(),
    "astype": lambda n: wide(n).astype("float64").get(),
    "copy": lambda n: wide(n).copy(),
    "concatenate": lambda n: ng.concatenate([wide(n), wide(n)]),
    "stack": lambda n: ng.stack([wide(n)] * 3),
    "cumsum": lambda n: ng.cumsum(wide(n)),
    "dropout": lambda n: ng.dropout(wide(n)).get(),
    "meshgrid": lambda n: ng.meshgrid(wide(n // 4), wide(8)),
    "diag": lambda n: ng.diag(wide(n)).get(),
}
SIZES = [2**45, 2**59, 2**62, 2**63 - 1, 2**63, 2**64, 10**30]
# How the size is said: in bytes or elements, and what there is; or as a length that is none.
CLEAR = re.compile(
    r"out of memory: \d+ bytes (of host memory )?asked for, (\d+ free|the limit is)"
    r"|shape .*: (elements|bytes) are more than 2\^6[34] - 1"
    r"|\d{11,}; needs |needs fewer than 2\^63"
)


def refused(call: Callable[[int], Any], n: int) -> str:
    """What is wrong with the refusal; empty: nothing."""
    try:
        call(n)
    except (MemoryError, ValueError, OverflowError) as error:
        text = str(error)
        return "" if CLEAR.search(text) and re.search(r"\d{11,}", text) else f"{type(error).__name__}: {text}"
    return "nothing was refused"


@pytest.mark.parametrize("name", [*MADE, *SEEN])
def test_the_size_is_said(name: str) -> None:
    call = {**MADE, **SEEN}[name]
    wrong = {n: said for n in SIZES if (said := refused(call, n))}
    assert not wrong


def test_random_numbers_go_on() -> None:
    ng.seed(3)
    first = ng.rand(3).get()
    for n in (2**59, 2**62, 2**63 - 1):
        for _ in range(8):
            with pytest.raises((MemoryError, ValueError)):
                ng.rand(n).get()
    assert 0 <= float(ng.max(ng.rand(1000))) < 1
    rng = ng.random.RandomState(3)
    for _ in range(8):
        rng.random_sample(2**61)
    assert rng.random_sample(5).shape == (5,)
    # After the last counter comes the first.
    rng.set_state(("Philox4x32-10", 3, 2**61 - 1))
    last, again = rng.random_sample(4).get(), rng.random_sample(3).get()
    assert not np.array_equal(last[:3], again)
    rng.set_state(("Philox4x32-10", 3, 0))
    assert np.array_equal(rng.random_sample(3).get(), again)
    with pytest.raises(ValueError, match="set_state: state is"):
        rng.set_state(("Philox4x32-10", 3, 2**61))
    ng.seed(3)
    assert np.array_equal(ng.rand(3).get(), first)


def test_bytes_of_what_nobody_evaluates() -> None:
    assert ng.rand(2**62).nbytes == 2**64
    assert math.prod((wide(2**40) + 1).shape) * 4 == (wide(2**40) + 1).nbytes


@pytest.mark.parametrize("layer", ["Conv", "Deconv"])
def test_results_of_a_network(layer: str) -> None:
    wide_window = {"Conv": ng.layers.Conv(8, 3, padding=2**27), "Deconv": ng.layers.Deconv(8, 3, stride=2**27)}
    net = ng.Network([wide_window[layer]], input_shape=(8, 8, 3))
    with pytest.raises(
        MemoryError, match=r"out of memory: (\d{10,}|more than 2\^64) bytes of host memory asked for, \d+ free"
    ):
        net.predict(np.ones((1, 8, 8, 3), np.float32))
