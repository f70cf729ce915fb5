"""docs/adding.md shows rows, golden lines and files as they stand; `ngasm COMMAND --help` knows every option."""

from __future__ import annotations

import re
import subprocess

import pytest
from source_tree import ROOT

NGASM = ROOT / "build/bin/ngasm"
PAGE = (ROOT / "docs/adding.md").read_text(encoding="utf-8")
COMMANDS = sorted(path.stem.removeprefix("cmd_") for path in (ROOT / "sass/tools").glob("cmd_*.cpp"))


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_the_row_and_its_golden_lines_are_in_the_tree():
    rows = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "sass/isa").glob("words*/*.cpp")))
    golden = (ROOT / "test/sass/isa/sm90a.golden").read_text(encoding="utf-8")
    code = re.findall(r"```cpp\n(.*?)```", PAGE, re.S)
    lines = [line for block in re.findall(r"```text\n(.*?)```", PAGE, re.S) for line in block.splitlines()]
    assert code and lines
    for line in "".join(code).splitlines():
        assert squeezed(line) in squeezed(rows), line
    for line in lines:
        assert line in golden.splitlines(), line


def test_the_files_named_are_there():
    for name in re.findall(r"`((?:sass|kernels|test|tools|docs)/[\w./]+)`", PAGE):
        assert (ROOT / name).exists(), name


@pytest.mark.skipif(not NGASM.exists(), reason="build/bin/ngasm is not built")
@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_every_option(command):
    source = (ROOT / f"sass/tools/cmd_{command}.cpp").read_text(encoding="utf-8")
    accepted = [
        option
        for lists in re.findall(r"parse_options\((.*?)\);", source, re.S)
        for option in re.findall(r'"(--?\w[\w-]*)"', lists)
    ]
    text = subprocess.run([NGASM, command, "--help"], capture_output=True, text=True, timeout=60).stdout
    assert text.startswith(f"usage: ngasm {command}")
    for option in accepted:
        assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text), option
    for option in re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", text):
        assert option in accepted, option
