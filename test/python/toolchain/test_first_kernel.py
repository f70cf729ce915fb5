"""docs/first-kernel.md, executed: its file is written, its commands print what it says, its Python runs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import nervanagpu as ng
import pytest
from source_tree import ROOT

PAGE = ROOT / "docs/first-kernel.md"
NGASM = ROOT / "build/bin/ngasm"
BLOCKS = re.findall(r"```(text|console|python)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


def matches(pattern: list[str], lines: list[str]) -> bool:
    """Equal line by line, where "..." stands for any number of lines."""
    if not pattern:
        return not lines
    if pattern[0] == "...":
        return any(matches(pattern[1:], lines[i:]) for i in range(len(lines) + 1))
    return bool(lines) and pattern[0] == lines[0] and matches(pattern[1:], lines[1:])


def test_dots_are_not_everything():
    assert matches(["a", "...", "c"], ["a", "b", "c"]) and matches(["a", "..."], ["a"])
    assert not matches(["a", "...", "c"], ["a", "b"]) and not matches(["a"], ["a", "b"]) and not matches(["a"], [])


@pytest.mark.skipif(not NGASM.exists(), reason="build/bin/ngasm is not built")
@pytest.mark.skipif(ng.device().arch != "sm_90a", reason="the kernel is for sm_90a")
def test_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    env = {**os.environ, "PATH": f"{NGASM.parent}:{os.environ['PATH']}"}
    names: dict[str, object] = {}
    for kind, text in BLOCKS:
        if kind == "text":
            first, rest = text.split("\n", 1)
            Path(first.removeprefix("// file: ")).write_text(rest.lstrip(), encoding="utf-8")
        elif kind == "python":
            exec(compile(text, str(PAGE), "exec"), names)
        else:
            for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
                command, _, expected = part.partition("\n")
                done = subprocess.run(command, shell=True, env=env, capture_output=True, text=True, timeout=60)
                lines = (done.stdout + done.stderr).splitlines()
                assert matches(expected.splitlines(), [line.rstrip() for line in lines]), (
                    command + "\n" + "\n".join(lines)
                )
    assert {kind for kind, _ in BLOCKS} == {"text", "console", "python"}
    assert "registers" in capsys.readouterr().out
