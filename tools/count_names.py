"""Counts which names of NumPy, CuPy, PyCUDA, cudamat and the array API standard there are here; writes docs/names.md.

The lists are test/data/names/*.txt: `[theirs: ours]` begins those of a namespace or class, `ours` says where they are
looked for. The counts go to benchmarks/results/names/names.json, from which docs/names.md is made:

    tools/count_names.py            count, write both
    tools/count_names.py --start    the same, and keep these counts as those that later ones are shown beside
    tools/count_names.py --check    fail where the page is not that of the JSON, or a name that was there is gone
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LISTS = ROOT / "test/data/names"
RESULT = ROOT / "benchmarks/results/names/names.json"
PAGE = ROOT / "docs/names.md"
BEGIN, END = "<!-- table: benchmarks/results/names/names.json -->", "<!-- end -->"
PACKAGES = {"array_api": "array API", "numpy": "NumPy", "cupy": "CuPy", "pycuda": "PyCUDA", "cudamat": "cudamat"}
# Names that are here and stand for something else: `load` loads a module of kernels, NumPy's an .npy file.
OTHER_MEANING = {("nervanagpu", "load")}
# Tables of docs/names.md, name by name: title, our namespace or class, and theirs in the order of the columns.
TABLES = {
    "Functions": (
        "nervanagpu",
        ["numpy", "cupy", "cupy aliases", "array_api", "pycuda.gpuarray", "pycuda.cumath", "cudamat"],
    ),
    "Dtypes and constants": ("nervanagpu", ["numpy dtypes and constants", "array_api dtypes and constants"]),
    "Members of an array": (
        "nervanagpu.GPUTensor",
        ["numpy.ndarray", "cupy.ndarray", "array_api.array", "pycuda.gpuarray.GPUArray", "cudamat.CUDAMatrix"],
    ),
    "Linear algebra": ("nervanagpu.linalg", ["numpy.linalg", "cupy.linalg", "array_api.linalg"]),
    "Fourier transforms": ("nervanagpu.fft", ["numpy.fft", "cupy.fft", "array_api.fft"]),
    "Random numbers": ("nervanagpu.random", ["numpy.random", "cupy.random"]),
}


@dataclass(frozen=True)
class Section:
    """The names of one namespace or class."""

    package: str
    theirs: str
    ours: str
    names: tuple[str, ...]


def read_lists(folder: Path = LISTS) -> list[Section]:
    sections = []
    for package in PACKAGES:
        text = re.sub(r"^#.*\n", "", (folder / f"{package}.txt").read_text(encoding="utf-8"), flags=re.M)
        for head, body in re.findall(r"^\[(.*)\]\n([^\[]*)", text, flags=re.M):
            theirs, ours = head.split(": ")
            sections.append(Section(package, theirs, ours, tuple(body.split())))
    return sections


def resolve(path: str) -> Any:
    """The module, class or result of a call without arguments that a dotted path names; None where there is none."""
    words = path.split(".")
    found: Any = None
    for i, word in enumerate(words):
        called = word.endswith("()")
        inner = getattr(found, word.removesuffix("()"), None)
        if inner is None:
            try:
                inner = importlib.import_module(".".join(words[: i + 1]))
            except ImportError:
                return None
        found = inner() if called else inner
    return found


def offers(owner: Any, name: str) -> bool:
    """Whether a namespace or class has a name; of a class those count, too, that its __init__ gives an instance."""
    if hasattr(owner, name):
        return True
    code = getattr(getattr(owner, "__init__", None), "__code__", None)
    return isinstance(owner, type) and code is not None and name in code.co_names


def missing_of(section: Section) -> list[str]:
    owner = resolve(section.ours)
    return [n for n in section.names if owner is None or not offers(owner, n) or (section.ours, n) in OTHER_MEANING]


def missing_in(row: dict[str, Any]) -> set[str]:
    return set(row["missing"].split())


def counted(sections: list[Section], start: dict[str, Any] | None) -> dict[str, Any]:
    """What goes into the JSON. start: the counts that are shown as those before, None: these."""
    rows: list[dict[str, Any]] = [
        {"theirs": s.theirs, "of": len(s.names), "missing": " ".join(missing_of(s))} for s in sections
    ]
    now = {row["theirs"]: row["of"] - len(missing_in(row)) for row in rows}
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    before = start or {"commit": commit, "there": now}
    for row in rows:
        row["before"], row["now"] = before["there"].get(row["theirs"], 0), now[row["theirs"]]
    return {"before": before, "commit": commit, "rows": rows}


def page_of(result: dict[str, Any], sections: list[Section]) -> str:
    """The generated part of docs/names.md."""
    missing = {row["theirs"]: missing_in(row) for row in result["rows"]}
    parts = [_summary(result, sections)]
    for title, (ours, theirs) in TABLES.items():
        columns: dict[str, list[Section]] = {}
        for s in sections:
            if s.theirs in theirs:
                columns.setdefault(s.package, []).append(s)
        parts += [f"## {title}", f"Here: in `{ours}`, if no other place is named.", _by_name(ours, columns, missing)]
    parts += ["## PyCUDA's and cudamat's modules", _by_module(result, sections)]
    return "\n\n".join(parts)


def _summary(result: dict[str, Any], sections: list[Section]) -> str:
    lines = [f"| | of | here | at {result['before']['commit'][:7]} |", "|---|---|---|---|"]
    for package, title in PACKAGES.items():
        rows = [r for r, s in zip(result["rows"], sections, strict=True) if s.package == package]
        shown = [(f"{title}: `{r['theirs']}`", r["of"], r["now"], r["before"]) for r in rows]
        if package == "pycuda":  # its many classes have a table of their own
            shown = [(f"{title}, all", *(sum(r[key] for r in rows) for key in ("of", "now", "before")))]
        lines += [f"| {what} | {of} | {now} | {before} |" for what, of, now, before in shown]
    return "\n".join(lines)


def _by_name(ours: str, columns: dict[str, list[Section]], missing: dict[str, set[str]]) -> str:
    """A line a name, a column a package; the last one says whether, or in which of our other modules, it is here."""
    names = {n for sections in columns.values() for s in sections for n in s.names}
    lines = ["| | " + " | ".join(PACKAGES[p] for p in columns) + " | here |", "|---|" + "---|" * (len(columns) + 1)]
    for name in sorted(names, key=lambda n: (n.lower(), n)):
        having = [s for sections in columns.values() for s in sections if name in s.names]
        marks = ["x" if any(s in having for s in sections) else "" for sections in columns.values()]
        places = {s.ours for s in having if name not in missing[s.theirs]}
        elsewhere = ", ".join(f"`{place.removeprefix('nervanagpu.')}`" for place in sorted(places))
        lines.append(f"| `{name}` | {' | '.join(marks)} | {'x' if ours in places else elsewhere or '-'} |")
    return "\n".join(lines)


def _by_module(result: dict[str, Any], sections: list[Section]) -> str:
    """A line a module or class, then a list of the names that are not here."""
    lines, absent = ["| | of | here |", "|---|---|---|"], []
    for row, s in zip(result["rows"], sections, strict=True):
        if s.package in ("pycuda", "cudamat"):
            lines.append(f"| `{s.theirs}` | {row['of']} | {row['now']} |")
            if row["missing"]:
                absent.append(f"- `{s.theirs}`: " + ", ".join(f"`{n}`" for n in row["missing"].split()))
    return "\n".join(lines + (["", "Not here:", "", *absent] if absent else []))


def updated(text: str, part: str) -> str:
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:start]}\n\n{part}\n\n{text[end:]}"


def lost(result: dict[str, Any], sections: list[Section]) -> list[str]:
    """Names that the JSON has as here and that are not."""
    known = {row["theirs"]: missing_in(row) for row in result["rows"]}
    return [f"{s.ours}.{n}" for s in sections for n in missing_of(s) if n not in known[s.theirs]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--start", action="store_true")
    mode.add_argument("--check", action="store_true")
    args = parser.parse_args()
    sections = read_lists()
    text = PAGE.read_text(encoding="utf-8")
    if args.check:
        result = json.loads(RESULT.read_text(encoding="utf-8"))
        gone = lost(result, sections)
        for name in gone:
            print(f"names.json: {name} was there and is gone")
        stale = updated(text, page_of(result, sections)) != text
        if stale:
            print("names.md is not that of names.json; run tools/count_names.py")
        return int(stale or bool(gone))
    start = None if args.start or not RESULT.exists() else json.loads(RESULT.read_text(encoding="utf-8"))["before"]
    result = counted(sections, start)
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(updated(text, page_of(result, sections)), encoding="utf-8")
    for row in result["rows"]:
        print(f"{row['theirs']}: {row['now']} of {row['of']} (before {row['before']})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
