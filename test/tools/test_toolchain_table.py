"""The table of docs/toolchain.md: what a file says appears, what has no file is a dash."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools/toolchain_table.py"
spec = importlib.util.spec_from_file_location("toolchain_table", TOOL)
assert spec is not None and spec.loader is not None
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)


def test_groups(tmp_path):
    numbers = [{"what": "executions", "value": 1234567}, {"what": "share", "value": 99.951}]
    (tmp_path / "fuzz.json").write_text(json.dumps({"verb": "make fuzz", "numbers": numbers}))
    lines = tool.table(tmp_path).splitlines()
    assert "| Hostile input | executions | 1,234,567 | `make fuzz` |" in lines
    assert "|  | share | 99.951 |  |" in lines
    assert sum(line.endswith("| - | |") for line in lines) == len(tool.GROUPS) - 1


def test_long_texts_go_on_in_the_lines_below():
    assert tool.cells_of("1 kernel, 1 proven") == ["1 kernel, 1 proven"]
    assert tool.cells_of("a: " + "b" * 78) == ["a:", "b" * 78]
    assert tool.cells_of(f"{'a' * 60}, {'b' * 30}") == ["a" * 60 + ",", "b" * 30]
    assert tool.cells_of("c" * 90) == ["c" * 90]


def test_only_the_table_changes(tmp_path):
    page = f"# A page\n\n{tool.BEGIN}\nold\n{tool.END}\n\nend\n"
    new = tool.updated(page, tmp_path)
    assert new.startswith("# A page\n\n" + tool.BEGIN) and new.endswith(tool.END + "\n\nend\n")
    assert "old" not in new
    assert tool.updated(new, tmp_path) == new


def test_the_page_is_up_to_date():
    text = tool.PAGE.read_text(encoding="utf-8")
    assert tool.updated(text, tool.RESULTS) == text, "run tools/toolchain_table.py"
