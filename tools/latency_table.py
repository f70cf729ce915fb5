"""Writes docs/latency.md from the rows of sass/isa/latency.inc; --check: fails if it differs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_CELL = 80  # what tools/check_tree.py allows
HEAD = """# Latencies of sm_90a

Written by `tools/latency_table.py` from `sass/isa/latency.inc`; do not edit. Cycles from the issue of one instruction
to that of the other. `need`: with less, `verify` and the checked emulator complain.
`safe`: what `schedule` leaves. Where `safe` is larger, it is the smallest gap that ptxas 12.4 leaves, or a margin. A
later row overrides an earlier one.

*measured* rows were found by fault injection on an H200 (`benchmarks/latency.py`, counts in
`benchmarks/results/checks/latency.json`). Stalls are lowered until results are wrong, 100 turns of each thread. That is
done alone on the chip, with a warp on every scheduler, and together with a kernel that keeps all pipes busy.
"""


def names(text: str, kind: str) -> dict[str, str]:
    return dict(re.findall(rf'^{kind}\((\w+),\s*"(.*?)"\)', text, re.M))


def rows_of(what: list[str]) -> list[str]:
    """Names joined with semicolons, in as many cells as it takes to keep each within MAX_CELL."""
    cells = [what[0]]
    for name in what[1:]:
        if len(longer := f"{cells[-1]}; {name}") <= MAX_CELL:
            cells[-1] = longer
        else:
            cells.append(name)
    return cells


def table(text: str, macro: str, first: dict[str, str], second: dict[str, str]) -> list[str]:
    def spelled(cell: str, what: dict[str, str]) -> list[str]:
        if "kAll" in cell:
            return ["anything"]
        return rows_of([what[n] for n in re.findall(r"::(\w+)", cell)])

    out = []
    row = rf'^{macro}\(kHopper,\s*(.*?),\s*([CP]::.*?),\s*(\d+),\s*(\d+),\s*"(.*?)"\)'
    for one in re.finditer(row, text, re.M | re.S):
        a, b, need, safe, source = one.groups()
        out += [f"| {i} | {j} | {need} | {safe} | {source} |" for i in spelled(a, first) for j in spelled(b, second)]
    return out


def page() -> str:
    text = (ROOT / "sass/isa/latency.inc").read_text()
    producers, consumers = names(text, "PRODUCER"), names(text, "CONSUMER")
    parts = [
        ("A result, then its reader", "RAW", "written by", "read as", producers, consumers),
        ("A result, then another into the same register", "WAW", "written by", "written by", producers, producers),
        ("A read, then a write of the same register (others: 1)", "WAR", "read as", "written by", consumers, producers),
    ]
    out = HEAD
    for title, macro, one, two, first, second in parts:
        rows = table(text, macro, first, second)
        out += (
            f"\n## {title}\n\n| {one} | {two} | need | safe | source |\n|---|---|---|---|---|\n"
            + "\n".join(rows)
            + "\n"
        )
    return out


def main() -> None:
    path = ROOT / "docs/latency.md"
    if "--check" in sys.argv[1:]:
        if not path.exists() or path.read_text() != page():
            raise SystemExit("docs/latency.md is not what sass/isa/latency.inc says: run tools/latency_table.py")
        return
    path.write_text(page())


if __name__ == "__main__":
    main()
