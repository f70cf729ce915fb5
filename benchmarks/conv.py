"""The convolutions of four networks beside cuDNN, in one run on one GPU: the same tensors, three passes.

--networks heldout_depthwise,heldout_video,...: the layers of convnets/held_out_layers.py, in one to three dimensions.

    python benchmarks/conv.py [--out FILE] [--networks vgg_a,...] [--layers vgg_a.conv1,...] [--dtypes float32]
                              [--passes fprop,...] [--require-peer]

Ours runs on NHWC; the peer is PyTorch's convolution (cuDNN in benchmark mode, TF32 off) in its better memory format,
channels_last or contiguous. CUDA-graph replays (ours: where no workspace is needed), interleaved, medians; small
buffers rotate past the L2. TFLOPS count the zeros of padding. The error is the largest |got - float64| / (|A||B|) over
sampled results, for both libraries.
Exits 1 if ours exceeds r 2^-24 / (1 - r 2^-24), plus the rounding of a 16-bit result: r is k, the products of a sum, or
10.5 for each 16 of a tap on the tensor cores (docs/numerics.md).

--precision tensor: float32 on the tensor cores where that is worth while; the peer's TF32 stays off.

--dtypes int8: fprop of int8 with int8 results, which must be exact. PyTorch has no such convolution on GPUs: the peer
is cuDNN itself (peers/cudnn_int8.py) in its better layout. Where that has none it is our float16. TFLOPS are those of
integers.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import nervanagpu as ng
from convnets.held_out_layers import HELDOUT, Layer
from convnets.networks import NETWORKS, Conv, work
from measure.cuda import CudaError, Driver, Event, Graph
from measure.report import Row, machine, write
from peers.torch_graph import torch_replay

try:
    import torch
    from peers import cudnn_int8
except ImportError:
    torch = None

L2_BYTES = 60 << 20
REPEATS = 9
PASSES = ("fprop", "bprop", "update")
OURS: list[tuple[Callable[..., object], ...]] = [
    (ng.conv1d, ng.conv1d_bprop, ng.conv1d_update),
    (ng.conv2d, ng.conv2d_bprop, ng.conv2d_update),
    (ng.conv3d, ng.conv3d_bprop, ng.conv3d_update),
]


@dataclass(frozen=True)
class Case:
    """One convolution."""

    name: str
    layer: Layer
    first: bool = False  # of its network: it has no data gradient

    @property
    def taps(self) -> int:
        return prod(self.layer.sizes)

    @property
    def flops(self) -> float:
        """Of one pass."""
        d = self.layer
        return 2.0 * d.n * d.k * prod(d.outs) * d.c // d.groups * self.taps

    @property
    def elements(self) -> int:
        """Of x, w and y, each of which a pass reads or writes."""
        d = self.layer
        w = d.k * d.c // d.groups * self.taps
        return d.n * (d.c * prod(d.sides) + d.k * prod(d.outs)) + w

    def terms(self, which: str) -> int:
        """Products in one sum."""
        d = self.layer
        if which == "update":
            return d.n * prod(d.outs)
        return (d.c if which == "fprop" else d.k) // d.groups * self.taps

    def bound(self, which: str, dtype: str, precision: str = "strict") -> float:
        """Of a sum's error over |A||B|."""
        if dtype == "int8":
            return 0.0
        roundings: float = self.terms(which)
        if dtype == "float32" and precision == "strict" and self.layer.groups < self.layer.c:
            most = max(min(self.terms(which) // 64, 256), 1)  # parts: splits_of in kernels/conv/mapping.cpp
            roundings = max(chunked(self.terms(which), parts) for parts in range(1, most + 1))
        if precision == "tensor":  # chunks of 64 of each tap's channels, whose halves may be added, in up to 132 parts
            roundings = max(roundings, 112 + roundings / 64 + self.taps + 132)
        elif dtype != "float32":
            roundings = max(roundings, 10.5 * (roundings / 16 + self.taps))
        return roundings * 2.0**-24 / (1 - roundings * 2.0**-24)


def chunked(terms: int, parts: int) -> int:
    """Roundings of a sum by multiply-adds that begin anew after 256 terms, of so many parts."""
    part = min(-(-terms // (16 * parts)) * 16, terms)
    return min(part, 256) + -(-part // 256) + parts - 2


def cases(networks: list[str]) -> list[Case]:
    """The different convolutions, named after their first place."""
    found: dict[Layer, Case] = {}
    for name in networks:
        if name in HELDOUT:
            for d in HELDOUT[name]:
                found.setdefault(d, Case(f"{name}.{d.name}", d))
            continue
        net = NETWORKS[name]
        for w in work(net):
            if isinstance(w.layer, Conv):
                d = Layer(net.n, w.c, w.side_in, w.k, w.layer.size, w.layer.stride, padding=w.layer.pad)
                found.setdefault(d, Case(f"{name}.{w.name}", d, first=w.bprop == 0))
    return list(found.values())


class Operands:
    """x, w, dy at random in PyTorch's memory, (N, C, ...) with the channels last in memory: NHWC for us."""

    def __init__(self, case: Case, dtype: Any, generator: Any) -> None:
        def make(*shape: int) -> Any:
            if dtype == torch.int8:
                t = torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8, generator=generator)
            else:
                t = torch.randn(shape, device="cuda", dtype=torch.float32, generator=generator).to(dtype)
            return channels_last(t)

        d = case.layer
        self.x = make(d.n, d.c, *d.sides)
        self.w = make(d.k, d.c // d.groups, *d.sizes)
        self.dy = make(d.n, d.k, *d.outs)

    def like(self, which: str) -> Any:
        """What the pass computes is of this shape."""
        return {"fprop": self.dy, "bprop": self.x, "update": self.w}[which]


def channels_last(t: Any) -> Any:
    """The same elements with the channels last in memory, which PyTorch has a format for in 2D and 3D alone."""
    return t.movedim(1, -1).contiguous().movedim(-1, 1)


def ours_of(t: Any) -> ng.GPUTensor:
    """A tensor of PyTorch with the channels last as ours, in the same memory."""
    lying = t.movedim(1, -1)
    if not lying.is_contiguous():
        raise ValueError(f"a tensor of shape {tuple(t.shape)} lies with strides {t.stride()}; needs its channels last")
    return ng.wrap(t.data_ptr(), tuple(lying.shape), str(t.dtype).split(".")[1])


def run_ours(
    case: Case, which: str, o: Operands, out: Any, stream: ng.Stream, scale: float | None = None
) -> Callable[[], object]:
    """Our pass on these operands; scale: of bytes that become int8."""
    x, w, dy, y = ours_of(o.x), ours_of(o.w), ours_of(o.dy), ours_of(out)
    d = case.layer
    fprop, bprop, update = OURS[len(d.sides) - 1]
    walk = d.strides, d.pads, d.dilation, d.groups
    if which == "fprop":
        return lambda: fprop(x, w, None, *walk, out=y, stream=stream, scale=scale)
    if which == "bprop":
        return lambda: bprop(dy, w, x.shape, *walk, out=y, stream=stream)
    return lambda: update(dy, x, w.shape, *walk, out=y, stream=stream)


def torch_pass(case: Case, which: str, x: Any, w: Any, dy: Any) -> Any:
    """PyTorch's; of some groups, if w has only theirs."""
    d = case.layer
    axes = len(d.sides)
    stride, pad, dilation, none = list(d.strides), list(d.pads), [d.dilation] * axes, [0] * axes
    groups = d.groups if w.shape[0] == d.k else x.shape[1] * d.groups // d.c
    if which == "fprop":
        return torch.ops.aten.convolution(x, w, None, stride, pad, dilation, False, none, groups)
    wanted = [which == "bprop", which == "update", False]
    both = torch.ops.aten.convolution_backward(dy, x, w, None, stride, pad, dilation, False, none, groups, wanted)
    return both[0] if which == "bprop" else both[1]


def worst(case: Case, which: str, o: Operands, got: Any) -> float:
    """Largest error of `got` over |A||B| in one image, or in four filters of an update; inf where it is no number."""
    unit = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}.get(got.dtype, 0.0)
    if which == "update":
        d = case.layer
        few = 4 if d.groups in (1, d.k) else d.k
        x = o.x if d.groups == 1 else o.x[:, : few * d.c // d.k]
        x, w, dy, part = x.double(), o.w[:few].double(), o.dy[:, :few].double(), got[:few]
    else:
        x, w, dy, part = o.x[-1:].double(), o.w.double(), o.dy[-1:].double(), got[-1:]
    exact = torch_pass(case, which, x, w, dy)
    scale = torch_pass(case, which, x.abs(), w.abs(), dy.abs())
    error = (part.double() - exact).abs()
    if unit > 0:
        error = (error - exact.abs() * unit - 2.0**-25).clamp(min=0)
    relative = error / scale.clamp(min=1e-30)
    return float(relative.max()) if bool(torch.isfinite(relative).all()) else float("inf")


def our_replay(
    driver: Driver, stream: ng.Stream, body: Callable[[], object], runs: int
) -> tuple[Callable[[], float], bool]:
    """Milliseconds of one of the runs in `body`; whether it is a graph (a workspace cannot be captured)."""
    body()  # load and warm up outside the capture
    stream.synchronize()
    launch: Callable[[], object] = body
    try:
        launch = Graph(driver, stream.handle, body).launch
    except (CudaError, ng.Error):
        stream.synchronize()
    start, end = Event(driver), Event(driver)

    def run() -> float:
        start.record(stream.handle)
        launch()
        end.record(stream.handle)
        return end.ms_since(start) / runs

    return run, launch is not body


@dataclass
class ConvRow(Row):
    """Row, with the peer's memory format and rate, and whether ours was a graph (else launches one by one)."""

    peer_format: str = ""
    peer_tflops: float = 0.0
    gbps: float = 0.0  # of x, w and y, each once
    graph: bool = True


def measure(driver: Driver, stream: ng.Stream, case: Case, dtype: str, which: str) -> ConvRow:
    """Both libraries on one pass."""
    generator = torch.Generator("cuda").manual_seed(2015)
    kind = getattr(torch, dtype)
    first = Operands(case, kind, generator)
    used = sum(t.nbytes for t in (first.x, first.w, first.dy))
    sets = [first] + [Operands(case, kind, generator) for _ in range(min(4, -(-2 * L2_BYTES // used)) - 1)]
    outs = [torch.full_like(s.like(which), float("nan"), memory_format=torch.preserve_format) for s in sets]
    passes = min(500, max(1, int(2e11 / (case.flops * len(sets)))))
    torch.cuda.synchronize()
    singles = [run_ours(case, which, s, out, stream) for s, out in zip(sets, outs, strict=True)]
    ours, replayed = our_replay(
        driver, stream, lambda: [f() for _ in range(passes) for f in singles], passes * len(sets)
    )
    runs = [ours]
    result: list[Any] = [None]
    formats = ["channels_last", "contiguous_format"]
    for form in formats:
        lying = channels_last if form == "channels_last" else torch.Tensor.contiguous
        held = [tuple(lying(t) for t in (s.x, s.w, s.dy)) for s in sets]

        def body(held: list[tuple[Any, ...]] = held) -> None:
            for _ in range(passes):
                for tensors in held:
                    result[0] = torch_pass(case, which, *tensors)

        runs.append(torch_replay(body, passes * len(sets)))
    samples: list[list[float]] = [[] for _ in runs]
    for _ in range(REPEATS):
        for into, run in zip(samples, runs, strict=True):
            into.append(run())
    ms, *peers = (statistics.median(s) for s in samples)
    best = min(range(len(peers)), key=lambda i: peers[i])
    peer = torch_pass(case, which, first.x, first.w, first.dy)
    return ConvRow(
        bench="conv",
        case=case.name,
        dtype=dtype,
        layout="NHWC",
        pass_=which,
        ms=round(ms, 6),
        peer=f"cuDNN {torch.backends.cudnn.version()}",
        peer_ms=round(peers[best], 6),
        ratio=round(peers[best] / ms, 4),
        max_err=worst(case, which, first, outs[0]),
        peer_max_err=worst(case, which, first, peer),
        tflops=round(1e-9 * case.flops / ms, 2),
        peer_format=formats[best],
        peer_tflops=round(1e-9 * case.flops / peers[best], 2),
        gbps=round(1e-6 * case.elements * first.x.element_size() / ms, 1),
        graph=replayed,
    )


def finished(sums: Any, scale: float) -> Any:
    """Exact sums of bytes as int8: float32, times the scale, half to even, saturated."""
    scaled = sums.to(torch.float32) * torch.tensor(scale, dtype=torch.float32, device="cuda")
    return scaled.round().clamp(-128, 127).to(torch.int8)


def measure_bytes(driver: Driver, stream: ng.Stream, case: Case) -> ConvRow:
    """fprop of int8 to int8 beside cuDNN's, or where that has none beside our float16."""
    generator = torch.Generator("cuda").manual_seed(2015)
    first = Operands(case, torch.int8, generator)
    used = first.x.nbytes + first.w.nbytes + first.dy.numel()
    count = min(4, -(-2 * L2_BYTES // used))
    sets = [first] + [Operands(case, torch.int8, generator) for _ in range(count - 1)]
    outs = [torch.zeros_like(s.dy) for s in sets]
    passes = min(500, max(1, int(2e11 / (case.flops * count))))
    scale = 32 / (74 * 74 * case.terms("fprop") ** 0.5)  # of uniform bytes
    torch.cuda.synchronize()
    bytes_ = [run_ours(case, "fprop", s, out, stream, scale=scale) for s, out in zip(sets, outs, strict=True)]
    ours, replayed = our_replay(driver, stream, lambda: [f() for _ in range(passes) for f in bytes_], passes * count)
    last = torch_pass(case, "fprop", first.x[-1:].double(), first.w.double(), first.dy[-1:].double())
    exact = finished(last, scale)  # of the last image
    peer = cudnn_int8.fastest(case.layer, [s.x for s in sets], [s.w for s in sets], scale)
    if peer:
        form, body, result = peer
        other = torch_replay(partial(body, passes), passes * count)
        error = float((result()[-1:].to(torch.int32) - exact.to(torch.int32)).abs().max())
        name = f"cuDNN {torch.backends.cudnn.version()} int8"
    else:
        halves = [Operands(case, torch.float16, generator) for _ in range(count)]
        floats = [run_ours(case, "fprop", s, s.dy, stream) for s in halves]
        other, _ = our_replay(driver, stream, lambda: [f() for _ in range(passes) for f in floats], passes * count)
        form, error, name = "channels_last", worst(case, "fprop", halves[0], halves[0].dy), "nervanagpu float16"
    samples: list[tuple[float, float]] = [(ours(), other()) for _ in range(REPEATS)]
    ms, peer_ms = (statistics.median(column) for column in zip(*samples, strict=True))
    return ConvRow(
        bench="conv",
        case=case.name,
        dtype="int8",
        layout="NHWC",
        pass_="fprop",
        ms=round(ms, 6),
        peer=name,
        peer_ms=round(peer_ms, 6),
        ratio=round(peer_ms / ms, 4),
        max_err=0.0 if torch.equal(outs[0][-1:], exact) else float("inf"),
        peer_max_err=error,
        tflops=round(1e-9 * case.flops / ms, 2),
        peer_format=form,
        peer_tflops=round(1e-9 * case.flops / peer_ms, 2),
        gbps=round(1e-6 * used / ms, 1),
        graph=replayed,
    )


def main() -> int:
    """Parse the command line, measure, print a table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/conv/conv.json"))
    parser.add_argument("--networks", default="vgg_a,alexnet,overfeat,googlenet")
    parser.add_argument("--layers", default="", help="only these, for example vgg_a.conv3,alexnet.conv1")
    parser.add_argument("--dtypes", default="float32")
    parser.add_argument("--precision", choices=["strict", "tensor"], default="strict", help="of float32")
    parser.add_argument("--passes", default=",".join(PASSES))
    parser.add_argument(
        "--require-peer", action="store_true", help="fail where there is no GPU or no PyTorch with CUDA"
    )
    args = parser.parse_args()
    ng.precision(args.precision)
    if ng.device().kind != "cuda" or torch is None or not torch.cuda.is_available():
        missing = "a GPU" if ng.device().kind != "cuda" else "PyTorch with CUDA"
        print(f"benchmarks/conv.py: nothing measured, {missing} is missing", file=sys.stderr)
        return 1 if args.require_peer else 0
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    driver, stream = Driver(), ng.Stream()
    rows: list[Row] = []
    bad = 0
    wanted = [layer for layer in args.layers.split(",") if layer]
    print(f"{ng.device().name}, ours against cuDNN {torch.backends.cudnn.version()}; error = max |err| / (|A||B|)")
    for case in cases(args.networks.split(",")):
        if wanted and case.name not in wanted:
            continue
        for dtype in args.dtypes.split(","):
            for which in args.passes.split(","):
                of_bytes = dtype == "int8"
                if (which == "bprop" and case.first) or (of_bytes and which != "fprop"):
                    continue
                row = measure_bytes(driver, stream, case) if of_bytes else measure(driver, stream, case, dtype, which)
                torch.cuda.empty_cache()
                rows.append(row)
                row.precision = args.precision if dtype == "float32" else None
                bound = case.bound(which, dtype, args.precision)
                wrong = not row.max_err <= bound
                bad += wrong
                print(
                    f"{case.name:>30} {dtype} {which:6} {row.ms:8.4f} ms {row.tflops:6.2f} TFLOPS {row.gbps:6.0f} GB/s "
                    f"  {row.peer} "
                    f"{row.peer_ms:8.4f} ms {row.peer_tflops:6.2f} ({row.peer_format[:10]}) {row.ratio:5.2f}x   error "
                    f"{row.max_err:.1e} (peer {row.peer_max_err:.1e})"
                    f"{'  BEYOND THE BOUND ' + format(bound, '.1e') if wrong else ''}",
                    flush=True,
                )
                write(args.out, rows, machine())  # as it goes: a run may end before its time
    print(f"wrote {args.out}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
