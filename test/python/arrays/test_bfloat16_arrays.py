"""Every function of arrays takes bfloat16, with the package ml_dtypes and without; nothing here needs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest

Array = np.ndarray[Any, Any]
HERE = Path(__file__)
BLOCKED = "import sys; sys.modules['ml_dtypes'] = None; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
HAS_NONE = sys.modules.get("ml_dtypes", 1) is None


def rounded(x: Array) -> Array:
    """float32 with the values of bfloat16, to nearest, ties to even."""
    b = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    kept = ((b + 0x7FFF + (b >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(x), np.float32(np.nan), kept).astype(np.float32)


def sample(shape: tuple[int, ...], seed: int = 0) -> Array:
    return rounded(np.random.default_rng(seed).standard_normal(shape).astype(np.float32) * 4)


def bf(a: Array) -> ng.GPUTensor:
    return ng.array(a, "bfloat16")


def host(t: ng.GPUTensor) -> Array:
    """What it holds, as float32 if it is bfloat16."""
    ng.evaluate(t)  # rounded as it is stored
    return t.astype("float32").get() if str(t.dtype) == "bfloat16" else t.get()


def check(got: ng.GPUTensor, want: Array, dtype: str = "bfloat16") -> None:
    assert str(got.dtype) == dtype
    want = rounded(want) if dtype == "bfloat16" else want
    np.testing.assert_array_equal(host(got), want)


A, B = sample((4, 6), 1), sample((4, 6), 2)
POSITIVE = np.abs(A) + 1
INDEX = np.array([2, 0, 2, 3])
MASK = A > 0


@pytest.mark.parametrize("largest", [True, False])
def test_argmax_finds_nan(largest: bool) -> None:
    f, numpy = (ng.argmax, np.argmax) if largest else (ng.argmin, np.argmin)
    for nans in ([], [(0, 0)], [(3, 5)], [(1, 2), (1, 4), (2, 0)], [(i, j) for i in range(4) for j in range(6)]):
        a = A.copy()
        for place in nans:
            a[place] = np.nan
        for axis in (None, 0, 1, -1):
            check(f(bf(a), axis), np.asarray(numpy(a, axis)), "int64")
            check(f(bf(a) * 1, axis, keepdims=True), np.asarray(numpy(a, axis, keepdims=True)), "int64")


def whole(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


CASES: dict[str, tuple[Callable[[], ng.GPUTensor], Callable[[], Array]]] = {
    "concatenate": (lambda: ng.concatenate([bf(A), bf(B)]), lambda: np.concatenate([A, B])),
    "concatenate 1": (lambda: ng.concatenate([bf(A), ng.ones((4, 2), "int8")], 1),
                      lambda: np.hstack([A, np.ones((4, 2))])),
    "stack": (lambda: ng.stack([bf(A), bf(B)], 1), lambda: np.stack([A, B], 1)),
    "np.concatenate": (lambda: np.concatenate([bf(A), bf(B)]), lambda: np.concatenate([A, B])),
    "batched_dot": (lambda: ng.batched_dot(bf(whole((3, 4, 8), 1)), bf(whole((3, 8, 5), 2))),
                    lambda: whole((3, 4, 8), 1) @ whole((3, 8, 5), 2)),
    "grouped_dot": (lambda: ng.grouped_dot([(bf(whole((4, 8), 1)), bf(whole((8, 5), 2)))])[0],
                    lambda: whole((4, 8), 1) @ whole((8, 5), 2)),
    "dot": (lambda: ng.dot(bf(whole((4, 8), 1)), bf(whole((8, 5), 2))), lambda: whole((4, 8), 1) @ whole((8, 5), 2)),
    "matmul": (lambda: bf(whole((3, 4, 8), 1)) @ bf(whole((8, 5), 2)), lambda: whole((3, 4, 8), 1) @ whole((8, 5), 2)),
    "cumsum": (lambda: ng.cumsum(bf(whole((4, 6), 3)), 1), lambda: np.cumsum(whole((4, 6), 3), 1)),
    "cumsum dtype": (lambda: ng.cumsum(ng.array(whole((4, 6), 3)), 0, dtype="bfloat16"),
                     lambda: np.cumsum(whole((4, 6), 3), 0)),
    "cumsum of int32": (lambda: ng.cumsum(ng.array(whole((4, 6), 3).astype(np.int32)), 0, dtype="bfloat16"),
                        lambda: np.cumsum(whole((4, 6), 3), 0)),
    "take": (lambda: ng.take(bf(A), INDEX, axis=0), lambda: A[INDEX]),
    "by indices": (lambda: bf(A)[INDEX, 1:], lambda: A[INDEX, 1:]),
    "by a mask": (lambda: bf(A)[ng.array(MASK)], lambda: A[MASK]),
    "by its own mask": (lambda: (x := bf(A))[x > 0], lambda: A[MASK]),
    "where": (lambda: ng.where(bf(A) > 0, bf(A), 0), lambda: np.where(MASK, A, 0)),
    "clip": (lambda: ng.clip(bf(A), -1, 1.5), lambda: np.clip(A, -1, 1.5)),
    "maximum": (lambda: ng.maximum(bf(A), bf(B)), lambda: np.maximum(A, B)),
    "full": (lambda: ng.full(3, 1 / 3, "bfloat16"), lambda: np.full(3, 1 / 3, np.float32)),
    "zeros_like": (lambda: ng.zeros_like(bf(A)), lambda: np.zeros_like(A)),
    "array of a tensor": (lambda: ng.array(bf(A)), lambda: A),
    "array of another": (lambda: ng.array(ng.array(A), "bfloat16"), lambda: A),
    "copy": (lambda: bf(A).copy(), lambda: A),
    "max": (lambda: ng.max(bf(A), 1), lambda: np.max(A, 1)),
    "sum": (lambda: ng.sum(bf(whole((4, 6), 3)), 0), lambda: np.sum(whole((4, 6), 3), 0)),
    "sum over none": (lambda: ng.sum(bf(A), axis=()), lambda: A),
    "var over none": (lambda: ng.var(bf(A), axis=()), lambda: np.zeros_like(A)),
    "floor": (lambda: ng.floor(bf(A)), lambda: np.floor(A)),
    "dropout": (lambda: ng.dropout(bf(A), 1.0), lambda: A),
    "add": (lambda: bf(A) + bf(B), lambda: A + B),
    "stochastic_round": (lambda: ng.stochastic_round(ng.array(A), "bfloat16"), lambda: A),
}  # fmt: skip
OF_OTHER_DTYPES: dict[str, tuple[Callable[[], ng.GPUTensor], Callable[[], Array], str]] = {
    "concatenate": (lambda: ng.concatenate([bf(A), ng.array(B.astype(np.float16))]),
                    lambda: np.concatenate([A, B.astype(np.float16).astype(np.float32)]), "float32"),
    "concatenate 64": (lambda: ng.concatenate([bf(A), ng.ones((1, 6), "int64")]),
                       lambda: np.concatenate([A, np.ones((1, 6))]).astype(np.float64), "float64"),
    "isnan": (lambda: ng.isnan(bf(A)), lambda: np.isnan(A), "bool"),
    "nonzero": (lambda: ng.nonzero(bf(A * MASK))[1], lambda: np.nonzero(A * MASK)[1], "int64"),
    "flatnonzero": (lambda: ng.flatnonzero(bf(A * MASK)), lambda: np.flatnonzero(A * MASK), "int64"),
    "any": (lambda: ng.any(bf(A), 1), lambda: np.any(A, 1), "bool"),
    "cumsum dtype": (lambda: ng.cumsum(bf(A), 1, dtype="float64"), lambda: np.cumsum(A.astype(float), 1), "float64"),
    "astype": (lambda: bf(A).astype("int32"), lambda: A.astype(np.int32), "int32"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_function(name: str) -> None:
    got, want = CASES[name]
    check(got(), want())


@pytest.mark.parametrize("name", OF_OTHER_DTYPES)
def test_other_results(name: str) -> None:
    got, want, dtype = OF_OTHER_DTYPES[name]
    check(got(), want(), dtype)


STATEMENTS: dict[str, Callable[[Any, Callable[[Array], Any]], Any]] = {
    "array": lambda x, t: x.__setitem__(..., B),
    "row": lambda x, t: x.__setitem__(1, B[0]),
    "tensor": lambda x, t: x.__setitem__(..., t(B)),
    "number": lambda x, t: x.__setitem__(..., 0.5),
    "list": lambda x, t: x.__setitem__(0, [1, 2, 3, 4, 5, 6]),
    "mask": lambda x, t: x.__setitem__(MASK, 2),
    "mask of many": lambda x, t: x.__setitem__(MASK, B[MASK]),
    "mask of tensors": lambda x, t: x.__setitem__(MASK, t(B)[MASK]),
    "indices": lambda x, t: x.__setitem__(INDEX, B),
    "indices of tensors": lambda x, t: x.__setitem__(INDEX, t(B)),
    "one for all": lambda x, t: x.__setitem__(INDEX, 3),
    "+=": lambda x, t: x.__iadd__(1),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statement(name: str) -> None:
    x, a = bf(A), A.copy()
    STATEMENTS[name](x, bf)
    STATEMENTS[name](a, lambda b: b)
    check(x, a)


def test_set_and_views() -> None:
    x = bf(A)
    x[::2, 1:].set(B[::2, 1:])
    a = A.copy()
    a[::2, 1:] = B[::2, 1:]
    check(x, a)
    x.set(sample((4, 6), 9).astype(np.float64) * 1.001)
    check(x, (sample((4, 6), 9).astype(np.float64) * 1.001).astype(np.float32))
    with pytest.raises(ValueError, match=r"value has shape \(3,\); needs \(4, 6\)"):
        x.set(np.zeros(3))
    with pytest.raises(TypeError, match="value has dtype complex128; needs one that converts to"):
        x.set(np.ones((4, 6), complex))


def test_add_at() -> None:
    whole_numbers = whole((4, 6), 4)
    x, a = bf(whole_numbers), whole_numbers.copy()
    np.add.at(x, INDEX, bf(whole((4, 6), 5)))
    np.add.at(a, INDEX, whole((4, 6), 5))
    np.add.at(x, (INDEX, 1), 2)
    np.add.at(a, (INDEX, 1), 2)
    check(x, a)


def test_compensated_sum() -> None:
    total, lost = ng.full(1, 256, "bfloat16"), ng.zeros(1, "bfloat16")
    for _ in range(64):
        ng.compensated_sum(total, lost, bf(np.array([0.25], np.float32)))
    assert host(total)[0] - host(lost)[0] == 256 + 16


def test_errors() -> None:
    x = bf(A)
    with pytest.raises(IndexError, match="index has dtype bfloat16; needs integers or bool"):
        ng.array(B)[x]
    for call, message in (
        (lambda: ng.take(ng.array(B), x), "take: indices have dtype bfloat16; needs integers"),
        (lambda: ng.onehot(x, 3), "onehot: indices have dtype bfloat16; needs integers"),
    ):
        with pytest.raises(TypeError, match=message):
            call()


def test_factory_and_network() -> None:
    gpu = ng.NervanaGPU(default_dtype="bfloat16")
    x = gpu.array(A)
    y = gpu.empty((4, 4))
    gpu.dot(x, x.T, y)
    assert str(y.dtype) == "bfloat16"
    gpu.add(x, x, out=x)
    check(x, A + A)
    net = ng.Network([ng.layers.Full(3), ng.layers.Softmax()], input_shape=(6,), dtype="bfloat16", seed=1)
    assert net.predict(A).shape == (4, 3)
    net.fit(A, np.array([0, 1, 2, 0]), epochs=1, batch=4)


def test_text_and_pickle() -> None:
    import pickle

    x = bf(np.array([1, 2.5], np.float32))
    assert "2.5" in str(x) and repr(x).endswith("dtype=bfloat16)")
    check(pickle.loads(pickle.dumps(x)), np.array([1, 2.5], np.float32))


def test_one_number() -> None:
    x = bf(np.array([1, -2.5, 3.0e38, np.nan], np.float32))
    assert [float(v) for v in x[:3]] == host(x)[:3].tolist()
    assert np.isnan(float(x[3])) and int(x[1]) == -2 and f"{x[1]:.2f}" == "-2.50"
    assert bool(x[0]) and not bool(x[0] - 1) and bool(x[3])
    assert np.asarray(x, np.float32)[1] == -2.5
    assert x[:2].tobytes() == b"\x80\x3f\x20\xc0"
    assert bytes(x[:2].asbuffer()) == b"\x80\x3f\x20\xc0" or ng.device().kind != "emulator"
    assert ng.array([[1, 2], [3, 4]], "bfloat16").tobytes("F") == b"\x80\x3f\x40\x40\x00\x40\x80\x40"
    with pytest.raises(TypeError, match="not one number"):
        float(x)


def test_as_arguments() -> None:
    x = bf(np.array([1, 2.5, 4], np.float32))
    assert ng.arange(x[2]).tolist() == [0, 1, 2, 3]
    check(ng.linspace(x[0], x[2], 4), np.array([1, 2, 3, 4], np.float32))
    check(ng.unwrap(x), np.array([1, 2.5, 4], np.float32))
    assert float(ng.percentile(x, bf(np.array(50, np.float32)))) == 2.5
    assert ng.random.default_rng(1).choice(3, p=bf(np.array([0, 1, 0], np.float32))) == 1
    assert ng.array([x[0], x[1]]).tolist() == [1, 2.5]


def test_files(tmp_path: Path) -> None:
    """What the package ml_dtypes writes as two bytes without a type is bfloat16 again."""
    x = bf(sample((3, 5)))
    ng.save(tmp_path / "x.npy", x)
    ng.savez(tmp_path / "x.npz", x=x)
    for back in (ng.load(tmp_path / "x.npy"), ng.load(tmp_path / "x.npz")["x"]):
        assert back.dtype == (np.float32 if HAS_NONE else x.dtype)
        assert np.array_equal(host(back), host(x))


@pytest.mark.skipif(HAS_NONE, reason="this is that run")
def test_without_ml_dtypes() -> None:
    """All of this file once more, where importing ml_dtypes fails."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, "-q", "-x", "-p", "no:cacheprovider", str(HERE)],
        env={**os.environ}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    assert "." * 50 in done.stdout
