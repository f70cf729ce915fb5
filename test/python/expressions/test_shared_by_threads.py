"""Tensors that several threads share under a lock: expressions have the values that their operands had when written.

They are computed outside of the lock, by their own thread or by the one that is about to overwrite an operand.
"""

from __future__ import annotations

import random
import threading
from typing import Any

import nervanagpu as ng
import numpy as np

TURNS = 700


class Shared:
    """A tensor and its array beside it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.array: Any = np.arange(64)
        self.tensor = ng.array(self.array)
        self.wrong: list[str] = []

    def read(self) -> None:
        for _ in range(TURNS):
            with self.lock:
                want = self.array.copy()
                got = {"x * 3": (self.tensor * 3, want * 3), "sum": (self.tensor.sum(), want.sum())}
            for name, (value, right) in got.items():
                if not np.array_equal(value.get(), right):
                    self.wrong.append(name)

    def write(self, seed: int) -> None:
        draw = random.Random(seed)
        for turn in range(TURNS):
            with self.lock:
                for x in (self.array, self.tensor):
                    state = draw.getstate()
                    self.statement(x, draw, turn)
                    if x is self.array:
                        draw.setstate(state)

    @staticmethod
    def statement(x: Any, draw: random.Random, turn: int) -> None:
        match draw.choice(["+=", "+=", "*=", "*=", "[i] =", "sort", "mask"]):
            case "+=":
                x += 1
            case "*=":
                x[::3] *= 2
            case "[i] =":
                x[draw.randrange(64)] = turn
            case "sort":
                x.sort()
            case "mask":
                x[x > 1000] = 0


def test_expressions_beside_writes_of_other_threads() -> None:
    shared = Shared()
    threads = [threading.Thread(target=shared.read) for _ in range(3)]
    threads += [threading.Thread(target=shared.write, args=(seed,)) for seed in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not shared.wrong
    assert np.array_equal(shared.tensor.get(), shared.array)
