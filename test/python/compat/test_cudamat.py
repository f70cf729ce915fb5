"""nervanagpu.cudamat: what scripts of cudamat use, against NumPy."""

from __future__ import annotations

import math

import nervanagpu.cudamat as cm
import numpy as np
import pytest


@pytest.fixture
def abc(rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(5, 7), (5, 7), (7, 3)"""
    a, b, c = (rng.uniform(0.5, 2, s).astype(np.float32) for s in ((5, 7), (5, 7), (7, 3)))
    return a, b, c


def close(got: cm.CUDAMatrix, want: np.ndarray) -> None:
    assert got.shape == want.shape
    np.testing.assert_allclose(got.asarray(), want, rtol=2e-6, atol=1e-6)


def test_a_layer_of_a_network(rng):
    """As cudamat's readme uses it: a matrix product, a column added, the sigmoid."""
    cm.cublas_init()
    cm.CUDAMatrix.init_random(42)
    w, x, b = (rng.standard_normal(s).astype(np.float32) for s in ((16, 8), (8, 32), (16, 1)))
    h = cm.empty((16, 32))
    cm.dot(cm.CUDAMatrix(w), cm.CUDAMatrix(x), target=h)
    h.add_col_vec(cm.CUDAMatrix(b))
    assert h.apply_sigmoid() is h
    np.testing.assert_allclose(h.asarray(), 1 / (1 + np.exp(-(w @ x + b))), rtol=1e-5)
    h.copy_to_host()
    assert h.numpy_array.shape == (16, 32)
    cm.cublas_shutdown()


def test_products(abc):
    a, b, c = abc
    A, C = cm.CUDAMatrix(a), cm.CUDAMatrix(c)
    close(A.dot(C), a @ c)
    close(cm.dot(A.T, cm.CUDAMatrix(b)), a.T @ b)
    out = cm.CUDAMatrix(np.ones((5, 3)))
    close(out.add_dot(A, C, mult=2.0, beta=3.0), 3 + 2 * (a @ c))
    close(out.subtract_dot(A, C), 3 + a @ c)
    assert abs(cm.vdot(A, cm.CUDAMatrix(b)) - (a * b).sum()) < 1e-3
    with pytest.raises(ValueError):
        A.dot(A)


def test_arithmetic_into_itself_and_into_a_target(abc):
    a, b, _ = abc
    B = cm.CUDAMatrix(b)
    col, row = cm.CUDAMatrix(a[:, :1]), cm.CUDAMatrix(a[:1])
    for name, operand, host in (
        ("add", B, a + b), ("subtract", 0.5, a - 0.5), ("mult", B, a * b), ("divide", B, a / b),
        ("add_mult", B, a + b), ("subtract_mult", B, a - b),
        ("add_col_vec", col, a + a[:, :1]), ("mult_by_col", col, a * a[:, :1]), ("div_by_col", col, a / a[:, :1]),
        ("add_row_vec", row, a + a[:1]), ("mult_by_row", row, a * a[:1]), ("div_by_row", row, a / a[:1]),
        ("less_than", B, a < b), ("greater_than", 1.0, a > 1), ("equals", B, a == b),
        ("minimum", B, np.minimum(a, b)), ("maximum", 1.0, np.maximum(a, 1)),
    ):  # fmt: skip
        A, target = cm.CUDAMatrix(a), cm.empty(a.shape)
        if "add_mult" not in name and "subtract_mult" not in name:
            assert getattr(A, name)(operand, target=target) is target
            close(target, host.astype(np.float32))
            close(A, a)
        assert getattr(A, name)(operand) is A
        close(A, host.astype(np.float32))
    with pytest.raises(ValueError, match="target is 2 x 2; needs 5 x 7"):
        cm.CUDAMatrix(a).add(1, target=cm.empty((2, 2)))


def test_functions(abc):
    a, b, _ = abc
    for function, host in (
        (cm.sigmoid, 1 / (1 + np.exp(-a))), (cm.tanh, np.tanh(a)), (cm.exp, np.exp(a)), (cm.log, np.log(a)),
        (cm.sqrt, np.sqrt(a)), (cm.abs, a), (cm.log_1_plus_exp, np.log1p(np.exp(a))),
        (cm.softmax, np.exp(a) / np.exp(a).sum(0)),
    ):  # fmt: skip
        A, target = cm.CUDAMatrix(a), cm.empty(a.shape)
        close(function(A, target), host)
        assert function(A) is A
        close(A, host)
    close(cm.pow(cm.CUDAMatrix(a), 2.5), a**2.5)
    mask = (a > b).astype(np.float32)
    close(cm.where(cm.CUDAMatrix(mask), cm.CUDAMatrix(a), 0.0, target=cm.empty(a.shape)), np.where(a > b, a, 0))
    close(cm.CUDAMatrix(a - 1).sign(), np.sign(a - 1))
    close(cm.CUDAMatrix(a).reciprocal(), 1 / a)
    close(cm.CUDAMatrix(a).apply_tanh(), np.tanh(a))


def test_reductions(abc):
    a, b, _ = abc
    A = cm.CUDAMatrix(a)
    for axis in (0, 1):
        for name in ("sum", "mean", "max", "min"):
            close(getattr(A, name)(axis), getattr(np, name)(a, axis=axis, keepdims=True))
        for name in ("argmax", "argmin"):
            close(getattr(A, name)(axis), getattr(np, name)(a, axis=axis, keepdims=True).astype(np.float32))
        close(cm.sum(A, axis, mult=2.0), 2 * a.sum(axis, keepdims=True))
        close(cm.mean(A, axis), a.mean(axis, keepdims=True))
    bias = cm.CUDAMatrix(b[:, :1])
    close(bias.add_sums(A, 1, mult=0.5, beta=2.0), 2 * b[:, :1] + 0.5 * a.sum(1, keepdims=True))
    assert abs(A.euclid_norm() - np.linalg.norm(a)) < 1e-4
    assert abs(A.manhattan_norm() - a.sum()) < 1e-3
    assert A.allfinite() is True
    a[1, 2] = np.inf
    assert cm.CUDAMatrix(a).allfinite() is False


def test_parts(abc):
    a, b, _ = abc
    A = cm.CUDAMatrix(a)
    close(A.get_col_slice(2, 5), a[:, 2:5])
    close(A.slice(0, 1), a[:, :1])
    close(A.get_row_slice(1, 3), a[1:3])
    close(A.set_col_slice(0, 2, cm.CUDAMatrix(b[:, :2])), np.hstack([b[:, :2], a[:, 2:]]))
    close(A.set_row_slice(0, 1, cm.CUDAMatrix(b[:1])), np.vstack([b[:1], np.hstack([b[:, :2], a[:, 2:]])[1:]]))
    close(cm.CUDAMatrix(a).transpose(), a.T)
    close(cm.CUDAMatrix(a).reshape((7, 5)), a.reshape((7, 5), order="F"))
    A.assign(3)
    close(A, np.full(a.shape, 3, np.float32))
    A.assign(cm.CUDAMatrix(b))
    close(A, b)
    A.numpy_array = a
    A.copy_to_device()
    close(A, a)
    A.free_device_memory()
    assert A.shape == (0, 0)
    with pytest.raises(ValueError, match="the array has 1 axes; needs 2"):
        cm.CUDAMatrix(a[0])


def test_random_numbers():
    cm.CUDAMatrix.init_random(1)
    u, z = cm.empty((300, 200)).fill_with_rand().asarray(), cm.empty((300, 200)).fill_with_randn().asarray()
    assert 0 <= u.min() < 0.001 and 0.999 < u.max() < 1 and abs(u.mean() - 0.5) < 0.01
    assert abs(z.mean()) < 0.02 and abs(z.std() - 1) < 0.02
    cm.CUDAMatrix.init_random(1)
    np.testing.assert_array_equal(cm.empty((300, 200)).fill_with_rand().asarray(), u)


def test_columns_and_rare_functions(rng):
    a = rng.standard_normal((7, 9)).astype(np.float32) * 3
    A = cm.CUDAMatrix(a)
    places = np.float32([[8, 0, 3, 3]])
    out = cm.empty((7, 4))
    A.select_columns(cm.CUDAMatrix(places), out)
    close(out, a[:, [8, 0, 3, 3]])
    b = rng.standard_normal((7, 2)).astype(np.float32)
    A.set_selected_columns(cm.CUDAMatrix(np.float32([[5, 1]])), cm.CUDAMatrix(b))
    a[:, [5, 1]] = b
    close(A, a)
    with pytest.raises(ValueError, match="source is 7 x 2; needs 7 x 4"):
        A.set_selected_columns(cm.CUDAMatrix(places), cm.CUDAMatrix(b))
    close(cm.soft_threshold(A, 0.5, cm.empty(a.shape)), np.sign(a) * np.maximum(abs(a) - np.float32(0.5), 0))
    found = [cm.lgamma(A, cm.empty(a.shape)).asarray(), cm.gamma(A, cm.empty(a.shape)).asarray()]
    np.testing.assert_allclose(found[0], [[math.lgamma(v) for v in row] for row in a.tolist()], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1], [[math.gamma(v) for v in row] for row in a.tolist()], rtol=1e-5)
    assert cm.gamma(cm.CUDAMatrix(np.float32([[0]]))).asarray() == np.inf
    with pytest.raises(ValueError, match="dev_id is 1"):
        cm.cuda_set_device(1)


def test_correlation_transposes_and_copies():
    rng = np.random.default_rng(12)
    for shape, kernel in (((7, 5), (3, 3)), ((4, 9), (1, 5)), ((3, 3), (5, 1))):
        a, k = rng.standard_normal(shape), rng.standard_normal(kernel)
        wide = np.pad(a, [(kernel[0] // 2,) * 2, (kernel[1] // 2,) * 2])
        windows = np.lib.stride_tricks.sliding_window_view(wide, kernel)
        got = cm.correlate(cm.CUDAMatrix(a), cm.CUDAMatrix(k))
        np.testing.assert_allclose(got.asarray(), (windows * k).sum((2, 3)), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="needs odd sides"):
        cm.correlate(cm.CUDAMatrix(a), cm.CUDAMatrix(np.ones((2, 3))))
    m = cm.CUDAMatrix(a)
    other = m.copy(include_host=True)
    other.add(1)
    np.testing.assert_allclose(m.asarray(), a.astype(np.float32))
    assert isinstance(m.T, cm.TransposedCUDAMatrix) and m.T.T.shape == m.shape
    n = cm.CUDAMatrix(np.arange(6.0).reshape(2, 3))
    n.set_trans(True)
    n.set_trans(True)
    assert n.shape == (3, 2) and n.asarray().tolist() == [[0, 3], [1, 4], [2, 5]]
    n.set_trans(False)
    assert n.shape == (2, 3)
    acts = cm.CUDAMatrix(np.full((2, 3), 0.25))
    cm.learn.mult_by_sigmoid_deriv(n, acts)
    np.testing.assert_allclose(n.asarray(), np.arange(6.0).reshape(2, 3) * 0.1875)
