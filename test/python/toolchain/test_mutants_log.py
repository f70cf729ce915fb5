"""benchmarks/mutants.py counts what the logs of build/bin/mutants say, and watches its processes."""

from __future__ import annotations

import importlib.util
import json
import stat
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from source_tree import ROOT

# Stands in for build/bin/mutants: of kernel `k` mutant 1 changes bits, 2 is a device error, 3 hangs, 4 is right.
PROGRAM = """#!{python}
import json, sys, time
a = dict(zip(sys.argv[1::2], sys.argv[2::2]))
if "--gpu" not in a:
    with open(a["--plan"], "w") as plan:
        for n in (1, 2, 3, 4):
            print("k", n, int(n != 4), int(n in (1, 4)), sep="\\t", file=plan)
        if a["--each"] == "7":
            print("bad", 1, 1, 1, sep="\\t", file=plan)
    sys.exit()
if a["--subject"] == "bad":
    print("no memory")
    sys.exit(2)
try:
    done = [l.split()[1] for l in open(a["--log"]) if l.startswith("begin ")]
except FileNotFoundError:
    done = []
with open(a["--log"], "a", buffering=1) as log:
    for n in (1, 4, 2, 3):
        if str(n) in done or (n in (2, 3) and a["--dangerous"] == "0"):
            continue
        row = {{"kernel": "k", "field": "stall", "flagged": n != 4}}
        print("begin", n, json.dumps(row), file=log)
        if n == 2:
            print(json.dumps({{**row, "run": True, "wrong": 0, "failed": "illegal address"}}), file=log)
            sys.exit(3)
        if n == 3:
            time.sleep(60)
        print(json.dumps({{**row, "run": True, "wrong": 5 if n == 1 else 0, "of": 9}}), file=log)
"""


@pytest.fixture(scope="module")
def mutants() -> ModuleType:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "benchmarks" / "mutants.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(tmp_path: Path, *arguments: str) -> tuple[int, dict[str, dict[str, int]]]:
    program = tmp_path / "program"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    out = tmp_path / "mutants.json"
    command = [sys.executable, str(ROOT / "benchmarks/mutants.py"), "--mutants", str(program), "--out", str(out)]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert out.exists(), done.stderr
    return done.returncode, json.loads(out.read_text())


def test_only_mutants_that_change_bits_are_kills(tmp_path: Path) -> None:
    status, result = run(tmp_path, "--dangerous", "--patience", "1")
    k = result["by kernel"]["k"]
    assert (k["flagged: run"], k["flagged: wrong"], k["flagged: device error"], k["flagged: hung"]) == (3, 1, 1, 1)
    assert (k["unflagged: run"], k["unflagged: wrong"], status) == (1, 0, 0)


def test_mutants_that_may_go_astray_are_left_alone(tmp_path: Path) -> None:
    _, result = run(tmp_path, "--patience", "1")
    k = result["by kernel"]["k"]
    assert (k["flagged: run"], k["flagged: wrong"], k["flagged: not run"]) == (1, 1, 2)


def test_the_time_limit_ends_a_run(tmp_path: Path) -> None:
    _, result = run(tmp_path, "--dangerous", "--patience", "30", "--seconds", "3")
    assert result["by kernel"]["k"]["flagged: hung"] == 0, "ended by the limit is not hung"


def test_a_process_that_cannot_begin_is_tried_again_and_then_an_error(tmp_path: Path) -> None:
    status, result = run(tmp_path, "--each", "7", "--patience", "1")
    assert (status, result["by kernel"]["bad"]["flagged: not run"], result["by kernel"]["k"]["flagged: run"]) == (
        1,
        1,
        1,
    )


def test_one_that_is_not_flagged_must_do_nothing(mutants: ModuleType) -> None:
    for bad in ({"wrong": 1}, {"failed": "x"}, {"hung": True}):
        row = {"flagged": False, "run": True, "wrong": 0, **bad}
        assert mutants.count([row], [row])["unflagged: wrong"] == 1
