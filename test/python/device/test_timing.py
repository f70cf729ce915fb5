"""ng.benchmark."""

from __future__ import annotations

import time

import nervanagpu as ng
import numpy as np
import pytest


def test_it_computes_what_is_returned(rng):
    x = ng.array(rng.standard_normal(1000).astype(np.float32))
    before = ng.launch_count()
    result = ng.benchmark(lambda a, by: [a * by, (a + by,)], x, by=3, repeat=5, warmup=2)
    assert ng.launch_count() == before + 7 * 2
    assert len(result.times) == 5 and 0 < result.low <= result.ms <= result.high
    assert result.low >= min(result.times) and result.high <= max(result.times)
    assert repr(result).startswith("<Benchmark: ") and repr(result).endswith(" 5 runs)>")
    ng.benchmark(lambda: ng.dot(x.reshape(10, 100), x.reshape(100, 10)), repeat=1, stream=ng.Stream())
    y = ng.ones(10)

    def twice() -> None:
        nonlocal y
        y *= 2

    ng.benchmark(twice, repeat=3, warmup=1)
    np.testing.assert_array_equal(y.get(), np.full(10, 16, np.float32))


def test_medians_of_what_sleeps():
    naps = iter([0, 0, 0.02, 0.001, 0.02, 0.02, 0.5])
    result = ng.benchmark(lambda: time.sleep(next(naps)), repeat=5, warmup=2)
    assert 20 <= result.host_ms < 100 and result.host_ms < max(result.times) / 4
    if ng.device().kind == "emulator":
        assert 20 <= result.ms < 100


def test_numbers_that_mean_nothing():
    with pytest.raises(ValueError, match="repeat is 0; needs 1 or more"):
        ng.benchmark(lambda: None, repeat=0)
    with pytest.raises(TypeError, match="repeat is 1.5; needs an integer"):
        ng.benchmark(lambda: None, repeat=1.5)
    with pytest.raises(ValueError, match="warmup is -1; needs 0 or more"):
        ng.benchmark(lambda: None, warmup=-1)
    with pytest.raises(TypeError, match="f is 3; needs a function"):
        ng.benchmark(3)
