"""The factory of the 2015 library."""

from __future__ import annotations

import numpy as np
import pytest
from nervanagpu import NervanaGPU


def test_the_gemm_example_in_fp32(rng):
    ng = NervanaGPU(stochastic_round=False)
    m, n, k = 10, 20, 10
    dtype = np.float32
    cpu_a = rng.standard_normal((k, m))
    cpu_b = rng.standard_normal((k, n))
    dev_a = ng.array(cpu_a, dtype=dtype)
    dev_b = ng.array(cpu_b, dtype=dtype)
    dev_c = ng.empty((m, n), dtype=dtype)
    ng.dot(dev_a.T, dev_b, dev_c, relu=False)
    cpu_c = dev_c.get()
    assert cpu_c.dtype == np.float32
    bound = k * 2.0**-23 * (np.abs(cpu_a.T) @ np.abs(cpu_b)) * 2  # inputs are rounded to float32 too
    assert (np.abs(cpu_c - cpu_a.T @ cpu_b) <= bound).all()


def test_float16_is_the_default_and_not_multiplied_yet(rng):
    ng = NervanaGPU()
    a = ng.array(rng.standard_normal((4, 4)))
    assert a.dtype == np.float16
    assert ng.empty((2, 2)).dtype == ng.zeros((2, 2)).dtype == ng.ones(3).dtype == np.float16
    with pytest.raises(TypeError, match="dot: not supported yet: a has dtype float16; needs float32"):
        ng.dot(a, a, ng.empty((4, 4)))


def test_options(capsys, rng):
    ng = NervanaGPU(bench=True, default_dtype=np.float32)
    a = ng.array(rng.integers(-4, 5, (6, 5)))
    b = ng.array(rng.integers(-4, 5, (5, 7)))
    c = ng.ones((6, 7), name="c")
    assert c.name == "c"
    assert ng.dot(a, b, c, alpha=2, beta=1, relu=True) is c
    assert np.array_equal(c.get(), np.maximum(2 * (a.get() @ b.get()) + 1, 0))
    assert capsys.readouterr().out.startswith("dot 6x7x5: ")
    assert ng.zeros_like(c).get().sum() == 0
    assert ng.empty_like(c).shape == (6, 7)
    with pytest.raises(ValueError, match="stochastic_round is True; needs False"):
        NervanaGPU(stochastic_round=True)
    with pytest.raises(ValueError, match="dot: repeat is 0; needs 1 or more"):
        ng.dot(a, b, c, repeat=0)
