"""What the charts share: colours, text, and the command line that turns a result's JSON into a picture."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

OURS, PEER, INK, GRID = "#76b900", "#8a8f98", "#24292f", "#d8dee4"


def text(x: float, y: float, content: str, size: int = 12, anchor: str = "middle", weight: str = "normal") -> str:
    """One line of text."""
    style = f'font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{INK}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(content)}</text>'


def sheet(width: int, height: int) -> list[str]:
    """The first lines of a picture: a white sheet."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]


def draw(chart: Callable[[dict[str, Any]], str], source: Path, target: Path, writer: str) -> int:
    """Read `source`, which `writer` writes, and draw `target`; 1 if it is not there."""
    if not source.exists():
        print(f"{Path(sys.argv[0]).name}: {source} is missing; {writer} writes it", file=sys.stderr)
        return 1
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(chart(json.loads(source.read_text())))
    print(f"wrote {target}")
    return 0
