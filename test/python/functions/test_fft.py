"""ng.fft beside numpy.fft, by NumPy on the host and by the calls of cuFFT, which a stand-in answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import cuda_stand_in
import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import fft
from nervanagpu.fft import cufft, pairs, transforms

Array = np.ndarray[Any, Any]
NORMS = [None, "backward", "ortho", "forward"]


COMPLEX = cuda_stand_in.has_complex()


@pytest.fixture(scope="module", params=["as found", "cufft"], autouse=True)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Who transforms. Without complex tensors results are pairs."""
    with pytest.MonkeyPatch.context() as patch:
        if not COMPLEX:
            patch.setattr(pairs, "to_complex", lambda x: x.copy())
        if request.param == "as found":
            yield None
        else:
            with cuda_stand_in.installed(cuda_stand_in.build(tmp_path_factory.mktemp("cuda"))) as lib:
                yield lib


def close(got: ng.GPUTensor, want: Array, scale: float = 1.0) -> None:
    """The same shape and dtype, and as near as sums of that many products are."""
    host = got.get()
    if np.iscomplexobj(want) and not np.iscomplexobj(host):
        host = np.ascontiguousarray(host).view(np.result_type(host.dtype, np.complex64))[..., 0]
    assert (host.shape, host.dtype) == (want.shape, want.dtype)
    if want.size:
        bound = 50 * np.finfo(host.dtype).eps * scale * (np.abs(want).max() + 1)
        assert bool((np.abs(host - want) <= bound).all()), np.abs(host - want).max() / bound


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        return (x + 1j * rng.standard_normal(shape)).astype(dtype)
    return (3 * x).astype(dtype)


REAL = ["float32", "float64", "int16", "bool", "float16"]
DTYPES = [*REAL, *(["complex64", "complex128"] if COMPLEX else [])]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_axis(rng: np.random.Generator, name: str, dtype: str) -> None:
    if dtype.startswith("complex") and name in ("rfft", "ihfft"):
        with pytest.raises(TypeError, match=f"{name}: a has dtype {dtype}; needs real numbers"):
            getattr(fft, name)(ng.zeros(3, dtype))
        return
    a = numbers(rng, (3, 8, 5), dtype)
    x = ng.array(a)
    host = a.astype(np.float32) if dtype == "float16" else a
    kind = np.float16 if dtype == "float16" and name in ("irfft", "hfft") else None  # as NumPy's
    for axis, n, norm in itertools.product((0, 1, -1), (None, 4, 7, 12), NORMS):
        want = getattr(np.fft, name)(host, n, axis, norm)
        close(getattr(fft, name)(x, n, axis, norm), want.astype(kind or want.dtype), 8)
    assert (x.get() == a).all()
    view = x.transpose(2, 0, 1)
    want = getattr(np.fft, name)(host.transpose(2, 0, 1)[::-1], axis=1)
    close(getattr(fft, name)(view[::-1], axis=1), want.astype(kind or want.dtype), 8)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_more_axes(rng: np.random.Generator, name: str, dtype: str) -> None:
    if dtype.startswith("complex") and name == "rfftn":
        return
    a = numbers(rng, (2, 3, 4, 5, 2), dtype)
    x = ng.array(a)
    a = a.astype(np.float32) if dtype == "float16" else a
    f, g = getattr(fft, name), getattr(np.fft, name)
    cases = [(None, None), (None, (1,)), (None, (0, 2)), (None, (3, 1, 2)), ((4, 2, 6), (1, 2, 3)), ((5, -1), (-1, 0))]
    for (s, axes), norm in itertools.product(cases, NORMS):
        want = g(a, s, axes, norm)
        narrow = str(x.dtype) == "float16" and name == "irfftn" and axes == (1,)  # as NumPy's
        close(f(x, s, axes, norm), want.astype(np.float16) if narrow else want, 30)
    close(f(x, axes=(1, 1, 2)), g(a, axes=(1, 1, 2)), 30)


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2"])
def test_two_axes(rng: np.random.Generator, name: str) -> None:
    a = numbers(rng, (3, 6, 4), "float64")
    for s, axes in [(None, (-2, -1)), ((4, 8), (-2, -1)), (None, (0, 1))]:
        close(getattr(fft, name)(ng.array(a), s, axes), getattr(np.fft, name)(a, s, axes), 8)


def test_pairs_of_complex_numbers(rng: np.random.Generator) -> None:
    """What the transforms of complex operands are made of."""
    a = numbers(rng, (3, 4, 5, 2), "complex128")
    x = ng.array(np.stack([a.real, a.imag], -1))
    for axes in [(0,), (1, 2), (3, 0, 1, 2)]:
        close(transforms._complex_passes(x, axes, True), np.stack([(y := np.fft.fftn(a, axes=axes)).real, y.imag], -1))
        back = np.fft.ifftn(a, axes=axes, norm="forward")
        close(transforms._complex_passes(x, axes, False), np.stack([back.real, back.imag], -1))


@pytest.mark.skipif(not COMPLEX, reason="tensors are not complex yet")
def test_there_and_back(rng: np.random.Generator) -> None:
    a = numbers(rng, (4, 9), "complex64")
    close(fft.ifft(fft.fft(ng.array(a))), a)
    close(fft.ifftn(fft.fftn(ng.array(a))), a)
    close(fft.irfft(fft.rfft(ng.array(a.real.copy())), 9), a.real)
    close(fft.irfft(ng.array(a), 16), np.fft.irfft(a, 16))  # imaginary parts where a real signal has none


def test_out(rng: np.random.Generator) -> None:
    a = numbers(rng, (3, 5), "float64")
    out = ng.zeros((3, 8), "float64")
    assert fft.irfft(ng.array(a), out=out) is out
    close(out, np.fft.irfft(a))


def test_nothing() -> None:
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        close(getattr(fft, name)(ng.zeros((0, 4))), getattr(np.fft, name)(np.zeros((0, 4), np.float32)))


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_helpers(rng: np.random.Generator, n: int) -> None:
    for d in (1.0, 0.25):
        close(fft.fftfreq(n, d), np.fft.fftfreq(n, d))
        close(fft.rfftfreq(n, d), np.fft.rfftfreq(n, d))
    a = rng.standard_normal((n, 3, 4)).astype(np.float32)
    for axes in (None, 0, -1, (0, 2), (1, -1)):
        assert (fft.fftshift(ng.array(a), axes).get() == np.fft.fftshift(a, axes)).all()
        assert (fft.ifftshift(ng.array(a), axes).get() == np.fft.ifftshift(a, axes)).all()
    x = ng.array(a)
    assert fft.fftshift(x, ()) is not x


BAD = [
    (lambda: fft.irfft(ng.zeros(1)), ValueError, "irfft: 0 points to transform; needs 1 or more"),
    (lambda: fft.fft(ng.zeros(3), 0), ValueError, "fft: n is 0; needs 1 or more"),
    (lambda: fft.fft(ng.zeros(3), axis=1), ValueError, "fft: axis 1 is out of range; the operand has 1 axes"),
    (lambda: fft.fft(ng.zeros(3), norm="no"), ValueError, "fft: norm is 'no'; needs backward, ortho or forward"),
    (lambda: fft.fftn(ng.zeros((3, 3)), (2,), (0, 1)), ValueError, "fftn: s is .* needs a length for each of 2 axes"),
    (lambda: fft.fft("no"), TypeError, "fft: a is 'no'"),
    (lambda: fft.fftfreq(0), ValueError, "fftfreq: n is 0; needs 1 to 2147483647"),
    (lambda: fft.fftshift(ng.zeros(3), 2), ValueError, "fftshift: axis 2 is out of range"),
]


@pytest.mark.parametrize(("call", "error", "text"), BAD)
def test_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_plans_are_kept(library: Any) -> None:
    if library is None:
        pytest.skip("NumPy transforms")
    x = ng.zeros((2, 24))
    fft.irfft(x)
    library.calls.clear()
    fft.irfft(x)
    assert library.calls == ["cufftSetWorkArea", "cufftExecC2R"]
    library.calls.clear()
    for n in range(30, 50):
        fft.irfft(x, n)
    assert library.calls.count("cufftCreate") == 20 and library.calls.count("cufftDestroy") >= 20 - cufft._KEPT
    assert len(library.plans) == cufft._KEPT
    library.calls.clear()
    library.status["cufftMakePlanMany64"] = 5
    with pytest.raises(ng.Error, match="cufftMakePlanMany64: .* answered status 5"):
        fft.irfft(x, 60)
    del library.status["cufftMakePlanMany64"]
    assert library.calls[-1] == "cufftDestroy" and len(library.plans) == cufft._KEPT - 1
