"""tools/checkers.py reads the logs of compute-sanitizer and holds them against the list of exceptions."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from source_tree import ROOT

KERNELS = ["sgemm_ring_nn_11_16x64", "sgemm_ring_nn_11_16x6", "hgemm_nn_f16_f16_f16_128x64x1", "table"]

RACE = """========= COMPUTE-SANITIZER
========= Warning: Race reported between Write access at sgemm_ring_nn_11_16x64+0x2a10
=========     and Read access at sgemm_ring_nn_11_16x64+0x2b30 [48 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)
"""
SYNC = """========= COMPUTE-SANITIZER
========= Barrier error detected. Missing init
=========     at sgemm_ring_nn_11_16x64+0x680
=========     by thread (0,0,0) in block (0,0,0)
=========         Saved host backtrace up to driver entry point at kernel launch time
=========
========= Barrier error detected. Missing init
=========     at hgemm_nn_f16_f16_f16_128x64x1+0x7a0
========= ERROR SUMMARY: 2 errors
"""
CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"


@pytest.fixture(scope="module")
def checkers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("checkers", ROOT / "tools" / "checkers.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["checkers"] = module
    spec.loader.exec_module(module)
    return module


def test_findings_are_blocks_with_the_kernel_that_they_name(checkers: ModuleType) -> None:
    race = checkers.findings("racecheck", RACE, KERNELS)
    assert [(f.kernel, f.tool) for f in race] == [("sgemm_ring_nn_11_16x64", "racecheck")]
    assert "48 hazards" in race[0].text
    sync = checkers.findings("synccheck", SYNC, KERNELS)
    assert [f.kernel for f in sync] == ["sgemm_ring_nn_11_16x64", "hgemm_nn_f16_f16_f16_128x64x1"]
    assert checkers.findings("memcheck", CLEAN, KERNELS) == []


def test_a_log_without_a_summary_has_not_ended(checkers: ModuleType) -> None:
    assert all(checkers.finished(log) for log in (RACE, SYNC, CLEAN))
    assert not checkers.finished(SYNC.partition("========= ERROR")[0])


def test_an_exception_covers_what_it_names_and_must_occur(checkers: ModuleType) -> None:
    found = checkers.findings("synccheck", SYNC, KERNELS)
    ring = checkers.Excuse("synccheck", "sgemm_ring_*", "Missing init", "the tool does not follow this address")
    new, stale = checkers.judge(found, [ring], ["synccheck"])
    assert [f.kernel for f in new] == ["hgemm_nn_f16_f16_f16_128x64x1"] and stale == []
    gone = checkers.Excuse("synccheck", "conv_*", "Missing init", "there was one of these once upon a time")
    assert checkers.judge(found, [ring, gone], ["synccheck"])[1] == [gone]
    assert checkers.judge(found, [ring, gone], ["memcheck"])[1] == [], "a tool that did not run says nothing"
    other = checkers.Excuse("racecheck", "sgemm_ring_*", "Missing init", "the right kernel but another tool")
    assert len(checkers.judge(found, [other], ["synccheck"])[0]) == 2


def test_exceptions_need_a_reason(checkers: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    row = {"tool": "synccheck", "kernel": "*", "message": "Missing init", "reason": "because"}
    path.write_text(json.dumps({"exceptions": [row]}))
    with pytest.raises(SystemExit, match="a reason"):
        checkers.excuses(path)
    checkers.excuses(ROOT / "tools" / "checkers.json")


def test_every_operation_is_one_that_the_library_has(checkers: ModuleType) -> None:
    assert {"hgemm", "sgemm_ring", "conv", "pool_fprop", "table"} <= set(checkers.operations())


SANITIZER = """#!/bin/sh
while [ "$1" != --log-file ]; do shift; done
log=$2; shift 2
case $* in *check.py*) echo "========= {said}" >>$log; echo "800 statements, {wrong} programs differ" ;;
  *) echo "3 problems on a GPU, 9 elements, 0 wrong, 1.0 s" ;; esac
echo "========= ERROR SUMMARY: 0 errors" >>$log
"""


@pytest.mark.parametrize(
    ("said", "wrong", "code"),
    [("COMPUTE-SANITIZER", 0, 0), ("COMPUTE-SANITIZER", 1, 2), ("Invalid __global__ read of size 4 bytes", 0, 1)],
)
def test_what_is_said_of_generated_kernels_counts(
    said: str, wrong: int, code: int, checkers: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {
        "compute-sanitizer": SANITIZER.format(said=said, wrong=wrong),
        "variants": "#!/bin/sh\necho hgemm\n",
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    exceptions = tmp_path / "none.json"
    exceptions.write_text('{"exceptions": []}')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    arguments = ["--out", str(tmp_path / "out"), "--program", str(tmp_path / "variants")]
    monkeypatch.setattr(sys, "argv", ["checkers.py", *arguments, "--exceptions", str(exceptions)])
    assert checkers.main() == code
    assert len(list((tmp_path / "out").glob("*.programs.log"))) == 4
