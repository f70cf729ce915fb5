"""The pooling of five networks beside PyTorch, in one run on one GPU.

    python benchmarks/pool.py [--out FILE] [--cases vgg2,...] [--dtypes float32,float16] [--layouts NHWC,CHWN]

CUDA-graph replays, interleaved, medians; buffers rotate past the L2. Bytes are those of x and y (forward), of dy, dx
and for max also x (backward), once each; with the places of the maxima saved and read in place of x (pass "... argmax")
also these. `of_copy` is their rate over that of a device-to-device copy in the same run.
`peer` is PyTorch's pooling of the same case in its better memory format (channels_last or contiguous), where PyTorch
with CUDA is installed. Two images of each result are compared: max bit for bit on values that differ within each
window (its float16 gradient, and means, within 1e-2; float32 means within 1e-5). Exits 1 if one differs.
"""

from __future__ import annotations

import argparse
import ctypes as C
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from measure.cuda import Driver, Event, Graph
from measure.report import Row, machine, write
from peers.torch_graph import torch_replay

try:
    import torch
except ImportError:
    torch = None

L2_BYTES = 60 << 20
REPEATS = 11
COMPARED = 2  # images of each result that are compared
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Pool:
    """One pooling: N images of C maps of side x side, square windows."""

    op: str
    n: int
    c: int
    side: int
    window: int
    stride: int
    pad: int

    @property
    def out(self) -> int:
        """The side of the result."""
        return (self.side + 2 * self.pad - self.window) // self.stride + 1


CASES = {
    "alexnet1": Pool("max", 128, 64, 55, 3, 2, 0),
    "alexnet2": Pool("max", 128, 192, 27, 3, 2, 0),
    "alexnet5": Pool("max", 128, 256, 13, 3, 2, 0),
    "overfeat1": Pool("max", 128, 96, 56, 2, 2, 0),
    "overfeat2": Pool("max", 128, 256, 24, 2, 2, 0),
    "overfeat5": Pool("max", 128, 1024, 12, 2, 2, 0),
    "vgg1": Pool("max", 64, 64, 224, 2, 2, 0),
    "vgg2": Pool("max", 64, 128, 112, 2, 2, 0),
    "vgg3": Pool("max", 64, 256, 56, 2, 2, 0),
    "vgg4": Pool("max", 64, 512, 28, 2, 2, 0),
    "vgg5": Pool("max", 64, 512, 14, 2, 2, 0),
    "googlenet1": Pool("max", 128, 64, 112, 3, 2, 1),
    "googlenet2": Pool("max", 128, 192, 56, 3, 2, 1),
    "googlenet3": Pool("max", 128, 480, 28, 3, 2, 1),
    "googlenet4": Pool("max", 128, 832, 14, 3, 2, 1),
    "inception3a": Pool("max", 128, 192, 28, 3, 1, 1),
    "inception4a": Pool("max", 128, 480, 14, 3, 1, 1),
    "inception5a": Pool("max", 128, 832, 7, 3, 1, 1),
    "googlenet_avg": Pool("avg", 128, 1024, 7, 7, 1, 0),
}


@dataclass
class PoolRow(Row):
    """Row, and what is copied: GB/s of the bytes that have to be moved, and that over the copy's."""

    gb_per_s: float = 0.0
    of_copy: float = 0.0
    peer_format: str = ""


def shape(p: Pool, side: int, layout: str) -> tuple[int, ...]:
    """Of a tensor with that side."""
    lengths = {"N": p.n, "C": p.c, "H": side, "W": side}
    return tuple(lengths[letter] for letter in layout)


def values(rng: np.random.Generator, p: Pool, dtype: str) -> tuple[Array, Array]:
    """x and dy in NHWC. x of max: values that differ within any window, so that all agree which is the largest."""
    x_shape, y_shape = shape(p, p.side, "NHWC"), shape(p, p.out, "NHWC")
    dy = rng.integers(-8, 9, y_shape, np.int8).astype(dtype)
    if p.op != "max":
        return rng.standard_normal(x_shape, dtype=np.float32).astype(dtype), dy
    # Positions modulo 8 x 8 tell apart all of a window (at most 7 x 7); the rest is at random.
    place = (np.arange(p.side)[:, None] % 8 * 8 + np.arange(p.side)[None, :] % 8)[None, :, :, None] * 29
    key = place.astype(np.uint8) + rng.integers(0, 64, (p.n, 1, 1, p.c), np.uint8)
    return (key & 63).astype(np.int8).astype(dtype), dy


def times(graphs: list[Callable[[], float]]) -> list[float]:
    """Medians of interleaved runs."""
    samples: list[list[float]] = [[] for _ in graphs]
    for _ in range(REPEATS):
        for which, run in enumerate(graphs):
            samples[which].append(run())
    return [statistics.median(s) for s in samples]


def replay(driver: Driver, stream: ng.Stream, graph: Graph, runs: int) -> Callable[[], float]:
    """Milliseconds of one of the graph's `runs`."""
    start, end = Event(driver), Event(driver)

    def run() -> float:
        start.record(stream.handle)
        graph.launch()
        end.record(stream.handle)
        return end.ms_since(start) / runs

    return run


def torch_work(
    p: Pool, forward: bool, x: Array, dy: Array, sets: int, passes: int, channels_last: bool
) -> tuple[Callable[[], object], Callable[[], Array]]:
    """All runs of a case in PyTorch, and its result in NHWC."""
    form = torch.channels_last if channels_last else torch.contiguous_format
    args = [p.window, p.window], [p.stride, p.stride], [p.pad, p.pad]
    aten = torch.ops.aten

    def put(a: Array) -> list[Any]:
        if a.dtype.name == "bfloat16":  # which PyTorch takes from NumPy by its bits alone
            host = torch.from_numpy(a.view(np.int16)).view(torch.bfloat16)
        else:
            host = torch.from_numpy(a)
        first = host.cuda().permute(0, 3, 1, 2).contiguous(memory_format=form)
        return [first, *(first.clone() for _ in range(sets - 1))]

    xs, dys = put(x), put(dy)
    last: list[Any] = [None]
    if p.op == "max":
        wheres = [aten.max_pool2d_with_indices(t, *args)[1] for t in xs] if not forward else []

    def work() -> None:
        for _ in range(passes):
            for k in range(sets):
                if p.op == "max" and forward:
                    last[0] = aten.max_pool2d_with_indices(xs[k], *args)[0]
                elif p.op == "max":
                    last[0] = aten.max_pool2d_with_indices_backward(dys[k], xs[k], *args, [1, 1], False, wheres[k])
                elif forward:
                    last[0] = aten.avg_pool2d(xs[k], *args, False, False)
                else:
                    last[0] = aten.avg_pool2d_backward(dys[k], xs[k], *args, False, False, None)

    return work, lambda: np.asarray(last[0][:COMPARED].permute(0, 2, 3, 1).double().contiguous().cpu().numpy())


def measure(
    driver: Driver, stream: ng.Stream, copy_rate: float, name: str, dtype: str, layout: str, forward: bool,
    argmax: bool, x: Array, dy: Array,
) -> PoolRow:  # fmt: skip
    """One case; x, dy: `values`. argmax: the forward pass saves places, the backward pass takes them for x."""
    p = CASES[name]
    order = tuple("NHWC".index(letter) for letter in layout)
    back = tuple(layout.index(letter) for letter in "NHWC")
    moved = (x.nbytes + dy.nbytes) if forward else (x.nbytes * (2 if p.op == "max" and not argmax else 1) + dy.nbytes)
    window = (p.window, p.stride, p.pad, layout)
    if argmax:
        moved += ng.max_pool_argmax(ng.empty(shape(p, p.side, layout), dtype), *window).nbytes
    sets = max(1, min(8, -(-2 * L2_BYTES // moved)))
    passes = max(1, int(4e9 / (moved * sets)))

    def put(host: Array) -> list[ng.GPUTensor]:
        first = ng.array(np.ascontiguousarray(host.transpose(order)), dtype=dtype)
        return [first, *(first.copy() for _ in range(sets - 1))]

    xs, dys = put(x), put(dy)
    outs = [ng.empty(shape(p, p.out if forward else p.side, layout), dtype) for _ in range(sets)]
    saved: list[dict[str, Any]] = [{"argmax": ng.max_pool_argmax(t, *window)} if argmax else {} for t in xs]
    if argmax and not forward:
        for a, kept in zip(xs, saved, strict=True):
            ng.max_pool2d(a, *window, **kept)
    fprop = {"max": ng.max_pool2d, "avg": ng.avg_pool2d}[p.op]
    bprop = {"max": ng.max_pool2d_bprop, "avg": ng.avg_pool2d_bprop}[p.op]

    def ours() -> None:
        for _ in range(passes):
            for k in range(sets):
                if forward:
                    fprop(xs[k], *window, out=outs[k], stream=stream, **saved[k])
                else:
                    bprop(dys[k], xs[k], *window, out=outs[k], stream=stream, **saved[k])

    ours()  # load and warm up outside the capture
    stream.synchronize()
    runs = [replay(driver, stream, Graph(driver, stream.handle, ours), passes * sets)]
    formats: list[str] = []
    results: list[Callable[[], Array]] = []
    if torch is not None and torch.cuda.is_available():
        for form in ("channels_last", "contiguous"):
            work, result = torch_work(p, forward, x, dy, sets, passes, form == "channels_last")
            runs.append(torch_replay(work, passes * sets))
            formats.append(form)
            results.append(result)
    ms, *peers = times(runs)
    got = outs[0].get().transpose(back)[:COMPARED].astype(np.float64)
    worst = 0.0
    for result in results:
        want = result()
        error = np.abs(got - want) / np.maximum(1.0, np.abs(want))
        worst = max(worst, float(error.max()) if np.isfinite(error).all() else float("inf"))
    best = min(range(len(peers)), key=lambda i: peers[i]) if peers else -1
    rate = moved / ms * 1e-6
    return PoolRow(
        bench="pool",
        case=name,
        dtype=dtype,
        layout=layout,
        pass_=("fprop" if forward else "bprop") + (" argmax" if argmax else ""),
        ms=round(ms, 6),
        peer=f"PyTorch {torch.__version__}" if peers else "",
        peer_ms=round(peers[best], 6) if peers else 0.0,
        ratio=round(peers[best] / ms, 4) if peers else 0.0,
        max_err=worst if results else None,
        peer_max_err=None,  # it is what ours is compared with
        tflops=0.0,
        gb_per_s=round(rate, 1),
        of_copy=round(rate / copy_rate, 4),
        peer_format=formats[best] if peers else "",
    )


def copy_bandwidth(driver: Driver, stream: ng.Stream) -> float:
    """GB/s, read and written, of a copy of 1 GiB on the device: the driver's or PyTorch's, whichever is faster."""
    a, b = ng.zeros((1 << 28,), np.float32), ng.zeros((1 << 28,), np.float32)
    start, end = Event(driver), Event(driver)

    def copy() -> float:
        start.record(stream.handle)
        for _ in range(5):
            driver.call("cuMemcpyDtoDAsync_v2", C.c_uint64(b.ptr), C.c_uint64(a.ptr), C.c_size_t(a.nbytes),
                        C.c_void_p(stream.handle))  # fmt: skip
        end.record(stream.handle)
        return end.ms_since(start) / 5

    runs: list[Callable[[], float]] = [copy]
    if torch is not None and torch.cuda.is_available():
        x, y = torch.zeros(1 << 28, device="cuda"), torch.zeros(1 << 28, device="cuda")
        runs.append(torch_replay(lambda: [y.copy_(x) for _ in range(5)], 5))
    return 2 * a.nbytes / min(times(runs)) * 1e-6


def main() -> int:
    """Parse the command line, measure, print a table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/nn/pool.json"))
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--dtypes", default="float32,float16")
    parser.add_argument("--layouts", default="NHWC,CHWN")
    args = parser.parse_args()
    if ng.device().kind != "cuda":
        print("benchmarks/pool.py: nothing measured, a GPU is missing", file=sys.stderr)
        return 0
    driver, stream = Driver(), ng.Stream()
    copy_rate = copy_bandwidth(driver, stream)
    print(f"{ng.device().name}: a copy moves {copy_rate:.0f} GB/s")
    rows: list[Row] = []
    bad = 0
    for name in args.cases.split(","):
        for dtype in args.dtypes.split(","):
            x, dy = values(np.random.default_rng(2015), CASES[name], dtype)
            for layout in args.layouts.split(","):
                ways = [(True, False), (False, False)]
                if CASES[name].op == "max":
                    ways += [(True, True), (False, True)]
                for forward, argmax in ways:
                    row = measure(driver, stream, copy_rate, name, dtype, layout, forward, argmax, x, dy)
                    rows.append(row)
                    bound = 0.0 if CASES[name].op == "max" and (forward or dtype == "float32") else 1e-2
                    limit = 1e-5 if dtype == "float32" and bound else bound
                    wrong = row.max_err is not None and not row.max_err <= limit
                    bad += wrong
                    print(
                        f"{name:>14} {dtype} {layout} {row.pass_:12}  {row.ms:8.4f} ms {row.gb_per_s:7.0f} GB/s "
                        f"{100 * row.of_copy:5.1f} % of copy   {row.peer} {row.peer_format} {row.peer_ms:8.4f} ms "
                        f"{row.ratio:5.2f}x   error {row.max_err or 0:.1e}{'  WRONG' if wrong else ''}",
                        flush=True,
                    )
                # As it goes: a run may end before its time.
                write(args.out, rows, {**machine(), "copy_gb_per_s": round(copy_rate, 1)})
    print(f"wrote {args.out}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
