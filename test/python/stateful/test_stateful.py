"""Random programs beside NumPy: views, expressions, writes in place, indices, graphs, threads, 13 dtypes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import check
import pytest
import tier
from programs import program_of

HERE = Path(__file__).parent


def test_random_programs() -> None:
    assert not check.check(tier.drawn(13_000, 1_000_000), 1)


def test_random_programs_in_threads() -> None:
    """Expressions, writes that wait and caches of several threads meet."""
    assert not check.check_in_threads(4, tier.drawn(4_000, 100_000), 2_000_000)


def test_random_programs_in_checked_mode() -> None:
    """Nothing that is not ready, not written or somebody else's is read on the way."""
    command = [
        sys.executable,
        str(HERE / "check.py"),
        "--seed",
        "3000000",
        "--statements",
        str(tier.drawn(3_000, 30_000)),
    ]
    environment = {**os.environ, "NERVANAGPU_DEVICE": "emulator", "NERVANAGPU_EMULATOR": "checked"}
    out = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert out.returncode == 0, out.stdout[-4000:] + out.stderr[-2000:]


def test_programs_repeat() -> None:
    assert program_of(7, 60) == program_of(7, 60)
    assert program_of(7, 60) != program_of(8, 60)


@pytest.mark.parametrize("name", ["fill", "add_at", "assign"])
def test_a_statement_that_does_nothing_is_found_and_shrunk(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proves that the test can fail: a write that is lost leaves a program of few lines."""
    sound = check.our_namespace
    monkeypatch.setattr(check, "our_namespace", lambda: {**sound(), name: lambda *args: None})
    seed = next(s for s in range(1, 500) if check.failure(program_of(s, check.LENGTH)) is not None)
    text = check.report(program_of(seed, check.LENGTH), seed)
    lines = text.splitlines()
    assert any(name in line for line in lines), text
    assert len(lines) <= 10, text
