#!/usr/bin/env python3
"""Checks the rules of the tree that no compiler knows.

Includes go one way, files stay small and say what they are for, facts of instructions stand in rows (op_lists.py),
cells of the pages' tables stay within 80 characters, sentences of pages and docstrings within 25 words (sentences.py):
include <- src <- kernels/*.cpp, layers <- python; sass/ knows nobody. There are no circles of folders, nor of those
within one, and what a header declares is defined in its folder (rooms.py). Exit status 1 lists each break as file:line.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import op_lists  # noqa: E402
import rooms  # noqa: E402
import sentences  # noqa: E402

MAX_LINES = 800
MAX_CELL = 80

# Folder -> what its quoted includes may begin with. The first matching folder decides.
ALLOWED: list[tuple[str, tuple[str, ...]]] = [
    ("sass/isa/", ("sass/isa/", "sass/result.h", "sass/half.h")),
    ("sass/", ("sass/",)),
    ("include/", ("nervanagpu/",)),
    ("src/", ("nervanagpu/", "src/", "sass/")),
    ("kernels/", ("nervanagpu/", "kernels/", "src/", "sass/")),
    ("layers/", ("nervanagpu/", "layers/", "src/feed.h", "src/json.h", "src/numbers/philox.h")),
    ("python/", ("nervanagpu/", "python/")),
]

# (folder, include, why it may not).
FORBIDDEN: list[tuple[str, str, str]] = [
    ("sass/verify/", "sass/asm/schedule/schedule.h", "the proof is independent of the scheduler"),
    ("sass/verify/", "sass/emulate/", "the proof is independent of the emulator"),
    ("sass/emulate/", "sass/asm/schedule/schedule.h", "the emulator judges what schedule wrote"),
    ("sass/dis/", "sass/asm/cubin/encode.h", "decode reads the table, not the encoder"),
    ("src/device/cuda_", "src/expr/", "src/launch/gate.cpp does what waits, in front of every device"),
    ("src/device/emulator_", "src/expr/", "src/launch/gate.cpp does what waits, in front of every device"),
]

# Who may call before_work(): the gate of devices, and that of expressions.
GATES = ("src/launch/gate.cpp", "src/expr/deferred.", "test/")

# Docstrings that have a sentence too long yet.
STILL_LONG = {"python/nervanagpu/torch/pool_windows.py"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
LINK_TARGET = re.compile(r"\]\([^)]*\)")
FOREIGN = re.compile(r"^(cuda|cublas|cudnn|nv|pybind11/|Python\.h|gtest/)")


def problems_of(path: str, text: str) -> list[str]:
    allowed = next((prefixes for folder, prefixes in ALLOWED if path.startswith(folder)), None)
    found = []
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match or allowed is None:
            continue
        quote, name = match.groups()
        where = f"{path}:{number}"
        if quote == "<":
            if FOREIGN.match(name) and not path.startswith("python/"):
                found.append(f"{where}: <{name}> may not be included here: building needs neither CUDA nor Python")
        elif not name.startswith(allowed):
            found.append(f'{where}: "{name}" is out of reach; {path.split("/")[0]}/ includes {", ".join(allowed)}')
        for folder, target, reason in FORBIDDEN:
            if path.startswith(folder) and name.startswith(target):
                found.append(f'{where}: "{name}" is out of reach: {reason}')
    if not path.startswith(GATES):
        for number, line in enumerate(lines, 1):
            if "before_work(" in line:
                found.append(f"{path}:{number}: before_work() is the gates' alone: {', '.join(GATES[:2])}")
    if len(lines) > MAX_LINES and path.endswith((".h", ".hpp", ".cpp", ".py")):
        found.append(f"{path}:{MAX_LINES}: {len(lines)} lines; split files over {MAX_LINES}")
    if path.endswith(".cpp") and allowed and not text.startswith("//") and not (ROOT / path).with_suffix(".h").exists():
        found.append(f"{path}:1: no header says what this is for; open it with a comment")
    return found + op_lists.problems_of(path, text)


def long_cells(path: str, text: str) -> list[str]:
    """Cells of a page's tables that are too long to read; neither code blocks nor a link's target count."""
    found = []
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        row = line.strip()
        fenced ^= row.startswith("```")
        if fenced or not row.startswith("|") or not row.strip("|-: "):
            continue
        for cell in re.split(r"(?<!\\)\|", row):
            length = len(LINK_TARGET.sub("]", cell.strip()))
            if length > MAX_CELL:
                found.append(f"{path}:{number}: a table cell of {length} characters; at most {MAX_CELL}")
    return found


def long_sentences(path: str, text: str) -> list[str]:
    return [
        f"{path}:{s.line}: a sentence of {s.words} words; at most {sentences.MAX_WORDS}: {s.text}"
        for s in sentences.long_sentences(text)
    ]


def docstrings(text: str) -> list[tuple[int, str]]:
    """Those of a module of Python, its classes and functions, with the lines where they begin."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            words = ast.get_docstring(node)
            if words is not None:
                found.append((node.body[0].lineno, words))
    return found


def long_docstrings(path: str, text: str) -> list[str]:
    if not path.startswith("python/nervanagpu/") or not path.endswith(".py") or path in STILL_LONG:
        return []
    return [
        f"{path}:{line + s.line - 1}: a sentence of {s.words} words; at most {sentences.MAX_WORDS}: {s.text}"
        for line, words in docstrings(text)
        for s in sentences.long_sentences(words)
    ]


def main() -> int:
    sources = [
        path
        for folder in ("sass", "include", "src", "kernels", "layers", "python", "test")
        for pattern in ("*.h", "*.hpp", "*.inc", "*.cpp", "*.py")
        for path in (ROOT / folder).rglob(pattern)
    ]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(sources)}
    found = [problem for path, text in texts.items() for problem in problems_of(path, text)]
    found += rooms.circles(texts) + rooms.defined_elsewhere(texts)
    found += [problem for path, text in texts.items() for problem in long_docstrings(path, text)]
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        path, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
        found += long_cells(path, text) + long_sentences(path, text)
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"check_tree: {len(sources) + len(pages)} files, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
