"""Makes docs/c_reference.md of include/nervanagpu/nervanagpu.h: its sections, declarations and comments as they stand.

`make doc` calls write() (docs/conf.py).
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECTION = re.compile(r"^/\* --- (.*?) -+ \*/$", re.M)
FIRST = "typedef enum ng_status"  # what stands before is of compilers
LAST = "\n#ifdef __cplusplus\n}"
INTRODUCTION = """# The C header

Written by `tools/c_page.py` from `nervanagpu/nervanagpu.h`; do not edit. What is for what:
[the C interface](c_api.md).
"""


def page(header: str) -> str:
    """Of the header's text."""
    text = header[header.index(FIRST) : header.index(LAST, header.index(FIRST))]
    parts = ["status and version", *SECTION.split(text)]  # a title before each text
    lines = [INTRODUCTION]
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        heading = f"`{title}`" if "=" in title else title[0].upper() + title[1:]
        lines += [f"## {heading}", "", "```c", body.strip(), "```", ""]
    return "\n".join(lines)


def write(folder: Path) -> Path:
    path = folder / "c_reference.md"
    text = page((ROOT / "include/nervanagpu/nervanagpu.h").read_text(encoding="utf-8"))
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path
