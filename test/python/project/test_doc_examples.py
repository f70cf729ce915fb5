"""The examples of docs/*.md that are marked as assembled, assembled; and each directive has one.

<!-- assembled -->                       in front of a ```text block: it is a template
<!-- assembled with:\\n...lines...\\n-->    these lines stand in front of it
<!-- file NAME -->                       the block is a file that others include
<!-- executed -->                        in front of a ```console block: commands in the folder of the repository, and
                                         what they print; "..." is any number of lines, "[...]" any text
A block without .kernel gets one, for sm_90a, and EXIT after it.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from source_tree import ROOT

NGASM = ROOT / "build/bin/ngasm"
MARK = re.compile(r"<!-- (assembled|file)(?: with:)?\s?(.*?)\s*-->\n```text\n(.*?)```", re.S)
TEXTS = {page.stem: page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]}
PAGES = {name: MARK.findall(text) for name, text in sorted(TEXTS.items())}
SESSIONS = [
    (name, session)
    for name, text in sorted(TEXTS.items())
    for session in re.findall(r"<!-- executed -->\n```console\n(.*?)```", text, re.S)
]
EXAMPLES = [(name, i) for name, found in PAGES.items() for i, mark in enumerate(found) if mark[0] == "assembled"]

pytestmark = pytest.mark.skipif(not NGASM.exists(), reason="build/bin/ngasm is not built")


def template(before: str, text: str) -> str:
    if re.search(r"^\.kernel", text, re.M):
        return text
    return f".kernel example\n.arch sm_90a\n{before}\n{text}\n  EXIT\n"


def printed(pattern: str) -> re.Pattern[str]:
    lines = [r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in pattern.splitlines()]
    return re.compile("".join(lines).replace(re.escape("[...]"), ".*"))


def assemble(folder: Path, text: str) -> str:
    """Nothing, or the error."""
    (folder / "example.sass").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [NGASM, "as", "example.sass", "-o", "x.cubin"], cwd=folder, capture_output=True, text=True, timeout=60
    )
    return "" if done.returncode == 0 else done.stderr


@pytest.mark.parametrize(("page", "number"), EXAMPLES)
def test_example(tmp_path, page, number):
    for kind, name, text in PAGES[page]:
        if kind == "file":
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
    _, before, text = PAGES[page][number]
    assert assemble(tmp_path, template(before, text)) == ""


@pytest.mark.parametrize(("page", "session"), SESSIONS, ids=[page for page, _ in SESSIONS])
def test_session(page, session):
    for part in re.split(r"^\$ ", session, flags=re.M)[1:]:
        command, _, expected = part.partition("\n")
        done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=60)
        got = done.stdout + done.stderr
        assert printed(expected).fullmatch(got), f"{page}: {command}\n{got}"


def test_dots_are_not_everything():
    assert printed("a\n...\nc [...] d\n").fullmatch("a\nb\nc x d\n")
    assert not printed("a\n...\n").fullmatch("b\na\n") and not printed("a\n").fullmatch("a\nb\n")
    assert not printed("").fullmatch("a\n")


def test_each_directive_has_an_example(tmp_path):
    known = re.search(r"directives:(.*)", assemble(tmp_path, ".kernel k\n.unknown\n  EXIT\n"))
    assert known is not None
    language = "\n".join(text for kind, _, text in PAGES["language"] if kind == "assembled")
    shown = set(re.findall(r"^\s*(\.[a-z]+)", language, re.M))
    assert set(known[1].split()) - shown == set()


def test_an_example_can_fail(tmp_path):
    assert "unknown instruction 'FMFA'" in assemble(tmp_path, template("", "  FMFA R0, R1, R2, R3\n"))
