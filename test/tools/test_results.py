"""Every measurement in benchmarks/results says where it comes from: commit, device, driver, clocks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks/results"
FILES = sorted(p.relative_to(RESULTS).as_posix() for p in RESULTS.rglob("*.json"))
# Counts, which no device has a part in.
COUNTS = {
    "names/array_api_tests.json",
    "names/names.json",
    "names/cupy_tests.json",
    "names/pycuda_examples.json",
    "toolchain/corpus.json",
    "toolchain/coverage.json",
    "toolchain/fuzz.json",
}
# Right or wrong, errors, cycles: no matter how fast the device ran.
UNTIMED = {
    "gemm/f16x3_errors.json",
    "gemm/gemm_errors_1024.json",
    "checks/gpu-check.json",
    "checks/latency.json",
    "checks/mutants.json",
    "checks/mutants_drawn.json",
    "gemm/piece_errors.json",
    "toolchain/mutants.json",
    "toolchain/tensor.json",
    "toolchain/texture.json",
    "toolchain/tma.json",
    "checks/variants.json",
}
READERS = {".md", ".py", ".cpp", ".h", ".sh"}
NO_GPU = "none: "  # a time of the host alone; what follows says of what


def told(body: Any) -> dict[str, Any]:
    """The fields at the top, and those of `machine`."""
    return {**body, **body.get("machine", {})} if isinstance(body, dict) else {}


@pytest.mark.parametrize("name", FILES)
def test_says_where_it_comes_from(name: str) -> None:
    fields = told(json.loads((RESULTS / name).read_text(encoding="utf-8")))
    assert fields.get("commit") not in (None, "", "unknown")
    if name in COUNTS:
        return
    gpu = fields.get("gpu") or fields.get("device")
    assert gpu, "which device was it?"
    if name in UNTIMED or str(gpu).startswith(NO_GPU):
        return
    assert fields.get("driver")
    assert fields.get("clocks"), 'clocks in MHz, or "not recorded"'


def test_lists_name_files() -> None:
    assert set(FILES) >= COUNTS | UNTIMED


def test_all_are_read() -> None:
    """By a page, a table, a fit or a test: it has the file's name, or the stem in quotes."""
    root = RESULTS.parents[1]
    readers = [p for d in ("docs", "benchmarks", "tools", "test") for p in (root / d).rglob("*") if p.suffix in READERS]
    text = "\n".join(p.read_text(encoding="utf-8") for p in [root / "README.md", *readers] if RESULTS not in p.parents)
    names = set(re.findall(r'[\w-]+\.jsonl?|"[\w-]+"', text))
    every = [p for p in RESULTS.rglob("*") if p.is_file()]
    assert [p.name for p in every if not {p.name, f'"{p.stem}"'} & names] == []
