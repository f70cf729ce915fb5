"""The standard's own tests; ARRAY_API_TESTS names a checkout of github.com/data-apis/array-api-tests and its submodule.

They need the packages of its requirements.txt; EXAMPLES says how many draws each has (tools/array_api_tests.py, which
also counts them). What is known to fail stands in suite_xfail.txt and has to fail, so that the list only shrinks.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from source_tree import ROOT

from .draws import has_complex

sys.path.insert(0, str(ROOT / "tools"))
import array_api_tests

CHECKOUT = os.environ.get("ARRAY_API_TESTS", "")
EXAMPLES = int(os.environ.get("EXAMPLES", "20"))
MOST_KNOWN = 12  # it only shrinks


def listed(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def test_list_names_a_test_a_line() -> None:
    lines = listed(array_api_tests.KNOWN) + listed(array_api_tests.BY_DRAWS)
    assert len(lines) == len(set(lines)) <= MOST_KNOWN + 1
    assert all(line.startswith("array_api_tests/test_") and "::" in line for line in lines)


def test_counts_are_those_of_the_list() -> None:
    result = json.loads(array_api_tests.RESULT.read_text(encoding="utf-8"))
    assert result["xfailed"] == len(listed(array_api_tests.KNOWN)) and result["passed"] > 1000
    assert "failed" not in result and "error" not in result


def test_counts_are_read() -> None:
    printed = "...\n2 failed, 1351 passed, 17 skipped, 12 xfailed, 1 error in 12.84s\n"
    counts = {"failed": 2, "passed": 1351, "skipped": 17, "xfailed": 12, "error": 1}
    assert array_api_tests.counts(printed) == counts


@pytest.mark.skipif(not CHECKOUT, reason="ARRAY_API_TESTS names no checkout")
@pytest.mark.skipif(not has_complex(), reason="the suite starts with complex numbers only")
def test_all_pass_but_the_known_ones() -> None:
    done = array_api_tests.run(Path(CHECKOUT), EXAMPLES)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
