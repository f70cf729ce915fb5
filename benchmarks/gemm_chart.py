"""What a product can reach, and the roofline of a result of benchmarks/gemm.py as SVG: ours beside cuBLAS.

python benchmarks/gemm_chart.py JSON SVG
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from measure.svg import GRID, INK, OURS, PEER, draw, sheet, text

# Of one H200, measured: FFMA and HGMMA on random data from registers and shared memory, IGMMA twice HGMMA, and a copy.
TERA_OPS = {"float32": 65.6, "float16": 770.0, "bfloat16": 770.0, "int8": 1540.0}
TERA_BYTES = 4.22
SIZE = {"float32": (4, 4), "float16": (2, 2), "bfloat16": (2, 2), "int8": (1, 4)}  # an operand's element, a result's

WIDTH, PANEL, LEFT, RIGHT, TOP, FOOT = 840, 300, 56, 16, 64, 44


def intensity(dtype: str, m: int, n: int, k: int) -> float:
    """Operations for each byte, if every operand is read once and the result is written once."""
    operand, result = SIZE[dtype]
    return 2.0 * m * n * k / (operand * (m * k + k * n) + result * m * n)


def attainable(dtype: str, m: int, n: int, k: int, precision: str | None = None) -> float:
    """The roof over a product: its operations at the chip's rate or its bytes at a copy's, in TFLOPS."""
    if precision == "tensor":  # six products of bfloat16 for each
        return min(TERA_OPS["bfloat16"] / 6, intensity(dtype, m, n, k) * TERA_BYTES)
    return min(TERA_OPS[dtype], intensity(dtype, m, n, k) * TERA_BYTES)


def dot(x: float, y: float, colour: str) -> str:
    """One measurement."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}" fill-opacity="0.8"/>'


def panel(rows: list[dict[str, Any]], dtype: str, top: float) -> list[str]:
    """One type, both axes logarithmic: the roof, and two dots a product joined by a line."""
    sizes = [tuple(int(x) for x in r["case"].split("x")) for r in rows]
    across = [intensity(dtype, *s) for s in sizes]
    rates = [t for r in rows for t in (r["tflops"], r["tflops"] / r["ratio"])]
    low, high = math.log10(min(across) / 1.5), math.log10(max(*across, 4 * TERA_OPS[dtype] / TERA_BYTES) * 1.5)
    least, most = math.log10(min(rates) / 1.5), math.log10(TERA_OPS[dtype] * 1.5)
    base = top + PANEL - FOOT

    def at(i: float, t: float) -> tuple[float, float]:
        x = LEFT + (math.log10(i) - low) / (high - low) * (WIDTH - RIGHT - LEFT)
        return x, base - (math.log10(t) - least) / (most - least) * (PANEL - FOOT - 24)

    title = f"{dtype}: TFLOPS over operations a byte"
    out = [text(LEFT, top + 10, title, 13, "start", "bold")]
    for power in range(math.ceil(least), math.floor(most) + 1):
        y = at(10**low, 10**power)[1]
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>')
        out.append(text(LEFT - 6, y + 4, f"{10**power:g}", 10, "end"))
    for power in range(math.ceil(low), math.floor(high) + 1):
        x = at(10**power, 10**least)[0]
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top + 20:.1f}" y2="{base:.1f}" stroke="{GRID}"/>')
        out.append(text(x, base + 16, f"{10**power:g}", 10))
    ridge = TERA_OPS[dtype] / TERA_BYTES
    roof = [at(i, min(TERA_OPS[dtype], i * TERA_BYTES)) for i in (10**least / TERA_BYTES, ridge, 10**high)]
    roof = [p for p in roof if p[0] >= LEFT] if roof[0][0] < LEFT else roof
    if roof[0] == at(ridge, TERA_OPS[dtype]) and 10**low < ridge:
        roof.insert(0, at(10**low, 10**low * TERA_BYTES))
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in roof)
    out.append(f'<polyline points="{points}" fill="none" stroke="{INK}" stroke-width="1.5"/>')
    for row, i in zip(rows, across, strict=True):
        mine, peer = at(i, row["tflops"]), at(i, row["tflops"] / row["ratio"])
        tip = escape(
            f"{row['case']} {row['layout'].upper()}: {row['tflops']:g} TFLOPS, {row['ratio']:.2f} times the peer"
        )
        line = f'<line x1="{mine[0]:.1f}" y1="{mine[1]:.1f}" x2="{peer[0]:.1f}" y2="{peer[1]:.1f}" stroke="{PEER}"/>'
        out.append(f"<g><title>{tip}</title>{line}{dot(*peer, PEER)}{dot(*mine, OURS)}</g>")
    return out


def chart(result: dict[str, Any]) -> str:
    """The whole picture, one panel a type."""
    rows = [r for r in result["rows"] if r["dtype"] in TERA_OPS and r["ratio"] > 0]
    dtypes = list(dict.fromkeys(r["dtype"] for r in rows))
    height = TOP + PANEL * len(dtypes) + 8
    out = [
        *sheet(WIDTH, height),
        text(LEFT, 24, f"GEMM on {result['gpu']}: roof, nervanagpu and its peer", 15, "start", "bold"),
        dot(LEFT + 6, 42, OURS),
        text(LEFT + 18, 46, "nervanagpu", 12, "start"),
        dot(LEFT + 116, 42, PEER),
        text(LEFT + 128, 46, f"the better of {rows[0]['peer']} and cublasLt" if rows else "", 12, "start"),
    ]
    for i, dtype in enumerate(dtypes):
        out += panel([r for r in rows if r["dtype"] == dtype], dtype, TOP + i * PANEL)
    return "\n".join([*out, "</svg>", ""])


def main() -> int:
    """Read, draw, write."""
    if len(sys.argv) != 3:
        print("usage: gemm_chart.py JSON SVG; benchmarks/gemm.py writes the JSON", file=sys.stderr)
        return 2
    return draw(chart, Path(sys.argv[1]), Path(sys.argv[2]), "benchmarks/gemm.py")


if __name__ == "__main__":
    sys.exit(main())
