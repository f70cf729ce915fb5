"""Writes the README's speed table from benchmarks/results/gemm.json; --check fails where it is out of date."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
START, END = "<!-- table: benchmarks/results/gemm.json -->", "<!-- end -->"


def table(result: dict) -> str:
    """One line a case, one column a layout: our TFLOPS and the ratio to the peer."""
    cells = {(r["case"], r["layout"]): r for r in result["rows"]}
    layouts = list(dict.fromkeys(r["layout"] for r in result["rows"]))
    lines = [
        "| m x n x k | "
        + " | ".join(f"{lay.upper()}: TFLOPS (x {result['rows'][0]['peer']})" for lay in layouts)
        + " |",
        "|---|" + "---|" * len(layouts),
    ]
    for case in dict.fromkeys(r["case"] for r in result["rows"]):
        row = [cells[case, lay] for lay in layouts]
        lines.append(f"| {case} | " + " | ".join(f"{r['tflops']:.1f} ({r['ratio']:.2f})" for r in row) + " |")
    worst = max(r["max_err"] for r in result["rows"])
    peer = max(r["peer_max_err"] for r in result["rows"])
    lines += [
        "",
        f"{result['gpu']}, driver {result['driver']}, SM clock {result['clocks']['sm']} MHz and "
        f"{float(result['power']['draw']):.0f} W a second into NN 4096, commit {result['commit'][:12]}. "
        f"Largest error over \\|A\\|\\|B\\|: {worst:.1e}, cuBLAS {peer:.1e}.",
    ]
    return "\n".join(lines)


def main() -> int:
    readme = ROOT / "README.md"
    text = readme.read_text()
    result = json.loads((ROOT / "benchmarks/results/gemm.json").read_text())
    head, rest = text.split(START)
    new = head + START + "\n" + table(result) + "\n" + END + rest.split(END, 1)[1]
    if "--check" in sys.argv:
        if new != text:
            print("README.md: the speed table is not that of benchmarks/results/gemm.json; run tools/readme_table.py")
        return int(new != text)
    readme.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
