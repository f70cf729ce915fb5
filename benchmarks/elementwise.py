"""Elementwise expressions, reductions and softmax beside PyTorch and CuPy, in one run on one GPU.

    python benchmarks/elementwise.py [--out FILE] [--rows R --columns C] [--cases scale,exp,...]

Times are medians between events, our case and its peers interleaved; operands rotate past the L2. The device is kept
busy while a case is launched, so that no time of the host is in them. Bytes are those of each operand and result
once; `of_copy` is their rate over that of our copy in the same run. Results, the peers' too, go to memory that held
NaN and are compared with NumPy's in float64, each element relative to the largest magnitude (of sums: to the sum of
the magnitudes that it is of); one that differs by more than 1e-5 fails the run. Host costs are those of the calling
thread: `new` the first evaluation of an expression of a new structure until its kernel has ended, `call` one
evaluation on 1,000 floats, beside the peers'. On the emulator the figures mean nothing; it only tries the script.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from measure.report import commit, machine, save
from peers.libraries import cupy, torch

REPEATS = 11
BUFFERS = 4  # of 128 MiB each: past the L2
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """An operation of a matrix, in ours, PyTorch's, CuPy's and NumPy's words; bytes in units of the operand."""

    # Of the operand and a result, which is as large or smaller; or returns the result.
    ours: Callable[[ng.GPUTensor, ng.GPUTensor], object]
    result: Callable[[int, int], tuple[int, int]]
    exact: Callable[[Array], Array]
    traffic: float
    torch: Callable[[Any, Any], Any] | None = None
    cupy: Callable[[Any, Any], Any] | None = None


def whole(r: int, c: int) -> tuple[int, int]:
    """As large as the operand."""
    return r, c


def mean(x: Any) -> Any:
    """Along rows, kept."""
    return ng.mean(x, 1, keepdims=True)


def store(y: ng.GPUTensor, x: ng.GPUTensor) -> None:
    """y[...] = x"""
    y[:] = x


def three(x: Any) -> Any:
    """The three statements of the NumPy-on-GPU article: x *= 5; x *= x; x += x."""
    y = x * 5
    y = y * y
    return y + y


def twice(library: Any, x: Any, y: Any) -> Any:
    """three() with the last statement's result in y: no copy."""
    z = x * 5
    z = z * z
    return library.add(z, z, out=y)


def normalised(a: Array) -> Array:
    """Batch normalisation along rows."""
    return (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 0.001)


def soft(a: Array) -> Array:
    """softmax along rows."""
    e = np.exp(a - a.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


CASES = {
    "scale": Case(
        lambda x, y: store(y, x * 5), whole, lambda a: a * 5, 2, lambda x, y: torch.mul(x, 5, out=y),
        lambda x, y: cupy.multiply(x, 5, out=y),
    ),
    "three": Case(
        lambda x, y: store(y, three(x)), whole, three, 2, lambda x, y: twice(torch, x, y),
        lambda x, y: twice(cupy, x, y),
    ),
    "exp": Case(
        lambda x, y: store(y, ng.exp(x)), whole, np.exp, 2, lambda x, y: torch.exp(x, out=y),
        lambda x, y: cupy.exp(x, out=y),
    ),
    "tanh": Case(
        lambda x, y: store(y, ng.tanh(x)), whole, np.tanh, 2, lambda x, y: torch.tanh(x, out=y),
        lambda x, y: cupy.tanh(x, out=y),
    ),
    "reciprocal": Case(
        lambda x, y: store(y, 1 / (x * x + 1)), whole, lambda a: 1 / (a * a + 1), 2,
        lambda x, y: torch.reciprocal(x * x + 1, out=y), lambda x, y: cupy.reciprocal(x * x + 1, out=y),
    ),
    "batchnorm": Case(
        lambda x, y: store(y, ng.reciprocal(ng.sqrt(ng.var(x, 1, keepdims=True) + 0.001)) * (x - mean(x))), whole,
        normalised, 2,
        lambda x, y: torch.mul(
            x - x.mean(1, keepdim=True), (x.var(1, correction=0, keepdim=True) + 0.001).rsqrt(), out=y
        ),
        lambda x, y: cupy.divide(x - x.mean(1, keepdims=True), cupy.sqrt(x.var(1, keepdims=True) + 0.001), out=y),
    ),
    "batchnorm0": Case(
        lambda x, y: store(y, ng.reciprocal(ng.sqrt(ng.var(x, 0) + 0.001)) * (x - ng.mean(x, 0))), whole,
        lambda a: (a - a.mean(0)) / np.sqrt(a.var(0) + 0.001), 2,
        lambda x, y: torch.mul(x - x.mean(0), (x.var(0, correction=0) + 0.001).rsqrt(), out=y),
        lambda x, y: cupy.divide(x - x.mean(0), cupy.sqrt(x.var(0) + 0.001), out=y),
    ),
    "variance": Case(
        lambda x, y: store(y, mean(ng.square(x - mean(x)))), lambda r, c: (r, 1),
        lambda a: a.var(1, keepdims=True), 1,
        lambda x, y: torch.mean((x - x.mean(1, keepdim=True)) ** 2, 1, keepdim=True, out=y),
        lambda x, y: cupy.mean(cupy.square(x - x.mean(1, keepdims=True)), 1, keepdims=True, out=y),
    ),
    "softmax": Case(
        lambda x, y: store(y, ng.softmax(x)), whole, soft, 2, lambda x, y: torch.softmax(x, 1, out=y), None
    ),
    "layernorm": Case(
        lambda x, y: store(y, ng.layer_norm(x)), whole, lambda a: (a - a.mean(1, keepdims=True))
        / np.sqrt(a.var(1, keepdims=True) + 1e-5), 2,
        lambda x, y: torch.nn.functional.layer_norm(x, x.shape[1:]), None,
    ),
    "running1": Case(
        lambda x, y: ng.cumsum(x, 1), whole, lambda a: a.cumsum(1), 2,
        lambda x, y: torch.cumsum(x, 1, out=y), lambda x, y: cupy.cumsum(x, 1, out=y),
    ),
    "running0": Case(
        lambda x, y: ng.cumsum(x, 0), whole, lambda a: a.cumsum(0), 2,
        lambda x, y: torch.cumsum(x, 0, out=y), lambda x, y: cupy.cumsum(x, 0, out=y),
    ),
    "sum1": Case(
        lambda x, y: store(y, ng.sum(x, 1, keepdims=True)), lambda r, c: (r, 1), lambda a: a.sum(1, keepdims=True), 1,
        lambda x, y: torch.sum(x, 1, keepdim=True, out=y), lambda x, y: cupy.sum(x, 1, keepdims=True, out=y),
    ),
    "sum0": Case(
        lambda x, y: store(y, ng.sum(x, 0, keepdims=True)), lambda r, c: (1, c), lambda a: a.sum(0, keepdims=True), 1,
        lambda x, y: torch.sum(x, 0, keepdim=True, out=y), lambda x, y: cupy.sum(x, 0, keepdims=True, out=y),
    ),
    "sum": Case(
        lambda x, y: store(y, ng.sum(x, keepdims=True)), lambda r, c: (1, 1), lambda a: a.sum(keepdims=True), 1,
        lambda x, y: torch.sum(x, (0, 1), keepdim=True, out=y), lambda x, y: cupy.sum(x, keepdims=True, out=y),
    ),
}  # fmt: skip


# What torch.compile gets, with --inductor: functions of the operand alone.
COMPILED: dict[str, Callable[[Any], Any]] = {
    "three": three,
    "exp": lambda x: torch.exp(x),
    "tanh": lambda x: torch.tanh(x),
    "reciprocal": lambda x: 1 / (x * x + 1),
    "batchnorm": lambda x: (x.var(1, correction=0, keepdim=True) + 0.001).rsqrt() * (x - x.mean(1, keepdim=True)),
    "batchnorm0": lambda x: (x.var(0, correction=0) + 0.001).rsqrt() * (x - x.mean(0)),
    "variance": lambda x: torch.mean((x - x.mean(1, keepdim=True)) ** 2, 1, keepdim=True),
    "softmax": lambda x: torch.softmax(x, 1),
    "layernorm": lambda x: torch.nn.functional.layer_norm(x, x.shape[1:]),
    "running1": lambda x: torch.cumsum(x, 1),
    "running0": lambda x: torch.cumsum(x, 0),
    "sum1": lambda x: torch.sum(x, 1, keepdim=True),
    "sum0": lambda x: torch.sum(x, 0, keepdim=True),
    "sum": lambda x: torch.sum(x),
}


def timed(runs: dict[str, Callable[[int], object]], busy: Callable[[], object]) -> dict[str, float]:
    """Medians of milliseconds a call. Every run is called once for each buffer between two events, while `busy` work
    before them keeps the device from waiting for the host; the runs take turns.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    for i in range(REPEATS + 3):
        for name, run in runs.items():
            start, end = ng.Event(), ng.Event()
            busy()
            start.record()
            for k in range(BUFFERS):
                run(k)
            end.record()
            if i >= 3:
                times[name].append(end.ms_since(start) / BUFFERS)
    return {name: statistics.median(t) for name, t in times.items()}


def measure(name: str, case: Case, rows: int, columns: int, gpu: bool, inductor: bool) -> dict[str, object]:
    """One case beside its peers, and its error."""
    rng = np.random.default_rng(1)
    host = rng.standard_normal((rows, columns)).astype(np.float32)
    x = [ng.array(host) for _ in range(BUFFERS)]
    y = [ng.empty(case.result(rows, columns)) for _ in range(BUFFERS)]
    other = [ng.empty((rows, columns)) for _ in range(BUFFERS)]
    runs: dict[str, Callable[[int], object]] = {"ours": lambda i: case.ours(x[i], y[i])}
    runs["copy"] = lambda i: store(other[i], x[i])
    if gpu and torch is not None and case.torch is not None:
        tx = [torch.from_numpy(host).cuda() for _ in range(BUFFERS)]
        ty = [torch.empty(case.result(rows, columns), device="cuda") for _ in range(BUFFERS)]
        runs["torch"] = lambda i: case.torch(tx[i], ty[i])  # type: ignore[misc]
        if inductor and name in COMPILED:
            compiled = torch.compile(COMPILED[name])
            tuned = torch.compile(COMPILED[name], mode="max-autotune-no-cudagraphs")
            runs["inductor"] = lambda i: compiled(tx[i])
            runs["autotuned"] = lambda i: tuned(tx[i])
    if gpu and cupy is not None and case.cupy is not None:
        cx = [cupy.asarray(host) for _ in range(BUFFERS)]
        cy = [cupy.empty(case.result(rows, columns), cupy.float32) for _ in range(BUFFERS)]
        runs["cupy"] = lambda i: case.cupy(cx[i], cy[i])  # type: ignore[misc]

    def busy() -> None:
        for k in range(BUFFERS):
            store(other[k], x[(k + 1) % BUFFERS])

    ms = timed(runs, busy)
    exact = np.asarray(case.exact(host.astype(np.float64)))
    scale = np.abs(exact).max()
    if name.startswith("sum"):
        scale = np.asarray(case.exact(np.abs(host).astype(np.float64)))

    def error(run: Callable[[int], object], to: Any) -> float:
        """Of the result, which the call returns or writes to `to`."""
        made = run(0)
        got = made if hasattr(made, "shape") else to
        host_got = got.get() if hasattr(got, "get") else got.cpu().numpy()
        return float((np.abs(host_got.reshape(exact.shape) - exact) / scale).max())

    y[0][:] = np.nan
    errors = {"ours": error(runs["ours"], y[0])}
    for which in ("torch", "inductor", "autotuned", "cupy"):
        if which in runs:
            to = ty[0] if which == "torch" else cy[0] if which == "cupy" else None
            if to is not None:
                to[...] = float("nan")
            errors[which] = error(runs[which], to)
    rate = case.traffic / ms["ours"] / (2 / ms["copy"])
    peers = {k: v for k, v in ms.items() if k not in ("ours", "copy")}
    return {
        "case": name,
        "ms": ms["ours"],
        "of_copy": rate,
        "peers": peers,
        "max_err": errors["ours"],
        "errors": errors,
    }


def call_us(call: Callable[[], object], synchronise: Callable[[], object]) -> float:
    """Microseconds of the host: the median of forty times a hundred calls, too few to wait for the device."""
    each = []
    for _ in range(40):
        synchronise()
        start = time.perf_counter()
        for _ in range(100):
            call()
        each.append((time.perf_counter() - start) / 100)
    return 1e6 * statistics.median(each)


def host_costs(gpu: bool) -> dict[str, object]:
    """Milliseconds of the first evaluation of a new structure; microseconds of `y[:] = x + 1` on 1,000 floats, and of
    the peers' like.
    """
    x, y = ng.array(np.ones(1000, np.float32)), ng.empty(1000)
    new = []
    for k in range(9):
        z = x
        for _ in range(k):
            z = z * 2 - 1
        ng.synchronize()
        start = time.perf_counter()
        ng.evaluate(ng.exp(z) - x)
        ng.synchronize()
        new.append(1e3 * (time.perf_counter() - start))
    calls = {"call_us": call_us(lambda: store(y, x + 1), ng.synchronize)}
    peers = {}
    if gpu and torch is not None:
        tx, ty = torch.ones(1000, device="cuda"), torch.empty(1000, device="cuda")
        peers["torch"] = call_us(lambda: torch.add(tx, 1, out=ty), torch.cuda.synchronize)
    if gpu and cupy is not None:
        cx, cy = cupy.ones(1000, cupy.float32), cupy.empty(1000, cupy.float32)
        peers["cupy"] = call_us(lambda: cupy.add(cx, 1, out=cy), cupy.cuda.Device().synchronize)
    return {"new_ms": statistics.median(new), **calls, "call_peers_us": peers}


def chosen(parser: argparse.ArgumentParser, cases: str, known: Collection[str]) -> list[str]:
    """The names that --cases lists; the parser's error for one that is not known."""
    names = cases.split(",")
    unknown = [n for n in names if n not in known]
    if unknown:
        parser.error(f"--cases: there is no {unknown[0]}; there are {', '.join(known)}")
    return names


def main() -> int:
    """Parse the command line, measure, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="JSON file; default: none")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=8192)
    parser.add_argument("--inductor", action="store_true", help="torch.compile as a peer, too: some seconds a case")
    parser.add_argument("--cases", default=",".join(CASES))
    args = parser.parse_args()
    names = chosen(parser, args.cases, CASES)
    gpu = ng.device().kind == "cuda"
    rows = [measure(n, CASES[n], args.rows, args.columns, gpu, args.inductor) for n in names]
    costs = host_costs(gpu)
    print(f"{'case':12s} {'ms':>9s} {'of copy':>8s} {'error':>9s}  peers")
    for r in rows:
        peers = ", ".join(f"{k} {v:.4f} ms" for k, v in r["peers"].items())  # type: ignore[attr-defined]
        print(f"{r['case']:12s} {r['ms']:9.4f} {100 * r['of_copy']:7.1f}% {r['max_err']:9.1e}  {peers}")  # type: ignore[operator]
    others = ", ".join(f"{k} {v:.2f} us" for k, v in costs["call_peers_us"].items())  # type: ignore[attr-defined]
    print(f"new expression {costs['new_ms']:.2f} ms, evaluation of 1,000 floats {costs['call_us']:.2f} us  {others}")
    if args.out:
        body = {"commit": commit(), **machine(), "shape": [args.rows, args.columns], "rows": rows, **costs}
        save(args.out, body)
    return 0 if all(e <= 1e-5 for r in rows for e in r["errors"].values()) else 1  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
