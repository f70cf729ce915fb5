"""The reference of instructions: one page for each architecture, from `ngasm isa`. docs/conf.py calls write()."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ARCHS = {"sm_90a": "sm90a", "sm_52": "sm52"}  # and the names of their golden vectors
Row = dict[str, Any]


def bit_text(pieces: list[list[int]]) -> str:
    """[[16, 8]] -> "23:16"; several pieces with the most significant first."""
    return " ".join(f"{at + width - 1}:{at}" if width > 1 else str(at) for at, width in reversed(pieces))


def examples(golden: list[str]) -> dict[str, list[str]]:
    """Texts of the golden vectors by mnemonic, each also under its shorter names: IMAD.WIDE.U32 under IMAD.WIDE."""
    out: dict[str, list[str]] = defaultdict(list)
    for line in golden:
        text = line.split("\t", 1)[1]
        words = text.split()
        name = words[1] if words[0].startswith("@") and len(words) > 1 else words[0]
        parts = name.split(".")
        for n in range(1, len(parts) + 1):
            out[".".join(parts[:n])].append(text)
    return out


def layout(row: Row) -> list[str]:
    """The fields from the most significant bit down."""
    fields: list[tuple[int, str, str]] = []

    def add(what: str, pieces: list[list[int]]) -> None:
        if pieces:
            fields.append((max(at for at, _ in pieces), bit_text(pieces), what))

    for number, operand in enumerate(row["operands"], 1):
        for name, pieces in operand["fields"].items():
            add(f"operand {number}, {operand['kind']}" + ("" if name == "value" else f": {name}"), pieces)
    for modifier in row["modifiers"]:
        add(modifier["what"], modifier["field"])
    add("guard", row["guard"])
    control = 105 if row["bits"] == 128 else None
    if control is not None:
        fields.append((control, "125:105", "control code"))
    digits = row["bits"] // 4
    lines = ["| bits | field |", "|---|---|"]
    lines += [f"| {bits} | {what} |" for _, bits, what in sorted(fields, reverse=True)]
    return [*lines, "", f"Fixed: `{row['fixed'][-digits:]}` under the mask `{row['fixed_mask'][-digits:]}`.", ""]


def cycles_text(row: Row) -> list[str]:
    """A line for each kind of result of fixed latency: "register: ALU 5, FMA 4 (measured)"."""
    results: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for time in row["cycles"]:
        number = str(time["need"]) if time["need"] == time["safe"] else f"{time['need']}..{time['safe']}"
        results[time["result"]][time["source"]].append(f"{time['reader']} {number}")
    return [
        f"- {result}: " + "; ".join(", ".join(readers) + f" ({source})" for source, readers in by_source.items())
        for result, by_source in results.items()
    ]


def cycles_of(rows: list[Row]) -> list[str]:
    """Of all rows of a mnemonic: those that differ have their own lines."""
    lines = list(dict.fromkeys(line for row in rows for line in cycles_text(row)))
    return ["Cycles from issue until a reader may issue:", "", *lines, ""] if lines else []


def row_text(row: Row) -> list[str]:
    lines = ["```text", row["form"], "```", ""]
    facts = [f"Unit: {row['unit']}", f"result: {row['latency']}"] + (["a branch"] if row["branch"] else [])
    lines += ["; ".join(facts) + ".", ""]
    roles = [
        f"{i}: {o['kind']}, {o['role']}" + (", late" if o["late"] else "") for i, o in enumerate(row["operands"], 1)
    ]
    if roles:
        lines += ["Operands: " + "; ".join(roles) + ".", ""]
    for modifier in row["modifiers"]:
        values = ", ".join(f"{raw} {'`.' + tok + '`' if tok else '(nothing)'}" for raw, tok in modifier["values"])
        lines.append(f"- {modifier['what']}: {values}")
    if row["modifiers"]:
        lines.append("")
    return lines + layout(row)


def page(arch: str, rows: list[Row], texts: dict[str, list[str]]) -> str:
    by_unit: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_unit[row["unit"]][row["op"]].append(row)
    count = len({row["op"] for row in rows})
    lines = [
        f"# Instructions of {arch}",
        "",
        f"{count} mnemonics in {len(rows)} rows. `{{ }}` may be left out, `|` is",
        "",
    ]
    lines[-2] += " a choice; bits count from the least significant. The table itself is `sass/isa`."
    lines += [
        "Cycles stand as `needed` or `needed..left`: with fewer than the first `verify` complains, the second is",
        "what `schedule` leaves. Their sources: *measured*, by fault injection on an H200; *chip*, single experiments",
        "there; *mined*, the smallest gap in code of ptxas 12.4; *bound*, no such pair was seen. The whole table for",
        "sm_90a is [Latencies](../latency.md); results without cycles are announced by a scoreboard.",
        "",
    ]
    for unit in sorted(by_unit):
        lines += [f"## Unit: {unit}", ""]
        for op in sorted(by_unit[unit]):
            lines += [f"### {op}", ""]
            shown = sorted(set(texts.get(op, [])), key=len)[:3]
            if shown:
                lines += ["```text", *shown, "```", ""]
            lines += cycles_of(by_unit[unit][op])
            for row in by_unit[unit][op]:
                lines += row_text(row)
    return "\n".join(lines) + "\n"


def write(ngasm: Path, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    out = []
    for arch, golden in ARCHS.items():
        done = subprocess.run([str(ngasm), "isa", "--arch", arch], capture_output=True, text=True, check=True)
        vectors = [
            line
            for file in sorted((ROOT / "test/sass/isa").glob(f"{golden}*.golden"))
            for line in file.read_text(encoding="utf-8").splitlines()
            if "\t" in line and not line.startswith("#")
        ]
        path = folder / f"{arch}.md"
        text = page(arch, json.loads(done.stdout), examples(vectors))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        out.append(path)
    return out
