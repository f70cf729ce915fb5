"""How cuBLAS, cuSOLVER and cuFFT are found and called, and what their answers become; a stand-in answers."""

from __future__ import annotations

import re
import sys
import threading
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cuda_stand_in
import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import linalg
from nervanagpu.cuda_toolkit import cuda_folders, cuda_libraries
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
    cuda_stand_in.forget()
    yield
    monkeypatch.undo()
    cuda_stand_in.forget()


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """No variable names a library, and nothing that was found before is remembered."""
    for name in ("CUBLAS", "CUSOLVER", "CUFFT"):
        monkeypatch.delenv(f"NERVANAGPU_{name}", raising=False)
    cuda_libraries.forget()
    yield monkeypatch
    monkeypatch.undo()
    cuda_libraries.forget()


@pytest.mark.parametrize(("folder", "file"), [("cusolver", "libcusolver.so.11"), ("cu13", "libcusolver.so.12")])
def test_found_in_python_packages(
    searched: pytest.MonkeyPatch, path: Path, tmp_path: Path, folder: str, file: str
) -> None:
    lib = tmp_path / "nvidia" / folder / "lib"
    lib.mkdir(parents=True)
    (lib / file).symlink_to(path)
    (tmp_path / "nvidia" / "__init__.py").touch()
    searched.syspath_prepend(str(tmp_path))
    searched.setitem(sys.modules, "cuda.pathfinder", None)
    for name in [m for m in sys.modules if m == "nvidia" or m.startswith("nvidia.")]:
        searched.delitem(sys.modules, name)
    assert cuda_libraries.library("cusolver").path == str(lib / file)


def test_found_by_pathfinder(searched: pytest.MonkeyPatch, path: Path) -> None:
    asked = []

    def load(name: str) -> Any:
        asked.append(name)
        return types.SimpleNamespace(abs_path=str(path))

    finder = types.ModuleType("cuda.pathfinder")
    finder.load_nvidia_dynamic_lib = load  # type: ignore[attr-defined]
    searched.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
    searched.setitem(sys.modules, "cuda.pathfinder", finder)
    assert cuda_libraries.library("cufft").path == str(path) and asked == ["cufft"]


def header(name: str) -> str:
    """The text of a header of CUDA, without comments, if it is installed."""
    for folder in cuda_folders.toolkits():
        path = folder / "include" / name
        if path.exists():
            return re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(encoding="latin-1"), flags=re.S)
    pytest.skip(f"{name} is not installed")


def letter_of(parameter: str) -> str:
    """The table's letter of the type of a C parameter."""
    words = re.sub(r"\bconst\b", "", parameter).split()
    if "*" in parameter or "[" in parameter:
        return "p"
    kinds = {"int64_t": "l", "size_t": "z", "signed": "b", "int": "i", "cufftHandle": "i", "long": "l"}
    handles = ("cublasHandle_t", "cusolverDnHandle_t", "cusolverDnParams_t", "gesvdjInfo_t", "cudaStream_t")
    return "p" if words[0] in handles else kinds.get(words[0], "i")  # others are enums


@pytest.mark.parametrize(
    ("name", "file"), [("cublas", "cublas_api.h"), ("cusolver", "cusolverDn.h"), ("cufft", "cufft.h")]
)
def test_types_are_those_of_the_headers(name: str, file: str) -> None:
    text = header(file)
    for function, letters in cuda_libraries._LIBRARIES[name].functions.items():
        found = re.search(rf"\b{function}\s*\(([^)]*)\)\s*;", text)
        assert found is not None, function
        assert "".join(letter_of(p) for p in found[1].split(",")) == letters, function


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
    assert called(lib, lambda: linalg.svd(one)) == ["Xgesvd_bufferSize", "Xgesvd"]
    linalg.svd(many)
    assert called(lib, lambda: linalg.svd(many)) == ["SgesvdjBatched_bufferSize", "SgesvdjBatched"]
    wide = ng.array(np.ones((3, 2, 33)))
    assert called(lib, lambda: linalg.svdvals(wide)) == ["Xgesvd_bufferSize", *["Xgesvd"] * 3]
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
        ("gesvdjBatched", lambda x: linalg.svd(ng.array(np.ones((2, 3, 3)))), "svd: the iteration did not converge"),
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


def test_refused_in_graphs(lib: cuda_stand_in.StandIn) -> None:
    """A call of the library would run while the graph is recorded, and never again."""
    x, y = ng.array(np.eye(4)), ng.zeros((4, 6), "float64")
    for call in (lambda: linalg.svd(x), lambda: linalg.inv(x), lambda: ng.fft.irfft(x)):
        call()
        lib.calls.clear()
        with pytest.raises(ng.Error, match=r"(svd|inv|fft): calls of NVIDIA's libraries while .* records a graph"):
            ng.Graph(call)
        assert not lib.calls
    graph = ng.Graph(lambda: y.__setitem__(..., y + 1))
    graph.launch()
    assert (y.get() == 1).all() and not ng.Graph.recording()


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
