"""Sphinx configuration. `make doc` builds into build/doc."""

import sys
from pathlib import Path

project = "nervanagpu"
copyright = "the nervanagpu authors, Apache-2.0"
release = (Path(__file__).parent.parent / "VERSION").read_text(encoding="utf-8").strip()
version = release

extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"nervanagpu {release}"
exclude_patterns = ["_build"]


def _write_pages(app: object) -> None:
    """docs/isa/*.md, from the table inside ngasm (`make doc` builds it), and docs/c_reference.md, from the C header."""
    root = Path(__file__).parent.parent
    sys.path.insert(0, str(root / "tools"))
    import c_page
    import isa_pages

    isa_pages.write(root / "build/bin/ngasm", root / "docs/isa")
    c_page.write(root / "docs")


def setup(app: object) -> None:
    app.connect("builder-inited", _write_pages)  # type: ignore[attr-defined]
