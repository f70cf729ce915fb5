"""The factory of the 2015 library."""

from __future__ import annotations

import nervanagpu as ng
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


def test_the_gemm_example_as_it_stands(rng):
    """float16, as the 2015 library's first example has it."""
    ng = NervanaGPU(stochastic_round=False)
    m, n, k = 10, 20, 10
    dtype = np.float16
    cpu_a = rng.standard_normal((k, m))
    cpu_b = rng.standard_normal((k, n))
    dev_a = ng.array(cpu_a, dtype=dtype)
    dev_b = ng.array(cpu_b, dtype=dtype)
    dev_c = ng.empty((m, n), dtype=dtype)
    ng.dot(dev_a.T, dev_b, dev_c, relu=False)
    exact = dev_a.get().T.astype(np.float64) @ dev_b.get().astype(np.float64)
    assert dev_c.dtype == np.float16
    assert (np.abs(dev_c.get() - exact) <= 2.0**-11 * np.abs(exact) + 2.0**-20).all()


def test_float16_is_the_default(rng):
    ng = NervanaGPU()
    a = ng.array(rng.standard_normal((4, 4)))
    assert a.dtype == np.float16
    assert ng.empty((2, 2)).dtype == ng.zeros((2, 2)).dtype == ng.ones(3).dtype == np.float16
    with pytest.raises(TypeError, match="dot: out has dtype float64; needs float16 or float32, what float16 operands"):
        ng.dot(a, a, ng.empty((4, 4), dtype=np.float64))


def test_stochastic_rounding_follows_the_tensor(rng):
    ng = NervanaGPU(stochastic_round=4, seed=7)
    a, b = ng.array(rng.standard_normal((40, 30))), ng.array(rng.standard_normal((30, 50)))
    first, second, nearest = ng.empty((40, 50)), ng.empty((40, 50)), ng.empty((40, 50))
    assert first.rounding == first[1:].rounding == 4
    nearest.rounding = 0
    for c in (first, second, nearest):
        ng.dot(a, b, c)
    assert (first.get().view(np.uint16) & 0x3F == 0).all(), "4 mantissa bits are kept"
    assert (first.get() != second.get()).any(), "each operation takes new random numbers"
    exact = a.get().astype(np.float64) @ b.get().astype(np.float64)
    assert (np.abs(first.get() - exact) <= 2.0**-4 * np.abs(exact) + 2.0**-20).all()
    assert (np.abs(nearest.get() - exact) <= 2.0**-11 * np.abs(exact) + 2.0**-16).all()
    again = NervanaGPU(stochastic_round=4, seed=7)
    third = again.empty((40, 50))
    again.dot(a, b, third)
    assert np.array_equal(first.get(), third.get()), "reproducible by the seed"


def test_options(capsys, rng):
    ng = NervanaGPU(bench=True, default_dtype=np.float32)
    a = ng.array(rng.integers(-4, 5, (6, 5)))
    b = ng.array(rng.integers(-4, 5, (5, 7)))
    c = ng.ones((6, 7), name="c")
    assert c.name == "c"
    assert ng.dot(a, b, c, alpha=2, beta=1, relu=True) is c
    assert np.array_equal(c.get(), np.maximum(2 * (a.get() @ b.get()), 0) + 1)
    assert capsys.readouterr().out.startswith("dot 6x7x5: ")
    assert ng.zeros_like(c).get().sum() == 0
    assert ng.empty_like(c).shape == (6, 7)
    with pytest.raises(ValueError, match="NervanaGPU: stochastic_round is 16; needs 0 to 15"):
        NervanaGPU(stochastic_round=16)
    with pytest.raises(ValueError, match="dot: repeat is 0; needs 1 or more"):
        ng.dot(a, b, c, repeat=0)


def test_expressions_of_the_2015_readme(rng: np.random.Generator) -> None:
    gpu = NervanaGPU(default_dtype=np.float32)
    a = rng.random((128, 32)).astype(np.float32)
    A = gpu.array(a)
    C = gpu.empty((128, 1))
    before = ng.launch_count()
    C[:] = gpu.mean(gpu.square(A - gpu.mean(A, axis=1)), axis=1)
    assert ng.launch_count() == before + 1
    np.testing.assert_allclose(C.get(), a.var(1, keepdims=True), rtol=1e-5)
    eps = 0.001
    A[:] = gpu.reciprocal(gpu.sqrt(gpu.var(A, axis=1) + eps)) * (A - gpu.mean(A, axis=1))
    assert ng.launch_count() == before + 2
    want = (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + eps)
    np.testing.assert_allclose(A.get(), want, rtol=1e-4, atol=1e-5)


def test_every_function_of_the_factory(rng: np.random.Generator) -> None:
    gpu = NervanaGPU(default_dtype=np.float32)
    a = rng.uniform(0.5, 2, (6, 9)).astype(np.float32)
    x, y, out = gpu.array(a), gpu.array(a.T.copy().T * 0.5), gpu.empty((6, 9))
    one = "negative sgn reciprocal absolute fabs sqrt square exp exp2 log log2 sig sig2 tanh tanh2 finite".split()
    two = (
        "add subtract multiply divide true_divide power equal not_equal less less_equal greater greater_equal "
        "maximum minimum"
    ).split()
    calls = [(n, (x,)) for n in one] + [(n, (x, y)) for n in two] + [("clip", (x, 0.75, 1.5))]
    for name, args in calls:
        lazy = getattr(gpu, name)(*args)
        assert getattr(gpu, name)(*args, out=out) is out
        np.testing.assert_array_equal(out.get(), lazy.get().astype(np.float32), err_msg=name)
    for name in ("sum", "max", "min", "mean", "var", "std"):
        for axis in (None, 0, 1):
            got = getattr(gpu, name)(x, axis=axis).get()
            np.testing.assert_allclose(got, getattr(np, name)(a, axis=axis, keepdims=True), rtol=1e-5)


def test_random_numbers_of_the_factory() -> None:
    gpu = NervanaGPU(default_dtype=np.float32, seed=5)
    A, B = gpu.empty((128, 32)), gpu.empty((128, 32))
    A[:] = gpu.rand()
    B[:] = gpu.rand()
    assert 0 <= A.get().min() < 0.01
    assert 0.99 < A.get().max() < 1
    assert not np.array_equal(A.get(), B.get())
    again = NervanaGPU(default_dtype=np.float32, seed=5)
    B[:] = again.rand()
    np.testing.assert_array_equal(A.get(), B.get())
    B[:] = gpu.dropout(0.8) * A
    kept = B.get() != 0
    np.testing.assert_array_equal(B.get()[kept], A.get()[kept])
    assert abs(kept.mean() - 0.8) < 0.03


def test_places_and_sums_of_the_factory(rng: np.random.Generator) -> None:
    gpu = NervanaGPU(default_dtype=np.float32)
    a = rng.standard_normal((6, 9)).astype(np.float32)
    x = gpu.array(a)
    out = gpu.empty((6, 1), dtype=np.int32)
    for name in ("argmax", "argmin"):
        want = getattr(np, name)(a, axis=1, keepdims=True)
        np.testing.assert_array_equal(getattr(gpu, name)(x).get(), want)
        with pytest.raises(TypeError):
            gpu.argmax(x, out=gpu.empty((6, 1), dtype=np.uint8))
        assert getattr(gpu, name)(x, 1, out) is out
        np.testing.assert_array_equal(out.get(), want)
        np.testing.assert_array_equal(getattr(gpu, name)(x, axis=0).get(), getattr(np, name)(a, axis=0, keepdims=True))
    labels = np.array([2, 0, 3], np.int32)
    hot = gpu.empty((3, 4))
    eye = np.eye(4, dtype=np.float32)[labels]
    np.testing.assert_array_equal(gpu.onehot(gpu.array(labels, dtype=np.int32), 1, hot).get(), eye)
    column = gpu.array(labels.reshape(3, 1), dtype=np.int32)
    np.testing.assert_array_equal(gpu.onehot(column, axis=1, out=hot).get(), eye)
    tall = gpu.empty((4, 3))
    np.testing.assert_array_equal(gpu.onehot(gpu.array(labels, dtype=np.int32), axis=0, out=tall).get(), eye.T)
    with pytest.raises(ValueError, match="indices have shape"):
        gpu.onehot(gpu.array(labels, dtype=np.int32), 0, gpu.empty((4, 5)))
    total, lost = gpu.zeros((6, 9)), gpu.zeros((6, 9))
    assert gpu.compensated_sum(total, lost, x, add_scale=0.5) is total
    np.testing.assert_array_equal(total.get(), a * np.float32(0.5))
