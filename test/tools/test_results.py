"""Every measurement in benchmarks/results says where it comes from: commit, device, driver, clocks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks/results"
FILES = sorted(p.relative_to(RESULTS).as_posix() for p in RESULTS.rglob("*.json"))
# Counts, which no device has a part in.
COUNTS = {
    "array_api_tests.json",
    "names.json",
    "cupy_tests.json",
    "pycuda_examples.json",
    "toolchain/corpus.json",
    "toolchain/coverage.json",
    "toolchain/fuzz.json",
}
# Right or wrong, errors, cycles: no matter how fast the device ran.
UNTIMED = {
    "f16x3_errors.json",
    "gemm_errors_1024.json",
    "gpu-check.json",
    "latency.json",
    "mutants.json",
    "piece_errors.json",
    "toolchain/mutants.json",
    "toolchain/tensor.json",
    "toolchain/texture.json",
    "toolchain/tma.json",
    "variants.json",
}
NO_GPU = "none: "  # a time of the host alone; what follows says of what


def told(body: Any) -> dict[str, Any]:
    """The fields at the top, and those of `machine`."""
    return {**body, **body.get("machine", {})} if isinstance(body, dict) else {}


@pytest.mark.parametrize("name", FILES)
def test_says_where_it_comes_from(name: str) -> None:
    fields = told(json.loads((RESULTS / name).read_text()))
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
