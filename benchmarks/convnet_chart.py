"""The bar chart of benchmarks/results/networks/convnets.json: milliseconds of a step, ours beside the peer's, as SVG.

python benchmarks/convnet_chart.py [JSON [SVG]]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from measure.svg import GRID, OURS, PEER, draw, sheet, text

ROOT = Path(__file__).resolve().parent.parent
JSON, SVG = ROOT / "benchmarks/results/networks/convnets.json", ROOT / "docs/images/convnets.svg"

TITLES = {"alexnet": "AlexNet", "overfeat": "OverFeat", "vgg_a": "VGG-A", "vgg_e": "VGG-E", "googlenet": "GoogLeNet"}
WIDTH, PANEL, LEFT, TOP, BAR, GAP = 840, 250, 56, 64, 34, 8


def bar(x: float, base: float, height: float, colour: str, label: str) -> list[str]:
    """A bar that stands on `base`, its value above."""
    top = base - height
    return [
        f'<rect x="{x:.1f}" y="{top:.1f}" width="{BAR}" height="{height:.1f}" fill="{colour}"/>',
        text(x + BAR / 2, top - 4, label, 10),
    ]


def step_of(highest: float) -> float:
    """A round distance of grid lines, three to six of them."""
    power = 1.0
    while power * 60 < highest:
        power *= 10
    while power > highest:
        power /= 10
    return next(power * m for m in (1, 2, 5, 10, 20) if highest / (power * m) <= 6)


def panel(rows: list[dict[str, Any]], dtype: str, top: float) -> list[str]:
    """One dtype: a pair of bars for each network."""
    highest = max(max(r["median_ms"], r.get("peer_ms") or 0.0) for r in rows) * 1.12
    base, scale = top + PANEL - 40, (PANEL - 80) / highest
    out = [text(LEFT, top + 14, f"{dtype}: milliseconds of fprop + bprop", 13, "start", "bold")]
    step = step_of(highest)
    for i in range(int(highest / step) + 1):
        y = base - i * step * scale
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - 16}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>')
        out.append(text(LEFT - 6, y + 4, f"{i * step:g}", 10, "end"))
    slot = (WIDTH - 16 - LEFT) / len(rows)
    for i, row in enumerate(rows):
        middle = LEFT + slot * (i + 0.5)
        peer = row.get("peer_ms")
        x = middle - BAR - GAP / 2 if peer else middle - BAR / 2
        out += bar(x, base, row["median_ms"] * scale, OURS, f"{row['median_ms']:.1f}")
        if peer:
            out += bar(middle + GAP / 2, base, peer * scale, PEER, f"{peer:.1f}")
        out.append(text(middle, base + 16, f"{TITLES[row['case']]}, N={row['n']}"))
        out.append(text(middle, base + 30, f"{row['tflops']:.1f} TFLOPS executed", 10))
    return out


def chart(result: dict[str, Any]) -> str:
    """The whole picture."""
    totals = [r for r in result["rows"] if r["bench"] == "convnets" and r["pass"] == "total"]
    dtypes = list(dict.fromkeys(r["dtype"] for r in totals))
    peer = next((r["peer"] for r in totals if r.get("peer")), None)
    height = TOP + PANEL * len(dtypes) + 8
    out = [
        *sheet(WIDTH, height),
        text(LEFT, 24, f"convnet-benchmarks on {result['gpu']}: lower is better", 15, "start", "bold"),
        f'<rect x="{LEFT}" y="36" width="12" height="12" fill="{OURS}"/>',
        text(LEFT + 18, 46, "nervanagpu", 12, "start"),
    ]
    if peer:
        out.append(f'<rect x="{LEFT + 110}" y="36" width="12" height="12" fill="{PEER}"/>')
        out.append(text(LEFT + 128, 46, f"{peer} (CUDA graph, better layout)", 12, "start"))
    for i, dtype in enumerate(sorted(dtypes, reverse=True)):
        out += panel([r for r in totals if r["dtype"] == dtype], dtype, TOP + i * PANEL)
    return "\n".join([*out, "</svg>", ""])


def main() -> int:
    """Read, draw, write."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else JSON
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else SVG
    return draw(chart, source, target, "benchmarks/convnet-benchmarks.py")


if __name__ == "__main__":
    sys.exit(main())
