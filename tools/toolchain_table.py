"""Writes the table of docs/toolchain.md from benchmarks/results/toolchain; --check fails where it is out of date.

Each file is one group of lines, written by the verb that measures it:
    {"verb": "make fuzz ARGS=--record", "numbers": [{"what": "executions", "value": 123456}, ...]}
A value is a number or a text; a long text goes on in the lines below. A group whose file is not there yet
has one line with "-".
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/toolchain.md"
MAX_CELL = 80  # what tools/check_tree.py allows
RESULTS = ROOT / "benchmarks/results/toolchain"
BEGIN, END = "<!-- table: benchmarks/results/toolchain/*.json -->", "<!-- end -->"
# File and what it is about, in the order of the table.
GROUPS = {
    "coverage": "Rows of the instruction table, opcodes covered",
    "corpus": "Round trip of compiled code compared with nvdisasm",
    "mutants": "Mutants of correct kernels, the proof against the H200",
    "fuzz": "Hostile input",
    "tensor": "Tensor-core arithmetic, emulator against the H200",
    "tma": "Copy engine, barriers and clusters, emulator against the H200",
    "texture": "Textures and surfaces, emulator against the H200",
}


def shown(value: int | float | str) -> str:
    """1234567 -> 1,234,567; 99.951 -> 99.951; a text as it is."""
    if isinstance(value, str):
        return value.replace("|", "\\|")
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def cells_of(value: str) -> list[str]:
    """A value in as many cells as it takes to keep each within MAX_CELL: parted at a colon, else after a comma."""
    if len(value) <= MAX_CELL:
        return [value]
    head, colon, rest = value.partition(": ")
    if not colon:
        at = value.rfind(", ", 0, MAX_CELL)
        if at < 0:
            return [value]
        head, colon, rest = value[:at], ", ", value[at + 2 :]
    return [head + colon.rstrip(), *cells_of(rest)]


def table(folder: Path) -> str:
    lines = ["| | | | reproduce |", "|---|---|---|---|"]
    for name, title in GROUPS.items():
        file = folder / f"{name}.json"
        if not file.exists():
            lines.append(f"| {title} | | - | |")
            continue
        result = json.loads(file.read_text(encoding="utf-8"))
        for i, number in enumerate(result["numbers"]):
            verb = f"`{result['verb']}`" if i == 0 else ""
            first, *more = cells_of(shown(number["value"]))
            lines.append(f"| {title if i == 0 else ''} | {number['what']} | {first} | {verb} |")
            lines += [f"| | | {cell} | |" for cell in more]
    return "\n".join(lines)


def updated(text: str, folder: Path) -> str:
    start = text.index(BEGIN) + len(BEGIN)
    return f"{text[:start]}\n\n{table(folder)}\n\n{text[text.index(END, start) :]}"


def main() -> int:
    old = PAGE.read_text(encoding="utf-8")
    new = updated(old, RESULTS)
    if old == new:
        return 0
    if "--check" in sys.argv[1:]:
        print("docs/toolchain.md: the table is out of date; run tools/toolchain_table.py", file=sys.stderr)
        return 1
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
