"""What docs/adding.md quotes is still in the sources."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


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
