"""float32 convolutions of one tap beside the products that they are: what conv/product.cpp chooses from.

    python benchmarks/conv_products.py [--n 128] [--out FILE]

GoogLeNet's 1x1 layers and the joint ones of its inceptions, three passes, NHWC: microseconds of conv2d, conv2d_bprop
and conv2d_update, and of dot on the same matrices, each in both precisions. Medians of five replays of CUDA graphs of
four calls on one set of operands.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

import nervanagpu as ng
import numpy as np
from convnets.networks import NETWORKS, Conv, work
from measure.cuda import Driver, Event, Graph
from measure.report import commit, machine, save

CALLS = 4
REPLAYS = 5
PASSES = ("fprop", "bprop", "update")


def layers() -> dict[tuple[int, int, int], str]:
    """Names by channels of x, side, channels of y."""
    found: dict[tuple[int, int, int], str] = {}
    all_work = [w for w in work(NETWORKS["googlenet"]) if isinstance(w.layer, Conv) and w.layer.size == 1]
    for w in all_work:
        found.setdefault((w.c, w.side_in, w.k), w.name)
    for i in range(1, 10):
        own = {w.name.split(".")[1]: w for w in all_work if w.name.startswith(f"inc{i}.")}
        first = own["b1"]
        joint = -(-first.k // 32) * 32 + (own["c1"].k if "c1" in own else 0)
        found.setdefault((first.c, first.side_in, joint), f"inc{i}.b1+c1")
        if "a1" in own:
            found.setdefault((first.c, first.side_in, -(-joint // 32) * 32 + own["a1"].k), f"inc{i}.a1+b1+c1")
    return found


def microseconds(driver: Driver, stream: ng.Stream, call: Callable[[], object]) -> float:
    """Of one call."""
    call()  # loads its kernels outside the capture
    stream.synchronize()
    graph = Graph(driver, stream.handle, lambda: [call() for _ in range(CALLS)])
    start, end = Event(driver), Event(driver)
    samples = []
    for _ in range(REPLAYS):
        start.record(stream.handle)
        graph.launch()
        end.record(stream.handle)
        samples.append(1e3 * end.ms_since(start) / CALLS)
    return round(statistics.median(samples), 1)


def measure(driver: Driver, stream: ng.Stream, n: int, c: int, side: int, k: int) -> list[dict[str, object]]:
    """A row for each pass."""
    random = np.random.default_rng(2015)
    positions = n * side * side

    def make(*shape: int) -> ng.GPUTensor:
        return ng.array(random.standard_normal(shape).astype(np.float32))

    x, w, dy = make(n, side, side, c), make(k, 1, 1, c), make(n, side, side, k)
    y, dx, dw = ng.empty(dy.shape), ng.empty(x.shape), ng.empty(w.shape)
    x2, w2, dy2 = x.reshape(positions, c), w.reshape(k, c), dy.reshape(positions, k)
    y2, dx2, dw2 = y.reshape(positions, k), dx.reshape(positions, c), dw.reshape(k, c)
    calls: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "fprop": (
            lambda: ng.conv2d(x, w, out=y, stream=stream),
            lambda: ng.dot(x2, w2.T, out=y2, stream=stream),
        ),
        "bprop": (
            lambda: ng.conv2d_bprop(dy, w, x.shape, out=dx, stream=stream),
            lambda: ng.dot(dy2, w2, out=dx2, stream=stream),
        ),
        "update": (
            lambda: ng.conv2d_update(dy, x, w.shape, out=dw, stream=stream),
            lambda: ng.dot(dy2.T, x2, out=dw2, stream=stream),
        ),
    }
    rows = []
    for which in PASSES:
        row: dict[str, object] = {"c": c, "side": side, "k": k, "pass": which}
        for precision in ("strict", "tensor"):
            with ng.precision(precision):
                for name, call in zip(("conv", "dot"), calls[which], strict=True):
                    row[f"{name}_{precision}"] = microseconds(driver, stream, call)
        rows.append(row)
    return rows


def main() -> int:
    """Parse the command line, print a line for each pass, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=128)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    driver, stream = Driver(), ng.Stream()
    table = []
    for (c, side, k), name in layers().items():
        for row in measure(driver, stream, args.n, c, side, k):
            table.append({"name": name, **row})
            print(*table[-1].values(), flush=True)
    if args.out is not None:
        save(args.out, {"commit": commit(), **machine(), "rows": table})
    return 0


if __name__ == "__main__":
    sys.exit(main())
