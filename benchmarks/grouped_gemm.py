"""A thousand small products whose matrices lie anywhere: tables of addresses, groups, single launches, and cuBLAS.

    python benchmarks/grouped_gemm.py [--out FILE] [--count 1000]

    tables    ng_gemm with `pointers`, the tables on the device      cublas    cublasSgemmBatched, cublasGemmBatchedEx
    grouped   ng_gemm_grouped of host addresses                      loop      ng_gemm_plan_launch for each product

gpu_ms is the time on the GPU, launched after queued work; ms that of the call and the wait after it. Medians of
interleaved rounds. Needs a GPU and torch (for memory and for its cuBLAS).
"""

from __future__ import annotations

import argparse
import ctypes as C
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
from measure.operands import bound as most
from measure.report import commit, machine, save
from peers.cublas import Cublas

try:
    import torch
except ImportError:
    torch = None

ROUNDS = 15
SIZES = (32, 65, 128)
TYPES = {"float32": (0, 0), "float16": (1, 2), "bfloat16": (5, 14)}  # ng_dtype, cudaDataType_t
_64, _32, _F = C.c_int64, C.c_int32, C.c_float


class Problem(C.Structure):
    """ng_gemm_problem, up to its scale."""

    _fields_ = (
        [("size", C.c_size_t)]
        + [(x, C.c_uint64) for x in ("a", "b", "c", "bias")]
        + [(x, _64) for x in ("m", "n", "k", "lda", "ldb", "ldc")]
        + [("alpha", _F), ("beta", _F)]
        + [(x, _32) for x in ("a_transposed", "b_transposed", "bias_per_row", "relu")]
        + [(x, _32) for x in ("a_type", "b_type", "c_type", "bias_type")]
        + [("stochastic", _32), ("bits", _32), ("seed", C.c_uint64), ("offset", C.c_uint64)]
        + [("splits", _64), ("workspace", C.c_uint64), ("workspace_bytes", C.c_uint64)]
        + [(x, _64) for x in ("batch", "stride_a", "stride_b", "stride_c")]
        + [(x, _32) for x in ("sum_batch", "pointers", "activation", "scale_per_row")]
        + [("clip_low", _F), ("clip_high", _F), ("scale", C.c_uint64)]
    )


class Addresses(C.Structure):
    """ng_gemm_addresses, up to its scale."""

    _fields_ = [("size", C.c_size_t)] + [
        (x, C.c_uint64) for x in ("a", "b", "c", "bias", "workspace", "workspace_bytes", "rounding_offset", "scale")
    ]


def library() -> C.CDLL:
    """The libnervanagpu that the module has loaded."""
    with open("/proc/self/maps") as maps:
        path = next(line.split()[-1] for line in maps if "libnervanagpu" in line)
    lib = C.CDLL(path)
    lib.ng_last_error.restype = C.c_char_p
    return lib


def call(lib: C.CDLL, name: str, *arguments: object) -> None:
    """Raises RuntimeError with the library's words."""
    if getattr(lib, name)(*arguments) != 0:
        raise RuntimeError(f"{name}: {lib.ng_last_error().decode()}")


def problem(n: int, dtype: str) -> Problem:
    """Of n x n matrices; no addresses."""
    p = Problem(size=C.sizeof(Problem), m=n, n=n, k=n, lda=n, ldb=n, ldc=n, alpha=1.0, batch=1)
    p.a_type = p.b_type = p.c_type = p.bias_type = TYPES[dtype][0]
    return p


def ways(lib: C.CDLL, blas: Cublas, n: int, dtype: str, sets: list[list[Any]]) -> dict[str, Callable[[], object]]:
    """Calls by name, all of the same products."""
    count = len(sets[0])
    host = np.array([[t.data_ptr() for t in s] for s in sets], np.uint64)
    tables = torch.from_numpy(host.view(np.int64)).cuda()
    at = [tables[i].data_ptr() for i in range(3)]
    low = int(np.bitwise_or.reduce(host, None)) | 16
    alignment = low & -low
    one = problem(n, dtype)
    one.a, one.b, one.c = at
    one.batch, one.pointers = count, alignment
    each = [problem(n, dtype) for _ in range(count)]
    for i, p in enumerate(each):
        p.a, p.b, p.c = (int(host[j][i]) for j in range(3))
        p.splits = 1
    pointers = (C.POINTER(Problem) * count)(*(C.pointer(p) for p in each))
    room = C.c_size_t()
    call(lib, "ng_gemm_grouped_workspace", pointers, C.c_size_t(count), C.byref(room))
    workspace = torch.empty(room.value, dtype=torch.uint8, device="cuda")
    plan = C.c_void_p()
    like = problem(n, dtype)
    like.a = like.b = like.c = alignment
    like.splits = 1
    call(lib, "ng_gemm_plan_create", C.byref(like), C.byref(plan))
    where = [Addresses(size=C.sizeof(Addresses), a=p.a, b=p.b, c=p.c) for p in each]
    launch, handles = lib.ng_gemm_plan_launch, [C.byref(x) for x in where]

    def loop() -> None:
        for x in handles:
            launch(plan, x, C.c_uint64(0))

    alpha, beta = C.c_float(1.0), C.c_float(0.0)
    table = [C.c_void_p(x) for x in at]

    def cublas() -> None:
        shape = (blas.handle, 0, 0, n, n, n, C.byref(alpha))
        if dtype == "float32":
            blas._call(
                "cublasSgemmBatched", *shape, table[1], n, table[0], n, C.byref(beta), table[2], n, C.c_int(count)
            )
            return
        kind = C.c_int(TYPES[dtype][1])
        operands = (table[1], kind, n, table[0], kind, n, C.byref(beta), table[2], kind, n, C.c_int(count))
        blas._call("cublasGemmBatchedEx", *shape, *operands, C.c_int(68), C.c_int(-1))

    grouped = (C.c_uint64(workspace.data_ptr()), C.c_uint64(room.value), C.c_uint64(0))
    out: dict[str, Callable[[], object]] = {
        "tables": lambda: call(lib, "ng_gemm", C.byref(one), C.c_uint64(0)),
        "grouped": lambda: call(lib, "ng_gemm_grouped", pointers, C.c_size_t(count), *grouped),
        "loop": loop,
        "cublas": cublas,
    }
    out["tables"].kept = (tables, workspace, each)  # type: ignore[attr-defined]
    return out


def milliseconds(calls: dict[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """Of each: on the GPU, and of the call with the wait after it."""
    gpu: dict[str, list[float]] = {name: [] for name in calls}
    wall: dict[str, list[float]] = {name: [] for name in calls}
    for f in calls.values():
        f()
    torch.cuda.synchronize()
    for _ in range(ROUNDS):
        for name, f in calls.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(12_000_000 if name in ("loop", "grouped") else 1_000_000)  # launches queue up meanwhile
            start.record()
            f()
            end.record()
            torch.cuda.synchronize()
            gpu[name].append(start.elapsed_time(end))
            begin = time.perf_counter()
            f()
            torch.cuda.synchronize()
            wall[name].append((time.perf_counter() - begin) * 1e3)
    return {name: (statistics.median(gpu[name]), statistics.median(wall[name])) for name in calls}


def measure(lib: C.CDLL, blas: Cublas, n: int, dtype: str, count: int) -> dict[str, Any]:
    """One row."""
    kind = getattr(torch, dtype)
    order = np.random.default_rng(n).permutation(count)
    step = -(-n * n // 64) * 64 if n % 8 == 0 else n * n  # odd ones lie one after the other
    memory = [torch.randn(count * step, device="cuda", dtype=kind) for _ in range(3)]
    sets = [[m[i * step : i * step + n * n].view(n, n) for i in order] for m in memory]
    calls = ways(lib, blas, n, dtype, sets)
    times = milliseconds(calls)
    exact = torch.stack(sets[0]).double() @ torch.stack(sets[1]).double()
    bound = torch.stack(sets[0]).double().abs() @ torch.stack(sets[1]).double().abs()
    row: dict[str, Any] = {"n": n, "dtype": dtype, "count": count}
    for name, f in calls.items():
        memory[2].fill_(float("nan"))
        f()
        torch.cuda.synchronize()
        row[name] = {
            "gpu_ms": times[name][0],
            "ms": times[name][1],
            "max_err": float(((torch.stack(sets[2]).double() - exact).abs() / bound).max()),
        }
    return row


def main() -> int:
    """Prints a table and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    if torch is None or ng.device().kind != "cuda":
        print("no GPU with torch: nothing is measured")
        return 0
    lib, blas = library(), Cublas(0)
    rows = []
    for dtype in TYPES:
        for n in SIZES:
            row = measure(lib, blas, n, dtype, options.count)
            rows.append(row)
            words = (f"{w} {row[w]['gpu_ms']:.4f} {row[w]['ms']:.3f}" for w in ("tables", "grouped", "loop", "cublas"))
            print(f"{dtype:9} {n:4}  " + "   ".join(words) + f"   err {row['tables']['max_err']:.1e}", flush=True)
    if options.out:
        save(options.out, {"commit": commit(), "machine": machine(), "cublas": blas.version, "rows": rows})
    ours = ("tables", "grouped", "loop")
    bad = [(w, r) for r in rows for w in ours if not r[w]["max_err"] <= most(r["dtype"], r["n"])]
    for way, r in bad:
        print(f"{way}, {r['dtype']} of {r['n']}: an error of {r[way]['max_err']}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
