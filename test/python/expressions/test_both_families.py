"""Expressions by Maxwell's and Ampere's instructions give the bits that Hopper's give, every operation and dtype."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest
from source_tree import TESTS

PROGRAM = f"import sys; sys.path.insert(0, {str(TESTS)!r}); import expression_digests as e; e.main()"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def digests(python: Run, arch: str, mode: str = "fast") -> dict[str, str]:
    done = python(PROGRAM, device="emulator", emulator_arch=arch, emulator=mode)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_same_bits(python: Run) -> None:
    hopper = digests(python, "sm_90a")
    assert len(hopper) > 1400
    for arch in ("sm_52", "sm_80"):
        other = digests(python, arch)
        assert other.keys() == hopper.keys()
        assert [(arch, k) for k in hopper if hopper[k] != other[k]] == []


@pytest.mark.long
def test_without_findings(python: Run) -> None:
    assert digests(python, "sm_52", "checked") == digests(python, "sm_52")
