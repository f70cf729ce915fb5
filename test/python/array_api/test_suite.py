"""The standard's own tests; ARRAY_API_TESTS names a checkout of github.com/data-apis/array-api-tests and its submodule.

They need the packages of its requirements.txt, and run for many minutes: EXAMPLES says how many draws each has. What is
known to fail stands in suite_xfail.txt and has to fail, so that the list only shrinks. What fails by what it draws
stands in suite_skips.txt and is not run.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .conftest import FOLDER
from .draws import has_complex

CHECKOUT = os.environ.get("ARRAY_API_TESTS", "")
KNOWN = FOLDER / "suite_xfail.txt"
BY_DRAWS = FOLDER / "suite_skips.txt"
EXAMPLES = os.environ.get("EXAMPLES", "20")


def test_list_names_a_test_a_line() -> None:
    text = KNOWN.read_text(encoding="utf-8") + BY_DRAWS.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(lines) == len(set(lines)) <= 40
    assert all(line.startswith("array_api_tests/test_") and "::" in line for line in lines)


@pytest.mark.skipif(not CHECKOUT, reason="ARRAY_API_TESTS names no checkout")
@pytest.mark.skipif(not has_complex(), reason="the suite starts with complex numbers only")
def test_all_pass_but_the_known_ones() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "array_api_tests", f"--xfails-file={KNOWN}",
         f"--skips-file={BY_DRAWS}",
         "-o", "xfail_strict=true", f"--max-examples={EXAMPLES}", "--disable-deadline", "--derandomize", "--tb=line"],
        cwd=CHECKOUT, capture_output=True, text=True, check=False,
        env=os.environ | {"ARRAY_API_TESTS_MODULE": "nervanagpu.array_api", "ARRAY_API_TESTS_VERSION": "2024.12"},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
