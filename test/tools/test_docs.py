"""What the pages quote is still in the sources: paths of the tree, and docs/adding.md's row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
IN_TREE = re.compile(
    r"`((?:sass|src|kernels|layers|python|test|tools|docs|benchmarks|include|examples|cmake)/[^`\s]+)`"
)
OF_READER = re.compile("[<>]")  # kernels/<op>/<name>.sass: the reader's own


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_paths_are_in_the_tree(page):
    for path in IN_TREE.findall(page.read_text(encoding="utf-8")):
        if OF_READER.search(path):
            continue
        # A name without its ending stands for its file pair.
        assert any(ROOT.glob(path)) or any(ROOT.glob(path + ".*")), path


def test_the_row_that_is_worked_through():
    page = (ROOT / "docs/adding.md").read_text(encoding="utf-8")
    rows = (ROOT / "sass/isa/words128/integer.cpp").read_text(encoding="utf-8")
    golden = (ROOT / "test/sass/isa/sm90a.golden").read_text(encoding="utf-8").splitlines()
    quoted = re.search(r"```cpp\n(.*?)```", page, re.S)
    vectors = re.search(r"```text\n([0-9a-f]{32}\t.*?)```", page, re.S)
    assert quoted is not None and vectors is not None
    for line in quoted.group(1).splitlines():
        assert line in rows, line
    for line in vectors.group(1).splitlines():
        assert line in golden, line
