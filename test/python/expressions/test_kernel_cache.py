"""Generated kernels are kept within a budget, and come back the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest

OPS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a & b,
    lambda a, b: a | b,
    lambda a, b: a ^ b,
]


def structure(number: int, x: Any, y: Any) -> Any:
    """One of 12^9 trees of integers, the same of ng's arrays and NumPy's."""
    e, number = x, number + 12**6
    while number:
        number, at = divmod(number, 12)
        e = OPS[at % 6](e, x if at < 6 else y)
    return e


@pytest.fixture
def budget() -> Iterator[Callable[[int], None]]:
    before = ng.memory_report().kernels.budget
    yield ng.set_kernel_cache
    ng.set_kernel_cache(before)


def weight_of_one() -> int:
    """Bytes that the kernel of a structure weighs on this device, on average. Nothing is kept before or after."""
    x, y = ng.array([1, 2]), ng.array([3, 4])
    ng.synchronize()
    ng.set_kernel_cache(0)
    ng.set_kernel_cache(1 << 30)
    for n in range(4):
        structure(n, x, y).get()
    k = ng.memory_report().kernels
    assert k.entries >= 4
    ng.set_kernel_cache(0)
    return k.bytes // k.entries


MEMORY = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np, nervanagpu as ng
from test_kernel_cache import structure
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
a, b = np.arange(64, dtype=np.int32) - 20, np.arange(64, dtype=np.int32) * 7919
x, y = ng.array(a), ng.array(b)
rows, wide = ng.array(a.reshape(4, 16)), ng.zeros(2000, "i4")
after = []
for n in range(1600):
    with np.errstate(over="ignore"):
        assert np.array_equal(structure(n, x, y).get(), structure(n, a, b)), n
        if n % 4 == 0:
            want = structure(n, a, b).reshape(4, 16).sum(1, dtype=np.int64)
            assert np.array_equal(ng.sum(structure(n, rows, y.reshape(4, 16)), 1).get(), want), n
        assert not ng.sum(wide[: n % 800 + 1] * n).get(), n   # one kernel, another shape
    k = ng.memory_report().kernels
    assert k.bytes <= k.budget, k
    if n in (400, 1599):
        after.append((resident(), k))
print(after[1][0] - after[0][0], after[1][1].evictions, after[1][1].budget, after[1][1].entries)
"""


def test_memory_is_bounded(python):
    """2,000 structures of some 200 KB each, and 800 shapes of one, in 8 MB."""
    from pathlib import Path

    run = python(MEMORY.format(folder=str(Path(__file__).parent)), device="emulator", kernel_cache="8M")
    assert run.returncode == 0, run.stderr
    grown, evictions, limit, entries = map(int, run.stdout.split())
    assert limit == 8 << 20 and 0 < entries < 1000
    assert evictions > 1500
    assert grown < 12 << 20, "300 MB without a bound"


def test_what_comes_back_gives_the_same_bits(rng, budget):
    a = rng.standard_normal((37, 64)).astype(np.float32)
    x = ng.array(a)
    ng.seed(5)
    state = ng.rand(4)  # so that what follows has a state of its own
    state.get()

    def all_kinds() -> list[bytes]:
        ng.seed(7)
        kinds = [
            ng.exp(x) * 2 + ng.tanh(x),
            ng.softmax(x, 1),
            ng.sum(x, 0),
            ng.var(x, 1),
            ng.rand(5, 7) + 1,
            ng.cumsum(x, 1),
            x[:, 1:] * x[:, :-1],
            ng.astype(x, "float16") if hasattr(ng, "astype") else x.astype("float16"),
        ]
        return [np.asarray(k.get()).tobytes() for k in kinds]

    first = all_kinds()
    before = ng.memory_report().kernels
    ng.set_kernel_cache(0)
    none = ng.memory_report().kernels
    assert (none.entries, none.bytes, none.budget) == (0, 0, 0)
    assert none.evictions >= before.evictions + 8
    assert all_kinds() == first, "with nothing kept at all"
    budget(64 << 20)
    assert all_kinds() == first
    assert all_kinds() == first, "found again"
    assert ng.memory_report().kernels.entries >= 8


def test_threads_that_evict_each_others_kernels(budget):
    budget(6 * weight_of_one())
    a, b = np.arange(300, dtype=np.int32) - 77, np.arange(300, dtype=np.int32) * 104729
    with np.errstate(over="ignore"):
        want = [structure(n, a, b) for n in range(24)]
    x, y = ng.array(a), ng.array(b)
    ng.synchronize()
    before = ng.memory_report().kernels.evictions
    wrong: list[object] = []

    def work(seed: int) -> None:
        order = np.random.default_rng(seed)
        try:
            for n in order.integers(0, 24, 60):
                if not np.array_equal(structure(int(n), x, y).get(), want[n]):
                    wrong.append(n)
        except Exception as e:  # shown by the assertion
            wrong.append(e)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    ng.synchronize()
    k = ng.memory_report().kernels
    assert k.bytes <= k.budget and k.evictions > before


def test_a_graph_outlives_the_entries_of_its_kernels(budget):
    a = np.arange(128, dtype=np.float32).reshape(8, 16)
    x, y, total = ng.array(a), ng.zeros((8, 16)), ng.zeros((8, 1))

    def body() -> None:
        y[:] = x * 3 + 1
        total[:] = ng.sum(y - x, 1, keepdims=True)

    graph = ng.Graph(body)
    for turn in range(3):
        budget(0)  # all entries go
        budget(1 << 20)
        for n in range(12):  # and others come
            structure(n, ng.array([1, 2]), ng.array([3, 4])).get()
        x[:] = ng.array(a + turn)
        graph.launch()
        ng.synchronize()
        np.testing.assert_array_equal(y.get(), (a + turn) * 3 + 1)
        np.testing.assert_array_equal(total.get(), ((a + turn) * 2 + 1).sum(1, keepdims=True))
    del graph


def test_what_is_used_stays(budget):
    """A statement in a loop keeps its kernel, whatever else comes and goes."""
    x, y = ng.array([1, 2]), ng.array([3, 4])
    out = ng.zeros(2, "i4")
    budget(10 * weight_of_one())
    out[:] = x * 5
    ng.synchronize()
    made = ng.memory_report().kernels
    for n in range(40):
        structure(n, x, y).get()
        out[:] = x * 5
        ng.synchronize()
    assert ng.memory_report().kernels.evictions > made.evictions
    before = ng.memory_report().kernels
    out[:] = x * 5
    ng.synchronize()
    assert ng.memory_report().kernels == before, "found, not made"


def test_the_report_shows_it(budget):
    budget(123 << 20)
    (ng.ones(3) * 4).get()
    k = ng.memory_report().kernels
    assert k.budget == 123 << 20 and k.entries > 0 and 0 < k.bytes <= k.budget and k.loaded > 0
    line = next(t for t in repr(ng.memory_report()).splitlines() if t.startswith("generated kernels: "))
    assert f"{k.entries:,} entries of {k.bytes:,} bytes in all, at most {123 << 20:,}" in line


@pytest.mark.parametrize("value", [1.5, "64M", -1, None, 2**63])
def test_budgets_that_mean_nothing(value):
    with pytest.raises((TypeError, ValueError), match="budget"):
        ng.set_kernel_cache(value)


def test_the_environment_says_the_budget(python):
    run = python("import nervanagpu as ng; print(ng.memory_report().kernels.budget)", device="emulator")
    assert int(run.stdout) == 256 << 20
    run = python("import nervanagpu as ng; ng.ones(2).get()", device="emulator", kernel_cache="lots")
    assert "NERVANAGPU_KERNEL_CACHE is 'lots'; needs a number of bytes such as 64M or 2G" in run.stderr
