"""Runs CuPy's own test files against nervanagpu.cupy: only what `import cupy` means is changed.

    tools/cupy_tests.py --source DIR              DIR: a checkout of github.com/cupy/cupy
    tools/cupy_tests.py --source DIR math sorting/test_sort        some of them

The files are CuPy's and stay in DIR; `cupy.testing`, which they are written with, is ours: test/python/cupy_suite. The
counts of each file, and why cases failed or were left out, go to benchmarks/results/names/cupy_tests.json.
CUPY_TESTS_DTYPES names the dtypes that cases for several run with, one after the other (all, without it).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks/results/names/cupy_tests.json"
FILES = """
    creation/test_basic creation/test_from_data creation/test_matrix creation/test_ranges
    manipulation/test_add_remove manipulation/test_basic manipulation/test_dims manipulation/test_join
    manipulation/test_kind manipulation/test_rearrange manipulation/test_shape manipulation/test_split
    manipulation/test_tiling manipulation/test_transpose
    math/test_arithmetic math/test_explog math/test_floating math/test_hyperbolic math/test_matmul math/test_misc
    math/test_rational math/test_rounding math/test_special math/test_sumprod math/test_trigonometric math/test_window
    linalg/test_decomposition linalg/test_eigenvalue linalg/test_einsum linalg/test_norms linalg/test_product
    linalg/test_solve
    sorting/test_count sorting/test_search sorting/test_sort
""".split()
# Cases that are not run: they ask for gigabytes, which the emulator would fill, or for CuPy's inside.
LEFT_OUT = {
    "index_32_bits": "asks for gigabytes",
    "huge": "asks for gigabytes",
    "ComputeTypes": "sets how CuPy calls cuBLAS",
    "Cub": "patches CuPy's calls of CUB",
    "CUB": "patches CuPy's calls of CUB",
    "cub_": "patches CuPy's calls of CUB",
    "cutensor": "patches CuPy's calls of cuTENSOR",
}
# Why a case fails, by what its error says; the first that fits. None: the error's own first line.
REASONS = [
    (r"complex(64|128)?\b.*needs|operand is complex|complex dtypes", "complex numbers, where a function has none yet"),
    (r"dtype is \S*(V|void|object|<U|M8|m8|datetime|timedelta|\('|\[\()", "structured, text, time or object dtypes"),
    (r"typestr is '>", "numbers of the other byte order"),
    (r"from_cuda_array: there is no GPU", "memory of another library, which the emulator does not see"),
    (r"^AssertionError: False; NumPy has True", "a view's base is another object than the array"),
    (r"elements from the axis on; needs 2\^30", "arrays of more elements than a scan takes"),
    (r"shape \(\); NumPy has \(1,\)", "an array of no axes stays one"),
    (r"not raised|expected at least one allocation", "CuPy's own limits and allocations"),
    (r"(un)?expected keyword argument '(\w+)'", "an argument that is not there"),
    (r"has no attribute", "a name that is not there"),
    (r"DID NOT (RAISE|WARN)", "NumPy or CuPy refuses or warns, this does not"),
    (r"Regex pattern did not match", "the words of an error"),
    (r"only NumPy raises", "NumPy refuses, this does not"),
    (r"this raises \w+ .*NumPy \w+", "another class of error"),
    (r"only this raises", "this refuses what NumPy does"),
    (r"dtype \S+; NumPy has", "another dtype than NumPy's"),
    (r"is not [cf]_contiguous", "another order in memory"),
    (r"Not equal to tolerance|Arrays are not equal|Mismatched elements", "other numbers than NumPy's"),
    (r"; NumPy has .*dtype=uint", "negative floats as unsigned integers, which become 0"),
    (r"singular", "singular matrices without a right side, which CuPy does not look at"),
]


def reason_of(text: str) -> str:
    for pattern, reason in REASONS:
        if re.search(pattern, text):
            return reason
    return text.splitlines()[0][:100] if text else "no message"


def run(source: Path, name: str, limit: int) -> list[list[str]]:
    """[case, when, outcome, text] of each case of a file."""
    folder, _, file = name.partition("/")
    path = f"cupy_tests/{folder}_tests/{file}.py"
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "log"
        paths = [str(ROOT / "test/python"), *(p for p in (os.environ.get("PYTHONPATH"),) if p)]
        settings = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "CUPY_TESTS_LOG": str(log)}
        settings.setdefault("NERVANAGPU_DEVICE", "emulator")
        skipped = " and ".join(f"not {word}" for word in LEFT_OUT)
        command = [
            sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "cupy_suite.plugin", "--noconftest",
            "-c", os.devnull, "--rootdir", str(source / "tests"), "-p", "no:cacheprovider", "-k", skipped, path,
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, cwd=source / "tests", env=settings, capture_output=True, text=True, timeout=limit, check=False
            )
            tail = done.stdout.strip().splitlines()[-1:]
        except subprocess.TimeoutExpired:
            tail = [f"stopped after {limit} s"]
        print(f"{name}: {' '.join(tail)}", flush=True)
        if not log.exists():
            return [[path, "collect", "failed", f"no case was run: {' '.join(tail)}"]]
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def counted(name: str, cases: list[list[str]]) -> dict[str, Any]:
    failed = [(c, text) for c, _, outcome, text in cases if outcome == "failed"]
    skipped = [text for _, _, outcome, text in cases if outcome == "skipped"]
    passed = sum(outcome == "passed" for _, _, outcome, _ in cases)
    why = Counter(reason_of(text) for _, text in failed)
    return {
        "file": name,
        "passed": passed,
        "failed": len(failed),
        "skipped": len(skipped),
        "reasons": dict(why.most_common()),
        "skips": dict(Counter(s[:100] for s in skipped).most_common()),
        "examples": {reason_of(text): f"{case.split('::', 1)[-1]}: {text[:200]}" for case, text in reversed(failed)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="a checkout of CuPy")
    parser.add_argument("--limit", type=int, default=3600, help="seconds for a file")
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("files", nargs="*", help="parts of names: math, sorting/test_sort; all, without")
    given = parser.parse_args()
    if not (given.source / "tests/cupy_tests").is_dir():
        raise SystemExit(f"--source is {given.source}; needs a folder with tests/cupy_tests")
    wanted = [f for f in FILES if not given.files or any(part in f for part in given.files)]
    rows = {r["file"]: r for r in json.loads(given.out.read_text())["rows"]} if given.out.exists() else {}
    for name in wanted:
        rows[name] = counted(name, run(given.source, name, given.limit))
        result = summary([rows[f] for f in FILES if f in rows], given.source)
        given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    total = json.loads(given.out.read_text())["total"]
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped: {total['share']:.1%} pass")


def summary(rows: list[dict[str, Any]], source: Path) -> dict[str, Any]:
    total: dict[str, Any] = {k: sum(r[k] for r in rows) for k in ("passed", "failed", "skipped")}
    total["share"] = round(total["passed"] / max(total["passed"] + total["failed"], 1), 4)
    why: Counter[str] = Counter()
    for r in rows:
        why.update(r["reasons"])
    total["reasons"] = dict(why.most_common())
    return {
        "commit": _commit(ROOT),
        "cupy": _commit(source),
        "dtypes": os.environ.get("CUPY_TESTS_DTYPES", "all"),
        "left out": LEFT_OUT,
        "total": total,
        "rows": rows,
    }


def _commit(folder: Path) -> str:
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
