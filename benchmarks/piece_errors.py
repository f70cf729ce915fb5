"""Errors of float32 convolutions and products in both precisions, on any device: the emulator has a GPU's bits.

(got - AB) / (|A||B|) over all results of a pass: its largest magnitude, its root mean square, its mean, against
float64. Of two pieces and three a row names those that are tried first; the device decides which compute it.
On a GPU also the microseconds of a call, of all its kernels, in a graph. The peers' errors stand in conv_errors.py and
measure/errors.py, which want a GPU.

    NERVANAGPU_DEVICE=emulator python benchmarks/piece_errors.py [--only 3x3] [--data uniform,relu] [--out FILE]
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import numpy.typing as npt
from measure.report import commit, machine, save

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def cancelling(r: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Neighbours in a sum nearly cancel."""
    sign = 1 - 2 * (np.arange(shape[-1]) % 2)
    return (sign * (1 + 1e-3 * r.standard_normal(shape))).astype(np.float32)


def few_huge(r: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """One of a hundred is 1e12 times larger."""
    x = r.standard_normal(shape)
    return np.where(r.random(shape) < 0.01, 1e12 * x, x).astype(np.float32)


DATA: dict[str, Draw] = {
    "normal": lambda r, s: r.standard_normal(s, dtype=np.float32),
    "uniform": lambda r, s: r.random(s, dtype=np.float32),
    "exponential": lambda r, s: r.standard_exponential(s, dtype=np.float32),
    "exp(normal)": lambda r, s: np.exp(r.standard_normal(s, dtype=np.float32)),
    "exp(4 normal)": lambda r, s: np.exp(4 * r.standard_normal(s, dtype=np.float32))
    * np.sign(r.random(s) - 0.5).astype(np.float32),
    "relu": lambda r, s: np.maximum(r.standard_normal(s, dtype=np.float32), 0),
    "cancelling": cancelling,
    "few huge": few_huge,
}


@dataclass(frozen=True)
class Layer:
    """A square filter without strides over square maps, channels last."""

    name: str
    n: int
    side: int
    c: int
    k: int
    filter: int

    @property
    def pad(self) -> int:
        return self.filter // 2


LAYERS = (
    Layer("3x3 64", 8, 56, 64, 64, 3),
    Layer("3x3 96", 32, 28, 96, 128, 3),
    Layer("3x3 256", 32, 14, 256, 256, 3),
    Layer("3x3 1024", 8, 14, 1024, 256, 3),
    Layer("5x5 64", 16, 28, 64, 192, 5),
    Layer("3x3 56", 8, 56, 56, 128, 3),
    Layer("5x5 32", 16, 28, 32, 96, 5),
    Layer("7x7 3", 4, 112, 3, 64, 7),
)
# m, n, k of products.
PRODUCTS = (
    (2048, 2048, 256),
    (1536, 1536, 768),
    (1024, 1024, 1024),
    (1536, 1536, 1024),
    (1024, 1024, 2048),
    (512, 512, 8192),
)
# The kernels that add up products, of two and of three pieces.
SUMS = re.compile(r"f16x3_[a-z]+_\d|bf16x6_|conv_split")


def windows(x: Floats, layer: Layer) -> Doubles:
    """Rows of a matrix: what the filter sees at each pixel."""
    p, f = layer.pad, layer.filter
    wide = np.pad(x.astype(np.float64), ((0, 0), (p, p), (p, p), (0, 0)))
    seen = np.lib.stride_tricks.sliding_window_view(wide, (f, f), (1, 2))  # n, h, w, c, r, s
    return np.ascontiguousarray(seen.transpose(0, 1, 2, 4, 5, 3)).reshape(-1, f * f * x.shape[-1])


def both(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    """The product, and that of magnitudes."""
    return a @ b, np.abs(a) @ np.abs(b)


@dataclass(frozen=True)
class Case:
    """A pass or a product: what computes it, what is launched, and its exact result beside its scale."""

    name: str
    which: str
    terms: int
    kernels: list[str]
    call: Callable[[], Any]
    exact: Callable[[], tuple[Doubles, Doubles]]


def passes(layer: Layer, draw: Draw, r: np.random.Generator) -> Iterator[Case]:
    """The three passes of a layer."""
    x = draw(r, (layer.n, layer.side, layer.side, layer.c))
    w = draw(r, (layer.k, layer.filter, layer.filter, layer.c))
    dy = draw(r, (layer.n, layer.side, layer.side, layer.k))
    gx, gw, gdy = ng.array(x), ng.array(w), ng.array(dy)
    flipped = np.ascontiguousarray(w[:, ::-1, ::-1].transpose(1, 2, 0, 3)).reshape(-1, layer.c).astype(np.float64)
    rows = dy.reshape(-1, layer.k).astype(np.float64)
    taps = layer.filter**2
    how: dict[str, Any] = {"padding": layer.pad, "layout": "NHWC"}

    def case(which: str, terms: int, tensors: Any, call: Callable[[], Any], exact: Any) -> Case:
        with ng.precision("tensor"):
            kernels = ng.ConvPlan(which, *tensors, **how).kernels
        return Case(layer.name, which, terms, kernels, call, exact)

    yield case(
        "fprop",
        taps * layer.c,
        (gx, gw, gdy),
        lambda: ng.conv2d(gx, gw, **how),
        lambda: both(windows(x, layer), w.reshape(layer.k, -1).T.astype(np.float64)),
    )
    yield case(
        "bprop",
        taps * layer.k,
        (gdy, gw, gx),
        lambda: ng.conv2d_bprop(gdy, gw, x.shape, **how),
        lambda: both(windows(dy, layer), flipped),
    )
    yield case(
        "update",
        rows.shape[0],
        (gdy, gx, gw),
        lambda: ng.conv2d_update(gdy, gx, w.shape, **how),
        lambda: both(rows.T, windows(x, layer)),
    )


def product(m: int, n: int, k: int, draw: Draw, r: np.random.Generator) -> Case:
    """C = A B."""
    a, b = draw(r, (m, k)), np.ascontiguousarray(draw(r, (n, k)).T)
    ga, gb = ng.array(a), ng.array(b)
    out = ng.empty((m, n))
    kernel = ng.GemmPlan(ga, gb, out, precision="tensor").kernel
    return Case(
        f"{m} x {n}",
        "gemm",
        k,
        [kernel],
        lambda: ng.dot(ga, gb, out=out),
        lambda: both(a.astype(np.float64), b.astype(np.float64)),
    )


def errors(got: Floats, exact: Doubles, scale: Doubles) -> dict[str, float]:
    """Infinite where anything is not a number."""
    off = (got.reshape(exact.shape) - exact) / np.maximum(scale, 1e-300)
    off[~np.isfinite(off)] = np.inf
    return {"max": float(np.abs(off).max()), "rms": float(np.sqrt((off**2).mean())), "mean": float(off.mean())}


def cases(only: str, data: str) -> Iterator[Case]:
    """Those whose name contains `only`, each with its own numbers of a distribution."""
    for layer in LAYERS:
        if only in layer.name:
            yield from passes(layer, DATA[data], np.random.default_rng(2015))
    for m, n, k in PRODUCTS:
        if only in f"{m} x {n} gemm":
            yield product(m, n, k, DATA[data], np.random.default_rng(2015))


def main() -> int:
    """Parse the command line, print a line for each case and distribution, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--data", default=",".join(DATA))
    parser.add_argument("--out", type=Path, default=Path("build/piece_errors.json"))
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in args.data.split(","):
        for case in cases(args.only, name):
            exact, scale = case.exact()
            row: dict[str, Any] = {"bench": "piece_errors", "case": case.name, "pass": case.which, "terms": case.terms}
            row |= {"data": name, "kernels": case.kernels}
            for precision in ("tensor", "strict"):
                with ng.precision(precision):
                    row[precision] = errors(case.call().get(), exact, scale)
                    if ng.device().kind == "cuda":
                        graph = ng.Graph(case.call)
                        row[f"{precision}_us"] = 1e3 * ng.benchmark(graph.launch, repeat=50).ms
            rows.append(row)
            said = "  ".join(
                f"{how} {row[how]['max']:.2e} {row[how]['rms']:.2e} {row[how]['mean']:+.2e}"
                for how in ("tensor", "strict")
            )
            ratio = row["tensor"]["rms"] / row["strict"]["rms"]
            main_kernel = next((k for k in case.kernels if SUMS.search(k)), case.kernels[0])
            print(
                f"{case.name:12} {case.which:6} {case.terms:6} {name:13} {main_kernel:24} {said}  {ratio:.2f}",
                flush=True,
            )
    save(args.out, {"commit": commit(), **machine(), "device": ng.device().kind, "rows": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
