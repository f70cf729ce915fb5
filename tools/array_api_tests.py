"""Runs the array API standard's own tests against nervanagpu.array_api, and writes how many of them pass.

    tools/array_api_tests.py --source DIR [--examples 20]     DIR: a checkout of github.com/data-apis/array-api-tests

The checkout has its submodule, and the packages of its requirements.txt are installed. `examples`: the draws of each
test. What is known to fail stands in test/python/array_api/suite_xfail.txt and has to fail, so that the list only
shrinks; what fails by what it draws stands in suite_skips.txt and is not run. The counts go to
benchmarks/results/names/array_api_tests.json. Exits 1 where a test fails that is not known to, or passes that is.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks/results/names/array_api_tests.json"
FOLDER = ROOT / "test/python/array_api"
KNOWN, BY_DRAWS = FOLDER / "suite_xfail.txt", FOLDER / "suite_skips.txt"
VERSION = "2024.12"  # of the standard


def run(source: Path, examples: int) -> subprocess.CompletedProcess[str]:
    """pytest there; what it printed is captured."""
    paths = [os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "array_api_tests", f"--xfails-file={KNOWN}",
         f"--skips-file={BY_DRAWS}", "-o", "xfail_strict=true", f"--max-examples={examples}", "--disable-deadline",
         "--derandomize", "--tb=line", "--disable-warnings"],
        cwd=source, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "ARRAY_API_TESTS_MODULE": "nervanagpu.array_api",
                          "ARRAY_API_TESTS_VERSION": VERSION},
    )  # fmt: skip


def counts(printed: str) -> dict[str, int]:
    """The numbers of pytest's last line, by outcome."""
    return {name: int(n) for n, name in re.findall(r"(\d+) (passed|failed|skipped|xfailed|error)", printed[-400:])}


def commit_of(folder: Path) -> str:
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True, help="a checkout of array-api-tests")
    parser.add_argument("--examples", type=int, default=20)
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    done = run(options.source, options.examples)
    found = counts(done.stdout)
    print(found)
    if done.returncode:
        print(done.stdout[-4000:], done.stderr[-2000:], file=sys.stderr)
        return 1
    result = {
        "commit": commit_of(ROOT),
        "array-api-tests": commit_of(options.source),
        "standard": VERSION,
        "examples": options.examples,
        "NERVANAGPU_DEVICE": os.environ.get("NERVANAGPU_DEVICE", ""),
        **found,
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
