"""What each kernel of a network's step takes: a replayed graph under PyTorch's profiler, which asks CUPTI.

    python benchmarks/convnet_kernels.py [--net googlenet] [--dtype float16] [--precision tensor]
                                        [--streams] [--out FILE]

One row a launch, in order: its kernel, when it began and how long it took, in microseconds, and its grid. A launch may
begin before the one ahead has ended, and then its time has some of waiting. Needs a GPU and PyTorch.
"""

from __future__ import annotations

import argparse
import importlib
import json
import tempfile
from pathlib import Path
from typing import Any

import nervanagpu as ng
import torch
from convnets.networks import NETWORKS
from convnets.replay import Replay
from convnets.step import Step
from measure.report import commit, machine, save
from torch.profiler import ProfilerActivity, profile

REPLAYS = 3  # the middle one is told


def launches(step: Replay) -> list[dict[str, Any]]:
    """Of the middle one of some replays."""
    for _ in range(REPLAYS):
        step.whole.launch()
    ng.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(REPLAYS):
            step.whole.launch()
        ng.synchronize()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        seen.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    kernels = sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])
    count = len(kernels) // REPLAYS
    one = kernels[count : 2 * count]
    return [
        {
            "kernel": e["name"],
            "at_us": round(e["ts"] - one[0]["ts"], 2),
            "us": round(e["dur"], 2),
            "grid": e["args"]["grid"],
        }
        for e in one
    ]


def main() -> None:
    """Measure, print the sums by kernel, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", choices=NETWORKS, default="googlenet")
    parser.add_argument("--dtype", default="float16")
    parser.add_argument("--precision", choices=["strict", "tensor"], default="strict", help="of float32")
    parser.add_argument("--streams", action="store_true", help="as --beside --lanes of convnet-benchmarks.py")
    parser.add_argument("--out", type=Path)
    o = parser.parse_args()
    torch.zeros(1, device="cuda")  # its context is ours
    net = NETWORKS[o.net]
    inputs = importlib.import_module("convnet-benchmarks").inputs(net)
    with ng.precision(o.precision):
        step = Step(net, o.dtype, *inputs, layout="NHWC", beside=o.streams, lanes=o.streams)
        rows = launches(Replay(step))
    sums: dict[str, float] = {}
    for row in rows:
        sums[row["kernel"]] = sums.get(row["kernel"], 0.0) + row["us"]
    for kernel, us in sorted(sums.items(), key=lambda of: -of[1]):
        print(f"{us:10.1f} us  {kernel}")
    if o.out is not None:
        what = {"net": o.net, "dtype": o.dtype, "precision": o.precision, "streams": o.streams, "rows": rows}
        save(o.out, {"commit": commit(), **machine(), **what})


if __name__ == "__main__":
    main()
