"""Stand-ins of cuBLAS, cuSOLVER and cuFFT: a shared library with their functions, whose maths NumPy does.

They read and write device memory of the emulator, which refuses addresses and sizes that are not inside an allocation.
Matrices lie by columns. Workspaces have sizes that must come back, and are filled before operands are read.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from nervanagpu import _core
from nervanagpu.cuda_toolkit import cuda_libraries
from nervanagpu.fft import transforms
from nervanagpu.linalg import backend

Array = np.ndarray[Any, Any]
TYPES = {0: np.float32, 1: np.float64, 4: np.complex64, 5: np.complex128}
LETTERS = {"S": 0, "D": 1, "C": 4, "Z": 5}
OK, INVALID = 0, 3
LISTENER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64), ctypes.c_int)


def has_complex() -> bool:
    """Whether tensors can be complex."""
    try:
        _core.empty(1, "complex64")
    except TypeError:
        return False
    return True


def build(folder: Path, *flags: str) -> Path:
    """The shared library, compiled."""
    path = folder / "stand_in.so"
    source = Path(__file__).with_name("cuda_stand_in.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-w", *flags, "-o", path, source], check=True)
    return path


def load(address: int, count: int, dtype: Any) -> Array:
    """Numbers of device memory."""
    size = count * np.dtype(dtype).itemsize
    return _core.wrap(address, size, 1, "uint8").get().view(dtype) if count else np.empty(0, dtype)


def store(address: int, values: Array) -> None:
    flat = np.ascontiguousarray(values).reshape(-1)
    if flat.size:
        _core.wrap(address, flat.nbytes, 1, "uint8").set(flat.view(np.uint8))


class Matrix:
    """(rows, columns) in device memory, by columns."""

    def __init__(self, code: int, address: int, rows: int, columns: int, lead: int) -> None:
        assert lead >= max(rows, 1), f"leading dimension {lead} of {rows} rows"
        self.shape, self.lead, self.address, self.dtype = (rows, columns), lead, address, TYPES[code]

    def get(self) -> Array:
        rows, columns = self.shape
        flat = np.zeros(self.lead * columns, self.dtype)
        flat[: self.lead * (columns - 1) + rows] = load(self.address, self.lead * (columns - 1) + rows, self.dtype)
        return flat.reshape(columns, self.lead).T[:rows].copy()

    def set(self, values: Array) -> None:
        assert values.shape == self.shape, (values.shape, self.shape)
        for j in range(self.shape[1]):
            column = values[:, j].astype(self.dtype)
            store(self.address + j * self.lead * column.itemsize, column)


def lu(a: Array) -> tuple[Array, Array, int]:
    """LU with partial pivoting: both factors in one, rows swapped (from 1), and the first zero on the diagonal."""
    a, n, info = a.copy(), len(a), 0
    pivots = np.arange(1, n + 1)
    for j in range(n):
        p = j + int(np.argmax(np.abs(a[j:, j])))
        pivots[j] = p + 1
        a[[j, p]] = a[[p, j]]
        if a[j, j] == 0:
            info = info or j + 1
            continue
        a[j + 1 :, j] /= a[j, j]
        a[j + 1 :, j + 1 :] -= np.outer(a[j + 1 :, j], a[j, j + 1 :])
    return a, pivots, info


def lu_solve(a: Array, pivots: Array, b: Array, trans: int) -> Array:
    lower, upper = np.tril(a, -1) + np.eye(len(a), dtype=a.dtype), np.triu(a)
    order = np.arange(len(a))
    for j, p in enumerate(pivots):
        order[[j, p - 1]] = order[[p - 1, j]]
    whole = np.empty_like(a)
    whole[order] = lower @ upper
    return np.linalg.solve({0: whole, 1: whole.T, 2: whole.conj().T}[trans], b)


def cholesky(a: Array, uplo: int) -> tuple[Array, int]:
    """The factor in its triangle, the other as it was."""
    half = np.tril(a) if uplo == 0 else np.triu(a)
    whole = half + half.conj().T - np.diag(np.diag(half).real)
    try:
        factor = np.linalg.cholesky(whole)
    except np.linalg.LinAlgError:
        return a, 1
    return (np.tril(factor) + np.triu(a, 1) if uplo == 0 else np.triu(factor.conj().T) + np.tril(a, -1)), 0


def orthogonal(vectors: Array, tau: Array) -> Array:
    """The product of the reflectors, as many columns of it as `vectors` has."""
    m, columns = vectors.shape
    q = np.eye(m, columns, dtype=vectors.dtype)
    for i in reversed(range(len(tau))):
        v = np.concatenate([np.zeros(i), [1], vectors[i + 1 :, i]]).astype(vectors.dtype)
        q -= tau[i] * np.outer(v, v.conj() @ q)
    return q


def eigh(a: Array, uplo: int) -> tuple[Array, Array]:
    return tuple(np.linalg.eigh(a, "L" if uplo == 0 else "U"))  # type: ignore[return-value]


class StandIn:
    """What the library was called with: `calls`, in order, and what to answer: `info`, `status` by function."""

    def __init__(self, path: Path) -> None:
        self.calls: list[str] = []
        self.info: dict[str, int] = {}
        self.status: dict[str, int] = {}
        self.failure: BaseException | None = None
        self.handles: set[int] = set()
        self.plans: dict[int, dict[str, Any]] = {}
        self._listener = LISTENER(self._called)
        ctypes.CDLL(str(path)).stand_in_listen(self._listener)

    def _called(self, name: bytes, args: Any, count: int) -> int:
        function = name.decode()
        self.calls.append(function)
        try:
            return self._answer(function, [args[i] for i in range(count)])
        except BaseException as error:
            self.failure = error
            return INVALID

    def _answer(self, name: str, args: list[int]) -> int:
        if name in self.status:
            return self.status[name]
        if name.startswith("cufft"):
            return fft_answer(self, name, args)
        if "Create" in name:
            self.handles.add(0x1000 + len(self.handles))
            ctypes.c_int64.from_address(args[0]).value = max(self.handles)
            return OK
        assert args[0] in self.handles, f"{name}: handle {args[0]}"
        if name.endswith("SetStream") or name.endswith("SetStream_v2"):
            assert args[1] == 0
            return OK
        letter = name.removeprefix("cublas").removeprefix("cusolverDn")[0]
        routine = name.removeprefix("cublas").removeprefix("cusolverDn")[1:]
        query = routine.endswith("_bufferSize")
        routine = routine.removesuffix("_bufferSize")
        if letter == "X":
            assert args[1] in self.handles, f"{name}: params {args[1]}"
            return self._x(routine, args[2:], query)
        return _TYPED[routine](self, LETTERS[letter], args[1:], query)

    def say(self, address: int, routine: str, value: int = 0) -> None:
        store(address, np.array([self.info.get(routine, value)], np.int32))

    def _x(self, routine: str, args: list[int], query: bool) -> int:
        operands, answer = _GENERIC[routine]
        batched = routine.endswith("Batched")
        batch = args.pop() if batched else 1
        sizes = 640 + 8 * len(routine) * batch, 72 + len(routine)
        if query:
            assert len(args) == len(operands.split()) + 2 - operands.split().count("pivots")
            for address, size in zip(args[-2:], sizes, strict=True):
                ctypes.c_size_t.from_address(address).value = size
            return OK
        device, device_size, host, host_size, info = args[-5:] if operands != "solve" else (0, 0, 0, 0, args[-1])
        if operands != "solve":
            assert (device_size, host_size) == sizes, f"workspaces of {device_size} and {host_size}; said {sizes}"
            store(device, np.full(device_size, 0xA5, np.uint8))
            ctypes.memset(host, 0xA5, host_size)
            args = args[:-5]
        named = dict(zip(operands.split(), args, strict=True)) if operands != "solve" else {}
        answer(self, named or args, info, batch)
        return OK


def _getrf(lib: StandIn, o: Any, info: int, batch: int) -> None:
    a = Matrix(o["ta"], o["a"], o["m"], o["n"], o["lda"])
    assert o["compute"] == o["ta"]
    factors, pivots, zero = lu(a.get())
    a.set(factors)
    store(o["pivots"], pivots.astype(np.int64))
    lib.say(info, "getrf", zero)


def _getrs(lib: StandIn, args: Any, info: int, batch: int) -> None:
    trans, n, nrhs, ta, a, lda, pivots, tb, b, ldb, _ = args
    right = Matrix(tb, b, n, nrhs, ldb)
    right.set(lu_solve(Matrix(ta, a, n, n, lda).get(), load(pivots, n, np.int64), right.get(), trans))
    lib.say(info, "getrs")


def _potrs(lib: StandIn, args: Any, info: int, batch: int) -> None:
    uplo, n, nrhs, ta, a, lda, tb, b, ldb, _ = args
    right, factor = Matrix(tb, b, n, nrhs, ldb), Matrix(ta, a, n, n, lda).get()
    lower = np.tril(factor) if uplo == 0 else np.triu(factor).conj().T
    right.set(np.linalg.solve(lower @ lower.conj().T, right.get()))
    lib.say(info, "potrs")


def _potrf(lib: StandIn, o: Any, info: int, batch: int) -> None:
    a = Matrix(o["ta"], o["a"], o["n"], o["n"], o["lda"])
    factor, bad = cholesky(a.get(), o["uplo"])
    a.set(factor)
    lib.say(info, "potrf", bad)


def _geqrf(lib: StandIn, o: Any, info: int, batch: int) -> None:
    a = Matrix(o["ta"], o["a"], o["m"], o["n"], o["lda"])
    h, tau = np.linalg.qr(a.get(), "raw")
    a.set(h.T)
    store(o["tau"], tau.astype(TYPES[o["tt"]]))
    lib.say(info, "geqrf")


def _syevd(lib: StandIn, o: Any, info: int, batch: int) -> None:
    n, size, real = o["n"], np.dtype(TYPES[o["ta"]]).itemsize, np.dtype(TYPES[o["tw"]])
    for i in range(batch):
        a = Matrix(o["ta"], o["a"] + i * n * n * size, n, n, o["lda"])
        w, v = eigh(a.get(), o["uplo"])
        a.set(v if o["job"] else np.full_like(v, np.nan))
        store(o["w"] + i * n * real.itemsize, w.astype(real))
        lib.say(info + 4 * i, "syevd")


def _gesvd(lib: StandIn, o: Any, info: int, batch: int) -> None:
    m, n, job = o["m"], o["n"], chr(o["ju"])
    assert m >= n and o["ju"] == o["jv"] and o["ldu"] >= m and o["ldvt"] >= n
    u, s, vt = np.linalg.svd(Matrix(o["ta"], o["a"], m, n, o["lda"]).get(), job == "A")
    if job != "N":
        Matrix(o["tu"], o["u"], m, u.shape[1], o["ldu"]).set(u)
        Matrix(o["tv"], o["vt"], n, n, o["ldvt"]).set(vt)
    store(o["s"], s.astype(TYPES[o["ts"]]))
    lib.say(info, "gesvd")


def _geev(lib: StandIn, o: Any, info: int, batch: int) -> None:
    n, real = o["n"], o["ta"] in (0, 1)
    assert not o["left"] and not o["vl"] and o["ldvl"] >= 1 and o["tr"] == o["ta"]
    assert o["tw"] in (o["ta"], o["ta"] + 4 * real)
    w, v = np.linalg.eig(Matrix(o["ta"], o["a"], n, n, o["lda"]).get())
    packed = v.real.copy() if real else v
    if real and np.iscomplexobj(w):
        order = np.lexsort((-w.imag, np.abs(w.imag), w.real))
        w, v = w[order], v[:, order]
        packed = v.real.copy()
        for j in np.flatnonzero(w.imag > 0):
            packed[:, j + 1] = v[:, j].imag
    apart = o["tw"] in (0, 1)  # real parts, then imaginary ones
    store(o["w"], (np.concatenate([w.real, w.imag]) if apart else w).astype(TYPES[o["tw"]]))
    if o["right"]:
        Matrix(o["tr"], o["vr"], n, n, o["ldvr"]).set(packed)
    lib.say(info, "geev")


_GENERIC: dict[str, tuple[str, Callable[..., None]]] = {
    "getrf": ("m n ta a lda pivots compute", _getrf),
    "getrs": ("solve", _getrs),
    "potrf": ("uplo n ta a lda compute", _potrf),
    "potrs": ("solve", _potrs),
    "geqrf": ("m n ta a lda tt tau compute", _geqrf),
    "syevd": ("job uplo n ta a lda tw w compute", _syevd),
    "syevBatched": ("job uplo n ta a lda tw w compute", _syevd),
    "gesvd": ("ju jv m n ta a lda ts s tu u ldu tv vt ldvt compute", _gesvd),
    "geev": ("left right n ta a lda tw w tl vl ldvl tr vr ldvr compute", _geev),
}


def _getrf_batched(lib: StandIn, code: int, args: list[int], query: bool) -> int:
    n, pointers, lda, pivots, info, batch = args
    for i, address in enumerate(load(pointers, batch, np.int64)):
        a = Matrix(code, int(address), n, n, lda)
        factors, order, zero = lu(a.get())
        a.set(factors)
        store(pivots + 4 * n * i, order.astype(np.int32))
        lib.say(info + 4 * i, "getrfBatched", zero)
    return OK


def _getrs_batched(lib: StandIn, code: int, args: list[int], query: bool) -> int:
    trans, n, nrhs, pointers, lda, pivots, rights, ldb, info, batch = args
    for i, (a, b) in enumerate(zip(load(pointers, batch, np.int64), load(rights, batch, np.int64), strict=True)):
        right = Matrix(code, int(b), n, nrhs, ldb)
        order = load(pivots + 4 * n * i, n, np.int32)
        right.set(lu_solve(Matrix(code, int(a), n, n, lda).get(), order, right.get(), trans))
    ctypes.c_int.from_address(info).value = lib.info.get("getrsBatched", 0)
    return OK


def _potrf_batched(lib: StandIn, code: int, args: list[int], query: bool) -> int:
    uplo, n, pointers, lda, info, batch = args
    for i, address in enumerate(load(pointers, batch, np.int64)):
        a = Matrix(code, int(address), n, n, lda)
        factor, bad = cholesky(a.get(), uplo)
        a.set(factor)
        lib.say(info + 4 * i, "potrfBatched", bad)
    return OK


def _gqr(lib: StandIn, code: int, args: list[int], query: bool) -> int:
    m, n, k, a, lda, tau = args[:6]
    assert m >= n >= k
    if query:
        ctypes.c_int.from_address(args[6]).value = 96 + n
        return OK
    work, size, info = args[6:]
    assert size == 96 + n
    store(work, np.zeros(size, TYPES[code]))
    q = Matrix(code, a, m, n, lda)
    q.set(orthogonal(q.get(), load(tau, k, TYPES[code])))
    lib.say(info, "gqr")
    return OK


def _gesvdj_batched(lib: StandIn, code: int, args: list[int], query: bool) -> int:
    job, m, n, a, lda, s, u, ldu, v, ldv = args[:10]
    assert max(m, n) <= 32
    if query:
        size, params, batch = args[10:]
        assert params in lib.handles
        ctypes.c_int.from_address(size).value = 48 + batch
        return OK
    work, size, info, params, batch = args[10:]
    assert size == 48 + batch and params in lib.handles
    store(work, np.zeros(size, TYPES[code]))
    item = np.dtype(TYPES[code]).itemsize
    for i in range(batch):
        left, values, right = np.linalg.svd(Matrix(code, a + i * lda * n * item, m, n, lda).get())
        store(s + i * values.nbytes, values)
        if job:
            Matrix(code, u + i * ldu * m * item, m, m, ldu).set(left)
            Matrix(code, v + i * ldv * n * item, n, n, ldv).set(right.conj().T)
        lib.say(info + 4 * i, "gesvdjBatched")
    return OK


_TYPED: dict[str, Callable[[StandIn, int, list[int], bool], int]] = {
    "getrfBatched": _getrf_batched,
    "getrsBatched": _getrs_batched,
    "potrfBatched": _potrf_batched,
    "gesvdjBatched": _gesvdj_batched,
    "orgqr": _gqr,
    "ungqr": _gqr,
}

_FFT_KINDS = {0x29: "C2C", 0x2A: "R2C", 0x2C: "C2R", 0x69: "Z2Z", 0x6A: "D2Z", 0x6C: "Z2D"}


def fft_answer(lib: StandIn, name: str, args: list[int]) -> int:
    """cuFFT's functions: plans of contiguous transforms, with a work area that is set before a plan runs."""
    if name == "cufftCreate":
        number = 1 + max(lib.plans, default=0)
        lib.plans[number] = {"auto": 1}
        ctypes.c_int.from_address(args[0]).value = number
        return OK
    plan = lib.plans[args[0]]
    if name == "cufftSetAutoAllocation":
        plan["auto"] = args[1]
    elif name == "cufftSetStream":
        plan["stream"] = args[1]
    elif name == "cufftSetWorkArea":
        plan["work"] = args[1]
    elif name == "cufftDestroy":
        del lib.plans[args[0]]
    elif name == "cufftMakePlanMany64":
        _, rank, n, inembed, _, _, onembed, _, _, kind, batch, size = args
        assert not inembed and not onembed and not plan["auto"]
        plan["n"] = [ctypes.c_longlong.from_address(n + 8 * i).value for i in range(rank)]
        plan["kind"], plan["batch"] = _FFT_KINDS[kind], batch
        plan["size"] = ctypes.c_size_t.from_address(size).value = 320
    else:
        _transform(plan, name.removeprefix("cufftExec"), *args[1:])
    return OK


def _transform(plan: dict[str, Any], kind: str, source: int, to: int, direction: int = 0) -> None:
    assert kind == plan["kind"] and plan["stream"] == 0 and source != to
    store(plan["work"], np.full(plan["size"], 0xA5, np.uint8))
    n, batch = plan["n"], plan["batch"]
    real, number = (np.float64, np.complex128) if kind[0] in "ZD" else (np.float32, np.complex64)
    half = [*n[:-1], n[-1] // 2 + 1]
    axes = tuple(range(1, len(n) + 1))
    shape = half if kind in ("C2R", "Z2D") else n
    x = load(source, batch * int(np.prod(shape)), real if kind in ("R2C", "D2Z") else number).reshape(batch, *shape)
    if kind in ("C2C", "Z2Z"):
        y = np.fft.fftn(x, axes=axes) if direction == -1 else np.fft.ifftn(x, axes=axes, norm="forward")
    elif kind in ("R2C", "D2Z"):
        y = np.fft.rfftn(x, axes=axes)
    else:
        ends = [0, n[-1] // 2] if n[-1] % 2 == 0 else [0]
        assert len(n) == 1 and (x[:, ends].imag == 0).all(), "not the spectrum of a real signal"
        y = np.fft.irfftn(x, n, axes=axes, norm="forward")
        store(source, np.full(x.nbytes, 0xA5, np.uint8))  # cuFFT may overwrite what it transforms
    store(to, y.astype(real if kind in ("C2R", "Z2D") else number))


def forget() -> None:
    """Libraries and who computes are looked for again."""
    cuda_libraries.forget()
    backend.backend.cache_clear()
    transforms.backend.cache_clear()


@contextlib.contextmanager
def installed(path: Path) -> Iterator[StandIn]:
    """The library is found as cuBLAS, cuSOLVER and cuFFT, and used as if tensors were on a GPU."""
    names = [f"NERVANAGPU_{name}" for name in ("CUBLAS", "CUSOLVER", "CUFFT")]
    before = {name: os.environ.get(name) for name in names}
    on_gpu = backend.on_gpu
    os.environ.update(dict.fromkeys(names, str(path)))
    forget()
    backend.on_gpu = lambda: True
    lib = StandIn(path)
    try:
        yield lib
        assert lib.failure is None, lib.failure
    finally:
        backend.on_gpu = on_gpu
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        forget()
