"""sort and argsort beside CuPy (CUB) and PyTorch, in one run on one GPU; every result beside NumPy's stable order.

    python benchmarks/sort.py [--out FILE] [--sizes 1000000,10000000,100000000] [--rows 1] [--repeats 15] [--check 1]

Keys are random: integers of their whole range, floats of a normal distribution. Milliseconds are medians of device time
between two events with several calls after queued work, ours and the peers' in turns. `gkeys` are 10^9 keys a second,
`copies` how many times as long as a device-to-device copy of the keys it takes. On the emulator the times mean nothing;
it only tries the script.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from measure.report import commit, machine, save
from peers.libraries import cupy, torch

Array = npt.NDArray[Any]
DTYPES = ("float32", "int32", "int64", "float64", "uint8")
ROWS = ((1_000_000, 100), (100_000, 1000), (25_000, 4000), (1000, 100_000))  # rows, keys of each


@dataclass(frozen=True)
class Peer:
    """Whose calls they are: on the operand, what waits for the device, and events."""

    sort: Callable[[], Any]
    argsort: Callable[[], Any]
    copy: Callable[[], Any]
    wait: Callable[[], object]
    seconds: Callable[[Callable[[], Any], int], float]  # of a call, so many between two events


def drawn(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return rng.standard_normal(shape).astype(kind)
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)


def by_clock(wait: Callable[[], object]) -> Callable[[Callable[[], Any], int], float]:
    """Seconds of a call by the host's clock: all calls are queued, then waited for."""

    def seconds(call: Callable[[], Any], calls: int) -> float:
        wait()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        return (time.perf_counter() - begin) / calls

    return seconds


def by_events(event: Callable[[], Any], ms: Callable[[Any, Any], float]) -> Callable[[Callable[[], Any], int], float]:
    """Seconds of a call by the device's clock, between two events after queued work, `ms` apart."""

    def seconds(call: Callable[[], Any], calls: int) -> float:
        start, end = event(), event()
        call()
        start.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        return ms(start, end) / 1e3 / calls

    return seconds


def of_cupy(x: Array) -> Peer:
    t = cupy.asarray(x)
    seconds = by_events(cupy.cuda.Event, cupy.cuda.get_elapsed_time)
    wait = cupy.cuda.Device().synchronize
    return Peer(lambda: cupy.sort(t), lambda: cupy.argsort(t), lambda: t.copy(), wait, seconds)


def of_torch(x: Array) -> Peer:
    t = torch.from_numpy(x).cuda()
    return Peer(
        lambda: torch.sort(t, stable=True)[0],
        lambda: torch.sort(t, stable=True)[1],
        lambda: t.clone(),
        torch.cuda.synchronize,
        by_events(lambda: torch.cuda.Event(enable_timing=True), lambda start, end: start.elapsed_time(end)),
    )


def of_ours(x: Array) -> Peer:
    t = ng.array(x)
    on_gpu = ng.device().kind == "cuda"
    seconds = by_events(ng.Event, lambda start, end: end.ms_since(start)) if on_gpu else by_clock(ng.synchronize)
    return Peer(lambda: ng.sort(t), lambda: ng.argsort(t), lambda: t.copy(), ng.synchronize, seconds)


def on_host(result: Any) -> Array:
    host: Array = result.get() if hasattr(result, "get") else result.cpu().numpy()
    return host


def check(x: Array, ours: Peer) -> bool:
    """Whether values and places are NumPy's, to the bit."""
    places = np.argsort(x, axis=-1, kind="stable")
    values = np.take_along_axis(x, places, -1)
    bits = np.dtype(f"u{x.dtype.itemsize}")
    same = np.array_equal(on_host(ours.sort()).view(bits), values.view(bits))
    return same and np.array_equal(on_host(ours.argsort()), places)


def measured(x: Array, repeats: int) -> dict[str, Any]:
    """Milliseconds of each call of each."""
    peers = {"ours": of_ours(x)}
    if ng.device().kind == "cuda":
        if cupy is not None:
            peers["cupy"] = of_cupy(x)
        if torch is not None and torch.cuda.is_available():
            peers["torch"] = of_torch(x)
    times: dict[tuple[str, str], list[float]] = {}
    calls = max(1, min(20, 20_000_000 // x.size))
    for i in range(repeats + 2):
        for name, peer in peers.items():
            for what in ("copy", "sort", "argsort"):
                taken = peer.seconds(getattr(peer, what), calls)
                if i >= 2:
                    times.setdefault((name, what), []).append(1e3 * taken)
    copy = min(statistics.median(times[name, "copy"]) for name in peers)
    rows: dict[str, Any] = {"copy_ms": copy}
    for what in ("sort", "argsort"):
        of = {name: statistics.median(times[name, what]) for name in peers}
        rows[what] = {
            name: {"ms": ms, "gkeys": x.size / ms / 1e6, "copies": ms / copy, "times_as_fast": ms / of["ours"]}
            for name, ms in of.items()
        }
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--sizes", default="1000000,10000000,100000000")
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--rows", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--check", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    shapes: list[tuple[int, ...]] = [(int(n),) for n in args.sizes.split(",") if n]
    if args.rows:
        shapes += ROWS
    rows, bad = [], 0
    for shape in shapes:
        for dtype in args.dtypes.split(","):
            x = drawn(rng, dtype, shape)
            row: dict[str, Any] = {"shape": shape, "dtype": dtype}
            if args.check:
                row["right"] = check(x, of_ours(x))
                bad += not row["right"]
            row.update(measured(x, args.repeats))
            rows.append(row)
            print(row, flush=True)
            if args.out:  # whatever ends the run
                save(args.out, {"commit": commit(), "machine": machine(), "rows": rows})
    if bad:
        print(bad, "results are wrong", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
