"""How cuBLAS, cuSOLVER and cuFFT are found and called, and what their answers become; a stand-in answers."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cuda_stand_in
import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import cuda_libraries, linalg
from nervanagpu.linalg import backend


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cuda_stand_in.build(tmp_path_factory.mktemp("cuda"))


@pytest.fixture
def lib(path: Path) -> Iterator[cuda_stand_in.StandIn]:
    with cuda_stand_in.installed(path) as lib:
        yield lib


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """On a GPU whose libraries are not installed."""
    monkeypatch.setenv("NERVANAGPU_CUSOLVER", "/nowhere/libcusolver.so")
    monkeypatch.setattr(backend, "on_gpu", lambda: True)
    cuda_libraries.forget()
    backend.backend.cache_clear()
    yield
    monkeypatch.undo()
    cuda_libraries.forget()
    backend.backend.cache_clear()


def called(lib: cuda_stand_in.StandIn, call: Any) -> list[str]:
    lib.calls.clear()
    call()
    return [name.removeprefix("cusolverDn").removeprefix("cublas") for name in lib.calls]


def test_which_functions_are_called(lib: cuda_stand_in.StandIn) -> None:
    one = ng.array(np.eye(3) * 2)
    many = ng.array(np.stack([np.eye(3) * i for i in range(1, 5)]).astype(np.float32))
    linalg.solve(one, one)
    linalg.solve(many, many)  # handles are there now
    assert called(lib, lambda: linalg.solve(one, one)) == ["Xgetrf_bufferSize", "Xgetrf", "Xgetrs"]
    assert called(lib, lambda: linalg.inv(many)) == ["SgetrfBatched", "SgetrsBatched"]
    assert called(lib, lambda: linalg.det(many)) == ["SgetrfBatched"]
    assert called(lib, lambda: linalg.cholesky(one)) == ["Xpotrf_bufferSize", "Xpotrf"]
    assert called(lib, lambda: linalg.cholesky(many)) == ["SpotrfBatched"]
    assert called(lib, lambda: linalg.eigh(one)) == ["Xsyevd_bufferSize", "Xsyevd"]
    assert called(lib, lambda: linalg.eigvalsh(many)) == ["XsyevBatched_bufferSize", "XsyevBatched"]
    assert called(lib, lambda: linalg.svd(many)) == ["Xgesvd_bufferSize", *["Xgesvd"] * 4]
    want = ["Xgeqrf_bufferSize", "Xgeqrf", "Dorgqr_bufferSize", "Dorgqr"]
    assert called(lib, lambda: linalg.qr(one)) == want
    assert called(lib, lambda: linalg.eig(one)) == ["Xgeev_bufferSize", "Xgeev"]
    assert called(lib, lambda: linalg.norm(one)) == []


def test_handles_are_made_once_for_each_thread(lib: cuda_stand_in.StandIn) -> None:
    x = ng.array(np.eye(3))
    first = called(lib, lambda: linalg.inv(x))
    assert first[:3] == ["Create", "SetStream", "CreateParams"]
    assert "Create" not in called(lib, lambda: linalg.inv(x))

    def other() -> None:
        thread = threading.Thread(target=lambda: linalg.inv(x))
        thread.start()
        thread.join()

    assert called(lib, other)[:3] == ["Create", "SetStream", "CreateParams"]


@pytest.mark.parametrize(
    ("routine", "call", "text"),
    [
        ("gesvd", lambda x: linalg.svd(x), "svd: the iteration did not converge"),
        ("gesvd", lambda x: linalg.pinv(x), "svd: the iteration did not converge"),
        ("syevd", lambda x: linalg.eigh(x), "eigh: the iteration did not converge"),
        ("geev", lambda x: linalg.eigvals(x), "eig: the iteration did not converge"),
        ("potrf", lambda x: linalg.cholesky(x), "cholesky: a matrix is not positive definite"),
        ("getrf", lambda x: linalg.solve(x, x), "solve: a matrix is singular"),
    ],
)
def test_info_above_zero_is_a_linalg_error(lib: cuda_stand_in.StandIn, routine: str, call: Any, text: str) -> None:
    lib.info[routine] = 2
    with pytest.raises(linalg.LinAlgError, match=text):
        call(ng.array(np.eye(3)))


def test_the_matrix_of_the_stack_is_named(lib: cuda_stand_in.StandIn) -> None:
    x = np.stack([np.eye(2)] * 5)
    x[3] = 0
    with pytest.raises(linalg.LinAlgError, match=r"inv: a matrix is singular \(matrix 3 of the stack\)"):
        linalg.inv(ng.array(x))


def test_refused_calls_are_errors(lib: cuda_stand_in.StandIn) -> None:
    x = ng.array(np.eye(3))
    lib.info["getrs"] = -7
    with pytest.raises(RuntimeError, match="solve: cuSOLVER refused argument 7"):
        linalg.solve(x, x)
    lib.status["cusolverDnXpotrf"] = 7
    with pytest.raises(ng.Error, match=r"cusolverDnXpotrf: .*stand_in.so answered status 7"):
        linalg.cholesky(x)


def test_operands_stay(lib: cuda_stand_in.StandIn, rng: np.random.Generator) -> None:
    a = rng.standard_normal((2, 4, 4)) + 8 * np.eye(4)
    a = a + np.swapaxes(a, 1, 2)
    for host in (a, a[0]):
        x = ng.array(host)
        for f in (linalg.inv, linalg.det, linalg.cholesky, linalg.qr, linalg.svd, linalg.eigh, linalg.eigvals):
            f(x)
            assert (x.get() == host).all()
        linalg.solve(x, x)
        assert (x.get() == host).all()


def test_without_the_library_the_host_computes(nowhere: None) -> None:
    with pytest.raises(ImportError, match=r"cusolver was not found: pip install nvidia-cusolver.*NERVANAGPU_CUSOLVER"):
        cuda_libraries.library("cusolver")
    with pytest.warns(RuntimeWarning, match="linalg: decompositions go to the host and back. cusolver was not found"):
        assert linalg.inv(ng.array(np.eye(2) * 2)).get().tolist() == [[0.5, 0], [0, 0.5]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        linalg.inv(ng.array(np.eye(2)))


def test_a_function_that_the_library_lacks(lib: cuda_stand_in.StandIn) -> None:
    solver = cuda_libraries.library("cusolver")
    solver._functions.pop("cusolverDnXpotrf")
    with pytest.raises(ng.Error, match="cusolverDnXpotrf: .* does not have it; needs a newer version of cusolver"):
        linalg.cholesky(ng.array(np.eye(2)))
