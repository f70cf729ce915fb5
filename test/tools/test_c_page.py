"""tools/c_page.py puts every declaration of the C header into the page, under the header's own sections."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import c_page  # noqa: E402

HEADER = (ROOT / "include/nervanagpu/nervanagpu.h").read_text(encoding="utf-8")


def test_every_function_is_there_once() -> None:
    declared = re.findall(r"^NG_C_API .*?\b(ng_\w+)\(", HEADER, re.M)
    assert len(declared) > 70
    assert re.findall(r"^NG_C_API .*?\b(ng_\w+)\(", c_page.page(HEADER), re.M) == declared


def test_sections_are_the_headers() -> None:
    page = c_page.page(HEADER)
    assert re.findall(r"^## (.*)", page, re.M)[:3] == ["Status and version", "Device", "Memory and streams"]
    assert page.count("## ") == HEADER.count("/* --- ") + 1
    assert page.count("```") == 2 * page.count("## ")
    assert "extern" not in page and "visibility" not in page


def test_it_is_written_once(tmp_path: Path) -> None:
    path = c_page.write(tmp_path)
    before = path.stat().st_mtime_ns
    assert c_page.write(tmp_path).stat().st_mtime_ns == before
