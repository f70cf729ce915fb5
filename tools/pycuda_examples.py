"""Runs PyCUDA's own examples on this library: only what `import pycuda` means is changed.

    tools/pycuda_examples.py --source DIR                  DIR: a checkout of github.com/inducer/pycuda
    tools/pycuda_examples.py --source DIR demo mandelbrot  some of them

The examples are PyCUDA's and stay in DIR. An example passes if it runs to its end: most compare their results with
NumPy's, some only print; one that asks for Enter is given it. One that imports a package which is not installed, and is
not PyCUDA or CuPy, is not run. Any other that fails, or takes longer than --limit, counts as failed. The counts, and
why examples failed or were not run, go to benchmarks/results/names/pycuda_examples.json. They run on the device that
NERVANAGPU_DEVICE names (the emulator).
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks/results/names/pycuda_examples.json"
SETTINGS = {"NERVANAGPU_DEVICE": "emulator", "NERVANAGPU_EMULATOR_MEMORY": "1G"}  # one example fills all memory
OURS = ("pycuda", "cupy")  # what `python -m nervanagpu.pycuda` stands in for


def packages_of(text: str) -> set[str]:
    """The packages that a script imports, wherever it does. SyntaxError: none of this Python's."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(str(node.module).partition(".")[0])
    return found


def lacking(text: str) -> list[str]:
    """Packages that a script asks for and that are not installed."""
    wanted = sorted(packages_of(text) - set(OURS))
    return [name for name in wanted if importlib.util.find_spec(name) is None]


def run(script: Path, limit: int) -> dict[str, Any]:
    """How an example ends: passed, failed or not run, and why."""
    try:
        packages = lacking(script.read_text(encoding="utf-8"))
    except SyntaxError as error:
        return {"outcome": "not run", "why": f"not Python 3: {error.msg}"}
    if packages:
        return {"outcome": "not run", "why": f"asks for {', '.join(packages)}"}
    settings = {**SETTINGS, **os.environ}
    with tempfile.TemporaryDirectory() as scratch:  # some write pictures
        command = [sys.executable, "-m", "nervanagpu.pycuda", str(script.resolve())]
        try:
            done = subprocess.run(
                command, cwd=scratch, env=settings, input="\n" * 9, capture_output=True, text=True, timeout=limit,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"outcome": "failed", "why": f"stopped after {limit} s"}
    if done.returncode == 0:
        return {"outcome": "passed"}
    return {"outcome": "failed", "why": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:200]}


def summary(source: Path, limit: int, rows: list[dict[str, Any]]) -> dict[str, Any]:
    counts = {o: sum(r["outcome"] == o for r in rows) for o in ("passed", "failed", "not run")}
    settings: dict[str, Any] = {k: os.environ.get(k, v) for k, v in SETTINGS.items()}
    settings["seconds for an example"] = limit
    return {"commit": _commit(ROOT), "pycuda": _commit(source), **settings, "total": counts, "rows": rows}


def _commit(of: Path) -> str:
    done = subprocess.run(["git", "-C", str(of), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="a checkout of PyCUDA")
    parser.add_argument("--limit", type=int, default=300, help="seconds for an example")
    parser.add_argument("--out", type=Path, help=f"where the counts go; {RESULT.relative_to(ROOT)} for all examples")
    parser.add_argument("names", nargs="*", help="parts of names; all, without")
    given = parser.parse_args()
    folder = given.source / "examples"
    if not folder.is_dir():
        raise SystemExit(f"--source is {given.source}; needs a folder with examples/")
    rows = []
    for script in sorted(folder.rglob("*.py")):
        name = script.relative_to(folder).as_posix()
        if not given.names or any(part in name for part in given.names):
            rows.append({"example": name, **run(script, given.limit)})
            print(f"{name}: {rows[-1]['outcome']} {rows[-1].get('why', '')}", flush=True)
    made = summary(given.source, given.limit, rows)
    out = given.out or (None if given.names else RESULT)
    if out is not None:
        out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    total = made["total"]
    print(f"{total['passed']} of {total['passed'] + total['failed']} run to their end; {total['not run']} not run")


if __name__ == "__main__":
    main()
