"""The short tier: what tier.py leaves of a test's cases."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from source_tree import TESTS

CASES = """
import pytest

@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4"])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 2), (2, 1)])
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt", "cc"])
def test_crossed(layout, m, n, dtype): ...

@pytest.mark.parametrize("value", range(40))
def test_listed(value): ...

@pytest.mark.long
def test_of_minutes(): ...

def test_plain(): ...
"""


def collected(folder: Path, long: str, *names: str, device: str = "emulator") -> list[str]:
    (folder / "test_cases.py").write_text(CASES)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "conftest", *(names or ["test_cases.py"])]
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "NERVANAGPU_TEST_LONG": long, "NERVANAGPU_DEVICE": device, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]


def test_each_value_is_in_the_short_tier(tmp_path: Path) -> None:
    short, long = collected(tmp_path, ""), collected(tmp_path, "1")
    assert set(short) < set(long)
    crossed = [name[13:-1].split("-") for name in short if name.startswith("test_crossed")]
    assert {c[0] for c in crossed} == {"nn", "nt", "tn", "tt", "cc"}
    assert {(c[1], c[2]) for c in crossed} == {("1", "1"), ("1", "2"), ("2", "1")}
    assert {c[3] for c in crossed} == {"f2", "f4", "f8", "i4"}
    assert 5 <= len(crossed) <= 12 < 60 == sum(name.startswith("test_crossed") for name in long)
    assert sum(name.startswith("test_listed") for name in short) == 40
    assert "test_plain" in short
    assert "test_of_minutes" in long
    assert "test_of_minutes" not in short
    assert short == collected(tmp_path, ""), "the same in every run"


def test_all_that_is_crossed_runs_on_a_gpu(tmp_path: Path) -> None:
    there = collected(tmp_path, "", device="cuda")
    assert set(there) == set(collected(tmp_path, "1")) - {"test_of_minutes"}


def test_what_is_named_runs(tmp_path: Path) -> None:
    assert collected(tmp_path, "", "test_cases.py::test_of_minutes") == ["test_of_minutes"]
    assert len(collected(tmp_path, "", "test_cases.py::test_crossed")) == 60
