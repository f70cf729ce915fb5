"""Products of matrices and what follows them, as one expression, beside PyTorch, Inductor and CuPy.

    python benchmarks/products.py [--out FILE] [--inductor] [--autotuned] [--cases neuron,sample,...] [--small]

Times are medians between events as those of elementwise.py: ours and the peers' interleaved, after queued work,
operands in turns, all in one run on one GPU. `kernels` is what one evaluation of ours launches. --inductor:
torch.compile as a peer; --autotuned: with mode="max-autotune-no-cudagraphs", too, neuron and sample of the first shape.
PyTorch multiplies float32 without TF32. Errors are the largest difference from NumPy's result of float64 operands over
the largest magnitude there; one above the bound of the dtype fails the run. --small: sizes for the emulator, where
figures mean nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
from elementwise import BUFFERS, chosen, timed
from measure.report import commit, machine, save
from peers.libraries import cupy, torch


@dataclass(frozen=True)
class Words:
    """What the formulas below are written with."""

    sig: Callable[[Any], Any]
    tanh: Callable[[Any], Any]
    relu: Callable[[Any], Any]
    silu: Callable[[Any], Any]
    random: Callable[[Any], Any]  # uniform numbers, as many as its argument has


# w: (m, k), x: (k, n), u: (m, m), h: (m, n), b: (m, 1), c: (1, n)
CASES: dict[str, Callable[[Words, dict[str, Any]], Any]] = {
    "plain": lambda _, v: v["w"] @ v["x"],
    "neuron": lambda f, v: f.sig(v["w"] @ v["x"] + v["b"]),
    "sample": lambda f, v: f.random(v["h"]) < f.sig(v["w"] @ v["x"] + v["b"]),
    "relu": lambda f, v: f.relu(v["w"] @ v["x"] + v["c"]),
    "silu": lambda f, v: f.silu(v["w"] @ v["x"] + v["c"]),
    "recurrent": lambda f, v: f.tanh(v["w"] @ v["x"] + v["u"] @ v["h"] + v["b"]),
}
SHAPES = [  # m, n, k
    (4096, 256, 2048, "float32"),
    (512, 256, 784, "float32"),
    (4096, 256, 2048, "float16"),
    (4096, 4096, 4096, "bfloat16"),
]
SMALL = [(64, 32, 48, "float32"), (64, 32, 48, "float16")]
BOUND = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}


def ours() -> Words:
    """This library's."""
    return Words(ng.sig, ng.tanh, lambda x: ng.maximum(x, 0), ng.silu, lambda h: ng.rand(*h.shape))


def torchs() -> Words:
    """PyTorch's."""
    return Words(torch.sigmoid, torch.tanh, torch.relu, torch.nn.functional.silu,
                 lambda h: torch.rand(h.shape, device="cuda"))  # fmt: skip


def cupys() -> Words:
    """CuPy's; it has no logistic function."""

    def sig(x: Any) -> Any:
        return 1 / (1 + cupy.exp(-x))

    return Words(sig, cupy.tanh, lambda x: cupy.maximum(x, 0), lambda x: x * sig(x),
                 lambda h: cupy.random.random(h.shape, dtype=cupy.float32))  # fmt: skip


def numpys() -> Words:
    """What is exact enough."""

    def sig(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))

    return Words(sig, np.tanh, lambda x: np.maximum(x, 0), lambda x: x * sig(x), lambda h: np.zeros(h.shape))


def operands(m: int, n: int, k: int) -> dict[str, Any]:
    """Host arrays, float32; products have a variance of 1."""
    rng = np.random.default_rng(1)
    shapes = {"w": (m, k), "x": (k, n), "u": (m, m), "h": (m, n), "b": (m, 1), "c": (1, n)}
    scale = {"w": k**-0.5, "u": m**-0.5}
    return {name: (rng.standard_normal(s) * scale.get(name, 1.0)).astype(np.float32) for name, s in shapes.items()}


def measure(name: str, shape: tuple[int, int, int, str], gpu: bool, modes: dict[str, str | None]) -> dict[str, Any]:
    """One formula of one shape beside its peers."""
    m, n, k, dtype = shape
    formula = CASES[name]
    host = operands(m, n, k)
    mine = [{key: ng.array(v).astype(dtype) for key, v in host.items()} for _ in range(BUFFERS)]
    words = ours()
    runs: dict[str, Callable[[int], object]] = {"ours": lambda i: ng.evaluate(formula(words, mine[i]))}
    if gpu and torch is not None:
        theirs = [{key: torch.from_numpy(v).cuda().to(getattr(torch, dtype)) for key, v in host.items()}
                  for _ in range(BUFFERS)]  # fmt: skip
        runs["torch"] = lambda i: formula(torchs(), theirs[i])
        for label, mode in modes.items():
            torch._dynamo.reset()
            compiled = torch.compile(lambda v: formula(torchs(), v), mode=mode)
            runs[label] = lambda i, compiled=compiled: compiled(theirs[i])
            compiled(theirs[0])
    if gpu and cupy is not None and dtype != "bfloat16":
        others = [{key: cupy.asarray(v.astype(dtype)) for key, v in host.items()} for _ in range(BUFFERS)]
        runs["cupy"] = lambda i: formula(cupys(), others[i])
    large = [ng.zeros(1 << 26 if gpu else 1) for _ in range(2)]

    def work() -> None:  # a millisecond, for hosts that are slower than the device
        for _ in range(8):
            large[1][:] = large[0]

    before = ng.launch_count()
    y = formula(words, mine[0])
    ng.evaluate(y)
    kernels = ng.launch_count() - before
    wide = {key: v.astype("float32").get().astype(np.float64) for key, v in mine[0].items()}
    if name == "sample":  # whether a number is below cannot be compared; how many are can
        exact = np.asarray(CASES["neuron"](numpys(), wide))
        error = abs(float(np.mean(y.get())) - float(exact.mean()))
        bound = 8 / (m * n) ** 0.5
    else:
        exact = np.asarray(formula(numpys(), wide))
        error = float(np.abs(y.astype("float32").get() - exact).max() / np.abs(exact).max())
        bound = BOUND[dtype]
    ms = timed(runs, work)
    peers = {label: v for label, v in ms.items() if label != "ours"}
    return {"case": name, "m": m, "n": n, "k": k, "dtype": dtype, "ms": ms["ours"], "kernels": kernels, "peers": peers,
            "error": error, "right": error <= bound,
            "plan": ng.explain(formula(words, mine[0])).splitlines()}  # fmt: skip


def main() -> int:
    """Parse the command line, measure, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="JSON file; default: none")
    parser.add_argument("--inductor", action="store_true")
    parser.add_argument("--autotuned", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--cases", default=",".join(CASES))
    args = parser.parse_args()
    names = chosen(parser, args.cases, CASES)
    gpu = ng.device().kind == "cuda"
    modes: dict[str, str | None] = {"inductor": None} if args.inductor else {}
    rows = []
    for shape in SMALL if args.small else SHAPES:
        for name in names:
            tunes = args.autotuned and shape == SHAPES[0] and name in ("neuron", "sample")
            tuned = {"autotuned": "max-autotune-no-cudagraphs"} if tunes else {}
            r = measure(name, shape, gpu, modes | tuned)
            rows.append(r)
            peers = ", ".join(f"{k} {v:.4f} ms" for k, v in r["peers"].items())
            size = f"{r['m']} x {r['n']} x {r['k']} {r['dtype']}"
            print(f"{name:10s} {size:28s} {r['ms']:8.4f} ms, {r['kernels']} kernels, error {r['error']:.1e}  {peers}",
                  flush=True)  # fmt: skip
    if args.out:
        save(args.out, {"commit": commit(), **machine(), "rows": rows})
    return 0 if all(r["right"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
