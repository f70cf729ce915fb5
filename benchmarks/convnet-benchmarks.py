"""fprop and bprop of the five networks of convnet-benchmarks, beside PyTorch with cuDNN where that is installed.

    python benchmarks/convnet-benchmarks.py [--net alexnet,...] [--dtype float32] [--n N] [--layout NHWC] [--layers]

A step is fprop and bprop: data gradients but the first layer's, weight gradients, gradients of ReLUs and pools; no
bias, no weight update. gflops are of executed work (convnets/networks.py says what counts). Images are U(0, 1),
weights normal and scaled so that activations keep their size. fprop alone and the whole step are each recorded once
in a graph and replayed; bprop is the difference. --no-graph launches call by call.

The peer runs the same network, weights and images in the same run, interleaved, in CUDA graphs too: NCHW or
channels_last, eager or through torch.compile, whichever is fastest; TF32 off (--tf32: on), cuDNN's benchmark mode on.

Exits 1 where a result is not finite, or differs from the peer's by more than rounding explains.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from convnets.networks import NETWORKS, Conv, Network, flops, scaled, work
from convnets.plan import Op
from convnets.replay import Replay
from convnets.step import Step
from measure.report import machine, write
from peers import convnet_torch

RULE = "-" * 45
# Norms of differences over norms: ReLUs and maxima that rounding decides otherwise move single elements far.
NEAR = {"float32": 3e-2, "float16": 0.3, "bfloat16": 0.6}
Array = npt.NDArray[Any]


@dataclass
class NetRow:
    """One pass of one network. ms: the mean, as printed; ratio: the peer's median over ours; peers: each one's median
    milliseconds, peer_layout that of the fastest."""

    bench: str
    case: str
    dtype: str
    layout: str
    pass_: str
    n: int
    ms: float
    median_ms: float
    gflop: float
    tflops: float
    peer: str | None
    peer_layout: str | None
    peer_ms: float | None
    ratio: float | None
    difference: float | None
    graph: bool
    peers: dict[str, float]
    precision: str = "strict"  # of float32
    peer_math: str | None = None  # of float32: float32 or tf32
    streams: bool = False  # weight gradients and branches of inceptions in streams of their own


@dataclass
class LayerRow:
    """One pass of one layer, timed alone."""

    bench: str
    case: str
    dtype: str
    layout: str
    layer: str
    pass_: str
    ms: float
    gflop: float
    tflops: float


@dataclass
class Times:
    """Milliseconds of each iteration."""

    fprop: list[float] = field(default_factory=list)
    bprop: list[float] = field(default_factory=list)

    def add(self, fprop: float, bprop: float) -> None:
        """One more."""
        self.fprop.append(fprop)
        self.bprop.append(bprop)

    def of(self, pass_: str) -> list[float]:
        """fprop, bprop or total."""
        if pass_ == "total":
            return [f + b for f, b in zip(self.fprop, self.bprop, strict=True)]
        return self.fprop if pass_ == "fprop" else self.bprop


def inputs(net: Network) -> tuple[dict[str, Array], Array, Array]:
    """Weights, images and the error of the output, float32 on the host."""
    rng = np.random.default_rng(2015)
    weights = {}
    for w in work(net):
        taps = w.layer.size**2 if isinstance(w.layer, Conv) else w.side_in**2
        shape = (w.k, w.c, w.layer.size, w.layer.size) if isinstance(w.layer, Conv) else (w.k, w.c * taps)
        weights[w.name] = rng.standard_normal(shape, np.float32) * np.float32((2 / (w.c * taps)) ** 0.5)
    x = rng.random((net.n, 3, net.image, net.image), np.float32)
    error = rng.standard_normal((net.n, work(net)[-1].k), np.float32) / np.float32(net.n)
    return weights, x, error


def time_step(step: Step, replay: Replay | None) -> tuple[float, float]:
    """Milliseconds of one fprop and one bprop."""
    marks = [ng.Event() for _ in range(3)]
    marks[0].record()
    if replay is None:
        step.fprop()
        marks[1].record()
        step.bprop()
        marks[2].record()
        return marks[1].ms_since(marks[0]), marks[2].ms_since(marks[1])
    replay.fprop.launch()
    marks[1].record()
    replay.whole.launch()
    marks[2].record()
    fprop = marks[1].ms_since(marks[0])
    return fprop, marks[2].ms_since(marks[1]) - fprop


def time_layers(step: Step, iterations: int) -> dict[tuple[str, str], tuple[float, int]]:
    """Median milliseconds and FLOPs by (layer, pass)."""
    found: dict[tuple[str, str], list[float]] = {}
    work_of: dict[tuple[str, str], int] = {}
    for iteration in range(iterations):
        marks = [ng.Event()]
        marks[0].record()
        ops: list[Op] = step.fprop_ops + step.bprop_ops
        for op in ops:
            op.run()
            marks.append(ng.Event())
            marks[-1].record()
        sums: dict[tuple[str, str], float] = {}
        for i, op in enumerate(ops):
            # Both directions of a pool are one line each.
            key = (op.layer, op.pass_ + ("'" if op.pass_ in ("pool", "join") and i >= len(step.fprop_ops) else ""))
            sums[key] = sums.get(key, 0.0) + marks[i + 1].ms_since(marks[i])
            if iteration == 0:
                work_of[key] = work_of.get(key, 0) + op.flops
        for key, ms in sums.items():
            found.setdefault(key, []).append(ms)
    return {key: (statistics.median(ms), work_of[key]) for key, ms in found.items()}


def part_of(tried: convnet_torch.Tried, pass_: str) -> float:
    """Milliseconds of fprop, bprop or total."""
    return {"fprop": tried.fprop, "bprop": tried.total - tried.fprop, "total": tried.total}[pass_]


def finite(step: Step) -> bool:
    """Whether the output and every weight gradient are."""
    return all(np.isfinite(ng.nn.statistics(t).max_abs) for t in (step.output, *step.dw.values()))


def host_results(step: Step) -> tuple[Array, dict[str, Array]]:
    """The output (N, classes) and the weight gradients in plain order."""
    last = step.work[-1].name
    return step.host_y(last), {w.name: step.host_dw(w.name) for w in step.work}


def under_load(step: Step, replay: Replay | None) -> dict[str, object]:
    """The machine while steps run."""
    with ThreadPoolExecutor(1) as pool:
        start, snapshot = time.monotonic(), None
        while snapshot is None or not snapshot.done():
            time_step(step, replay)
            if snapshot is None and time.monotonic() - start > 1.0:
                snapshot = pool.submit(machine)
        return snapshot.result()


@dataclass
class Options:
    """What the command line says of how to measure."""

    iterations: int
    warmup: int
    layout: Any  # None: what suits the dtype
    peer: bool
    layers: bool
    graph: bool
    compile: bool
    beside: bool
    lanes: bool
    precision: str
    tf32: bool

    def layout_of(self, dtype: str) -> Any:
        """The tensor cores want the channels last."""
        return self.layout or ("CHWN" if dtype == "float32" and self.precision == "strict" else "NHWC")


def measure(net: Network, dtype: str, o: Options) -> tuple[list[NetRow | LayerRow], dict[str, object], bool]:
    """Print the block of one network; its rows, the machine under load, and whether the results are good."""
    weights, x, error = inputs(net)
    layout = o.layout_of(dtype)
    step = Step(net, dtype, weights, x, error, layout=layout, beside=o.beside, lanes=o.lanes)
    replay = Replay(step) if o.graph else None
    peer, tried = None, dict[str, convnet_torch.Tried]()
    if o.peer:
        made = convnet_torch.peers(net, dtype, weights, x, error, o.warmup, compiled=o.compile, tf32=o.tf32)
        peer, tried = convnet_torch.best(made)
    for _ in range(o.warmup):
        time_step(step, replay)
    ours, theirs = Times(), Times()
    for _ in range(o.iterations):
        ours.add(*time_step(step, replay))
        if peer is not None:
            fprop, total = peer.time()
            theirs.add(fprop, total - fprop)
    good = finite(step)
    difference = None
    if peer is not None:
        y, dw = host_results(step)
        difference = convnet_torch.differences(peer, y, dw)
        good = good and difference <= NEAR["float16" if o.tf32 else dtype]  # TF32 has float16's mantissa
    snapshot = under_load(step, replay) if ng.device().kind == "cuda" else machine()

    print(
        RULE,
        f"{net.title} (dtype={dtype}{' tensor' if o.precision == 'tensor' else ''}, N={net.n})  Results:",
        RULE,
        sep="\n",
    )
    rows: list[NetRow | LayerRow] = []
    forward, backward = flops(net)
    for pass_, work_done in (("fprop", forward), ("bprop", backward), ("total", forward + backward)):
        ms, median = statistics.mean(ours.of(pass_)), statistics.median(ours.of(pass_))
        print(f"Avg({o.iterations}) {pass_}: {ms:8.3f} msecs {work_done / ms / 1e6:8.3f} gflops")
        row = NetRow(
            "convnets", net.name, dtype, layout, pass_, net.n, round(ms, 4), round(median, 4),
            round(work_done / 1e9, 3), round(work_done / median / 1e9, 2), None, None, None, None, None, o.graph,
            {name: round(part_of(each, pass_), 4) for name, each in tried.items()}, o.precision,
            streams=o.beside or o.lanes,
        )  # fmt: skip
        if peer is not None:
            row.peer, row.peer_layout, row.difference = convnet_torch.versions(), peer.name, difference
            row.peer_ms = round(statistics.median(theirs.of(pass_)), 4)
            row.ratio = round(row.peer_ms / median, 4)
            row.peer_math = ("tf32" if o.tf32 else "float32") if dtype == "float32" else None
        rows.append(row)
    if peer is not None and difference is not None:
        parts = ", ".join(f"{p} {statistics.median(theirs.of(p)):.3f}" for p in ("fprop", "bprop", "total"))
        slower = statistics.median(ours.of("total")) / statistics.median(theirs.of("total"))
        print(f"{convnet_torch.versions()} ({peer.name}, CUDA graph): {parts} msecs; ours takes {slower:.2f} x")
        print("total: " + ", ".join(f"{name} {each.total:.3f}" for name, each in tried.items()) + " msecs")
        print("seconds to set up: " + ", ".join(f"{name} {each.setup_s:.1f}" for name, each in tried.items()))
        print(f"results differ by {difference:.1e}{'' if good else ': TOO MUCH'}")
    if not finite(step):
        print("NOT FINITE: no figure of this network means anything")
    if o.layers:
        rows += layer_table(net, dtype, o, step)
    sys.stdout.flush()
    return rows, snapshot, good


def layer_table(net: Network, dtype: str, o: Options, step: Step) -> list[NetRow | LayerRow]:
    """Print what each layer takes; its rows. Times include what it costs to mark them, a few microseconds."""
    rows: list[NetRow | LayerRow] = []
    print(f"{'layer':>10} {'pass':>7} {'GFLOP':>9} {'ms':>9} {'TFLOPS':>7}     pool', join': of the gradient")
    for (layer, pass_), (ms, count) in time_layers(step, o.iterations).items():
        rate = count / ms / 1e9 if ms > 0 else 0.0
        print(f"{layer:>10} {pass_:>7} {count / 1e9:9.3f} {ms:9.4f} {rate:7.2f}")
        values = round(ms, 5), round(count / 1e9, 4), round(rate, 2)
        rows.append(LayerRow("convnet-layers", net.name, dtype, o.layout_of(dtype), layer, pass_, *values))
    return rows


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", default=",".join(NETWORKS), help="of " + ", ".join(NETWORKS))
    parser.add_argument("--dtype", default="float16,float32", help="of " + ", ".join(NEAR))
    parser.add_argument("--n", type=int, help="batch (default: convnet-benchmarks' own)")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--layout", choices=["CHWN", "NHWC"], help="default: NHWC; strict float32 CHWN")
    parser.add_argument("--precision", choices=["strict", "tensor"], default="strict", help="of float32")
    parser.add_argument("--tf32", action="store_true", help="let the peer multiply float32 as TF32")
    parser.add_argument("--no-graph", action="store_true", help="launch call by call, not a recorded step")
    parser.add_argument("--beside", action="store_true", help="weight gradients in a branch of the graph of their own")
    parser.add_argument("--lanes", action="store_true", help="fprop's branches of an inception side by side")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out, which takes its time")
    parser.add_argument("--layers", action="store_true", help="also time each layer")
    parser.add_argument("--no-peer", action="store_true", help="leave PyTorch out")
    parser.add_argument("--require-peer", action="store_true", help="fail where there is no GPU or no PyTorch")
    parser.add_argument("--divisor", type=int, default=1, help="divide all widths: a trial, for the emulator")
    parser.add_argument("--out", type=Path, help="JSON (if all networks ran on a GPU: results/networks/convnets.json)")
    args = parser.parse_args()
    args.net, args.dtype = args.net.split(","), args.dtype.split(",")
    for name, given, known in (("--net", args.net, NETWORKS), ("--dtype", args.dtype, NEAR)):
        for value in given:
            if value not in known:
                parser.error(f"{name}: {value!r} is not one of {', '.join(known)}")
    for name in ("iterations", "divisor", "n"):
        value = getattr(args, name)
        if value is not None and value < 1:
            parser.error(f"--{name}: {value}; needs 1 or more")
    return args


def main() -> int:
    """Measure what the command line asks for, print it, write the JSON."""
    args = parse()
    on_gpu = ng.device().kind == "cuda"
    peer = on_gpu and not args.no_peer and convnet_torch.available()
    if args.require_peer and not peer:
        print("convnet-benchmarks.py: nothing measured, needs a GPU and PyTorch with CUDA", file=sys.stderr)
        return 1
    if not on_gpu and args.divisor == 1:
        print("convnet-benchmarks.py: nothing measured, a GPU is missing; --divisor 8 is a trial on the emulator")
        return 0
    o = Options(
        args.iterations,
        args.warmup,
        args.layout,
        peer,
        args.layers,
        not args.no_graph,
        not args.no_compile,
        args.beside,
        args.lanes,
        args.precision,
        args.tf32,
    )
    ng.precision(args.precision)
    rows: list[NetRow | LayerRow] = []
    snapshot: dict[str, object] = {}
    bad = 0
    for name in args.net:
        net = scaled(NETWORKS[name], args.n, args.divisor)
        for dtype in args.dtype:
            found, snapshot, good = measure(net, dtype, o)
            rows += found
            bad += not good
            gc.collect()
            ng.release_cached_memory()
            if peer:
                convnet_torch.release()
        print(flush=True)
    out = args.out
    if out is None and on_gpu and args.divisor == 1 and set(args.net) == set(NETWORKS):
        out = Path(__file__).parent / "results/networks/convnets.json"
    if out is not None:
        write(out, rows, snapshot)  # type: ignore[arg-type]
        print(f"wrote {out}: {snapshot}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
